"""Answers: what a question wants to know, each at any of its places."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, cast

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.spans import CharacterSpan, calculate_overlap, total_length
from rag_evaluation_framework.errors import DatasetError


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
