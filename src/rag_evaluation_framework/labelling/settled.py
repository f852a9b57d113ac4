"""Quotes of labels that a dataset has: where they are is settled, whatever else has their text by now."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.document_resolver import DocumentResolver, is_same_path
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.quote_check import QuoteCheck
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES, QuoteRow
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator


def with_settled(check: QuoteCheck, dataset: Dataset[CharacterSpan], corpus: Corpus) -> QuoteCheck:
    """Return a check in which the quotes of labels that a dataset has are located where these are.

    The table may be the one that the dataset was made of: it names documents as they were called then, and its quotes
    may stand in several places, of which a person has chosen one. A row that names another document, or asks for any
    place, is not settled.

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
        if row.quote.strip()
        and not row.asks_for_any
        and len(known := entries.get(row.id or _words(row.question), [])) == 1
        else row
        for row in check.rows
    ]
    return replace(check, rows=tuple(rows))


class _Settled:
    """Tells which quotes are those of labels; each label is that of one row."""

    def __init__(self, dataset: Dataset[CharacterSpan], corpus: Corpus) -> None:
        self.locator, self.resolver, self.was_in = QuoteLocator.of(corpus), DocumentResolver(corpus), dataset.was_in
        self._taken: dict[str, set[CharacterSpan]] = defaultdict(set)

    def row(self, row: QuoteRow, entry: GroundTruth[CharacterSpan]) -> QuoteRow:
        """Return a row located at labels of its question if its quote is theirs; as it is, if it is not."""
        taken, name = self._taken[entry.query.id], row.document.strip()
        left = set(entry.labels) - taken
        called = {span.doc_id: self._called(entry, span.doc_id) for span in entry.labels if span in left}
        located = [
            found
            for doc_id in sorted(called, key=lambda doc_id: name not in called[doc_id])  # those called so first
            if not self._names_another(name, doc_id, called[doc_id])
            for found in [self.locator.locate(row.quote, doc_id, MOST_OCCURRENCES)]
        ]
        places = [place for found in located for place in found.places if left.issuperset(place)]
        if not places:
            return row
        if row.status == "ambiguous":  # then it may stand for all places of an answer
            answer = next((answer for answer in entry.answers if places[0] in answer.places), None)
            places = [place for place in places if answer is not None and place in answer.places] or places[:1]
        else:
            places = places[:1]
        taken.update(span for place in places for span in place)
        ignoring = next(found.ignoring for found in located if places[0] in found.places)
        return replace(row, status="located", places=tuple(places), ignoring=ignoring, advice="", suggestion=None)

    def _called(self, entry: GroundTruth[CharacterSpan], doc_id: str) -> Sequence[str]:
        """Return what the document of a label was called before; if it always was called so, that."""
        return self.was_in.get(entry.query.id, {}).get(doc_id, ()) or (doc_id,)

    def _names_another(self, name: str, doc_id: str, called: Sequence[str]) -> bool:
        """Return whether a row names another document than that of a label.

        A name that the document had, or has, names it; otherwise what it names now counts, if there is such a document.
        """
        if not name or name in called:
            return False
        named = self.resolver.in_corpus(name)
        if name not in named and any(self.resolver.is_whole(name, known) for known in (*called, doc_id)):
            return False
        return doc_id not in named if named else not any(is_same_path(name, known) for known in called)


def _words(text: str) -> str:
    return " ".join(text.split())
