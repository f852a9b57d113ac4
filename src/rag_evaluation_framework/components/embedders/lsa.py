"""Latent semantic analysis: vectors learnt from the corpus itself."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.optional import require
from ...base.outside import shown
from ...base.progress import AFTER, progress_bar
from ...contracts.component import check_count
from ...contracts.roles import Embedder
from ...errors import ConfigError, InputError, NotIndexed
from ...statistics.nearest import unit

_PASSAGE = re.compile(r"(?:\S+\s*){1,100}")
_LARGEST_SEED = 2**32 - 1
_MANY = 5_000  # passages: fitting takes seconds, of which no step tells
_WORD = r"(?u)\b\w+\b"  # words of a single letter included


class _Model(NamedTuple):
    vectorizer: Any
    words: NDArray[np.float64]  # a vector for each word, in C order: SciPy copies any other one for each text


@dataclass(frozen=True)
class LsaEmbedder(Embedder):
    """TF-IDF and a truncated singular value decomposition, fitted on passages of the corpus's documents.

    It needs no weights, no key and no network. The passages are runs of 100 words of each document, so the vectors do
    not depend on the chunker that is evaluated. Deerwester et al. 1990, "Indexing by Latent Semantic Analysis".

    Attributes:
        dimensions: The most dimensions of a vector; a small corpus has fewer.
        seed: Seed of the randomised decomposition.

    Raises:
        ConfigError: `dimensions` is below 1, or `seed` is not a whole number from 0 to 4,294,967,295.
    """

    requires: ClassVar[Mapping[str, str]] = {"sklearn": "local"}

    dimensions: int = 128
    seed: int = 0
    _model: _Model | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_count("LsaEmbedder", "dimensions", self.dimensions)
        check_count("LsaEmbedder", "seed", self.seed, least=0)
        if self.seed > _LARGEST_SEED:
            raise ConfigError(f"LsaEmbedder: seed={shown(self.seed)}; expected at most {_LARGEST_SEED}")

    @property
    def dimension(self) -> int:
        """The length of a vector.

        Raises:
            NotIndexed: The embedder has not been fitted.
        """
        return len(self._fitted.words[0])

    def fit(self, documents: Sequence[str]) -> "LsaEmbedder":
        """Return an embedder fitted on the passages of these documents.

        Raises:
            MissingDependency: scikit-learn is not installed.
            InputError: The documents hold no words.
        """
        text = require("sklearn.feature_extraction.text", extra="local", needed_by="LsaEmbedder")
        extmath = require("sklearn.utils.extmath", extra="local", needed_by="LsaEmbedder")
        passages = [passage for document in documents for passage in _PASSAGE.findall(document)]
        vectorizer = text.TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", token_pattern=_WORD)
        with progress_bar(2, "Fitting LSA", "step", delay=0 if len(passages) > _MANY else AFTER) as bar:
            try:
                weights = vectorizer.fit_transform(passages)
            except ValueError as error:
                raise InputError("LsaEmbedder: the documents hold no words to learn from") from error
            bar.update()
            size = min(self.dimensions, *weights.shape)
            _, _, components = extmath.randomized_svd(weights, size, random_state=self.seed)
        fitted = LsaEmbedder(self.dimensions, self.seed)
        object.__setattr__(fitted, "_model", _Model(vectorizer, np.ascontiguousarray(components.T)))
        return fitted

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, float32, shape (len(texts), dimension); zeros for a text of unknown words.

        Raises:
            NotIndexed: The embedder has not been fitted.
        """
        model = self._fitted
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit(model.vectorizer.transform(texts) @ model.words).astype(np.float32)

    @property
    def _fitted(self) -> _Model:
        if self._model is None:
            raise NotIndexed("LsaEmbedder learns from the corpus: call fit(documents) first, and use what it returns")
        return self._model
