"""Texts by their keys, and a quote taken apart: its key, the gaps in it, and the symbols before and behind."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from ..base.progress import progress
from ..text.markups.characters import ANCHOR, CALL, flat, folded, is_unspaced, key
from ..text.markups.markup import Markup
from ..text.text_locator import SearchedTexts

# Texts by their keys: the letters, numbers and combining marks that are shown, and where they stand in the source.

Offsets = NDArray[np.int32]
_PAGES_COMPARED = 16


class KeyedTexts:
    """Documents as they are shown, searched by key.

    Args:
        markups: What is shown of each document.
    """

    def __init__(self, markups: Sequence[Markup]) -> None:
        self.markups = markups
        self._offsets: dict[int, Offsets] = {}

    @cached_property
    def _texts(self) -> list[str]:
        markups = progress(self.markups, "Indexing documents", "document")
        return [markup.text.translate(_KEYS) for markup in markups]

    @cached_property
    def _searched(self) -> SearchedTexts:
        return SearchedTexts(self._texts)

    def occurrences(self, key: str, number: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield where a key occurs, in order: the number of the document, and the first character of its key.

        Args:
            key: What to look for; not empty.
            number: Search only the document of this number.
        """
        return self._searched.occurrences(key, number)

    def nearest(self, key: str, number: int | None = None) -> tuple[int, int, int, float] | None:
        """Return the stretch that is most similar to a key; None if nothing is similar.

        It is the best window of RapidFuzz's `partial_ratio` among about a quarter of a million characters: those that
        share the most with the key.

        Args:
            key: What to compare, at most a few hundred characters: it takes time that grows with them.
            number: Only the document of this number.

        Returns:
            The number of the document, the first character of the stretch and one past its last, counted in the key of
            the document, and the similarity, from 0 to 100.
        """
        best: tuple[int, int, int, float] | None = None
        for found, first, last in self._searched.most_alike(key, _PAGES_COMPARED, number):
            window = _most_similar(key, self._texts[found][first : last + len(key)], best[3] if best else 1.0)
            if window is not None and (best is None or window[2] > best[3]):
                best = (found, first + window[0], first + window[1], window[2])
        return best

    def offsets(self, number: int) -> Offsets:
        """Return where each character of a document's key stands in its source; shape (characters of the key,)."""
        if number not in self._offsets:  # of the documents in which something occurs: they take 4 bytes a character
            self._offsets[number] = keyed(self.markups[number])[1]
        return self._offsets[number]


class _Keys(dict[int, str]):
    """The keys of the characters met so far, by their codes, and how long they are: that of ﬁ has two letters."""

    def __init__(self) -> None:
        self.lengths = np.zeros(0x110000, dtype=np.uint8)

    def __missing__(self, code: int) -> str:
        self[code] = found = key(chr(code))
        self.lengths[code] = len(found)
        return found


_KEYS = _Keys()


