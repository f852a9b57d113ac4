"""What is known of a dataset in a terminal; outside text is printed literally."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import name_line, one_line, shown
from rag_evaluation_framework.inspection.dataset_info import Coverage, DatasetInfo, Spread, WordOverlap
from rag_evaluation_framework.inspection.findings import MEANINGS, LintReport
from rag_evaluation_framework.inspection.fixing import FixedDataset
from rag_evaluation_framework.report.wrapped import print_wrapped

_UNDEFINED = "–"
_MOST_COLUMNS = 10
_NAMES = 21  # characters of the first column
_DIGITS = 12  # of a hash
_MOST_FIXES = 200
_FIXED = "fixed: "
_LONGEST = 500  # characters of metadata
_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}


def show_lint(console: Console, report: LintReport) -> None:
    """Print what a check of a dataset found, of many of a kind the first ten, and what could not be checked."""
    for found in report.by_kind():
        print_wrapped(console, Text(found.heading, f"bold {_COLOURS[MEANINGS[found.kind].severity]}"), 0)
        for finding in found.shown:
            if finding.question:
                print_wrapped(console, finding.question, 2)
            print_wrapped(console, finding.told, 4 if finding.question else 2)
        if found.shown and found.more:
            print_wrapped(console, f"… and {found.more:,} more; --json lists all of them", 2)
    for text in report.not_checked:
        print_wrapped(console, Text(f"not checked: {text}", "dim"), 0)
    print_wrapped(console, Text(report.counted(), "bold"), 0)


def show_fixes(console: Console, fixed: FixedDataset) -> None:
    """Print what was mended in a dataset, of much the first two hundred, and how much it was."""
    for fix in fixed.fixes[:_MOST_FIXES]:
        print_wrapped(console, str(fix), len(_FIXED), _FIXED)
    if len(fixed.fixes) > _MOST_FIXES:
        print_wrapped(console, f"… and {len(fixed.fixes) - _MOST_FIXES:,} more; --json lists all of them", 0)
    print_wrapped(console, fixed.counted(), 0)


def show_dataset(console: Console, info: DatasetInfo) -> None:
    """Print what a dataset is like; what is undefined is a dash."""
    console.print(Text(f"{name_line(info.name)} ({info.evaluation_type})", style="bold"))
    for name, text in _rows(info):
        print_wrapped(console, text, _NAMES, name, "dim")
    if info.coverage is not None and info.labels == info.coverage.mismatched:
        told = "! no label matches the documents: are the folder (--corpus) and the pattern of files (--glob) right?"
        print_wrapped(console, Text(told, "yellow"), 0)


def _rows(info: DatasetInfo) -> Iterator[tuple[str, str]]:
    yield "identity", info.content_hash[:_DIGITS]
    yield "labelled documents", name_line(info.corpus_hash or _UNDEFINED)[:_DIGITS]
    if info.chunking is not None:
        yield "labelled chunks", name_line(info.chunking)[:_DIGITS]
    if info.metadata:
        yield (
            "metadata",
            one_line(", ".join(f"{key}: {shown(value)}" for key, value in info.metadata.items()), _LONGEST),
        )
    answerable = f"{info.answerable:,} with an answer, {info.no_answer:,} without, {info.skipped:,} skipped"
    yield "questions", f"{info.questions:,}: {answerable}"
    per_question = _spread(info.labels_per_question)
    yield "labels", f"{info.labels:,}; of a question with an answer: {per_question}"
    if info.alternatives:
        yield "alternatives", f"{info.alternatives:,} answer{'s' * (info.alternatives != 1)} with several places"
    yield "question characters", _spread(info.question_characters)
    yield "answer characters", _spread(info.answer_characters)
    yield "documents", _UNDEFINED if info.coverage is None else _covered(info.coverage)
    if info.coverage is not None:
        counts = info.coverage.questions_by_document.items()
        named = "; ".join(f"{name_line(doc_id)}: {count:,}" for doc_id, count in counts)
        yield "most questions", named or _UNDEFINED
    yield "shared words", _UNDEFINED if info.overlap is None else _overlap(info.overlap)
    columns = [f"{name_line(key)} ({count:,})" for key, count in info.metadata_columns.items()]
    more = [f"{len(columns) - _MOST_COLUMNS:,} more"] * (len(columns) > _MOST_COLUMNS)
    yield "metadata columns", ", ".join([*columns[:_MOST_COLUMNS], *more]) or _UNDEFINED


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return _UNDEFINED
    return f"median {spread.median:,.10g}, 90th percentile {spread.p90:,.10g}, most {spread.max:,.10g}"


def _covered(coverage: Coverage) -> str:
    of = "" if coverage.of_documents is None else f" of {coverage.of_documents:,}"
    share = "" if coverage.share_of_text is None else f", {_percent(coverage.share_of_text, 2)} of the text"
    lost = "s do" if coverage.mismatched != 1 else " does"
    told = f"; {coverage.mismatched:,} label{lost} not match them: see dataset lint" if coverage.mismatched else ""
    return f"{coverage.documents:,}{of} labelled{share}{told}"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _overlap(overlap: WordOverlap) -> str:
    mean, median = _percent(overlap.mean), _percent(overlap.median)
    shares = f"mean {mean}, median {median} of a question's content words stand in its answer"
    return f"{shares}; {overlap.none:,} of {overlap.questions:,} share none"
