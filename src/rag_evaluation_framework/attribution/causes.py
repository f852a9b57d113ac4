"""Why relevant text or a relevant unit was lost: the step between the documents and the cutoff that did not have it."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from rag_evaluation_framework.data.columns import Numbers

Cause = Literal[
    "not_in_corpus",
    "in_no_chunk",
    "not_retrieved",
    "beyond_cutoff",
    "not_a_candidate",
    "dropped_by_reranker",
    "not_placed",
]
"""The step that lost something, the first in the way of a document."""

CAUSES: tuple[Cause, ...] = get_args(Cause)
STEPS = len(CAUSES)
"""How many steps there are: what one of them has, the steps before it have, too."""


def divided(had: Sequence[Numbers], whole: Numbers) -> dict[Cause, Numbers]:
    """Divide what is missing into causes: each step loses what it does not have of what the step before it had.

    Args:
        had: What each step had, from all that is in the corpus to what was read at the cutoff; shape (queries,) each.
            No step has more than the one before it.
        whole: All that is relevant; shape (queries,).

    Returns:
        What each cause lost, shape (queries,), at least 0; together what is missing at the cutoff.
    """
    before = [whole, *had[:-1]]
    return {cause: np.maximum(earlier - later, 0.0) for cause, earlier, later in zip(CAUSES, before, had, strict=True)}


def told(cause: Cause, depth: int | None) -> str:
    """Return a cause as people read it.

    Args:
        cause: The cause.
        depth: How many results were asked for again; None if nothing was, and the run's own results had to do.
    """
    return _TOLD[cause].format(among="among the results asked for" if depth is None else f"among the first {depth}")


_TOLD: Mapping[Cause, str] = {
    "not_in_corpus": "not in the corpus",
    "in_no_chunk": "in no chunk",
    "not_retrieved": "not {among}",
    "beyond_cutoff": "retrieved, but beyond the cutoff",
    "not_a_candidate": "within it before reranking, not among the candidates",
    "dropped_by_reranker": "within it before reranking, dropped by the reranker",
    "not_placed": "retrieved as text that has no place",
}
