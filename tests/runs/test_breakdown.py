"""The first score by tags and by scope."""

import json
import shutil

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    BM25Retriever,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    evaluate,
    load_result,
)
from rag_evaluation_framework.analysis.gates import check_gates
from rag_evaluation_framework.base.files import parse_json
from rag_evaluation_framework.contracts import DocumentLevelMetric
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.statistics.proportions import clopper_pearson
from support.pages import table

CORPUS = Corpus([Document(DocumentId(name), "text") for name in ("yes", "no")])


def run(*questions, metrics=None):
    """Evaluate questions of whether they find their document, and what the dataset says of them."""
    truth = [
        DocumentLevelGroundTruth(
            Query(QueryId(f"q{number}"), QueryText(f"{found}"), kept),
            () if found is None else (DocumentId("yes"),),
        )
        for number, (found, kept) in enumerate(questions)
    ]
    dataset = Dataset(truth, DOCUMENT, corpus=CORPUS)
    return evaluate(search, dataset, k=1, budgets=[], metrics=metrics)


def search(text, k):
    return [{"doc_id": "yes" if text == "True" else "no"}][:k]


def tagged(found, *tags):
    return found, {"tags": list(tags)}


BILLING = [tagged(found, "billing") for found in (True, True, False)]


def test_other_metadata_that_groups_all_questions_breaks_down_too():
    def kept(found, number, team):
        return found, {"team": team, "number": str(number), "one": "x", **({"some": str(number)} if number % 2 else {})}

    (told,) = run(*(kept(found, at, "ab"[at % 2]) for at, found in enumerate((True, False, True, True)))).breakdowns
    assert (told.by, {team: mean.mean for team, mean in told.means.items()}) == ("team", {"b": 0.5, "a": 1.0})
    assert run(*(kept(True, at, str(at // 2)) for at in range(24))).breakdowns == ()  # 12 teams are too many


def test_each_tag_has_its_mean_and_interval_the_lowest_first():
    (told,) = run(*BILLING, tagged(True, "account"), tagged(False, "data", "account")).breakdowns
    assert (told.by, told.score, told.values) == ("tags", "hit@1", 3)
    assert {tag: (mean.questions, round(mean.mean, 3)) for tag, mean in told.means.items()} == {
        "data": (1, 0.0),
        "account": (2, 0.5),
        "billing": (3, 0.667),
    }
    assert list(told.means) == ["data", "account", "billing"]
    assert (told.means["billing"].low, told.means["billing"].high) == pytest.approx(clopper_pearson(2, 3, 0.95))


def test_a_tag_of_which_no_question_is_scored_is_named():
    result = run(*BILLING, tagged(None, "unknown"))
    (told,) = result.breakdowns
    assert told.unscored == ("unknown",)
    assert "no question has the score: unknown" in table(result.summary(), "hit@1 by tags").lines


def test_of_many_tags_the_lowest_ten_are_shown_and_how_many_there_are():
    result = run(*(tagged(number % 2 == 0, f"tag {number:02}") for number in range(14)))
    (told,) = result.breakdowns
    assert list(told.means) == [f"tag {number:02}" for number in (1, 3, 5, 7, 9, 11, 13, 0, 2, 4)]
    assert told.values == 14
    assert "the lowest first, 10 of 14" in table(result.summary(), "hit@1 by tags").lines


def test_one_tag_or_none_is_no_breakdown():
    assert run(*BILLING).breakdowns == ()
    assert run((True, {}), (False, {"notes": "tags"})).breakdowns == ()
    assert run(tagged(None, "a"), tagged(None, "b"), (True, {})).breakdowns == ()


def test_several_scopes_are_told_apart():
    corpus = Corpus(
        [Document(DocumentId(f"{scope}:{name}"), name) for scope in "ab" for name in ("refunds", "invoices")]
    )
    asked = [("a", "refunds", "a:refunds"), ("b", "refunds", "b:invoices")]
    truth = [
        DocumentLevelGroundTruth(
            Query(QueryId(scope), QueryText(text), {"scopePrefix": f"{scope}:"}), (DocumentId(doc_id),)
        )
        for scope, text, doc_id in asked
    ]
    (told,) = evaluate(BM25Retriever(), Dataset(truth, DOCUMENT, corpus=corpus), k=1, budgets=[]).breakdowns
    assert (told.by, {value: mean.mean for value, mean in told.means.items()}) == (
        "scopePrefix",
        {"b:": 0.0, "a:": 1.0},
    )


def test_it_is_in_the_summary_the_report_and_what_is_loaded(tmp_path):
    result = run(*BILLING, tagged(True, "account"))
    page = result.summary().as_markdown()
    assert "## hit@1 by tags" in page
    assert "| billing | 3 | 0.667 | .094–.992 | `" in page
    folder = result.save(tmp_path / "run")
    (record,) = json.loads((folder / "report.json").read_text(encoding="utf-8"))["breakdowns"]
    assert record["means"][0] == {
        "value": "billing",
        "n": 3,
        "mean": pytest.approx(2 / 3),
        "low": pytest.approx(0.094, abs=0.001),
        "high": pytest.approx(0.992, abs=0.001),
    }
    assert [told.record() for told in load_result(folder).breakdowns] == [record]
    alone = load_result(shutil.copy(folder / "report.json", tmp_path / "alone.json"))
    assert [told.record() for told in alone.breakdowns] == [record]


@pytest.mark.parametrize("value", [-3.0, 5.0])
def test_a_score_of_no_known_range_is_saved_and_shown_without_bounds(tmp_path, value):
    class Points(DocumentLevelMetric):
        def calculate(self, retrieved, ground_truth):
            return value

    result = run(*BILLING, *BILLING, tagged(True, "account"), metrics=[Points()])
    assert f"| billing | 6 | {value:.3f} | ?–? |" in result.summary().as_markdown()
    folder = result.save(tmp_path / "run")
    report = parse_json((folder / "report.json").read_text(encoding="utf-8"))
    (record,) = report["breakdowns"]
    for known in (*record["means"], report["statistics"]["points@1"]):
        assert (known["mean"], known["low"], known["high"]) == (value, None, None)
    assert load_result(folder).summary().as_markdown() == result.summary().as_markdown()
    (verdict,) = check_gates(result, "population(points@1) >= 0", cluster="question")
    assert verdict.told == f"{value:.3f}, interval ? to ?, 7 questions"
