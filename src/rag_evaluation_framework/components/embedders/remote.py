"""Embedders whose model is behind a provider's API: OpenAI's and Cohere's."""

import base64
import hashlib
from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ...adapt.results import as_vectors
from ...base.coroutines import as_finished
from ...base.files import is_list
from ...base.outside import shown
from ...contracts.component import check_choice, check_count
from ...contracts.roles import BatchEmbedder, EmbeddedPart, Role, joined
from ...data.values import encodable
from ...errors import ConfigError, InputError
from ..providers.calls import COHERE, NO_RETRIES, OPENAI, Consumed, Provider, ProviderModel, address_of, another_server

# Base of embedders that embed part by part, and of those whose model is behind a provider's API.


class InParts(BatchEmbedder):
    """An embedder that makes all its vectors in `embed_in_parts`, which it has of its own."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, float32, shape (len(texts), dimension), row i for text i.

        Raises:
            InputError: It is one text instead of several; or what `embed_in_parts` raises.
        """
        return self._joined(texts, "text")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""
        return self._joined(texts, "query")

    def _joined(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise InputError(f"{type(self).__name__}: texts={shown(texts)}; expected a list of texts")
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return joined(self.embed_in_parts(texts, role), len(texts))


_PROBE = "dimension"  # embedded where the length of vectors is asked before anything was embedded


@dataclass(frozen=True)
class _EmbeddingModel:  # of a dataclass, the parameters of the last base come first
    model: str
    dimensions: int | None = None


@dataclass(frozen=True)
class RemoteEmbedder(ProviderModel, _EmbeddingModel, InParts):
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
        if self.dimensions is not None:
            check_count(type(self).__name__, "dimensions", self.dimensions)

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
        url = another_server(self)
        return None if url is None else hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()

    def embed_in_parts(
        self, texts: Sequence[str], role: Role = "text", batch_size: int = 256
    ) -> Generator[EmbeddedPart]:
        """Yield the vectors of each request as soon as it is answered; the embedder's own `batch_size` counts.

        Raises:
            ProviderError: The provider refused a request, was not available, or answered what cannot be used.
            InputError: A text is empty, which providers do not take, or no text.
            ConfigError: There is no key.
            MissingDependency: The SDK is not installed.
        """
        del batch_size
        if not texts:
            return  # what asks nothing, as all is kept, needs no key
        sdk = self._sdk  # once, and before there are threads

        given: Sequence[Any] = texts
        for number, text in enumerate(given):
            if not isinstance(text, str) or not text:
                raise InputError(
                    f"{type(self).__name__}: text {number} is {shown(text)}; expected a text of at least one character"
                )

        def embed(rows: list[int]) -> NDArray[np.float32]:
            batch = [encodable(texts[row]) for row in rows]
            return self._calls.call(
                lambda: self._send(sdk, batch, role), lambda answer: self._checked(answer, batch), self._consumed
            )

        asked = batches(texts, self.batch_size, self.most_tokens)
        with closing(as_finished(embed, asked, self.max_concurrency)) as finished:
            for number, vectors in finished:
                yield EmbeddedPart(asked[number], vectors)

    @abstractmethod
    def _send(self, sdk: Any, texts: list[str], role: Role) -> Any:
        """Make one request."""

    @abstractmethod
    def _read(self, answer: Any, texts: list[str]) -> Sequence[Any]:
        """Return the vectors of an answer, one per text and in their order; whatever is raised says what is wrong."""

    @abstractmethod
    def _consumed(self, answer: Any) -> Consumed:
        """Return what an answer consumed."""

    def _checked(self, answer: Any, texts: list[str]) -> NDArray[np.float32]:
        rows = self._read(answer, texts)
        expected = self.dimensions or self._known.get("dimension") or next(map(len, rows), None)
        if wrong := {len(row) for row in rows} - {expected}:
            raise ValueError(f"a vector of {wrong.pop()} numbers; expected {expected}")
        vectors = as_vectors(rows, "the model", texts, expected)
        if isinstance(rows[0][0], bool):
            raise ValueError(f"{shown(rows[0])}; expected a vector of numbers")
        self._known["dimension"] = vectors.shape[1]
        return vectors


def batches(texts: Sequence[str], most_texts: int, most_tokens: int) -> list[list[int]]:
    """Return the numbers of the texts of each request, in order; a text beyond the limit of tokens is one alone.

    Without the provider's tokenizer the number of tokens is not known, so bytes of UTF-8 are counted: no tokenizer of
    bytes makes more tokens of a text.
    """
    found: list[list[int]] = []
    left = 0
    for number, text in enumerate(texts):
        size = len(text.encode("utf-8", "surrogatepass"))
        if not found or size > left or len(found[-1]) == most_texts:
            found.append([])
            left = most_tokens
        found[-1].append(number)
        left -= size
    return found


# Embedding models of OpenAI, and of servers that speak its protocol.


@dataclass(frozen=True)
class OpenAIEmbedder(RemoteEmbedder):
    """Embeds with a model of OpenAI, or of any server that speaks its protocol (`base_url`).

    Texts are sent in batches, several at once; a request that fails is made again where that may help. Every answer is
    checked: one vector per text, put in order by its index, finite numbers, all of one length. No key is needed before
    the first request. The other parameters are those of `ProviderModel` and `RemoteEmbedder`.

    Attributes:
        base_url: The address of the server, such as `http://127.0.0.1:8000/v1`; None for the environment variable
            `OPENAI_BASE_URL`, or else OpenAI. A server of one's own needs no key.
        api_key: The key; None for the environment variable `OPENAI_API_KEY`. It is never shown.
        client: An `OpenAI`, `AzureOpenAI` or `AsyncOpenAI` of your own, instead of one with `api_key` and `base_url`.
        batch_size: The most texts of a request; OpenAI takes 2,048.

    Raises:
        ConfigError: A number is out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"openai": "openai"}
    provider: ClassVar[Provider] = OPENAI
    needs: ClassVar[str] = "embeddings"
    most_tokens: ClassVar[int] = 300_000

    model: str = "text-embedding-3-small"
    batch_size: int = field(default=256, repr=False, compare=False)

    def _send(self, sdk: Any, texts: list[str], role: Role) -> Any:
        del role
        asked: dict[str, Any] = {} if self.dimensions is None else {"dimensions": self.dimensions}
        # In base64 the SDK leaves the vectors as they came, and decodes junk to no vector.
        return sdk.embeddings.create(input=texts, model=self.model, encoding_format="base64", **asked)

    def _read(self, answer: Any, texts: list[str]) -> Sequence[Any]:
        data: Any = getattr(answer, "data", None)
        if not is_list(data):
            raise ValueError(f"{shown(answer)}; expected a list of vectors")
        rows: dict[int, Any] = {item.index: _decoded(item.embedding) for item in data}
        if len(rows) != len(data) or rows.keys() - set(range(len(texts))):
            raise ValueError(f"{len(data)} vectors with the indices {sorted(rows)} for {len(texts)} texts")
        return [rows[number] for number in sorted(rows)]

    def _consumed(self, answer: Any) -> Consumed:
        return Consumed(int(answer.usage.prompt_tokens))


def _decoded(embedding: Any) -> Any:
    """Return a vector that came in base64, as little-endian float32; a server may also send numbers."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return embedding


# Embedding models of Cohere.

Truncate: TypeAlias = Literal["NONE", "START", "END"]

_MOST_TEXTS = 96  # of a request
_INPUT_TYPES: Mapping[Role, str] = {"text": "search_document", "query": "search_query"}


@dataclass(frozen=True)
class CohereEmbedder(RemoteEmbedder):
    """Embeds with a model of Cohere: chunks as `search_document`, questions as `search_query`.

    Texts are sent in batches, several at once; a request that fails is made again where that may help. Every answer is
    checked. No key is needed before the first request. The other parameters are those of `ProviderModel` and
    `RemoteEmbedder`.

    Attributes:
        base_url: The address of the server; None for the environment variable `CO_API_URL`, or else Cohere.
        api_key: The key; None for the environment variable `CO_API_KEY`. It is never shown.
        client: A `cohere.ClientV2` or `cohere.AsyncClientV2` of your own, instead of one with `api_key` and `base_url`.
        batch_size: The most texts of a request; Cohere takes 96.
        truncate: Of a text that is longer than the model reads, which end is left out. Cohere does not tell of which
            texts it was; by default, `NONE`, such a text is refused.

    Raises:
        ConfigError: A number is out of range, or `truncate` is something else.
    """

    requires: ClassVar[Mapping[str, str]] = {"cohere": "cohere"}
    provider: ClassVar[Provider] = COHERE
    needs: ClassVar[str] = "embed"
    most_tokens: ClassVar[int] = 10_000_000  # no limit beyond that of each text is known

    model: str = "embed-v4.0"
    batch_size: int = field(default=_MOST_TEXTS, repr=False, compare=False)
    truncate: Truncate = "NONE"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_size > _MOST_TEXTS:
            raise ConfigError(f"CohereEmbedder: batch_size={self.batch_size}; Cohere takes at most {_MOST_TEXTS} texts")
        check_choice("CohereEmbedder", "truncate", self.truncate, get_args(Truncate))

    def _send(self, sdk: Any, texts: list[str], role: Role) -> Any:
        asked: dict[str, Any] = {} if self.dimensions is None else {"output_dimension": self.dimensions}
        return sdk.embed(
            model=self.model,
            input_type=_INPUT_TYPES[role],
            texts=texts,
            embedding_types=["float"],
            truncate=self.truncate,
            request_options=NO_RETRIES,
            **asked,
        )

    def _read(self, answer: Any, texts: list[str]) -> Sequence[Any]:
        del texts
        vectors: Any = getattr(getattr(answer, "embeddings", None), "float_", None)
        if not is_list(vectors):
            raise ValueError(f"{shown(answer)}; expected a list of vectors")
        return vectors

    def _consumed(self, answer: Any) -> Consumed:
        return Consumed(int(answer.meta.billed_units.input_tokens))
