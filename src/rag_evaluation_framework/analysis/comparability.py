"""Whether two results can be compared, on which questions, and what makes it doubtful."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rag_evaluation_framework._outside import name_line
from rag_evaluation_framework.analysis.edited_truth import Names, edited_rows
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF, ScoreName
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.errors import LevelMismatch, ResultError
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.levels.level_rules import LevelRules
from rag_evaluation_framework.results.meaning import other_meaning
from rag_evaluation_framework.results.recorded_parts import servers
from rag_evaluation_framework.results.result import EvaluationResult

_MOST_NAMED = 3


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
    return edited_rows(
        baseline.queries, candidate.queries, rows, renamed, (old.get("was_in") or {}, new.get("was_in") or {})
    )


def noted_differences(
    baseline: EvaluationResult[Any], candidate: EvaluationResult[Any], incomparable: Mapping[str, str]
) -> list[str]:
    """Return what else differs between two results, the scores that are not compared first."""
    notes = [
        f"not comparable: {', '.join(name for name, why in incomparable.items() if why == reason)} ({reason})"
        for reason in dict.fromkeys(incomparable.values())
    ]
    both = baseline.scores.columns.keys() & candidate.scores.columns.keys()
    others = [name for name in dict.fromkeys((*baseline.score_names, *candidate.score_names)) if name not in both]
    if others:
        notes.append(f"scores that are not in both: {', '.join(others)}")
    before, after = baseline.config, candidate.config
    names_of = before["dataset"]["name"], after["dataset"]["name"]
    if names_of[0] != names_of[1]:
        notes.append(f"the datasets have other names: {name_line(names_of[0])} before, {name_line(names_of[1])} after")
    was_asked, is_asked = (", ".join(servers(config.get("retriever"))) for config in (before, after))
    if was_asked != is_asked:
        own = "none but providers' own"
        notes.append(f"the servers are not the same: {was_asked or own} before, {is_asked or own} after")
    parts = ("corpus", "dataset")
    notes += [f"the {what} is not the same" for what in parts if before[what]["hash"] != after[what]["hash"]]
    if baseline.scores.count_as_zero != candidate.scores.count_as_zero:
        notes.append("the two count different questions that were not scored as 0")
    notes += _rules(baseline).doubts(before, after)
    return notes


def noted_edits(edited: Mapping[int, Names]) -> list[str]:
    """Return what was edited in the documents of queries that are compared all the same."""
    renamed = [names for names in edited.values() if names]
    notes: list[str] = []
    if renamed:
        names = sorted(frozenset[tuple[str, str]]().union(*renamed))
        told = ", ".join(f"{name_line(old)} is now {name_line(new)}" for old, new in names[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        notes.append(
            f"questions whose documents were renamed, split or joined, compared as the texts are the same: "
            f"{len(renamed)} ({told}{more})"
        )
    if len(edited) > len(renamed):
        notes.append(
            "questions whose answers are written otherwise, compared as they differ in markup or typography only: "
            f"{len(edited) - len(renamed)}"
        )
    return notes


def noted_failures(baseline: ScoreTable, candidate: ScoreTable, change: ScoreTable) -> list[str]:
    """Return what became of the questions that failed in one of the tables, as the deltas have it.

    Those without an answer are told apart, as headlines count only those that have one.
    """
    compared = ~np.isnan([*change.columns.values()]).all(axis=0)
    answerable = baseline.answerable[[baseline.rows[query_id] for query_id in change.query_ids]]
    failed = [
        np.array([table.statuses[table.rows[query_id]] == "failed" for query_id in change.query_ids], dtype=np.bool_)
        for table in (baseline, candidate)
    ]
    kinds = (("answerable questions that", answerable), ("questions without an answer that", ~answerable))
    groups = (("are compared as 0", compared), ("are not compared", ~compared))
    counts = [
        (f"{which} failed, and {what}", *(int((rows & some & told).sum()) for told in failed))
        for which, some in kinds
        for what, rows in groups
    ]
    return [f"{what}: {old} before, {new} after" for what, old, new in counts if old or new]
