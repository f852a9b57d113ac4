"""`score_rankings`: what it takes, what it counts, and that it gives what walking down each ranking gives."""

from copy import deepcopy
from math import inf, isnan, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import score_ranking_arrays, score_rankings
from rag_evaluation_framework.data import ScoreTable
from rag_evaluation_framework.errors import ConfigError, DatasetError, InputError
from support import brute_force_ranks

SCORES = [metric + cut for metric in brute_force_ranks.METRICS for cut in ("", "@1", "@2", "@3", "@5", "@100")]

queries = st.sampled_from([f"q{number}" for number in range(8)])
units = st.sampled_from("abcdefgh")
truths = st.lists(units, max_size=8) | st.dictionaries(units, st.sampled_from([-1, 0, 0.5, 1, 2, 3]))
lists = st.lists(units, max_size=12)
runs = st.dictionaries(units, st.integers(-3, 3) | st.sampled_from([0.5, -inf, inf]))
all_truth = st.dictionaries(queries, truths, min_size=1)
one_form = st.dictionaries(queries, lists) | st.dictionaries(queries, runs)
any_form = one_form | st.dictionaries(queries, lists | runs)


def columns(scores):
    """All scores as plain lists, None for no score."""
    return {name: list(scores.per_query(name).values()) for name in scores.columns}


def shuffled(mapping, source):
    keys = list(mapping)
    source.shuffle(keys)
    return {key: mapping[key] for key in keys}


