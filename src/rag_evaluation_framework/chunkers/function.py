"""Functions as chunkers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.contracts.chunker import Chunker, as_texts
from rag_evaluation_framework.contracts.component import check_function, function_name


@dataclass(frozen=True)
class FunctionChunker(Chunker):
    """A plain function `(text) -> list of texts`, the pieces in reading order.

    The pieces are looked for in the document (`ChunkerPositionAdapter`). The function may be a coroutine function.

    Attributes:
        function: What cuts a text.

    Raises:
        ConfigError: `function` is not a function.
    """

    function: Callable[[str], Any]

    def __post_init__(self) -> None:
        check_function("FunctionChunker", self.function)

    @property
    def name(self) -> str:
        """The function's name."""
        return function_name(self.function)

    def chunk(self, text: str) -> list[str]:
        """Return what the function returns.

        Raises:
            InputError: It is not a list of texts.
        """
        return as_texts(resolved(self.function(text)), f"the chunker function {self.name}", text)
