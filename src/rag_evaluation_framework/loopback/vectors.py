"""Deterministic vectors of texts: alike where texts share words."""

import re
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def vector(text: str, dimension: int, role: str = "") -> NDArray[np.float32]:
    """Return a vector of length 1, the same in every process: float32, shape (dimension,).

    Args:
        text: The text; each of its words adds to one of the places.
        dimension: Its length.
        role: What the text is embedded as: the same text in another role has another vector, close to it.
    """
    counts = np.zeros(dimension, dtype=np.float32)
    for word in (*_WORD.findall(text.lower()), f"<{role}>"):
        slot, sign = _slot(word, dimension)
        counts[slot] += sign
    length = float(np.linalg.norm(counts))
    if not length:  # words that cancel each other
        counts[0] = length = 1.0
    unit: NDArray[np.float32] = counts / np.float32(length)
    return unit


def share_of_words(query: str, text: str) -> float:
    """Return which share of the words of a question are in a text: from 0 to 1, and 0 for a question without words."""
    asked = set(_WORD.findall(query.lower()))
    return len(asked & set(_WORD.findall(text.lower()))) / len(asked) if asked else 0.0


def count_tokens(text: str) -> int:
    """Return a number of tokens: words and marks, as good a count as any where no tokenizer is the provider's."""
    return len(re.findall(r"\w+|[^\w\s]", text))


@lru_cache(maxsize=100_000)
def _slot(word: str, dimension: int) -> tuple[int, float]:
    code = zlib.crc32(word.encode("utf-8", "surrogatepass"))
    return code % dimension, 1.0 if code & 0x10000 else -1.0
