import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.data import Cutoff, ScoreName
from rag_evaluation_framework.errors import ConfigError
from support.each import each

sizes = st.integers(1, 10**9)
cutoffs = st.one_of(st.builds(Cutoff, sizes), st.builds(Cutoff, sizes, st.sampled_from(["ch", "tok"]), st.booleans()))
metrics = st.from_regex(r"[a-z][a-z0-9_]*", fullmatch=True)


class TestCutoff:
    @pytest.mark.parametrize(
        ("text", "cutoff"),
        [
            ("5", Cutoff(5)),
            ("4000ch", Cutoff(4000, "ch")),
            ("1000tok", Cutoff(1000, "tok")),
            ("1000tok_whole", Cutoff(1000, "tok", whole=True)),
            ("4000ch_whole", Cutoff(4000, "ch", whole=True)),
            ("topK", Cutoff(1, "topK")),
        ],
    )
    def test_it_is_read_and_printed_in_one_form(self, text, cutoff):
        assert Cutoff.parse(text) == cutoff
        assert str(cutoff) == text

    @given(cutoffs)
    def test_the_printed_form_can_be_parsed_again(self, cutoff):
        assert Cutoff.parse(str(cutoff)) == cutoff

    @pytest.mark.parametrize(("given_value", "cutoff"), [(5, Cutoff(5)), (" 5 ", Cutoff(5)), (Cutoff(7), Cutoff(7))])
    def test_numbers_and_cutoffs_are_taken_too(self, given_value, cutoff):
        assert Cutoff.parse(given_value) == cutoff

    @each(
        "text",
        ["", "five", "5k", "-5", "5.0", 5.0, "ch", "1000 tok", "tok1000", "5ch_hole", "1000TOK", "1e3", None, True],
    )
    def test_an_invalid_cutoff_is_refused_with_the_valid_forms(self, text):
        with pytest.raises(ConfigError, match=r"expected a number of results \(5\), characters \(4000ch\)"):
            Cutoff.parse(text)

    @pytest.mark.parametrize("size", [0, -1, 1.5, "5", True, None])
    def test_a_size_is_a_whole_number_of_at_least_one(self, size):
        with pytest.raises(ConfigError, match="expected a whole number of at least 1"):
            Cutoff(size)

    @pytest.mark.parametrize("text", ["0", "0ch", "0tok_whole"])
    def test_none_is_not_a_cutoff(self, text):
        with pytest.raises(ConfigError, match="at least 1"):
            Cutoff.parse(text)

    @pytest.mark.parametrize(
        ("make", "named"),
        [
            (lambda: Cutoff.parse("0ch"), "budget '0ch': expected"),
            (lambda: Cutoff.parse("0tok_whole"), "budget '0tok': expected"),
            (lambda: Cutoff.parse("0"), "cutoff 0: expected"),
            (lambda: Cutoff(10**5000, "ch"), "budget '<int whose repr raises ValueError>ch': expected"),
        ],
    )
    def test_a_cutoff_that_is_refused_is_named_as_it_was_written(self, make, named):
        with pytest.raises(ConfigError) as refused:
            make()
        assert str(refused.value).startswith(named)

    @pytest.mark.parametrize("make", [Cutoff.parse, Cutoff.parse_all, Cutoff.parse_k, Cutoff.parse_budgets, Cutoff])
    def test_an_object_that_cannot_be_shown_is_refused_all_the_same(self, make):
        class Unprintable:
            def __repr__(self):
                raise RuntimeError

        with pytest.raises(ConfigError, match="<Unprintable whose repr raises RuntimeError>"):
            make(Unprintable())

    @pytest.mark.parametrize("make", [lambda: Cutoff.parse("5_whole"), lambda: Cutoff(5, whole=True)])
    def test_only_a_budget_can_ask_for_whole_results(self, make):
        with pytest.raises(ConfigError, match="results are always whole"):
            make()

    def test_a_unit_that_does_not_exist_is_refused(self):
        with pytest.raises(ConfigError):
            Cutoff(5, "words")

    @pytest.mark.parametrize(("text", "is_budget"), [("5", False), ("4000ch", True), ("1000tok_whole", True)])
    def test_a_budget_counts_text(self, text, is_budget):
        assert Cutoff.parse(text).is_budget is is_budget

    @pytest.mark.parametrize("k", [0, -2, [5, 0]])
    def test_a_number_of_results_below_one_is_refused_as_k(self, k):
        with pytest.raises(
            ConfigError, match=r"k: cutoff .*: expected a whole number of at least 1, as in k=5 \(--k 5\)"
        ):
            Cutoff.parse_k(k)


class TestScoreName:
    @pytest.mark.parametrize("given", [None, 5, ["span_recall@5"]])
    def test_a_name_is_a_text(self, given):
        with pytest.raises(ConfigError, match=r"expected metric@cutoff"):
            ScoreName.parse(given)

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("span_recall", ScoreName("span_recall")),
            ("span_recall@5", ScoreName("span_recall", Cutoff(5))),
            ("span_recall@1000tok_whole", ScoreName("span_recall", Cutoff(1000, "tok", whole=True))),
        ],
    )
    def test_it_is_read_and_printed_in_one_form(self, text, name):
        assert ScoreName.parse(text) == name
        assert str(name) == text

    @given(metrics, st.none() | cutoffs)
    def test_the_printed_form_can_be_parsed_again(self, metric, cutoff):
        name = ScoreName(metric, cutoff)
        assert ScoreName.parse(str(name)) == name

    @pytest.mark.parametrize("text", ["", "@5", "span_recall@", "span_recall@five", "recall@5@5", "@", "span_recall@0"])
    def test_an_invalid_name_is_refused(self, text):
        with pytest.raises(ConfigError, match="expected"):
            ScoreName.parse(text)


@pytest.mark.parametrize("size", [10**9 + 1, 10**30])
def test_a_cutoff_that_no_ranking_reaches_is_refused(size):
    for make in (Cutoff, Cutoff.parse):
        with pytest.raises(ConfigError, match="expected"):
            make(size)


def test_a_cutoff_that_is_given_twice_is_named():
    with pytest.raises(ConfigError, match="cutoff '4' is given twice"):
        Cutoff.parse_k([1, 4, 2, 4])


@pytest.mark.parametrize("size", [10**10 + 1, 99999999999999999999, 10**40])
def test_a_number_that_is_too_large_is_told_how_large_it_may_be(size):
    for text in (size, str(size), f"{size}ch"):
        with pytest.raises(ConfigError, match=r"of at least 1 and at most 1,000,000,000$"):
            Cutoff.parse(text)
