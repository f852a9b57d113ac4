"""The words of a document as they are shown, by which it is told how often something stands in it."""

import re

from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.markup import LINE_END, Markup

CELL = re.compile(r"\||</?t[dh]\b", re.IGNORECASE)
"""What begins or ends a cell of a table."""

_BORDER = "\x1f"
_BETWEEN = 200  # letters and digits that are looked through for another value between two texts
_GAP = re.compile(rf"[ \n{_BORDER}]")
_BLANKS = re.compile(r" {2,}")
_LINE_END = re.compile(r" ?\n[ \n]*")
_BORDERS = re.compile(rf"[ \n]*{_BORDER}[ \n]*")


class ShownWords:
    """The words of a document: their letters and digits.

    Args:
        markup: What is shown of the document.
    """

    def __init__(self, markup: Markup) -> None:
        self._lines = f"\n{words(_with_borders(markup))}\n"
        self._keys = _GAP.sub("", self._lines)

    def has(self, keys: str) -> bool:
        """Return whether some letters and digits stand in the document."""
        return keys in self._keys

    def has_twice(self, keys: str) -> bool:
        """Return whether some letters and digits stand in the document more than once."""
        return self._keys.find(keys, self._keys.find(keys) + 1) >= 0

    def has_once_between(self, before: str, after: str) -> bool:
        """Return whether no two things stand between two stretches of letters and digits; at most 200 of them each.

        Behind the first stretch, if the second is empty.
        """
        if not after:
            return not self.has_twice(before)
        found: set[int] = set()
        at = 0
        while before and (at := self._keys.find(before, at)) >= 0:
            at += len(before)
            if (behind := self._keys.find(after, at, at + _BETWEEN + len(after))) > at:
                found.add(behind)
        return len(found) < 2

    def lines_begun(self, begin: str, is_cell: bool) -> int:
        """Return how many lines or cells begin with some words, as `words` returns them.

        Args:
            begin: The words.
            is_cell: Whether they have to end a cell, too.
        """
        written = rf"[ \n{_BORDER}]".join(map(re.escape, begin.split()))
        behind = _BORDER if is_cell else rf"[ \n{_BORDER}]"
        return len(re.findall(rf"[\n{_BORDER}]{written}(?={behind})", self._lines))


def _with_borders(markup: Markup) -> str:
    """Return what is shown of a document, with a sign of its own where a cell of a table begins or ends."""
    pieces: list[str] = []
    at = 0
    for first, behind, _, shown in markup.parts(0, len(markup.source)):
        pieces += (markup.source[at:first], _BORDER if CELL.match(markup.source, first) else shown)
        at = behind
    return "".join((*pieces, markup.source[at:]))


def words(shown: str) -> str:
    """Return the letters and digits of a text, a blank or a line end where other characters stand."""
    signs = {ord(sign): key(sign) or (sign if sign in (LINE_END, _BORDER) else " ") for sign in set(shown)}
    lines = _LINE_END.sub(LINE_END, _BLANKS.sub(" ", shown.translate(signs))).strip(" \n")
    return _BORDERS.sub(_BORDER, lines) if _BORDER in lines else lines
