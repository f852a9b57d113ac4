"""Shown text of a source: hidden parts, and parts that are struck out, raised or lowered."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from .characters import key

CODE = "code"
LINE_END = "\n"  # shown where a block, a line or a cell ends

Part = tuple[int, int, str, str]
"""A hidden part: its first character, one past its last, what it is to a reader, and what is shown in its place."""


class Markup:
    """The parts of a source text that a renderer does not show as they stand, and what it shows.

    Parts may be hidden in any order, and one within another; the outer one then counts. `finish` puts them in order.

    Args:
        source: The text.

    Attributes:
        source: The text.
        parts: The hidden parts.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.parts: list[Part] = []

    def hide(self, start: int, end: int, what: str, shown: str = "") -> None:
        """Hide a part.

        Args:
            start: Its first character.
            end: One past its last character.
            what: What it is, in the words of a reader: "emphasis".
            shown: What is shown in its place: nothing or one character.
        """
        if start < end:
            self.parts.append((start, end, what, shown))

    def finish(self) -> "Markup":
        """Put the parts in order, none within another; return the markup."""
        found, self.parts = sorted(self.parts, key=lambda part: (part[0], -part[1])), []
        behind = 0
        for start, end, what, shown in found:
            if end > behind:
                self.parts.append((max(start, behind), end, what, shown))
                behind = end
        return self

    @cached_property
    def text(self) -> str:
        """The shown text."""
        behind, pieces = 0, list[str]()
        for start, end, _, shown in self.parts:
            pieces += (self.source[behind:start], shown)
            behind = end
        return "".join((*pieces, self.source[behind:]))

    @cached_property
    def offsets(self) -> NDArray[np.int32]:
        """The offset in the source of each character that is shown; shape (characters shown,)."""
        is_shown = np.ones(len(self.source), np.bool_)
        for start, end, _, shown in self.parts:
            is_shown[start + len(shown) : end] = False
        return np.flatnonzero(is_shown).astype(np.int32)

    def at(self, offset: int) -> int:
        """Return how many characters are shown before an offset of the source."""
        if not self.parts:
            return min(offset, len(self.source))
        return int(self.offsets.searchsorted(np.int32(offset)))  # an int would copy the whole array

    def offset(self, number: int) -> int:
        """Return the offset of a shown character, by its number in `text`."""
        return int(self.offsets[number]) if self.parts else number

    def part_at(self, offset: int) -> Part | None:
        """Return the hidden part that an offset is in; None if it is in none."""
        number = bisect_right(self.parts, offset, key=itemgetter(0)) - 1
        return self.parts[number] if number >= 0 and offset < self.parts[number][1] else None

    def parts_between(self, start: int, end: int) -> list[Part]:
        """Return the hidden parts that begin between two offsets."""
        first, last = (bisect_right(self.parts, offset - 1, key=itemgetter(0)) for offset in (start, end))
        return self.parts[first:last]

    def end_of(self, offset: int) -> int:
        """Return one past the last character of what is shown at an offset: more than one for an entity."""
        part = self.part_at(offset)
        return part[1] if part and part[0] == offset else offset + 1

    def shown(self, start: int, end: int) -> str:
        """Return what is shown between two offsets."""
        return self.text[self.at(start) : self.at(end)] if self.parts else self.source[start:end]

    def shows(self, start: int, end: int) -> bool:
        """Return whether any letter or number is shown between two offsets; not so in comments and attributes."""
        return any(map(key, self.shown(start, end)))

    def hides(self, offset: int) -> bool:
        """Return whether nothing is shown of a character, nor in its place; of those of an entity its character is."""
        part = self.part_at(offset)
        return part is not None and not part[3].strip()

    def hidden_as(self, offset: int) -> str:
        """Return what the part is that a character is hidden in: "comments"; "" if it is in none."""
        part = self.part_at(offset)
        return part[2] if part else ""

    @cached_property
    def effects(self) -> NDArray[np.uint8]:
        """Effects of each source character: a sum of 1 (struck out), 2 (raised) and 4 (lowered)."""
        found = np.zeros(len(self.source), np.uint8)
        for start, end, name in _ranges(self):
            found[start:end] |= _EFFECTS.get(name, 0)
        return found


