"""Lines that people type, at a terminal or through a pipe."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from rag_evaluation_framework._outside import harmless
from rag_evaluation_framework.cli.output import print_text
from rag_evaluation_framework.errors import ConfigError

with suppress(ImportError):  # Windows has none
    # Where it is loaded, lines can be edited, and pasted with line breaks in them.
    import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]


class NoMoreInput(Exception):
    """Standard input has ended."""


class Stop(Exception):
    """Somebody wants to stop."""


def is_terminal() -> bool:
    """Return whether somebody can be asked: standard input and output are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def accept_any_bytes() -> None:
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
        NoMoreInput: There is none.
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
        raise NoMoreInput
    try:
        given = input(prompt)
    except EOFError:
        sys.stdout.write("\n")
        raise NoMoreInput from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"standard input cannot be read: {error}; type at a terminal, or pipe lines") from error
    line = " ".join(given.split())
    if not sys.stdin.isatty():  # nobody has seen it
        print_text(line)
    return line
