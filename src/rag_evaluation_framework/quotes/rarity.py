"""How rare the words of a corpus are."""

import re
from collections import Counter
from collections.abc import Iterable
from math import log2

from rag_evaluation_framework.markups.characters import is_unspaced

_WORDS = re.compile(r"[^\W_]+")


class WordRarity:
    """How much each word of some texts tells.

    Args:
        texts: The texts.

    Attributes:
        bits: What a word tells that occurs once: the binary logarithm of the number of words.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = Counter[str]()
        for text in texts:
            self._counts.update(_units(text))
        self.bits = log2(max(self._counts.total(), 1))

    def of(self, form: str) -> float:
        """Return the binary logarithm of how seldom a word occurs, at most `bits`; 0 of a symbol."""
        return min(sum(self.bits - log2(max(self._counts[unit], 1)) for unit in _units(form)), self.bits)

    def knows(self, text: str) -> bool:
        """Return whether every word of a text occurs."""
        return all(unit in self._counts for unit in _units(text))


def _units(text: str) -> list[str]:
    """Return the words of a text; in scripts that put no space between words, the characters."""
    units: list[str] = []
    for word in _WORDS.findall(text.casefold()):
        if word.isascii() or not any(map(is_unspaced, word)):
            units.append(word)
        else:
            units.extend(word)
    return units
