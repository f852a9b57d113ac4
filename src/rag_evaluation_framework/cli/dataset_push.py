"""`rag-eval dataset push` and `pull`: datasets in LangSmith."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import integrations, report
from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework._support.files import checked_path
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.dataset_file import chunks_of, read_dataset
from rag_evaluation_framework.cli.output import arriving, print_json, print_text
from rag_evaluation_framework.cli.run_options import Corpus
from rag_evaluation_framework.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from rag_evaluation_framework.integrations import PushReport

_MOST_IDS = 10
_NAMES = 21  # characters of the first column, as of `dataset info`


def push(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset, in any format, of any level.")],
    name: Annotated[
        str | None, typer.Option(help="Its name in LangSmith; by default rag-eval-token-level-v1, or of its level.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="The description, if it is created.")] = None,
    delete_missing: Annotated[
        bool, typer.Option("--delete-missing", help="Delete examples in LangSmith that are not in the file.")
    ] = False,
    corpus: Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with all ids.")] = False,
) -> None:
    """Make a dataset in LangSmith hold the questions of a file: only differences are sent.

    Needs LANGSMITH_API_KEY. What is in LangSmith and not in the file stays, unless --delete-missing is given.
    Exit codes: 0 done, 2 not everything arrived: the next push sends the rest.
    """
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    loaded = read_dataset(dataset, documents, chunks_of(chunks))
    if documents is not None:
        loaded = loaded.with_corpus(documents)
    pushed = integrations.push_dataset(loaded, name, description=description, delete_missing=delete_missing)
    with arriving(pushed.counted()):
        if as_json:
            print_json({"dataset": str(dataset), **pushed.record()})
        else:
            print_text(f"{name_line(pushed.name)}{' (new)' if pushed.is_new else ''}: {pushed.url}")
            _show(stdout(), pushed)


def pull(
    name: Annotated[str, typer.Argument(help="The name of the dataset in LangSmith.")],
    output: Annotated[Path, typer.Option("--output", "-o", parser=paths.path, help="The new file, .json or .jsonl.")],
    level: Annotated[
        Literal["document-level", "chunk-level", "token-level"] | None,
        typer.Option(help="The level of its labels; by default what they are."),
    ] = None,
    corpus: Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    query_key: Annotated[str | None, typer.Option(help="The key of inputs that holds the question.")] = None,
    ground_truth_key: Annotated[
        str | None, typer.Option(help="The key of outputs that holds the ground truth; by default any that is known.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a dataset in LangSmith to a file.

    Needs LANGSMITH_API_KEY. No file is overwritten.
    Exit codes: 0 done, 2 nothing was written.
    """
    _check_output(output)
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    options: dict[str, Any] = {
        "corpus": documents,
        "registry": chunks_of(chunks),
        "query_key": query_key,
        "ground_truth_key": ground_truth_key,
    }
    levels: dict[str | None, Any] = {each.evaluation_type: each for each in (rag.TOKEN, rag.CHUNK, rag.DOCUMENT)}
    pulled = integrations.pull_dataset(name, levels.get(level), **options)
    rag.save_dataset(pulled, output)
    kind, questions = pulled.level.evaluation_type, f"{len(pulled):,} question{'s' * (len(pulled) != 1)}"
    if as_json:
        record = {"name": name, "dataset": str(output), "questions": len(pulled), "evaluation_type": kind}
        print_json({**record, "content_hash": pulled.content_hash})
    else:
        print_text(f"Wrote {output}: {questions}, {kind}")


def _check_output(output: Path) -> None:
    """Raise ConfigError if a file cannot be written, before anything is asked for."""
    if output.suffix not in (".json", ".jsonl"):
        raise ConfigError(f"--output {output}: expected a file name ending in .json or .jsonl")
    if checked_path(output, ConfigError).exists():
        raise ConfigError(f"--output {output} already exists and is not overwritten; choose another name, or move it")


def _show(console: Console, pushed: PushReport) -> None:
    rows = {
        "created": pushed.created,
        "updated": pushed.updated,
        "edited in LangSmith": pushed.edited,
        "unchanged": pushed.unchanged,
        "deleted": pushed.deleted,
        "only in LangSmith": pushed.missing,
    }
    for heading, ids in rows.items():
        if ids or heading in ("created", "updated", "unchanged"):
            report.print_wrapped(console, _listed(ids), _NAMES, heading, "dim")
    if pushed.left_out:
        told = f"{', '.join(map(one_line, pushed.left_out))}: in the file only"
        report.print_wrapped(console, told, _NAMES, "not kept", "dim")


def _listed(ids: tuple[str, ...]) -> str:
    named = ", ".join(map(name_line, ids[:_MOST_IDS]))
    more = f" and {len(ids) - _MOST_IDS:,} more" if len(ids) > _MOST_IDS else ""
    return f"{len(ids):,}: {named}{more}" if ids else "0"
