"""Reading rankings of ids from mappings and lists, as fast as Python allows."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice, repeat
from math import nan
from operator import attrgetter, is_, methodcaller
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np

from rag_evaluation_framework.data.answers import LARGEST_GAIN
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.ids import ChunkId, DocumentId, QueryId, canonical_chunk_id
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.scoring.rank_checks import check_mapping, check_ranking, check_truth, refuse
from rag_evaluation_framework.scoring.tabulate import Units

# Ids of chunks in rankings: `pa_chunk_…` and `chunk_…` of one content are one chunk.

_BEGINNINGS = ("chunk_", "pa_chunk_")


def holds_chunk_ids(names: Sequence[str], truths: Sequence[Iterable[object]]) -> bool:
    """Return whether any id of some questions is that of a chunk, `chunk_…` or `pa_chunk_…`.

    Raises:
        DatasetError: What is relevant to a question cannot be scored.
    """
    ids = list(chain.from_iterable(truths))
    try:
        if "chunk_" not in "".join(cast("list[str]", ids)):  # quicker than a look at each
            return False
    except TypeError:
        list(map(check_truth, names, truths))  # some ids are not texts
    return any(isinstance(unit, str) and unit.startswith(_BEGINNINGS) for unit in ids)


def chunk_gains(name: str, gains: Mapping[str, float]) -> Mapping[str, float]:
    """Return gains under the plain form of every chunk id.

    Raises:
        DatasetError: A chunk has two gains.
    """
    renamed: dict[str, float] = {}
    for unit, gain in gains.items():
        other = renamed.setdefault(plain(unit), gain)
        if other is not gain and other != gain:  # NaN is refused elsewhere
            raise DatasetError(
                f"question {name!r}: chunk {plain(unit)!r} has two gains, {other!r} and {gain!r}; keep one"
            )
    return renamed


def plain(unit: Any) -> Any:
    """Return the plain form of a chunk id, and any other id unchanged."""
    return canonical_chunk_id(unit) if isinstance(unit, str) else unit


# Reading rankings of ids from mappings and lists, as fast as Python allows.

Scored = Mapping[str, float]
"""Gains or scores of the units of one query."""

# Keys of mappings are invariant: to a type checker, a mapping from `DocumentId` is not one from `str`.
_Scored: TypeAlias = Scored | Mapping[DocumentId, float] | Mapping[ChunkId, float]
Truth: TypeAlias = Mapping[str, _Scored | Iterable[str]] | Mapping[QueryId, _Scored | Iterable[str]]
IdRankings: TypeAlias = Mapping[str, _Scored | Sequence[str]] | Mapping[QueryId, _Scored | Sequence[str]]

# Queries per block: as many as have about this many results, so that a block fits into the processor's cache.
_FEWEST, _MOST = 64, 1_024
_RESULTS = 32_768
_NOTHING: Scored = {}
_GAINS_OF_1: Callable[[Iterable[str], float], Scored] = dict.fromkeys
_NO_SCORE, _NO_RANK = repeat(nan), repeat(-1)


def check_rank_mappings(ground_truth: Truth, rankings: IdRankings) -> None:
    """Check that there is a mapping of ground truth, which is not empty, and one of rankings.

    Raises:
        DatasetError: One is not a mapping, or the ground truth is empty.
    """
    check_mapping("ground_truth", ground_truth, "relevant ids")
    check_mapping("rankings", rankings, "ranked ids")
    if not ground_truth:
        raise DatasetError("the ground truth is empty: there is no question to score")


def read_rank_mappings(
    ground_truth: Truth, rankings: IdRankings, *, of_chunks: bool = False
) -> tuple[RankJudgements, dict[str, int], bool]:
    """Judge rankings that are mappings or lists by query id.

    As soon as a relevant id is that of a chunk, it starts anew, `of_chunks`: under the plain form of every chunk id. To
    look at the ids of a block that was just read takes less time than to look at all of them beforehand.

    They are read in blocks, and only what is relevant is kept. The work per query, and per unit of it, is left to
    iterators written in C: a step of Python would cost more.

    Returns:
        The judgements in the order of the ground truth; the counts `queries_not_ranked`, `queries_not_judged` and
        `ties_or_duplicates`; and whether they were read `of_chunks`.

    Raises:
        DatasetError: A truth or a ranking cannot be read.
    """
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
            query, gain, rank, retrieved, out_of_order = _read(block, given, ranked, of_chunks)
        except DatasetError:
            raise
        except Exception as error:  # noqa: BLE001  mappings and lists may be anybody's
            refuse(block, given, ranked, error)
        if not of_chunks and holds_chunk_ids(block, given):
            return read_rank_mappings(ground_truth, rankings, of_chunks=True)
        irregular += out_of_order
        relevant = np.flatnonzero(gain > 0)
        blocks.append((query[relevant] + first, rank[relevant], gain[relevant], retrieved))
        first += len(block)
        size = min(_MOST, 2 * size, max(_FEWEST, _RESULTS * len(block) // max(1, int(retrieved.sum()))))
    query, rank, gain, retrieved = (np.concatenate(column) for column in zip(*blocks, strict=True))
    unjudged = len(rankings) - (len(ground_truth) - missing)
    counts = {
        "queries_not_ranked": missing,
        "queries_not_judged": unjudged,
        "ties_or_duplicates": irregular,
    }
    return RankJudgements.from_ranks(query, rank, gain, retrieved), counts, of_chunks


def read_units(ground_truth: Truth, rankings: IdRankings, depth: int | None, *, of_chunks: bool) -> Iterator[Units]:
    """Yield the retrieved ids, best first and each once, and the relevant ones, of every question that has an answer.

    They can be read, and no truth is an iterator.

    Args:
        ground_truth: As `read_rank_mappings` takes it.
        rankings: As `read_rank_mappings` takes them.
        depth: The number of retrieved ids at most; None for all.
        of_chunks: Whether chunk ids are given in their plain form.
    """
    truths = cast("Mapping[str, Scored | Iterable[str]]", ground_truth)
    for name, truth in truths.items():
        gains = chunk_gains(name, _gains(name, truth)) if of_chunks else _gains(name, truth)
        relevant = [unit for unit, gain in gains.items() if gain > 0]
        if relevant:
            ranked, _ = _in_order(name, cast("Mapping[str, Scored | Sequence[str]]", rankings).get(name, _NOTHING))
            yield Units(list(dict.fromkeys(map(plain, ranked) if of_chunks else ranked))[:depth], relevant)


def _read(
    names: Sequence[str],
    given: Sequence[Scored | Iterable[str]],
    ranked: Sequence[Scored | Sequence[str]],
    of_chunks: bool,
) -> tuple[Integers, Numbers, Integers, Integers, int]:
    """Return query, gain and rank of every judged unit, the results per query, and how many rankings are irregular."""
    truths = _as_scored(names, given)
    if of_chunks:
        list(map(check_truth, names, given))
        truths = list(map(chunk_gains, names, truths))
    lengths = np.fromiter(map(len, truths), dtype=np.int64, count=len(truths))
    query = np.repeat(np.arange(len(truths)), lengths)
    gain = _numbers(truths, len(query))
    if not (np.abs(gain) <= LARGEST_GAIN).all():
        raise ValueError("a gain is not finite, or too large to be summed")
    if _are_scored(ranked) and not of_chunks:
        return query, gain, *_by_score(truths, ranked, query)
    if _are_lists(ranked) and not of_chunks:
        return query, gain, *_by_position(truths, ranked, query)
    listed, uneven = zip(*map(_chunks_in_order if of_chunks else _in_order, names, ranked), strict=True)
    rank, retrieved, irregular = _by_position(truths, listed, query)
    return query, gain, rank, retrieved, irregular + sum(uneven)


def _as_scored(names: Sequence[str], given: Sequence[Scored | Iterable[str]]) -> Sequence[Scored]:
    if _are_scored(given):
        return given
    if _are_collections(given):
        _refuse_pairs(given)
        return list(map(_GAINS_OF_1, given, repeat(1.0)))
    return list(map(_gains, names, given))


def _are_scored(values: Sequence[object]) -> TypeGuard[Sequence[Scored]]:
    # Checking each type once is several times quicker than checking each value.
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

    For blocks that hold both forms, or lists and queries without a ranking.
    """
    if not _is_scored(ranking):
        check_ranking(name, ranking)
        return cast("Sequence[str]", ranking), False
    scores = _numbers([ranking], len(ranking))
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    return _falling(ranking), bool((scores[1:] >= scores[:-1]).any())