def keyed(markup: Markup) -> tuple[str, Offsets]:
    """Return the key of what is shown, and where each of its characters stands in the source."""
    text = markup.text.translate(_KEYS)
    codes = np.frombuffer(markup.text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return text, np.repeat(markup.offsets, _KEYS.lengths[codes])


def _most_similar(text: str, content: str, least: float) -> tuple[int, int, float] | None:
    """Return the first and last character of the window most similar to a text, and how similar it is; None below that.

    Content that is shorter than the text is compared as a whole: of a single word each quote may have a copy.
    """
    if len(content) < len(text):
        similarity = fuzz.ratio(text, content, score_cutoff=least)
        return (0, len(content), similarity) if similarity else None
    window = fuzz.partial_ratio_alignment(text, content, score_cutoff=least)
    return (
        None
        if window is None or window.dest_end <= window.dest_start
        else (window.dest_start, window.dest_end, window.score)
    )


# What stands between two letters or numbers, in a quote and in a document: the same, or not.
#
# Symbols must be the same, in the same order, once quotation marks, dashes, ellipses and invisible characters are
# unified. White space must be in both or in neither, and on the same sides of the symbols: "a —b" is not "a — b". Its
# amount and kind do not matter; where a block, a line or a cell ends in the document, there is white space. A line
# break may stand for nothing between characters of scripts that put no space between words, and behind the hyphen of a
# divided word. A quote may hold divided words that are whole in the document, since it was copied from other lines; the
# line break behind the hyphen may have become a blank. A hyphen beside a number stays: "64-" and "bit" are "64-bit".

ELLIPSIS_SIGNS = r"(?:…|\.{3}|\.\s\.\s\.)"  # as a pattern
BRACKETED_ELLIPSIS = rf"(?:\[{ELLIPSIS_SIGNS}\]|\({ELLIPSIS_SIGNS}\))"
LIST_MARKER = re.compile(r"[•·◦▪‣●○■*+-](?=\s)")
SIGNS = "-+*·"  # that mark items of lists, too
_ITEM = re.compile(r"<li\b|\n[ \t>]*(?:[-+*•]|\d{1,9}[.)]|#\.)\s", re.IGNORECASE)
_BORDER = re.compile(r"\s\|\s")
CELL = re.compile(r"\||<t[dh]\b", re.IGNORECASE)  # where a line ends
_MARKER_IN_GAP = re.compile(rf"(?<=[\n\t])[ \t]*{LIST_MARKER.pattern}\s+|(?<=\s)[•◦▪‣●○■]\s+")
_SOFT_HYPHEN = "\u00ad"
_HYPHEN = f"[-‐‑{_SOFT_HYPHEN}]"
_DASH = re.compile("-{1,3}")
_SPACED_DASH = re.compile("(?<= )-{1,3}(?= )")
_LONG_DASH = re.compile("[–—―]")
_TYPED_MARKS = re.compile(r"\A''|(?<=\A[.,;:!?])''(?= |\Z)|''\Z")  # around words, not in f('')
_DIVIDED = re.compile(rf"{_SOFT_HYPHEN}*{_HYPHEN}\s+")
_UNDIVIDED = re.compile(f"{_HYPHEN}?")


@lru_cache(maxsize=65_536)
def gap_difference(quote: str, shown: str, source: str, before: str, after: str) -> str | None:
    """Return what has to be ignored for two gaps to be the same: "" for nothing beyond typography; None if they differ.

    Args:
        quote: The gap in the quote.
        shown: The gap in the document, as it is shown.
        source: The gap in the document, markup included.
        before: The two characters of the quote before the gap; one if there are no more.
        after: The two behind it.
    """
    if ANCHOR in quote + shown and "" in (quote, shown):  # "a¶b" is not "ab"
        return None
    if _unified(quote) in (_unified(shown), _unified(shown.replace(CALL, ""))):
        return ""
    if _is_typed_dash(quote, shown, before, after):
        return ""
    if _is_division(quote, shown, of_word=before[-1].isalpha() and after[0].isalpha()):
        return "hyphenation"
    if len(before + after) == 4 and (before + after).isalpha() and _was_divided(quote, shown):
        return "hyphenation"
    if is_unspaced(before[-1]) and is_unspaced(after[0]) and not (quote + shown).strip():
        return "line breaks" if "\n" in quote + shown else None
    if _BORDER.search(quote) and (CELL.search(source) if "\n" in shown else "\t" in shown):
        return "table lines" if _unified(_BORDER.sub(" ", quote)) == _unified(shown) else None
    if "\n" in shown:
        return _without_list_markers(quote, shown, source)
    return None


def _unified(gap: str) -> str:
    """Return a gap as it is compared, two apostrophes around words as a quotation mark, points as an ellipsis."""
    return _TYPED_MARKS.sub('"', flat(gap)).replace(". . .", "...")


def _is_typed_dash(quote: str, shown: str, before: str, after: str) -> bool:
    """Return whether one gap is "--" or "---" and the other the dash that it stands for.

    That is a long one, since "i--j" is not "i-j", or any with blanks around. "5--3" and "5 -- 3" may be signs.
    """
    one, other = _unified(quote), _unified(shown)
    is_long = _LONG_DASH.search(quote + shown) is not None
    numbers = before[-1].isnumeric() and after[0].isnumeric()
    if _DASH.fullmatch(one) and _DASH.fullmatch(other):
        return is_long and not numbers
    return (is_long or not numbers) and _SPACED_DASH.sub("-", one) == _SPACED_DASH.sub("-", other)


def _is_division(quote: str, shown: str, of_word: bool) -> bool:
    """Return whether one gap is a hyphen at the end of a line, and the other that hyphen or, in a word, nothing."""
    if not of_word:  # 64-bit
        gaps = (_unified(quote), _unified(shown))
        return "\n" in quote + shown and gaps in (("-", "- "), ("- ", "-"))
    return (_ends_a_line(shown) and _unified(quote) in ("", "-", "- ")) or (
        _ends_a_line(quote) and _unified(shown) in ("", "-")
    )


def _was_divided(quote: str, shown: str) -> bool:
    """Return whether a gap of a quote is a hyphen and white space, and the document has that hyphen or nothing."""
    seen = "".join(sign for sign in quote if folded(sign) or sign == _SOFT_HYPHEN)
    return _DIVIDED.fullmatch(seen) is not None and _UNDIVIDED.fullmatch("".join(filter(folded, shown))) is not None


def _ends_a_line(gap: str) -> bool:
    return "\n" in gap and (_unified(gap) == "- " or (_unified(gap) == " " and _SOFT_HYPHEN in gap))


def _without_list_markers(quote: str, shown: str, source: str) -> str | None:
    """Compare gaps without the bullets of the quote; what may be a sign is one only where the document has an item."""
    if any(marker[0].lstrip()[0] in SIGNS for marker in _MARKER_IN_GAP.finditer(quote)) and not _ITEM.search(source):
        return None
    without = _MARKER_IN_GAP.sub("", quote)
    return "list markers" if without != quote and _unified(without) == _unified(shown) else None


# A quote, taken apart: its key, the gaps in it, and the symbols before and behind.

_NEAR = 4  # characters, of which some may be invisible


@dataclass(frozen=True)
class QuotedText:
    """A quote whose letters and numbers stand at known places.

    Attributes:
        text: The quote.
        key: Its letters, numbers and combining marks, as they are compared.
        places: Where each character of the key stands in the quote.
    """

    text: str
    key: str
    places: Offsets

    @classmethod
    def of(cls, text: str) -> "QuotedText":
        """Take a quote apart."""
        return cls(text, *keyed(Markup(text)))

    @property
    def before(self) -> str:
        """What stands before the first letter or number."""
        return self.text[: self.places[0]]

    @property
    def behind(self) -> str:
        """What stands behind the last letter or number."""
        return self.text[self.places[-1] + 1 :]

    @cached_property
    def has_gap(self) -> NDArray[np.bool_]:
        """Whether anything stands behind each character of the key but the last; shape (characters - 1,)."""
        gaps: NDArray[np.bool_] = np.diff(self.places) > 1
        return gaps

    def gap(self, number: int) -> str:
        """Return what stands between a character of the key and the next."""
        return self.text[self.places[number] + 1 : self.places[number + 1]]

    def around(self, number: int) -> tuple[str, str]:
        """Return up to two characters before what stands between a character of the key and the next, and behind it.

        Invisible ones do not count.
        """
        before, behind = self.places[number], self.places[number + 1]
        stretches = self.text[max(before - _NEAR, 0) : before + 1], self.text[behind : behind + _NEAR + 1]
        seen = ["".join(filter(folded, stretch)) for stretch in stretches]
        return seen[0][-2:], seen[1][:2]
