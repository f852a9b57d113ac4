"""Running an experiment: index, retrieve, judge, score; what fails becomes data."""

import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, overload

from tqdm import tqdm

from rag_evaluation_framework.coroutines import resolved
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.errors import PartExited
from rag_evaluation_framework.exits import no_exit
from rag_evaluation_framework.experiments.config import AnyExperimentConfig, ExperimentConfig
from rag_evaluation_framework.experiments.level_truth import LevelTruth
from rag_evaluation_framework.experiments.query_result import Failure, QueryResult, Raised
from rag_evaluation_framework.experiments.rankings import HitPlacer, Purse, Ranked, RankingSource
from rag_evaluation_framework.experiments.results import EvaluationResult, ExperimentResult
from rag_evaluation_framework.experiments.scoring import Cut, Judge
from rag_evaluation_framework.experiments.store import check_root
from rag_evaluation_framework.ground_truth import GroundTruth
from rag_evaluation_framework.levels import U
from rag_evaluation_framework.registry import describe, plain
from rag_evaluation_framework.types import Hit


@overload
def run_experiment(config: ExperimentConfig[U]) -> EvaluationResult[U]: ...


@overload
def run_experiment(config: AnyExperimentConfig) -> ExperimentResult: ...


def run_experiment(config: ExperimentConfig[Any]) -> EvaluationResult[Any]:
    """Run an experiment: index the corpus, retrieve for every question, score every metric at every cutoff.

    A question whose retrieval raises, or a metric that does, becomes a `Failure` of the result; so does one that calls
    `sys.exit`. The retriever is closed at the end, also after an error or an interrupt. Latencies are those of one
    question at a time.

    Raises:
        ConfigError: Results cannot be kept where they shall be, or chunks are needed that the retriever cannot list.
        DatasetError: None of the relevant chunks is in the index: it was made by another chunker.
        PartExited: The retriever called `sys.exit` before or after the questions.
        Exception: Whatever else the retriever raises while it indexes.
    """
    keep = config.settings.save_results_path
    if keep is not None:
        check_root(keep)
    with no_exit("a part", "the run"):
        result = _run(config)
    return result if keep is None else replace(result, folder=result.save(root=keep))


def _run(config: ExperimentConfig[U]) -> EvaluationResult[U]:
    started = datetime.now(UTC)
    clock = perf_counter()
    noted: list[str] = list(config.warnings)
    placer = HitPlacer(config.corpus, config.retriever)
    purses = [Purse(budget, config.settings.tokenizer, placer) for budget in config.settings.budgets]
    source = RankingSource(config.retriever, config.cutoffs, placer, purses)
    with _noting(noted):
        with _closing(config):
            with no_exit(config.retriever.name, "index"):
                resolved(config.retriever.index(config.corpus))
            indexed = perf_counter()
            truth = LevelTruth[U].of(config, placer)
            if config.settings.batch_questions:
                _prepare(config, truth)
            outcomes = [_rank(source, entry, truth) for entry in _with_progress(truth.entries)]
        retrieved = perf_counter()
        queries = tuple(_scored(config, truth, outcomes, purses, placer))
        scored = perf_counter()
    noted += truth.notes
    noted += _remarks(source, outcomes)
    return EvaluationResult(
        name=config.name,
        evaluation_type=config.level.evaluation_type,
        queries=queries,
        metric_names=tuple(metric.name for metric in config.metrics),
        cutoffs=tuple(map(str, config.cutoffs)),
        count_as_zero=tuple(sorted(config.settings.count_as_zero)),
        config=_record(config, source.depth, truth.chunking),
        timings={"index": indexed - clock, "retrieve": retrieved - indexed, "score": scored - retrieved},
        warnings=tuple(dict.fromkeys(noted)),
        created=started.isoformat(timespec="seconds"),
    )


def _remarks(source: RankingSource, outcomes: Sequence[Ranked | Failure]) -> Iterator[str]:
    if source.unstable:
        yield (
            f"rankings changed at the top when more results were asked for: {source.unstable}; their scores at k are "
            f"those of asking for {source.largest.size}. If the retriever works so, let its prefix_stable be False"
        )
    if source.unspent:
        yield f"questions whose ranking ended before every budget was spent: {source.unspent}"
    hits = [hit for outcome in outcomes if isinstance(outcome, Ranked) for hit in outcome.hits]
    contradicting = sum(map(source.placer.contradicts, hits))
    if contradicting:
        yield (
            f"results that name a place which reads other than their text: {contradicting}; the place was taken. If "
            "the retriever does not change texts, its offsets are wrong (they count code points)"
        )
    ambiguous = sum(hit.text in source.placer.ambiguous for hit in hits)
    if ambiguous:
        yield (
            f"results whose text stands in several places: {ambiguous}; the first free place was taken. Let the "
            "retriever return doc_id, or doc_id, start and end, to be sure"
        )


def _with_progress(entries: Sequence[GroundTruth[U]]) -> Iterator[GroundTruth[U]]:
    yield from tqdm(entries, desc="Retrieving", unit="question", delay=2, disable=None, leave=False)


@contextmanager
def _closing(config: ExperimentConfig[Any]) -> Generator[None]:
    """Close the retriever; an error while closing never hides an earlier one, and is a warning if there is none.

    Only `sys.exit` is an error then: a pipeline that ends the program must not look as if all went well.
    """
    close: Callable[[], Any] = config.retriever.close
    earlier: BaseException | None = None
    try:
        yield
    except BaseException as error:
        earlier = error
        raise
    finally:
        try:
            with no_exit(config.retriever.name, "close"):
                resolved(close())
        except Exception as error:
            if earlier is None and isinstance(error, PartExited):
                raise
            message = f"{config.retriever.name} could not be closed: {type(error).__name__}: {error}"
            if earlier is None:
                warnings.warn(message, stacklevel=2)
            else:
                earlier.add_note(message)


