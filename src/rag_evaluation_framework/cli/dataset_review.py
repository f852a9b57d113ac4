"""`rag-eval dataset review`: accept, edit or drop the questions of a dataset, one by one."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, data, report
from rag_evaluation_framework.base.files import checked_path
from rag_evaluation_framework.base.outside import harmless
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.dataset import chunks_of, read_dataset
from rag_evaluation_framework.cli.output import (
    NoMoreInput,
    Stop,
    accept_any_bytes,
    arriving,
    is_terminal,
    print_text,
    stdout,
    typed_line,
)
from rag_evaluation_framework.cli.quote_suggestions import options_of
from rag_evaluation_framework.cli.run_options import Corpus
from rag_evaluation_framework.errors import ConfigError, InputError, Interrupted

# The dialog of `rag-eval dataset review`: question after question, until none is open or somebody stops.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


_KEYS = "a accept, e edit the question, d drop it, {answers}m more text, s later, u undo, b back, q stop, ? help"
_ANSWERS = "d 2 drop answer 2, "
_HELP = """\
a        accept the question, as it is shown
e        edit its wording; e and a wording takes that. Its id and its answers stay
d        drop the question
d 2      drop answer 2, one of several; d 2 again takes it back
m        show more of the documents
s        leave the question for later, as it is
u        undo all that was decided about this question
b        back to the question before
q        stop; everything that was decided is saved
In the file, decisions are marks beside the questions, which stay as they are:
--output NEW.json writes a dataset as the review wants it."""
_EDIT = "Enter: this is the question. What is empty, or as it was, changes nothing."
_SHORTEST = 2
_OVERHEAD = 14  # lines of a page that are no answers
_LINES = (1, 8)  # before and behind an answer, at least and at most
_MORE = (20_000, 30)  # characters of an answer, and lines around it


class ReviewDialog:
    """Asks a person to review questions.

    Args:
        session: The questions.
        checks: Says what a check finds about each.
        console: Where to print.
        everything: Whether questions are asked about that were decided on.
    """

    def __init__(
        self,
        session: annotation.ReviewSession,
        checks: annotation.ReviewChecks,
        console: Console,
        everything: bool,
    ) -> None:
        self._session, self._checks, self._console, self._everything = session, checks, console, everything
        self._done: set[int] = set()

    def hold(self) -> None:
        """Ask about questions until none is left.

        Raises:
            Stop: Somebody typed `q`.
            NoMoreInput: Standard input has ended.
        """
        number = self._next()
        while number is not None:
            number = self._review(number)

    def _next(self) -> int | None:
        """Return the number of the first question that is wanted, and not done with; None if there is none."""
        numbers = range(len(self._session.questions))
        wanted = (at for at in numbers if self._everything or self._session.review(at).verdict is None)
        return next((at for at in wanted if at not in self._done), None)

    def _review(self, number: int) -> int | None:
        """Ask what becomes of a question; return the number of the one to go on with, None if there is none."""
        self._show(number)
        while True:
            several = len(self._session.questions[number].answers) > 1
            print_text("")
            self._tell(_KEYS.format(answers=_ANSWERS if several else ""))
            typed = typed_line("> ")
            key, _, rest = typed.partition(" ")
            match key.lower(), rest:
                case "q", "":
                    raise Stop
                case "b", "" if number:
                    return number - 1
                case "b", "":
                    self._tell("There is no question before this one.")
                case "a", "":
                    self._session.accept(number)
                    return self._leave(number, "Accepted.")
                case "d", "":
                    self._session.drop(number)
                    return self._leave(number, "Dropped; b goes back to it.")
                case "d", _:
                    self._toggle(number, rest)
                case "e", _:
                    self._edit(number, rest)
                case "u", "":
                    self._session.reopen(number)
                    self._tell("The question is open, and as the file has it.")
                    self._show(number)
                case "m", "":
                    self._show(number, _MORE)
                case "s", "":
                    return self._leave(number, "Left for later.")
                case "?", "":
                    print_text(_HELP)
                case _:
                    self._tell("expected a letter, such as a, or d 2 for answer 2; ? explains all of them")

    def _leave(self, number: int, told: str) -> int | None:
        """Be done with a question, and return the number of the next; None if there is none."""
        self._done.add(number)
        self._tell(told)
        return self._next()

    def _show(self, number: int, size: tuple[int, int] | None = None) -> None:
        """Show a question and its answers: of each so many characters, and lines around it."""
        entry, dropped = self._session.questions[number], self._session.review(number).dropped_answers
        size = size or self._fitting(len(entry.answers))
        self._show_question(number, report.answer_blocks(entry, dropped, self._checks.texts, *size))

    def _show_question(self, number: int, answers: Iterable[report.Block] = ()) -> None:
        session = self._session
        print_text("")
        self._tell(f"Question {number + 1:,} of {len(session.questions):,} ({session.counts()}):")
        query = session.questions[number].query
        findings = self._checks.findings(number)
        report.show(self._console, report.review_page(query, session.review(number), findings, answers))

    def _fitting(self, answers: int) -> tuple[int, int]:
        """Return how much of each of so many answers fits on a page."""
        fewest, most = _LINES
        each = (self._console.height - _OVERHEAD) // max(answers, 1)
        lines = min(max(each // 4, fewest), most)
        return self._console.width * min(max(each - 2 * lines, fewest), 2 * most), lines

    def _toggle(self, number: int, typed: str) -> None:
        try:
            if not typed.isdecimal():
                raise InputError(f"expected the number of an answer behind d, such as d 2, got {typed!r}")
            self._session.toggle_answer(number, int(typed) - 1)
        except InputError as error:
            self._tell(str(error))
            return
        is_dropped = int(typed) - 1 in self._session.review(number).dropped_answers
        self._tell(f"Answer {typed} is {f'dropped; d {typed} takes it back' if is_dropped else 'back'}.")

    def _edit(self, number: int, typed: str) -> None:
        """Give a question another wording: what was typed, or is typed then."""
        before = " ".join(self._session.wording(number).split())
        given = harmless(before)
        if not typed:
            self._tell(_EDIT)
            typed = typed_line("Question: ", given)
        if typed in ("", before, given):
            self._tell("The wording stays as it is.")
        elif len(typed) < _SHORTEST:
            self._tell("That is no question; the wording stays as it is.")
        else:
            self._session.reword(number, typed)
            self._show_question(number)

    def _tell(self, text: str) -> None:
        report.print_wrapped(self._console, text, 0)


# `rag-eval dataset review`: accept, edit or drop the questions of a dataset, one after the other.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


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
