"""What the commands that read questions do with suggestions for quotes that were not found."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, labelling, report
from rag_evaluation_framework.cli.output import command_lines, option
from rag_evaluation_framework.cli.paths import DEFAULT_GLOB
from rag_evaluation_framework.errors import ConfigError, InputError

_THRESHOLD = 0.95

Accept = Annotated[
    float | None,
    typer.Option(
        help="Take suggestions for quotes that were not found, if they are at least so similar: above 0, up to 1."
    ),
]


Repeated = Annotated[
    Literal["ambiguous", "any"],
    typer.Option(
        help="What a quote is that occurs more than once: 'ambiguous', or answered by 'any' of its occurrences."
    ),
]


def check_accept(accept: float | None) -> None:
    """Raise ConfigError if a threshold is out of range, before anything is done."""
    if accept is not None and not 0 < accept <= 1:
        raise ConfigError(f"--accept {accept}: expected a similarity above 0 and up to 1, such as {_THRESHOLD}")


def accepted(check: labelling.QuoteCheck, accept: float | None) -> labelling.QuoteCheck:
    """Return the check with the suggestions accepted that are similar enough; as it is, without a threshold."""
    return check if accept is None else check.accepting(accept)


def left_out(documents: rag.Corpus, corpus: Path, glob: str) -> str:
    """Return a line about the text files of a folder that the default pattern does not match; "" if there are none."""
    counts = data.texts_left_out(documents, corpus) if glob == DEFAULT_GLOB else {}
    return report.unread_text(counts, shlex.quote(data.pattern_of([".md", *counts]))) if counts else ""


def options_of(corpus: Path | None, glob: str) -> list[str]:
    """Return the options of a command that reads the same documents; none without any."""
    pattern = None if corpus is None or glob == DEFAULT_GLOB else glob
    return [*option("--corpus", corpus), *option("--glob", pattern)]


def save_suggestions(check: labelling.QuoteCheck, command: Sequence[str], corpus: Path, glob: str) -> str:
    """Write the suggestions beside the questions; return what to tell about them, "" if there are none.

    Args:
        check: The check; of a pipe, nothing is written.
        command: The command that reads them when they have been looked through.
        corpus: Its folder of documents.
        glob: Its pattern.
    """
    if not Path(check.source).is_file():
        return ""
    path: Path | InputError | None
    try:
        path = check.save_suggestions()
    except InputError as error:
        path = error
    again = command_lines([*command, *options_of(corpus, glob), "--questions", str(path)])
    return report.suggestions_text(check, path, again, _THRESHOLD)
