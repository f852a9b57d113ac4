"""`score_rankings`: score existing rankings of ids, without corpus or retriever, as fast as Python allows."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress, count, islice, repeat
from math import inf, nan
from numbers import Real
from operator import attrgetter, is_, lt, methodcaller
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeGuard, cast

import numpy as np

from ..base.exits import outcome
from ..base.notes import note
from ..base.outside import class_name, error_message, shown
from ..data import Cutoff, ScoreTable
from ..data.columns import Integers, Numbers
from ..data.ground_truth import LARGEST_GAIN, Answer
from ..data.ids import ChunkId, DocumentId, QueryId, canonical_chunk_id
from ..data.values import items
from ..errors import DatasetError
from .judging.ranks import RankJudgements
from .score_names import DEFAULT_RANK_SCORES, IdScore, parse_rank_scores
from .tabulate import Cut, Units, rereadable, tabulate

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


class _Read(NamedTuple):
    """Some queries as columns.

    Attributes:
        query: Number of the query of each relevant unit, 0-based.
        rank: Position of the unit among the different ones of the ranking, 0-based; -1 if it was not retrieved.
        gain: How relevant it is, above 0.
        retrieved: How many different units were retrieved, of each query.
        irregular: How many rankings hold a unit twice, or scores that tie or do not fall.
        of_chunks: Whether an id of the truth is that of a chunk.
    """

    query: Integers
    rank: Integers
    gain: Numbers
    retrieved: Integers
    irregular: int
    of_chunks: bool


def read_rank_mappings(
    ground_truth: Mapping[str, Any], rankings: Mapping[str, Any]
) -> tuple[RankJudgements, int, int, bool]:
    """Judge rankings that are mappings or lists by query id.

    They are read in blocks, and only what is relevant is kept. The work per query, and per unit of it, is left to
    iterators written in C: a step of Python would cost more.

    Returns:
        The judgements in the order of the ground truth; how many of its queries have no ranking; how many rankings are
        irregular; and whether some ids of the ground truth are those of chunks.

    Raises:
        DatasetError: A truth or a ranking cannot be read.
    """
    missing = first = 0
    size = _FEWEST
    blocks: list[_Read] = []
    names, truths = iter(ground_truth), iter(ground_truth.values())
    while block := list(islice(names, size)):
        ranked = list(map(rankings.get, block, repeat(_NOTHING)))
        missing += sum(map(is_, ranked, repeat(_NOTHING)))
        results = 0
        for read in _read(block, list(islice(truths, size)), ranked):
            blocks.append(read._replace(query=read.query + first))
            first += len(read.retrieved)
            results += int(read.retrieved.sum())
        size = min(_MOST, 2 * size, max(_FEWEST, _RESULTS * len(block) // max(1, results)))
    query, rank, gain, retrieved, irregular, of_chunks = zip(*blocks, strict=True)
    columns = (np.concatenate(query), np.concatenate(rank), np.concatenate(gain), np.concatenate(retrieved))
    return RankJudgements.from_ranks(*columns), missing, sum(irregular), any(of_chunks)


def read_units(ground_truth: Mapping[str, Any], rankings: Mapping[str, Any], depth: int | None) -> Iterator[Units]:
    """Yield the retrieved ids, best first and each once, and the relevant ones, of every question that has an answer.

    They can be read, and no truth is an iterator.

    Args:
        ground_truth: As `read_rank_mappings` takes it.
        rankings: As `read_rank_mappings` takes them.
        depth: The number of retrieved ids at most; None for all.
    """
    for name, truth in ground_truth.items():
        relevant = [unit for unit, gain in _gains(truth).items() if gain > 0]
        if relevant:
            ranked = rankings.get(name, ())
            ids = _falling(ranked) if _is_scored(ranked) else ranked
            yield Units(list(dict.fromkeys(ids))[:depth], relevant)


# Ids of chunks in rankings: `pa_chunk_…` and `chunk_…` of one content are one chunk.

_BEGINNINGS = ("chunk_", "pa_chunk_")


def with_plain_chunk_ids(
    ground_truth: Mapping[str, Any], rankings: Mapping[str, Any]
) -> tuple[Mapping[str, Scored], Mapping[str, Scored | Sequence[str]]]:
    """Return ground truth and rankings, which can be read, under the plain form of every chunk id.

    Raises:
        DatasetError: A chunk has two gains.
    """
    truths = {name: _plain_gains(name, _gains(truth)) for name, truth in ground_truth.items()}
    return truths, {name: _plain_ranking(rankings[name]) for name in truths if name in rankings}


def _plain_gains(name: str, gains: Scored) -> Scored:
    renamed: dict[str, float] = {}
    for unit, gain in gains.items():
        other = renamed.setdefault(_plain(unit), gain)
        if other != gain:
            raise DatasetError(
                f"question {name!r}: chunk {_plain(unit)!r} has two gains, {other!r} and {gain!r}; keep one"
            )
    return renamed


def _plain_ranking(ranking: Scored | Sequence[str]) -> Scored | Sequence[str]:
    if not _is_scored(ranking):
        return list(map(_plain, ranking))
    renamed = {_plain(unit): score for unit, score in ranking.items()}
    return renamed if len(renamed) == len(ranking) else list(map(_plain, _falling(ranking)))


def _plain(unit: Any) -> Any:
    return canonical_chunk_id(unit) if isinstance(unit, str) else unit


def _hold_chunk_ids(truths: Sequence[Scored]) -> bool:
    ids: list[Any] = list(chain.from_iterable(truths))
    try:
        if "chunk_" not in "".join(ids):  # quicker than a look at each
            return False
    except TypeError:  # some ids are not texts
        if any(isinstance(unit, Answer) for unit in ids):
            raise
    return any(isinstance(unit, str) and unit.startswith(_BEGINNINGS) for unit in ids)


# Reading a block.


def _read(names: Sequence[str], truths: Sequence[Any], rankings: Sequence[Any]) -> list[_Read]:
    """Read queries together or, if that fails, one by one: as of some the form differs, or to say which is wrong."""

    def one_by_one(error: BaseException) -> list[_Read]:
        if len(names) == 1:
            refuse(names[0], truths[0], rankings[0], error)
        return [read for row, name in enumerate(names) for read in _read([name], [truths[row]], [rankings[row]])]

    return outcome(lambda: [_together(truths, rankings)], one_by_one)


def _together(truths: Sequence[Any], rankings: Sequence[Any]) -> _Read:
    """Read queries whose rankings are all mappings, or all lists; what cannot be read raises anything."""
    gains = truths if _are_scored(truths) else _all_gains(truths)
    lengths = np.fromiter(map(len, gains), dtype=np.int64, count=len(gains))
    query = np.repeat(np.arange(len(gains)), lengths)
    gain = _packed(_values(gains), len(query))
    if not (np.abs(gain) <= LARGEST_GAIN).all():
        raise ValueError("a gain is not finite, or too large to be summed")
    if _are_scored(rankings):
        rank, retrieved, irregular = _by_score(gains, rankings, query)
    else:
        rank, retrieved, irregular = _by_position(gains, rankings)
    rows = np.flatnonzero(gain > 0)
    return _Read(query[rows], rank[rows], gain[rows], retrieved, irregular, _hold_chunk_ids(gains))


def _are_scored(values: Sequence[object]) -> TypeGuard[Sequence[Scored]]:
    # Checking each type once is several times quicker than checking each value.
    return all(issubclass(kind, Mapping) for kind in set(map(type, values)))


def _is_scored(value: object) -> TypeGuard[Scored]:
    return isinstance(value, dict | Mapping)  # dict first: it is quicker to tell


def _all_gains(truths: Sequence[Any]) -> Sequence[Scored]:
    _refuse_pairs(truths)
    if set(map(type, truths)) <= {list, tuple, set, frozenset}:
        return list(map(_GAINS_OF_1, truths, repeat(1.0)))
    return list(map(_gains, truths))


def _gains(truth: Any) -> Scored:
    if _is_scored(truth):
        return truth
    if isinstance(truth, str | bytes):
        raise TypeError("a text is no list of ids")
    return dict.fromkeys(truth, 1.0)


def _refuse_pairs(lists: Iterable[Iterable[object]]) -> None:
    """Refuse pairs of id and score, which would pass for unjudged ids; the first entry of each list tells."""
    if any(issubclass(kind, tuple) for kind in set(map(type, chain.from_iterable(map(islice, lists, repeat(1)))))):
        raise TypeError("a list holds pairs")


def _falling(ranking: Scored) -> list[str]:
    """Return the ids by falling score; sorting is stable, so ties stay in the order given."""
    return sorted(ranking, key=ranking.__getitem__, reverse=True)


def _values(mappings: Iterable[Scored]) -> Iterable[float]:
    return chain.from_iterable(map(methodcaller("values"), mappings))


def _looked_up(tables: Iterable[Mapping[str, Any]], truths: Iterable[Scored], absent: float) -> Iterable[Any]:
    """Return what the table of each query has for each of its judged units."""
    return chain.from_iterable(map(map, map(attrgetter("get"), tables), truths, repeat(repeat(absent))))


def _packed(numbers: Iterable[float], total: int) -> Numbers:
    # Packing is the quickest way to an array, and refuses texts, which NumPy would read as numerals.
    return np.frombuffer(struct.pack(f"{total}d", *numbers), dtype=np.float64)


def _by_position(truths: Sequence[Scored], rankings: Sequence[Any]) -> tuple[Integers, Integers, int]:
    """Look up the rank of every judged unit in its list.

    With truths [{"a": 1, "b": 1}] and rankings [["c", "a", "c"]]: the ranks are [1, -1], as `a` is second and `b` is
    missing; 2 different units were retrieved; 1 ranking is irregular, as it repeats `c`.
    """
    ranked: list[Sequence[str]] = [() if ranking is _NOTHING else ranking for ranking in rankings]
    if not (set(map(type, ranked)) <= {list, tuple} or all(map(is_list, ranked))):
        raise TypeError("a ranking is no list")
    _refuse_pairs(ranked)
    retrieved: list[int] = []

    def tables() -> Iterator[dict[str, int]]:
        for ids in ranked:
            ranks = dict(zip(ids, count()))
            if len(ranks) < len(ids):
                ranks = dict(zip(dict.fromkeys(ids), count()))
            retrieved.append(len(ranks))
            yield ranks

    rank = np.fromiter(_looked_up(tables(), truths, -1), dtype=np.int64)  # without a count: to the last table
    return rank, np.array(retrieved, dtype=np.int64), sum(map(lt, retrieved, map(len, ranked)))


def _by_score(truths: Sequence[Scored], rankings: Sequence[Scored], query: Integers) -> tuple[Integers, Integers, int]:
    """Find the rank of every judged unit by its score: it is the number of higher scores in its ranking.

    No ids are sorted; where a judged unit ties with another, and only there, its ranking is sorted and looked up.

    With truths [{"a": 1, "b": 1}] and rankings [{"a": 0.2, "c": 0.9, "d": 0.5}], the result is ([2, -1], [3], 1): two
    scores are higher than that of `a`, so its rank is 2; `b` was not retrieved; there are 3 results, and 1 irregular
    ranking, as its scores were not given highest first.
    """
    retrieved = np.fromiter(map(len, rankings), dtype=np.int64, count=len(rankings))
    ends = np.cumsum(retrieved)
    begins = ends - retrieved
    scores = _packed(_values(rankings), int(retrieved.sum()))
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    uneven = scores[1:] >= scores[:-1]
    uneven[ends[(ends > 0) & (ends < len(scores))] - 1] = False  # where one ranking ends and the next begins
    irregular = np.unique(np.searchsorted(ends, np.flatnonzero(uneven), side="right"))
    if len(irregular):
        scores = scores.copy()
        lengths = retrieved[irregular]
        for length in map(int, np.unique(lengths)):  # those of one length are sorted together
            cells: Integers = ends[irregular[lengths == length], np.newaxis] - np.arange(length, 0, -1)
            scores[cells[:, ::-1]] = np.sort(scores[cells], axis=1)
    score = _packed(_looked_up(rankings, truths, nan), len(query))
    rank = np.full(len(query), -1, dtype=np.int64)
    rows = np.flatnonzero(~np.isnan(score))
    asked = query[rows]
    position = _first_not_above(scores, score[rows], begins[asked], ends[asked])
    rank[rows] = position - begins[asked]
    if len(irregular):
        after = position + 1
        tied = (scores.take(after, mode="clip") == score[rows]) & (after < ends[asked])
        for number in map(int, np.unique(asked[tied])):
            ranks = dict(zip(_falling(rankings[number]), count()))
            rank[query == number] = [ranks.get(unit, -1) for unit in truths[number]]
    return rank, retrieved, len(irregular)


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


# Error messages for a ground truth or a ranking that cannot be read, or that cannot match.

# Reading is quick and checks nothing one by one; only what it fails on is examined here.

_LONGEST = 60


def check_mappings(ground_truth: object, rankings: object, units: str) -> None:
    """Check that there is a mapping of ground truth by query id, which is not empty, and one of rankings.

    Raises:
        DatasetError: One is not a mapping, or the ground truth is empty.
    """
    for name, value, kind in (("ground_truth", ground_truth, "relevant"), ("rankings", rankings, "ranked")):
        if not isinstance(value, Mapping):
            raise DatasetError(f"{name}: got {short(value)}; expected a mapping from question id to {kind} {units}")
    if not ground_truth:
        raise DatasetError("the ground truth is empty: there is no question to score")


def refuse(query: str, truth: object, ranking: object, why: BaseException) -> NoReturn:
    """Raise an error with the reason why the ground truth or the ranking of a query cannot be read.

    Raises:
        DatasetError: Always.
    """
    where = f"question {shown(query)}"
    try:
        _refuse_truth(where, truth)
        if not isinstance(ranking, Mapping) and not is_list(ranking):
            raise DatasetError(
                f"{where}: the ranking is {short(ranking)}; expected a list of ids, best first, or a mapping from id "
                "to score"
            )
        _refuse_units(f"{where}: the ranking", ranking, "ids, best first", "score", inf)
    except DatasetError as problem:
        raise problem from why
    raise DatasetError(f"{where} cannot be read: {error_message(why)}") from why


def _refuse_truth(where: str, truth: object) -> None:
    given: Iterable[Any] = cast("Any", truth) if isinstance(truth, Iterable) else ()
    if isinstance(truth, Answer) or any(isinstance(unit, Answer) for unit in given):
        raise DatasetError(
            f"{where}: the ground truth has an Answer with several places, which rankings of ids are not scored by "
            "here; make a Dataset of DocumentLevelGroundTruth, and give it to `score` or `evaluate`"
        )
    if isinstance(truth, str | bytes) or not isinstance(truth, Iterable):
        raise DatasetError(
            f"{where}: the ground truth is {short(truth)}; expected a list of relevant ids, or a mapping from id to "
            "gain"
        )
    _refuse_units(f"{where}: the ground truth", given, "ids", "gain", LARGEST_GAIN)


def is_list(value: Any) -> bool:
    """Return whether this is a list of ids in order, for all that its form tells."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _refuse_units(where: str, given: Any, ids: str, kind: str, most: float) -> None:
    for unit in items(given, where):
        if _is_scored(given):
            if not _is_number(given[unit], most):
                limit = f" up to {most:g}, above 0 where the unit is relevant" if most < inf else ", higher for better"
                where = f"{where.rpartition(':')[0]}: the {kind} of {unit!r}"
                raise DatasetError(f"{where} is {short(given[unit])}; expected a number{limit}")
        elif isinstance(unit, tuple | list | Mapping):
            raise DatasetError(
                f"{where} holds {shown(cast('object', unit), 60)}; expected {ids}, or a mapping from id to {kind}"
            )
        else:
            try:
                hash(unit)
            except TypeError:
                raise DatasetError(f"{where} holds {short(unit)}; expected ids, as texts or numbers") from None


