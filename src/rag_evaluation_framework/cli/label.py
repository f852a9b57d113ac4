"""`rag-eval label`: label questions from nothing, by choosing among passages that are shown."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, registry
from rag_evaluation_framework._support.files import checked_path
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.cli.label_dialog import Dialog
from rag_evaluation_framework.cli.output import arriving, components_print_to_stderr, print_text
from rag_evaluation_framework.cli.quote_suggestions import left_out, options_of
from rag_evaluation_framework.cli.typed import NoMoreInput, Stop, accept_any_bytes
from rag_evaluation_framework.errors import ConfigError, Interrupted

_DATASETS = Path(".rag-eval", "datasets")


def label(
    corpus: Annotated[Path, typer.Argument(parser=paths.path, help="The folder of documents.")],
    questions: Annotated[
        Path | None,
        typer.Option(
            parser=paths.path, help="Questions to label: CSV or TSV of question[, id], or text with one per line."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(parser=paths.path, help="The dataset, .json or .jsonl: a new one, or one to go on with."),
    ] = None,
    glob: paths.Glob = None,
    retriever: Annotated[
        str | None, typer.Option(help="Show also what your own retriever finds: my_module:search.")
    ] = None,
) -> None:
    """Label questions in the terminal: choose the passages that answer each, among those that are shown.

    Everything is saved at once. The same command goes on where somebody stopped, or was stopped.
    """
    path = checked_path(output or _DATASETS / f"{corpus.resolve().name or 'dataset'}.json", ConfigError)
    own = None if retriever is None else registry.build("retriever", retriever)
    asked = [] if questions is None else annotation.read_questions(questions)
    pattern = paths.pattern(glob)
    documents = rag.Corpus.from_folder(corpus, pattern)
    session = annotation.Session(path, documents, path.stem)
    added = session.add(asked)
    try:
        with components_print_to_stderr():
            pool = annotation.Pool(documents, own)
        accept_any_bytes()
        _tell_begin(session, pool, added, len(asked), left_out(documents, corpus, pattern))
        _hold(session, pool)
    except KeyboardInterrupt as interrupt:
        raise Interrupted(f"{_counted(session)}; the same command goes on") from interrupt
    with arriving(_counted(session)):
        print_text(f"\n{_counted(session)}.{_next(session, corpus, pattern, output, retriever)}")


def _hold(session: annotation.Session, pool: annotation.Pool) -> None:
    try:
        Dialog(session, pool, stdout()).hold()
    except (Stop, NoMoreInput):
        return
    finally:
        pool.close()


def _tell_begin(session: annotation.Session, pool: annotation.Pool, added: int, asked: int, others: str) -> None:
    goes_on = len(session.questions) > added
    lines = [f"{'Going on with' if goes_on else 'New dataset:'} {session.path}. Every answer is saved at once."]
    if asked:
        there = f"; the dataset has the other {asked - added} already" if asked > added else ""
        lines.append(f"{added} question{'s' * (added != 1)} added{there}.")
    lines += [text for text in (session.changed, *pool.notes, others.strip()) if text]
    print_text("\n".join(lines))


def _counted(session: annotation.Session) -> str:
    total = len(session.questions)
    if not total and session.path.exists():
        return f"{session.path} holds no question any more"
    if not total:
        return "no question was asked, and nothing is written"
    return f"{session.labelled} of {total} question{'s' * (total != 1)} labelled in {session.path}"


def _next(session: annotation.Session, corpus: Path, glob: str, output: Path | None, retriever: str | None) -> str:
    """Return the commands that go on from here; "" if there is nothing to go on with."""
    if not session.questions:
        return ""
    left, options = len(session.questions) - session.labelled, options_of(corpus, glob)
    dataset = shlex.quote(str(session.path))
    again = [f"rag-eval label {shlex.quote(str(corpus))}"]
    again += [f"--output {shlex.quote(str(output))}"] if output is not None else []
    again += (
        [options.removeprefix(f"--corpus {shlex.quote(str(corpus))}").strip()] if glob != paths.DEFAULT_GLOB else []
    )
    again += [f"--retriever {shlex.quote(retriever)}"] if retriever is not None else []
    commands = [" ".join(again)]
    if session.labelled:
        allowed = f" --allow-skipped {left}" if left else ""
        commands += [
            f"rag-eval dataset lint {dataset} {options}",
            f"rag-eval run --dataset {dataset} {options}{allowed}",
        ]
    return " Next:\n\n" + "\n".join(f"  {command}" for command in commands)
