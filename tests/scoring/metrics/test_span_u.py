"""SpanU: the mean of span recall over all budgets up to the named one, over that of reading the truth first."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import SpanU, TokenLevelMetric, score_spans
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.scoring.judging import SpanJudgements
from rag_evaluation_framework.scoring.metrics import ALL_METRICS, SpanMetric
from support import brute_force_spans as brute_force
from support.each import each


def in_chunks(size, step, end=4_000):
    return [("d", start, start + size) for start in range(0, end, step)]


def score(name, ranking, truth):
    return score_spans({"q": truth}, {"q": ranking}, [name]).per_query(name)["q"]


# The example of the design: one context of 4,000 characters, the answer of 100 characters at 2,000.
@each(
    ("name", "ranking", "expected"),
    [
        ("span_u@4000ch", in_chunks(1_000, 1_000), 0.494),
        ("span_u@4000ch", in_chunks(100, 100), 0.494),
        ("span_dcg@4000ch", in_chunks(1_000, 1_000), 0.500),
        ("span_dcg@4000ch", in_chunks(100, 100), 0.224),
        ("span_u@4000ch", in_chunks(1_000, 500), 0.114),  # first read at 3,500, as overlaps are read again
        ("span_u@2000ch", in_chunks(1_000, 1_000), 0.0),
        ("span_u@8000ch", in_chunks(1_000, 1_000), 0.748),
        ("span_u@16000ch", in_chunks(1_000, 1_000), 0.875),
        ("span_u@2500ch_whole", in_chunks(1_000, 1_000), 0.0),  # the third chunk does not fit, and is not read
        ("span_u@3000ch_whole", in_chunks(1_000, 1_000), 0.322),
    ],
)
def test_the_example_of_the_guide(name, ranking, expected):
    assert score(name, ranking, [("d", 2_000, 2_100)]) == pytest.approx(expected, abs=0.0005)


def test_budgets_are_read_from_the_start():
    # Half an answer at once and half of it late:
    # Budget 10, truth of 4: two characters earn 10 + 9, the others, after six others, 2 + 1; at best 10 + 9 + 8 + 7.
    assert score("span_u@10ch", [("d", 0, 2), ("x", 0, 6), ("d", 2, 4)], [("d", 0, 4)]) == 22 / 34

    # Reading the truth first is perfect even where the budget cannot hold it:
    truth = [("d", 0, 100), ("e", 50, 60)]
    for budget in (1, 7, 100, 109, 110, 4_000, 10**9):
        assert score(f"span_u@{budget}ch", [*truth, ("d", 0, 500)], truth) == 1.0

    # The largest budgets are counted exactly:
    late = 10**9 - 1  # all but one character is read before; the weights add up to more than a float can count
    name = "span_u@1000000000ch"
    assert score(name, [("x", 0, late), ("d", 0, 9)], [("d", 0, 1)]) == 1e-9
    half = 5 * 10**8
    ideal, late_half = half * 10**9 - half * (half - 1) // 2, half * (half + 1) // 2
    assert score(name, [("x", 0, half), ("d", 0, half)], [("d", 0, half)]) == late_half / ideal


def test_it_needs_budgets_and_a_trail():
    # It is a token level metric that is scored at budgets only:
    assert SpanU().name == "span_u"
    assert isinstance(SpanU(), TokenLevelMetric)
    at_budgets = [m.name for m in ALL_METRICS.values() if isinstance(m, SpanMetric) and m.needs_budget]
    assert at_budgets == ["span_u"]

    # Two lists alone have no budget and are refused:
    with pytest.raises(ConfigError, match=r"span_u.*budget.*score_spans\(.*span_u@4000ch"):
        SpanU().calculate([], [])

    # Judgements without a trail are refused:
    with pytest.raises(ConfigError, match=r"span_u.*budget"):
        SpanU().score(SpanJudgements.from_lists([[]], [[]]))


@st.composite
def places(draw):
    start = draw(st.integers(0, 25))
    return draw(st.sampled_from("ab")), start, start + draw(st.integers(0, 10))


rankings = st.lists(places(), max_size=7)
truths = st.lists(places(), max_size=4)
budgets = st.sampled_from([1, 2, 5, 11, 20, 60, 200])


def passages(spans):
    return [brute_force.characters(*span) for span in spans]


@given(rankings, truths, budgets)
def test_it_equals_the_mean_of_recall_over_all_budgets_of_what_fits(ranking, truth, budget):
    value, whole = (score(f"span_u@{budget}ch{ending}", ranking, truth) for ending in ("", "_whole"))
    if not brute_force.union(passages(truth)):
        assert value is whole is None
    else:
        assert value == brute_force.u(passages(ranking), passages(truth), budget)
        assert 0 <= value <= 1
        fitting = brute_force.spend([("x" * len(p), p) for p in passages(ranking)], budget, list, whole=True)
        assert whole == brute_force.u(fitting, passages(truth), budget)


@given(st.lists(st.tuples(rankings, truths), min_size=1, max_size=4), budgets)
def test_other_questions_do_not_change_it(pairs, budget):
    name = f"span_u@{budget}ch"
    truth = {f"q{number}": right for number, (_, right) in enumerate(pairs)}
    found = {f"q{number}": ranking for number, (ranking, _) in enumerate(pairs)}
    with warnings.catch_warnings(action="ignore"):  # of results that are all in documents without a label
        together = score_spans(truth, found, [name, "span_recall@3"]).per_query(name)
    assert list(together.values()) == [score(name, ranking, right) for ranking, right in pairs]
