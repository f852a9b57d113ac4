"""What ends a run with exit code 2 after it was made, and why questions were skipped."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, gates
from rag_evaluation_framework.cli.left_out import told_left_out
from rag_evaluation_framework.errors import ConfigError


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
