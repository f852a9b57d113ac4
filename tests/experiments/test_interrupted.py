"""Runs that are interrupted: what was answered can be shown, the rest are failures, and nothing is saved as a run."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    ExperimentConfig,
    Query,
    Retriever,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
    retrieve,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.rankings import NOT_ANSWERED
from rag_evaluation_framework.errors import ComponentExited, Interrupted
from rag_evaluation_framework.experiments import ranker, run

# 400 characters, no two alike: every text stands in one place.
TEXT = "".join(chr(0x4E00 + number) for number in range(400))
CORPUS = Corpus([Document(DocumentId("d"), TEXT)])


def dataset(size):
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(str(number)), QueryText(str(number))),
            [CharacterSpan(DocumentId("d"), number % 300, number % 300 + 20)],
        )
        for number in range(size)
    ]
    return Dataset(entries, TOKEN, name="numbers", corpus=CORPUS)


def around(query, k):
    """Find the text around the place that a question names, ten characters at a time."""
    first = int(query) % 300
    return [TEXT[place : place + 10] for place in range(first, 390, 10)][:k]


def interrupting(*at):
    """A pipeline that is interrupted at these questions, and knows what it was asked."""
    asked = []

    def search(query, k):
        asked.append(query)
        if query in at:
            raise KeyboardInterrupt
        return around(query, k)

    return search, asked


def interrupted(retriever, size, **options):
    """The result of a run that is interrupted, of what was answered."""
    k, metrics = options.pop("k", 2), options.pop("metrics", None)
    config = EvaluationConfig(**{"budgets": [], **options})
    result, ended = run(ExperimentConfig(retriever, dataset(size), k=k, metrics=metrics, config=config))
    assert isinstance(ended, KeyboardInterrupt)
    return result


def kept(result):
    """The questions that were answered; the others were not, for no other reason."""
    assert set(result.failures.values()) <= {(NOT_ANSWERED,)}
    return [query.query_id for query in result.queries if query.status == "scored"]


def test_what_was_answered_is_scored_and_the_rest_has_failed():
    search, asked = interrupting("3")
    result = interrupted(search, 5)
    assert kept(result) == ["0", "1", "2"]
    assert result.notes == ("interrupted: 3 of 5 questions were answered",)
    assert result.metrics == evaluate(around, dataset(3), k=2, budgets=[]).metrics
    assert asked == ["0", "1", "2", "3"]


def test_it_is_no_finished_run_and_nothing_is_saved(tmp_path):
    search, _ = interrupting("3")
    result = interrupted(search, 5, save_results_path=tmp_path)
    assert (result.folder, [path.name for path in tmp_path.iterdir()]) == (None, ["cache"])  # made of the documents


def test_in_python_the_interrupt_says_how_much_was_answered_and_what_would_have_kept_it():
    search, _ = interrupting("3")
    with pytest.raises(Interrupted) as caught:
        evaluate(search, dataset(5), k=2, budgets=[])
    assert str(caught.value) == "3 of 5 questions were answered, and nothing is kept; resume=True keeps answers"
    assert isinstance(caught.value, KeyboardInterrupt)


@pytest.mark.parametrize("at", ["index", "prepare", "0"])
def test_without_an_answer_there_is_nothing_to_keep(tmp_path, at):
    class Stopping(Retriever):
        closed = False

        def index(self, corpus):
            self.stop("index")

        def prepare(self, queries):
            self.stop("prepare")

        def retrieve(self, query, k):
            self.stop(query)
            return around(query, k)

        def close(self):
            self.closed = True

        def stop(self, step):
            if step == at:
                raise KeyboardInterrupt

    config = EvaluationConfig(save_results_path=tmp_path, budgets=[])
    retriever = Stopping()
    with pytest.raises(KeyboardInterrupt) as caught:
        run(ExperimentConfig(retriever, dataset(5), k=2, config=config))
    assert not isinstance(caught.value, Interrupted)
    assert retriever.closed
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]  # what was made of the documents


def test_on_error_raise_keeps_what_was_answered():
    search, _ = interrupting("3")
    assert kept(interrupted(search, 5, on_error="raise")) == ["0", "1", "2"]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_what_threads_answered_is_kept_though_nobody_had_fetched_it():
    answered, enough = [], threading.Event()

    def search(query, k):
        if query == "7":  # an early one: the answers of the others wait behind it to be fetched
            enough.wait(30)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            return around(query, k)
        found = around(query, k)
        answered.append(query)
        if len(answered) >= 60:
            enough.set()
            time.sleep(0.1)
        return found

    result = interrupted(search, 200, max_concurrency=4)
    assert 60 <= len(answered) < 150
    assert {*kept(result)} - {"7"} <= {*answered}
    assert len(answered) - len(kept(result)) <= 3  # those that were still running
    alone = evaluate(around, dataset(200), k=2, budgets=[])
    assert all(result.scores.row(query) == alone.scores.row(query) for query in kept(result))


class Together(Retriever):
    """Is asked for many questions together, and interrupted in the second request."""

    def __init__(self, swallow=False):
        self.requests = 0

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return around(query, k)

    def retrieve_many(self, queries, k):
        self.requests += 1
        if self.requests == 2:
            raise KeyboardInterrupt
        return [around(query, k) for query in queries]


def test_questions_that_were_asked_together_are_kept():
    result = interrupted(Together(), 700)
    assert len(kept(result)) == 50 + 256  # those that were asked alone, and the first request


def test_answers_of_one_request_that_were_not_read_yet_are_kept(monkeypatch):
    class Stopping(ranker.HitLocator):
        placed = 0

        def place(self, ranking):
            Stopping.placed += 1
            if Stopping.placed == 60:
                raise KeyboardInterrupt
            return super().place(ranking)

    monkeypatch.setattr(ranker, "HitLocator", Stopping)
    assert len(kept(interrupted(Together(), 700))) == 50 + 256


def test_a_question_whose_budget_was_not_filled_yet_counts_as_not_answered():
    class Short(Retriever):
        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            if k > 10 and query == "3":
                raise KeyboardInterrupt
            return [TEXT[place : place + 1] for place in range(390)][:k]

    assert kept(interrupted(Short(), 6, budgets=["30ch"])) == ["0", "1", "2"]


def test_a_question_for_which_there_was_nothing_more_counts_as_answered():
    search, asked = interrupting("3")
    result = interrupted(lambda query, k: search(query, k)[:1], 6, budgets=["30ch"])
    assert kept(result) == ["0", "1", "2"]
    assert asked == ["0", "1", "2", "3"]
    told = "† rankings that ran out of results before the budget was filled: 3 of 3 at 30ch"
    assert told in result.notes


def test_a_question_that_was_not_asked_at_every_k_counts_as_not_answered():
    class Unstable(Retriever):
        prefix_stable = False

        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            if k == 2 and query == "4":
                raise KeyboardInterrupt
            return around(query, k)

    assert kept(interrupted(Unstable(), 6, k=[5, 2])) == ["0", "1", "2", "3"]


def test_an_interrupt_while_the_retriever_is_closed_comes_after_the_answers():
    class Stopping(Retriever):
        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            return around(query, k)

        def close(self):
            raise KeyboardInterrupt

    assert len(kept(interrupted(Stopping(), 5))) == 5


class Closing(Retriever):
    """Ends when it is closed, however it is told to; maybe after an interrupt."""

    def __init__(self, error, interrupted_at=None):
        self.error = error
        self.search, _ = interrupting(interrupted_at)

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return self.search(query, k)

    def close(self):
        raise self.error


def test_a_retriever_that_exits_when_it_is_closed_does_not_lose_the_result(tmp_path):
    result = evaluate(Closing(SystemExit(0)), dataset(5), k=2, budgets=[], save_results_path=tmp_path)
    (folder,) = (tmp_path / "runs").iterdir()
    assert len(kept(result)) == 5
    assert "could not be closed: ComponentExited: Closing: called sys.exit(0)" in result.notes[0]
    assert load_result(folder) == result


def test_that_it_exited_is_how_the_run_ended():
    config = EvaluationConfig(budgets=[])
    _, ended = run(ExperimentConfig(Closing(SystemExit(0)), dataset(5), k=2, config=config))
    assert isinstance(ended, ComponentExited)


@pytest.mark.parametrize("error", [SystemExit(0), OSError("gone"), GeneratorExit("over")])
def test_a_retriever_that_fails_when_it_is_closed_after_an_interrupt_loses_no_answer(error):
    result = interrupted(Closing(error, "3"), 5)
    assert kept(result) == ["0", "1", "2"]
    assert "Closing could not be closed: " in result.notes[1]


def test_retrieve_keeps_the_rankings_of_a_retriever_that_exits_when_it_is_closed():
    rankings = retrieve(Closing(SystemExit(0)), CORPUS, dataset(5).queries, 2)
    assert [len(ranking.hits) for ranking in rankings] == [2] * 5
    assert "Closing could not be closed: " in rankings.notes[0]


def test_retrieve_says_how_much_was_answered():
    search, _ = interrupting("3")
    with pytest.raises(Interrupted, match="3 of 5 questions were answered, and nothing is kept"):
        retrieve(search, CORPUS, dataset(5).queries, 2)


AT_ANY_MOMENT = """
import signal, sys, time
from experiments.test_interrupted import around, dataset
from rag_evaluation_framework import EvaluationConfig, ExperimentConfig
from rag_evaluation_framework.experiments import run as run_whole

def run():
    experiment = ExperimentConfig(around, dataset(60), k=[2, 5], config=EvaluationConfig(budgets=["40ch"]))
    return run_whole(experiment)[0]

def interrupted(seconds):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return run()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:  # before the first answer, or between two steps
        return None

def scored(result):  # nothing, if it comes between the two steps of which it would be the first interrupt
    assert {failure.kind for each in result.failures.values() for failure in each} <= {"Interrupted"}, result.failures
    return [query.query_id for query in result.queries if query.status == "scored" and not query.failures]

sys.unraisablehook = lambda _: None  # some come within a `__del__`
whole, start = run(), time.perf_counter()
run()
life, partial = time.perf_counter() - start, 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
for moment in range(150):
    result = interrupted(life * (moment + 1) / 150)
    if result is not None:
        partial += 0 < len(scored(result)) < 60
        for query in scored(result):
            assert result.scores.row(query) == whole.scores.row(query), query
            assert result.queries[int(query)].hits == whole.queries[int(query)].hits, query
print(partial)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_at_any_moment_keeps_true_scores_only():
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-c", AT_ANY_MOMENT]
    done = subprocess.run(command, cwd=tests, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20
