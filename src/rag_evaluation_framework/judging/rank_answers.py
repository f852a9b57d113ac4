"""Judging ids where answers have several places: which relevant units are accounted for, and at which rank.

A place of an answer is complete with the last of its units. A relevant unit is accounted for when it is retrieved or,
if that is earlier, when another place of every answer that needs it is complete.
"""

import numpy as np

from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.judging.relevant_units import LabelColumns, Relevant, UnitPlaces
from rag_evaluation_framework.judging.stretches import leads

_NEVER = np.iinfo(np.int64).max


def accounted_for(labels: LabelColumns, own: Integers, places: UnitPlaces, rank: Integers) -> tuple[Relevant, Relevant]:
    """Return the retrieved units that are in a place of an answer, and the relevant ones that are accounted for.

    Args:
        labels: The relevant units of all queries.
        own: Their ranks; -1 if they were not retrieved.
        places: All places of the queries with alternatives.
        rank: The ranks of the units of these places.
    """
    row = _rows(labels, places)
    return _found(labels, own, places, rank, row), _credited(labels, own, places, rank, row)


def _rows(labels: LabelColumns, places: UnitPlaces) -> Integers:
    """Return for each row of the places that of its unit among the relevant ones; -1 if it is none."""
    least = min(int(labels.unit.min(initial=0)), int(places.unit.min(initial=0)))
    width = 1 + max(int(labels.unit.max(initial=0)), int(places.unit.max(initial=0))) - least
    keys, sought = (columns.query * width + (columns.unit - least) for columns in (labels, places))
    order = np.argsort(keys)
    row = order[np.minimum(np.searchsorted(keys[order], sought), len(keys) - 1)]
    return np.where(keys[row] == sought, row, -1)


def _found(labels: LabelColumns, own: Integers, places: UnitPlaces, rank: Integers, row: Integers) -> Relevant:
    """Return the units that are in a place, each once; those of no first place have a gain of 1, which nobody reads."""
    alone = np.flatnonzero((own >= 0) & ~np.isin(labels.query, places.query))
    several = np.flatnonzero(rank >= 0)
    query = np.concatenate([labels.query[alone], places.query[several]])
    ranks = np.concatenate([own[alone], rank[several]])
    gain = np.concatenate([labels.gain[alone], np.where(row < 0, 1.0, labels.gain[row])[several]])
    order = np.lexsort((ranks, query))
    order = order[leads(query[order]) | leads(ranks[order])]
    return Relevant(query[order], ranks[order], gain[order])


def _credited(labels: LabelColumns, own: Integers, places: UnitPlaces, rank: Integers, row: Integers) -> Relevant:
    """Return the relevant units at the rank that accounts for them."""
    heads = np.flatnonzero(leads(places.answer) | leads(places.place))
    complete = np.maximum.reduceat(np.where(rank < 0, _NEVER, rank), heads)
    is_other = places.place[heads] > 0
    elsewhere = np.minimum.reduceat(np.where(is_other, complete, _NEVER), np.flatnonzero(leads(places.answer[heads])))
    needed = np.flatnonzero(places.place == 0)
    replaced = np.zeros(len(own), dtype=np.int64)
    np.maximum.at(replaced, row[needed], elsewhere[np.cumsum(leads(places.answer)) - 1][needed])
    replaced[~np.isin(labels.query, places.query)] = _NEVER
    ranks = np.minimum(np.where(own < 0, _NEVER, own), replaced)
    rows = np.flatnonzero(ranks < _NEVER)
    rows = rows[np.lexsort((ranks[rows], labels.query[rows]))]
    return Relevant(labels.query[rows], ranks[rows], labels.gain[rows])
