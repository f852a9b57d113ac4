"""Whether the best run is another one at a number of results than at a budget."""

import numpy as np
import pytest

from rag_evaluation_framework.analysis.comparison import cutoff_orders
from rag_evaluation_framework.data import ScoreTable
from rag_evaluation_framework.report.pages.comparison import order_texts

IDS = tuple(f"q{number}" for number in range(60))


def tables(*runs):
    """Scores of runs: at each cutoff every question has the score that is given, and a little noise that all share."""
    noise = np.random.default_rng(0).random(60) * 0.1
    return [
        ScoreTable(IDS, {name: noise + mean + own(number) for name, mean in means.items()}, np.ones(60, dtype=np.bool_))
        for number, means in enumerate(runs)
    ]


def own(number):
    return np.random.default_rng(number + 1).normal(0, 0.1, 60)


def noted_orders(names, runs, clusters):
    """The notes on these runs, as a comparison has them."""
    return order_texts(names, cutoff_orders(runs, clusters))


FIRST, SECOND = {"recall@5": 0.6, "recall@4000ch": 0.3}, {"recall@5": 0.3, "recall@4000ch": 0.6}
ABOVE_AND_BELOW = (
    "the orders by k and by budget disagree: a is above b by recall@5, and below it by recall@4000ch, both by more "
    "than chance"
)


@pytest.mark.parametrize(
    ("first", "second", "clusters", "told"),
    [
        (FIRST, SECOND, None, [ABOVE_AND_BELOW]),
        (FIRST, SECOND, np.arange(60) % 3, []),
        (FIRST, {"recall@5": 0.3, "recall@4000ch": np.nan}, None, []),
        ({"recall@5": 0.6, "recall@4000ch": 0.59}, SECOND, None, []),
        ({"recall@5": 0.6, "recall@4000ch": 0.6}, SECOND, None, []),
        ({"recall@5": 0.31, "recall@4000ch": 0.3}, SECOND, None, []),
        ({"recall@5": 0.6, "recall@4000ch": 0.7}, SECOND, None, []),
    ],
    ids=[
        "more than chance",
        "questions of one document are one piece of evidence",
        "no question has a score in all runs",
        "nearly tied at a budget",
        "tied at a budget",
        "nearly tied at k",
        "the same order at both",
    ],
)
def test_a_winner_at_k_that_loses_at_a_budget_by_more_than_chance_is_told(first, second, clusters, told):
    assert noted_orders(("a", "b"), tables(first, second), clusters) == told


def test_of_many_runs_the_winners_are_told_and_a_winner_that_is_tied_is_not():
    (told,) = noted_orders("abc", tables({"recall@5": 0.2, "recall@4000ch": 0.2}, SECOND, FIRST), None)
    assert "c is above b by recall@5, and below it by recall@4000ch" in told
    both = {"recall@5": 0.59, "recall@4000ch": 0.61}
    assert noted_orders("abc", tables(FIRST, SECOND, both), None) == []


def test_winners_that_disagree_at_several_cutoffs_are_told_once_and_other_metrics_are_not():
    names = ("recall@3", "recall@5", "recall@1000ch", "recall@4000ch")
    first, second = (
        dict(zip(names, (0.6, 0.6, 0.3, 0.3), strict=True)),
        dict(zip(names, (0.3, 0.3, 0.6, 0.6), strict=True)),
    )
    (told,) = noted_orders("ab", tables(first, second), None)
    assert "recall@3, and below it by recall@1000ch" in told
    same = dict.fromkeys(names, 0.5)
    other = [{**same, "iou@5": mean, "iou@1000ch": 1 - mean} for mean in (0.3, 0.7)]
    assert noted_orders("ab", tables(*other), None) == []
