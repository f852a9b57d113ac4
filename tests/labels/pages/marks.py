"""Marks: characters of a source replaced by private ones, each its own, so that a rendering tells where they went.

A mark takes the place of one character (or one entity) and is as wide as it, so lines and tables keep their form.
"""

import re
from collections.abc import Callable, Iterable

FIRST, LAST = 0xE000, 0xF8FF  # the private use area
MOST = LAST - FIRST + 1
MARK = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]")
WORD = re.compile(r"[^\W_]+")

Mark = tuple[int, str]
"""Where a source is marked, and what stood there."""


def marked(source: str, marks: list[Mark]) -> str:
    """The source with mark number i in the place of marks[i]; the marks are in order of their places."""
    parts, at = [], 0
    for number, (place, stood) in enumerate(marks):
        parts += [source[at:place], chr(FIRST + number)]
        at = place + len(stood)
    return "".join([*parts, source[at:]])


def restored(text: str, shown: list[str]) -> tuple[str, dict[int, int]]:
    """A rendering with its marks turned back into what they show, and where each mark stands in that text.

    A mark that stands twice (a heading that is also in a table of contents) is left out of the places.
    """
    places: dict[int, int] = {}
    twice: set[int] = set()
    parts: list[str] = []
    length, at = 0, 0
    for match in MARK.finditer(text):
        number = ord(match[0]) - FIRST
        parts += [text[at : match.start()], shown[number]]
        length += match.start() - at
        if number in places:
            twice.add(number)
        places[number] = length
        length += len(shown[number])
        at = match.end()
    parts.append(text[at:])
    return "".join(parts), {number: place for number, place in places.items() if number not in twice}


def harmless(marks: list[Mark], same: Callable[[list[Mark]], bool], tries: int) -> list[Mark]:
    """The marks that leave the rendering as it is, found by halving; gives up a part when the tries are spent."""
    left = [tries]

    def search(part: list[Mark]) -> list[Mark]:
        if not part or left[0] <= 0:
            return []
        left[0] -= 1
        if same(part):
            return part
        if len(part) == 1:
            return []
        middle = len(part) // 2
        return search(part[:middle]) + search(part[middle:])

    kept = search(marks)
    while kept and not same(kept):  # two marks may be harmless alone and not together
        kept = kept[: len(kept) // 2]
    return kept


def words(source: str, hidden: Iterable[re.Pattern[str]]) -> list[Mark]:
    """A mark for the first letter of every word that is not in a part of the source that cannot be shown."""
    out = [False] * (len(source) + 1)
    for pattern in hidden:
        for match in pattern.finditer(source):
            out[match.start() : match.end()] = [True] * (match.end() - match.start())
    found = [
        (m.start(), m[0][0])
        for m in WORD.finditer(source)
        if not out[m.start()] and ord(m[0][0]) < FIRST and (m[0][0].isalpha() or not _first_of_line(source, m.start()))
    ]
    step = -(-len(found) // MOST)
    return found[::step] if step > 1 else found


def _first_of_line(source: str, at: int) -> bool:
    line = source.rfind("\n", 0, at) + 1
    return not source[line:at].strip()
