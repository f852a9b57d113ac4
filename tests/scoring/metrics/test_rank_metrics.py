"""Rank metrics on cases worked by hand, through `score_rankings` and through `calculate`."""

from math import log2

import pytest

from rag_evaluation_framework import score_rankings
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.scoring.metrics import (
    F1,
    MAP,
    MRR,
    NDCG,
    HitRate,
    Precision,
    Recall,
    RPrecision,
)

METRICS = (HitRate(), Recall(), Precision(), F1(), MRR(), MAP(), NDCG(), RPrecision())
NAMES = ("hit", "recall", "precision", "f1", "mrr", "map", "ndcg", "r_precision")
NOTHING = (0, 0, 0, 0, 0, 0, 0, 0)

# name: ranking, truth, k, (hit, recall, precision, f1, mrr, map, ndcg, r_precision)
WORKED = {
    "the only one first": ("abcde", "a", 5, (1, 1, 1 / 5, 2 / 6, 1, 1, 1, 1)),
    "the only one third": ("abcde", "c", 5, (1, 1, 1 / 5, 2 / 6, 1 / 3, 1 / 3, 1 / log2(4), 0)),
    "the only one just at the cutoff": ("abcde", "c", 3, (1, 1, 1 / 3, 2 / 4, 1 / 3, 1 / 3, 1 / log2(4), 0)),
    "the only one just beyond the cutoff": ("abcde", "c", 2, NOTHING),
    "two of three, the third not retrieved": (
        "axbyz",
        "abc",
        5,
        (1, 2 / 3, 2 / 5, 4 / 8, 1, (1 + 2 / 3) / 3, (1 + 1 / log2(4)) / (1 + 1 / log2(3) + 1 / log2(4)), 2 / 3),
    ),
    "one of three before the cutoff": (
        "xabyc",
        "abc",
        2,
        (1, 1 / 3, 1 / 2, 2 / 5, 1 / 2, (1 / 2) / 3, (1 / log2(3)) / (1 + 1 / log2(3)), 1 / 3),
    ),
    # T21: the best order is cut at k as well, and MAP and recall still count all that is relevant
    "five relevant, the first two of them right": ("abcde", "abcde", 2, (1, 2 / 5, 1, 4 / 7, 1, 2 / 5, 1, 2 / 5)),
    "fewer results than k, all right": ("ab", "ab", 10, (1, 1, 2 / 10, 4 / 12, 1, 1, 1, 1)),
    "fewer results than k, one of two golds": (
        "a",
        "ab",
        10,
        (1, 1 / 2, 1 / 10, 2 / 12, 1, 1 / 2, 1 / (1 + 1 / log2(3)), 1 / 2),
    ),
    "nothing relevant was retrieved": ("xyz", "ab", 3, NOTHING),
    "nothing was retrieved": ("", "ab", 3, NOTHING),
    # T20: labels that are given twice are one label
    "labels given twice": ("axb", "aabb", 3, (1, 1, 2 / 3, 4 / 5, 1, (1 + 2 / 3) / 2, 1.5 / (1 + 1 / log2(3)), 1 / 2)),
    # a result that comes again takes no place: the ranking is a, b
    "results that come again": ("aab", "ab", 2, (1, 1, 1, 1, 1, 1, 1, 1)),
    "results that come again and again": ("aaaa", "a", 4, (1, 1, 1 / 4, 2 / 5, 1, 1, 1, 1)),
}

worked = pytest.mark.parametrize(("ranking", "truth", "k", "expected"), WORKED.values(), ids=WORKED)


def scores_of(truth, ranking, *names):
    scores = score_rankings({"q": truth}, {"q": ranking}, names)
    return [scores.mean[name] for name in names]


@worked
def test_a_worked_ranking_gets_the_scores_worked_by_hand_as_list_and_as_run(ranking, truth, k, expected):
    # A worked ranking gets the scores worked by hand:
    names = [f"{name}@{k}" for name in NAMES]
    assert scores_of(list(truth), list(ranking), *names) == pytest.approx(expected, abs=1e-12)

    # A worked run with falling scores gets the same:
    run = {unit: -place for place, unit in enumerate(dict.fromkeys(ranking))}
    names = [f"{name}@{k}" for name in NAMES]
    assert scores_of(dict.fromkeys(truth, 1), run, *names) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("ranking", "truth", "expected"),
    [(r, t, e) for r, t, k, e in WORKED.values() if len(r) == k],
    ids=[name for name, (r, _, k, _) in WORKED.items() if len(r) == k],
)
def test_calculate_gives_the_scores_of_a_ranking_as_long_as_its_cutoff(ranking, truth, expected):
    scores = [metric.calculate(list(ranking), list(truth)) for metric in METRICS]
    assert scores == pytest.approx(expected, abs=1e-12)


