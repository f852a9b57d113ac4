"""The retrieval system that `rag-eval` evaluates in this repository.

It runs as it is, in memory. Put your own system in its place: `retrieve` is all that is needed. `ingest` and `delete`
let a run write the documents of a dataset; leave them out where it only searches what is there. Methods may be `async`.
"""

from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework import BM25Retriever, Corpus, Document, RecursiveCharacterChunker


class Engine:
    """Searches the documents that it is given."""

    def __init__(self) -> None:
        """Connect to what is needed: a database, a model, a client. Read secrets from the environment."""
        self.documents: dict[str, Document] = {}
        self.indexes: dict[str, BM25Retriever] = {}

    def retrieve(self, query: str, top_k: int, scope: str) -> Sequence[Any]:
        """Return the best `top_k` results, best first, of documents whose ids begin with `scope`.

        A result is a dict with what is known of `doc_id`, `start`, `end`, `text` and `score`; `doc_id` is enough.
        """
        if scope not in self.indexes:
            inside = [document for name, document in self.documents.items() if name.startswith(scope)]
            if not inside:
                return []
            self.indexes[scope] = BM25Retriever(RecursiveCharacterChunker(chunk_size=400))
            self.indexes[scope].index(Corpus(inside))
        return self.indexes[scope].retrieve(query, top_k).hits

    def ingest(self, document: Document) -> None:
        """Add a document (`id`, `content`, `metadata`), in place of one of the same id."""
        self.documents[document.id] = document
        self.indexes = {}

    def delete(self, scope_prefix: str) -> None:
        """Remove the documents whose ids begin with the prefix, letter for letter, and no other."""
        self.documents = {name: kept for name, kept in self.documents.items() if not name.startswith(scope_prefix)}
        self.indexes = {}

    def close(self) -> None:
        """Release what `__init__` opened; called once, when the run is over."""


def make() -> Engine:
    """Return the engine; config.yaml names this function."""
    return Engine()
