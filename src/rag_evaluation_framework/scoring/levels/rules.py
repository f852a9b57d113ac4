"""The evaluation types, document, chunk and token level: everything in which they differ."""

import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, ClassVar, Generic, Protocol, TypeAlias

import numpy as np

from ...base.exits import errors_as, no_exit
from ...base.notes import collect_notes, note
from ...base.outside import error_text, shown
from ...contracts import Metric, Retriever
from ...data import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    AnyChunk,
    CharacterSpan,
    ChunkId,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    DocumentId,
    DocumentLevelGroundTruth,
    EvaluationType,
    GroundTruth,
    Level,
    PositionAwareChunk,
    ProjectedTruth,
    TokenLevelGroundTruth,
)
from ...data.chunks import chunking_fingerprint
from ...data.columns import Numbering
from ...data.documents import DocumentResolver
from ...data.ground_truth import Answer, mapped, renamed_gains
from ...data.hits import Coded, Hit, RankedHits
from ...data.ids import canonical_chunk_id, content_digest, is_from_content
from ...data.levels import U
from ...errors import ConfigError, DatasetError
from ...text.reading import HitReader
from ..judging.ranks import LabelColumns, RankJudgements, UnitPlaces
from ..judging.spans import SpanJudgements
from ..metrics.defaults import DEFAULT_CHUNK_METRICS, DEFAULT_DOCUMENT_METRICS, DEFAULT_TOKEN_METRICS

NameChunk: TypeAlias = Callable[[AnyChunk, int], str]
"""A function from a chunk, and its number within its document, to the id under which the dataset knows it."""


class Searched(Protocol):
    """The searched index, as far as a level needs it."""

    @property
    def retriever(self) -> str:
        """The retriever's name."""
        ...

    @property
    def corpus(self) -> Corpus:
        """The documents."""
        ...

    @property
    def chunks(self) -> Sequence[AnyChunk] | None:
        """All chunks that could be retrieved, or None if the retriever cannot list them."""


class LevelRules(ABC, Generic[U]):
    """Everything in which one evaluation type differs from the others.

    Data and type checkers know a level by its constant (`DOCUMENT`, `CHUNK`, `TOKEN`); what it does is here.
    """

    level: ClassVar[Level[Any]]
    """The constant of the level."""
    default_metrics: ClassVar[Mapping[str, Metric[Any]]]
    """The metrics that are reported if none are chosen."""
    noun: ClassVar[str]
    """What a hit needs in order to be judged, as messages call it."""

    def check(
        self, dataset: Dataset[Any], corpus: Corpus, retriever: Retriever, chunk_id: NameChunk | None
    ) -> Iterable[str]:
        """Return notes on dataset and corpus at this level, before any work is done; that spans match is known.

        Raises:
            ConfigError: The retriever cannot be judged at this level.
            DatasetError: The corpus holds nothing that is relevant.
        """
        del dataset, corpus, retriever, chunk_id
        return ()

    @abstractmethod
    def truth(self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None) -> ProjectedTruth[U]:
        """Return the ground truth in the units of this level; spans are projected to these.

        Raises:
            ConfigError: The list of chunks is needed and the retriever cannot give it, or `chunk_id` fails.
            DatasetError: Nothing relevant is in the index.
        """

    @abstractmethod
    def judge(
        self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[U]]
    ) -> Sequence[SpanJudgements | RankJudgements]:
        """Judge the rankings at several cutoffs: at each of them one per entry of the truth."""

    def found(self, unit: U, hit: U) -> bool:
        """Return whether a hit finds a relevant unit, or a part of it."""
        return hit == unit


