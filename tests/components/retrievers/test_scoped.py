import time

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
    VectorRAGRetriever,
    evaluate,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.components.retrievers import ScopedRetriever
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.testing import HashingEmbedder

TEXT = "refunds take five days"


def corpus_of(numbers=range(30)):
    """Documents of one text, in three neighbouring scopes."""
    scopes = ("eval:a:", "eval:ab:", "eval:a_:")
    return Corpus(
        Document(DocumentId(f"{scopes[number % 3]}{number:02}"), f"{TEXT} {number}", {"even": number % 2 == 0})
        for number in numbers
    )


def question(**kept):
    return Query("q1", "How long do refunds take?", kept)


PARTS = {
    "bm25": BM25Retriever(),
    "vectors": VectorRAGRetriever(embedder=HashingEmbedder(16)),
    "hybrid": HybridRetriever((BM25Retriever(), VectorRAGRetriever(embedder=HashingEmbedder(16)))),
}


@pytest.mark.parametrize("retriever", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("prefix", ["eval:a:", "eval:ab:", "eval:a_:"])
def test_what_is_found_is_the_whole_ranking_without_what_is_outside(retriever, prefix):
    scoped, corpus = ScopedRetriever(retriever), corpus_of()
    scoped.index(corpus)
    whole = scoped.retrieve(question().text, 30).hits
    expected = [hit.doc_id for hit in whole if hit.doc_id.startswith(prefix)]
    assert len(expected) == 10
    for k in (1, 3, 10, 20):
        found = scoped.retrieve_for(question(scopePrefix=prefix), k)
        assert [hit.doc_id for hit in found.hits] == expected[:k]
    assert [hit.doc_id for hit in scoped.retrieve_for(question(), 30).hits] == [hit.doc_id for hit in whole]


def test_constraints_on_metadata_are_kept():
    scoped = ScopedRetriever(BM25Retriever())
    scoped.index(corpus_of())
    asked = question(scopePrefix="eval:a:", metadataConstraints={"even": True})
    found = [hit.doc_id for hit in scoped.retrieve_for(asked, 30).hits]
    assert sorted(found) == ["eval:a:00", "eval:a:06", "eval:a:12", "eval:a:18", "eval:a:24"]


def dataset_of(corpus, *scopes, relevant="eval:a:00"):
    truth = [
        DocumentLevelGroundTruth(Query(f"q{number}", TEXT, {"scopePrefix": scope} if scope else {}), [relevant])
        for number, scope in enumerate(scopes)
    ]
    return Dataset(truth, DOCUMENT, corpus=corpus)


def test_a_run_asks_every_question_in_its_scope_unless_all_documents_are_in_it():
    result = evaluate(BM25Retriever(), dataset_of(corpus_of(), "eval:a:", "eval:ab:", None), 20, budgets=[])
    found = [{hit.doc_id[:7] for hit in query.hits} for query in result.queries]
    assert found[:2] == [{"eval:a:"}, {"eval:ab"}]
    assert len(found[2]) == 3
    assert result.per_query("recall@20") == {"q0": 1.0, "q1": 0.0, "q2": 1.0}
    assert result.config["retriever"]["type"] == "scoped"
    whole = evaluate(BM25Retriever(), dataset_of(Corpus([Document(DocumentId("eval:a:00"), TEXT)]), "eval:a:"), 5)
    assert whole.config["retriever"]["type"] == "bm25"


def test_what_is_reranked_is_in_the_scope_already():
    asked = []

    def lengths(query, texts):
        asked.extend(texts)
        return [-len(text) for text in texts]

    reranked = RerankedRetriever(BM25Retriever(), lengths, candidates=5)
    result = evaluate(reranked, dataset_of(corpus_of(), "eval:a_:", relevant="eval:a_:02"), 5, budgets=[])
    assert {hit.doc_id[:8] for query in result.queries for hit in query.hits} == {"eval:a_:"}
    assert len(asked) == 5
    assert result.config["retriever"]["type"] == "reranked"


def test_a_function_is_refused_where_it_would_have_to_honour_a_scope():
    def search(query, k):
        return [TEXT]

    with pytest.raises(DatasetError, match=r"asks for scopePrefix 'eval:ab:', which .*search does not honour"):
        evaluate(search, dataset_of(corpus_of(), "eval:ab:"), 5)


class Repeating(BM25Retriever):
    """Returns as many results as it is asked for, the same again and again, of another scope."""

    def retrieve(self, query, k):
        assert k <= 100_000, "it is asked for ever"
        return [{"doc_id": "eval:a:00"}, *[{"doc_id": "eval:ab:01"}] * (k - 1)]


@pytest.mark.no_cover
def test_a_retriever_that_repeats_itself_is_not_asked_for_ever():
    scoped = ScopedRetriever(Repeating())
    scoped.index(corpus_of())
    with collect_notes() as notes:
        found = scoped.retrieve_for(question(scopePrefix="eval:a:"), 3)
    assert [hit.doc_id for hit in found.hits] == ["eval:a:00"]
    assert notes == ["Repeating found too few results in a scope among the first 100,000, its limit"]
    assert not found.complete


class FarBehind(BM25Retriever):
    """Finds 150 of another scope, then ten of that of the question, then others again; it lists no chunks."""

    def retrieve(self, query, k):
        found = [f"eval:a:{number:02}" for number in range(0, 30, 3)]
        return [{"doc_id": doc_id} for doc_id in ["eval:ab:01"] * 150 + found + ["eval:ab:01"] * 300][:k]

    def chunks(self):
        return None


def test_a_search_that_stopped_at_the_limit_is_not_complete_and_goes_on_until_the_budget_is_filled(monkeypatch):
    monkeypatch.setattr("rag_evaluation_framework.components.retrievers.combined._DEEPEST", 200)
    scoped, corpus = ScopedRetriever(FarBehind()), corpus_of()
    scoped.index(corpus)
    found = scoped.retrieve_for(question(scopePrefix="eval:a:"), 2)
    assert (len(found.hits), found.complete) == (2, False)
    result = evaluate(FarBehind(), dataset_of(corpus, "eval:a:", relevant="eval:a:27"), 2, budgets=["240ch"])
    assert result.metrics["recall@240ch"] == 1.0
    assert not any("ran out of results" in told for told in result.notes)


def test_a_k_beyond_the_limit_is_searched_to_its_own_depth(monkeypatch):
    monkeypatch.setattr("rag_evaluation_framework.components.retrievers.combined._DEEPEST", 50)
    scoped = ScopedRetriever(FarBehind())
    scoped.index(corpus_of())
    for k, hits, complete, told in ((155, 5, False, ["155"]), (500, 10, True, [])):
        with collect_notes() as notes:
            found = scoped.retrieve_for(question(scopePrefix="eval:a:"), k)
        assert (len(found.hits), found.complete) == (hits, complete)
        said = "FarBehind found too few results in a scope among the first {}, its limit"
        assert notes == [said.format(most) for most in told]


class OfOneDocument(BM25Retriever):
    """Names the document of each chunk and nothing else: twenty of another scope come before that of the question."""

    def retrieve(self, query, k):
        time.sleep(0.01)
        return [*[{"doc_id": "eval:ab:01"}] * 20, {"doc_id": "eval:a:00"}][:k]


def test_chunks_that_name_their_document_alone_are_no_repetition_and_every_ask_is_in_the_latency():
    scoped = ScopedRetriever(OfOneDocument())
    scoped.index(corpus_of())
    found = scoped.retrieve_for(question(scopePrefix="eval:a:"), 1)
    assert [hit.doc_id for hit in found.hits] == ["eval:a:00"]
    assert sum(stage.seconds for stage in found.stages) >= 0.04  # asked for 1, 4, 16 and 64
    assert [stage.hits is None for stage in found.stages] == [True, True, True, False]