def test_calculate_divides_by_results_and_leaves_its_inputs():
    # Calculate of a short list knows no k:
    assert NDCG().calculate(["a"], list("abcde")) == 1 / sum(1 / log2(rank + 1) for rank in range(1, 6))
    assert Precision().calculate(["a"], ["a"]) == 1.0
    assert F1().calculate(["a"], ["a"]) == 1.0
    at_5 = score_rankings({"q": ["a"]}, {"q": ["a"]}, ["precision@5", "f1@5", "ndcg@5"]).mean
    assert at_5 == {"precision@5": 1 / 5, "f1@5": 2 / 6, "ndcg@5": 1.0}

    # Calculate divides by results and score rankings by different ids:
    assert Precision().calculate(list("bba"), ["b"]) == 1 / 3
    assert F1().calculate(list("bba"), ["b"]) == 2 / 4
    assert score_rankings({"q": ["b"]}, {"q": list("bba")}, ["precision", "f1"]).mean == {
        "precision": 1 / 2,
        "f1": 2 / 3,
    }

    # Calculate does not change its inputs:
    retrieved, truth = ["b", "a", "b"], ["a", "a"]
    for metric in METRICS:
        metric.calculate(retrieved, truth)
    assert (retrieved, truth) == (["b", "a", "b"], ["a", "a"])


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
def test_calculate_knows_chunks_by_both_ids_and_returns_0_for_nothing(metric):
    # Calculate knows a chunk by both of its ids:
    placed, plain = "pa_chunk_2cf24dba5fb0", "chunk_2cf24dba5fb0"
    assert metric.calculate([placed, "x"], [plain]) == metric.calculate([plain, "x"], [placed]) > 0
    assert metric.calculate([placed, plain], [plain, placed]) == metric.calculate([7, 7], [7])

    # Calculate returns 0 where nothing is relevant or retrieved:
    for retrieved, truth in [("ab", ""), ("", "ab"), ("", "")]:
        score = metric.calculate(list(retrieved), list(truth))
        assert score == 0.0
        assert isinstance(score, float)

    # Duplicates never raise a score above 1:
    for ranking in ("aa", "aab", "abab", "aaaaaaaa", "baab"):
        for truth in ("a", "aa", "ab", "aabb"):
            assert 0 <= metric.calculate(list(ranking), list(truth)) <= 1
            for k in range(1, 6):
                (score,) = scores_of(list(truth), list(ranking), f"{metric.name}@{k}")
                assert 0 <= score <= 1


@pytest.mark.parametrize(("k", "expected"), [(1, 1 / 3), (2, 1 / 3), (3, 2 / 3), (4, 2 / 3)])
def test_r_precision_at_k_reads_no_further_than_k_and_the_number_of_relevant_units(k, expected):
    table = score_rankings({"q": list("abc")}, {"q": list("axbc")}, [f"r_precision@{k}"])
    assert table.mean == {f"r_precision@{k}": expected}
    assert RPrecision().calculate(list("axbc")[:k], list("abc")) == expected


def test_each_metric_is_cut_as_it_says():
    # Precision at k divides by k and precision by what was retrieved:
    assert scores_of(["a"], ["a", "x"], "precision@10", "precision@2", "precision") == [0.1, 0.5, 0.5]

    # Mrr looks no further than k:
    assert scores_of(["c"], ["a", "b", "c"], "mrr@2", "mrr@3", "mrr") == [0, 1 / 3, 1 / 3]

    # Map divides by the number of relevant units:
    # not by min(5, 2), and not by the 2 found
    assert scores_of(list("abcde"), list("abxxx"), "map@2", "map") == [2 / 5, 2 / 5]

    # R precision is cut at the number of relevant units:
    assert scores_of(list("abc"), list("axbc"), "r_precision", "r_precision@2") == pytest.approx([2 / 3, 1 / 3])


GRADED = {"a": 3, "b": 2, "c": 1, "d": 0, "e": -1}


class TestGraded:
    def test_gains_are_linear_cut_at_k_and_of_any_size_above_0(self):
        # Ndcg uses linear gains and the ideal order:
        gained = 1 + 3 / log2(3) + 0 + 2 / log2(5)  # c, a, d, b
        assert scores_of(GRADED, list("cadb"), "ndcg") == [
            pytest.approx(gained / (3 + 2 / log2(3) + 1 / log2(4)), abs=1e-12)
        ]

        # The ideal order is cut at k:
        gained = 1 + 3 / log2(3)
        assert scores_of(GRADED, list("cadb"), "ndcg@2") == [pytest.approx(gained / (3 + 2 / log2(3)), abs=1e-12)]

        # Units that were not retrieved count in the ideal order:
        assert scores_of(GRADED, ["c"], "ndcg@1", "ndcg@2") == pytest.approx([1 / 3, 1 / (3 + 2 / log2(3))])

        # Gains may be fractions:
        assert scores_of({"a": 0.5, "b": 0.25}, ["b", "a"], "ndcg@1") == [0.5]

        # Gains of 0 and below are not relevant:
        names = [f"{name}@3" for name in NAMES]
        assert scores_of(GRADED, list("dea"), *names) == scores_of({"a": 3, "b": 2, "c": 1}, list("xya"), *names)
        assert scores_of(GRADED, list("de"), *names) == list(NOTHING)

    def test_only_ndcg_uses_graded_relevance(self):
        graded = scores_of({"a": 3, "b": 1}, list("xba"), *NAMES)
        plain = scores_of(["a", "b"], list("xba"), *NAMES)
        assert [name for name, one, other in zip(NAMES, graded, plain, strict=True) if one != other] == ["ndcg"]


@pytest.mark.parametrize("retrieved", [{"a": 1.0}, {"a"}, "a", b"a"])
def test_a_ranking_without_an_order_is_refused(retrieved):
    with pytest.raises(ConfigError, match="expected a list of ids, best first"):
        MRR().calculate(retrieved, ["a"])
