"""Error messages for a ground truth or a ranking that cannot be read, or that cannot match."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice
from math import inf
from numbers import Real
from typing import Any, NoReturn, TypeGuard, cast

import numpy as np

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import class_name, said, shown
from rag_evaluation_framework.data.answers import LARGEST_GAIN, Answer
from rag_evaluation_framework.data.values import items
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements

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
    """Raise an error that says why the ground truth or the ranking of a query cannot be read.

    Raises:
        DatasetError: Always.
    """
    for problem in chain(_in_truth(truth), _in_ranking(ranking)):
        raise DatasetError(f"question {shown(query)}: {problem}") from why
    raise DatasetError(f"question {shown(query)} cannot be read: {said(why)}") from why


def _in_truth(truth: object) -> Iterator[str]:
    given_as = short(truth)
    given: Iterable[Any] = cast("Any", truth) if isinstance(truth, Iterable) else ()
    if isinstance(truth, Answer) or any(isinstance(unit, Answer) for unit in given):
        yield (
            "the ground truth has an Answer with several places, which rankings of ids are not scored by here; make a "
            "Dataset of DocumentLevelGroundTruth, and give it to `score` or `evaluate`"
        )
    if isinstance(truth, str | bytes) or not isinstance(truth, Iterable):
        yield f"the ground truth is {given_as}; expected a list of relevant ids, or a mapping from id to gain"
    yield from _in_units("the ground truth", given, "ids", "gain", LARGEST_GAIN)


def _in_ranking(ranking: Any) -> Iterator[str]:
    if not isinstance(ranking, Mapping) and not is_list(ranking):
        yield f"the ranking is {short(ranking)}; expected a list of ids, best first, or a mapping from id to score"
    yield from _in_units("the ranking", ranking, "ids, best first", "score", inf)


def is_list(value: Any) -> bool:
    """Return whether this is a list of ids in order, for all that its form tells."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _in_units(where: str, given: Any, ids: str, kind: str, most: float) -> Iterator[str]:
    is_gain = kind == "gain"
    expected = (
        f"a number up to {most:g}, above 0 where the unit is relevant" if is_gain else "a number, higher for better"
    )
    for unit in items(given, where):
        if _is_scored(given):
            if not _is_number(given[unit], most):
                yield f"the {kind} of {unit!r} is {short(given[unit])}; expected {expected}"
        elif isinstance(unit, tuple | list | Mapping):
            yield f"{where} holds {shown(cast('object', unit), 60)}; expected {ids}, or a mapping from id to {kind}"
        else:
            try:
                hash(unit)
            except TypeError:
                yield f"{where} holds {short(unit)}; expected ids, as texts or numbers"


def _is_scored(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_number(value: Any, most: float) -> bool:
    try:
        return not isinstance(value, str | bytes) and abs(float(value)) <= most  # NaN is not
    except (TypeError, ValueError, OverflowError):
        return False


def short(value: object) -> str:
    """Return a value and its type as messages show them, at most 60 characters of it."""
    return f"the {class_name(value)} {shown(value, _LONGEST)}"


# Ids of rankings and ground truth that cannot match: numbers against texts, or nothing in common.

_FEWEST = 2


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
