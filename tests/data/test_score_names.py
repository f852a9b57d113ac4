"""Names of scores, as people write them."""

import numpy as np
import pytest

from rag_evaluation_framework.data.score_table import ScoreTable, full_name

SYNONYMS = {"mrr@5": 0.1, "mrr@10": 0.2, "MRR@5": 0.9, "MRR@10": 0.8}


@pytest.mark.parametrize("names", [SYNONYMS, dict(reversed(SYNONYMS.items()))], ids=["ours first", "theirs first"])
@pytest.mark.parametrize("metric", ["mrr", "MRR"])
def test_the_exact_name_of_a_metric_wins_over_another_spelling_of_it(names, metric):
    first = next(name for name in names if name.startswith(metric))
    assert full_name(metric, names) == full_name(f" {metric} ", names) == first
    assert full_name(f" {metric}@10", names) == f"{metric}@10"


def test_a_table_answers_with_the_scores_of_the_exact_name():
    columns = {name: np.array([value]) for name, value in SYNONYMS.items()}
    table = ScoreTable(("q",), columns, np.array([True]))
    assert table.mean["MRR"] == table.mean.get("MRR") == 0.9
    assert table.per_query("MRR") == {"q": 0.9}


def test_another_spelling_is_understood_where_no_metric_is_called_so():
    names = {"ndcg@10": 0.5, "ndcg@5": 0.4}
    assert full_name("nDCG", names) == "ndcg@10"
    assert full_name("nDCG@5", names) == "ndcg@5"
    assert full_name("nDCG@7", names) is None
