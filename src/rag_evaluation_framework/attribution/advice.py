"""What would help most: the one change to try first, with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_evaluation_framework.attribution.causes import Cause
from rag_evaluation_framework.attribution.losses import Losses
from rag_evaluation_framework.data.cutoffs import ScoreName

Change = Literal[
    "labels", "chunker", "larger_chunks", "embedder", "retriever", "order", "candidates", "reranker", "places"
]
"""What is to be changed."""

Promise = Literal["", "about", "up to"]
"""How a promise is meant: it is what was measured, an estimate, or an upper bound."""

_SEEN = 0.0005  # of recall: what is less is printed as 0


@dataclass(frozen=True)
class Advice:
    """The change that is most worth trying.

    Attributes:
        change: What is to be changed.
        share: The share of all that is missing that it is about; in [0, 1].
        recall: The mean recall now.
        promised: The mean recall with the change.
        promise: How that is meant.
        text: All of it in a sentence.
    """

    change: Change
    share: float
    recall: float
    promised: float
    promise: Promise
    text: str


@dataclass(frozen=True)
class _Offer:
    """A change that could be tried: what it is about, how much of the recall that is, and what it promises."""

    change: Change
    what: str
    lost: float
    then: str
    promised: float
    promise: Promise = "up to"
    weight: float | None = None
    """What it is chosen by; by default what is lost."""


def advice(losses: Losses, score: str, depth: int | None) -> Advice | None:
    """Return the advice about what the greatest share of the missing is about; None if nothing is missing.

    What ranking lost counts only as far as neither splitting nor truncation explains it, and what was retrieved too
    late only as far as an order of what was retrieved could bring it. A reranker is weighed by what it lost more than
    it won, as without it both would go. Promises are means over the questions:

    - without the reranker, the recall of the ranking before it, which is known; so it is, for a number of results, with
      that many candidates, as all of them are read then;
    - of larger chunks, that answers of which a part was found are found whole;
    - of an embedder that reads chunks whole, that the rest is found as often as all text is now;
    - of a better order, the best one; of all others, all that they lost.

    Args:
        losses: What was lost.
        score: The score, at a cutoff.
        depth: How many results were asked for again; None if none were.
    """
    recall = float(losses.recall.mean())
    if 1 - recall < _SEEN:
        return None
    cutoff = ScoreName.parse(score).cutoff
    is_budget = cutoff is not None and cutoff.is_budget
    best = max(
        _offers(losses, recall, depth, is_budget=is_budget),
        key=lambda offer: offer.lost if offer.weight is None else offer.weight,
    )
    share = min(best.lost / (1 - recall), 1.0)
    then = f"{best.then}, {score} would be {best.promise} {best.promised:.3f}, now {recall:.3f}".replace("  ", " ")
    text = f"{share:.0%} of what is missing {best.what}: {then}"
    return Advice(best.change, share, recall, best.promised, best.promise, text)


def _offers(losses: Losses, recall: float, depth: int | None, *, is_budget: bool) -> Iterator[_Offer]:
    """Yield the changes that could be tried."""
    lost = {cause: float(column.mean()) for cause, column in losses.lost.items()}
    general = {cause: float(column.mean()) for cause, column in losses.general.items()}

    def all_of(change: Change, cause: Cause, what: str, then: str) -> _Offer:
        return _Offer(change, what, lost[cause], then, recall + lost[cause])

    yield all_of("labels", "not_in_corpus", "is not in the corpus", "with documents that hold it, or labels for these")
    yield all_of("chunker", "in_no_chunk", "is in no chunk", "with a chunker that leaves nothing out")
    yield all_of("places", "not_placed", "was retrieved as text that has no place", "with doc_id, start and end of it")
    among = "the results that were asked for" if depth is None else f"the first {depth}"
    missing, behind = general["not_retrieved"], general["beyond_cutoff"]
    what = f"is not among {among}{_beside(lost['not_retrieved'], missing)}"
    yield _Offer("retriever", what, missing, "with a retriever that finds it", recall + missing)
    best = min(max(float(losses.candidates.recall.mean()), recall), recall + behind)
    what = f"was retrieved, but beyond the cutoff{_beside(lost['beyond_cutoff'], behind)}"
    a_reranker = "a reranker" if losses.without_reranker is None else "another reranker"
    yield _Offer("order", what, behind, f"in a better order, such as that of {a_reranker}", best, weight=best - recall)
    if losses.without_reranker is not None:
        without, dropped = float(losses.without_reranker.mean()), lost["dropped_by_reranker"]
        kept_out = lost["not_a_candidate"]
        what = "would be read without the reranker, and is not among its candidates, which are too few for the cutoff"
        then = "with candidates for all of it, or without the reranker"
        yield _Offer("candidates", what, kept_out, then, without, "about" if is_budget else "")
        what, weight = "was among the candidates, dropped by the reranker", without - recall - kept_out
        yield _Offer("reranker", what, dropped, "without the reranker", without, "", weight)
    split, found = float(losses.split.mean()), float(losses.split_found.mean())
    what, then = "belongs to answers that no chunk holds whole", "with chunks that hold whole those found in part"
    yield _Offer("larger_chunks", what, split, then, recall + found, "about")
    truncated = float(losses.truncated.mean())
    what = "is in chunks behind what the embedder reads of them"
    then = "with an embedder that reads them whole, and the rest found as often as all text is now"
    yield _Offer("embedder", what, truncated, then, recall + truncated * recall, "about")


def _beside(lost: float, general: float) -> str:
    """Return that something of what a cause lost is not meant, as a flag explains it."""
    return ", and is neither split nor truncated" if lost - general > _SEEN else ""
