"""`run_experiment`: index, retrieve, score, and save the result."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain
from time import perf_counter
from typing import Any, overload

import numpy as np

from rag_evaluation_framework import quotes
from rag_evaluation_framework.base.exits import no_exit
from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.sink import Outcome
from rag_evaluation_framework.data import (
    CharacterSpan,
    Corpus,
    Dataset,
    DocumentId,
    GroundTruth,
    ProjectedTruth,
    calculate_overlap,
)
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF
from rag_evaluation_framework.data.hits import Hit, RankedHits
from rag_evaluation_framework.data.levels import DOCUMENT, TOKEN, Level, U
from rag_evaluation_framework.data.rankings import NOT_ANSWERED, Rankings
from rag_evaluation_framework.errors import Interrupted
from rag_evaluation_framework.experiments.config import AnyExperimentConfig, ExperimentConfig
from rag_evaluation_framework.experiments.journal import Journal, open_journal
from rag_evaluation_framework.experiments.reranking import BeforeReranking, before_reranking
from rag_evaluation_framework.experiments.retrieval import Ended, Index, how_many_answered, ranked
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.providers.usage import track_usage
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.results import EvaluationResult, ExperimentResult, QueryResults
from rag_evaluation_framework.scoring.rank_mappings import none_matches
from rag_evaluation_framework.scoring.score import score_checked, with_own_cutoffs
from rag_evaluation_framework.text.reading import RankingCutter
from rag_evaluation_framework.text.text_locator import is_long

# How often the text of a label was retrieved where it is not labelled.


def note_copies_retrieved(dataset: Dataset[CharacterSpan], rankings: Rankings, copied: Collection[str]) -> None:
    """Note for how many questions results hold at least half of a label's text where it is not labelled.

    Short texts are left out: the same words are written in other places without being the same answer.

    Args:
        dataset: The questions with their labels, as they are in the corpus of the rankings.
        rankings: One per question, in the same order.
        copied: The ids of the questions a label of which quotes a text that occurs more than once.
    """
    asked, retrieved, missed = frozenset(copied), 0, 0
    for number, entry in enumerate(dataset):
        if entry.query.id not in asked:
            continue
        read = _places(rankings.hits, number)
        if _hold_copy(read, entry, rankings.corpus):
            retrieved += 1
            missed += not any(span.overlaps(label) for span in read for label in entry.labels)
    if retrieved:
        note(
            f"questions whose answer was retrieved at another place with the same text, which is not labelled and "
            f"counts as not relevant: {retrieved}; for {missed} of them no labelled place was retrieved. `rag-eval "
            "dataset lint` names the places; `*` as the document of a quote labels all of them"
        )


def _places(hits: RankedHits, number: int) -> list[CharacterSpan]:
    """Return the places of the hits of a ranking; those without a place are left out."""
    rows, table = slice(int(hits.begins[number]), int(hits.ends[number])), hits.table
    columns = table.doc_id.read(rows), table.start[rows].tolist(), table.end[rows].tolist()
    return [
        CharacterSpan(DocumentId(doc_id), start, end)
        for doc_id, start, end in zip(*columns, strict=True)
        if doc_id is not None and start >= 0 and end >= 0
    ]


def _hold_copy(read: Sequence[CharacterSpan], entry: GroundTruth[CharacterSpan], corpus: Corpus) -> bool:
    """Return whether results hold at least half of a text of a label, where no label of its question is."""
    texts = {corpus[span.doc_id].content[span.start : span.end] for span in entry.labels}
    for text in filter(is_long, texts):
        for place in _near(read, text, corpus):
            is_labelled = any(map(place.overlaps, entry.labels))
            if not is_labelled and 2 * calculate_overlap(read, [place]) >= place.length():
                return True
    return False


def _near(read: Iterable[CharacterSpan], text: str, corpus: Corpus) -> Iterator[CharacterSpan]:
    """Yield the places of a text, up to white space, that begin or end in what was read."""
    pattern, reach = _pattern(text), 2 * len(text)
    for span in read:
        content = corpus[span.doc_id].content
        for match in pattern.finditer(content, max(span.start - reach, 0), span.end + reach):
            yield CharacterSpan(span.doc_id, match.start(), match.end())


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, text.split())))


# Results that have no place in the corpus: what one of them may be.

_HOW_TO_LOCATE = (
    "Are the documents those that were indexed? Let the retriever return their text as it is, or doc_id, start and end"
)
_COMPARED = 500  # characters of the example


def example_of_unlocated(result: EvaluationResult[Any], corpus: Corpus) -> str:
    """Return a note with an example of most results, which have no place."""
    table = result.queries.hits.flat
    first = next((hit for hit in table if not hit.placed and (hit.text or "").strip()), None)
    example = "" if first is None else f", such as {_with_passage(first, corpus)}"
    return f"most results have no {RULES[result.evaluation_type].noun}{example}. {_HOW_TO_LOCATE}"


def _with_passage(hit: Hit, corpus: Corpus) -> str:
    """Return a result and the passage of the corpus that is most like it."""
    text, locator = (hit.text or "").strip(), quotes.QuoteLocator.of(corpus)
    nearest = quotes.suggest(text[:_COMPARED], locator)
    if nearest is None:
        return f"{shown(text)}; nothing in the documents is like it"
    return f"{shown(text)}; the nearest passage is {nearest.place}: {shown(nearest.quote)}"


# Results of a run none of which match a label: other ids, or no results at all.


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
        note(f"the retriever returned no results for any question that did not fail ({answered} of {len(queries)})")
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
    `sys.exit`. The retriever is closed at the end, also after an error or an interrupt; that it calls `sys.exit` then
    is noted. Latencies are those of one query at a time.

    Args:
        config: The experiment.

    Raises:
        ConfigError: Results cannot be saved where they are to be saved, or the list of chunks is needed and the
            retriever cannot give it.
        DatasetError: None of the relevant chunks is in the index: it was made by another chunker.
        ComponentExited: A component called `sys.exit` before the queries.
        QueryFailed: A query or a metric failed, and `on_error` is `"raise"`: the first that is known, in the order of
            the queries. Nothing is saved.
        SaveFailed: The result could not be saved; the error has it.
        Interrupted: Ctrl-C came when some queries were answered; with `resume=True` these answers are kept.
        KeyboardInterrupt: Ctrl-C came before.
        Exception: Whatever else the retriever raises while it indexes.
    """
    measured = config.config
    is_kept = measured.save_results_path is not None or measured.sinks
    sinks = load_installed(f"{_SENDING}:prepared")(measured) if is_kept else ()
    with open_journal(config, "always") if config.config.resume else nullcontext() as journal:
        result, ended = run(config, journal)
        if isinstance(ended, KeyboardInterrupt):
            raise (
                ended
                if journal
                else Interrupted(f"{_answered(result)}, and nothing is kept; resume=True keeps answers")
            )
        finished: EvaluationResult[Any] = (
            load_installed(f"{_SENDING}:finish")(Outcome(result), sinks, journal) if sinks else result
        )
        return finished


