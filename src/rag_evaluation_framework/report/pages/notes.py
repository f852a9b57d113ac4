"""Notes of a result: what failed, results without a place, and scores that only some of the questions have."""

from typing import Any

import numpy as np

from rag_evaluation_framework.base.outside import first_of, name_line
from rag_evaluation_framework.levels.rules import RULES
from rag_evaluation_framework.results.result import EvaluationResult

_FAILURES_SHOWN = 5


def all_notes(result: EvaluationResult[Any]) -> tuple[str, ...]:
    """Return all notes shown with a result: what failed, results without a place, and its own."""
    notes = [*failure_notes(result), *_partial(result)]
    unlocated, hits = result.counts["unlocated_hits"], result.counts["hits"]
    if unlocated:
        share = f"{unlocated / hits:.0%}"
        noun = RULES[result.evaluation_type].noun
        notes.append(f"{unlocated} of {hits} results ({share}) have no {noun}; they count as not relevant")
    return (*notes, *result.notes)


def failure_notes(result: EvaluationResult[Any]) -> list[str]:
    """Return what failed, once for all questions and for all cutoffs of a metric."""
    alike: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for query_id, failures in result.failures.items():
        for failure in failures:
            stage, what = failure.stage.partition("@")[0], f"{failure.kind}: {failure.message}"
            ids, stages = alike.setdefault((stage, what), ({}, {}))
            ids[query_id] = stages[failure.stage] = None
    notes = [
        f"{first_of([*map(name_line, ids)], 1)}: "
        f"{name_line(next(iter(stages))) if len(stages) == 1 else f'{stage} at {len(stages)} cutoffs'}: {what}"
        for (stage, what), (ids, stages) in list(alike.items())[:_FAILURES_SHOWN]
    ]
    if len(alike) > _FAILURES_SHOWN:
        notes.append(f"failures of other kinds: {len(alike) - _FAILURES_SHOWN}")
    return notes


def _partial(result: EvaluationResult[Any]) -> list[str]:
    """Return what is to be said of scores that only some of the scored queries have."""
    scored = result.scores.with_status("scored")
    alike: dict[int, list[str]] = {}
    for name, column in result.scores.columns.items():
        known = int((~np.isnan(column[scored])).sum())
        if 0 < known < scored.sum():
            alike.setdefault(known, []).append(name)
    return [
        f"means of only {known} of {scored.sum()} scored questions: {', '.join(names)}"
        for known, names in alike.items()
    ]
