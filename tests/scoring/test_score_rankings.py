"""`score_rankings`: what it takes, what it counts, and that it gives what walking down each ranking gives."""

import warnings
from copy import deepcopy
from math import inf, isnan, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    ChunkF1,
    ChunkLevelEvaluation,
    ChunkLevelMetric,
    ChunkPrecision,
    ChunkRecall,
    SpanRecall,
    score_rankings,
)
from rag_evaluation_framework.components import SentenceChunker
from rag_evaluation_framework.contracts import DocumentLevelMetric, Metric
from rag_evaluation_framework.data import ScoreTable
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, DatasetError, InputError
from rag_evaluation_framework.scoring import parse_score
from rag_evaluation_framework.scoring.metrics import RankMetric
from support import brute_force_ranks
from support.each import each

pytestmark = pytest.mark.filterwarnings("ignore:0 of .* ids match a label")  # of drawn worlds
SCORES = [metric + cut for metric in brute_force_ranks.METRICS for cut in ("", "@1", "@2", "@3", "@5", "@100")]

queries = st.sampled_from([f"q{number}" for number in range(8)])
units = st.sampled_from("abcdefgh")
truths = st.lists(units, max_size=8) | st.dictionaries(units, st.sampled_from([-1, 0, 0.5, 1, 2, 3]))
lists = st.lists(units, max_size=12)
runs = st.dictionaries(units, st.integers(-3, 3) | st.sampled_from([0.5, -inf, inf]))
all_truth = st.dictionaries(queries, truths, min_size=1)
one_form = st.dictionaries(queries, lists) | st.dictionaries(queries, runs)
any_form = one_form | st.dictionaries(queries, lists | runs)


@pytest.mark.no_cover
class TestAgainstBruteForce:
    @given(all_truth, any_form)
    def test_every_score_equals_a_walk_down_the_ranking_and_irregularities_are_counted(self, truth, rankings):
        before = deepcopy((truth, rankings))
        scores = score_rankings(truth, rankings, SCORES)
        for name in SCORES:
            expected = {
                query: brute_force_ranks.score(name, right, rankings.get(query, [])) for query, right in truth.items()
            }
            assert scores.per_query(name) == pytest.approx(expected, abs=1e-12), name
            scored = [value for value in expected.values() if value is not None]
            assert all(0 <= value <= 1 + 1e-12 for value in scored), name
            mean = sum(scored) / len(scored) if scored else None
            assert scores.mean[name] == pytest.approx(mean, abs=1e-12), name
        assert scores.counts == {
            "queries": len(truth),
            "queries_not_ranked": len(truth.keys() - rankings.keys()),
            "queries_not_judged": len(rankings.keys() - truth.keys()),
            "no_answer": sum(not brute_force_ranks.gains_of(right) for right in truth.values()),
            "ties_or_duplicates": sum(brute_force_ranks.is_irregular(rankings.get(query, [])) for query in truth),
        }
        assert (truth, rankings) == before  # what was given is not changed, nor is its order
        orders = [[list(inner) for inner in outer.values()] for outer in (truth, rankings)]
        assert orders == [[list(inner) for inner in outer.values()] for outer in before]

    @pytest.mark.parametrize("number", [511, 512, 513, 1300])
    def test_many_queries_score_as_each_does_alone(self, number):
        source = np.random.default_rng(number)
        truth, rankings = {}, {}
        for query in map(str, range(number)):
            truth[query] = {
                str(unit): int(unit) % 4 for unit in source.choice(30, source.integers(0, 6), replace=False)
            }
            ranking = list(map(str, source.choice(30, source.integers(0, 20))))
            if source.random() < 0.9:
                rankings[query] = ranking if int(query) % 512 > 300 else {u: -p for p, u in enumerate(ranking)}
        together = score_rankings(truth, rankings, SCORES)
        for name in SCORES:
            expected = {q: brute_force_ranks.score(name, truth[q], rankings.get(q, [])) for q in truth}
            assert together.per_query(name) == pytest.approx(expected, abs=1e-12), name
        assert together.counts["queries_not_ranked"] == number - len(rankings)


