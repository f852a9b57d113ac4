"""What became of one labelled span in an edited corpus, in words and as files hold it."""

from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.base.outside import name_line, one_line
from rag_evaluation_framework.data import CharacterSpan, Query
from rag_evaluation_framework.labelling.reanchor import Reanchored
from rag_evaluation_framework.text.line_places import LinePlaces

LOST, BACK = "lost", "back"
_SHOWN = 120  # characters of a text


@dataclass(frozen=True)
class LabelChange:
    """What became of one labelled span of a question.

    Attributes:
        query: The question.
        before: The span as it was labelled.
        found: Where it is now, and how it was found.
        was_skipped: Whether its question was skipped, and is back.
        place: The number of its answer in the question, and that of the place in the answer; None if every label of the
            question is an answer of its own.
        is_replaced: Whether it was lost, and its answer still has other places.
    """

    query: Query
    before: CharacterSpan
    found: Reanchored
    was_skipped: bool = False
    place: tuple[int, int] | None = None
    is_replaced: bool = False

    @property
    def kind(self) -> str:
        """One of `unchanged`, `moved`, `renamed`, `in normal form`, `lost` and, of a skipped question, `back`."""
        return BACK if self.was_skipped else self._how.partition(":")[0].partition(",")[0]

    @property
    def left(self) -> str:
        """What is left of the answer of a label that was lost: "its answer has other places"; "" if nothing is."""
        if not self.is_replaced:
            return ""
        first = self.place is not None and self.place[1] == 0
        return f"its answer has other places{', and is weighed by the next one' if first else ''}"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it was found in another document than it was in."""
        return self.found.span is not None and self.found.span.doc_id != self.found.anchor.doc_id

    @property
    def particulars(self) -> str:
        """Why it was lost, or what was ignored to find it: "ignoring: emphasis"; "" if nothing was."""
        how = self._how
        return how.removeprefix("unchanged" if self.was_skipped else self.kind).lstrip(":, ")

    @property
    def _how(self) -> str:
        """How it was found; what is under another name than its file has is renamed, also if nothing else changed."""
        span, how = self.found.span, self.found.how
        return "renamed" if span is not None and how == "unchanged" and span.doc_id != self.before.doc_id else how

    @property
    def was(self) -> str:
        """Where it was labelled: "billing.md[11:46]"."""
        return f"{name_line(self.before.doc_id)}[{self.before.start}:{self.before.end}]"

    def line(self, lines: LinePlaces) -> str:
        """Return it on one line, with the places in the documents as editors count them."""
        text = f"“{one_line(self.before.text, _SHOWN)}”"
        if self.found.span is not None:
            ignored = f" ({self.particulars})" if self.particulars else ""
            return f"{self.kind} {self.was} → {lines.named(self.found.span)} {text}{ignored}"
        nearest = self._nearest() or "nothing similar in the corpus"
        left = f"; {self.left}" if self.left else ""
        return f"{LOST} {self.was} {text} of “{one_line(self.query.text, _SHOWN)}”: {self.particulars}{left}; {nearest}"

    @property
    def reason(self) -> str:
        """Why it was lost, with the nearest text if that differs; of one that was found, why it is skipped."""
        if self.found.span is not None:
            return "found, but another label of the question was lost"
        nearest = self.found.nearest
        return f"{self._how}; {self._nearest()}" if nearest is not None and nearest.difference else self._how

    def _nearest(self) -> str:
        found = self.found.nearest
        if found is None:
            return ""
        text = f"{name_line(found.place)} “{one_line(found.quote, _SHOWN)}”"
        return f"nearest ({found.percent} similar): {text}{found.difference and f'; {one_line(found.difference)}'}"

    def record(self, lines: LinePlaces) -> dict[str, Any]:
        """Return it as files hold it."""
        nearest = self.found.nearest
        return {
            "query": {"id": self.query.id, "query": self.query.text},
            "how": f"{BACK}: {self._how}" if self.was_skipped else self._how,
            "text": self.before.text,
            **({"left": self.left} if self.left else {}),
            "from": {"doc_id": self.before.doc_id, "start": self.before.start, "end": self.before.end},
            "to": None if self.found.span is None else _span_record(self.found.span, lines),
            "nearest": None
            if nearest is None
            else {
                **_span_record(nearest.spans[0], lines),
                "similarity": nearest.similarity,
                "difference": nearest.difference,
            },
        }


def _span_record(span: CharacterSpan, lines: LinePlaces) -> dict[str, Any]:
    where = {"doc_id": span.doc_id, "start": span.start, "end": span.end, "line": lines.place(span)[0]}
    return {**where, "text": span.text}
