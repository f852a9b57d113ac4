"""Clusters of questions: the documents of their labels."""

from dataclasses import asdict, replace
from shutil import copy
from types import SimpleNamespace

import numpy as np
import pytest

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationResult,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.analysis.comparison import clusters_of
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import ConfigError, ResultError
from rag_evaluation_framework.report.pages.gates import independence
from rag_evaluation_framework.runs.means import Clusters
from rag_evaluation_framework.statistics import paired_differences


def span(doc_id):
    return CharacterSpan(DocumentId(doc_id), 0, 5)


def test_questions_of_one_document_are_one_cluster_by_their_first_label():
    labels = [(span(f"d{number % 20}"), span("other")) for number in range(40)]
    clusters = Clusters.of([*labels, (), ()], "token-level").numbers
    assert clusters[:40].tolist() == [*range(20), *range(20)]
    assert len({*clusters[40:], *clusters[:20]}) == 22  # what has no label is alone


def test_with_fewer_than_six_documents_each_question_counts_by_itself_and_the_verdict_is_about_these():
    five = Clusters.of([(span(f"d{number % 5}"),) for number in range(100)], "token-level")
    assert five.numbers is None
    assert independence(five, "intervals", 100) == (
        "of these 5 documents only, with other documents it may differ: intervals, questions taken as independent"
    )
    six = Clusters.of([(DocumentId(f"d{number % 6}"),) for number in range(20)], "document-level")
    assert independence(six, "intervals", 6) == "intervals, questions on one document taken together (6 documents)"
    chunks = Clusters.of([(f"chunk_{number:012x}",) for number in range(50)], "chunk-level")
    assert independence(chunks, "intervals", 50) == "intervals, questions taken as independent"


def test_some_of_the_questions_may_be_in_few_documents():
    clusters = Clusters.of([(span(f"d{number}"),) for number in range(7)] * 2, "token-level")
    assert clusters.among(np.arange(1, 14)).numbers.tolist() == [1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6]
    assert independence(clusters.among(np.array([0, 2, 7])), "intervals", 3) == (
        "of these 2 documents only, with other documents it may differ: intervals, questions taken as independent"
    )


def result_of(relevant, evaluation_type):
    queries = SimpleNamespace(texts=[*"abcdef"][: len(relevant)], relevant=relevant)
    scores = SimpleNamespace(rows={name: row for row, name in enumerate(queries.texts)})
    return SimpleNamespace(name="short", queries=queries, scores=scores, evaluation_type=evaluation_type)


@pytest.mark.parametrize(
    ("documents", "asked", "cluster", "numbers", "few"),
    [
        ("xyx", "abc", None, None, 2),
        ("xyx", "abc", "document", [0, 1, 0], 0),
        ("xyx", "cb", "document", [0, 1], 0),
        ("uvwxyz", "abcdef", None, [*range(6)], 0),
        ("uvwxyz", "abcdef", "question", None, 0),
    ],
)
def test_what_is_independent_is_as_was_asked_however_many_documents_there_are(documents, asked, cluster, numbers, few):
    run = result_of([(span(name),) for name in documents], "token-level")
    found = clusters_of([run], [*asked], cluster)
    assert (None if found.numbers is None else found.numbers.tolist()) == numbers
    assert found.few == few


def test_documents_that_are_not_known_cannot_be_taken_together():
    run = result_of([("chunk_000000000000",)], "chunk-level")
    with pytest.raises(ResultError, match="'short': the documents of the labels are not known, as labels are chunks"):
        clusters_of([run], ["a"], "document")
    assert clusters_of([run], ["a"]).numbers is None


@pytest.mark.parametrize("cluster", ["documents", "", 1, ["document"], np.zeros(2)])
def test_what_is_independent_is_a_question_or_a_document(cluster):
    with pytest.raises(ConfigError, match="expected 'question' or 'document', or None for the default"):
        clusters_of([], [], cluster)


@pytest.fixture
def results():
    """What BM25 finds of two questions on each of 25 documents."""
    words = [f"word{number}" for number in range(25)]
    texts = {f"{word}.md": f"The {word} is blue. Its size is {word}zz." for word in words}
    corpus = Corpus([Document(DocumentId(name), text) for name, text in texts.items()])
    truth = [
        TokenLevelGroundTruth(
            Query(QueryId(f"{word}-{number}"), QueryText(text)), (CharacterSpan(DocumentId(f"{word}.md"), 0, 10),)
        )
        for number in (1, 2)
        for word, text in zip(words, (f"{word} {'other' * (number - 1)}" for word in words), strict=True)
    ]
    dataset = Dataset(truth, TOKEN, corpus=corpus)
    return evaluate(BM25Retriever(), dataset, k=1, budgets=[]), dataset


@pytest.mark.parametrize(("lost", "is_told"), [(4, True), (0, False)])
def test_how_many_questions_it_would_take_is_told_where_something_was_seen(results, lost, is_told):
    """Gains and losses that cancel leave a mean of 0 but for rounding, which no number of questions would find."""
    before, _ = results
    column = before.scores.columns["span_recall@1"]
    change = np.tile([0.3, -0.1, -0.2], 17)[: len(column)]
    change[len(column) // 3 * 3 :] = 0
    change[:lost] -= 0.2
    start = np.full(len(column), 0.5)
    one, other = (
        replace(
            before, queries=replace(before.queries, table=replace(before.scores, columns={"span_recall@1": values}))
        )
        for values in (start, start + change)
    )
    assert ("as is seen here, with" in one.compare(other).summary().as_markdown()) == is_told


def test_a_comparison_tests_the_deltas_by_document(results, tmp_path):
    before, dataset = results

    def nothing(query, k):
        return [] if "word7" in query or "word8" in query else ["The word1 is blue"]

    after = evaluate(nothing, dataset, k=1, budgets=[])
    comparison = before.compare(after)
    test = comparison.tests["span_recall@1"]
    deltas = np.array([*comparison.deltas["span_recall@1"].values()])[:, np.newaxis]
    (alone,) = paired_differences(deltas, comparison.clusters.numbers)
    assert asdict(test) == pytest.approx(asdict(alone))
    assert (test.pairs, test.clusters) == (50, 25)
    assert "questions on one document taken together (25 documents)" in comparison.summary().as_markdown()
    reports: list[EvaluationResult[CharacterSpan]] = []
    for name, run in (("a", before), ("b", after)):
        alone = tmp_path / f"{name}.json"
        copy(run.save(tmp_path / name) / "report.json", alone)
        reports.append(load_result(alone, TOKEN))
    assert reports[0].compare(reports[1]).tests == comparison.tests


def test_scores_beyond_1_have_no_largest_difference(results):
    before, _ = results
    seconds = np.linspace(0, 9, 50)
    one, other = (
        replace(before, queries=replace(before.queries, table=replace(before.scores, columns={"time@1": values})))
        for values in (seconds, seconds * 2)
    )
    assert one.compare(other).tests["time@1"].high > 5


@pytest.mark.parametrize(("mean", "spread"), [(0.0004, 0.05), (0.001, 0.4)])
def test_no_number_of_questions_is_told_for_what_hardly_can_be_seen(results, mean, spread):
    before, _ = results
    document = np.arange(50) % 25
    change = np.where(document == 24, 0, np.where(document % 2, spread, -spread)) + mean
    one, other = (
        replace(
            before, queries=replace(before.queries, table=replace(before.scores, columns={"span_recall@1": values}))
        )
        for values in (np.full(50, 0.5), 0.5 + change)
    )
    assert "4 times in 5" in repr(one.compare(other))
    assert "as is seen here" not in repr(one.compare(other))
