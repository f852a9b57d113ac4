"""Questions of a dataset that its documents do not answer as they were labelled: skipped, or without some places."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.ground_truth import GroundTruth, TokenLevelGroundTruth
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.data.values import FrozenDict, check_texts, gives_items, items
from rag_evaluation_framework.errors import DatasetError

NOT_LABELLED = "not labelled yet"
"""The reason for which a question is skipped until somebody has looked for its answers."""

Numbers: TypeAlias = tuple[int, int, int]
"""The number of an answer in its question, that of a place in the answer, and that of a span in the place, from 0."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Label that could not be placed in the documents, so that its whole question is skipped.

    A question with several such labels is skipped once, and has an entry for each.

    Attributes:
        query: The question.
        quote: The text that was not placed; "" where it was not recorded.
        reason: Why, and what to do about it.
        document: The document in which it was last placed; "" if it never was.

    Raises:
        DatasetError: A field is of another type.
    """

    query: Query
    quote: str
    reason: str
    document: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        query: Any = self.query
        if not isinstance(query, Query):
            raise DatasetError(
                f"Skipped: query={shown(query)}; expected a Query; Query.from_text('What?') makes one of its wording"
            )
        check_texts(self, DatasetError, "quote", "reason", "document")

    def record(self) -> dict[str, Any]:
        """Return it as files hold it."""
        query = {"id": self.query.id, "query": self.query.text, "metadata": dict(self.query.metadata)}
        told = {"query": query, "quote": self.quote, "reason": self.reason}
        return told | ({"document": self.document} if self.document else {})


@dataclass(frozen=True)
class Incomplete:
    """Question of which a label is not in the documents as they are now, as it was labelled.

    Attributes:
        query: The question.
        answers: The spans of every place of its answers, each where it was last placed.
        texts: The hash of the text in which a span was last placed, of those that are not in the documents; "" if it is
            not known.
    """

    query: Query
    answers: tuple[tuple[tuple[CharacterSpan, ...], ...], ...]
    texts: Mapping[Numbers, str] = field(default_factory=FrozenDict[Numbers, str], hash=False)

    @classmethod
    def of(cls, entry: GroundTruth[CharacterSpan]) -> "Incomplete":
        """Return a question all of whose labels are in the documents."""
        return cls(entry.query, tuple(answer.places for answer in entry.answers))

    def labels(self) -> Iterator[tuple[Numbers, CharacterSpan]]:
        """Yield the numbers of every span, and the span."""
        for number, places in enumerate(self.answers):
            for place, spans in enumerate(places):
                yield from (((number, place, at), span) for at, span in enumerate(spans))

    def is_left_in(self, entry: GroundTruth[Any] | None) -> bool:
        """Return whether the labels of a question are what is left of these; not so if it was labelled anew."""
        left = [
            tuple(
                place
                for row, spans in enumerate(places)
                if (
                    place := whole_place(
                        [None if (number, row, at) in self.texts else one for at, one in enumerate(spans)]
                    )
                )
            )
            for number, places in enumerate(self.answers)
        ]
        if entry is None or not all(left):
            return False
        return TokenLevelGroundTruth(self.query, tuple(map(Answer[CharacterSpan], left))).answers == entry.answers

    def record(self) -> dict[str, Any]:
        """Return it as files hold it: every answer as a list of places, every place as a list of spans."""
        query = {"id": self.query.id, "query": self.query.text, "metadata": dict(self.query.metadata)}
        answers = [[[*map(_record, spans)] for spans in places] for places in self.answers]
        for (number, place, at), text in self.texts.items():
            answers[number][place][at]["text_hash"] = text
        return {"query": query, "answers": answers}


def _record(span: CharacterSpan) -> dict[str, Any]:
    return {"doc_id": span.doc_id, "start": span.start, "end": span.end, "text": span.text}


def whole_place(spans: Sequence[CharacterSpan | None]) -> tuple[CharacterSpan, ...]:
    """Return the spans of a place in the order of their document; () if one is lost, or they are no place any more.

    That is in two documents, or one over the other.
    """
    found = sorted((span for span in spans if span), key=lambda span: span.start)
    is_one = len(found) == len(spans) and len({span.doc_id for span in found}) == 1
    return tuple(found) if is_one and all(one.end <= other.start for one, other in pairwise(found)) else ()


def checked_skipped(name: str, given: Any, scored: Set[str]) -> tuple[Skipped, ...]:
    """Return the skipped labels of a dataset.

    Args:
        name: The name of the dataset, for messages.
        given: What was given as such.
        scored: The ids of its questions.

    Raises:
        DatasetError: It is not a list of `Skipped`, or an id is that of two questions.
        InputError: Reading it raises something.
    """
    if not gives_items(given, str, Mapping, Skipped):
        raise DatasetError(
            f"dataset {name!r}: skipped={shown(given)}; expected a list, such as [Skipped(query, quote, reason)]"
        )
    wordings: dict[str, str] = {}
    labels = tuple(items(given, f"dataset {name!r}: skipped"))
    for label in labels:
        if not isinstance(label, Skipped):
            raise DatasetError(f"dataset {name!r}: skipped: {shown(label)}; expected Skipped(query, quote, reason)")
        query = label.query
        if query.id in scored or wordings.setdefault(query.id, query.text) != query.text:
            raise DatasetError(f"dataset {name!r}: skipped: duplicate question id {query.id!r}; ids must be unique")
    return labels


def count_skipped(skipped: Iterable[Skipped]) -> int:
    """Return how many questions were skipped: each counts once, however many of its labels could not be placed."""
    return len({label.query.id for label in skipped})
