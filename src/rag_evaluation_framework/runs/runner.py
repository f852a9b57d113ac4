"""`retrieve` and `run_experiment`: index, retrieve, score, and save the result."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, Unpack, overload

import numpy as np

from .. import labels
from ..base.exits import no_exit
from ..base.interrupts import go_on
from ..base.notes import collect_notes, note
from ..base.outside import shown
from ..base.records import refused
from ..base.stages import kept_stages
from ..components.providers.calls import track_usage
from ..components.retrievers.function import Pipeline, as_retriever
from ..contracts.registry.loading import load_installed
from ..contracts.roles import Outcome
from ..data import TOKEN, Corpus, Cutoff, Dataset, GroundTruth, Query
from ..data.cutoffs import OWN_CUTOFF
from ..data.documents import checked_corpus
from ..data.ids import QueryIds, QueryText
from ..data.levels import DOCUMENT, Level, U
from ..data.rankings import NOT_ANSWERED, Rankings
from ..data.values import gives_items, items
from ..errors import ConfigError, DatasetError
from ..scoring.levels.rules import RULES
from ..scoring.reranking import BeforeReranking, before_reranking
from ..scoring.score import score_checked, with_own_cutoffs
from ..scoring.score_rankings import none_matches
from ..text.reading import RankingCutter
from ..text.tokenizers import checked_counter
from . import EvaluationResult, ExperimentResult, QueryResults
from .config import AnyExperimentConfig, Asking, AskingFields, ExperimentConfig
from .journal import Journal, open_journal
from .ranker import Index, indexed
from .shown import run_note

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
    with collect_notes() as notes, indexed(as_retriever(retriever), corpus) as index:
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
    return run_note("no_places", noun=RULES[result.evaluation_type].noun, example=example)


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
        note(run_note("no_results", count=answered, all=len(queries)))
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
    with open_journal(config, "always") if measured.resume else nullcontext() as journal:
        result = run(config, journal)
        if sinks:
            result = load_installed(f"{_SENDING}:finish")(Outcome(result), sinks, journal)
        return result


def run(config: ExperimentConfig[Any], journal: Journal | None = None) -> EvaluationResult[Any]:
    """Do what `run_experiment` does but for saving.

    Args:
        config: The experiment.
        journal: What keeps the answers.
    """
    measured = config.config
    cutoffs = [cutoff for cutoff in config.cutoffs if cutoff != OWN_CUTOFF]
    cutter, on_error = RankingCutter(cutoffs, measured.tokenizer, config.corpus), measured.on_error
    with (
        no_exit("a component", "the run"),
        collect_notes() as notes,
        track_usage() as usage,
        kept_stages(measured.save_results_path),
    ):
        # Here, as what properties of components raise loses nothing yet.
        created, name, record = datetime.now(UTC).isoformat(timespec="milliseconds"), config.name, config.record
        index: Index
        earlier = None if journal is None else journal.index
        with nullcontext(earlier) if earlier else indexed(config.retriever, config.corpus) as index:
            truth = RULES[config.level.evaluation_type].truth(config.dataset, index, config.chunk_id)
            if journal is not None:
                journal.index = index
            size, spans = index.size, config.level is not DOCUMENT
            rankings = index.rank(config.dataset.queries, cutter, measured, spans=spans, journal=journal)
        if journal is not None:
            journal.index = None
        start = perf_counter()
        rankings = truth.with_dataset_ids(rankings)
        table, first = score_checked(rankings, truth, config.metrics, cutter, on_error, whole=True)
        before = BeforeReranking()
        if (candidates := rankings.before_reranking) is not None:
            before = before_reranking(candidates, rankings, truth, config.metrics, cutter, on_error)
        if before.failures:
            query_id, (failure, *_) = next(iter(before.failures.items()))
            why, counts = f"{failure.kind}: {failure.message}", {"count": len(before.failures), "all": before.queries}
            note(run_note("not_before", **counts, first=repr(query_id), why=why))
        seconds = perf_counter() - start
        if config.top_k is not None:
            own = partial(with_own_cutoffs, top_k=config.top_k)
            table = replace(table, columns=own(table.columns))
            before = replace(before, scores=own(before.scores), ceilings=own(before.ceilings))
        table = replace(table, count_as_zero=measured.count_as_zero)
        queries = QueryResults[Any].of(truth.entries, rankings, table, first, config.dataset.quoted)
        queries = replace(queries, before=before.scores, ceilings=before.ceilings)
        if np.isnan(first).all():
            note_unmatched_results(config.level, queries, truth.entries)
    known = config.level.known(queries.hits.table)
    result = EvaluationResult[Any](
        name=name,
        evaluation_type=config.level.evaluation_type,
        queries=queries,
        metric_names=tuple(metric.name for metric in config.metrics),
        cutoffs=tuple(map(str, config.cutoffs)),
        config={
            **record,
            "index": size,
            "depth": rankings.depth,
            "calls": rankings.calls,
            "latency": rankings.latency,
            "candidates": before.candidates,
            "unfilled": rankings.unfilled,
            "chunking": truth.chunking,
        },
        timings={**rankings.seconds, "score": seconds},
        notes=tuple(dict.fromkeys([*config.notes, *(() if journal is None else journal.notes), *notes])),
        created=created,
        hits={"hits": len(known), "unlocated_hits": len(known) - int(known.sum())},
        skipped=config.dataset.skipped,
        usage=tuple(usage.models),
        corpus=config.corpus,
    )
    if result.unplaced <= 0.5:
        return result
    return replace(result, notes=(*result.notes, example_of_unlocated(result, config.corpus)))


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
