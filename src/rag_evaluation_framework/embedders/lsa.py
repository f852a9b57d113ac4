"""Latent semantic analysis: vectors learnt from the corpus itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._optional import require
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.errors import ConfigError, InputError, NotIndexed

_PASSAGE = re.compile(r"(?:\S+\s*){1,100}")


@dataclass(frozen=True)
class LsaEmbedder(Embedder):
    """TF-IDF and a truncated singular value decomposition, fitted on passages of the corpus's documents.

    It needs no weights, no key and no network. The passages are runs of 100 words of each document, so the vectors do
    not depend on the chunker that is evaluated. Deerwester et al. 1990, "Indexing by Latent Semantic Analysis".

    Attributes:
        dimensions: The most dimensions of a vector; a small corpus has fewer.
        seed: Seed of the randomised decomposition.

    Raises:
        ConfigError: `dimensions` is below 1.
    """

    dimensions: int = 128
    seed: int = 0
    _model: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise ConfigError(f"LsaEmbedder: dimensions={self.dimensions}; wanted at least 1")

    @property
    def dimension(self) -> int:
        """The length of a vector.

        Raises:
            NotIndexed: The embedder has not been fitted.
        """
        return int(self._fitted[-2].components_.shape[0])

    def fit(self, documents: Sequence[str]) -> "LsaEmbedder":
        """Return an embedder fitted on the passages of these documents.

        Raises:
            MissingDependency: scikit-learn is not installed.
            InputError: The documents hold no words.
        """
        text = require("sklearn.feature_extraction.text", extra="local", needed_by="LsaEmbedder")
        decomposition = require("sklearn.decomposition", extra="local", needed_by="LsaEmbedder")
        pipeline = require("sklearn.pipeline", extra="local", needed_by="LsaEmbedder")
        preprocessing = require("sklearn.preprocessing", extra="local", needed_by="LsaEmbedder")
        passages = [passage for document in documents for passage in _PASSAGE.findall(document)]
        vectorizer = text.TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", token_pattern=r"(?u)\b\w+\b")
        try:
            vectorizer.fit(passages)
        except ValueError as error:
            raise InputError("LsaEmbedder: the documents hold no words to learn from") from error
        rank = min(self.dimensions, len(passages), len(vectorizer.vocabulary_))
        svd = decomposition.TruncatedSVD(rank, random_state=self.seed)
        fitted = LsaEmbedder(self.dimensions, self.seed)
        model = pipeline.make_pipeline(vectorizer, svd, preprocessing.Normalizer(copy=False))
        object.__setattr__(fitted, "_model", model.fit(passages))
        return fitted

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, float32, shape (len(texts), dimension); zeros for a text of unknown words.

        Raises:
            NotIndexed: The embedder has not been fitted.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        vectors: NDArray[np.float32] = self._fitted.transform(texts).astype(np.float32)
        return vectors

    @property
    def _fitted(self) -> Any:
        if self._model is None:
            raise NotIndexed("LsaEmbedder learns from the corpus: call fit(documents) first, and use what it returns")
        return self._model
