"""Locating text in the corpus: verbatim or up to white space, never by similarity."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from weakref import WeakValueDictionary

from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.text.searched_texts import SearchedTexts
from rag_evaluation_framework.text.white_space import CollapsedText


class TextLocator:
    """Locates texts in the documents of a corpus.

    A text is located where it occurs verbatim or, if it occurs nowhere verbatim, where it differs only in the amount
    and kind of white space. Spans always cover the document's own characters.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._known: dict[tuple[str, str | None], tuple[int, list[CharacterSpan]]] = {}  # the limit, and what was found

    @classmethod
    def of(cls, corpus: Corpus) -> "TextLocator":
        """Return the locator of a corpus that all who look for texts in it share, for as long as one of them has it.

        What is costly, the index of the texts and the places that were found, is so made once.
        """
        locator = _shared.get(id(corpus))  # the locator holds its corpus, so the id is not used again while it lives
        if locator is None:
            locator = _shared[id(corpus)] = cls(corpus)
        return locator

    def places(self, text: str, doc_id: str | None = None, limit: int = 20) -> list[CharacterSpan]:
        """Return the occurrences of a text, in document order.

        Args:
            text: The text to look for; blank text is never found.
            doc_id: Search only this document.
            limit: Stop after this many occurrences.

        Returns:
            Spans with the document's text; empty if the text was not found.
        """
        known = self._known.get((text, doc_id))
        if known is None or known[0] < limit:
            found = list(islice(self.occurrences(text, doc_id), limit))
            self._known[text, doc_id] = known = (limit, found)
        return known[1][:limit]

    def places_in_context(
        self, text: str, before: str = "", after: str = "", doc_id: str | None = None, limit: int = 20
    ) -> list[CharacterSpan]:
        """Return where a text occurs between two others, all of it up to white space, in document order.

        Other than `places`, it counts an occurrence with other white space also where there is a verbatim one.

        Args:
            text: The text to look for; blank text is never found.
            before: What has to stand before it, without anything between; cut anywhere.
            after: What has to stand behind it.
            doc_id: Search only this document.
            limit: Stop after this many occurrences.

        Returns:
            Spans of the text alone, with the document's text; they begin and end with no white space.
        """
        number = None if doc_id is None else self._numbers.get(DocumentId(doc_id))
        core = " ".join(text.split())
        if not core or (doc_id is not None and number is None):
            return []
        leading = text[: len(text) - len(text.lstrip())]
        whole, ahead = " ".join(f"{before}{text}{after}".split()), len(" ".join(f"{before}{leading}.".split())) - 1
        found = islice(self._spaced.occurrences(whole, number), limit)
        return [self._uncollapsed(part, start + ahead, len(core)) for part, start in found]

    def occurs_once(self, text: str) -> bool:
        """Return whether a text stands in one place of all documents, up to white space."""
        core = " ".join(text.split())
        return bool(core) and len(list(islice(self._spaced.occurrences(core), 2))) == 1

    def occurrences(self, text: str, doc_id: str | None = None) -> Iterator[CharacterSpan]:
        """Yield the places where a text occurs verbatim or, if there are none, up to white space; none of a blank."""
        if not text.strip():
            return
        number = None if doc_id is None else self._numbers.get(DocumentId(doc_id))
        if doc_id is not None and number is None:
            return
        verbatim = False
        for found, start in self._exact.occurrences(text, number):
            verbatim = True
            document = self.corpus.documents[found]
            yield CharacterSpan(document.id, start, start + len(text), str(text))  # one text for all its places
        if verbatim:
            return
        spaced, shown = " ".join(text.split()), ""
        for found, start in self._spaced.occurrences(spaced, number):
            span = self._uncollapsed(found, start, len(spaced))
            shown = shown if span.text == shown else span.text  # mostly one text for all its places
            yield replace(span, text=shown)

    def _uncollapsed(self, number: int, start: int, length: int) -> CharacterSpan:
        """Return the span of characters of a document of which every run of white space is one blank."""
        collapsed = self._collapsed[number]
        return self._span(number, collapsed.offset(start), collapsed.offset(start + length - 1) + 1)

    def _span(self, number: int, start: int, end: int) -> CharacterSpan:
        document = self.corpus.documents[number]
        return CharacterSpan(document.id, start, end, document.content[start:end])

    @cached_property
    def _numbers(self) -> dict[DocumentId, int]:
        return {document.id: number for number, document in enumerate(self.corpus)}

    @cached_property
    def _exact(self) -> SearchedTexts:
        return SearchedTexts([document.content for document in self.corpus])

    @cached_property
    def _collapsed(self) -> list[CollapsedText]:
        return [CollapsedText(document.content) for document in self.corpus]

    @cached_property
    def _spaced(self) -> SearchedTexts:
        return SearchedTexts([collapsed.text for collapsed in self._collapsed])


_shared: WeakValueDictionary[int, TextLocator] = WeakValueDictionary()
