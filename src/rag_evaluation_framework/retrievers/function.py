"""Anybody's own pipeline, as a plain function."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import isfinite
from operator import index
from typing import Any, TypeGuard, cast

from rag_evaluation_framework.chunk_registry import ChunkRegistry
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.ids import DocumentId
from rag_evaluation_framework.types import Chunk, Corpus, Hit, PositionAwareChunk, Retrieval, Retrieved

Result = Hit | PositionAwareChunk | Chunk | str | Mapping[str, Any]
"""One result of a pipeline, with whatever is known of it."""

_KEYS = {
    "doc_id": ("doc_id", "document", "document_id", "docId", "source"),
    "start": ("start",),
    "end": ("end",),
    "chunk_id": ("chunk_id", "chunkId", "id"),
    "text": ("text", "content", "page_content"),
    "score": ("score",),
}
_ENOUGH = ("doc_id", "document_id", "docId", "chunk_id", "chunkId")
"""Keys that tell what was found without a text or a place; the others are read beside one."""

_RUN_OUTPUTS = ("retrieved_chunk_ids", "retrieved_spans")


@dataclass(frozen=True)
class FunctionRetriever(Retriever):
    """A plain function `(query, k) -> results`, best first.

    A result is a text, a chunk, a `Hit` or a mapping with what is known of `doc_id`, `start`, `end`, `text`, `score`
    and `chunk_id`, of which `doc_id` or `chunk_id` alone is enough. What has a text but no place is located in the
    corpus by the runner. All results may also be given as one mapping, `{"retrieved_chunk_ids": [...]}` or
    `{"retrieved_spans": [{"doc_id": ..., "start": ..., "end": ...}]}`. The function may be a coroutine function.

    Attributes:
        function: The pipeline.
        stable: Whether its ranking at k is the beginning of its ranking at any larger k. If not, it is called once for
            each k.
        registry: What it can return, if that is known: results that are nothing but ids of chunks are looked up there.
    """

    function: Callable[[str, int], Any]
    stable: bool = True
    registry: ChunkRegistry | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    @property
    def prefix_stable(self) -> bool:
        """What `stable` says."""
        return self.stable

    def index(self, corpus: Corpus) -> None:
        """Do nothing: the function has its own index."""

    def retrieve(self, query: str, k: int) -> Retrieved:
        """Return what the function returns."""
        found: Retrieved = self.function(query, k)
        return found

    def chunks(self) -> Sequence[PositionAwareChunk] | None:
        """Return the chunks of the registry that know their place, None without one."""
        if self.registry is None:
            return None
        return [chunk for chunk in self.registry if isinstance(chunk, PositionAwareChunk)]


def as_retriever(pipeline: Retriever | Callable[[str, int], Any]) -> Retriever:
    """Return a retriever as it is, and a function as a retriever.

    Raises:
        ConfigError: It is neither.
    """
    if isinstance(pipeline, Retriever):
        return pipeline
    if isinstance(pipeline, type):
        raise ConfigError(f"{pipeline.__name__} is a class; pass an instance, {pipeline.__name__}(...)")
    if callable(pipeline):
        return FunctionRetriever(pipeline)
    raise ConfigError(
        f"{pipeline!r} is {type(pipeline).__name__}; wanted a Retriever or a function (query, k) -> results"
    )


def as_hits(results: Any, source: str) -> tuple[Hit, ...]:
    """Read what a retriever returned as hits.

    Args:
        results: A `Retrieval`, an iterable of texts, chunks, hits or mappings, or one mapping with
            `retrieved_chunk_ids` or `retrieved_spans`.
        source: The retriever's name, for messages.

    Raises:
        InputError: It is nothing of the kind.
    """
    if isinstance(results, Retrieval):
        results = results.hits
    if isinstance(results, Mapping):
        results = _from_run_output(cast("Mapping[str, Any]", results), source)
    if _is_ranked(results):
        return tuple(_sound(_as_hit(result, source), source) for result in results)
    raise InputError(f"{source} returned {type(results).__name__}; wanted a list of texts, chunks or dicts, best first")


def _from_run_output(output: Mapping[str, Any], source: str) -> Any:
    found = [key for key in _RUN_OUTPUTS if output.get(key) is not None]
    if len(found) != 1:
        raise InputError(
            f"{source} returned dict with the keys {sorted(map(str, output))}; wanted a list of texts, chunks or "
            "dicts, best first, or a dict with one of 'retrieved_chunk_ids' and 'retrieved_spans'"
        )
    results = output[found[0]]
    if found[0] == "retrieved_spans" or not _is_ranked(results):
        return results
    return [result if isinstance(result, Mapping) else {"chunk_id": result} for result in results]


def _is_ranked(results: Any) -> TypeGuard[Iterable[Result]]:
    return isinstance(results, Iterable) and not isinstance(results, str | bytes | Mapping | Set)


def _as_hit(result: Result, source: str) -> Hit:
    match result:
        case Hit():
            return result
        case PositionAwareChunk():
            return Hit.of(result)
        case Chunk():
            return Hit(result.doc_id, chunk_id=result.id, text=result.content)
        case str():
            return Hit(text=result)
        case Mapping():
            return _from_mapping(result, source)
        case _:
            raise InputError(
                f"{source} returned a result of type {type(result).__name__}; wanted a text, a chunk, or a dict with "
                "'text', or with 'doc_id', 'start' and 'end'"
            )


def _from_mapping(result: Mapping[str, Any], source: str) -> Hit:
    known = {
        name: next((result[key] for key in keys if result.get(key) is not None), None) for name, keys in _KEYS.items()
    }
    placed = known["doc_id"] is not None and known["start"] is not None and known["end"] is not None
    whole = known["start"] is None and known["end"] is None and any(result.get(key) is not None for key in _ENOUGH)
    if not placed and not whole and known["text"] is None:
        raise InputError(
            f"{source} returned a dict with the keys {sorted(map(str, result))}; wanted 'text', or 'doc_id', 'start' "
            "and 'end', or 'doc_id' or 'chunk_id' alone"
        )
    return Hit(
        doc_id=None if known["doc_id"] is None else DocumentId(str(known["doc_id"])),
        start=known["start"] if placed else None,
        end=known["end"] if placed else None,
        chunk_id=None if known["chunk_id"] is None else str(known["chunk_id"]),
        text=None if known["text"] is None else str(known["text"]),
        score=known["score"],
    )


def _sound(hit: Hit, source: str) -> Hit:
    """Return a hit with plain numbers: NumPy's become Python's, and a score that is not finite is no score."""
    try:
        start = None if hit.start is None else index(hit.start)
        end = None if hit.end is None else index(hit.end)
        score = None if hit.score is None else float(hit.score)
    except (TypeError, ValueError) as error:
        raise InputError(f"{source} returned a start, end or score that is no number: {error}") from error
    if start is not None and end is not None and not 0 <= start <= end:
        raise InputError(f"{source} returned start={start}, end={end}; wanted 0 <= start <= end")
    return replace(hit, start=start, end=end, score=score if score is not None and isfinite(score) else None)
