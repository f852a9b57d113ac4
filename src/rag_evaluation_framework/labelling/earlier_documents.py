"""What is known of documents when they were labelled: which are unchanged, and which have another name now."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.document_resolver import is_same_path
from rag_evaluation_framework.data.documents import Corpus, Document


class EarlierDocuments:
    """Documents as they were when they were labelled, by their hashes.

    Args:
        anchors: The labels; some know the hash of their document.
        corpus: The documents as they are now.
        known: The hashes of all others, by id.

    Attributes:
        now: The hash of each document of the corpus, by id.
        renamed: The names of documents that have the text that was known under another name.
    """

    def __init__(self, anchors: Sequence[Anchor], corpus: Corpus, known: Mapping[str, str]) -> None:
        self._known = known
        lost = {(anchor.doc_id, anchor.document) for anchor in anchors}
        self._by_hash: dict[str, list[Document]] = defaultdict(list)
        names: dict[str, set[str]] = defaultdict(set)
        for doc_id, digest in (*known.items(), *lost):
            names[digest].add(doc_id)
        self.now: dict[str, str] = {document.id: document.content_hash for document in corpus}
        self._unchanged = {doc_id for doc_id, digest in self.now.items() if known.get(doc_id) == digest}
        self._restored = {doc_id for doc_id, digest in self.now.items() if (doc_id, digest) in lost} - self._unchanged
        for document in corpus:
            digest = self.now[document.id]
            if names[digest] and document.id not in names[digest]:
                self._by_hash[digest].append(document)
        self.renamed = {document.id for found in self._by_hash.values() for document in found}

    def hash_of(self, anchor: Anchor) -> str:
        """Return the hash of the document of a label when it was labelled; "" if it is not known."""
        return anchor.document or self._known.get(anchor.doc_id, "")

    def under_another_name(self, anchor: Anchor) -> list[Document]:
        """Return the documents that have the text of that of a label under names that it did not have.

        Those that have its path from another folder up or down, if there are any.
        """
        found = self._by_hash.get(self.hash_of(anchor), [])
        return [document for document in found if is_same_path(anchor.doc_id, document.id)] or found

    def had_all(self, anchor: Anchor, doc_id: str) -> bool:
        """Return whether all that is in a document was in another one than that of a label already."""
        was_there = doc_id in self._unchanged or (doc_id in self._restored and doc_id not in anchor.was_in)
        if doc_id != anchor.doc_id and was_there:
            return True
        return doc_id in self.renamed and self.now[doc_id] != self.hash_of(anchor)
