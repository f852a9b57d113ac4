"""Places of a quote, or of its parts, in documents of which it is known what is shown, and in what it differs there."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice
from math import inf
from unicodedata import normalize

import numpy as np

from ..text.markups.characters import ANCHOR, DASHES, ELLIPSIS, QUOTATION_MARKS, STRUCK_OUT, flat, is_invisible, is_key
from ..text.markups.markup import Markup, effects_begun
from .ends import OUTER_MARKS, End, end_of, is_whole, start_of
from .quoted_text import BRACKETED_ELLIPSIS, ELLIPSIS_SIGNS, KeyedTexts, Offsets, QuotedText, gap_difference

# In what a quote differs from the text at its place, in the words of a reader.

CAPITALS = "capitals"
_DASHES = re.compile(f"-{{2,3}}|[{''.join(sorted(DASHES - {'-'}))}-]")


def differences(quote: str, shown: str) -> list[str]:
    """Return in what a quote differs from what is shown at its place; their keys and symbols are the same."""
    if quote == shown:
        return []
    named = {
        **_blanks(quote, shown),
        "quotation marks": _only(quote, QUOTATION_MARKS) != _only(shown, QUOTATION_MARKS),
        "dashes": _DASHES.findall(quote) != _DASHES.findall(shown),
        "ellipsis": quote.count(ELLIPSIS) != shown.count(ELLIPSIS),
        "invisible characters": _invisible(quote) != _invisible(shown),
        "paragraph signs": quote.count(ANCHOR) != shown.count(ANCHOR),
        **_letters(quote, shown),
    }
    return [name for name, differs in named.items() if differs]


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, capitals last."""
    each = dict.fromkeys(names)
    return tuple(sorted(each, key=lambda name: name == CAPITALS))


def _blanks(quote: str, shown: str) -> dict[str, bool]:
    """Return in what the white space differs."""
    runs = [re.findall(r"\s+", text) for text in (quote, shown)]
    if len(runs[0]) != len(runs[1]):
        return {"line breaks": True}
    differ = ["\n" in given + there for given, there in zip(*runs, strict=True) if given != there]
    return {"line breaks": any(differ), "white space": not all(differ)}


def _only(text: str, kept: Iterable[str]) -> str:
    kept = frozenset(kept)
    return "".join(sign for sign in text if sign in kept)


def _invisible(text: str) -> list[str]:
    return list(filter(is_invisible, text))


def _letters(quote: str, shown: str) -> dict[str, bool]:
    """Return in what the letters and numbers differ."""
    given, there = ("".join(filter(is_key, text)) for text in (quote, shown))
    composed = [normalize("NFC", text) for text in (given, there)]
    compatible = [normalize("NFKC", text) for text in (given, there)]
    ligatures = [[sign for sign in text if normalize("NFKC", sign) != sign] for text in composed]
    return {
        "Unicode composition": (given != there and composed[0] == composed[1])
        or _only(quote, STRUCK_OUT) != _only(shown, STRUCK_OUT),
        "ligatures": ligatures[0] != ligatures[1],
        CAPITALS: compatible[0] != compatible[1],
    }


# Places of a quote in documents of which it is known what a renderer shows: found by key, checked in every gap.

MOST_COMPARED = 500_000  # gaps of one quote; of 20 words at 25,000 places
_CHARACTERS_PER_GAP = 100  # are passed over in the time that it takes to compare a gap
_MOST_SUSPECTS = 4
_BESIDE = 64  # characters of white space beside a text
_DIVISION = re.compile(r"(?<=[^\W\d_])[-‐‑\u00ad]\s+(?=[^\W\d_])")


@dataclass(frozen=True)
class Match:
    """A place at which a quote stands.

    Attributes:
        number: The number of the document.
        start: The first character.
        end: One past the last character.
        ignoring: What was ignored.
        added: Whether any of that is at the ends of the quote, where people add something.
    """

    number: int
    start: int
    end: int
    ignoring: tuple[str, ...]
    added: bool