class TestAgainstBruteForce:
    @given(all_truth, any_form)
    def test_every_score_equals_a_walk_down_the_ranking(self, truth, rankings):
        scores = score_rankings(truth, rankings, SCORES)
        for name in SCORES:
            expected = {
                query: brute_force_ranks.score(name, right, rankings.get(query, [])) for query, right in truth.items()
            }
            assert scores.per_query(name) == pytest.approx(expected, abs=1e-12), name
            scored = [value for value in expected.values() if value is not None]
            mean = sum(scored) / len(scored) if scored else None
            assert scores.mean[name] == pytest.approx(mean, abs=1e-12), name

    @given(all_truth, one_form)
    def test_irregularities_are_counted(self, truth, rankings):
        assert score_rankings(truth, rankings).counts == {
            "queries": len(truth),
            "queries_not_ranked": len(truth.keys() - rankings.keys()),
            "queries_not_judged": len(rankings.keys() - truth.keys()),
            "no_answer": sum(not brute_force_ranks.gains_of(right) for right in truth.values()),
            "ties_or_duplicates": sum(brute_force_ranks.is_irregular(rankings.get(query, [])) for query in truth),
        }

    @given(all_truth, any_form, st.randoms(use_true_random=False))
    def test_the_order_of_the_queries_does_not_matter(self, truth, rankings, source):
        scores = score_rankings(truth, rankings, SCORES)
        other = score_rankings(shuffled(truth, source), shuffled(rankings, source), SCORES)
        for name in SCORES:
            assert other.per_query(name) == scores.per_query(name)

    @given(all_truth, any_form)
    def test_scores_lie_between_0_and_1(self, truth, rankings):
        for column in columns(score_rankings(truth, rankings, SCORES)).values():
            assert all(value is None or 0 <= value <= 1 + 1e-12 for value in column)

    @given(all_truth, any_form)
    def test_inputs_are_not_changed(self, truth, rankings):
        before = deepcopy((truth, rankings))
        score_rankings(truth, rankings, SCORES)
        assert (truth, rankings) == before
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
    def test_queries_are_matched_by_id_and_not_by_position(self):
        truth = {"first": ["a"], "second": ["b"]}
        forwards = score_rankings(truth, {"first": ["a", "x"], "second": ["x", "b"]}, ["mrr"])
        backwards = score_rankings(truth, {"second": ["x", "b"], "first": ["a", "x"]}, ["mrr"])
        assert forwards.per_query("mrr") == backwards.per_query("mrr") == {"first": 1, "second": 0.5}
        assert backwards.mean == {"mrr": 0.75}

    def test_scores_come_in_the_order_of_the_ground_truth(self):
        scores = score_rankings({"z": ["a"], "a": ["a"], "m": ["a"]}, {"a": ["a"], "m": ["x"], "z": ["a"]}, ["hit@1"])
        assert scores.query_ids == ("z", "a", "m")
        assert list(scores.per_query("hit@1").items()) == [("z", 1), ("a", 1), ("m", 0)]

    def test_queries_not_ranked_score_0_unanswerable_ones_none_and_those_not_judged_are_left_out(self):
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

    def test_without_any_answer_there_is_no_mean(self):
        scores = score_rankings({"q": []}, {"q": ["a"]}, ["mrr"])
        assert scores.mean == {"mrr": None}
        assert scores.per_query("mrr") == {"q": None}

    def test_scores_are_sorted_and_ties_stay_in_the_order_given(self):
        run = {"c": 1.0, "b": 2.0, "a": 2.0, "d": 3}
        for unit, place in {"d": 1, "b": 2, "a": 3, "c": 4}.items():
            assert score_rankings({"q": [unit]}, {"q": run}, ["mrr"]).mean == {"mrr": 1 / place}
        assert score_rankings({"q": ["a"]}, {"q": run}).counts["ties_or_duplicates"] == 1

    def test_scores_that_differ_only_beyond_single_precision_do_not_tie(self):
        assert score_rankings({"q": ["a"]}, {"q": {"b": 0.9999999999, "a": 1.0}}, ["mrr"]).mean == {"mrr": 1}

    def test_one_tie_leaves_the_rankings_around_it_alone(self):
        truth = {query: ["a"] for query in "rst"}
        runs = {"r": {"x": 2, "a": 1}, "s": {"x": 1, "y": 1, "a": 1}, "t": {"a": 1, "x": 0}}
        scores = score_rankings(truth, runs, ["mrr"])
        assert scores.per_query("mrr") == {"r": 1 / 2, "s": 1 / 3, "t": 1}
        assert scores.counts["ties_or_duplicates"] == 1

    def test_rankings_are_counted_independently_of_one_another(self):
        truth = {query: ["a"] for query in "rs"}
        for other in (["a"], {"a": 1}):
            assert score_rankings(truth, {"r": other, "s": {"x": 1, "a": 1}}).counts["ties_or_duplicates"] == 1

    def test_repeated_ids_count_at_their_first_rank(self):
        scores = score_rankings({"q": ["a", "b"]}, {"q": ["a", "a", "a", "b"]}, ["recall@2", "ndcg", "precision"])
        assert scores.mean == pytest.approx({"recall@2": 1, "ndcg": 1, "precision": 1})
        assert scores.counts["ties_or_duplicates"] == 1

    @pytest.mark.parametrize(
        "truth", [["a", "b"], ("a", "b"), {"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}, {"a": 1, "b": 1, "c": 0}]
    )
    def test_relevant_ids_come_in_any_collection(self, truth):
        assert score_rankings({"q": truth}, {"q": ("a", "x")}, ["recall"]).mean == {"recall": 0.5}

    def test_trailing_queries_without_labels_shift_nothing(self):
        truth = {"q": ["a"], "empty": []}
        scores = score_rankings(truth, {"q": ["a", "x"], "empty": ["a", "a"]}, ["precision"])
        assert scores.per_query("precision") == {"q": 0.5, "empty": None}
        assert scores.counts["ties_or_duplicates"] == scores.counts["no_answer"] == 1
        # also where they end the first of two blocks
        truth = {f"q{number}": [] if number == 511 else ["a"] for number in range(514)}
        rankings = {query: ["a", "x"] if query == "q512" else ["a"] for query in truth}
        expected = {query: None if query == "q511" else 0.5 if query == "q512" else 1 for query in truth}
        assert score_rankings(truth, rankings, ["precision"]).per_query("precision") == expected

    def test_lists_and_scores_may_come_in_one_call(self):
        truth = {"r": ["a"], "s": {"a": 2}, "t": ["a"]}
        scores = score_rankings(truth, {"r": ["x", "a"], "s": {"x": 1, "y": 3, "a": 2}, "t": ("a",)}, ["mrr"])
        assert scores.per_query("mrr") == {"r": 1 / 2, "s": 1 / 2, "t": 1}


class TestResult:
    @pytest.fixture
    def scores(self) -> ScoreTable:
        truth = {"r": ["a"], "s": ["b"], "t": []}
        return score_rankings(truth, {"r": ["a"], "s": ["a", "b"], "u": ["a"]}, ["mrr", "ndcg@10"])

    def test_the_columns_hold_nan_where_there_is_no_score(self, scores):
        assert list(scores.columns) == ["mrr", "ndcg@10"]
        assert scores.columns["mrr"].dtype == np.float64
        assert scores.columns["mrr"][:2].tolist() == [1, 0.5]
        assert isnan(scores.columns["mrr"][2])

    def test_per_query_gives_plain_numbers_under_either_spelling(self, scores):
        assert scores.per_query("nDCG@10") == scores.per_query("ndcg@10")
        assert [type(value) for value in scores.per_query("mrr").values()] == [float, float, type(None)]

    def test_means_are_found_under_either_spelling(self, scores):
        assert scores.mean["nDCG@10"] == scores.mean["NDCG@10"] == scores.mean["ndcg@10"]
        assert list(scores.mean) == ["mrr", "ndcg@10"]

    @pytest.mark.parametrize("name", ["ndcg@5", "nDCG@5", "span_recall", "nonsense", "ndcg@", 5])
    def test_a_mean_that_was_not_asked_for_is_a_key_error(self, scores, name):
        with pytest.raises(KeyError):
            scores.mean[name]

    def test_an_unknown_score_is_an_error_that_lists_those_available(self, scores):
        with pytest.raises(ConfigError, match=r"ndcg@5.*mrr, ndcg@10"):
            scores.per_query("ndcg@5")
        with pytest.raises(ConfigError, match=r"span_recall@5.*mrr, ndcg@10"):
            scores.per_query("span_recall@5")

    def test_the_table_shows_means_and_counts(self, scores):
        shown = repr(scores)
        assert "mrr 0.7500" in shown
        assert "ndcg@10 0.8155" in shown
        assert "queries: 3" in shown
        assert "no answer: 1" in shown
        assert "queries not judged: 1" in shown
        assert "queries not ranked: 1" in shown
        assert "ties or duplicates" not in shown
        assert "mrr –" in repr(score_rankings({"q": []}, {}, ["mrr"]))

    def test_the_table_becomes_a_dataframe_of_queries_and_scores(self, scores):
        expected = pd.DataFrame(
            {"mrr": [1, 0.5, nan], "ndcg@10": [1, 1 / np.log2(3), nan]}, index=pd.Index(list("rst"), name="query_id")
        )
        pd.testing.assert_frame_equal(scores.to_dataframe(), expected)

    def test_default_scores_are_computed_if_none_are_named(self):
        assert list(score_rankings({"q": ["a"]}, {}).columns) == ["hit@10", "recall@10", "mrr@10", "ndcg@10"]

    @pytest.mark.parametrize(
        ("spelling", "name"),
        [
            ("nDCG@10", "ndcg@10"),
            ("R@10", "recall@10"),
            ("P@5", "precision@5"),
            ("RR@10", "mrr@10"),
            ("RR", "mrr"),
            ("AP@100", "map@100"),
            ("AP", "map"),
            ("Success@5", "hit@5"),
            ("Rprec", "r_precision"),
            ("SetF", "f1"),
        ],
    )
    def test_the_spellings_of_ir_measures_are_understood(self, spelling, name):
        truth, rankings = {"q": list("abc")}, {"q": list("xaybzzc")}
        assert score_rankings(truth, rankings, [spelling]).mean == score_rankings(truth, rankings, [name]).mean
        assert list(score_rankings(truth, rankings, [spelling, name]).columns) == [name]


class TestErrors:
    @pytest.mark.parametrize(
        ("name", "named"),
        [
            ("ndgc@10", "'ndgc'"),
            ("span_recall@5", "'span_recall@5'.*use score_spans"),
            ("chunk_recall@5", "'chunk_recall@5'.*use evaluate"),
            ("NDGC@10", "'NDGC'"),
            ("ndcg@0", "cutoff 0"),
            ("ndcg@", "'ndcg@'"),
            ("ndcg@-1", "cutoff '-1'"),
            ("ndcg@1000ch", "'ndcg@1000ch'"),
            ("", "''"),
        ],
    )
    def test_a_score_that_does_not_exist_is_named(self, name, named):
        with pytest.raises(ConfigError, match=named):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, ["recall@5", name])
        with pytest.raises(ConfigError, match=named):
            score_ranking_arrays(np.array([[1]]), np.array([[1]]), [name])

    def test_one_text_in_place_of_a_list_of_scores_is_an_error(self):
        with pytest.raises(ConfigError, match="list"):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, "ndcg@10")

    def test_an_unknown_metric_lists_those_available(self):
        with pytest.raises(ConfigError, match="hit, recall, precision, f1, mrr, map, ndcg, r_precision"):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, ["recal@5"])

    def test_asking_for_no_score_is_an_error_and_not_the_default(self):
        with pytest.raises(ConfigError, match=r"metric|score"):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, [])
        with pytest.raises(ConfigError, match=r"metric|score"):
            score_ranking_arrays(np.array([[1]]), np.array([[1]]), [])

    def test_an_empty_ground_truth_is_an_error(self):
        with pytest.raises(DatasetError, match="empty"):
            score_rankings({}, {"q": ["a"]})

    @pytest.mark.parametrize("rankings", [{"q": ["a"]}, {"q": {"a": 1}}, {}])
    def test_a_gain_that_is_nan_is_an_error(self, rankings):
        with pytest.raises(DatasetError, match="gain"):
            score_rankings({"q": {"a": nan}}, rankings)

    def test_a_score_that_is_nan_is_an_error(self):
        for run in ({"a": nan, "x": 1}, {"x": nan, "a": 1}):
            with pytest.raises(DatasetError, match="score"):
                score_rankings({"q": ["a"]}, {"q": run})

    def test_a_score_that_is_nan_is_an_error_beside_a_list(self):
        with pytest.raises(DatasetError, match="score"):
            score_rankings({"q": ["a"], "r": ["a"]}, {"q": {"x": nan, "a": 1}, "r": ["a"]})

    def test_an_infinite_gain_is_an_error(self):
        with pytest.raises(DatasetError, match="gain"):
            score_rankings({"q": {"a": inf}}, {"q": ["a"]})

    @pytest.mark.parametrize("word", ["high", "1.0"])
    def test_a_gain_or_score_that_is_text_is_an_error(self, word):
        with pytest.raises(InputError, match="gain"):
            score_rankings({"q": {"a": word}}, {"q": ["a"]})
        with pytest.raises(InputError, match="score"):
            score_rankings({"q": ["a"]}, {"q": {"a": word}})

    def test_one_text_in_place_of_a_list_of_ids_is_an_error(self):
        with pytest.raises(InputError, match="doc1"):
            score_rankings({"q": "doc1"}, {"q": ["doc1"]})
        with pytest.raises(InputError, match="doc1"):
            score_rankings({"q": ["doc1"]}, {"q": "doc1"})


