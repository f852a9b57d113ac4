"""A question in the baseline beside which it is explained."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag_evaluation_framework._outside import name_line, shown
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.errors import LevelMismatch, ResultError
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.results.result import EvaluationResult


@dataclass(frozen=True, eq=False)
class QuestionBefore:
    """The same question in the baseline.

    Attributes:
        name: The name of the baseline.
        recall: The recall there; None if it has none.
        ranking: What was retrieved there; None if the documents were others, in which places mean something else.
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
    column = baseline.scores.columns.get(name)
    recall = None if column is None or np.isnan(column[there]) else float(column[there])
    hits = baseline.queries.hits[there]
    if baseline.config["corpus"]["hash"] == result.config["corpus"]["hash"]:
        return QuestionBefore(baseline.name, recall, hits, (*_changes(baseline, there, result, row),))
    note = (
        f"the documents are not those of {name_line(baseline.name)}: which results it had is not told, as places in "
        "other documents mean something else"
    )
    return QuestionBefore(baseline.name, recall, None, (note,))


def _changes(baseline: EvaluationResult[Any], there: int, result: EvaluationResult[Any], row: int) -> Iterator[str]:
    """Yield that the question of the baseline is another one, though it has the same id."""
    one, other = baseline.queries, result.queries
    same_texts = not one.texts or one.texts[there] == other.texts[row]
    if not same_texts or (one.by_place == other.by_place and one.identities[there] != other.identities[row]):
        what = "truth" if same_texts else "wording"
        yield f"the {what} of the question was another one in {name_line(baseline.name)}: the two are not compared"