class Effort:
    """How much may still be compared to find the places of a quote: a text that repeats itself could take for ever.

    Attributes:
        left: So many gaps of the quote, and characters at its ends; nothing is compared once it is below 0.
    """

    def __init__(self, left: int = MOST_COMPARED) -> None:
        self.left = left

    @property
    def is_spent(self) -> bool:
        """Whether there may be places that were not looked at."""
        return self.left < 0


def matches(quote: QuotedText, texts: KeyedTexts, effort: Effort, number: int | None = None) -> Iterator[Match]:
    """Yield the places of a quote, in order.

    Args:
        quote: The quote; at least one letter or number.
        texts: The documents.
        effort: How much may be compared; places beyond are not yielded.
        number: Search only the document of this number.
    """
    suspects: list[int] = []
    for found, place in texts.occurrences(quote.key, number):
        effort.left -= len(quote.key) // _CHARACTERS_PER_GAP
        if effort.is_spent:
            return
        keyed, markup = texts.offsets(found), texts.markups[found]
        offsets = keyed[place : place + len(quote.key)]
        first, last = int(offsets[0]), int(offsets[-1])
        if _splits(keyed, place, place + len(quote.key)) or not is_whole(markup, first, last):
            continue
        if any(_gap_difference(quote, markup, offsets, gap) is None for gap in suspects):
            continue
        effort.left -= len(quote.before) + len(quote.behind)
        start = start_of(markup, first, quote.before)
        end = end_of(markup, last, quote.behind) if start else None
        if start is None or end is None:
            continue
        ignored = _gaps(quote, markup, offsets, suspects, effort)
        if ignored is not None:
            ignoring = _ignoring(quote, markup, (start, end), (first, last), ignored)
            yield Match(found, start.offset, end.offset, ignoring, bool(start.ignoring or end.ignoring))


def stretches(quote: QuotedText, texts: KeyedTexts, effort: Effort, number: int | None = None) -> Iterator[Match]:
    """Yield the places of a text of which white space may be gone, and which may begin and end within a word, in order.

    Args:
        quote: The text; at least one letter or number.
        texts: The documents.
        effort: How much may be compared; places beyond are not yielded.
        number: Search only the document of this number.
    """
    core = quote.text[quote.places[0] : quote.places[-1] + 1]
    rejected: set[str] = set()  # what other places show: of a head or a foot each page has a copy
    for found, place in texts.occurrences(quote.key, number):
        effort.left -= 1 + len(quote.key) // _CHARACTERS_PER_GAP
        if effort.is_spent:
            return
        markup, offsets = texts.markups[found], texts.offsets(found)[place : place + len(quote.key)]
        start, end = int(offsets[0]), markup.end_of(int(offsets[-1]))
        shown = markup.shown(start, end)
        if shown in rejected:
            continue
        gaps = () if _solid(shown) == _solid(core) else np.flatnonzero((np.diff(offsets) != 1) | quote.has_gap).tolist()
        if not all(_has_gap(quote, markup, offsets, gap) for gap in gaps):
            rejected.add(shown)
            continue
        first, last = markup.at(start), markup.at(end)
        behind, at = _solid(quote.behind), 0
        for number, sign in enumerate(markup.text[last : last + len(quote.behind) + _BESIDE], last):
            if at == len(behind) or not behind.startswith(_solid(sign), at):
                break
            at, end = at + len(_solid(sign)), markup.end_of(markup.offset(number)) if _solid(sign) else end
        before, at = _solid(quote.before), len(_solid(quote.before))
        for number in range(first - 1, max(first - len(quote.before) - _BESIDE, 0) - 1, -1):
            sign = _solid(markup.text[number])
            if not at or not before.endswith(sign, 0, at):
                break
            at, start = at - len(sign), markup.offset(number) if sign else start
        yield Match(found, start, end, (), False)


@lru_cache(maxsize=1_024)
def _solid(text: str) -> str:
    """Return a text as it is compared, without white space."""
    return flat(text).replace(" ", "")


def _has_gap(quote: QuotedText, markup: Markup, offsets: Offsets, gap: int) -> bool:
    """Return whether the document has a gap of a text, but for white space."""
    shown = markup.shown(markup.end_of(int(offsets[gap])), int(offsets[gap + 1]))
    return _solid(quote.gap(gap)) == _solid(shown) or _gap_difference(quote, markup, offsets, gap) is not None


