"""Trails: where a reader with a budget reads the places of the hits that fit."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rag_evaluation_framework.data.columns import Numbering, Numbers
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.spans import CharacterSpan, merge_overlapping_spans
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.span_truth import SpanTruth
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.judging.trail import Trail, judge_trail
from rag_evaluation_framework.text.reading import Context, ContextBudget


def with_trail(
    judged: SpanJudgements, context: Context, truth: Sequence[GroundTruth[CharacterSpan]], budget: ContextBudget
) -> SpanJudgements:
    """Return the judgements of rankings that were cut at a budget, with how early in it relevant text is read.

    Args:
        judged: The judgements.
        context: What the budget buys of the rankings.
        truth: What is relevant to each question.
        budget: The budget.
    """
    hits, documents = context.hits, Numbering()
    relevant = SpanTruth.of_entries(truth, documents)
    before, rate = np.zeros(judged.length.shape), np.zeros(judged.length.shape)
    before[hits.query, hits.rank], rate[hits.query, hits.rank] = context.begins, context.rates
    if budget.tokenizer is None:
        trail = Trail.in_characters(budget.cutoff.size, before.astype(np.int64))
    else:
        trail = Trail(budget.cutoff.size, before, rate, _truth_rates(truth, budget))
    return replace(judged, trail=judge_trail(SpanColumns.of_hits(hits, documents), relevant, len(hits), trail))


def _truth_rates(truth: Sequence[GroundTruth[CharacterSpan]], budget: ContextBudget) -> Numbers:
    """Return the tokens per relevant character of each question."""
    rates = np.zeros(len(truth))
    for row, entry in enumerate(truth):
        merged = merge_overlapping_spans(entry.relevant)
        tokens = sum(budget.cost(Hit(span.doc_id, span.start, span.end)) for span in merged)
        rates[row] = tokens / max(sum(span.length() for span in merged), 1)
    return rates
