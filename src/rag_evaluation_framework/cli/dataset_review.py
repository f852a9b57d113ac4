"""`rag-eval dataset review`: accept, edit or drop the questions of a dataset, one after the other."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, data, report
from rag_evaluation_framework._support.files import checked_path
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.dataset_file import chunks_of, read_dataset
from rag_evaluation_framework.cli.output import arriving, print_text
from rag_evaluation_framework.cli.quote_suggestions import options_of
from rag_evaluation_framework.cli.review_dialog import ReviewDialog
from rag_evaluation_framework.cli.run_options import Corpus
from rag_evaluation_framework.cli.typed import NoMoreInput, Stop, accept_any_bytes, is_terminal
from rag_evaluation_framework.errors import ConfigError, Interrupted


def review(
    dataset: Annotated[Path, typer.Argument(parser=paths.path, help="The dataset: a native .json or .jsonl file.")],
    corpus: Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Ask about all questions, also those that were decided on.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(parser=paths.path, help="Ask nothing, and write the dataset as the review wants it: a new file."),
    ] = None,
) -> None:
    """Review the questions of a dataset in the terminal: accept, edit or drop each.

    Decisions are kept in the file at once, as marks beside the questions. The same command goes on with those that are
    open; with --output a new file has the questions that were not dropped, as they were edited.
    """
    if output is None and not is_terminal():
        raise ConfigError("dataset review asks about questions, so it needs a terminal; --output NEW.json asks nothing")
    if output is not None and checked_path(output, ConfigError).exists():
        raise ConfigError(f"--output {output} already exists and is not overwritten; choose another name, or move it")
    documents = None if corpus is None else rag.Corpus.from_folder(corpus, paths.pattern(glob))
    registry = chunks_of(chunks)
    file = annotation.SavedFile(dataset)
    loaded = read_dataset(dataset, documents, registry)
    if loaded.recorded is None or dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(
            f"{dataset}: decisions are kept in the dataset, which has to be a native .json or .jsonl file, as "
            "`rag-eval init` makes of a table; in Python, save_dataset(load_dataset(FILE), NEW.json) writes one"
        )
    session = annotation.ReviewSession(file, loaded)
    if output is not None:
        _carry_out(session, dataset, output)
        return
    options = "" if corpus is None else f" {options_of(corpus, paths.pattern(glob))}"
    options += "" if chunks is None else f" --chunks {shlex.quote(str(chunks))}"
    _tell_begin(session, dataset, loaded, documents)
    try:
        accept_any_bytes()
        _hold(session, loaded, documents, registry, everything)
    except KeyboardInterrupt as interrupt:
        raise Interrupted(f"{dataset}: {session.counts()}; the same command goes on") from interrupt
    with arriving(f"{dataset}: {session.counts()}"):
        print_text(f"\n{dataset}: {session.counts()}. Next:\n\n{_next(session.counts(), dataset, options)}")


def _hold(
    session: annotation.ReviewSession,
    dataset: rag.Dataset[Any],
    documents: rag.Corpus | None,
    registry: rag.ChunkRegistry | None,
    everything: bool,
) -> None:
    checks = annotation.ReviewChecks(session, dataset, documents, registry)
    try:
        ReviewDialog(session, checks, stdout(), everything).hold()
    except (Stop, NoMoreInput):
        return


def _carry_out(session: annotation.ReviewSession, dataset: Path, output: Path) -> None:
    reviewed = session.carried_out()
    rag.save_dataset(reviewed, output)
    left = session.counts().open
    still = f", {left:,} of them open" if left else ""
    print_text(
        f"{dataset}: {session.counts()}.\nWrote {output} with {len(reviewed):,} question{'s' * (len(reviewed) != 1)}"
        f"{still}; {dataset} is as it was"
    )


def _tell_begin(
    session: annotation.ReviewSession, path: Path, dataset: rag.Dataset[Any], documents: rag.Corpus | None
) -> None:
    lines = [f"Reviewing {path}: {session.counts()}. Every decision is saved at once."]
    skipped = data.count_skipped(dataset.skipped)
    if skipped:
        lines.append(f"Questions that the dataset skips are not reviewed: {skipped:,}.")
    if documents is None and dataset.level is not rag.CHUNK:
        lines.append("Without --corpus, answers are shown as far as the dataset quotes them.")
    wrong = [] if documents is None else dataset.mismatches(documents)
    if wrong:
        lines.append(
            f"Labels that are not in the documents as they are now: {len(wrong):,}. Is it the right folder? `rag-eval "
            "dataset update` finds labels again in documents that were edited."
        )
    for line in lines:
        report.print_wrapped(stdout(), line, 0)


def _next(counts: annotation.ReviewCounts, dataset: Path, options: str) -> str:
    """Return the commands that go on from here: with open questions, and where any stay, with those."""
    command = f"  rag-eval dataset review {shlex.quote(str(dataset))}"
    new = dataset.with_name(f"{dataset.stem}-reviewed{dataset.suffix}")
    stay = counts.accepted + counts.edited + counts.open
    ways = [f"{command}{options}"] * bool(counts.open) + [f"{command} --output {shlex.quote(str(new))}"] * bool(stay)
    return "\n".join(ways or [f"{command}{options} --all"])
