"""`score`: from rankings and ground truth to scores, judged once per ranking and budget for all metrics."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Hit, Ranking
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.data.projected_truth import ProjectedTruth
from rag_evaluation_framework.data.rankings import QueryRanking, Rankings
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.judging.oracle import oracle_from_lists
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.levels.level_rules import LevelRules
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.scoring.score_checks import (
    check_cutoffs,
    check_dataset,
    check_given,
    check_metrics,
    matched,
)
from rag_evaluation_framework.scoring.tabulate import Cut, Units, tabulate
from rag_evaluation_framework.text.reading import ContextBudget, HitReader
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer


def score(
    rankings: Rankings,
    truth: Dataset[U] | ProjectedTruth[U],
    metrics: Iterable[Metric[U]],
    cutoffs: Iterable[Cutoff | int | str] | Cutoff | int | str,
    *,
    tokenizer: Any = None,
) -> ScoreTable:
    """Score rankings, however they were made.

    A query whose retrieval failed, and one without an answer, has no score; a metric that raises is a failure of the
    queries concerned. Queries are matched by id.

    Args:
        rankings: What was retrieved.
        truth: What is relevant: a dataset at its own level, or its truth projected to another level.
        metrics: The metrics to compute, each at every cutoff.
        cutoffs: Where rankings are cut: numbers of results (5), budgets of characters (`4000ch`) or tokens (`1000tok`).
        tokenizer: What counts the tokens of budgets in tokens, such as `"cl100k_base"`.

    Returns:
        One row per entry of the truth; the scores in the order of metrics, then of cutoffs.

    Raises:
        ConfigError: Metrics or cutoffs are not valid, a cutoff counts tokens without a tokenizer, or it is one that
            the rankings cannot tell: they end before it, or the retriever ranks differently at different k.
        DatasetError: The rankings lack a query of the truth, or are those of another corpus.
        LevelMismatch: A metric cannot score the level of the truth.
    """
    check_given(rankings, truth)
    cuts = Cutoff.parse_all(cutoffs)
    counter = None if tokenizer is None else resolve_tokenizer(tokenizer)
    chosen = check_metrics(metrics, truth.level, f"this truth is {truth.level.evaluation_type}")
    projected = _projected(truth, rankings)
    entries = list(projected)
    found = matched(projected.with_dataset_ids(rankings), entries)
    _note_other_wording(entries, found)
    ks = [cutoff for cutoff in cuts if not cutoff.is_budget]
    reader = HitReader(rankings.corpus)
    budgets = [ContextBudget(cutoff, counter, reader) for cutoff in cuts if cutoff.is_budget]
    check_cutoffs(rankings, found, ks, budgets)
    scorable = [(entry, ranking) for entry, ranking in zip(entries, found, strict=True) if _has_score(entry, ranking)]
    answered = [entry for entry, _ in scorable]
    rules: LevelRules[U] = RULES[truth.level.evaluation_type]
    oracle = _oracle(rankings, answered, chosen)
    return tabulate(
        [entry.query.id for entry in entries],
        {ScoreName(metric.name, cutoff): metric for metric in chosen for cutoff in cuts},
        {
            cutoff: Cut(_with_oracle(judged, oracle), partial(_units, truth.level, answered, ranked, reader))
            for cutoff, ranked, judged in _judged(rules, scorable, ks, budgets)
        },
        np.array([bool(entry.relevant) for entry in entries], dtype=np.bool_),
        {ranking.query.id: (ranking.failure,) for ranking in found if ranking.failure is not None},
    )


def _projected(truth: Dataset[U] | ProjectedTruth[U], rankings: Rankings) -> ProjectedTruth[U]:
    if isinstance(truth, ProjectedTruth):
        return truth
    for text in check_dataset(truth, rankings.corpus):
        note(text)
    rules: LevelRules[U] = RULES[truth.level.evaluation_type]
    return rules.truth(truth, rankings)


def _note_other_wording(entries: Sequence[GroundTruth[Any]], found: Sequence[QueryRanking]) -> None:
    other = [
        entry.query.id for entry, ranking in zip(entries, found, strict=True) if entry.query.text != ranking.query.text
    ]
    if other:
        note(
            f"questions whose wording in the rankings is not that in the ground truth: {len(other)}, the first "
            f"{other[0]!r}; they were matched by id"
        )


def _has_score(entry: GroundTruth[Any], ranking: QueryRanking) -> bool:
    return ranking.failure is None and bool(entry.relevant)


def _judged(
    rules: LevelRules[U],
    scorable: Sequence[tuple[GroundTruth[U], QueryRanking]],
    ks: Sequence[Cutoff],
    budgets: Sequence[ContextBudget],
) -> Iterator[tuple[Cutoff, list[Ranking], SpanJudgements | RankJudgements]]:
    """Yield every cutoff with the rankings cut there, judged.

    They are judged once for all k if rankings are prefix-stable: the first 5 of 10 results are those of asking for 5.
    """
    truth = [entry for entry, _ in scorable]
    deepest = max(ks, key=lambda cutoff: cutoff.size, default=None)
    shared = None
    if deepest is not None and not any(ranking.at for _, ranking in scorable):
        shared = rules.judge([ranking.first(deepest) for _, ranking in scorable], truth)
    for cutoff in ks:
        ranked = [ranking.first(cutoff) for _, ranking in scorable]
        judged = rules.judge(ranked, truth) if shared is None else shared
        yield cutoff, ranked, judged.at(cutoff.size)
    for budget in budgets:
        ranked = [budget.truncate(ranking.hits) for _, ranking in scorable]
        judged = rules.judge(ranked, truth)
        if isinstance(judged, RankJudgements):  # the depth of each is the number of results that fit the budget
            judged = judged.at(np.fromiter(map(len, ranked), dtype=np.int64, count=len(ranked)))
        yield budget.cutoff, ranked, judged


def _oracle(
    rankings: Rankings, truth: Sequence[GroundTruth[Any]], metrics: Sequence[Metric[Any]]
) -> SpanJudgements | None:
    """Return the judgements of a perfect retriever over the same chunks, if a metric needs them."""
    asking = [metric.name for metric in metrics if isinstance(metric, SpanMetric) and metric.needs_chunks]
    if not asking:
        return None
    if rankings.chunks is None:
        note(f"{', '.join(asking)}: not available, as {rankings.retriever} cannot list its chunks")
        return None
    spans = [CharacterSpan(chunk.doc_id, chunk.start, chunk.end) for chunk in rankings.chunks]
    return oracle_from_lists(spans, [entry.relevant for entry in truth])


def _with_oracle(judged: SpanJudgements | RankJudgements, oracle: SpanJudgements | None) -> Any:
    spans: Any = judged
    return judged if oracle is None else replace(spans, oracle=oracle)


def _units(
    level: Level[U], truth: Sequence[GroundTruth[U]], ranked: Sequence[Ranking], reader: HitReader
) -> Iterator[Units]:
    """Yield the arguments of `Metric.calculate`: retrieved and relevant units, spans with their text."""
    for entry, ranking in zip(truth, ranked, strict=True):
        retrieved = entry.as_labelled(level.units(ranking))
        yield [_with_text(unit, reader) for unit in retrieved], [_with_text(unit, reader) for unit in entry.relevant]


def _with_text(unit: Any, reader: HitReader) -> Any:
    if not isinstance(unit, CharacterSpan) or unit.text or unit.start == unit.end:
        return unit
    return replace(unit, text=reader.text(Hit(unit.doc_id, unit.start, unit.end)))
