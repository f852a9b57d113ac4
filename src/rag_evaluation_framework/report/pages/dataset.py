"""What a dataset is like, as people read it; what is undefined is a dash."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_evaluation_framework.base.outside import name_line, one_line, shown
from rag_evaluation_framework.inspection.dataset_info import Coverage, DatasetInfo, WordOverlap
from rag_evaluation_framework.report.page import Line, Lines, Page, Table, line, plural

_UNDEFINED = "–"
_MOST_COLUMNS = 10
_NAMES, _PUSHED = 20, 21  # characters of the first column
_MOST_IDS = 10
_DIGITS = 12  # of a hash
_LONGEST = 500  # characters of metadata


def dataset_page(info: DatasetInfo) -> Page:
    """Return what a dataset is like: its questions, labels, documents, words, and its identity."""
    return Page(
        f"{name_line(info.name)} ({info.evaluation_type})",
        (
            Lines(tuple(_verdict(info))),
            Lines(tuple(_row(name, text) for name, text in _labels(info)), "Labelled"),
            _sizes(info),
            Lines(tuple(_row(name, text) for name, text in _identity(info)), "Identity"),
        ),
    )


def _row(name: str, text: str) -> Line:
    return line(text, indent=_NAMES, before=name, role="muted")


def _verdict(info: DatasetInfo) -> Iterator[Line]:
    counts = f"{info.answerable:,} with an answer, {info.no_answer:,} without, {info.skipped:,} skipped"
    yield line((f"{plural(info.questions, 'question')}: {counts}", "verdict"))
    lost = 0 if info.coverage is None else info.coverage.mismatched
    if lost and lost == info.labels:
        told = "No label matches the documents: are the folder (--corpus) and the pattern of files (--glob) right?"
        yield line((told, "warning"))
    elif lost:
        told = f"{plural(lost, 'label')} {'do' if lost > 1 else 'does'} not match the documents: see dataset lint"
        yield line((told, "warning"))


def _labels(info: DatasetInfo) -> Iterator[tuple[str, str]]:
    yield "labels", f"{info.labels:,}"
    if info.alternatives:
        yield "alternatives", f"{plural(info.alternatives, 'answer')} with several places"
    coverage = info.coverage
    yield "documents", _UNDEFINED if coverage is None else _covered(coverage)
    if coverage is not None:
        counts = coverage.questions_by_document.items()
        yield "most questions", "; ".join(f"{name_line(doc_id)}: {count:,}" for doc_id, count in counts) or _UNDEFINED
    yield "shared words", _UNDEFINED if info.overlap is None else _overlap(info.overlap)


def _covered(coverage: Coverage) -> str:
    of = "" if coverage.of_documents is None else f" of {coverage.of_documents:,}"
    share = "" if coverage.share_of_text is None else f", {100 * coverage.share_of_text:.2f} % of the text"
    return f"{coverage.documents:,}{of} labelled{share}"


def _overlap(overlap: WordOverlap) -> str:
    mean, median = 100 * overlap.mean, 100 * overlap.median
    shares = f"mean {mean:.0f} %, median {median:.0f} % of a question's content words stand in its answer"
    return f"{shares}; {overlap.none:,} of {overlap.questions:,} share none"


def _sizes(info: DatasetInfo) -> Table:
    spreads = {
        "labels per question": info.labels_per_question,
        "question characters": info.question_characters,
        "answer characters": info.answer_characters,
    }
    rows = (
        (name, *([_UNDEFINED] * 3 if each is None else (f"{n:,.10g}" for n in (each.median, each.p90, each.max))))
        for name, each in spreads.items()
    )
    return Table(("", "median", "90th percentile", "most"), tuple(rows), "Sizes")


def _identity(info: DatasetInfo) -> Iterator[tuple[str, str]]:
    yield "dataset", info.content_hash[:_DIGITS]
    yield "labelled documents", name_line(info.corpus_hash or _UNDEFINED)[:_DIGITS]
    if info.chunking is not None:
        yield "labelled chunks", name_line(info.chunking)[:_DIGITS]
    if info.metadata:
        known = ", ".join(f"{key}: {shown(value)}" for key, value in info.metadata.items())
        yield "metadata", one_line(known, _LONGEST)
    columns = [f"{name_line(key)} ({count:,})" for key, count in info.metadata_columns.items()]
    more = [f"{len(columns) - _MOST_COLUMNS:,} more"] * (len(columns) > _MOST_COLUMNS)
    yield "metadata columns", ", ".join([*columns[:_MOST_COLUMNS], *more]) or _UNDEFINED


def push_page(pushed: Mapping[str, Any]) -> Page:
    """Return what became of the questions of a dataset in LangSmith.

    Args:
        pushed: The record of a push.
    """
    rows = {
        "created": pushed["created"],
        "updated": pushed["updated"],
        "edited in LangSmith": pushed["edited"],
        "unchanged": pushed["unchanged"],
        "deleted": pushed["deleted"],
        "only in LangSmith": pushed["missing"],
    }
    always = ("created", "updated", "unchanged")
    listed = {name: _listed(ids) for name, ids in rows.items() if ids or name in always}
    if pushed["left_out"]:
        listed["not kept"] = f"{', '.join(pushed['left_out'])}: in the file only"
    lines = (line(text, indent=_PUSHED, before=name, role="muted") for name, text in listed.items())
    title = f"{name_line(pushed['name'])}{' (new)' if pushed['is_new'] else ''}: {pushed['url']}"
    return Page(title, (Lines(tuple(lines)),))


def _listed(ids: Sequence[str]) -> str:
    named = ", ".join(map(name_line, ids[:_MOST_IDS]))
    more = f" and {len(ids) - _MOST_IDS:,} more" if len(ids) > _MOST_IDS else ""
    return f"{len(ids):,}: {named}{more}" if ids else "0"
