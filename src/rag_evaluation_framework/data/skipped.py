"""Questions of a dataset that its documents do not answer as they were labelled: skipped, or without some places."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.ground_truth import GroundTruth, TokenLevelGroundTruth, unit_key
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.data.values import check_texts, gives_items, is_mapping, items
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
    texts: Mapping[Numbers, str] = field(default_factory=dict[Numbers, str], hash=False)

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


# Reviews: what a person decided about a question, as marks in its metadata until they are carried out.

REVIEW = "review"
"""The key of the metadata of a question under which its review is."""

Verdict: TypeAlias = Literal["accepted", "dropped"]

_DIGITS = 12


class MovedEnds(NamedTuple):
    """Other ends of a label, counted from where it is, so that they go along with it.

    Attributes:
        label: The number of the label among those of all places of all answers, from 0.
        start: How many characters later it begins; negative if earlier.
        end: How many characters later it ends; negative if earlier.
        text: What it quotes then.
    """

    label: int
    start: int = 0
    end: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """Review of a question: marks beside it, which change neither its wording nor its labels.

    Attributes:
        verdict: Whether it stays; None while it is open.
        wording: What it is to be worded as; "" if it stays as it is.
        dropped_answers: The numbers of its answers that are to be left out, from 0, in their order.
        moved_ends: The labels that are to be trimmed or lengthened.
        question: What the reviewed wording and answers are told by; "" if nothing is marked yet.
        earlier_wording: How the question was worded before a review that was carried out; "" if it was not reworded.
    """

    verdict: Verdict | None = None
    wording: str = ""
    dropped_answers: tuple[int, ...] = ()
    moved_ends: tuple[MovedEnds, ...] = ()
    question: str = ""
    earlier_wording: str = ""

    @property
    def is_edited(self) -> bool:
        """Whether the question is, or is to be, another one than it was before anybody reviewed it."""
        return bool(self.wording or self.dropped_answers or self.moved_ends or self.earlier_wording)

    @property
    def is_to_be_carried_out(self) -> bool:
        """Whether the question is not yet as the review wants it."""
        return bool(self.verdict == "dropped" or self.wording or self.dropped_answers or self.moved_ends)

    @classmethod
    def of(cls, entry: GroundTruth[Any]) -> "Review | None":
        """Return the review of a question; None if its metadata has something else under that name.

        If its wording or its answers are others than those that were reviewed, it is open again; a new wording stays.
        """
        given: Any = entry.query.metadata.get(REVIEW, {})
        review = _read(given)
        if review is None or review.question in ("", _told_by(entry)):
            return review
        return replace(review, verdict=None, dropped_answers=(), moved_ends=())

    def marked(self, entry: GroundTruth[Any]) -> GroundTruth[Any]:
        """Return a question with this review in its metadata, in place of an earlier one."""
        metadata = {key: value for key, value in entry.query.metadata.items() if key != REVIEW}
        record = {
            "verdict": self.verdict,
            "wording": self.wording,
            "dropped_answers": [*self.dropped_answers],
            "moved_ends": [moved._asdict() for moved in self.moved_ends],
            "earlier_wording": self.earlier_wording,
        }
        told = {key: value for key, value in record.items() if value}
        review = {REVIEW: {**told, "question": _told_by(entry)}} if told else {}
        query = replace(entry.query, metadata={**metadata, **review})
        return cast("GroundTruth[Any]", replace(cast("Any", entry), query=query))


def note_of_reviews(entries: Iterable[GroundTruth[Any]]) -> str:
    """Return that reviews are not carried out, as far as that is so: their questions count as they were; else ""."""
    reviews = [review for entry in entries if (review := Review.of(entry)) is not None]
    dropped = sum(review.verdict == "dropped" for review in reviews)
    edited = sum(review.is_to_be_carried_out for review in reviews) - dropped
    if not dropped and not edited:
        return ""
    return (
        f"questions that a review drops and that are scored all the same: {dropped}; that it edits and that are scored "
        f"as they were: {edited}. `rag-eval dataset review FILE --output NEW.json` carries it out"
    )


def _told_by(entry: GroundTruth[Any]) -> str:
    """Return what the wording and the answers of a question are told by: of spans their texts, wherever these are."""
    answers = [[[*map(_key, place)] for place in answer.places] for answer in entry.answers]
    return content_digest(json.dumps([entry.query.text, answers]))[:_DIGITS]


def _key(unit: object) -> object:
    key: Any = unit_key(cast("Any", unit))
    return key[1:] if isinstance(unit, CharacterSpan) else key


def _read(given: object) -> Review | None:
    if not is_mapping(given):
        return None
    record = {**given}
    numbers: Any = record.pop("dropped_answers", ())
    verdict: Any = record.pop("verdict", None)
    if verdict not in (None, *get_args(Verdict)) or not isinstance(numbers, list | tuple):
        return None
    counts = cast("list[object]", numbers)
    moved = _read_moved(record.pop("moved_ends", ()))
    if moved is None or not all(type(number) is int and number >= 0 for number in counts):
        return None
    texts: Any = record
    if not set(texts) <= {"wording", "question", "earlier_wording"} or not all(
        isinstance(text, str) for text in texts.values()
    ):
        return None
    return Review(verdict, dropped_answers=tuple(cast("list[int]", counts)), moved_ends=moved, **texts)


def _read_moved(given: object) -> tuple[MovedEnds, ...] | None:
    if not isinstance(given, list | tuple):
        return None
    records: list[Any] = [{**one} if is_mapping(one) else {} for one in cast("list[object]", given)]
    are_whole = all({key: type(value) for key, value in one.items()} == MovedEnds.__annotations__ for one in records)
    return tuple(MovedEnds(**one) for one in records) if are_whole else None