def _is_number(value: Any, most: float) -> bool:
    try:
        return not isinstance(value, str | bytes) and abs(float(value)) <= most  # NaN is not
    except (TypeError, ValueError, OverflowError):
        return False


def short(value: object) -> str:
    """Return a value and its type as messages show them, at most 60 characters of it."""
    return f"the {class_name(value)} {shown(value, _LONGEST)}"


# Ids of rankings and ground truth that cannot match: numbers against texts, or nothing in common.

_FEWEST_QUESTIONS = 2


def check_ids(
    ground_truth: Mapping[Any, Any], rankings: Mapping[Any, Any], judged: RankJudgements, missing: int
) -> None:
    """Note if no relevant id is in any ranking of any question, although there are both.

    Only what does not match is looked at, as one look at each of many ids takes as long as reading them.

    Args:
        ground_truth: The relevant ids of each question.
        rankings: The ids that were retrieved for each.
        judged: The judgements, in the order of the ground truth.
        missing: How many questions have no ranking.

    Raises:
        DatasetError: Some ids are numbers and others texts: of the questions, where some have no ranking, or the first
            of each truth and ranking, where nothing is found.
    """
    could = (judged.relevant > 0) & (judged.results > 0)
    nothing = could & (np.bincount(judged.found.query, minlength=len(could)) == 0)
    lost = list(compress(ground_truth, nothing.tolist()))
    firsts = ([first for query in lost for first in islice(given[query], 1)] for given in (ground_truth, rankings))
    if (missing and _differ(ground_truth, rankings)) or _differ(*firsts):
        raise DatasetError(
            "some ids are numbers and others texts, which never match; expected ids of one kind: write numbers as "
            "texts, 7 as '7', in the ground truth and in the rankings"
        )
    if not len(judged.found.rank):
        truths = ground_truth.values()
        labels = (unit for truth in truths for unit in truth if not isinstance(truth, Mapping) or truth[unit] > 0)
        note_no_match(chain.from_iterable(rankings[query] for query in lost), labels, int(could.sum()))


