"""Where relevant text was lost, by cause, in columns.

Every step between the documents and the cutoff is a set of characters, and has all that the steps after it have: the
corpus, its chunks, what was retrieved, the candidates of the reranker (without one: all that was retrieved), what would
have been read of them in their first order, what was read as text, and what was read. What a step is worth is what
recall counts of it: the credit of its characters. So the other places of an answer count as far as they do in the
score, and the differences between steps add up to what is missing of the first places.
"""

from itertools import pairwise

import numpy as np

from rag_evaluation_framework.attribution.causes import CAUSES, Cause, divided, not_found
from rag_evaluation_framework.attribution.evidence import Evidence
from rag_evaluation_framework.attribution.losses import Losses
from rag_evaluation_framework.attribution.span_ceilings import best_of_any_chunks, best_of_candidates, best_of_chunks
from rag_evaluation_framework.attribution.span_steps import SpanSteps
from rag_evaluation_framework.attribution.useful_results import cut_off
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.span_columns import SpanColumns


def span_losses(evidence: Evidence) -> Losses:
    """Divide the characters that were missing at the cutoff, at token level; every question has an answer."""
    steps = SpanSteps(evidence)
    whole, had = steps.whole, [steps.credit(rows) for rows in steps.all]
    lost = divided(had, whole, evidence.asked)
    split, found = split_answers(steps)
    unread, behind = steps.held(evidence.unread), steps.held(cut_off(steps))

    begun = evidence.final.first(np.maximum(evidence.cut(evidence.final).counts, 1))

    def gained(rows: SpanColumns) -> Numbers:
        return np.maximum(steps.credit(steps.read, rows) - had[-1], 0.0) / whole

    room = np.maximum(best_of_any_chunks(steps) - had[-1] / whole, 0.0)
    return Losses(
        recall=had[-1] / whole,
        lost={cause: lost[cause] / whole for cause in CAUSES},
        asked=evidence.asked,
        best_rank=steps.best_ranks(),
        without_reranker=_unreranked(steps, evidence.deep),
        first_order=_unreranked(steps, evidence.candidates),
        split=gained(split),
        split_found=np.minimum(gained(found), room),
        truncated=gained(unread),
        embedded=(steps.credit(steps.in_chunks, steps.read, unread) - steps.credit(unread)) / whole,
        embedded_found=(steps.credit(steps.read, unread) - steps.credit(unread)) / whole,
        cut_off=gained(behind),
        cut_off_read=np.minimum.reduce([gained(behind), gained(steps.placed(begun)), room]),
        general=_general(steps, split, unread, behind),
        chunking=best_of_chunks(steps),
        candidates=best_of_candidates(steps),
    )


def split_answers(steps: SpanSteps) -> tuple[SpanColumns, SpanColumns]:
    """Return the first places of answers that chunks hold, but none of them whole; and those of them found in part.

    An answer of which one place is whole in chunks, each of its spans in one of them, is not split.
    """
    if steps.evidence.chunks is None:
        return steps.of_spans([]), steps.of_spans([])
    covered, whole = steps.whole_in_chunks()
    touched = steps.touched(steps.read)
    split: list[tuple[int, CharacterSpan]] = []
    found: list[tuple[int, CharacterSpan]] = []
    begin = 0
    for row, entry in enumerate(steps.evidence.truth):
        for answer in entry.answers:
            bounds = np.cumsum([begin, *map(len, answer.places)]).tolist()
            places = [slice(first, last) for first, last in pairwise(bounds)]
            begin = bounds[-1]
            if not covered[places[0]].all() or any(whole[place].all() for place in places):
                continue
            spans = [(row, span) for span in answer.reference]
            split += spans
            if touched[bounds[0] : bounds[-1]].any():
                found += spans
    return steps.of_spans(split), steps.of_spans(found)


def _general(steps: SpanSteps, *explained: SpanColumns) -> dict[Cause, Numbers]:
    """Return what ranking lost, as shares, if what a flag explains were had."""
    had = [steps.credit(rows, *explained) for rows in steps.all[1:5]]
    missing, kept_out, behind = (np.maximum(one - other, 0.0) / steps.whole for one, other in pairwise(had))
    found: dict[Cause, Numbers] = {"not_a_candidate": kept_out, "beyond_cutoff": behind}
    return {**not_found(missing, steps.evidence.asked), **found}


def _unreranked(steps: SpanSteps, ranked: RankedHits) -> Numbers | None:
    """Return the recall of a ranking that is not reranked; NaN where it is not known, None if there is no reranker."""
    if steps.evidence.first is None:
        return None
    credit = steps.credit(steps.placed(steps.evidence.cut(ranked)))
    return np.where(steps.evidence.asked, credit / steps.whole, np.nan)
