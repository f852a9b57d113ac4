"""What a retriever may return, and how it is read as hits."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from math import isfinite
from numbers import Real
from operator import index
from typing import Any, TypeGuard, cast

from rag_evaluation_framework.data.chunks import AnyChunk, Chunk, PositionAwareChunk
from rag_evaluation_framework.data.hits import Hit, Retrieval, Stage
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ConfigError, InputError

Result = Hit | AnyChunk | CharacterSpan | str | Mapping[str, Any]
"""One result of a pipeline, with whatever is known of it."""

_KEYS = (
    ("doc_id", "document", "document_id", "docId", "source"),
    ("start",),
    ("end",),
    ("chunk_id", "chunkId", "id"),
    ("text", "content", "page_content"),
    ("score",),
)
"""The keys under which dicts have what a hit has, in the order of a `Hit`."""

_ENOUGH = ("doc_id", "document_id", "docId", "chunk_id", "chunkId")
"""Keys that tell what was found without a text or a place; the others are read beside one."""

_RUN_OUTPUTS = ("retrieved_chunk_ids", "retrieved_spans")


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
    raise InputError(
        f"{source} returned {type(results).__name__}; expected a list of texts, chunks or dicts, best first"
    )


def as_stages(stages: Any, source: str) -> tuple[Stage, ...]:
    """Read the stages of a retrieval.

    Raises:
        InputError: They are not stages, or one has another name than a text, or other seconds than a number.
    """
    given: tuple[Any, ...] = tuple(stages)
    for stage in given:
        if not isinstance(stage, Stage) or not isinstance(cast("object", stage.name), str):
            raise InputError(f"{source} returned the stage {stage!r:.80}; expected a Stage with a name")
        seconds: object = stage.seconds
        if seconds is not None and not (isinstance(seconds, Real) and isfinite(seconds)):
            raise InputError(
                f"{source} returned the stage {stage.name!r} with {stage.seconds!r:.40} seconds; expected "
                "a finite number, or None"
            )
    return tuple(
        stage if stage.hits is None else replace(stage, hits=as_hits(stage.hits, f"{source}, stage {stage.name!r},"))
        for stage in given
    )


def as_chunks(listed: Any, source: str) -> tuple[AnyChunk, ...] | None:
    """Read what a retriever lists as all of its chunks; None if it cannot list them.

    Raises:
        ConfigError: It is something other than chunks.
    """
    if listed is None:
        return None
    chunks: tuple[Any, ...] = tuple(listed)
    for chunk in chunks:
        if not isinstance(chunk, Chunk | PositionAwareChunk):
            raise ConfigError(f"{source} lists {chunk!r:.80} as a chunk; expected a PositionAwareChunk or a Chunk")
    return chunks


def _from_run_output(output: Mapping[str, Any], source: str) -> Any:
    found = [key for key in _RUN_OUTPUTS if output.get(key) is not None]
    if len(found) != 1:
        raise InputError(
            f"{source} returned dict with the keys {sorted(map(str, output))}; expected a list of texts, chunks or "
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
        case PositionAwareChunk() | Chunk():
            return Hit.of(result)
        case CharacterSpan():
            return Hit(result.doc_id, result.start, result.end, text=result.text or None)
        case str():
            return Hit(text=result)
        case Mapping():
            return _from_mapping(result, source)
        case _:
            raise InputError(
                f"{source} returned a result of type {type(result).__name__}; expected a text, a chunk, or a dict with "
                "'text', or with 'doc_id', 'start' and 'end'"
            )


def _from_mapping(result: Mapping[str, Any], source: str) -> Hit:
    doc_id, start, end, chunk_id, text, score = [_known(result, keys) for keys in _KEYS]
    placed = doc_id is not None and start is not None and end is not None
    whole = start is None and end is None and _known(result, _ENOUGH) is not None
    if not placed and not whole and text is None:
        raise InputError(
            f"{source} returned a dict with the keys {sorted(map(str, result))}; expected 'text', or 'doc_id', 'start' "
            "and 'end', or 'doc_id' or 'chunk_id' alone"
        )
    return Hit(
        doc_id=None if doc_id is None else DocumentId(str(doc_id)),
        start=start if placed else None,
        end=end if placed else None,
        chunk_id=None if chunk_id is None else str(chunk_id),
        text=None if text is None else str(text),
        score=score,
    )


def _known(result: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return what a result has under the first of these keys under which it has anything."""
    for key in keys:
        if (value := result.get(key)) is not None:
            return value
    return None


def _sound(hit: Hit, source: str) -> Hit:
    """Return a hit with plain numbers: NumPy's become Python's, and a score that is not finite is not a score."""
    texts: tuple[Any, ...] = (hit.doc_id, hit.chunk_id, hit.text)
    for value in texts:
        if value is not None and not isinstance(value, str):
            name = ("doc_id", "chunk_id", "text")[texts.index(value)]
            raise InputError(f"{source} returned a hit whose {name} is {value!r:.80}; expected a text")
    try:
        start = None if hit.start is None else index(hit.start)
        end = None if hit.end is None else index(hit.end)
        score = None if hit.score is None else float(hit.score)
    except (TypeError, ValueError) as error:
        raise InputError(f"{source} returned a start, end or score that is not a number: {error}") from error
    if start is not None and end is not None and not 0 <= start <= end:
        raise InputError(f"{source} returned start={start}, end={end}; expected 0 <= start <= end")
    if score is not None and not isfinite(score):
        score = None
    if type(hit.start) is type(start) and type(hit.end) is type(end) and type(hit.score) is type(score):
        return hit
    return replace(hit, start=start, end=end, score=score)
