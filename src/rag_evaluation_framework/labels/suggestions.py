"""What a quote that was not located may mean: the passage that is most alike, and in which words it differs.

Nothing is located by likeness: a suggestion is for a person, who takes it or does not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
from unicodedata import name

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq, Opcode

from ..base.outside import one_line
from ..data import CharacterSpan, DocumentId
from ..text.markups.characters import UNSPACED, flat, key
from .ends import cut_ends
from .quote_locator import Located, QuoteLocator
from .quote_matcher import parts_of

LONGEST = 20_000  # characters of a quote; nobody labels as much by quoting it
_LONGEST_COMPARED = 500  # characters; the time of RapidFuzz grows with their square
_LIMIT = 20
_MOST_PARTS = 10
_LEAST_ALIKE, _LEAST_SHARED = 0.5, 0.5  # of the characters; of the letters of the quote, in words that are the same
_ALIKE_WITHOUT_WORDS = 0.85  # of the characters, where fewer are: two of three words are misspelt
_MOST_CHANGED = 3  # words at either end of a quote: a number with its sign and unit
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
    texts, letters = locator.rendered, "".join(map(key, quote))
    compared = letters[:_LONGEST_COMPARED]
    number = None if doc_id is None else locator.numbers[DocumentId(doc_id)]
    nearest = texts.nearest(compared, number) if compared else None
    if nearest is None:
        return None
    number, first, last, _ = nearest
    offsets, markup = texts.offsets(number), texts.markups[number]
    slack = 16 + len(letters) // 4
    first, last = max(first - slack, 0), last + len(letters) - len(compared) + slack
    begin = markup.at(int(offsets[first]))
    text = markup.text[begin : markup.at(int([*offsets[last : last + 1], len(markup.source)][0]))]
    given, there = _WORD.findall(quote), list(_WORD.finditer(text))
    equal = _densest(given, [found[0] for found in there])
    shared = sum(len(word) for run in equal for word in given[run.src_start : run.src_end] if key(word[0]))
    if not equal:
        return None
    lines = re.search(r"[\n|]", quote) is not None
    one = _reached(there, equal[0].dest_start, -1, given[: equal[0].src_start], lines)
    other = _reached(there, equal[-1].dest_end - 1, 1, given[equal[-1].src_end :], lines)
    while True:
        start = markup.offset(begin + there[one].start())
        end = markup.end_of(markup.offset(begin + there[other].end() - 1))
        begun, goes_on = cut_ends(markup, start, end)
        wider = max(one - begun, 0), min(other + goes_on, len(there) - 1)  # of 5 000 000
        if wider == (one, other):
            break
        one, other = wider
    passage = text[there[one].start() : there[other].end()]
    similarity = fuzz.ratio(flat(quote).strip(), flat(passage).strip()) / 100
    if similarity < (_LEAST_ALIKE if shared >= _LEAST_SHARED * len(letters) else _ALIKE_WITHOUT_WORDS):
        return None
    document = locator.corpus.documents[number]
    span = CharacterSpan(document.id, start, end, document.content[start:end])
    copies = (place for place in locator.locate(span.text, doc_id, _LIMIT).places if place != (span,))
    return suggest_located(Located(((span,), *copies)), locator, difference_in_words(quote, passage), similarity)


def _densest(given: Sequence[str], there: Sequence[str]) -> list[Opcode]:
    """Return the neighbouring runs of equal words with the most words, less half of those that the passage has more."""
    forms, runs = list(map(flat, there)), list[Opcode]()
    for run in (change for change in _changes(given, there) if change.tag == "equal"):
        last, count = runs[-1] if runs else run, run.src_end - run.src_start
        if runs and last.src_end == run.src_start:  # "one." is in "one. Two." as it is in "one" and the last "."
            before = last.src_end - last.src_start
            if forms[last.dest_end : last.dest_end + count] == forms[run.dest_start : run.dest_end]:
                runs[-1] = Opcode("equal", last.src_start, run.src_end, last.dest_start, last.dest_end + count)
                continue
            if forms[run.dest_start - before : run.dest_start] == forms[last.dest_start : last.dest_end]:
                runs[-1] = Opcode("equal", last.src_start, run.src_end, run.dest_start - before, run.dest_end)
                continue
        runs.append(run)
    best, words, first = (0.0, 0, 0), 0.0, 0
    for number, run in enumerate(runs):
        if number:
            last = runs[number - 1]
            words -= max(run.dest_start - last.dest_end - (run.src_start - last.src_end), 0) / 2
        if words <= 0:
            first, words = number, 0
        words += run.src_end - run.src_start
        best = max(best, (words, first, number + 1), key=lambda one: one[0])
    return runs[best[1] : best[2]]


def _reached(words: Sequence[re.Match[str]], at: int, step: int, beyond: Sequence[str], lines: bool) -> int:
    """Return the word as many behind or before another one as a quote has beyond: in its line, if the quote is one."""
    reached, count = at, min(sum(key(word[0]) != "" for word in beyond), _MOST_CHANGED)
    while count and 0 <= at + step < len(words):
        between = sorted((words[at].span(), words[at + step].span()))
        if not lines and "\n" in words[at].string[between[0][1] : between[1][0]]:
            break
        at += step
        if key(words[at][0][0]):
            reached, count = at, count - 1
    return reached


def _of_parts(parts: Sequence[str], locator: QuoteLocator, doc_id: str | None) -> Suggestion | None:
    """Return a suggestion for "A … B": the parts that were located, and the passages nearest to the others."""
    if len(parts) > _MOST_PARTS:
        return None
    located = {part: locator.locate(part, doc_id, 1).places for part in parts}
    inside = next((places[0][0].doc_id for places in located.values() if places), doc_id)
    nearest = {part: _nearest(part, locator, inside) for part in parts if not located[part]}
    texts = [found.quote if (found := nearest.get(part)) else part for part in parts]
    whole = locator.locate(" … ".join(texts), inside, _LIMIT)
    if not whole.places:
        return None
    told = [f"“{_short(part)}” was not found: {found.difference}" for part, found in nearest.items() if found]
    return suggest_located(whole, locator, "; ".join(told), fuzz.ratio(" … ".join(parts), " … ".join(texts)) / 100)


def lost_parts(quote: str, locator: QuoteLocator, doc_id: str | None) -> str:
    """Return which parts of "A … B" were not located, in words; "" if it has no parts."""
    parts = [part.strip() for part in parts_of(quote)]
    if not 1 < len(parts) <= _MOST_PARTS:
        return ""
    lost = [part for part in parts if not locator.locate(part, doc_id, 1).places]
    if not lost:
        return "its parts were found, but not in this order near each other, with words in between"
    return f"{', '.join(f'“{_short(part)}”' for part in lost)} {'was' if len(lost) == 1 else 'were'} not found"


def _short(part: str) -> str:
    return one_line(part) if len(part) <= _LONGEST_PART else f"{one_line(part[: _LONGEST_PART - 1])}…"


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
    return f"“{written if len(written) <= _LONGEST_TOLD else f'{written[: _LONGEST_TOLD - 1]}…'}”"


def _other_script(mine: str, other: str) -> str:
    """Return the names of two letters that differ in their script: the Cyrillic а of a Latin word looks the same."""
    pairs = [pair for pair in zip(mine, other, strict=False) if pair[0] != pair[1] and "".join(pair).isalpha()]
    scripts = [[name(sign, "").partition(" ")[0] for sign in pair] for pair in pairs]
    if len(mine) != len(other) or not any(one != another for one, another in scripts):
        return ""
    names = [f"{name(sign, '').capitalize()} (U+{ord(sign):04X})" for sign in pairs[0]]
    return f": {names[0]} for {names[1]}"
