"""`rag-eval run`: run one evaluation from a configuration file, options, or both."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import experiments, reports
from rag_evaluation_framework._outside import one_line
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.output import arriving, components_print_to_stderr, print_json
from rag_evaluation_framework.data.failures import NOT_ASKED
from rag_evaluation_framework.errors import ComponentExited, ConfigError, Interrupted, ResultError, SaveFailed

Problem: TypeAlias = "SaveFailed | Interrupted | ComponentExited"
_OPTIONS = {"metrics": "--metric", "budgets": "--budget", "save_results_path": "--root"}
"""Options that are not called like the key that they set."""


def run(
    config: Annotated[
        Path | None, typer.Argument(parser=paths.path, help="A YAML or JSON configuration; options override it.")
    ] = None,
    corpus: Annotated[Path | None, typer.Option(parser=paths.path, help="The folder of documents.")] = None,
    glob: Annotated[str | None, typer.Option(help="Which files of the folder to read; by default **/*.md.")] = None,
    dataset: Annotated[
        Path | None, typer.Option(parser=paths.path, help="A dataset (.json, .jsonl), or questions with quotes (.csv).")
    ] = None,
    evaluation_type: Annotated[
        str | None, typer.Option(help="document-level, chunk-level or token-level; by default that of the dataset.")
    ] = None,
    chunker: Annotated[str | None, typer.Option(help="For example recursive-character:chunk_size=200.")] = None,
    embedder: Annotated[str | None, typer.Option(help="For example lsa; without one, retrieval is lexical.")] = None,
    vector_store: Annotated[str | None, typer.Option(help="in-memory, chroma or qdrant.")] = None,
    retriever: Annotated[
        str | None, typer.Option(help="bm25, vector-rag, hybrid, or your own: my_module:search.")
    ] = None,
    reranker: Annotated[
        str | None, typer.Option(help="Reranks the first 50 results: late-interaction, cross-encoder, or your own.")
    ] = None,
    metric: Annotated[list[str] | None, typer.Option(help="For example span_recall; repeatable.")] = None,
    k: Annotated[list[int] | None, typer.Option(help="A number of results; repeatable.")] = None,
    budget: Annotated[
        list[str] | None, typer.Option(help="A context budget, such as 4000ch or 1000tok; repeatable.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="The tokenizer of budgets in tokens, for example cl100k_base.")
    ] = None,
    max_concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="How many questions are asked side by side; your own retriever has to allow it."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How long one question may take; one that takes longer has failed."),
    ] = None,
    experiment_name: Annotated[str | None, typer.Option(help="Name of the result.")] = None,
    root: Annotated[
        Path | None, typer.Option(parser=paths.path, help="Where runs are saved; by default .rag-eval.")
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the weakest questions to show.")] = 5,
    allow_failures: Annotated[
        int, typer.Option(min=0, help="The number of failed questions to tolerate before exiting with 2.")
    ] = 0,
    allow_skipped: Annotated[
        int,
        typer.Option(
            min=0, help="The number of questions whose labels could not be placed to tolerate before exiting with 2."
        ),
    ] = 0,
    on_error: Annotated[
        str | None, typer.Option(help="collect keeps failed questions in the result, raise ends at the first.")
    ] = None,
    no_import: Annotated[
        bool, typer.Option("--no-import", help="Refuse your own code: only built-in components and installed plug-ins.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Evaluate one retriever, show the scores and the weakest questions, and save the run.

    The run is saved in a folder in <root>/runs/, whose summary.md is the place to start.
    """
    flags: dict[str, Any] = {
        "corpus": str(corpus.absolute()) if corpus else None,
        "glob": glob,
        "dataset": str(dataset.absolute()) if dataset else None,
        "evaluation_type": evaluation_type,
        "chunker": chunker,
        "embedder": embedder,
        "vector_store": vector_store,
        "retriever": retriever,
        "reranker": reranker,
        "metrics": metric or None,
        "k": k or None,
        "budgets": budget or None,
        "tokenizer": _tokenizer(tokenizer) if tokenizer else None,
        "max_concurrency": max_concurrency,
        "timeout": timeout,
        "experiment_name": experiment_name,
        "on_error": on_error,
        "save_results_path": str(root.absolute()) if root else None,
    }
    run_file, folder = _run_file(config, {key: value for key, value in flags.items() if value is not None})
    with components_print_to_stderr(), _nothing_kept():
        experiment = run_file.experiment(folder, imports=not no_import)
        result, problem = _made(experiment)
    not_saved = problem.why if isinstance(problem, SaveFailed) else str(problem)
    where = f"not saved: {not_saved}" if result.folder is None else f"saved in {result.folder}"
    with arriving(f"the run is {where}"):
        if as_json:
            print_json(_summary(result, not_saved, worst))
        else:
            _show(result, experiment.corpus, worst)
    if isinstance(problem, SaveFailed):
        raise ResultError(f"the result is shown, but not saved: {problem.why}") from problem
    if problem is not None:
        raise problem
    _check(result, allow_failures, allow_skipped)


