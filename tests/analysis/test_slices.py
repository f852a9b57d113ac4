"""Slices of a comparison: by what the dataset says of questions, by document, by length."""

import numpy as np
import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Comparison,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.analysis.comparison import ScoreChange, regressed_slices, slices
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.report import slices_table
from rag_evaluation_framework.report.pages.comparison import slices_text
from rag_evaluation_framework.runs.means import FEWEST, Clusters
from rag_evaluation_framework.statistics import paired_differences

QUESTIONS = 60
CORPUS = Corpus([Document(DocumentId(f"d{number}"), "0123456789" * 50) for number in range(3)])


def metadata(number):
    return {
        "tags": ["billing", "hard"] if number % 5 == 0 else ["login"],
        "reviewed": number % 2 == 0,
        "year": 2025 + number % 2,
        "number": number,  # tells every question apart
        "weight": number / 7,  # is no value
        "prose": "long " * (30 + number % 2),
        "same": "always",
    }


def truth(number):
    length = (50, 200, 400)[number % 3]
    query = Query(QueryId(f"q{number}"), QueryText(f"question {number}"), metadata(number))
    return TokenLevelGroundTruth(query, [CharacterSpan(DocumentId(f"d{number % 3}"), 0, length)])


def run(found):
    """Return a result in which a question is found whole, or not at all."""
    dataset = Dataset([truth(number) for number in range(QUESTIONS)], TOKEN, corpus=CORPUS)

    def search(text, k):
        number = int(text.split()[1])
        return [{"doc_id": f"d{number % 3}", "start": 0, "end": 500}] if found(number) else []

    return evaluate(search, dataset, k=1, budgets=[])


BEFORE = run(lambda number: number % 5 == 0 or number % 4 == 1)
AFTER = run(lambda number: number % 5 != 0 and number % 4 in (0, 1))


def test_a_question_is_in_the_slice_of_each_of_its_values_which_is_tested_as_if_it_were_the_only_one():
    found = {one.value: one for one in BEFORE.compare(AFTER).slices("tags")}
    assert [*found] == ["login", "billing", "hard"]  # the largest first, then by name
    assert [one.questions for one in found.values()] == [48, 12, 12]
    assert (found["billing"].before, found["billing"].after, found["billing"].by) == (1.0, 0.0, "tags")
    assert (found["login"].before, found["login"].after) == (pytest.approx(0.25), pytest.approx(0.5))
    (expected,) = paired_differences(np.full((12, 1), -1.0))
    assert found["billing"].test == expected


def test_properties_are_those_that_tell_some_questions_from_others():
    compared = BEFORE.compare(AFTER)
    assert compared.properties == ("tags", "reviewed", "year", "document", "answer length")
    assert {one.value for one in compared.slices("reviewed")} == {"True", "False"}
    assert {one.value for one in compared.slices("year")} == {"2025", "2026"}
    assert {one.value for one in compared.slices("document")} == {"d0", "d1", "d2"}
    assert {one.value for one in compared.slices("answer length")} == {
        "1 to 100 characters",
        "101 to 300 characters",
        "301 to 1,000 characters",
    }


def test_what_is_no_property_is_refused_with_those_that_there_are():
    with pytest.raises(ConfigError, match=r"by='colour': .* tags, reviewed, year, document, answer length"):
        BEFORE.compare(AFTER).slices("colour")
    with pytest.raises(ConfigError, match="no score 'span_recal'"):
        BEFORE.compare(AFTER).slices("tags", "span_recal")


def test_a_slice_that_regressed_while_the_mean_did_not_is_said():
    (told,) = (note for note in BEFORE.compare(AFTER).notes if "regressed in" in note)
    assert told.startswith(
        "span_recall@1 regressed in some questions though its mean did not: "
        "tags billing (12 questions, -1.000, p <.001); tags hard (12 questions, -1.000, p <.001); "
    )
    assert told.endswith("; 13 slices were looked at, of which 1 in 40 does so by chance")


FEW = run(lambda number: number % 4 == 1 or number in (0, 5, 10, 15))
FEWER = run(lambda number: number % 4 in (1, 2) and number not in (0, 5, 10, 15))
WORSE = run(lambda number: False)


@pytest.mark.parametrize(
    ("before", "after"),
    [(BEFORE, WORSE), (AFTER, AFTER), (WORSE, AFTER), (FEW, FEWER)],
    ids=["the mean regressed, too", "nothing changed", "no slice regressed", "a few questions"],
)
def test_nothing_is_said_if_the_mean_regressed_too_or_no_slice_did_by_more_than_chance(before, after):
    assert not any("regressed in" in note for note in before.compare(after).notes)


def test_saved_results_and_reports_alone_have_their_slices(tmp_path):
    folders = [run.save(tmp_path / name) for name, run in (("before", BEFORE), ("after", AFTER))]
    whole = Comparison.of(*map(load_result, folders))
    assert whole.slices("tags") == BEFORE.compare(AFTER).slices("tags")
    for folder in folders:
        (folder / "rankings.jsonl.gz").unlink()
    alone = Comparison.of(*(load_result(folder / "report.json") for folder in folders))
    assert alone.slices("tags") == whole.slices("tags")


def test_questions_without_the_score_are_not_in_a_slice():
    some = ScoreChange("recall", np.array([0.5, np.nan, 0.2]), np.array([0.7, 0.1, np.nan]), Clusters())
    (found,) = slices("tag", [("a", "a"), ("a",), ("b",)], some)
    assert (found.value, found.questions, found.before, found.after) == ("a", 1, 0.5, 0.7)


