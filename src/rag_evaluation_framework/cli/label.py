"""Dialogs at a terminal, or through a pipe; and `rag-eval label`: label questions from nothing, by choosing passages.

In a dialog a line is typed, and does what its letter says, question after question.
"""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, TypeVar

from rich.console import Console

import rag_evaluation_framework as rag

from .. import report
from ..authoring import people
from ..base.files import checked_path
from ..base.outside import harmless
from ..contracts import registry
from ..errors import ConfigError, DatasetError, InputError, Interrupted
from . import run_options as options
from .output import command_lines, components_print_to_stderr, option, print_text, stdout

T = TypeVar("T")
Places: TypeAlias = "tuple[rag.CharacterSpan, ...]"

with suppress(ImportError):  # Windows has none
    # Where it is loaded, lines can be edited, and pasted with line breaks in them.
    import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]


class Stop(Exception):
    """Somebody wants to stop, nothing is left to ask about, or standard input has ended."""


class Back(Exception):
    """Somebody wants to go back to what was before."""


class Later(Exception):
    """Somebody wants to leave a question for later."""


class Dialog(ABC):
    """Asks a person about questions.

    Args:
        session: The questions; what is decided about them is saved there at once.
    """

    def __init__(self, session: people.Session | people.ReviewSession) -> None:
        self.console = stdout()
        self._questions: Sequence[Any] = session.questions
        self._done: set[str] = set()

    @abstractmethod
    def is_open(self, number: int) -> bool:
        """Return whether somebody has still to be asked about a question."""

    def after_all(self) -> int:
        """Return the number of the question that comes when none is open; raise Stop if none does."""
        raise Stop

    @abstractmethod
    def about(self, number: int) -> None:
        """Ask about a question until it is done with, or left for later."""

    def hold(self) -> None:
        """Ask about one question after the other.

        Raises:
            Stop: Somebody typed `q`, no question is left, or standard input has ended.
        """
        if reconfigure := getattr(sys.stdin, "reconfigure", None):
            reconfigure(errors="surrogateescape")  # typed bytes that are no text are asked for again
        number: int | None = None
        while True:
            try:
                if number is None:
                    left = (at for at, one in enumerate(self._questions) if one.query.id not in self._done)
                    number = next(filter(self.is_open, left), None)
                number = self.after_all() if number is None else number
                asked = self._questions[number].query.id
                with suppress(Later):
                    self.about(number)
                self._done.add(asked)
                number = None
            except Back:
                number = (len(self._questions) if number is None else number) - 1

    def ask(
        self,
        keys: report.Keys,
        read: Callable[[str], T | None],
        commands: Mapping[str, Callable[[], T | None]],
        prompt: str = "> ",
    ) -> T:
        """Return what is made of a line that is typed; as long as that is None, or refused, it is asked for again.

        Args:
            keys: Everything that can be typed, for people.
            read: Reads a line that is none of the commands; raises InputError where it refuses it.
            commands: What letters do, beside `q` and `?`.
            prompt: What stands before the line.

        Raises:
            Stop: Somebody typed `q`, or standard input has ended.
        """
        known: dict[str, Callable[[], T | None]] = {"q": leave(Stop), "?": partial(self.show, keys.help), **commands}
        while True:
            print_text("")
            self.tell(keys.line)
            typed = typed_line(prompt)
            with self.refusals():
                found = known.get(typed.lower(), partial(read, typed))()
                if told := keys.done(typed.lower()):
                    self.tell(told)
                if found is not None:
                    return found

    def back(self, number: int) -> NoReturn:
        """Go back to the question before one."""
        if not number:
            raise InputError("There is no question before this one.")
        raise Back

    @contextmanager
    def refusals(self) -> Generator[None]:
        """Say what is refused inside."""
        try:
            yield
        except (ConfigError, DatasetError):  # nothing can be typed, or nothing saved
            raise
        except InputError as error:
            self.tell(str(error))

    def tell(self, text: str) -> None:
        """Print a text, wrapped."""
        report.print_wrapped(self.console, text, 0)

    def show(self, block: report.Block) -> None:
        """Print a page, or a block of one."""
        report.show(self.console, block)


