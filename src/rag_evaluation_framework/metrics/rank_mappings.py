"""Judging rankings that come as mappings and lists, as fast as these can be read."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice, repeat
from math import nan
from operator import attrgetter, is_, methodcaller
from typing import TypeAlias, TypeGuard, cast

import numpy as np

from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.ground_truth import LARGEST_GAIN
from rag_evaluation_framework.ids import ChunkId, DocumentId, QueryId
from rag_evaluation_framework.metrics.rank_checks import check_mapping, check_ranking, check_truth, refuse
from rag_evaluation_framework.metrics.rank_judgements import Integers, Numbers, RankJudgements, judge_ranks

Scored = Mapping[str, float]
"""Gains or scores of the units of one question."""

# Keys of mappings are invariant: to a checker, a mapping from `DocumentId` is none from `str`.
_Scored: TypeAlias = Scored | Mapping[DocumentId, float] | Mapping[ChunkId, float]
Truth: TypeAlias = Mapping[str, _Scored | Iterable[str]] | Mapping[QueryId, _Scored | Iterable[str]]
Rankings: TypeAlias = Mapping[str, _Scored | Sequence[str]] | Mapping[QueryId, _Scored | Sequence[str]]

# The questions of a block: as many as have about so many results, which a processor's cache holds.
_FEWEST, _MOST = 64, 1_024
_RESULTS = 32_768
_NOTHING: Scored = {}
_GAINS_OF_1: Callable[[Iterable[str], float], Scored] = dict.fromkeys
_NO_SCORE, _NO_PLACE = repeat(nan), repeat(-1)


def judge_mappings(ground_truth: Truth, rankings: Rankings) -> tuple[RankJudgements, dict[str, int]]:
    """Judge rankings that are mappings or lists by question id.

    They are read in blocks, and only what is relevant is kept. What happens for each question, and for each unit of it,
    is left to iterators written in C: a step of Python would cost more.

    Returns:
        The judgements in the order of the ground truth, and how many questions were `missing`, and how many rankings
        `unjudged` and `irregular`.

    Raises:
        DatasetError: A truth or a ranking cannot be read.
    """
    check_mapping("ground_truth", ground_truth, "relevant ids")
    check_mapping("rankings", rankings, "ranked ids")
    if not ground_truth:
        raise DatasetError("the ground truth is empty: there is no question to score")
    missing = irregular = first = 0
    size = _FEWEST
    blocks: list[tuple[Integers, Integers, Numbers, Integers]] = []
    names, truths = iter(ground_truth), iter(cast("Mapping[str, Scored | Iterable[str]]", ground_truth).values())
    given_rankings = cast("Mapping[str, Scored | Sequence[str]]", rankings)
    while block := list(islice(names, size)):
        given = list(islice(truths, size))
        ranked = list(map(given_rankings.get, block, repeat(_NOTHING)))
        missing += sum(map(is_, ranked, repeat(_NOTHING)))
        try:
            query, gain, rank, retrieved, out_of_order = _read(block, given, ranked)
        except DatasetError:
            raise
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            refuse(block, given, ranked, error)
        irregular += out_of_order
        relevant = np.flatnonzero(gain > 0)
        blocks.append((query[relevant] + first, rank[relevant], gain[relevant], retrieved))
        first += len(block)
        size = min(_MOST, 2 * size, max(_FEWEST, _RESULTS * len(block) // max(1, int(retrieved.sum()))))
    query, rank, gain, retrieved = (np.concatenate(column) for column in zip(*blocks, strict=True))
    unjudged = len(rankings) - (len(ground_truth) - missing)
    return judge_ranks(query, rank, gain, retrieved), {"missing": missing, "unjudged": unjudged, "irregular": irregular}


def _read(
    names: Sequence[str], given: Sequence[Scored | Iterable[str]], ranked: Sequence[Scored | Sequence[str]]
) -> tuple[Integers, Numbers, Integers, Integers, int]:
    """Return question, gain and rank of every judged unit, the number retrieved a question, and the irregular ones."""
    truths = _as_scored(names, given)
    lengths = np.fromiter(map(len, truths), dtype=np.int64, count=len(truths))
    query = np.repeat(np.arange(len(truths)), lengths)
    gain = _numbers(truths, len(query))
    if not (np.abs(gain) <= LARGEST_GAIN).all():
        raise ValueError("a gain is not finite, or too large to be summed")
    if _are_scored(ranked):
        return query, gain, *_by_score(truths, ranked, query)
    if _are_lists(ranked):
        return query, gain, *_by_place(truths, ranked, query)
    listed, uneven = zip(*map(_in_order, names, ranked), strict=True)
    rank, retrieved, irregular = _by_place(truths, listed, query)
    return query, gain, rank, retrieved, irregular + sum(uneven)


def _as_scored(names: Sequence[str], given: Sequence[Scored | Iterable[str]]) -> Sequence[Scored]:
    if _are_scored(given):
        return given
    if _are_collections(given):
        _refuse_pairs(given)
        return list(map(_GAINS_OF_1, given, repeat(1.0)))
    return list(map(_gains, names, given))


def _are_scored(values: Sequence[object]) -> TypeGuard[Sequence[Scored]]:
    # Asking each type once is several times quicker than asking each value.
    return all(issubclass(kind, Mapping) for kind in set(map(type, values)))


def _are_lists(values: Sequence[object]) -> TypeGuard[Sequence[Sequence[str]]]:
    return set(map(type, values)) <= {list, tuple}


def _are_collections(values: Sequence[object]) -> TypeGuard[Sequence[Iterable[str]]]:
    return set(map(type, values)) <= {list, tuple, set, frozenset}


def _is_scored(value: object) -> TypeGuard[Scored]:
    return isinstance(value, Mapping)


def _gains(name: str, truth: Scored | Iterable[str]) -> Scored:
    if _is_scored(truth):
        return truth
    check_truth(name, truth)
    return dict.fromkeys(truth, 1.0)


def _in_order(name: str, ranking: Scored | Sequence[str]) -> tuple[Sequence[str], bool]:
    """Return the ids, best first, and whether their scores tie or do not fall.

    For blocks that hold both forms, or lists and questions without a ranking.
    """
    if not _is_scored(ranking):
        check_ranking(name, ranking)
        return cast("Sequence[str]", ranking), False
    scores = _numbers([ranking], len(ranking))
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    return _falling(ranking), bool((scores[1:] >= scores[:-1]).any())


def _refuse_pairs(lists: Iterable[Iterable[object]]) -> None:
    """Refuse pairs of id and score, which would pass for ids that nobody judged; the first of each list tells."""
    kinds = set(map(type, chain.from_iterable(map(islice, lists, repeat(1)))))
    if any(issubclass(kind, tuple | list | Mapping) for kind in kinds):
        raise ValueError("a list holds no ids")


def _falling(ranking: Scored) -> list[str]:
    """Return the ids by falling score; sorting is stable, so that ties stay in the order given."""
    return sorted(ranking, key=ranking.__getitem__, reverse=True)


def _numbers(mappings: Sequence[Scored], total: int) -> Numbers:
    """Return the values of all mappings, one after the other."""
    # Packing is quicker than any way to an array, and refuses texts, in which NumPy would read numerals.
    values = chain.from_iterable(map(methodcaller("values"), mappings))
    return np.frombuffer(struct.pack(f"{total}d", *values), dtype=np.float64)


def _by_place(
    truths: Sequence[Scored], ranked: Sequence[Sequence[str]], query: Integers
) -> tuple[Integers, Integers, int]:
    """Look up the place of every judged unit in its ranking."""
    retrieved: list[int] = []
    irregular = 0
    _refuse_pairs(ranked)

    def places() -> Iterator[Iterator[int]]:
        nonlocal irregular
        for truth, ids in zip(truths, ranked, strict=True):
            place = dict(zip(ids, count()))
            if len(place) < len(ids):
                irregular += 1
                place = dict(zip(dict.fromkeys(ids), count()))
            retrieved.append(len(place))
            yield map(place.get, truth, _NO_PLACE)

    found = chain.from_iterable(places())
    rank = np.fromiter(found, dtype=np.int64, count=len(query))
    for _ in found:
        pass  # fromiter stops at the last judged unit; what was retrieved is counted to the end all the same
    return rank, np.array(retrieved, dtype=np.int64), irregular


def _by_score(truths: Sequence[Scored], ranked: Sequence[Scored], query: Integers) -> tuple[Integers, Integers, int]:
    """Find the place of every judged unit by its score: the number of higher scores in its ranking.

    Where a judged unit ties with another, its ranking is looked up by place instead.
    """
    retrieved = np.fromiter(map(len, ranked), dtype=np.int64, count=len(ranked))
    scores = _numbers(ranked, int(retrieved.sum()))
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    lookups = map(map, map(attrgetter("get"), ranked), truths, repeat(_NO_SCORE))
    score = np.frombuffer(struct.pack(f"{len(query)}d", *chain.from_iterable(lookups)), dtype=np.float64)
    ends = np.cumsum(retrieved)
    irregular = _uneven(scores, ends)
    if len(irregular):
        scores = _sorted(scores, irregular, retrieved, ends)
    rank = np.full(len(query), -1, dtype=np.int64)
    rows = np.flatnonzero(~np.isnan(score))
    asked = query[rows]
    place = _first_not_above(scores, score[rows], (ends - retrieved)[asked], ends[asked])
    rank[rows] = place - (ends - retrieved)[asked]
    if len(irregular):
        after = place + 1
        tied = (scores.take(after, mode="clip") == score[rows]) & (after < ends[asked])
        numbers = np.unique(asked[tied])
        firsts, lasts = np.searchsorted(query, [numbers, numbers + 1])
        for number, first, last in zip(map(int, numbers), firsts, lasts, strict=True):
            placed = dict(zip(_falling(ranked[number]), count()))
            rank[first:last] = [placed.get(unit, -1) for unit in truths[number]]
    return rank, retrieved, len(irregular)


def _sorted(scores: Numbers, rankings: Integers, retrieved: Integers, ends: Integers) -> Numbers:
    """Return the scores, those of some rankings sorted, highest first."""
    scores = scores.copy()
    lengths = retrieved[rankings]
    for length in np.unique(lengths):
        cells: Integers = ends[rankings[lengths == length], np.newaxis] - np.arange(int(length), 0, -1)
        # Sorted upwards from the end.
        scores[cells[:, ::-1]] = np.sort(scores[cells], axis=1)
    return scores


def _first_not_above(scores: Numbers, sought: Numbers, begin: Integers, end: Integers) -> Integers:
    """Return, for each sought score, the first place between `begin` and `end` whose score is not above it."""
    place = begin.copy()
    step = 1 << int((end - begin).max(initial=0)).bit_length()
    while step := step >> 1:
        probe = place + (step - 1)
        above = scores.take(probe, mode="clip") > sought
        above &= probe < end
        place += step * above
    return place


def _uneven(scores: Numbers, ends: Integers) -> Integers:
    """Return the rankings in which a score is not below the one before it."""
    uneven = scores[1:] >= scores[:-1]
    uneven[ends[(ends > 0) & (ends < len(scores))] - 1] = False
    return np.unique(np.searchsorted(ends, np.flatnonzero(uneven), side="right"))
