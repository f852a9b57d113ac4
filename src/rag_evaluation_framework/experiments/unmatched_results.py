"""Results of a run none of which match a label: other ids, or no results at all."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.levels import TOKEN, Level
from rag_evaluation_framework.results.query_result import QueryResults


def unmatched_results(
    level: Level[Any], queries: QueryResults[Any], truth: Sequence[GroundTruth[Any]]
) -> Iterator[str]:
    """Yield why every score is 0: there were no results, or their ids match no label of any question.

    Args:
        level: The level at which the run was scored.
        queries: The results.
        truth: What is relevant, one entry per question.
    """
    labels = dict.fromkeys(unit for entry in truth for unit in entry.labels)
    answered = len(queries) - int(queries.table.with_status("failed").sum())
    if not labels or not answered or not (queries.returned is None or np.isnan(queries.returned.first_relevant).all()):
        return
    hits = queries.hits.flat
    if not len(hits):
        yield f"the retriever returned no results for any question ({answered} asked)"
        return
    with_id = np.flatnonzero(level.known(hits))
    if level is TOKEN or not len(with_id):
        return
    rows, _ = hits.take(with_id).distinct()
    ids = (level.unit(hit, 1) for hit in hits.take(with_id).take(rows))
    prefixes = tuple(label[:-1] for label in labels if label.endswith("*"))
    if not any(unit in labels or unit.startswith(prefixes) for unit in ids):
        first = shown(level.read(hits[int(with_id[0])]))
        yield f"0 of {len(with_id)} ids match a label, such as {first}; labels are such as {shown(next(iter(labels)))}"
