import numpy as np
import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, SemanticChunker, VectorRAGRetriever
from rag_evaluation_framework.components import CachedEmbedder
from rag_evaluation_framework.components.embedders import FunctionEmbedder
from rag_evaluation_framework.components.retrievers import chunk_corpus, embed_chunks
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.testing import EmbedderConformance, HashingEmbedder

CORPUS = Corpus([Document(DocumentId("a.md"), "Refunds take five days. " * 40 + "The server restarts at night. " * 40)])
HASHING = HashingEmbedder(64)


def embed(texts):
    return HASHING.embed(texts)


async def slowly(texts):
    return embed(texts)


class TestFunctionEmbedder(EmbedderConformance):
    def make(self):
        return FunctionEmbedder(embed)


def test_the_function_embeds_and_names_the_embedder_and_lists_of_numbers_and_coroutines_will_do():
    embedder = FunctionEmbedder(embed)
    vectors = embedder.embed(("refunds", "server"))
    assert np.array_equal(vectors, embed(["refunds", "server"]))
    assert (vectors.dtype, embedder.dimension, embedder.name) == (np.float32, 64, "embed")
    assert np.array_equal(embedder.embed_query("refunds"), vectors[0])
    assert np.array_equal(embedder.embed_queries(["refunds", "server"]), vectors)
    assert describe(VectorRAGRetriever(embedder=embed))["embedder"] == {
        "type": "rag_evaluation_framework.components.embedders.function:FunctionEmbedder",
        "function": f"{__name__}:embed",
    }
    assert np.array_equal(FunctionEmbedder(slowly).embed(["refunds"]), vectors[:1])
    assert FunctionEmbedder(lambda texts: [[1, 2.5]] * len(texts)).embed(["a", "b"]).tolist() == [[1, 2.5], [1, 2.5]]


def test_the_function_gets_a_list_and_is_not_called_with_nothing():
    given = []

    def record(texts):
        given.append(texts)
        return [[1.0, 0.0]] * len(texts)

    embedder = FunctionEmbedder(record)
    embedder.embed(("a", "b"))
    embedder.embed_queries(("c", "d"))
    assert given == [["a", "b"], ["c", "d"]]
    assert embedder.embed([]).shape == embedder.embed_queries([]).shape == (0, 2)
    assert embedder.dimension == 2
    assert len(given) == 3  # the dimension is that of one text


@pytest.mark.parametrize("given", [embed, slowly], ids=["function", "coroutine"])
def test_a_function_is_an_embedder_wherever_one_is_taken(given):
    chunks = chunk_corpus(CORPUS, SemanticChunker(embedder=HASHING, max_size=400))
    assert chunk_corpus(CORPUS, SemanticChunker(embedder=given, max_size=400)) == chunks
    assert np.array_equal(embed_chunks(chunks, given).vectors, embed_chunks(chunks, HASHING).vectors)
    with pytest.warns(UserWarning, match="the vectors of .* are not cached: a parameter of type function"):
        cached = CachedEmbedder(given)
    assert np.array_equal(cached.embed(["refunds"]), embed(["refunds"]))
    retriever = VectorRAGRetriever(embedder=given)
    assert retriever == VectorRAGRetriever(embedder=FunctionEmbedder(given))
    retriever.index(CORPUS)
    expected = VectorRAGRetriever(embedder=HASHING)
    expected.index(CORPUS)
    assert (
        retriever.retrieve("When do servers restart?", 3).hits == expected.retrieve("When do servers restart?", 3).hits
    )
