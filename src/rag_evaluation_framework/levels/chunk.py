"""Chunk-level evaluation: did we find the right chunks? Bound to one chunking."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.exits import errors_as, no_exit
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import raised, shown
from rag_evaluation_framework.contracts import Metric, Retriever
from rag_evaluation_framework.data import (
    CHUNK,
    AnyChunk,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    GroundTruth,
    Level,
    PositionAwareChunk,
    ProjectedTruth,
)
from rag_evaluation_framework.data.chunks import chunking_fingerprint
from rag_evaluation_framework.data.ground_truth import Answer, mapped, renamed_gains
from rag_evaluation_framework.data.hits import Hit, RankedHits
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id, content_digest, is_from_content
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.levels.document import judged_ranks
from rag_evaluation_framework.levels.level_rules import LevelRules, NameChunk, Searched
from rag_evaluation_framework.metrics.catalogue import DEFAULT_CHUNK_METRICS
from rag_evaluation_framework.text.reading import HitReader

# Several ids of one chunk in a dataset: for each of them, the one that stands for all.

_SURE = 12  # digits from which numbers are hashes; 1000 and 10001 may both be counted


def synonyms_of_chunks(chunks: Iterable[Mapping[ChunkId, int]]) -> dict[ChunkId, ChunkId]:
    """Return, for each id of a chunk that has a better one, the best: its name.

    An id is that of the chunks that it fits best, so that a text is not taken for one that a chunker changed to it.

    Args:
        chunks: Of each chunk, its ids in the dataset, best first, and how well each fits: the lower, the better.

    Raises:
        DatasetError: An id fits chunks equally well that the dataset names differently.
    """
    fits: dict[ChunkId, tuple[int, set[ChunkId]]] = {}
    for ids in chunks:
        for unit, fit in ids.items():
            best, named = fits.get(unit, (fit, set[ChunkId]()))
            if fit <= best:
                fits[unit] = fit, {*(named if fit == best else ()), next(iter(ids))}
    named_by: dict[ChunkId, ChunkId] = {}
    for unit, (_, names) in fits.items():
        if len(names) > 1:
            others = " and ".join(repr(name) for name in sorted(names - {unit}))
            raise DatasetError(
                f"the chunk id {unit!r} of the dataset fits several chunks, of which the dataset names some {others}; "
                "name every chunk by one id"
            )
        if unit not in names:
            named_by[unit] = names.pop()
    for unit in named_by:
        while named_by[unit] in named_by:  # never in a circle: no name fits worse than what it stands for
            named_by[unit] = named_by[named_by[unit]]
    return named_by


def synonyms_by_beginning(hashes: Mapping[ChunkId, str]) -> dict[ChunkId, ChunkId]:
    """Return, for each id whose digits are the beginning of another's, the longest such.

    Args:
        hashes: The hexadecimal digits of each id.

    Raises:
        DatasetError: The digits are the beginning of two ids that are not the same.
    """
    ordered = sorted(hashes.items(), key=lambda item: (item[1], len(item[0])))
    named_by: dict[ChunkId, ChunkId] = {}
    for row in range(len(ordered) - 1, -1, -1):
        unit, digits = ordered[row]
        names: set[ChunkId] = set()
        for other, more in map(ordered.__getitem__, range(row + 1, len(ordered))):
            if not more.startswith(digits):
                break
            if len(more) == len(digits) or len(more) >= _SURE or not more.isdecimal():
                names.add(named_by.get(other, other))
        if len(names) > 1:
            others = " and ".join(map(repr, sorted(names)))
            raise DatasetError(f"the chunk id {unit!r} of the dataset is the beginning of {others}; write more digits")
        if names:
            named_by[unit] = names.pop()
    return named_by


# Naming chunks: the id under which the dataset knows a retrieved chunk.

_PREFIX, _DIGITS = "chunk_", 12
_HASHED = re.compile(r"chunk_(?P<digest>[0-9a-f]{6,64})|(?P<bare>[0-9a-f]{8,64})")


class ChunkIds:
    """Names chunks as the dataset does.

    A chunk is known by the id that its retriever gives it (unless it gives that to several texts) or by a hash of its
    text, whichever of these the dataset holds. A hash is `chunk_` and at least 6 hexadecimal digits, or at least 8
    digits alone; as many as the ids of the dataset have. The text is that of the chunk's place, so that a retriever may
    rewrite what it returns, or the chunk's own, so that a chunker may change it. A user's function replaces both; equal
    texts without a place in one document are then the first of them.

    A result without an id that has no text, or an empty one, is no chunk.

    Where the dataset names one chunk by several ids, one of them stands for all, in results and in the ground truth.
    Without a list of chunks these are only hashes of which one is the beginning of the other.

    Attributes:
        present: The ids of the dataset that are those of listed chunks, one for each chunk.
        absent: The other ids of the dataset, one for each chunk.

    Raises:
        ConfigError: The function fails, returns something other than a text, or gives one id to two texts; or the
            retriever gives an id of the dataset to two texts.
        DatasetError: An id of the dataset fits several texts, or chunks that the dataset tells apart.
    """

    def __init__(
        self,
        known: Iterable[ChunkId],
        chunks: Sequence[AnyChunk] | None,
        name_chunk: Callable[[AnyChunk, int], str] | None,
        read: Callable[[Hit], str],
    ) -> None:
        self.known = frozenset(known)
        hashed = {unit: match for unit in self.known if (match := _HASHED.fullmatch(unit))}
        forms = {("" if match["bare"] else _PREFIX, len(match["bare"] or match["digest"])) for match in hashed.values()}
        self.forms = sorted(forms | {(_PREFIX, _DIGITS)}, key=lambda form: (form[1], form[0] == ""))
        self.digests: dict[ChunkId, str] = {}
        self.by_hash = name_chunk is None
        self.read = read
        self.own, self.shared = _named_chunks(chunks or (), name_chunk, read)
        confused = self.shared & self.known
        if confused:
            raise ConfigError(
                f"the retriever gives the id {min(confused)!r}, which the dataset names, to several texts; let every "
                "text have an id of its own, or name chunks by chunk_id=(chunk, number) -> id"
            )
        self.listed = chunks is not None
        listed = chunks if chunks and self.known else ()
        names = [ids for chunk in listed if (ids := self._names(Hit.of(chunk)))]
        self.synonyms = (
            synonyms_of_chunks(names)
            if self.listed
            else synonyms_by_beginning({unit: match["bare"] or match["digest"] for unit, match in hashed.items()})
        )
        self.present = frozenset(map(self.name, chain.from_iterable(names)))
        self.absent = frozenset(map(self.name, self.known)) - self.present

    def of(self, hit: Hit) -> ChunkId | None:
        """Return the id of a hit, or None if it cannot be told.

        Raises:
            DatasetError: An id of the dataset is the beginning of the hashes of two texts; or the chunks are not
                listed, and the hit has two ids of the dataset.
        """
        names = self._names(hit)
        if not names:
            return next((unit for _, unit in self._candidates(hit)), None)
        units = list(dict.fromkeys(map(self.name, names)))
        if len(units) > 1 and not self.listed:
            raise DatasetError(
                f"a result has two ids of the dataset, {units[0]!r} and {units[1]!r}; name every chunk by one id, or "
                "let the retriever's `chunks` list them, so that all ids of a chunk are known"
            )
        return units[0]

    def of_chunk(self, chunk: AnyChunk) -> ChunkId:
        """Return the first id of a chunk: that of the retriever (or of a user's function), or its hash."""
        return next(unit for _, unit in self._candidates(Hit.of(chunk)))

    def name(self, unit: ChunkId) -> ChunkId:
        """Return the id that stands for all of which the dataset names the same chunk."""
        return self.synonyms.get(unit, unit)

    def _names(self, hit: Hit) -> dict[ChunkId, int]:
        """Return the ids of a hit that the dataset has, best first, and how well each fits: the lower, the better."""
        names: dict[ChunkId, int] = {}
        for fit, unit in self._candidates(hit):
            if unit in self.known:
                names.setdefault(unit, fit)
        return names

    def _candidates(self, hit: Hit) -> Iterator[tuple[int, ChunkId]]:
        given = None if hit.chunk_id is None or not self.by_hash else canonical_chunk_id(hit.chunk_id)
        given = None if given in self.shared else given
        if given is not None and given in self.known:  # before what the place says: one place may have several ids
            yield 0, given
        own = self.own.get(hit.identity)
        if own is not None:
            yield 1, own
        if not self.by_hash:
            return
        original = self.read(hit)
        if given is not None:
            yield 1, given
            if is_from_content(given):
                for unit in self._hashes(given.removeprefix(_PREFIX), original or hit.text or given):
                    yield 2, unit
        for fit, text in enumerate(dict.fromkeys((original, hit.text)), start=2):
            if text:  # nothing was read at a place that there is not
                for unit in self._hashes(content_digest(text), text):
                    yield fit, unit

    def _hashes(self, digest: str, shown: str) -> Iterator[ChunkId]:
        """Yield a hash in all forms that the dataset has, as far as its digits go."""
        for prefix, length in self.forms:
            if length > len(digest):
                return
            unit = ChunkId(prefix + digest[:length])
            first = self.digests.setdefault(unit, digest) if unit in self.known else digest
            if not (first.startswith(digest) or digest.startswith(first)):
                raise DatasetError(
                    f"the chunk id {unit!r} of the dataset matches two chunks, with the hashes {first[:_DIGITS]} and "
                    f"{digest[:_DIGITS]} (of {shown[:40]!r}); write more digits"
                )
            yield unit


def _named_chunks(
    chunks: Sequence[AnyChunk],
    name_chunk: Callable[[AnyChunk, int], str] | None,
    read: Callable[[Hit], str],
) -> tuple[dict[tuple[object, ...], ChunkId], frozenset[ChunkId]]:
    """Return the ids of the chunks by identity, and the ids that are given to several texts and so name none."""
    numbers: dict[str, int] = defaultdict(int)
    texts: dict[tuple[ChunkId, bool], str] = {}
    shared: set[ChunkId] = set()
    own: dict[tuple[object, ...], ChunkId] = {}
    for chunk in chunks:
        number, hit = numbers[chunk.doc_id], Hit.of(chunk)
        numbers[chunk.doc_id] += 1
        name = canonical_chunk_id(chunk.id if name_chunk is None else _name(chunk, number, name_chunk))
        by_id = not hit.placed and is_from_content(chunk.id)  # its text may have been rewritten since it got the id
        text = canonical_chunk_id(chunk.id) if by_id else " ".join(read(hit).split())  # a chunker may tidy white space
        first = texts.setdefault((name, by_id), text)
        if first != text:
            if name_chunk is not None:
                raise ConfigError(
                    f"chunk_id gives {shown(name)} to {first[:40]!r} and to {text[:40]!r}: every text needs its own id"
                )
            shared.add(name)
        if hit.placed or hit.identity not in own:
            own[hit.identity] = name
    return {place: name for place, name in own.items() if name not in shared}, frozenset(shared)


def _name(chunk: AnyChunk, number: int, name_chunk: Callable[[AnyChunk, int], Any]) -> str:
    place = f"[{chunk.start}:{chunk.end}]" if isinstance(chunk, PositionAwareChunk) else ""
    where = f"chunk_id of {chunk.doc_id}{place}, chunk {number} of its document"
    with (
        errors_as(lambda error: ConfigError(f"{where}: {raised(error)}; expected a function (chunk, number) -> id")),
        no_exit("chunk_id", f"naming {where.removeprefix('chunk_id of ')}"),
    ):
        name = name_chunk(chunk, number)
    if not isinstance(name, str):
        raise ConfigError(f"{where}: got {shown(name)}; expected a text, such as f'{{chunk.doc_id}}:{{number}}'")
    return name


# Projection of relevant spans to relevant chunks, for evaluation at chunk level.


class ChunkProjection:
    """Projects spans to chunks; the dataset itself stays as it is.

    A chunk is relevant to a span if it holds at least half of the span, or at least half of the chunk lies in the span;
    if no chunk does, the one that holds the most of it, the first of equals. A span that no chunk touches cannot be
    retrieved; it counts as one relevant chunk that does not exist. Chunks without a place hold no span.

    Attributes:
        unreachable: How many spans no chunk touches; of an answer with several places, only if it has none without.
        unplaced: How many chunks have no place.
    """

    def __init__(self, chunks: Sequence[AnyChunk], name: Callable[[AnyChunk], ChunkId]) -> None:
        self.chunks = [chunk for chunk in chunks if isinstance(chunk, PositionAwareChunk)]
        self.name = name
        self.unreachable = 0
        self.unplaced = len(chunks) - len(self.chunks)
        rows: dict[str, list[int]] = defaultdict(list)
        for row, chunk in enumerate(self.chunks):
            rows[chunk.doc_id].append(row)
        self.columns = {doc_id: self._column(numbers) for doc_id, numbers in rows.items()}

    def _column(self, rows: list[int]) -> NDArray[np.int64]:
        """Return number, start and end of chunks; shape (3, chunks)."""
        columns = [(row, self.chunks[row].start, self.chunks[row].end) for row in rows]
        return np.array(columns, dtype=np.int64).T

    def project(self, dataset: Dataset[CharacterSpan]) -> tuple[ChunkLevelGroundTruth, ...]:
        """Return, for each query, the chunks that hold its spans; a place of an answer needs those of all its spans."""
        return tuple(
            ChunkLevelGroundTruth(entry.query, tuple(map(self._projected, entry.answers))) for entry in dataset
        )

    def _projected(self, answer: Answer[CharacterSpan]) -> Answer[ChunkId]:
        places = [[(span, self._relevant(span)) for span in place] for place in answer.places]
        untouched = [sum(not chunks for _, chunks in place) for place in places]
        if all(untouched):
            self.unreachable += untouched[0]
        needed = ([chunk for span, chunks in place for chunk in chunks or [_nowhere(span)]] for place in places)
        return Answer(tuple(tuple(dict.fromkeys(chunks)) for chunks in needed))

    def _relevant(self, span: CharacterSpan) -> list[ChunkId]:
        rows, starts, ends = self.columns.get(span.doc_id, np.zeros((3, 0), dtype=np.int64))
        shared = np.minimum(ends, span.end) - np.maximum(starts, span.start)
        if not (shared > 0).any():
            return []
        relevant = (shared > 0) & ((2 * shared >= span.length()) | (2 * shared >= ends - starts))
        chosen = np.flatnonzero(relevant) if relevant.any() else np.array([shared.argmax()])
        return [self.name(self.chunks[row]) for row in map(int, rows[chosen])]


def _nowhere(span: CharacterSpan) -> ChunkId:
    return ChunkId(f"{span.doc_id}[{span.start}:{span.end}], which no chunk holds")


class ChunkRules(LevelRules[ChunkId]):
    """Rules of the chunk level: units are ids of chunks; a span becomes the chunks that hold it (`ChunkProjection`)."""

    level: ClassVar[Level[Any]] = CHUNK
    default_metrics: ClassVar[Mapping[str, Metric[Any]]] = DEFAULT_CHUNK_METRICS
    noun: ClassVar[str] = "chunk id"
    unit: ClassVar[Any] = ChunkId

    def check(
        self, dataset: Dataset[Any], corpus: Corpus, retriever: Retriever, chunk_id: NameChunk | None
    ) -> Iterable[str]:
        """Return nothing; raise ConfigError if the list of chunks is needed and the retriever cannot give it."""
        del corpus
        if retriever.lists_chunks:
            return ()
        advice = "let its `chunks` return them (of a function: FunctionRetriever(function, registry=...))"
        if dataset.level is not CHUNK:
            raise ConfigError(
                f"{retriever.name} cannot list its chunks, so spans cannot be read as chunks: {advice}, or evaluate at "
                "token level"
            )
        if chunk_id is not None:
            raise ConfigError(f"{retriever.name} cannot list its chunks, so chunk_id cannot name them; {advice}")
        return ()

    def truth(
        self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None
    ) -> ProjectedTruth[ChunkId]:
        """Return the relevant chunks: under the ids of the dataset or, where it holds spans, under the retriever's."""
        projects = dataset.level is not CHUNK
        chunks = searched.chunks
        if chunks is None and (projects or chunk_id is not None):
            raise ConfigError(f"{searched.retriever} cannot list its chunks: its `chunks` returned None")
        known = () if projects else (unit for entry in dataset for unit in entry.labels)
        ids = ChunkIds(known, chunks, chunk_id, HitReader(searched.corpus).original)
        if chunks is None:
            note(f"{searched.retriever} cannot list its chunks; whether they are those of the dataset is not known")
            return ProjectedTruth(CHUNK, _named(dataset, ids), ids.of)
        chunking = {"chunks": len(chunks), "fingerprint": chunking_fingerprint(chunks)}
        if not projects:
            _check_presence(dataset, searched.retriever, len(chunks), ids)
            if dataset.chunking not in (None, chunking["fingerprint"]):
                note("the index holds other chunks than those from which the relevant ones were chosen")
            return ProjectedTruth(CHUNK, _named(dataset, ids), ids.of, chunking)
        projection = ChunkProjection(chunks, ids.of_chunk)
        entries = projection.project(dataset)
        if projection.unplaced:
            note(f"{projection.unplaced} of {len(chunks)} chunks have no place, and cannot be relevant to a span")
        if projection.unreachable:
            note(
                f"relevant spans that no chunk touches: {projection.unreachable}; they count as relevant and cannot be "
                "found"
            )
        return ProjectedTruth(CHUNK, entries, ids.of, chunking)

    def judge(self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[ChunkId]]) -> list[RankJudgements]:
        """Judge by the rank of each distinct chunk."""
        return judged_ranks(CHUNK, cuts, truth, attrgetter("chunk_id"))

    def incomparable(self, baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> str | None:
        """Return that the chunkings differ, if they do: then other chunks are relevant."""
        chunkings = [record.get("chunking") for record in (baseline, candidate)]
        if not all(chunkings) or chunkings[0] == chunkings[1]:
            return None
        sizes = " and ".join(f"{chunking['chunks']} chunks" for chunking in chunkings if chunking)
        return (
            f"they are chunk-level results of different chunkings ({sizes}), whose relevant chunks are not the same; "
            "compare chunkings at token level"
        )

    def doubts(self, baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> Iterable[str]:
        """Return that the chunks may differ, if one of the two could not list them."""
        if not (baseline["chunking"] and candidate["chunking"]):
            yield "whether both have the same chunks is not known"


def _named(dataset: Dataset[Any], ids: ChunkIds) -> tuple[GroundTruth[ChunkId], ...]:
    """Return the ground truth with one id for each chunk.

    Raises:
        DatasetError: A chunk has two gains.
    """
    entries: Any = dataset.ground_truth
    return tuple(
        replace(
            entry,
            relevant_chunk_ids=mapped(entry.relevant_chunk_ids, ids.name),
            gains=renamed_gains(entry.query, {unit: entry.gain(unit) for unit in entry.relevant}, ids.name),
        )
        if any(unit in ids.synonyms for unit in entry.labels)
        else entry
        for entry in entries
    )


def _check_presence(dataset: Dataset[Any], retriever: str, chunks: int, ids: ChunkIds) -> None:
    """Note if only some of the relevant chunks are in the index.

    Raises:
        DatasetError: None of them is in the index.
    """
    if not ids.absent:
        return
    present, known = len(ids.present), len(ids.present) + len(ids.absent)
    advice = (
        "chunk-level truth belongs to one chunking: the same chunker with the same parameters, the same documents, and "
        "ids made in the same way (if not, name chunks by chunk_id=(chunk, number) -> id); or label spans"
    )
    if not present:
        raise DatasetError(
            f"dataset {dataset.name!r}: none of its {known} chunk ids ({min(ids.absent)}, …) is among the "
            f"{chunks} chunks of {retriever}; {advice}"
        )
    note(
        f"{present / known:.0%} of the relevant chunk ids are in the index ({present} of {known}); "
        f"the others cannot be found; {advice}"
    )
