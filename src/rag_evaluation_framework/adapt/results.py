"""What other people's components return, read once: results as hits, and pieces, vectors and scores."""

from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence, Set, Sized
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from math import isfinite
from numbers import Real
from pathlib import PurePath
from time import perf_counter
from types import NoneType
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..base.coroutines import resolved
from ..base.notes import note
from ..base.outside import class_name, fit_to_keep, name_line, one_line, said, shown
from ..data import (
    AnyChunk,
    CharacterSpan,
    Chunk,
    Document,
    DocumentId,
    Hit,
    PositionAwareChunk,
    Retrieval,
    Stage,
)
from ..data.values import (
    METADATA_KEYS,
    SOURCE_KEYS,
    TEXT_KEYS,
    UNREADABLE,
    frame_rows,
    gives_items,
    is_mapping,
    is_truth,
    items,
    plain_array,
    plain_number,
    plain_offset,
    plain_text,
)
from ..errors import ConfigError, UnreadableAnswer

# What a retriever may return, of this package or of another, and how it is read as hits.

T = TypeVar("T")

OTHER = "other"
"""The stage of the time that the stages a system tells leave of how long its answer took."""

_TEXT = (str, NoneType)

_KEYS = (
    ("doc_id", "document", "document_id", "docId"),
    ("start",),
    ("end",),
    ("chunk_id", "chunkId", "id", "id_"),
    TEXT_KEYS,
    ("score",),
)
"""The keys under which dicts have what a hit has, in the order of a `Hit`. A distance is no score: lower is better."""

_METADATA_SOURCES = (*SOURCE_KEYS, "doc_id", "document_id", "docId")
"""The keys under which metadata name where a text is from, best first: LangChain may have an id of its own in `doc_id`.
"""

_SPLITTER_STARTS = ("start_index", "split_idx_start", "start_char_idx", "start")
"""The keys under which splitters write where a text begins. Not all count in the whole document, so no end is read: the
place counts only if the text is there."""

_ENOUGH = ("doc_id", "document_id", "docId", "chunk_id", "chunkId")
"""Keys that tell what was found without a text or a place; the others are read beside one."""

_INSIDE = ("node", "document", "payload")
"""Where results with a score keep what was found: LlamaIndex, many rerankers, Qdrant."""

_ATTRIBUTES = (*chain(*_KEYS), *SOURCE_KEYS, *_SPLITTER_STARTS[:3], *METADATA_KEYS, "node", "payload", "ref_doc_id")
"""What is read of the objects of other libraries."""

_RUN_OUTPUTS = ("retrieved_chunk_ids", "retrieved_spans", "hits")
_LISTS = ("documents", "nodes", "source_nodes", "source_documents", "context", "results", "matches", "points", "chunks")
"""Where dicts and objects of other libraries keep all results: Haystack, LlamaIndex, LangChain, Qdrant and Pinecone."""

_COLUMNS = {"ids": "id", "documents": "text", "texts": "text", "metadatas": "metadata", "scores": "score"}
"""The columns of Chroma, and the keys that they are; others are called like the keys themselves."""


def as_retrieval(results: Any, source: str, k: int, asked: float | None = None) -> Retrieval:
    """Read what a retriever returned: its first `k` results, and what else a `Retrieval` tells, in plain values.

    Args:
        results: What `as_hits` reads.
        source: The retriever's name, for messages.
        k: How many results are read, of an answer without end too.
        asked: When it was asked, by `perf_counter`: what the seconds of a mapping leave of the time since then is the
            stage `other`, so that all stages together are as long as the answer took.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or a field holds something else than it is for.
    """
    hits = as_hits(results, source, k)
    if is_mapping(results):
        told = _told_stages(results.get("seconds"), source)
        return Retrieval(hits, told if asked is None else _whole(told, perf_counter() - asked))
    if not isinstance(results, Retrieval):
        return Retrieval(hits)
    limit: Any = results.limit
    complete: Any = results.complete
    if limit is not None and not isinstance(limit, str):
        raise UnreadableAnswer(f"{source} returned a Retrieval with the limit {shown(limit)}; expected a text, or None")
    if not is_truth(complete):
        raise UnreadableAnswer(f"{source} returned a Retrieval with complete={shown(complete)}; expected True or False")
    named = None if limit is None else one_line(fit_to_keep(plain_text(limit)))
    return Retrieval(hits, _as_stages(results.stages, source), named, bool(complete))


