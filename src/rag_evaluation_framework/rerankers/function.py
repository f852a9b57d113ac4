"""Functions, and rerankers of other libraries, as rerankers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.components.adapt import as_function
from rag_evaluation_framework.components.parts import as_scores
from rag_evaluation_framework.components.supported import OwnReranker
from rag_evaluation_framework.contracts.component import function_name
from rag_evaluation_framework.rerankers.scoring import ScoringReranker


@dataclass(frozen=True)
class FunctionReranker(ScoringReranker):
    """A plain function `(query, texts) -> scores`, or a reranker of another library.

    Scores are one finite number per text, higher is better; or the texts are returned, best first, or in any order if
    each has its score, such as `(text, score)`. The function gets each distinct text once, and may be a coroutine
    function. An object reranks by its `compress_documents`, `postprocess_nodes`, `rerank` or `run`.

    Attributes:
        function: What scores the texts of the candidates; of an object, the function that calls it.

    Raises:
        ConfigError: `function` is neither, or has to be called with something else.
    """

    function: Callable[[str, list[str]], Any]

    if TYPE_CHECKING:  # what is given may be an object, what is read is a function

        def __init__(self, function: OwnReranker) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", as_function("reranker", self.function, "FunctionReranker"))

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
