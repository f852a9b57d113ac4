"""`rag-eval dataset update`: find the labels of a dataset again after its documents were edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, labelling, report
from rag_evaluation_framework.base.files import checked_path, write_new
from rag_evaluation_framework.base.outside import json_text
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.dataset import write_dataset
from rag_evaluation_framework.cli.output import arriving, command_lines, print_text, stdout
from rag_evaluation_framework.cli.quote_suggestions import (
    Accept,
    Repeated,
    accepted,
    check_accept,
    options_of,
    save_suggestions,
)
from rag_evaluation_framework.errors import ConfigError, DatasetError

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


def update(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset: a native .json or .jsonl file.")],
    corpus: Annotated[Path, typer.Option(parser=paths.path, help="The folder of documents, as they are now.")],
    glob: paths.Glob = None,
    questions: Annotated[
        Path | None,
        typer.Option(parser=paths.path, help="Questions to add: CSV or JSONL of question, quote[, document]."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(parser=paths.path, help="A new file; by default the dataset itself, kept beside it.")
    ] = None,
    accept: Accept = None,
    repeated: Repeated = "ambiguous",
    utf16_offsets: Annotated[
        bool, typer.Option("--utf16-offsets", help="The file's offsets count UTF-16 units, as in JavaScript.")
    ] = False,
    changes: Annotated[
        Path | None, typer.Option(parser=paths.path, help="Write the list of changes there, as JSON.")
    ] = None,
) -> None:
    """Find the labels of a dataset again in documents that were edited, and add questions.

    The dataset as it was is kept beside the new one; no file is overwritten.
    Exit codes: 0 also if labels were lost, 2 if nothing was written, as no label would be left.
    """
    if dataset.suffix.lower() in (".csv", ".tsv"):
        raise ConfigError(
            f"{dataset}: a table has nothing to update, as it is located anew whenever it is read; `rag-eval init "
            "--corpus FOLDER --questions TABLE` makes a dataset of it"
        )
    _check_free(dataset, output, changes)
    check_accept(accept)
    if accept is not None and questions is None:
        raise ConfigError("--accept takes suggestions for quotes of a table: give --questions, too")
    pattern = paths.pattern(glob)
    documents = rag.Corpus.from_folder(corpus, pattern)
    loaded = rag.load_dataset(dataset, corpus=documents if utf16_offsets else None, utf16_offsets=utf16_offsets)
    if output is None and loaded.recorded is None:
        raise ConfigError(
            f"{dataset}: not in the format of this package, so it is not replaced; give --output NEW.json"
        )
    update = _updated(loaded, documents, questions, accept, repeated)
    _check_read(dataset, documents, update)
    _check_labels_left(dataset, documents, update)
    written = [write_dataset(update.dataset, dataset, output)]
    if changes is not None:
        _write_changes(changes, update.record(dataset), written[0])
        written.append(f"Wrote {changes}")
    again = ["dataset", "update", str(output or dataset)]
    suggested = "" if update.additions is None else save_suggestions(update.additions.check, again, corpus, pattern)
    following = suggested or _next(update.dataset, again, corpus, pattern)
    with arriving("; ".join(written)):
        update.show(documents, written)
        if following:
            print_text(following)


@dataclass(frozen=True)
class _Update:
    """Dataset in edited documents, with the questions of a table if there is one.

    Attributes:
        found: What became of its labels.
        additions: What became of the questions of the table.
    """

    found: labelling.Relabelled
    additions: labelling.Additions | None = None

    @property
    def dataset(self) -> rag.Dataset[rag.CharacterSpan]:
        """The dataset as it is now."""
        return self.found.dataset if self.additions is None else self.additions.dataset

    def show(self, documents: rag.Corpus, written: Sequence[str] = ()) -> None:
        """Print what became of every label and every question, and what was written."""
        report.show(stdout(), report.update_page(self.found, documents, self.additions, written))

    def record(self, dataset: Path) -> dict[str, Any]:
        """Return the list of changes, as its file holds it."""
        record: dict[str, Any] = {"dataset": str(dataset), **self.found.record()}
        if self.additions is not None:
            for key in ("added", "corrected", "kept", "skipped", "repeated"):
                record[key] = [{"id": query.id, "query": query.text} for query in getattr(self.additions, key)]
        return record


def _updated(
    dataset: rag.Dataset[rag.CharacterSpan],
    documents: rag.Corpus,
    questions: Path | None,
    accept: float | None,
    repeated: Repeated,
) -> _Update:
    found = labelling.relabel(dataset, documents)
    if questions is None:
        return _Update(found)
    check = accepted(rag.check_quotes(questions, documents, repeated=repeated), accept)
    return _Update(found, labelling.add_questions(found.dataset, check, documents))


def _next(dataset: rag.Dataset[rag.CharacterSpan], command: list[str], corpus: Path, glob: str) -> str:
    """Return what to do about the questions that a dataset skips; "" if there are none."""
    skipped = data.count_skipped(dataset.skipped)
    again = command_lines([*command, *options_of(corpus, glob), "--questions", "TABLE.csv"])
    return report.relabelling_text(skipped, again) if skipped else ""


def _check_free(dataset: Path, output: Path | None, changes: Path | None) -> None:
    """Raise ConfigError if a file to be written is there, or the dataset cannot be replaced by one of its kind."""
    for option, path in (("--output", output), ("--changes", changes)):
        if path is not None and checked_path(path, ConfigError).exists():
            raise ConfigError(f"{option} {path} already exists and is not overwritten; choose another name, or move it")
    if output is not None and changes is not None and output.resolve() == changes.resolve():
        raise ConfigError(f"--output and --changes are both {output}; choose another name for one of them")
    if output is None and dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(f"{dataset}: only .json and .jsonl are written; give --output NEW.json")


def _check_read(dataset: Path, documents: rag.Corpus, update: _Update) -> None:
    """Raise DatasetError if a label would be lost in a file that the pattern leaves out."""
    skipped = {label.query.id for label in update.dataset.skipped}
    lost = [change for change in update.found.changes if change.found.span is None and change.query.id in skipped]
    if left_out := report.labels_left_out((change.before.doc_id for change in lost), documents):
        raise DatasetError(
            f"{dataset}: labels would be lost, so nothing was written: {left_out}, or remove the questions from the "
            "dataset"
        )


def _check_labels_left(dataset: Path, documents: rag.Corpus, update: _Update) -> None:
    """Raise DatasetError if no label is left, after showing what became of them."""
    updated, found = update.dataset, update.found
    if any(entry.relevant for entry in updated) or (len(updated) and not found.changes):
        return
    update.show(documents)
    raise DatasetError(
        f"{dataset}: no question keeps its labels in {documents.metadata['source']}, so nothing was written; is it the "
        "right folder? If the documents were rewritten, give a table of new quotes with --questions"
    )


def _write_changes(path: Path, record: dict[str, Any], written: str) -> None:
    """Write the list of changes of a dataset that was written; if that fails, the error says so."""
    try:
        write_new(path, json_text(record, 1) + "\n")
    except DatasetError as error:
        raise DatasetError(f"{error}; {written}") from error