def _answered(result: EvaluationResult[Any]) -> str:
    left = sum(NOT_ANSWERED in failures for failures in result.failures.values())
    return f"{len(result.queries) - left} of {len(result.queries)} questions were answered"


def run(config: ExperimentConfig[Any], journal: Journal | None = None) -> tuple[EvaluationResult[Any], Ended | None]:
    """Do what `run_experiment` does but for saving, and return how it ended, if not as usual, instead of raising it.

    Args:
        config: The experiment.
        journal: What keeps the answers.

    Returns:
        The result; of a run that was interrupted when some queries were answered, the other queries are failures in
        it. And the interrupt, or that the retriever called `sys.exit` when it was closed.
    """
    measured = config.config
    cutoffs = [cutoff for cutoff in config.cutoffs if cutoff != OWN_CUTOFF]
    cutter = RankingCutter(cutoffs, measured.tokenizer, config.corpus)
    with no_exit("a component", "the run"), collected() as notes, track_usage() as usage:
        # Here, as what properties of components raise loses nothing yet.
        record = config.record
        head: dict[str, Any] = {
            "name": config.name,
            "evaluation_type": config.level.evaluation_type,
            "metric_names": tuple(metric.name for metric in config.metrics),
            "cutoffs": tuple(map(str, config.cutoffs)),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
        }

        def asked(index: Index) -> tuple[tuple[ProjectedTruth[Any], Rankings], KeyboardInterrupt | None]:
            truth = RULES[config.level.evaluation_type].truth(config.dataset, index, config.chunk_id)
            spans = config.level is not DOCUMENT
            rankings, interrupt = index.rank(config.dataset.queries, cutter, measured, spans=spans, journal=journal)
            return (truth, rankings), interrupt

        (truth, rankings), ended = ranked(config.retriever, config.corpus, asked)
        result = _scored(config, cutter, truth, rankings, head, record)
    interrupted = isinstance(ended, KeyboardInterrupt)
    told = [f"interrupted: {how_many_answered(rankings)}"] if interrupted else []
    said = [*told, *config.notes, *(() if journal is None else journal.notes), *notes]
    if result.unplaced > 0.5:
        said.append(example_of_unlocated(result, config.corpus))
    return replace(result, notes=tuple(dict.fromkeys(said)), usage=tuple(usage.models)), ended


def _scored(
    config: ExperimentConfig[Any],
    cutter: RankingCutter,
    truth: ProjectedTruth[Any],
    rankings: Rankings,
    head: Mapping[str, Any],
    record: Mapping[str, Any],
) -> EvaluationResult[Any]:
    """Return the result of rankings; its notes are still to come."""
    start = perf_counter()
    rankings = truth.with_dataset_ids(rankings)
    table, first = score_checked(rankings, truth, config.metrics, cutter, config.config.on_error, whole=True)
    before = BeforeReranking()
    if (candidates := rankings.before_reranking) is not None:
        before = before_reranking(candidates, rankings, truth, config.metrics, cutter, config.config.on_error)
    if copied := record["dataset"].get("copied"):
        note_copies_retrieved(config.dataset, rankings, copied)
    seconds = perf_counter() - start
    if config.top_k is not None:
        own = partial(with_own_cutoffs, top_k=config.top_k)
        table = replace(table, columns=own(table.columns))
        before = replace(before, scores=own(before.scores), ceilings=own(before.ceilings))
    table = replace(table, count_as_zero=config.config.count_as_zero)
    queries = QueryResults[Any].of(truth.entries, rankings, table, first, config.dataset.quoted, config.dataset)
    queries = replace(queries, before=before.scores, ceilings=before.ceilings)
    if np.isnan(first).all():
        note_unmatched_results(config.level, queries, truth.entries)
    known = config.level.known(queries.hits.table)
    return EvaluationResult[Any](
        **head,
        queries=queries,
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
        hits={"hits": len(known), "unlocated_hits": len(known) - int(known.sum())},
        skipped=config.dataset.skipped,
        corpus=config.corpus,
    )