def other_chunking(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> str | None:
    """Return why results with these two records cannot be compared: their chunkings; None if they can be.

    Only records of chunk-level results name a chunking, as other chunks are relevant there.
    """
    chunkings = [record.get("chunking") for record in (baseline, candidate)]
    if not all(chunkings) or chunkings[0] == chunkings[1]:
        return None
    sizes = " and ".join(f"{chunking['chunks']} chunks" for chunking in chunkings if chunking)
    return (
        f"they are chunk-level results of different chunkings ({sizes}), whose relevant chunks are not the same; "
        "compare chunkings at token level"
    )


class _IdRules(LevelRules[U]):
    """Rules of a level whose units are ids."""

    column: ClassVar[str]
    """The column of hits that holds the ids."""

    def judge(self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[Any]]) -> list[RankJudgements]:
        """Judge by the rank of each distinct id."""
        numbers = Numbering()
        labels = label_columns(truth, numbers)
        grouped = [row for row, entry in enumerate(truth) if entry.relevant_prefixes]
        judged: list[RankJudgements] = []
        for hits in cuts:
            column: Coded = getattr(hits.flat, self.column)
            codes = np.where(column.known, column.numbers(numbers.__getitem__), -1 - hits.rank)
            ends = np.cumsum(hits.counts)
            for row in grouped:
                units = (self.level.unit(hit, rank) for rank, hit in enumerate(hits[row], start=1))
                named = truth[row].as_labelled(units)
                codes[ends[row] - len(named) : ends[row]] = [numbers[unit] for unit in named]
            judged.append(RankJudgements.from_columns(hits.query, codes, hits.counts, labels))
        return judged


# Document level: did we find the right documents?


class DocumentRules(_IdRules[DocumentId]):
    """Rules of the document level: units are ids of documents; a span becomes the document that it is in."""

    level: ClassVar[Level[Any]] = DOCUMENT
    default_metrics: ClassVar[Mapping[str, Metric[Any]]] = DEFAULT_DOCUMENT_METRICS
    noun: ClassVar[str] = "document"
    column: ClassVar[str] = "doc_id"

    def check(
        self, dataset: Dataset[Any], corpus: Corpus, retriever: Retriever, chunk_id: NameChunk | None
    ) -> Iterable[str]:
        """Return how many relevant documents are not in the corpus, if any, and if one is in another folder.

        Raises:
            DatasetError: None of them is in the corpus, which is not the one that the dataset brings.
        """
        del retriever, chunk_id
        return _absent(dataset, corpus) if dataset.level is DOCUMENT and len(corpus) else ()

    def truth(
        self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None
    ) -> ProjectedTruth[DocumentId]:
        """Return the relevant documents, under the ids of the corpus."""
        del chunk_id
        if dataset.level is not DOCUMENT:
            return ProjectedTruth(DOCUMENT, in_documents(dataset))
        if len(searched.corpus):
            for text in _absent(dataset, searched.corpus):
                note(text)
        return ProjectedTruth(DOCUMENT, resolve_documents(dataset, searched.corpus))

    def found(self, unit: DocumentId, hit: DocumentId) -> bool:
        """Return whether a hit is this document, or has this prefix (`guide/*`)."""
        return hit == unit or (unit.endswith("*") and hit.startswith(unit[:-1]))


def label_columns(truth: Sequence[GroundTruth[Any]], numbers: Numbering) -> LabelColumns:
    """Return what is relevant as columns; units that are new are numbered."""
    counts = np.fromiter((len(entry.relevant) for entry in truth), dtype=np.int64, count=len(truth))
    answers = ((row, answer) for row, entry in enumerate(truth) if entry.has_alternatives for answer in entry.answers)
    places = [
        (row, answer_number, place_number, numbers[unit])
        for answer_number, (row, answer) in enumerate(answers)
        for place_number, place in enumerate(answer.places)
        for unit in place
    ]
    return LabelColumns(
        np.repeat(np.arange(len(truth)), counts),
        np.array([numbers[unit] for entry in truth for unit in entry.relevant], dtype=np.int64),
        np.array([entry.gain(unit) for entry in truth for unit in entry.relevant], dtype=np.float64),
        UnitPlaces(*np.array(places, dtype=np.int64).T) if places else None,
    )


def in_documents(dataset: Dataset[CharacterSpan]) -> tuple[DocumentLevelGroundTruth, ...]:
    """Return, for each query, the documents that its spans are in."""
    doc_id: Any = attrgetter("doc_id")  # an answer keeps its type where units change theirs
    entries: Any = ((entry.query, tuple(answer.mapped(doc_id) for answer in entry.answers)) for entry in dataset)
    return tuple(DocumentLevelGroundTruth(*entry) for entry in entries)


def resolve_documents(dataset: Dataset[DocumentId], corpus: Corpus) -> tuple[DocumentLevelGroundTruth, ...]:
    """Return the ground truth with the ids of the corpus, where it names documents by parts of them."""
    names = DocumentResolver(corpus)

    def known(doc_id: DocumentId) -> DocumentId:
        return names.find(doc_id) or doc_id

    entries: Any = dataset.ground_truth
    return tuple(
        replace(
            entry,
            relevant_document_ids=mapped(entry.relevant_document_ids, known),
            gains=renamed_gains(entry.query, entry.gains, known),
        )
        for entry in entries
    )


