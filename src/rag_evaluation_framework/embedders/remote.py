"""Base of embedders whose model is behind a provider's API."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.roles import EmbeddedPart, Embedder, Role, joined
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.providers.calls import BatchLimits, ProviderCalls, embed_in_batches
from rag_evaluation_framework.providers.sdks import ProviderModel, address_of
from rag_evaluation_framework.providers.usage import Consumed, Prices, check_prices

_PROBE = "dimension"  # embedded where the length of vectors is asked before anything was embedded


@dataclass(frozen=True)
class _EmbeddingModel:  # of a dataclass, the parameters of the last base come first
    model: str
    dimensions: int | None = None


@dataclass(frozen=True)
class RemoteEmbedder(ProviderModel, _EmbeddingModel, Embedder, ABC):
    """Sends texts in batches, several at once, and checks every answer.

    Attributes:
        dimensions: The length of the vectors, if the model can shorten them; None for its own.
        price_in: What a million tokens cost, in any currency; for an estimate of the costs.

    Raises:
        ConfigError: A number is out of range, or the client is not one of this SDK.
    """

    most_tokens: ClassVar[int]
    """The most tokens of one request."""

    price_in: float | None = field(default=None, repr=False, compare=False)
    _known: dict[str, int] = field(default_factory=dict[str, int], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        if self.dimensions is not None:
            check_count(owner, "dimensions", self.dimensions)
        check_prices(owner, {"price_in": self.price_in})

    @property
    def dimension(self) -> int:
        """The length of a vector; asked of the provider if it is neither given nor known from an answer."""
        if self.dimensions is not None:
            return self.dimensions
        if not self._known:
            self.embed([_PROBE])
        return self._known["dimension"]

    @property
    def knows_address(self) -> bool:
        """Whether it is known which server answers: a client of one's own may not tell."""
        return self.client is None or address_of(self.client) is not None

    @property
    def content_hash(self) -> str | None:
        """A hash of the server's address; None for the provider's own: other servers may have other models."""
        url = self.provider.another(self.address)
        return None if url is None else hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, float32, shape (len(texts), dimension), row i for text i.

        Raises:
            ProviderError: The provider refused a request, was not available, or answered what cannot be used.
            InputError: A text is empty, which providers do not take; or it is one text instead of several.
            ConfigError: There is no key.
            MissingDependency: The SDK is not installed.
        """
        return self._joined(texts, "text")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question, float32, shape (dimension,)."""
        vector: NDArray[np.float32] = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""
        return self._joined(texts, "query")

    def embed_in_parts(
        self, texts: Sequence[str], role: Role = "text", batch_size: int = 256
    ) -> Generator[EmbeddedPart]:
        """Yield the vectors of each request as soon as it is answered; the embedder's own `batch_size` counts."""
        del batch_size
        if not texts:
            return  # what asks nothing, as all is kept, needs no key
        sdk = self._sdk  # once, and before there are threads

        def embed(batch: list[str]) -> NDArray[np.float32]:
            return self._calls.call(
                lambda: self._send(sdk, batch, role), lambda answer: self._checked(answer, batch), self._consumed
            )

        limits = BatchLimits(self.batch_size, self.most_tokens)
        with closing(embed_in_batches(texts, limits, self.max_concurrency, embed, type(self).__name__)) as answered:
            for rows, vectors in answered:
                yield EmbeddedPart(rows, vectors)

    @abstractmethod
    def _send(self, sdk: Any, texts: list[str], role: Role) -> Any:
        """Make one request."""

    @abstractmethod
    def _read(self, answer: Any, texts: list[str]) -> Sequence[Any]:
        """Return the vectors of an answer, one per text and in their order; whatever is raised says what is wrong."""

    @abstractmethod
    def _consumed(self, answer: Any) -> Consumed:
        """Return what an answer consumed."""

    @cached_property
    def _calls(self) -> ProviderCalls:
        prices = Prices(price_in=self.price_in)
        return ProviderCalls(self.provider, self.model, self.address, self.max_retries, prices)

    def _joined(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise InputError(f"{type(self).__name__}: texts={shown(texts)}; expected a list of texts")
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return joined(self.embed_in_parts(texts, role), len(texts))

    def _checked(self, answer: Any, texts: list[str]) -> NDArray[np.float32]:
        rows = self._read(answer, texts)
        if len(rows) != len(texts):
            raise ValueError(f"{len(rows)} vectors for {len(texts)} texts")
        expected = self.dimensions or self._known.get("dimension") or len(rows[0])
        if wrong := {len(row) for row in rows} - {expected}:
            raise ValueError(f"a vector of {wrong.pop()} numbers; expected {expected}")
        if not expected:
            raise ValueError("vectors without numbers")
        vectors = _as_numbers(rows)
        if not np.isfinite(vectors).all():
            raise ValueError("vectors with NaN or infinity; expected finite numbers")
        self._known["dimension"] = expected
        return vectors


def _as_numbers(rows: Sequence[Any]) -> NDArray[np.float32]:
    """Return rows of equal length as one array; texts and flags are not taken for numbers."""
    given: NDArray[Any] = np.asarray(rows)
    if given.ndim != 2 or given.dtype.kind not in "fiu":
        raise ValueError(f"{shown(rows[0])}; expected a vector of numbers")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        return given.astype(np.float32)
