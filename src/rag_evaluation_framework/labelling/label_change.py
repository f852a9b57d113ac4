"""What became of one labelled span in an edited corpus, in words and as files hold it."""

from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.reanchor import Reanchored
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.quotes.word_differences import WordDifferences
from rag_evaluation_framework.text.line_places import LinePlaces

LOST, BACK = "lost", "back"
_SHOWN = 120  # characters of a text


@dataclass(frozen=True)
class NearestText:
    """What a label that was lost may mean now.

    Attributes:
        span: Its place.
        similarity: How similar it is to the text of the label, without markup, typography and capitals; in [0, 1].
        difference: In what they differ, in words; "" if they do not.
    """

    span: CharacterSpan
    similarity: float
    difference: str

    @property
    def percent(self) -> str:
        """The similarity in percent, rounded down, so that no text that differs is said to be the same: "99 %"."""
        return f"{floor(100 * self.similarity)} %"


@dataclass(frozen=True)
class LabelChange:
    """What became of one labelled span of a question.

    Attributes:
        query: The question.
        before: The span as it was labelled.
        found: Where it is now, and how it was found.
        was_skipped: Whether its question was skipped, and is back.
    """

    query: Query
    before: CharacterSpan
    found: Reanchored
    was_skipped: bool = False

    @property
    def kind(self) -> str:
        """One of `unchanged`, `moved`, `renamed`, `in normal form`, `lost` and, of a skipped question, `back`."""
        return BACK if self.was_skipped else self.found.how.partition(":")[0].partition(",")[0]

    @property
    def particulars(self) -> str:
        """Why it was lost, or what was ignored to find it: "ignoring: emphasis"; "" if nothing was."""
        how = self.found.how
        return how if self.was_skipped else how.removeprefix(self.kind).lstrip(":, ")

    @property
    def was(self) -> str:
        """Where it was labelled: "billing.md[11:46]"."""
        return f"{name_line(self.before.doc_id)}[{self.before.start}:{self.before.end}]"

    @cached_property
    def nearest(self) -> NearestText | None:
        """Of a lost span, the text that is nearest to it; None if nothing is similar enough."""
        if self.found.nearest is None:
            return None
        span, percent = self.found.nearest
        same = span.text.split() == self.before.text.split()
        difference = "" if same else WordDifferences(_as_shown(self.before), _as_shown(span)).told()
        return NearestText(span, round(percent / 100, 4), difference)

    def line(self, lines: LinePlaces) -> str:
        """Return it on one line, with the places in the documents as editors count them."""
        text = f"“{one_line(self.before.text, _SHOWN)}”"
        if self.found.span is not None:
            ignored = f" ({self.particulars})" if self.particulars else ""
            return f"{self.kind:<14} {self.was} → {lines.named(self.found.span)} {text}{ignored}"
        nearest = self._nearest(lines) or "nothing similar in the corpus"
        return f"{LOST:<14} {self.was} {text} of “{one_line(self.query.text, _SHOWN)}”: {self.particulars}; {nearest}"

    def reason(self, lines: LinePlaces) -> str:
        """Return why it was lost, with the nearest text if that differs; of one that was found, why it is skipped."""
        if self.found.span is not None:
            return "found, but another label of the question was lost"
        other = self.nearest is not None and self.nearest.difference
        return f"{self.found.how}; {self._nearest(lines)}" if other else self.found.how

    def _nearest(self, lines: LinePlaces) -> str:
        if self.nearest is None:
            return ""
        span, difference = self.nearest.span, self.nearest.difference
        told = f"{lines.named(span)} “{one_line(span.text, _SHOWN)}”{difference and f'; {one_line(difference)}'}"
        return f"nearest ({self.nearest.percent} similar): {told}"

    def record(self, lines: LinePlaces) -> dict[str, Any]:
        """Return it as files hold it."""
        nearest = self.nearest
        return {
            "query": {"id": self.query.id, "query": self.query.text},
            "how": f"{BACK}: {self.found.how}" if self.was_skipped else self.found.how,
            "text": self.before.text,
            "from": {"doc_id": self.before.doc_id, "start": self.before.start, "end": self.before.end},
            "to": None if self.found.span is None else _span_record(self.found.span, lines),
            "nearest": None
            if nearest is None
            else {
                **_span_record(nearest.span, lines),
                "similarity": nearest.similarity,
                "difference": nearest.difference,
            },
        }


def _as_shown(span: CharacterSpan) -> str:
    return markup_of(span.doc_id, span.text).shown(0, len(span.text))


def _span_record(span: CharacterSpan, lines: LinePlaces) -> dict[str, Any]:
    where = {"doc_id": span.doc_id, "start": span.start, "end": span.end, "line": lines.place(span)[0]}
    return {**where, "text": span.text}