def _chunks_in_order(name: str, ranking: Scored | Sequence[str]) -> tuple[Sequence[str], bool]:
    """Return the same under the plain form of every chunk id, each once, and whether some were given more than once."""
    ids, uneven = _in_order(name, ranking)
    _refuse_pairs([ids])
    once = list(dict.fromkeys(map(plain, ids)))
    return once, uneven or len(once) < len(ids)


def _refuse_pairs(lists: Iterable[Iterable[object]]) -> None:
    """Refuse pairs of id and score, which would pass for unjudged ids; the first entry of each list tells."""
    kinds = set(map(type, chain.from_iterable(map(islice, lists, repeat(1)))))
    if any(issubclass(kind, tuple | list | Mapping) for kind in kinds):
        raise ValueError("a list holds something other than ids")


def _falling(ranking: Scored) -> list[str]:
    """Return the ids by falling score; sorting is stable, so ties stay in the order given."""
    return sorted(ranking, key=ranking.__getitem__, reverse=True)


def _numbers(mappings: Sequence[Scored], total: int) -> Numbers:
    """Return the values of all mappings, one after the other."""
    # Packing is the quickest way to an array, and refuses texts, which NumPy would read as numerals.
    values = chain.from_iterable(map(methodcaller("values"), mappings))
    return np.frombuffer(struct.pack(f"{total}d", *values), dtype=np.float64)