# What is struck out, raised or lowered: the same letters, and something else.

STRUCK_OUT = "struck out"
_EFFECTS = {STRUCK_OUT: 1, "raised": 2, "lowered": 4}
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]*)")
_NAMED = {
    **dict.fromkeys(("del", "s", "strike"), STRUCK_OUT),
    **dict.fromkeys(("sup", "superscript"), "raised"),
    **dict.fromkeys(("sub", "subscript"), "lowered"),
}
_STYLE = re.compile(r"\bstyle\s*=[^>]*\bline-through\b", re.IGNORECASE)
_ROLE = re.compile(r":(?P<name>sup|sub|superscript|subscript):`")

_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n|\Z")


def effects_of(markup: Markup, start: int, end: int) -> list[int]:
    """Return how each letter and digit that is shown between two offsets is struck out, raised or lowered.

    What begins before the first offset counts as far as it goes: an element to its last tag or, without one, to the end
    of the paragraph.

    Args:
        markup: What is shown of a document.
        start: The first character.
        end: One past the last one.

    Returns:
        Of each a sum, as in `Markup.effects`.
    """
    shown = range(markup.at(start), markup.at(end))
    return [int(markup.effects[markup.offset(at)]) for at in shown for _ in key(markup.text[at])]


def struck_out(markup: Markup, start: int, end: int) -> str:
    """Return how much is struck out of what is shown between two offsets: "all" or "part"; "" if nothing is."""
    found = {effect & 1 for effect in effects_of(markup, start, end)}
    return "" if 1 not in found else "part" if 0 in found else "all"


def effects_begun(markup: Markup, start: int, end: int) -> list[str]:
    """Return what begins between two offsets: "raised text", "lowered text", "strikethrough"."""
    before = np.zeros(int(not start), np.uint8)
    states = np.concatenate((before, markup.effects[max(start - 1, 0) : end]))
    turns = dict.fromkeys((states[1:] & ~states[:-1]).tolist())
    begun = dict.fromkeys(name for turn in turns for name in sorted(_EFFECTS) if turn & _EFFECTS[name])
    return ["strikethrough" if name == STRUCK_OUT else f"{name} text" for name in begun]


def _ranges(markup: Markup) -> Iterator[tuple[int, int, str]]:
    """Yield what is between signs or tags that strike out, raise or lower: first, end and effect."""
    open_tags: dict[str, list[tuple[int, str]]] = {}
    strike, role = -1, (-1, "")
    for first, behind, what, _ in markup.parts:
        if what == "strikethrough":
            if strike >= 0:
                yield strike, first, STRUCK_OUT
            strike = -1 if strike >= 0 else behind
        elif what == "roles":
            if role[1]:
                yield role[0], first, role[1]
            found = _ROLE.match(markup.source, first, behind)
            role = (behind, "" if found is None else _NAMED[found["name"]])
        elif what == "tags" and (tag := _TAG.match(markup.source, first, behind)):
            opened = open_tags.setdefault(tag["name"].lower(), [])
            if not tag["end"]:
                style = STRUCK_OUT if _STYLE.search(markup.source, first, behind) else ""
                opened.append((behind, _NAMED.get(tag["name"].lower(), style)))
            elif opened:
                start, effect = opened.pop()
                yield start, first, effect
    end = -1  # of the paragraph, which all that begins in it shares: it is not looked for from each
    for start, effect in sorted(tag for opened in open_tags.values() for tag in opened if tag[1]):
        if start > end and (found := _PARAGRAPH_END.search(markup.source, start)):
            end = found.start()
        yield start, end, effect
