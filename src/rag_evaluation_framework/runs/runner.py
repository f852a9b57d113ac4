"""`retrieve` and `run_experiment`: index, retrieve, score, and save the result."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, Unpack, overload

import numpy as np

from .. import labels
from ..base.exits import no_exit
from ..base.interrupts import go_on
from ..base.notes import collected, note
from ..base.outside import shown
from ..base.records import refused
from ..base.stages import kept_stages
from ..components.providers.calls import track_usage
from ..components.retrievers.function import Pipeline, as_retriever
from ..contracts.registry.loading import load_installed
from ..contracts.roles import Metric, Outcome
from ..data import TOKEN, Corpus, Cutoff, Dataset, GroundTruth, ProjectedTruth, Query, ScoreName
from ..data.columns import Integers, Numbering, Numbers
from ..data.cutoffs import OWN_CUTOFF
from ..data.documents import checked_corpus
from ..data.ids import QueryIds, QueryText
from ..data.levels import DOCUMENT, Level, U
from ..data.rankings import NOT_ANSWERED, OnError, Rankings
from ..data.spans import merge_overlapping_spans, total_length
from ..data.values import gives_items, items
from ..errors import ConfigError, DatasetError
from ..scoring.judging.spans import largest_sums, relevant_parts
from ..scoring.judging.stretches import SpanColumns, SpanTruth
from ..scoring.levels.rules import RULES
from ..scoring.metrics import ChunkRecall, Recall, SpanRecall
from ..scoring.score import score_checked, with_own_cutoffs
from ..scoring.score_rankings import none_matches
from ..text.reading import RankingCutter
from ..text.tokenizers import checked_counter
from . import EvaluationResult, ExperimentResult, QueryResults
from .config import AnyExperimentConfig, Asking, AskingFields, ExperimentConfig
from .journal import Journal, open_journal
from .ranker import Index, indexed
from .shown import noted

# `retrieve`: index a corpus and retrieve for every query, as deep as the cutoffs need.


def retrieve(
    retriever: Pipeline,
    corpus: Corpus,
    queries: Iterable[Query | str],
    cutoffs: Iterable[Cutoff | int | str] | Cutoff | int | str = (10,),
    *,
    tokenizer: Any = None,
    **fields: Unpack[AskingFields],
) -> Rankings:
    """Index a corpus and retrieve for every query, as deep as the cutoffs need.

    A query whose retrieval raises, or calls `sys.exit`, becomes a failure of its ranking. The retriever is closed at
    the end, also after an error.

    Args:
        retriever: A retriever, or a function `(query, k) -> texts, chunks or dicts`.
        corpus: The documents.
        queries: The queries to ask; the id of a text follows from its wording.
        cutoffs: Numbers of results (5), budgets of characters (`4000ch`) or of tokens (`1000tok`).
        tokenizer: What counts the tokens of budgets in tokens, such as `"cl100k_base"`.
        fields: How the queries are asked: fields of `Asking`, such as `max_concurrency`.

    Returns:
        One ranking per query, in order; every hit has its place in the corpus, if it could be found.

    Raises:
        ConfigError: A cutoff or a field is not valid, or a cutoff counts tokens without a tokenizer; or what is
            given is not queries; or the retriever has no name that can be read, or is one of ours and in use by another
            run.
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: Two queries share an id.
        ComponentExited: The retriever called `sys.exit`, and not while a query was asked.
        Exception: Whatever else the retriever raises while it indexes.
    """
    with refused(Asking):
        asking = Asking.model_validate(fields)
    asked, cuts = _asked(queries), Cutoff.parse_all(cutoffs)
    cutter = RankingCutter(cuts, None if tokenizer is None else checked_counter(tokenizer), checked_corpus(corpus))
    with collected() as notes, indexed(as_retriever(retriever), corpus) as index:
        rankings = index.rank(asked, cutter, asking)
    return replace(rankings, notes=tuple(notes))


def _asked(queries: Any) -> list[Query]:
    if not gives_items(queries, str, Query, Dataset):
        raise ConfigError(
            f"queries={shown(queries)}: expected a list of queries or of their texts, such as dataset.queries"
        )
    listed = items(queries, "queries")
    for item in listed:
        if not isinstance(item, Query | str):
            raise ConfigError(f"queries: {shown(item)}; expected a Query or a text")
    ids = QueryIds({query.id: query.text for query in listed if isinstance(query, Query)})
    asked = [query if isinstance(query, Query) else Query(ids.of(query), QueryText(query)) for query in listed]
    twice = [query_id for query_id, number in Counter(query.id for query in asked).items() if number > 1]
    if twice:
        raise DatasetError(f"questions that are given twice: {len(twice)}, the first with the id {twice[0]!r}")
    return asked


# `run_experiment`: index, retrieve, score, and save the result.

# Scores before reranking, and the recall that no order of the candidates exceeds.

_HITS_AT_ONCE = 1 << 18  # so that the memory does not grow with the number of questions


@dataclass(frozen=True, eq=False)
class BeforeReranking:
    """What the candidates of a reranker score in their first order, and could score in the best one.

    Attributes:
        scores: The scores of the first order by name, NaN where a query has none; shape (queries,) each.
        ceilings: The recall that no order exceeds by name of the score, likewise; of recalls only.
        candidates: The most candidates that a query has; None without a reranker.
    """

    scores: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])
    ceilings: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])
    candidates: int | None = None


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
    with collected():  # what there is to say of these results was said when the final order was scored
        table = score_checked(before, known, metrics, cutter, on_error).table
    if table.failures:
        query_id, (failure, *_) = next(iter(table.failures.items()))
        why, counts = f"{failure.kind}: {failure.message}", {"count": len(table.failures), "all": len(rows)}
        note(noted("not before", **counts, first=repr(query_id), why=why))

    def spread(column: Numbers) -> Numbers:
        whole = np.full(len(rankings), np.nan)
        whole[rows] = column
        return whole

    return BeforeReranking(
        {name: spread(column) for name, column in table.columns.items()},
        {name: spread(column) for name, column in _ceilings(before, known, metrics, cutter)},
        int(before.hits.counts.max()),
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
    with collected():
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


# Results that have no place in the corpus, or match no label: what one of them may be.

_COMPARED = 500  # characters of the example


def example_of_unlocated(result: EvaluationResult[Any], corpus: Corpus) -> str:
    """Return a note with an example of most results, which have no place, and the passage that is most like it."""
    hits = result.queries.hits.flat
    text = next((text for hit in hits if not hit.placed and (text := (hit.text or "").strip())), "")
    example = f", such as {shown(text)}" if text else ""
    if text and (nearest := labels.suggest(text[:_COMPARED], labels.QuoteLocator.of(corpus))) is not None:
        example += f"; the nearest passage is {nearest.place}: {shown(nearest.quote)}"
    elif text:
        example += "; nothing in the documents is like it"
    return noted("no places", noun=RULES[result.evaluation_type].noun, example=example)


def note_unmatched_results(level: Level[Any], queries: QueryResults[Any], truth: Sequence[GroundTruth[Any]]) -> None:
    """Note why every score is 0: there were no results, or their ids match no label of any question.

    Args:
        level: The level at which the run was scored.
        queries: The results, of which none is relevant.
        truth: What is relevant, one entry per question.
    """
    answered = len(queries) - int(queries.table.with_status("failed").sum())
    if not any(entry.labels for entry in truth) or not answered:
        return
    hits = queries.hits.flat
    if not len(hits):
        note(noted("no results", count=answered, all=len(queries)))
    elif level is not TOKEN:
        ids = (level.unit(hit, 1) for hit in hits.take(np.flatnonzero(level.known(hits))))
        if told := none_matches(ids, chain.from_iterable(entry.labels for entry in truth), with_prefixes=True):
            note(told)


_SENDING = "rag_evaluation_framework.trackers.sending"  # a door upwards


@overload
def run_experiment(config: ExperimentConfig[U]) -> EvaluationResult[U]: ...


@overload
def run_experiment(config: AnyExperimentConfig) -> ExperimentResult: ...


def run_experiment(config: ExperimentConfig[Any]) -> EvaluationResult[Any]:
    """Run an experiment: index the corpus, retrieve for every query, score every metric at every cutoff; save it.

    A query whose retrieval raises, or a metric that does, becomes a `Failure` of the result; so does one that calls
    `sys.exit`. The retriever is closed at the end, also after an error or an interrupt. Latencies are those of one
    query at a time.

    Args:
        config: The experiment.

    Raises:
        ConfigError: Results cannot be saved where they are to be saved, or the list of chunks is needed and the
            retriever cannot give it.
        DatasetError: None of the relevant chunks is in the index: it was made by another chunker.
        ComponentExited: A component called `sys.exit`, and not for a query.
        QueryFailed: A query or a metric failed, and `on_error` is `"raise"`: the first that is known, in the order of
            the queries. Nothing is saved.
        SaveFailed: The result could not be saved; the error has it.
        KeyboardInterrupt: Ctrl-C came; with `resume=True` it is `Interrupted`, which says how many answers are kept.
        Exception: Whatever else the retriever raises while it indexes.
    """
    measured = config.config
    is_kept = measured.save_results_path is not None or measured.sinks
    sinks = load_installed(f"{_SENDING}:prepared")(measured) if is_kept else ()
    with open_journal(config, "always") if config.config.resume else nullcontext() as journal:
        result = run(config, journal)
        finished: EvaluationResult[Any] = (
            load_installed(f"{_SENDING}:finish")(Outcome(result), sinks, journal) if sinks else result
        )
        return finished


def run(config: ExperimentConfig[Any], journal: Journal | None = None) -> EvaluationResult[Any]:
    """Do what `run_experiment` does but for saving.

    Args:
        config: The experiment.
        journal: What keeps the answers.
    """
    measured = config.config
    cutoffs = [cutoff for cutoff in config.cutoffs if cutoff != OWN_CUTOFF]
    cutter = RankingCutter(cutoffs, measured.tokenizer, config.corpus)
    with (
        no_exit("a component", "the run"),
        collected() as notes,
        track_usage() as usage,
        kept_stages(measured.save_results_path),
    ):
        # Here, as what properties of components raise loses nothing yet.
        created, name, record = datetime.now(UTC).isoformat(timespec="seconds"), config.name, config.record
        before: Index | None = None if journal is None else journal.index
        index: Index
        with indexed(config.retriever, config.corpus) if before is None else nullcontext(before) as index:
            truth = RULES[config.level.evaluation_type].truth(config.dataset, index, config.chunk_id)
            if journal is not None:
                journal.index = index
            record = {**record, "index": index.size}
            spans = config.level is not DOCUMENT
            rankings = index.rank(config.dataset.queries, cutter, measured, spans=spans, journal=journal)
        if journal is not None:
            journal.index = None
        result = _scored(config, cutter, truth, rankings, name, created, record)
    said = [*config.notes, *(() if journal is None else journal.notes), *notes]
    if result.unplaced > 0.5:
        said.append(example_of_unlocated(result, config.corpus))
    return replace(result, notes=tuple(dict.fromkeys(said)), usage=tuple(usage.models))


def run_of_answers(config: ExperimentConfig[Any], journal: Journal) -> tuple[EvaluationResult[Any] | None, int]:
    """Return the result of what was answered until a run ended that was asking; it asks and indexes nothing.

    Args:
        config: The experiment.
        journal: What kept the answers.

    Returns:
        A result whose other questions have failed, and how many these are; None if none was answered.
    """
    if journal.index is None or not journal.end():
        return None, len(config.dataset)
    go_on()
    result = run(config, journal)
    unanswered = sum(NOT_ANSWERED in failures for failures in result.failures.values())
    return None if unanswered == len(result.queries) else result, unanswered


def _scored(
    config: ExperimentConfig[Any],
    cutter: RankingCutter,
    truth: ProjectedTruth[Any],
    rankings: Rankings,
    name: str,
    created: str,
    record: Mapping[str, Any],
) -> EvaluationResult[Any]:
    """Return the result of rankings; its notes are still to come."""
    start, on_error = perf_counter(), config.config.on_error
    rankings = truth.with_dataset_ids(rankings)
    table, first = score_checked(rankings, truth, config.metrics, cutter, on_error, whole=True)
    before = BeforeReranking()
    if (candidates := rankings.before_reranking) is not None:
        before = before_reranking(candidates, rankings, truth, config.metrics, cutter, on_error)
    seconds = perf_counter() - start
    if config.top_k is not None:
        own = partial(with_own_cutoffs, top_k=config.top_k)
        table = replace(table, columns=own(table.columns))
        before = replace(before, scores=own(before.scores), ceilings=own(before.ceilings))
    table = replace(table, count_as_zero=config.config.count_as_zero)
    queries = QueryResults[Any].of(truth.entries, rankings, table, first, config.dataset.quoted)
    queries = replace(queries, before=before.scores, ceilings=before.ceilings)
    if np.isnan(first).all():
        note_unmatched_results(config.level, queries, truth.entries)
    known = config.level.known(queries.hits.table)
    return EvaluationResult[Any](
        name=name,
        evaluation_type=config.level.evaluation_type,
        queries=queries,
        metric_names=tuple(metric.name for metric in config.metrics),
        cutoffs=tuple(map(str, config.cutoffs)),
        config={
            **record,
            "depth": rankings.depth,
            "calls": rankings.calls,
            "latency": rankings.latency,
            "candidates": before.candidates,
            "unfilled": rankings.unfilled,
            "chunking": truth.chunking,
        },
        timings={**rankings.seconds, "score": seconds},
        notes=(),
        created=created,
        hits={"hits": len(known), "unlocated_hits": len(known) - int(known.sum())},
        skipped=config.dataset.skipped,
        corpus=config.corpus,
    )