def _by_position(
    truths: Sequence[Scored], ranked: Sequence[Sequence[str]], query: Integers
) -> tuple[Integers, Integers, int]:
    """Look up the rank of every judged unit in its list.

    With truths [{"a": 1, "b": 1}] and ranked [["c", "a", "c"]]: the ranks are [1, -1], as `a` is second and `b` is
    missing; 2 different units were retrieved; 1 ranking is irregular, as it repeats `c`.
    """
    retrieved: list[int] = []
    irregular = 0
    _refuse_pairs(ranked)

    def ranks() -> Iterator[Iterator[int]]:
        nonlocal irregular
        for truth, ids in zip(truths, ranked, strict=True):
            rank_of = dict(zip(ids, count()))
            if len(rank_of) < len(ids):
                irregular += 1
                rank_of = dict(zip(dict.fromkeys(ids), count()))
            retrieved.append(len(rank_of))
            yield map(rank_of.get, truth, _NO_RANK)

    found = chain.from_iterable(ranks())
    rank = np.fromiter(found, dtype=np.int64, count=len(query))
    for _ in found:
        pass  # fromiter stops at the last judged unit, but what was retrieved is to be counted to the end
    return rank, np.array(retrieved, dtype=np.int64), irregular


def _by_score(truths: Sequence[Scored], ranked: Sequence[Scored], query: Integers) -> tuple[Integers, Integers, int]:
    """Find the rank of every judged unit by its score: it is the number of higher scores in its ranking.

    No ids are sorted; where a judged unit ties with another, and only there, its ranking is sorted and looked up.

    With truths [{"a": 1, "b": 1}] and ranked [{"a": 0.2, "c": 0.9, "d": 0.5}], the result is ([2, -1], [3], 1): two
    scores are higher than that of `a`, so its rank is 2; `b` was not retrieved; there are 3 results, and 1 irregular
    ranking, as its scores were not given highest first.
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
    position = _first_not_above(scores, score[rows], (ends - retrieved)[asked], ends[asked])
    rank[rows] = position - (ends - retrieved)[asked]
    if len(irregular):
        after = position + 1
        tied = (scores.take(after, mode="clip") == score[rows]) & (after < ends[asked])
        numbers = np.unique(asked[tied])
        firsts, lasts = np.searchsorted(query, [numbers, numbers + 1])
        for number, first, last in zip(map(int, numbers), firsts, lasts, strict=True):
            rank_of = dict(zip(_falling(ranked[number]), count()))
            rank[first:last] = [rank_of.get(unit, -1) for unit in truths[number]]
    return rank, retrieved, len(irregular)


def _sorted(scores: Numbers, rankings: Integers, retrieved: Integers, ends: Integers) -> Numbers:
    """Return the scores with those of some rankings sorted, highest first.

    Rankings of one length are sorted together: scores [1, 3, 9, 5, 7] of two rankings that end at 2 and 5, of which the
    rankings [0, 1] are to be sorted, become [3, 1, 9, 7, 5].
    """
    scores = scores.copy()
    lengths = retrieved[rankings]
    for length in np.unique(lengths):
        cells: Integers = ends[rankings[lengths == length], np.newaxis] - np.arange(int(length), 0, -1)
        # Sorted upwards from the end.
        scores[cells[:, ::-1]] = np.sort(scores[cells], axis=1)
    return scores


def _first_not_above(scores: Numbers, sought: Numbers, begin: Integers, end: Integers) -> Integers:
    """Return, for each sought score, the first position from `begin` to `end` whose score is not above it.

    A binary search for all at once; the scores fall between `begin` and `end`. In scores [9, 7, 5, 8, 2], the first
    ranking being [0, 3) and the second [3, 5): sought 7 in the first is at 1, 6 in the first would be at 2, 1 in the
    second at its end, 5.
    """
    position = begin.copy()
    step = 1 << int((end - begin).max(initial=0)).bit_length()
    while step := step >> 1:
        probe = position + (step - 1)
        above = scores.take(probe, mode="clip") > sought
        above &= probe < end
        position += step * above
    return position


def _uneven(scores: Numbers, ends: Integers) -> Integers:
    """Return the rankings in which a score is not below the one before it.

    Of scores [3, 1, 2, 2] in rankings that end at 2 and 4, these are [1].
    """
    uneven = scores[1:] >= scores[:-1]
    uneven[ends[(ends > 0) & (ends < len(scores))] - 1] = False
    return np.unique(np.searchsorted(ends, np.flatnonzero(uneven), side="right"))
