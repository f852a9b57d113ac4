"""The gates of a run as JUnit XML."""

import re
from xml.etree import ElementTree as ET

from ..base.outside import fit_to_show, one_line
from ..contracts.roles import Outcome
from .pages.comparison import comparison_notes
from .pages.result import all_notes, failure_notes

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
        error = ET.SubElement(case, "error", message=_fit("; ".join(problems)))
        error.text = "\n".join(map(_fit, failure_notes(result)))
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
