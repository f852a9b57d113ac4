"""`score_spans`: score existing rankings of spans, without corpus or retriever."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from rag_evaluation_framework.data.columns import Numbering
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.judging.oracle import oracle_from_columns
from rag_evaluation_framework.judging.spans import SpanColumns, SpanJudgements
from rag_evaluation_framework.judging.trail import Trail, judge_trail
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.scoring.rank_checks import check_mapping
from rag_evaluation_framework.scoring.score_names import DEFAULT_SPAN_SCORES, parse_span_scores
from rag_evaluation_framework.scoring.span_arrays import number_documents, read_chunk_array, read_span_array
from rag_evaluation_framework.scoring.span_mappings import SpanLike, Spans, read_spans
from rag_evaluation_framework.scoring.tabulate import Cut, tabulate


def score_spans(
    ground_truth: Spans,
    rankings: Spans,
    metrics: Sequence[str] = DEFAULT_SPAN_SCORES,
    chunks: Iterable[SpanLike] | None = None,
) -> ScoreTable:
    """Score rankings of spans that were made elsewhere.

    A span is a `CharacterSpan`, `(doc_id, start, end)`, or a mapping with `doc_id` (or `docId`), `start` and `end`, in
    characters (Unicode code points), the end exclusive. Queries are matched by id. A query that the rankings lack is
    scored as an empty ranking, one without ground truth is left out, one without relevant text has no score; all are
    counted.

    Args:
        ground_truth: For each query its relevant spans.
        rankings: For each query the retrieved spans, best first.
        metrics: Names of scores, such as `span_recall@5`, `span_iou`, `span_recall@4000ch`. A budget in characters is
            filled from the top, text that was retrieved twice counts twice, and the span that crosses the budget is cut
            there, or left out if the name ends in `_whole`.
        chunks: All chunks of the corpus; only `precision_omega` needs them.

    Returns:
        The scores, in the order of the ground truth.

    Raises:
        ConfigError: A name is not that of a span metric, no score is named, a budget counts tokens, or chunks are
            needed.
        DatasetError: The ground truth is empty, a ranking has no order, or a span cannot be read.
    """
    chosen = parse_span_scores(metrics)
    _check_chunks(chosen, chunks)
    check_mapping("ground_truth", ground_truth, "relevant spans")
    check_mapping("rankings", rankings, "ranked spans")
    if not ground_truth:
        raise DatasetError("the ground truth is empty: there is no question to score")
    documents = Numbering()
    queries: tuple[str, ...] = tuple(ground_truth)
    found = cast("Mapping[str, Iterable[SpanLike]]", rankings)
    truth = read_spans(
        [f"question {query!r}: the ground truth" for query in queries],
        list(ground_truth.values()),
        documents,
        ranked=False,
    )
    retrieved = read_spans(
        [f"question {query!r}: the ranking" for query in queries],
        [found.get(query, ()) for query in queries],
        documents,
        ranked=True,
    )
    pieces = None if chunks is None else read_spans(["the list of chunks"], [chunks], documents, ranked=False)
    answered = sum(map(rankings.__contains__, queries))
    counts = {
        "queries_not_ranked": len(queries) - answered,
        "queries_not_judged": len(rankings) - answered,
    }
    return _scored(queries, truth, retrieved, pieces, chosen, counts)


def score_span_arrays(
    ground_truth: ArrayLike,
    rankings: ArrayLike,
    queries: int,
    metrics: Sequence[str] = DEFAULT_SPAN_SCORES,
    chunks: ArrayLike | None = None,
) -> ScoreTable:
    """Score rankings of spans in arrays of integers, one row per span: the quickest way in.

    Args:
        ground_truth: Relevant spans, columns (query, document, start, end), in any order.
        rankings: Retrieved spans, the same columns; the rows of one query are in the order of its ranking.
        queries: The number of queries, which are numbered from 0; one without rows has nothing relevant, or nothing
            retrieved.
        metrics: Names of scores, as in `score_spans`.
        chunks: All chunks of the corpus, columns (document, start, end); only `precision_omega` needs them.

    Returns:
        The scores; the id of a query is its number: "0", "1", …

    Raises:
        ConfigError: A name is not that of a span metric, no score is named, a budget counts tokens, chunks are needed,
            or `queries` is not a number of queries.
        DatasetError: An array has the wrong shape or type, or a row is not a valid span of one of the queries.
    """
    chosen = parse_span_scores(metrics)
    _check_chunks(chosen, chunks)
    number = _number(queries)
    columns = [
        read_span_array("ground_truth", ground_truth, number),
        read_span_array("rankings", rankings, number),
        *([] if chunks is None else [read_chunk_array("chunks", chunks)]),
    ]
    truth, retrieved, *pieces = number_documents(columns)
    return _scored(tuple(map(str, range(number))), truth, retrieved, pieces[0] if pieces else None, chosen, {})


def _number(queries: Any) -> int:
    if isinstance(queries, bool) or not issubclass(type(queries), int | np.integer) or queries < 1:
        raise ConfigError(f"queries={queries!r:.80}; expected the number of questions, at least 1")
    return int(queries)


def _check_chunks(chosen: Mapping[ScoreName, SpanMetric], chunks: object) -> None:
    for name, metric in chosen.items():
        if metric.needs_chunks and chunks is None:
            raise ConfigError(f"score {str(name)!r} needs all chunks of the corpus: give them as chunks=")


def _scored(
    query_ids: tuple[str, ...],
    truth: SpanColumns,
    retrieved: SpanColumns,
    chunks: SpanColumns | None,
    chosen: Mapping[ScoreName, SpanMetric],
    counts: dict[str, int],
) -> ScoreTable:
    queries = len(query_ids)
    trails = {name.cutoff for name, metric in chosen.items() if metric.needs_budget}
    cuts = _judge(truth, retrieved, queries, [name.cutoff for name in chosen], trails)
    if chunks is not None and any(metric.needs_chunks for metric in chosen.values()):
        oracle = oracle_from_columns(chunks, truth, queries)
        cuts = {cutoff: replace(judged, oracle=oracle) for cutoff, judged in cuts.items()}
    answerable = next(iter(cuts.values())).truth > 0
    all_counts = {"queries": queries, "no_answer": int((~answerable).sum()), **counts}
    return tabulate(
        query_ids, chosen, {cutoff: Cut(judged) for cutoff, judged in cuts.items()}, answerable, counts=all_counts
    )


def _judge(
    truth: SpanColumns,
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


def _judged(truth: SpanColumns, retrieved: SpanColumns, queries: int) -> SpanJudgements:
    return SpanJudgements.from_columns(retrieved, truth, queries, depth=int(retrieved.rank.max(initial=-1)) + 1)


def _judged_at_budget(
    truth: SpanColumns, retrieved: SpanColumns, queries: int, budget: Cutoff, *, trail: bool
) -> SpanJudgements:
    """Judge the spans that fit a budget in characters, the last one of each ranking cut or, if `whole`, left out."""
    lengths = retrieved.end - retrieved.start
    before = np.cumsum(lengths) - lengths
    before -= before[np.arange(len(before)) - retrieved.rank]  # of the same query only
    if budget.whole:
        fits = before + lengths <= budget.size
    else:
        fits = before < budget.size
        retrieved = replace(retrieved, end=np.minimum(retrieved.end, retrieved.start + (budget.size - before)))
    kept = retrieved.take(fits)
    judged = _judged(truth, kept, queries)
    if not trail:
        return judged
    read = np.zeros_like(judged.length)
    read[kept.query, kept.rank] = before[fits]
    return replace(judged, trail=judge_trail(kept, truth, queries, Trail.in_characters(budget.size, read)))
