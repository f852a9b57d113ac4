"""What a renderer shows of a source text: which parts it hides, and what is struck out, raised or lowered."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.markups.characters import key

# What a renderer shows of a source text: which parts it hides, and what it shows in their place.

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


# What is struck out, raised or lowered: the same letters, and something else.

STRUCK_OUT = "struck out"
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]*)")
_NAMED = {
    **dict.fromkeys(("del", "s", "strike"), STRUCK_OUT),
    **dict.fromkeys(("sup", "superscript"), "raised"),
    **dict.fromkeys(("sub", "subscript"), "lowered"),
}
_STYLE = re.compile(r"\bstyle\s*=[^>]*\bline-through\b", re.IGNORECASE)
_ROLE = re.compile(r":(?P<name>sup|sub|superscript|subscript):`")

Effects = tuple[tuple[int, frozenset[str]], ...]
_Changes = tuple[list[int], list[frozenset[str]]]


def effects(markup: Markup, start: int, end: int) -> Effects:
    """Return how the letters and digits that are shown between two offsets are struck out, raised or lowered.

    What begins before the first offset counts as far as it goes: an element to its last tag or, without one, to the end
    of the paragraph.

    Args:
        markup: What is shown of a document.
        start: The first character.
        end: One past the last one.

    Returns:
        Of each change the number of letters and digits before it, and what they are from there on: "struck out",
        "raised", "lowered". Empty if they are nothing of that.
    """
    offsets, states = _changes_of(markup)
    number = bisect_right(offsets, start)
    behind = bisect_left(offsets, end)
    changes = {0: states[number - 1]} if number else {0: frozenset[str]()}
    if number >= behind and not changes[0]:
        return ()
    count, at = 0, start
    for offset, names in zip(offsets[number:behind], states[number:behind], strict=True):
        count += _keys(markup, at, offset)
        changes[count], at = names, offset
    total = count + _keys(markup, at, end)
    now, found = frozenset[str](), list[tuple[int, frozenset[str]]]()
    for place, names in changes.items():
        if names != now and place < total:
            found.append((place, names))
            now = names
    return tuple(found)


def struck_out(markup: Markup, start: int, end: int) -> str:
    """Return how much is struck out of what is shown between two offsets: "all" or "part"; "" if nothing is."""
    found = [(place, STRUCK_OUT in names) for place, names in effects(markup, start, end)]
    if not any(struck for _, struck in found):
        return ""
    return "all" if found[0] == (0, True) and all(struck for _, struck in found) else "part"


def effects_begun(markup: Markup, start: int, end: int) -> list[str]:
    """Return what begins between two offsets: "raised text", "lowered text", "strikethrough"."""
    offsets, states = _changes_of(markup)
    first, behind = bisect_left(offsets, start), bisect_left(offsets, end)
    before = states[first - 1] if first else frozenset[str]()
    begun = dict.fromkeys(
        name for last, names in pairwise([before, *states[first:behind]]) for name in sorted(names - last)
    )
    return ["strikethrough" if name == STRUCK_OUT else f"{name} text" for name in begun]


def _keys(markup: Markup, start: int, end: int) -> int:
    return len("".join(map(key, markup.shown(start, end)))) if start < end else 0


_known: WeakKeyDictionary[Markup, _Changes] = WeakKeyDictionary()


def _changes_of(markup: Markup) -> _Changes:
    """Return where in a document what is active changes, in order, and what is active from there on."""
    if markup not in _known:
        events = sorted(
            (offset, step, name) for first, end, name in _ranges(markup) for offset, step in ((first, 1), (end, -1))
        )
        active, offsets, states = Counter[str](), list[int](), list[frozenset[str]]()
        for offset, step, name in events:
            active[name] += step
            if not offsets or offsets[-1] != offset:
                offsets.append(offset)
                states.append(frozenset())
            states[-1] = frozenset(+active)
        _known[markup] = offsets, states
    return _known[markup]


def _ranges(markup: Markup) -> Iterator[tuple[int, int, str]]:
    """Yield what is between signs or tags that strike out, raise or lower: first, end and effect."""
    open_tags: dict[str, list[tuple[int, str]]] = {}
    strike, role = -1, (-1, "")
    for first, behind, what, _ in markup.parts(0, len(markup.source)):
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
            name = tag["name"].lower()
            if not tag["end"]:
                style = STRUCK_OUT if _STYLE.search(markup.source, first, behind) else ""
                open_tags.setdefault(name, []).append((behind, _NAMED.get(name, style)))
            elif opened := open_tags.get(name):
                start, effect = opened.pop()
                if effect:
                    yield start, first, effect
    for start, effect in (tag for opened in open_tags.values() for tag in opened):
        if effect:
            yield start, markup.read_to(start), effect
