"""One thing that a check of a dataset found."""

from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.inspection.meanings import MEANINGS, FindingKind, Severity

_QUOTED = 100  # characters


@dataclass(frozen=True)
class Finding:
    """What a check of a dataset found.

    Attributes:
        kind: What it is; `MEANINGS` says how severe it is, and what to do about it.
        what: The particulars, on one line.
        query: The question; None if it is about the dataset.
        where: The place of the label: `file:line:column`, or its offsets if the text of its document is not at hand.
        span: The label, if it is a span.
        places: Further places that it is about, as `where`.
        fixable: Whether `fix_dataset` mends it, white space if no label is lost; False for a label whose text or place
            differs: whether all are found again shows only there.
    """

    kind: FindingKind
    what: str
    query: Query | None = None
    where: str = ""
    span: CharacterSpan | None = None
    places: tuple[str, ...] = ()
    fixable: bool = False

    @property
    def severity(self) -> Severity:
        """How severe it is."""
        return MEANINGS[self.kind].severity

    @property
    def advice(self) -> str:
        """What to do about it."""
        return MEANINGS[self.kind].advice

    @property
    def question(self) -> str:
        """The id and the wording of the question, on one line; "" if it is about the dataset."""
        if self.query is None:
            return ""
        return f"{name_line(self.query.id)} {quotation(self.query.text)}"

    @property
    def told(self) -> str:
        """Its place and its particulars, on one line."""
        return f"{self.where} {self.what}".strip()

    def __str__(self) -> str:
        return f"{self.kind}: {': '.join(filter(None, (self.question, self.told)))}"

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        span, query = self.span, self.query
        return {
            "kind": self.kind,
            "severity": self.severity,
            "query": None if query is None else {"id": query.id, "query": query.text},
            "where": self.where or None,
            "span": None if span is None else {"doc_id": span.doc_id, "start": span.start, "end": span.end},
            "what": self.what,
            "places": list(self.places),
            "advice": self.advice,
            "fixable": self.fixable,
        }


def quotation(text: str) -> str:
    """Return a text in quotation marks, on one short line."""
    line = one_line(text)
    return f"“{line if len(line) <= _QUOTED else f'{line[: _QUOTED - 1]}…'}”"
