"""Ground truth: what is relevant to each query, as answers that may have several places."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from ..base.outside import first_of, shown
from ..errors import DatasetError
from .chunks import ChunkRegistry
from .columns import Numbering
from .documents import Corpus
from .hits import Coded, Hit
from .ids import ChunkId, DocumentId, canonical_chunk_id, content_digest
from .levels import CHUNK, DOCUMENT, TOKEN, Level, U
from .queries import Query, check_query
from .rankings import Rankings
from .spans import CharacterSpan, calculate_overlap, total_length
from .values import items

# Answers: what a question wants to know, each at any of its places.


@dataclass(frozen=True)
class Answer(Generic[U]):
    """One thing that a question wants to know: any of its places is enough, and of a place all units are needed.

    Attributes:
        places: At least one, each once and of at least one unit: ids, or spans of one document in their order, which
            share no character and are not empty, unless there is only one. The first is the reference, by whose length
            the answer is weighed; the order of the others means nothing.

    Raises:
        DatasetError: There is no place, a place has no unit or something else than ids or spans, or its spans are
            empty, out of order, or in several documents: what is in two documents is two answers.
    """

    places: tuple[tuple[U, ...], ...]

    def __post_init__(self) -> None:
        given: Any = self.places
        if given.__class__ is tuple and len(given) == 1 and given[0].__class__ is tuple and len(given[0]) == 1:
            return  # a unit by itself, as nearly all are
        if not (_is_list(given) and all(map(_is_list, given))):
            raise DatasetError(
                f"an answer has the places {shown(given)}; expected a list of places, each a list of spans or of ids; "
                "Answer.any_of(span, copy) makes an answer of units"
            )
        object.__setattr__(self, "places", tuple(map(tuple, self.places)))
        if not self.places or not all(self.places):
            raise DatasetError(f"an answer has the places {shown(self.places)}; expected at least one unit in each")
        if len(self.places) == len(self.reference) == 1:
            return
        kind: type = CharacterSpan if isinstance(self.reference[0], CharacterSpan) else str
        if not all(isinstance(unit, kind) for unit in self.units):
            raise DatasetError(f"an answer has the places {shown(self.places)}; expected spans only, or ids as texts")
        object.__setattr__(self, "places", tuple(dict.fromkeys(self.places)))
        for place in self.places if kind is CharacterSpan else ():
            _check_spans(cast("tuple[CharacterSpan, ...]", place))

    @classmethod
    def any_of(cls, *places: "U | Iterable[U]") -> "Answer[U]":
        """Return the answer that has these places, each a unit or several, all of which are needed.

        Raises:
            DatasetError: They are no places, as above.
        """
        given: Any = places
        are_one = ((each, isinstance(each, str) or not isinstance(each, Iterable)) for each in given)
        return cls(tuple((each,) if is_one else tuple(each) for each, is_one in are_one))

    @property
    def reference(self) -> tuple[U, ...]:
        """The units of the first place."""
        return self.places[0]

    @property
    def units(self) -> tuple[U, ...]:
        """The units of all places, in order."""
        return tuple(unit for place in self.places for unit in place)

    def mapped(self, function: Callable[[U], U]) -> "Answer[U]":
        """Return the answer with every unit replaced; places that become the same are one."""
        return Answer(tuple(tuple(dict.fromkeys(map(function, place))) for place in self.places))

    @cached_property
    def wordings(self) -> tuple[int, ...]:
        """For each place the number of the first one that has the same text, code point for code point: its copies.

        Spans without text are like no other.
        """
        if len(self.places) == 1:
            return (0,)
        first: dict[tuple[str, ...], int] = {}
        found: list[int] = []
        for number, place in enumerate(self.places):
            texts = tuple(getattr(unit, "text", "") for unit in place)
            found.append(first.setdefault(texts, number) if all(texts) else number)
        return tuple(found)

    def found(self, retrieved: Iterable[U]) -> tuple[U, ...]:
        """Return the place of which the largest part was retrieved, the first of equals; of spans, by characters."""
        return self.places[self.number_found(retrieved) or 0]

    def number_found(self, retrieved: Iterable[U]) -> int | None:
        """Return the number of that place, from 0; None if nothing of any was retrieved."""
        units = [*retrieved]
        parts = [_share(place, units) for place in self.places]
        return parts.index(max(parts)) if any(parts) else None


def _share(place: Sequence[Any], retrieved: Sequence[Any]) -> float:
    if isinstance(place[0], CharacterSpan):
        return calculate_overlap(place, retrieved) / max(total_length(place), 1)
    return len({*place}.intersection(retrieved)) / len({*place})


def _check_spans(spans: Sequence[CharacterSpan]) -> None:
    told = ", ".join(f"{span.doc_id}[{span.start}:{span.end}]" for span in spans)
    if len({span.doc_id for span in spans}) > 1:
        raise DatasetError(f"a place has spans of several documents ({told}); make them several answers")
    if any(span.start == span.end for span in spans):
        raise DatasetError(f"a place has an empty span ({told}); leave it out")
    if any(before.end > span.start for before, span in pairwise(spans)):
        raise DatasetError(f"the spans of a place overlap or are out of order ({told}); order them as they stand")


# The units that ground truth is made of: checked, with their gains, and answers with several places among them.

LARGEST_GAIN = 1e100
"""Sums of gains stay finite."""

IdT = TypeVar("IdT", DocumentId, ChunkId)


def as_answer(unit: U | Answer[U]) -> Answer[U]:
    """Return what is relevant as an answer: of a unit, the one with this place."""
    return unit if isinstance(unit, Answer) else Answer(((unit,),))


def _is_list(given: Any) -> bool:
    return isinstance(given, tuple | list)


def flattened(units: Iterable[U | Answer[U]]) -> tuple[U, ...]:
    """Return the units of what is relevant, those of all places of answers."""
    return tuple(part for unit in units for part in (unit.units if isinstance(unit, Answer) else (unit,)))


def mapped(units: Iterable[U | Answer[U]], function: Callable[[U], U]) -> tuple[U | Answer[U], ...]:
    """Return what is relevant with every unit replaced; places that become the same are one."""
    return _plainly(unit.mapped(function) if isinstance(unit, Answer) else function(unit) for unit in units)


def _plainly(units: Iterable[U | Answer[U]]) -> tuple[U | Answer[U], ...]:
    """Return units, and answers with several places: the units of one place are answers of their own."""
    plain: list[Any] = []
    for unit in units:
        plain += unit.reference if isinstance(unit, Answer) and len(unit.places) == 1 else (unit,)
    return tuple(plain)


_EXPECTED = {
    CharacterSpan: "a list of spans, such as CharacterSpan('a.md', 0, 5). Of the ids of position-aware chunks, "
    "TokenLevelGroundTruth.of_chunks(query, ids, registry) makes spans",
    str: "a list of ids, as texts; pass gains as gains={id: gain}",
}


def listed(query: Query, given: Any, kind: type, name: str) -> tuple[Any, ...]:
    """Return the relevant units of a question, and answers with several places among them.

    Args:
        query: The question.
        given: What lists them.
        kind: What they have to be: `CharacterSpan` or `str`.
        name: What the list is called, for messages.

    Raises:
        DatasetError: They are no list of such units.
    """
    where = f"question {query.id!r}: {name}"
    if isinstance(given, str | bytes | Mapping | CharacterSpan | Answer) or not isinstance(given, Iterable):
        raise DatasetError(f"{where}: got {shown(cast('object', given))}; expected {_EXPECTED[kind]}")
    units: tuple[Any, ...] = (*items(given, where),)
    for unit in units:
        for part in unit.units if issubclass(type(unit), Answer) else (unit,):
            if not isinstance(part, kind):
                raise DatasetError(f"{where}: got {shown(part)}; expected {_EXPECTED[kind]}")
    return _plainly(units)


def renamed_gains(query: Query, gains: Mapping[IdT, float], rename: Callable[[IdT], IdT]) -> dict[IdT, float]:
    """Return gains with renamed ids.

    Raises:
        DatasetError: Two different gains end up under the same id, or an id is no text.
    """
    renamed: dict[IdT, float] = {}
    for unit, gain in gains.items():
        name = rename(unit)
        if (other := renamed.setdefault(name, gain)) != gain:
            raise DatasetError(f"question {query.id!r}: {name!r} has two gains, {other} and {gain}; keep one")
    return renamed


def is_gain(given: Any) -> bool:
    """Return whether something that was given is a gain: a number above 0 whose sums stay finite."""
    number: Any = given
    return not isinstance(given, bool) and isinstance(given, Real) and bool(0 < number <= LARGEST_GAIN)


def checked_gains(
    query: Query, gains: Any, rename: Callable[[Any], Any], relevant: tuple[Any, ...]
) -> dict[Any, float]:
    """Return the gains of relevant units, under other ids.

    Raises:
        DatasetError: The gains are not a mapping, or one is not a finite number above 0, or belongs to no relevant
            unit, or to one that has another.
    """
    where = f"question {query.id!r}"
    if not isinstance(cast("object", gains), Mapping):
        raise DatasetError(f"{where}: gains={shown(gains)}; expected a dict of ids and gains: {{id: 2.0}}")
    if not gains:
        return {}
    graded: dict[Any, float] = {}
    for unit, gain in gains.items():
        if not isinstance(unit, str):
            raise DatasetError(f"{where}: gains are of {shown(unit)}; expected ids as texts")
        if not is_gain(gain):
            raise DatasetError(
                f"{where}: gain {shown(gain)} of {unit!r}: expected a number above 0 and at most {LARGEST_GAIN:g}; "
                "leave out units that were judged not relevant"
            )
        graded[unit] = float(gain)
    renamed = renamed_gains(query, graded, rename)
    known = frozenset(relevant)
    if strangers := [unit for unit in renamed if unit not in known]:
        units = ", ".join(map(repr, relevant[:3])) or "none"
        raise DatasetError(f"{where}: {strangers[0]!r} has a gain, but is not among the relevant units: {units}")
    return renamed


def span_problem(span: CharacterSpan, corpus: Corpus) -> str | None:
    """Return what is wrong with a labelled span in this corpus, or None if it is valid."""
    where = f"{span.doc_id}[{span.start}:{span.end}]"
    if span.doc_id not in corpus:
        return f"the corpus has no document {span.doc_id!r}"
    content = corpus[span.doc_id].content
    if span.start == span.end:
        return f"{where} is empty"
    there = content[span.start : span.end]
    if span.end > len(content):
        return f"{where} ends after the document's {len(content)} characters{counted_otherwise(span, content)}"
    if not span.text or span.text.split() == there.split():  # the text of a tidied chunk may have other white space
        return None
    told = f"{where} is {there[:40]!r} in the document, but {span.text[:40]!r} in the dataset"
    return f"{told}{counted_otherwise(span, content)}"


def counted_otherwise(span: CharacterSpan, content: str) -> str:
    """Return in which other units the offsets of a span are those of its text, and what to do; "" if in none."""
    with_lf, in_utf16 = _other_units(content)
    if span.text and with_lf[span.start : span.end] == span.text:
        return "; its text is there if line ends are LF: convert the document from CRLF"
    if span.text and in_utf16[2 * span.start : 2 * span.end] == span.text.encode("utf-16-le", "surrogatepass"):
        return "; its text is there in UTF-16 units: load_dataset(..., utf16_offsets=True) reads it"
    return ""


@lru_cache(maxsize=1)
def _other_units(content: str) -> tuple[str, bytes]:
    return content.replace("\r\n", "\n"), content.encode("utf-16-le", "surrogatepass")


class GroundTruth(Generic[U]):
    """Relevant units of one query. Without any answer, the corpus holds none.

    Attributes:
        query: The question.
        gains: Gain of each relevant unit; 1.0 where there is none.
        relevant_prefixes: Prefixes of relevant documents; of those only.
        listed_in: The attribute that lists what is relevant, which is its key in files.
    """

    query: Query
    gains: Mapping[Any, float] = MappingProxyType({})
    relevant_prefixes: tuple[str, ...] = ()
    listed_in: ClassVar[str]
    _level: ClassVar[Level[Any]]
    _kind: ClassVar[type] = str  # of the units

    def __post_init__(self) -> None:
        check_query(self)
        query = self.query
        units = listed(query, getattr(self, self.listed_in), self._kind, self.listed_in)
        object.__setattr__(self, self.listed_in, mapped(units, self._canonical))
        object.__setattr__(self, "relevant_prefixes", listed(query, self.relevant_prefixes, str, "relevant_prefixes"))
        if not all(self.relevant_prefixes):
            raise DatasetError(f"question {query.id!r}: an empty prefix would make every document relevant")
        object.__setattr__(self, "gains", checked_gains(query, self.gains, self._canonical, self.relevant))

    def _canonical(self, unit: U) -> U:
        """Return the form of a unit under which it is compared."""
        return unit

    @property
    def level(self) -> Level[U]:
        """The evaluation type of this ground truth."""
        return self._level

    @property
    def answers(self) -> tuple[Answer[U], ...]:
        """The answers, in the order in which they were labelled, each with all of its places.

        Ids stand once each: position-aware and plain ids of one content are one chunk.
        """
        units: tuple[U | Answer[U], ...] = getattr(self, self.listed_in)
        return tuple(map(as_answer, units if self.level.repeats else dict.fromkeys(units)))

    @cached_property
    def relevant(self) -> tuple[U, ...]:
        """The relevant units: those of the reference places of all answers, in order; ids once each."""
        units = [unit for answer in self.answers for unit in answer.reference]
        return tuple(units if self.level.repeats else dict.fromkeys(units))

    @cached_property
    def labels(self) -> tuple[U, ...]:
        """All labelled units: those of all places of all answers, in order."""
        return tuple(unit for answer in self.answers for unit in answer.units)

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether an answer has several places."""
        return any(len(answer.places) > 1 for answer in self.answers)

    def record(self, corpus: Corpus | None) -> dict[str, Any]:
        """Return what is relevant as files hold it: ids or spans, with prefixes and gains if there are any.

        Args:
            corpus: The documents, from which spans get their text.
        """
        given: tuple[U | Answer[U], ...] = getattr(self, self.listed_in)
        places = [[[_unit_record(unit, corpus) for unit in place] for place in as_answer(one).places] for one in given]
        if all(len(answer) == 1 for answer in places):
            found: dict[str, Any] = {self.listed_in: [unit for answer in places for unit in answer[0]]}
        else:
            several = "spans" if self.level.repeats else "ids"
            named = ([each[0] if len(each) == 1 else {several: each} for each in answer] for answer in places)
            found = {"answers": [{"places": each} for each in named]}
        others = {"relevant_prefixes": list(self.relevant_prefixes), "gains": dict(self.gains)}
        return {**found, **{key: value for key, value in others.items() if value}}

    def problems(self, corpus: Corpus) -> list[str]:
        """Return why the labels cannot be those of a corpus, one text per problem."""
        del corpus
        return []

    def gain(self, unit: U) -> float:
        """Return the gain of a relevant unit; 1.0 by default."""
        return self.gains.get(unit, 1.0)

    def as_labelled(self, units: Iterable[U]) -> list[U]:
        """Return retrieved units, best first, each replaced by the relevant unit that it satisfies, if any.

        Only those of a relevant prefix change.
        """
        return list(units)


