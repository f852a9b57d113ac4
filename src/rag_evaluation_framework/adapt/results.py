"""Reading what foreign components return: hits, pieces, vectors and scores."""

from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence, Set, Sized
from contextlib import suppress
from dataclasses import replace
from itertools import chain, filterfalse, islice
from math import inf, isfinite, nan
from numbers import Integral, Real
from pathlib import PurePath
from time import perf_counter
from types import NoneType
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.coroutines import resolved
from ..base.exits import outcome
from ..base.notes import note
from ..base.outside import class_name, error_message, fit_to_keep, name_line, one_line, shown
from ..data import AnyChunk, CharacterSpan, Chunk, Document, DocumentId, PositionAwareChunk
from ..data.hits import Hit, Retrieval, Stage
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
from ..errors import ConfigError, InputError, UnreadableAnswer

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

_INDEXES, _WORTHS = ("index", "corpus_id"), ("score", "relevance_score")
"""The keys under which rerankers have the index of a text, and its score: Cohere, Jina, Sentence Transformers."""

_RUN_OUTPUTS = ("retrieved_chunk_ids", "retrieved_spans", "hits")
_LISTS = ("documents", "nodes", "source_nodes", "source_documents", "context", "results", "matches", "points", "chunks")
"""Where dicts and objects of other libraries keep all results: Haystack, LlamaIndex, LangChain, Qdrant and Pinecone."""

_COLUMNS = {"ids": "id", "documents": "text", "texts": "text", "metadatas": "metadata", "scores": "score"}
"""The columns of Chroma, and the keys that they are; others are called like the keys themselves."""


def _unreadable(source: str, returned: str, expected: str) -> UnreadableAnswer:
    return UnreadableAnswer(f"{source} returned {returned}; expected {expected}")


def as_retrieval(
    results: Any, source: str, k: int, since: float | None = None, *, asked: bool = True, stored: bool = False
) -> Retrieval:
    """Read the result of a retriever: its first `k` hits, and the other fields of a `Retrieval` as plain values.

    Args:
        results: What `as_hits` reads.
        source: The retriever's name, for messages.
        k: How many results are read, of an answer without end too.
        since: When it was asked, by `perf_counter`: what the seconds of a mapping leave of the time since then is the
            stage `other`, so that all stages together are as long as the answer took.
        asked: As of `as_hits`.
        stored: As of `as_hits`.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or a field holds something else than it is for.
    """
    hits = as_hits(results, source, k, asked=asked, stored=stored)
    if is_mapping(results):
        told = _told_stages(results.get("seconds"), source)
        left = 0.0 if since is None else perf_counter() - since - sum(stage.seconds or 0.0 for stage in told)
        return Retrieval(hits, (*told, Stage(OTHER, left)) if told and left > 0 else told)
    if not isinstance(results, Retrieval):
        return Retrieval(hits)
    limit, complete, stages = cast("tuple[Any, Any, Any]", (results.limit, results.complete, results.stages))
    if limit is not None and not isinstance(limit, str):
        raise _unreadable(source, f"a Retrieval with the limit {shown(limit)}", "a text, or None")
    if not is_truth(complete):
        raise _unreadable(source, f"a Retrieval with complete={shown(complete)}", "True or False")
    if not isinstance(cast("object", stages), tuple | list):
        raise _unreadable(source, f"a Retrieval with stages={shown(stages)}", "a tuple of Stage")
    read = tuple(_as_stage(stage, source) for stage in islice(stages, len(stages)))
    return Retrieval(hits, read, None if limit is None else one_line(fit_to_keep(plain_text(limit))), bool(complete))


def one_each(rankings: Any, questions: int, source: str) -> list[Any]:
    """Return one ranking per question, of an answer without end too.

    Raises:
        UnreadableAnswer: There are more or fewer, or it is nothing of the kind.
    """
    if not gives_items(rankings, str, Mapping, Set):
        raise _unreadable(source, shown(rankings), "one ranking per question")
    listed: list[Any] = items(rankings, source, questions + 1)
    if len(listed) != questions:
        number = f"more than {questions}" if len(listed) > questions else len(listed)
        raise UnreadableAnswer(f"{source} returned {number} rankings for {questions} questions")
    return listed


