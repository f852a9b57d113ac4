"""`rag-eval dataset`: what a dataset is like, its checks, and its way to LangSmith and back."""

from __future__ import annotations

import shutil
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import inspection, integrations, report
from rag_evaluation_framework.base.files import checked_path, published, unfinished
from rag_evaluation_framework.base.outside import name_line
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.endings import Found
from rag_evaluation_framework.cli.output import arriving, print_json, print_text, stdout
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch

DatasetFile = Annotated[Path, typer.Argument(parser=paths.path, help="The dataset, in any format, of any level.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

# The file of the dataset that a command is about: read whatever its format and level, and written anew.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


def chunks_of(path: Path | None) -> rag.ChunkRegistry | None:
    """Return the chunks of a file, if there is one."""
    return None if path is None else rag.ChunkRegistry.load(path)


def read_dataset(path: Path, corpus: rag.Corpus | None, registry: rag.ChunkRegistry | None) -> rag.Dataset[Any]:
    """Return a dataset as its file has it: labels that contradict the documents are not refused.

    Raises:
        ConfigError: It can only be read with its documents, and there are none.
        DatasetError: It cannot be read.
    """
    try:
        return _of_any_level(path, None, registry)
    except DatasetError:
        if corpus is None and path.suffix.lower() in (".csv", ".tsv"):
            raise ConfigError(
                f"{path}: quotes have to be located in the documents; give --corpus FOLDER, and --glob if they are "
                "not Markdown"
            ) from None
        if corpus is None:
            raise
    return _of_any_level(path, corpus, registry)


def _of_any_level(path: Path, corpus: rag.Corpus | None, registry: rag.ChunkRegistry | None) -> rag.Dataset[Any]:
    for level in (rag.TOKEN, rag.CHUNK):
        with suppress(LevelMismatch):
            return rag.load_dataset(path, level, corpus=corpus, registry=registry)
    return rag.load_dataset(path, rag.DOCUMENT, corpus=corpus, registry=registry)


def write_dataset(updated: rag.Dataset[Any], dataset: Path, output: Path | None = None) -> str:
    """Save the dataset, in place of the one that is kept beside it if there is no other name; return what was done.

    Of a symbolic link the file that it leads to is replaced, and kept beside that one. Its mode stays.
    """
    if output is not None:
        rag.save_dataset(updated, output)
        return f"Wrote {output}"
    try:
        file = dataset.resolve(strict=True) if dataset.is_symlink() else dataset
        with unfinished(file.parent) as folder:
            part = rag.save_dataset(updated, folder / dataset.name)
            if part.read_bytes() == file.read_bytes():
                return f"{dataset} is as it was"
            shutil.copymode(file, part)
            copy = folder / "kept"
            shutil.copy(file, copy)
            numbered = (file.with_name(f"{file.stem}.{number}{file.suffix}") for number in count(1))
            kept = next(name for name in numbered if published(copy, name))
            part.replace(file)
    except OSError as error:
        advice = "`rag-eval dataset update --output NEW.json` writes another file"
        raise DatasetError(f"{dataset}: cannot be replaced ({error.strerror}); {advice}") from error
    return f"Wrote {dataset}; the earlier version is {kept}"


# `rag-eval dataset info`: what a dataset is like.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


def info(
    dataset: DatasetFile,
    corpus: options.Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    as_json: AsJson = False,
) -> None:
    """Describe a dataset: counts, lengths, documents, and the words that questions share with their answers."""
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = chunks_of(chunks)
    described = inspection.describe_dataset(read_dataset(dataset, documents, registry), documents, registry)
    if as_json:
        print_json({"dataset": str(dataset), **described.record()})
    else:
        report.show(stdout(), report.dataset_page(described))


# `rag-eval dataset lint`: check the labels and questions of a dataset.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


def lint(
    dataset: DatasetFile,
    corpus: options.Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    budget: Annotated[str, typer.Option(help="The largest context budget, in characters.")] = "4000ch",
    k: Annotated[int, typer.Option(min=1, help="The largest number of results.")] = 10,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what is certain, in a native .json or .jsonl file; it is kept beside.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with all that was found.")] = False,
) -> None:
    """Check a dataset: labels that no retriever can find, questions that mislead.

    With --fix labels that moved are found again, copies removed, and labels trimmed.
    Exit codes: 0 nothing is wrong, 1 errors or warnings were found, 2 the dataset cannot be read.
    """
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = chunks_of(chunks)
    loaded = read_dataset(dataset, documents, registry)
    fixed, written = _fixed(loaded, documents, dataset) if fix else (None, "")
    found = inspection.lint_dataset(loaded if fixed is None else fixed.dataset, documents, registry, budget, k)
    with arriving(written) if written else nullcontext():
        if as_json:
            told = None if fixed is None else {**fixed.record(), "written": written}
            print_json({"dataset": str(dataset), "fixed": told, **found.record()})
        else:
            console = stdout()
            if fixed is not None:
                report.show(console, report.fixes_page(fixed, written))
                console.print()
            report.show(console, report.lint_page(found))
    if found.problems:
        raise Found


def _fixed(
    loaded: rag.Dataset[Any], documents: rag.Corpus | None, dataset: Path
) -> tuple[inspection.FixedDataset, str]:
    """Mend a dataset and write it in place of the one that is kept beside it; return what was done.

    Raises:
        ConfigError: Its file is not one that is written.
        DatasetError: It cannot be written.
    """
    if loaded.recorded is None or dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(
            f"{dataset}: --fix writes native .json and .jsonl files, as `rag-eval init` makes them; correct this one "
            "where it was made"
        )
    fixed = inspection.fix_dataset(loaded, documents)
    return fixed, write_dataset(fixed.dataset, dataset) if fixed.fixes else f"{dataset} is as it was"


# `rag-eval dataset quality`: how good a dataset is as a test, beside public questions.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


def quality(
    dataset: DatasetFile,
    corpus: Annotated[Path, typer.Option(parser=paths.path, help="The folder of documents.")],
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    as_json: AsJson = False,
) -> None:
    """Judge a dataset as a test: words, places, coverage, repetition, difficulty, beside public questions."""
    documents = rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = chunks_of(chunks)
    measured = inspection.dataset_quality(read_dataset(dataset, documents, registry), documents, registry)
    public = inspection.public_questions()
    if as_json:
        print_json({"dataset": str(dataset), **measured.record(), "public": [one.record() for one in public]})
    else:
        report.show(stdout(), report.quality_page(measured, public))


# `rag-eval dataset push` and `pull`: datasets in LangSmith.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


_MOST_IDS = 10
_NAMES = 21  # characters of the first column


def push(
    dataset: DatasetFile,
    name: Annotated[
        str | None, typer.Option(help="Its name in LangSmith; by default rag-eval-token-level-v1, or of its level.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="The description, if it is created.")] = None,
    delete_missing: Annotated[
        bool, typer.Option("--delete-missing", help="Delete examples in LangSmith that are not in the file.")
    ] = False,
    corpus: options.Corpus = None,
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
            report.show(stdout(), _page(pushed))


def pull(
    name: Annotated[str, typer.Argument(help="The name of the dataset in LangSmith.")],
    output: Annotated[Path, typer.Option("--output", "-o", parser=paths.path, help="The new file, .json or .jsonl.")],
    level: Annotated[
        Literal["document-level", "chunk-level", "token-level"] | None,
        typer.Option(help="The level of its labels; by default what they are."),
    ] = None,
    corpus: options.Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    query_key: Annotated[str | None, typer.Option(help="The key of inputs that holds the question.")] = None,
    ground_truth_key: Annotated[
        str | None, typer.Option(help="The key of outputs that holds the ground truth; by default any that is known.")
    ] = None,
    as_json: AsJson = False,
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


def _page(pushed: integrations.PushReport) -> report.Page:
    rows = {
        "created": pushed.created,
        "updated": pushed.updated,
        "edited in LangSmith": pushed.edited,
        "unchanged": pushed.unchanged,
        "deleted": pushed.deleted,
        "only in LangSmith": pushed.missing,
    }
    always = ("created", "updated", "unchanged")
    listed = {name: _listed(ids) for name, ids in rows.items() if ids or name in always}
    if pushed.left_out:
        listed["not kept"] = f"{', '.join(pushed.left_out)}: in the file only"
    lines = (report.line(text, indent=_NAMES, before=name, role="muted") for name, text in listed.items())
    title = f"{name_line(pushed.name)}{' (new)' if pushed.is_new else ''}: {pushed.url}"
    return report.Page(title, (report.Lines(tuple(lines)),))


def _listed(ids: tuple[str, ...]) -> str:
    named = ", ".join(map(name_line, ids[:_MOST_IDS]))
    more = f" and {len(ids) - _MOST_IDS:,} more" if len(ids) > _MOST_IDS else ""
    return f"{len(ids):,}: {named}{more}" if ids else "0"
