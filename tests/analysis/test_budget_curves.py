"""Which scores make a curve of recall by budget."""

import pytest

from rag_evaluation_framework.analysis.leaderboard import budget_scores


@pytest.mark.parametrize(
    ("names", "curves"),
    [
        (["span_recall@5", "span_recall@4000ch"], []),
        (["span_recall@4000ch", "span_recall@5", "span_recall@900ch"], [("span_recall@900ch", "span_recall@4000ch")]),
        (["recall@900ch", "span_recall@4000ch", "recall@50ch"], [("recall@50ch", "recall@900ch")]),
        (["span_recall@900ch", "span_recall@500tok"], []),
        (["span_recall@900ch", "span_recall@4000ch_whole"], []),
        (["span_recall@9ch_whole", "span_recall@4ch_whole"], [("span_recall@4ch_whole", "span_recall@9ch_whole")]),
        (["span_iou@900ch", "span_iou@4000ch", "recalled@1ch", "recalled@2ch"], []),
    ],
)
def test_recalls_at_two_budgets_of_one_unit_are_a_curve(names, curves):
    assert budget_scores(names) == curves
