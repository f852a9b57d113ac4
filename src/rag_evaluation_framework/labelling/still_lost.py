"""Quotes of labels that were lost: what stands elsewhere now, or is no longer shown, is no answer without a person."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.document_resolver import names_fully
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.skipped import Skipped
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.label_change import LOST
from rag_evaluation_framework.labelling.quote_check import QuoteCheck
from rag_evaluation_framework.labelling.quote_row import QuoteRow
from rag_evaluation_framework.labelling.withdrawn import Withdrawn
from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.quotes.ends import FINAL
from rag_evaluation_framework.quotes.quote_locator import Located, QuoteLocator
from rag_evaluation_framework.quotes.shown_text import ShownText
from rag_evaluation_framework.quotes.suggestions import suggest_located

_AHEAD = 60  # characters that are read behind a place
_GOES_ON = re.compile(r"(?:[ \t]|\n(?!\s*\n))*[\w,;:]")
_REFUSAL = "its label was lost"


def without_lost(check: QuoteCheck, dataset: Dataset[CharacterSpan], corpus: Corpus) -> QuoteCheck:
    """Return a check in which quotes of lost labels are missing where they are no answer without a person.

    A quote with the text of a lost label of its question is taken only if its row names the document, in full if that
    is not the one of the label, and never where the text is hidden or struck out. "Data is kept in memory." was lost as
    the document says "Data is kept in memory only."; that it holds all but the full stop is no news either.

    Args:
        check: The check of a table.
        dataset: The dataset that skips the questions whose labels were lost.
        corpus: The documents.
    """
    lost: dict[str, list[Skipped]] = defaultdict(list)
    for label in dataset.skipped:
        if label.reason.startswith(LOST):
            for name in {label.query.id, _words(label.query.text)}:
                lost[name].append(label)
    lost_again = _LostAgain(corpus)
    rows = [
        lost_again.row(row, labels)
        if row.status == "located" and (labels := lost.get(row.id or _words(row.question)))
        else row
        for row in check.rows
    ]
    return replace(check, rows=tuple(rows))


class _LostAgain:
    """Tells which quotes of lost labels are no answers."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.withdrawn, self.locator = corpus, Withdrawn(corpus), QuoteLocator.of(corpus)

    def row(self, row: QuoteRow, lost: Sequence[Skipped]) -> QuoteRow:
        """Return a row that was located as missing if it is no answer; as it is, if it may be."""
        for label in lost:
            place = None if label.anchor is None else self._of_its_text(label.anchor, row)
            if label.anchor is None or place is None:
                continue
            was = f"its label in {name_line(label.anchor.doc_id)} was {label.reason}"
            if self.withdrawn.how(label.anchor, place):
                return _missing(row, f"{was}; quote what the documents say now")
            if place.doc_id == label.anchor.doc_id:
                more = "to take what it says there for its answer, quote more of it"
                return _missing(row, f"{was}; {more}, or another text")
            if not _is_named(row.document, label.anchor, place):
                suggestion = suggest_located(Located(row.places), self.locator, was, _REFUSAL)
                document = name_line(place.doc_id)
                advice = f"to take {name_line(suggestion.place)} for its answer, name {document} in the row; or quote"
                return replace(_missing(row, f"{was}; {advice} another text"), suggestion=suggestion)
        behind = _behind(row.places[0][-1], self.corpus) if FINAL in row.ignoring else ""
        if not _GOES_ON.match(behind):
            return row
        return _missing(
            row,
            "its label was lost, and where its last sign was the document goes on: "
            f"“…{one_line(behind).rstrip()}…”; quote what it says now",
        )

    def _of_its_text(self, anchor: Anchor, row: QuoteRow) -> CharacterSpan | None:
        """Return the place of a row that shows the text of a lost label; None if it has another quote."""
        text = shown_keys(anchor.doc_id, anchor.text)
        for span in row.places[0]:
            if shown_keys(span.doc_id, span.text) == text:
                return span
        return None


def _is_named(name: str, anchor: Anchor, place: CharacterSpan) -> bool:
    """Return whether a row names the document of a place, and not that of a lost label, which may be gone."""
    is_own = names_fully(name, anchor.doc_id) and names_fully(anchor.doc_id, place.doc_id)
    return names_fully(name, place.doc_id) and not is_own


def _missing(row: QuoteRow, advice: str) -> QuoteRow:
    return replace(row, status="missing", places=(), ignoring=(), advice=advice, suggestion=None)


def shown_keys(doc_id: str, source: str) -> str:
    """Return what a part of a document shows, as quotes are compared."""
    return "".join(map(key, markup_of(doc_id, source).shown(0, len(source))))


def _behind(span: CharacterSpan, corpus: Corpus) -> str:
    """Return what readers are shown behind a span."""
    content = corpus[span.doc_id].content
    return ShownText.of(markup_of(span.doc_id, content), span.end, span.end + _AHEAD).text


def _words(text: str) -> str:
    return " ".join(text.split())
