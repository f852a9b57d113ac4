"""Conformance suite for embedders."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..base.coroutines import adapted
from ..contracts.roles import Embedder
from ..errors import NotIndexed
from .conformance import DOCUMENTS, OTHER_DOCUMENTS, QUESTIONS, STRANGE_QUESTIONS, assert_named

_DOCUMENTS, _OTHER_DOCUMENTS = (*DOCUMENTS.values(),), (*OTHER_DOCUMENTS.values(),)
_TEXTS = (*QUESTIONS, "検索 🚀 zzzqqq")
_UNKNOWN, _EMOJI, *_ = STRANGE_QUESTIONS
_LONG = "refund " * 5_000


class EmbedderConformance(ABC):
    """Conformance suite for embedders: subclass it, return yours from `make`, and let pytest collect the subclass.

    Attributes:
        tolerance: How far a number of a vector may be off when a text is embedded in another batch, relative to the
            length of the vector.
    """

    tolerance: ClassVar[float] = 1e-5

    @abstractmethod
    def make(self) -> Embedder:
        """Return the embedder under test; one that learns from the corpus need not be fitted."""

    def test_vectors_are_rows_of_float32(self) -> None:
        """`embed` returns a float32 array of shape (len(texts), dimension)."""
        embedder = self._fitted()
        vectors = embedder.embed(_TEXTS)
        assert vectors.dtype == np.float32, f"dtype {vectors.dtype}, expected float32"
        expected = (len(_TEXTS), embedder.dimension)
        assert vectors.shape == expected, f"shape {vectors.shape}, expected {expected}"

    def test_row_i_is_the_vector_of_text_i(self) -> None:
        """A text has the same vector whatever the other texts of the batch, and in any order."""
        embedder = self._fitted()
        vectors = embedder.embed(_TEXTS)
        for number, text in enumerate(_TEXTS):
            self._assert_close(embedder.embed([text])[0], vectors[number], f"{text!r} alone and in a batch")
        self._assert_close(embedder.embed(_TEXTS[::-1])[::-1], vectors, "the texts in reverse order")

    def test_different_texts_have_different_vectors(self) -> None:
        """Texts about different things have different vectors."""
        first, second = self._fitted().embed(_TEXTS[:2])
        assert not np.allclose(first, second), f"{_TEXTS[0]!r} and {_TEXTS[1]!r} have the same vector"

    def test_vectors_are_finite(self) -> None:
        """No NaN and no infinity, whatever the text."""
        vectors = self._fitted().embed([*_TEXTS, _EMOJI, _UNKNOWN, _LONG])
        assert np.isfinite(vectors).all(), f"NaN or infinity in the rows {np.flatnonzero(~np.isfinite(vectors).all(1))}"

    def test_a_question_is_one_vector(self) -> None:
        """`embed_query` returns a finite float32 array of shape (dimension,)."""
        embedder = self._fitted()
        for text in (_TEXTS[0], _EMOJI, _UNKNOWN):
            vector = embedder.embed_query(text)
            assert vector.shape == (embedder.dimension,), f"shape {vector.shape}, expected ({embedder.dimension},)"
            assert vector.dtype == np.float32, f"dtype {vector.dtype}, expected float32"
            assert np.isfinite(vector).all(), f"the vector of {text!r} holds NaN or infinity"

    def test_vectors_are_the_same_every_time(self) -> None:
        """The same texts give the same vectors, also after fitting again."""
        embedder = self._fitted()
        vectors, query = embedder.embed(_TEXTS), embedder.embed_query(_TEXTS[0])
        self._assert_close(embedder.embed(_TEXTS), vectors, "embed called twice")
        self._assert_close(embedder.embed_query(_TEXTS[0]), query, "embed_query called twice")
        self._assert_close(self._fitted().embed(_TEXTS), vectors, "another embedder fitted on the same documents")

    def test_fit_does_not_change_the_embedder(self) -> None:
        """`fit` returns an embedder; the one it was called on embeds as before, or still has to be fitted."""
        embedder = adapted(self.make())
        before = _if_fitted(lambda: embedder.embed(_TEXTS))
        fitted = embedder.fit(_DOCUMENTS)
        assert isinstance(fitted, Embedder), f"fit returned {fitted!r}, expected an embedder"
        after = _if_fitted(lambda: embedder.embed(_TEXTS))
        assert (before is None) == (after is None), "fit changed whether the original is fitted"
        if before is not None and after is not None:
            self._assert_close(after, before, "embed before and after fit")

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time."""
        assert_named(self.make(), self.make())

    def _fitted(self) -> Embedder:
        return adapted(adapted(self.make()).fit(_DOCUMENTS))

    def _assert_close(self, got: NDArray[np.float32], expected: NDArray[np.float32], what: str) -> None:
        assert got.shape == expected.shape, f"{what}: shape {got.shape}, then {expected.shape}"
        scale = max(1e-30, float(np.linalg.norm(expected, axis=-1).max(initial=0)))
        off = float(np.abs(got - expected).max(initial=0)) / scale
        assert off <= self.tolerance, f"{what}: vectors differ by {off:.2g} of their length, allowed {self.tolerance:g}"


def _if_fitted(embed: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32] | None:
    try:
        return embed()
    except NotIndexed:
        return None