def _show(result: rag.EvaluationResult[Any], corpus: rag.Corpus, worst: int) -> None:
    console = stdout()
    reports.show_result(console, result)
    reports.show_worst(console, result, corpus, worst)
    if result.folder is not None:
        console.print(f"\nSaved to {one_line(str(result.folder))}", soft_wrap=True)


def _tokenizer(given: str) -> str:
    """Return the absolute path of a tokenizer that is a file; any other is a name."""
    try:
        return str(Path(given).absolute()) if Path(given).is_file() else given
    except (OSError, ValueError):  # no file can be called so
        return given


def _made(experiment: rag.ExperimentConfig[Any]) -> tuple[rag.EvaluationResult[Any], Problem | None]:
    """Return the result of an experiment, and what is to be told after it was shown."""
    try:
        return rag.run_experiment(experiment), None
    except (SaveFailed, Interrupted, ComponentExited) as problem:
        if problem.result is None:
            raise
        return problem.result, problem


@contextmanager
def _nothing_kept() -> Generator[None]:
    """Say of an interrupt inside that there is nothing to show."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise Interrupted("no question was answered, and nothing is saved") from interrupt


def _check(result: rag.EvaluationResult[Any], allow_failures: int, allow_skipped: int) -> None:
    """Raise ConfigError if the result cannot be relied on, saying everything that is more than was allowed."""
    failed, skipped = result.counts["failed"] + result.counts["metric_failed"], result.counts["skipped"]
    not_asked = sum(NOT_ASKED in failures for failures in result.failures.values())
    if not_asked:
        raise ConfigError(
            f"{not_asked} of {result.counts['questions']} questions were not asked, as the retriever did not answer "
            f"{result.counts['failed'] - not_asked} others in time; the run is saved in {result.folder}"
        )
    if all(mean is None for mean in result.metrics.values()):
        raise ConfigError(f"no question has a score; the run is saved in {result.folder}")
    problems: list[str] = []
    if failed > allow_failures:
        asked = result.counts["questions"]
        problems.append(f"{failed} of {asked} questions failed, --allow-failures allows {allow_failures}")
    if skipped > allow_skipped:
        problems.append(
            f"{skipped} of {result.counts['answerable']} answerable questions were skipped, as their quotes have no "
            f"certain place in the documents, --allow-skipped allows {allow_skipped}: correct the quotes; those of a "
            "dataset file with `rag-eval dataset update`"
        )
    if problems:
        raise ConfigError("; ".join([*problems, f"the run is saved in {result.folder}"]))


def _run_file(config: Path | None, flags: dict[str, Any]) -> tuple[experiments.ConfigFile, Path]:
    """Return what is to be run, and the folder to which its paths are relative."""
    options = {key: _OPTIONS.get(key) or f"--{key.replace('_', '-')}" for key in flags}
    keep = {"save_results_path": str(Path(".rag-eval").absolute())}
    if config is None:
        missing = [f"--{key}" for key in ("corpus", "dataset") if key not in flags]
        if missing:
            raise ConfigError(
                f"{' and '.join(missing)} missing; expected a configuration file, or --corpus and --dataset"
            )
        return experiments.parse_config({**keep, **flags}, "the options", options), Path()
    written = experiments.load_config(config).model_dump(exclude_unset=True)
    if flags.get("retriever", "bm25") not in ("bm25", "vector-rag"):  # it replaces the whole pipeline of the file
        written = {key: value for key, value in written.items() if key not in ("chunker", "embedder", "vector_store")}
    return experiments.parse_config({**keep, **written, **flags}, str(config), options), config.parent


def _summary(result: rag.EvaluationResult[Any], not_saved: str, worst: int) -> dict[str, Any]:
    name = result.score_names[0]
    scores = result.per_query(name)
    return {
        "run": None if result.folder is None else str(result.folder),
        "not_saved": None if result.folder is not None else not_saved,
        "name": result.name,
        "metrics": result.metrics,
        "headline": result.headline,
        "counts": result.counts,
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
