"""What became of gates, as people read it, and as a JUnit report."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

from rag_evaluation_framework._outside import fit_to_show, one_line
from rag_evaluation_framework.report.page import Line, Lines, Page, Role, line, plural
from rag_evaluation_framework.results.gate_verdict import CountsAs, GateVerdict
from rag_evaluation_framework.results.notes import failure_notes
from rag_evaluation_framework.results.result import EvaluationResult

_ROLES: Mapping[CountsAs, Role] = {"pass": "good", "fail": "bad", "error": "bad"}
_GRAVEST = ("not measured", "failed", "inconclusive (counts as failed)", "inconclusive (counts as passed)", "passed")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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


def with_gates(page: Page, verdicts: Sequence[GateVerdict]) -> Page:
    """Return a page on which what became of gates comes first."""
    blocks = (Lines(tuple(verdict_line(verdicts))), gate_block(verdicts)) if verdicts else ()
    return replace(page, blocks=(*blocks, *page.blocks))


def _lines(verdict: GateVerdict) -> Iterator[Line]:
    where = f" ({verdict.source})" if verdict.source else ""
    yield line((verdict.gate, "label"), (where, "muted"), indent=2)
    if verdict.power:
        yield line((verdict.power, "muted"), indent=4)
    role: Role = "warning" if verdict.verdict in ("inconclusive", "off") else _ROLES[verdict.counts_as]
    yield line((verdict.word, role), f": {verdict.told}", indent=4)


def gates_as_junit(
    result: EvaluationResult[Any],
    problems: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """Return the gates of a result as JUnit XML: one test case per gate.

    A gate that failed is a failure, one that could not be measured an error, and one that is off, or inconclusive and
    counts as passed, is skipped, so that it is seen.

    Args:
        result: The result.
        problems: Why it cannot be relied on. If there are some, they are an error of one more test case, "the run".
        notes: What is said of the result, and of the baseline that it is compared with.
    """
    suite = ET.Element(
        "testsuite",
        name=_fit(f"rag-eval {result.name}"),
        tests=str(len(result.gates) + bool(problems)),
        failures=str(_number(result.gates, "fail")),
        errors=str(_number(result.gates, "error") + bool(problems)),
        skipped=str(sum(_is_open(verdict) for verdict in result.gates)),
        timestamp=result.created,
        time=f"{sum(result.timings.values()):.3f}",
    )
    failures = "\n".join(map(_fit, failure_notes(result)))
    if problems:
        case = ET.SubElement(suite, "testcase", classname="rag-eval", name="the run")
        ET.SubElement(case, "error", message=_fit("; ".join(problems))).text = failures
    for verdict in result.gates:
        case = ET.SubElement(suite, "testcase", classname="rag-eval.gates", name=_fit(verdict.gate))
        power = f"{verdict.power}; " if verdict.power else ""
        told = _fit(f"{power}{verdict.word}: {verdict.told}")
        if verdict.counts_as != "pass":
            ET.SubElement(case, "failure" if verdict.counts_as == "fail" else "error", message=told)
        elif _is_open(verdict):
            ET.SubElement(case, "skipped", message=told)
        ET.SubElement(case, "system-out").text = told
    if notes:
        ET.SubElement(suite, "system-out").text = "\n".join(map(_fit, notes))
    suites = ET.Element("testsuites", name="rag-eval")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _number(verdicts: tuple[GateVerdict, ...], counts_as: CountsAs) -> int:
    return sum(verdict.counts_as == counts_as for verdict in verdicts)


def _is_open(verdict: GateVerdict) -> bool:
    return verdict.verdict != "passed" and verdict.counts_as == "pass"


def _fit(text: str) -> str:
    """Return text that XML can hold, and that is fit to be shown."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(fit_to_show(text)))
