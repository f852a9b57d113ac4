"""CohereEmbedder: what it sends for chunks and for questions, and what it returns."""

import numpy as np
import pytest

from rag_eval_loopback.models import vector
from rag_evaluation_framework.components import CohereEmbedder
from rag_evaluation_framework.components.embedders.cached import embedder_identity
from rag_evaluation_framework.errors import InvalidAnswer
from support.provider_clients import client_of


def sent(providers):
    return [exchange.request.json for exchange in providers.exchanges]


def test_chunks_are_sent_as_documents_and_questions_as_queries_with_dimensions_if_they_are_given(providers):
    embedder = CohereEmbedder()
    common = {"model": "embed-v4.0", "embedding_types": ["float"], "truncate": "NONE"}
    documents = embedder.embed(["b", "a"])
    query = embedder.embed_query("a")
    queries = embedder.embed_queries(["c", "a"])
    assert CohereEmbedder(dimensions=256, truncate="END").embed(["a"]).shape == (1, 256)
    assert sent(providers) == [
        {**common, "input_type": "search_document", "texts": ["b", "a"]},
        {**common, "input_type": "search_query", "texts": ["a"]},
        {**common, "input_type": "search_query", "texts": ["c", "a"]},
        {**common, "input_type": "search_document", "texts": ["a"], "output_dimension": 256, "truncate": "END"},
    ]
    assert np.array_equal(documents, [vector(text, 1536, "search_document") for text in "ba"])
    assert np.array_equal(queries, [vector(text, 1536, "search_query") for text in "ca"])
    assert np.array_equal(query, queries[1])


def test_batches_are_of_96_texts(providers):
    texts = [f"text {number}" for number in range(200)]
    assert np.array_equal(CohereEmbedder().embed(texts), [vector(text, 1536, "search_document") for text in texts])
    assert sorted(len(content["texts"]) for content in sent(providers)) == [8, 96, 96]
    assert sorted(text for content in sent(providers) for text in content["texts"]) == sorted(texts)


def test_vectors_of_truths_are_refused(providers):
    providers.fault(
        "POST /v2/embed", change=lambda answer: {**answer, "embeddings": {"float": [[True, False]]}}, times=None
    )
    with pytest.raises(InvalidAnswer, match=r"\[True, False\]; expected a vector of numbers"):
        CohereEmbedder(max_retries=0).embed(["a"])


def test_vectors_of_another_model_dimension_end_or_server_are_others(monkeypatch):
    monkeypatch.delenv("CO_API_URL", raising=False)
    with client_of("ClientV2", "http://127.0.0.1:9") as client:
        others = [
            CohereEmbedder(),
            CohereEmbedder("embed-english-v3.0"),
            CohereEmbedder(dimensions=256),
            CohereEmbedder(truncate="END"),
            CohereEmbedder(base_url="http://in.house"),
            CohereEmbedder(client=client),
        ]
        assert len({embedder_identity(embedder) for embedder in others}) == 6
