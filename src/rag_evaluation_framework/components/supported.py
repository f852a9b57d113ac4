"""What type checkers accept beside our contracts: functions, and objects of other libraries by one method."""
# ruff: noqa: D102  what a method does, its class says

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias


class SupportsRetrieve(Protocol):
    """A retriever of LlamaIndex, or any object with `retrieve(query)` or `retrieve(query, k)`."""

    def retrieve(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsInvoke(Protocol):
    """A retriever or chain of LangChain."""

    def invoke(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsRun(Protocol):
    """A component or pipeline of Haystack."""

    def run(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsQuery(Protocol):
    """A collection of Chroma, or a query engine."""

    def query(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsSimilaritySearch(Protocol):
    """A vector store of LangChain."""

    def similarity_search(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsGetRelevantDocuments(Protocol):
    """A retriever of an earlier LangChain."""

    def get_relevant_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsSplitText(Protocol):
    """A splitter of LangChain."""

    def split_text(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsGetNodes(Protocol):
    """A node parser of LlamaIndex."""

    def get_nodes_from_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsChunk(Protocol):
    """A chunker of chonkie."""

    def chunk(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsEmbed(Protocol):
    """Any object with `embed(texts)`; it may have `embed_query(text)`."""

    def embed(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsEmbedDocuments(Protocol):
    """Embeddings of LangChain."""

    def embed_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsTextEmbedding(Protocol):
    """An embedding model of LlamaIndex."""

    def get_text_embedding_batch(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsEncode(Protocol):
    """A model of Sentence Transformers, or of Model2Vec."""

    def encode(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsRerank(Protocol):
    """Any object with `rerank(query, texts)` that returns scores, or the texts in their new order."""

    def rerank(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsCompressDocuments(Protocol):
    """A document compressor of LangChain."""

    def compress_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsPostprocessNodes(Protocol):
    """A node postprocessor of LlamaIndex."""

    def postprocess_nodes(self, *args: Any, **kwargs: Any) -> Any: ...


OwnRetriever: TypeAlias = (
    Callable[[str, int], Any]
    | SupportsRetrieve
    | SupportsInvoke
    | SupportsRun
    | SupportsQuery
    | SupportsSimilaritySearch
    | SupportsGetRelevantDocuments
)
"""A function `(query, k) -> results`, or a retriever of another library."""

OwnChunker: TypeAlias = Callable[[str], Any] | SupportsSplitText | SupportsGetNodes | SupportsChunk | SupportsRun
"""A function `(text) -> texts`, or a splitter of another library."""

OwnEmbedder: TypeAlias = (
    Callable[[list[str]], Any]
    | SupportsEmbed
    | SupportsEmbedDocuments
    | SupportsTextEmbedding
    | SupportsEncode
    | SupportsRun
)
"""A function `(texts) -> vectors`, or an embedding model of another library."""

OwnReranker: TypeAlias = (
    Callable[[str, list[str]], Any]
    | SupportsRerank
    | SupportsCompressDocuments
    | SupportsPostprocessNodes
    | SupportsRun
)
"""A function `(query, texts) -> scores`, or a reranker of another library."""
