"""Why a filter rejects a question."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Reason: TypeAlias = Literal["irrelevant", "near duplicate", "copied wording"]


@dataclass(frozen=True)
class Rejection:
    """Why a filter rejects a question.

    Attributes:
        reason: The kind of reason.
        figure: The figure that decided, to six decimals: a cosine, or a share of words.
        threshold: The figure that it was compared with.
        told: The reason as a sentence for people.
        like: The number of the question that it repeats, 0-based; None for other reasons.
    """

    reason: Reason
    figure: float
    threshold: float
    told: str
    like: int | None = None
