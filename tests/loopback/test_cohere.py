"""Cohere's protocol, as its SDK speaks it."""

import cohere
import httpx
import pytest

from rag_eval_loopback.models import vector


@pytest.fixture
def client(providers):
    with httpx.Client() as connections:  # the client closes none
        yield cohere.ClientV2(api_key="odd", base_url=providers.url, max_retries=0, httpx_client=connections)


@pytest.mark.parametrize(
    ("model", "role", "asked", "length"),
    [
        ("embed-v4.0", "search_document", {}, 1536),
        ("embed-v4.0", "search_query", {}, 1536),
        ("embed-v4.0", "search_query", {"output_dimension": 256}, 256),
        ("embed-english-v3.0", "search_query", {}, 1024),
    ],
    ids=["documents", "questions", "dimensions", "another model"],
)
def test_embeddings_are_vectors_of_the_texts_in_role_and_dimensions(client, model, role, asked, length):
    texts = ["Refunds take days.", "x"]
    answer = client.embed(model=model, input_type=role, texts=texts, embedding_types=["float"], **asked)
    for got, text in zip(answer.embeddings.float_, texts, strict=True):
        assert got == pytest.approx(vector(text, length, role).tolist())
    assert answer.meta.billed_units.input_tokens == 5


EMBED = {"model": "embed-v4.0", "input_type": "search_query", "texts": ["a"]}
RERANK = {"model": "rerank-v3.5", "query": "a"}


@pytest.mark.parametrize(
    ("method", "asked", "says"),
    [
        ("embed", EMBED | {"texts": ["a"] * 97}, "total number of texts must be 1 to 96, received 97"),
        ("embed", EMBED | {"texts": []}, "received 0"),
        ("embed", EMBED | {"input_type": "document"}, "valid input_type must be provided, got 'document'"),
        ("rerank", RERANK | {"documents": []}, "expected 1 to 10000 documents, received 0"),
        ("rerank", RERANK | {"documents": ["a"] * 10_001}, "expected 1 to 10000 documents, received 10001"),
    ],
    ids=["97 texts", "no text", "another role", "no document", "10001 documents"],
)
def test_what_cohere_would_refuse_is_refused(client, method, asked, says):
    with pytest.raises(cohere.BadRequestError, match=says):
        getattr(client, method)(**asked)


def test_documents_are_ranked_by_words_they_share_up_to_as_many_as_are_asked_for(client):
    # Documents are ranked by the words that they share with the question:
    answer = client.rerank(model="rerank-v3.5", query="a b", documents=["c", "a", "b a", "a"])
    assert [(each.index, each.relevance_score) for each in answer.results] == [(2, 1.0), (1, 0.5), (3, 0.5), (0, 0.0)]
    assert answer.meta.billed_units.search_units == 1

    # Only the best are answered if that is asked for:
    answer = client.rerank(model="rerank-v3.5", query="a b", documents=["c", "a", "b a"], top_n=1)
    assert [each.index for each in answer.results] == [2]


def test_faults_have_the_form_of_coheres_errors(client, providers):
    providers.fault("POST /v2/rerank", status=429)
    with pytest.raises(cohere.TooManyRequestsError) as failed:
        client.rerank(model="rerank-v3.5", query="a", documents=["a"])
    assert failed.value.body == {"message": "status 429, as was asked for"}
