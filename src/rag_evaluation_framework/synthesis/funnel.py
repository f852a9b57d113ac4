"""The funnel: how many questions were asked for, and at which stage each of the others was lost."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_evaluation_framework.data.frozen import FrozenDict
from rag_evaluation_framework.synthesis.candidates import Rejection, Stage

_STAGES: tuple[Stage, ...] = ("parsed", "verified", "kept")


@dataclass(frozen=True)
class Funnel:
    """Counts of questions. Each stage is the one before it without what was rejected there.

    Attributes:
        asked: How many questions were asked for.
        parsed: How many of them a model wrote, and could be read.
        verified: How many of those have an answer that was found in the documents.
        kept: How many of those are in the dataset.
        rejected: For each stage, how many were lost before it, by reason.
        quotes: How many quotes or chunks were left out of questions that went on without them, by reason.
        extra: How many questions were written beyond what was asked for; they are not used.
    """

    asked: int = 0
    parsed: int = 0
    verified: int = 0
    kept: int = 0
    rejected: Mapping[Stage, Mapping[str, int]] = field(default_factory=FrozenDict[Stage, Mapping[str, int]])
    quotes: Mapping[str, int] = field(default_factory=FrozenDict[str, int])
    extra: int = 0

    @classmethod
    def of(cls, asked: int, rejections: Iterable[Rejection], extra: int = 0) -> "Funnel":
        """Return the funnel of what was asked for and what was rejected."""
        counts: dict[Stage, Counter[str]] = {stage: Counter() for stage in _STAGES}
        quotes = Counter[str]()
        for rejection in rejections:
            if rejection.questions:
                counts[rejection.stage][rejection.reason] += rejection.questions
            else:
                quotes[rejection.reason] += 1
        left = dict.fromkeys(_STAGES, asked)
        for number, stage in enumerate(_STAGES):
            for later in _STAGES[number:]:
                left[later] -= counts[stage].total()
        told: dict[Stage, dict[str, int]] = {stage: dict(counts[stage].most_common()) for stage in _STAGES}
        return cls(asked, **left, rejected=told, quotes=dict(quotes.most_common()), extra=extra)

    def record(self) -> dict[str, Any]:
        """Return the counts as records hold them."""
        return {
            "asked": self.asked,
            "parsed": self.parsed,
            "verified": self.verified,
            "kept": self.kept,
            "rejected": {stage: dict(reasons) for stage, reasons in self.rejected.items() if reasons},
            "quotes_left_out": dict(self.quotes),
            "more_than_asked_for": self.extra,
        }

    @property
    def told(self) -> str:
        """What people read: `asked 50, parsed 48, verified 41, kept 37 (not kept: 7 ambiguous quote, ...)`."""
        reasons = sum((Counter(dict(each)) for each in self.rejected.values()), Counter[str]())
        told = f"asked {self.asked}, parsed {self.parsed}, verified {self.verified}, kept {self.kept}"
        told += f" (not kept: {_counted(reasons)})" if reasons else ""
        return f"{told}; left out of questions: {_counted(Counter(self.quotes))}" if self.quotes else told


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
