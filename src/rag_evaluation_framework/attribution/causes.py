"""Why relevant text or a relevant unit was lost: the step between the documents and the cutoff that did not have it."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.columns import Numbers

Cause = Literal[
    "not_in_corpus",
    "in_no_chunk",
    "not_retrieved",
    "not_asked_for",
    "not_a_candidate",
    "beyond_cutoff",
    "dropped_by_reranker",
    "not_placed",
]
"""The step that lost something, the first in the way of a document."""

CAUSES: tuple[Cause, ...] = get_args(Cause)
STEPS: tuple[Cause, ...] = tuple(cause for cause in CAUSES if cause != "not_asked_for")
"""What each step loses, in order: what one of them has, the steps before it have, too."""


def divided(had: Sequence[Numbers], whole: Numbers, asked: NDArray[np.bool_]) -> dict[Cause, Numbers]:
    """Divide what is missing into causes: each step loses what it does not have of what the step before it had.

    What is in no ranking is `not_retrieved` where one was asked for that is deep enough to blame the retriever.

    Args:
        had: What each step had, from all that is in the corpus to what was read at the cutoff; shape (queries,) each.
            No step has more than the one before it.
        whole: All that is relevant; shape (queries,).
        asked: For which questions a deep ranking is known; shape (queries,).

    Returns:
        The share of the whole that each cause lost, shape (queries,), in [0, 1]; together what is missing at the
        cutoff.
    """
    steps = zip(STEPS, [whole, *had[:-1]], had, strict=True)
    lost: dict[Cause, Numbers] = {cause: np.maximum(earlier - later, 0.0) / whole for cause, earlier, later in steps}
    missing = lost["not_retrieved"]
    lost |= {"not_retrieved": np.where(asked, missing, 0.0), "not_asked_for": np.where(asked, 0.0, missing)}
    return {cause: lost[cause] for cause in CAUSES}
