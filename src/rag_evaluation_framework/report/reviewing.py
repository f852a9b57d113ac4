"""A question of a dataset as a person reviews it: its wording, what is known of it, and its answers where they are."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import name_line, one_line, shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.reviews import REVIEW, Review
from rag_evaluation_framework.inspection.findings import Finding
from rag_evaluation_framework.inspection.labelled_text import Label, LabelTexts, units_of
from rag_evaluation_framework.report.excerpts import ExcerptSize, show_excerpt
from rag_evaluation_framework.report.quotes import folder_of
from rag_evaluation_framework.report.wrapped import print_wrapped, quoted

_FIRST = ("strategy", "persona", "difficulty", "query_type", "style", "source_docs", "generation_model")
_UNTOLD = (REVIEW, "prompt_versions")  # what nobody can judge a question by
_MOST_WORDING = 1_000  # characters
_MOST_KNOWN = 500  # characters of metadata
_MOST_VALUE = 80
_MOST_PLACES = 3
_BEGIN = 400  # characters of a document that is relevant as a whole
_VERDICTS = {"accepted": "green", "dropped": "red"}
_DETAIL = 2


def show_reviewed(console: Console, query: Query, review: Review, findings: Iterable[Finding]) -> None:
    """Print a question, what was decided about it, what is known of it, and what a check found.

    Args:
        console: Where to print.
        query: The question, as its file has it.
        review: Its review.
        findings: The errors and warnings about it.
    """
    print_wrapped(console, Text(one_line(review.wording or query.text, _MOST_WORDING), "bold"), 0)
    before = review.earlier_wording or (query.text if review.wording else "")
    if before:
        print_wrapped(console, Text(f"reworded; it was: {one_line(before, _MOST_WORDING)}", "yellow"), _DETAIL, "  ")
    if review.verdict is not None:
        print_wrapped(console, Text(f"{review.verdict}; s keeps that", _VERDICTS[review.verdict]), _DETAIL, "  ")
    print_wrapped(console, Text(_known(query), "dim"), _DETAIL, "  ")
    for finding in findings:
        told = f"{finding.severity}: {finding.kind}: {finding.told}"
        print_wrapped(console, Text(told, "red" if finding.severity == "error" else "yellow"), _DETAIL, "  ")


def show_answers(
    console: Console, entry: GroundTruth[Any], dropped: Sequence[int], texts: LabelTexts, size: ExcerptSize
) -> None:
    """Print the answers of a question, each in its document as far as that is at hand.

    Args:
        console: Where to print.
        entry: The question, as its file has it.
        dropped: The numbers of the answers that were dropped, from 0.
        texts: Reads the labels.
        size: How much is shown of each.
    """
    labels = dict(zip(units_of(entry), texts.labels(entry), strict=True))
    count = len(entry.answers)
    if not count:
        print_wrapped(console, "No answer: the dataset says that nothing in the documents answers it.", 0)
    for number, answer in enumerate(entry.answers):
        (first, *rest), *others = [[labels[unit] for unit in place] for place in answer.places]
        if number:
            print_wrapped(console, "", 0)
        name = f"Answer {number + 1} of {count}" if count > 1 else "Answer"
        verdict = Text(", dropped", "red") if number in dropped else Text()
        print_wrapped(console, Text.assemble((name, "bold"), verdict, ": ", (_where(first, texts), "cyan")), 0)
        _show_label(console, first, texts, size)
        for label in rest:
            print_wrapped(console, Text.assemble("and ", (_where(label, texts), "cyan")), 0)
            _show_label(console, label, texts, size)
        _show_others(console, first, others, texts)


def _show_others(console: Console, first: Label, others: Sequence[Sequence[Label]], texts: LabelTexts) -> None:
    """Print at which other places an answer is, with their texts where these differ; of many the first three."""
    for place in others[:_MOST_PLACES]:
        where = ", ".join(_where(label, texts) for label in place)
        told = " ".join(quoted(label.text) for label in place if label.text is not None and not _same(label, first))
        print_wrapped(console, Text.assemble("or at ", (where, "cyan"), f" {told}" if told else ""), 0)
    if len(others) > _MOST_PLACES:
        print_wrapped(console, f"or at {len(others) - _MOST_PLACES:,} more places", 0)


def _same(label: Label, other: Label) -> bool:
    return other.text is not None and (label.text or "").split() == other.text.split()


def _show_label(console: Console, label: Label, texts: LabelTexts, size: ExcerptSize) -> None:
    span, corpus = label.span, texts.corpus
    if span is not None and label.problem is None and corpus is not None:
        content = corpus[span.doc_id].content
        show_excerpt(console, content[: span.start], content[span.start : span.end], content[span.end :], size)
    elif label.text is not None:
        before, after = ("", "") if span is None else texts.dataset.contexts.around.get(span, ("", ""))
        show_excerpt(console, before, label.text, after, size)
    elif corpus is not None and label.unit in corpus:
        show_excerpt(console, "", corpus[label.unit].content.lstrip()[:_BEGIN], "", size)
    else:
        print_wrapped(console, Text(f"({_told(label, corpus)})", "dim"), 4, "    ")


def _told(label: Label, corpus: Corpus | None) -> str:
    """Return what can be told of a label whose text cannot be shown; of a prefix, the documents that have it."""
    if label.problem is not None:
        return label.problem[1]
    prefix = label.unit.removesuffix("*") if isinstance(label.unit, str) else ""
    found = [] if corpus is None else [document.id for document in corpus if document.id.startswith(prefix)]
    if corpus is None or not label.unit.endswith("*") or not found:
        return "the text is not at hand"
    more = f" and {len(found) - _MOST_PLACES:,} more" if len(found) > _MOST_PLACES else ""
    return f"any document whose id begins with it: {', '.join(map(name_line, found[:_MOST_PLACES]))}{more}"


def _where(label: Label, texts: LabelTexts) -> str:
    inside = "" if texts.corpus is None else folder_of(texts.corpus)
    if label.span is not None:
        return f"{inside}{texts.where(label.span)}"
    return f"{inside if texts.corpus is not None and label.unit in texts.corpus else ''}{name_line(label.unit)}"


def _known(query: Query) -> str:
    """Return the id of a question and its metadata on one line, what tells most first."""
    first = [key for key in _FIRST if key in query.metadata]
    keys = [*first, *(key for key in query.metadata if key not in (*first, *_UNTOLD))]
    told = [f"{name_line(key)}: {_value(query.metadata[key])}" for key in keys]
    return one_line(", ".join([f"id: {name_line(query.id)}", *told]), _MOST_KNOWN)


def _value(value: object) -> str:
    if isinstance(value, str):
        return one_line(value, _MOST_VALUE)
    if isinstance(value, list):
        return one_line(", ".join(map(str, cast("list[object]", value))), _MOST_VALUE)
    return shown(value, _MOST_VALUE)
