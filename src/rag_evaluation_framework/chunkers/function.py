"""Functions as chunkers."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.coroutines import resolved
from rag_evaluation_framework.contracts.chunker import Chunker
from rag_evaluation_framework.contracts.component import check_function, function_name
from rag_evaluation_framework.data.plain import all_chunks, gives_items
from rag_evaluation_framework.errors import InputError


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
        returned: Any = resolved(self.function(text))
        if gives_items(returned, str, Mapping, Set):
            pieces: list[Any] | None = all_chunks(returned, len(text))
            if pieces is None:
                raise InputError(
                    f"the chunker function {self.name} returned more texts than the document has "
                    "characters; expected a list that has an end"
                )
            if all(isinstance(piece, str) for piece in pieces):
                return pieces
        raise InputError(
            f"the chunker function {self.name} returned {shown(returned)}; expected a list of texts, in reading order"
        )