def in_document_order(found: Iterable[Match]) -> list[Match]:
    """Return matches in the order of the corpus."""
    return sorted(found, key=lambda match: (match.number, match.start))


def _splits(keyed: Offsets, first: int, end: int) -> bool:
    """Return whether one character of the document would be inside and outside."""
    return bool((first and keyed[first - 1] == keyed[first]) or (end < len(keyed) and keyed[end] == keyed[end - 1]))


def _gaps(quote: QuotedText, markup: Markup, offsets: Offsets, suspects: list[int], effort: Effort) -> set[str] | None:
    """Return what had to be ignored in the gaps of a quote, or None if one differs from that of the document.

    That one becomes the first of the suspects, which are looked at first elsewhere.
    """
    ignored: set[str] = set()
    steps = np.diff(offsets)
    for number in np.flatnonzero((steps != 1) | quote.has_gap).tolist():
        effort.left -= 1
        difference = _gap_difference(quote, markup, offsets, number)
        if difference is None:
            suspects[:] = [number, *suspects[: _MOST_SUSPECTS - 1]]
            return None
        ignored.add(difference)
    return ignored - {""}


def _gap_difference(quote: QuotedText, markup: Markup, offsets: Offsets, number: int) -> str | None:
    """Return what has to be ignored in a gap: "" for nothing; None if it differs from that of the document."""
    gap = quote.gap(number)
    first, last = int(offsets[number]), int(offsets[number + 1])
    first = markup.end_of(first) if first < last else first  # ﬁ: two letters of the quote are one character here
    shown = markup.shown(first, last)
    if shown == gap:
        return ""
    before, after = quote.around(number)
    return gap_difference(gap, shown, markup.source[first:last], before, after)


def _ignoring(
    quote: QuotedText, markup: Markup, ends: tuple[End, End], letters: tuple[int, int], ignored: set[str]
) -> tuple[str, ...]:
    """Return what was ignored: the markup, what differs within, and what was peeled off the ends."""
    (start, end), (first, last) = ends, letters
    markups = [what for _, _, what, _ in markup.parts_between(start.offset, end.offset)]
    markups += effects_begun(markup, start.offset, end.offset)
    from_start, to_end = quote.places[0], quote.places[-1] + 1
    shown = markup.shown(start.offset if not start.ignoring else first, markup.end_of(last))
    shown += "" if end.ignoring else markup.shown(markup.end_of(last), end.offset)
    given = quote.text[from_start if start.ignoring else 0 : to_end if end.ignoring else None].strip()
    if "hyphenation" in ignored:
        given, shown = (_DIVISION.sub("", text) for text in (given, shown))
    within = [] if "list markers" in ignored else differences(given, shown)
    peeled = [*start.ignoring, *end.ignoring]
    return in_order([*markups, *within, *sorted(ignored), *sorted(peeled, key=lambda name: name == OUTER_MARKS)])


# What a quote leaves out, as in "A … B".

_ENDING = r"[.,:;?!)\]}>\"'”’»`]"
_OMISSION = re.compile(  # between words or behind the end of one, so not in f(...), a[...], 0... and ...args
    rf"(?<=\s)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS_SIGNS})(?=\s)|(?<=\s)…(?=[^\W\d_])|(?<=[^\W\d_]){ELLIPSIS_SIGNS}(?=\s)"
    rf"|(?<=[^\W\d_]\.)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS_SIGNS})(?=\s)|(?<=(?!\.){_ENDING}){ELLIPSIS_SIGNS}(?=\s)"
)
_LINE_END = re.compile(rf"{_ENDING}{{,5}}\s*\n\s*")
_OWN_ELLIPSIS = re.compile(
    rf"\A\W{{0,200}}?{ELLIPSIS_SIGNS}|{ELLIPSIS_SIGNS}\W{{0,200}}\Z"
)  # of the document: nothing is left out, or a good deal
_WORD = re.compile(r"[^\W_]+")
_GOOD_DEAL = 4  # words


def parts_of(quote: str) -> list[str]:
    """Return the parts of a quote that leaves something out between them: one, if it leaves nothing out."""
    return [part for part in _OMISSION.split(quote) if part.strip()]