def note_no_match(ids: Iterable[Any], labels: Iterable[Any], questions: int) -> None:
    """Note that none of the ids is a label, of two questions or more: that one alone finds nothing is not unusual."""
    if questions >= _FEWEST_QUESTIONS and (told := none_matches(ids, labels)):
        note(told)


def none_matches(ids: Iterable[Any], labels: Iterable[Any], *, with_prefixes: bool = False) -> str | None:
    """Return that none of the ids is a label, with an example of both; None if one is, or if there are none of either.

    With prefixes, a label that ends with * is matched by all ids that begin like it.
    """
    given, relevant = [*ids], dict.fromkeys(labels)
    prefixes = tuple(label[:-1] for label in map(str, relevant) if with_prefixes and label.endswith("*"))
    if not given or not relevant or any(unit in relevant or str(unit).startswith(prefixes) for unit in given):
        return None
    id_, label = (shown(units[0], 60) for units in (given, [*relevant]))
    return f"0 of {len(given)} ids match a label, such as {id_}; labels are such as {label}"


def _differ(*sides: Iterable[object]) -> bool:
    """Return whether one side has numbers, or texts, and the other has none."""
    one, other = (
        {base for kind in set(map(type, ids)) for base in (str, Real) if issubclass(kind, base)} for ids in sides
    )
    return bool(one and other) and one != other


