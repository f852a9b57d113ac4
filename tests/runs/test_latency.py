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
from rag_evaluation_framework.report.pages.result import latency_table
from rag_evaluation_framework.runs.means import Duration, Latency
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


def duration(p50, p95, questions):
    return Duration(pytest.approx(p50), pytest.approx(p95), questions)


TWO = duration(0.375, 0.4875, 2)
ONES = duration(1.0, 1.0, 2)
LATENCIES = {
    "no stages": ({}, None),
    "not timed": ({"search": [NAN, NAN]}, None),
    "one question": ({"search": [7.0]}, Latency({"search": duration(7, 7, 1)}, duration(7, 7, 1), None)),
    "the first one timed is not counted": (
        {"search": [NAN, 7.0, NAN, 1.0, 2.0]},
        Latency({"search": duration(1.5, 1.95, 2)}, duration(1.5, 1.95, 2), 7.0),
    ),
    "a total of all stages": (
        {"embed": [9.0, 0.25, 0.5], "search": [9.0, 0.5, 0.25], "rerank": [9.0, 1.0, 3.0]},
        Latency({"embed": TWO, "search": TWO, "rerank": duration(2, 2.9, 2)}, duration(2.75, 3.65, 2), 27.0),
    ),
    "stages that some questions lack": (
        {"search": [1.0, 1.0, 1.0], "cache": [1.0, NAN, 3.0], "once": [1.0, NAN, NAN]},
        Latency({"search": ONES, "cache": duration(3, 3, 1)}, duration(2.5, 3.85, 2), 3.0),
    ),
}


@pytest.mark.parametrize(("stages", "told"), LATENCIES.values(), ids=LATENCIES)
def test_latency_is_of_the_stages_and_totals_of_all_questions_but_the_first(stages, told):
    assert Latency.of(columns(**stages)) == told


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


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.0000123, "0.01 ms"), (0.00042, "0.42 ms"), (0.0123, "12.3 ms"), (0.4567, "457 ms"), (12.3456, "12,346 ms")],
)
def test_durations_are_written_in_milliseconds(seconds, written):
    table = latency_table(Latency.of(columns(search=[seconds])), None)
    assert table.rows[-1] == ("total", written, written, "1")
    assert "the only question that was timed" in table.lines[0]


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

    def test_a_question_that_failed_is_not_timed_and_has_no_total(self, tmp_path):
        def failing(query, k):
            if query.endswith("0"):
                raise ConnectionError("gone away")
            return self.search(query, k)

        result = run(failing, 4)
        assert result.latency.total.questions == 2
        assert result.latency.warm_up == pytest.approx(0.03)
        assert (result.queries[0].stages, result.queries[0].total) == ({}, None)
        assert saved_rows(result.save(tmp_path / "run"))[0]["total"] is None

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
