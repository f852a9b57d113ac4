import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    Retriever,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.analysis.attribution import Attribution
from rag_evaluation_framework.analysis.gates import assert_gates, check_gates
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.data import DOCUMENT, TOKEN, DocumentLevelGroundTruth
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.testing import ReversingReranker

TEXT = "Refunds take thirty days.\nParcels take three days.\n"
CORPUS = Corpus([Document(DocumentId("a.md"), TEXT)])
ENTRY = TokenLevelGroundTruth(
    Query.from_text("How long do parcels take?"), (CharacterSpan(DocumentId("a.md"), 26, 50, TEXT[26:50]),)
)
DATASET = Dataset([ENTRY], TOKEN, corpus=CORPUS)
LOST = ("Parcels take about three days, he said.", "Nothing of this is there: xyzzy")


class Rewriting(Retriever):
    rewrites_texts = True

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return list(LOST)


def unlocated_notes(result):
    return [note for note in result.notes if "have no place" in note]


def test_a_run_says_that_most_of_its_results_have_no_place_with_one_and_the_nearest_passage():
    result = evaluate(lambda query, k: list(LOST), DATASET, k=2)
    (note,) = unlocated_notes(result)
    assert note.startswith(
        "most results have no place in the corpus, such as 'Parcels take about three days, he said.'"
    )
    assert "; the nearest passage is a.md:2:1: 'Parcels take three days" in note
    assert "doc_id, start and end" in note


@pytest.mark.parametrize("others", [1, 2])
def test_half_of_the_results_may_have_no_place(others):
    results = [LOST[0], *(["Refunds take thirty days.", "Parcels take three days."][:others])]
    assert not unlocated_notes(evaluate(lambda query, k: results, DATASET, k=3))


@pytest.mark.parametrize(
    "around",
    [
        lambda retriever: retriever,
        lambda one: RerankedRetriever(one, ReversingReranker()),
        lambda one: HybridRetriever([lambda query, k: [], one]),
    ],
)
def test_a_retriever_that_rewrites_texts_says_so_and_its_gates_are_measured(around):
    result = evaluate(around(Rewriting()), DATASET, k=2)
    assert not unlocated_notes(result)
    (found,) = check_gates(result, "span_recall@2 <= 0.5")
    assert found.verdict == "passed"
    assert not BM25Retriever().rewrites_texts


def test_documents_need_no_place():
    entry = DocumentLevelGroundTruth(ENTRY.query, (DocumentId("a.md"),))
    result = evaluate(lambda query, k: list(LOST), Dataset([entry], DOCUMENT, corpus=CORPUS), k=2)
    assert result.counts["unlocated_hits"] == 2
    assert not unlocated_notes(result)


def test_what_was_returned_without_a_place_is_not_said_to_be_lost_by_the_retriever():
    result = evaluate(lambda query, k: list(LOST), DATASET, k=2)
    found = Attribution.of(result, corpus=CORPUS)
    for notes in (found.notes, result.explain(ENTRY.query.id, corpus=CORPUS).notes):
        assert any("2 of 2 results have no place in the documents" in note for note in notes)
    assert found.recall == 0
    assert found.advice == ()


@pytest.mark.parametrize(("allowed", "verdict"), [(0.5, "not measured"), (1.0, "passed")])
def test_no_gate_passes_where_most_results_have_no_place(allowed, verdict):
    result = evaluate(lambda query, k: [*LOST, "Parcels take three days."], DATASET, k=3)
    (found,) = check_gates(result, "span_recall@3 >= 0.9", allow_unlocated=allowed)
    assert found.verdict == verdict
    if verdict != "passed":
        told = "2 of 3 results have no place in the corpus, more than the 50% allowed (allow_unlocated"
        assert found.told.startswith(told)
        with pytest.raises(AssertionError, match="2 of 3 results have no place"):
            assert_gates(result, "span_recall@3 >= 0.9")


@pytest.mark.parametrize("percent", [50, 1.01, -0.1, float("nan")])
def test_a_share_that_is_none_is_refused_as_it_would_allow_everything(percent):
    result = evaluate(lambda query, k: list(LOST), DATASET, k=2)
    with pytest.raises(ConfigError, match=r"allow_unlocated=.*: expected a share from 0 to 1, such as 0\.5"):
        check_gates(result, "span_recall@2 >= 0", allow_unlocated=percent)
