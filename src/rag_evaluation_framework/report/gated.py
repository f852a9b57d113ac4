"""Files of a gated run: its summary, and the comparison with its baseline."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

from rag_evaluation_framework.base.outside import fit_to_show, json_text, one_line
from rag_evaluation_framework.contracts.roles import Outcome
from rag_evaluation_framework.report.page import Lines, Page
from rag_evaluation_framework.report.pages.comparison import comparison_notes, comparison_page
from rag_evaluation_framework.report.pages.gates import gate_block, verdict_line
from rag_evaluation_framework.report.pages.result import all_notes, failure_notes
from rag_evaluation_framework.results import store


def texts_beside(outcome: Outcome) -> dict[str, str]:
    """Return the texts of a run's folder beside its report, by the names of their files.

    These are its summary and, with a baseline, how the run differs from it.
    """
    texts = {store.SUMMARY: summary_text(outcome)}
    if (page := _difference(outcome)) is not None and outcome.comparison is not None:
        result = outcome.result
        verdicts = Lines(tuple(verdict_line(result.gates))), gate_block(result.gates)
        texts["diff.json"] = json_text(outcome.comparison.record(outcome.both), indent=1)
        texts["diff.md"] = replace(page, blocks=(*verdicts, *page.blocks)).as_markdown()
    return texts


def summary_text(outcome: Outcome) -> str:
    """Return a run as people read it first, in Markdown."""
    text, page = outcome.result.summary().as_markdown(), _difference(outcome)
    return text if page is None else f"{text}\n{page.as_markdown(2)}"  # the page above it has the gates


def _difference(outcome: Outcome) -> Page | None:
    compared = outcome.comparison
    return None if compared is None else comparison_page(compared, outcome.both, gated=True)


# The gates of a run as JUnit XML.

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gates_as_junit(outcome: Outcome) -> str:
    """Return the gates of a run as JUnit XML: one test case per gate.

    A gate that failed is a failure, one that could not be measured an error, and one that is off, or inconclusive and
    counts as passed, is skipped, so that it is seen. Why a run cannot be relied on is an error of one more test case,
    "the run".
    """
    result, problems, compared = outcome.result, outcome.problems, outcome.comparison
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
    notes = all_notes(result) if compared is None else comparison_notes(compared)
    both = {"baseline": outcome.baseline, "run": result}
    hashes = (f"dataset of the {name}: sha256 {run.config['dataset']['hash']}" for name, run in both.items() if run)
    ET.SubElement(suite, "system-out").text = "\n".join(map(_fit, (*notes, *hashes)))
    suites = ET.Element("testsuites", name="rag-eval")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _fit(text: str) -> str:
    """Return text that XML can hold, and that is fit to be shown."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(fit_to_show(text)))
