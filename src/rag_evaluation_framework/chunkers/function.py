"""Functions, and splitters of other libraries, as chunkers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.components.adapt import as_function
from rag_evaluation_framework.components.parts import Piece, as_pieces
from rag_evaluation_framework.components.supported import OwnChunker
from rag_evaluation_framework.contracts.component import function_name
from rag_evaluation_framework.contracts.roles import Chunker


@dataclass(frozen=True)
class FunctionChunker(Chunker):
    """A plain function `(text) -> list of texts`, the pieces in reading order, or a splitter of another library.

    The pieces are looked for in the document (`ChunkerPositionAdapter`); where one tells its start, and its text is
    there, it is taken from there. The function may be a coroutine function. An object cuts by its
    `get_nodes_from_documents`, `create_documents`, `split_text`, `chunk`, `split_documents` or `run`.

    Attributes:
        function: What cuts a text; of an object, the function that calls it.

    Raises:
        ConfigError: `function` is neither, or has to be called with something else.
    """

    function: Callable[[str], Any]

    if TYPE_CHECKING:  # what is given may be an object, what is read is a function

        def __init__(self, function: OwnChunker) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", as_function("chunker", self.function, "FunctionChunker"))

    @property
    def name(self) -> str:
        """The function's name."""
        return function_name(self.function)

    def chunk(self, text: str) -> list[str]:
        """Return the texts of what the function returns.

        Raises:
            InputError: It is not a list of texts.
        """
        return [piece.text for piece in self.pieces(text)]

    def pieces(self, text: str) -> list[Piece]:
        """Return what the function returns, with the starts that it tells.

        Raises:
            InputError: It is not a list of texts.
        """
        return as_pieces(resolved(self.function(text)), f"the chunker function {self.name}", text)
