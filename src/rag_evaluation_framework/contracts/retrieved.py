"""What a retriever may return, and how it is read as hits."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set, Sized
from contextlib import suppress
from itertools import islice
from math import isfinite
from time import perf_counter
from types import NoneType
from typing import Any, TypeGuard, TypeVar

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import class_name, fit_to_keep, name_line, one_line, shown
from rag_evaluation_framework.data import (
    AnyChunk,
    CharacterSpan,
    Chunk,
    Corpus,
    DocumentId,
    Hit,
    PositionAwareChunk,
    Retrieval,
    Stage,
)
from rag_evaluation_framework.data.values import (
    all_chunks,
    at_most,
    gives_items,
    is_mapping,
    is_truth,
    plain_number,
    plain_offset,
    plain_text,
)
from rag_evaluation_framework.errors import ConfigError, InputError

T = TypeVar("T")

OTHER = "other"
"""The stage of the time that the stages a system tells leave of how long its answer took."""

_TEXT = (str, NoneType)

Result = Hit | AnyChunk | CharacterSpan | str | Mapping[str, Any]
"""One result of a pipeline, with whatever is known of it."""

_KEYS = (
    ("doc_id", "document", "document_id", "docId"),
    ("start",),
    ("end",),
    ("chunk_id", "chunkId", "id", "id_"),
    ("text", "content", "page_content"),
    ("score",),
)
"""The keys under which dicts have what a hit has, in the order of a `Hit`."""

_SOURCES = ("source", "file_path")
"""The keys under which dicts name where a text is from: often a document, but it may be `confluence`, or a URL."""

_METADATA_SOURCES = (*_SOURCES, "doc_id", "document_id", "docId")
"""The keys under which metadata do, best first: LangChain may have an id of its own in `doc_id`."""

_SPLITTER_STARTS = ("start_index", "split_idx_start", "start_char_idx", "start")
"""The keys under which splitters write where a text begins. Not all count in the whole document, so no end is read: the
place counts only if the text is there."""

_ENOUGH = ("doc_id", "document_id", "docId", "chunk_id", "chunkId")
"""Keys that tell what was found without a text or a place; the others are read beside one."""

_RUN_OUTPUTS = ("retrieved_chunk_ids", "retrieved_spans", "hits")


def as_retrieval(results: Any, source: str, k: int, asked: float | None = None) -> Retrieval:
    """Read what a retriever returned: its first `k` results, and what else a `Retrieval` tells, in plain values.

    Args:
        results: What `as_hits` reads.
        source: The retriever's name, for messages.
        k: How many results are read, of an answer without end too.
        asked: When it was asked, by `perf_counter`: what the seconds of a mapping leave of the time since then is the
            stage `other`, so that all stages together are as long as the answer took.

    Raises:
        InputError: It is nothing of the kind, or a field holds something else than it is for.
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
        raise InputError(f"{source} returned a Retrieval with the limit {shown(limit)}; expected a text, or None")
    if not is_truth(complete):
        raise InputError(f"{source} returned a Retrieval with complete={shown(complete)}; expected True or False")
    named = None if limit is None else one_line(fit_to_keep(plain_text(limit)))
    return Retrieval(hits, _as_stages(results.stages, source), named, bool(complete))


def one_each(rankings: Any, questions: int, source: str) -> list[Any]:
    """Return one ranking per question, of an answer without end too.

    Raises:
        InputError: There are more or fewer, or it is nothing of the kind.
    """
    if not gives_items(rankings, str, Mapping, Set):
        raise InputError(f"{source} returned {shown(rankings)}; expected one ranking per question")
    listed: list[Any] | None = at_most(rankings, questions, source)
    if listed is None or len(listed) < questions:
        number = f"more than {questions}" if listed is None else len(listed)
        raise InputError(f"{source} returned {number} rankings for {questions} questions")
    return listed


def as_hits(results: Any, source: str, most: int | None = None) -> tuple[Hit, ...]:
    """Read what a retriever returned as hits, in plain values.

    Args:
        results: A `Retrieval`, an iterable of texts, chunks, hits or mappings, a pandas DataFrame with one result per
            row, or one mapping with `hits`, `retrieved_chunk_ids` or `retrieved_spans`.
        source: The retriever's name, for messages.
        most: How many are read, of an iterable without end too; by default all.

    Raises:
        InputError: It is nothing of the kind.
    """
    if isinstance(results, Retrieval):
        results = results.hits
    if is_mapping(results):
        results = _from_run_output(results, source)
    if hasattr(results, "iterrows"):  # a DataFrame of pandas, whose items are its column names
        results = results.convert_dtypes().astype(object)  # whole numbers, though there are gaps among them
        results = results.where(results.notna(), None).to_dict("records")
    if _is_ranked(results):
        if most is not None and isinstance(results, Sized) and len(results) > most:
            note(f"{source} returned more results than it was asked for; the first ones were read")
        return tuple(_sound(_as_hit(result, source), source) for result in islice(results, most))
    raise InputError(f"{source} returned {class_name(results)}; expected a list of texts, chunks or dicts, best first")


