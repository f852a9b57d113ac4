"""Reviews: what a person decided about a question of a dataset, as marks in its metadata until they are carried out."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast, get_args

from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.identity import unit_key
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.data.values import is_mapping

REVIEW = "review"
"""The key of the metadata of a question under which its review is."""

Verdict: TypeAlias = Literal["accepted", "dropped"]

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Review:
    """Review of a question: marks beside it, which change neither its wording nor its labels.

    Attributes:
        verdict: Whether it stays; None while it is open.
        wording: What it is to be worded as; "" if it stays as it is.
        dropped_answers: The numbers of its answers that are to be left out, from 0, in their order.
        question: What the reviewed wording and answers are told by; "" if nothing is marked yet.
        earlier_wording: How the question was worded before a review that was carried out; "" if it was not reworded.
    """

    verdict: Verdict | None = None
    wording: str = ""
    dropped_answers: tuple[int, ...] = ()
    question: str = ""
    earlier_wording: str = ""

    @property
    def is_edited(self) -> bool:
        """Whether the question is, or is to be, another one than it was before anybody reviewed it."""
        return bool(self.wording or self.dropped_answers or self.earlier_wording)

    @property
    def is_to_be_carried_out(self) -> bool:
        """Whether the question is not yet as the review wants it."""
        return bool(self.verdict == "dropped" or self.wording or self.dropped_answers)

    @classmethod
    def of(cls, entry: GroundTruth[Any]) -> "Review | None":
        """Return the review of a question; None if its metadata has something else under that name.

        If its wording or its answers are others than those that were reviewed, it is open again; a new wording stays.
        """
        given: Any = entry.query.metadata.get(REVIEW, {})
        review = _read(given)
        if review is None or review.question in ("", _told_by(entry)):
            return review
        return replace(review, verdict=None, dropped_answers=())

    def marked(self, entry: GroundTruth[Any]) -> GroundTruth[Any]:
        """Return a question with this review in its metadata, in place of an earlier one."""
        metadata = {key: value for key, value in entry.query.metadata.items() if key != REVIEW}
        record = {
            "verdict": self.verdict,
            "wording": self.wording,
            "dropped_answers": [*self.dropped_answers],
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
    if not all(type(number) is int and number >= 0 for number in counts):
        return None
    texts: Any = record
    if not set(texts) <= {"wording", "question", "earlier_wording"} or not all(
        isinstance(text, str) for text in texts.values()
    ):
        return None
    return Review(verdict, dropped_answers=tuple(cast("list[int]", counts)), **texts)
