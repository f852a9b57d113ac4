"""The parts of a quote that leaves something out, "A … B", as they follow each other in a document."""

from collections.abc import Callable, Sequence
from itertools import chain

from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.quotes.omissions import may_be_left_out
from rag_evaluation_framework.quotes.quote_matcher import Match, in_document_order

MOST_PLACES = 500  # of one part: one that is as common tells nothing
_FARTHEST = 5_000  # characters from the end of one part of a quote to the beginning of the next


def chains(
    ranked: Sequence[Sequence[Sequence[Match]]], rank: Callable[[Match], int], markups: Sequence[Markup]
) -> list[list[Match]]:
    """Return the ways in which parts follow each other in one document, none too far behind the one before.

    Those with the best ranks count alone, as a whole: where one part has a better place elsewhere does not matter.

    Args:
        ranked: For each part, its places of each rank, the best rank first.
        rank: Returns the rank of a place.
        markups: What is shown of each document.
    """
    tried: list[list[Match]] = []
    for ranks in range(1, len(ranked[0]) + 1):
        places = [in_document_order(chain.from_iterable(found[:ranks])) for found in ranked]
        if places == tried:
            continue
        if any(len(found) > MOST_PLACES for found in places):
            break
        tried = places
        if found := _chained(places, markups):
            costs = [sum(map(rank, matched)) for matched in found]
            best = min(costs)
            return [matched for matched, cost in zip(found, costs, strict=True) if cost == best]
    return []


def _chained(places: Sequence[Sequence[Match]], markups: Sequence[Markup]) -> list[list[Match]]:
    found = [[match] for match in places[0]]
    for following in places[1:]:
        found = [[*before, match] for before in found for match in following if _follows(before[-1], match, markups)][
            :MOST_PLACES
        ]
    return found


def _follows(first: Match, second: Match, markups: Sequence[Markup]) -> bool:
    """Return whether one part follows another, not too far behind, and words or the end of a line are between."""
    if first.number != second.number or not 0 <= second.start - first.end <= _FARTHEST:
        return False
    return may_be_left_out(markups[first.number].shown(first.end, second.start))
