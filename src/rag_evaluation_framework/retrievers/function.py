"""Functions as retrievers, and reading what a retriever returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rag_evaluation_framework.base.coroutines import adapted, resolved
from rag_evaluation_framework.base.outside import class_name, shown
from rag_evaluation_framework.contracts.component import component_name, confide, function_name
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data import AnyChunk, ChunkRegistry, Corpus, PositionAwareChunk
from rag_evaluation_framework.data.hits import Retrieved
from rag_evaluation_framework.errors import ConfigError

Pipeline: TypeAlias = Retriever | Callable[[str, int], Any]
"""What can be evaluated: a retriever, or any function `(query, k) -> texts, chunks or dicts`."""


@dataclass(frozen=True)
class FunctionRetriever(Retriever):
    """A plain function `(query, k) -> results`, best first.

    A result is a text, a chunk, a `Hit` or a mapping with what is known of `doc_id`, `start`, `end`, `text`, `score`
    and `chunk_id`, of which `doc_id` or `chunk_id` alone is enough. What has a text but no place is located in the
    corpus by the runner. All results may also be given as one mapping, `{"retrieved_chunk_ids": [...]}` or
    `{"retrieved_spans": [{"doc_id": ..., "start": ..., "end": ...}]}`. The function may be a coroutine function.

    Attributes:
        function: The pipeline.
        stable: Whether its ranking at k is the beginning of its ranking at any larger k; None if that is not known. If
            not, it is called once for each k.
        registry: What it can return, if that is known: results that are nothing but ids of chunks are looked up there.
    """

    function: Callable[[str, int], Any]
    stable: bool | None = None
    registry: ChunkRegistry | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The function's name."""
        return function_name(self.function)

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
    """Return a retriever as it is, its coroutine methods adapted, and a function as a retriever.

    Raises:
        ConfigError: It is neither.
    """
    if isinstance(pipeline, Retriever):
        component_name(pipeline)
        confide(pipeline)
        return adapted(pipeline)
    if isinstance(pipeline, type):
        raise ConfigError(f"{pipeline.__name__} is a class; pass an instance, {pipeline.__name__}(...)")
    if callable(pipeline):
        return as_retriever(FunctionRetriever(pipeline))
    raise ConfigError(
        f"{shown(pipeline)} is {class_name(pipeline)}; expected a Retriever or a function (query, k) -> results"
    )
