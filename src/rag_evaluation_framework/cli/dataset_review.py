"""`rag-eval dataset review`: accept, edit or drop the questions of a dataset, one by one."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, report
from rag_evaluation_framework.base.outside import harmless
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.dataset import read_dataset
from rag_evaluation_framework.cli.dialog import Dialog, Stop, is_terminal, saving, typed_line
from rag_evaluation_framework.cli.output import arriving, command_lines, option, print_text
from rag_evaluation_framework.cli.paths import options_of
from rag_evaluation_framework.cli.run_options import Corpus
from rag_evaluation_framework.errors import ConfigError, InputError

_SHORTEST = 2
_OVERHEAD = 14  # lines of a page that are no answers
_LINES = (1, 8)  # before and behind an answer, at least and at most
_MORE = (20_000, 30)  # characters of an answer, and lines around it


class ReviewDialog(Dialog):
    """Asks a person to review questions until none is left.

    Args:
        session: The questions.
        checks: Says what a check finds about each.
        everything: Whether questions are asked about that were decided on.
    """

    def __init__(self, session: annotation.ReviewSession, checks: annotation.ReviewChecks, *, everything: bool) -> None:
        super().__init__(session)
        self._session, self._checks, self._everything = session, checks, everything

    def is_open(self, number: int) -> bool:
        """Return whether nobody has decided on a question, or all are asked about."""
        return self._everything or self._session.review(number).verdict is None

    def after_all(self) -> int:
        """Stop, as none is left."""
        raise Stop

    def about(self, number: int) -> None:
        """Ask what becomes of a question."""
        self._show(number)
        session, answers = self._session, len(self._session.questions[number].answers)
        commands: dict[str, Callable[[], bool | None]] = {
            "a": partial(_done, session.accept, number),
            "e": partial(self._edit, number, ""),
            "d": partial(_done, session.drop, number),
            "m": partial(self._show, number, _MORE),
            "s": lambda: True,
            "u": partial(self._reopen, number),
            "b": partial(self.back, number),
        }
        self.ask(report.reviewing(answers), partial(self._change, number), commands)

    def _change(self, number: int, typed: str) -> None:
        """Change the wording of a question, or whether it has one of its answers."""
        key, _, rest = typed.partition(" ")
        match key.lower(), rest:
            case "e", _ if rest:
                self._edit(number, rest)
            case "d", _ if rest:
                self._toggle(number, rest)
            case _:
                raise InputError("expected a letter, such as a, or d 2 for answer 2; ? explains all of them")

    def _reopen(self, number: int) -> None:
        self._session.reopen(number)
        self._show(number)
        print_text("")

    def _show(self, number: int, size: tuple[int, int] | None = None) -> None:
        """Show a question and its answers: of each so many characters, and lines around it."""
        entry, dropped = self._session.questions[number], self._session.review(number).dropped_answers
        size = size or self._fitting(len(entry.answers))
        self._show_question(number, report.answer_blocks(entry, dropped, self._checks.texts, *size))

    def _show_question(self, number: int, answers: Iterable[report.Block] = ()) -> None:
        session = self._session
        print_text("")
        self.tell(report.question_number(number, len(session.questions), f" ({session.counts()})"))
        query, findings = session.questions[number].query, self._checks.findings(number)
        self.show(report.review_page(query, session.review(number), findings, answers))

    def _fitting(self, answers: int) -> tuple[int, int]:
        """Return how much of each of so many answers fits on a page."""
        fewest, most = _LINES
        each = (self.console.height - _OVERHEAD) // max(answers, 1)
        lines = min(max(each // 4, fewest), most)
        return self.console.width * min(max(each - 2 * lines, fewest), 2 * most), lines

    def _toggle(self, number: int, typed: str) -> None:
        if not typed.isdecimal():
            raise InputError(f"expected the number of an answer behind d, such as d 2, got {typed!r}")
        answer = int(typed) - 1
        self._session.toggle_answer(number, answer)
        self.tell(report.dropped_text(answer, answer in self._session.review(number).dropped_answers))

    def _edit(self, number: int, typed: str) -> None:
        """Give a question another wording: what was typed, or is typed then."""
        before = " ".join(self._session.wording(number).split())
        given = harmless(before)
        if not typed:
            self.tell(report.REWORDING)
            typed = typed_line("Question: ", given)
        if typed in ("", before, given):
            raise InputError("The wording stays as it is.")
        if len(typed) < _SHORTEST:
            raise InputError("That is no question; the wording stays as it is.")
        self._session.reword(number, typed)
        self._show_question(number)


def _done(decide: Callable[[int], None], number: int) -> bool:
    decide(number)
    return True


def review(
    dataset: Annotated[Path, paths.PathArgument(help="The dataset: a native .json or .jsonl file.")],
    corpus: Corpus = None,
    glob: paths.Glob = None,
    chunks: paths.Chunks = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Ask about all questions, also those that were decided on.")
    ] = False,
    output: Annotated[
        Path | None, paths.PathOption(help="Ask nothing, and write the dataset as the review wants it: a new file.")
    ] = None,
) -> None:
    """Review the questions of a dataset in the terminal: accept, edit or drop each.

    Decisions are kept in the file at once, as marks beside the questions. The same command goes on with those that are
    open; with --output a new file has the questions that were not dropped, as they were edited.
    """
    if output is None and not is_terminal():
        raise ConfigError("dataset review asks about questions, so it needs a terminal; --output NEW.json asks nothing")
    if output is not None:
        paths.new_file("--output", output)
    file = annotation.SavedFile(dataset)
    loaded, documents, registry = read_dataset(dataset, corpus, glob, chunks)
    if loaded.kept is None or dataset.suffix not in (".json", ".jsonl"):
        raise ConfigError(
            f"{dataset}: decisions are kept in the dataset, which has to be a native .json or .jsonl file, as "
            "`rag-eval init` makes of a table; in Python, save_dataset(load_dataset(FILE), NEW.json) writes one"
        )
    session = annotation.ReviewSession(file, loaded)
    if output is not None:
        reviewed = session.carried_out()
        rag.save_dataset(reviewed, output)
        print_text(report.reviewed_text(session, dataset, output, len(reviewed)))
        return

    def counted() -> str:
        return f"{dataset}: {session.counts()}"

    with saving(counted):
        checks = annotation.ReviewChecks(session, loaded, documents, registry)
        dialog = ReviewDialog(session, checks, everything=everything)
        dialog.show(report.review_lines(session, dataset, loaded, documents))
        dialog.hold()
    counts, again = session.counts(), ["dataset", "review", str(dataset)]
    anew = [*again, *options_of(corpus, paths.pattern(glob)), *option("--chunks", chunks)]
    written = [*again, "--output", str(dataset.with_name(f"{dataset.stem}-reviewed{dataset.suffix}"))]
    stay = counts.accepted + counts.edited + counts.open
    following = [anew] * bool(counts.open) + [written] * bool(stay) or [[*anew, "--all"]]
    with arriving(counted()):
        print_text(f"\n{counted()}. Next:{command_lines(*following)}")
