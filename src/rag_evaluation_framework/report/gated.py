"""Files of a gated run: the comparison with its baseline, JUnit XML, and the step summary of GitHub Actions."""

import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from rag_evaluation_framework._outside import fit_to_show, json_text, one_line
from rag_evaluation_framework._support.files import checked_path, open_at_once, write_over
from rag_evaluation_framework.analysis.comparison import Comparison
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.gates.measuring import Runs
from rag_evaluation_framework.report.page import Lines
from rag_evaluation_framework.report.pages.comparison import comparison_notes, comparison_page
from rag_evaluation_framework.report.pages.gates import gate_block, verdict_line
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.notes import failure_notes
from rag_evaluation_framework.results.result import EvaluationResult

_JUNIT = '<testsuites name="rag-eval"'
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
        notes = comparison_notes(runs.compared) if isinstance(runs.compared, Comparison) else result.all_notes
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


def write_junit(path: Path, result: Result, runs: Runs, problems: Sequence[str]) -> tuple[str, ...]:
    """Write the gates of a result as JUnit XML; return why that could not be done, nothing if it was."""
    try:
        write_over(path, gates_as_junit(result, problems, runs))
    except OSError as error:
        return (f"--junit {path}: cannot be written ({store.reason(error)}); choose another file",)
    return ()


def forget_junit(junit: Path) -> None:
    """Remove the JUnit XML of an earlier run, which would be taken for that of this one if this one ends without it.

    Nothing else is removed or replaced, whatever it is.

    Raises:
        ConfigError: Something else is there.
    """
    path = checked_path(junit, ConfigError)
    try:
        mode = path.lstat().st_mode
    except OSError:  # there is none, or it cannot be written either, which is told later
        return
    if stat.S_ISDIR(mode):
        raise ConfigError(f"--junit {junit}: is a folder; expected the name of a file, such as {junit / 'gates.xml'}")
    if not stat.S_ISREG(mode):
        what = "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket"
        raise ConfigError(f"--junit {junit}: is {what}; expected the name of a file, such as gates.xml")
    try:
        with open_at_once(path) as file:
            begin = file.read(len(_JUNIT))
    except OSError as error:
        raise ConfigError(f"--junit {junit}: cannot be read ({store.reason(error)}); choose another file") from error
    if begin != _JUNIT.encode():
        raise ConfigError(f"--junit {junit}: is there, and is not the JUnit XML of an earlier run; choose another file")
    with suppress(OSError):
        path.unlink()


def add_to_step_summary(path: Path, result: Result) -> tuple[str, ...]:
    """Add the page of a result to the summary of a step; return why that could not be done, nothing if it was."""
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{result.summary().as_markdown()}{result.beside.get(store.SUMMARY, '')}\n")
    except OSError as error:
        return (f"--step-summary {path}: cannot be written ({store.reason(error)})",)
    return ()
