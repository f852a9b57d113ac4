"""What is wrong with a ground truth or a ranking, in words.

Reading is quick and asks no questions; this is where it goes when something did not fit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NoReturn, TypeGuard

import numpy as np

from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.ground_truth import LARGEST_GAIN

_LONGEST = 60


def check_mapping(name: str, value: object, holds: str) -> None:
    """Refuse what is no mapping by question id.

    Raises:
        DatasetError: It is none.
    """
    if not isinstance(value, Mapping):
        raise DatasetError(f"{name}: got {_short(value)}; wanted a mapping from question id to {holds}")


def check_truth(query: str, truth: object) -> None:
    """Refuse a ground truth of one question that is no collection.

    Raises:
        DatasetError: It is none.
    """
    if isinstance(truth, str | bytes) or not isinstance(truth, Iterable):
        raise DatasetError(
            f"question {query!r}: the ground truth is {_short(truth)}; wanted a list of relevant ids, or a mapping "
            "from id to gain"
        )


def check_ranking(query: str, ranking: object) -> None:
    """Refuse a ranking of one question that has no order.

    Raises:
        DatasetError: It has none.
    """
    if not _has_order(ranking):
        raise DatasetError(
            f"question {query!r}: the ranking is {_short(ranking)}; wanted a list of ids, best first, or a mapping "
            "from id to score"
        )


def _has_order(ranking: Any) -> bool:
    if isinstance(ranking, np.ndarray):
        return ranking.ndim == 1
    return isinstance(ranking, Mapping | Sequence) and not isinstance(ranking, str | bytes)


def refuse(queries: Sequence[str], truths: Sequence[object], rankings: Sequence[object], why: Exception) -> NoReturn:
    """Say which of these questions cannot be read.

    Raises:
        DatasetError: Always.
    """
    for query, truth, ranking in zip(queries, truths, rankings, strict=True):
        check_truth(query, truth)
        check_ranking(query, ranking)
        for problem in (*_problems("the ground truth", "gain", truth), *_problems("the ranking", "score", ranking)):
            raise DatasetError(f"question {query!r}: {problem}") from why
    raise DatasetError(f"questions {queries[0]!r} to {queries[-1]!r} cannot be read: {why}") from why


def _is_scored(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _problems(name: str, value_name: str, given: Any) -> Iterator[str]:
    finite = value_name == "gain"
    wanted = "a number up to 1e+100, above 0 where the unit is relevant" if finite else "a number, higher for better"
    units: list[Any] = list(given)
    if not _is_scored(given):
        yield from (
            f"{name} holds {unit!r:.60}; wanted ids{'' if finite else ', best first'}, or a mapping from id to "
            f"{value_name}"
            for unit in units
            if isinstance(unit, tuple | list | Mapping)
        )
    yield from (
        f"{name} holds {_short(unit)}; wanted ids, as texts or numbers" for unit in units if not _hashable(unit)
    )
    if _is_scored(given):
        yield from (
            f"the {value_name} of {unit!r} is {_short(given[unit])}; wanted {wanted}"
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


def _short(value: object) -> str:
    text = repr(value)
    return f"the {type(value).__name__} {text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}"
