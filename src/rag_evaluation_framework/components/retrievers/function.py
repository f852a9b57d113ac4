"""Functions, and objects of other libraries, as retrievers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ...adapt.adapt import OwnRetriever
from ...base.coroutines import as_synchronous, resolved
from ...contracts.component import component_name, confide
from ...contracts.registry.building import OwnFunction
from ...contracts.roles import Retriever
from ...data import AnyChunk, ChunkRegistry, Corpus, PositionAwareChunk
from ...data.hits import Retrieved

Pipeline: TypeAlias = Retriever | OwnRetriever
"""What can be evaluated: a retriever, any function `(query, k) -> texts, chunks or dicts`, a retriever of a library."""


@dataclass(frozen=True)
class FunctionRetriever(OwnFunction[OwnRetriever], Retriever):
    """A plain function `(query, k) -> results`, best first, or a retriever of another library.

    A result is a text, a chunk, a `Hit` or a mapping with what is known of `doc_id`, `start`, `end`, `text`, `score`
    and `chunk_id`, of which `doc_id` or `chunk_id` alone is enough. What has a text but no place is located in the
    corpus by the runner. All results may also be given as one mapping, `{"retrieved_chunk_ids": [...]}` or
    `{"retrieved_spans": [{"doc_id": ..., "start": ..., "end": ...}]}`. The function may be a coroutine function.

    An object is asked by its `retrieve`, `invoke`, `run`, `query` or `similarity_search`, or the asynchronous twin of
    one, and for `k` results if that takes a number of them (`k`, `top_k`, `n_results`); else it returns as many as it
    was made to return.

    Attributes:
        function: The pipeline; of an object, the function that asks it.
        stable: Whether its ranking at k is the beginning of its ranking at any larger k; None if that is not known. If
            not, it is called once for each k.
        registry: What it can return, if that is known: results that are nothing but ids of chunks are looked up there.

    Raises:
        ConfigError: `function` is neither, or has to be called with something else.
    """

    _kind = "retriever"

    stable: bool | None = None
    registry: ChunkRegistry | None = field(default=None, repr=False)

    if TYPE_CHECKING:  # what is given may be an object, what is read is a function

        def __init__(
            self, function: OwnRetriever, stable: bool | None = None, registry: ChunkRegistry | None = None
        ) -> None: ...

    @property
    def prefix_stable(self) -> bool | None:
        """What `stable` says."""
        return self.stable

    @property
    def needs_documents(self) -> bool:
        """False: the function has its own index."""
        return False

    def index(self, corpus: Corpus) -> None:
        """Do nothing: the function has its own index."""

    def retrieve(self, query: str, k: int) -> Retrieved:
        """Return what the function returns."""
        found: Retrieved = resolved(self.function(query, k))
        return found

    @property
    def lists_chunks(self) -> bool:
        """Whether there is a registry."""
        return self.registry is not None

    def chunks(self) -> Sequence[AnyChunk] | None:
        """Return the chunks of the registry, those without a place if their text has none in it; None without one."""
        registry = self.registry
        if registry is None:
            return None
        return [
            chunk
            for chunk in registry
            if isinstance(chunk, PositionAwareChunk) or registry.get_pa_chunk(chunk.id) is None
        ]


def as_retriever(pipeline: Pipeline) -> Retriever:
    """Return a retriever as it is, its coroutine methods adapted; a function or an object of a library as a retriever.

    Raises:
        ConfigError: It is none of these, or has to be called with something else.
    """
    confide(pipeline)
    if not isinstance(pipeline, Retriever):
        return FunctionRetriever(pipeline)
    component_name(pipeline)
    return as_synchronous(pipeline)