class TestArrays:
    @given(st.data(), st.integers(1, 6), st.integers(0, 5), st.integers(0, 8))
    def test_arrays_score_as_mappings_do(self, data, rows, width, depth):
        def row(size):
            some = st.lists(st.integers(0, 9), max_size=size, unique=True)
            return some.map(lambda units: [*units, *[-1] * (size - len(units))])

        truth = [data.draw(row(width)) for _ in range(rows)]
        ranked = [data.draw(row(depth)) for _ in range(rows)]
        gains = [[data.draw(st.sampled_from([-1, 0, 0.5, 1, 3])) for _ in range(width)] for _ in range(rows)]
        as_mappings = score_rankings(
            {
                str(number): {unit: gain for unit, gain in zip(*pair, strict=True) if unit >= 0}
                for number, pair in enumerate(zip(truth, gains, strict=True))
            },
            {str(number): [unit for unit in units if unit >= 0] for number, units in enumerate(ranked)},
            SCORES,
        )
        shape = np.array(truth, dtype=np.int64).reshape(rows, width)
        as_arrays = score_ranking_arrays(
            shape,
            np.array(ranked, dtype=np.int32).reshape(rows, depth),
            SCORES,
            np.array(gains, dtype=np.float64).reshape(rows, width),
        )
        assert columns(as_arrays) == columns(as_mappings)
        assert as_arrays.counts["no_answer"] == as_mappings.counts["no_answer"]
        assert as_arrays.query_ids == as_mappings.query_ids

    def test_many_rows_score_as_mappings_do(self):
        source = np.random.default_rng(1)
        ranked = np.array([source.permutation(3_000)[:1_000] for _ in range(200)])
        truth = source.permuted(ranked, axis=1)[:, :7]
        truth[source.random(truth.shape) < 0.3] = -1
        as_mappings = score_rankings(
            {str(number): units[units >= 0].tolist() for number, units in enumerate(truth)},
            {str(number): units.tolist() for number, units in enumerate(ranked)},
            SCORES,
        )
        assert columns(score_ranking_arrays(truth, ranked, SCORES)) == columns(as_mappings)

    def test_gains_are_1_if_none_are_given(self):
        truth, ranked = np.array([[1, 2]]), np.array([[3, 2, 1]])
        assert score_ranking_arrays(truth, ranked, SCORES).mean == (
            score_ranking_arrays(truth, ranked, SCORES, np.ones((1, 2))).mean
        )

    def test_a_unit_that_occurs_twice_in_a_row_counts_at_its_first_rank(self):
        scores = score_ranking_arrays(np.array([[1]]), np.array([[0, 1, 1, 1]]), ["recall", "mrr", "map", "ndcg"])
        assert scores.mean == pytest.approx({"recall": 1, "mrr": 1 / 2, "map": 1 / 2, "ndcg": 1 / np.log2(3)})

    @pytest.mark.parametrize("unit", [0, 1, 7])
    def test_a_label_given_twice_is_an_error(self, unit):
        with pytest.raises(DatasetError, match=f"row 1 holds {unit} twice"):
            score_ranking_arrays(np.array([[1, -1, -1], [unit, 2, unit]]), np.array([[1, 2], [7, 2]]))

    def test_input_arrays_are_not_changed(self):
        truth, ranked, gains = np.array([[2, 1, -1]]), np.array([[1, 3, 2]]), np.array([[1.0, 0.0, 5.0]])
        before = [array.copy() for array in (truth, ranked, gains)]
        score_ranking_arrays(truth, ranked, SCORES, gains)
        for array, copy in zip((truth, ranked, gains), before, strict=True):
            np.testing.assert_array_equal(array, copy)

    @pytest.mark.parametrize(
        ("truth", "ranked", "gains"),
        [
            ([1, 2], [[1, 2]], None),
            ([[1]], [1], None),
            ([[1.0]], [[1]], None),
            ([[1]], [[1.0]], None),
            ([[1], [2]], [[1]], None),
            ([[1]], [[1]], [[1.0, 1.0]]),
            (np.zeros((0, 1), dtype=int), np.zeros((0, 1), dtype=int), None),
        ],
        ids=["truth flat", "ranked flat", "truth floats", "ranked floats", "rows differ", "gains differ", "no rows"],
    )
    def test_arrays_of_the_wrong_shape_or_type_are_an_error(self, truth, ranked, gains):
        with pytest.raises(DatasetError, match=r"ground_truth|rankings"):
            score_ranking_arrays(np.array(truth), np.array(ranked), gains=None if gains is None else np.array(gains))

    def test_a_gain_that_is_nan_is_an_error(self):
        with pytest.raises(DatasetError, match="gain"):
            score_ranking_arrays(np.array([[1]]), np.array([[1]]), gains=np.array([[nan]]))

    def test_an_infinite_gain_is_an_error(self):
        with pytest.raises(DatasetError, match="gain"):
            score_ranking_arrays(np.array([[1]]), np.array([[1]]), gains=np.array([[inf]]))


