"""Which asterisks, underscores and tildes of Markdown are emphasis, and which are text."""

from dataclasses import dataclass
from unicodedata import category

from rag_evaluation_framework.markups.markup import Markup

_MOST_OPEN = 200  # what closes looks back at so many


@dataclass
class _Run:
    """A run of one delimiter: what is left of it, and whether it opens or closes emphasis."""

    start: int
    end: int
    opens: bool
    closes: bool


class Emphasis:
    """The delimiters of one paragraph, paired as CommonMark pairs them.

    Unlike there, an asterisk between two digits is always text: 2*3*4 is a product.

    Args:
        markup: Where pairs are hidden.
    """

    def __init__(self, markup: Markup) -> None:
        self.markup = markup
        self._open: list[_Run] = []

    def add(self, start: int, end: int) -> None:
        """Add a run of one delimiter; it closes what is open, and may itself be open then."""
        run = self._run(start, end)
        if run.closes:
            self._close(run)
        if run.opens and run.start < run.end:
            self._open.append(run)
            del self._open[:-_MOST_OPEN]

    def _run(self, start: int, end: int) -> _Run:
        source = self.markup.source
        before, after = source[start - 1 : start] or "\n", source[end : end + 1] or "\n"
        if before.isdigit() and after.isdigit():
            return _Run(start, end, opens=False, closes=False)
        symbol_before, symbol_after = category(before)[0] in "PS", category(after)[0] in "PS"
        left = not after.isspace() and (not symbol_after or before.isspace() or symbol_before)
        right = not before.isspace() and (not symbol_before or after.isspace() or symbol_after)
        if source[start] == "_":
            return _Run(start, end, left and (not right or symbol_before), right and (not left or symbol_after))
        return _Run(start, end, left, right)

    def _close(self, run: _Run) -> None:
        source = self.markup.source
        while run.start < run.end:
            number = next((n for n in range(len(self._open) - 1, -1, -1) if self._pairs(self._open[n], run)), None)
            if number is None:
                return
            opener = self._open[number]
            del self._open[number + 1 :]
            width = 2 if min(opener.end - opener.start, run.end - run.start) >= 2 else 1
            what = "strikethrough" if source[run.start] == "~" else "emphasis"
            self.markup.hide(opener.end - width, opener.end, what)
            self.markup.hide(run.start, run.start + width, what)
            opener.end -= width
            run.start += width
            if opener.start == opener.end:
                self._open.pop()

    def _pairs(self, opener: _Run, closer: _Run) -> bool:
        source = self.markup.source
        if source[opener.start] != source[closer.start]:
            return False
        first, second = opener.end - opener.start, closer.end - closer.start
        if source[opener.start] == "~":
            return first == second
        return not ((opener.closes or closer.opens) and (first + second) % 3 == 0 and first % 3)