def as_hits(
    results: Any, source: str, most: int | None = None, *, asked: bool = True, stored: bool = False
) -> tuple[Hit, ...]:
    """Read what a retriever returned as hits, in plain values.

    Args:
        results: A `Retrieval`; an iterable, also an asynchronous one, of texts, chunks, hits, mappings, documents or
            nodes of other libraries, or pairs of one and its score; a DataFrame with one result per row; a mapping of
            columns; or a mapping or an object with one of these in it, such as `hits`, `documents` or `source_nodes`.
        source: The retriever's name, for messages.
        most: How many are read, of an iterable without end too; by default all.
        asked: Whether it was asked for so many, so that more of them are noted.
        stored: Whether scores that grow are kept, as those of a file, whose order is not known yet.

    Raises:
        UnreadableAnswer: It is nothing of the kind.
    """
    results = all_results(results, source, most)
    if not _is_ranked(results):
        raise _unreadable(source, class_name(results), "a list of texts, chunks or dicts, best first")
    if asked and most is not None and isinstance(results, Sized) and len(results) > most:
        note(f"{source} returned more results than it was asked for; the first ones were read")
    hits = tuple(_sound(_as_hit(result, source), source) for result in islice(results, most))
    scores = [hit.score for hit in hits if hit.score is not None]
    if not stored and len(scores) == len(hits) > 1 and scores[0] < scores[-1] and scores == sorted(scores):
        note(f"{source} returned scores that grow with the rank, as distances do; they were left out")
        return tuple(replace(hit, score=None) for hit in hits)
    return hits


def all_results(returned: Any, source: str, most: int | None = None) -> Any:
    """Return the results in what was returned: of a mapping, a DataFrame or an object of another library its list.

    Of an asynchronous iterable no more than `most` are read.

    Raises:
        UnreadableAnswer: It is a mapping, and none of these.
    """
    if isinstance(returned, Retrieval):
        return returned.hits
    if is_mapping(returned):
        returned = _of_mapping(returned, source)
    if hasattr(returned, "__aiter__"):
        return resolved(_awaited(returned, most))
    if (rows := frame_rows(returned)) is not None:
        return rows
    if type(returned) not in (list, tuple):
        return next((inside for name in _LISTS if _is_ranked(inside := _attribute(returned, name))), returned)
    return returned


async def _awaited(results: AsyncIterable[Any], most: int | None) -> list[Any]:
    listed: list[Any] = []
    async for result in results:
        listed.append(result)
        if len(listed) == most:
            break
    return listed


def _told_stages(seconds: Any, source: str) -> tuple[Stage, ...]:
    """Read the seconds of stages by name, `{"embed": 0.01, "search": 0.02}`, of which a mapping may tell none."""
    if seconds is None:
        return ()
    if not is_mapping(seconds):
        raise _unreadable(
            source, f"seconds={shown(seconds)}", "those of each stage, such as {'embed': 0.01, 'search': 0.02}"
        )
    return tuple(_as_stage(Stage(name, seconds[name]), source) for name in islice(seconds, len(seconds)))


