"""A question in the baseline beside which it is explained."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rag_evaluation_framework._outside import name_line, shown
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.errors import LevelMismatch, ResultError
from rag_evaluation_framework.results.result import EvaluationResult


@dataclass(frozen=True, eq=False)
class QuestionBefore:
    """The same question in the baseline.

    Attributes:
        name: The name of the baseline.
        recall: The recall there; None if it has none.
        ranking: What was retrieved there.
    """

    name: str
    recall: float | None
    ranking: Ranking


def question_before(
    baseline: EvaluationResult[Any], result: EvaluationResult[Any], row: int, name: str
) -> QuestionBefore:
    """Return what a baseline retrieved for a question: that of the same id or, if it has none, of the same wording.

    Raises:
        LevelMismatch: The baseline is of another evaluation type.
        ResultError: It does not have the question, or does not know what was retrieved.
    """
    given: Any = baseline
    if not isinstance(given, EvaluationResult):
        raise ResultError(f"baseline={shown(given)}: expected an EvaluationResult; load_result(path) reads one")
    if baseline.evaluation_type != result.evaluation_type:
        raise LevelMismatch(
            f"baseline {baseline.name!r} is {baseline.evaluation_type}, {result.name!r} is {result.evaluation_type}"
        )
    query_id, text = result.scores.query_ids[row], result.queries.texts[row]
    there = baseline.scores.rows.get(query_id)
    if there is None and text in baseline.queries.texts:
        there = [*baseline.queries.texts].index(text)
    if there is None:
        raise ResultError(f"baseline {name_line(baseline.name)} does not have the question {name_line(query_id)}")
    column = baseline.scores.columns.get(name)
    recall = None if column is None or np.isnan(column[there]) else float(column[there])
    return QuestionBefore(baseline.name, recall, baseline.queries.hits[there])
