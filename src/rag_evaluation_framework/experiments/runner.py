"""`run_experiment`: index, retrieve, score, and save the result."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, overload

from rag_evaluation_framework._support.exits import no_exit
from rag_evaluation_framework._support.interrupts import finished
from rag_evaluation_framework._support.notes import collected
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF
from rag_evaluation_framework.data.failures import NOT_ANSWERED
from rag_evaluation_framework.data.levels import DOCUMENT, U
from rag_evaluation_framework.data.projected_truth import ProjectedTruth
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.errors import ComponentExited, Interrupted, SaveFailed
from rag_evaluation_framework.experiments.config import AnyExperimentConfig, ExperimentConfig
from rag_evaluation_framework.experiments.copied_text import note_copies_retrieved
from rag_evaluation_framework.experiments.reranking import BeforeReranking, before_reranking
from rag_evaluation_framework.experiments.retrieval import Ended, Index, how_many_answered, ranked
from rag_evaluation_framework.experiments.unlocated import example_of_unlocated
from rag_evaluation_framework.experiments.unmatched_results import note_unmatched_results
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.providers.usage import track_usage
from rag_evaluation_framework.results.query_result import QueryResults
from rag_evaluation_framework.results.result import EvaluationResult, ExperimentResult
from rag_evaluation_framework.results.store import check_root
from rag_evaluation_framework.scoring.own_cutoffs import with_own_cutoffs
from rag_evaluation_framework.scoring.score import score_checked, unscored
from rag_evaluation_framework.text.reading import RankingCutter

Complete: TypeAlias = Callable[[EvaluationResult[Any]], EvaluationResult[Any]]
"""What adds to a result what follows from it, before it is saved: the verdicts of gates, a comparison."""


@overload
def run_experiment(config: ExperimentConfig[U], complete: Complete | None = None) -> EvaluationResult[U]: ...


@overload
def run_experiment(config: AnyExperimentConfig, complete: Complete | None = None) -> ExperimentResult: ...


def run_experiment(config: ExperimentConfig[Any], complete: Complete | None = None) -> EvaluationResult[Any]:
    """Run an experiment: index the corpus, retrieve for every query, score every metric at every cutoff.

    A query whose retrieval raises, or a metric that does, becomes a `Failure` of the result; so does one that calls
    `sys.exit`. The retriever is closed at the end, also after an error or an interrupt. Latencies are those of one
    query at a time.

    Args:
        config: The experiment.
        complete: Adds to the result what follows from it, such as the verdicts of gates; not to one of a run that was
            interrupted.

    Raises:
        ConfigError: Results cannot be saved where they are to be saved, or the list of chunks is needed and the
            retriever cannot give it.
        DatasetError: None of the relevant chunks is in the index: it was made by another chunker.
        ComponentExited: A component called `sys.exit` before or after the queries. If that was when the retriever was
            closed, the error has the result, which is saved as any other.
        QueryFailed: A query or a metric failed, and `on_error` is `"raise"`: the first that is known, in the order of
            the queries. Nothing is saved.
        SaveFailed: The result could not be saved; the error has it.
        Interrupted: Ctrl-C came when some queries were answered; it has their result, which is saved as any other. The
            other queries are failures in it.
        KeyboardInterrupt: Ctrl-C came before.
        Exception: Whatever else the retriever raises while it indexes.
    """
    measured = config.config
    if measured.save_results_path is not None:
        check_root(measured.save_results_path)
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
        (truth, rankings), ended = _ranked(config, cutter)
        answered = how_many_answered(rankings)
        try:
            result, late = finished(lambda: _scored(config, cutter, truth, rankings, head, record))
        except KeyboardInterrupt as again:
            answered, late = f"{answered}, but not scored", again
            result = _scored(config, cutter, truth, rankings, head, record, interrupted=True)
    told = [f"interrupted: {answered}"] if NOT_ANSWERED in rankings.failures.values() else []
    said = dict.fromkeys([*told, *config.notes, *notes, *example_of_unlocated(result, config.corpus)])
    result = replace(result, notes=tuple(said), usage=tuple(usage.models))
    if complete is not None and late is None and not isinstance(ended, KeyboardInterrupt):
        result, late = finished(lambda: complete(result))
    return _kept(result, measured.save_results_path, answered, late or ended)


def _ranked(
    config: ExperimentConfig[Any], cutter: RankingCutter
) -> tuple[tuple[ProjectedTruth[Any], Rankings], Ended | None]:
    """Return the truth and the rankings, and what ended the run before all was done."""

    def asked(index: Index) -> tuple[tuple[ProjectedTruth[Any], Rankings], KeyboardInterrupt | None]:
        truth = RULES[config.level.evaluation_type].truth(config.dataset, index, config.chunk_id)
        spans = config.level is not DOCUMENT
        rankings, interrupt = index.rank(config.dataset.queries, cutter, config.config, spans=spans)
        return (truth, rankings), interrupt

    return ranked(config.retriever, config.corpus, asked)


def _scored(
    config: ExperimentConfig[Any],
    cutter: RankingCutter,
    truth: ProjectedTruth[Any],
    rankings: Rankings,
    head: Mapping[str, Any],
    record: Mapping[str, Any],
    interrupted: bool = False,
) -> EvaluationResult[Any]:
    """Return the result of rankings, without scores if these were interrupted; its notes are still to come."""
    start = perf_counter()
    rankings = truth.with_dataset_ids(rankings)
    if interrupted:
        table, before = unscored(rankings, truth, config.metrics, cutter), BeforeReranking()
    else:
        table = score_checked(rankings, truth, config.metrics, cutter, config.config.on_error)
        before = before_reranking(rankings, truth, config.metrics, cutter, config.config.on_error)
        if copied := record["dataset"].get("copied"):
            note_copies_retrieved(config.dataset, rankings, copied)
    seconds = perf_counter() - start
    if config.top_k is not None:
        own = partial(with_own_cutoffs, top_k=config.top_k)
        table = replace(table, columns=own(table.columns))
        before = replace(before, scores=own(before.scores), ceilings=own(before.ceilings))
    table = replace(table, count_as_zero=config.config.count_as_zero)
    queries = QueryResults[Any].of(truth.entries, rankings, table, config.dataset.quoted, config.dataset)
    queries = replace(queries, before=before.scores, ceilings=before.ceilings)
    if not interrupted:
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
    )


def _kept(
    result: EvaluationResult[Any], root: Path | None, answered: str, ended: Ended | None
) -> EvaluationResult[Any]:
    """Save a result, if that is wanted, and return it.

    Raises:
        SaveFailed: It could not be saved.
        Interrupted: The run was interrupted, before or just now.
        ComponentExited: The retriever called `sys.exit` when it was closed.
    """
    where = "the result is not saved"
    if root is not None:
        try:
            folder, late = finished(lambda: result.save(root=root))
        except SaveFailed as error:
            if ended is None:
                raise
            where = f"{where}: {error.why}"
        else:
            result, ended = replace(result, folder=folder), late or ended
            where = f"the result is saved in {folder}"
    if isinstance(ended, ComponentExited):
        raise ComponentExited(f"{ended}; {answered}; {where}", result) from ended
    if ended is not None:
        raise Interrupted(f"{answered}; {where}", result) from ended
    return result
