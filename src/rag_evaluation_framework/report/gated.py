"""Files of a gated run: the comparison with its baseline, and JUnit XML."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

from rag_evaluation_framework.analysis.comparison import Comparison
from rag_evaluation_framework.base.outside import fit_to_show, json_text, one_line
from rag_evaluation_framework.gates.measuring import Runs
from rag_evaluation_framework.report.page import Lines
from rag_evaluation_framework.report.pages.comparison import comparison_notes, comparison_page
from rag_evaluation_framework.report.pages.gates import gate_block, verdict_line
from rag_evaluation_framework.report.pages.notes import all_notes, failure_notes
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.result import EvaluationResult

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Result = EvaluationResult[Any]


def with_comparison(result: Result, runs: Runs) -> Result:
    """Return a gated result with the files of its comparison with the baseline, if they can be compared."""
    before, compared = runs.baseline, runs.compared
    if before is None or not isinstance(compared, Comparison):
        return result
    page = comparison_page(compared, (before, result), gated=True)
    verdicts = Lines(tuple(verdict_line(result.gates))), gate_block(result.gates)
    files = {
        "diff.json": json_text(compared.record((before, result)), indent=1),
        "diff.md": replace(page, blocks=(*verdicts, *page.blocks)).as_markdown(),
        store.SUMMARY: f"\n{page.as_markdown(2)}",  # the page around it has the gates
    }
    return replace(result, beside=files)


def gates_as_junit(result: Result, problems: Sequence[str] = (), runs: Runs | None = None) -> str:
    """Return the gates of a result as JUnit XML: one test case per gate.

    A gate that failed is a failure, one that could not be measured an error, and one that is off, or inconclusive and
    counts as passed, is skipped, so that it is seen.

    Args:
        result: The result.
        problems: Why it cannot be relied on. If there are some, they are an error of one more test case, "the run".
        runs: The result beside its baseline, for the notes of both.
    """
    tags = {"pass": "skipped", "fail": "failure", "error": "error"}
    found = [None if verdict.verdict == "passed" else tags[verdict.counts_as] for verdict in result.gates]
    suite = ET.Element(
        "testsuite",
        name=_fit(f"rag-eval {result.name}"),
        tests=str(len(result.gates) + bool(problems)),
        failures=str(found.count("failure")),
        errors=str(found.count("error") + bool(problems)),
        skipped=str(found.count("skipped")),
        timestamp=result.created,
        time=f"{sum(result.timings.values()):.3f}",
    )
    if problems:
        case = ET.SubElement(suite, "testcase", classname="rag-eval", name="the run")
        ET.SubElement(case, "error", message=_fit("; ".join(problems))).text = "\n".join(
            map(_fit, failure_notes(result))
        )
    for verdict, tag in zip(result.gates, found, strict=True):
        case = ET.SubElement(suite, "testcase", classname="rag-eval.gates", name=_fit(verdict.gate))
        if tag is not None:
            ET.SubElement(case, tag, message=_fit(verdict.outcome))
        ET.SubElement(case, "system-out").text = _fit(verdict.outcome)
    if runs is not None:
        notes = comparison_notes(runs.compared) if isinstance(runs.compared, Comparison) else all_notes(result)
        both = {"baseline": runs.baseline, "run": result}
        hashes = (f"dataset of the {name}: sha256 {run.config['dataset']['hash']}" for name, run in both.items() if run)
        ET.SubElement(suite, "system-out").text = "\n".join(map(_fit, (*notes, *hashes)))
    suites = ET.Element("testsuites", name="rag-eval")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _fit(text: str) -> str:
    """Return text that XML can hold, and that is fit to be shown."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(fit_to_show(text)))
