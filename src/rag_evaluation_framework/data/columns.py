"""Columns: flat arrays with one number per query, hit, span or judged unit."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import fsum
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T_co = TypeVar("T_co", covariant=True)
Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


def mean_of(column: Numbers) -> float | None:
    """Return the mean of what is not NaN, rounded once, so that the order of the queries changes nothing."""
    known: list[float] = column[~np.isnan(column)].tolist()
    try:
        return fsum(known) / len(known) if known else None
    except OverflowError:  # the sum is beyond floats, and the mean is not
        return float(sum(map(Fraction, known)) / len(known))


class Numbering(dict[str, int]):
    """Numbers for names, from 0, in the order in which they are first looked up."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


class OnDemand(Sequence[T_co]):
    """A sequence that is kept in columns: an item is made when it is asked for."""

    @abstractmethod
    def row(self, number: int) -> T_co:
        """Return an item; `number` is at least 0 and below the length."""

    @overload
    def __getitem__(self, place: int) -> T_co: ...

    @overload
    def __getitem__(self, place: slice) -> list[T_co]: ...

    def __getitem__(self, place: int | slice) -> T_co | list[T_co]:
        numbers = range(len(self))[place]
        return self.row(numbers) if isinstance(numbers, int) else [self.row(number) for number in numbers]

    def __iter__(self) -> Iterator[T_co]:
        return map(self.row, range(len(self)))
