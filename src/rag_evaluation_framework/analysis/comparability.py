"""Whether two results can be compared, on which questions, and what makes it doubtful."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rag_evaluation_framework import labelling, quotes
from rag_evaluation_framework.data import Answer, CharacterSpan, ScoreTable
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF, ScoreName
from rag_evaluation_framework.data.ground_truth import unit_key
from rag_evaluation_framework.errors import LevelMismatch, ResultError
from rag_evaluation_framework.levels import RULES, LevelRules
from rag_evaluation_framework.results import EvaluationResult, QueryResults
from rag_evaluation_framework.results.meaning import other_meaning, servers
from rag_evaluation_framework.results.texts import kept_corpus

# Questions whose truth is the same in two results, although the documents were edited in between.
#
# Their labels quote the same texts, in documents that were renamed, split or joined, or that write otherwise what they
# show.

Rows: TypeAlias = Sequence[tuple[int, int]]
Names: TypeAlias = frozenset[tuple[str, str]]


def edited_rows(before: QueryResults[Any], after: QueryResults[Any], rows: Rows, renamed: Set[str]) -> dict[int, Names]:
    """Return the queries whose truth is the same to a reader: by their rows before, old and new names of documents.

    Texts are the same if they differ in nothing but markup, typography and white space. They came from one document to
    another if no label at all is in the first any more, and none was in the other: documents that were renamed, split
    or joined. A text that came to a document with other labels may as well have been labelled anew.

    Args:
        before: The baseline.
        after: The candidate.
        rows: The rows, in both, of the queries whose identities differ.
        renamed: The ids of the queries whose documents may have been renamed: none if all have the ids that they had,
            nor those whose texts stand in several places: another of them may have been labelled.
    """
    old, new = _labelled(before), _labelled(after)
    found: dict[int, Names] = {}
    for row, other in rows:
        if before.texts[row] != after.texts[other] or before.gains.get(row) != after.gains.get(other):
            continue
        query_id = before.table.query_ids[row]
        one, two = before.relevant[row], after.relevant[other]
        several = before.answers.get(row), after.answers.get(other)
        names = _names(one, two) if several == (None, None) else _names_of_places(*several)
        if names is not None and (
            not names or (query_id in renamed and all(was not in new and now not in old for was, now in names))
        ):
            found[row] = names
    return found


def _labelled(results: QueryResults[Any]) -> set[str]:
    """Return the documents that labels are in."""
    first = (unit for units in results.relevant for unit in units)
    others = (unit for answers in results.answers.values() for answer in answers for unit in answer.units)
    return {unit.doc_id for unit in chain(first, others) if _is_span(unit)}


def _names(before: Iterable[Any], after: Iterable[Any]) -> Names | None:
    """Return the documents of the same texts that are others, before and after; None if the texts differ."""
    one, other = _spans(before), _spans(after)
    if one is None or other is None or len(one) != len(other):
        return None
    left = [spans for text, spans in other.items() if text not in one]
    names: set[tuple[str, str]] = set()
    for text, spans in one.items():
        found = other.get(text) or next((there for there in left if quotes.show_the_same(spans[0], there[0])), None)
        if found is None or len(found) != len(spans):
            return None
        if found in left:
            left.remove(found)
        names.add((spans[0].doc_id, found[0].doc_id))
    return frozenset((was, now) for was, now in names if was != now)


def _names_of_places(before: Sequence[Answer[Any]] | None, after: Sequence[Answer[Any]] | None) -> Names | None:
    """Return the same of answers with several places, which are compared in their order; None if one has none."""
    if before is None or after is None or _shape(before) != _shape(after):
        return None
    pairs = [
        pair for one, other in zip(before, after, strict=True) for pair in zip(one.units, other.units, strict=True)
    ]
    known = all(
        _is_span(was) and _is_span(now) and was.text and now.text and quotes.show_the_same(was, now)
        for was, now in pairs
    )
    return frozenset((was.doc_id, now.doc_id) for was, now in pairs if was.doc_id != now.doc_id) if known else None


def _shape(answers: Sequence[Answer[Any]]) -> list[list[int]]:
    return [[len(place) for place in answer.places] for answer in answers]


def _spans(units: Iterable[Any]) -> dict[str, list[CharacterSpan]] | None:
    """Return the spans of each text; None if a unit is no span with a text, or a text is in two documents."""
    spans: dict[str, list[CharacterSpan]] = {}
    for unit in dict.fromkeys(units):
        if not _is_span(unit) or not unit.text:
            return None
        known = spans.setdefault(str(unit_key(unit)[1]), [])
        known.append(unit)
        if known[0].doc_id != unit.doc_id:
            return None
    return spans


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
    """Return the rows of those of the queries whose truth is the same to a reader, if the documents were edited."""
    was, now = baseline.config["corpus"], candidate.config["corpus"]
    if was["hash"] == now["hash"]:
        return {}
    rows = [(baseline.scores.rows[query_id], candidate.scores.rows[query_id]) for query_id in query_ids]
    old, new = baseline.config["dataset"], candidate.config["dataset"]
    copied = [dataset.get("copied") or () for dataset in (old, new)]
    renamed = set(query_ids).difference(*copied) if was["ids"] != now["ids"] else set[str]()
    return edited_rows(baseline.queries, candidate.queries, rows, renamed) | _followed(baseline, candidate, rows)


def _followed(baseline: EvaluationResult[Any], candidate: EvaluationResult[Any], rows: Rows) -> dict[int, Names]:
    """Return the queries whose labels are where their words went, of runs whose texts are kept; names as above.

    Relevant documents have no words of their own among those of others: they are the same if one is a later version of
    the other.
    """
    old, new = (run.corpus or kept_corpus(run.config["corpus"], run.folder) for run in (baseline, candidate))
    if old is None or new is None or not rows:
        return {}
    carrier = labelling.Carrier(old, new)
    partners = cache(lambda: labelling.partners_of(old.documents, new.documents))

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
