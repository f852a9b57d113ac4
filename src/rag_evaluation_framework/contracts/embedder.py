"""Turning text into vectors."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.contracts.part import Part
from rag_evaluation_framework.coroutines import resolved


class Embedder(Part, ABC):
    """Turns texts into vectors whose cosine says how alike they are."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The length of a vector."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text: float32, shape (len(texts), dimension), row i for text i."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question: float32, shape (dimension,). By default, as any other text."""
        vector: NDArray[np.float32] = resolved(self.embed([text]))[0]
        return vector

    def fit(self, documents: Sequence[str]) -> "Embedder":
        """Return an embedder that has learnt what it needs from the documents of the corpus.

        Embedders with trained weights have nothing to learn and return themselves. The embedder that is called stays
        as it is. Whole documents are given, never chunks, so that the vectors do not depend on the chunker.
        """
        del documents
        return self
