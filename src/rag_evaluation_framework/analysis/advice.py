"""What would help most: the one change to try first, with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_evaluation_framework.analysis.causes import Cause
from rag_evaluation_framework.analysis.losses import Losses
from rag_evaluation_framework.data.columns import Numbers

Change = Literal["labels", "chunker", "larger_chunks", "smaller_chunks", "retriever", "order", "reranker", "places"]
"""What is to be changed."""

_SEEN = 0.0005  # of recall: what is less is printed as 0


@dataclass(frozen=True)
class Advice:
    """The change that is most worth trying.

    Attributes:
        change: What is to be changed.
        share: The share of all that is missing that it is about; in [0, 1].
        recall: The mean recall now.
        promised: The mean recall that is expected of the change or, if `at_most`, that it cannot exceed.
        at_most: Whether `promised` is an upper bound.
        text: All of it in a sentence.
    """

    change: Change
    share: float
    recall: float
    promised: float
    at_most: bool
    text: str


def advice(losses: Losses, score: str, depth: int | None) -> Advice | None:
    """Return the advice about what the greatest share of the missing is about; None if nothing is missing.

    What ranking lost is only counted there as far as neither splitting nor truncation explains it. What reranking lost
    is what it lost more than it won, as without it both would go. Promises are means over the questions.

    Args:
        losses: What was lost.
        score: The score.
        depth: How many results were asked for again; None if none were.
    """
    missing = 1 - _mean(losses.recall)
    if missing < _SEEN:
        return None
    found = max(_changes(losses, depth), key=lambda known: known[1])
    change, lost, promised, at_most, what, then = found
    recall = _mean(losses.recall)
    share = min(lost / missing, 1.0)
    up_to = "up to " if at_most else ""
    text = f"{share:.0%} of what is missing {what}: {then} {score} would be {up_to}{promised:.3f}, now {recall:.3f}"
    return Advice(change, share, recall, promised, at_most, text)


_Found = tuple[Change, float, float, bool, str, str]


def _changes(losses: Losses, depth: int | None) -> Iterator[_Found]:
    """Yield for each change what is lost without it, what it promises, whether at most, and how that is said."""
    recall, lost = _mean(losses.recall), {cause: _mean(column) for cause, column in losses.lost.items()}
    without = recall if losses.without_reranker is None else _mean(losses.without_reranker)

    def all_of(change: Change, cause: Cause, what: str, then: str) -> _Found:
        return change, lost[cause], recall + lost[cause], True, what, then

    among = "the results that were asked for" if depth is None else f"the first {depth}"
    general = {cause: _mean(column) for cause, column in losses.general.items()}
    yield all_of("labels", "not_in_corpus", "is not in the corpus", "with labels for these documents")
    yield all_of("chunker", "in_no_chunk", "is in no chunk", "with a chunker that leaves nothing out")
    yield all_of("places", "not_placed", "was retrieved as text that has no place", "with doc_id, start and end of it")
    yield (
        "retriever",
        general["not_retrieved"],
        recall + general["not_retrieved"],
        True,
        f"is not among {among}",
        "with a retriever or an embedder that finds it",
    )
    best = max(_mean(losses.candidates.recall), recall)
    yield (
        "order",
        general["beyond_cutoff"],
        min(best, recall + general["beyond_cutoff"]),
        True,
        "was retrieved, but beyond the cutoff",
        "in a better order, such as that of a reranker,",
    )
    yield (
        "reranker",
        without - recall,
        without,
        False,
        "was among the candidates, dropped by the reranker",
        "without it",
    )
    yield _larger_chunks(losses, recall)
    yield _smaller_chunks(losses, recall)


def _larger_chunks(losses: Losses, recall: float) -> _Found:
    """Return what whole answers in chunks promise: the rest of those of which a part was found."""
    return (
        "larger_chunks",
        _mean(losses.split),
        recall + _mean(losses.split_found),
        True,
        "belongs to answers that no chunk holds whole",
        "with chunks that hold whole those of which a part was found",
    )


def _smaller_chunks(losses: Losses, recall: float) -> _Found:
    """Return what an embedder that reads all promises: to find as much of the rest as of what it reads."""
    unread, lost = _mean(losses.unread), _mean(losses.truncated)
    found = (recall - (unread - lost)) / (1 - unread) if unread < 1 else recall
    return (
        "smaller_chunks",
        lost,
        recall + lost * min(max(found, 0.0), 1.0),
        False,
        "is in chunks behind what the embedder reads of them",
        "with chunks that it reads whole, and the rest found as often as what it reads,",
    )


def _mean(column: Numbers) -> float:
    return float(column.mean())
