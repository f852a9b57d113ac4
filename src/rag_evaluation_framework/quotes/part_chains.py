"""Quotes that leave something out, "A … B": their parts, as they follow each other."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from math import inf

from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.quotes.quote_matcher import Match, in_document_order
from rag_evaluation_framework.quotes.quoted_text import BRACKETED_ELLIPSIS, ELLIPSIS

# What a quote leaves out, as in "A … B".

_ENDING = r"[.,:;?!)\]}>\"'”’»`]"
_OMISSION = re.compile(  # between words or behind the end of one, so not in f(...), a[...], 0... and ...args
    rf"(?<=\s)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS})(?=\s)|(?<=\s)…(?=[^\W\d_])|(?<=[^\W\d_]){ELLIPSIS}(?=\s)"
    rf"|(?<=[^\W\d_]\.)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS})(?=\s)|(?<=(?!\.){_ENDING}){ELLIPSIS}(?=\s)"
)
_LINE_END = re.compile(rf"{_ENDING}{{,5}}\s*\n\s*")
_OWN_ELLIPSIS = re.compile(
    rf"\A\W{{0,200}}?{ELLIPSIS}|{ELLIPSIS}\W{{0,200}}\Z"
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
