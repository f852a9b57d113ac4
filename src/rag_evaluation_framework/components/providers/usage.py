"""What was asked of providers: requests, retries, tokens, and what that costs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Lock
from typing import Annotated, TypeAlias

from pydantic import AllowInfNan, Field, Strict

from ...base.exits import bound
from ...contracts.component import check_number

# What an answer of a provider consumed, and what that costs.


@dataclass(frozen=True)
class Consumed:
    """What a provider says that an answer consumed, and charges.

    Attributes:
        input_tokens: Tokens that were read; 0 where it tells nothing.
        output_tokens: Tokens that were written.
        searches: Search units.

    Raises:
        ValueError: A number is below 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0

    def __post_init__(self) -> None:
        if min(self.input_tokens, self.output_tokens, self.searches) < 0:
            raise ValueError(f"{self}; expected numbers of at least 0")


@dataclass(frozen=True)
class Prices:
    """What a provider is paid, in any one currency.

    Attributes:
        price_in: For a million tokens that are read; None if it is not known.
        price_out: For a million tokens that are written.
        price_search: For a thousand search units.
    """

    price_in: float | None = None
    price_out: float | None = None
    price_search: float | None = None

    def cost(self, consumed: Consumed) -> float | None:
        """Return what an answer costs, None if a price that matters is not known."""
        parts = [
            (self.price_in, consumed.input_tokens / 1e6),
            (self.price_out, consumed.output_tokens / 1e6),
            (self.price_search, consumed.searches / 1e3),
        ]
        if all(price is None for price, _ in parts) or any(price is None and amount for price, amount in parts):
            return None
        return sum(price * amount for price, amount in parts if price is not None)


def check_prices(owner: str, prices: Mapping[str, object]) -> None:
    """Check that prices, by the names of their parameters, are None or finite numbers of at least 0.

    Raises:
        ConfigError: One is something else.
    """
    for name, price in prices.items():
        if price is not None:
            check_number(owner, name, price)


_Count: TypeAlias = Annotated[int, Strict(), Field(ge=0)]  # checked where a report is read


@dataclass(frozen=True)
class ModelUsage:
    """What was asked of one model.

    Attributes:
        provider: `OpenAI`, `Cohere` and so on.
        model: The name of the model.
        requests: HTTP requests, retries among them.
        retries: How many of these asked again for what an earlier one had failed to bring.
        input_tokens: What the provider counted as read; 0 where it tells nothing.
        output_tokens: What the provider counted as written.
        searches: Search units, by which rerankers are paid.
        cost: In the currency of the prices that were given; None if that of something that was consumed is not known.
    """

    provider: str
    model: str
    requests: _Count = 0
    retries: _Count = 0
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    searches: _Count = 0
    cost: Annotated[float, Strict(), AllowInfNan(False)] | None = None

    @property
    def told(self) -> str:
        """What people read: `OpenAI text-embedding-3-small: 21 requests (1 of them again), 25,000 tokens`."""
        again = f" ({self.retries} of them again)" if self.retries else ""
        parts = [f"{self.requests} request{'' if self.requests == 1 else 's'}{again}"]
        if self.output_tokens:
            parts.append(f"{self.input_tokens:,} tokens read and {self.output_tokens:,} written")
        elif self.input_tokens:
            parts.append(f"{self.input_tokens:,} tokens")
        if self.searches:
            parts.append(f"{self.searches} search{'' if self.searches == 1 else 'es'}")
        if self.cost is not None:
            parts.append(f"cost {_readable(self.cost)}")
        return f"{self.provider} {self.model}: {', '.join(parts)}"

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        """Return both together, under the name of the first."""
        costs = [each.cost for each in (self, other) if each.cost is not None]
        is_known = bool(costs) and not any(map(_has_no_price, (self, other)))
        return ModelUsage(
            self.provider,
            self.model,
            self.requests + other.requests,
            self.retries + other.retries,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.searches + other.searches,
            sum(costs) if is_known else None,
        )


def _readable(cost: float) -> str:
    """Return a cost without an exponent: `1,234.50`, and below 1 with four digits, `0.00000486`."""
    return f"{cost:,.2f}" if cost >= 1 else f"{Decimal(f'{cost:.4g}'):f}"


def _has_no_price(used: ModelUsage) -> bool:
    return used.cost is None and (used.input_tokens, used.output_tokens, used.searches) != (0, 0, 0)


@dataclass
class Usage:
    """Counts by provider and model; what `track_usage` gives. Threads may count at once."""

    _models: dict[tuple[str, str], ModelUsage] = field(default_factory=dict[tuple[str, str], ModelUsage])
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def models(self) -> Sequence[ModelUsage]:
        """What was asked of each model, sorted by provider and name."""
        with self._lock:
            return [self._models[key] for key in sorted(self._models)]

    @property
    def total(self) -> ModelUsage:
        """All together; its provider and model are empty."""
        total = ModelUsage("", "")
        for each in self.models:
            total = total.plus(each)
        return total

    def add(self, used: ModelUsage) -> None:
        """Count more."""
        key = (used.provider, used.model)
        with self._lock:
            before = self._models.get(key)
            self._models[key] = used if before is None else before.plus(used)


_tracked: ContextVar[tuple[Usage, ...]] = ContextVar("rag_evaluation_framework_usage", default=())


def track_usage() -> AbstractContextManager[Usage]:
    """Count what components ask of providers inside of the block, in whatever threads they work.

    ```python
    with track_usage() as usage:
        result = evaluation.run(embedder=OpenAIEmbedder())
    print(usage.total.requests, usage.total.input_tokens)
    ```
    """
    usage = Usage()
    return bound(_tracked, (*_tracked.get(), usage), usage)


def count_usage(used: ModelUsage) -> None:
    """Count what was asked of a provider, in every block of `track_usage` that this is inside of."""
    for usage in _tracked.get():
        usage.add(used)
