"""`score_spans`: score existing rankings of spans, without corpus or retriever."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.roles import Metric
from rag_evaluation_framework.data import CharacterSpan, Cutoff, ScoreName, ScoreTable
from rag_evaluation_framework.data.columns import Integers, Numbering
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.judging.span_truth import SpanTruth
from rag_evaluation_framework.judging.spans import SpanJudgements, oracle_from_columns
from rag_evaluation_framework.judging.stretches import SpanColumns
from rag_evaluation_framework.judging.trail import Trail, judge_trail
from rag_evaluation_framework.metrics import SpanMetric, TokenSetMetric
from rag_evaluation_framework.scoring.rank_mappings import check_mappings, note_no_match
from rag_evaluation_framework.scoring.score_names import DEFAULT_SPAN_SCORES, Score, SpanScore, parse_span_scores
from rag_evaluation_framework.scoring.span_mappings import (
    SpanLike,
    Spans,
    Truth,
    as_spans,
    read_span_arrays,
    read_spans,
    read_truth,
)
from rag_evaluation_framework.scoring.tabulate import Cut, Units, kept, reads_judgements, tabulate


def score_spans(
    ground_truth: Truth,
    rankings: Spans,
    metrics: Sequence[SpanScore] = DEFAULT_SPAN_SCORES,
    chunks: Iterable[SpanLike] | None = None,
) -> ScoreTable:
    """Score rankings of spans that were made elsewhere.

    A span is a `CharacterSpan`, `(doc_id, start, end)`, or a mapping with `doc_id` (or `docId`), `start` and `end`, in
    characters (Unicode code points), the end exclusive. Queries are matched by id. A query that the rankings lack is
    scored as an empty ranking, one without ground truth is left out, one without relevant text has no score; all are
    counted. Nobody knows which documents there are: a span is as long as it says, wherever it is, while `evaluate`
    counts no characters of a place that its corpus lacks. That no retrieved document has a label is noted, of two
    questions or more.

    Args:
        ground_truth: For each query its relevant spans, all of which are wanted. In place of a span,
            `Answer.any_of(span, copy)` is an answer with several places; those with the same text are copies.
        rankings: For each query the retrieved spans, best first.
        metrics: Names of scores, such as `span_recall@5`, `span_iou`, `span_recall@4000ch`; metrics, which score the
            whole ranking; and pairs of a metric and its cutoff. A budget in characters is filled from the top, text
            that was retrieved twice counts twice, and the span that crosses the budget is cut there, or left out if the
            name ends in `_whole`. A metric of your own is called once for each question that has an answer, with the
            retrieved spans, cut, and the relevant ones; they have a text if you give a `CharacterSpan` that has one,
            which token-set metrics need.
        chunks: All chunks of the corpus; only `precision_omega` needs them.

    Returns:
        The scores, in the order of the ground truth.

    Raises:
        ConfigError: Something is not a score of spans, two metrics share a name, no score is named, a budget counts
            tokens, or chunks or texts are needed.
        DatasetError: The ground truth is empty, a ranking has no order, or a span cannot be read.
    """
    chosen = parse_span_scores(metrics)
    _check_chunks(chosen, chunks)
    check_mappings(ground_truth, rankings, "spans")
    documents = Numbering()
    queries: tuple[str, ...] = tuple(ground_truth)
    found = cast("Mapping[str, Iterable[SpanLike]]", rankings)
    right = kept(ground_truth.values(), "ground_truth")
    ranked = kept((found.get(query, ()) for query in queries), "rankings")
    truth, answers = read_truth([f"question {query!r}: the ground truth" for query in queries], right, documents)
    labelled = len(documents)
    retrieved = read_spans([f"question {query!r}: the ranking" for query in queries], ranked, documents, ranked=True)
    if (retrieved.document >= labelled).all():
        note_no_match([*documents][labelled:], [*documents][:labelled], len(queries))
    pieces = None if chunks is None else read_spans(["the list of chunks"], [chunks], documents, ranked=False)
    answered = sum(map(rankings.__contains__, queries))
    counts = {
        "queries_not_ranked": len(queries) - answered,
        "queries_not_judged": len(rankings) - answered,
    }
    if all(map(reads_judgements, chosen.values())):
        return _scored(queries, truth, retrieved, pieces, chosen, counts)
    spans = as_spans(ranked)
    relevant = [Units((), spans) for spans in as_spans(right)] if answers is None else [*map(Units.of, answers)]
    _check_texts(chosen, chain(*(unit.spans for unit in relevant), *spans))
    units = partial(_units, relevant, spans, retrieved)
    return _scored(queries, truth, retrieved, pieces, chosen, counts, units)


def score_span_arrays(
    ground_truth: ArrayLike,
    rankings: ArrayLike,
    queries: int,
    metrics: Sequence[Score[SpanMetric]] = DEFAULT_SPAN_SCORES,
    chunks: ArrayLike | None = None,
) -> ScoreTable:
    """Score rankings of spans in arrays of integers, one row per span: the quickest way in.

    Args:
        ground_truth: Relevant spans, columns (query, document, start, end), in any order; or, with answers that have
            several places, (query, document, start, end, answer, place, wording), in the order of answers and places:
            the number of the answer in its query, that of the place in its answer, 0 being the reference, and that of
            the first place of the answer with the same text.
        rankings: Retrieved spans, the same columns; the rows of one query are in the order of its ranking.
        queries: The number of queries, which are numbered from 0; one without rows has nothing relevant, or nothing
            retrieved.
        metrics: As in `score_spans`, but for metrics that have nothing but `calculate`: they read spans.
        chunks: All chunks of the corpus, columns (document, start, end); only `precision_omega` needs them.

    Returns:
        The scores; the id of a query is its number: "0", "1", …

    Raises:
        ConfigError: Something is not a score of spans, or reads them; two metrics share a name, no score is named, a
            budget counts tokens, chunks are needed, or `queries` is not a number of queries.
        DatasetError: An array has the wrong shape or type, or a row is not a valid span of one of the queries.
    """
    chosen = parse_span_scores(metrics, of_numbers=True)
    _check_chunks(chosen, chunks)
    number = _number(queries)
    truth, retrieved, pieces = read_span_arrays(ground_truth, rankings, chunks, number)
    return _scored(tuple(map(str, range(number))), truth, retrieved, pieces, chosen, {})


def _number(queries: Any) -> int:
    if isinstance(queries, bool) or not issubclass(type(queries), int | np.integer) or queries < 1:
        raise ConfigError(f"queries={shown(queries)}; expected the number of questions, at least 1")
    return int(queries)


def _check_chunks(chosen: Mapping[ScoreName, Metric[Any]], chunks: object) -> None:
    for name, metric in chosen.items():
        if _needs_chunks(metric) and chunks is None:
            raise ConfigError(f"score {str(name)!r} needs all chunks of the corpus: give them as chunks=")


def _needs_chunks(metric: Metric[Any]) -> bool:
    return isinstance(metric, SpanMetric) and metric.needs_chunks


def _check_texts(chosen: Mapping[ScoreName, Metric[Any]], spans: Iterable[CharacterSpan]) -> None:
    name = next((name for name, metric in chosen.items() if isinstance(metric, TokenSetMetric)), None)
    bare = name and next((span for span in spans if not span.text and span.length()), None)
    if bare:
        raise ConfigError(
            f"score {str(name)!r} needs the text of every span, and [{bare.start}:{bare.end}] of {bare.doc_id!r} has "
            "none: give CharacterSpan(doc_id, start, end, text)"
        )


def _units(
    relevant: Sequence[Units],
    found: Sequence[list[CharacterSpan]],
    retrieved: SpanColumns,
    cutoff: Cutoff | None,
    answerable: NDArray[np.bool_],
) -> Iterator[Units]:
    """Yield the spans of every question that has an answer, as built-in metrics see them at that cutoff."""
    if cutoff is not None and cutoff.is_budget:
        ranked: list[list[CharacterSpan]] = [[] for _ in found]
        cut, _ = _truncate(retrieved, cutoff)
        rows: Iterable[tuple[int, int, int]] = zip(cut.query.tolist(), cut.rank.tolist(), cut.end.tolist(), strict=True)
        for query, rank, end in rows:
            span = found[query][rank]
            text = span.text[: end - span.start]
            ranked[query].append(span if end == span.end else CharacterSpan(span.doc_id, span.start, end, text))
    else:
        ranked = [spans[: None if cutoff is None else cutoff.size] for spans in found]
    for query in map(int, np.flatnonzero(answerable)):
        yield replace(relevant[query], retrieved=ranked[query])


def _scored(
    query_ids: tuple[str, ...],
    truth: SpanTruth,
    retrieved: SpanColumns,
    chunks: SpanColumns | None,
    chosen: Mapping[ScoreName, Metric[Any]],
    counts: dict[str, int],
    units: Callable[[Cutoff | None, NDArray[np.bool_]], Iterable[Units]] | None = None,
) -> ScoreTable:
    queries = len(query_ids)
    trails = {name.cutoff for name, metric in chosen.items() if isinstance(metric, SpanMetric) and metric.needs_budget}
    judged = _judge(truth, retrieved, queries, [name.cutoff for name in chosen], trails)
    if chunks is not None and any(map(_needs_chunks, chosen.values())):
        oracle = oracle_from_columns(chunks, truth, queries)
        judged = {cutoff: replace(judgements, oracle=oracle) for cutoff, judgements in judged.items()}
    answerable = next(iter(judged.values())).truth > 0
    cuts = {
        cutoff: Cut(judgements) if units is None else Cut(judgements, partial(units, cutoff, answerable))
        for cutoff, judgements in judged.items()
    }
    all_counts = {"queries": queries, "no_answer": int((~answerable).sum()), **counts}
    return tabulate(query_ids, chosen, cuts, answerable, counts=all_counts)


def _judge(
    truth: SpanTruth,
    retrieved: SpanColumns,
    queries: int,
    cutoffs: Sequence[Cutoff | None],
    trails: Container[Cutoff | None],
) -> dict[Cutoff | None, SpanJudgements]:
    """Judge once for all numbers of results, as deep as these need, and once for each budget."""
    cuts: dict[Cutoff | None, SpanJudgements] = {}
    sizes: list[int] = []
    for cutoff in cutoffs:
        if cutoff is not None and not cutoff.is_budget:
            sizes.append(cutoff.size)
        elif cutoff not in cuts:
            cuts[cutoff] = (
                _judged(truth, retrieved, queries)
                if cutoff is None
                else _judged_at_budget(truth, retrieved, queries, cutoff, trail=cutoff in trails)
            )
    if sizes:
        whole = cuts.get(None) or _judged(truth, retrieved.take(retrieved.rank < max(sizes)), queries)
        cuts |= {Cutoff(size): whole.at(size) for size in sizes}
    return cuts


def _judged(truth: SpanTruth, retrieved: SpanColumns, queries: int) -> SpanJudgements:
    return SpanJudgements.from_columns(retrieved, truth, queries, depth=int(retrieved.rank.max(initial=-1)) + 1)


def _judged_at_budget(
    truth: SpanTruth, retrieved: SpanColumns, queries: int, budget: Cutoff, *, trail: bool
) -> SpanJudgements:
    bought, before = _truncate(retrieved, budget)
    # What was not bought is no rank.
    bought = replace(bought, rank=np.arange(len(before)) - np.searchsorted(bought.query, bought.query))
    judged = _judged(truth, bought, queries)
    if not trail:
        return judged
    read = np.zeros_like(judged.length)
    read[bought.query, bought.rank] = before
    return replace(judged, trail=judge_trail(bought, truth, queries, Trail.in_characters(budget.size, read)))


def _truncate(retrieved: SpanColumns, budget: Cutoff) -> tuple[SpanColumns, Integers]:
    """Return the spans of each ranking that a budget in characters buys, and how much is read before each of them.

    The last one is cut or, if `whole`, left out; empty ones are left out. Their ranks stay as they are.
    """
    lengths = retrieved.end - retrieved.start
    before = np.cumsum(lengths) - lengths
    before -= before[np.arange(len(before)) - retrieved.rank]  # of the same query only
    if budget.whole:
        bought = (before + lengths <= budget.size) & (lengths > 0)
    else:
        bought = (before < budget.size) & (lengths > 0)
        retrieved = replace(retrieved, end=np.minimum(retrieved.end, retrieved.start + (budget.size - before)))
    return retrieved.take(bought), before[bought]
