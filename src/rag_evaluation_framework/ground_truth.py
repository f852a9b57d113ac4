"""What is right: the relevant units of each question, and the dataset that holds them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, Generic, TypeVar

from rag_evaluation_framework.chunk_registry import ChunkRegistry
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.ids import ChunkId, DocumentId, canonical_chunk_id, content_digest
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, TOKEN, Level, U
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Query

LARGEST_GAIN = 1e100
"""Sums of gains stay finite."""

IdT = TypeVar("IdT", DocumentId, ChunkId)
TextT = TypeVar("TextT", bound=str)


class GroundTruth(ABC, Generic[U]):
    """The relevant units of one question. None at all means that the corpus holds no answer."""

    query: Query

    @property
    @abstractmethod
    def relevant(self) -> tuple[U, ...]:
        """The relevant units, in the order in which they were labelled."""

    @property
    @abstractmethod
    def level(self) -> Level[U]:
        """The evaluation type that this truth belongs to."""

    def gain(self, unit: U) -> float:
        """Return how relevant a relevant unit is; 1.0 where no gains were given."""
        del unit
        return 1.0

    def as_labelled(self, units: Iterable[U]) -> list[U]:
        """Return retrieved units, best first, each as the relevant unit that it satisfies or as it is."""
        return list(units)


@dataclass(frozen=True)
class DocumentLevelGroundTruth(GroundTruth[DocumentId]):
    """The relevant documents of one question.

    Attributes:
        query: The question.
        relevant_document_ids: Documents that answer it.
        relevant_prefixes: Beginnings of ids. Any document whose id begins so will do: they are one relevant unit,
            written `prefix*`, which the first of them that is retrieved satisfies; the others are not relevant then. A
            relevant id that begins so is part of it.
        gains: How relevant each document or `prefix*` is, above 0; 1.0 where it says nothing.

    Raises:
        DatasetError: The ids are no list, a gain is not a finite number above 0 or belongs to no relevant unit, or a
            prefix is empty.
    """

    query: Query
    relevant_document_ids: tuple[DocumentId, ...]
    relevant_prefixes: tuple[str, ...] = ()
    gains: Mapping[DocumentId, float] = field(default_factory=dict[DocumentId, float], hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevant_document_ids", _listed(self.query, self.relevant_document_ids))
        object.__setattr__(self, "relevant_prefixes", _listed(self.query, self.relevant_prefixes))
        if not all(self.relevant_prefixes):
            raise DatasetError(f"question {self.query.id!r}: an empty prefix would make every document relevant")
        object.__setattr__(self, "gains", _checked_gains(self.query, self.gains, self.relevant))

    @property
    def relevant(self) -> tuple[DocumentId, ...]:
        """The relevant documents and `prefix*` units, each once."""
        return self._units

    @cached_property
    def _units(self) -> tuple[DocumentId, ...]:
        ids = [*self.relevant_document_ids, *map(DocumentId, self.relevant_prefixes)]
        return tuple(dict.fromkeys(self._prefixed(doc_id) or doc_id for doc_id in ids))

    @property
    def level(self) -> Level[DocumentId]:
        """Document level."""
        return DOCUMENT

    def gain(self, unit: DocumentId) -> float:
        """Return how relevant a relevant unit is."""
        return self.gains.get(unit, 1.0)

    def as_labelled(self, units: Iterable[DocumentId]) -> list[DocumentId]:
        """Return retrieved documents, best first, the first of each relevant prefix as `prefix*`."""
        if not self.relevant_prefixes:
            return list(units)
        first: dict[DocumentId, DocumentId] = {}
        labelled: list[DocumentId] = []
        for doc_id in units:
            prefixed = self._prefixed(doc_id)
            satisfies = prefixed is not None and first.setdefault(prefixed, doc_id) == doc_id
            labelled.append(prefixed if prefixed is not None and satisfies else doc_id)
        return labelled

    def _prefixed(self, doc_id: DocumentId) -> DocumentId | None:
        """Return `prefix*` if the id begins with a relevant prefix, of several the shortest."""
        prefixes = [prefix for prefix in self.relevant_prefixes if doc_id.startswith(prefix)]
        return DocumentId(f"{min(prefixes, key=len)}*") if prefixes else None


@dataclass(frozen=True)
class ChunkLevelGroundTruth(GroundTruth[ChunkId]):
    """The relevant chunks of one question, bound to the chunking that made them.

    Attributes:
        query: The question.
        relevant_chunk_ids: Chunks that answer it.
        gains: How relevant each chunk is, above 0; 1.0 where it says nothing.

    Raises:
        DatasetError: The ids are no list, or a gain is not a finite number above 0 or belongs to no relevant chunk.
    """

    query: Query
    relevant_chunk_ids: tuple[ChunkId, ...]
    gains: Mapping[ChunkId, float] = field(default_factory=dict[ChunkId, float], hash=False)

    def __post_init__(self) -> None:
        ids = _listed(self.query, self.relevant_chunk_ids)
        object.__setattr__(self, "relevant_chunk_ids", tuple(map(canonical_chunk_id, ids)))
        gains = renamed_gains(self.query, self.gains, canonical_chunk_id)
        object.__setattr__(self, "gains", _checked_gains(self.query, gains, self.relevant))

    @property
    def relevant(self) -> tuple[ChunkId, ...]:
        """The relevant chunks, each once; position-aware and plain ids of one content are one chunk."""
        return self._units

    @cached_property
    def _units(self) -> tuple[ChunkId, ...]:
        return tuple(dict.fromkeys(self.relevant_chunk_ids))

    @property
    def level(self) -> Level[ChunkId]:
        """Chunk level."""
        return CHUNK

    def gain(self, unit: ChunkId) -> float:
        """Return how relevant a relevant chunk is."""
        return self.gains.get(unit, 1.0)


@dataclass(frozen=True)
class TokenLevelGroundTruth(GroundTruth[CharacterSpan]):
    """The text that answers one question, independent of any chunker.

    Attributes:
        query: The question.
        relevant_spans: Where the answer stands; several documents are fine, overlapping spans count once.
    """

    query: Query
    relevant_spans: tuple[CharacterSpan, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevant_spans", tuple(self.relevant_spans))

    @classmethod
    def of_chunks(
        cls, query: Query, relevant_chunk_ids: Iterable[str], registry: ChunkRegistry
    ) -> "TokenLevelGroundTruth":
        """Return the ground truth whose spans are the places of position-aware chunks.

        A text that stands at several places is relevant at all of them: an id does not say which one was meant, and
        they read the same. Plain ids stand for the same chunks.

        Args:
            query: The question.
            relevant_chunk_ids: Chunks that answer it, in order; repeated ones count once.
            registry: Where the chunks stand.

        Raises:
            DatasetError: The registry knows no place of a chunk.
        """
        ids = list(relevant_chunk_ids)
        unknown = [chunk_id for chunk_id in ids if not registry.get_spans(chunk_id)]
        if unknown:
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            raise DatasetError(
                f"question {query.id!r}: no place is known of {', '.join(map(repr, unknown[:5]))}{more}; register the "
                "position-aware chunks of the chunking that was labelled"
            )
        once = dict.fromkeys(map(canonical_chunk_id, ids))
        spans = (span for chunk_id in once for span in registry.get_spans(chunk_id))
        return cls(query, tuple(spans))

    @property
    def relevant(self) -> tuple[CharacterSpan, ...]:
        """The relevant spans."""
        return self.relevant_spans

    @property
    def level(self) -> Level[CharacterSpan]:
        """Token level."""
        return TOKEN


@dataclass(frozen=True, init=False, repr=False)
class Dataset(Generic[U]):
    """Questions with their ground truth, all of one evaluation type.

    Attributes:
        ground_truth: One entry a question, in order; any iterable is kept as a tuple.
        level: The evaluation type.
        name: How results and run folders call it.
        chunking: `ChunkRegistry.fingerprint` of the chunks that were labelled, if known; chunk level only.
        corpus: The documents that the truth is about, if they are at hand.
        corpus_hash: `Corpus.content_hash` of the documents that were labelled, if known.
        metadata: Anything else; keys of a file that this version does not know are kept here.

    Raises:
        DatasetError: Two questions share an id.
        LevelMismatch: A ground truth belongs to another evaluation type.
    """

    ground_truth: tuple[GroundTruth[U], ...]
    level: Level[U]
    name: str
    corpus: Corpus | None = field(compare=False)
    corpus_hash: str | None
    chunking: str | None
    metadata: Mapping[str, Any] = field(hash=False)

    def __init__(
        self,
        ground_truth: Iterable[GroundTruth[U]],
        level: Level[U],
        *,
        name: str = "dataset",
        corpus: Corpus | None = None,
        corpus_hash: str | None = None,
        chunking: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        entries = tuple(ground_truth)
        values: dict[str, Any] = {
            "ground_truth": entries,
            "level": level,
            "name": name,
            "corpus": corpus,
            "corpus_hash": corpus.content_hash if corpus_hash is None and corpus is not None else corpus_hash,
            "chunking": chunking,
            "metadata": {} if metadata is None else metadata,
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)
        seen: set[str] = set()
        for entry in entries:
            if entry.level is not level:
                raise LevelMismatch(
                    f"question {entry.query.id!r} has {entry.level.evaluation_type} ground truth, the dataset is "
                    f"{level.evaluation_type}: keep one dataset an evaluation type"
                )
            if entry.query.id in seen:
                raise DatasetError(f"dataset {name!r}: duplicate question id {entry.query.id!r}; ids must be unique")
            seen.add(entry.query.id)

    @property
    def queries(self) -> tuple[Query, ...]:
        """The questions, in order."""
        return tuple(entry.query for entry in self.ground_truth)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over evaluation type, questions and truth, 64 hexadecimal digits; name and metadata play no part."""
        rows = [
            [entry.query.id, entry.query.text, [_unit_key(unit, entry.gain(unit)) for unit in entry.relevant]]
            for entry in self.ground_truth
        ]
        return content_digest(json.dumps([self.level.evaluation_type, rows], ensure_ascii=True))

    def with_corpus(self, corpus: Corpus) -> "Dataset[U]":
        """Return the same questions about these documents; the hash of the labelled documents stays."""
        return Dataset(
            self.ground_truth,
            self.level,
            name=self.name,
            corpus=corpus,
            corpus_hash=self.corpus_hash,
            chunking=self.chunking,
            metadata=self.metadata,
        )

    def __len__(self) -> int:
        return len(self.ground_truth)

    def __iter__(self) -> Iterator[GroundTruth[U]]:
        return iter(self.ground_truth)

    def __repr__(self) -> str:
        unanswered = sum(not entry.relevant for entry in self.ground_truth)
        note = f", {unanswered} without an answer" if unanswered else ""
        return f"Dataset({self.name!r}, {self.level.evaluation_type}, {len(self)} questions{note})"


