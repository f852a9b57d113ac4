"""What is right: the relevant units of each question, and the dataset that holds them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from sys import float_info
from typing import Any, Generic, TypeVar

from rag_evaluation_framework.chunk_registry import ChunkRegistry
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.ids import ChunkId, DocumentId, canonical_chunk_id, content_digest
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, TOKEN, Level, U
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Query

IdT = TypeVar("IdT", DocumentId, ChunkId)


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

    def as_labelled(self, unit: U) -> U:
        """Return the relevant unit that a retrieved one stands for, or the retrieved one itself."""
        return unit


@dataclass(frozen=True)
class DocumentLevelGroundTruth(GroundTruth[DocumentId]):
    """The relevant documents of one question.

    Attributes:
        query: The question.
        relevant_document_ids: Documents that answer it.
        relevant_prefixes: Beginnings of ids. All documents whose id begins so are one relevant unit, written
            `prefix*`, which the first of them satisfies; a relevant id that begins so is part of it.
        gains: How relevant each document or `prefix*` is, above 0; 1.0 where it says nothing.

    Raises:
        DatasetError: A gain is not a finite number above 0, belongs to no relevant unit, or a prefix is empty.
    """

    query: Query
    relevant_document_ids: tuple[DocumentId, ...]
    relevant_prefixes: tuple[str, ...] = ()
    gains: Mapping[DocumentId, float] = field(default_factory=dict[DocumentId, float], hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevant_document_ids", tuple(self.relevant_document_ids))
        object.__setattr__(self, "relevant_prefixes", tuple(self.relevant_prefixes))
        if not all(self.relevant_prefixes):
            raise DatasetError(f"question {self.query.id!r}: an empty prefix would make every document relevant")
        object.__setattr__(self, "gains", _checked_gains(self.query, self.gains, self.relevant))

    @property
    def relevant(self) -> tuple[DocumentId, ...]:
        """The relevant documents and `prefix*` units, each once."""
        return self._units

    @cached_property
    def _units(self) -> tuple[DocumentId, ...]:
        units = [self.as_labelled(doc_id) for doc_id in self.relevant_document_ids]
        return tuple(dict.fromkeys([*units, *(self.as_labelled(DocumentId(p)) for p in self.relevant_prefixes)]))

    @property
    def level(self) -> Level[DocumentId]:
        """Document level."""
        return DOCUMENT

    def gain(self, unit: DocumentId) -> float:
        """Return how relevant a relevant unit is."""
        return self.gains.get(unit, 1.0)

    def as_labelled(self, unit: DocumentId) -> DocumentId:
        """Return `prefix*` for a document whose id begins with a relevant prefix, of several the shortest."""
        prefixes = [prefix for prefix in self.relevant_prefixes if unit.startswith(prefix)]
        return DocumentId(f"{min(prefixes, key=len)}*") if prefixes else unit


@dataclass(frozen=True)
class ChunkLevelGroundTruth(GroundTruth[ChunkId]):
    """The relevant chunks of one question, bound to the chunking that made them.

    Attributes:
        query: The question.
        relevant_chunk_ids: Chunks that answer it.
        gains: How relevant each chunk is, above 0; 1.0 where it says nothing.

    Raises:
        DatasetError: A gain is not a finite number above 0, or belongs to no relevant chunk.
    """

    query: Query
    relevant_chunk_ids: tuple[ChunkId, ...]
    gains: Mapping[ChunkId, float] = field(default_factory=dict[ChunkId, float], hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevant_chunk_ids", tuple(map(canonical_chunk_id, self.relevant_chunk_ids)))
        gains = {canonical_chunk_id(chunk_id): gain for chunk_id, gain in self.gains.items()}
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


def _is_gain(gain: Any) -> bool:
    number: Any = gain
    return not isinstance(gain, bool) and isinstance(gain, Real) and bool(0 < number <= float_info.max)


def _checked_gains(query: Query, gains: Mapping[IdT, Any], relevant: tuple[IdT, ...]) -> dict[IdT, float]:
    for unit, gain in gains.items():
        if unit not in relevant:
            raise DatasetError(f"question {query.id!r}: {unit!r} has a gain, but is not among the relevant units")
        if not _is_gain(gain):
            raise DatasetError(
                f"question {query.id!r}: gain {gain!r} of {unit!r}: wanted a finite number above 0; what is judged and "
                "not relevant is left out"
            )
    return {unit: float(gain) for unit, gain in gains.items()}