def score_rankings(
    ground_truth: Truth, rankings: IdRankings, metrics: Sequence[IdScore] = DEFAULT_RANK_SCORES
) -> ScoreTable:
    """Score rankings of ids that were made elsewhere.

    Queries are matched by id. A query that the rankings lack scores 0.0, one without ground truth is left out, one
    without anything relevant has no score; all are counted. `pa_chunk_…` and `chunk_…` of one content are one chunk, in
    all questions, if the ground truth of any of them holds such an id; of ids in rankings alone they are two.

    Args:
        ground_truth: For each query its relevant ids, or its judged ids with their gains (0 or below: not relevant).
        rankings: For each query the ids in order, best first, or ids with their scores, which are sorted, highest
            first and ties in the order given. If of two questions or more no relevant id is in any
            ranking, that is noted.
        metrics: Names of scores, such as `ndcg@10`, `map`, `nDCG@10`, `R@5`, `chunk_recall@5`; metrics, which score the
            whole ranking; and pairs of a metric and a number of results. A metric of your own is called once for each
            question that has an answer, with the retrieved ids, each once and cut, and the relevant ones.

    Returns:
        The scores, in the order of the ground truth, with these counts: `queries`, and of these `no_answer` (nothing is
        relevant: no score) and `queries_not_ranked` (scored as an empty ranking, 0.0);
        `queries_not_judged` (left out); `ties_or_duplicates`, the rankings that hold a unit twice (its first
        rank counts), or whose scores tie or do not fall (they are sorted, ties in the order given).

    Raises:
        ConfigError: Something is not a score of ids, two metrics share a name, or no score is named.
        DatasetError: The ground truth is empty, a ranking has no order, an id cannot be hashed, a gain is not a finite
            number, a score is not a number, one chunk has two gains, or some ids are numbers and others texts.
    """
    chosen = parse_rank_scores(metrics)
    check_mappings(ground_truth, rankings, "ids")
    truth: Any = ground_truth  # read more than once by metrics of one's own, and where chunks are found
    if any(hasattr(kind, "__next__") for kind in set(map(type, truth.values()))):
        truth = dict(zip(truth, rereadable(truth.values(), "ground_truth"), strict=True))
    given: tuple[Any, Any] = truth, rankings
    judged, missing, irregular, of_chunks = read_rank_mappings(*given)
    if of_chunks:
        given = with_plain_chunk_ids(*given)
        judged, _, irregular, _ = read_rank_mappings(*given)
    check_ids(truth, rankings, judged, missing)
    cuts: dict[Cutoff | None, Cut] = {}
    for cutoff in {name.cutoff for name in chosen}:
        size = None if cutoff is None else cutoff.size
        cuts[cutoff] = Cut(judged if size is None else judged.at(size), partial(read_units, *given, size))
    answerable = judged.relevant > 0
    counts = {
        "queries": len(truth),
        "no_answer": int((~answerable).sum()),
        "queries_not_ranked": missing,
        "queries_not_judged": len(rankings) - (len(ground_truth) - missing),
        "ties_or_duplicates": irregular,
    }
    return tabulate(tuple(truth), chosen, cuts, answerable, counts=counts)
