"""Runs that are interrupted: what was answered is kept, the rest are failures, and nothing else changes."""

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
    SpanRecall,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
    load_result,
    retrieve,
    run_experiment,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.rankings import NOT_ANSWERED, Failure
from rag_evaluation_framework.errors import ComponentExited, Interrupted
from rag_evaluation_framework.experiments import ranker
from rag_evaluation_framework.results import result as results

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
    with pytest.raises(Interrupted) as caught:
        evaluate(retriever, dataset(size), budgets=[], **{"k": 2, **options})
    return caught.value


def kept(result):
    """The questions that were answered; the others were not, for no other reason."""
    assert set(result.failures.values()) <= {(NOT_ANSWERED,)}
    return [query.query_id for query in result.queries if query.status == "scored"]


def test_what_was_answered_is_scored_and_the_rest_has_failed():
    search, asked = interrupting("3")
    stopped = interrupted(search, 5)
    assert str(stopped) == "3 of 5 questions were answered; the result is not saved"
    assert isinstance(stopped, KeyboardInterrupt)
    assert kept(stopped.result) == ["0", "1", "2"]
    assert stopped.result.notes == ("interrupted: 3 of 5 questions were answered",)
    assert stopped.result.metrics == evaluate(around, dataset(3), k=2, budgets=[]).metrics
    assert asked == ["0", "1", "2", "3"]


def test_what_was_answered_is_saved_where_the_result_was_to_be(tmp_path):
    search, _ = interrupting("3")
    config = EvaluationConfig(save_results_path=tmp_path, budgets=[])
    with pytest.raises(Interrupted) as caught:
        run_experiment(ExperimentConfig(search, dataset(5), k=2, config=config))
    (folder,) = (tmp_path / "runs").iterdir()
    assert str(caught.value) == f"3 of 5 questions were answered; the result is saved in {folder}"
    assert caught.value.result.folder == folder
    assert load_result(folder) == caught.value.result


def test_what_was_answered_is_in_the_interrupt_though_it_cannot_be_saved(tmp_path):
    search, _ = interrupting("3")

    def taking(query, k):
        (tmp_path / "taken").touch()
        return search(query, k)

    config = EvaluationConfig(save_results_path=tmp_path / "taken", budgets=[])
    with pytest.raises(Interrupted, match=r"3 of 5 questions were answered; the result is not saved: .*cannot") as no:
        run_experiment(ExperimentConfig(taking, dataset(5), k=2, config=config))
    assert no.value.result.folder is None
    assert load_result(no.value.result.save(tmp_path / "elsewhere")) == no.value.result


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
        run_experiment(ExperimentConfig(retriever, dataset(5), k=2, config=config))
    assert not isinstance(caught.value, Interrupted)
    assert retriever.closed
    assert list(tmp_path.iterdir()) == []


def test_on_error_raise_keeps_what_was_answered():
    search, _ = interrupting("3")
    assert kept(interrupted(search, 5, on_error="raise").result) == ["0", "1", "2"]


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

    result = interrupted(search, 200, max_concurrency=4).result
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
    result = interrupted(Together(), 700).result
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
    assert len(kept(interrupted(Together(), 700).result)) == 50 + 256


def test_a_question_whose_budget_was_not_filled_yet_counts_as_not_answered():
    class Short(Retriever):
        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            if k > 10 and query == "3":
                raise KeyboardInterrupt
            return [TEXT[place : place + 1] for place in range(390)][:k]

    with pytest.raises(Interrupted) as caught:
        evaluate(Short(), dataset(6), k=2, budgets=["30ch"])
    assert kept(caught.value.result) == ["0", "1", "2"]


def test_a_question_for_which_there_was_nothing_more_counts_as_answered():
    search, asked = interrupting("3")
    with pytest.raises(Interrupted) as caught:
        evaluate(lambda query, k: search(query, k)[:1], dataset(6), k=2, budgets=["30ch"])
    assert kept(caught.value.result) == ["0", "1", "2"]
    assert asked == ["0", "1", "2", "3"]
    told = "† rankings that ran out of results before the budget was filled: 3 of 3 at 30ch"
    assert told in caught.value.result.notes


def test_a_question_that_was_not_asked_at_every_k_counts_as_not_answered():
    class Unstable(Retriever):
        prefix_stable = False

        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            if k == 2 and query == "4":
                raise KeyboardInterrupt
            return around(query, k)

    assert kept(interrupted(Unstable(), 6, k=[5, 2]).result) == ["0", "1", "2", "3"]


def test_an_interrupt_while_scores_are_made_does_not_lose_them(tmp_path):
    class Stopping(TokenLevelMetric):
        calls = 0

        def calculate(self, retrieved, ground_truth):
            Stopping.calls += 1
            if Stopping.calls == 3:
                raise KeyboardInterrupt
            return 1.0

    config = EvaluationConfig(save_results_path=tmp_path, budgets=[])
    experiment = ExperimentConfig(around, dataset(5), metrics=[Stopping(), SpanRecall()], k=2, config=config)
    with pytest.raises(Interrupted, match="5 of 5 questions were answered; the result is saved in") as caught:
        run_experiment(experiment)
    result = caught.value.result
    assert result.notes == ()
    assert len(kept(result)) == 5
    assert len(list((tmp_path / "runs").iterdir())) == 1


