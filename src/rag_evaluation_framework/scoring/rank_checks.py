"""Error messages for a ground truth or a ranking that cannot be read, or that cannot match."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from math import isnan
from numbers import Real
from typing import Any, NoReturn, TypeGuard, cast

import numpy as np

from rag_evaluation_framework._outside import class_name, said, shown
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.answers import LARGEST_GAIN, Answer
from rag_evaluation_framework.data.values import items
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements

# Error messages for a ground truth or a ranking that cannot be read.
#
# Reading is quick and checks nothing one by one; only what it fails on is examined here.

_LONGEST = 60


def check_mapping(name: str, value: object, holds: str) -> None:
    """Check that a value is a mapping by query id.

    Raises:
        DatasetError: It is not a mapping.
    """
    if not isinstance(value, Mapping):
        raise DatasetError(f"{name}: got {short(value)}; expected a mapping from question id to {holds}")


def check_truth(query: str, truth: object) -> None:
    """Check that the ground truth of one query is a collection.

    Raises:
        DatasetError: It is not a collection.
    """
    given: Iterable[Any] = cast("Any", truth) if isinstance(truth, Iterable) else ()
    if isinstance(truth, Answer) or any(isinstance(unit, Answer) for unit in given):
        raise DatasetError(
            f"question {shown(query)}: the ground truth has an Answer with several places, which rankings of ids are "
            "not scored by here; make a Dataset of DocumentLevelGroundTruth, and give it to `score` or `evaluate`"
        )
    if isinstance(truth, str | bytes) or not isinstance(truth, Iterable):
        raise DatasetError(
            f"question {shown(query)}: the ground truth is {short(truth)}; expected a list of relevant ids, or a "
            "mapping from id to gain"
        )


def check_ranking(query: str, ranking: object) -> None:
    """Check that the ranking of one query has an order.

    Raises:
        DatasetError: It has no order.
    """
    if not _has_order(ranking):
        raise DatasetError(
            f"question {shown(query)}: the ranking is {short(ranking)}; expected a list of ids, best first, or a "
            "mapping from id to score"
        )


def _has_order(ranking: Any) -> bool:
    if isinstance(ranking, np.ndarray):
        return ranking.ndim == 1
    return isinstance(ranking, Mapping | Sequence) and not isinstance(ranking, str | bytes)


def refuse(queries: Sequence[str], truths: Sequence[object], rankings: Sequence[object], why: Exception) -> NoReturn:
    """Raise an error that says which of these queries cannot be read, and why.

    Raises:
        DatasetError: Always.
    """
    for query, truth, ranking in zip(queries, truths, rankings, strict=True):
        check_truth(query, truth)
        check_ranking(query, ranking)
        for problem in (*_problems("the ground truth", "gain", truth), *_problems("the ranking", "score", ranking)):
            raise DatasetError(f"question {shown(query)}: {problem}") from why
    raise DatasetError(f"questions {queries[0]!r} to {queries[-1]!r} cannot be read: {said(why)}") from why


def _is_scored(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _problems(name: str, value_name: str, given: Any) -> Iterator[str]:
    finite = value_name == "gain"
    expected = "a number up to 1e+100, above 0 where the unit is relevant" if finite else "a number, higher for better"
    units = items(given, name)
    if not _is_scored(given):
        yield from (
            f"{name} holds {shown(cast('object', unit), 60)}; expected ids{'' if finite else ', best first'}, or a "
            f"mapping from id to {value_name}"
            for unit in units
            if isinstance(unit, tuple | list | Mapping)
        )
    yield from (
        f"{name} holds {short(unit)}; expected ids, as texts or numbers" for unit in units if not _hashable(unit)
    )
    if _is_scored(given):
        yield from (
            f"the {value_name} of {unit!r} is {short(given[unit])}; expected {expected}"
            for unit in units
            if not _is_number(given[unit], finite=finite)
        )


def _hashable(unit: object) -> bool:
    try:
        hash(unit)
    except TypeError:
        return False
    return True


def _is_number(value: Any, *, finite: bool) -> bool:
    if isinstance(value, str | bytes) or value is None:
        return False
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return abs(number) <= LARGEST_GAIN if finite else not isnan(number)


def short(value: object) -> str:
    """Return a value and its type as messages show them, at most 60 characters of it."""
    return f"the {class_name(value)} {shown(value, _LONGEST)}"


# Ids of rankings and ground truth that cannot match: numbers against texts, or nothing in common.

_FEWEST = 2


def check_ids(ground_truth: Mapping[Any, Any], rankings: Mapping[Any, Any], judged: RankJudgements) -> None:
    """Note if no relevant id is in any ranking of any question, although there are both.

    Raises:
        DatasetError: Some ids are numbers and others texts, of the questions or the first of each truth and ranking.
    """
    ranked = [rankings.get(query, ()) for query in ground_truth]
    firsts = (chain.from_iterable(map(islice, given, repeat(1))) for given in (ground_truth.values(), ranked))
    if _differ(ground_truth, rankings) or _differ(*firsts):
        raise DatasetError(
            "some ids are numbers and others texts, which never match; expected ids of one kind: write numbers as "
            "texts, 7 as '7', in the ground truth and in the rankings"
        )
    if not len(judged.found.rank):
        truths = ground_truth.values()
        labels = (unit for truth in truths for unit in truth if not isinstance(truth, Mapping) or truth[unit] > 0)
        note_no_match(chain.from_iterable(ranked), labels, int(((judged.relevant > 0) & (judged.results > 0)).sum()))


def note_no_match(ids: Iterable[Any], labels: Iterable[Any], questions: int) -> None:
    """Note that none of the ids is a label, of two questions or more: that one alone finds nothing is not unusual."""
    if questions >= _FEWEST and (told := none_matches(ids, labels)):
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
