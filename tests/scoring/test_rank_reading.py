"""What reading rankings quickly must not lose: types, order, ties, and numbers of any size."""

from collections import OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from random import Random
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import score_rankings
from rag_evaluation_framework.errors import DatasetError
from support import brute_force_ranks
from support.each import each

pytestmark = pytest.mark.filterwarnings("ignore:0 of .* ids match a label")  # of drawn worlds
SCORES = [metric + cut for metric in brute_force_ranks.METRICS for cut in ("", "@1", "@3", "@10")]

units = st.sampled_from("abcdefghijklmnop")
scores_of_any_order = st.dictionaries(units, st.integers(-2, 2) | st.floats(allow_nan=False, width=16), max_size=16)
gains_of_many_levels = st.dictionaries(units, st.floats(-1, 8, width=16), max_size=12)


def assert_as_walked_down(truth, rankings):
    scores = score_rankings(truth, rankings, SCORES)
    for name in SCORES:
        expected = {q: brute_force_ranks.score(name, truth[q], rankings.get(q, [])) for q in truth}
        assert scores.per_query(name) == pytest.approx(expected, abs=1e-9), name
    irregular = sum(brute_force_ranks.is_irregular(rankings.get(query, [])) for query in truth)
    assert scores.counts["ties_or_duplicates"] == irregular


class TestOrder:
    @pytest.mark.no_cover
    @given(st.lists(st.tuples(gains_of_many_levels, scores_of_any_order), min_size=1, max_size=6))
    def test_scores_in_any_order_with_any_ties_rank_as_sorting_them_would(self, questions):
        truth = {str(number): gains for number, (gains, _) in enumerate(questions)}
        assert_as_walked_down(truth, {str(number): scores for number, (_, scores) in enumerate(questions)})

    @pytest.mark.parametrize("scored", [{"x": 3, "a": 1, "b": 2}, {"x": 3, "a": 2, "b": 2}, {"x": 3, "a": 2, "b": 1}])
    def test_scores_beside_lists_rank_and_are_counted_as_sorting_them_would(self, scored):
        assert_as_walked_down({"q": {"a": 1}, "r": {"b": 1}}, {"q": scored, "r": ["a", "b"]})

    @pytest.mark.no_cover
    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["falling", "rising", "shuffled", "tied", "all"])
    def test_many_rankings_of_any_length_rank_as_sorting_them_would(self, kind):
        source = Random(kind)
        truth, rankings = {}, {}
        for query in map(str, range(2_500)):
            ids = source.sample(range(60), source.choice([0, 1, 2, 5, 30]))
            how = source.choice(["falling", "rising", "shuffled", "tied"]) if kind == "all" else kind
            values = [source.randint(0, 9) if how == "tied" else source.random() for _ in ids]
            if how in ("falling", "rising"):
                values.sort(reverse=how == "falling")
            truth[query] = {unit: source.choice([0, 1, 2, 0.3]) for unit in source.sample(range(60), 6)}
            if source.random() < 0.95:
                rankings[query] = dict(zip(ids, values, strict=True))
        assert_as_walked_down(truth, rankings)

    def test_integers_and_infinite_scores_are_in_order(self):
        # Integers that round to one float are still ordered by value:
        big = 2**60
        run = {"x": big, "a": big + 1}
        assert score_rankings({"q": ["a"]}, {"q": run}, ["mrr"]).mean == {"mrr": 1}

        # Infinite scores and both zeros are in order:
        run = {"low": float("-inf"), "zero": 0.0, "other zero": -0.0, "high": float("inf")}
        for place, unit in enumerate(["high", "zero", "other zero", "low"], start=1):
            assert score_rankings({"q": [unit]}, {"q": run}, ["mrr"]).mean == {"mrr": 1 / place}

    def test_a_ranking_much_longer_than_the_others_is_read_like_them(self):
        truth = {str(number): ["a"] for number in range(1_500)}
        rankings = {query: {"x": 2, "a": 1} for query in truth}
        rankings["700"] = {**{f"x{place}": -place for place in range(100_000)}, "a": -100_000}
        scores = score_rankings(truth, rankings, ["mrr"]).per_query("mrr")
        assert scores.pop("700") == 1 / 100_001
        assert set(scores.values()) == {1 / 2}


class TestKinds:
    @each("word", ["1", "0.5", b"1", "high", np.str_("2"), None, 10**400, [1], 1j])
    @each("query", ["0", "5", "699"])
    def test_one_value_that_is_not_a_number_is_named_wherever_it_is(self, word, query):
        truth = {str(number): {"x": 1, "a": 2, "b": 0} for number in range(700)}
        run = {str(number): {"x": 3, "a": 2, "b": 1} for number in range(700)}
        with pytest.raises(DatasetError, match=rf"question '{query}': the score of 'a'"):
            score_rankings(truth, {**run, query: {"x": 3, "a": word, "b": 1}})
        with pytest.raises(DatasetError, match=rf"question '{query}': the gain of 'a'"):
            score_rankings({**truth, query: {"x": 1, "a": word, "b": 0}}, run)

    @pytest.mark.parametrize("kind", [int, float, bool, Fraction, Decimal, np.float32, np.int64, np.float64])
    def test_numbers_of_any_kind_are_scores_and_gains(self, kind):
        truth, run = {"q": {"a": kind(1), "b": kind(0)}}, {"q": {"b": kind(0), "a": kind(1)}}
        assert score_rankings(truth, run, ["mrr", "ndcg"]).mean == {"mrr": 1, "ndcg": 1}

    def test_any_mapping_is_read_in_its_own_order(self):
        run = OrderedDict([("a", 1), ("x", 1)])
        run.move_to_end("a")
        for given_run in (run, MappingProxyType(run), defaultdict(int, run)):
            rankings = defaultdict(dict, q=given_run)
            scores = score_rankings(MappingProxyType({"q": {"a": 1, "absent": 1}, "none": ["a"]}), rankings, ["mrr"])
            assert scores.per_query("mrr") == {"q": 1 / 2, "none": 0}
            assert list(rankings) == ["q"]
            assert list(given_run) == ["x", "a"]
