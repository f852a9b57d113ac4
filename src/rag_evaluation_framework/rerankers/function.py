"""Functions as rerankers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import said, shown
from rag_evaluation_framework._support.coroutines import resolved
from rag_evaluation_framework.contracts.component import check_function, function_name
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.rerankers.scoring import ScoringReranker


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
        try:
            scores = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._unusable(shown(returned), texts, f": {said(error)}") from error
        if scores.shape != (len(texts),):
            raise self._unusable(f"shape {scores.shape}" if scores.ndim else shown(returned), texts)
        if not np.isfinite(scores).all():
            raise self._unusable("numbers that are not finite", texts)
        return scores

    def _unusable(self, returned: str, texts: Sequence[str], why: str = "") -> InputError:
        return InputError(
            f"the reranker function {self.name} returned {returned} for {len(texts)} texts{why}; expected one finite "
            "number per text, in their order, higher is better"
        )
