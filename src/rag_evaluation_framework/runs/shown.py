"""How values of results are shown: as pages, and numbers as they are written."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from math import ceil, isfinite
from typing import Any, TypeVar

from ..data.rankings import UNFILLED
from ..statistics import MeanScore, PairedDifference
from ..statistics.power import detectable_change

# Numbers as they are written: in tables short, and never saying other than what was found; in JSON in full.


def written_interval(test: PairedDifference) -> str:
    """Return an interval; where 0 is outside, a bound that would be printed as 0 says on which side of it it is."""
    low, high = written_signed(test.low), written_signed(test.high)
    if test.low > 0 and low == "+.000":
        low = ">.000"
    if test.high < 0 and high == "-.000":
        high = "<.000"
    return f"{low} {high}"


def written_signed(value: float) -> str:
    """Return a difference with three digits, and none before the point where that is 0."""
    return f"{value:+.3f}".replace("+0.", "+.").replace("-0.", "-.")


def written_p_value(value: float) -> str:
    """Return a p-value, rounded up, so that what is above 1 - level is so when it is printed."""
    return "<.001" if value < 0.001 else f"{ceil(1000 * value - 1e-9) / 1000:.3f}".removeprefix("0")


def recorded_test(test: PairedDifference) -> dict[str, Any]:
    """Return a test for JSON, with the smallest difference that is found 4 times in 5; None for what is not known."""
    return finite({**asdict(test), "detectable": detectable_change(test)})


def finite(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for JSON, with None for numbers that are not finite: these are not known."""
    return {key: None if isinstance(value, float) and not isfinite(value) else value for key, value in record.items()}


def number(value: float | None) -> str:
    """Return a score with three decimals, or a dash for None."""
    return "–" if value is None else f"{value:.3f}"


def marked(mean: float | None, is_unfilled: bool) -> str:
    """Return a mean as `number` does, with a mark if some of its rankings ran out of results before the budget."""
    return f"{number(mean)}{UNFILLED if is_unfilled and mean is not None else ''}"


def within(mean: MeanScore) -> str:
    """Return an interval as tables show it, without the zero before the point, and "?" for a bound that is unknown."""
    bounds = (mean.low, mean.high)
    return "–".join(f"{bound:.3f}".removeprefix("0") if isfinite(bound) else "?" for bound in bounds)


# `Shown`: what is shown as its page, in a terminal and in a notebook.

T = TypeVar("T")


class Shown:
    """What is shown as its page, in a terminal and in a notebook."""

    def summary(self) -> Any:
        """Return it as people read it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        text: str = self.summary().as_text()
        return text

    def _repr_html_(self) -> str:
        page: str = self.summary().as_html()
        return page


class ShownList(Shown, list[T]):
    """A list that is shown as a page of all its items.

    Args:
        items: The items.
        page: Returns the page of the items.
    """

    def __init__(self, items: Iterable[T], page: Callable[[list[T]], Any]) -> None:
        super().__init__(items)
        self._page = page

    def summary(self) -> Any:
        """Return the page of all items."""
        return self._page(self)
