"""Whether the result of a run can be relied on: which questions failed, were not asked, or were skipped."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rag_evaluation_framework as rag
from rag_evaluation_framework import data
from rag_evaluation_framework.cli.left_out import told_left_out
from rag_evaluation_framework.data.failures import NOT_ASKED
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.experiments.unlocated import HOW_TO_LOCATE, SHARE, told_unlocated


def unreliable(
    result: rag.EvaluationResult[Any],
    corpus: rag.Corpus,
    allow_failures: int = 0,
    allow_skipped: int = 0,
    allow_unlocated: float = SHARE,
) -> tuple[str, ...]:
    """Return why a result cannot be relied on: everything that is more than was allowed; nothing if it can be."""
    failed, skipped = result.counts["failed"] + result.counts["metric_failed"], result.counts["skipped"]
    asked = result.counts["questions"]
    not_asked = sum(NOT_ASKED in failures for failures in result.failures.values())
    if not_asked:
        others = f"{result.counts['failed'] - not_asked} others in time"
        return (f"{not_asked} of {asked} questions were not asked, as the retriever did not answer {others}",)
    if _has_no_score(result):
        return ("no question has a score",)
    problems: list[str] = []
    if failed > allow_failures:
        problems.append(f"{failed} of {asked} questions failed (--allow-failures allows {allow_failures})")
    if skipped > allow_skipped:
        many = f"{skipped} of {result.counts['answerable']} answerable questions {'were' if skipped > 1 else 'was'}"
        problems.append(f"{many} skipped (--allow-skipped allows {allow_skipped}){_why_skipped(result, corpus)}")
    if unlocated := told_unlocated(result, corpus, allow_unlocated):
        problems.append(f"{unlocated} (--allow-unlocated allows {allow_unlocated:.0%}). {HOW_TO_LOCATE}")
    return tuple(problems)


def check_reliable(result: rag.EvaluationResult[Any], problems: Iterable[str]) -> None:
    """Raise ConfigError if there are problems, or a gate could not be measured, and say where the run is.

    Args:
        result: The result.
        problems: Why it cannot be relied on, and what could not be written.
    """
    listed = [*problems]
    if not _has_no_score(result):
        listed += (
            f"gate {verdict.gate!r} could not be measured: {verdict.told}"
            for verdict in result.gates
            if verdict.counts_as == "error"
        )
    if listed:
        where = "the run is not saved" if result.folder is None else f"the run is saved in {result.folder}"
        raise ConfigError("; ".join([*listed, where]))


def _has_no_score(result: rag.EvaluationResult[Any]) -> bool:
    return all(mean is None for mean in result.metrics.values())


def _why_skipped(result: rag.EvaluationResult[Any], corpus: rag.Corpus) -> str:
    """Return why questions were skipped, and what to do about it."""
    left_out = told_left_out((label.anchor.doc_id for label in result.skipped if label.anchor is not None), corpus)
    if left_out:
        return f": {left_out}"
    if any(label.reason == data.NOT_LABELLED for label in result.skipped):
        return ", some as nobody has labelled them yet: `rag-eval label` goes on with them"
    if result.counts["skipped"] == 1:
        whose, what = "a quote of its has", "the quote, that"
    else:
        whose, what = "their quotes have", "the quotes, those"
    fix = "of a dataset file with `rag-eval dataset update`"
    return f", as {whose} no certain place in the documents: correct {what} {fix}"
