"""`rag-eval dataset update`: find the labels of a dataset again after its documents were edited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, labelling, report
from rag_evaluation_framework.base.files import write_new
from rag_evaluation_framework.base.outside import json_text
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.dataset import write_dataset
from rag_evaluation_framework.cli.init import Repeated, save_suggestions
from rag_evaluation_framework.cli.output import arriving, command_lines, print_text, stdout
from rag_evaluation_framework.cli.paths import options_of
from rag_evaluation_framework.errors import ConfigError, DatasetError

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


def update(
    dataset: Annotated[Path, paths.PathArgument(help="The dataset: a native .json or .jsonl file.")],
    corpus: Annotated[Path, paths.PathOption(help="The folder of documents, as they are now.")],
    glob: paths.Glob = None,
    questions: Annotated[
        Path | None, paths.PathOption(help="Questions to add: CSV or JSONL of question, quote[, document].")
    ] = None,
    output: Annotated[
        Path | None, paths.PathOption(help="A new file; by default the dataset itself, kept beside it.")
    ] = None,
    repeated: Repeated = "ambiguous",
    utf16_offsets: Annotated[
        bool, typer.Option("--utf16-offsets", help="The file's offsets count UTF-16 units, as in JavaScript.")
    ] = False,
    changes: Annotated[Path | None, paths.PathOption(help="Write the list of changes there, as JSON.")] = None,
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
    for name, path in (("--output", output), ("--changes", changes)):
        if path is not None:
            paths.new_file(name, path)
    if output is not None and changes is not None and output.resolve() == changes.resolve():
        raise ConfigError(f"--output and --changes are both {output}; choose another name for one of them")
    if output is None and dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(f"{dataset}: only .json and .jsonl are written; give --output NEW.json")
    pattern = paths.pattern(glob)
    documents = rag.Corpus.from_folder(corpus, pattern)
    loaded = rag.load_dataset(dataset, corpus=documents if utf16_offsets else None, utf16_offsets=utf16_offsets)
    if output is None and loaded.recorded is None:
        raise ConfigError(
            f"{dataset}: not in the format of this package, so it is not replaced; give --output NEW.json"
        )
    found = labelling.relabel(loaded, documents)
    additions = None
    if questions is not None:
        check = rag.check_quotes(questions, documents, repeated=repeated)
        additions = labelling.add_questions(found.dataset, check, documents)
    updated = found.dataset if additions is None else additions.dataset
    skipped = {label.query.id for label in updated.skipped}
    lost = (change.before.doc_id for change in found.changes if not change.found.span and change.query.id in skipped)
    if not_read := report.labels_left_out(lost, documents):
        raise DatasetError(
            f"{dataset}: labels would be lost, so nothing was written: {not_read}, or remove the questions from the "
            "dataset"
        )
    if not any(entry.relevant for entry in updated) and (found.changes or not len(updated)):
        report.show(stdout(), report.update_page(found, documents, additions))
        raise DatasetError(
            f"{dataset}: no question keeps its labels in {documents.metadata['source']}, so nothing was written; is it "
            "the right folder? If the documents were rewritten, give a table of new quotes with --questions"
        )
    written = [write_dataset(updated, dataset, output)]
    if changes is not None:
        try:
            write_new(changes, json_text(_record(dataset, found, additions), 1) + "\n")
        except DatasetError as error:
            raise DatasetError(f"{error}; {written[0]}") from error
        written.append(f"Wrote {changes}")
    again = ["dataset", "update", str(output or dataset)]
    following = "" if additions is None else save_suggestions(additions.check, again, corpus, pattern)
    if skipped and not following:
        table = command_lines([*again, *options_of(corpus, pattern), "--questions", "TABLE.csv"])
        following = report.relabelling_text(data.count_skipped(updated.skipped), table)
    with arriving("; ".join(written)):
        report.show(stdout(), report.update_page(found, documents, additions, written))
        if following:
            print_text(following)


def _record(dataset: Path, found: labelling.Relabelled, additions: labelling.Additions | None) -> dict[str, Any]:
    """Return the list of changes, as its file holds it."""
    record: dict[str, Any] = {"dataset": str(dataset), **found.record()}
    if additions is not None:
        for key in ("added", "corrected", "kept", "skipped", "repeated"):
            record[key] = [{"id": query.id, "query": query.text} for query in getattr(additions, key)]
    return record
