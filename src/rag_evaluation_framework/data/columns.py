"""Columns: flat arrays with one number per query, span or judged unit."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