def _absent(dataset: Dataset[DocumentId], corpus: Corpus) -> Iterator[str]:
    ids = sorted(document.id for document in corpus)
    with collect_notes() as told:
        units = [(entry, unit) for entry in resolve_documents(dataset, corpus) for unit in entry.labels]
    yield from told
    missing = [(entry, unit) for entry, unit in units if unit not in corpus and not _is_prefix_of_any(unit, ids)]
    if not missing:
        return
    entry, unit = missing[0]
    if len(missing) == len(units) and dataset.labelled_corpus is not corpus:
        known = ", ".join(document.id for document in corpus.documents[:3])
        raise DatasetError(
            f"dataset {dataset.name!r}: the corpus holds none of its relevant documents ({unit!r} of question "
            f"{entry.query.id!r}, …); it holds {known}, … Is it another corpus?"
        )
    yield (
        f"relevant documents that are not in the corpus, so that no retriever can find them: {len(missing)}, the "
        f"first {unit!r} of question {entry.query.id!r}; they count as relevant all the same"
    )


def _is_prefix_of_any(unit: DocumentId, ids: list[DocumentId]) -> bool:
    """Return whether the unit is a `prefix*` with which one of the sorted ids begins."""
    prefix = unit.removesuffix("*")
    position = bisect_left(ids, prefix)
    return prefix != unit and position < len(ids) and ids[position].startswith(prefix)


# Chunk level: did we find the right chunks? Bound to one chunking.

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

    A dataset names a chunk by one id: of several that it fits, the first counts.

    Attributes:
        present: The ids of the dataset that are those of listed chunks.
        absent: The other ids of the dataset.

    Raises:
        ConfigError: The function fails, returns something other than a text, or gives one id to two texts; or the
            retriever gives an id of the dataset to two texts.
        DatasetError: An id of the dataset fits several texts.
    """

    def __init__(
        self,
        known: Iterable[ChunkId],
        chunks: Sequence[AnyChunk] | None,
        name_chunk: NameChunk | None,
        read: Callable[[Hit], str],
    ) -> None:
        self.known = frozenset(known)
        hashed = filter(None, map(_HASHED.fullmatch, self.known))
        forms = {("" if match["bare"] else _PREFIX, len(match["bare"] or match["digest"])) for match in hashed}
        self.forms = sorted(forms | {(_PREFIX, _DIGITS)}, key=lambda form: (form[1], form[0] == ""))
        self.digests: dict[ChunkId, str] = {}
        self.by_hash = name_chunk is None
        self.read = read
        self.own, self.shared = _named_chunks(chunks or (), name_chunk, read)
        if confused := self.shared & self.known:
            raise ConfigError(
                f"the retriever gives the id {min(confused)!r}, which the dataset names, to several texts; let every "
                "text have an id of its own, or name chunks by chunk_id=(chunk, number) -> id"
            )
        listed = chunks if chunks and self.known else ()
        self.present = self.known & {self.of(Hit.of(chunk)) for chunk in listed}
        self.absent = self.known - self.present

    def of(self, hit: Hit) -> ChunkId | None:
        """Return the id of a hit: the first that the dataset has, else its first one, or None if it has none.

        Raises:
            DatasetError: An id of the dataset is the beginning of the hashes of two texts.
        """
        units = list(self._candidates(hit))
        return next((unit for unit in units if unit in self.known), units[0] if units else None)

    def of_chunk(self, chunk: AnyChunk) -> ChunkId:
        """Return the first id of a chunk: that of the retriever (or of a user's function), or its hash."""
        return next(self._candidates(Hit.of(chunk)))

    def _candidates(self, hit: Hit) -> Iterator[ChunkId]:
        """Yield the ids of a hit, best first."""
        given = None if hit.chunk_id is None or not self.by_hash else canonical_chunk_id(hit.chunk_id)
        given = None if given in self.shared else given
        if given is not None and given in self.known:  # before what the place says: one place may have several ids
            yield given
        if (own := self.own.get(hit.identity)) is not None:
            yield own
        if not self.by_hash:
            return
        original = self.read(hit)
        if given is not None:
            yield given
            if is_from_content(given):
                yield from self._hashes(given.removeprefix(_PREFIX), original or hit.text or given)
        for text in filter(None, dict.fromkeys((original, hit.text))):  # nothing is read at a place that there is not
            yield from self._hashes(content_digest(text), text)

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
    chunks: Sequence[AnyChunk], name_chunk: NameChunk | None, read: Callable[[Hit], str]
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
        errors_as(
            lambda error: ConfigError(f"{where}: {error_text(error)}; expected a function (chunk, number) -> id")
        ),
        no_exit("chunk_id", f"naming {where.removeprefix('chunk_id of ')}"),
    ):
        name = name_chunk(chunk, number)
    if not isinstance(name, str):
        raise ConfigError(f"{where}: got {shown(name)}; expected a text, such as f'{{chunk.doc_id}}:{{number}}'")
    return name


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
        rows: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for row, chunk in enumerate(self.chunks):
            rows[chunk.doc_id].append((row, chunk.start, chunk.end))
        self.columns = {doc_id: np.array(own, dtype=np.int64).T for doc_id, own in rows.items()}

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


