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
        ("given_value", "cutoff", "printed", "is_budget"),
        [
            ("5", Cutoff(5), "5", False),
            (5, Cutoff(5), "5", False),
            (" 5 ", Cutoff(5), "5", False),
            (Cutoff(7), Cutoff(7), "7", False),
            ("4000ch", Cutoff(4000, "ch"), "4000ch", True),
            ("1000tok", Cutoff(1000, "tok"), "1000tok", True),
            ("1000tok_whole", Cutoff(1000, "tok", whole=True), "1000tok_whole", True),
            ("4000ch_whole", Cutoff(4000, "ch", whole=True), "4000ch_whole", True),
            ("topK", Cutoff(1, "topK"), "topK", False),
        ],
    )
    def test_it_is_read_and_printed_in_one_form_and_a_budget_counts_text(self, given_value, cutoff, printed, is_budget):
        found = Cutoff.parse(given_value)
        assert (found, str(found), found.is_budget) == (cutoff, printed, is_budget)

    @each(
        ("text", "message"),
        [
            *(
                (text, r"expected a number of results \(5\), characters \(4000ch\)")
                for text in ("", "five", "5k", "-5", "5.0", 5.0, "ch", "1000 tok", "tok1000", "5ch_hole", "1000TOK")
            ),
            *((text, r"expected a number of results \(5\), characters \(4000ch\)") for text in ("1e3", None, True)),
            ("0", "^cutoff 0: expected .*at least 1"),
            ("0ch", "^budget '0ch': expected .*at least 1"),
            ("0tok_whole", "^budget '0tok': expected .*at least 1"),
            ("5_whole", "results are always whole"),
            *((size, "expected") for size in (10**9 + 1, 10**30)),
            *(
                (text, "of at least 1 and at most 1,000,000,000$")
                for size in (10**10 + 1, 99999999999999999999, 10**40)
                for text in (size, str(size), f"{size}ch")
            ),
        ],
    )
    def test_a_text_that_is_no_cutoff_is_refused_as_it_was_written(self, text, message):
        with pytest.raises(ConfigError, match=message):
            Cutoff.parse(text)

    @each(
        ("size", "options", "message"),
        [
            *((size, {}, "expected a whole number of at least 1") for size in (0, -1, 1.5, "5", True, None)),
            *((size, {}, "expected a whole number of at least 1") for size in (10**9 + 1, 10**30)),
            (10**5000, {"unit": "ch"}, "^budget '<int whose repr raises ValueError>ch': expected"),
            (5, {"whole": True}, "results are always whole"),
            (5, {"unit": "words"}, "cutoff unit 'words': expected 'ch', 'tok'"),
        ],
    )
    def test_a_size_is_a_whole_number_of_at_least_one_of_a_unit_that_there_is(self, size, options, message):
        with pytest.raises(ConfigError, match=message):
            Cutoff(size, **options)

    @pytest.mark.parametrize("make", [Cutoff.parse, Cutoff.parse_all, Cutoff.parse_k, Cutoff.parse_budgets, Cutoff])
    def test_an_object_that_cannot_be_shown_is_refused_all_the_same(self, make):
        class Unprintable:
            def __repr__(self):
                raise RuntimeError

        with pytest.raises(ConfigError, match="<Unprintable whose repr raises RuntimeError>"):
            make(Unprintable())

    @pytest.mark.parametrize(
        ("k", "message"),
        [
            *(
                (k, r"k: cutoff .*: expected a whole number of at least 1, as in k=5 \(--k 5\)")
                for k in (0, -2, [5, 0])
            ),
            ([1, 4, 2, 4], "cutoff '4' is given twice"),
        ],
    )
    def test_what_is_no_k_is_refused(self, k, message):
        with pytest.raises(ConfigError, match=message):
            Cutoff.parse_k(k)


class TestScoreName:
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

    @each(
        ("given_name", "message"),
        [
            *((name, "expected metric@cutoff") for name in (None, 5, ["span_recall@5"])),
            *((name, "expected") for name in ("", "@5", "span_recall@", "span_recall@five", "recall@5@5", "@")),
            ("span_recall@0", "expected"),
        ],
    )
    def test_what_is_no_name_is_refused(self, given_name, message):
        with pytest.raises(ConfigError, match=message):
            ScoreName.parse(given_name)
