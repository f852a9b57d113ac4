"""The passage of a corpus that is most similar to a quote, from its first word to its last."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import product

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from rag_evaluation_framework.markups.characters import CALL, is_key, is_unspaced, key
from rag_evaluation_framework.markups.markup import LINE_END, Markup
from rag_evaluation_framework.quotes.ends import NEAR, is_cut_before, is_cut_behind
from rag_evaluation_framework.quotes.keyed_texts import KeyedTexts
from rag_evaluation_framework.quotes.words import SIMILAR, Word, words_of
from rag_evaluation_framework.text.sentence_boundaries import sentence_places

# A stretch of a document as a renderer shows it, and where each of its characters stands in the source.

_PARAGRAPH = "\n\n"


@dataclass(frozen=True)
class ShownText:
    """What is shown of a stretch of a document.

    Attributes:
        text: What is shown; a blank line where a block, a line of a table or a cell ends.
        starts: Where each of its characters stands in the document.
        ends: One past that; more than one character for an entity.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, markup: Markup, start: int, end: int) -> "ShownText":
        """Return what is shown between two offsets of a document."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for character, first, behind in markup.characters(max(start, 0), min(end, len(markup.source))):
            hidden = character == LINE_END and markup.source[first:behind] != LINE_END
            part = _PARAGRAPH if hidden else "()" if character == CALL else character
            parts.append(part)
            starts.extend([first] * len(part))
            ends.extend([behind] * len(part))
        return cls("".join(parts), starts, ends)


# With which words a passage begins and ends that is similar to a quote: those of the quote, or in their place.

_MOST_COMPARED = 40  # words
_MOST_CHANGED = 3  # words: a number with its sign and unit

Ends = tuple[int, int]
"""The first and the last word of a passage."""


def settled_ends(quote: str, given: list[Word], text: str, words: list[Word], ends: Ends) -> Ends:
    """Return the ends of a passage without words of other sentences or blocks, and with words that were changed.

    Words of another sentence or block are left out if they are not those of the quote. Of a quote that begins or ends
    with up to three words that the passage lacks, the words in their place are taken.

    Args:
        quote: The quote.
        given: Its words.
        text: What is shown around the passage; a blank line where a block or a cell ends.
        words: Its words.
        ends: The ends between which the words are most similar to those of the quote.
    """
    same = _same(given, words, ends)
    if not same:
        return ends
    breaks = _Breaks(text, words)
    trimmed = _trimmed(given, words, breaks, same, ends)
    return _with_changed(quote, given, words, breaks, same, trimmed)


def alike(word: Word, other: Word) -> bool:
    """Return whether a word is another one, or has a few other letters."""
    return fuzz.ratio(word.form, other.form) >= SIMILAR


class _Breaks:
    """Where sentences and blocks begin between words of a text."""

    def __init__(self, text: str, words: list[Word]) -> None:
        self.words, self.begins = words, [begin for begin, _ in sentence_places(text)]

    def behind(self, number: int) -> bool:
        """Return whether one begins behind a word, and before or at the next one."""
        at = bisect_right(self.begins, self.words[number + 1].start)
        return at > 0 and self.begins[at - 1] > self.words[number].start


def _same(given: list[Word], words: list[Word], ends: Ends) -> list[tuple[int, int]]:
    """Return the numbers of the words of a quote and a passage that are the same, in order; not of symbols."""
    mine, others = [word.form for word in given], [word.form for word in words[ends[0] : ends[1] + 1]]
    return [
        (step.src_start + at, ends[0] + step.dest_start + at)
        for step in Indel.opcodes(mine, others)
        if step.tag == "equal"
        for at in range(step.src_end - step.src_start)
        if is_key(mine[step.src_start + at][0])
    ]


def _trimmed(given: list[Word], words: list[Word], breaks: _Breaks, same: list[tuple[int, int]], ends: Ends) -> Ends:
    """Return the ends without words of another sentence or block that are not those of the quote."""
    first, last = ends
    opening = [at for at in range(first + 1, same[0][1] + 1) if breaks.behind(at - 1)]
    closing = [at for at in range(same[-1][1], last) if breaks.behind(at)]
    if opening and not _any_alike(given[: same[0][0]], words[first : opening[-1]]):
        first = opening[-1]
    if closing and not _any_alike(given[same[-1][0] + 1 :], words[closing[0] + 1 : last + 1]):
        last = closing[0]
    return first, last


def _with_changed(
    quote: str, given: list[Word], words: list[Word], breaks: _Breaks, same: list[tuple[int, int]], ends: Ends
) -> Ends:
    """Return the ends with the words in place of those that the quote begins and ends with.

    Where a sentence or block begins between them, a line ends in the quote: of a row of a table it does between cells.
    """
    first, last = ends
    ahead, behind = same[0][0], len(given) - 1 - same[-1][0]
    at = ahead - (same[0][1] - first) - 1
    while ahead <= _MOST_CHANGED and at >= 0 and first > 0:
        if breaks.behind(first - 1) and not _ends_line(quote, given, at):
            break
        first, at = first - 1, at - 1
    at = len(given) - behind + (last - same[-1][1])
    while behind <= _MOST_CHANGED and at < len(given) and last + 1 < len(words):
        if breaks.behind(last) and not _ends_line(quote, given, at - 1):
            break
        last, at = last + 1, at + 1
    return first, last


def _ends_line(text: str, words: list[Word], number: int) -> bool:
    """Return whether a line ends between a word and the next one."""
    return "\n" in text[words[number].end : words[number + 1].start]


def _any_alike(words: list[Word], others: list[Word]) -> bool:
    """Return whether a word is similar to one of the others; of many, the first are compared."""
    pairs = product(words[:_MOST_COMPARED], others[:_MOST_COMPARED])
    return any(alike(word, other) for word, other in pairs if is_key(word.form[0]))


LONGEST = 20_000  # characters of a quote; nobody labels as much by quoting it
_LONGEST_COMPARED = 500  # characters; the time of RapidFuzz grows with their square
_AROUND = 300  # characters on each side in which a sentence may begin and end
_MOST_MOVED = 40  # words
_FEWEST_OF_A_SENTENCE = 4
_MOST_CUT = 3  # words that one cut number is
_LONGEST_WIDENING = 30  # characters, or a third of the passage
_STOPS = ".!?…。！？．"
_OPENING = " \t\r\n\"'“‘„«([*_"
_CLOSING = " \t\r\n\"'”’»›)]}」』）*_"
_APART = "\"'“”‘’„«»‹›()[]{},;:.!?…。，、；：！？（）「」『』"  # are no part of the word beside them
_NUMBER = re.compile(r"[-+−±]?[$€£¥]?\.?[\d½¼¾²³]")
_COMPARISON = re.compile(r"(?:[<>]=?|[!=]=|=<|[≤≥≠≦≧≪≫≲≳⩽⩾≮≯]|\bnot)\s?\Z")


@dataclass(frozen=True)
class Passage:
    """A stretch of a document, as it is shown.

    Attributes:
        number: The number of the document.
        start: Its first character in the document.
        end: One past its last.
        text: What is shown of it.
    """

    number: int
    start: int
    end: int
    text: str


def nearest_passage(
    quote: str, texts: KeyedTexts, number: int | None = None, apart_from: Passage | None = None
) -> Passage | None:
    """Return the passage that is most similar to a quote, whether it is similar or not; None if nothing is.

    It begins and ends with whole words; with whole sentences, where the quote begins or ends with one and the document
    has other words there.

    Args:
        quote: The quote, up to 20,000 characters.
        texts: The documents as they are shown.
        number: Only the document of this number.
        apart_from: A passage that is not meant, nor any that overlaps with it.
    """
    given = words_of(quote)
    stretch = _stretch("".join(map(key, quote)), texts, number, _keyed(apart_from, texts) if apart_from else None)
    if stretch is None or not given:
        return None
    found, first, end = stretch
    offsets, markup = texts.offsets(found), texts.markups[found]
    slack = _AROUND + (end - first) // 4
    before, behind = first - slack, end - 1 + slack
    shown = ShownText.of(
        markup,
        int(offsets[before]) if before > 0 else 0,
        int(offsets[behind]) if behind < len(offsets) else len(markup.source),
    )
    words = words_of(shown.text)
    ends = _ends(given, words, shown, (int(offsets[first]), int(offsets[end - 1])))
    ends = settled_ends(quote, given, shown.text, words, ends)
    start, end = _widened(quote, given, shown.text, words, ends)
    passage = Passage(found, shown.starts[start], shown.ends[end - 1], shown.text[start:end])
    return None if apart_from and _overlap(passage, apart_from) else passage


def _keyed(passage: Passage, texts: KeyedTexts) -> tuple[int, int, int]:
    """Return the document of a passage, its first character and one past its last, counted in the document's key."""
    first, end = np.searchsorted(texts.offsets(passage.number), (passage.start, passage.end)).tolist()
    return passage.number, first, end


