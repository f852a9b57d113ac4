"""Telling the retriever all questions at once, and ordering anew what it found."""

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    PositionAwareChunk,
    Query,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.testing import FixedRetriever, ReversingReranker

CORPUS = Corpus([Document(DocumentId("a.md"), "".join(chr(0x4E00 + number) for number in range(600)))])
CHUNKS = [PositionAwareChunk.of(CORPUS["a.md"], start, start + 10) for start in range(0, 600, 10)]


def dataset(start=550):
    span = CharacterSpan(DocumentId("a.md"), start, start + 10)
    entries = [TokenLevelGroundTruth(Query(QueryId(name), QueryText(name)), (span,)) for name in ("one", "two")]
    return Dataset(entries, TOKEN, corpus=CORPUS)


class Busy(FixedRetriever):
    def prepare(self, queries):
        raise ConnectionError("too many at once")


def run(retriever, **options):
    config = EvaluationConfig(budgets=[], **options.pop("config", {}))
    evaluation = TokenLevelEvaluation(CORPUS, options.pop("dataset", dataset()))
    return evaluation.run(retriever=retriever, k=5, metrics=[SpanRecall()], config=config, **options)


def test_a_retriever_is_told_all_queries_once_between_indexing_and_the_first_query_unless_that_is_switched_off():
    retriever = FixedRetriever(CHUNKS)
    result = run(retriever)
    asked = [("retrieve", "one", 5), ("retrieve", "two", 5)]
    assert retriever.calls == [("index", CORPUS), ("prepare", ["one", "two"]), *asked, ("close",)]
    assert result.config["latency"] == "one question at a time, what can be done for all together done before"
    alone = FixedRetriever(CHUNKS)
    result = run(alone, config={"batch_queries": False})
    assert alone.calls == [("index", CORPUS), *asked, ("close",)]
    assert result.config["latency"] == "one question at a time"


def test_a_retriever_that_fails_on_the_batch_is_asked_one_by_one_with_a_note():
    result = run(Busy(CHUNKS))
    assert result.counts["scored"] == 2
    assert not result.failures
    assert "Busy could not prepare for all questions together: ConnectionError: too many at once" in result.notes[0]


def test_a_reranker_orders_fifty_candidates_whatever_k_is_also_of_a_plain_function():
    # The relevant chunk is the 46th of 50 in the first order, and so the fifth backwards.
    retriever = FixedRetriever(CHUNKS)
    found = dataset(450)
    assert run(retriever, dataset=found).metrics["span_recall"] == 0.0
    reranked = run(retriever, dataset=found, reranker=ReversingReranker())
    assert reranked.metrics["span_recall"] == 1.0
    assert ("retrieve", "one", 50) in retriever.calls
    assert reranked.queries[0].stages.keys() == {"retrieve", "rerank"}
    texts = [chunk.content for chunk in CHUNKS]
    plain = run(lambda query, k: texts[:k], dataset=found, reranker=ReversingReranker())
    assert plain.metrics["span_recall"] == 1.0