class ChunkRules(_IdRules[ChunkId]):
    """Rules of the chunk level: units are ids of chunks; a span becomes the chunks that hold it (`ChunkProjection`)."""

    level: ClassVar[Level[Any]] = CHUNK
    default_metrics: ClassVar[Mapping[str, Metric[Any]]] = DEFAULT_CHUNK_METRICS
    noun: ClassVar[str] = "chunk id"
    column: ClassVar[str] = "chunk_id"

    def check(
        self, dataset: Dataset[Any], corpus: Corpus, retriever: Retriever, chunk_id: NameChunk | None
    ) -> Iterable[str]:
        """Return nothing; raise ConfigError if the list of chunks is needed and the retriever cannot give it."""
        del corpus
        advice = "let its `chunks` return them (of a function: FunctionRetriever(function, registry=...))"
        if dataset.level is not CHUNK and not retriever.lists_chunks:
            raise ConfigError(
                f"{retriever.name} cannot list its chunks, so spans cannot be read as chunks: {advice}, or evaluate at "
                "token level"
            )
        if chunk_id is not None and not retriever.lists_chunks:
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
            return ProjectedTruth(CHUNK, dataset.ground_truth, ids.of)
        chunking = {"chunks": len(chunks), "fingerprint": chunking_fingerprint(chunks)}
        if not projects:
            _check_presence(dataset, searched.retriever, len(chunks), ids)
            if dataset.chunking not in (None, chunking["fingerprint"]):
                note("the index holds other chunks than those from which the relevant ones were chosen")
            return ProjectedTruth(CHUNK, dataset.ground_truth, ids.of, chunking)
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


# Token level: did we find the right text?


class TokenRules(LevelRules[CharacterSpan]):
    """Rules of the token level: units are spans of characters, independent of any chunker."""

    level: ClassVar[Level[Any]] = TOKEN
    default_metrics: ClassVar[Mapping[str, Metric[Any]]] = DEFAULT_TOKEN_METRICS
    noun: ClassVar[str] = "place in the corpus"

    def truth(
        self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None
    ) -> ProjectedTruth[CharacterSpan]:
        """Return the spans as they are; places of one answer are copies if they have the same text in the corpus."""
        del chunk_id
        read = HitReader(searched.corpus).span
        entries = (
            TokenLevelGroundTruth(entry.query, tuple(answer.mapped(read) for answer in entry.answers))
            if entry.has_alternatives
            else entry
            for entry in dataset
        )
        return ProjectedTruth(TOKEN, tuple(entries))

    def judge(self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[CharacterSpan]]) -> list[SpanJudgements]:
        """Judge by the characters that spans share."""
        return SpanJudgements.from_hits(cuts, truth)

    def found(self, unit: CharacterSpan, hit: CharacterSpan) -> bool:
        """Return whether a hit covers at least one character of a span."""
        return unit.overlaps(hit)


RULES: Mapping[EvaluationType, LevelRules[Any]] = {
    rules.level.evaluation_type: rules for rules in (DocumentRules(), ChunkRules(), TokenRules())
}
"""The rules of each level, by the name of its evaluation type."""
