"""Functions as embedders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.contracts.component import check_function, function_name
from rag_evaluation_framework.contracts.embedder import Embedder, as_vectors


@dataclass(frozen=True)
class FunctionEmbedder(Embedder):
    """A plain function `(texts) -> vectors`: numbers of shape (len(texts), dimension), row i for text i.

    Questions are embedded as any other text, all together. The function may be a coroutine function.

    Attributes:
        function: What embeds a list of at least one text.

    Raises:
        ConfigError: `function` is not a function.
    """

    function: Callable[[list[str]], Any]

    def __post_init__(self) -> None:
        check_function("FunctionEmbedder", self.function)

    @property
    def name(self) -> str:
        """The function's name."""
        return function_name(self.function)

    @property
    def dimension(self) -> int:
        """The length of a vector; the function is called with one word to find out."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what the function returns as float32, shape (len(texts), dimension).

        Raises:
            InputError: It is not one vector of finite numbers per text.
        """
        given = list(texts)
        if not given:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return as_vectors(resolved(self.function(given)), f"the embedder function {self.name}", given)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""
        return self.embed(texts)

    @cached_property
    def _dimension(self) -> int:
        return len(self.embed_query("dimension"))
