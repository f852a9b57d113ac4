import asyncio
from functools import partial

import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    Corpus,
    Document,
    DocumentId,
    VectorRAGRetriever,
)
from rag_evaluation_framework.components.chunkers import ChunkerPositionAdapter, FunctionChunker, position_aware
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.testing import ChunkerConformance

CORPUS = Corpus([Document(DocumentId("a.md"), "One. Two.\n\nThree.")])


def paragraphs(text):
    return [part for part in text.split("\n\n") if part.strip()]


async def slowly(text):
    await asyncio.sleep(0)
    return paragraphs(text)


class TestFunctionChunker(ChunkerConformance):
    def make(self):
        return FunctionChunker(paragraphs)


def test_the_function_cuts_into_any_pieces_in_their_order_and_names_the_chunker():
    assert FunctionChunker(paragraphs).chunk("One.\n\nTwo.") == ["One.", "Two."]
    assert FunctionChunker(lambda text: (part for part in text.split())).chunk("a b") == ["a", "b"]
    assert FunctionChunker(str.split).chunk("a b") == ["a", "b"]
    assert FunctionChunker(slowly).chunk("One.\n\nTwo.") == ["One.", "Two."]
    assert FunctionChunker(lambda text: slowly(text.upper())).chunk("One.") == ["ONE."]
    assert FunctionChunker(paragraphs).name == "paragraphs"
    assert FunctionChunker(partial(str.split, sep=".")).name == "partial"
    assert BM25Retriever(chunker=paragraphs).name == "BM25Retriever(chunker=paragraphs)"
    assert describe(BM25Retriever(chunker=paragraphs))["chunker"] == {
        "type": "rag_evaluation_framework.components.chunkers.function:FunctionChunker",
        "function": f"{__name__}:paragraphs",
    }


@pytest.mark.parametrize("given", [paragraphs, slowly], ids=["function", "coroutine"])
def test_a_function_is_a_chunker_wherever_one_is_taken(given):
    expected = [("One. Two.", 0), ("Three.", 11)]
    retrievers = BM25Retriever(chunker=given), VectorRAGRetriever(chunker=given)
    for chunker in (
        given,
        ChunkerPositionAdapter(given),
        position_aware(given),
        *(each.chunker for each in retrievers),
    ):
        assert [(chunk.content, chunk.start) for chunk in chunk_corpus(CORPUS, chunker)] == expected
    assert BM25Retriever(chunker=given) == BM25Retriever(chunker=FunctionChunker(given))
