"""All that a check of a dataset found."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.inspection.findings import Finding
from rag_evaluation_framework.inspection.meanings import MEANINGS, FindingKind

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
