"""A quote, taken apart: its key, the gaps in it, and the symbols before and behind."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.markups.characters import folded, key
from rag_evaluation_framework.quotes.gaps import LIST_MARKER, NOTE_MARK
from rag_evaluation_framework.quotes.words import begin_of

_NEAR = 4  # characters, of which some may be invisible
_NOTE_MARK = re.compile(  # behind a word
    rf"(?:(?<=[^\W\d_])|(?<=\w[.,;:!?)\"'”’»]))(?:{NOTE_MARK.pattern})(?!\w|[.,]\d)"
)
_JOINED = "℃℉¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_UNITS = "㎏㎎㎜㎝㎞™"
_OTHERS = {
    pair[at]: pair[1 - at] for sign in _JOINED + _UNITS for pair in [(sign, normalize("NFKC", sign))] for at in (0, 1)
}
_JOINED_OR_APART = re.compile(
    rf"(?<!\d)(?:\d{{1,2}}⁄\d{{1,2}}(?!\d)|[{_JOINED[2:]}])|°[CF](?!\w)|[{_JOINED[:2]}{_UNITS}]"
    r"|(?:(?<=\d)|(?<=\d\s))(?:[kmc]m|[km]g)(?!\w)|(?<=[^\W\d_])TM(?!\w)"
)


@dataclass(frozen=True)
class QuotedText:
    """A quote whose letters and numbers stand at known places.

    Attributes:
        text: The quote.
        key: Its letters, numbers and combining marks, as they are compared.
        places: Where each character of the key stands in the quote.
        ignoring: What the quote has otherwise than it was given.
        note: The mark of a footnote at its end, which is no part of the text; "" if there is none.
        left_out: The places of numbers and marks that are in the quote and no part of its text.
    """

    text: str
    key: str
    places: tuple[int, ...]
    ignoring: tuple[str, ...] = ()
    note: str = ""
    left_out: frozenset[int] = frozenset()

    @classmethod
    def of(cls, text: str, without: frozenset[int] = frozenset(), note: str = "") -> "QuotedText":
        """Take a quote apart; what stands at the places `without` is no part of the key."""
        keyed = [(part, place) for place, sign in enumerate(text) if place not in without for part in key(sign)]
        key_of_text, places = "".join(part for part, _ in keyed), tuple(place for _, place in keyed)
        return cls(text, key_of_text, places, note=note, left_out=without)

    def without_numbers(self) -> "QuotedText | None":
        """Return the quote, the numbers of its list items no part of the key; None if it has none."""
        numbers: set[int] = set()
        start = 0
        for line in self.text.splitlines(keepends=True):
            blank = len(line) - len(line.lstrip()) if start else begin_of(self.text)
            if (marker := LIST_MARKER.match(line, blank)) and marker["number"]:
                numbers.update(range(start + blank, start + marker.end()))
            start += len(line)
        return QuotedText.of(self.text, frozenset(numbers)) if numbers else None

    def with_other_signs(self) -> "QuotedText | None":
        """Return the quote with ℃ for °C and ½ for 1⁄2, and the other way round; None if it has none of these."""
        text = _JOINED_OR_APART.sub(lambda found: _OTHERS.get(found[0], found[0]), self.text)
        return replace(QuotedText.of(text), ignoring=("ligatures",)) if text != self.text else None

    def without_note_marks(self) -> "list[QuotedText]":
        """Return the quote, what may be marks of footnotes no part of the key; empty if nothing may be one.

        In "45.50 per day1" the first may be one, or the second only.
        """
        marks = list(_NOTE_MARK.finditer(self.text))
        certain = [mark for mark in marks if not self.text[max(mark.start() - 2, 0) : mark.start()][:1].isdigit()]
        return [self._without(found) for found in ([marks, certain] if certain != marks else [marks]) if found]

    def _without(self, marks: "list[re.Match[str]]") -> "QuotedText":
        text, note = self.text, ""
        if not any(map(key, text[marks[-1].end() :])):
            *marks, mark = marks
            text, note = f"{text[: mark.start()]}{text[mark.end() :]}", mark[0]
        places = frozenset(place for mark in marks for place in range(mark.start(), mark.end()))
        return QuotedText.of(text, places, note)

    def between(self, start: int, end: int | None) -> str:
        """Return what stands between two places of the quote, without what is left out."""
        stop = len(self.text) if end is None else end
        return "".join(self.text[place] for place in range(start, stop) if place not in self.left_out)

    @property
    def before(self) -> str:
        """What stands before the first letter or number."""
        return self.text[: self.places[0]]

    @property
    def behind(self) -> str:
        """What stands behind the last letter or number."""
        return self.text[self.places[-1] + 1 :]

    @cached_property
    def _numbered(self) -> NDArray[np.int64]:
        return np.array(self.places)

    @cached_property
    def has_gap(self) -> NDArray[np.bool_]:
        """Whether anything stands behind each character of the key but the last; shape (characters - 1,)."""
        gaps: NDArray[np.bool_] = np.diff(self._numbered) > 1
        return gaps

    def gap(self, number: int) -> str:
        """Return what stands between a character of the key and the next."""
        return self.text[self.places[number] + 1 : self.places[number + 1]]

    def around(self, number: int) -> tuple[str, str]:
        """Return up to two characters before what stands between a character of the key and the next, and behind it.

        Invisible ones do not count.
        """
        before, behind = self.places[number], self.places[number + 1]
        stretches = self.text[max(before - _NEAR, 0) : before + 1], self.text[behind : behind + _NEAR + 1]
        seen = ["".join(filter(folded, stretch)) for stretch in stretches]
        return seen[0][-2:], seen[1][:2]
