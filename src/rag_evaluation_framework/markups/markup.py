"""What a renderer shows of a source text: which parts it hides, and what it shows in their place."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.markups.characters import key

CODE = "code"
LINE_END = "\n"  # shown where a block, a line or a cell ends


class Markup:
    """The parts of a source text that a renderer does not show as they stand.

    Parts may be hidden in any order, and one within another; the outer one then counts. `finish` puts them in order.

    Args:
        source: The text.

    Attributes:
        source: The text.
        starts: The first character of each part, in order.
        ends: One past the last character of each part.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts, self.ends, self._codes = array("i"), array("i"), array("i")
        self._inline_starts, self._inline_ends = array("i"), array("i")
        self._kinds: dict[tuple[str, str], int] = {}
        self._known: list[tuple[str, str]] = []

    def hide(self, start: int, end: int, what: str, shown: str = "") -> None:
        """Hide a part.

        Args:
            start: Its first character.
            end: One past its last character.
            what: What it is, in the words of a reader: "emphasis".
            shown: What is shown in its place: nothing or one character.
        """
        if end <= start:
            return
        code = self._kinds.setdefault((what, shown), len(self._known))
        if code == len(self._known):
            self._known.append((what, shown))
        self.starts.append(start)
        self.ends.append(end)
        self._codes.append(code)

    def read(self, start: int, end: int) -> None:
        """Note that inline markup is read between two offsets, behind all that was read before: no block of code."""
        self._inline_starts.append(start)
        self._inline_ends.append(end)

    def is_read(self, offset: int) -> bool:
        """Return whether inline markup is read in front of an offset, so that signs may be hidden; not in code."""
        number = bisect_right(self._inline_starts, offset) - 1
        if number < 0 or offset > self._inline_ends[number]:
            return False
        before = self.parts(self._inline_starts[number], offset)
        return sum(what == CODE for _, _, what, _ in before) % 2 == 0

    def read_to(self, offset: int) -> int:
        """Return where the inline markup ends that is read at an offset; the offset if none is."""
        number = bisect_right(self._inline_starts, offset) - 1
        return max(self._inline_ends[number], offset) if number >= 0 else offset

    def finish(self) -> "Markup":
        """Put the parts in order, none within another; return the markup."""
        starts, ends = np.asarray(self.starts, dtype=np.int32), np.asarray(self.ends, dtype=np.int32)
        order = np.lexsort((-ends, starts))
        starts, ends = starts[order], ends[order]
        before = np.maximum.accumulate(np.concatenate(([0], ends)))[:-1] if len(ends) else starts
        inner = ends <= before
        starts = np.maximum(starts, before)[~inner]
        self.starts, self.ends = array("i", starts.tolist()), array("i", ends[~inner].tolist())
        self._codes = array("i", np.asarray(self._codes, dtype=np.int32)[order][~inner].tolist())
        return self

    def parts(self, start: int, end: int) -> Iterator[tuple[int, int, str, str]]:
        """Yield the hidden parts that begin between two characters: first, end, what it is and what is shown."""
        for number in range(bisect_left(self.starts, start), bisect_left(self.starts, end)):
            yield self.starts[number], self.ends[number], *self._known[self._codes[number]]

    def touching(self, start: int, end: int) -> tuple[int, int]:
        """Return a place with the parts that are hidden directly before and behind it."""
        number = bisect_left(self.starts, start) - 1
        while number >= 0 and self.ends[number] == start:
            start, number = self.starts[number], number - 1
        for first, behind, _, _ in self.parts(end, len(self.source)):
            if first != end:
                break
            end = behind
        return start, end

    def end_of(self, offset: int) -> int:
        """Return one past the last character of what is shown at an offset: more than one for an entity."""
        number = bisect_right(self.starts, offset) - 1
        return self.ends[number] if number >= 0 and self.starts[number] == offset else offset + 1

    def characters(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """Yield the shown characters between two offsets, each with its own first and end.

        A part that begins before the first offset is taken as seen.
        """
        number = bisect_right(self.starts, start) - 1
        at = max(start, self.ends[number]) if number >= 0 and self.starts[number] < start else start
        for first, behind, _, shown in self.parts(at, end):
            for offset in range(at, first):
                yield self.source[offset], offset, offset + 1
            if shown:
                yield shown, first, behind
            at = behind
        for offset in range(at, min(end, len(self.source))):
            yield self.source[offset], offset, offset + 1

    def characters_before(self, end: int, count: int) -> list[tuple[str, int, int]]:
        """Return up to so many shown characters before an offset, the nearest first."""
        return list(islice(self.backwards(end), count))

    def backwards(self, end: int) -> Iterator[tuple[str, int, int]]:
        """Yield the shown characters before an offset, the nearest first, each with its own first and end."""
        number = bisect_left(self.starts, end) - 1
        at = end
        while at > 0:
            behind = self.ends[number] if number >= 0 else 0
            if behind >= at and number >= 0:
                shown = self._known[self._codes[number]][1]
                if shown:
                    yield shown, self.starts[number], behind
                at, number = self.starts[number], number - 1
            else:
                at -= 1
                yield self.source[at], at, at + 1

    def shown(self, start: int, end: int) -> str:
        """Return what is shown between two offsets."""
        number = bisect_right(self.starts, start) - 1
        at = max(start, self.ends[number]) if number >= 0 and self.starts[number] < start else start
        pieces: list[str] = []
        for first, behind, _, shown in self.parts(at, end):
            pieces += (self.source[at:first], shown)
            at = behind
        return "".join((*pieces, self.source[at:end]))

    def shows(self, start: int, end: int) -> bool:
        """Return whether any letter or number is shown between two offsets; not so in comments and attributes."""
        return any(map(key, self.shown(start, end)))

    def hides(self, offset: int) -> bool:
        """Return whether nothing is shown of a character, nor in its place; of those of an entity its character is."""
        number = bisect_right(self.starts, offset) - 1
        return number >= 0 and offset < self.ends[number] and not self._known[self._codes[number]][1].strip()

    def hidden_as(self, offset: int) -> str:
        """Return what the part is that a character is hidden in: "comments and scripts"; "" if it is in none."""
        number = bisect_right(self.starts, offset) - 1
        return self._known[self._codes[number]][0] if number >= 0 and offset < self.ends[number] else ""

    def codes(self) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
        """Return the code of every shown character, and its offset; both of shape (characters shown,)."""
        codes = np.frombuffer(self.source.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        if not self.starts:
            return codes, np.arange(len(codes), dtype=np.int32)
        starts, ends = np.asarray(self.starts), np.asarray(self.ends)
        change = np.zeros(len(codes) + 1, dtype=np.int8)
        change[starts] += 1
        change[ends] -= 1
        hidden = np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)
        replaced = [(start, ord(shown)) for start, _, _, shown in self.parts(0, len(codes)) if shown.strip()]
        if replaced:
            places, values = zip(*replaced, strict=True)
            codes = codes.copy()
            codes[list(places)] = values
            hidden[list(places)] = False
        offsets = np.flatnonzero(~hidden).astype(np.int32)
        return codes[offsets], offsets