def test_clusters_of_a_slice_are_those_of_its_questions_if_they_are_many():
    after = np.random.default_rng(0).random(22) - 0.4
    some = ScoreChange("recall", np.zeros(22), after, Clusters(np.repeat(np.arange(11), 2) * 1_000))
    (many, few) = slices("tag", [("a",)] * 12 + [("b",)] * 10, some)
    assert (many.test.clusters, few.test.clusters) == (6, 10)
    assert many.test == paired_differences(after[:12, np.newaxis], np.repeat(np.arange(6), 2), largest=np.inf)[0]
    assert few.test == paired_differences(after[12:, np.newaxis], largest=np.inf)[0]


def test_a_document_that_lost_everything_is_told():
    """Its questions are one cluster, of which no spread is known."""
    lost = ScoreChange("recall", np.ones(200), np.where(np.arange(200) < 8, 0.0, 1.0), Clusters(np.arange(200) // 8))
    by_document = [(f"d{number // 8}",) for number in range(200)]
    assert slices("document", by_document, lost)[0].test.p_value == pytest.approx(2 / 2**8)


@pytest.mark.parametrize(
    ("lost", "is_told"),
    [((-0.4, -0.1, -0.3, -0.2, -0.5, -0.1, 0.1, -0.3), True), ((-0.4, -0.1, 0.3, -0.3, -0.5, 0.2, 0.1, -0.3), False)],
)
def test_a_slice_is_told_if_its_loss_is_more_than_chance(lost, is_told):
    after = np.array([*lost, *[0.4] * 20, 0.1, 0.1])
    values = [("a",)] * 8 + [("b",)] * 20 + [("c",)] * 2
    (found, *_) = (one for one in slices("tag", values, change(after)) if one.value == "a")
    assert (found.test.p_value <= 0.05) == is_told
    notes = noted({"tag": values}, change(after))
    assert bool(notes) == is_told
    assert all("; 2 slices were looked at" in note for note in notes)  # two questions tell nothing


def test_scores_beyond_1_may_differ_by_more():
    seconds = ScoreChange("seconds", np.zeros(8), np.linspace(1, 8, 8), Clusters())
    assert slices("tag", [("a",)] * 8, seconds)[0].test.high > 5


def test_that_the_mean_regressed_is_what_the_test_of_documents_says():
    """Documents of which all lose the same make what is noise among questions a certain loss."""
    after = np.tile([0.7, -0.9], 24)  # of each of 24 documents two questions
    clusters = np.repeat(np.arange(24), 2)
    some = ScoreChange("recall", np.zeros(48), after, Clusters(clusters))
    values = [("a",) if number % 2 else ("b",) for number in range(48)]
    whole = slices("all", [("all",)] * 48, some)[0].test
    assert whole.p_value < 0.001
    assert whole.mean == pytest.approx(-0.1)
    assert noted({"tag": values}, some) == []
    assert noted({"tag": values}, change(after)) != []  # as independent questions their mean may be chance


def test_documents_that_were_asked_for_are_clusters_in_slices_too():
    """Of six documents, of which a slice has too few by default, one loses in all of its questions."""
    after = np.where(np.arange(48) // 8 == 0, -0.5, np.where(np.arange(48) % 4, 0.1, -0.1))
    documents = np.arange(48) // 8
    asked, default = (
        ScoreChange("recall", np.zeros(48), after, Clusters(documents, 0, fewest)) for fewest in (1, FEWEST)
    )
    values = [("a",) if number < 24 else ("b",) for number in range(48)]
    assert [one.test.clusters for one in slices("tag", values, asked)] == [3, 3]
    assert [one.test.clusters for one in slices("tag", values, default)] == [24, 24]
    by_one = [("lost",) if number < 8 else ("other",) for number in range(48)]
    assert noted({"tag": [*by_one]}, asked) == []
    assert "fewer than 6 documents" in slices_table("tag", slices("tag", values, default)).lines[-1]
    assert "fewer" not in slices_table("tag", slices("tag", values, asked), "document").lines[-1]


def noted(labels, some):
    """The notes beside the test of all questions, as a comparison has it."""
    (whole,) = paired_differences(some.change[:, np.newaxis], some.clusters.numbers)
    found = regressed_slices(labels, some, whole)
    return [] if found is None else [slices_text(found)]


def change(after):
    return ScoreChange("recall", np.zeros(len(after)), np.asarray(after), Clusters())


def test_few_equal_signs_are_a_regression_whatever_their_sizes():
    after = np.zeros(300)
    after[:7] = [-1.0, *[-0.06] * 6]
    assert change(after).regressed("", "", np.arange(300)) is not None
    assert noted({"tag": [("a",)] * 100 + [("b",)] * 200}, change(after)) == []  # the mean regressed, too


def test_what_needs_no_test_is_what_the_test_does_not_reject():
    """Of changes of very unequal sizes, which have few patterns of signs near their deviation."""
    random = np.random.default_rng(0)
    told = 0
    for _ in range(400):
        count = int(random.integers(6, 40))
        after = -(random.pareto(0.7, count) + 0.01) * random.choice([1.0, -1.0], count, p=[0.8, 0.2])
        some = change(after / np.abs(after).max())
        (whole,) = slices("all", [("all",)] * count, some)
        is_worse = whole.test.mean < 0 and whole.test.p_value <= 0.05
        assert (some.regressed("all", "all", np.arange(count)) is not None) == is_worse
        told += is_worse
    assert told > 100