class Interrupting(TokenLevelMetric):
    """Is interrupted whenever it is asked."""

    def calculate(self, retrieved, ground_truth):
        raise KeyboardInterrupt


@pytest.mark.parametrize("on_error", ["collect", "raise"])
def test_scores_that_are_interrupted_again_and_again_do_not_lose_the_answers(tmp_path, capsys, on_error):
    config = EvaluationConfig(save_results_path=tmp_path, budgets=[], on_error=on_error)
    experiment = ExperimentConfig(around, dataset(5), metrics=[Interrupting(), SpanRecall()], k=[2, 5], config=config)
    with pytest.raises(Interrupted, match="5 of 5 questions were answered, but not scored; the result is s") as caught:
        run_experiment(experiment)
    result = caught.value.result
    assert {failure for failures in result.failures.values() for failure in failures} == {
        Failure(f"score {name}", "Interrupted", "not scored, as the run was interrupted") for name in result.metrics
    }
    assert set(result.metrics.values()) == {None}
    assert result.counts["metric_failed"] == 5
    assert [len(query.hits) for query in result.queries] == [5] * 5
    assert load_result(result.folder) == result
    assert capsys.readouterr().err == "interrupted: finishing; again to stop now\n"


def test_an_interrupt_while_the_retriever_is_closed_does_not_lose_the_answers():
    class Stopping(Retriever):
        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            return around(query, k)

        def close(self):
            raise KeyboardInterrupt

    assert len(kept(interrupted(Stopping(), 5).result)) == 5


def test_an_interrupt_while_the_result_is_saved_does_not_lose_it(tmp_path, monkeypatch):
    real, calls = results.write_hit_lines, []

    def stopping(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        real(*arguments)

    monkeypatch.setattr(results, "write_hit_lines", stopping)
    config = EvaluationConfig(save_results_path=tmp_path, budgets=[])
    with pytest.raises(Interrupted) as caught:
        run_experiment(ExperimentConfig(around, dataset(5), k=2, config=config))
    (folder,) = (tmp_path / "runs").iterdir()
    assert load_result(folder) == caught.value.result


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
    config = EvaluationConfig(save_results_path=tmp_path, budgets=[])
    with pytest.raises(ComponentExited) as caught:
        run_experiment(ExperimentConfig(Closing(SystemExit(0)), dataset(5), k=2, config=config))
    (folder,) = (tmp_path / "runs").iterdir()
    assert "Closing: called sys.exit(0) " in str(caught.value)
    assert str(caught.value).endswith(f"5 of 5 questions were answered; the result is saved in {folder}")
    assert len(kept(caught.value.result)) == 5
    assert "could not be closed: ComponentExited: Closing: called sys.exit(0)" in caught.value.result.notes[0]
    assert load_result(folder) == caught.value.result


def test_such_a_result_that_cannot_be_saved_is_in_the_error(tmp_path):
    retriever = Closing(SystemExit(0))
    retriever.index = lambda corpus: (tmp_path / "taken").touch()
    config = EvaluationConfig(save_results_path=tmp_path / "taken", budgets=[])
    with pytest.raises(ComponentExited, match="5 of 5 questions were answered; the result is not saved: ") as caught:
        run_experiment(ExperimentConfig(retriever, dataset(5), k=2, config=config))
    assert len(kept(caught.value.result)) == 5


@pytest.mark.parametrize("error", [SystemExit(0), OSError("gone"), GeneratorExit("over")])
def test_a_retriever_that_fails_when_it_is_closed_after_an_interrupt_loses_no_answer(error):
    stopped = interrupted(Closing(error, "3"), 5)
    assert str(stopped) == "3 of 5 questions were answered; the result is not saved"
    assert kept(stopped.result) == ["0", "1", "2"]
    assert "Closing could not be closed: " in stopped.result.notes[1]


@pytest.mark.parametrize(("error", "raised"), [(SystemExit(0), ComponentExited), (KeyboardInterrupt(), Interrupted)])
def test_retrieve_keeps_the_rankings_however_the_retriever_is_closed(error, raised):
    with pytest.raises(raised, match="5 of 5 questions were answered") as caught:
        retrieve(Closing(error), CORPUS, dataset(5).queries, 2)
    assert [len(ranking.hits) for ranking in caught.value.result] == [2] * 5


def test_retrieve_keeps_the_rankings():
    search, _ = interrupting("3")
    with pytest.raises(Interrupted, match="3 of 5 questions were answered") as caught:
        retrieve(search, CORPUS, dataset(5).queries, 2)
    rankings = caught.value.result
    assert [len(ranking.hits) for ranking in rankings] == [2, 2, 2, 0, 0]
    assert [ranking.failure for ranking in rankings] == [None] * 3 + [NOT_ANSWERED] * 2


AT_ANY_MOMENT = """
import signal, sys, time
from experiments.test_interrupted import around, dataset
from rag_evaluation_framework import evaluate
from rag_evaluation_framework.errors import Interrupted

def run():
    return evaluate(around, dataset(60), k=[2, 5], budgets=["40ch"])

def interrupted(seconds):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return run()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted as stopped:
        return stopped.result
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
