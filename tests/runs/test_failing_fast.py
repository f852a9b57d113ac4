"""`on_error="raise"`: the first question that fails, or metric that raises, ends the run (R210)."""

import asyncio
import threading
import time

import pytest

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    Query,
    Retriever,
    SpanRecall,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.errors import QueryFailed, UnreadableAnswer
from rag_evaluation_framework.scoring.metrics import SpanMetric

CORPUS = Corpus([Document(DocumentId("d"), "The sky is blue. Grass is green. Snow is white.")])


def numbers(count):
    """A dataset of questions whose wording is their number."""
    spans = [CharacterSpan(DocumentId("d"), 0, 16)]
    queries = [Query(QueryId(f"q{number}"), QueryText(str(number))) for number in range(count)]
    return Dataset([TokenLevelGroundTruth(query, spans) for query in queries], TOKEN, corpus=CORPUS)


def found(k):
    return ["The sky is blue.", "Grass is green."][:k]


class Closing(Retriever):
    """Fails on some questions, and tells what it was asked and whether it was closed."""

    def __init__(self, *bad, error=None, returned=None):
        self.bad, self.error, self.returned = bad, error or ConnectionError("gone away"), returned
        self.asked, self.closed = [], 0

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        self.asked.append(query)
        if query not in self.bad:
            return found(k)
        if self.returned is not None:
            return self.returned
        raise self.error

    def close(self):
        self.closed += 1


class Together(Closing):
    """Is asked for many questions together."""

    def retrieve_many(self, queries, k):
        self.asked += queries
        return [self.returned if query in self.bad else found(k) for query in queries]


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ({"error": ConnectionError("gone away")}, "ConnectionError: gone away"),
        ({"error": SystemExit(0)}, r"SystemExit: called sys\.exit\(0\)"),
        ({"returned": 5}, "UnreadableAnswer: Closing returned int; expected a list"),
    ],
    ids=["raises", "exits", "returns what cannot be used"],
)
def test_the_first_question_that_fails_ends_the_run_and_nothing_is_saved(tmp_path, failing, said):
    retriever = Closing("2", "3", **failing)
    with pytest.raises(QueryFailed, match=rf"question 'q2' \('2'\) failed: retrieve: {said}") as caught:
        evaluate(retriever, numbers(5), on_error="raise", save_results_path=tmp_path / "kept")
    assert "returned" in failing or caught.value.__cause__ is retriever.error
    assert caught.value.query_id == "q2"
    assert "QueryFailed" not in str(caught.value)
    assert (retriever.asked, retriever.closed) == (["0", "1", "2"], 1)
    assert not list((tmp_path / "kept").glob("runs/*"))


def test_by_default_failures_are_collected_and_where_nothing_fails_the_result_is_the_same():
    assert EvaluationConfig().on_error == "collect"
    for options in ({}, {"on_error": "collect"}):
        retriever = Closing("2")
        assert list(evaluate(retriever, numbers(5), **options).failures) == ["q2"]
    collected, raised = (evaluate(Closing(), numbers(3), on_error=how) for how in ("collect", "raise"))
    assert collected.metrics == raised.metrics
    assert collected.config == raised.config


@pytest.mark.parametrize("at_once", [1, 8])
def test_the_first_two_questions_are_the_trial_however_many_are_asked_at_once(at_once):
    def search(query, k):
        if query in bad:
            return None
        time.sleep(0.05)
        return found(k)

    bad = ("0", "5")
    assert list(evaluate(search, numbers(9), max_concurrency=at_once).failures) == ["q0", "q5"]
    bad = ("0", "1")
    with pytest.raises(UnreadableAnswer, match="so it did for the first 2 questions, and no other was asked"):
        evaluate(search, numbers(9), max_concurrency=at_once)


