"""What was returned, in brief: the rank of the first relevant result, and what questions without an answer got."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from math import ceil

import numpy as np
import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.data import Answer, Cutoff, ProjectedTruth, QueryRanking, Rankings
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.runs.means import Unanswerable
from rag_evaluation_framework.runs.query_result import Returned
from rag_evaluation_framework.scoring.levels.rules import RULES
from rag_evaluation_framework.scoring.score import score_checked
from rag_evaluation_framework.text.reading import RankingCutter
from support.results import saved_rows

CORPUS = Corpus([Document(DocumentId(name), "abcdefghij" * 10) for name in ("a", "b", "c", "guide/1", "guide/2")])


def query(name):
    return Query.from_text(name)


def documents(*ids, prefixes=()):
    return DocumentLevelGroundTruth(query("q"), tuple(map(DocumentId, ids)), prefixes)


def ranks(truth, *rankings, k=(), whole=True):
    named = tuple(replace(entry, query=query(str(number))) for number, entry in enumerate(truth))
    found = [QueryRanking(entry.query, tuple(ranking)) for entry, ranking in zip(named, rankings, strict=True)]
    cutter = RankingCutter(map(Cutoff, k), None, CORPUS)
    projected = ProjectedTruth(named[0].level, named)
    return score_checked(Rankings.of(found, CORPUS), projected, [], cutter, whole=whole).first_relevant.tolist()


def of_documents(text):
    return [Hit(doc_id=name) for name in text.split()]


def of_text(*places):
    return [Hit(doc_id=name, start=start, end=end) for name, start, end in places]


SPAN = TokenLevelGroundTruth(query("q"), (CharacterSpan("a", 10, 20),))
LABELLED = ChunkLevelGroundTruth(query("q"), ("chunk_2",))
RANKS = {
    "documents, each result counts": [
        (documents("b"), of_documents("a a b b"), 3),
        (documents("b"), of_documents("b a"), 1),
        (documents("a"), of_documents("c c c a a"), 4),
        (documents("c"), of_documents("a b"), np.nan),
    ],
    "a prefix": [(documents(prefixes=("guide/",)), of_documents("a a guide/2 guide/1"), 3)],
    "any place of an answer": [
        (
            DocumentLevelGroundTruth(query("q"), (Answer.any_of(DocumentId("c"), DocumentId("b")),)),
            of_documents("a a b c"),
            3,
        )
    ],
    "nothing found or relevant": [
        (documents("a"), [], np.nan),
        (documents(), of_documents("a"), np.nan),
        (documents("a"), [Hit(text="?")], np.nan),
    ],
    "text, a character is enough": [
        (SPAN, of_text(("a", 0, 10), ("b", 10, 20), ("a", 19, 30)), 3),
        (SPAN, of_text(("a", 20, 30)), np.nan),
    ],
    "chunks": [(LABELLED, [Hit(chunk_id=f"chunk_{number}") for number in (1, 1, 2)], 3)],
}


@pytest.mark.parametrize("cases", RANKS.values(), ids=RANKS)
def test_the_rank_is_that_of_the_first_result_that_is_relevant(cases):
    truth, rankings, expected = zip(*cases, strict=True)
    assert ranks(truth, *rankings) == pytest.approx([*expected], nan_ok=True)


@pytest.mark.parametrize(
    ("k", "whole", "expected"), [((2, 3), True, 4), ((2, 3), False, np.nan), ((4,), False, 4), ((), False, np.nan)]
)
def test_the_rank_is_looked_for_beyond_the_largest_k_if_that_is_asked(k, whole, expected):
    ranking = of_documents("b c b a a")
    assert ranks([documents("a")], ranking, k=k, whole=whole) == pytest.approx([expected], nan_ok=True)


@pytest.mark.parametrize("seed", range(20))
def test_the_rank_is_that_of_reading_results_one_by_one(seed, monkeypatch):
    monkeypatch.setattr(import_module("rag_evaluation_framework.scoring.score"), "_HITS_AT_ONCE", 7)
    random = np.random.default_rng(seed)
    names = [*map(str, range(6))]
    truth = [documents(*random.choice(names, random.integers(0, 3), replace=False)) for _ in range(30)]
    rankings = [[Hit(doc_id=name) for name in random.choice(names, random.integers(0, 8))] for _ in range(30)]
    rules = RULES["document-level"]
    by_hand = [
        next((r for r, hit in enumerate(ranking, 1) if any(rules.found(u, hit.doc_id) for u in entry.relevant)), np.nan)
        for entry, ranking in zip(truth, rankings, strict=True)
    ]
    assert ranks(truth, *rankings) == pytest.approx(by_hand, nan_ok=True)


@pytest.mark.parametrize(
    ("scores", "best"),
    [([3.0, 2.0, 2.0], 3.0), ([2.0], 2.0), ([2.0, None], 2.0), ([1.0, 2.0], None), ([None, 2.0], None), ([], None)],
    ids=["falling", "one", "the last without", "rising, as distances", "the first without", "no results"],
)
def test_the_best_score_is_that_of_the_first_result_if_scores_order_them(scores, best):
    given = {"other": [9.0], "asked": scores}
    result = evaluate(lambda text, k: [Hit(doc_id="a", score=score) for score in given[text]], dataset(given), k=4)
    found = result.queries.returned
    assert found.best_score.tolist() == pytest.approx([9.0, np.nan if best is None else best], nan_ok=True)
    assert found.results.tolist() == [1, len(scores)]


# -- in results -------------------------------------------------------------------------------------------------------

SCORES = {"good 1": 0.9, "good 2": 0.8, "good 3": 0.7, "wrong": 0.99, "none 1": 0.75, "none 2": 0.1, "none 3": None}


def dataset(names=tuple(SCORES)):
    truth = [
        DocumentLevelGroundTruth(query(name), () if name.startswith("none") else (DocumentId("a"),)) for name in names
    ]
    return Dataset(truth, DOCUMENT, corpus=CORPUS, name="numbers")


def search(text, k):
    score = SCORES[text]
    if score is None:
        return []
    found = [Hit(doc_id=name, score=score) for name in ("b", "b", "a", "a")]
    return [*(found if text == "wrong" else found[2:])][:k]


def run(function=search, names=tuple(SCORES), **options):
    return evaluate(function, dataset(names), k=4, budgets=[], **options)


def test_false_returns_are_told_at_thresholds_of_good_first_results_and_one_threshold_once():
    told = run().unanswerable
    assert (told.asked, told.returned, told.good) == (3, 2, 3)
    at_95, at_50 = told.false_returns
    assert (at_95.threshold, at_95.kept, at_95.rate) == (
        0.7,
        1.0,
        pytest.approx(1 / 3),
    )  # 0.75, and neither 0.1 nor none
    assert (at_50.threshold, at_50.kept, at_50.rate) == (0.8, pytest.approx(2 / 3), 0.0)
    assert len(run(names=("good 1", "none 1")).unanswerable.false_returns) == 1


def test_a_threshold_keeps_no_less_than_it_says():
    for count in range(1, 60):
        good = np.arange(count, dtype=np.float64)
        found = Returned(np.ones(count + 1, np.int64), np.array([1.0] * count + [np.nan]), np.append(good, 0.0))
        names = tuple(map(str, range(count + 1)))
        told = Unanswerable.of(ScoreTable(names, {}, np.arange(count + 1) < count), found)
        expected = [good[-ceil(Fraction(percent, 100) * count)] for percent in (95, 50)]
        assert [one.threshold for one in told.false_returns] == [*dict.fromkeys(expected)]
        assert [one.kept >= kept for one, kept in zip(told.false_returns, (0.95, 0.5), strict=False)] in (
            [True, True],
            [True],
        )


def test_what_follows_is_shown_and_saved(tmp_path):
    result = run()
    summary = result.summary().as_markdown()
    assert "2 of the 3 that were asked got results" in summary
    assert "| 0.7 | 0.333 | 1.000 |" in summary
    assert "rank of the first relevant result: median 1 (found for 4 of 4)" in summary
    report = json.loads((result.save(tmp_path / "run") / "report.json").read_text(encoding="utf-8"))
    assert report["unanswerable"]["false_returns"][0]["threshold"] == 0.7
    assert report["first_relevant"] == {"questions": 4, "found": 4, "median": 1.0}


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda text, k: [{"doc_id": "a"}], "3 of them got results that no score orders"),
        (lambda text, k: [Hit(doc_id="b", score=1.0)], "of no question with an answer the first result is relevant"),
    ],
    ids=["no scores", "nothing good"],
)
def test_where_no_threshold_is_defined_the_report_says_why(function, why):
    result = run(function)
    assert result.unanswerable.false_returns == ()
    assert why in result.unanswerable.undefined
    assert "Questions without an answer" not in repr(result)


def test_questions_that_failed_were_not_asked_and_without_such_questions_nothing_is_said():
    def failing(text, k):
        if text == "none 1":
            raise TimeoutError("gone")
        return search(text, k)

    assert run(failing).unanswerable.asked == 2
    without = run(names=("good 1", "wrong"))
    assert without.unanswerable is None
    assert "without an answer" not in repr(without)


def test_questions_that_found_nothing_relevant_are_later_than_any():
    def first_only(text, k):
        return [Hit(doc_id="a" if text == "good 1" else "b", score=1.0)]

    assert run(first_only, names=("good 1", "good 2")).first_relevant.median is None
    told = repr(run(first_only, names=("good 1", "good 2")))
    assert "rank of the first relevant result: median none (found for 1 of 2)" in told
    assert run(names=("good 1", "wrong")).first_relevant.median == 2.0


def test_each_question_tells_its_rank_and_keeps_it_also_in_a_report_alone(tmp_path):
    result = run()
    assert [found.first_relevant for found in result.queries] == [1, 1, 1, 3, None, None, None]
    assert result.queries[3].scores["mrr@4"] == 0.5  # it counts documents
    folder = result.save(tmp_path / "run")
    lines = saved_rows(folder)
    assert [(line["results"], line["first_relevant"], line["best_score"]) for line in lines][2:4] == [
        (2, 1, 0.7),
        (4, 3, 0.99),
    ]
    again = load_result(folder)
    assert again == result
    assert again.summary() == result.summary()
    assert again.unanswerable == result.unanswerable
    alone = load_result(shutil.copy(folder / "report.json", tmp_path / "alone.json"))
    assert (alone.unanswerable, alone.first_relevant) == (result.unanswerable, result.first_relevant)
    assert alone.queries[3].first_relevant == 3


def test_at_the_other_levels_the_rank_is_not_in_the_summary():
    truth = [TokenLevelGroundTruth(query("q"), (CharacterSpan("a", 0, 5),))]
    result = evaluate(lambda text, k: [Hit(doc_id="a", start=0, end=9)], Dataset(truth, TOKEN, corpus=CORPUS), k=1)
    assert result.first_relevant.median == 1.0
    assert "first relevant" not in repr(result)