def misplaced(span: CharacterSpan, corpus: Corpus) -> str | None:
    """Return why a labelled span cannot be one of this corpus, or None if it can."""
    where = f"{span.doc_id}[{span.start}:{span.end}]"
    if span.doc_id not in corpus:
        return f"no document {span.doc_id!r} in the corpus"
    content = corpus[span.doc_id].content
    if span.start == span.end:
        return f"{where} covers no text"
    if span.end > len(content):
        return f"{where} ends after the document's {len(content)} characters"
    there = content[span.start : span.end]
    if span.text and span.text != there:
        return f"{where} reads {there[:40]!r}, the dataset says {span.text[:40]!r}"
    return None


def _unit_key(unit: DocumentId | ChunkId | CharacterSpan, gain: float) -> list[Any] | str:
    if isinstance(unit, CharacterSpan):
        return [unit.doc_id, unit.start, unit.end]
    return unit if gain == 1.0 else [unit, gain]


def _listed(query: Query, given: Iterable[TextT]) -> tuple[TextT, ...]:
    if isinstance(given, str | bytes | Mapping):
        raise DatasetError(
            f"question {query.id!r}: relevant units are {given!r:.80}; wanted a list of ids, and of gains a mapping, "
            "gains={id: gain}"
        )
    ids = tuple(given)
    unit: Any
    for unit in ids:
        if not isinstance(unit, str):
            raise DatasetError(f"question {query.id!r}: {unit!r:.80} is no id; wanted a text")
    return ids