def test_of_questions_asked_together_the_first_whose_answer_cannot_be_used_ends_the_run():
    count = 120  # 50 of them are asked one at a time, before the others
    alone = {str(number * count // 50) for number in range(50)}
    first, second = [str(number) for number in range(count) if str(number) not in alone][:2]
    retriever = Together(first, second, returned=5)
    with pytest.raises(QueryFailed, match=rf"question 'q{first}' .*expected a list"):
        evaluate(retriever, numbers(count), on_error="raise")
    assert retriever.closed == 1


def test_if_asking_together_fails_each_is_asked_alone_and_the_first_that_fails_ends_the_run():
    class Overloaded(Closing):
        def retrieve_many(self, queries, k):
            raise TimeoutError("too many at once")

    retriever = Overloaded("119")
    with pytest.raises(QueryFailed, match=r"question 'q119' .*gone away"):
        evaluate(retriever, numbers(120), on_error="raise")
    assert evaluate(Overloaded(), numbers(120), on_error="raise").counts["scored"] == 120


def test_side_by_side_the_first_in_the_order_of_the_questions_ends_the_run():
    late = threading.Event()

    def search(query, k):
        if query == "2":
            late.wait(10)
            raise ConnectionError("the second to fail")
        if query == "3":
            late.set()
            raise ConnectionError("the first to fail")
        return found(k)

    with pytest.raises(QueryFailed, match=r"question 'q2' .*the second to fail"):
        evaluate(search, numbers(8), on_error="raise", max_concurrency=4)


def test_side_by_side_nothing_else_is_asked_and_coroutines_are_cancelled():
    asked, cancelled = [], []

    async def search(query, k):
        asked.append(query)
        if query == "1":
            await asyncio.sleep(0.05)
            raise ConnectionError("gone away")
        if query != "0":  # asked first, alone
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(query)
                raise
        return found(k)

    with pytest.raises(QueryFailed, match=r"question 'q1' .*gone away"):
        evaluate(search, numbers(30), on_error="raise", max_concurrency=3)
    assert len(asked) <= 5
    give_up = time.monotonic() + 30  # the loop cancels them in its own thread
    while len(cancelled) < len(asked) - 2 and time.monotonic() < give_up:
        time.sleep(0.01)
    assert sorted(cancelled) == sorted(set(asked) - {"0", "1"})


class Fussy(TokenLevelMetric):
    """Raises for some questions, which it tells by how often it was called."""

    def __init__(self, *bad, error=None):
        self.bad, self.error, self.calls = bad, error, 0

    def calculate(self, retrieved, ground_truth):
        self.calls += 1
        if self.calls - 1 in self.bad:
            if self.error is None:
                return float("nan")
            raise self.error
        return 1.0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("no length"), "ZeroDivisionError: no length"),
        (SystemExit(3), r"SystemExit: called sys\.exit\(3\)"),
        (None, "ValueError: returned nan; expected a finite number"),
    ],
    ids=["raises", "exits", "nan"],
)
def test_a_metric_that_fails_ends_the_run(error, said):
    retriever, metric = Closing(), Fussy(2, 3, error=error)
    with pytest.raises(QueryFailed, match=rf"question 'q2' failed: score fussy@5: {said}") as caught:
        evaluate(retriever, numbers(5), k=5, budgets=[], metrics=[SpanRecall(), metric], on_error="raise")
    assert error is None or caught.value.__cause__ is error
    assert retriever.closed == 1
    assert metric.calls == (5 if error is None else 3)


def test_a_number_that_is_not_finite_before_an_error_is_the_first():
    class Both(Fussy):
        def calculate(self, retrieved, ground_truth):
            self.error = None if self.calls == 1 else OSError("disk")
            return super().calculate(retrieved, ground_truth)

    with pytest.raises(QueryFailed, match=r"'q1'.*returned nan"):
        evaluate(Closing(), numbers(4), k=5, budgets=[], metrics=[Both(1, 2)], on_error="raise")


def test_a_metric_over_all_questions_that_raises_ends_the_run():
    class Broken(SpanMetric):
        def score(self, judged):
            raise KeyError("nothing")

    with pytest.raises(QueryFailed, match="question 'q0' failed: score broken@5: KeyError") as caught:
        evaluate(Closing(), numbers(2), k=5, budgets=[], metrics=[Broken()], on_error="raise")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("answer", [None, {"error": "top_k"}, ValueError("top_k")])
def test_a_retriever_with_a_limit_below_what_a_budget_needs_is_scored_by_what_it_found(answer):
    def search(query, k):
        if k > 2 and isinstance(answer, Exception):
            raise answer
        return found(k) if k <= 2 else answer

    result = evaluate(search, numbers(5), k=2, budgets=["40ch"])
    assert result.metrics["span_recall@2"] == evaluate(search, numbers(5), k=2, budgets=[]).metrics["span_recall@2"]
    assert not result.failures
    assert result.config["depth"] == 2
    failed, unfilled = result.notes
    assert "search failed on every question that was asked for " in failed
    assert unfilled.endswith("before the budget was filled: 5 of 5 at 40ch")


def test_a_question_that_alone_cannot_be_asked_for_more_fails():
    def search(query, k):
        if k > 2 and query == "2":
            raise ValueError("too many")
        return [*found(k), "Snow is white."][:k]

    assert list(evaluate(search, numbers(5), k=2, budgets=["40ch"]).failures) == ["q2"]
