"""What ends a run with exit code 2 after it was made, and why questions were skipped."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, gates, labelling
from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.errors import ConfigError

# What the commands say of labelled files that the pattern of files leaves out.


def told_left_out(doc_ids: Iterable[str], documents: rag.Corpus) -> str:
    """Return which of some documents are files that the pattern leaves out, and a pattern that does not; "" if none is.

    Args:
        doc_ids: The documents.
        documents: The corpus of a folder.
    """
    names = [name for name in dict.fromkeys(doc_ids) if labelling.leaving_out(name, documents) is not None]
    if not names:
        return ""
    pattern, folder = labelling.pattern_with(names, documents), one_line(str(documents.metadata["source"]))
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    other = "one that does not" if pattern is None else f"--glob {shlex.quote(pattern)}"
    return f"--glob leaves out {name_line(names[0])}{more} of {folder}; give {other}"


# What ends a run with exit code 2 after it was made, and why questions were skipped.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


def check_reliable(result: rag.EvaluationResult[Any], problems: Iterable[str]) -> None:
    """Raise ConfigError if there are problems, or else a gate that was not measured, and say where the run is.

    Args:
        result: The result.
        problems: Why it cannot be relied on, and what could not be written.
    """
    listed = [*problems]
    if not listed and not gates.has_no_score(result):
        listed += (
            f"gate {verdict.gate!r} could not be measured: {verdict.told}"
            for verdict in result.gates
            if verdict.counts_as == "error"
        )
    if listed:
        where = "the run is not saved" if result.folder is None else f"the run is saved in {result.folder}"
        raise ConfigError("; ".join([*listed, where]))


def why_skipped(result: rag.EvaluationResult[Any], corpus: rag.Corpus) -> str:
    """Return why questions were skipped, and what to do about it."""
    left_out = told_left_out((label.anchor.doc_id for label in result.skipped if label.anchor is not None), corpus)
    if left_out:
        return f": {left_out}"
    if any(label.reason == data.NOT_LABELLED for label in result.skipped):
        return ", some as nobody has labelled them yet: `rag-eval label` goes on with them"
    return (
        ", as some quotes have no certain place in the documents: correct the quotes, those of a dataset file with "
        "`rag-eval dataset update`"
    )
