"""`timeout=`: a question that hangs fails, the third one that cannot be stopped ends the run, and nothing is lost."""

import asyncio
from threading import Event

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
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
    note,
)
from rag_evaluation_framework.data import Hit, QueryId, QueryText
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.runs import retrieve

CORPUS = Corpus([Document(DocumentId("d"), "The sky is blue. Grass is green. Snow is white.")])
FOUND = [Hit(DocumentId("d"), 0, 16)]
LONG = 60.0
SHORT = 0.1


def numbers(count):
    spans = [CharacterSpan(DocumentId("d"), 0, 16)]
    queries = [Query(QueryId(f"q{number}"), QueryText(str(number))) for number in range(count)]
    return Dataset([TokenLevelGroundTruth(query, spans) for query in queries], TOKEN, corpus=CORPUS)


@pytest.fixture
def release():
    """What hangs goes on when the test is over."""
    event = Event()
    yield event
    event.set()


def hanging(release, *questions):
    asked = []

    def search(query, k):
        asked.append(query)
        if query in questions:
            release.wait(LONG)
        return FOUND

    search.asked = asked
    return search


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_question_that_hangs_fails_and_the_others_are_answered(release, concurrency, tmp_path):
    search = hanging(release, "1", "3")
    result = evaluate(search, numbers(6), 1, budgets=[], timeout=SHORT, max_concurrency=concurrency)
    release.set()  # what is answered too late is thrown away
    assert {query: failures[0].kind for query, failures in result.failures.items()} == dict.fromkeys(
        ["q1", "q3"], "TimeoutError"
    )
    assert result.failures["q1"][0].stage == "retrieve"
    assert result.failures["q1"][0].message == "no answer within 0.1 s; what it waits for was left behind"
    assert (result.counts["scored"], result.counts["failed"]) == (4, 2)
    assert (result.queries[1].stages, result.queries[1].hits) == ({}, ())
    assert result.queries[0].stages.keys() == {"retrieve"}
    loaded = load_result(result.save(tmp_path / "run"), TOKEN)
    assert loaded.failures == result.failures
    assert loaded.config["timeout"] == SHORT


def test_the_third_thread_that_is_left_behind_ends_the_asking_and_loses_nothing(release, tmp_path):
    search = hanging(release, "1", "2", "4")
    result = evaluate(search, numbers(8), 1, budgets=[], timeout=SHORT)
    assert search.asked == ["0", "1", "2", "3", "4"]
    assert [failures[0].kind for failures in result.failures.values()] == ["TimeoutError"] * 3 + ["NotAsked"] * 3
    assert result.failures["q5"][0].message.startswith("not asked: ")
    assert result.failures["q5"][0].stage == "retrieve"
    assert (result.counts["scored"], result.counts["failed"]) == (2, 6)
    assert result.config["calls"] == 5
    (said,) = [note for note in result.notes if "not asked" in note]
    assert said.startswith("stopped: 3 of 8 questions were not asked")
    assert load_result(result.save(tmp_path / "run"), TOKEN).counts == result.counts


def test_a_question_that_was_to_be_asked_again_has_not_been_asked(release):
    def search(query, k):
        if k > 1:
            release.wait(LONG)
        return FOUND

    result = evaluate(search, numbers(5), 1, budgets=["40ch"], timeout=SHORT)
    kinds = [failures[0].kind for failures in result.failures.values()]
    assert kinds == ["TimeoutError"] * 3 + ["NotAsked"] * 2
    assert result.config["calls"] == 8


def test_side_by_side_what_is_under_way_is_answered_all_the_same(release):
    search = hanging(release, "0", "1", "2")
    result = evaluate(search, numbers(40), 1, budgets=[], timeout=SHORT, max_concurrency=4)
    assert result.counts["scored"] > 0
    kinds = [failures[0].kind for failures in result.failures.values()]
    assert kinds.count("TimeoutError") == 3
    assert result.counts["scored"] + len(kinds) == 40


def test_coroutines_are_cancelled_and_never_end_the_asking():
    cancelled, all_of_them = [], Event()

    async def search(query, k):
        if int(query) % 2:
            try:
                await asyncio.sleep(LONG)
            finally:
                cancelled.append(query)
                if len(cancelled) == 5:
                    all_of_them.set()
        return FOUND

    result = evaluate(search, numbers(10), 1, budgets=[], timeout=SHORT, max_concurrency=5)
    assert all_of_them.wait(LONG)  # the loop may still have the last one before it
    assert sorted(cancelled) == ["1", "3", "5", "7", "9"]
    assert (result.counts["scored"], result.counts["failed"]) == (5, 5)
    assert result.failures["q1"][0].message == "no answer within 0.1 s; it was cancelled"
    assert not result.notes


def test_a_coroutine_that_blocks_every_other_ends_the_asking(release):
    async def search(query, k):
        if query == "1":
            release.wait(LONG)
        return FOUND

    result = evaluate(search, numbers(9), 1, budgets=[], timeout=SHORT)
    kinds = [failures[0].kind for failures in result.failures.values()]
    assert kinds == ["TimeoutError"] * 3 + ["NotAsked"] * 5
    assert result.counts["scored"] == 1


def test_a_limit_on_time_is_one_for_each_question_so_they_are_not_asked_together_and_their_notes_are_kept():
    class Together(Retriever):
        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            note(f"asked {query}")
            return FOUND

        def retrieve_many(self, queries, k):
            raise AssertionError("asked together")

    result = evaluate(Together(), numbers(60), 1, budgets=[], timeout=LONG)
    assert result.counts["scored"] == 60
    assert result.notes == tuple(f"asked {number}" for number in range(60))


def test_reading_the_answer_is_limited_too(release):
    def search(query, k):
        def endless():
            release.wait(LONG)
            yield FOUND[0]

        return endless()

    assert evaluate(search, numbers(1), 1, budgets=[], timeout=SHORT).failures["q0"][0].kind == "TimeoutError"


def test_retrieve_and_arun_take_it_too(release):
    search = hanging(release, "0")
    rankings = retrieve(search, CORPUS, ["0", "1"], [1], timeout=SHORT)
    assert [entry.failure is None for entry in rankings] == [False, True]
    evaluation = TokenLevelEvaluation(CORPUS, numbers(2))
    config = EvaluationConfig(budgets=[], timeout=SHORT)
    result = asyncio.run(evaluation.arun(retriever=search, k=1, config=config))
    assert result.counts["failed"] == 1


def test_a_task_that_is_cancelled_does_not_wait_for_a_question_that_hangs(release):
    search = hanging(release, "0")
    evaluation = TokenLevelEvaluation(CORPUS, numbers(2))

    async def cancelled():
        task = asyncio.create_task(evaluation.arun(retriever=search, config=EvaluationConfig(timeout=LONG)))
        while not search.asked:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(cancelled(), LONG / 2))  # its thread is joined when the loop is closed
    assert search.asked == ["0"]
