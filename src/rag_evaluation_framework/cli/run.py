"""`rag-eval run`: run one evaluation from a configuration file, options, or both."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import rag_evaluation_framework as rag
from rag_evaluation_framework import experiments, gates, report, results, retrievers
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.cli import ci
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.endings import Found
from rag_evaluation_framework.cli.output import arriving, components_print_to_stderr, print_json, print_text, stdout
from rag_evaluation_framework.errors import ConfigError, Interrupted, ResultError, SaveFailed

_PARTS = ("chunker", "embedder", "vector_store")
_WHOLE = ("engine", "rankings")
"""Keys of a file that name what is evaluated as a whole."""
_ABOUT_ENGINES = ("ingest", "cleanup", "allow_custom_prefix", "allow_remote")


def run(
    config: options.Config = None,
    *,
    yes: options.Yes = False,
    no_config: options.NoConfig = False,
    junit: options.JUnit = None,
    step_summary: options.StepSummary = False,
    worst: options.Worst = 5,
    allow_failures: options.AllowFailures = 0,
    allow_skipped: options.AllowSkipped = 0,
    allow_unlocated: options.AllowUnlocated = 0.5,
    no_import: options.NoImport = False,
    resume: options.Resume = None,
    as_json: options.AsJson = False,
    **keys: Any,
) -> None:
    """Evaluate one retriever, show the scores and the weakest questions, and save the run.

    The run is saved in a folder in <root>/runs/, whose summary.md is the place to start.
    Exit codes: 0 done, 1 a gate failed, 2 the run could not be made, or a gate not be measured.
    """
    flags = options.keys_of(keys)
    if config is not None and no_config:
        raise ConfigError(f"the configuration {config} and --no-config were given; expected one of them")
    if config is None and not no_config and "corpus" not in flags:
        config = _config_in(Path(flags.get("save_results_path", results.store.ROOT)), flags)
    run_file, folder = _run_file(config, flags)
    if run_file.allow_custom_prefix and not yes:
        raise ConfigError(
            "--allow-custom-prefix lets a run delete what is in its scope, whatever that is; expected --yes"
        )
    written = gates.Written(keys["gate"] or (), keys["threshold"] or (), "--gate", "--threshold")
    gating = gates.Gating(run_file, folder, written, keys["baseline"])
    summary = ci.step_summary() if step_summary else None
    with components_print_to_stderr():
        experiment = run_file.experiment(folder, imports=not no_import)
    with (
        _cleaned_up(experiment.retriever, run_file.cleanup) as if_left,
        _kept(experiment, resume, run_file.pipeline) as journal,
    ):
        unreliable = partial(
            gates.unreliable,
            allow_failures=allow_failures,
            allow_skipped=allow_skipped,
            allow_unlocated=allow_unlocated,
        )
        result, problem = _made(experiment, gating, unreliable, journal)
        runs = gating.runs(result)
        problems = unreliable(result, why_skipped=report.why_skipped(result, experiment.corpus))
        not_written: tuple[str, ...] = ()
        if not isinstance(problem, KeyboardInterrupt):
            known = (*_told(problem), *_told(runs.compared), *problems)
            if summary is not None:
                not_written = ci.add_to_step_summary(summary, result)
            if junit is not None:
                not_written += ci.write_junit(junit, result, runs, (*known, *not_written))
                if_left.append(lambda left: ci.write_junit(junit, result, runs, (*known, left)))
        _tell(result, problem, experiment.corpus, runs, worst, as_json=as_json)
        gates.refuse_unreliable(result, (*problems, *not_written))
        if any(verdict.counts_as == "fail" for verdict in result.gates):
            raise Found


def _made(
    experiment: rag.ExperimentConfig[Any],
    gating: gates.Gating,
    unreliable: Callable[[rag.EvaluationResult[Any]], Sequence[str]],
    journal: experiments.Journal,
) -> tuple[rag.EvaluationResult[Any], BaseException | None]:
    """Return the result of an experiment, and what is to be told after that was shown."""
    with components_print_to_stderr():
        planned = gating.gates_of(experiment)

        def complete(run: rag.EvaluationResult[Any]) -> rag.EvaluationResult[Any]:
            return report.with_comparison(gating.checked(run, planned, unreliable(run)), gating.runs(run))

        try:
            result, ended = experiments.run(experiment, complete, journal)
        except SaveFailed as problem:
            return problem.result, problem
        return result, Interrupted(journal.said) if isinstance(ended, KeyboardInterrupt) else ended


def _told(problem: object) -> tuple[str, ...]:
    """Return what went wrong beside the questions, if anything did."""
    if isinstance(problem, SaveFailed):
        return (f"the result is shown, but not saved: {problem.why}",)
    return (str(problem),) if isinstance(problem, BaseException) else ()


def _tell(
    result: rag.EvaluationResult[Any],
    problem: BaseException | None,
    corpus: rag.Corpus,
    runs: gates.Runs,
    worst: int,
    *,
    as_json: bool,
) -> None:
    """Print a result, how it differs from a baseline, and where it is saved; raise what is to be told after that."""
    before, compared = runs.baseline, runs.compared
    not_saved = problem.why if isinstance(problem, SaveFailed) else str(problem)
    where = f"not saved: {not_saved}" if result.folder is None else f"saved in {result.folder}"
    with arriving(f"the run is {where}"):
        if as_json:
            record = None
            if before is not None and isinstance(compared, rag.Comparison):
                record = compared.record((before, result))
            print_json(_summary(result, not_saved, worst) | ({} if before is None else {"comparison": record}))
        else:
            more: list[report.Page] = []
            if before is not None and isinstance(compared, rag.Comparison):
                more.append(report.comparison_page(compared, (before, result), worst=worst))
            report.show(stdout(), report.result_page(result, corpus, worst, more))
            if result.folder is not None:
                print_text(report.saved_text(one_line(str(result.folder))))
    if isinstance(problem, SaveFailed):
        raise ResultError(*_told(problem)) from problem
    if problem is not None:
        raise problem
    if isinstance(compared, Exception):
        raise compared


@contextmanager
def _cleaned_up(
    retriever: rag.Retriever, cleanup: retrievers.Cleanup
) -> Generator[list[Callable[[str], tuple[str, ...]]]]:
    """Delete what was written for the run when all is told, as far as that is wanted, however the run ends.

    Yields:
        A list for what is to be called with what could not be deleted; it returns what went wrong.

    Raises:
        ConfigError: It could not be deleted, and nothing worse than a gate had failed.
    """
    earlier: BaseException | None = None
    if_left: list[Callable[[str], tuple[str, ...]]] = []
    try:
        yield if_left
    except BaseException as ended:
        earlier = ended
        raise
    finally:
        with components_print_to_stderr():
            left = retrievers.clean_up(retriever, cleanup, earlier)
        wrong = () if left is None else [told for tell in if_left for told in tell(left)]
        if left is not None and (earlier is None or isinstance(earlier, Found)):
            raise ConfigError("; ".join((left, *wrong)))
        if left is not None:
            note(left)


@contextmanager
def _kept(
    experiment: rag.ExperimentConfig[Any], resume: bool | None, pipeline: Mapping[str, Any]
) -> Generator[experiments.Journal]:
    """Keep the answers of a run until it is finished, and say which of earlier starts are taken."""
    taken: dict[bool | None, experiments.Resume] = {None: "if-sure", True: "always", False: "never"}
    with experiments.open_journal(experiment, taken[resume], pipeline) as journal:
        for told in journal.notes:
            note(told)
        yield journal


def _run_file(config: Path | None, flags: dict[str, Any]) -> tuple[experiments.RunSpec, Path]:
    """Return what is to be run, and the folder to which its paths are relative."""
    named = {key: options.name_of(key) for key in flags}
    keep = {"save_results_path": str(Path(".rag-eval").absolute())}
    if config is None:
        if "dataset" not in flags:
            made = sorted(map(str, Path(".rag-eval").glob("*.yaml")))
            raise ConfigError(
                f"{'' if 'corpus' in flags else '--corpus and '}--dataset missing; expected a configuration file"
                f"{f', such as {made[0]}' if made else ''}, or --dataset, and --corpus if the dataset brings no "
                "documents"
            )
        return experiments.parse_config({**keep, **flags}, "the options", named), Path()
    written = _taken(config, flags)
    return experiments.parse_config({**keep, **written, **flags}, str(config), named), config.parent


def _taken(config: Path, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a configuration that hold beside options."""
    replaced, parts = {*flags}, {"retriever", *_PARTS}
    if flags.get("retriever", "bm25") not in ("bm25", "vector-rag"):  # it replaces the whole pipeline of the file
        replaced |= {*_PARTS}
    if flags.keys() & {*_WHOLE}:
        replaced |= {*parts, *_WHOLE, "order"}
    elif flags.keys() & parts:
        replaced |= {*_WHOLE, "order"}
    if "rankings" in flags:
        replaced |= {*_ABOUT_ENGINES, "scope_prefix"}
    elif flags.keys() & parts:
        replaced |= {*_ABOUT_ENGINES}
    return experiments.load_config(config).model_dump(exclude_unset=True, exclude=replaced)