def test_pairs_of_id_and_score_are_refused_instead_of_taken_as_ids():
    with pytest.raises(DatasetError, match=r"holds \('x', 1\.0\); expected ids, best first, or a mapping"):
        score_rankings({"q": ["x"]}, {"q": [("x", 1.0), ("y", 0.5)]})


@pytest.mark.parametrize("unit", [("x", 1.0), ["x", 1.0], {"id": "x"}])
@pytest.mark.parametrize("before", [{}, {"first": []}, {"first": {}}, {"first": {"a": 1.0}}])
def test_a_ranking_without_ids_is_reported_with_its_question(unit, before):
    truth = {query: ["x"] for query in (*before, "second", "third")}
    with pytest.raises(DatasetError) as caught:
        score_rankings(truth, {**before, "second": [unit], "third": ["x"]})
    expected = "expected ids, best first, or a mapping from id to score"
    assert str(caught.value) == f"question 'second': the ranking holds {unit!r}; {expected}"


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize(("below", "row"), [(-2, 0), (-100, 2)])
def test_numbers_below_minus_one_are_not_padding(kind, below, row):
    good, wrong = np.array([[1, -1], [2, 3], [-1, -1]], dtype=kind), np.array([[1, -1], [2, 3], [-1, -1]], dtype=kind)
    wrong[row, 1] = below
    message = f"row {row} holds {below}; expected units numbered from 0, and -1 as padding"
    with pytest.raises(DatasetError, match=f"^ground_truth: {message}"):
        score_ranking_arrays(wrong, good)
    with pytest.raises(DatasetError, match=f"^rankings: {message}"):
        score_ranking_arrays(good, wrong)