class TestMatching:
    def test_queries_are_matched_by_id_in_the_order_of_the_ground_truth(self):
        # Queries are matched by id and not by position:
        truth = {"first": ["a"], "second": ["b"]}
        forwards = score_rankings(truth, {"first": ["a", "x"], "second": ["x", "b"]}, ["mrr"])
        backwards = score_rankings(truth, {"second": ["x", "b"], "first": ["a", "x"]}, ["mrr"])
        assert forwards.per_query("mrr") == backwards.per_query("mrr") == {"first": 1, "second": 0.5}
        assert backwards.mean == {"mrr": 0.75}

        # Scores come in the order of the ground truth:
        scores = score_rankings({"z": ["a"], "a": ["a"], "m": ["a"]}, {"a": ["a"], "m": ["x"], "z": ["a"]}, ["hit@1"])
        assert scores.query_ids == ("z", "a", "m")
        assert list(scores.per_query("hit@1").items()) == [("z", 1), ("a", 1), ("m", 0)]

    def test_queries_without_ranking_or_answer_are_counted(self):
        # Queries not ranked score 0 unanswerable ones none and those not judged are left out:
        truth = {"found": ["a"], "missing": ["a"], "no answer": [], "only zeros": {"a": 0}}
        scores = score_rankings(truth, {"found": ["a"], "no answer": ["a"], "unjudged": ["a"]}, ["recall@5", "map"])
        expected = {"found": 1, "missing": 0, "no answer": None, "only zeros": None}
        assert scores.per_query("recall@5") == scores.per_query("map") == expected
        assert scores.mean == {"recall@5": 0.5, "map": 0.5}
        assert scores.counts == {
            "queries": 4,
            "queries_not_ranked": 2,
            "no_answer": 2,
            "queries_not_judged": 1,
            "ties_or_duplicates": 0,
        }

        # Without any answer there is no mean:
        scores = score_rankings({"q": []}, {"q": ["a"]}, ["mrr"])
        assert scores.mean == {"mrr": None}
        assert scores.per_query("mrr") == {"q": None}

        # Trailing queries without labels shift nothing:
        truth = {"q": ["a"], "empty": []}
        scores = score_rankings(truth, {"q": ["a", "x"], "empty": ["a", "a"]}, ["precision"])
        assert scores.per_query("precision") == {"q": 0.5, "empty": None}
        assert scores.counts["ties_or_duplicates"] == scores.counts["no_answer"] == 1
        # also where they end the first of two blocks
        truth = {f"q{number}": [] if number == 511 else ["a"] for number in range(514)}
        rankings = {query: ["a", "x"] if query == "q512" else ["a"] for query in truth}
        expected = {query: None if query == "q511" else 0.5 if query == "q512" else 1 for query in truth}
        assert score_rankings(truth, rankings, ["precision"]).per_query("precision") == expected

    def test_equal_scores_keep_their_order_and_are_counted(self):
        # Scores are sorted and ties stay in the order given:
        run = {"c": 1.0, "b": 2.0, "a": 2.0, "d": 3}
        for unit, place in {"d": 1, "b": 2, "a": 3, "c": 4}.items():
            assert score_rankings({"q": [unit]}, {"q": run}, ["mrr"]).mean == {"mrr": 1 / place}
        assert score_rankings({"q": ["a"]}, {"q": run}).counts["ties_or_duplicates"] == 1

        # Scores that differ only beyond single precision do not tie:
        assert score_rankings({"q": ["a"]}, {"q": {"b": 0.9999999999, "a": 1.0}}, ["mrr"]).mean == {"mrr": 1}

        # One tie leaves the rankings around it alone:
        truth = {query: ["a"] for query in "rst"}
        runs = {"r": {"x": 2, "a": 1}, "s": {"x": 1, "y": 1, "a": 1}, "t": {"a": 1, "x": 0}}
        scores = score_rankings(truth, runs, ["mrr"])
        assert scores.per_query("mrr") == {"r": 1 / 2, "s": 1 / 3, "t": 1}
        assert scores.counts["ties_or_duplicates"] == 1

        # Rankings are counted independently of one another:
        truth = {query: ["a"] for query in "rs"}
        for other in (["a"], {"a": 1}):
            assert score_rankings(truth, {"r": other, "s": {"x": 1, "a": 1}}).counts["ties_or_duplicates"] == 1

    def test_lists_and_scores_may_come_together_and_repeated_ids_count_once(self):
        # Repeated ids count at their first rank:
        scores = score_rankings({"q": ["a", "b"]}, {"q": ["a", "a", "a", "b"]}, ["recall@2", "ndcg", "precision"])
        assert scores.mean == pytest.approx({"recall@2": 1, "ndcg": 1, "precision": 1})
        assert scores.counts["ties_or_duplicates"] == 1

        # Lists and scores may come in one call:
        truth = {"r": ["a"], "s": {"a": 2}, "t": ["a"]}
        scores = score_rankings(truth, {"r": ["x", "a"], "s": {"x": 1, "y": 3, "a": 2}, "t": ("a",)}, ["mrr"])
        assert scores.per_query("mrr") == {"r": 1 / 2, "s": 1 / 2, "t": 1}

    @pytest.mark.parametrize(
        "truth", [["a", "b"], ("a", "b"), {"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}, {"a": 1, "b": 1, "c": 0}]
    )
    def test_relevant_ids_come_in_any_collection(self, truth):
        assert score_rankings({"q": truth}, {"q": ("a", "x")}, ["recall"]).mean == {"recall": 0.5}


PLAIN, PLACED, OTHER = (
    f"{prefix}{'0' * 11}{digit}" for prefix, digit in (("chunk_", 1), ("pa_chunk_", 1), ("chunk_", 2))
)
ALL_RANK_SCORES = [*SCORES, "chunk_recall@2", "chunk_precision@2", "chunk_f1", "chunk_precision"]


class TestChunkIds:
    @each("right", [[PLAIN], [PLACED], {PLACED: 2}, [PLAIN, PLACED], {PLACED: 1, PLAIN: 1}])
    @each("found", [PLAIN, PLACED])
    @each("ranking", [lambda *ids: [*ids], lambda *ids: {u: -r for r, u in enumerate(ids)}])
    def test_both_ids_of_one_content_are_one_chunk(self, right, found, ranking):
        right = list(right) if not isinstance(right, dict) else right
        names = ["recall", "mrr", "ndcg", "precision", "chunk_recall@2"]
        scores = score_rankings(
            {"q": iter(right) if isinstance(right, list) else right}, {"q": ranking(OTHER, found)}, names
        )
        assert scores.mean == pytest.approx(
            {"recall": 1, "mrr": 0.5, "ndcg": 1 / np.log2(3), "precision": 0.5, "chunk_recall@2": 1}
        )
        assert scores.counts["ties_or_duplicates"] == 0

    @pytest.mark.parametrize(
        "ranking",
        [
            [PLACED, PLAIN, OTHER],
            {PLACED: 3, PLAIN: 2, OTHER: 1},
            {OTHER: 1, PLAIN: 2, PLACED: 3},
            np.array([PLAIN, PLACED, OTHER]),
        ],
    )
    def test_a_chunk_retrieved_under_both_ids_counts_at_its_first_rank(self, ranking):
        scores = score_rankings({"q": [OTHER]}, {"q": ranking}, ["mrr", "chunk_precision", "recall@2"])
        assert scores.mean == {"mrr": 0.5, "chunk_precision": 0.5, "recall@2": 1}
        assert scores.counts["ties_or_duplicates"] == 1

    def test_one_chunk_with_two_gains_is_refused(self):
        with pytest.raises(DatasetError, match=rf"question 'q': chunk '{PLAIN}' has two gains, 1 and 2; keep one"):
            score_rankings({"q": {PLAIN: 1, PLACED: 2}}, {"q": [PLAIN]})
        with pytest.raises(DatasetError, match="has two gains, 2 and 1; keep one"):
            score_rankings({"q": {PLAIN: 2, PLACED: 1}}, {"q": [PLAIN]})
        alike = score_rankings({"q": {PLAIN: float("1.5"), PLACED: float("1.5")}}, {"q": [PLAIN]}, ["recall"])
        assert alike.mean == {"recall": 1.0}
        for gain in (nan, inf, "1"):
            with pytest.raises(InputError, match="gain"):
                score_rankings({"q": {PLAIN: gain}}, {"q": [PLAIN]})

    def test_ids_that_are_none_of_chunks_stay_as_they_are(self):
        # Other ids stay as they are:
        scores = score_rankings({"q": ["pa_chunks.md"], "r": [7]}, {"q": ["chunks.md"], "r": [7]}, ["recall"])
        assert scores.per_query("recall") == {"q": 0, "r": 1}
        # beside chunks, too
        truth = {"q": ["pa_chunks.md"], "r": [7, None], "s": [PLAIN]}
        scores = score_rankings(truth, {"q": ["chunks.md"], "r": [7, None], "s": [PLACED]}, ["recall"])
        assert scores.per_query("recall") == {"q": 0, "r": 1, "s": 1}

        # An id is that of a chunk by its beginning alone:
        for ids in (["a_chunk_1"], ["chu", "nk_1"], ["PA_chunk_1", 7], [b"chunk_1"]):
            scores = score_rankings({"q": ids}, {"q": [PLAIN, PLACED, *ids]}, ["mrr"])
            assert scores.mean == {"mrr": pytest.approx(1 / 3)}

        # Ids of chunks in rankings alone stay as they are:
        scores = score_rankings({"q": ["a", "a chunk_"]}, {"q": [PLAIN, PLACED, "a"]}, ["precision"])
        assert scores.mean == {"precision": pytest.approx(1 / 3)}
        assert scores.counts["ties_or_duplicates"] == 0

    @pytest.mark.parametrize("number", [1, 63, 65, 1024, 1025, 3000])
    def test_they_are_recognised_among_many_questions(self, number):
        truth = {f"q{n}": [f"pa_chunk_{n:012x}"] if n else [] for n in range(number + 1)}
        scores = score_rankings(truth, {q: [ids[0].removeprefix("pa_")] for q, ids in truth.items() if ids}, ["recall"])
        assert scores.mean == {"recall": 1.0}

    @pytest.mark.parametrize(
        "given",
        [
            lambda ids: ["x", *ids],
            lambda ids: {"x": 1, **dict.fromkeys(ids, 1)},
            lambda ids: {*ids, *map(str, range(50))},
            lambda ids: [None, b"x", *ids],
            lambda ids: iter(["x", *ids]),
            lambda ids: np.array(["x", *ids]),
        ],
        ids=["list", "mapping", "set", "other types", "iterator", "array"],
    )
    def test_they_are_recognised_wherever_they_are(self, given):
        for first in (["a"], iter(["a"])):
            truth = {"p": first, "q": given([PLACED])}
            score = score_rankings(truth, {"p": ["a"], "q": [PLAIN]}, ["hit@1"])
            assert score.per_query("hit@1") == {"p": 1, "q": 1}

    def test_one_question_of_chunks_among_thousands_is_recognised(self):
        truth = {f"q{n}": ["a"] for n in range(3000)} | {"q1777": ["a", PLACED]}
        scores = score_rankings(truth, {q: [PLAIN, PLACED, "a"] for q in truth}, ["mrr", "chunk_recall"])
        assert scores.row("q1777") == {"mrr": 1, "chunk_recall": 1}
        assert scores.counts["ties_or_duplicates"] == 3000  # the truth decides, for all questions alike

    @given(all_truth, any_form)
    def test_chunks_score_as_their_numbers_do(self, truth, rankings):
        def named(units, form):
            ids = {unit: form(f"chunk_{ord(unit):012x}") for unit in units}
            return (
                {ids[unit]: value for unit, value in units.items()}
                if isinstance(units, dict)
                else list(map(ids.get, units))
            )

        plain = score_rankings(truth, rankings, ALL_RANK_SCORES)
        chunks = score_rankings(
            {query: named(units, "pa_{}".format) for query, units in truth.items()},
            {query: named(units, str) for query, units in rankings.items()},
            ALL_RANK_SCORES,
        )
        assert chunks == plain

    @given(all_truth, st.dictionaries(queries, lists))
    def test_chunk_metrics_have_the_values_of_calculate(self, truth, rankings):
        for metric in (ChunkRecall(), ChunkPrecision(), ChunkF1()):
            for k in (None, 2):
                scores = score_rankings(truth, rankings, [f"{metric.name}{'' if k is None else f'@{k}'}"])
                for query, right in truth.items():
                    gains = brute_force_ranks.gains_of(right)
                    found = brute_force_ranks.ranking_of(rankings.get(query, []))[:k]
                    expected = metric.calculate(found, list(gains)) if gains else None
                    assert scores.row(query).get(next(iter(scores.columns))) == expected

    def test_chunk_metrics_have_the_values_of_an_evaluation(self):
        dataset = load_handbook()
        evaluation = ChunkLevelEvaluation(dataset.corpus, dataset)
        result = evaluation.run(chunker=SentenceChunker(), k=[3, 5])
        right = {one.query_id: list(one.relevant) for one in result.queries}
        for k in (3, 5):
            # k counts results in an evaluation, and different ids here
            found = {one.query_id: [f"pa_{hit.chunk_id}" for hit in one.hits[:k]] for one in result.queries}
            names = [name for name in result.scores.columns if name.endswith(f"@{k}")]
            assert names[0] == f"chunk_recall@{k}"
            scores = score_rankings(right, found, names)
            for name in names:
                assert scores.per_query(name) == result.scores.per_query(name)


class FirstIsRight(DocumentLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return float(retrieved[0] in ground_truth)


class Seen(ChunkLevelMetric):
    """Keeps what it is given."""

    def __init__(self):
        self.calls = []

    def calculate(self, retrieved, ground_truth):
        self.calls.append((list(retrieved), sorted(ground_truth)))
        return len(retrieved)


class TestOwnMetrics:
    @pytest.mark.parametrize(
        ("truth", "ranking"),
        [
            (["a", "b"], ["x", "a", "x", "b", "y"]),
            (("b", "a"), ("x", "a", "b", "y")),
            ({"a", "b"}, np.array(["x", "a", "b", "y"])),
            ({"a": 2, "c": 0, "b": 0.5, "d": -1}, {"b": 1, "x": 3, "a": 2, "y": 0.5}),
            (iter(["a", "b"]), ["x", "a", "b", "y"]),
        ],
    )
    def test_they_get_the_ids_as_they_are_ranked_cut_and_those_that_are_relevant(self, truth, ranking):
        seen = Seen()
        scores = score_rankings({"q": truth, "none": []}, {"q": ranking, "none": ["a"]}, [(seen, 2), seen, "recall@2"])
        assert seen.calls == [(["x", "a"], ["a", "b"]), (["x", "a", "b", "y"], ["a", "b"])]
        assert scores.mean == {"seen@2": 2, "seen": 4, "recall@2": 0.5}
        assert scores.per_query("seen@2") == {"q": 2, "none": None}
        assert not scores.failures

    def test_own_metrics_get_plain_ids_of_one_question_or_all(self):
        # They get chunks under their plain ids:
        seen = Seen()
        score_rankings({"q": [PLACED]}, {"q": [PLACED, PLAIN, OTHER]}, [seen])
        assert seen.calls == [([PLAIN, OTHER], [PLAIN])]

        # Questions without a ranking have an empty one:
        seen = Seen()
        assert score_rankings({"q": ["a"]}, {}, [(seen, "3")]).mean == {"seen@3": 0}
        assert seen.calls == [([], ["a"])]

        # A metric may score all questions at once:
        class Found(RankMetric):
            def score(self, judged):
                return judged.relevant_retrieved.astype(float)

        scores = score_rankings({"q": ["a", "b"]}, {"q": ["x", "b", "a"]}, [Found(), (Found(), 2)])
        assert scores.mean == {"found": 2, "found@2": 1}

    def test_what_they_raise_and_what_is_no_number_is_a_failure_of_the_question(self):
        class Odd(DocumentLevelMetric):
            def calculate(self, retrieved, ground_truth):
                return {"a": 0.5, "b": nan}[ground_truth[0]]

        scores = score_rankings({"none": [], "one": ["a"], "nan": ["b"], "key": ["c"]}, {}, [Odd(), "recall"])
        assert scores.per_query("odd") == {"none": None, "one": 0.5, "nan": None, "key": None}
        assert {query: [(f.stage, f.kind) for f in found] for query, found in scores.failures.items()} == {
            "nan": [("score odd", "ValueError")],
            "key": [("score odd", "KeyError")],
        }
        assert "failed metric: 2" in repr(scores)
        assert scores.mean == {"odd": 0.5, "recall": 0}

    @pytest.mark.parametrize("name", ["ndcg", "ndcg@10", "chunk_f1@2"])
    def test_built_in_metrics_are_what_their_names_say(self, name):
        metric, full = parse_score(name)
        given = (metric, full.cutoff) if full.cutoff else metric
        truth, rankings = {"q": {"a": 3, "b": 1}}, {"q": ["x", "b", "a"]}
        assert score_rankings(truth, rankings, [given, name]) == score_rankings(truth, rankings, [name])

    def test_two_metrics_of_one_name_and_a_name_that_is_none_are_refused(self):
        class Recall(DocumentLevelMetric):
            def calculate(self, retrieved, ground_truth):
                return 0.0

        class Nameless(Recall):
            name = "two words"

        class Level(Metric):
            def calculate(self, retrieved, ground_truth):
                return 0.0

        for metrics in (["recall@5", Recall()], [(Recall(), 5), (Recall(), 5)]):
            with pytest.raises(ConfigError, match="two metrics are called 'recall"):
                score_rankings({"q": ["a"]}, {"q": ["a"]}, metrics)
        with pytest.raises(ConfigError, match="'two words'; expected one word"):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, [Nameless()])
        with pytest.raises(ConfigError, match="level has no evaluation_types; subclass"):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, [Level()])


class TestResult:
    @pytest.fixture
    def scores(self) -> ScoreTable:
        truth = {"r": ["a"], "s": ["b"], "t": []}
        return score_rankings(truth, {"r": ["a"], "s": ["a", "b"], "u": ["a"]}, ["mrr", "ndcg@10"])

    def test_columns_hold_nan_and_questions_plain_numbers(self, scores):
        # The columns hold nan where there is no score:
        assert list(scores.columns) == ["mrr", "ndcg@10"]
        assert scores.columns["mrr"].dtype == np.float64
        assert scores.columns["mrr"][:2].tolist() == [1, 0.5]
        assert isnan(scores.columns["mrr"][2])

        # Per query gives plain numbers under either spelling:
        assert scores.per_query("nDCG@10") == scores.per_query("ndcg@10")
        assert [type(value) for value in scores.per_query("mrr").values()] == [float, float, type(None)]

        # Means are found under either spelling:
        assert scores.mean["nDCG@10"] == scores.mean["NDCG@10"] == scores.mean["ndcg@10"]
        assert list(scores.mean) == ["mrr", "ndcg@10"]

    def test_a_score_that_was_not_asked_for_is_an_error_that_lists_those_available(self, scores):
        for name in ("ndcg@5", "nDCG@5", "span_recall", "nonsense", "ndcg@", 5):
            with pytest.raises(KeyError):
                scores.mean[name]
            assert name not in scores.mean
            assert scores.mean.get(name) is None
        assert "nDCG@10" in scores.mean
        assert scores.mean.get("nDCG@10") == scores.mean["ndcg@10"]
        for name in ("ndcg@5", "span_recall@5"):
            with pytest.raises(ConfigError, match=f"{name}.*mrr, ndcg@10"):
                scores.per_query(name)

    def test_the_table_is_shown_and_becomes_a_dataframe(self, scores):
        # The table shows means and counts:
        shown = repr(scores)
        assert "mrr 0.7500" in shown
        assert "ndcg@10 0.8155" in shown
        assert "queries: 3" in shown
        assert "no answer: 1" in shown
        assert "queries not judged: 1" in shown
        assert "queries not ranked: 1" in shown
        assert "ties or duplicates" not in shown
        assert "mrr –" in repr(score_rankings({"q": []}, {}, ["mrr"]))

        # The table becomes a dataframe of queries and scores:
        expected = pd.DataFrame(
            {"mrr": [1, 0.5, nan], "ndcg@10": [1, 1 / np.log2(3), nan]}, index=pd.Index(list("rst"), name="query_id")
        )
        pd.testing.assert_frame_equal(scores.to_dataframe(), expected)

    def test_default_scores_are_computed_if_none_are_named(self):
        assert list(score_rankings({"q": ["a"]}, {}).columns) == ["hit@10", "recall@10", "mrr@10", "ndcg@10"]


class Odd(dict[str, float]):
    def values(self):
        raise ValueError("out of values")


class TestErrors:
    @each(
        ("scores", "said"),
        [
            (["recall@5", "ndgc@10"], "'ndgc'"),
            (["recall@5", "NDGC@10"], "'NDGC'"),
            (["recall@5", "ndcg@0"], "cutoff 0"),
            (["recall@5", "ndcg@"], "'ndcg@'"),
            (["recall@5", "ndcg@-1"], "cutoff '-1'"),
            (["recall@5", "ndcg@1000ch"], "'ndcg@1000ch'"),
            (["recall@5", ""], "''"),
            ("ndcg@10", "'ndcg@10' is one text; expected a list of names"),
            (["recal@5"], "hit, recall, precision, f1, mrr, map, ndcg, r_precision"),
            ([], "nothing to score; expected at least one name"),
            (FirstIsRight(), "expected a list"),
            (["recall@5", SpanRecall()], "span_recall scores spans: use score_spans"),
            (["recall@5", (SpanRecall(), 5)], "span_recall scores spans: use score_spans"),
            (["recall@5", (SpanRecall(), "40ch")], "span_recall scores spans: use score_spans"),
            (["recall@5", (FirstIsRight(), "40ch")], "first_is_right compares ids, which have no length"),
            (["recall@5", (FirstIsRight(), 0)], "cutoff"),
            (["recall@5", (FirstIsRight(), "five")], "cutoff"),
            (["recall@5", FirstIsRight], r"expected a text such as 'ndcg@10', a metric such as NDCG\(\)"),
            (["recall@5", ("ndcg", 10)], "expected a text"),
            (["recall@5", (FirstIsRight(), 5, 6)], "expected a text"),
            (["recall@5", lambda found, right: 1.0], "expected a text"),
        ],
    )
    def test_what_is_no_list_of_scores_of_ids_is_refused(self, scores, said):
        with pytest.raises(ConfigError, match=said):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, scores)

    @each(
        ("truth", "rankings", "said"),
        [
            ({}, {"q": ["a"]}, "the ground truth is empty"),
            *(
                ({"q": [PLAIN]}, {"q": bad}, "question 'q'")
                for bad in ([[PLAIN]], [(PLAIN, 1.0)], {PLAIN: nan}, {PLAIN: "1"}, {PLAIN}, PLAIN, [[]])
            ),
            *(
                ({"q": {"a": gain}}, {"q": ["a"]}, r"'q': the gain of 'a' is .*; expected a number up to 1e\+100")
                for gain in (1e101, -1e101, inf)
            ),
            ({"q": {"a": 1e100, "b": "much"}}, {"q": ["a", "b"]}, "the gain of 'b'"),  # and not that of a
            *(
                ({"q1": ["a"], "q2": [pair]}, {}, "'q2': the ground truth holds .*; expected ids, or a mapping")
                for pair in (("x", 1.0), ["x", 1.0], {"id": "x"})
            ),
            ({"a": ["x"], "b": ["x"]}, {"a": {"x": 1.0}, "b": Odd(x=1.0)}, "'b' cannot be read: out of values"),
            *(
                (truth, rankings, "some ids are numbers and others texts, which never match")
                for truth, rankings in (
                    ({"1": ["7"], "2": ["8"]}, {"1": [7], "2": [8]}),
                    ({"1": ["7"], "2": ["8"]}, {"1": np.array([7]), "2": np.array([8.0])}),
                    ({"1": {7: 1}, "2": {8: 1}}, {"1": {"7": 0.5}, "2": {"8": 0.5}}),
                    ({"1": ["7"], "2": ["8"]}, {"1": ["7"], "2": [8]}),
                    ({"1": {7}, "2": frozenset({8.0})}, {"1": ["7"], "2": ["8"]}),
                    ({1: ["a"], 2: ["b"]}, {"1": ["a"], "2": ["b"]}),
                )
            ),
            *[
                ({"q": {"a": nan}}, found, "'q': the gain of 'a' is the float nan")
                for found in ({"q": ["a"]}, {"q": {"a": 1}}, {})
            ],
            ({"q": {"a": inf}}, {"q": ["a"]}, "'q': the gain of 'a' is the float inf"),
            *[
                ({"q": {"a": word}}, {"q": ["a"]}, f"'q': the gain of 'a' is the str '{word}'")
                for word in ("high", "1.0")
            ],
            *[
                ({"q": ["a"]}, {"q": {"a": word}}, f"'q': the score of 'a' is the str '{word}'")
                for word in ("high", "1.0")
            ],
            ({"q": ["a"]}, {"q": {"a": nan, "x": 1}}, "'q': the score of 'a' is the float nan"),
            ({"q": ["a"]}, {"q": {"x": nan, "a": 1}}, "'q': the score of 'x' is the float nan"),
            ({"q": ["a"], "r": ["a"]}, {"q": {"x": nan, "a": 1}, "r": ["a"]}, "'q': the score of 'x' is the float nan"),
            (
                {"q": "doc1"},
                {"q": ["doc1"]},
                "'q': the ground truth is the str 'doc1'; expected a list of relevant ids",
            ),
            ({"q": ["doc1"]}, {"q": "doc1"}, "'q': the ranking is the str 'doc1'; expected a list of ids, best first"),
            ({"q": ["a"]}, {"q": np.array("a")}, "'q': the ranking is the ndarray"),
            (
                {"q": ["x"]},
                {"q": [("x", 1.0)]},
                r"'q': the ranking holds \('x', 1\.0\); expected ids, best first, or a mapping",
            ),
            (
                {"a": {"x": 1.0}, "b": [("x", 1.0)]},
                {"a": ["x"], "b": ["x"]},
                r"'b': the ground truth holds \('x', 1\.0\); expected ids, or a",
            ),
            (
                {"a": ["chunk_1"], "b": ["chunk_1"]},
                {"a": {}, "b": {"pa_chunk_1": nan}},
                "'b': the score of 'pa_chunk_1' is the float nan",
            ),
        ],
    )
    def test_what_cannot_be_read_is_said_with_its_question(self, truth, rankings, said):
        with pytest.raises(DatasetError, match=said):
            score_rankings(truth, rankings)

    def test_gains_above_0_and_up_to_1e100_are_relevant(self):
        truth = {"q": {"a": -1.0, "b": 2.0, "c": 0.0}}
        table = score_rankings(truth, {"q": ["d", "b"]}, ["recall@2", "ndcg@2"])
        assert table.mean == {"recall@2": 1.0, "ndcg@2": pytest.approx(1 / np.log2(3))}
        assert score_rankings({"q": {"a": 1e100, "b": 1e100}}, {"q": ["a", "b"]}, ["ndcg"]).mean == {"ndcg": 1.0}


