"""How LangSmith and its kin write questions and answers: the shapes of examples and of what a run returns."""

from typing import Any, NotRequired, TypedDict

from rag_evaluation_framework.ids import ChunkId, DocumentId, PositionAwareChunkId, QueryText


class QueryInputs(TypedDict):
    """What an example asks."""

    query: QueryText


class SpanRecord(TypedDict):
    """A place in a document; `text` is what it reads."""

    doc_id: DocumentId
    start: int
    end: int
    text: NotRequired[str]


class DocumentLevelOutputs(TypedDict):
    """The relevant documents, beginnings of their ids, and how relevant each is where that is not 1."""

    relevant_document_ids: list[DocumentId]
    relevant_prefixes: NotRequired[list[str]]
    gains: NotRequired[dict[DocumentId, float]]


class ChunkLevelOutputs(TypedDict):
    """The relevant chunks, and how relevant each is where that is not 1."""

    relevant_chunk_ids: list[ChunkId]
    gains: NotRequired[dict[ChunkId, float]]


class TokenLevelOutputs(TypedDict):
    """The relevant places, or the ids of position-aware chunks that a `ChunkRegistry` knows the places of."""

    relevant_spans: NotRequired[list[SpanRecord]]
    relevant_chunk_ids: NotRequired[list[PositionAwareChunkId]]


class DocumentLevelDatasetExample(TypedDict):
    """A question and its relevant documents."""

    inputs: QueryInputs
    outputs: DocumentLevelOutputs
    metadata: NotRequired[dict[str, Any]]


class ChunkLevelDatasetExample(TypedDict):
    """A question and its relevant chunks."""

    inputs: QueryInputs
    outputs: ChunkLevelOutputs
    metadata: NotRequired[dict[str, Any]]


class TokenLevelDatasetExample(TypedDict):
    """A question and the text that answers it."""

    inputs: QueryInputs
    outputs: TokenLevelOutputs
    metadata: NotRequired[dict[str, Any]]


class ChunkLevelRunOutput(TypedDict):
    """What a pipeline returned for one question, best first."""

    retrieved_chunk_ids: list[ChunkId]


class TokenLevelRunOutput(TypedDict):
    """What a pipeline returned for one question, best first: places, or position-aware chunks that a registry knows."""

    retrieved_spans: NotRequired[list[SpanRecord]]
    retrieved_chunk_ids: NotRequired[list[PositionAwareChunkId]]
