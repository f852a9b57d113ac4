"""Whether texts share wording: a run of five words, or all words of a shorter text."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from rag_evaluation_framework.text.terms import words

_RUN = 5  # words in a row; fewer are common property


class Wording:
    """The words of some texts, ready to be compared.

    Args:
        texts: The texts, such as the excerpts of a question.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [found for text in texts if (found := words(text, None))]

    @cached_property
    def _runs(self) -> frozenset[tuple[str, ...]]:
        return frozenset(run for text in self._texts for run in _runs(text, _RUN))

    def shares(self, other: "Wording") -> bool:
        """Return whether a text here and one there share five words in a row, or one holds all of a shorter one."""
        if not self._runs.isdisjoint(other._runs):
            return True
        return self._is_held_by(other) or other._is_held_by(self)

    def _is_held_by(self, other: "Wording") -> bool:
        short = [text for text in self._texts if len(text) < _RUN]
        return any(tuple(text) in _runs(long, len(text)) for text in short for long in other._texts)


def longest_shared_run(asked: Sequence[str], told: Sequence[str]) -> Sequence[str]:
    """Return the longest run of words that stands in both, the first of several; empty if there is none."""
    best: Sequence[str] = ()
    before = [0] * (len(told) + 1)
    for end, word in enumerate(asked, 1):
        now = [0] * (len(told) + 1)
        for at, other in enumerate(told, 1):
            if word == other:
                now[at] = before[at - 1] + 1
                if now[at] > len(best):
                    best = asked[end - now[at] : end]
        before = now
    return best


def _runs(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(text[start : start + size]) for start in range(len(text) - size + 1)}
