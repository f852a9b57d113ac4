"""Reranking models of Cohere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list
from rag_evaluation_framework.contracts.component import check_count, check_seconds
from rag_evaluation_framework.data.plain import encodable
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.providers.calls import ProviderCalls
from rag_evaluation_framework.providers.prices import Consumed, Prices, check_prices
from rag_evaluation_framework.providers.provider import COHERE
from rag_evaluation_framework.providers.sdks import NO_RETRIES, address_of, check_client, cohere_client
from rag_evaluation_framework.rerankers.scoring import ScoringReranker

_AT_ONCE = 1000  # texts of a request, as Cohere recommends


def _asked_server(reranker: "CohereReranker") -> str | None:
    return COHERE.another(reranker.address)


@dataclass(frozen=True)
class CohereReranker(ScoringReranker):
    """Orders candidates by the relevance that a model of Cohere gives them.

    The model scores each text by itself, so more candidates than one request may hold are sent in several. A request
    that fails is made again where that may help. Every answer is checked: one finite score for each text.

    Attributes:
        model: The name of the model.
        max_tokens_per_doc: How many tokens of a text the model reads; what is beyond is not seen.
        base_url: The address of the server; None for the environment variable `CO_API_URL`, or else Cohere.
        api_key: The key; None for the environment variable `CO_API_KEY`. It is never shown.
        client: A `cohere.ClientV2` or `cohere.AsyncClientV2` of your own, instead of one with `api_key` and `base_url`.
        max_concurrency: How many questions are reranked side by side, where many are asked together.
        max_retries: How many more requests are made where one fails.
        timeout: Seconds until a request has failed.
        price_search: What a thousand searches cost, in any currency; for an estimate of the costs.

    Raises:
        ConfigError: A number is out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"cohere": "cohere"}

    model: str = "rerank-v3.5"
    max_tokens_per_doc: int = 4096
    base_url: str | None = field(default=None, metadata={"stands_for": _asked_server})
    api_key: str | None = field(default=None, repr=False, compare=False)
    client: Any = field(default=None, repr=False, compare=False)
    max_concurrency: int = field(default=4, repr=False, compare=False)
    max_retries: int = field(default=5, repr=False, compare=False)
    timeout: float = field(default=60.0, repr=False, compare=False)
    price_search: float | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        model = cast("object", self.model)
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(f"CohereReranker: model={shown(model)}; expected the name of a model")
        check_count("CohereReranker", "max_tokens_per_doc", self.max_tokens_per_doc)
        check_count("CohereReranker", "max_retries", self.max_retries, 0)
        check_seconds("CohereReranker", "timeout", self.timeout)
        check_count("CohereReranker", "max_concurrency", self.max_concurrency)
        check_prices("CohereReranker", {"price_search": self.price_search})
        own_time = None if self.timeout == type(self).timeout else self.timeout
        given = {"base_url": self.base_url, "api_key": self.api_key, "timeout": own_time}
        check_client("CohereReranker", self.client, "rerank", **given)
        if self.base_url is not None:
            object.__setattr__(self, "base_url", COHERE.base_url(self.base_url))

    @cached_property
    def address(self) -> str:
        """The address of the server: of the client, as given, of the environment, or Cohere's own."""
        return address_of(self.client) or COHERE.base_url(self.base_url)

    def prepare(self) -> None:
        """Make the client, so that a missing key or package is known before the first question."""
        _ = self._sdk, self._calls

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the relevance of each text, higher is better, shape (len(texts),).

        Raises:
            ProviderError: Cohere refused a request, was not available, or answered what cannot be used.
        """
        parts = [self._scores(query, texts[first : first + _AT_ONCE]) for first in range(0, len(texts), _AT_ONCE)]
        return np.concatenate([np.zeros(0), *parts])

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        sdk = self._sdk

        def send() -> Any:
            return sdk.rerank(
                model=self.model,
                query=encodable(query),
                documents=[encodable(text) for text in texts],
                max_tokens_per_doc=self.max_tokens_per_doc,
                request_options=NO_RETRIES,
            )

        return self._calls.call(send, lambda answer: _read(answer, len(texts)), _consumed)

    @cached_property
    def _sdk(self) -> Any:
        return cohere_client(self.client, self.api_key, self.address, self.timeout, "CohereReranker")

    @cached_property
    def _calls(self) -> ProviderCalls:
        prices = Prices(price_search=self.price_search)
        return ProviderCalls(COHERE, self.model, self.address, self.max_retries, prices)


def _read(answer: Any, count: int) -> list[float]:
    results: Any = getattr(answer, "results", None)
    if not is_list(results):
        raise ValueError(f"{shown(answer)}; expected a list of results")
    scores: dict[Any, Any] = {item.index: item.relevance_score for item in results}
    if len(results) != count or scores.keys() != set(range(count)):
        raise ValueError(f"{len(results)} scores with the indices {sorted(scores)[:5]} … for {count} texts")
    if not all(isinstance(score, int | float) and isfinite(score) for score in scores.values()):
        raise ValueError("a score that is not a finite number")
    return [float(scores[number]) for number in range(count)]


def _consumed(answer: Any) -> Consumed:
    return Consumed(searches=int(answer.meta.billed_units.search_units))