@each("unit", [("x", 1.0), ["x", 1.0], {"id": "x"}])
@each("before", [{}, {"first": []}, {"first": {}}, {"first": {"a": 1.0}}])
def test_a_ranking_without_ids_is_reported_with_its_question(unit, before):
    truth = {query: ["x"] for query in (*before, "second", "third")}
    with pytest.raises(DatasetError) as caught:
        score_rankings(truth, {**before, "second": [unit], "third": ["x"]})
    expected = "expected ids, best first, or a mapping from id to score"
    assert str(caught.value) == f"question 'second': the ranking holds {unit!r}; {expected}"


def test_ids_of_one_kind_stay_and_those_in_no_ranking_are_told():
    # Ids of one kind stay as they are:
    table = score_rankings({1: ["a"], 2: ["b"]}, {1: ["a"], 2: ["c", "b"]}, ["mrr"])
    assert table.per_query("mrr") == {1: 1.0, 2: 0.5}

    # Relevant ids that are in no ranking are told with examples:
    with pytest.warns(UserWarning, match=r"0 of 2 ids match a label, such as '7\.0'; labels are such as '7'"):
        score_rankings({"1": ["7"], "2": {"8": 1, "9": 0}}, {"1": ["7.0"], "2": ["9"]}, ["recall@10"])

    # Rankings that find nothing of their own question are not told:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = score_rankings({"1": ["7"], "2": ["8"]}, {"1": ["8"], "2": ["7"]}, ["recall@10"])
    assert table.mean == {"recall@10": 0.0}

    # A label with a star is no prefix here and is noted if it matches nothing:
    with pytest.warns(UserWarning, match=r"0 of 2 ids match a label, such as 'xab'; labels are such as 'x\*'"):
        assert score_rankings({"a": ["x*"], "b": ["y"]}, {"a": ["xab"], "b": ["z"]}, ["recall@5"]).mean["recall@5"] == 0

    # Chunks that match under their plain ids are not told:
    truth, rankings = {"a": ["chunk_1"], "b": ["chunk_2"]}, {"a": ["pa_chunk_1"], "b": ["pa_chunk_9"], "c": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = score_rankings(truth, rankings, ["recall@10"])
    assert table.per_query("recall@10") == {"a": 1.0, "b": 0.0}
    assert table.counts["queries_not_judged"] == 1


@pytest.mark.parametrize(
    "rankings",
    [
        {"a": {"x": 2.0, "y": 1.0}, "b": ["y", "x"]},
        {"a": ["x", "y"], "b": {}, "c": []},
        dict.fromkeys("abcde", ("y", "x")),
    ],
)
def test_questions_of_different_forms_score_as_each_by_itself(rankings):
    truth = {"a": {"x": 2, "y": 0}, "b": ("y",), "c": {"z"}, "d": ["x"], "e": frozenset("x")}
    together = score_rankings(truth, rankings, SCORES)
    for query in truth:
        own = {name: ranking for name, ranking in rankings.items() if name == query}
        assert score_rankings({query: truth[query]}, own, SCORES).row(query) == together.row(query)
