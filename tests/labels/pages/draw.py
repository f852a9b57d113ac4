"""Quotes drawn from a rendering as people choose them, and changed as people change them when they paste."""

import random
import re
from collections.abc import Iterator

from tests.labels.pages.folding import letters

SENTENCE_END = re.compile(r"[.!?][”\"’')]*(?=\s+[A-ZÀ-Þ(“\"‘`]|\s*$)")
TOKEN = re.compile(r"\S+")
SHAPES = ("sentence", "sentence", "part", "part", "line", "row", "row", "two blocks", "two sentences", "long")
SHORTEST, LONGEST = 14, 420  # letters and digits of a quote


def blocks(text: str, *, wrapped: bool) -> list[tuple[int, int]]:
    """The paragraphs, items and rows of a rendering: lines, or groups of lines where the rendering wraps them."""
    pattern = r"(?:[^\n]*\S[^\n]*\n?)+" if wrapped else r"[^\n]*\S[^\n]*"
    return [_trimmed(text, m.start(), m.end()) for m in re.finditer(pattern, text)]


def sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found, at = [], start
    for match in SENTENCE_END.finditer(text, start, end):
        found.append(_trimmed(text, at, match.end()))
        at = match.end()
    if text[at:end].strip():
        found.append(_trimmed(text, at, end))
    return found


def drawn(text: str, *, wrapped: bool, rng: random.Random) -> Iterator[tuple[str, int, int]]:
    """Shapes and places, without end: shape, start and end in the rendering."""
    all_blocks = blocks(text, wrapped=wrapped)
    rows = [block for block in all_blocks if "\t" in text[slice(*block)]]
    lines = [block for block in all_blocks if 3 <= len(text[slice(*block)].split()) <= 14]
    prose = [block for block in all_blocks if len(text[slice(*block)].split()) > 8 and block not in rows]
    while True:
        shape = rng.choice(SHAPES)
        place = None
        if shape == "row" and rows:
            place = rng.choice(rows)
            follow = all_blocks.index(place) + 1
            if rng.random() < 0.3 and follow < len(all_blocks):
                place = (place[0], all_blocks[follow][1])
        elif shape == "line" and lines:
            place = rng.choice(lines)
        elif shape == "two blocks" and len(all_blocks) > 2:
            number = rng.randrange(len(all_blocks) - 1)
            first, second = sentences(text, *all_blocks[number]), sentences(text, *all_blocks[number + 1])
            place = (first[-1][0], second[0][1])
        elif shape in ("sentence", "two sentences", "part", "long") and prose:
            place = _of_prose(shape, text, rng.choice(prose), rng)
        if place and SHORTEST <= len(letters(text[slice(*place)])) <= LONGEST and len(text[slice(*place)].split()) > 2:
            yield shape, *place


def _of_prose(shape: str, text: str, block: tuple[int, int], rng: random.Random) -> tuple[int, int]:
    if shape == "long":
        return block
    found = sentences(text, *block)
    number = rng.randrange(len(found))
    if shape == "two sentences":
        return found[number][0], found[min(number + 1, len(found) - 1)][1]
    if shape == "sentence":
        return found[number]
    tokens = list(TOKEN.finditer(text, *block))
    size = min(len(tokens), rng.randint(4, 14))
    first = rng.randrange(len(tokens) - size + 1)
    return tokens[first].start(), tokens[first + size - 1].end()


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def changed(quote: str, after: str, rng: random.Random) -> tuple[str, list[str]]:
    """The quote as pasted: two of three are changed in one or two ways; after is what follows it in the rendering."""
    done: list[str] = []
    if rng.random() < 0.3:
        return quote, done
    for name in rng.sample(list(WAYS), len(WAYS)):
        new = WAYS[name](quote, after, rng)
        if new is not None and new != quote:
            quote = new
            done.append(name)
        if len(done) == 1 + (rng.random() < 0.3):
            break
    return quote, done


def _straight(quote, after, rng):
    return quote.translate(str.maketrans("‘’“”–—", "''\"\"--"))


def _curly(quote, after, rng):
    quote = re.sub(r"(?<!\S)\"(?=\S)|(?<=[(\[])\"", "“", quote).replace('"', "”")
    return re.sub(r"(?<!\S)'(?=\S)", "‘", quote).replace("'", "’")


def _outer(quote, after, rng):
    if quote[0] in "\"'“‘«" or quote[-1] in "\"'”’»":
        return None
    before, behind = rng.choice(["“”", '""', "«»", "„“", "''"])
    return before + quote + behind


def _ellipsis_behind(quote, after, rng):
    if quote[-1].isalnum() and after[:1] in (" ", "\n", "\t"):
        return quote + rng.choice(["…", "...", " …", " [...]"])
    return None


def _ellipsis_before(quote, after, rng):
    return rng.choice(["…", "... ", "[…] "]) + quote if quote[0].isalpha() and quote[0].islower() else None


def _capital(quote, after, rng):
    return quote[0].upper() + quote[1:] if quote[:2].isalpha() and quote[:2].islower() else None


def _no_dot(quote, after, rng):
    return quote[:-1] if quote[-1] == "." and quote[-2:-1].isalpha() else None


def _one_line(quote, after, rng):
    return re.sub(r"\s*\n\s*", " ", quote).replace("\t", " ")


def _tabs(quote, after, rng):
    return quote.replace("\t", rng.choice([" ", "  ", "    "]))


def _hyphenated(quote, after, rng):
    words = list(re.finditer(r"(?<=[ ])[a-z]{7,}(?=[ ])", quote))
    if not words or rng.random() < 0.6:
        return None
    word = rng.choice(words)
    at = word.start() + rng.randint(3, len(word[0]) - 3)
    return quote[:at] + "-\n" + quote[at:]


WAYS = {
    "straight quotation marks and dashes": _straight,
    "curly quotation marks": _curly,
    "outer quotation marks": _outer,
    "ellipsis behind": _ellipsis_behind,
    "ellipsis before": _ellipsis_before,
    "capital at the start": _capital,
    "no final dot": _no_dot,
    "joined lines": _one_line,
    "spaces for tabs": _tabs,
    "hyphenated": _hyphenated,
}