@contextmanager
def _noting(noted: list[str]) -> Generator[None]:
    """Keep the warnings of parts for the result, instead of printing them; if there is none, print them after all."""
    finished = False
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
        finished = True
    finally:
        for warning in caught:
            if finished and issubclass(warning.category, UserWarning):
                noted.append(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _prepare(config: ExperimentConfig[Any], truth: LevelTruth[Any]) -> None:
    """Tell the retriever all questions; if that fails, each is asked alone, and fails alone."""
    prepare: Callable[[list[str]], Any] = config.retriever.prepare
    try:
        with no_exit(config.retriever.name, "prepare"):
            resolved(prepare([entry.query.text for entry in truth.entries]))
    except PartExited:
        raise
    except Exception as error:  # noqa: BLE001  a retriever may raise anything; it becomes data
        warnings.warn(
            f"{config.retriever.name} could not prepare for all questions together: {type(error).__name__}: {error}; "
            "each was asked alone",
            stacklevel=2,
        )


def _rank(source: RankingSource, entry: GroundTruth[U], truth: LevelTruth[U]) -> Ranked | Failure:
    try:
        return truth.identified(source.rank(entry.query.text))
    except (Exception, SystemExit) as error:  # noqa: BLE001  a retriever may raise anything; it becomes data
        return Failure.of("retrieve", error)


def _scored(
    config: ExperimentConfig[U],
    truth: LevelTruth[U],
    outcomes: Sequence[Ranked | Failure],
    purses: Sequence[Purse],
    placer: HitPlacer,
) -> Iterator[QueryResult[U]]:
    pairs = list(zip(truth.entries, outcomes, strict=True))
    scorable = [(entry, ranked) for entry, ranked in pairs if isinstance(ranked, Ranked) and entry.relevant]
    judge = Judge(config.level, [entry for entry, _ in scorable], truth.chunks, placer.text)
    columns = judge.score(list(_cuts(config, judge, [ranked for _, ranked in scorable], purses)), config.metrics)
    row = 0
    for entry, outcome in pairs:
        if isinstance(outcome, Failure):
            yield QueryResult(entry.query.id, entry.query.text, entry.relevant, _gains(entry), failures=(outcome,))
            continue
        result: QueryResult[U] = QueryResult(
            entry.query.id,
            entry.query.text,
            entry.relevant,
            _gains(entry),
            hits=tuple(map(_slim, outcome.hits)),
            stages={stage.name: stage.seconds for stage in outcome.stages},
        )
        if entry.relevant:
            result = _with_scores(result, {name: column[row] for name, column in columns.items()})
            row += 1
        yield result


def _cuts(
    config: ExperimentConfig[U], judge: Judge[U], ranked: Sequence[Ranked], purses: Sequence[Purse]
) -> Iterator[Cut]:
    """Cut and judge the rankings; those of a prefix-stable retriever are judged once for every k."""
    deep = [outcome.hits for outcome in ranked]
    shared = None
    if not any(outcome.at for outcome in ranked):
        shared = judge.judge([hits[: max(config.k, default=0)] for hits in deep])
    for cutoff in map(Cutoff, config.k):
        rankings = [outcome.at.get(cutoff, outcome.hits)[: cutoff.size] for outcome in ranked]
        judged = judge.judge(rankings) if shared is None else shared
        yield Cut(cutoff, rankings, judged.at(cutoff.size))
    for purse in purses:
        rankings = [purse.spend(ranking) for ranking in deep]
        yield Cut(purse.cutoff, rankings, judge.judge_budget(rankings))


def _with_scores(result: QueryResult[U], values: dict[str, float | Raised | None]) -> QueryResult[U]:
    failures = tuple(Failure.of(f"score {name}", value) for name, value in values.items() if isinstance(value, Raised))
    scores = {name: None if isinstance(value, Raised) else value for name, value in values.items()}
    return replace(result, scores=scores, failures=failures)


def _gains(entry: GroundTruth[Any]) -> dict[str, float]:
    return {unit: gain for unit in entry.relevant if (gain := entry.gain(unit)) != 1.0}


def _slim(hit: Hit) -> Hit:
    """Drop the text that the place already says."""
    return hit if hit.span is None else replace(hit, text=None)


def _record(config: ExperimentConfig[Any], depth: int, chunking: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "retriever": describe(config.retriever),
        "metrics": [describe(metric) for metric in config.metrics],
        "k": list(config.k),
        "budgets": [str(budget) for budget in config.settings.budgets],
        "tokenizer": None if config.settings.tokenizer is None else config.settings.tokenizer.name,
        "depth": depth,
        "latency": "one question at a time"
        + (", what can be done for all together done before" if config.settings.batch_questions else ""),
        "dataset": {
            "name": config.dataset.name,
            "evaluation_type": config.dataset.level.evaluation_type,
            "questions": len(config.dataset),
            "hash": config.dataset.content_hash,
        },
        "corpus": {
            "source": _absolute(config.corpus.metadata.get("source")),
            "glob_pattern": config.corpus.metadata.get("glob_pattern"),
            "documents": len(config.corpus),
            "characters": sum(len(document.content) for document in config.corpus),
            "hash": config.corpus.content_hash,
        },
        "chunking": chunking,
        "chunk_id": None if config.chunk_id is None else plain(config.chunk_id),
    }


def _absolute(source: object) -> str | None:
    return None if source is None else str(Path(str(source)).resolve())
