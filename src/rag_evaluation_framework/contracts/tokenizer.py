"""Tokenizers: measuring and cutting text in tokens."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.contracts.component import Component


class Tokenizer(Component, ABC):
    """Cuts text into tokens and says where each of them starts."""

    @abstractmethod
    def encode(self, text: str) -> Sequence[Hashable]:
        """Return the tokens; text that looks like a special token is ordinary text."""

    @abstractmethod
    def offsets(self, text: str) -> NDArray[np.int64]:
        """Return where each token starts: ascending character offsets, shape (number of tokens,).

        A token that begins inside a character starts at the next one; the first token starts at 0.
        """

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        return len(self.encode(text))

    def cut(self, text: str, tokens: int) -> int:
        """Return the length, in characters, of what the first `tokens` tokens cover."""
        starts = self.offsets(text)
        return int(starts[tokens]) if tokens < len(starts) else len(text)
