"""What is known of the means of a result: their intervals, and other ways to average."""

import json
from math import fsum, sqrt
from shutil import copy

import numpy as np
import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    EvaluationResult,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.data import Answer, QueryId, QueryText
from rag_evaluation_framework.runs.means import drop_found
from rag_evaluation_framework.statistics import clopper_pearson, mean_scores, paired_differences, power
from support.pages import lines


def query(name):
    return Query(QueryId(name), QueryText(name))


CORPUS = Corpus([Document(DocumentId(name), "0123456789" * 3) for name in "abc"])
SPANS = {
    "short": [CharacterSpan(DocumentId("a"), 0, 2)],
    "long": [CharacterSpan(DocumentId("a"), 0, 8), CharacterSpan(DocumentId("a"), 5, 10)],
    "other": [CharacterSpan(DocumentId("b"), 0, 8)],
    "nothing": [],
}


def search(text, k):
    """Return the first five characters of every document."""
    if text == "fails":
        raise ConnectionError("gone")
    return [{"doc_id": name, "start": 0, "end": 5} for name in "abc"][:k]


def result(spans=SPANS, **options):
    truth = [TokenLevelGroundTruth(query(name), found) for name, found in spans.items()]
    return evaluate(search, Dataset(truth, TOKEN, corpus=CORPUS), k=3, budgets=[], **options)


def test_characters_count_the_same_in_micro_means_questions_in_macro_means_and_documents_in_means_of_documents():
    found = result()
    assert found.metrics["span_recall"] == pytest.approx((1 + 5 / 10 + 5 / 8) / 3)
    assert found.micro == {"span_recall@3": pytest.approx((2 + 5 + 5) / (2 + 10 + 8))}
    assert found.per_document["span_recall"] == pytest.approx(((1 + 5 / 10) / 2 + 5 / 8) / 2)
    assert found.per_document["span_precision"] == pytest.approx(((2 + 5) / 15 / 2 + 5 / 15) / 2)


def test_of_an_answer_with_copies_its_first_place_is_its_size():
    copied = Answer.any_of(CharacterSpan(DocumentId("c"), 0, 4), CharacterSpan(DocumentId("c"), 20, 30))
    truth = [
        TokenLevelGroundTruth(query("copied"), [copied]),
        TokenLevelGroundTruth(query("other"), SPANS["other"]),
    ]
    found = evaluate(search, Dataset(truth, TOKEN, corpus=CORPUS), k=3, budgets=[])
    assert found.micro["span_recall"] == pytest.approx((4 + 5) / (4 + 8))


def test_relevant_ids_count_the_same_in_micro_means():
    truth = [
        DocumentLevelGroundTruth(query("one"), [DocumentId("a")]),
        DocumentLevelGroundTruth(query("three"), [DocumentId("a"), DocumentId("b"), DocumentId("c")]),
    ]
    found = evaluate(search, Dataset(truth, DOCUMENT, corpus=CORPUS), k=2, budgets=[])
    assert found.metrics["recall"] == pytest.approx((1 + 2 / 3) / 2)
    assert found.micro == {"recall@2": pytest.approx((1 + 2) / (1 + 3))}
    assert found.per_document["recall"] == found.metrics["recall"] == found.statistics["recall@2"].mean


def test_every_mean_has_an_interval_over_the_questions_that_it_is_of():
    found = result(metrics=["span_hit", "span_recall"])
    hit, recall = found.statistics["span_hit@3"], found.statistics["span_recall@3"]
    assert (hit.low, hit.high) == clopper_pearson(3, 3)
    assert [recall] == mean_scores(found.scores.columns["span_recall@3"][:, None])
    assert (recall.questions, recall.clusters) == (3, 3)
    assert "span_recall@3  0.708 " in found.summary().as_text(500)
    assert "intervals of 95 %, questions taken as independent" in found.summary().as_text(500)


def test_questions_that_count_as_zero_are_in_means_and_intervals_and_without_an_answer_of_no_document():
    found = result({**SPANS, "fails": SPANS["other"]}, count_as_zero=["failed"])
    assert found.statistics["span_recall@3"].questions == 4
    assert found.statistics["span_recall@3"].mean == pytest.approx(found.metrics["span_recall"])
    found = result(count_as_zero=["no-answer"])
    assert found.metrics["span_recall"] == pytest.approx((1 + 5 / 10 + 5 / 8) / 4)
    assert found.per_document["span_recall"] == pytest.approx(((1 + 5 / 10) / 2 + 5 / 8) / 2)


def test_questions_on_one_document_are_taken_together_if_there_are_many_documents():
    corpus = Corpus([Document(DocumentId(f"d{number}"), f"the text {number}") for number in range(25)])
    truth = [
        TokenLevelGroundTruth(query(f"{number}-{time}"), [CharacterSpan(DocumentId(f"d{number}"), 0, 8)])
        for number in range(25)
        for time in range(3)
    ]

    def some(text, k):
        return [{"doc_id": f"d{text.partition('-')[0]}", "start": 0, "end": 8 if int(text[0]) % 2 else 2}]

    found = evaluate(some, Dataset(truth, TOKEN, corpus=corpus), k=1, budgets=[])
    column = found.scores.columns["span_recall@1"][:, None]
    assert [found.statistics["span_recall@1"]] == mean_scores(column, found.clusters.numbers) != mean_scores(column)
    assert found.statistics["span_recall@1"].clusters == 25
    assert "intervals of 95 %, questions on one document taken together (25 documents)" in found.summary().as_text(500)
    told = next(line for line in lines(found.summary()) if "a drop of 0.05" in line)
    share = power(0.05, found.statistics["span_recall@1"].standard_error, 25, changed=0.5)
    assert f"is found {share:.0%} of the time" in told
    assert told.startswith("span_recall@1: a drop of 0.05 is found 9% of the time, 80% with ")
    needed = int(told.split("80% with ")[1].split()[0].replace(",", "")) // 3  # documents
    error = found.statistics["span_recall@1"].standard_error * sqrt(25)
    assert power(0.05, error / sqrt(needed), needed, changed=0.5) == pytest.approx(0.8, abs=0.01)