def one_each(rankings: Any, questions: int, source: str) -> list[Any]:
    """Return one ranking per question, of an answer without end too.

    Raises:
        UnreadableAnswer: There are more or fewer, or it is nothing of the kind.
    """
    if not gives_items(rankings, str, Mapping, Set):
        raise UnreadableAnswer(f"{source} returned {shown(rankings)}; expected one ranking per question")
    listed: list[Any] = items(rankings, source, questions + 1)
    if len(listed) != questions:
        number = f"more than {questions}" if len(listed) > questions else len(listed)
        raise UnreadableAnswer(f"{source} returned {number} rankings for {questions} questions")
    return listed


def as_hits(results: Any, source: str, most: int | None = None, *, asked: bool = True) -> tuple[Hit, ...]:
    """Read what a retriever returned as hits, in plain values.

    Args:
        results: A `Retrieval`; an iterable, also an asynchronous one, of texts, chunks, hits, mappings, documents or
            nodes of other libraries, or pairs of one and its score; a DataFrame with one result per row; a mapping of
            columns; or a mapping or an object with one of these in it, such as `hits`, `documents` or `source_nodes`.
        source: The retriever's name, for messages.
        most: How many are read, of an iterable without end too; by default all.
        asked: Whether it was asked for so many, so that more of them are noted.

    Raises:
        UnreadableAnswer: It is nothing of the kind.
    """
    results = all_results(results, source)
    if not _is_ranked(results):
        raise UnreadableAnswer(
            f"{source} returned {class_name(results)}; expected a list of texts, chunks or dicts, best first"
        )
    if asked and most is not None and isinstance(results, Sized) and len(results) > most:
        note(f"{source} returned more results than it was asked for; the first ones were read")
    listed = [*islice(results, most)]
    hits = tuple(_sound(_as_hit(result, source), source) for result in listed)
    scores = [hit.score for hit in hits if hit.score is not None]
    if (
        len(scores) == len(hits) > 1
        and scores[0] < scores[-1]
        and scores == sorted(scores)
        and all(map(pair_of, listed))
    ):
        note(f"{source} returned numbers that grow with the rank; they are distances, and were left out")
        return tuple(replace(hit, score=None) for hit in hits)
    return hits


def all_results(returned: Any, source: str) -> Any:
    """Return the results in what was returned: of a mapping, a DataFrame or an object of another library its list.

    Raises:
        UnreadableAnswer: It is a mapping, and none of these.
    """
    if isinstance(returned, Retrieval):
        return returned.hits
    if is_mapping(returned):
        returned = _of_mapping(returned, source)
    if hasattr(returned, "__aiter__"):
        return resolved(_awaited(returned))
    if (rows := frame_rows(returned)) is not None:
        return rows
    if type(returned) not in (list, tuple):
        return next((inside for name in _LISTS if _is_ranked(inside := _attribute(returned, name))), returned)
    return returned


async def _awaited(results: AsyncIterable[Any]) -> list[Any]:
    return [result async for result in results]


def _as_stages(stages: Any, source: str) -> tuple[Stage, ...]:
    given: Any = stages
    if not isinstance(stages, tuple | list):
        raise UnreadableAnswer(f"{source} returned a Retrieval with stages={shown(given)}; expected a tuple of Stage")
    return tuple(_as_stage(stage, source) for stage in islice(given, len(given)))


def _told_stages(seconds: Any, source: str) -> tuple[Stage, ...]:
    """Read the seconds of stages by name, `{"embed": 0.01, "search": 0.02}`, of which a mapping may tell none."""
    if seconds is None:
        return ()
    if not is_mapping(seconds):
        raise UnreadableAnswer(
            f"{source} returned seconds={shown(seconds)}; expected those of each stage, such as "
            "{'embed': 0.01, 'search': 0.02}"
        )
    return tuple(_as_stage(Stage(name, seconds[name]), source) for name in islice(seconds, len(seconds)))


def _whole(told: tuple[Stage, ...], seconds: float) -> tuple[Stage, ...]:
    """Return stages that take as long together, if any are told."""
    left = seconds - sum(stage.seconds or 0.0 for stage in told)
    return (*told, Stage(OTHER, left)) if told and left > 0 else told


