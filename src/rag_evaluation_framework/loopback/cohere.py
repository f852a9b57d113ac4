"""The wire protocol of Cohere, version 2: embeddings and reranking."""

from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework.loopback.chat import count_tokens, share_of_words, vector
from rag_evaluation_framework.loopback.messages import Answer, Refused, Request, check_key, field_of, numbered
from rag_evaluation_framework.loopback.server import Route

_DIMENSION = 1536
_OLDER_DIMENSION = 1024  # of the models of version 3
_MOST_TEXTS = 96
_MOST_DOCUMENTS = 10_000
_INPUT_TYPES = ("search_document", "search_query", "classification", "clustering", "image")


def cohere_error(status: int, message: str) -> Any:
    """Return the body of an error."""
    del status
    return {"message": message}


def cohere_routes() -> Sequence[Route]:
    """Return the routes, below `/v2`."""
    ids = numbered("cohere")
    return (
        Route("POST /v2/embed", lambda request: _embed(request, ids()), cohere_error),
        Route("POST /v2/rerank", lambda request: _rerank(request, ids()), cohere_error),
    )


def _embed(request: Request, identity: str) -> Answer:
    check_key(request)
    content: Any = request.json
    texts: list[str] = field_of(content, "texts", list)
    role, model = field_of(content, "input_type", str), field_of(content, "model", str)
    if role not in _INPUT_TYPES:
        raise Refused(400, f"invalid request: valid input_type must be provided, got {role!r}")
    if not texts or len(texts) > _MOST_TEXTS:
        raise Refused(400, f"invalid request: total number of texts must be 1 to {_MOST_TEXTS}, received {len(texts)}")
    dimension = content.get("output_dimension") or (_OLDER_DIMENSION if "v3" in model else _DIMENSION)
    vectors = [vector(text, dimension, role).tolist() for text in texts]
    tokens = sum(count_tokens(text) for text in texts)
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": tokens}}
    return Answer(
        {
            "id": identity,
            "embeddings": {"float": vectors},
            "texts": texts,
            "meta": meta,
            "response_type": "embeddings_by_type",
        }
    )


def _rerank(request: Request, identity: str) -> Answer:
    check_key(request)
    content: Any = request.json
    query, documents = field_of(content, "query", str), field_of(content, "documents", list)
    field_of(content, "model", str)
    if not documents or len(documents) > _MOST_DOCUMENTS:
        raise Refused(400, f"invalid request: expected 1 to {_MOST_DOCUMENTS} documents, received {len(documents)}")
    scores = [(-share_of_words(query, text), number) for number, text in enumerate(documents)]
    best = sorted(scores)[: content.get("top_n") or len(documents)]
    results = [{"index": number, "relevance_score": -score} for score, number in best]
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return Answer({"id": identity, "results": results, "meta": meta})
