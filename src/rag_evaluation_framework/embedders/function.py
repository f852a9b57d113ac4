"""Functions as embedders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import said, shown
from rag_evaluation_framework._support.coroutines import resolved
from rag_evaluation_framework.contracts.component import check_function, function_name
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.errors import InputError


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
        returned: Any = resolved(self.function(given))
        try:
            vectors = np.asarray(returned, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise self._unusable(shown(returned), given, f": {said(error)}") from error
        if vectors.ndim != 2 or len(vectors) != len(given) or not vectors.shape[1]:
            told = f"shape {vectors.shape}" if vectors.ndim else shown(returned)
            raise self._unusable(told, given)
        if not np.isfinite(vectors).all():
            raise self._unusable("numbers that are not finite", given)
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""
        return self.embed(texts)

    @cached_property
    def _dimension(self) -> int:
        return len(self.embed_query("dimension"))

    def _unusable(self, returned: str, texts: Sequence[str], why: str = "") -> InputError:
        return InputError(
            f"the embedder function {self.name} returned {returned} for {len(texts)} texts{why}; expected finite "
            f"numbers, shape ({len(texts)}, dimension), row i for text i"
        )
