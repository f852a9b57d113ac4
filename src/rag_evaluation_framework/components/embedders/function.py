"""Functions, and embedding models of other libraries, as embedders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnEmbedder, query_function
from ...adapt.results import as_vectors
from ...base.coroutines import resolved
from ...contracts.registry.building import OwnFunction
from ...contracts.roles import BatchEmbedder


@dataclass(frozen=True)
class FunctionEmbedder(OwnFunction[OwnEmbedder], BatchEmbedder):
    """A plain function `(texts) -> vectors`, shape (len(texts), dimension), or an embedding model of another library.

    The function may be a coroutine function. An object embeds by its `embed_documents`, `get_text_embedding_batch`,
    `embed_batch`, `encode`, `embed` or `run`.

    Attributes:
        function: What embeds a list of at least one text; of an object, the function that calls it.
        query_function: What embeds a question, `(text) -> vector`; by default that of an object which has one, such as
            `embed_query`. Without it, questions are embedded as any other text, all together.

    Raises:
        ConfigError: `function` is neither, or has to be called with something else.
    """

    _kind = "embedder"

    query_function: Callable[[str], Any] | None = field(default=None, repr=False)

    if TYPE_CHECKING:  # what is given may be an object, what is read is a function

        def __init__(self, function: OwnEmbedder, query_function: Callable[[str], Any] | None = None) -> None: ...

    def __post_init__(self) -> None:
        if self.query_function is None:
            object.__setattr__(self, "query_function", query_function(self.function))
        super().__post_init__()

    @property
    def dimension(self) -> int:
        """The length of a vector; the function is called with one word to find out."""
        return self._dimension

    @cached_property
    def _dimension(self) -> int:
        return len(self.embed_query("dimension"))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what the function returns as float32, shape (len(texts), dimension).

        Raises:
            InputError: It is not one vector of finite numbers per text.
        """
        if not (given := list(texts)):
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._vectors(resolved(self.function(given)), given)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""
        if self.query_function is None or not texts:
            return self.embed(texts)
        return self._vectors([resolved(self.query_function(text)) for text in texts], texts)

    def _vectors(self, given: Any, texts: Sequence[str]) -> NDArray[np.float32]:
        return as_vectors(given, f"the embedder function {self.name}", texts)
