"""What an embedder may return, and how it is read as vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import one_line, said, shown
from rag_evaluation_framework.data.plain import plain_array
from rag_evaluation_framework.errors import InputError


def as_vectors(returned: Any, source: str, texts: Sequence[str], dimension: int | None = None) -> NDArray[np.float32]:
    """Read what an embedder returned as vectors: float32, shape (len(texts), dimension).

    Args:
        returned: An array, or nested lists, of numbers; row i for text i.
        source: What returned it, for messages: `Own.embed`.
        texts: What it was asked to embed.
        dimension: The length that the vectors must have; None if any will do.

    Raises:
        InputError: It is nothing of the kind, or a number is NaN or infinite, also in single precision.
    """
    numbers = as_numbers(returned, source, texts, dimension)
    with np.errstate(over="ignore"):
        vectors: NDArray[np.float32] = numbers.astype(np.float32, copy=False)
    if vectors is not numbers:
        _check_finite(vectors, source, texts, dimension)
    return vectors


def as_numbers(returned: Any, source: str, texts: Sequence[str], dimension: int | None = None) -> NDArray[Any]:
    """Read what an embedder returned as vectors, as `as_vectors` does, in the precision in which they are.

    Raises:
        InputError: It is nothing of the kind, or a number is NaN or infinite.
    """
    try:
        numbers = plain_array(returned)
    except Exception as error:
        raise _refusal(shown(returned), source, texts, dimension, f": {said(error)}") from error
    if numbers.ndim != 2 or len(numbers) != len(texts) or numbers.shape[1] != (dimension or numbers.shape[1] or 1):
        told = f"shape {numbers.shape}" if numbers.ndim else shown(returned)
        raise _refusal(told, source, texts, dimension)
    _check_finite(numbers, source, texts, dimension)
    return numbers


def _check_finite(numbers: NDArray[Any], source: str, texts: Sequence[str], dimension: int | None) -> None:
    if np.isfinite(numbers).all():
        return
    rows: list[int] = np.flatnonzero(~np.isfinite(numbers).all(axis=1)).tolist()
    raise InputError(
        f"{source} returned NaN or infinity for {len(rows)} of {len(texts)} texts, the first: "
        f"{shown(texts[rows[0]])}; {_expected(texts, dimension)}"
    )


def _refusal(told: str, source: str, texts: Sequence[str], dimension: int | None, why: str = "") -> InputError:
    return InputError(f"{source} returned {one_line(told)} for {len(texts)} texts{why}; {_expected(texts, dimension)}")


def _expected(texts: Sequence[str], dimension: int | None) -> str:
    return f"expected ({len(texts)}, {dimension or 'dimension'}), finite numbers, row i for text i"