@pytest.mark.no_cover
@pytest.mark.parametrize(("samples", "within"), [(300, 0.1), pytest.param(2_000, 0.04, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("rate", "questions", "documents"), [(0.95, 60, 30), (0.95, 200, 200), (0.85, 200, 50)])
def test_of_hits_a_drop_is_found_as_often_as_was_told(rate, questions, documents, samples, within):
    """Runs that are correlated by 0.5, one of which finds 0.05 less; by document or not."""
    after = rate - 0.05
    both = rate * after + 0.5 * sqrt(rate * (1 - rate) * after * (1 - after))
    chances = [both, rate - both, after - both, 1 - rate - after + both]
    drawn = np.random.default_rng(0).choice(4, (questions, samples), p=chances)
    clusters = None if documents == questions else np.arange(questions) % documents
    tests = paired_differences(np.isin(drawn, (0, 2)) - np.isin(drawn, (0, 1)) * 1.0, clusters, resamples=999)
    hits = np.repeat(np.arange(questions)[:, np.newaxis] < rate * questions, 30, axis=1).astype(float)
    means = mean_scores(np.random.default_rng(0).permuted(hits, axis=0), clusters)  # how hits fall on documents differs
    told = [known[0] for known in map(drop_found, means) if known is not None]
    found = np.mean([test.p_value <= 0.05 for test in tests])
    assert np.mean(told) == pytest.approx(found, abs=within)


def test_a_mean_that_cannot_drop_so_far_has_no_power_and_with_many_questions_no_more_are_asked_for():
    hits = np.zeros((100, 1))
    hits[:4] = 1
    assert drop_found(*mean_scores(hits)) is None
    spans = {f"q{number}": SPANS["other"] if number % 9 else SPANS["short"] for number in range(300)}
    told = next(line for line in lines(result(spans).summary()) if "a drop of 0.05" in line)
    assert told == "span_recall@3: a drop of 0.05 is found 100% of the time (runs correlated by 0.5)"


def test_scores_that_no_question_has_are_in_no_statistics():
    found = result({"nothing": []})
    assert found.statistics == {}
    assert found.micro == {"span_recall@3": None}
    assert found.per_document == {}
    assert lines(found.summary())[0] == "span_recall@3 –"


def test_of_chunks_documents_are_not_known():
    truth = [TokenLevelGroundTruth(query("other"), SPANS["other"])]
    dataset = Dataset(truth, TOKEN, corpus=CORPUS)
    found = ChunkLevelEvaluation(CORPUS, dataset).run()
    assert found.evaluation_type == CHUNK.evaluation_type
    assert found.per_document == {}
    assert found.micro.keys() == {"chunk_recall@5", "chunk_recall@4000ch"}
    assert found.clusters.numbers is None


def test_the_report_has_them_and_they_follow_from_a_report_alone(tmp_path):
    found = result()
    folder = found.save(tmp_path / "run")
    recorded = json.loads((folder / "report.json").read_text())["statistics"]
    assert recorded["level"] == 0.95
    one = recorded["span_recall@3"]
    assert one["mean"] == pytest.approx(found.metrics["span_recall"])
    assert (one["low"], one["high"]) == (found.statistics["span_recall@3"].low, found.statistics["span_recall@3"].high)
    assert (one["micro"], one["per_document"]) == (found.micro["span_recall"], found.per_document["span_recall"])
    assert one["quantiles"]["0.5"] == pytest.approx(5 / 8)
    assert recorded["span_iou@3"]["micro"] is None
    assert load_result(folder).statistics == found.statistics
    assert load_result(folder).per_document == found.per_document
    copy(folder / "report.json", tmp_path / "alone.json")
    alone: EvaluationResult[CharacterSpan] = load_result(tmp_path / "alone.json", TOKEN)
    assert alone.statistics == found.statistics
    assert (alone.micro, alone.per_document) == (found.micro, found.per_document)


def test_one_question_has_no_spread_and_its_record_is_strict_json(tmp_path):
    found = result({"short": SPANS["short"]})
    report = json.loads((found.save(tmp_path / "run") / "report.json").read_text(), parse_constant=pytest.fail)
    assert report["statistics"]["span_recall@3"]["deviation"] is None
    assert "a drop of" not in found.summary().as_text(500)


def test_the_means_of_one_column_are_equal_to_the_last_digit():
    columns = np.random.default_rng(0).random((37, 20))
    found = mean_scores(columns, None, seed=0)
    assert [mean.mean for mean in found] == [fsum(column) / len(column) for column in columns.T.tolist()]
