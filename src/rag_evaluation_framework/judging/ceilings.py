"""Ceilings: how much relevant text the best results of a ranking hold, whatever their order."""

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.judging.span_columns import SpanColumns
from rag_evaluation_framework.judging.stretches import Line, Merged, Pieces, Shared


def relevant_parts(items: SpanColumns, reference: SpanColumns) -> Numbers:
    """Return how many relevant characters each result holds, each once; shape (results,).

    Args:
        items: The results, by query.
        reference: What is relevant: the first places of all answers.
    """
    solid = items.end > items.start
    line = Line.of(items, reference, depth=1)
    merged = Merged.of(line.relevant)
    shared = Shared.of(Pieces(merged.starts, merged.ends, np.zeros_like(merged.starts)), line.hits)
    parts = np.zeros(len(items.query))
    parts[solid] = np.bincount(shared.stretch, weights=shared.lengths, minlength=int(solid.sum()))
    return parts


def largest_sums(query: Integers, parts: Numbers, costs: Integers, cutoff: Cutoff, questions: int) -> Numbers:
    """Return the most that parts of each question add up to within the cutoff; shape (questions,).

    Of k results these are the k largest parts, of a budget the linear relaxation of the knapsack (Dantzig, Operations
    Research 5 (1957), 266) and, as the last result may be cut, the largest part once more. Text that two results share
    counts twice, so that it is an upper bound.

    Args:
        query: The number of the question of each part; shape (parts,).
        parts: What each result holds.
        costs: What it costs, in the unit of the cutoff: 1 of a number of results.
        cutoff: The cutoff.
        questions: How many questions there are.
    """
    worth = parts / np.maximum(costs, 1)
    order = np.lexsort((-worth, query))
    query, parts, costs = query[order], parts[order], costs[order]
    spent = np.cumsum(costs) - costs
    first = np.searchsorted(query, query)
    left = cutoff.size - (spent - spent[first])
    taken = np.clip(left / np.maximum(costs, 1), 0, 1)
    largest = np.zeros(questions)
    if cutoff.is_budget and not cutoff.whole:
        np.maximum.at(largest, query, parts)
    most = largest + np.bincount(query, weights=parts * taken, minlength=questions)
    return np.minimum(most, cutoff.size) if cutoff.unit == "ch" else most  # a relevant character is one of the budget
