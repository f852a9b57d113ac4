"""Which questions of a result a dataset in LangSmith holds as the result was scored with them."""

from collections.abc import Iterable, Mapping
from typing import Any

from rag_evaluation_framework._support.files import is_object
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN, Level
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.datasets.langsmith_examples import dataset_from_examples, question_id
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.results.result import EvaluationResult

_LEVELS: Mapping[str, Level[Any]] = {level.evaluation_type: level for level in (DOCUMENT, CHUNK, TOKEN)}


def query_id_of(example: Mapping[str, Any]) -> str:
    """Return the id of the question of an example, as a dataset that is pulled has it."""
    own: Any = example["outputs"].get("metadata")
    everything = {**example["inputs"], **example["outputs"], **(own if is_object(own) else {}), **example["metadata"]}
    return question_id({"metadata": everything, "id": example["id"]}) or ""


def matching_rows(result: EvaluationResult[Any], examples: Mapping[str, Mapping[str, Any]]) -> list[int]:
    """Return the rows of the questions that are examples, with the same wording and the same labels.

    Labels are compared where the examples have the level of the result, and can be read without the documents.

    Args:
        result: The result.
        examples: The examples, by the id of their question.
    """
    truth = _truth(result, examples)
    found: list[int] = []
    for row, query in enumerate(result.queries):
        example = examples.get(query.query_id)
        if example is None or (query.text and query.text not in example["inputs"].values()):
            continue
        if query.query_id not in truth or _is_same(query.answers, truth[query.query_id]):
            found.append(row)
    return found


def _truth(
    result: EvaluationResult[Any], examples: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Iterable[Answer[Any]]]:
    """Return the answers of the examples, by the id of their question; none if they cannot be compared."""
    try:
        read: Dataset[Any] = dataset_from_examples(examples.values(), _LEVELS[result.evaluation_type])
    except (DatasetError, LevelMismatch):
        return {}
    return {entry.query.id: entry.answers for entry in read}


def _is_same(answers: Iterable[Answer[Any]], others: Iterable[Answer[Any]]) -> bool:
    """Return whether the labels are at the same places, or have the same texts in the same documents."""
    ours, theirs = (
        {unit for answer in some for place in answer.places for unit in place} for some in (answers, others)
    )
    if _places(ours) == _places(theirs):
        return True
    texts = [_texts(units) for units in (ours, theirs)]
    return None not in texts and texts[0] == texts[1]


def _places(units: Iterable[Any]) -> set[Any]:
    return {(unit.doc_id, unit.start, unit.end) if isinstance(unit, CharacterSpan) else unit for unit in units}


def _texts(units: Iterable[Any]) -> set[tuple[str, str]] | None:
    """Return document and text of spans; None if a text is not known."""
    spans = [unit for unit in units if isinstance(unit, CharacterSpan) and unit.text]
    return {(span.doc_id, span.text) for span in spans} if len(spans) == len(list(units)) else None
