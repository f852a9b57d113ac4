"""What a run lost at a cutoff, by cause, whatever is relevant: text or units."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.attribution.causes import Cause
from rag_evaluation_framework.data.columns import Integers, Numbers


@dataclass(frozen=True, eq=False)
class Bound:
    """The best recall that is possible.

    Attributes:
        recall: No ranking has more; shape (questions,), in [0, 1].
        exact: Of which questions a ranking has as much; of the others it is an upper bound; shape (questions,).
    """

    recall: Numbers
    exact: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Losses:
    """What was lost of each question, in shares of what is relevant to it; arrays of shape (questions,), in [0, 1].

    Attributes:
        recall: What was found: the recall of the run.
        lost: What each cause lost. Together with `recall` it is 1.
        asked: Of which questions a deep ranking is known, which goes on as that of the run; of the others nothing is
            `not_retrieved`, as what is in no ranking is `not_asked_for`.
        best_rank: The first rank of the ranking, from 1, with which more would be had than was read; 0 where none is
            known.
        without_reranker: The recall of the ranking before the reranker, however few of it were given to the reranker;
            NaN where no deep ranking is known, None if there is no reranker.
        split: What of `lost` belongs to answers that are in chunks, none of which holds them whole. 0 for units.
        truncated: What of `lost` is in chunks, but behind what the embedder reads of them. 0 for units.
        cut_off: What of `lost` is in chunks, but behind what the budget reads of them, were they the first result, so
            that no order brings it. 0 for units, and for a number of results.
        unexplained: What each cause lost of what is neither split, truncated nor cut off.
        chunking: The best recall for these chunks at this cutoff; None if the chunks are not known.
        candidates: The best recall for the candidates of the run's reranker or, without one, for the deepest ranking.
    """

    recall: Numbers
    lost: Mapping[Cause, Numbers]
    asked: NDArray[np.bool_]
    best_rank: Integers
    without_reranker: Numbers | None
    split: Numbers
    truncated: Numbers
    cut_off: Numbers
    unexplained: Mapping[Cause, Numbers]
    chunking: Bound | None
    candidates: Bound
