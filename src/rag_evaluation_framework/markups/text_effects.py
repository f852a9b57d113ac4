"""What is struck out, raised or lowered: the same letters, and something else."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from weakref import WeakKeyDictionary

from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.markup import Markup

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
    of the paragraph; in HTML, of the page.

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