def _config_in(root: Path, flags: dict[str, Any]) -> Path | None:
    """Return the configuration of a root, if there is one; standard error says what is taken from it.

    Raises:
        ConfigError: There are several.
    """
    found = [path for ending in ("yaml", "yml", "json") if (path := root / f"config.{ending}").is_file()]
    if len(found) > 1:
        raise ConfigError(f"{' and '.join(map(str, found))} are there; expected one configuration, or name one")
    for path in found:
        taken = ", ".join(_taken(path, flags)) or "nothing"
        note(f"of {one_line(str(path))} is used: {taken}; --no-config leaves it alone")
    return found[0] if found else None


def _summary(result: rag.EvaluationResult[Any], not_saved: str, worst: int) -> dict[str, Any]:
    name = result.score_names[0]
    scores = result.per_query(name)
    return {
        "run": None if result.folder is None else str(result.folder),
        "not_saved": None if result.folder is not None else not_saved,
        "name": result.name,
        "metrics": result.metrics,
        "statistics": results.statistics_record(result.statistics, result.micro, result.per_document),
        "reranking": None if result.reranking is None else result.reranking.record(),
        "latency": None if result.latency is None else result.latency.record(),
        "unanswerable": None if result.unanswerable is None else result.unanswerable.record(),
        "breakdowns": [breakdown.record() for breakdown in result.breakdowns],
        "first_relevant": None if result.first_relevant is None else result.first_relevant.record(),
        "headline": result.headline,
        "counts": result.counts,
        "gates": [asdict(verdict) for verdict in result.gates],
        "notes": list(result.notes),
        "failures": {query: [asdict(failure) for failure in failures] for query, failures in result.failures.items()},
        "skipped": [
            {"id": label.query.id, "query": label.query.text, "quote": label.quote, "reason": label.reason}
            for label in result.skipped
        ],
        "worst": [
            {"id": query.query_id, "query": query.text, name: scores[query.query_id]} for query in result.worst(worst)
        ],
    }
