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


def test_a_winner_at_k_that_loses_at_a_budget_is_told():
    runs = tables({"recall@5": 0.6, "recall@4000ch": 0.3}, {"recall@5": 0.3, "recall@4000ch": 0.6})
    assert noted_orders(("a", "b"), runs, None) == [
        "the orders by k and by budget disagree: a is above b by recall@5, and below it by recall@4000ch, both by more "
        "than chance"
    ]


@pytest.mark.parametrize(("at_k", "at_budget"), [(0.6, 0.59), (0.6, 0.6), (0.31, 0.3), (0.6, 0.7)])
def test_what_may_be_chance_is_no_disagreement(at_k, at_budget):
    """Tied at one of the cutoffs, or the same order at both."""
    first = {"recall@5": at_k, "recall@4000ch": at_budget}
    assert noted_orders(("a", "b"), tables(first, {"recall@5": 0.3, "recall@4000ch": 0.6}), None) == []


def test_of_many_runs_the_winners_are_told_and_a_winner_that_is_tied_is_not():
    first, second = {"recall@5": 0.6, "recall@4000ch": 0.3}, {"recall@5": 0.3, "recall@4000ch": 0.6}
    (told,) = noted_orders("abc", tables({"recall@5": 0.2, "recall@4000ch": 0.2}, second, first), None)
    assert "c is above b by recall@5, and below it by recall@4000ch" in told
    both = {"recall@5": 0.59, "recall@4000ch": 0.61}
    assert noted_orders("abc", tables(first, second, both), None) == []


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


def test_questions_of_one_document_are_one_piece_of_evidence():
    runs = tables({"recall@5": 0.6, "recall@4000ch": 0.3}, {"recall@5": 0.3, "recall@4000ch": 0.6})
    assert noted_orders("ab", runs, np.arange(60) % 3) == []


def test_a_score_that_no_question_has_in_all_runs_decides_nothing():
    runs = tables({"recall@5": 0.6, "recall@4000ch": 0.3}, {"recall@5": 0.3, "recall@4000ch": np.nan})
    assert noted_orders("ab", runs, None) == []
