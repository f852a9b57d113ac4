"""`run_experiment`: index, retrieve, score, and save the result."""

from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, overload

from rag_evaluation_framework._support.exits import no_exit
from rag_evaluation_framework._support.interrupts import stop_if_interrupted
from rag_evaluation_framework._support.notes import collected
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.experiments.config import AnyExperimentConfig, ExperimentConfig
from rag_evaluation_framework.experiments.retrieval import indexed
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.results.query_result import QueryResults
from rag_evaluation_framework.results.result import EvaluationResult, ExperimentResult
from rag_evaluation_framework.results.store import check_root
from rag_evaluation_framework.scoring.score import score_checked
from rag_evaluation_framework.text.reading import RankingCutter


@overload
def run_experiment(config: ExperimentConfig[U]) -> EvaluationResult[U]: ...


@overload
def run_experiment(config: AnyExperimentConfig) -> ExperimentResult: ...


def run_experiment(config: ExperimentConfig[Any]) -> EvaluationResult[Any]:
    """Run an experiment: index the corpus, retrieve for every query, score every metric at every cutoff.

    A query whose retrieval raises, or a metric that does, becomes a `Failure` of the result; so does one that calls
    `sys.exit`. The retriever is closed at the end, also after an error or an interrupt. Latencies are those of one
    query at a time.

    Raises:
        ConfigError: Results cannot be saved where they are to be saved, or the list of chunks is needed and the
            retriever cannot give it.
        DatasetError: None of the relevant chunks is in the index: it was made by another chunker.
        ComponentExited: A component called `sys.exit` before or after the queries.
        QueryFailed: A query or a metric failed, and `on_error` is `"raise"`: the first that is known, in the order of
            the queries. Nothing is saved.
        Exception: Whatever else the retriever raises while it indexes.
    """
    measured = config.config
    if measured.save_results_path is not None:
        check_root(measured.save_results_path)
    cutter = RankingCutter(config.cutoffs, measured.tokenizer, config.corpus)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    with no_exit("a component", "the run"), collected() as notes:
        with indexed(config.retriever, config.corpus) as index:
            truth = RULES[config.level.evaluation_type].truth(config.dataset, index, config.chunk_id)
            rankings = index.rank(
                config.dataset.queries,
                cutter,
                batch_queries=measured.batch_queries,
                max_concurrency=measured.max_concurrency,
                on_error=measured.on_error,
            )
        start = perf_counter()
        rankings = truth.with_dataset_ids(rankings)
        table = score_checked(rankings, truth, config.metrics, cutter, measured.on_error)
        seconds = perf_counter() - start
    stop_if_interrupted()
    queries = QueryResults[Any].of(truth.entries, rankings, replace(table, count_as_zero=measured.count_as_zero))
    known = config.level.known(queries.hits.table)
    result = EvaluationResult[Any](
        name=config.name,
        evaluation_type=config.level.evaluation_type,
        queries=queries,
        metric_names=tuple(metric.name for metric in config.metrics),
        cutoffs=tuple(map(str, config.cutoffs)),
        config={
            **config.record,
            "depth": rankings.depth,
            "calls": rankings.calls,
            "latency": rankings.latency,
            "chunking": truth.chunking,
        },
        timings={**rankings.seconds, "score": seconds},
        notes=tuple(dict.fromkeys([*config.notes, *notes])),
        created=created,
        hits={"hits": len(known), "unlocated_hits": len(known) - int(known.sum())},
    )
    if measured.save_results_path is None:
        return result
    return replace(result, folder=result.save(root=measured.save_results_path))
