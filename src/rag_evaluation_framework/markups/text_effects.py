"""What is struck out, raised or lowered: the same letters, and something else."""

import re

from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.markup import Markup

STRUCK_OUT = "struck out"
_TAG = re.compile(r"<(?P<end>/?)(?P<name>sup|sub|del|s|strike)(?=[\s/>])", re.IGNORECASE)
_ROLE = re.compile(r":(?P<name>sup|sub|superscript|subscript):`")
_ANY = re.compile(rf"~~|{_TAG.pattern}|:(?:sup|sub)", re.IGNORECASE)

Effects = tuple[tuple[int, frozenset[str]], ...]


def effects(markup: Markup, start: int, end: int) -> Effects:
    """Return how the letters and digits that are shown between two offsets are struck out, raised or lowered.

    What begins before the first offset counts if it does in the same paragraph; in HTML, on the same page.

    Args:
        markup: What is shown of a document.
        start: The first character.
        end: One past the last one.

    Returns:
        Of each change the number of letters and digits before it, and what they are from there on: "struck out",
        "raised", "lowered". Empty if they are nothing of that.
    """
    begin = markup.read_from(start)
    if not _ANY.search(markup.source, begin, end):
        return ()
    active, at, count = frozenset[str](), start, 0
    changes = {0: active}
    for first, behind, what, _ in markup.parts(begin, end):
        changed = _changed(active, what, markup.source[first:behind])
        if changed != active:
            count += _keys(markup, at, first)
            active, at = changed, max(first, start)
            changes[count] = active
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


def _keys(markup: Markup, start: int, end: int) -> int:
    return len("".join(map(key, markup.shown(start, end)))) if start < end else 0


def _changed(active: frozenset[str], what: str, source: str) -> frozenset[str]:
    """Return what is active behind a hidden part."""
    if what == "strikethrough":
        return active ^ {STRUCK_OUT}
    if what == "roles":
        role = _ROLE.match(source)
        return active - {"raised", "lowered"} if role is None else active | {_named(role["name"])}
    tag = _TAG.match(source) if what == "tags" else None
    if tag is None:
        return active
    return active - {_named(tag["name"])} if tag["end"] else active | {_named(tag["name"])}


def _named(name: str) -> str:
    return {"sup": "raised", "sub": "lowered"}.get(name.lower()[:3], STRUCK_OUT)