def test_get_and_in_find_means_under_either_spelling():
    mean = score_rankings({"q": ["a"]}, {"q": ["a"]}, ["ndcg@10"]).mean
    assert mean.get("nDCG@10") == mean["nDCG@10"] == mean.get("ndcg@10") == 1.0
    assert "nDCG@10" in mean
    assert "recall@10" not in mean
    assert "nonsense" not in mean
    assert mean.get("recall@10") is None


@pytest.mark.parametrize("pair", [("x", 1.0), ["x", 1.0], {"id": "x"}])
def test_pairs_are_refused_in_any_query(pair):
    truth, found = {"q1": ["a"], "q2": ["a"]}, {"q1": ["a"], "q2": ["a"]}
    with pytest.raises(DatasetError, match=r"question 'q2': the ranking holds .*; expected ids, best first"):
        score_rankings(truth, {**found, "q2": [pair]})
    with pytest.raises(DatasetError, match=r"question 'q2': the ground truth holds .*; expected ids, or a mapping"):
        score_rankings({**truth, "q2": [pair]}, found)


def test_gains_that_could_not_be_summed_are_refused():
    for gain in (1e101, -1e101, float("inf")):
        with pytest.raises(DatasetError, match=r"question 'q': the gain of 'a' is .*; expected a number up to 1e\+100"):
            score_rankings({"q": {"a": gain}}, {"q": ["a"]}, ["ndcg@10"])
        with pytest.raises(DatasetError, match="infinite or above 1e"):
            score_ranking_arrays([[1]], [[1]], ["ndcg@10"], gains=[[gain]])
    assert score_rankings({"q": {"a": 1e100, "b": 1e100}}, {"q": ["a", "b"]}, ["ndcg@10"]).mean["ndcg@10"] == 1.0


def test_a_zero_dimensional_ranking_is_refused():
    with pytest.raises(DatasetError, match="question 'q': the ranking is the ndarray"):
        score_rankings({"q": ["a"]}, {"q": np.array("a")})


@pytest.mark.parametrize("unit", [0, 5])
def test_a_row_that_continues_after_its_padding_is_refused(unit):
    with pytest.raises(DatasetError, match=r"row 1 holds a unit after -1, at 2; expected -1 at the end only"):
        score_ranking_arrays([[5], [5]], [[5, 6, -1], [1, -1, unit]])
