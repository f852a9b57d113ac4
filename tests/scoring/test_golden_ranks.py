"""Golden cases: the values on which pytrec_eval, ir_measures and ranx agree are ours (issue 3, point 2)."""

import json

import pytest

from rag_evaluation_framework import score_rankings
from rag_evaluation_framework.scoring.metrics import F1, MAP, MRR, NDCG, HitRate, Precision, Recall, RPrecision

OUR_NAMES = {"rr": "mrr", "ap": "map", "rprec": "r_precision"}
METRICS = (HitRate(), Recall(), Precision(), F1(), MRR(), MAP(), NDCG(), RPrecision())


@pytest.fixture(scope="module")
def cases(shared):
    stored = json.loads((shared / "data" / "rank_metrics_golden.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in stored["cases"]}


def our_name(name):
    metric, at, cutoff = name.partition("@")
    return OUR_NAMES.get(metric, metric) + at + cutoff


def consensus(case):
    """The values all libraries agree on, under our names; the gain 2^g - 1 is not ours."""
    return {our_name(name): value for name, value in case["consensus"].items() if name.partition("@")[0] != "ndcg_exp"}


def scores_of(case, source):
    return score_rankings({"q": case["relevant"]}, {"q": case[source]}, list(consensus(case))).mean


def has_an_answer(case):
    return any(grade > 0 for grade in case["relevant"].values())


def test_all_libraries_agree_on_lists_and_on_scores(cases):
    # Every kind of case is covered:
    assert len(cases) >= 31
    assert sum(len(consensus(case)) for case in cases.values()) >= 900
    assert sum(case["ranked"] is None for case in cases.values()) == 4
    assert [name for name, case in cases.items() if not has_an_answer(case)] == ["only_zero_grades"]
    scores = {name for case in cases.values() for name in consensus(case)}
    assert {name.partition("@")[0] for name in scores} == {metric.name for metric in METRICS}

    # Ranked lists get the values all libraries agree on:
    for name, case in cases.items():
        if case["ranked"] is not None and has_an_answer(case):
            assert scores_of(case, "ranked") == pytest.approx(consensus(case), abs=1e-9), name

    # Scores get the values all libraries agree on:
    for name, case in cases.items():
        if has_an_answer(case) and name != "tie_all_20":
            assert scores_of(case, "scores") == pytest.approx(consensus(case), abs=1e-9), name


def test_twenty_ties_keep_the_order_given_where_libraries_break_them_otherwise(cases):
    # The one deliberate exception. The relevant d05 stands sixth of 20 units with the same score. trec_eval breaks the
    # tie by falling id and ranx arbitrarily, so that both put it beyond the first 10, which is their "consensus" of 0;
    # we keep the order given, so that it is sixth.
    case = cases["tie_all_20"]
    scores = scores_of(case, "scores")
    differing = {name for name, value in consensus(case).items() if scores[name] != pytest.approx(value, abs=1e-9)}
    assert differing == {"hit@10", "recall@10", "precision@10", "f1@10", "map@10", "ndcg@10"}
    listed = score_rankings({"q": case["relevant"]}, {"q": list(case["scores"])}, list(scores))
    assert scores == listed.mean
    assert scores["map@10"] == pytest.approx(1 / 6)


def test_a_query_without_anything_relevant_is_0_by_calculate_and_has_no_score_in_a_result(cases):
    case = cases["only_zero_grades"]
    assert set(consensus(case).values()) == {0.0}
    assert set(scores_of(case, "ranked").values()) == set(scores_of(case, "scores").values()) == {None}
    for metric in METRICS:
        assert metric.calculate(case["ranked"], []) == 0.0


def test_calculate_gives_the_values_of_plain_relevance_at_a_full_cutoff(cases):
    checked = 0
    for name, case in cases.items():
        if case["ranked"] is None or set(case["relevant"].values()) - {0, 1}:
            continue
        right = [unit for unit, grade in case["relevant"].items() if grade > 0]
        values = consensus(case)
        for k in (1, 3, 5, 10):
            for metric in METRICS:
                value = values.get(f"{metric.name}@{k}")
                if metric.name == "ndcg" and len(right) > k:
                    continue  # `calculate` knows no k, and its ideal order is that of everything relevant
                if value is not None and len(case["ranked"]) >= k:
                    score = metric.calculate(case["ranked"][:k], right)
                    assert score == pytest.approx(value, abs=1e-9), f"{name} {metric.name}@{k}"
                    checked += 1
    assert checked >= 100