def renamed_gains(query: Query, gains: Mapping[IdT, float], rename: Callable[[IdT], IdT]) -> dict[IdT, float]:
    """Return gains under other ids.

    Raises:
        DatasetError: Two of them meet under one id, and differ.
    """
    renamed: dict[IdT, float] = {}
    for unit, gain in gains.items():
        if renamed.setdefault(rename(unit), gain) != gain:
            other = renamed[rename(unit)]
            raise DatasetError(
                f"question {query.id!r}: {rename(unit)!r} has the gains {other!r} and {gain!r}; keep one"
            )
    return renamed


def _is_gain(gain: Any) -> bool:
    number: Any = gain
    return not isinstance(gain, bool) and isinstance(gain, Real) and bool(0 < number <= LARGEST_GAIN)


def _checked_gains(query: Query, gains: Mapping[IdT, Any], relevant: tuple[IdT, ...]) -> dict[IdT, float]:
    for unit, gain in gains.items():
        if unit not in relevant:
            raise DatasetError(
                f"question {query.id!r}: {unit!r} has a gain, but is not among the relevant units: "
                f"{', '.join(map(repr, relevant[:3])) or 'none'}"
            )
        if not _is_gain(gain):
            raise DatasetError(
                f"question {query.id!r}: gain {gain!r} of {unit!r}: wanted a number above 0 and at most "
                f"{LARGEST_GAIN:g}; what is judged and not relevant is left out"
            )
    return {unit: float(gain) for unit, gain in gains.items()}
