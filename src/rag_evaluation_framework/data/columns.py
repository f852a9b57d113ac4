"""Columns: flat arrays with one number per query, hit, span or judged unit."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


class Numbering(dict[str, int]):
    """Numbers for names, from 0, in the order in which they are first looked up."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number
