"""Quotes that leave something out, "A … B": their parts, as they follow each other."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

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
        if found := list(islice(_Chains(places, rank, markups).best(), limit)):
            return found
    return []


@dataclass(frozen=True)
class _Following:
    """The places of a part that may follow a place of the part before: some of the nearest, and all behind these."""

    near: tuple[int, ...]
    far: range

    def least(self, costs: Sequence[float]) -> float:
        """Return the least cost among the places."""
        return min(chain((costs[at] for at in self.near), costs[self.far.start : self.far.stop]), default=_NEVER)


_NEVER = float("inf")


class _Chains:
    """The ways in which the places of parts follow each other, each part once.

    Args:
        places: The places of each part, in order.
        rank: Returns the rank of a place.
        markups: What is shown of each document.
    """

    def __init__(
        self, places: Sequence[Sequence[Match]], rank: Callable[[Match], int], markups: Sequence[Markup]
    ) -> None:
        self._places, self._markups = places, markups
        self._between: dict[tuple[int, int, int], tuple[bool, bool]] = {}
        self._ranks = [list(map(rank, found)) for found in places]
        self._following = [
            [self._behind(place, following, starts) for place in found]
            for found, following, starts in zip(places, places[1:], map(_starts, places[1:]), strict=False)
        ]

    def best(self) -> Iterator[list[Match]]:
        """Yield the ways whose ranks have the least sum, in the order of their places."""
        costs = self._costs()
        least = min(costs[0], default=_NEVER)
        if least < _NEVER:
            first = [number for number, cost in enumerate(costs[0]) if cost == least]
            for numbers in self._ways(costs, first):
                yield [found[number] for found, number in zip(self._places, numbers, strict=True)]

    def _costs(self) -> list[list[float]]:
        """Return for each place of each part the least sum of its rank and those of the parts behind it."""
        costs: list[list[float]] = [list(map(float, self._ranks[-1]))]
        for ranks, following in zip(self._ranks[-2::-1], self._following[::-1], strict=True):
            behind = costs[-1]
            costs.append([cost + places.least(behind) for cost, places in zip(ranks, following, strict=True)])
        return costs[::-1]

    def _ways(self, costs: Sequence[Sequence[float]], first: Sequence[int]) -> Iterator[list[int]]:
        """Yield the number of the place of each part, for each way that costs no more than it must."""
        open_: list[Iterator[int]] = [iter(first)]
        way: list[int] = []
        while open_:
            number = next(open_[-1], None)
            if number is None:
                open_.pop()
                del way[-1:]
                continue
            part = len(open_) - 1
            if part == len(self._places) - 1:
                yield [*way, number]
                continue
            way.append(number)
            following = self._following[part][number]
            wanted = costs[part][number] - self._ranks[part][number]
            behind = costs[part + 1]
            open_.append(iter([at for at in chain(following.near, following.far) if behind[at] == wanted]))

    def _behind(self, place: Match, following: Sequence[Match], starts: Sequence[tuple[int, int]]) -> _Following:
        """Return the places of the next part that may follow a place, those too far behind it not.

        As soon as so much is left out that it may be left out whatever it is, that goes for all places behind, too.
        """
        near: list[int] = []
        last = bisect_right(starts, (place.number, place.end + _FARTHEST))
        for at in range(bisect_left(starts, (place.number, place.end)), last):
            may_be, whatever_it_is = self._left_out(place.number, place.end, following[at].start)
            if whatever_it_is:
                return _Following(tuple(near), range(at, last))
            if may_be:
                near.append(at)
        return _Following(tuple(near), range(last, last))

    def _left_out(self, number: int, start: int, end: int) -> tuple[bool, bool]:
        """Return whether what is shown between two places may be left out, and whether it is a good deal."""
        known = self._between.get((number, start, end))
        if known is None:
            shown = self._markups[number].shown(start, end)
            known = self._between[number, start, end] = may_be_left_out(shown), is_good_deal(shown)
        return known


def _starts(places: Sequence[Match]) -> list[tuple[int, int]]:
    return [(place.number, place.start) for place in places]
