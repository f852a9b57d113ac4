"""With which words a passage begins and ends that is similar to a quote: those of the quote, or in their place."""

from bisect import bisect_right
from itertools import product

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from rag_evaluation_framework.markups.characters import is_key
from rag_evaluation_framework.quotes.words import SIMILAR, Word
from rag_evaluation_framework.text.sentence_boundaries import sentence_places

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
