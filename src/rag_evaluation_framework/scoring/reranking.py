"""Scores before reranking, and the recall that no order of the candidates exceeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.notes import collect_notes
from ..contracts.roles import Metric
from ..data import TOKEN, Cutoff, GroundTruth, ProjectedTruth, ScoreName
from ..data.columns import Integers, Numbering, Numbers
from ..data.rankings import Failure, OnError, Rankings
from ..data.spans import merge_overlapping_spans, total_length
from ..text.reading import RankingCutter
from .judging.spans import largest_sums, relevant_parts
from .judging.stretches import SpanColumns, SpanTruth
from .metrics import ChunkRecall, Recall, SpanRecall
from .score import score_checked

_HITS_AT_ONCE = 1 << 18  # so that the memory does not grow with the number of questions


@dataclass(frozen=True, eq=False)
class BeforeReranking:
    """Scores of a reranker's candidates in their first order, and in the best possible one.

    Attributes:
        scores: The scores of the first order by name, NaN where a query has none; shape (queries,) each.
        ceilings: The recall that no order exceeds by name of the score, likewise; of recalls only.
        candidates: The most candidates that a query has; None without a reranker.
        queries: Of how many queries the candidates were scored.
        failures: Of which of them a metric failed, by query id.
    """

    scores: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])
    ceilings: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])
    candidates: int | None = None
    queries: int = 0
    failures: Mapping[str, tuple[Failure, ...]] = field(default_factory=dict[str, tuple[Failure, ...]])


def before_reranking(
    before: Rankings,
    rankings: Rankings,
    truth: ProjectedTruth[Any],
    metrics: Sequence[Metric[Any]],
    cutter: RankingCutter,
    on_error: OnError = "collect",
) -> BeforeReranking:
    """Score the rankings that the reranker of a run was given, cut where those of the run are cut.

    Args:
        before: What the reranker was given for the queries of which that is known: `rankings.before_reranking`.
        rankings: One per entry of the truth, in its order, with the chunk ids of the dataset.
        truth: What is relevant.
        metrics: The metrics to compute.
        cutter: Where rankings are cut.
        on_error: Whether what a metric raises is data, or ends the scoring.

    Returns:
        Nothing if no query of which the candidates are known can be scored.

    Raises:
        QueryFailed: A metric failed, and `on_error` is `"raise"`.
    """
    place = {query.id: number for number, query in enumerate(before.queries)}
    rows = [
        row
        for row, (query, entry) in enumerate(zip(rankings.queries, truth.entries, strict=True))
        if query.id in place and entry.relevant and query.id not in rankings.failures
    ]
    if not rows:
        return BeforeReranking()
    before = before.take(np.array([place[rankings.queries[row].id] for row in rows], dtype=np.int64))
    known = ProjectedTruth(truth.level, tuple(truth.entries[row] for row in rows))
    with collect_notes():  # what there is to say of these results was said when the final order was scored
        table = score_checked(before, known, metrics, cutter, on_error).table

    def spread(column: Numbers) -> Numbers:
        whole = np.full(len(rankings), np.nan)
        whole[rows] = column
        return whole

    return BeforeReranking(
        {name: spread(column) for name, column in table.columns.items()},
        {name: spread(column) for name, column in _ceilings(before, known, metrics, cutter)},
        int(before.hits.counts.max()),
        len(rows),
        table.failures,
    )


def _ceilings(
    before: Rankings, truth: ProjectedTruth[Any], metrics: Sequence[Metric[Any]], cutter: RankingCutter
) -> Iterator[tuple[str, Numbers]]:
    """Yield the name of every recall, and what no order of the candidates exceeds; shape (queries,).

    That is the recall of all candidates together and, where answers have one place each, what the best of them hold
    that fit the cutoff: of relevant ids as many as there are results, of text the sum of the largest parts.
    """
    recalls: list[Metric[Any]] = [metric for metric in metrics if isinstance(metric, Recall | ChunkRecall | SpanRecall)]
    if not recalls:
        return
    whole = Cutoff(max(int(before.hits.counts.max()), 1))
    with collect_notes():
        found = score_checked(before, truth, recalls, RankingCutter([whole], None, before.corpus)).table
    limits = {cutoff: _limit(before, truth, cutter, cutoff) for cutoff in cutter.cutoffs}
    for metric in recalls:
        column = found.columns[str(ScoreName(metric.name, whole))]
        for cutoff, limit in limits.items():
            yield str(ScoreName(metric.name, cutoff)), np.minimum(column, limit)


def _limit(before: Rankings, truth: ProjectedTruth[Any], cutter: RankingCutter, cutoff: Cutoff) -> Numbers:
    """Return the recall that the cutoff leaves room for, inf where that is not known; shape (queries,)."""
    entries = truth.entries
    single = np.array([not entry.has_alternatives for entry in entries], dtype=np.bool_)
    if truth.level is TOKEN:
        sizes = np.array([total_length(merge_overlapping_spans(entry.relevant)) for entry in entries])
        at_once = max(_HITS_AT_ONCE // max(int(before.hits.counts.max()), 1), 1)
        blocks = [np.arange(row, min(row + at_once, len(entries))) for row in range(0, len(entries), at_once)]
        room = np.concatenate(
            [_room(before.take(rows), entries[rows[0] : rows[-1] + 1], cutter, cutoff) for rows in blocks]
        )
    elif cutoff.is_budget:
        return np.full(len(entries), np.inf)
    else:
        sizes = np.array([len({*entry.relevant}) for entry in entries])
        room = np.full(len(entries), float(cutoff.size))
    return np.where(single, room / np.maximum(sizes, 1), np.inf)


def _room(before: Rankings, truth: Sequence[GroundTruth[Any]], cutter: RankingCutter, cutoff: Cutoff) -> Numbers:
    """Return the most relevant characters that candidates hold which fit a cutoff; shape (queries,)."""
    documents, table = Numbering(), before.hits.flat
    reference = SpanTruth.of_entries(truth, documents).reference
    items = SpanColumns.of_hits(before.hits, documents).take(table.placed)
    costs: Integers = np.ones(len(items.query), dtype=np.int64)
    if cutoff.is_budget:
        costs = np.minimum(cutter.budgets[cutoff].costs(table)[table.placed], cutoff.size)
    return largest_sums(items.query, relevant_parts(items, reference), costs, cutoff, len(truth))
