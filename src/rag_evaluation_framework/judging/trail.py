"""Trail judgements: how early a reader with a budget comes upon relevant text, counted character by character."""

from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.judging.spans import SpanColumns, TrailJudgements, blocks, relevant_pieces


@dataclass(frozen=True, eq=False)
class Trail:
    """What a reader with a budget reads: the results in rank order, overlaps again, up to the budget.

    Whole numbers where characters are counted; fractions of tokens, as tokens are spread evenly over the characters of
    a result.

    Attributes:
        budget: The budget, in characters or tokens.
        before: How much is read before the first character of each span; shape (queries, depth).
        rate: What each character of the span costs; shape (queries, depth).
        truth_rate: What each relevant character costs by itself; shape (queries,).
    """

    budget: int
    before: Integers | Numbers
    rate: Integers | Numbers
    truth_rate: Integers | Numbers

    @classmethod
    def in_characters(cls, budget: int, before: Integers) -> "Trail":
        """Return a trail that is counted in characters."""
        ones = np.ones((), dtype=np.int64)
        return cls(budget, before, np.broadcast_to(ones, before.shape), np.broadcast_to(ones, before.shape[:1]))


def judge_trail(retrieved: SpanColumns, truth: SpanColumns, queries: int, trail: Trail) -> TrailJudgements:
    """Judge the trails of many queries.

    Args:
        retrieved: The retrieved spans, already cut at the budget; one per query and rank.
        truth: The relevant spans; where they overlap, text counts once.
        queries: The number of queries.
        trail: Where each retrieved span is read.
    """
    kind = np.result_type(trail.before, trail.rate, trail.truth_rate)
    earned, ideal = np.zeros(queries, dtype=kind), np.zeros(queries, dtype=kind)
    depth = trail.before.shape[1]
    for first, last in blocks(queries, depth):
        pieces = relevant_pieces(retrieved.between(first, last), truth.between(first, last), last - first, depth)
        # In the order in which they are read: sums of fractions are then the same whatever else is judged.
        order = np.argsort(pieces.cells, kind="stable")
        cells, offsets, lengths = pieces.cells[order], pieces.offsets[order], pieces.lengths[order]
        rate = trail.rate[first:last].ravel()[cells]
        left = trail.budget - trail.before[first:last].ravel()[cells] - offsets * rate
        np.add.at(earned[first:last], cells // depth, _earned(left, rate, lengths))
        ideal[first:last] = _earned(trail.budget, trail.truth_rate[first:last], pieces.truth)
    return TrailJudgements(earned, ideal)


def _earned(left: Integers | Numbers | int, rate: Integers | Numbers, lengths: Integers) -> Integers | Numbers:
    """Return what stretches of characters earn: each as much as is left of the budget when it is read, if anything.

    With 10 left, 3 characters at a rate of 1 earn 10 + 9 + 8; with 2 left, 2 + 1.
    """
    left = np.maximum(left, 0)
    within = np.where(rate > 0, -(-left // np.where(rate > 0, rate, 1)), lengths)  # what costs nothing is always read
    read = np.clip(within, 0, lengths)
    earned: Integers | Numbers = read * left - rate * (read * (read - 1) // 2)
    return earned
