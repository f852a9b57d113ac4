"""Quotes of labels that a dataset has: where they are is settled, whatever else has their text by now."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.document_resolver import DocumentResolver, is_same_path
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.quote_check import QuoteCheck
from rag_evaluation_framework.labelling.quote_row import QuoteRow
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator

_MOST_PLACES = 20


def with_settled(check: QuoteCheck, dataset: Dataset[CharacterSpan], corpus: Corpus) -> QuoteCheck:
    """Return a check in which the quotes of labels that a dataset has are located where these are.

    The table may be the one that the dataset was made of: it names documents as they were called then, and its quotes
    may stand in several places, of which a person has chosen one. A row that names another document is not settled.

    Args:
        check: The check of a table.
        dataset: The dataset, with its labels in these documents.
        corpus: The documents.
    """
    entries: dict[str, list[GroundTruth[CharacterSpan]]] = defaultdict(list)
    for entry in dataset:
        for name in {entry.query.id, _words(entry.query.text)}:
            entries[name].append(entry)
    settled = _Settled(dataset, corpus)
    rows = [
        settled.row(row, known[0])
        if row.quote.strip() and len(known := entries.get(row.id or _words(row.question), [])) == 1
        else row
        for row in check.rows
    ]
    return replace(check, rows=tuple(rows))


class _Settled:
    """Tells which quotes are those of labels."""

    def __init__(self, dataset: Dataset[CharacterSpan], corpus: Corpus) -> None:
        self.corpus, self.locator, self.was_in = corpus, QuoteLocator.of(corpus), dataset.was_in
        self.resolver = DocumentResolver(corpus)

    def row(self, row: QuoteRow, entry: GroundTruth[CharacterSpan]) -> QuoteRow:
        """Return a row located at labels of its question if its quote is theirs; as it is, if it is not."""
        labels, was_in = set(entry.relevant), self.was_in.get(entry.query.id, {})
        if row.status == "located" and labels.issuperset(row.places[0]):
            return row
        for doc_id in dict.fromkeys(span.doc_id for span in entry.relevant):
            if self._names_another(row.document, [doc_id, *was_in.get(doc_id, ())]):
                continue
            located = self.locator.locate(row.quote, doc_id, _MOST_PLACES)
            for place in located.places:
                if labels.issuperset(place):
                    return replace(
                        row, status="located", places=(place,), ignoring=located.ignoring, advice="", suggestion=None
                    )
        return row

    def _names_another(self, name: str, called: Sequence[str]) -> bool:
        """Return whether a row names a document, as it is called now, that is none of those that are called so."""
        name = name.strip()
        if not name or name in called:
            return False
        if name in self.corpus:
            return True
        if any(is_same_path(name, path) for doc_id in called for path in (doc_id, _stem(doc_id))):
            return False
        return bool(self.resolver.named(name))


def _stem(doc_id: str) -> str:
    path = PurePosixPath(doc_id)
    return str(path.parent / path.stem)


def _words(text: str) -> str:
    return " ".join(text.split())
