"""Reviews: what a person decided about a question, as marks in its metadata until they are carried out."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast

from pydantic import BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter, ValidationError

from ...data import REVIEW, GroundTruth
from ...data.ground_truth import reviewed_as

Verdict: TypeAlias = Literal["accepted", "dropped"]


class MovedEnds(NamedTuple):
    """Other ends of a label, counted from where it is, so that they go along with it.

    Attributes:
        label: The number of the label among those of all places of all answers, from 0.
        start: How many characters later it begins; negative if earlier.
        end: How many characters later it ends; negative if earlier.
        text: What it quotes then.
    """

    label: StrictInt
    start: StrictInt
    end: StrictInt
    text: StrictStr


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

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    verdict: Verdict | None = None
    wording: StrictStr = ""
    dropped_answers: tuple[Annotated[StrictInt, Field(ge=0)], ...] = ()
    moved_ends: tuple[Annotated[MovedEnds, BeforeValidator(lambda each: MovedEnds(**each))], ...] = ()
    question: StrictStr = ""
    earlier_wording: StrictStr = ""

    @property
    def is_edited(self) -> bool:
        """Whether the question is, or is to be, another one than it was before anybody reviewed it."""
        return bool(self.wording or self.dropped_answers or self.moved_ends or self.earlier_wording)

    @classmethod
    def of(cls, entry: GroundTruth[Any]) -> "Review | None":
        """Return the review of a question; None if its metadata has something else under that name.

        If its wording or its answers are others than those that were reviewed, it is open again; a new wording stays.
        """
        given: Any = entry.query.metadata.get(REVIEW, {})
        review = _read(given)
        if review is None or review.question in ("", reviewed_as(entry)):
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
        review = {REVIEW: {**told, "question": reviewed_as(entry)}} if told else {}
        query = replace(entry.query, metadata={**metadata, **review})
        return cast("GroundTruth[Any]", replace(cast("Any", entry), query=query))


_RECORD = TypeAdapter(Review)


def _read(given: Any) -> Review | None:
    """Return a review as `marked` writes it; None for anything else."""
    try:
        return _RECORD.validate_python({**given})
    except (ValidationError, TypeError):  # the latter of what is no mapping
        return None
