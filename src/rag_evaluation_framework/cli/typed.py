"""Lines that people type, at a terminal or through a pipe."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from rag_evaluation_framework._outside import harmless
from rag_evaluation_framework.cli.output import print_text
from rag_evaluation_framework.errors import ConfigError

with suppress(ImportError):  # Windows has none
    # Where it is loaded, lines can be edited, and pasted with line breaks in them.
    import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]


class NoMoreInput(Exception):
    """Standard input has ended."""


def accept_any_bytes() -> None:
    """Let what is typed hold bytes that are no text, so that it can be asked for again."""
    stream: Any = sys.stdin
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="surrogateescape")


def typed_line(prompt: str) -> str:
    """Return the next line that is typed, its white space being single spaces; asks again for one that is no text.

    Raises:
        NoMoreInput: There is none.
        ConfigError: Standard input cannot be read.
    """
    while True:
        line = _line(prompt)
        if line == harmless(line):
            return line
        print_text("That holds control codes or bytes that are no UTF-8; type it again.")


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
