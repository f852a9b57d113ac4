"""Types of dataset examples and run outputs as LangSmith and similar tools write them."""

from typing import Any, NotRequired, TypedDict

from rag_evaluation_framework.data.ids import ChunkId, DocumentId, PositionAwareChunkId, QueryText


class QueryInputs(TypedDict):
    """Inputs of an example: the question."""

    query: QueryText


class SpanRecord(TypedDict):
    """Span of a document; `text` is the text it covers."""

    doc_id: DocumentId
    start: int
    end: int
    text: NotRequired[str]


class DocumentLevelOutputs(TypedDict):
    """Relevant documents, prefixes of document ids, and gains other than 1."""

    relevant_document_ids: list[DocumentId]
    relevant_prefixes: NotRequired[list[str]]
    gains: NotRequired[dict[DocumentId, float]]


class ChunkLevelOutputs(TypedDict):
    """Relevant chunks, and gains other than 1."""

    relevant_chunk_ids: list[ChunkId]
    gains: NotRequired[dict[ChunkId, float]]


class TokenLevelOutputs(TypedDict):
    """Relevant spans, or ids of position-aware chunks whose positions a `ChunkRegistry` knows."""

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
    """Output of a pipeline for one question: chunk ids, best first."""

    retrieved_chunk_ids: list[ChunkId]


class TokenLevelRunOutput(TypedDict):
    """Output of a pipeline for one question, best first: spans, or ids of position-aware chunks in a registry."""

    retrieved_spans: NotRequired[list[SpanRecord]]
    retrieved_chunk_ids: NotRequired[list[PositionAwareChunkId]]
