"""Advice on what to change first: the change that the greatest share of the missing recall is about."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rag_evaluation_framework.attribution.losses import Bound, Losses

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

_SEEN = 0.0005  # of recall: less is printed as 0


@dataclass(frozen=True)
class Advice:
    """The change to try first. How much recall it brings is not known before it is tried.

    Attributes:
        change: What is to be changed.
        share: The share of the missing recall that the change is about; in [0, 1].
        text: The share, its cause and the change, in a sentence.
    """

    change: Change
    share: float
    text: str


def advice(losses: Losses, depth: int | None, *, deep_asks: bool = False) -> Advice | None:
    """Return the change that the greatest share of the missing recall is about; None if there is none.

    A loss by ranking counts only as far as neither splitting, truncation nor the end of the budget explains it, and as
    far as the best possible ranking has it. A reranker counts with what it dropped more than it won; the rest of what
    it dropped needs another order. A reranker that drops more than it wins is not to be given more candidates.

    The retriever, the chunker or a reranker may have lost what is not among the results asked for. So nobody is blamed
    for it.

    Args:
        losses: What was lost.
        depth: How many results were asked for again; None if none were.
        deep_asks: Whether the pipeline was not asked, and `deep` asks it.
    """
    lost = {cause: float(column.mean()) for cause, column in losses.lost.items()}
    alone = {cause: float(column.mean()) for cause, column in losses.unexplained.items()}
    net = 0.0
    if losses.without_reranker is not None:
        # A run without the reranker also finds text that was no candidate: the reranker lost no more than it dropped.
        more = np.minimum(losses.without_reranker - losses.recall, losses.lost["dropped_by_reranker"])
        net = max(float(np.where(losses.asked, more, 0.0).mean()), 0.0)
    late, kept_out = alone["beyond_cutoff"] + lost["dropped_by_reranker"] - net, alone["not_a_candidate"]

    def within(best: Bound | None, share: float) -> float:
        return share if best is None else min(share, float((best.recall - losses.recall).mean()))

    asks = ", as --deep (deep=True) asks for" if deep_asks else ""
    changes: list[tuple[float, Change, str]] = [
        (lost["not_in_corpus"], "labels", "is not in the corpus: add documents that hold it, or correct the labels"),
        (lost["in_no_chunk"], "chunker", "is in no chunk: try a chunker that leaves nothing out"),
        (lost["not_placed"], "places", "was retrieved as text that has no place: return its doc_id, start and end"),
        (
            within(losses.chunking, alone["not_retrieved"]),
            "retriever",
            f"is not among the first {depth}, and nothing else explains it: try another retriever",
        ),
        (
            alone["not_asked_for"],
            "deeper_ranking",
            "is not among the results asked for: whether the retriever, the chunker or a reranker lost it, only a "
            f"deeper ranking tells{asks}",
        ),
        (net, "reranker", "was dropped by the reranker, beyond what it won: try without it"),
        (
            within(losses.candidates, late),
            "order",
            "was retrieved beyond the cutoff, and nothing else explains it: try a reranker, or a better one",
        ),
        (
            within(losses.chunking, kept_out if net <= _SEEN else 0.0),
            "candidates",
            "is not among the reranker's candidates, and nothing else explains it: try more candidates",
        ),
        (
            float(losses.split.mean()),
            "larger_chunks",
            "belongs to answers that no chunk holds whole: try larger chunks",
        ),
        (
            float(losses.cut_off.mean()),
            "smaller_chunks",
            "is behind what the budget reads of a chunk: try smaller chunks, or a larger budget",
        ),
        (
            float(losses.truncated.mean()),
            "embedder",
            "is behind what the embedder reads of a chunk: try an embedder that reads chunks whole",
        ),
    ]
    most, change, text = max(changes, key=lambda one: one[0])
    if most <= _SEEN:
        return None
    share = min(most / (1 - float(losses.recall.mean())), 1.0)
    return Advice(change, share, f"{share:.0%} of what is missing {text}")
