import numpy as np
import pytest

from rag_evaluation_framework import PositionAwareChunk
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.components.rerankers import FunctionReranker
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.data import Document, DocumentId
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.testing import FixedRetriever, RerankerConformance

DOCUMENT = Document(DocumentId("a.md"), "aabbbc")
CHUNKS = [PositionAwareChunk.of(DOCUMENT, start, end) for start, end in ((0, 2), (2, 5), (5, 6), (0, 2))]


def lengths(query, texts):
    return [len(text) for text in texts]


async def slowly(query, texts):
    return lengths(query, texts)


class TestFunctionReranker(RerankerConformance):
    def make(self):
        return FunctionReranker(lengths)


def test_the_function_scores_the_texts_and_the_best_come_first():
    for reranker in (FunctionReranker(lengths), FunctionReranker(slowly)):
        assert [chunk.content for chunk in reranker.rerank("which?", CHUNKS)] == ["bbb", "aa", "aa", "c"]
        assert [chunk.content for chunk in reranker.rerank("which?", CHUNKS, 1)] == ["bbb"]
        with pytest.raises(InputError, match="top_k=-1; expected at least 0, or None for all chunks"):
            reranker.rerank("which?", CHUNKS, -1)
    assert FunctionReranker(lengths).name == "lengths"
    retriever = RerankedRetriever(FixedRetriever(CHUNKS), lengths)
    assert retriever == RerankedRetriever(retriever.retriever, FunctionReranker(lengths))
    assert retriever.name.endswith("reranker=lengths)")
    assert describe(retriever)["reranker"] == {
        "type": "rag_evaluation_framework.components.rerankers.function:FunctionReranker",
        "function": f"{__name__}:lengths",
    }


def test_the_function_gets_the_question_and_a_list_of_distinct_texts():
    given = []

    def record(query, texts):
        given.append((query, texts))
        return np.arange(len(texts))

    FunctionReranker(record).rerank("which?", CHUNKS)
    assert given == [("which?", ["aa", "bbb", "c"])]
    assert FunctionReranker(record).rerank("which?", []) == []
    assert len(given) == 1
