"""What becomes of gates in results."""

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from rag_evaluation_framework import (
    DOCUMENT,
    MRR,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.analysis.gates import Gate, assert_gates, check_gates
from rag_evaluation_framework.analysis.gates.verdicts import parse_thresholds, refuse_unreliable, threshold_gate
from rag_evaluation_framework.contracts import DocumentLevelMetric
from rag_evaluation_framework.data import Cutoff
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.statistics import clopper_pearson, paired_differences
from rag_evaluation_framework.statistics.means import mean_scores
from rag_evaluation_framework.statistics.power import detectable_change
from support.each import each
from support.gated_runs import CORPUS, query, run, timed

SIX_OF_EIGHT = run(lambda number: 1 if number < 6 else 0)
ALL = run(lambda _: 1)
NONE = run(lambda _: 0)
SECONDS = np.arange(8) / 100


def with_columns(result, columns):
    return replace(result, queries=replace(result.queries, table=replace(result.scores, columns=columns)))


def lacking(result, name="recall@1"):
    """A result of which three questions lack a score."""
    scores = np.where(np.arange(8) < 3, np.nan, result.scores.columns[name])
    return with_columns(result, {**result.scores.columns, name: scores})


def verdict(result, gate, baseline=None, **options):
    found, *_ = check_gates(
        result, gate, baseline, **{"cluster": "question", "allow_failures": 99, "allow_skipped": 99, **options}
    )
    return found


@pytest.mark.parametrize(
    ("gate", "expected", "told"),
    [
        ("recall@1 >= 0.75", "passed", "0.750, 8 questions"),
        ("recall@1 > 0.75", "failed", "0.750, 8 questions"),
        ("recall@1 >= 0.76", "failed", "0.750, 8 questions"),
        ("recall@1 <= 0.75", "passed", "0.750, 8 questions"),
        ("recall@1 < 0.75", "failed", "0.750, 8 questions"),
        ("recall >= 0.75", "passed", "0.750, 8 questions"),
        ("R@1 >= 0.75", "passed", "0.750, 8 questions"),
        ("recall@1 >= 1 where tags=hard", "passed", "1.000, 2 questions"),
        ("recall@1 >= 0.67 where tags=login", "failed", "0.667, 6 questions"),
        ("recall@1 >= 0.75 where tags=billing", "passed", "1.000, 2 questions"),
    ],
)
def test_an_absolute_gate_compares_the_mean_with_the_limit(gate, expected, told):
    found = verdict(SIX_OF_EIGHT, gate)
    assert (found.verdict, found.told, f"{found.measured:.3f}") == (expected, told, told[:5])
    assert (found.gate, found.low, found.high, found.power) == (str(Gate.parse(gate)), None, None, "")
    assert found.counts_as == {"passed": "pass", "failed": "fail"}[expected]


@pytest.mark.parametrize(
    ("met", "missed", "after", "before"),
    [
        # nine ranks of 3: the sum of nine times 1/3 is no whole number in floats
        ("mrr@3 >= 0.4", "mrr@3 > 0.4", run(lambda number: 3 if number else 1, questions=10, k=(3,)), None),
        ("recall@1 drop <= 0.3", "recall@1 drop < 0.3", *(run(lambda n, m=most: n < m, 10) for most in (4, 7))),
        ("p50 <= 80ms", "p50 < 80ms", timed(ALL, search=SECONDS, rerank=[math.nan, *SECONDS[1:]]), None),
    ],
    ids=["a mean of fractions", "a drop", "a latency"],
)
def test_a_limit_that_is_met_exactly_is_met(met, missed, after, before):
    assert verdict(after, met, before).verdict == "passed"
    assert verdict(after, missed, before).verdict == "failed"


ALL_FAILED = run(lambda _: 1, failing=range(8))
NOT_TIMED = (
    "no question was timed on its own; questions that are asked together, or whose stored rankings tell no seconds, "
    "have no times"
)
NOTHING_IN_COMMON = "'run' and 'run' have no question with the same truth in common: nothing to compare"


@each(
    ("after", "before", "gate", "why"),
    [
        (SIX_OF_EIGHT, None, "recall@3 >= 0", "there is no score recall@3; there are hit@1, hit@2"),
        (SIX_OF_EIGHT, None, "span_recall >= 0", "there is no score span_recall"),
        (
            SIX_OF_EIGHT,
            None,
            "recall@1 >= 0 where tags=sales",
            "no question is of tags=sales; there are billing, hard, ",
        ),
        (
            SIX_OF_EIGHT,
            None,
            "recall@1 >= 0 where topic=sales",
            "the questions have no topic; there are tags, ",
        ),
        (SIX_OF_EIGHT, None, "recall@1 drop <= 1", "there is no baseline"),
        (SIX_OF_EIGHT, None, "lost <= 8", "there is no baseline"),
        (SIX_OF_EIGHT, None, "p95(rerank) <= 1s", "no stage 'rerank' was timed; stages are retrieve"),
        (ALL_FAILED, ALL, "recall@1 >= 0", "no question has a score recall@1"),
        (ALL_FAILED, ALL, "population(recall@1) >= 0", "no question has a score recall@1"),
        (ALL_FAILED, ALL, "recall@1 drop <= 1", "no question has a score recall@1 in both runs"),
        (ALL_FAILED, ALL, "p95 <= 9s", NOT_TIMED),
        (timed(ALL), None, "p95 <= 9s", NOT_TIMED),
        (timed(ALL, search=[math.nan] * 8), None, "p95 <= 9s", NOT_TIMED),
        (run(lambda _: 1, skipped=range(7)), run(lambda _: 1, questions=7), "recall@1 drop <= 1", NOTHING_IN_COMMON),
    ],
)
def test_what_cannot_be_measured_never_passes(after, before, gate, why):
    found = verdict(after, gate, before)
    assert (found.verdict, found.counts_as, found.measured) == ("not measured", "error", None)
    assert found.told.startswith(why)


def test_latency_is_the_sum_of_the_stages_interpolated_linearly():
    result = timed(ALL, search=SECONDS, rerank=[math.nan, *SECONDS[1:]])
    assert verdict(result, "p50 <= 80ms").told == "80.0 ms, 7 questions timed, the first question apart"
    assert verdict(result, "p50(rerank) <= 40ms").told == "40.0 ms, 7 questions timed"
    assert verdict(result, "p95 <= 0.1341s").verdict == "passed"
    assert verdict(result, "p95 <= 0.1339s").verdict == "failed"
    assert verdict(result, "p50 <= 0.08s where tags=billing").told == (
        "80.0 ms, 1 question timed, the first question apart"
    )
    second = timed(ALL, search=[math.nan, *SECONDS[1:]], rerank=[math.nan] * 8)  # the first that was timed
    assert verdict(second, "p50 <= 80ms").told == "45.0 ms, 6 questions timed, the first question apart"


@pytest.mark.parametrize(
    ("questions", "asked_alone", "gate", "expected"),
    [
        (8, 1, "p95 <= 9s", "1 of 8 questions were timed on their own, too few for p95; ask them one at a time"),
        (8, 2, "p50 <= 9s", "0.0 ms, 1 question timed, the first question apart"),
        (8, 1, "p50 <= 9s", "1 of 8 questions were timed on their own, too few for p50; ask them one at a time"),
        (40, 19, "p95 <= 9s", "19 of 40 questions were timed on their own, too few for p95; ask them one at a time"),
        (40, 20, "p95 <= 9s", "0.0 ms, 19 questions timed, the first question apart"),
        (40, 20, "p96 <= 9s", "20 of 40 questions were timed on their own, too few for p96; ask them one at a time"),
    ],
)
def test_a_percentile_needs_questions_beyond_it_unless_all_were_timed(questions, asked_alone, gate, expected):
    seconds = [0.0] * asked_alone + [math.nan] * (questions - asked_alone)
    found = verdict(timed(run(lambda _: 1, questions=questions), search=seconds), gate)
    assert found.told.startswith(expected)
    assert found.verdict == ("passed" if "ms" in expected else "not measured")


def test_questions_without_an_answer_in_time_are_slow_in_every_stage_and_those_that_failed_otherwise_are_told():
    def search(text, k):
        if text == "question 3":
            time.sleep(1)
        if text == "question 5":
            raise TimeoutError("of the engine itself") if "own" in given else ConnectionError("gone")
        return [{"doc_id": "d0"}]

    entries = [DocumentLevelGroundTruth(query(number), [DocumentId("d0")]) for number in range(8)]
    dataset = Dataset(entries, DOCUMENT, corpus=CORPUS)
    given = set()
    result = evaluate(search, dataset, k=1, budgets=[], timeout=0.3)
    for gate in ("p95 <= 200ms", "p95(retrieve) <= 200ms"):
        found = verdict(result, gate)
        assert (found.verdict, found.measured > 0.2) == ("failed", True)
        assert found.told.endswith(
            "6 questions timed, the first question apart, 1 of them out of time, 1 failed and not timed"
        )
    assert verdict(result, "p95 <= 200ms where tags=hard").told.endswith("1 question timed, the first question apart")
    given.add("own")
    found = verdict(evaluate(lambda text, k: search(text.replace("3", "4"), k), dataset, k=1, budgets=[]), "p95 <= 9s")
    assert found.told.endswith("6 questions timed, the first question apart, 1 failed and not timed")


FOUR = run(lambda number: 1 if number < 4 else 0, failing=(7,))
ZEROS_AFTER, ZEROS_BEFORE = (run(lambda _: 1, failing=some, count_as_zero=["failed"]) for some in ((0, 1), (2,)))
TEN_BEFORE, TEN_AFTER = (run(lambda _: 1, 10, failing=some) for some in ((0, 1, 2), (2, 3)))
TWO_SKIPPED = run(lambda _: 1, skipped=(1, 4))
SAME = "passed: 0.000, from 1.000 to 1.000"
OPEN = "passed: 0.000, interval -0.459 to 0.459, from 1.000 to 1.000"


@each(
    ("after", "before", "gate", "told"),
    [
        (FOUR, SIX_OF_EIGHT, "recall@1 drop <= 0.28", "failed: 0.286, from 0.857 to 0.571, 7 of 8 questions"),
        (FOUR, SIX_OF_EIGHT, "recall@1 drop <= 0.29", "passed: 0.286, from 0.857 to 0.571, 7 of 8 questions"),
        (SIX_OF_EIGHT, NONE, "recall@1 drop <= -0.25", "passed: -0.750, from 0.000 to 0.750, 8 questions"),
        (FOUR, None, "recall@1 >= 0.1", "passed: 0.571, 7 of 8 questions"),
        (FOUR, None, "recall@1 >= 0.1 where tags=billing", "passed: 0.500, 2 questions"),
        (FOUR, None, "population(recall@1) >= 0.1", "passed: 0.571, interval 0.184 to 0.901, 7 of 8 questions"),
        (ZEROS_AFTER, None, "recall@1 >= 0.1", "passed: 0.750, 8 questions"),
        (ZEROS_AFTER, None, "recall@1 >= 0.1 where tags=login", "passed: 0.833, 6 questions"),
        (ZEROS_AFTER, None, "population(recall@1) >= 0.1", "passed: 0.750, interval 0.349 to 0.968, 8 questions"),
        (ZEROS_AFTER, ZEROS_BEFORE, "recall@1 drop <= 0.5", "passed: 0.125, from 0.875 to 0.750, 8 questions"),
        (TEN_AFTER, TEN_BEFORE, "recall@1 drop <= 0", f"{SAME}, 6 of 10 questions"),
        (TEN_AFTER, TEN_BEFORE, "recall@1 drop <= 0 where tags=billing", f"{SAME}, 2 of 3 questions"),
        (TEN_AFTER, TEN_BEFORE, "population(recall@1) drop <= 0.5", f"{OPEN}, 6 of 10 questions"),
        (run(lambda _: 1, 10), TEN_BEFORE, "recall@1 drop <= 0 where tags=hard", f"{SAME}, 2 of 3 questions"),
        (TWO_SKIPPED, ALL, "recall@1 drop <= 0", f"{SAME}, 6 of 8 questions"),
        (ALL, TWO_SKIPPED, "recall@1 drop <= 0", f"{SAME}, 6 of 8 questions"),
        (run(lambda _: 1, 10, failing=(1, 8, 9)), ALL, "recall@1 drop <= 0", f"{SAME}, 7 of 10 questions"),
        (lacking(ALL), ALL, "recall@1 drop <= 0", f"{SAME}, 5 of 8 questions"),
        (ALL, lacking(ALL), "recall@1 drop <= 0", f"{SAME}, 5 of 8 questions"),
        (lacking(ALL), None, "recall@1 >= 0.5", "passed: 1.000, 5 of 8 questions"),
    ],
)
def test_what_is_measured_says_of_how_many_of_the_questions_of_today_it_is(after, before, gate, told):
    found = verdict(after, gate, before)
    assert f"{found.verdict}: {found.told}" == told


@pytest.mark.parametrize("count_as_zero", [[], ["failed"], ["no-answer"]])
def test_a_question_without_an_answer_that_fails_is_missing_in_no_mean(count_as_zero):
    after = run(lambda _: 1, unanswerable=(3,), failing=(3,), count_as_zero=count_as_zero)
    answered = run(lambda _: 1, unanswerable=(3,), count_as_zero=count_as_zero)
    for gate in ("recall@1 >= 0", "recall@1 drop <= 1"):
        assert " of 8 questions" not in verdict(after, gate, answered).told
        assert " of 8 questions" not in verdict(answered, gate, after).told


def test_lost_questions_are_those_found_before_and_not_now():
    after = run(lambda number: 0 if number in (1, 7) else 1)
    for gate, expected in (
        ("lost@1 <= 0 questions", "failed"),
        ("lost@1 <= 1 question", "passed"),
        ("lost@1 < 1 question", "failed"),
    ):
        found = verdict(after, gate, SIX_OF_EIGHT)
        assert (found.verdict, found.measured) == (expected, 1.0)
        assert found.told == "1 of 6 questions found before, by recall@1: question 1 (q1)"


SECOND, ONE_SKIPPED = run(lambda number: 2), run(lambda _: 1, skipped=(2,))
LOSING, SKIPPING = run(lambda _: 1, skipped=(2, 7), failing=(3,)), run(lambda _: 0, skipped=(4,))
Q0, Q1, Q2, Q3 = (f"question {number} (q{number})" for number in range(4))
FOUND, FAILED = "questions found before, by recall", "question 3 (q3, failed: ConnectionError: gone away)"


@each(
    ("after", "before", "gate", "queries", "told"),
    [
        (SECOND, ALL, "lost@1 <= 0", range(8), f"8 of 8 {FOUND}@1: {Q0}; {Q1}; {Q2}; …"),
        (SECOND, ALL, "lost <= 0", range(8), f"8 of 8 {FOUND}@1: {Q0}; {Q1}; {Q2}; …"),
        (SECOND, ALL, "lost@2 <= 0", (), f"0 of 8 {FOUND}@2"),
        (run(lambda _: 1, questions=6), ALL, "lost <= 0", (), f"0 of 6 {FOUND}@1"),
        (
            run(lambda _: 1, questions=1),
            run(lambda _: 1, name="other"),
            "lost <= 0",
            (),
            "0 of 1 question found before, by recall@1",
        ),
        (ALL, run(lambda _: 1, failing=(0, 1)), "lost <= 0", (), f"0 of 6 {FOUND}@1"),
        (ALL, TWO_SKIPPED, "lost <= 0", (), f"0 of 6 {FOUND}@1"),
        (LOSING, SIX_OF_EIGHT, "lost <= 1", (3, 2), f"2 of 6 {FOUND}@1: {FAILED}; question 2 (q2, skipped)"),
        (SKIPPING, ALL, "lost <= 0 where tags=billing", (0, 4), f"2 of 2 {FOUND}@1: {Q0}; question 4 (q4, skipped)"),
        (
            SKIPPING,
            ALL,
            "lost <= 0 where tags=login",
            (1, 2, 3, 5, 6, 7),
            f"6 of 6 {FOUND}@1: {Q1}; {Q2}; {Q3}; …",
        ),
        (ONE_SKIPPED, ALL, "lost <= 0 where document=d0", (2,), f"1 of 8 {FOUND}@1: question 2 (q2, skipped)"),
    ],
)
def test_what_was_found_before_and_is_not_now_or_fails_or_is_skipped_is_lost(after, before, gate, queries, told):
    found = verdict(after, gate, before)
    assert (found.verdict, found.told) == ("failed" if queries else "passed", told)
    assert (found.queries, found.measured) == (tuple(f"q{number}" for number in queries), len(queries))


@pytest.mark.parametrize("zeros", [(), ("failed",)])
def test_questions_that_fail_or_are_skipped_now_are_lost_and_not_gone(zeros):
    after = run(lambda _: 1, 10, failing=(0,), skipped=(1,), count_as_zero=zeros)
    assert verdict(after, "lost <= 1", run(lambda _: 1, 10)).queries == ("q0", "q1")
    assert verdict(after, COMPARED, run(lambda _: 1, 10)).queries == ()


def test_a_population_gate_on_a_mean_is_open_until_the_interval_is_on_one_side():
    result = run(lambda number: 1 if number % 5 else 0, questions=100)
    mean = result.statistics["recall@1"]
    for gate, expected in (
        (f"population(recall@1) >= {mean.low - 0.001}", "passed"),
        (f"population(recall@1) >= {mean.low + 0.001}", "inconclusive"),
        (f"population(recall@1) >= {mean.high - 0.001}", "inconclusive"),
        (f"population(recall@1) >= {mean.high + 0.001}", "failed"),
        (f"population(recall@1) <= {mean.high + 0.001}", "passed"),
        (f"population(recall@1) <= {mean.low - 0.001}", "failed"),
    ):
        found = verdict(result, gate)
        assert (found.verdict, found.low, found.high) == (expected, mean.low, mean.high)
        assert found.power.startswith("power: a true mean of 0.")


def test_a_population_gate_on_a_drop_never_contradicts_the_comparison():
    before = run(lambda number: 1 if number % 5 else 0, questions=100)
    after = run(lambda number: 1 if number % 5 and number % 7 else 0, questions=100)
    test = before.compare(after).tests["recall@1"]
    assert test.high < 0
    for margin, expected in (
        (0, "failed"),
        (-test.high - 0.001, "failed"),
        (-test.high + 0.001, "inconclusive"),
        (-test.low - 0.001, "inconclusive"),
        (-test.low, "passed"),
    ):
        found = verdict(after, f"population(recall@1) drop <= {margin}", before)
        assert (found.verdict, found.low, found.high) == (expected, -test.high, -test.low)
        assert found.power.startswith("power: a true drop of 0.")


def power_of(found):
    """The true mean or drop that would make a gate fail 4 times in 5."""
    return float(found.power.split(" of ")[1].split()[0])


def test_the_power_of_a_mean_is_told_on_the_side_on_which_it_fails():
    result = run(lambda number: 1 if number % 5 else 0, questions=100)
    below = power_of(verdict(result, "population(recall@1) >= 0.7"))
    above = power_of(verdict(result, "population(recall@1) <= 0.7"))
    assert (below, above) == (0.563, 0.827)


@pytest.mark.parametrize("questions", [10, 20, 50, 200])
@pytest.mark.parametrize("limit", [0.7, 0.9])
def test_a_true_mean_as_was_told_makes_a_gate_fail_four_times_in_five(questions, limit):
    result = run(lambda number: number % 10 < 10 * limit, questions=questions)
    bound = power_of(verdict(result, f"population(recall@1) >= {limit}"))
    chances = stats.binom.pmf(np.arange(questions + 1), questions, bound)
    fails = [clopper_pearson(found, questions)[1] < limit for found in range(questions + 1)]
    assert chances[fails].sum() == pytest.approx(0.8, abs=0.08)


def test_the_power_of_a_drop_is_the_limit_and_what_is_found_beyond_it():
    before = run(lambda number: 1 if number % 5 else 0, questions=100)
    after = run(lambda number: 1 if number % 5 and number % 7 else 0, questions=100)
    test = before.compare(after).tests["recall@1"]
    least = detectable_change(test)
    for limit in (0, 0.05, 0.2):
        found = verdict(after, f"population(recall@1) drop <= {limit}", before)
        assert power_of(found) == pytest.approx(limit + least, abs=6e-4)


HALF = run(lambda number: number % 2, questions=20)
BELOW_0 = with_columns(HALF, {f"my_{name}": column - 3 for name, column in HALF.scores.columns.items()})
NOTHING = "with these questions, nothing would make it fail 4 times in 5"
NO_SHARE = "not known of scores that are not from 0 to 1"


@pytest.mark.parametrize(
    ("after", "before", "gate", "expected", "power"),
    [
        (HALF, None, "population(recall@1) <= 0.9", "passed", NOTHING),
        (HALF, None, "population(recall@1) >= 0.1", "passed", NOTHING),
        (BELOW_0, None, "population(my_recall@1) >= -2.7", "inconclusive", NO_SHARE),
        (BELOW_0, None, "population(my_recall@1) <= -2.7", "inconclusive", NO_SHARE),
        (ALL, ALL, "population(recall@1) drop <= 0.05", "inconclusive", "not known, as no question changed"),
    ],
)
def test_no_power_is_told_of_what_cannot_be_or_is_not_known(after, before, gate, expected, power):
    found = verdict(after, gate, before)
    assert (found.verdict, found.power) == (expected, f"power: {power}")


def test_where_all_changed_by_one_size_it_is_known_what_makes_a_gate_fail():
    before, after = run(lambda _: 1, questions=12), run(lambda _: 0, questions=12)
    found = verdict(after, "population(recall@1) drop <= 0.05", before)
    assert found.verdict == "failed"
    assert power_of(found) < 1


def test_questions_of_one_document_are_not_independent_in_a_slice_either():
    documents = [DocumentId(f"d{number}") for number in range(25)]
    dataset = Dataset(
        [DocumentLevelGroundTruth(query(number), [documents[number // 4]]) for number in range(100)],
        DOCUMENT,
        corpus=Corpus([Document(name, f"document {name}") for name in documents]),
    )
    found = {f"question {number}": documents[number // 4] for number in range(100) if number // 4 % 3}
    result = evaluate(lambda text, k: [{"doc_id": found[text]}] if text in found else [], dataset, k=1, budgets=[])
    rows = np.array([number for number in range(100) if number % 4])
    column = result.scores.column("recall@1")[rows][:, np.newaxis]
    (by_document,), (alone,) = (mean_scores(column, clusters, seed=0) for clusters in (rows // 4, None))
    told = verdict(result, "population(recall@1) >= 0.5 where tags=login", cluster=None)
    assert (told.low, told.high) == (by_document.low, by_document.high)
    assert told.low < alone.low


def test_a_drop_of_questions_on_one_document_is_no_claim_about_others():
    documents = [DocumentId(f"d{number}") for number in range(10)]
    corpus = Corpus([Document(name, f"document {name}") for name in documents])
    entries = [DocumentLevelGroundTruth(query(number), [documents[number // 10]]) for number in range(100)]
    dataset = Dataset(entries, DOCUMENT, corpus=corpus)

    def found(every):
        known = {f"question {number}": documents[number // 10] for number in range(0, 100, every)}
        return evaluate(lambda text, k: [{"doc_id": known[text]}] if text in known else [], dataset, k=1, budgets=[])

    told = verdict(found(2), "population(recall@1) drop <= 0.9 where document=d0", found(1), cluster=None).told
    assert "needs labels in at least 6 documents, and they are in 1" in told


def test_a_report_alone_knows_the_labels_of_a_question_that_is_skipped_now(tmp_path):
    (tmp_path / "alone").mkdir()
    report = load_result((ALL.save(tmp_path / "run") / "report.json").rename(tmp_path / "alone/report.json"))
    after = run(lambda _: 1, skipped=(2,))
    assert verdict(after, "lost <= 0 where document=d0", report).queries == ("q2",)
    assert verdict(after, "lost <= 0 where tags=billing", report).verdict == "passed"
    assert verdict(after, "lost <= 0 where tags=login", report).queries == ("q2",)
    placed = replace(after, skipped=(replace(after.skipped[0], document="d0"),))
    assert verdict(placed, "lost <= 0 where document=d0", report).queries == ("q2",)


MIXED = run(lambda number: 0 if number in (1, 4) else 2 if number == 2 else 1)
TWO_LOST, TWO_FAILED = run(lambda number: 0 if number in (0, 1) else 1), run(lambda _: 1, failing=(0, 4))


@each(
    ("after", "before", "gate", "queries"),
    [
        (MIXED, ALL, "mrr@2 drop <= 0.1", ("q1", "q4", "q2")),
        (MIXED, ALL, "recall@1 >= 0.9 where tags=billing", ("q4",)),
        (MIXED, ALL, "recall@1 >= 0.1", ()),
        (MIXED, None, "recall@1 >= 0.9", ()),
        (MIXED, ALL, "recall@1 <= 0.1", ()),
        # those that failed in the baseline are behind a mean that they pull down
        (TWO_LOST, TWO_FAILED, "recall@1 >= 0.9", ("q1", "q0")),
        (TWO_LOST, TWO_FAILED, "recall@1 >= 0.9 where tags=billing", ("q0",)),
        (TWO_LOST, TWO_FAILED, "recall@1 drop <= 0", ("q1",)),
    ],
)
def test_a_gate_that_failed_keeps_the_questions_behind_it(after, before, gate, queries):
    assert verdict(after, gate, before).queries == queries


def test_a_population_gate_on_a_slice_tests_its_questions():
    before, after = (
        run(lambda number: number % 8 and 1, questions=80),
        run(lambda number: number % 4 and 1, questions=80),
    )
    found = verdict(after, "population(recall@1) drop <= 0.05 where tags=billing", before)
    change = np.array([[-1.0 if number % 8 else 0.0] for number in range(0, 80, 4)])
    (test,) = paired_differences(change)
    assert (found.measured, found.low, found.high) == (-test.mean, -test.high, -test.low)


@pytest.mark.parametrize(
    ("policy", "counts_as"),
    [({"on_inconclusive": "pass"}, "pass"), ({"on_inconclusive": "fail"}, "fail"), ({}, "pass")],
)
@pytest.mark.parametrize("gate", ["population(recall@1) >= 0.7", "population(recall@1) drop <= 0.05"])
def test_an_inconclusive_gate_counts_as_was_asked_or_as_passed_and_says_so(gate, policy, counts_as):
    found = verdict(SIX_OF_EIGHT, gate, run(lambda number: 1 if number < 7 else 0), **policy)
    assert (found.verdict, found.counts_as) == ("inconclusive", counts_as)
    assert found.word == f"inconclusive (counts as {counts_as}ed)"


def test_a_gate_in_a_test_names_every_gate_that_failed():
    assert_gates(SIX_OF_EIGHT, ["recall@1 >= 0.75", "mrr@1 >= 0.75"])
    with pytest.raises(AssertionError) as failed:
        assert_gates(SIX_OF_EIGHT, ["recall@1 >= 0.8", "mrr@1 >= 0.75", "hit@9 >= 0", Gate.parse("lost <= 2")])
    lines = str(failed.value).splitlines()
    assert lines[0] == "recall@1 >= 0.8: failed: 0.750, 8 questions"
    assert lines[1].startswith("hit@9 >= 0: not measured: there is no score hit@9")
    assert lines[2] == "lost <= 2 questions: not measured: there is no baseline"


def test_an_inconclusive_gate_in_a_test_fails_if_that_is_wanted():
    assert_gates(SIX_OF_EIGHT, "population(recall@1) >= 0.7", cluster="question")
    with pytest.raises(AssertionError, match=r"power: .*; inconclusive \(counts as failed\): 0\.750, interval"):
        assert_gates(SIX_OF_EIGHT, "population(recall@1) >= 0.7", on_inconclusive="fail", cluster="question")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on_inconclusive": "maybe"}, "on_inconclusive='maybe': expected 'pass' or 'fail'"),
        ({"cluster": "page"}, "cluster='page': expected 'question' or 'document'"),
    ],
)
def test_another_policy_or_cluster_is_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        check_gates(ALL, [], **options)


# --- a gate measures or fails -----------------------------------------------------------------------------------------


@each("policy", ["pass", "fail"])
@each("gate", ["population(recall@1) drop <= 0.05", "population(recall@1) >= 0.9"])
@each("questions", [3, 4, 5])
def test_a_population_gate_on_fewer_than_six_questions_is_not_measured(gate, policy, questions):
    before, after = (run(lambda _, rank=rank: rank, questions) for rank in (1, 0))
    found = verdict(after, gate, before, on_inconclusive=policy)
    assert (found.verdict, found.counts_as) == ("not measured", "error")
    assert f"needs at least 6 questions, and there are {questions}" in found.told
    before, after = (run(lambda _, rank=rank: rank, 6) for rank in (1, 0))
    assert verdict(after, gate, before, on_inconclusive=policy).verdict != "not measured"


ANOTHER = "set another limit"
KEEP = f"{ANOTHER}, or keep another baseline"


@pytest.mark.parametrize(
    ("gate", "after", "before", "worst", "told"),
    [
        ("recall@1 >= 0", SIX_OF_EIGHT, None, "0.000", f"{ANOTHER}; found 0.750"),
        ("recall@1 <= 1", SIX_OF_EIGHT, None, "1.000", f"{ANOTHER}; found 0.750"),
        ("population(recall@1) >= 0", SIX_OF_EIGHT, None, "0.000", f"{ANOTHER}; found 0.750"),
        ("recall@1 >= 0 where tags=login", SIX_OF_EIGHT, None, "0.000", f"{ANOTHER}; found 0.667"),
        ("recall@1 drop <= 1", SIX_OF_EIGHT, SIX_OF_EIGHT, "0.750", f"{KEEP}; found 0.000"),
        ("recall@1 drop <= 0.75", SIX_OF_EIGHT, SIX_OF_EIGHT, "0.750", f"{KEEP}; found 0.000"),
        ("population(recall@1) drop <= 0.8", SIX_OF_EIGHT, SIX_OF_EIGHT, "0.750", f"{KEEP}; found 0.000"),
        ("recall@1 drop <= 0.7 where tags=login", SIX_OF_EIGHT, SIX_OF_EIGHT, "0.667", f"{KEEP}; found 0.000"),
        ("lost <= 6 questions", SIX_OF_EIGHT, SIX_OF_EIGHT, "6", f"{KEEP}; found 0 of 6 {FOUND}@1"),
        ("recall@1 drop <= 0.02", NONE, NONE, "0.000", f"{KEEP}; found 0.000"),
        ("recall@1 drop <= 0.02", SIX_OF_EIGHT, NONE, "0.000", f"{KEEP}; found -0.750"),
        ("population(recall@1) drop <= 0.02", NONE, NONE, "0.000", f"{KEEP}; found 0.000"),
        ("population(recall@1) drop <= 0.02", SIX_OF_EIGHT, NONE, "0.000", f"{KEEP}; found -0.750"),
        ("lost <= 0", ALL, NONE, "0", f"{KEEP}; found 0 of 0 {FOUND}@1"),
    ],
)
def test_a_gate_that_cannot_fail_is_not_measured(gate, after, before, worst, told):
    found = verdict(after, gate, before)
    assert (found.verdict, found.counts_as) == ("not measured", "error")
    assert found.told.startswith(f"cannot fail, as {worst} is the worst that is possible; {told}")


@pytest.mark.parametrize(
    "gate",
    ["recall@1 > 0", "recall@1 < 1", "recall@1 drop < 0.75", "recall@1 drop <= 0.74", "lost <= 5", "lost < 6"],
)
def test_a_gate_that_only_the_worst_case_fails_is_measured(gate):
    assert verdict(SIX_OF_EIGHT, gate, SIX_OF_EIGHT).verdict == "passed"
    worst = run(lambda _: 1) if "< 1" in gate else NONE
    assert verdict(worst, gate, SIX_OF_EIGHT).verdict == "failed"


def test_a_score_below_0_can_drop_from_0():
    one, other = (with_columns(ALL, {"my_recall@1": np.full(8, score)}) for score in (0.0, -1.0))
    assert verdict(other, "my_recall@1 drop <= 0.5", one).verdict == "failed"


@pytest.mark.parametrize("least", [1.0, -1.0])
def test_the_worst_drop_is_one_to_the_least_score_that_the_metric_has(least):
    class Points(DocumentLevelMetric):
        score_range = (least, 5.0)

        def calculate(self, retrieved, ground_truth):
            return 3.0

    result = run(lambda _: 1, k=[1], metrics=[Points()])
    assert verdict(result, f"points@1 drop <= {3 - least}", result).verdict == "not measured"
    assert verdict(result, f"points@1 drop <= {2.9 - least}", result).verdict == "passed"


def test_a_bound_that_is_known_is_told_beside_one_that_is_not():
    class Points(DocumentLevelMetric):
        score_range = (0.0, math.inf)

        def calculate(self, retrieved, ground_truth):
            return 3.0

    found = verdict(run(lambda _: 1, k=[1], metrics=[Points()]), "population(points@1) >= 1")
    assert found.told == f"3.000, interval {found.low:.3f} to ?, 8 questions"


def test_a_population_gate_of_a_report_alone_is_that_of_its_run(tmp_path):
    (tmp_path / "alone").mkdir()
    report = (ALL.save(tmp_path / "run") / "report.json").rename(tmp_path / "alone/report.json")
    alone = load_result(report)
    for gate in ("population(recall@1) >= 0.5", "population(recall@1) drop <= 0.5"):
        for cluster in ("document", "question", None):
            assert verdict(alone, gate, alone, cluster=cluster) == verdict(ALL, gate, ALL, cluster=cluster)


COMPARED = "compared >= 90 %"
ZEROS = {"failing": (0, 1), "count_as_zero": ["failed"]}


@each(
    ("before", "after", "told"),
    [
        ((3, {}), (1, {}), "failed: 33 %, 1 of 3 questions; gone: q1, q2; if that is meant, keep a new baseline"),
        ((1, {}), (3, {}), "failed: 33 %, 1 of 3 questions; new: q1, q2; if"),
        ((10, {}), (9, {}), "passed: 90 %, 9 of 10 questions; gone: q9"),
        ((10, {}), (8, {}), "failed: 80 %, 8 of 10 questions; gone: q8, q9; if"),
        ((10, {}), (10, {}), "passed: 100 %, 10 of 10 questions"),
        ((10, {}), (10, {"unanswerable": (0, 1)}), "failed: 80 %, 8 of 10 questions; with other wording or labels: q0"),
        ((10, {"failing": (0,), "skipped": (1,)}), (10, {}), "failed: 80 %, 8 of 10 questions; failed or skipped in"),
        ((10, {}), (10, {"failing": (0, 1, 2), "skipped": (3, 4)}), "passed: 100 %, 10 of 10 questions"),
        ((10, ZEROS), (10, {}), "failed: 80 %, 8 of 10 questions; failed or skipped in the baseline: q0, q1; if that"),
        ((10, {}), (10, ZEROS), "passed: 100 %, 10 of 10 questions"),
    ],
)
def test_more_than_a_tenth_of_the_questions_may_not_be_others_than_those_of_the_baseline(before, after, told):
    one, other = (run(lambda _: 1, count, **options) for count, options in (before, after))
    found = verdict(other, COMPARED, one)
    assert f"{found.verdict}: {found.told}".startswith(told)
    assert (found.counts_as == "fail") == told.startswith("failed")
    assert ("rag-eval baseline last" in found.told) == (found.verdict == "failed")


@pytest.mark.parametrize("given", [[], ["compared >= 50 %"], ["lost <= 1"]])
def test_in_python_as_on_the_command_line_a_baseline_brings_a_gate_on_what_is_compared(given):
    cut = run(lambda _: 1, 7)
    found = check_gates(cut, given, run(lambda _: 1, 10))
    shares = [(one.gate, one.source, one.verdict) for one in found if one.gate.startswith("compared")]
    default = (COMPARED, "by default", "failed")
    assert shares == ([("compared >= 50 %", "", "passed")] if "compared >= 50 %" in given else [default])
    assert check_gates(cut, []) == ()
    if "compared >= 50 %" not in given:
        with pytest.raises(AssertionError, match="compared >= 90 %: failed: 70 %, 7 of 10 questions; gone: q7"):
            assert_gates(cut, given, run(lambda _: 1, 10))


def test_in_python_as_on_the_command_line_questions_that_failed_or_were_skipped_let_no_gate_pass():
    failing, skipping = run(lambda _: 1, failing=(3,)), run(lambda _: 1, skipped=(3,))
    for result, problem in (
        (
            failing,
            "1 of 8 questions failed, more than the 0 allowed (allow_failures, --allow-failures); found: 1.000, "
            "7 of 8 questions",
        ),
        (
            skipping,
            "1 of 8 answerable questions was skipped, more than the 0 allowed (allow_skipped, --allow-skipped); "
            "found: 1.000, 7 of 8 questions",
        ),
    ):
        (found,) = check_gates(result, "recall@1 >= 0.9")
        assert (found.verdict, found.counts_as) == ("not measured", "error")
        assert found.told.startswith(problem)
        with pytest.raises(AssertionError, match="not measured: 1 of 8"):
            assert_gates(result, "recall@1 >= 0.9")
        off = Gate("score", "recall@1", ">=", 0.0, off=True)
        told = [one.told for one in check_gates(result, [off, "recall@9 >= 0.5"])]
        assert told[0] == "a threshold of 0 turns this gate off"
        assert told[1].startswith("there is no score recall@9")
    assert_gates(failing, "recall@1 >= 0.9", allow_failures=1)
    assert_gates(skipping, "recall@1 >= 0.9", allow_skipped=1)


@dataclass(frozen=True)
class Weighted(DocumentLevelMetric):
    weight: float

    def calculate(self, retrieved, ground_truth):
        return self.weight


class Hit(Weighted):
    """A metric of one's own that has the name of a built-in one."""


@pytest.mark.parametrize(
    ("metric", "gate", "told"),
    [
        (Weighted, "weighted@1 drop <= 0.3", "weighted@1 is not comparable: weight 0.5 before, 0.6 after"),
        (Weighted, "population(weighted@1) drop <= 0.3", "weighted@1 is not comparable: weight 0.5 before, 0.6 after"),
        (
            Hit,
            "lost@1 <= 2",
            "no score tells what was found at 1 (hit@1 is not comparable: weight 0.5 before, 0.6 after); there are "
            "mrr@1",
        ),
    ],
)
def test_a_gate_on_a_score_that_was_measured_otherwise_in_the_baseline_is_not_measured(metric, gate, told):
    before, after = (run(lambda _: 1, k=[1], metrics=[MRR(), metric(weight)]) for weight in (0.5, 0.6))
    found = verdict(after, gate, before)
    assert (found.verdict, found.counts_as) == ("not measured", "error")
    assert found.told == told
    assert verdict(after, gate, replace(after, name="same")).verdict != "not measured"


@pytest.mark.parametrize(
    ("gate", "told"),
    [
        ("recall@50ch >= 0", "filled: 8"),
        ("recall@50ch drop <= 1", "filled: 8 now"),
        ("lost@50ch <= 8", "filled: 8 now"),
    ],
)
def test_a_verdict_says_that_a_budget_was_not_filled(gate, told):
    dataset = Dataset(
        [DocumentLevelGroundTruth(query(number), [DocumentId("d0")]) for number in range(8)], DOCUMENT, corpus=CORPUS
    )
    ids = [{"doc_id": document.id} for document in CORPUS]
    whole, part = (
        evaluate(lambda _, k, found=found: found[:k], dataset, k=1, budgets=["50ch"]) for found in (ids, ids[:2])
    )
    assert verdict(part, gate, whole).told.endswith(f", rankings that ran out of results before the budget was {told}")
    assert "ran out" not in verdict(whole, gate, whole).told
    assert "ran out" not in verdict(part, gate.replace("50ch", "1"), whole).told


@pytest.mark.parametrize("written", ["max.p95TotalMs=1_000", "min.recallAtK=\uff10.\uff17\uff15", "min.recallAtK=inf"])
def test_a_threshold_is_a_number_as_gates_have_it(written):
    problems: list[str] = []
    assert parse_thresholds([written, "min.mrrAtK = 5e-1"], "--threshold", problems) == {"min.mrrAtK": 0.5}
    assert len(problems) == 1
    assert "expected a number" in problems[0]


@pytest.mark.parametrize(
    ("names", "bounded"),
    [
        (["mrr@2", "span_recall@2"], "span_recall@2"),
        (["chunk_recall@2", "span_recall@2"], "chunk_recall@2"),
        (["mrr@2"], "recall@2"),  # which the run is then told to lack
    ],
)
def test_a_threshold_bounds_the_first_of_its_metrics_that_the_run_has(names, bounded):
    assert threshold_gate("min.recallAtK", 0.5, Cutoff(2), names, "a file").name == bounded


def test_a_result_that_cannot_be_relied_on_is_refused_for_its_problems_or_else_for_gates_that_were_not_measured():
    (unmeasured,) = check_gates(run(lambda number: 1), ["hit@1 >= 0.5 where tags=nobody"])
    result = replace(run(lambda number: 1), gates=(unmeasured,))
    with pytest.raises(ConfigError, match=r"^2 questions failed; 1 was skipped$"):
        refuse_unreliable(result, ["2 questions failed", "1 was skipped"])
    with pytest.raises(ConfigError, match=r"^gate 'hit@1 .*' could not be measured: "):
        refuse_unreliable(result, [])
    refuse_unreliable(run(lambda number: 1), [])
