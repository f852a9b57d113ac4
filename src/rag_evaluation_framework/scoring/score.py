"""`score`: from rankings and ground truth to scores, judged once per ranking and budget."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from .. import labels
from ..base.notes import note
from ..base.progress import progress_bar
from ..contracts.roles import Metric
from ..data import CharacterSpan, GroundTruth, PositionAwareChunk, ProjectedTruth, ScoreTable, merge_overlapping_spans
from ..data.columns import Numbering, Numbers
from ..data.cutoffs import OWN_CUTOFF, Cutoff, ScoreName
from ..data.dataset import Dataset, check_dataset_level
from ..data.hits import Hit, RankedHits
from ..data.levels import TOKEN, Level, U, checked_level
from ..data.rankings import OnError, Rankings
from ..errors import DatasetError
from ..text.reading import Context, ContextBudget, HitReader, RankingCutter
from ..text.tokenizers import checked_counter
from .judging.spans import SpanJudgements, Trail, judge_trail, oracle_from_columns
from .judging.stretches import SpanColumns, SpanTruth
from .levels.rules import RULES, LevelRules, NameChunk
from .metrics.span import SpanMetric
from .score_names import (
    Metrics,
    check_cutoffs,
    check_metrics,
    check_rankings,
    matched,
    note_unknown_documents,
    note_unread,
)
from .tabulate import Cut, Units, tabulate

# Trails: where a reader with a budget reads the places of the hits that fit.


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


# `score`: from rankings and ground truth to scores, judged once per ranking and budget for all metrics.

ChunkColumns: TypeAlias = tuple[SpanColumns, Numbering]

_HITS_AT_ONCE = 1 << 18  # so that the memory to score does not grow with the number of questions


@overload
def score(
    rankings: Rankings,
    dataset: Dataset[U],
    metrics: Metrics[U],
    cutoffs: Iterable[Cutoff | int | str] | Cutoff | int | str,
    *,
    level: None = None,
    chunk_id: NameChunk | None = None,
    tokenizer: Any = None,
) -> ScoreTable: ...


@overload
def score(
    rankings: Rankings,
    dataset: Dataset[U] | Dataset[CharacterSpan],
    metrics: Metrics[U],
    cutoffs: Iterable[Cutoff | int | str] | Cutoff | int | str,
    *,
    level: Level[U],
    chunk_id: NameChunk | None = None,
    tokenizer: Any = None,
) -> ScoreTable: ...


def score(
    rankings: Rankings,
    dataset: Dataset[Any],
    metrics: Metrics[Any],
    cutoffs: Iterable[Cutoff | int | str] | Cutoff | int | str,
    *,
    level: Level[Any] | None = None,
    chunk_id: NameChunk | None = None,
    tokenizer: Any = None,
) -> ScoreTable:
    """Score rankings, however they were made.

    A query whose retrieval failed, and one without an answer, has no score; a metric that raises is a failure of the
    queries concerned. Queries are matched by id.

    Args:
        rankings: What was retrieved.
        dataset: What is relevant.
        metrics: The metrics to compute, objects or names, each at every cutoff; `span_u` at budgets only.
        cutoffs: Where rankings are cut: numbers of results (5), budgets of characters (`4000ch`) or tokens (`1000tok`).
        level: The level at which spans are read, such as `CHUNK`; by default that of the dataset.
        chunk_id: How the dataset names chunks, where its ids do not follow from the content; chunk level only.
        tokenizer: What counts the tokens of budgets in tokens, such as `"cl100k_base"`.

    Returns:
        One row per question of the dataset; the scores in the order of metrics, then of cutoffs.

    Raises:
        ConfigError: Metrics or cutoffs are not valid, a cutoff counts tokens without a tokenizer, or it is one that
            the rankings cannot tell: they end before it, or the retriever ranks differently at different k.
        DatasetError: The rankings lack a question of the dataset, are those of another corpus, or are not sound: a
            question twice, a place that its document does not have.
        LevelMismatch: The dataset cannot be read at this level, or a metric cannot score it.
    """
    check_rankings(rankings)
    note_unknown_documents(rankings)
    rankings = rankings.with_table(HitReader(rankings.corpus).with_documents(rankings.hits.table))
    wanted = getattr(dataset, "level", TOKEN) if level is None else checked_level(level)
    check_dataset_level(dataset, wanted)
    cuts = Cutoff.parse_all(cutoffs)
    counter = None if tokenizer is None else checked_counter(tokenizer)
    chosen = check_metrics(metrics, wanted, f"dataset {dataset.name!r} is scored at {wanted.evaluation_type}", cuts)
    notes = dataset.check(rankings.corpus)
    moved = labels.relabel(dataset, rankings.corpus) if dataset.may_have_moved(rankings.corpus) else None
    if moved is not None and moved.changed:
        raise DatasetError(
            f"dataset {dataset.name!r} was labelled on documents that have changed: {moved.counted()}; expected it for "
            "those that were searched, as relabel(dataset, corpus).dataset or `rag-eval dataset update` makes it"
        )
    for text in notes:
        note(text)
    rules: LevelRules[Any] = RULES[wanted.evaluation_type]
    truth = rules.truth(dataset, rankings, chunk_id)
    found = matched(truth.with_dataset_ids(rankings), truth)
    note_unread(found, wanted, rules.noun)
    cutter = RankingCutter(cuts, counter, rankings.corpus)
    check_cutoffs(found, cutter)
    return score_checked(found, truth, chosen, cutter).table


class Scored(NamedTuple):
    """Scores of rankings.

    Attributes:
        table: Their scores.
        first_relevant: The rank of the first result that is relevant, or at token level shares text with an answer. It
            counts results from 1, also those that repeat a document. NaN if none is, or nothing is relevant; shape
            (queries,).
    """

    table: ScoreTable
    first_relevant: Numbers


def score_checked(
    rankings: Rankings,
    truth: ProjectedTruth[U],
    metrics: Sequence[Metric[U]],
    cutter: RankingCutter,
    on_error: OnError = "collect",
    *,
    whole: bool = False,
) -> Scored:
    """Score rankings as `score` does, if all of them were checked.

    Args:
        rankings: One per entry of the truth, in its order, with the chunk ids of the dataset.
        truth: What is relevant.
        metrics: The metrics to compute.
        cutter: Where rankings are cut; none of them was made for less.
        on_error: Whether what a metric raises is data, or ends the scoring.
        whole: Whether the first relevant result is looked for as deep as the rankings go, and not only as deep as the
            largest k.

    Raises:
        QueryFailed: A metric failed, and `on_error` is `"raise"`.
    """
    chunks = _chunks(rankings, metrics)
    names = {ScoreName(one.name, cut): one for one in metrics for cut in cutter.cutoffs if one.takes(cut)}
    for metric in metrics:
        if not all(metric.takes(cutoff) for cutoff in cutter.cutoffs):
            note(f"{metric.name} is scored at budgets only: {', '.join(f'@{cutoff}' for cutoff in cutter.budgets)}")
    begins = np.cumsum(rankings.hits.counts) - rankings.hits.counts
    blocks = np.split(np.arange(len(rankings)), np.flatnonzero(np.diff(begins // _HITS_AT_ONCE)) + 1)
    depth = None if whole else max((cutoff.size for cutoff in cutter.ks), default=0)
    scored: list[tuple[Scored, NDArray[np.bool_]]] = []
    with progress_bar(len(rankings), "Scoring", "question") as bar:
        for rows in blocks:
            entries = truth.entries[rows[0] : rows[-1] + 1] if len(rows) else ()
            some = rankings.take(rows)
            scored.append(_score_some(some, truth.level, entries, names, cutter, chunks, depth, on_error))
            bar.update(len(rows))
    if cutter.budgets:
        known = np.concatenate([some for _, some in scored])
        if not known.all():
            note(
                f"rankings of results whose length is not known: {len(known) - int(known.sum())} of {len(known)}; "
                "scores at budgets are not available for them. Let the retriever return texts, or doc_id, start and end"
            )
        hits = rankings.hits.take(np.flatnonzero(known)).flat
        free = len(hits) - int((hits.placed | hits.text.known).sum())
        if free:
            note(f"results whose length is not known: {free} of {len(hits)}; they take up nothing of a budget")
    first = [some.first_relevant for some, _ in scored]
    return Scored(ScoreTable.joined([some.table for some, _ in scored]), np.concatenate(first))


def _score_some(
    rankings: Rankings,
    level: Level[U],
    truth: Sequence[GroundTruth[U]],
    scores: Mapping[ScoreName, Metric[U]],
    cutter: RankingCutter,
    chunks: ChunkColumns | None,
    depth: int | None,
    on_error: OnError,
) -> tuple[Scored, NDArray[np.bool_]]:
    """Score some of the rankings, all at once, and return of which the length is known of a result."""
    answerable = np.array([bool(entry.relevant) for entry in truth], dtype=np.bool_)
    worked = np.array([query.id not in rankings.failures for query in rankings.queries], dtype=np.bool_)
    rows = np.flatnonzero(answerable & worked)
    answered, found = [truth[row] for row in rows.tolist()], rankings.take(rows)
    spans: Any = answered  # where they are read, these are token-level
    oracle = None
    if chunks is not None:
        places, documents = chunks
        oracle = oracle_from_columns(places, SpanTruth.of_entries(spans, documents), len(answered))
    trails = any(isinstance(metric, SpanMetric) and metric.needs_budget for metric in scores.values())
    known = cutter.known(rankings)
    contexts = {cutoff: budget.buy(found.hits) for cutoff, budget in cutter.budgets.items()}
    ranked = {cutoff: contexts[cutoff].hits if cutoff.is_budget else found.first(cutoff) for cutoff in cutter.cutoffs}
    # The first 5 of 10 results are those of asking for 5 if rankings are prefix-stable: then all k are judged at once.
    apart = [cutoff for cutoff in ranked if cutoff.is_budget or found.at]
    rules: LevelRules[U] = RULES[level.evaluation_type]
    deepest = found.hits if depth is None else found.hits.first(depth)
    first, *others = rules.judge((deepest, *(ranked[cutoff] for cutoff in apart)), answered)
    judged: dict[Any, Any] = dict(zip(apart, others, strict=True))
    cuts: dict[Cutoff | None, Cut] = {}
    for cutoff, hits in ranked.items():
        judgements = judged.get(cutoff, first)
        if not cutoff.is_budget:
            judgements = judgements.at(cutoff.size)
        elif trails:
            judgements = with_trail(judgements, contexts[cutoff], spans, cutter.budgets[cutoff])
        if oracle is not None:
            judgements = replace(judgements, oracle=oracle)
        units = partial(_units, level, answered, hits, cutter.reader)
        cuts[cutoff] = Cut(judgements, units, known[rows] if cutoff.is_budget else None)
    first_relevant = np.full(len(truth), np.nan)
    first_relevant[rows] = first.first_relevant
    table = tabulate(
        [entry.query.id for entry in truth],
        scores,
        cuts,
        answerable,
        {query_id: (failure,) for query_id, failure in rankings.failures.items()},
        on_error=on_error,
    )
    return Scored(table, first_relevant), known


def _chunks(rankings: Rankings, metrics: Sequence[Metric[Any]]) -> ChunkColumns | None:
    """Return everything that could be retrieved, if a metric needs it, and the numbers of the documents."""
    asking = [metric.name for metric in metrics if isinstance(metric, SpanMetric) and metric.needs_chunks]
    if not asking:
        return None
    if rankings.chunks is None:
        note(f"{', '.join(asking)}: not available, as {rankings.retriever} cannot list its chunks")
        return None
    documents = Numbering()
    placed = [chunk for chunk in rankings.chunks if isinstance(chunk, PositionAwareChunk)]
    spans = [CharacterSpan(chunk.doc_id, chunk.start, chunk.end) for chunk in placed]
    if len(placed) < len(rankings.chunks):
        note(
            f"{', '.join(asking)}: {len(rankings.chunks) - len(placed)} of {len(rankings.chunks)} chunks have no place "
            "and are not among the chunks that could be retrieved"
        )
    return SpanColumns.of([spans], documents), documents


def _units(level: Level[U], truth: Sequence[GroundTruth[U]], ranked: RankedHits, reader: HitReader) -> Iterator[Units]:
    """Yield the arguments of `Metric.calculate`: retrieved and relevant units, spans with their text."""

    def with_text(unit: Any) -> Any:
        return reader.span(unit) if isinstance(unit, CharacterSpan) else unit

    for entry, ranking in zip(truth, ranked, strict=True):
        retrieved = entry.as_labelled(level.units(ranking))
        answers = [answer.mapped(with_text) for answer in entry.answers] if entry.has_alternatives else ()
        yield Units([*map(with_text, retrieved)], [*map(with_text, entry.relevant)], answers)


# Scores of each question at the number of results that it asks for.


def with_own_cutoffs(columns: Mapping[str, Numbers], top_k: Sequence[int]) -> dict[str, Numbers]:
    """Return scores with those `@topK`: of each question the score at its own number of results.

    They stand before the other scores of their metric.

    Args:
        columns: Scores by name, shape (queries,) each; metrics at numbers of results at all that questions ask for.
        top_k: At how many results each question asks to be cut.
    """
    own = np.array(top_k)
    found: dict[str, Numbers] = {}
    for name, column in columns.items():
        metric, cutoff = ScoreName.parse(name).metric, ScoreName.parse(name).cutoff
        if cutoff is not None and not cutoff.is_budget:
            asked = found.setdefault(str(ScoreName(metric, OWN_CUTOFF)), np.full(len(own), np.nan))
            rows = own == cutoff.size
            asked[rows] = column[rows]
        found[name] = column
    return found


def cutoffs_of(top_k: Sequence[int]) -> tuple[Cutoff, ...]:
    """Return where rankings are cut so that every question is cut where it asks to be.

    That of most questions first; where they differ, `topK` before all.

    Args:
        top_k: At how many results each question asks to be cut; at least one.
    """
    sizes, counts = np.unique(top_k, return_counts=True)
    ks = tuple(Cutoff(int(size)) for size in sizes[np.argsort(-counts, kind="stable")])
    return ks if len(ks) == 1 else (OWN_CUTOFF, *ks)