def _as_stage(stage: Any, source: str) -> Stage:
    name: Any = stage.name if isinstance(stage, Stage) else None
    if not isinstance(name, str) or not (fit := name_line(fit_to_keep(plain_text(name)))):
        raise UnreadableAnswer(f"{source} returned the stage {shown(stage)}; expected a Stage with a name")
    seconds, hits = _as_seconds(stage.seconds, f"{source} returned the stage {fit!r}"), stage.hits
    if hits is None:
        return Stage(fit, seconds)
    if not isinstance(hits, Sized):  # it may be longer than k, so that k does not end it
        raise UnreadableAnswer(f"{source} returned the stage {fit!r} with hits={shown(hits)}; expected a tuple of hits")
    return Stage(fit, seconds, as_hits(hits, f"{source}, stage {fit!r},", len(hits)))


def _as_seconds(given: Any, where: str) -> float | None:
    if given is None:
        return None
    with suppress(*UNREADABLE):
        seconds = plain_number(given)
        if isfinite(seconds) and seconds >= 0:
            return seconds
    raise UnreadableAnswer(f"{where} with {shown(given)} seconds; expected a finite number of at least 0, or None")


def as_chunks(listed: Any, source: str) -> tuple[AnyChunk, ...] | None:
    """Read what a retriever lists as all of its chunks; None if it cannot list them.

    Raises:
        ConfigError: It is something other than chunks.
    """
    if listed is None:
        return None
    if not gives_items(listed):
        raise ConfigError(f"{source} lists {shown(listed)}; expected chunks, or None")
    chunks: list[Any] = items(listed, source)
    for chunk in chunks:
        if not isinstance(chunk, Chunk | PositionAwareChunk):
            raise ConfigError(f"{source} lists {shown(chunk)} as a chunk; expected a PositionAwareChunk or a Chunk")
    return tuple(chunks)


def _of_mapping(output: Mapping[str, Any], source: str) -> Any:
    """Return the list of results in a mapping.

    Raises:
        UnreadableAnswer: There is none, or there are two.
    """
    found = [key for key in _RUN_OUTPUTS if output.get(key) is not None]
    if found == ["retrieved_chunk_ids"] and _is_ranked(output[found[0]]):
        return (each if is_mapping(each) else {"chunk_id": each} for each in output[found[0]])
    if len(found) == 1:
        return output[found[0]]
    if not found:
        if (rows := _rows(output, source)) is not None:
            return rows
        inside = [value for key in _LISTS if _is_ranked(value := output.get(key)) or hasattr(value, "__aiter__")]
        nested = [value for value in output.values() if is_mapping(value) and _is_ranked(value.get("documents"))]
        if len(inside) + len(nested) == 1:  # nested: of a pipeline of Haystack, by component
            return inside[0] if inside else nested[0]["documents"]
    raise UnreadableAnswer(
        f"{source} returned dict with the keys {sorted(map(str, output))}; expected a list of texts, chunks or "
        "dicts, best first, or a dict with one of 'hits', 'retrieved_chunk_ids' and 'retrieved_spans'"
    )


def _rows(output: Mapping[str, Any], source: str) -> list[dict[str, Any]] | None:
    """Return one mapping per result of a mapping of columns, that of Chroma for one question too; None if it is none.

    Raises:
        UnreadableAnswer: The columns are of several questions, or of different lengths.
    """
    columns: dict[str, Any] = {
        key: value for key, value in output.items() if key in (*_COLUMNS, *_ATTRIBUTES) and _is_ranked(value)
    }
    columns = {key: [*value] for key, value in columns.items()}
    if columns.keys() <= {*_LISTS}:
        return None
    if all(column and all(isinstance(each, list) for each in column) for column in columns.values()):
        if any(len(column) > 1 for column in columns.values()):
            raise UnreadableAnswer(
                f"{source} returned the results of several questions; expected those of the one it was asked"
            )
        columns = {key: column[0] for key, column in columns.items()}
    lengths = {key: len(column) for key, column in columns.items()}
    if len({*lengths.values()}) > 1:
        raise UnreadableAnswer(
            f"{source} returned columns of different lengths, {lengths}; expected one entry per result"
        )
    rows: list[dict[str, Any]] = [{} for _ in next(iter(columns.values()))]
    for key, column in columns.items():
        for row, value in zip(rows, column, strict=True):
            whole = key == "documents" and not isinstance(value, str | None)
            row["node" if whole else _COLUMNS.get(key, key)] = value
    return rows


