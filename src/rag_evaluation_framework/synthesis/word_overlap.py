"""Which texts are about the same, by the rare words that they share."""

from collections import defaultdict
from collections.abc import Sequence
from math import log, sqrt

from rag_evaluation_framework.text.terms import words

_MOST_SHARED = 20  # a word that more texts have says little, and would be looked up in all of them


class WordOverlap:
    """Cosine similarity of texts as sets of words weighted by rarity (inverse document frequency).

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        sets = [frozenset(words(text, None)) for text in texts]
        having: defaultdict[str, list[int]] = defaultdict(list)
        for number, own in enumerate(sets):
            for word in own:
                having[word].append(number)
        self._having = {word: numbers for word, numbers in having.items() if len(numbers) <= _MOST_SHARED}
        self._weights = {word: log(1 + len(texts) / len(numbers)) for word, numbers in self._having.items()}
        self._lengths = [self._length(own) for own in sets]

    def nearest(self, text: str) -> list[tuple[int, float]]:
        """Return the numbers of texts that share rare words with a text, and how similar they are, nearest first."""
        own = frozenset(words(text, None)) & self._having.keys()
        length = self._length(own)
        scores: defaultdict[int, float] = defaultdict(float)
        for word in sorted(own):
            for number in self._having[word]:
                scores[number] += self._weights[word] ** 2
        similar = [(number, score / (length * self._lengths[number])) for number, score in scores.items()]
        return sorted(similar, key=lambda found: (-found[1], found[0]))

    def _length(self, own: frozenset[str]) -> float:
        return sqrt(sum(self._weights[word] ** 2 for word in sorted(own & self._having.keys())))
