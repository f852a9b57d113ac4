"""Random runs without ties get the scores that pytrec_eval and ir_measures give them."""

import random

import pytest

from rag_evaluation_framework import score_rankings

CUTOFFS = (1, 2, 3, 5, 10, 20, 100, 1000)
SEEDS = range(10)
# Our names for theirs, {k} being the cutoff.
PYTREC_EVAL = {
    "success": "hit",
    "recall": "recall",
    "P": "precision",
    "map_cut": "map",
    "ndcg_cut": "ndcg",
}
PYTREC_EVAL_UNCUT = {"recip_rank": "mrr", "map": "map", "ndcg": "ndcg", "Rprec": "r_precision", "set_F": "f1"}
PYTREC_EVAL_UNCUT |= {"set_recall": "recall", "set_P": "precision"}
IR_MEASURES = ("Success@{}", "R@{}", "P@{}", "RR@{}", "AP@{}", "nDCG@{}")
IR_MEASURES_UNCUT = ("RR", "AP", "nDCG", "Rprec", "SetF")

seeds = pytest.mark.parametrize("seed", SEEDS)


def a_run(seed):
    """Return graded truth and scores, in no order and without ties, of 40 queries; each has something relevant."""
    source = random.Random(seed)
    pool = [f"document {number}" for number in range(300)]
    truth, run = {}, {}
    for number in range(40):
        judged = source.sample(pool, source.randint(1, 25))
        truth[f"q{number}"] = {unit: source.choice([-1, 0, 0, 1, 1, 2, 3]) for unit in judged} | {judged[0]: 1}
        depth = source.choice([1, 2, 7, 40, 200])
        # half of the run are judged units; whole numbers stay apart in single precision too
        units = list(dict.fromkeys(source.sample(judged, len(judged) // 2) + source.sample(pool, depth)))
        run[f"q{number}"] = dict(zip(units, source.sample(range(-1000, 1000), len(units)), strict=True))
    return truth, run


def lists_of(run):
    return {query: sorted(scores, key=scores.get, reverse=True) for query, scores in run.items()}


def assert_equal(truth, run, expected):
    """Compare values of another library, by our name and by query, with ours from scores and from lists."""
    for rankings in (run, lists_of(run)):
        scores = score_rankings(truth, rankings, list(expected))
        for name, values in expected.items():
            assert scores.per_query(name) == pytest.approx(values, abs=1e-9), name


@seeds
def test_pytrec_eval_gives_the_same_scores(seed):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    truth, run = a_run(seed)
    cuts = ",".join(map(str, CUTOFFS))
    measures = {f"{name}.{cuts}" for name in PYTREC_EVAL} | set(PYTREC_EVAL_UNCUT)
    theirs = pytrec_eval.RelevanceEvaluator(truth, measures).evaluate(run)
    names = {f"{their}_{k}": f"{our}@{k}" for their, our in PYTREC_EVAL.items() for k in CUTOFFS} | PYTREC_EVAL_UNCUT
    expected = {our: {query: theirs[query][their] for query in truth} for their, our in names.items()}
    assert len(expected) == len(PYTREC_EVAL) * len(CUTOFFS) + len(PYTREC_EVAL_UNCUT)
    for k in CUTOFFS:
        expected[f"f1@{k}"] = {
            query: 2 * p * r / (p + r) if p + r else 0.0
            for query in truth
            for p, r in [(theirs[query][f"P_{k}"], theirs[query][f"recall_{k}"])]
        }
    assert_equal(truth, run, expected)


@seeds
def test_ir_measures_gives_the_same_scores_under_its_own_names(seed):
    ir_measures = pytest.importorskip("ir_measures")
    truth, run = a_run(seed)
    names = [name.format(k) for name in IR_MEASURES for k in CUTOFFS] + list(IR_MEASURES_UNCUT)
    expected = {name: {} for name in names}
    for value in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], truth, run):
        expected[str(value.measure)][value.query_id] = value.value
    assert all(len(values) == len(truth) for values in expected.values())
    assert_equal(truth, run, expected)


def test_ir_measures_also_scores_queries_without_a_ranking_0():
    ir_measures = pytest.importorskip("ir_measures")
    truth, run = a_run(0)
    run = {query: scores for query, scores in run.items() if query not in {"q3", "q7"}}
    measure = ir_measures.parse_measure("nDCG@10")
    theirs = ir_measures.calc_aggregate([measure], truth, run)[measure]
    ours = score_rankings(truth, run, ["nDCG@10"])
    assert ours.counts["queries_not_ranked"] == 2
    assert ours.mean["ndcg@10"] == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("truth", "run", "expected"),
    [
        ({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, {"q": 1.0}),
        ({"q": {"b": 1}}, {"q": {"a": 0.300000004, "b": 0.3}}, {"q": 1.0}),
        ({"q": {"b": 1}, "r": {"x": 1}, "s": {"y": 0}}, {"r": {"x": 1.0}, "s": {"y": 1.0}}, {"r": 1.0, "s": 0.0}),
    ],
    ids=["a tie", "a tie in single precision", "no ranking, nothing relevant"],
)
def test_what_the_guide_says_of_trec_eval_is_so(truth, run, expected):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(truth, {"recip_rank"}).evaluate(run)
    assert {query: scores["recip_rank"] for query, scores in theirs.items()} == expected
