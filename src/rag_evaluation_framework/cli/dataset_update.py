"""`rag-eval dataset update`: find the labels of a dataset again after its documents were edited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, labelling, report
from rag_evaluation_framework.base.files import checked_path, read_text
from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.cli import dialog, paths, run_options
from rag_evaluation_framework.cli.dataset import write_dataset
from rag_evaluation_framework.cli.init import Repeated, save_suggestions
from rag_evaluation_framework.cli.output import arriving, command_lines, print_json, print_text, stdout, write_page
from rag_evaluation_framework.errors import ConfigError, DatasetError

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.

_MOST_SHOWN = 60  # characters of a proposal in the question about it


def update(
    dataset: Path,
    *,
    corpus: Path,
    questions: Path | None = None,
    output: Path | None = None,
    repeated: Repeated = "ambiguous",
    take: Annotated[list[str] | None, typer.Option(metavar="ID|FILE")] = None,
    html: paths.Html = None,
    as_json: run_options.AsJson = False,
) -> None:
    """Carry the labels of a dataset to documents that were edited, and add questions.

    Labels whose words changed are yours to judge: in a terminal you are asked about each; --json and --html list them
    instead, and --take takes those that you name. The dataset as it was is kept beside the new one; no file is
    overwritten.
    Exit codes: 0 also if labels were lost, 2 if nothing was written, as no label would be left.

    Args:
        dataset: The dataset: a native .json or .jsonl file.
        corpus: The folder of documents, as they are now.
        questions: Questions to add: CSV or JSONL of question, quote[, document].
        output: A new file; by default the dataset itself, kept beside it.
        take: Take the proposal of a change that you looked at, or of those that a file names, one id per line;
            repeatable.
    """
    if dataset.suffix.lower() in (".csv", ".tsv"):
        raise ConfigError(
            f"{dataset}: a table has nothing to update, as it is located anew whenever it is read; `rag-eval init "
            "--corpus FOLDER --questions TABLE` makes a dataset of it"
        )
    if output is not None:
        paths.new_file("--output", output)
    if html is not None:
        paths.new_page("--html", html)
    if output is None and dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(f"{dataset}: only .json and .jsonl are written; give --output NEW.json")
    documents = paths.documents(corpus)
    loaded = rag.load_dataset(dataset)
    if output is None and loaded.kept is None:
        raise ConfigError(
            f"{dataset}: not in the format of this package, so it is not replaced; give --output NEW.json"
        )
    found = labelling.relabel(loaded, documents).taking([one for given in take or () for one in _ids(given)])
    if dialog.is_terminal() and not (as_json or take or html):
        found = found.taking(_asked(found, documents))
    additions = None
    if questions is not None:
        check = rag.check_quotes(questions, documents, repeated=repeated)
        additions = labelling.add_questions(found.dataset, check, documents)
    updated = found.dataset if additions is None else additions.dataset
    skipped = {label.query.id for label in updated.skipped}
    lost = (change.before.doc_id for change in found.changes if not change.is_found and change.query.id in skipped)
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
    if html is not None:
        written.append(write_page(html, report.update_page(found, documents, additions, written, whole=True)))
    again = ["dataset", "update", str(output or dataset)]
    following = "" if additions is None else save_suggestions(additions.check, [*again, "--corpus", str(corpus)])
    if skipped and not following:
        label = command_lines(["label", str(corpus), "--output", again[-1]])
        table = command_lines([*again, "--corpus", str(corpus), "--questions", "TABLE.csv"])
        following = report.relabelling_text(data.count_skipped(updated.skipped), label, table)
    with arriving("; ".join(written)):
        if as_json:
            print_json({**_record(dataset, found, additions), "written": written})
            return
        report.show(stdout(), report.update_page(found, documents, additions, written))
        if following:
            print_text(following)


def _ids(given: str) -> list[str]:
    """Return an id that was given, or those in the file that was."""
    path = checked_path(given)
    if not path.is_file():
        return [given]
    return [found for line in read_text(path).splitlines() if (found := line.partition("#")[0].strip())]


def _asked(found: labelling.Relabelled, corpus: rag.Corpus) -> list[str]:
    """Ask a person about one change after the other; return the ids of those whose proposals are taken."""
    offered = [(change, change.carried.proposal) for change in found.changed if change.carried.proposal]
    taken: list[str] = []
    for number, (change, proposal) in enumerate(offered, 1):
        report.show(stdout(), report.change_passages([change], corpus))
        text = one_line(proposal.text, _MOST_SHOWN)
        asked = f"{number} of {len(offered)}: is its label now “{text}”? y, n, or q to stop > "
        typed = ""
        while typed not in ("y", "n", "q"):
            try:
                typed = dialog.typed_line(asked).lower()[:1]
            except dialog.Stop:
                typed = "q"
        if typed == "q":
            break
        taken += [change.id] * (typed == "y")
    return taken


def _record(dataset: Path, found: labelling.Relabelled, additions: labelling.Additions | None) -> dict[str, Any]:
    """Return what became of the labels and of the questions of a table, as JSON holds it."""
    record: dict[str, Any] = {"dataset": str(dataset), **found.record()}
    if additions is not None:
        for key in ("added", "corrected", "kept", "skipped", "repeated"):
            record[key] = [{"id": query.id, "query": query.text} for query in getattr(additions, key)]
    return record
