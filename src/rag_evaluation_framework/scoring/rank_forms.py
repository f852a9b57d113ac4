"""Ids of ground truth and rankings that do not match: numbers against texts, or nothing in common."""

from collections.abc import Iterable, Mapping
from itertools import chain, islice, repeat
from numbers import Real
from typing import Any, cast

import numpy as np

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.judging.ranks import RankJudgements

_FEWEST = 2  # questions: that one alone finds nothing is nothing unusual
_COLLECTIONS = (Mapping, list, tuple, set, frozenset)


def in_one_form(ground_truth: Any, rankings: Any) -> tuple[Any, Any]:
    """Return ground truth and rankings; their ids as texts, with a note, if some are numbers and others texts.

    The ids of queries are compared with each other, and so are the first ids of each truth and each ranking.
    """
    given = (ground_truth, rankings)
    if not _differ(*given) and not _differ(*map(_firsts, given)):
        return given
    note("some ids are numbers and others texts: numbers are read as texts, 7 as '7'")
    truth, ranked = ({_text(query): _texts(value) for query, value in one.items()} for one in given)
    return truth, ranked


def _differ(*sides: Iterable[object]) -> bool:
    """Return whether one side has numbers, or texts, and the other has none."""
    one, other = (
        {base for kind in set(map(type, ids)) for base in (str, Real) if issubclass(kind, base)} for ids in sides
    )
    return bool(one and other) and one != other


def note_unmatched(ground_truth: Mapping[Any, Any], rankings: Mapping[Any, Any], judged: RankJudgements) -> None:
    """Note if no relevant id is in any ranking of any question, although there are both."""
    if len(judged.found.rank) or ((judged.relevant > 0) & (judged.results > 0)).sum() < _FEWEST:
        return
    relevant = dict.fromkeys(
        unit for truth in ground_truth.values() for unit in truth if not isinstance(truth, Mapping) or truth[unit] > 0
    )
    ranked = dict.fromkeys(unit for query in ground_truth for unit in rankings.get(query, ()))
    if relevant.keys().isdisjoint(ranked):
        some, others = (", ".join(shown(unit, 60) for unit in islice(units, 3)) for units in (ranked, relevant))
        note(
            f"no ranking contains a relevant id of any question. Ids in the rankings: {some}, …; relevant: {others}, "
            "…. Are they written the same way?"
        )


def _firsts(given: Mapping[Any, Any]) -> Iterable[Any]:
    return chain.from_iterable(map(islice, filter(_is_collection, given.values()), repeat(1)))


def _is_collection(value: Any) -> bool:
    return isinstance(value, _COLLECTIONS) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_text(unit): number for unit, number in cast("Any", value).items()}
    if isinstance(value, set | frozenset):
        return set(map(_text, cast("Any", value)))
    return list(map(_text, value)) if _is_collection(value) else value


def _text(unit: Any) -> Any:
    """Return an id as a text if it is a number: 7, 7.0 and NumPy's 7 as "7"."""
    if not isinstance(unit, Real):
        return unit
    number: Any = unit
    return str(int(number)) if float(number).is_integer() else str(number)
