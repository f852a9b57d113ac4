"""Requests of as many texts as a provider takes at once."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.side_by_side import as_finished
from rag_evaluation_framework.data.plain import encodable
from rag_evaluation_framework.errors import InputError


@dataclass(frozen=True)
class BatchLimits:
    """How much one request may hold.

    Attributes:
        texts: The most texts.
        tokens: The most tokens of all texts together. Without the provider's tokenizer their number is not known, so
            bytes of UTF-8 are counted: no tokenizer of bytes makes more tokens of a text.
    """

    texts: int
    tokens: int


def batches(texts: Sequence[str], limits: BatchLimits) -> list[list[int]]:
    """Return the numbers of the texts of each request, in order; a text beyond the limit of tokens is one alone."""
    found: list[list[int]] = []
    left = 0
    for number, text in enumerate(texts):
        size = len(text.encode("utf-8", "surrogatepass"))
        if not found or size > left or len(found[-1]) == limits.texts:
            found.append([])
            left = limits.tokens
        found[-1].append(number)
        left -= size
    return found


def embed_in_batches(
    texts: Sequence[str],
    limits: BatchLimits,
    at_once: int,
    embed: Callable[[list[str]], NDArray[np.float32]],
    owner: str,
) -> Generator[tuple[list[int], NDArray[np.float32]]]:
    """Yield the numbers of texts and their vectors as requests are answered, whichever is first.

    Args:
        texts: The texts; none of them empty.
        limits: How much one request may hold.
        at_once: How many requests are made side by side.
        embed: Makes one request; called from several threads.
        owner: Whose texts these are, for messages.

    Raises:
        InputError: A text is empty, or not a text.
    """
    given: Sequence[Any] = texts
    for number, text in enumerate(given):
        if not isinstance(text, str) or not text:
            raise InputError(f"{owner}: text {number} is {shown(text)}; expected a text of at least one character")
    asked = batches(texts, limits)

    def answered(rows: list[int]) -> NDArray[np.float32]:
        return embed([encodable(texts[row]) for row in rows])

    with closing(as_finished(answered, asked, at_once)) as finished:
        for number, vectors in finished:
            yield asked[number], vectors
