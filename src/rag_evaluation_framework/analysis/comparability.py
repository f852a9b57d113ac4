"""Whether two results can be compared, on which questions, and what makes it doubtful."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import labels
from ..data import Answer, CharacterSpan, ScoreTable
from ..data.cutoffs import OWN_CUTOFF, ScoreName
from ..errors import LevelMismatch, ResultError
from ..runs import EvaluationResult
from ..runs.naming import other_meaning, servers
from ..runs.store import kept_corpus
from ..scoring.levels import RULES, LevelRules

Names: TypeAlias = frozenset[tuple[str, str]]


def _is_span(unit: Any) -> bool:
    return isinstance(unit, CharacterSpan)


def check_levels(baseline: EvaluationResult[Any], candidate: EvaluationResult[Any]) -> None:
    """Check that the scores of two results mean the same.

    Raises:
        LevelMismatch: They are of different evaluation types.
        ResultError: Their units are not those of each other, as chunks of different chunkings.
    """
    if baseline.evaluation_type != candidate.evaluation_type:
        raise LevelMismatch(
            f"{baseline.name!r} is {baseline.evaluation_type}, {candidate.name!r} is {candidate.evaluation_type}: "
            "their scores mean different things; evaluate both at one level"
        )
    reason = _rules(baseline).incomparable(baseline.config, candidate.config)
    if reason is not None:
        raise ResultError(f"{baseline.name!r} and {candidate.name!r} cannot be compared: {reason}")


def _rules(result: EvaluationResult[Any]) -> LevelRules[Any]:
    return RULES[result.evaluation_type]


def incomparable_scores(
    baseline: EvaluationResult[Any], candidate: EvaluationResult[Any], shared: Sequence[str]
) -> dict[str, str]:
    """Return the scores that both have and that mean something else in each, by name, with the reason."""
    both = [(tuple(run.metric_names), run.config) for run in (baseline, candidate)]
    asked = [_asked_for(run, shared) for run in (baseline, candidate)]
    other_k = "" if asked[0] == asked[1] and None not in asked[0] else "questions ask for other numbers of results"
    found = {
        name: other_meaning(name, *both) or (other_k if ScoreName.parse(name).cutoff == OWN_CUTOFF else "")
        for name in baseline.score_names
        if name in candidate.scores.columns
    }
    return {name: reason for name, reason in found.items() if reason}


def _asked_for(result: EvaluationResult[Any], query_ids: Sequence[str]) -> list[int | None]:
    """Return at how many results these queries were cut for their scores `@topK`; None without a number of results."""
    most: int | None = next(iter(result.config["k"]), None)
    others: Mapping[str, int] = result.config.get("top_k") or {}
    return [others.get(query_id, most) for query_id in query_ids]


def same_questions(
    baseline: EvaluationResult[Any], candidate: EvaluationResult[Any], shared: Sequence[str]
) -> list[str]:
    """Return the queries that have one wording and one truth."""
    known = [dict(zip(run.scores.query_ids, run.queries.identities, strict=True)) for run in (baseline, candidate)]
    return [query_id for query_id in shared if known[0][query_id] == known[1][query_id]]


def edited_questions(
    baseline: EvaluationResult[Any], candidate: EvaluationResult[Any], query_ids: Sequence[str]
) -> dict[int, Names]:
    """Return the queries whose labels are where their words went, of runs whose texts are kept, if these were edited.

    Relevant documents have no words of their own among those of others: they are the same if one is a later version of
    the other.

    Args:
        baseline: The baseline.
        candidate: The candidate.
        query_ids: Queries that both have, with another identity in each.

    Returns:
        By their rows in the baseline, the old and new names of the documents that are called otherwise now.
    """
    if baseline.config["corpus"]["hash"] == candidate.config["corpus"]["hash"]:
        return {}
    rows = [(baseline.scores.rows[query_id], candidate.scores.rows[query_id]) for query_id in query_ids]
    old, new = (run.corpus or kept_corpus(run.config["corpus"], run.folder) for run in (baseline, candidate))
    if old is None or new is None or not rows:
        return {}
    carrier = labels.Carrier(old, new)
    partners = cache(lambda: labels.partners_of(old.documents, new.documents))

    def now(unit: Any) -> Any:
        if _is_span(unit):
            return carrier.carry(unit).span if unit.doc_id in old else None
        return partners().get(unit)

    found: dict[int, Names] = {}
    for row, other in rows:
        before, after = baseline.queries[row], candidate.queries[other]
        if before.text != after.text or baseline.queries.gains.get(row) != candidate.queries.gains.get(other):
            continue
        followed = {unit: now(unit) for answer in before.answers for unit in answer.units}
        if None not in followed.values() and _placed(before.answers, followed) == _placed(after.answers, {}):
            pairs = ((_document(was), _document(there)) for was, there in followed.items())
            found[row] = frozenset((was, there) for was, there in pairs if was != there)
    return found


def _placed(answers: Iterable[Answer[Any]], followed: Mapping[Any, Any]) -> set[frozenset[frozenset[Any]]]:
    """Return the places of answers in any order, their units without texts, those that were followed where they are."""
    return {
        frozenset(frozenset(_place(followed.get(unit, unit)) for unit in place) for place in answer.places)
        for answer in answers
    }


def _place(unit: Any) -> Any:
    return (unit.doc_id, unit.start, unit.end) if _is_span(unit) else unit


def _document(unit: Any) -> str:
    return str(unit.doc_id if _is_span(unit) else unit)


@dataclass(frozen=True)
class Differences:
    """What else differs between two results; pairs are of the baseline and the candidate.

    Attributes:
        scores: The scores that are not in both.
        datasets: The names of the datasets.
        servers: Where their retrievers ask servers that are not the providers' own.
        others: What is not the same: `corpus`, `dataset`.
        zeros: Whether they count different questions that were not scored as 0.
        doubts: What makes scores of this level doubtful.
    """

    scores: tuple[str, ...]
    datasets: tuple[str, str]
    servers: tuple[list[str], list[str]]
    others: tuple[str, ...]
    zeros: bool
    doubts: tuple[str, ...]


def differences(baseline: EvaluationResult[Any], candidate: EvaluationResult[Any]) -> Differences:
    """Return what else differs between two results."""
    both = baseline.scores.columns.keys() & candidate.scores.columns.keys()
    names = dict.fromkeys((*baseline.score_names, *candidate.score_names))
    before, after = baseline.config, candidate.config
    return Differences(
        tuple(name for name in names if name not in both),
        (before["dataset"]["name"], after["dataset"]["name"]),
        (servers(before.get("retriever")), servers(after.get("retriever"))),
        tuple(what for what in ("corpus", "dataset") if before[what]["hash"] != after[what]["hash"]),
        baseline.scores.count_as_zero != candidate.scores.count_as_zero,
        tuple(_rules(baseline).doubts(before, after)),
    )


class FailedQuestions(NamedTuple):
    """Questions that failed in one of two results.

    Attributes:
        answerable: Whether they have an answer; headlines count only those.
        compared: Whether they are compared, as 0.
        before: How many failed in the baseline.
        after: How many failed in the candidate.
    """

    answerable: bool
    compared: bool
    before: int
    after: int


def failed_questions(baseline: ScoreTable, candidate: ScoreTable, change: ScoreTable) -> list[FailedQuestions]:
    """Return what became of the questions that failed in one of the tables, as the deltas have it."""
    compared = ~np.isnan([*change.columns.values()]).all(axis=0)
    answerable = baseline.answerable[[baseline.rows[query_id] for query_id in change.query_ids]]
    failed = [
        np.array([table.statuses[table.rows[query_id]] == "failed" for query_id in change.query_ids], dtype=np.bool_)
        for table in (baseline, candidate)
    ]
    groups = [
        FailedQuestions(
            *kind, *(int((rows & (answerable == kind[0]) & (compared == kind[1])).sum()) for rows in failed)
        )
        for kind in product((True, False), repeat=2)
    ]
    return [group for group in groups if group.before or group.after]
