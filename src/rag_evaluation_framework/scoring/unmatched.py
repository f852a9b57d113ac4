"""Ids of rankings and ground truth that cannot match: numbers against texts, or nothing in common."""

from collections.abc import Iterable, Mapping
from itertools import chain, islice, repeat
from numbers import Real
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements

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