def _overlap(passage: Passage, other: Passage) -> bool:
    return passage.number == other.number and passage.start < other.end and other.start < passage.end


def _stretch(
    key: str, texts: KeyedTexts, number: int | None, apart_from: tuple[int, int, int] | None
) -> tuple[int, int, int] | None:
    """Return the document of the stretch most similar to a key, and its first and last character there.

    Of a long key the beginning, the middle and the end are looked for, and the most similar of them says where it is.
    """
    length = len(key)
    if not length:
        return None
    if length <= _LONGEST_COMPARED:
        nearest = texts.nearest(key, number, apart_from)
        return nearest[:3] if nearest else None
    begins = (0, (length - _LONGEST_COMPARED) // 2, length - _LONGEST_COMPARED)
    parts = [(begin, texts.nearest(key[begin : begin + _LONGEST_COMPARED], number, apart_from)) for begin in begins]
    begin, nearest = max(parts, key=lambda part: part[1][3] if part[1] else 0)
    if nearest is None:
        return None
    found, last = nearest[0], len(texts.offsets(nearest[0]))
    first = min(max(nearest[1] - begin, 0), last - 1)
    return found, first, max(min(first + length, last), first + 1)


def _ends(given: list[Word], words: list[Word], shown: ShownText, ends: tuple[int, int]) -> tuple[int, int]:
    """Return the first and last word between which the words are most similar to those of the quote."""
    first = next((at for at, word in enumerate(words) if shown.ends[word.end - 1] > ends[0]), 0)
    last = max((at for at, word in enumerate(words) if shown.starts[word.start] <= ends[1]), default=first)
    joined = _Joined(words)
    quote = " ".join(word.form for word in given)
    reach = min(3 + len(given) // 6, _MOST_MOVED)
    for _ in range(2):
        firsts = range(max(first - reach, 0), min(first + reach, last) + 1)
        first = max(firsts, key=lambda at: (joined.similarity(quote, at, last, head=True), -abs(at - first)))
        lasts = range(max(last - reach, first), min(last + reach, len(words) - 1) + 1)
        last = max(lasts, key=lambda at: (joined.similarity(quote, first, at, head=False), -abs(at - last)))
    return first, last


class _Joined:
    """Words, joined by blanks."""

    def __init__(self, words: list[Word]) -> None:
        self.text = " ".join(word.form for word in words)
        self.starts: list[int] = []
        at = 0
        for word in words:
            self.starts.append(at)
            at += len(word.form) + 1
        self.ends = [start - 1 for start in [*self.starts[1:], at]]

    def similarity(self, quote: str, first: int, last: int, head: bool) -> float:
        """Return how similar a quote is to what is between two words; of long ones, their beginning or their end."""
        text = self.text[self.starts[first] : self.ends[last]]
        if len(quote) > _LONGEST_COMPARED:
            part = slice(_LONGEST_COMPARED) if head else slice(-_LONGEST_COMPARED, None)
            quote, text = quote[part], text[part]
        return fuzz.ratio(quote, text)


def _widened(quote: str, given: list[Word], text: str, words: list[Word], ends: tuple[int, int]) -> tuple[int, int]:
    """Return the first and last character of a passage: of its words, of what they are part of, or of sentences."""
    first, last = words[ends[0]], words[ends[1]]
    start, end = _unbroken(text, first.start, last.end)
    for word in words[ends[1] + 1 : ends[1] + 1 + _MOST_CUT]:  # of 5 000 000
        if is_cut_behind(text[start:end], text[end : end + NEAR]):
            end = _unbroken(text, start, max(end, word.end))[1]
    for word in reversed(words[max(ends[0] - _MOST_CUT, 0) : ends[0]]):
        if is_cut_before(text[max(start - NEAR, 0) : start], text[start:end]):
            start = _unbroken(text, min(start, word.start), end)[0]
    if len(given) < _FEWEST_OF_A_SENTENCE:
        return start, end
    most = max(_LONGEST_WIDENING, (end - start) // 3)
    places = sentence_places(text)
    opening = quote.lstrip(_OPENING)[:1]
    if not alike(given[0], first) and (opening.isupper() or is_unspaced(opening)):
        begin = max(first for first, _ in places if first <= start)
        begin += len(text[begin:start]) - len(text[begin:start].lstrip())
        start = begin if begin > 0 and start - begin <= most else start
    if not alike(given[-1], last) and quote.rstrip(_CLOSING)[-1:] in tuple(_STOPS):
        behind = min(last for _, last in places if last >= end)
        behind = end + len(text[end:behind].rstrip())
        end = behind if behind < len(text) and behind - end <= most else end
    return start, end


def _unbroken(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the first and last character of what is written without a blank around a stretch: `-5 %` for `5`."""
    while (
        start
        and end - start < LONGEST
        and (not _breaks(text[start - 1], text[start]) or _in_number(text, start - 1) or _in_number(text, start))
    ):
        start -= 1
    while (
        end < len(text)
        and end - start < LONGEST
        and (not _breaks(text[end], text[end - 1]) or _in_number(text, end) or _in_number(text, end - 1))
    ):
        end += 1
    if _NUMBER.match(text, start) and (compared := _COMPARISON.search(text, max(start - 4, 0), start)):
        start = compared.start()
    return start, end


def _in_number(text: str, at: int) -> bool:
    """Return whether a character is a mark between two digits: the point of 1.50."""
    return text[at] in ".,:'’" and text[max(at - 1, 0)].isdigit() and text[at + 1 : at + 2].isdigit()


def _breaks(sign: str, beside: str) -> bool:
    return sign.isspace() or sign in _APART or is_unspaced(sign) or is_unspaced(beside)