def _is_ranked(results: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(results, Iterable) and not isinstance(results, str | bytes | Mapping | Set)


def pair_of(result: Any) -> tuple[Any, Any] | None:
    """Return a result and its score, if it is a pair of these."""
    given: Any = result
    if not isinstance(given, tuple | list) or hasattr(result, "_asdict") or len(result) != 2:
        return None
    found, score = result
    is_number = isinstance(score, Real) and not is_truth(score)  # NumPy's are registered as such
    return None if isinstance(found, Real) or not is_number else (found, score)


def _as_hit(result: Any, source: str) -> Hit:
    match result:
        case Hit():
            return result
        case PositionAwareChunk() | Chunk():
            return Hit.of(result)
        case CharacterSpan():
            return Hit(result.doc_id, result.start, result.end, text=result.text or None)
        case Document():
            return Hit(result.id)
        case str():
            return Hit(text=result)
        case Mapping():
            return _from_mapping(cast("Mapping[str, Any]", result), source)
        case _:
            pass
    if pair := pair_of(result):
        return replace(_as_hit(pair[0], source), score=pair[1])
    if fields := fields_of(result):
        return _from_mapping(fields, source, class_name(result))
    raise UnreadableAnswer(
        f"{source} returned a result of type {class_name(result)}; expected a text, a chunk, or a dict with "
        "'text', or with 'doc_id', 'start' and 'end'"
    )


def fields_of(result: Any) -> Mapping[str, Any]:
    """Return what is known of a mapping, a named tuple, a row of a DataFrame, or an object of another library, by name.

    What lies in its `node`, `document` or `payload` is told with it.
    """
    if is_mapping(result):
        fields = result
    elif hasattr(result, "_asdict"):
        fields = result._asdict()
    elif hasattr(result, "iloc"):  # a row of pandas
        fields = {key: value for key, value in result.to_dict().items() if value == value}
    elif isinstance(result, type):
        return {}
    else:
        fields = {name: value for name in _ATTRIBUTES if (value := _attribute(result, name)) is not None}
        if _known(fields, _KEYS[4]) is None and callable(content := getattr(result, "get_content", None)):
            fields["text"] = content()
    for key in _INSIDE:
        value = fields.get(key)
        if value is not None and not isinstance(value, str | Real | PurePath) and (inside := fields_of(value)):
            return {**inside, **{name: each for name, each in fields.items() if name != key}}
    return fields


def _attribute(result: Any, name: str) -> Any:
    """Return an attribute that is data; None of a method, and where reading it raises."""
    with suppress(Exception):  # a property of anybody's class
        value = getattr(result, name, None)
        return None if callable(value) else value
    return None


def _from_mapping(fields: Mapping[str, Any], source: str, what: str = "dict") -> Hit:
    given, fields = fields, fields_of(fields)
    doc_id, start, end, chunk_id, text, score = [_known(fields, keys) for keys in _KEYS]
    metadata = _mapping(_known(fields, METADATA_KEYS))
    sources: tuple[Any, ...] = ()
    if text is None:
        doc_id = _known(fields, SOURCE_KEYS) if doc_id is None else doc_id
        if _known(fields, _ENOUGH) is None and (doc_id is None or start is None or end is None):
            if metadata:
                known = {key: value for key, value in fields.items() if value is not None and key not in METADATA_KEYS}
                return _from_mapping({**metadata, **known}, source, what)
            keys = sorted(f"{key}{' (None)' if value is None else ''}" for key, value in given.items())
            raise UnreadableAnswer(
                f"{source} returned a {what} with the keys {keys}; expected 'text', or 'doc_id', 'start' and 'end', or "
                "'doc_id' or 'chunk_id' alone"
            )
    else:
        begin = told_start(fields)
        if doc_id is None:
            named = [*map(fields.get, SOURCE_KEYS), *map(metadata.get, _METADATA_SOURCES), fields.get("ref_doc_id")]
            sources = tuple(_id(name) for name in named if name is not None)
            if not sources or type(start) is not int or type(end) is not int:  # of a transcript they are seconds
                start, end = begin if sources else None, None
        elif start is None and end is None:
            start = begin
    return Hit(_id(doc_id), start, end, _id(chunk_id), text, score, sources)


def told_start(fields: Mapping[str, Any]) -> int | None:
    """Return where a text begins, as its splitter tells it, in its metadata too; None if it does not."""
    begins = [_known(named, _SPLITTER_STARTS) for named in (fields, _mapping(_known(fields, METADATA_KEYS)))]
    return next((begin for begin in begins if type(begin) is int and begin >= 0), None)


def told_text(fields: Mapping[str, Any]) -> Any:
    """Return the text of a result or of a piece of a splitter; None if it has none."""
    return _known(fields, _KEYS[4])


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if is_mapping(given) else {}


def _id(given: Any) -> Any:
    """Return an id as a text, if there is one: it may be a number, or a path. Bytes are refused as such later."""
    return given if given is None or isinstance(given, str | bytes | bytearray) else str(given)


def _known(result: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return what a result has under the first of these keys under which it has anything."""
    for key in keys:
        if (value := result.get(key)) is not None:
            return value
    return None


def _sound(hit: Hit, source: str) -> Hit:
    """Return a hit with plain values: NumPy's become Python's, and a score that is not finite is not a score."""
    start, end, score = hit.start, hit.end, hit.score
    if start is not None and end is not None:
        located = type(start) is type(end) is int and 0 <= start <= end
    else:
        located = start is end is None
    if (
        located
        and type(hit) is Hit
        and type(hit.doc_id) in _TEXT
        and type(hit.chunk_id) in _TEXT
        and type(hit.text) in _TEXT
        and (score is None or (type(score) is float and isfinite(score)))
        and not hit.sources
    ):
        return hit
    doc_id = _field(source, "doc_id", hit.doc_id, plain_text, "a text")
    start = _field(source, "start", start, plain_offset, "a whole number")
    end = _field(source, "end", end, plain_offset, "a whole number")
    if (start or 0) < 0 or (end is not None and end < (start or 0)):
        raise UnreadableAnswer(f"{source} returned start={start}, end={end}; expected 0 <= start <= end")
    if (start is None) != (end is None) and hit.text is None:
        missing, other = ("end", "start") if end is None else ("start", "end")
        raise UnreadableAnswer(
            f"{source} returned a result without {missing}, and without a text; expected {missing} beside {other}, or "
            "the text that is there"
        )
    score = _field(source, "score", score, _score, "a number")
    if score is not None and not isfinite(score):
        note(f"{source} returned scores that are no finite numbers; they were left out, and the order was kept")
    return Hit(
        None if doc_id is None else DocumentId(doc_id),
        start,
        end,
        _field(source, "chunk_id", hit.chunk_id, plain_text, "a text"),
        _field(source, "text", hit.text, plain_text, "a text"),
        score if score is not None and isfinite(score) else None,
        _field(source, "sources", hit.sources, lambda names: tuple(map(plain_text, names)), "a tuple of texts") or (),
    )


def _score(given: Any) -> float:
    return float(plain_text(given)) if isinstance(given, str) else plain_number(given)  # of JSON it may be a text


def _field(source: str, name: str, given: Any, plain: Callable[[Any], T], expected: str) -> T | None:
    """Return the plain value of a field of a hit.

    Raises:
        UnreadableAnswer: It has none.
    """
    if given is None:
        return None
    try:
        return plain(given)
    except UNREADABLE as error:
        raise UnreadableAnswer(
            f"{source} returned a hit whose {name} is {shown(given)}, of type {class_name(given)}; expected {expected}"
        ) from error


# What a chunker may return, and how it is read as pieces of a text or chunks of a document.


class Piece(NamedTuple):
    """A piece of a text.

    Attributes:
        text: What the chunker made of it.
        start: Where it begins, if the chunker tells that and the text is there; else None.
    """

    text: str
    start: int | None = None


def as_pieces(returned: Any, source: str, text: str) -> list[Piece]:
    """Read what a chunker made of a text: its pieces, in reading order.

    Args:
        returned: Texts, or chunks, documents or nodes of other libraries; also in a mapping, as Haystack has it.
        source: What returned it, for messages.
        text: What was cut.

    Raises:
        UnreadableAnswer: It is nothing of the kind.
    """
    given = returned
    if hasattr(returned, "__aiter__") or (is_mapping(returned) and not returned.keys().isdisjoint(_LISTED)):
        given = all_results(returned, source)
    if gives_items(given, str, Mapping, Set):
        listed: list[Any] = items(given, source)
        pieces = [piece for each in listed if (piece := _piece(each, text)) is not None]
        if len(pieces) == len(listed):
            return pieces
    raise UnreadableAnswer(f"{source} returned {one_line(shown(returned))}; expected a list of texts, in reading order")


_LISTED = ("documents", "chunks", "nodes")


def _piece(given: Any, text: str) -> Piece | None:
    if isinstance(given, str):
        return Piece(plain_text(given))
    fields = fields_of(given)
    own = told_text(fields)
    if not isinstance(own, str):
        return None
    start = told_start(fields)
    return Piece(plain_text(own), start if start is not None and text.startswith(own, start) else None)


def as_placed(returned: Any, source: str, document: Document) -> list[PositionAwareChunk]:
    """Read what a chunker that knows places made of a document.

    Raises:
        UnreadableAnswer: They are not chunks of this document.
    """
    if not gives_items(returned, str, Mapping):
        raise UnreadableAnswer(
            f"{source} returned {one_line(shown(returned))} for {document.id!r}; expected a list of chunks"
        )
    chunks: list[Any] = items(returned, source)
    for chunk in chunks:
        is_of_it = isinstance(chunk, PositionAwareChunk) and chunk.doc_id == document.id
        if not is_of_it or chunk.end > len(document.content):
            raise UnreadableAnswer(
                f"{source} made {one_line(shown(chunk))} of {document.id!r}; expected chunks of the document that it "
                "was given"
            )
    return chunks


# What an embedder may return, and how it is read as vectors.


def as_vectors(returned: Any, source: str, texts: Sequence[str], dimension: int | None = None) -> NDArray[np.float32]:
    """Read what an embedder returned as vectors: float32, shape (len(texts), dimension).

    Args:
        returned: An array, or nested lists, of numbers; row i for text i.
        source: What returned it, for messages: `Own.embed`.
        texts: What it was asked to embed.
        dimension: The length that the vectors must have; None if any will do.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or a number is NaN or infinite, also in single precision.
    """
    numbers = as_numbers(returned, source, texts, dimension)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        vectors: NDArray[np.float32] = numbers.astype(np.float32, copy=False)
    return vectors if vectors is numbers else _finite(vectors, source, texts, _vectors_of(texts, dimension))


def as_numbers(returned: Any, source: str, texts: Sequence[str], dimension: int | None = None) -> NDArray[Any]:
    """Read what an embedder returned as vectors, as `as_vectors` does, in the precision in which they are.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or a number is NaN or infinite.
    """

    def fits(shape: tuple[int, ...]) -> bool:
        return len(shape) == 2 and shape[0] == len(texts) and shape[1] == (dimension or shape[1] or 1)

    return _array(returned, source, texts, fits, _vectors_of(texts, dimension))


def _vectors_of(texts: Sequence[str], dimension: int | None) -> str:
    return f"expected ({len(texts)}, {dimension or 'dimension'}), finite numbers, row i for text i"


def _array(
    returned: Any, source: str, texts: Sequence[str], fits: Callable[[tuple[int, ...]], bool], expected: str
) -> NDArray[Any]:
    """Return finite numbers for texts, as an array of a shape that fits.

    Raises:
        UnreadableAnswer: It is something else; the message ends with what was expected.
    """
    try:
        numbers = plain_array(returned)
    except UNREADABLE as error:
        told = one_line(shown(returned))
        raise UnreadableAnswer(f"{source} returned {told} for {len(texts)} texts: {said(error)}; {expected}") from error
    if not fits(numbers.shape):
        told = f"shape {numbers.shape}" if numbers.ndim else one_line(shown(returned))
        raise UnreadableAnswer(f"{source} returned {told} for {len(texts)} texts; {expected}")
    return _finite(numbers, source, texts, expected)


def _finite(numbers: NDArray[Any], source: str, texts: Sequence[str], expected: str) -> NDArray[Any]:
    """Return numbers, one or more for each text, if all are finite; raise UnreadableAnswer otherwise."""
    if not np.isfinite(numbers).all():
        rows: list[int] = np.unique(np.nonzero(~np.isfinite(numbers))[0]).tolist()
        raise UnreadableAnswer(
            f"{source} returned NaN or infinity for {len(rows)} of {len(texts)} texts, the first: "
            f"{shown(texts[rows[0]])}; {expected}"
        )
    return numbers


# What a reranker may return, and how it is read as scores.

_SCORES = "expected one finite number per text, in their order, higher is better"


def as_scores(returned: Any, source: str, texts: Sequence[str]) -> NDArray[Any]:
    """Read what a reranker returned as scores: one finite number per text, shape (len(texts),).

    Args:
        returned: Numbers; or the texts, or documents or nodes of other libraries with them: by their scores if each
            has one, as pairs of a text and a number have, else best first. Those that are left out follow in the order
            in which they were given.
        source: What returned it, for messages.
        texts: What was scored, each text once.

    Raises:
        UnreadableAnswer: They are something else.
    """
    if (order := _order(returned, source, texts)) is not None:
        return order
    scores = _array(returned, source, texts, lambda shape: shape == (len(texts),), _SCORES)
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def _order(returned: Any, source: str, texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the scores that an order of the texts stands for; None if what was returned is no list of texts."""
    if (is_mapping(returned) and not returned.keys().isdisjoint(_LISTED)) or hasattr(returned, "__aiter__"):
        returned = all_results(returned, source)
    if not isinstance(returned, list | tuple):
        return None
    listed = cast("Sequence[Any]", returned)
    found = [pair[0] if (pair := pair_of(each)) else each for each in listed]
    told = [piece.text for each in found if (piece := _piece(each, "")) is not None]
    if len(told) < len(listed) or set(texts).isdisjoint(told):
        return None
    scores = [_told_score(each) for each in listed]
    if None not in scores:
        numbers = _finite(np.array(scores, dtype=np.float64), source, told, _SCORES)
        best_first: list[int] = np.argsort(-numbers, kind="stable").tolist()
        told = [told[index] for index in best_first]
    ranks = {text: rank for rank, text in reversed([*enumerate(told)])}
    if unknown := [text for text in told if text not in set(texts)]:
        raise UnreadableAnswer(f"{source} returned {shown(unknown[0])}, which is none of the texts that it was given")
    if len(ranks) < len(texts):
        note(
            f"{source} left out some of the texts that it was given; they follow in their first order. Let it return "
            "all of them (its top_n or top_k)"
        )
    return np.array([len(told) - ranks[text] if text in ranks else 0 for text in texts], dtype=np.float64)


def _told_score(given: Any) -> float | None:
    """Return the score of a text that a reranker returned; None if it tells none."""
    if isinstance(given, str):
        return None
    score = pair[1] if (pair := pair_of(given)) else fields_of(given).get("score")
    return float(score) if isinstance(score, Real) and not is_truth(score) else None


# What vector stores and rerankers may return, and how it is read as the chunks that they were given.


def as_found(found: Any, source: str, k: int) -> list[AnyChunk]:
    """Read what a store found: its first `k` results.

    Raises:
        UnreadableAnswer: They are not chunks.
    """
    if not gives_items(found, str, Mapping, Set):
        raise UnreadableAnswer(f"{source} returned {shown(found)}; expected a list of chunks, the nearest first")
    return [
        _chunk(result, f"{source} found", "the chunks that were added") for result in items(found, source, max(k, 0))
    ]


def as_order(order: Any, source: str, chunks: int) -> list[AnyChunk]:
    """Read the order in which a reranker returned so many chunks.

    Raises:
        UnreadableAnswer: It is not chunks, or more of them.
    """
    listed: list[Any] = items(order, source, chunks + 1) if gives_items(order, Mapping, Set) else [order]
    if len(listed) > chunks:
        raise UnreadableAnswer(f"{source} returned more than the {chunks} chunks that it was given")
    return [_chunk(each, f"{source} returned", "the chunks that it was given, best first") for each in listed]


def _chunk(given: Any, did: str, expected: str) -> AnyChunk:
    if not isinstance(given, Chunk | PositionAwareChunk):
        raise UnreadableAnswer(f"{did} {shown(given)}; expected {expected}")
    return given
