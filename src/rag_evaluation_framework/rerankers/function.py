"""Functions as rerankers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.contracts.component import check_function, function_name
from rag_evaluation_framework.rerankers.scoring import ScoringReranker, as_scores


@dataclass(frozen=True)
class FunctionReranker(ScoringReranker):
    """A plain function `(query, texts) -> scores`: one finite number per text, higher is better.

    It gets each distinct text once. The function may be a coroutine function.

    Attributes:
        function: What scores the texts of the candidates.

    Raises:
        ConfigError: `function` is not a function.
    """

    function: Callable[[str, list[str]], Any]

    def __post_init__(self) -> None:
        check_function("FunctionReranker", self.function)

    @property
    def name(self) -> str:
        """The function's name."""
        return function_name(self.function)

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return what the function returns, shape (len(texts),).

        Raises:
            InputError: It is not one finite number per text.
        """
        returned: Any = resolved(self.function(query, list(texts)))
        return as_scores(returned, f"the reranker function {self.name}", texts)
