"""Judging rankings that come as mappings and lists, as fast as these can be read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice, repeat
from math import nan
from typing import TypeGuard, cast

import numpy as np

from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.metrics.rank_checks import check_mapping, check_ranking, check_truth, refuse
from rag_evaluation_framework.metrics.rank_judgements import Integers, Numbers, RankJudgements, judge_ranks

Scored = Mapping[str, float]
"""Gains or scores of the units of one question."""

Truth = Mapping[str, Scored | Iterable[str]]
Rankings = Mapping[str, Scored | Sequence[str]]

_BLOCK = 512
_NOTHING: Scored = {}


def judge_mappings(ground_truth: Truth, rankings: Rankings) -> tuple[RankJudgements, dict[str, int]]:
    """Judge rankings that are mappings or lists by question id.

    They are read block by block, so that only what is relevant of them is held at a time.

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
    answered = sum(map(rankings.__contains__, ground_truth))
    counts = {"missing": len(ground_truth) - answered, "unjudged": len(rankings) - answered, "irregular": 0}
    blocks: list[tuple[Integers, Integers, Numbers, Integers]] = []
    names, truths = iter(ground_truth), iter(ground_truth.values())
    for first in range(0, len(ground_truth), _BLOCK):
        block, given = list(islice(names, _BLOCK)), list(islice(truths, _BLOCK))
        ranked = [rankings.get(name, _NOTHING) for name in block]
        try:
            query, gain, rank, retrieved, irregular = _read(block, given, ranked)
        except DatasetError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            refuse(block, given, ranked, error)
        counts["irregular"] += irregular
        relevant = np.flatnonzero(gain > 0)
        blocks.append((query[relevant] + first, rank[relevant], gain[relevant], retrieved))
    query, rank, gain, retrieved = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return judge_ranks(query, rank, gain, retrieved), counts


def _read(
    names: Sequence[str], given: Sequence[Scored | Iterable[str]], ranked: Sequence[Scored | Sequence[str]]
) -> tuple[Integers, Numbers, Integers, Integers, int]:
    """Return question, gain and rank of every judged unit, the number retrieved a question, and the irregular ones."""
    truths = given if _are_scored(given) else list(map(_gains, names, given))
    lengths = np.fromiter(map(len, truths), dtype=np.int64, count=len(truths))
    query = np.repeat(np.arange(len(truths)), lengths)
    gain = _numbers(truths, len(query))
    if not np.isfinite(gain).all():
        raise ValueError("a gain is not finite")
    if _are_scored(ranked):
        return query, gain, *_by_score(truths, ranked, query)
    if _are_lists(ranked):
        return query, gain, *_by_place(truths, ranked, query)
    listed, uneven = zip(*map(_in_order, names, ranked), strict=True)
    rank, retrieved, irregular = _by_place(truths, listed, query)
    return query, gain, rank, retrieved, irregular + sum(uneven)


def _are_scored(values: Sequence[object]) -> TypeGuard[Sequence[Scored]]:
    # Asking each type once is several times quicker than asking each value.
    return all(issubclass(kind, Mapping) for kind in set(map(type, values)))


def _are_lists(values: Sequence[object]) -> TypeGuard[Sequence[Sequence[str]]]:
    return set(map(type, values)) <= {list, tuple}


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


def _falling(ranking: Scored) -> list[str]:
    """Return the ids by falling score; sorting is stable, so that ties stay in the order given."""
    ids = sorted(ranking, key=ranking.__getitem__, reverse=True)
    if ids:
        _refuse_text(ranking[ids[0]])  # texts sort otherwise than numbers, and never among them
    return ids


def _numbers(mappings: Sequence[Scored], total: int) -> Numbers:
    """Return the values of all mappings, one after the other."""
    # NumPy reads numerals in texts. One look is enough to refuse a file whose numbers were never converted.
    _refuse_text(next(chain.from_iterable(mapping.values() for mapping in mappings), None))
    return np.fromiter(chain.from_iterable(mapping.values() for mapping in mappings), dtype=np.float64, count=total)


def _refuse_text(value: object) -> None:
    if isinstance(value, str | bytes):
        raise TypeError("a text is no number")


def _by_place(
    truths: Sequence[Scored], ranked: Sequence[Sequence[str]], query: Integers
) -> tuple[Integers, Integers, int]:
    """Look up the place of every judged unit in its ranking."""
    retrieved: list[int] = []
    irregular = 0
    first = next(chain.from_iterable(ranked), None)
    if isinstance(first, tuple | list | Mapping):
        raise DatasetError(f"a ranking holds {first!r:.60}; wanted ids, best first, or a mapping from id to score")

    def places() -> Iterator[Iterator[int]]:
        nonlocal irregular
        for truth, ids in zip(truths, ranked, strict=True):
            place = dict(zip(ids, count()))
            if len(place) < len(ids):
                irregular += 1
                place = dict(zip(dict.fromkeys(ids), count()))
            retrieved.append(len(place))
            yield map(place.get, truth, repeat(-1))

    found = chain.from_iterable(places())
    rank = np.fromiter(found, dtype=np.int64, count=len(query))
    for _ in found:
        pass  # fromiter stops at the last judged unit; what was retrieved is counted to the end all the same
    return rank, np.array(retrieved, dtype=np.int64), irregular


def _by_score(truths: Sequence[Scored], ranked: Sequence[Scored], query: Integers) -> tuple[Integers, Integers, int]:
    """Find the place of every judged unit by its score: the number of higher scores in its ranking.

    Rankings whose scores tie or do not fall are looked up by place instead.
    """
    retrieved = np.fromiter(map(len, ranked), dtype=np.int64, count=len(ranked))
    scores = _numbers(ranked, int(retrieved.sum()))
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    judged = chain.from_iterable(
        map(ranking.get, truth, repeat(nan)) for truth, ranking in zip(truths, ranked, strict=True)
    )
    score = np.fromiter(judged, dtype=np.float64, count=len(query))
    ends = np.cumsum(retrieved)
    rank = np.full(len(query), -1, dtype=np.int64)
    rows = np.flatnonzero(~np.isnan(score))
    begin = (ends - retrieved)[query[rows]]
    rank[rows] = _first_not_above(scores, score[rows], begin, ends[query[rows]]) - begin
    irregular = _uneven(scores, ends)
    firsts, lasts = np.searchsorted(query, [irregular, irregular + 1])
    for number, first, last in zip(map(int, irregular), firsts, lasts, strict=True):
        place = dict(zip(_falling(ranked[number]), count()))
        rank[first:last] = [place.get(unit, -1) for unit in truths[number]]
    return rank, retrieved, len(irregular)


def _first_not_above(scores: Numbers, sought: Numbers, begin: Integers, end: Integers) -> Integers:
    """Return, for each sought score, the first place between `begin` and `end` whose score is not above it."""
    low, high = begin.copy(), end.copy()
    for _ in range(int((end - begin).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        above = scores[np.minimum(middle, len(scores) - 1)] > sought
        above &= middle < high
        low = np.where(above, middle + 1, low)
        high = np.where(above, high, middle)
    return low


def _uneven(scores: Numbers, ends: Integers) -> Integers:
    """Return the rankings in which a score is not below the one before it."""
    places = np.flatnonzero(scores[1:] >= scores[:-1]) + 1
    rankings = np.searchsorted(ends, places, side="right")
    inside = np.flatnonzero(places > np.concatenate([[0], ends])[rankings])
    return np.unique(rankings[inside])