def _as_stages(stages: Any, source: str) -> tuple[Stage, ...]:
    given: Any = stages
    if not isinstance(stages, tuple | list):
        raise InputError(f"{source} returned a Retrieval with stages={shown(given)}; expected a tuple of Stage")
    return tuple(_as_stage(stage, source) for stage in islice(given, len(given)))


def _told_stages(seconds: Any, source: str) -> tuple[Stage, ...]:
    """Read the seconds of stages by name, `{"embed": 0.01, "search": 0.02}`, of which a mapping may tell none."""
    if seconds is None:
        return ()
    if not is_mapping(seconds):
        raise InputError(
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
        raise InputError(f"{source} returned the stage {shown(stage)}; expected a Stage with a name")
    seconds, hits = _as_seconds(stage.seconds, f"{source} returned the stage {fit!r}"), stage.hits
    if hits is None:
        return Stage(fit, seconds)
    if not isinstance(hits, Sized):  # it may be longer than k, so that k does not end it
        raise InputError(f"{source} returned the stage {fit!r} with hits={shown(hits)}; expected a tuple of hits")
    return Stage(fit, seconds, as_hits(hits, f"{source}, stage {fit!r},", len(hits)))


def _as_seconds(given: Any, where: str) -> float | None:
    if given is None:
        return None
    with suppress(Exception):  # of anybody's number
        seconds = plain_number(given)
        if isfinite(seconds) and seconds >= 0:
            return seconds
    raise InputError(f"{where} with {shown(given)} seconds; expected a finite number of at least 0, or None")


def as_chunks(listed: Any, source: str, corpus: Corpus) -> tuple[AnyChunk, ...] | None:
    """Read what a retriever lists as all of its chunks of a corpus; None if it cannot list them.

    Raises:
        ConfigError: It is something other than chunks, or has no end: more of them than the corpus has characters.
    """
    if listed is None:
        return None
    if not gives_items(listed):
        raise ConfigError(f"{source} lists {shown(listed)}; expected chunks, or None")
    chunks: list[Any] | None = all_chunks(listed, sum(len(document.content) for document in corpus), source)
    if chunks is None:
        raise ConfigError(f"{source} lists more chunks than the corpus has characters; expected a list that has an end")
    for chunk in chunks:
        if not isinstance(chunk, Chunk | PositionAwareChunk):
            raise ConfigError(f"{source} lists {shown(chunk)} as a chunk; expected a PositionAwareChunk or a Chunk")
    return tuple(chunks)


def _from_run_output(output: Mapping[str, Any], source: str) -> Any:
    found = [key for key in _RUN_OUTPUTS if output.get(key) is not None]
    if len(found) != 1:
        raise InputError(
            f"{source} returned dict with the keys {sorted(map(str, output))}; expected a list of texts, chunks or "
            "dicts, best first, or a dict with one of 'hits', 'retrieved_chunk_ids' and 'retrieved_spans'"
        )
    results = output[found[0]]
    if found[0] != "retrieved_chunk_ids" or not _is_ranked(results):
        return results
    return (result if isinstance(result, Mapping) else {"chunk_id": result} for result in results)


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
                f"{source} returned a result of type {class_name(result)}; expected a text, a chunk, or a dict with "
                "'text', or with 'doc_id', 'start' and 'end'"
            )


def _from_mapping(result: Mapping[str, Any], source: str) -> Hit:
    node = _mapping(result.get("node"))  # of LlamaIndex
    fields = {**node, **result} if node else result
    doc_id, start, end, chunk_id, text, score = [_known(fields, keys) for keys in _KEYS]
    metadata = _mapping(_known(fields, ("metadata", "meta")))
    sources: tuple[Any, ...] = ()
    if text is None:
        doc_id = _known(fields, _SOURCES) if doc_id is None else doc_id
        if _known(fields, _ENOUGH) is None and (doc_id is None or start is None or end is None):
            keys = sorted(f"{key}{' (None)' if value is None else ''}" for key, value in result.items())
            raise InputError(
                f"{source} returned a dict with the keys {keys}; expected 'text', or 'doc_id', 'start' and 'end', or "
                "'doc_id' or 'chunk_id' alone"
            )
    else:
        begins = [_known(named, _SPLITTER_STARTS) for named in (fields, metadata)]
        begin = next((begin for begin in begins if type(begin) is int and begin >= 0), None)
        if doc_id is None:
            named = [*map(fields.get, _SOURCES), *map(metadata.get, _METADATA_SOURCES)]
            sources = tuple(_id(name) for name in named if name is not None)
            if not sources or type(start) is not int or type(end) is not int:  # of a transcript they are seconds
                start, end = begin if sources else None, None
        elif start is None and end is None:
            start = begin
    return Hit(_id(doc_id), start, end, _id(chunk_id), text, score, sources)


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
        raise InputError(f"{source} returned start={start}, end={end}; expected 0 <= start <= end")
    if (start is None) != (end is None) and hit.text is None:
        missing, other = ("end", "start") if end is None else ("start", "end")
        raise InputError(
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
        InputError: It has none.
    """
    if given is None:
        return None
    try:
        return plain(given)
    except Exception as error:
        raise InputError(
            f"{source} returned a hit whose {name} is {shown(given)}, of type {class_name(given)}; expected {expected}"
        ) from error
