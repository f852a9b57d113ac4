"""Suggestions for quotes that were not located: the most similar passage, and the words that differ.

Nothing is located by likeness: a suggestion is for a person, who takes it or does not.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import floor
from operator import itemgetter
from unicodedata import name

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq, Levenshtein, Opcode

from ..base.outside import cut_short, one_line
from ..data import CharacterSpan, DocumentId
from ..text.markups.characters import UNSPACED, flat, folded, key
from .ends import cut_ends
from .quote_locator import Located, QuoteLocator, parts_of

LONGEST = 20_000  # characters of a quote; nobody labels as much by quoting it
_LONGEST_COMPARED = 500  # characters; the time of RapidFuzz grows with their square
_LIMIT = 20
_MOST_PARTS = 10
_LEAST_ALIKE, _LEAST_SHARED = 0.5, 0.5  # of the characters; of the letters of the quote, in words that are the same
_ALIKE_WITHOUT_WORDS = 0.85  # of the characters, where fewer are: two of three words are misspelt
_AROUND = 500  # characters on either side of what RapidFuzz found
_MOST_TOLD = 6
_LONGEST_TOLD = 60
_LONGEST_PART = 40

# Words, numbers with what is within them, and each other sign that shows something, but the borders of cells.
_WORD = re.compile(
    rf"{UNSPACED}|(?:[^\W_][\u0300-\u036f]*)+(?:['’.,:_-](?:[^\W_][\u0300-\u036f]*)+)*|[^\w\s|\x00-\x1f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|_"
)


@dataclass(frozen=True)
class Suggestion:
    """A passage that a quote may mean.

    Attributes:
        quote: The full text of the passage, as the document holds it; of several spans, with " … " in between.
        document: The document.
        spans: The spans, in order: "A … B" has two.
        place: `document:line:column` of the first character; both count from 1, columns in characters.
        copies: The places of all passages with this text, as `place`; more than one is ambiguous. At most 20.
        similarity: How similar quote and passage are, without markup, typography and capitals; in [0, 1].
        difference: In what they differ, in words.
    """

    quote: str
    document: DocumentId
    spans: tuple[CharacterSpan, ...]
    place: str
    copies: tuple[str, ...]
    similarity: float
    difference: str

    @property
    def percent(self) -> str:
        """The similarity in percent, rounded down, so that no text that differs is said to be the same: "99 %"."""
        return f"{floor(100 * self.similarity)} %"


def suggest(quote: str, locator: QuoteLocator, doc_id: str | None = None) -> Suggestion | None:
    """Return the passage that a quote may mean that was not located; None if nothing is similar enough.

    At least half of the letters of the quote have to be in words that the passage has, too, in their order, and half of
    its characters be alike, or 85 % of these.

    Args:
        quote: The quote; of one with more than 20,000 characters nothing is suggested.
        locator: Locates quotes in the corpus.
        doc_id: The document that is named; if it has no such passage, the others are searched.
    """
    if len(quote) > LONGEST:
        return None
    parts = [part.strip() for part in parts_of(quote)]
    found = _of_parts(parts, locator, doc_id) if len(parts) > 1 else _nearest(quote, locator, doc_id)
    if found is None and doc_id is not None:
        other = suggest(quote, locator)
        return other and replace(other, difference=f"{other.difference}; in {other.document}, not in {doc_id}")
    return found


def suggest_located(located: Located, locator: QuoteLocator, difference: str, similarity: float = 1.0) -> Suggestion:
    """Return the suggestion to take the first place at which something was located; there is one."""
    spans = located.places[0]
    copies = tuple(locator.lines.named(place[0]) for place in located.places)
    text = " … ".join(span.text for span in spans)
    place = locator.lines.named(spans[0])
    return Suggestion(text, spans[0].doc_id, spans, place, copies, round(similarity, 4), difference)


def _nearest(quote: str, locator: QuoteLocator, doc_id: str | None) -> Suggestion | None:
    """Return the passage of whole words that the fewest edits part from a quote, near where RapidFuzz finds it."""
    texts, letters = locator.rendered, "".join(map(key, quote))
    named = None if doc_id is None else locator.numbers[DocumentId(doc_id)]
    nearest = texts.nearest(letters[:_LONGEST_COMPARED], named) if letters else None
    if nearest is None:
        return None
    number, first, last = nearest
    offsets, markup = texts.offsets(number), texts.markups[number]
    lasts = [last]
    if (beyond := len(letters) - _LONGEST_COMPARED) > 0:  # it ends as far on as the quote does, or like its end
        _, _, behind = texts.nearest(letters[-_LONGEST_COMPARED:], number) or nearest
        lasts = [min(last + beyond, len(offsets))]
        if abs(behind - last - beyond) <= len(letters) // 2:
            lasts.append(behind)
    begin, *places = (markup.at(int(offsets[at])) for at in (first, *(last - 1 for last in lasts)))
    end = max(places)
    low = max(begin - _AROUND, 0)
    text = markup.text[low : end + _AROUND]
    seen = [at for at, sign in enumerate(text) if folded(sign).strip()]
    signs, given = [folded(text[at]) for at in seen], [folded(sign) for sign in quote if folded(sign).strip()]
    words = [found.span() for found in _WORD.finditer(text)]
    one = bisect_right(words, begin - low, key=itemgetter(1))
    others = [bisect_right(words, place - low, key=itemgetter(0)) - 1 for place in places]

    @cache
    def edits(ends: tuple[int, int]) -> tuple[int, int]:
        first, last = bisect_left(seen, words[ends[0]][0]), bisect_left(seen, words[ends[1]][1])
        return Levenshtein.distance(given, signs[first:last]), first - last  # of 512 the passage has 768

    ends = min(((one, other) for other in others), key=edits)
    by = 1  # words; of a table of numbers, the fewest edits may be thousands of words away
    while by:
        before, (one, other) = ends, ends
        steps = ((one + by * at, other + by * to) for at, to in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)))
        ends = min((step for step in steps if 0 <= step[0] <= step[1] < len(words)), key=edits, default=ends)
        by = by // 2 if ends == before else 2 * by
    one, other = ends
    if key(given[0][0]):  # "=", where the quote has a word
        one = next((at for at in range(one, -1, -1) if key(text[words[at][0]])), 0)
    if key(given[-1][-1]):
        other = next((at for at in range(other, len(words)) if key(text[words[at][1] - 1])), len(words) - 1)
    ends_before = one, max(other - 1, one)  # of what the quote has there is the number of a footnote
    if text[words[ends_before[1]][1] - 1] in ".!?。" and edits(ends_before)[0] <= edits((one, other))[0]:
        other = ends_before[1]
    ends = one, other
    while True:
        one, other = ends
        start = markup.offset(low + words[one][0])
        stop = markup.end_of(markup.offset(low + words[other][1] - 1))
        begun, goes_on = cut_ends(markup, start, stop)
        left, right = words[one][0], words[other][1]  # of a sign that joins: US|$15, 15/|h
        begun |= bool(left and key(given[0][0]) and not key(text[left]) and key(text[left - 1]))
        goes_on |= bool(key(given[-1][-1]) and not key(text[right - 1]) and key(text[right : right + 1] or " "))
        ends = max(one - begun, 0), min(other + goes_on, len(words) - 1)  # of 5 000 000
        if ends == (one, other):
            break
    passage = text[words[one][0] : words[other][1]]
    mine = _WORD.findall(quote)
    equal = (run for run in _changes(mine, _WORD.findall(passage)) if run.tag == "equal")
    shared = sum(len(word) for run in equal for word in mine[run.src_start : run.src_end] if key(word[0]))
    similarity = fuzz.ratio(flat(quote).strip(), flat(passage).strip()) / 100
    if similarity < (_LEAST_ALIKE if shared >= _LEAST_SHARED * len(letters) else _ALIKE_WITHOUT_WORDS):
        return None
    document = locator.corpus.documents[number]
    span = CharacterSpan(document.id, start, stop, document.content[start:stop])
    copies = (place for place in locator.locate(span.text, doc_id, _LIMIT).places if place != (span,))
    return suggest_located(Located(((span,), *copies)), locator, difference_in_words(quote, passage), similarity)


def _of_parts(parts: Sequence[str], locator: QuoteLocator, doc_id: str | None) -> Suggestion | None:
    """Return a suggestion for "A … B": the parts that were located, and the passages nearest to the others."""
    if len(parts) > _MOST_PARTS:
        return None
    located = {part: locator.locate(part, doc_id, 1).places for part in parts}
    inside = next((places[0][0].doc_id for places in located.values() if places), doc_id)
    nearest = {part: found for part in parts if not located[part] and (found := _nearest(part, locator, inside))}
    text = " … ".join(nearest[part].quote if part in nearest else part for part in parts)
    whole = locator.locate(text, inside, _LIMIT)
    if not whole.places:
        return None
    told = [f"{_named(part)} was not found: {found.difference}" for part, found in nearest.items()]
    return suggest_located(whole, locator, "; ".join(told), fuzz.ratio(" … ".join(parts), text) / 100)


def lost_parts(quote: str, locator: QuoteLocator, doc_id: str | None) -> str:
    """Return which parts of "A … B" were not located, in words; "" if it has no parts."""
    parts = [part.strip() for part in parts_of(quote)]
    if not 1 < len(parts) <= _MOST_PARTS:
        return ""
    lost = [_named(part) for part in parts if not locator.locate(part, doc_id, 1).places]
    if not lost:
        return "its parts were found, but not in this order near each other, with words in between"
    return f"{', '.join(lost)} {'was' if len(lost) == 1 else 'were'} not found"


def _named(part: str) -> str:
    return f"“{cut_short(one_line(part), _LONGEST_PART)}”"


# In which words a quote and a passage differ.


def difference_in_words(quote: str, passage: str) -> str:
    """Return in which words two texts differ, up to typography and capitals; at most six changes.

    “five” for “six”, “not” left out, “all” added.
    """
    given, there = list(_WORD.finditer(quote)), list(_WORD.finditer(passage))
    told: list[str] = []
    changes = _changes([found[0] for found in given], [found[0] for found in there])
    for change in changes:
        if change.tag != "equal":
            mine = _written(quote, given[change.src_start : change.src_end])
            other = _written(passage, there[change.dest_start : change.dest_end])
            both = f"{mine} for {other}{_other_script(mine, other)}"
            told.append(both if mine and other else f"{mine} added" if mine else f"{other} left out")
    more = len(told) - _MOST_TOLD
    told = [*told[:_MOST_TOLD], *([f"{more} more"] if more > 0 else [])]
    return ", ".join(told) or "white space beside a sign, or a border of cells"


def _changes(given: Sequence[str], there: Sequence[str]) -> list[Opcode]:
    """Return how the words of a passage became those of a quote: equal, or other; `src` is the quote."""
    steps: list[Opcode] = []
    for step in LCSseq.opcodes(list(map(flat, given)), list(map(flat, there))):
        if steps and steps[-1].tag != "equal" != step.tag:
            last = steps.pop()
            step = Opcode("replace", last.src_start, step.src_end, last.dest_start, step.dest_end)
        steps.append(step)
    return steps


def _written(text: str, words: Sequence[re.Match[str]]) -> str:
    if not words:
        return ""
    written = " ".join(text[words[0].start() : words[-1].end()].split())
    return f"“{cut_short(written, _LONGEST_TOLD)}”"


def _other_script(mine: str, other: str) -> str:
    """Return the names of two letters that differ in their script: the Cyrillic а of a Latin word looks the same."""
    pairs = [pair for pair in zip(mine, other, strict=False) if pair[0] != pair[1] and "".join(pair).isalpha()]
    scripts = [[name(sign, "").partition(" ")[0] for sign in pair] for pair in pairs]
    if len(mine) != len(other) or not any(one != another for one, another in scripts):
        return ""
    names = [f"{name(sign, '').capitalize()} (U+{ord(sign):04X})" for sign in pairs[0]]
    return f": {names[0]} for {names[1]}"
