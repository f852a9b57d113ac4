"""The words of a document as they are shown, by which it is told how often something stands in it."""

import re

from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.markup import LINE_END, Markup

_BETWEEN = 200  # letters and digits that are looked through for another value between two texts
_GAP = re.compile(r"[ \n]")
_BLANKS = re.compile(r" {2,}")
_LINE_END = re.compile(r" ?\n[ \n]*")


class ShownWords:
    """The words of a document: their letters and digits.

    Args:
        markup: What is shown of the document.
    """

    def __init__(self, markup: Markup) -> None:
        self._lines = f"\n{words(markup.shown(0, len(markup.source)))}\n"
        self._keys = _GAP.sub("", self._lines)

    def has(self, keys: str) -> bool:
        """Return whether some letters and digits stand in the document."""
        return keys in self._keys

    def has_twice(self, keys: str) -> bool:
        """Return whether some letters and digits stand in the document more than once."""
        return self._keys.find(keys, self._keys.find(keys) + 1) >= 0

    def has_once_between(self, before: str, after: str) -> bool:
        """Return whether no two things stand between two stretches of letters and digits; at most 200 of them each."""
        found: set[int] = set()
        at = 0
        while before and (at := self._keys.find(before, at)) >= 0:
            at += len(before)
            if (behind := self._keys.find(after, at, at + _BETWEEN + len(after))) > at:
                found.add(behind)
        return len(found) < 2

    def lines_begun(self, begin: str) -> int:
        """Return how many lines or cells begin with some words, as `words` returns them."""
        written = r"[ \n]".join(map(re.escape, begin.split()))
        return len(re.findall(rf"\n{written}(?=[ \n])", self._lines))


def words(shown: str) -> str:
    """Return the letters and digits of a text, a blank or a line end where other characters stand."""
    signs = {ord(sign): key(sign) or (LINE_END if sign == LINE_END else " ") for sign in set(shown)}
    return _LINE_END.sub(LINE_END, _BLANKS.sub(" ", shown.translate(signs))).strip(" \n")
