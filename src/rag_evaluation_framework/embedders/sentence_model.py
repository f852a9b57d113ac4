"""What the backends of SentenceTransformerEmbedder have in common."""

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

TOKENS_ON_CPU = 1024
"""More tokens at once leave the caches: batches of 8 chunks went through a third faster than batches of 32."""

TOKENS_ON_GPU = 16_384
"""Fewer leave it idle, above all those of short texts; more take memory, and went through hardly faster (H200)."""


@dataclass(frozen=True)
class ModelSettings:
    """What is known of a model beside its weights.

    Attributes:
        dimension: The length of a vector.
        limit: The most tokens that the model reads of a text, its special tokens included; None if there is no limit.
        pad: The token that fills a batch up.
        document_prompt: What the model wants in front of a text of the corpus.
        query_prompt: What the model wants in front of a question.
        tokens_at_once: The most tokens that a batch should have.
    """

    dimension: int
    limit: int | None
    pad: int
    document_prompt: str
    query_prompt: str
    tokens_at_once: int


class SentenceModel(Protocol):
    """A model that is loaded."""

    @property
    def settings(self) -> ModelSettings:
        """What is known of it."""
        ...

    @property
    def tokenizer(self) -> Any:
        """A `tokenizers.Tokenizer` that truncates at the limit and does not pad."""
        ...

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return one vector per text, shape (texts, dimension), of token ids and their mask, shape (texts, tokens)."""
        ...

    def token_vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return one vector per token, shape (texts, tokens, dimension); those of padding mean nothing."""
        ...


@contextmanager
def quiet() -> Generator[None]:
    """Keep the warnings of other libraries to their developers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
