"""What a check of a dataset found: kinds of findings, each one, and all of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

from rag_evaluation_framework._outside import name_line, one_line, shown
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.data.values import FrozenDict

# What kinds of findings a check of a dataset may have: how severe they are, and what to do about them.

Severity = Literal["error", "warning", "info"]
FindingKind: TypeAlias = Literal[
    "document missing",
    "text differs",
    "place differs",
    "chunk missing",
    "blank label",
    "other truth",
    "no answers",
    "skipped",
    "asked twice",
    "labelled twice",
    "labels overlap",
    "not shown",
    "struck out",
    "copies its answer",
    "answer elsewhere",
    "too long",
    "white space",
    "no answer",
]


class Meaning(NamedTuple):
    """What a kind of finding means.

    Attributes:
        severity: `error`: scores are wrong, or a run refuses the dataset. `warning`: scores mislead. `info`: nothing is
            wrong.
        advice: What to do about it.
    """

    severity: Severity
    advice: str


MEANINGS: Mapping[FindingKind, Meaning] = FrozenDict[FindingKind, Meaning](
    {
        "document missing": Meaning(
            "error",
            "no retriever can find what the corpus does not hold. Is the pattern of files (--glob) the right one? "
            "`rag-eval dataset update` finds labels of renamed documents again",
        ),
        "text differs": Meaning("error", "`rag-eval dataset update` finds labels again, and lists those that are lost"),
        "place differs": Meaning(
            "error",
            "the same text may be there as another copy. `rag-eval dataset update` finds labels again, and lists those "
            "that are lost",
        ),
        "chunk missing": Meaning("error", "labels of chunks belong to one chunking: label these chunks, or label text"),
        "blank label": Meaning("error", "no retriever can find it: label text that answers"),
        "other truth": Meaning(
            "error", "questions with the same wording cannot both be right: reword one, or keep one with all labels"
        ),
        "no answers": Meaning("error", "nothing can be scored: label at least one question"),
        "skipped": Meaning(
            "warning",
            "correct quotes that are not there in a table, and add it with `rag-eval dataset update --questions`; "
            "`rag-eval label` labels questions that are not labelled yet",
        ),
        "asked twice": Meaning("warning", "such a question counts twice in every mean: keep one"),
        "labelled twice": Meaning("warning", "it counts once: remove the copy"),
        "labels overlap": Meaning("warning", "what they share counts once: were they meant to be one?"),
        "not shown": Meaning("warning", "no letter and no digit of it is shown to a reader: quote the text that is"),
        "struck out": Meaning("warning", "to a reader it is no longer valid: quote what is"),
        "copies its answer": Meaning("warning", "lexical retrieval is flattered: ask in the words of a user"),
        "answer elsewhere": Meaning(
            "warning", "retrieving it there counts as wrong: label it there, too (`*`, or `rag-eval label`)"
        ),
        "too long": Meaning("warning", "no ranking reaches full recall: label less, or evaluate at more"),
        "white space": Meaning("info", "characters that nobody reads count: trim them"),
        "no answer": Meaning("info", "they have no score, and every result counts them"),
    }
)
"""What each kind of finding means, in the order in which they are shown."""


# One thing that a check of a dataset found.

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


# All that a check of a dataset found.

_MOST_SHOWN = 10  # of a kind


@dataclass(frozen=True)
class FoundKind:
    """The findings of one kind, as they are shown.

    Attributes:
        kind: The kind.
        findings: All of them.
    """

    kind: FindingKind
    findings: tuple[Finding, ...]

    @property
    def heading(self) -> str:
        """How severe they are, how many there are, and what to do about them."""
        severity, advice = MEANINGS[self.kind]
        return f"{severity}: {self.kind} ({len(self.findings):,}): {advice}"

    @property
    def shown(self) -> tuple[Finding, ...]:
        """Those that are shown: of many the first ten; of what only informs, what is about no single question."""
        if MEANINGS[self.kind].severity == "info":
            return tuple(finding for finding in self.findings if finding.query is None)
        return self.findings[:_MOST_SHOWN]

    @property
    def more(self) -> int:
        """How many are not shown."""
        return len(self.findings) - len(self.shown)


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

    def counted(self) -> str:
        """Return the number of errors and warnings in words."""
        counts = Counter(finding.severity for finding in self.problems)
        numbers = [f"{count:,} {name}{'s' * (count != 1)}" for name in ("error", "warning") if (count := counts[name])]
        where, skipped = (
            len(
                {finding.query.id for finding in self.problems if finding.query and (finding.kind == "skipped") is lost}
            )
            for lost in (False, True)
        )
        places = [f"{where:,} question{'s' * (where != 1)}"] if where else []
        if skipped and where:
            places.append(f"{skipped:,} that {'are' if skipped != 1 else 'is'} skipped")
        elif skipped:
            places.append(f"{skipped:,} skipped question{'s' * (skipped != 1)}")
        found = " and ".join(numbers) or "nothing is wrong"
        found += f", in {' and '.join(places)}" if places else ""
        return f"{self.questions:,} question{'s' * (self.questions != 1)} checked: {found}"

    def by_kind(self) -> list[FoundKind]:
        """Return the findings of each kind of which there are any, the worst first."""
        return [FoundKind(kind, tuple(found)) for kind, found in groupby(self.findings, _kind)]

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "name": self.name,
            "questions": self.questions,
            "counts": self.counts,
            "findings": [finding.record() for finding in self.findings],
            "not_checked": list(self.not_checked),
        }

    def __str__(self) -> str:
        """Return the findings, of many of a kind the first ten, what could not be checked, and the counts."""
        lines: list[str] = []
        for found in self.by_kind():
            lines.append(found.heading)
            lines += [f"  {': '.join(filter(None, (one.question, one.told)))}" for one in found.shown]
            lines += [f"  … and {found.more:,} more"] * bool(found.shown and found.more)
        lines += [f"not checked: {text}" for text in self.not_checked]
        return "\n".join([*lines, self.counted()])

    def __repr__(self) -> str:
        return f"LintReport({shown(self.name)}, {self.counted()})"


def _kind(finding: Finding) -> FindingKind:
    return finding.kind
