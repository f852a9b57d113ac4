"""Gates in a terminal, and as a JUnit report."""

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import fit_to_show, one_line
from rag_evaluation_framework.report.wrapped import print_wrapped
from rag_evaluation_framework.results.gate_verdict import CountsAs, GateVerdict, told_gates
from rag_evaluation_framework.results.result import EvaluationResult
from rag_evaluation_framework.results.result_summary import failure_notes

_STYLES: dict[CountsAs, str] = {"pass": "green", "fail": "bold red", "error": "bold red"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def show_gates(console: Console, verdicts: tuple[GateVerdict, ...]) -> None:
    """Print what became of gates: each with its source, its power before its verdict, and what was measured."""
    if not verdicts:
        return
    console.print(Text(told_gates(verdicts), style="bold"))
    for verdict in verdicts:
        where = f" ({one_line(verdict.source)})" if verdict.source else ""
        print_wrapped(console, Text.assemble(one_line(verdict.gate), (where, "dim")), 2)
        if verdict.power:
            print_wrapped(console, Text(verdict.power, "dim"), 4)
        style = "yellow" if verdict.verdict in ("inconclusive", "off") else _STYLES[verdict.counts_as]
        print_wrapped(console, Text.assemble((verdict.word, style), f": {one_line(verdict.told)}"), 4)


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
        failures=str(_counted(result.gates, "fail")),
        errors=str(_counted(result.gates, "error") + bool(problems)),
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


def _counted(verdicts: tuple[GateVerdict, ...], counts_as: CountsAs) -> int:
    return sum(verdict.counts_as == counts_as for verdict in verdicts)


def _is_open(verdict: GateVerdict) -> bool:
    return verdict.verdict != "passed" and verdict.counts_as == "pass"


def _fit(text: str) -> str:
    """Return text that XML can hold, and that is fit to be shown."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(fit_to_show(text)))
