"""What would help most: the one change to try first, with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rag_evaluation_framework.attribution.causes import Cause
from rag_evaluation_framework.attribution.losses import Losses
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.cutoffs import ScoreName

Change = Literal[
    "labels",
    "chunker",
    "larger_chunks",
    "smaller_chunks",
    "embedder",
    "retriever",
    "order",
    "candidates",
    "reranker",
    "places",
    "deeper_ranking",
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
        promised: The mean recall with the change; None for `deeper_ranking`, which tells more and changes nothing, and
            for an embedder that finds nothing of what it reads.
        promise: How that is meant.
        text: All of it in a sentence.
    """

    change: Change
    share: float
    recall: float
    promised: float | None
    promise: Promise
    text: str


@dataclass(frozen=True)
class _Offer:
    """A change that could be tried: what it is about, how much of the recall that is, and what it promises."""

    change: Change
    what: str
    lost: float
    then: str
    promised: float | None
    promise: Promise = "up to"
    weight: float | None = None
    """What it is chosen by; by default what is lost."""

    @property
    def choice(self) -> float:
        """What it is chosen by."""
        return self.lost if self.weight is None else self.weight

    def promises_more(self, recall: float) -> bool:
        """Return whether it is about something, and promises more than there is now, as both are printed."""
        return self.choice > _SEEN and (self.promised is None or self.promised - recall > _SEEN)


def advice(losses: Losses, score: str, depth: int | None, *, deep_asks: bool = False) -> Advice | None:
    """Return the advice about what the greatest share of the missing is about; None if none promises more.

    What ranking lost counts only as far as neither splitting, truncation nor the end of the budget explains it, and
    what was retrieved too late only as far as an order of what was retrieved could bring it. A reranker is weighed by
    what it lost of its candidates in their first order more than it won, as without it both would go. Promises are
    means over the questions:

    - without the reranker, the recall of the ranking before it, which is known;
    - of a better retriever, all that it did not find, but no more than these chunks can have at the cutoff;
    - of more candidates, the same of all that was retrieved and is not among them, also what a flag explains, times
      what the reranker makes of its candidates now: its recall as a share of their ceiling; nothing, if it loses more
      than it wins;
    - of smaller chunks, that what the budget does not read of the chunks that it begins is read, as far as it can hold
      the answers;
    - of larger chunks, that answers of which a part was found are found whole, as far as the budget can hold them;
    - of an embedder that reads chunks whole, that the rest is found as often as what it reads of them now, which is an
      estimate: more text in one vector may be found less often; nothing, if it finds nothing of that;
    - of a better order, the best one of the candidates, also of what a flag explains;
    - of all others, all that they lost.

    What is not among the results asked for, the retriever, the chunker or a reranker may have lost. So nobody is
    blamed for it, and nothing promised.

    Args:
        losses: What was lost.
        score: The score, at a cutoff.
        depth: How many results were asked for again; None if none were.
        deep_asks: Whether the pipeline was not asked, and `deep` asks it.
    """
    recall = float(losses.recall.mean())
    if 1 - recall < _SEEN:
        return None
    cutoff = ScoreName.parse(score).cutoff
    is_budget = cutoff is not None and cutoff.is_budget
    offers = [
        offer
        for offer in _offers(losses, recall, depth, is_budget=is_budget, deep_asks=deep_asks)
        if offer.promises_more(recall)
    ]
    if not offers:
        return None
    best = max(offers, key=lambda offer: offer.choice)
    share = min(best.lost / (1 - recall), 1.0)
    text = f"{share:.0%} of what is missing {best.what}: {best.then}"
    if best.promised is not None:
        then = f"{score} would be {best.promise} {best.promised:.3f}, now {recall:.3f}".replace("  ", " ")
        text = f"{text}, {then}"
    return Advice(best.change, share, recall, best.promised, best.promise, text)


