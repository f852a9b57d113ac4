"""Ground truth: what is relevant to each query, as answers that may have several places."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, Generic, TypeAlias, TypeVar, cast

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.frozen import FrozenDict
from rag_evaluation_framework.data.ids import ChunkId, DocumentId, canonical_chunk_id
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN, Level, U
from rag_evaluation_framework.data.plain import items
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError

LARGEST_GAIN = 1e100
"""Sums of gains stay finite."""

Around: TypeAlias = Mapping[CharacterSpan, tuple[str, str]]
NO_CONTEXTS: Around = FrozenDict[CharacterSpan, tuple[str, str]]()

IdT = TypeVar("IdT", DocumentId, ChunkId)
TextT = TypeVar("TextT", bound=str)


class GroundTruth(ABC, Generic[U]):
    """What is relevant to one query. No answer at all means that the corpus holds none."""

    query: Query

    @property
    @abstractmethod
    def answers(self) -> tuple[Answer[U], ...]:
        """What is to be found, in the order in which it was labelled: every answer, each at any of its places."""

    @cached_property
    def relevant(self) -> tuple[U, ...]:
        """The relevant units: those of the reference places of all answers, in order."""
        return tuple(unit for answer in self.answers for unit in answer.reference)

    @property
    @abstractmethod
    def level(self) -> Level[U]:
        """The evaluation type of this ground truth."""

    def record(self, corpus: Corpus | None, around: Around = NO_CONTEXTS) -> dict[str, Any]:
        """Return what is relevant as files hold it: ids or spans, with prefixes and gains if there are any.

        Args:
            corpus: The documents, from which spans get their text.
            around: The text before and after spans, which is recorded with them.

        Raises:
            DatasetError: Files cannot represent this kind of ground truth.
        """
        del corpus, around
        raise DatasetError(f"question {self.query.id!r}: {type(self).__name__} cannot be saved to a file")

    def problems(self, corpus: Corpus) -> list[str]:
        """Return why the labels cannot be those of a corpus, one text per problem."""
        del corpus
        return []

    def gain(self, unit: U) -> float:
        """Return the gain of a relevant unit; 1.0 by default."""
        del unit
        return 1.0

    @property
    def has_groups(self) -> bool:
        """Whether a retrieved unit may satisfy a relevant one of another name, so that `as_labelled` changes it."""
        own: Any = type(self)
        base: Any = GroundTruth
        return own.as_labelled is not base.as_labelled

    def as_labelled(self, units: Iterable[U]) -> list[U]:
        """Return retrieved units, best first, each replaced by the relevant unit that it satisfies, if any."""
        return list(units)


@dataclass(frozen=True)
class DocumentLevelGroundTruth(GroundTruth[DocumentId]):
    """Document-level ground truth: the relevant documents of one question.

    Attributes:
        query: The question.
        relevant_document_ids: Documents that answer it.
        relevant_prefixes: Prefixes of document ids. All documents whose id starts with a prefix form one relevant unit,
            written `prefix*`. The first of them that is retrieved satisfies it; the others then count as not relevant.
            A relevant id that starts with the prefix is part of that unit.
        gains: Gain of each document or `prefix*`, above 0; 1.0 by default.

    Raises:
        DatasetError: The ids are not a list, a gain is not a finite number above 0 or belongs to no relevant unit, or a
            prefix is empty.
    """

    query: Query
    relevant_document_ids: tuple[DocumentId, ...]
    relevant_prefixes: tuple[str, ...] = ()
    gains: Mapping[DocumentId, float] = field(default_factory=FrozenDict[DocumentId, float], hash=False)

    def __post_init__(self) -> None:
        _check_types(self, self.gains)
        object.__setattr__(self, "relevant_document_ids", _listed(self.query, self.relevant_document_ids))
        object.__setattr__(self, "relevant_prefixes", _listed(self.query, self.relevant_prefixes))
        if not all(self.relevant_prefixes):
            raise DatasetError(f"question {self.query.id!r}: an empty prefix would make every document relevant")
        object.__setattr__(self, "gains", _checked_gains(self.query, self.gains, self.relevant))

    @property
    def answers(self) -> tuple[Answer[DocumentId], ...]:
        """The relevant documents and `prefix*` units, each once."""
        ids = [*self.relevant_document_ids, *map(DocumentId, self.relevant_prefixes)]
        return _one_place_each(dict.fromkeys(self._prefixed(doc_id) or doc_id for doc_id in ids))

    @property
    def level(self) -> Level[DocumentId]:
        """Document level."""
        return DOCUMENT

    def record(self, corpus: Corpus | None, around: Around = NO_CONTEXTS) -> dict[str, Any]:
        """Return the ids, with prefixes and gains if there are any."""
        del corpus, around
        prefixes, gains = list(self.relevant_prefixes), dict(self.gains)
        return {"relevant_document_ids": list(self.relevant_document_ids), **_optional(prefixes, gains)}

    def problems(self, corpus: Corpus) -> list[str]:
        """Return which documents and prefixes the corpus does not have."""
        strangers = [doc_id for doc_id in self.relevant_document_ids if doc_id not in corpus]
        return [f"the corpus has no document {doc_id!r}" for doc_id in strangers] + [
            f"no document in the corpus starts with {prefix!r}"
            for prefix in self.relevant_prefixes
            if not corpus.has_prefix(prefix)
        ]

    def gain(self, unit: DocumentId) -> float:
        """Return the gain of a relevant unit."""
        return self.gains.get(unit, 1.0)

    @property
    def has_groups(self) -> bool:
        """Whether there are relevant prefixes, or a class derived from this one has an `as_labelled` of its own."""
        return bool(self.relevant_prefixes) or type(self).as_labelled is not DocumentLevelGroundTruth.as_labelled

    def as_labelled(self, units: Iterable[DocumentId]) -> list[DocumentId]:
        """Return retrieved documents, best first, with the first match of each relevant prefix as `prefix*`."""
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
        """Return `prefix*` for the shortest relevant prefix that the id starts with, or None."""
        prefixes, lengths = self._prefixes
        prefix = next((doc_id[:length] for length in lengths if doc_id[:length] in prefixes), None)
        return None if prefix is None else DocumentId(f"{prefix}*")

    @cached_property
    def _prefixes(self) -> tuple[frozenset[str], list[int]]:
        """The relevant prefixes, and the lengths that they have, the shortest first."""
        return frozenset(self.relevant_prefixes), sorted({len(prefix) for prefix in self.relevant_prefixes})


@dataclass(frozen=True)
class ChunkLevelGroundTruth(GroundTruth[ChunkId]):
    """Chunk-level ground truth: the relevant chunks of one question, bound to one chunking.

    Attributes:
        query: The question.
        relevant_chunk_ids: Chunks that answer it.
        gains: Gain of each chunk, above 0; 1.0 by default.

    Raises:
        DatasetError: The ids are not a list, or a gain is not a finite number above 0 or belongs to no relevant chunk.
    """

    query: Query
    relevant_chunk_ids: tuple[ChunkId, ...]
    gains: Mapping[ChunkId, float] = field(default_factory=FrozenDict[ChunkId, float], hash=False)

    def __post_init__(self) -> None:
        _check_types(self, self.gains)
        ids = _listed(self.query, self.relevant_chunk_ids)
        object.__setattr__(self, "relevant_chunk_ids", tuple(map(canonical_chunk_id, ids)))
        gains = renamed_gains(self.query, self.gains, canonical_chunk_id)
        object.__setattr__(self, "gains", _checked_gains(self.query, gains, self.relevant))

    @property
    def answers(self) -> tuple[Answer[ChunkId], ...]:
        """The relevant chunks, each once; position-aware and plain ids of one content are one chunk."""
        return _one_place_each(dict.fromkeys(self.relevant_chunk_ids))

    @property
    def level(self) -> Level[ChunkId]:
        """Chunk level."""
        return CHUNK

    def record(self, corpus: Corpus | None, around: Around = NO_CONTEXTS) -> dict[str, Any]:
        """Return the ids, with gains if there are any."""
        del corpus, around
        return {"relevant_chunk_ids": list(self.relevant_chunk_ids), **_optional([], dict(self.gains))}

    def gain(self, unit: ChunkId) -> float:
        """Return the gain of a relevant chunk."""
        return self.gains.get(unit, 1.0)


@dataclass(frozen=True)
class TokenLevelGroundTruth(GroundTruth[CharacterSpan]):
    """Token-level ground truth: the text that answers one question, independent of any chunker.

    Attributes:
        query: The question.
        relevant_spans: The spans of the answer, in one or several documents; overlapping spans count once.

    Raises:
        DatasetError: What is given is not a list of spans; `of_chunks` makes them of the ids of chunks.
    """

    query: Query
    relevant_spans: tuple[CharacterSpan, ...]

    def __post_init__(self) -> None:
        _check_types(self, {})
        object.__setattr__(self, "relevant_spans", _listed_spans(self.query, self.relevant_spans))

    @classmethod
    def of_chunks(
        cls, query: Query, relevant_chunk_ids: Iterable[str], registry: ChunkRegistry
    ) -> "TokenLevelGroundTruth":
        """Return token-level ground truth from the positions of position-aware chunks.

        A text that occurs more than once is relevant at every occurrence: the id does not say which one was meant, and
        the texts are the same. Plain and position-aware ids are equivalent.

        Args:
            query: The question.
            relevant_chunk_ids: Chunks that answer it, in order; repeated ids count once.
            registry: Registry with the positions of the chunks.

        Raises:
            DatasetError: The registry has no position for a chunk.
        """
        ids = dict.fromkeys(_listed(query, relevant_chunk_ids))
        unknown = [chunk_id for chunk_id in ids if not registry.get_spans(chunk_id)]
        if unknown:
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            raise DatasetError(
                f"question {query.id!r}: unknown position of {', '.join(map(repr, unknown[:5]))}{more}; register the "
                "position-aware chunks of the labelled chunking"
            )
        once = dict.fromkeys(map(canonical_chunk_id, ids))
        spans = (span for chunk_id in once for span in registry.get_spans(chunk_id))
        return cls(query, tuple(spans))

    def record(self, corpus: Corpus | None, around: Around = NO_CONTEXTS) -> dict[str, Any]:
        """Return the spans, with their text and what is around them if it is known."""
        return {"relevant_spans": [_span_record(span, corpus, around) for span in self.relevant_spans]}

    def problems(self, corpus: Corpus) -> list[str]:
        """Return which spans are not in the corpus, or have another text there."""
        return [problem for span in self.relevant_spans if (problem := span_problem(span, corpus))]

    @property
    def answers(self) -> tuple[Answer[CharacterSpan], ...]:
        """The relevant spans, each an answer with one place."""
        return _one_place_each(self.relevant_spans)

    @property
    def level(self) -> Level[CharacterSpan]:
        """Token level."""
        return TOKEN


def _one_place_each(units: Iterable[U]) -> tuple[Answer[U], ...]:
    return tuple(Answer(((unit,),)) for unit in units)


def _check_types(entry: GroundTruth[Any], gains: Any) -> None:
    query: Any = entry.query
    if not isinstance(query, Query):
        raise DatasetError(
            f"{type(entry).__name__}: query={shown(query)}; expected a Query; Query.from_text('What?') makes one"
        )
    if not isinstance(gains, Mapping):
        raise DatasetError(
            f"question {query.id!r}: gains={shown(gains)}; expected a dict of ids and gains: {{id: 2.0}}"
        )


def _listed_spans(query: Query, given: Any) -> tuple[CharacterSpan, ...]:
    if isinstance(given, str | Mapping | CharacterSpan) or not isinstance(given, Iterable):
        raise _no_spans(query, cast("object", given))
    units: tuple[Any, ...] = (*items(given, f"question {query.id!r}: relevant_spans"),)
    for unit in units:
        if not isinstance(unit, CharacterSpan):
            raise _no_spans(query, unit)
    return units


def _no_spans(query: Query, given: object) -> DatasetError:
    return DatasetError(
        f"question {query.id!r}: relevant_spans: got {shown(given)}; expected a list of spans, such as "
        "CharacterSpan('a.md', 0, 5). Of the ids of position-aware chunks, TokenLevelGroundTruth.of_chunks(query, ids, "
        "registry) makes spans"
    )


def _listed(query: Query, given: Iterable[TextT]) -> tuple[TextT, ...]:
    units: Any = given
    if isinstance(units, str | bytes | Mapping) or not isinstance(units, Iterable):
        raise DatasetError(
            f"question {query.id!r}: relevant units are {shown(given)}; expected a list of ids; pass gains as "
            "gains={id: gain}"
        )
    ids: tuple[TextT, ...] = tuple(items(given, f"question {query.id!r}: the list of relevant units"))
    unit: Any
    for unit in ids:
        if not isinstance(unit, str):
            raise DatasetError(f"question {query.id!r}: {shown(unit)} is not a valid id; expected a string")
    return ids


def renamed_gains(query: Query, gains: Mapping[IdT, float], rename: Callable[[IdT], IdT]) -> dict[IdT, float]:
    """Return gains with renamed ids.

    Raises:
        DatasetError: Two different gains end up under the same id, or an id is no text.
    """
    renamed: dict[IdT, float] = {}
    for unit, gain in gains.items():
        key: Any = unit
        if not isinstance(key, str):
            raise DatasetError(f"question {query.id!r}: gains are of {shown(key)}; expected ids as texts")
        other: Any = renamed.setdefault(rename(unit), gain)
        if other is not gain and not (_is_gain(gain) and _is_gain(other) and other == gain):
            raise DatasetError(
                f"question {query.id!r}: {rename(unit)!r} has two gains, {shown(other)} and {shown(gain)}; keep one"
            )
    return renamed


def _is_gain(gain: Any) -> bool:
    number: Any = gain
    return not isinstance(gain, bool) and isinstance(gain, Real) and bool(0 < number <= LARGEST_GAIN)


def _checked_gains(query: Query, gains: Mapping[IdT, Any], relevant: tuple[IdT, ...]) -> FrozenDict[IdT, float]:
    known = frozenset(relevant)
    for unit, gain in gains.items():
        if unit not in known:
            raise DatasetError(
                f"question {query.id!r}: {unit!r} has a gain, but is not among the relevant units: "
                f"{', '.join(map(repr, relevant[:3])) or 'none'}"
            )
        if not _is_gain(gain):
            raise DatasetError(
                f"question {query.id!r}: gain {shown(gain)} of {unit!r}: expected a number above 0 and at most "
                f"{LARGEST_GAIN:g}; leave out units that were judged not relevant"
            )
    return FrozenDict({unit: float(gain) for unit, gain in gains.items()})


def span_problem(span: CharacterSpan, corpus: Corpus) -> str | None:
    """Return what is wrong with a labelled span in this corpus, or None if it is valid."""
    where = f"{span.doc_id}[{span.start}:{span.end}]"
    if span.doc_id not in corpus:
        return f"the corpus has no document {span.doc_id!r}"
    content = corpus[span.doc_id].content
    if span.start == span.end:
        return f"{where} is empty"
    if span.end > len(content):
        return f"{where} ends after the document's {len(content)} characters"
    if not span.text:
        return None
    there = content[span.start : span.end]
    if span.text.split() != there.split():  # the text of a tidied chunk may have other white space
        return f"{where} is {there[:40]!r} in the document, but {span.text[:40]!r} in the dataset"
    return None


def _span_record(span: CharacterSpan, corpus: Corpus | None, around: Around) -> dict[str, Any]:
    record: dict[str, Any] = {"doc_id": span.doc_id, "start": span.start, "end": span.end}
    text = span.text if corpus is None else corpus[span.doc_id].content[span.start : span.end]
    if text:
        record["text"] = text
    if span in around:
        record["before"], record["after"] = around[span]
    return record


def _optional(prefixes: list[str], gains: dict[Any, float]) -> dict[str, Any]:
    return {key: value for key, value in (("relevant_prefixes", prefixes), ("gains", gains)) if value}
