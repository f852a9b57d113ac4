"""Names of scores, as people write them."""

import numpy as np
import pytest

from rag_evaluation_framework.data.score_table import ScoreTable, full_name

SYNONYMS = {"mrr@5": 0.1, "mrr@10": 0.2, "MRR@5": 0.9, "MRR@10": 0.8}
TURNED = dict(reversed(SYNONYMS.items()))
OURS = {"ndcg@10": 0.5, "ndcg@5": 0.4}


@pytest.mark.parametrize(
    ("written", "names", "found"),
    [
        ("mrr", SYNONYMS, "mrr@5"),
        (" mrr ", SYNONYMS, "mrr@5"),
        ("MRR", SYNONYMS, "MRR@5"),
        (" MRR ", SYNONYMS, "MRR@5"),
        ("mrr", TURNED, "mrr@10"),
        ("MRR", TURNED, "MRR@10"),
        (" mrr@10", SYNONYMS, "mrr@10"),
        (" MRR@10", TURNED, "MRR@10"),
        ("nDCG", OURS, "ndcg@10"),
        ("nDCG@5", OURS, "ndcg@5"),
        ("nDCG@7", OURS, None),
    ],
)
def test_the_exact_name_of_a_metric_wins_over_another_spelling_which_is_understood_too(written, names, found):
    assert full_name(written, names) == found


def test_a_table_answers_with_the_scores_of_the_exact_name():
    columns = {name: np.array([value]) for name, value in SYNONYMS.items()}
    table = ScoreTable(("q",), columns, np.array([True]))
    assert table.mean["MRR"] == table.mean.get("MRR") == 0.9
    assert table.per_query("MRR") == {"q": 0.9}
