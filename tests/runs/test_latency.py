"""Latency: percentiles by linear interpolation, the total of all stages, and the first question apart."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    SpanRecall,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.report.pages.result import latency_table
from rag_evaluation_framework.runs.means import Duration, Latency
from rag_evaluation_framework.testing import ReversingReranker
from support.results import saved_rows

NAN = float("nan")
CORPUS = Corpus([Document(DocumentId("d"), "abcdefghij" * 10)])


def columns(**stages):
    return {name: np.array(seconds, dtype=np.float64) for name, seconds in stages.items()}


def dataset(questions):
    span = CharacterSpan("d", 0, 10)
    entries = [TokenLevelGroundTruth(Query.from_text(f"question {number}"), (span,)) for number in range(questions)]
    return Dataset(entries, TOKEN, corpus=CORPUS)


def run(retriever, questions, **options):
    return evaluate(retriever, dataset(questions), k=1, budgets=[], metrics=[SpanRecall()], **options)


@pytest.mark.parametrize(
    ("seconds", "p50", "p95"),
    [([3.0], 3.0, 3.0), ([1.0, 2.0], 1.5, 1.95), ([4.0, 1.0, 3.0, 2.0, 5.0], 3.0, 4.8)],
    ids=["one", "two", "five"],
)
def test_percentiles_are_interpolated_linearly(seconds, p50, p95):
    assert Duration.of(np.array(seconds)) == Duration(pytest.approx(p50), pytest.approx(p95), len(seconds))


def test_the_total_is_that_of_all_stages_of_a_question():
    told = Latency.of(columns(embed=[9.0, 0.25, 0.5], search=[9.0, 0.5, 0.25], rerank=[9.0, 1.0, 3.0]))
    assert told.total == Duration(pytest.approx(2.75), pytest.approx(1.75 + 0.95 * 2.0), 2)
    assert told.stages["rerank"].p50 == pytest.approx(2.0)
    assert [*told.stages] == ["embed", "search", "rerank"]


def test_the_total_of_each_question_is_in_the_result_and_in_its_file(tmp_path):
    seconds = {"question 0": {"embed": 0.125, "search": 0.5}, "question 1": {"search": 0.25}}

    def pipeline(query, k):
        return {"hits": [{"doc_id": "d", "start": 0, "end": 5}], "seconds": {**seconds[query], "other": 2.0}}

    result = run(pipeline, 2)
    for query in result.queries:
        assert query.total == pytest.approx(sum(query.stages.values()), abs=1e-12)
        assert query.total >= sum(seconds[query.text].values()) + 2.0
    folder = result.save(tmp_path / "run")
    lines = saved_rows(folder)
    assert [line["total"] for line in lines] == [query.total for query in result.queries]
    assert all("total" not in line["stages"] for line in lines)
    assert [query.total for query in load_result(folder).queries] == [query.total for query in result.queries]
    assert result.latency.warm_up == result.queries[0].total
    assert result.latency.total.p50 == result.queries[1].total


def test_a_question_that_was_not_timed_has_no_total(tmp_path):
    def untimed(queries, k):
        raise ConnectionError("gone away")

    result = run(untimed, 1)
    assert (result.queries[0].stages, result.queries[0].total) == ({}, None)
    (row,) = saved_rows(result.save(tmp_path / "run"))
    assert row["total"] is None


def test_the_first_question_that_was_timed_is_not_counted():
    told = Latency.of(columns(search=[NAN, 7.0, NAN, 1.0, 2.0]))
    assert told.warm_up == 7.0
    assert told.total == told.stages["search"] == Duration(1.5, pytest.approx(1.95), 2)


def test_of_one_question_there_is_only_the_first():
    told = Latency.of(columns(search=[7.0]))
    assert told == Latency({"search": Duration(7.0, 7.0, 1)}, Duration(7.0, 7.0, 1), None)
    assert "the only question that was timed" in latency_table(told, None).lines[0]


def test_a_stage_that_some_questions_lack_is_of_the_others():
    told = Latency.of(columns(search=[1.0, 1.0, 1.0], cache=[1.0, NAN, 3.0], once=[1.0, NAN, NAN]))
    assert told.stages["cache"] == Duration(3.0, 3.0, 1)
    assert "once" not in told.stages
    assert told.total.questions == 2


@pytest.mark.parametrize("stages", [{}, columns(search=[NAN, NAN])], ids=["no stages", "not timed"])
def test_where_nothing_was_timed_there_is_none(stages):
    assert Latency.of(stages) is None


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.0000123, "0.01 ms"), (0.00042, "0.42 ms"), (0.0123, "12.3 ms"), (0.4567, "457 ms"), (12.3456, "12,346 ms")],
)
def test_durations_are_written_in_milliseconds(seconds, written):
    assert latency_table(Latency.of(columns(search=[seconds])), None).rows[-1] == ("total", written, written, "1")


class TestOfARun:
    @staticmethod
    def search(query, k):
        told = {"embed": 0.25, "search": 0.5} if query.endswith("0") else {"embed": 0.01, "search": 0.02}
        return {"hits": [{"doc_id": "d", "start": 0, "end": 10}], "seconds": told}

    def test_no_question_is_asked_twice_for_it(self):
        asked = []

        def counting(query, k):
            asked.append(query)
            return self.search(query, k)

        result = run(counting, 4)
        assert asked == [f"question {number}" for number in range(4)]
        assert result.config["calls"] == 4
        assert result.latency.warm_up == 0.75
        assert result.latency.total == Duration(pytest.approx(0.03), pytest.approx(0.03), 3)
        assert result.queries[0].stages == {"embed": 0.25, "search": 0.5}

    def test_the_reranker_is_a_part_of_it(self):
        latency = run(RerankedRetriever(self.search, ReversingReranker()), 3).latency
        assert [*latency.stages] == ["embed", "search", "rerank"]
        assert latency.total.p50 >= 0.03 + latency.stages["rerank"].p50 - 1e-12

    def test_a_question_that_failed_is_not_timed(self):
        def failing(query, k):
            if query.endswith("0"):
                raise ConnectionError("gone away")
            return self.search(query, k)

        result = run(failing, 4)
        assert result.latency.total.questions == 2
        assert result.latency.warm_up == pytest.approx(0.03)

    def test_seconds_that_are_none_make_a_question_fail(self):
        result = run(lambda query, k: {"hits": [], "seconds": {"embed": -1}}, 1)
        (failure,) = result.failures[result.queries[0].query_id]
        assert "returned the stage 'embed' with -1 seconds; expected a finite number of at least 0" in failure.message

    def test_it_is_saved_and_shown(self, tmp_path):
        result = run(self.search, 3)
        folder = result.save(tmp_path / "run")
        report = json.loads((folder / "report.json").read_text())
        assert report["latency"] == asdict(result.latency)
        assert report["latency"]["total"] == {"p50": 0.03, "p95": 0.03, "questions": 2}
        assert load_result(folder).latency == result.latency
        page = (folder / "summary.md").read_text()
        assert "## Latency\n\none question at a time\n\nthe first question, which also pays for" in page
        assert "| total | 30.0 ms | 30.0 ms | 2 |" in page
