"""What a check of a dataset found, and what was mended in it, as people read it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from rag_evaluation_framework.base.outside import name_line
from rag_evaluation_framework.inspection.findings import Finding, FindingKind, LintReport, Severity, quotation
from rag_evaluation_framework.inspection.fixing import FixedDataset
from rag_evaluation_framework.report.page import Line, Lines, Part, Role, line, plural
from rag_evaluation_framework.report.page import Page as Page

ADVICE: Mapping[FindingKind, str] = {
    FindingKind.DOCUMENT_MISSING: "no retriever can find what the corpus does not hold. Is the pattern of files "
    "(--glob) the right one? `rag-eval dataset update` finds labels of renamed documents again",
    FindingKind.TEXT_DIFFERS: "`rag-eval dataset update` finds labels again, and lists those that are lost",
    FindingKind.PLACE_DIFFERS: "the same text may be there as another copy. `rag-eval dataset update` finds labels "
    "again, and lists those that are lost",
    FindingKind.CHUNK_MISSING: "labels of chunks belong to one chunking: label these chunks, or label text",
    FindingKind.BLANK_LABEL: "no retriever can find it: label text that answers",
    FindingKind.OTHER_TRUTH: "questions with the same wording cannot both be right: reword one, or keep one with all "
    "labels",
    FindingKind.NO_ANSWERS: "nothing can be scored: label at least one question",
    FindingKind.SKIPPED: "correct quotes that are not there in a table, and add it with `rag-eval dataset update "
    "--questions`; `rag-eval label` labels questions that are not labelled yet",
    FindingKind.ASKED_TWICE: "such a question counts twice in every mean: keep one",
    FindingKind.LABELLED_TWICE: "it counts once: remove the copy",
    FindingKind.LABELS_OVERLAP: "what they share counts once: were they meant to be one?",
    FindingKind.NOT_SHOWN: "no letter and no digit of it is shown to a reader: quote the text that is",
    FindingKind.STRUCK_OUT: "to a reader it is no longer valid: quote what is",
    FindingKind.COPIES_ITS_ANSWER: "lexical retrieval is flattered: ask in the words of a user",
    FindingKind.ANSWER_ELSEWHERE: "retrieving it there counts as wrong: label it there, too (`*`, or `rag-eval label`)",
    FindingKind.TOO_LONG: "no ranking reaches full recall: label less, or evaluate at more",
    FindingKind.WHITE_SPACE: "characters that nobody reads count: trim them",
    FindingKind.NO_ANSWER: "they have no score, and every result counts them",
}
"""What to do about each kind of finding."""

_ROLES: Mapping[Severity, Role] = {"error": "bad", "warning": "warning", "info": "muted"}
_MOST_SHOWN = 10  # of a kind
_MOST_FIXES = 200


def lint_page(report: LintReport) -> Page:
    """Return what a check of a dataset found, of many of a kind the first ten, and what could not be checked."""
    kinds = (_kind(kind, [*found]) for kind, found in groupby(report.findings, lambda finding: finding.kind))
    verdict = line((_counted(report), "bad" if report.problems else "good"))
    unknown = (line((text, "muted"), indent=2) for text in report.not_checked)
    title = f"{name_line(report.name)}: {plural(report.questions, 'question')} checked"
    return Page(title, (Lines((verdict,)), *kinds, Lines(tuple(unknown), "Not checked")))


def _counted(report: LintReport) -> str:
    """Return how many errors and warnings there are, and in how many questions."""
    counts = Counter(finding.severity for finding in report.problems)
    numbers = [plural(counts[name], name) for name in ("error", "warning") if counts[name]]
    questions, skipped = (
        len({finding.query.id for finding in report.problems if finding.query and (finding.kind == "skipped") is lost})
        for lost in (False, True)
    )
    places = [plural(questions, "question")] if questions else []
    if skipped and questions:
        places.append(f"{skipped:,} that {'are' if skipped > 1 else 'is'} skipped")
    elif skipped:
        places.append(plural(skipped, "skipped question"))
    found = " and ".join(numbers) or "nothing is wrong"
    return f"{found[0].upper()}{found[1:]}{', in ' if places else ''}{' and '.join(places)}"


def _kind(kind: FindingKind, findings: list[Finding]) -> Lines:
    """Return the findings of a kind below what to do; of what only informs, those that are about no single question."""
    severity, advice = findings[0].severity, ADVICE[kind]
    lines = [line((f"{advice[0].upper()}{advice[1:]}", _ROLES[severity]), indent=2)]
    shown = [each for each in findings if each.query is None] if severity == "info" else findings[:_MOST_SHOWN]
    for finding in shown:
        lines += _lines(finding)
    if shown and len(findings) > len(shown):
        lines.append(line((f"… and {len(findings) - len(shown):,} more; --json lists all of them", "muted"), indent=2))
    return Lines(tuple(lines), f"{severity}: {kind} ({len(findings):,})")


def _lines(finding: Finding) -> Iterator[Line]:
    if finding.query is not None:
        yield line((quotation(finding.query.text), "label"), (f" {name_line(finding.query.id)}", "muted"), indent=2)
    where = [Part(finding.where, "place"), Part(" ")] if finding.where else []
    yield line(*where, finding.what, indent=4 if finding.query else 2)


def fixes_page(fixed: FixedDataset, written: str = "") -> Page:
    """Return what was mended in a dataset, of much the first two hundred, and whether it is still the same.

    Args:
        fixed: The dataset.
        written: What became of its file.
    """
    count = len(fixed.fixes)
    lines = [line((written, "muted"))] if written else []
    if fixed.lost:
        lost = f"{plural(fixed.lost, 'label')} not found in the corpus, so no label was moved or trimmed"
        lines.insert(0, line((lost, "warning")))
    if count:
        changed = "Its identity changed" if fixed.has_new_identity else "Its identity is the same"
        trimmed = any(fix.kind == "white space" for fix in fixed.fixes)
        lines.insert(0, line(f"{changed}{', and scores may move a little, as labels are shorter' if trimmed else ''}"))
    fixes = [line((fix.kind, "label"), str(fix).removeprefix(fix.kind), indent=2) for fix in fixed.fixes[:_MOST_FIXES]]
    if count > _MOST_FIXES:
        fixes.append(line((f"… and {count - _MOST_FIXES:,} more; --json lists all of them", "muted"), indent=2))
    title = f"{name_line(fixed.dataset.name)}: {plural(count, 'fix', 'es') if count else 'nothing fixed'}"
    return Page(title, (Lines(tuple(lines)), Lines(tuple(fixes), "Fixes")))