@dataclass(frozen=True)
class DocumentLevelGroundTruth(GroundTruth[DocumentId]):
    """Document-level ground truth: the relevant documents of one question.

    Attributes:
        query: The question.
        relevant_document_ids: Documents that answer it, all of which are wanted; in place of one,
            `Answer.any_of(id, other)` is an answer that any of these documents gives.
        relevant_prefixes: Prefixes of document ids. All documents whose id starts with a prefix form one relevant unit,
            written `prefix*`. The first of them that is retrieved satisfies it; the others then count as not relevant.
            A relevant id that starts with the prefix is part of that unit.
        gains: Gain of each document or `prefix*`, above 0; 1.0 by default. Of an answer with several places those of
            the first have gains.

    Raises:
        DatasetError: The ids are not a list, a gain is not a finite number above 0 or belongs to no relevant unit, or a
            prefix is empty.
    """

    query: Query
    listed_in: ClassVar[str] = "relevant_document_ids"
    _level: ClassVar[Level[Any]] = DOCUMENT
    relevant_document_ids: tuple[DocumentId | Answer[DocumentId], ...]
    relevant_prefixes: tuple[str, ...] = ()
    gains: Mapping[DocumentId, float] = field(default_factory=dict[DocumentId, float], hash=False)

    @property
    def answers(self) -> tuple[Answer[DocumentId], ...]:
        """The relevant documents and `prefix*` units, each once."""
        units = [*self.relevant_document_ids, *map(DocumentId, self.relevant_prefixes)]
        return tuple(map(as_answer, dict.fromkeys(mapped(units, lambda doc_id: self._prefixed(doc_id) or doc_id))))

    def problems(self, corpus: Corpus) -> list[str]:
        """Return which documents and prefixes the corpus does not have."""
        strangers = [doc_id for doc_id in flattened(self.relevant_document_ids) if doc_id not in corpus]
        return [f"the corpus has no document {doc_id!r}" for doc_id in strangers] + [
            f"no document in the corpus starts with {prefix!r}"
            for prefix in self.relevant_prefixes
            if not corpus.has_prefix(prefix)
        ]

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
        relevant_chunk_ids: Chunks that answer it, all of which are wanted; in place of one,
            `Answer.any_of(id, other)` is an answer that any of these chunks gives.
        gains: Gain of each chunk, above 0; 1.0 by default. Of an answer with several places those of the first have
            gains.

    Raises:
        DatasetError: The ids are not a list, or a gain is not a finite number above 0 or belongs to no relevant chunk.
    """

    query: Query
    listed_in: ClassVar[str] = "relevant_chunk_ids"
    _level: ClassVar[Level[Any]] = CHUNK
    relevant_chunk_ids: tuple[ChunkId | Answer[ChunkId], ...]
    gains: Mapping[ChunkId, float] = field(default_factory=dict[ChunkId, float], hash=False)

    def _canonical(self, unit: ChunkId) -> ChunkId:
        return canonical_chunk_id(unit)


@dataclass(frozen=True)
class TokenLevelGroundTruth(GroundTruth[CharacterSpan]):
    """Token-level ground truth: the text that answers one question, independent of any chunker.

    Attributes:
        query: The question.
        relevant_spans: The spans that answer it, in one or several documents, all of which are wanted; overlapping
            spans count once. In place of a span, `Answer.any_of(span, copy)` is an answer with several places, any of
            which is enough.

    Raises:
        DatasetError: What is given is not a list of spans; `of_chunks` makes them of the ids of chunks.
    """

    query: Query
    listed_in: ClassVar[str] = "relevant_spans"
    _level: ClassVar[Level[Any]] = TOKEN
    _kind: ClassVar[type] = CharacterSpan
    relevant_spans: tuple[CharacterSpan | Answer[CharacterSpan], ...]

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
        ids = dict.fromkeys(cast("tuple[ChunkId, ...]", listed(query, relevant_chunk_ids, str, "relevant_chunk_ids")))
        unknown = [chunk_id for chunk_id in ids if not registry.get_spans(chunk_id)]
        if unknown:
            raise DatasetError(
                f"question {query.id!r}: unknown position of {first_of([*map(repr, unknown)], 5)}; register the "
                "position-aware chunks of the labelled chunking"
            )
        once = dict.fromkeys(map(canonical_chunk_id, ids))
        return cls(query, tuple(span for chunk_id in once for span in registry.get_spans(chunk_id)))

    def problems(self, corpus: Corpus) -> list[str]:
        """Return which spans are not in the corpus, or have another text there."""
        return [problem for span in self.labels if (problem := span_problem(span, corpus))]


def _unit_record(unit: Any, corpus: Corpus | None) -> Any:
    """Return an id, or a span with its text if that is known."""
    if not isinstance(unit, CharacterSpan):
        return unit
    record: dict[str, Any] = {"doc_id": unit.doc_id, "start": unit.start, "end": unit.end}
    text = unit.text if corpus is None else corpus[unit.doc_id].content[unit.start : unit.end]
    if text:
        record["text"] = text
    return record


# Ground truth projected to the level at which rankings are judged.


@dataclass(frozen=True)
class ProjectedTruth(Generic[U]):
    """The ground truth of every query, in the units of one level.

    Attributes:
        level: The evaluation type.
        entries: The ground truth of each query, in the order of the dataset.
        chunk_id: Returns the id under which the dataset knows a hit, or None if it cannot be told; chunk level only.
        chunking: The number of chunks in the index and their fingerprint; chunk level only.
    """

    level: Level[U]
    entries: tuple[GroundTruth[U], ...]
    chunk_id: Callable[[Hit], ChunkId | None] | None = None
    chunking: Mapping[str, Any] | None = None

    def __iter__(self) -> Iterator[GroundTruth[U]]:
        return iter(self.entries)

    def with_dataset_ids(self, rankings: Rankings) -> Rankings:
        """Return rankings with the chunk ids of the dataset; at other levels, return them unchanged."""
        if self.chunk_id is None:
            return rankings
        table = rankings.hits.table
        rows, numbers = table.distinct()
        known, name = Numbering(), self.chunk_id
        names = map(name, table.take(rows))
        codes = np.fromiter((-1 if unit is None else known[unit] for unit in names), dtype=np.int32, count=len(rows))
        return rankings.with_table(replace(table, chunk_id=Coded(codes[numbers], tuple(known))))


# What makes a label the same label: the text that it quotes and the document that it names, not where that text is.


def unit_key(unit: DocumentId | ChunkId | CharacterSpan) -> list[str | int] | str:
    """Return the identity of a relevant unit: document and text of a span, offsets without a text; an id as it is.

    Runs of white space count as one space, as where labels are compared with documents: a paragraph that was wrapped
    anew is the same.
    """
    if not isinstance(unit, CharacterSpan):
        return unit
    return [unit.doc_id, " ".join(unit.text.split())] if unit.text else [unit.doc_id, unit.start, unit.end]


def reviewed_as(entry: "GroundTruth[Any]") -> str:
    """Return what reviews tell the wording and answers of a question by: of spans their texts, wherever these are."""

    def key(unit: Any) -> object:
        return unit_key(unit)[1:] if isinstance(unit, CharacterSpan) else unit

    answers = [[[*map(key, place)] for place in answer.places] for answer in entry.answers]
    return content_digest(json.dumps([entry.query.text, answers]))[:12]


def answer_key(answer: Answer[U]) -> list[list[list[str | int] | str]]:
    """Return the identity of an answer: the keys of its places, the first place first, the others sorted."""
    first, *others = (list(map(unit_key, place)) for place in answer.places)
    return [first, *sorted(others, key=json.dumps)]


def gains_of(entry: GroundTruth[Any]) -> dict[str, float]:
    """Return how relevant the units of a question are, by id, where that is not 1.0."""
    return {str(unit): gain for unit in entry.relevant if (gain := entry.gain(unit)) != 1.0}


def question_identity(
    text: str, relevant: Iterable[U], answers: Sequence[Answer[U]], gains: Mapping[str, float]
) -> str:
    """Return a hash of the wording and the truth of a question, 32 hexadecimal digits.

    Args:
        text: Its wording.
        relevant: What is relevant; of an answer with several places the first.
        answers: The answers with all places, if one has several.
        gains: How relevant units are, by id, where that is not 1.0.
    """
    if any(len(answer.places) > 1 for answer in answers):
        keys: Any = {"answers": sorted(json.dumps(answer_key(answer)) for answer in answers)}
    else:
        keys = sorted(json.dumps(unit_key(unit)) for unit in {*relevant})
    return content_digest(json.dumps([text, keys, sorted(gains.items())]))[:32]


def with_text(span: CharacterSpan, corpus: Corpus) -> CharacterSpan:
    """Return a span with the text that it covers in a corpus; unchanged if it has a text, or is not in the corpus."""
    if span.text or span.doc_id not in corpus:
        return span
    text = corpus[span.doc_id].content[span.start : span.end]
    return CharacterSpan(span.doc_id, span.start, span.end, text) if len(text) == span.length() else span
