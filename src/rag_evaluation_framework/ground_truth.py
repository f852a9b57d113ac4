"""What is right: the relevant units of each question, and the dataset that holds them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.ids import ChunkId, DocumentId, content_digest
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, TOKEN, Level, U
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Query


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


@dataclass(frozen=True)
class DocumentLevelGroundTruth(GroundTruth[DocumentId]):
    """The relevant documents of one question.

    Attributes:
        query: The question.
        relevant_document_ids: Documents that answer it.
    """

    query: Query
    relevant_document_ids: tuple[DocumentId, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevant_document_ids", tuple(self.relevant_document_ids))

    @property
    def relevant(self) -> tuple[DocumentId, ...]:
        """The relevant documents."""
        return self.relevant_document_ids

    @property
    def level(self) -> Level[DocumentId]:
        """Document level."""
        return DOCUMENT


@dataclass(frozen=True)
class ChunkLevelGroundTruth(GroundTruth[ChunkId]):
    """The relevant chunks of one question, bound to the chunking that made them.

    Attributes:
        query: The question.
        relevant_chunk_ids: Chunks that answer it.
    """

    query: Query
    relevant_chunk_ids: tuple[ChunkId, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevant_chunk_ids", tuple(self.relevant_chunk_ids))

    @property
    def relevant(self) -> tuple[ChunkId, ...]:
        """The relevant chunks."""
        return self.relevant_chunk_ids

    @property
    def level(self) -> Level[ChunkId]:
        """Chunk level."""
        return CHUNK


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
    metadata: Mapping[str, Any] = field(hash=False)

    def __init__(
        self,
        ground_truth: Iterable[GroundTruth[U]],
        level: Level[U],
        *,
        name: str = "dataset",
        corpus: Corpus | None = None,
        corpus_hash: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        entries = tuple(ground_truth)
        values: dict[str, Any] = {
            "ground_truth": entries,
            "level": level,
            "name": name,
            "corpus": corpus,
            "corpus_hash": corpus.content_hash if corpus_hash is None and corpus is not None else corpus_hash,
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
            [entry.query.id, entry.query.text, [_unit_key(unit) for unit in entry.relevant]]
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


def _unit_key(unit: DocumentId | ChunkId | CharacterSpan) -> list[Any] | str:
    return [unit.doc_id, unit.start, unit.end] if isinstance(unit, CharacterSpan) else unit
