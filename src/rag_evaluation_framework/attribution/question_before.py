"""A question in the baseline beside which it is explained."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rag_evaluation_framework._outside import name_line, shown
from rag_evaluation_framework.attribution.told_recall import own_cutoff
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.errors import LevelMismatch, ResultError
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.results.meaning import other_meaning
from rag_evaluation_framework.results.result import EvaluationResult


@dataclass(frozen=True, eq=False)
class QuestionBefore:
    """The same question in the baseline.

    Attributes:
        name: The name of the baseline.
        recall: The recall there; None if it has none, or the question was another one.
        ranking: What was retrieved there; None if the documents were others, in which places mean something else, or
            the question was another one.
        notes: What has changed since, but for the results.
    """

    name: str
    recall: float | None
    ranking: Ranking | None
    notes: tuple[str, ...] = ()


def question_before(
    baseline: EvaluationResult[Any], result: EvaluationResult[Any], row: int, name: str
) -> QuestionBefore:
    """Return what a baseline retrieved for a question: that of the same id or, if it has none, of the same wording.

    Of one that had another wording or truth there, nothing but that is told.

    Raises:
        LevelMismatch: The baseline is of another evaluation type.
        ResultError: It does not have the question, or does not know what was retrieved; or its scores mean something
            else, as those of another chunking.
    """
    given: Any = baseline
    if not isinstance(given, EvaluationResult):
        raise ResultError(f"baseline={shown(given)}: expected an EvaluationResult; load_result(path) reads one")
    if baseline.evaluation_type != result.evaluation_type:
        raise LevelMismatch(
            f"baseline {baseline.name!r} is {baseline.evaluation_type}, {result.name!r} is {result.evaluation_type}"
        )
    reason = RULES[result.evaluation_type].incomparable(baseline.config, result.config)
    if reason is not None:
        raise ResultError(f"baseline {name_line(baseline.name)} cannot be compared: {reason}")
    query_id, text = result.scores.query_ids[row], result.queries.texts[row]
    there = baseline.scores.rows.get(query_id)
    if there is None and text in baseline.queries.texts:
        there = [*baseline.queries.texts].index(text)
    if there is None:
        raise ResultError(f"baseline {name_line(baseline.name)} does not have the question {name_line(query_id)}")
    same_documents = baseline.config["corpus"]["hash"] == result.config["corpus"]["hash"]
    if what := _changed(baseline, there, result, row, same_documents):
        note = f"the {what} of the question was another one in {name_line(baseline.name)}: the two are not compared"
        return QuestionBefore(baseline.name, None, None, (note,))
    column = baseline.scores.columns.get(name)
    records = [(run.metric_names, run.config) for run in (baseline, result)]
    other = other_meaning(name, *records) if name in baseline.scores.columns.keys() & result.scores.columns else ""
    recall = None if column is None or other or np.isnan(column[there]) else float(column[there])
    was, now = own_cutoff(baseline, there), own_cutoff(result, row)
    each = str(OWN_CUTOFF) in (*baseline.cutoffs, *result.cutoffs) and was != now
    cut = (f"the question is cut at {now}, and was cut at {was} in {name_line(baseline.name)}",) if each else ()
    cut = (*cut, f"{name} of {name_line(baseline.name)} is not comparable: {other}") if other else cut
    if same_documents:
        return QuestionBefore(baseline.name, recall, baseline.queries.hits[there], cut)
    note = (
        f"the documents are not those of {name_line(baseline.name)}: which results it had is not told, as places in "
        "other documents mean something else"
    )
    return QuestionBefore(baseline.name, recall, None, (*cut, note))


def _changed(
    baseline: EvaluationResult[Any], there: int, result: EvaluationResult[Any], row: int, same_documents: bool
) -> Literal["", "wording", "truth"]:
    """Return what of a question is another one in the baseline, though it has the same id.

    The truth is compared in the same documents only: in others, the same truth may have other names and places.
    """
    one, other = baseline.queries, result.queries
    if one.texts and one.texts[there] != other.texts[row]:
        return "wording"
    return "truth" if same_documents and one.identities[there] != other.identities[row] else ""