def leave(way: type[Exception]) -> Callable[[], NoReturn]:
    """Return what leaves a question in one of these ways: `Stop`, `Back` or `Later`."""

    def left() -> NoReturn:
        raise way

    return left


@contextmanager
def saving(counts: Callable[[], str]) -> Generator[None]:
    """Hold a dialog inside until somebody stops, or nothing more is typed; of an interrupt, say what is saved.

    Raises:
        Interrupted: It was interrupted.
    """
    try:
        yield
    except Stop:
        return
    except KeyboardInterrupt as interrupt:
        raise Interrupted(f"{counts()}; the same command goes on") from interrupt


# Lines that people type, at a terminal or through a pipe.


def is_terminal() -> bool:
    """Return whether somebody can be asked: standard input and output are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def typed_line(prompt: str, given: str = "") -> str:
    """Return the next line that is typed, its white space being single spaces; asks again for one that is no text.

    Args:
        prompt: What stands before it.
        given: What is there already, to be edited, where lines can be.

    Raises:
        Stop: There is none.
        ConfigError: Standard input cannot be read.
    """
    while True:
        with _there_already(given):
            line = _line(prompt)
        if line == harmless(line):
            return line
        print_text("That holds control codes or bytes that are no UTF-8; type it again.")


@contextmanager
def _there_already(text: str) -> Generator[None]:
    """Let the next line begin with a text that can be edited, where lines can be edited."""
    editor: Any = sys.modules.get("readline")
    if editor is None or not text:
        yield
        return
    editor.set_startup_hook(lambda: editor.insert_text(text))
    try:
        yield
    finally:
        editor.set_startup_hook()


def _line(prompt: str) -> str:
    if sys.stdin is None:  # it was closed with `<&-`
        raise Stop
    try:
        given = input(prompt)
    except EOFError:
        sys.stdout.write("\n")
        raise Stop from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"standard input cannot be read: {error}; type at a terminal, or pipe lines") from error
    line = " ".join(given.split())
    if not sys.stdin.isatty():  # nobody has seen it
        print_text(line)
    return line


# `rag-eval label`.

_MOST = 9  # passages of a page
_FEWEST = 4
_AROUND = 9  # lines of a page that are no passages: the question, how many are labelled, what can be typed
_LINES = (2, 6)  # of a passage, at least and at most; all of it is shown when it was chosen
_BESIDE_ONE = 7  # lines of a page that shows one passage in full
_INDENT = 4
_DATASETS = Path(".rag-eval", "datasets")
_LEFT = {"s": leave(Later), "b": leave(Back)}


class Passages:
    """Passages of one question, page by page: each keeps the number with which it was shown first.

    Args:
        pool: Finds them.
        console: Where they are shown.

    Attributes:
        numbers: The passages that were shown, with their numbers.
        answered: The numbers of the retrievers that did not fail in every search.
    """

    def __init__(self, pool: people.Pool, console: Console) -> None:
        self._pool, self._console = pool, console
        self._left: list[rag.CharacterSpan] = []
        self._page: list[rag.CharacterSpan] = []
        self._words = ""
        self.numbers: dict[rag.CharacterSpan, int] = {}
        self.answered = frozenset[int]()

    def search(self, *queries: str) -> None:
        """Show the first page of what is found for a question and its lost labels, or for other words."""
        if not all(queries):
            raise InputError("expected words behind the slash, such as /refund to a card")
        with components_print_to_stderr():
            found = self._pool.found(*queries)
        for problem in found.problems:
            report.print_wrapped(self._console, problem, 0)
        self.answered |= found.answered
        self._words, self._left = " ".join(queries), [*found.passages]
        if not self._left:
            raise InputError(
                "No passage was found. /other words searches with other words, 0 says that there is no answer."
            )
        self.more()

    def more(self) -> None:
        """Show the next page."""
        if not self._left:
            raise InputError("There are no more passages for these words. /other words searches with other words.")
        size = fitting(self._console)
        self._page, self._left = self._left[:size], self._left[size:]
        for passage in self._page:
            self.numbers.setdefault(passage, len(self.numbers) + 1)
        self.again()

    def again(self) -> None:
        """Show the page that was shown last."""
        numbered = {self.numbers[passage]: passage for passage in self._page}
        counts = {number: len(self._pool.copies(passage)) for number, passage in numbered.items()}
        most = most_of_each(self._console, len(numbered))
        report.show(self._console, report.passages_block(numbered, self._words, self._pool.corpus, counts, most))

    def in_full(self, typed: str) -> None:
        """Show passages of which the numbers were typed as they are written, in their documents."""
        corpus, passages = self._pool.corpus, [*self.numbers]
        for number in chain(*people.parse_choice(typed, len(passages))):
            passage = people.trimmed("", passages[number - 1], self._pool.locator)
            rows = self._console.height - _BESIDE_ONE
            report.show(self._console, report.full_block(number, passage, corpus, rows))


def fitting(console: Console) -> int:
    """Return how many passages fit on a page; without a terminal as many as on any."""
    if not console.is_terminal:
        return _MOST
    return min(max((console.height - _AROUND) // (_LINES[0] + 1), _FEWEST), _MOST)


def most_of_each(console: Console, count: int) -> int | None:
    """Return how many characters of each of so many passages fit on a page; None, which is all, without a terminal."""
    if not console.is_terminal:
        return None
    fewest, most = _LINES
    lines = min(max((console.height - _AROUND) // max(count, 1) - 1, fewest), most)
    return (console.width - 2 * _INDENT) * lines


class LabelDialog(Dialog):
    """Asks a person to label questions, and for other ones when all are.

    Args:
        session: The questions.
        pool: Finds passages.
    """

    def __init__(self, session: people.Session, pool: people.Pool) -> None:
        super().__init__(session)
        self._session, self._pool, self._corpus = session, pool, pool.corpus

    def is_open(self, number: int) -> bool:
        """Return whether a question is not labelled."""
        return self._session.questions[number].truth is None

    def after_all(self) -> int:
        """Ask for a question, and return its number."""
        keys = report.asking(self._session)

        def asked(typed: str) -> int:
            if len(typed) < 2:
                raise InputError(f"{'That is no question' if typed else 'Nothing was typed'}. {keys.outro}")
            return self._session.ask(typed)

        return self.ask(keys, asked, {"b": partial(self.back, len(self._session.questions))}, "Question: ")

    def about(self, number: int) -> None:
        """Label a question, or remove it."""
        session, question = self._session, self._session.questions[number]
        print_text("")
        self.tell(report.question_number(number, len(session.questions), f", {session.labelled} labelled"))
        self.show(report.label_page(question, self._corpus))
        print_text("")
        passages = Passages(self._pool, self.console)
        with self.refusals():
            passages.search(*question.earlier_texts, question.query.text)
        commands: dict[str, Callable[[], bool | None]] = {
            "": passages.again,
            "m": passages.more,
            "s": leave(Later),
            "d": partial(self._remove, number),
            "b": partial(self.back, number),
        }
        self.ask(report.CHOOSING, partial(self._choose, number, passages), commands)

    def _remove(self, number: int) -> bool:
        """Remove a question if somebody wants it."""
        question = self._session.questions[number]
        asked, removed = report.removal(question.truth is not None or any(label.quote for label in question.skipped))
        self.tell(asked)
        if typed_line("> "):
            raise InputError("The question stays.")
        self._session.remove(number)
        self.tell(removed)
        return True

    def _choose(self, number: int, passages: Passages, typed: str) -> bool | None:
        """Show passages, or label a question with those that were chosen."""
        if typed[:1] == "/":
            passages.search(typed[1:].strip())
            return None
        if typed[:1].lower() == "f":
            passages.in_full(typed[1:].strip())
            return None
        choice = people.parse_choice(typed, len(passages.numbers))
        try:
            answers = self._answers(choice, [*passages.numbers], self._session.questions[number].query.text)
        except Back:
            passages.again()
            return None
        self._session.label(number, answers, self._pool.record(passages.answered))
        self.show(report.saved_lines(answers))
        return True

    def _answers(self, choice: people.Choice, shown: list[rag.CharacterSpan], question: str) -> list[Places]:
        """Return the places of each answer: what of the passages answers the question, and its copies.

        Raises:
            Back: Somebody wants to choose among the passages again.
            Later: Somebody wants to leave the question for later.
        """
        several = sum(map(len, choice)) > 1
        answers = [
            tuple(self._trimmed(shown[number - 1], number if several else None, question) for number in alternatives)
            for alternatives in choice
        ]
        whole = people.merged(answers, self._corpus)
        if len(whole) < len(answers):
            self.tell(report.OVERLAP)
        return self._with_copies(whole)

    def _trimmed(self, passage: rag.CharacterSpan, number: int | None, question: str) -> rag.CharacterSpan:
        print_text("")
        sentences = people.sentences_of(passage, self._corpus)
        self.show(report.sentences_block(number, passage, self._corpus, sentences, question))
        return self.ask(report.TRIMMING, lambda typed: people.trimmed(typed, passage, self._pool.locator), _LEFT)

    def _with_copies(self, answers: list[Places]) -> list[Places]:
        """Return answers with the other places of their texts, unless somebody wants only those that were chosen."""
        done: list[Places] = []
        while answers:
            places, answers = answers[0], answers[1:]
            declined: list[rag.CharacterSpan] = []
            for place in places:
                copies = people.copies_of(place, self._pool.locator.verbatim)
                copies = tuple(copy for copy in copies if not any(map(copy.overlaps, (*places, *declined))))
                if copies:
                    self.show(report.copies_lines(place, copies, self._corpus))
                    if self.ask(report.JOINING, _is_joined, _LEFT):
                        places = (*places, *copies)
                        answers = people.absorbed(answers, places)
                    else:
                        declined += copies
            done.append(places)
        return done


def _is_joined(typed: str) -> bool:
    if typed.lower() not in ("", "x"):
        raise InputError("expected Enter, which takes all places, or x, which keeps only what was chosen")
    return not typed


def label(
    corpus: Path, *, questions: Path | None = None, output: Path | None = None, retriever: str | None = None
) -> None:
    """Label questions in the terminal: choose the passages that answer each, among those that are shown.

    Everything is saved at once. The same command goes on where somebody stopped, or was stopped.

    Args:
        corpus: The documents: a folder or file, or a configuration that names them.
        questions: Questions to label: CSV or TSV of question[, id], or text with one per line.
        output: The dataset, .json or .jsonl: a new one, or one to go on with.
        retriever: Show also what your own retriever finds: my_module:search.
    """
    found = corpus.resolve()
    called = (found.stem if found.is_file() else found.name) or "dataset"
    path = checked_path(output or _DATASETS / f"{called}.json", ConfigError)
    own = None if retriever is None else registry.build("retriever", retriever)
    asked = [] if questions is None else people.read_questions(questions)
    documents = options.documents(corpus)
    session = people.Session(path, documents, path.stem)
    added = session.add(asked)
    counts = partial(report.session_counts, session)
    with saving(counts):
        with components_print_to_stderr():
            pool = people.Pool(documents, own)
        dialog = LabelDialog(session, pool)
        dialog.show(report.session_lines(session, added, len(asked), pool.notes))
        try:
            dialog.hold()
        finally:
            pool.close()
    left, dataset = len(session.questions) - session.labelled, str(session.path)
    again = ["label", str(corpus), *option("--output", output), *option("--retriever", retriever)]
    linted = ["dataset", "lint", dataset, "--corpus", str(corpus)]
    ran = ["run", "--dataset", dataset, "--corpus", str(corpus), *option("--allow-skipped", left or None)]
    if options.is_configuration(corpus):  # that of the run, which names the documents
        ran = ["run", str(corpus), "--dataset", dataset, *ran[5:]]
    following = f" Next:{command_lines(again, *([linted, ran] if session.labelled else []))}"
    print_text(f"\n{counts()}.{following if session.questions else ''}")
