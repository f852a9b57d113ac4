"""What became of gates, as people read it."""

from collections.abc import Iterator, Mapping, Sequence

from rag_evaluation_framework.report.page import Line, Lines, Role, line, plural
from rag_evaluation_framework.results.gate_verdict import CountsAs, GateVerdict

_ROLES: Mapping[CountsAs, Role] = {"pass": "good", "fail": "bad", "error": "bad"}
_GRAVEST = ("not measured", "failed", "inconclusive (counts as failed)", "inconclusive (counts as passed)", "passed")


def counted(verdicts: Sequence[GateVerdict]) -> str:
    """Return how many gates there are with each verdict: "3 gates: 1 failed, 2 passed"; "" if there are none.

    If all are off, the run is not gated.
    """
    if not verdicts:
        return ""
    words = [verdict.word for verdict in verdicts]
    listed = ", ".join(f"{words.count(word)} {word}" for word in sorted({*words}, key=(*_GRAVEST, "off").index))
    ungated = "; the run is not gated" if {*words} == {"off"} else ""
    return f"{plural(len(words), 'gate')}: {listed}{ungated}"


def verdict_line(verdicts: Sequence[GateVerdict]) -> Iterator[Line]:
    """Yield the verdict of all gates together, if there are some."""
    if verdicts:
        passed = all(verdict.counts_as == "pass" for verdict in verdicts)
        yield line((counted(verdicts), "good" if passed else "bad"))


def gate_block(verdicts: Sequence[GateVerdict]) -> Lines:
    """Return each gate with its source, its power before its verdict, and what was measured."""
    return Lines(tuple(one for verdict in verdicts for one in _lines(verdict)), "Gates")


def _lines(verdict: GateVerdict) -> Iterator[Line]:
    where = f" ({verdict.source})" if verdict.source else ""
    yield line((verdict.gate, "label"), (where, "muted"), indent=2)
    if verdict.power:
        yield line((verdict.power, "muted"), indent=4)
    role: Role = "warning" if verdict.verdict in ("inconclusive", "off") else _ROLES[verdict.counts_as]
    yield line((verdict.word, role), f": {verdict.told}", indent=4)
