"""Files of a run: its page as HTML, its summary, its gates as JUnit XML, and the comparison with its baseline."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

from rag_evaluation_framework.analysis import Comparison, Leaderboard
from rag_evaluation_framework.attribution.pipelines import corpus_of
from rag_evaluation_framework.base.outside import fit_to_show, json_text, one_line
from rag_evaluation_framework.contracts.sink import Outcome
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.errors import RagEvalError
from rag_evaluation_framework.report.page import Block, Lines, Page, plural
from rag_evaluation_framework.report.pages.comparison import comparison_notes, comparison_page
from rag_evaluation_framework.report.pages.explanation import anchor_of, questions_page
from rag_evaluation_framework.report.pages.gates import gate_block, verdict_line
from rag_evaluation_framework.report.pages.leaderboard import leaderboard_page
from rag_evaluation_framework.report.pages.notes import all_notes, failure_notes
from rag_evaluation_framework.report.pages.result import result_page
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.result import EvaluationResult

Result = EvaluationResult[Any]


def whole_page(runs: Sequence[Result], most: int) -> Page:
    """Return what people read of one run, of two that are compared, or of several.

    Args:
        runs: The runs; of several, the first is the baseline.
        most: How many questions to show with their passages: the weakest of a run, or those that got worse; 50
            with ten results each are about half a megabyte.
    """
    if len(runs) > 2:
        return leaderboard_page(Leaderboard.of(runs), worst=most, runs=runs)
    corpus, why = _corpus(runs[-1])
    if len(runs) == 1:
        (result,) = runs
        unanswered = [
            one
            for one, status in zip(result.scores.query_ids, result.scores.statuses, strict=True)
            if status != "scored"
        ]
        weakest = [query.query_id for query in result.worst(len(result.queries))]
        every = [*dict.fromkeys([*weakest, *unanswered])]
        which = _some(most, len(every), ", the weakest first")
        page = result_page(result, worst=min(most, 10))
        asked = questions_page(result, every[:most], corpus, why, which)
        return _linked(replace(page, blocks=(*page.blocks, asked)), result)
    before, after = runs
    compared = Comparison.of(before, after)
    page = comparison_page(compared, (before, after), worst=most)
    lost = [one for one in compared.regressions(next(iter(compared.deltas))) if one in after.scores.rows]
    which = _some(most, len(lost), " that got worse") or "Those that got worse, in the second run"
    more = (questions_page(after, lost[:most], corpus, why, which),) if lost else ()
    return _linked(replace(page, blocks=(*page.blocks, *more)), after)


def _some(most: int, count: int, which: str) -> str:
    return f"{most:,} of {plural(count, 'question')}{which}; --worst shows more" if most < count else ""


def _corpus(result: Result) -> tuple[Corpus | None, str]:
    """Return the documents of a run, or why they are not there."""
    try:
        return corpus_of(result), ""
    except RagEvalError as error:
        return None, str(error)


def _linked(page: Page, result: Result) -> Page:
    """Return a page on which the ids of questions lead to them, where they are shown."""
    shown = {
        block.anchor for one in page.blocks if isinstance(one, Page) for block in one.blocks if isinstance(block, Page)
    }
    links = {
        f" ({query_id})": anchor for query_id in result.scores.rows if (anchor := anchor_of(result, query_id)) in shown
    }
    blocks: list[Block] = []
    for block in page.blocks:
        if isinstance(block, Lines):
            lines = tuple(
                replace(one, parts=tuple(replace(part, link=links.get(part.text, "")) for part in one.parts))
                for one in block.lines
            )
            block = replace(block, lines=lines)
        blocks.append(block)
    return replace(page, blocks=tuple(blocks))


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