def _offers(losses: Losses, recall: float, depth: int | None, *, is_budget: bool, deep_asks: bool) -> Iterator[_Offer]:
    """Yield the changes that could be tried."""
    lost = {cause: float(column.mean()) for cause, column in losses.lost.items()}
    general = {cause: float(column.mean()) for cause, column in losses.general.items()}

    def all_of(change: Change, cause: Cause, what: str, then: str) -> _Offer:
        return _Offer(change, what, lost[cause], then, recall + lost[cause])

    def within_reach(gain: Numbers) -> float:
        """Return the mean recall with what is gained, as far as these chunks can have it at the cutoff."""
        best = 1.0 if losses.chunking is None else np.maximum(losses.chunking.recall, losses.recall)
        return float(np.minimum(losses.recall + gain, best).mean())

    yield all_of("labels", "not_in_corpus", "is not in the corpus", "with documents that hold it, or labels for these")
    yield all_of("chunker", "in_no_chunk", "is in no chunk", "with a chunker that leaves nothing out")
    yield all_of("places", "not_placed", "was retrieved as text that has no place", "with doc_id, start and end of it")
    missing, unknown, behind = general["not_retrieved"], general["not_asked_for"], general["beyond_cutoff"]
    what = f"is not among the first {depth}{_beside(lost['not_retrieved'], missing, is_budget=is_budget)}"
    yield _Offer(
        "retriever", what, missing, "with a retriever that finds it", within_reach(losses.lost["not_retrieved"])
    )
    what = (
        f"is not among the results asked for{'' if depth is None else ' of questions that are ranked otherwise today'}"
    )
    then = "whether the retriever, the chunker or a reranker lost it, only a deeper ranking tells"
    asks = ", as --deep (deep=True) asks for" if deep_asks else ""
    yield _Offer("deeper_ranking", what, unknown, f"{then}{asks}", None, "")
    best = max(float(losses.candidates.recall.mean()), recall)
    what, a_reranker = "was retrieved, but beyond the cutoff", "a reranker"
    late, first = behind, 0.0
    if losses.without_reranker is not None and losses.first_order is not None:
        without, first = (
            float(np.where(losses.asked, before - losses.recall, 0.0).mean())
            for before in (losses.without_reranker, losses.first_order)
        )
        known: Promise = "" if losses.asked.all() else "about"
        dropped, told = lost["dropped_by_reranker"], "was among the candidates, dropped by the reranker"
        yield _Offer("reranker", told, dropped, "without the reranker", recall + without, known, weight=first)
        late += dropped - max(first, 0.0)  # what it dropped for as much as it won needs another order
        what, a_reranker = "was among the candidates, but not put within the cutoff", "another reranker"
    what = f"{what}{_beside(lost['beyond_cutoff'], behind, is_budget=is_budget)}"
    then = f"in a better order, such as that of {a_reranker}"
    yield _Offer("order", what, late, then, best, weight=min(best - recall, late))
    if first <= _SEEN:  # a reranker that loses more than it wins is not to have more to do
        kept_out = general["not_a_candidate"]
        what = "was retrieved, but is not among the reranker's candidates"
        what = f"{what}{_beside(lost['not_a_candidate'], kept_out, is_budget=is_budget)}"
        then = "with more candidates, and a reranker that makes as much of them as it does now"
        rate = recall / best if best > _SEEN else 1.0  # of what its candidates can have; 1 where they have nothing
        found = recall + rate * (within_reach(losses.lost["not_a_candidate"]) - recall)
        yield _Offer("candidates", what, kept_out, then, found, "about", weight=rate * kept_out)
    split, found = float(losses.split.mean()), float(losses.split_found.mean())
    what, then = "belongs to answers that no chunk holds whole", "with chunks that hold whole those found in part"
    yield _Offer("larger_chunks", what, split, then, recall + found, "about")
    behind_budget = float(losses.cut_off.mean())
    what = "is in chunks behind what the budget reads of them, were they the first"
    then = "with smaller chunks, or a larger budget"
    yield _Offer("smaller_chunks", what, behind_budget, then, recall + float(losses.cut_off_read.mean()), "about")
    truncated, read = float(losses.truncated.mean()), float(losses.embedded_found.mean())
    what = "is in chunks behind what the embedder reads of them"
    then = "with an embedder that reads them whole"
    if read > _SEEN:
        then = f"{then}, and finds the rest as often as what is embedded now"
        found = recall + truncated * read / float(losses.embedded.mean())
        yield _Offer("embedder", what, truncated, then, found, "about")
    else:
        yield _Offer("embedder", what, truncated, f"{then}; how often it would be found is not known", None, "")


def _beside(lost: float, general: float, *, is_budget: bool) -> str:
    """Return that something of what a cause lost is not meant, as a flag explains it."""
    return (
        f", and is neither {'split, truncated nor cut off' if is_budget else 'split nor truncated'}"
        if lost - general > _SEEN
        else ""
    )
