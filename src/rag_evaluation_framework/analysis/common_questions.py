"""What several comparisons with one baseline have in common: their queries, their scores, and their notes."""

from collections.abc import Sequence

import numpy as np

from rag_evaluation_framework.analysis.comparison import Comparison
from rag_evaluation_framework.analysis.cutoff_orders import DISAGREE
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.score_table import ScoreTable


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names; of those that are equal, all but the first get a number."""
    taken: dict[str, None] = {}
    for name in names:
        candidates = (name, *(f"{name} ({number})" for number in range(2, len(names) + 2)))
        taken[next(candidate for candidate in candidates if candidate not in taken)] = None
    return tuple(taken)


def scores_in_all(comparisons: Sequence[Comparison]) -> tuple[ScoreTable, ...]:
    """Return the scores of each run, of the queries that have the same truth in all; one without a score has none."""
    first, *others = (comparison.change for comparison in comparisons)
    names = [name for name in first.columns if all(name in change.columns for change in others)]
    query_ids = tuple(query_id for query_id in first.query_ids if all(query_id in change.rows for change in others))
    runs = [comparisons[0].before, *(comparison.after for comparison in comparisons)]
    rows = [[run.rows[query_id] for query_id in query_ids] for run in runs]
    columns: list[dict[str, Numbers]] = [{} for _ in runs]
    for name in names:
        scores = np.stack([run.columns[name][chosen] for run, chosen in zip(runs, rows, strict=True)])
        scores[:, np.isnan(scores).any(axis=0)] = np.nan
        for column, kept in zip(columns, scores, strict=True):
            column[name] = kept
    answerable = np.ones(len(query_ids), dtype=np.bool_)
    return tuple(ScoreTable(query_ids, column, answerable) for column in columns)


def noted_pairs(names: Sequence[str], comparisons: Sequence[Comparison], tables: Sequence[ScoreTable]) -> list[str]:
    """Return on how many questions means are, if pairs share more, and the notes of the pairs; what all have once.

    Args:
        names: The names of the runs, the baseline first.
        comparisons: The comparison of each other run with the baseline.
        tables: The scores of each run that are compared.
    """
    name = next(iter(tables[0].columns))
    count = int((~np.isnan(tables[0].columns[name])).sum())
    more = [
        f"{run}: {len(comparison.deltas[name])}"
        for run, comparison in zip(names[1:], comparisons, strict=True)
        if len(comparison.deltas[name]) > count
    ]
    notes = [f"{name} is of {count} questions, those of all runs; some share more with the baseline: {', '.join(more)}"]
    told = {
        note if all(note in other.notes for other in comparisons) else f"{run}: {note}": None
        for run, comparison in zip(names[1:], comparisons, strict=True)
        for note in comparison.notes
        if not note.startswith(DISAGREE)  # of all runs the winners are told
    }
    return [*(notes if more else []), *told]
