"""Scores of each question at the number of results that it asks for."""

from collections.abc import Mapping, Sequence

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF, Cutoff, ScoreName


def with_own_cutoffs(columns: Mapping[str, Numbers], top_k: Sequence[int]) -> dict[str, Numbers]:
    """Return scores with those `@topK`: of each question the score at its own number of results.

    They stand before the other scores of their metric.

    Args:
        columns: Scores by name, shape (queries,) each; metrics at numbers of results at all that questions ask for.
        top_k: At how many results each question asks to be cut.
    """
    own = np.array(top_k)
    found: dict[str, Numbers] = {}
    for name, column in columns.items():
        metric, cutoff = ScoreName.parse(name).metric, ScoreName.parse(name).cutoff
        if cutoff is not None and not cutoff.is_budget:
            asked = found.setdefault(str(ScoreName(metric, OWN_CUTOFF)), np.full(len(own), np.nan))
            rows = own == cutoff.size
            asked[rows] = column[rows]
        found[name] = column
    return found


def cutoffs_of(top_k: Sequence[int]) -> tuple[Cutoff, ...]:
    """Return where rankings are cut so that every question is cut where it asks to be.

    That of most questions first; where they differ, `topK` before all.

    Args:
        top_k: At how many results each question asks to be cut; at least one.
    """
    sizes, counts = np.unique(top_k, return_counts=True)
    ks = tuple(Cutoff(int(size)) for size in sizes[np.argsort(-counts, kind="stable")])
    return ks if len(ks) == 1 else (OWN_CUTOFF, *ks)
