"""What an answer of a provider consumed, and what that costs."""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_evaluation_framework.contracts.component import check_number


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
