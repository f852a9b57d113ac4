"""Answers: what a question wants to know, each at any of its places; and the units that they are made of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from numbers import Real
from typing import Any, Generic, TypeVar, cast

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import ChunkId, DocumentId
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan, calculate_overlap, total_length
from rag_evaluation_framework.data.values import FrozenDict, items
from rag_evaluation_framework.errors import DatasetError

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
        kinds = set[type]().union(*(map(type, place) for place in self.places))
        if not any(all(issubclass(kind, known) for kind in kinds) for known in (CharacterSpan, str)):
            raise DatasetError(f"an answer has the places {shown(self.places)}; expected spans only, or ids as texts")
        object.__setattr__(self, "places", tuple(dict.fromkeys(self.places)))
        for place in self.places:
            _check_spans(place)

    @classmethod
    def any_of(cls, *places: "U | Iterable[U]") -> "Answer[U]":
        """Return the answer that has these places, each a unit or several, all of which are needed.

        Raises:
            DatasetError: They are no places, as above.
        """
        return cls(tuple(_units(place) for place in places))

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
        parts = [_part(place, units) for place in self.places]
        return parts.index(max(parts)) if any(parts) else None


def _part(place: Iterable[Any], retrieved: Sequence[Any]) -> float:
    wanted = [*place]
    if isinstance(wanted[0], CharacterSpan):
        return calculate_overlap(wanted, retrieved) / max(total_length(wanted), 1)
    return len({*wanted}.intersection(retrieved)) / len({*wanted})


def _units(place: Any) -> tuple[Any, ...]:
    is_one = isinstance(place, str) or not issubclass(type(place), Iterable)
    return (place,) if is_one else tuple(place)


def _is_list(given: Any) -> bool:
    return isinstance(given, tuple | list)


def _check_spans(place: tuple[object, ...]) -> None:
    if not isinstance(place[0], CharacterSpan):
        return
    spans = cast("tuple[CharacterSpan, ...]", place)
    told = ", ".join(f"{span.doc_id}[{span.start}:{span.end}]" for span in spans)
    if len({span.doc_id for span in spans}) > 1:
        raise DatasetError(f"a place has spans of several documents ({told}); make them several answers")
    if any(span.start == span.end for span in spans):
        raise DatasetError(f"a place has an empty span ({told}); leave it out")
    if any(before.end > span.start for before, span in pairwise(spans)):
        raise DatasetError(
            f"the spans of a place overlap or are out of order ({told}); give them as the document has them"
        )


# The units that ground truth is made of: checked, with their gains, and answers with several places among them.

LARGEST_GAIN = 1e100
"""Sums of gains stay finite."""

IdT = TypeVar("IdT", DocumentId, ChunkId)


def as_answer(unit: U | Answer[U]) -> Answer[U]:
    """Return what is relevant as an answer: of a unit, the one with this place."""
    return unit if isinstance(unit, Answer) else Answer(((unit,),))


def flattened(units: Iterable[U | Answer[U]]) -> tuple[U, ...]:
    """Return the units of what is relevant, those of all places of answers."""
    return tuple(part for unit in units for part in as_answer(unit).units)


def mapped(units: Iterable[U | Answer[U]], function: Callable[[U], U]) -> tuple[U | Answer[U], ...]:
    """Return what is relevant with every unit replaced; places that become the same are one."""
    return _plainly(unit.mapped(function) if isinstance(unit, Answer) else function(unit) for unit in units)


def _plainly(units: Iterable[Any]) -> tuple[Any, ...]:
    """Return units, and answers with several places: the units of one place are answers of their own."""
    plain: list[Any] = []
    for unit in units:
        is_alone = issubclass(type(unit), Answer) and len(unit.places) == 1
        plain += unit.reference if is_alone else (unit,)
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


def checked_gains(
    query: Query, gains: Any, rename: Callable[[Any], Any], relevant: tuple[Any, ...]
) -> FrozenDict[Any, float]:
    """Return the gains of relevant units, under other ids.

    Raises:
        DatasetError: The gains are not a mapping, or one is not a finite number above 0, or belongs to no relevant
            unit, or to one that has another.
    """
    given: object = gains
    if not isinstance(given, Mapping):
        raise DatasetError(
            f"question {query.id!r}: gains={shown(gains)}; expected a dict of ids and gains: {{id: 2.0}}"
        )
    known = frozenset(relevant)
    renamed: dict[Any, Any] = renamed_gains(query, gains, rename)
    for unit, gain in renamed.items():
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
    return FrozenDict({unit: float(gain) for unit, gain in renamed.items()})


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
    differs = f"{where} is {there[:40]!r} in the document, but {span.text[:40]!r} in the dataset"
    return f"{differs}{counted_otherwise(span, content)}"


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
