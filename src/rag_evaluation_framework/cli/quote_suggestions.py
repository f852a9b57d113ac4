"""What the commands that read questions do with suggestions for quotes that were not found."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, labelling
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
    if not counts:
        return ""
    named = ", ".join(f"{count} {suffix}" for suffix, count in counts.items())
    return f"Not read: {named}. --glob {shlex.quote(data.pattern_of(['.md', *counts]))} reads them, too.\n"


def options_of(corpus: Path, glob: str) -> str:
    """Return the options of a command that reads the same documents."""
    return f"--corpus {shlex.quote(str(corpus))}{'' if glob == DEFAULT_GLOB else f' --glob {shlex.quote(glob)}'}"


def save_suggestions(check: labelling.QuoteCheck, command: str, corpus: Path, glob: str) -> str:
    """Write the suggestions beside the questions; return what to tell about them, "" if there are none.

    Args:
        check: The check; of a pipe, nothing is written.
        command: The command that reads them when they have been looked through.
        corpus: Its folder of documents.
        glob: Its pattern.
    """
    if not Path(check.source).is_file():
        return ""
    try:
        path = check.save_suggestions()
    except InputError as error:
        return f"\nThe suggestions could not be written beside the questions: {error}"
    open_ones = [row.suggestion for row in check.problems if row.suggestion]
    if path is None:
        return ""
    if not open_ones:
        return f"\nThe questions with the accepted quotes, as the documents have them: {path}"
    certain = sum(not found.refusal and found.similarity >= _THRESHOLD for found in open_ones)
    hint = f"\n\n--accept {_THRESHOLD} takes {certain} of {len(open_ones)}." if certain else ""
    count = f"{len(open_ones)} suggestion{'s' * (len(open_ones) > 1)}"
    return (
        f"\n{count} in place of quotes: {path}. Look through the file, correct what is wrong, then:\n\n"
        f"  rag-eval {command} {options_of(corpus, glob)} --questions {shlex.quote(str(path))}{hint}"
    )
