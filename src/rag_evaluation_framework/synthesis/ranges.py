"""Numbers that are not known yet, and how many tokens texts have with a tokenizer that is not known."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_PIECE = re.compile(r"\w+|[^\w\s]")
_BYTES_PER_TOKEN = 4  # of English; in other languages a letter has more bytes, and more of a token


@dataclass(frozen=True)
class Range:
    """A number that is not known yet.

    Attributes:
        least: What it is at least.
        usual: What it is if every question that is asked for is written, found, and checked, in usual length.
        most: What it is at most.
    """

    least: float = 0
    usual: float = 0
    most: float = 0

    def __add__(self, other: "Range") -> "Range":
        return Range(self.least + other.least, self.usual + other.usual, self.most + other.most)

    def __mul__(self, times: float) -> "Range":
        return Range(self.least * times, self.usual * times, self.most * times)


def tokens_of(texts: Iterable[str]) -> Range:
    """Return how many tokens texts have: at least one for each word, at most one for each byte of UTF-8.

    No tokenizer of bytes makes more of a text, whatever its language. English has about one for a word or a mark.
    """
    whole = "\n".join(texts)
    size = len(whole.encode("utf-8", "surrogatepass"))
    return Range(len(whole.split()), max(len(_PIECE.findall(whole)), size / _BYTES_PER_TOKEN), size)
