"""Where relevant text was lost, by cause, in columns.

Every step between the documents and the cutoff is a set of characters, and has all that the steps after it have: the
corpus, its chunks, what was retrieved, the candidates of the reranker (without one: all that was retrieved), what would
have been read of them in their first order, what was read as text, and what was read. What a step is worth is what
recall counts of it: the credit of its characters. So the other places of an answer count as far as they do in the
score, and the differences between steps add up to what is missing of the first places.
"""

from itertools import pairwise

import numpy as np

from rag_evaluation_framework.attribution.causes import divided
from rag_evaluation_framework.attribution.evidence import Evidence
from rag_evaluation_framework.attribution.losses import Losses
from rag_evaluation_framework.attribution.span_ceilings import best_of_candidates, best_of_chunks
from rag_evaluation_framework.attribution.span_steps import SpanSteps
from rag_evaluation_framework.attribution.useful_results import cut_off
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.span_columns import SpanColumns


def span_losses(evidence: Evidence) -> Losses:
    """Divide the characters that were missing at the cutoff, at token level; every question has an answer."""
    steps = SpanSteps(evidence)
    whole, had = steps.whole, [steps.credit(rows) for rows in steps.all]
    split, unread, behind = split_answers(steps), steps.held(evidence.unread), steps.held(cut_off(steps))
    repaired = [steps.credit(rows, split, unread, behind) for rows in steps.all]
    bare = steps.credit(steps.placed(evidence.cut(evidence.deep)))

    def gained(rows: SpanColumns) -> Numbers:
        return np.maximum(steps.credit(steps.read, rows) - had[-1], 0.0) / whole

    return Losses(
        recall=had[-1] / whole,
        lost=divided(had, whole, evidence.asked),
        asked=evidence.asked,
        best_rank=steps.best_ranks(),
        without_reranker=None if evidence.first is None else np.where(evidence.asked, bare / whole, np.nan),
        split=gained(split),
        truncated=gained(unread),
        cut_off=gained(behind),
        unexplained=divided(repaired, whole, evidence.asked),
        chunking=best_of_chunks(steps),
        candidates=best_of_candidates(steps),
    )


def split_answers(steps: SpanSteps) -> SpanColumns:
    """Return the first places of answers that chunks hold, but none of them whole.

    An answer of which one place is whole in chunks, each of its spans in one of them, is not split.
    """
    if steps.evidence.chunks is None:
        return steps.of_spans([])
    covered, whole = steps.whole_in_chunks()
    split: list[tuple[int, CharacterSpan]] = []
    begin = 0
    for row, entry in enumerate(steps.evidence.truth):
        for answer in entry.answers:
            bounds = np.cumsum([begin, *map(len, answer.places)]).tolist()
            places = [slice(first, last) for first, last in pairwise(bounds)]
            begin = bounds[-1]
            if covered[places[0]].all() and not any(whole[place].all() for place in places):
                split += [(row, span) for span in answer.reference]
    return steps.of_spans(split)
