"""Headings: under which a part of a document stands, so that it is known what it speaks of."""

from bisect import bisect_right

from rag_evaluation_framework.chunkers.markdown_header import MarkdownHeaderChunker
from rag_evaluation_framework.data.documents import Corpus, Document
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.markups.formats import is_markdown


class Headings:
    """The headings of the Markdown documents of a corpus.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[DocumentId, tuple[list[int], list[str]]] = {}

    def longest(self, doc_id: DocumentId) -> str:
        """Return the longest of the headings of a document."""
        return max(self._of(doc_id)[1], key=len)

    def at(self, doc_id: DocumentId, offset: int | None) -> str:
        """Return the headings of a place, from the outermost: `Billing > Refunds`; "" without any."""
        if offset is None or doc_id not in self._corpus:
            return ""
        starts, titles = self._of(doc_id)
        return titles[bisect_right(starts, offset)]

    def _of(self, doc_id: DocumentId) -> tuple[list[int], list[str]]:
        if doc_id not in self._known:
            self._known[doc_id] = _headings(self._corpus[doc_id])
        return self._known[doc_id]


def _headings(document: Document) -> tuple[list[int], list[str]]:
    """Return where the sections of a document begin, and the headings of what is before the first, and of each."""
    if not is_markdown(document.id):
        return [], [""]
    sections = MarkdownHeaderChunker(chunk_size=max(len(document.content), 1)).chunk_with_positions(document)
    return [each.start for each in sections], ["", *(str(each.metadata["section"]) for each in sections)]
