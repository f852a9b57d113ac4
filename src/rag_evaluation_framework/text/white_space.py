"""Text of which every run of white space is one blank."""

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

_BLANKS = np.array([chr(code).isspace() for code in range(0x3001)] + [False])  # the last is for all codes behind it
_BLOCK = 64  # characters from one mark to the next
_AT_ONCE = 1_048_576  # characters, for the sake of memory
_UNEVEN = re.compile(r"[^\S ]|  ")
_NO_MARKS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


class CollapsedText:
    """A text of which every run of white space is one blank, and where its characters stand in the original.

    Args:
        original: The text.

    Attributes:
        text: The text, collapsed; the original itself if that is the same.
    """

    def __init__(self, original: str) -> None:
        self.original = original
        self.text, self._marks = original, _NO_MARKS
        if _UNEVEN.search(original):
            self.text, self._marks = _collapse(original)

    def offset(self, place: int) -> int:
        """Return where a character of the collapsed text stands in the original; of a blank, where its run begins."""
        if not len(self._marks):
            return place
        block, behind = divmod(place, _BLOCK)
        units = _units(behind).match(self.original, int(self._marks[block]))
        return units.end() if units else len(self.original)


@cache
def _units(count: int) -> re.Pattern[str]:
    return re.compile(rf"(?:\s+|\S){{{count}}}")


def _collapse(text: str) -> tuple[str, NDArray[np.int64]]:
    """Return the text, collapsed, and where every 64th of its characters stands in the original."""
    parts: list[str] = []
    marks: list[NDArray[np.int64]] = []
    length, blank_before = 0, False
    for start in range(0, len(text), _AT_ONCE):
        data = text[start : start + _AT_ONCE].encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(data, dtype="<u4")
        blank = _BLANKS[np.minimum(codes, len(_BLANKS) - 1)]
        keep = ~blank
        keep[1:] |= ~blank[:-1]  # the first blank of a run stands for the run
        keep[0] |= not blank_before
        kept = np.where(blank, np.uint32(ord(" ")), codes)[keep]
        parts.append(kept.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"))
        marks.append(np.flatnonzero(keep)[-length % _BLOCK :: _BLOCK] + start)
        length, blank_before = length + len(kept), bool(blank[-1])
    return "".join(parts), np.concatenate(marks)


def offsets_without_white_space(text: str) -> NDArray[np.int32]:
    """Return where each character of a text stands that is no white space; shape (such characters,)."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return np.flatnonzero(~_BLANKS[np.minimum(codes, len(_BLANKS) - 1)]).astype(np.int32)
