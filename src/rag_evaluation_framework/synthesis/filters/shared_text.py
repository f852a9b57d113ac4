"""Whether texts share wording: a run of five words, or all words of a shorter text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_evaluation_framework.text.terms import words

_RUN = 5  # words in a row; fewer are common property


@dataclass(frozen=True)
class Wording:
    """The words of some texts, ready to be compared.

    Attributes:
        texts: The words of each text.
        runs: All runs of five words.
    """

    texts: tuple[tuple[str, ...], ...]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Wording":
        """Return the wording of texts, such as the excerpts of a question."""
        found = tuple(tuple(worded) for text in texts if (worded := words(text, None)))
        return cls(found, frozenset(run for text in found for run in _runs(text, _RUN)))

    def shares(self, other: "Wording") -> bool:
        """Return whether a text here and one there share five words in a row, or one holds all of a shorter one."""
        return not self.runs.isdisjoint(other.runs) or _holds(self, other) or _holds(other, self)


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


def _holds(one: Wording, other: Wording) -> bool:
    """Return whether a text of one holds all words of a text of the other that is shorter than a run."""
    short = [text for text in other.texts if len(text) < _RUN]
    return any(text in _runs(long, len(text)) for text in short for long in one.texts)


def _runs(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(text[start : start + size]) for start in range(len(text) - size + 1)}
