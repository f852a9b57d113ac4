"""`rag-eval dataset`: what a dataset is like, its checks, and its way to LangSmith and back."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import inspection, integrations, report
from rag_evaluation_framework.base.files import published, unfinished, write_new
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli import run_options as options
from rag_evaluation_framework.cli.endings import Found
from rag_evaluation_framework.cli.output import arriving, print_json, print_result, stdout
from rag_evaluation_framework.datasets.load import load_unfinished
from rag_evaluation_framework.datasets.native import dataset_text, file_state, replace_dataset
from rag_evaluation_framework.datasets.texts import KeptTexts, drop_texts, keep_texts, without_text
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch

DatasetFile = Annotated[Path, paths.PathArgument(help="The dataset, in any format, of any level.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

# The file of the dataset that a command is about: read whatever its format and level, and written anew.


def read_dataset(
    path: Path, corpus: Path | None, glob: list[str] | None, chunks: Path | None
) -> tuple[rag.Dataset[Any], rag.Corpus | None, rag.ChunkRegistry | None]:
    """Return a dataset as its file has it, with its documents and chunks; labels that contradict them are not refused.

    Raises:
        ConfigError: It can only be read with its documents, and there are none.
        DatasetError: It cannot be read.
    """
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = None if chunks is None else rag.ChunkRegistry.load(chunks)
    try:
        return _of_any_level(path, None, registry), documents, registry
    except DatasetError:
        if documents is None and path.suffix.lower() in (".csv", ".tsv"):
            raise ConfigError(
                f"{path}: quotes have to be located in the documents; give --corpus FOLDER, and --glob if they are "
                "not Markdown"
            ) from None
        if documents is None:
            raise
    return _of_any_level(path, documents, registry), documents, registry


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
            part = folder / dataset.name
            write_new(part, dataset_text(updated, dataset))
            keep_texts(updated, file)
            if part.read_bytes() == file.read_bytes():
                return f"{dataset} is as it was"
            shutil.copymode(file, part)
            copy = folder / "kept"
            shutil.copy(file, copy)
            numbered = (file.with_name(f"{file.stem}.{number}{file.suffix}") for number in count(1))
            kept = next(name for name in numbered if published(copy, name))
            part.replace(file)
        drop_texts(file)
    except OSError as error:
        raise DatasetError(
            f"{dataset}: cannot be replaced ({error.strerror}); `rag-eval dataset update --output NEW.json` writes "
            "another file"
        ) from error
    return f"Wrote {dataset}; the earlier version is {kept}"


# `rag-eval dataset info`: what a dataset is like.


def info(
    dataset: DatasetFile,
    corpus: options.Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    as_json: AsJson = False,
) -> None:
    """Describe a dataset: counts, lengths, documents, and the words that questions share with their answers."""
    described = inspection.describe_dataset(*read_dataset(dataset, corpus, glob, chunks))
    record = {"dataset": str(dataset), **described.record()}
    print_result(record, lambda: report.dataset_page(described), as_json=as_json)


# `rag-eval dataset lint`: check the labels and questions of a dataset.


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
    loaded, documents, registry = read_dataset(dataset, corpus, glob, chunks)
    fixed, written = None, ""
    if fix and (loaded.kept is None or dataset.suffix not in (".json", ".jsonl")):
        raise ConfigError(
            f"{dataset}: --fix writes native .json and .jsonl files, as `rag-eval init` makes them; correct this one "
            "where it was made"
        )
    if fix:
        fixed = inspection.fix_dataset(loaded, documents)
        written = write_dataset(fixed.dataset, dataset) if fixed.fixes else f"{dataset} is as it was"
    found = inspection.lint_dataset(loaded if fixed is None else fixed.dataset, documents, registry, budget, k)
    with arriving(written):
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


# `rag-eval dataset quality`: how good a dataset is as a test, beside public questions.


def quality(
    dataset: DatasetFile,
    corpus: Annotated[Path, paths.PathOption(help="The folder of documents.")],
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    as_json: AsJson = False,
) -> None:
    """Judge a dataset as a test: words, places, coverage, repetition, difficulty, beside public questions."""
    loaded, documents, registry = read_dataset(dataset, corpus, glob, chunks)
    measured = inspection.dataset_quality(loaded, cast("rag.Corpus", documents), registry)
    public = inspection.public_questions()
    record = {"dataset": str(dataset), **measured.record(), "public": [one.record() for one in public]}
    print_result(record, lambda: report.quality_page(measured, public), as_json=as_json)


# `rag-eval dataset forget`: keep no text of a document.


def forget(
    dataset: Annotated[Path, paths.PathArgument(help="The dataset: a native .json or .jsonl file.")],
    document: Annotated[str, typer.Argument(help="The id of the document, such as guides/start.md.")],
    as_json: AsJson = False,
) -> None:
    """Remove the text of a document that is kept beside a dataset; it is not kept again.

    Labels in it stay, with what they quote.
    """
    state = file_state(dataset)
    loaded = load_unfinished(dataset)
    forgotten = without_text(loaded, document, dataset)
    replace_dataset(forgotten, dataset, state)
    kept = KeptTexts.of(forgotten, dataset)
    labels = sum(unit.doc_id == document for entry in loaded for unit in entry.labels)
    record = {"dataset": str(dataset), "document": document, "labels": labels, "texts_kept": kept.documents}
    print_result(record, lambda: report.forgotten_text(document, labels, kept), as_json=as_json)


# `rag-eval dataset push` and `pull`: datasets in LangSmith.


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
    loaded, documents, _ = read_dataset(dataset, corpus, glob, chunks)
    if documents is not None:
        loaded = loaded.with_corpus(documents)
    pushed = integrations.push_dataset(loaded, name, description=description, delete_missing=delete_missing)
    record = {"dataset": str(dataset), **pushed.record()}
    with arriving(pushed.counted()):
        print_result(record, lambda: report.push_page(record), as_json=as_json)


def pull(
    name: Annotated[str, typer.Argument(help="The name of the dataset in LangSmith.")],
    output: Annotated[Path, paths.PathOption("--output", "-o", help="The new file, .json or .jsonl.")],
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
    if output.suffix not in (".json", ".jsonl"):
        raise ConfigError(f"--output {output}: expected a file name ending in .json or .jsonl")
    paths.new_file("--output", output)
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = None if chunks is None else rag.ChunkRegistry.load(chunks)
    levels: dict[str | None, Any] = {each.evaluation_type: each for each in (rag.TOKEN, rag.CHUNK, rag.DOCUMENT)}
    pulled = integrations.pull_dataset(
        name,
        levels.get(level),
        corpus=documents,
        registry=registry,
        query_key=query_key,
        ground_truth_key=ground_truth_key,
    )
    rag.save_dataset(pulled, output)
    kind = pulled.level.evaluation_type
    record = {"name": name, "dataset": str(output), "questions": len(pulled), "evaluation_type": kind}
    print_result(
        {**record, "content_hash": pulled.content_hash},
        lambda: f"Wrote {output}: {report.plural(len(pulled), 'question')}, {kind}",
        as_json=as_json,
    )
