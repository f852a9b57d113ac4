"""`rag-eval dataset update`: find the labels of a dataset again after its documents were edited, and add questions."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, labelling, reports
from rag_evaluation_framework._outside import json_text, name_line
from rag_evaluation_framework._support.files import checked_path, write_new
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.dataset_file import write_dataset
from rag_evaluation_framework.cli.output import arriving, print_text
from rag_evaluation_framework.cli.quote_suggestions import Accept, accepted, check_accept, save_suggestions
from rag_evaluation_framework.errors import ConfigError, DatasetError

_MOST_SHOWN = 200


def update(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset: a native .json or .jsonl file.")],
    corpus: Annotated[Path, typer.Option(parser=paths.path, help="The folder of documents, as they are now.")],
    glob: Annotated[str, typer.Option(help="Which files of the folder to read.")] = "**/*.md",
    questions: Annotated[
        Path | None,
        typer.Option(parser=paths.path, help="Questions to add: CSV or JSONL of question, quote[, document]."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(parser=paths.path, help="A new file; by default the dataset itself, kept beside it.")
    ] = None,
    accept: Accept = None,
    changes: Annotated[
        Path | None, typer.Option(parser=paths.path, help="Write the list of changes there, as JSON.")
    ] = None,
) -> None:
    """Find the labels of a dataset again in documents that were edited, and add questions.

    The dataset as it was is kept beside the new one; no file is overwritten.
    """
    _check_free(dataset, output, changes)
    check_accept(accept)
    if accept is not None and questions is None:
        raise ConfigError("--accept takes suggestions for quotes of a table: give --questions, too")
    documents = rag.Corpus.from_folder(corpus, glob)
    found = labelling.relabel(rag.load_dataset(dataset), documents)
    updated, told = found.dataset, [found.counted()]
    check = None if questions is None else accepted(rag.check_quotes(questions, documents), accept)
    additions = None if check is None else labelling.add_questions(updated, check, documents)
    if additions is not None:
        updated = additions.dataset
        told.append(additions.counted())
    _check_kept(dataset, documents, found, updated)
    written, suggested = write_dataset(updated, dataset, output), ""
    if changes is not None:
        _write_changes(changes, _record(dataset, found, additions), written)
    if check is not None:
        suggested = save_suggestions(check, f"dataset update {shlex.quote(str(output or dataset))}", corpus, glob)
    with arriving(written):
        for change in found.changed[:_MOST_SHOWN]:
            print_text(change.line(documents))
        if len(found.changed) > _MOST_SHOWN:
            print_text(f"… and {len(found.changed) - _MOST_SHOWN:,} more; --changes FILE writes all of them")
        if check is not None:
            reports.show_quotes(stdout(), check)
        print_text("\n".join([*told, _total(updated), written, *([suggested] if suggested else [])]))


def _total(dataset: rag.Dataset[rag.CharacterSpan]) -> str:
    """Return how many questions a dataset has, and what to do about those that are skipped."""
    answerable, skipped = sum(bool(entry.relevant) for entry in dataset), data.count_skipped(dataset.skipped)
    count = f"The dataset has {len(dataset):,} question{'s' * (len(dataset) != 1)}, {answerable:,} with an answer"
    if not skipped:
        return f"{count}; none is skipped"
    verb = "is" if skipped == 1 else "are"
    return f"{count}; {skipped:,} {verb} skipped: correct the quotes in a table, for --questions"


def _check_free(dataset: Path, output: Path | None, changes: Path | None) -> None:
    """Raise ConfigError if a file to be written is there, or the dataset cannot be replaced by one of its kind."""
    for option, path in (("--output", output), ("--changes", changes)):
        if path is not None and checked_path(path, ConfigError).exists():
            raise ConfigError(f"{option} {path} already exists and is not overwritten; choose another name, or move it")
    if output is not None and changes is not None and output.resolve() == changes.resolve():
        raise ConfigError(f"--output and --changes are both {output}; choose another name for one of them")
    if output is None and dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(f"{dataset}: only .json and .jsonl are written; give --output NEW.json")


def _check_kept(dataset: Path, documents: rag.Corpus, found: labelling.Relabelled, updated: rag.Dataset[Any]) -> None:
    """Raise DatasetError if no label is left, or one would be lost in a file that the pattern leaves out."""
    folder, skipped = documents.metadata["source"], {label.query.id for label in updated.skipped}
    lost = [change for change in found.changes if change.found.span is None and change.query.id in skipped]
    not_read = dict.fromkeys(
        change.before.doc_id for change in lost if labelling.leaving_out(change.before.doc_id, documents) is not None
    )
    if not_read:
        pattern = labelling.pattern_with(not_read, documents)
        named = f"{name_line(next(iter(not_read)))}{f' and {len(not_read) - 1:,} more' if len(not_read) > 1 else ''}"
        raise DatasetError(
            f"{dataset}: labels would be lost, so nothing was written: --glob leaves out {named} of {folder}; give "
            f"{'one that does not' if pattern is None else f'--glob {shlex.quote(pattern)}'}, or remove the questions "
            "from the dataset"
        )
    if any(entry.relevant for entry in updated) or (len(updated) and not found.changes):
        return
    told = f" {labelling.told_lost(found, documents)}" if found.changes else ""
    raise DatasetError(
        f"{dataset}: no question keeps its labels in {folder}, so nothing was written; is it the right folder?{told}"
    )


def _write_changes(path: Path, record: dict[str, Any], written: str) -> None:
    """Write the list of changes of a dataset that was written; if that fails, the error says so."""
    try:
        write_new(path, json_text(record, 1) + "\n")
    except DatasetError as error:
        raise DatasetError(f"{error}; {written}") from error


def _record(dataset: Path, found: labelling.Relabelled, additions: labelling.Additions | None) -> dict[str, Any]:
    corpus = found.dataset.corpus
    rows = [] if corpus is None else [change.record(corpus) for change in found.changed]
    record: dict[str, Any] = {"dataset": str(dataset), "counts": found.counts(), "changes": rows}
    if additions is not None:
        for key in ("added", "corrected", "kept", "skipped", "repeated"):
            record[key] = [{"id": query.id, "query": query.text} for query in getattr(additions, key)]
    return record