def _as_stage(stage: Any, source: str) -> Stage:
    name: Any = stage.name if isinstance(stage, Stage) else None
    if not isinstance(name, str) or not (fit := name_line(fit_to_keep(plain_text(name)))):
        raise _unreadable(source, f"the stage {shown(stage)}", "a Stage with a name")
    given, hits = stage.seconds, stage.hits
    seconds = outcome(lambda: plain_number(given), lambda _: nan) if given is not None else None
    if seconds is not None and not 0 <= seconds < inf:
        raise _unreadable(
            source, f"the stage {fit!r} with {shown(given)} seconds", "a finite number of at least 0, or None"
        )
    if hits is None:
        return Stage(fit, seconds)
    if not isinstance(hits, Sized):  # it may be longer than k, so that k does not end it
        raise _unreadable(source, f"the stage {fit!r} with hits={shown(hits)}", "a tuple of hits")
    return Stage(fit, seconds, as_hits(hits, f"{source}, stage {fit!r},", len(hits)))


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
    known = (*_COLUMNS, *_ATTRIBUTES)
    columns: dict[str, Any] = {key: [*each] for key, each in output.items() if key in known and _is_ranked(each)}
    if columns.keys() <= {*_LISTS}:
        return None
    if all(column and all(isinstance(each, list) for each in column) for column in columns.values()):
        if any(len(column) > 1 for column in columns.values()):
            raise _unreadable(source, "the results of several questions", "those of the one it was asked")
        columns = {key: column[0] for key, column in columns.items()}
    lengths = {key: len(column) for key, column in columns.items()}
    if len({*lengths.values()}) > 1:
        raise _unreadable(source, f"columns of different lengths, {lengths}", "one entry per result")
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
        case _ if pair := pair_of(result):
            return replace(_as_hit(pair[0], source), score=pair[1])
        case _ if fields := fields_of(result):
            return _from_mapping(fields, source, class_name(result))
        case _:
            raise UnreadableAnswer(
                f"{source} returned a result of type {class_name(result)}, {one_line(shown(result))}; expected a text, "
                "a chunk, a pair (text, score), or a dict with 'text', or with 'doc_id', 'start' and 'end'"
                f"{'; of lists in a list, as Chroma has, return [0]' if isinstance(result, list) else ''}"
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
        if _known(fields, TEXT_KEYS) is None and callable(content := getattr(result, "get_content", None)):
            fields["text"] = content()
    for key in _INSIDE:
        value = fields.get(key)
        if value is not None and not isinstance(value, str | Real | PurePath) and (inside := fields_of(value)):
            return {**inside, **{name: each for name, each in fields.items() if name != key}}
    return fields


def _attribute(result: Any, name: str) -> Any:
    """Return a data attribute; None for a method, or if reading it raises."""
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
            expected = "'text', or 'doc_id', 'start' and 'end', or 'doc_id' or 'chunk_id' alone"
            raise _unreadable(source, f"a {what} with the keys {keys}", expected)
    else:
        begin = given_start(fields)
        if doc_id is None:
            named = [*map(fields.get, SOURCE_KEYS), *map(metadata.get, _METADATA_SOURCES), fields.get("ref_doc_id")]
            sources = _in_files([_id(name) for name in named if name is not None], metadata or fields)
            if not sources or type(start) is not int or type(end) is not int:  # of a transcript they are seconds
                start, end = begin if sources else None, None
        elif start is None and end is None:
            start = begin
    return Hit(_id(doc_id), start, end, _id(chunk_id), text, score, sources)


def _in_files(names: Sequence[str], told: Mapping[str, Any]) -> tuple[str, ...]:
    """Return names of where a text is from, with the page that is told; then those of the row of a table.

    Pages count from 1, but from 0 as `page` of LangChain, which has a `source`. From where another `page` counts, is
    not known.
    """
    page, number, row = told.get("page"), told.get("page_number"), told.get("row")
    if number is None:
        number = page + 1 if type(page) is int and "source" in told else told.get("page_label")
    if str(number).isdecimal():
        return tuple(f"{name}, page {number}" for name in names)
    return (*names, *(f"{name}/{row}" for name in names if type(row) is int))


def given_start(fields: Mapping[str, Any]) -> int | None:
    """Return the start of a text as its splitter gives it, in its metadata too; None if it gives none."""
    begins = [_known(named, _SPLITTER_STARTS) for named in (fields, _mapping(_known(fields, METADATA_KEYS)))]
    return next((begin for begin in begins if type(begin) is int and begin >= 0), None)


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
    if (
        (start is end is None or (type(start) is int and type(end) is int and 0 <= start <= end))
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
        raise _unreadable(source, f"start={start}, end={end}", "0 <= start <= end")
    if (start is None) != (end is None) and hit.text is None:
        missing, other = ("end", "start") if end is None else ("start", "end")
        raise _unreadable(source, f"a result without {missing} and text", f"{missing} beside {other}, or its text")
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
        raise _unreadable(
            source, f"a hit whose {name} is {shown(given)}, of type {class_name(given)}", expected
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
    given = _listed(returned, source)
    if gives_items(given, str, Mapping, Set):
        pieces = [_piece(each, text) for each in items(given, source)]
        if None not in pieces:
            return cast("list[Piece]", pieces)
    raise _unreadable(source, one_line(shown(returned)), "a list of texts, in reading order")


def _listed(returned: Any, source: str) -> Any:
    """Return the pieces in what was returned, if it is a mapping or an asynchronous iterable of them."""
    is_listing = is_mapping(returned) and not returned.keys().isdisjoint(("documents", "chunks", "nodes", "results"))
    is_inside = is_listing or hasattr(returned, "__aiter__") or hasattr(returned, "results")
    return all_results(returned, source) if is_inside else returned


def _piece(given: Any, text: str) -> Piece | None:
    if isinstance(given, str):
        return Piece(plain_text(given))
    fields = fields_of(given)
    own = _known(fields, TEXT_KEYS)
    if not isinstance(own, str):
        return None
    start = given_start(fields)
    return Piece(plain_text(own), start if start is not None and text.startswith(own, start) else None)


# What an embedder may return, and how it is read as vectors.


def as_vectors(
    returned: Any, source: str, texts: Sequence[str], dimension: int | None = None, kind: DTypeLike = np.float32
) -> NDArray[Any]:
    """Read what an embedder returned as vectors: shape (len(texts), dimension).

    Args:
        returned: An array, or nested lists, of numbers; row i for text i.
        source: What returned it, for messages: `Own.embed`.
        texts: What it was asked to embed.
        dimension: The length that the vectors must have; None if any will do.
        kind: The precision.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or a number is NaN or infinite, also in this precision.
    """

    def fits(shape: tuple[int, ...]) -> bool:
        return len(shape) == 2 and shape[0] == len(texts) and shape[1] == (dimension or shape[1] or 1)

    expected = f"({len(texts)}, {dimension or 'dimension'}), finite numbers, row i for text i"
    return _array(returned, source, texts, fits, expected, kind)


def _array(
    returned: Any, source: str, texts: Sequence[str], fits: Callable[[Any], bool], expected: str, kind: DTypeLike
) -> NDArray[Any]:
    """Return finite numbers, one or more for each text, as an array of a shape that fits.

    Raises:
        UnreadableAnswer: It is something else.
    """
    try:
        numbers = plain_array(returned)
    except UNREADABLE as error:
        told, why = one_line(shown(returned)), error_message(error).partition("; expected")[0]
        more = "" if why[:40] in told else f": {why}"
        raise _unreadable(source, f"{told} for {len(texts)} texts{more}", expected) from error
    if not fits(numbers.shape):
        told = f"shape {numbers.shape}" if numbers.ndim else one_line(shown(returned))
        raise _unreadable(source, f"{told} for {len(texts)} texts", expected)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        array: NDArray[Any] = numbers.astype(kind, copy=False)
    if not (finite := np.isfinite(array)).all():
        rows: list[int] = np.unique(np.nonzero(~finite)[0]).tolist()
        which = f"{len(rows)} of {len(texts)} texts, the first: {shown(texts[rows[0]])}"
        raise _unreadable(source, f"NaN or infinity for {which}", expected)
    return array


# What a reranker may return, and how it is read as scores.

_SCORES = (
    "one finite number per text, in their order, higher is better, such as [score(query, text) for text in "
    "texts], or pairs (text, score)"
)


def as_scores(returned: Any, source: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Read what a reranker returned as scores: one finite number per text, shape (len(texts),).

    Args:
        returned: Numbers; or the texts, or documents or nodes of other libraries with them: by their scores if each
            has one, as pairs of a text and a number have, else best first. In place of a text may stand its index, as
            in `(index, score)` and in the `results` of Cohere and Jina. Those that are left out follow in the order in
            which they were given.
        source: What returned it, for messages.
        texts: What was scored, each text once.

    Raises:
        UnreadableAnswer: They are something else.
    """
    given = _listed(returned, source)
    if hasattr(given, "__next__"):
        given = items(given, source, len(texts) + 1)
    if isinstance(given, list | tuple) and given and not isinstance(given[0], Real):
        ranked = [_ranked(each, texts) for each in cast("Sequence[Any]", given)]
        if all(text is not None for text, _ in ranked):
            return _order(ranked, source, texts)
    return _array(given, source, texts, lambda shape: shape == (len(texts),), _SCORES, np.float64)


def _order(ranked: Sequence[tuple[Any, float | None]], source: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores that an order of the texts stands for."""
    told, scores = [text for text, _ in ranked], [score for _, score in ranked]
    if unknown := [*filterfalse(set(texts).__contains__, told)]:
        raise _unreadable(source, f"{shown(unknown[0])}, which is none of the texts that it was given", _SCORES)
    if None not in scores:
        numbers = _array(scores, source, told, bool, _SCORES, np.float64)
        best_first: list[int] = np.argsort(-numbers, kind="stable").tolist()
        told = [told[index] for index in best_first]
    ranks = {text: rank for rank, text in reversed([*enumerate(told)])}
    if len(ranks) < len(texts):
        note(
            f"{source} left out some of the texts that it was given; they follow in their first order. Let it return "
            "all of them (its top_n or top_k)"
        )
    return np.array([len(told) - ranks[text] if text in ranks else 0 for text in texts], dtype=np.float64)


def _ranked(given: Any, texts: Sequence[str]) -> tuple[str | None, float | None]:
    """Return a text of a reranker, and the score that it gave it; None for what it did not give."""
    fields: Mapping[str, Any]
    match given:
        case str():
            return plain_text(given), None
        case (Integral() as index, Real() as score):
            fields = {"index": index, "score": score}
        case (found, Real() as score):
            fields = {**({"text": found} if isinstance(found, str) else fields_of(found)), "score": score}
        case _:
            fields = {**{name: _attribute(given, name) for name in (*_INDEXES, *_WORTHS)}, **fields_of(given)}
    own, place, worth = [_known(fields, keys) for keys in (TEXT_KEYS, _INDEXES, _WORTHS)]
    named = plain_text(own) if isinstance(own, str) else None
    if isinstance(place, Integral) and not is_truth(place) and named not in texts:
        named = texts[int(place)] if 0 <= int(place) < len(texts) else shown(given)
    return named, float(worth) if isinstance(worth, Real) and not is_truth(worth) else None


# What a chunker that knows places, a vector store, a reranker or the list of a retriever may return: chunks.


def as_chunks(
    returned: Any,
    source: str,
    expected: str,
    most: int | None = None,
    but: tuple[type, ...] = (str, Mapping, Set),
    error: type[InputError] = UnreadableAnswer,
) -> list[AnyChunk]:
    """Read chunks that were returned.

    Args:
        returned: The chunks.
        source: What returned them, for messages.
        expected: What was expected, for messages.
        most: How many are read, of what has no end too; by default all.
        but: What iterables are refused.
        error: What is raised if they are something else.
    """
    if not gives_items(returned, *but):
        raise error(f"{source} returned {one_line(shown(returned))}; expected {expected}")
    listed: list[Any] = items(returned, source, most)
    for each in listed:
        if not isinstance(each, Chunk | PositionAwareChunk):
            raise error(f"{source} returned {one_line(shown(each))} as a chunk; expected {expected}")
    return listed


def as_listed(listed: Any, source: str) -> tuple[AnyChunk, ...] | None:
    """Read what a retriever lists as all of its chunks; None if it cannot list them.

    Raises:
        ConfigError: It is something other than chunks.
    """
    if listed is None:
        return None
    return tuple(as_chunks(listed, f"{source}.chunks", "chunks, or None", but=(), error=ConfigError))
