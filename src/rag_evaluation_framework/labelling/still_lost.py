"""Quotes of labels that were lost: located without its last sign, such a quote is a part of another sentence."""

import re
from dataclasses import replace

from rag_evaluation_framework._outside import one_line
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.label_change import LOST
from rag_evaluation_framework.labelling.quote_check import QuoteCheck
from rag_evaluation_framework.labelling.quote_row import QuoteRow
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.quotes.ends import FINAL
from rag_evaluation_framework.quotes.shown_text import ShownText

_AHEAD = 60  # characters that are read behind a place
_GOES_ON = re.compile(r"(?:[ \t]|\n(?!\s*\n))*[\w,;:]")


def without_lost(check: QuoteCheck, dataset: Dataset[CharacterSpan], corpus: Corpus) -> QuoteCheck:
    """Return a check whose quotes are missing if a label of their question was lost, and the sentence goes on now.

    "Data is kept in memory." was lost as the document says "Data is kept in memory only."; that it holds all but the
    full stop is no news.

    Args:
        check: The check of a table.
        dataset: The dataset that skips the questions whose labels were lost.
        corpus: The documents.
    """
    lost = {label.query for label in dataset.skipped if label.reason.startswith(LOST)}
    names = {query.id for query in lost} | {_words(query.text) for query in lost}
    rows = tuple(_row(row, corpus) if (row.id or _words(row.question)) in names else row for row in check.rows)
    return replace(check, rows=rows)


def _row(row: QuoteRow, corpus: Corpus) -> QuoteRow:
    if FINAL not in row.ignoring:
        return row
    behind = _behind(row.places[0][-1], corpus)
    if not _GOES_ON.match(behind):
        return row
    advice = (
        f"its label was lost, and where its last sign was the document goes on: “…{one_line(behind).rstrip()}…”; quote "
        "what it says now"
    )
    return replace(row, status="missing", places=(), ignoring=(), advice=advice)


def _behind(span: CharacterSpan, corpus: Corpus) -> str:
    """Return what readers are shown behind a span."""
    content = corpus[span.doc_id].content
    return ShownText.of(markup_of(span.doc_id, content), span.end, span.end + _AHEAD).text


def _words(text: str) -> str:
    return " ".join(text.split())
