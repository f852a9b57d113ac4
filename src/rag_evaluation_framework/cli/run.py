"""`rag-eval run`: run one evaluation from a configuration file, options, or both."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Set
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag

from .. import base, contracts, report, runs, sweeps, trackers
from ..analysis import gates
from ..base.exits import on_failure
from ..base.files import from_home
from ..base.notes import note
from ..base.outside import one_line
from ..components import retrievers
from ..errors import ComponentExited, ConfigError
from ..runs import store
from . import run_options as options
from .output import Found, arriving, components_print_to_stderr, print_json, print_text, stdout

_WHOLE = ("engine", "rankings")
"""Keys of a file that name what is evaluated as a whole."""
_ORDER = ("order", "ties")
"""Keys that are about stored rankings."""
_RESUME: Mapping[bool | None, runs.Resume] = {None: "if-sure", True: "always", False: "never"}
_ABOUT_ENGINES = ("ingest", "cleanup", "allow_custom_prefix", "allow_remote")


def run(
    config: Path | None = None,
    *,
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE")] = None,
    yes: bool = False,
    no_config: bool = False,
    junit: Path | None = None,
    allow_failures: int = 0,
    allow_skipped: int = 0,
    allow_unlocated: Annotated[float, typer.Option(metavar="SHARE", min=0, max=1)] = 0.5,
    no_import: bool = False,
    workers: options.Workers = None,
    resume: Annotated[bool | None, typer.Option("--resume/--fresh")] = None,
    as_json: bool = False,
    **keys: Any,
) -> None:
    """Evaluate one retriever, show the scores and the weakest questions, and save the run.

    The run is saved in a folder in <root>/runs/, whose summary.md is the place to start.
    Exit codes: 0 done, 1 a gate failed, 2 no reliable result.

    Args:
        config: A YAML or JSON configuration; options override it.
        settings: Any key of a configuration, or a parameter of a component: mode=retrieve, chunker.chunk_size=200;
            repeatable. Paths are as in the configuration.
        yes: What is in the scope may be deleted.
        no_config: Leave the configuration of the root alone: the options say everything.
        junit: Write the gates as a JUnit XML report.
        allow_unlocated: The share of results without a place to tolerate before exiting with 2.
        resume: Take the answers of an interrupted run also from servers and databases, or ask all questions again; by
            default taken where nothing can have changed.
    """
    flags = options.keys_of(keys, settings or ())
    if config is not None and no_config:
        raise ConfigError(f"the configuration {config} and --no-config were given; expected one of them")
    if config is None and not no_config and "corpus" not in flags:
        config = _config_in(Path(flags.get("save_results_path", store.ROOT)), flags)
    run_file, folder = _run_file(config, flags, {text.partition("=")[0].strip() for text in settings or ()})
    if run_file.allow_custom_prefix and not yes:
        raise ConfigError(
            "--allow-custom-prefix lets a run delete what is in its scope, whatever that is; expected --yes"
        )
    written = gates.Written(keys["gate"] or (), keys["threshold"] or (), "--gate", "--threshold")
    gating = gates.Gating(run_file, folder, written, keys["baseline"])
    unreliable = partial(
        gates.unreliable, allow_failures=allow_failures, allow_skipped=allow_skipped, allow_unlocated=allow_unlocated
    )
    with components_print_to_stderr():
        if workers is not None:
            root = folder / from_home(run_file.save_results_path or store.ROOT.absolute())
            run_file = sweeps.in_shards(
                run_file, folder, root, options.executor_of(workers), imports=not no_import, resume=_RESUME[resume]
            )
        experiment = run_file.experiment(folder, imports=not no_import)
    with (
        _cleaned_up(experiment.retriever, run_file.cleanup) as clean_up,
        runs.open_journal(experiment, _RESUME[resume], run_file.pipeline) as journal,
        _answers_shown(experiment, journal, as_json=as_json),
    ):
        for told in journal.notes:
            note(told)
        with components_print_to_stderr():
            sinks = trackers.prepared(experiment.config, [] if junit is None else [trackers.JUnitSink(junit)])
            outcome = _made(experiment, gating, unreliable, journal)
            left = clean_up(gates.blocks(outcome))
            of_file = {id(sink) for sink in experiment.config.sinks if "sinks" not in flags}
            required = [sink for sink in sinks if id(sink) not in of_file]
            outcome = replace(outcome, problems=(*outcome.problems, *filter(None, [left])))
            sent = trackers.send(outcome, sinks, required)
            journal.is_finished = sent.outcome.result.folder is not None
        not_saved = "save_results_path is null" if sent.not_saved is None else sent.not_saved.why
        if sent.interrupt is not None and not journal.is_finished:
            not_saved = journal.said
        _show(sent.outcome, not_saved, experiment.corpus, as_json=as_json)
        if sent.interrupt is not None:
            raise sent.interrupt
        gates.refuse_unreliable(sent.outcome.result, sent.outcome.problems)
        if any(verdict.counts_as == "fail" for verdict in sent.outcome.result.gates):
            raise Found


def _made(
    experiment: rag.ExperimentConfig[Any],
    gating: gates.Gating,
    unreliable: partial[tuple[str, ...]],
    journal: runs.Journal,
) -> contracts.Outcome:
    """Return a run with the verdicts on its gates."""
    planned = gating.gates_of(experiment)
    with base.kept_stages(experiment.config.save_results_path) as stages:
        if stages is not None:
            stages.measures_anew = any(gate.kind == "latency" for gate in planned)
        exited: tuple[str, ...] = ()
        try:
            result = runs.run(experiment, journal)
        except ComponentExited as error:
            found, unanswered = runs.run_of_answers(experiment, journal)
            if found is None or unanswered:
                raise
            result, exited = found, (str(error),)
    outcome = gating.outcome(result, planned, unreliable(result))
    why = unreliable(result, why_skipped=report.why_skipped(result, experiment.corpus))
    return replace(outcome, problems=(*exited, *outcome.problems, *why))


@contextmanager
def _answers_shown(experiment: rag.ExperimentConfig[Any], journal: runs.Journal, *, as_json: bool) -> Generator[None]:
    """Show the scores of what was answered when the run inside is interrupted."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        with components_print_to_stderr():
            result, unanswered = runs.run_of_answers(experiment, journal)
        if result is not None:
            questions = len(result.queries)
            told = f"interrupted: {questions - unanswered} of {questions} questions were answered at every cutoff"
            closing = map(str, getattr(interrupt, "__notes__", ()))
            outcome = contracts.Outcome(replace(result, notes=(told, *closing, *result.notes)))
            _show(outcome, journal.said, experiment.corpus, as_json=as_json)
        raise


