"""What a check of a dataset found: kinds of findings, each one, and all of them."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from rag_evaluation_framework.base.outside import name_line, one_line, shown
from rag_evaluation_framework.data import CharacterSpan, Query
from rag_evaluation_framework.registry.loading import load_installed

if TYPE_CHECKING:
    from rag_evaluation_framework.report.pages.dataset import Page

_PAGES = "rag_evaluation_framework.report.pages.dataset"  # a door upwards

Severity = Literal["error", "warning", "info"]


class FindingKind(StrEnum):
    """What a check of a dataset may find, in the order in which it is shown.

    First errors, down to `NO_ANSWERS`, then warnings, down to `TOO_LONG`, then what only informs.
    """

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[Any]) -> str:
        """Return how a kind is called: by its name, in words."""
        del start, count, last_values
        return name.lower().replace("_", " ")

    DOCUMENT_MISSING = auto()
    TEXT_DIFFERS = auto()
    PLACE_DIFFERS = auto()
    CHUNK_MISSING = auto()
    BLANK_LABEL = auto()
    OTHER_TRUTH = auto()
    NO_ANSWERS = auto()
    SKIPPED = auto()
    ASKED_TWICE = auto()
    LABELLED_TWICE = auto()
    LABELS_OVERLAP = auto()
    NOT_SHOWN = auto()
    STRUCK_OUT = auto()
    COPIES_ITS_ANSWER = auto()
    ANSWER_ELSEWHERE = auto()
    TOO_LONG = auto()
    WHITE_SPACE = auto()
    NO_ANSWER = auto()


RANK = {kind: rank for rank, kind in enumerate(FindingKind)}


# One thing that a check of a dataset found.

_QUOTED = 100  # characters


@dataclass(frozen=True)
class Finding:
    """What a check of a dataset found.

    Attributes:
        kind: What it is.
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
        """How severe it is.

        `error`: scores are wrong, or a run refuses the dataset. `warning`: scores mislead. `info`: nothing is wrong.
        """
        rank, ends = RANK[self.kind], (RANK[FindingKind.NO_ANSWERS], RANK[FindingKind.TOO_LONG])
        return "error" if rank <= ends[0] else "warning" if rank <= ends[1] else "info"

    @property
    def advice(self) -> str:
        """What to do about it."""
        advice: str = load_installed(f"{_PAGES}:ADVICE")[self.kind]
        return advice

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


# All that a check of a dataset found.


@dataclass(frozen=True, repr=False)
class LintReport:
    """What a check of a dataset found.

    Attributes:
        name: The name of the dataset.
        questions: How many questions it has, without those that are skipped.
        findings: What was found, by kind, the worst first.
        not_checked: What could not be checked, and what is needed for it.
    """

    name: str
    questions: int
    findings: tuple[Finding, ...]
    not_checked: tuple[str, ...]

    @cached_property
    def problems(self) -> tuple[Finding, ...]:
        """The errors and warnings."""
        return tuple(finding for finding in self.findings if finding.severity != "info")

    @property
    def counts(self) -> dict[FindingKind, int]:
        """How many findings there are of each kind of which there are any."""
        return dict(Counter(finding.kind for finding in self.findings))

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "name": self.name,
            "questions": self.questions,
            "counts": self.counts,
            "findings": [finding.record() for finding in self.findings],
            "not_checked": list(self.not_checked),
        }

    def summary(self) -> "Page":
        """Return it as people read it: of many findings of a kind the first ten."""
        page: Page = load_installed(f"{_PAGES}:lint_page")(self)
        return page

    def __str__(self) -> str:
        return self.summary().as_text()

    def __repr__(self) -> str:
        return f"LintReport({shown(self.name)}, questions={self.questions}, findings={len(self.findings)})"