def is_good_deal(shown: str) -> bool:
    """Return whether what a document shows between two parts is so much that it may be left out whatever it is."""
    return len(list(islice(_WORD.finditer(shown), _GOOD_DEAL))) == _GOOD_DEAL


def may_be_left_out(shown: str) -> bool:
    """Return whether what a document shows between two parts is what an ellipsis stands for: words, or a line's end."""
    if is_good_deal(shown):
        return True
    return not _OWN_ELLIPSIS.search(shown) and (
        _WORD.search(shown) is not None or _LINE_END.fullmatch(shown) is not None
    )


# The parts of a quote that leaves something out, "A … B", as they follow each other in a document.

MOST_PLACES = 500  # of one part: one that is as common tells nothing
_FARTHEST = 5_000  # characters from the end of one part of a quote to the beginning of the next


def chains(
    ranked: Sequence[Sequence[Sequence[Match]]],
    rank: Callable[[Match], int],
    markups: Sequence[Markup],
    limit: int,
) -> list[list[Match]]:
    """Return the ways in which parts follow each other in one document, none too far behind the one before.

    Those with the best ranks count alone, as a whole: where one part has a better place elsewhere does not matter.

    Args:
        ranked: For each part, its places of each rank, the best rank first.
        rank: Returns the rank of a place.
        markups: What is shown of each document.
        limit: Return no more than so many, the first ones.
    """
    tried: list[list[Match]] = []
    for ranks in range(1, len(ranked[0]) + 1):
        places = [in_document_order(chain.from_iterable(found[:ranks])) for found in ranked]
        if places == tried:
            continue
        if any(len(found) > MOST_PLACES for found in places):
            break
        tried = places
        if found := list(islice(_ways(places, rank, markups), limit)):
            return found
    return []


def _ways(
    places: Sequence[Sequence[Match]], rank: Callable[[Match], int], markups: Sequence[Markup]
) -> Iterator[list[Match]]:
    """Yield the ways in which places of parts follow each other whose ranks have the least sum, in their order."""

    @cache
    def left_out(number: int, start: int, end: int) -> tuple[bool, bool]:
        shown = markups[number].shown(start, end)
        return may_be_left_out(shown), is_good_deal(shown)

    def behind(place: Match, following: Sequence[Match], starts: Sequence[tuple[int, int]]) -> tuple[list[int], range]:
        """Return which of the next places may follow: some of the nearest, and all behind these.

        As soon as so much is left out that it may be left out whatever it is, that goes for all places behind, too.
        """
        near: list[int] = []
        last = bisect_right(starts, (place.number, place.end + _FARTHEST))
        for at in range(bisect_left(starts, (place.number, place.end)), last):
            may_be, whatever_it_is = left_out(place.number, place.end, following[at].start)
            if whatever_it_is:
                return near, range(at, last)
            if may_be:
                near.append(at)
        return near, range(last, last)

    ranks = [list(map(rank, found)) for found in places]
    after: list[list[tuple[list[int], range]]] = []
    costs: list[list[float]] = [
        [*ranks[-1]]
    ]  # of each place the least sum of its rank and those of the parts behind it
    for found, following, own in zip(places[-2::-1], places[:0:-1], ranks[-2::-1], strict=True):
        starts = [(place.number, place.start) for place in following]
        after.insert(0, [behind(place, following, starts) for place in found])
        cheapest = (min((costs[0][at] for at in chain(*ats)), default=inf) for ats in after[0])
        costs.insert(0, [cost + least for cost, least in zip(own, cheapest, strict=True)])
    least = min(costs[0], default=inf)
    open_: list[Iterator[int]] = [iter([at for at, cost in enumerate(costs[0]) if cost == least < inf])]
    way: list[int] = []
    while open_:  # no recursion, as a quote may have thousands of parts
        part, number = len(open_) - 1, next(open_[-1], None)
        if number is None:
            open_.pop()
            del way[-1:]
        elif part == len(places) - 1:
            yield [found[at] for found, at in zip(places, [*way, number], strict=True)]
        else:
            way.append(number)
            rest = costs[part][number] - ranks[part][number]
            open_.append(iter([at for at in chain(*after[part][number]) if costs[part + 1][at] == rest]))