def _show(outcome: contracts.Outcome, not_saved: str, corpus: rag.Corpus, *, as_json: bool) -> None:
    """Print a run, how it differs from its baseline, and where it is saved."""
    result, compared, both = outcome.result, outcome.comparison, outcome.both
    with arriving(f"the run is {f'not saved: {not_saved}' if result.folder is None else f'saved in {result.folder}'}"):
        if as_json:
            record = None if compared is None else compared.record(both)
            print_json(_summary(result, not_saved) | ({} if both is None else {"comparison": record}))
            return
        more = [] if compared is None else [report.comparison_page(compared, both)]
        report.show(stdout(), report.result_page(result, corpus, more=more))
        if result.folder is not None:
            print_text(report.saved_text(one_line(str(result.folder))))


@contextmanager
def _cleaned_up(retriever: rag.Retriever, cleanup: retrievers.Cleanup) -> Generator[Callable[[bool], str | None]]:
    """Delete what was written for the run, as far as that is wanted: when it has been asked, or else when it ends.

    Yields:
        What deletes it; it takes whether the run failed, and returns what could not be deleted.
    """
    failures: list[bool] = []

    def clean_up(failed: bool) -> str | None:
        failures.append(failed)
        with components_print_to_stderr():
            return retrievers.clean_up(retriever, cleanup, failed=failed)

    def at_the_end(_error: BaseException) -> None:
        if not failures and (left := clean_up(True)) is not None:
            note(left)

    with on_failure(at_the_end):
        yield clean_up


def _run_file(config: Path | None, flags: dict[str, Any], settings: Set[str]) -> tuple[runs.RunSpec, Path]:
    """Return what is to be run, by keys of which `--set` gives some, and the folder to which its paths are relative."""
    whole: dict[str, Any] = {"save_results_path": str(Path(".rag-eval").absolute())}
    if config is None:
        if "dataset" not in flags:
            made = sorted(map(str, Path(".rag-eval").glob("*.yaml")))
            raise ConfigError(
                f"{'' if 'corpus' in flags else '--corpus and '}--dataset missing; expected a configuration file"
                f"{f', such as {made[0]}' if made else ''}, or --dataset, and --corpus if the dataset brings no "
                "documents"
            )
        given = runs.with_parts_beside(flags)
    else:
        taken, given = _beside(config, flags)
        whole |= taken
    for key in sorted(given, key=lambda key: key.count(".")):  # a component before its parameters
        sweeps.set_key(whole, key.split("."), given[key], f"--set {key}")
    named = {key: f"--set {key}" if key in settings else options.name_of(key) for key in flags}
    named |= dict.fromkeys(given.keys() - flags.keys(), "--retriever")  # which holds it
    source, folder = ("the options", Path()) if config is None else (str(config), config.parent)
    return runs.parse_config(whole, source, named), folder


def _beside(config: Path, flags: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of a configuration that hold beside options, and these options, parts beside the retriever."""
    file = runs.load_config(config).model_dump(exclude_unset=True)
    flags = runs.with_parts_beside(flags, file.get("retriever"))
    replaced, parts = {*flags}, {"retriever", *runs.PARTS}
    replaced |= {*runs.PARTS} - {*runs.made_of(flags.get("retriever"))}  # of a whole pipeline, all
    if flags.keys() & {*_WHOLE}:
        replaced |= {*parts, *_WHOLE, *_ORDER}
    elif flags.keys() & parts:
        replaced |= {*_WHOLE, *_ORDER}
    if "rankings" in flags:
        replaced |= {*_ABOUT_ENGINES, "scope_prefix"}
    elif flags.keys() & parts:
        replaced |= {*_ABOUT_ENGINES}
    return {key: value for key, value in file.items() if key not in replaced}, flags


def _config_in(root: Path, flags: dict[str, Any]) -> Path | None:
    """Return the configuration of a root, if there is one; standard error says what is taken from it.

    Raises:
        ConfigError: There are several.
    """
    found = [path for ending in ("yaml", "yml", "json") if (path := root / f"config.{ending}").is_file()]
    if len(found) > 1:
        raise ConfigError(f"{' and '.join(map(str, found))} are there; expected one configuration, or name one")
    for path in found:
        taken = ", ".join(_beside(path, flags)[0]) or "nothing"
        note(f"of {one_line(str(path))} is used: {taken}; --no-config leaves it alone")
    return found[0] if found else None


def _summary(result: rag.EvaluationResult[Any], not_saved: str) -> dict[str, Any]:
    name = result.score_names[0]
    scores = result.per_query(name)
    return {
        "run": None if result.folder is None else str(result.folder),
        "not_saved": None if result.folder is not None else not_saved,
        "name": result.name,
        "metrics": result.metrics,
        **result.measured,
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
            {"id": query.query_id, "query": query.text, name: scores[query.query_id]} for query in result.worst()
        ],
    }
