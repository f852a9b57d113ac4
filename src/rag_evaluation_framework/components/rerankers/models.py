"""Reranking models: cross-encoders, and Cohere's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...base.files import is_list
from ...base.model_trust import load_model
from ...base.outside import shown
from ...contracts.component import check_count
from ...data.values import encodable
from ...errors import ConfigError
from ..embedders.sentence_transformer import LocalModel
from ..providers.calls import COHERE, NO_RETRIES, Consumed, Provider, ProviderModel
from .function import ScoringReranker

# Cross-encoder reranking: a model reads question and text together.


@dataclass(frozen=True)
class CrossEncoderReranker(LocalModel, ScoringReranker):
    """A cross-encoder of the sentence-transformers library: the model sees the question and one text at a time.

    Scores are the model's logits. An activation such as the sigmoid would keep their order, but make the best of them
    equal where it reaches 1. Models cut long pairs at their input limit, so the end of a long chunk may go unread.

    Models are never downloaded: the folder, or the copy in the local Hugging Face cache, has to be there.

    Attributes:
        model: A folder, or the name of a model in the local cache.
        batch_size: How many pairs are read at a time; at least 1.

    Raises:
        MissingDependency: sentence-transformers is not installed.
        ConfigError: `model` is not a text, or `batch_size` is below 1.
    """

    model: str
    batch_size: int = 32

    def prepare(self) -> None:
        """Load the model.

        Raises:
            ConfigError: It is not on this machine, or is not a cross-encoder with one score per pair.
        """
        _ = self._encoder

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return the model's logit for each text, shape (len(texts),)."""
        identity = self._library("torch.nn").Identity()
        pairs = [(encodable(query), encodable(text)) for text in texts]
        scores: NDArray[np.floating] = self._encoder.predict(
            pairs, batch_size=self.batch_size, show_progress_bar=False, activation_fn=identity
        )
        return scores

    @cached_property
    def _encoder(self) -> Any:
        with self._loading():
            encoder = load_model(self._library("sentence_transformers").CrossEncoder, self._folder)
        architectures: list[str] = getattr(encoder.config, "architectures", None) or []
        if architectures and not any("For" in name for name in architectures):  # BertModel: its head would be random
            raise ConfigError(
                f"CrossEncoderReranker: model {self.model!r} is {', '.join(architectures)}, which scores no pairs; "
                "expected a cross-encoder, such as one of the ms-marco family"
            )
        if encoder.num_labels != 1:
            raise ConfigError(
                f"CrossEncoderReranker: model {self.model!r} has {encoder.num_labels} outputs; expected one"
            )
        return encoder


# Reranking models of Cohere.


@dataclass(frozen=True)
class _RerankingModel:  # of a dataclass, the parameters of the last base come first
    model: str
    max_tokens_per_doc: int = 4096


@dataclass(frozen=True)
class CohereReranker(ProviderModel, _RerankingModel, ScoringReranker):
    """Orders candidates by the relevance that a model of Cohere gives them.

    The model scores each text by itself, so more candidates than one request may hold are sent in several. A request
    that fails is made again where that may help. Every answer is checked: one finite score for each text. The other
    parameters are those of `ProviderModel`.

    Attributes:
        max_tokens_per_doc: How many tokens of a text the model reads; what is beyond is not seen.
        base_url: The address of the server; None for the environment variable `CO_API_URL`, or else Cohere.
        api_key: The key; None for the environment variable `CO_API_KEY`. It is never shown.
        client: A `cohere.ClientV2` or `cohere.AsyncClientV2` of your own, instead of one with `api_key` and `base_url`.
        max_concurrency: How many questions are reranked side by side, where many are asked together.
        price_search: What a thousand searches cost, in any currency; for an estimate of the costs.

    Raises:
        ConfigError: A number is out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"cohere": "cohere"}
    provider: ClassVar[Provider] = COHERE
    needs: ClassVar[str] = "rerank"

    model: str = "rerank-v3.5"
    batch_size: int = field(default=1000, init=False, repr=False, compare=False)  # as Cohere recommends
    price_search: float | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("CohereReranker", "max_tokens_per_doc", self.max_tokens_per_doc)

    def prepare(self) -> None:
        """Make the client, so that a missing key or package is known before the first question."""
        _ = self._sdk, self._calls

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the relevance of each text, higher is better, shape (len(texts),).

        Raises:
            ProviderError: Cohere refused a request, was not available, or answered what cannot be used.
        """
        size = self.batch_size
        parts = [self._scores(query, texts[first : first + size]) for first in range(0, len(texts), size)]
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
