"""Dialogs at a terminal, or through a pipe: a line is typed, and does what its letter says, question after question."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .. import report
from ..base.outside import harmless
from ..errors import ConfigError, DatasetError, InputError, Interrupted
from .output import print_text, stdout

if TYPE_CHECKING:
    from ..authoring import people

T = TypeVar("T")

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
    """Asks a person about questions, one after the other.

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

    @abstractmethod
    def after_all(self) -> int:
        """Return the number of the question that comes when none is open; raise Stop if none does."""

    @abstractmethod
    def about(self, number: int) -> None:
        """Ask about a question until it is done with, or left for later."""

    def hold(self) -> None:
        """Ask about one question after the other.

        Raises:
            Stop: Somebody typed `q`, no question is left, or standard input has ended.
        """
        _accept_any_bytes()
        number: int | None = None
        while True:
            try:
                number = self._next() if number is None else number
                asked = self._questions[number].query.id
                with suppress(Later):
                    self.about(number)
                self._done.add(asked)
                number = None
            except Back:
                number = (len(self._questions) if number is None else number) - 1

    def _next(self) -> int:
        numbers = (at for at, question in enumerate(self._questions) if question.query.id not in self._done)
        found = next(filter(self.is_open, numbers), None)
        return self.after_all() if found is None else found

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
        known: dict[str, Callable[[], T | None]] = {"q": _stop, "?": partial(self.show, keys.help), **commands}
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


def _stop() -> NoReturn:
    raise Stop


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


def _accept_any_bytes() -> None:
    """Let what is typed hold bytes that are no text, so that it can be asked for again."""
    stream: Any = sys.stdin
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="surrogateescape")


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
