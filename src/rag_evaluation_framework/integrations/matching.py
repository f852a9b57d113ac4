"""Which questions of a result a dataset in LangSmith holds as the result was scored with them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.data import CharacterSpan, Dataset
from rag_evaluation_framework.data.ground_truth import LabelIdentity
from rag_evaluation_framework.data.ids import canonical_chunk_id, generate_chunk_id
from rag_evaluation_framework.data.levels import DOCUMENT, LEVELS, TOKEN, Level
from rag_evaluation_framework.datasets.langsmith_examples import dataset_from_examples, labels_of, question_id
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.levels.document import in_documents
from rag_evaluation_framework.results import EvaluationResult, QueryResult


class Matches(NamedTuple):
    """The questions of a result that are examples of a dataset.

    Attributes:
        rows: Their rows in the result: of those with the same wording, and not with other labels.
        uncompared: The ids of those of them of which it is not known whether their labels are the same.
        reworded: The ids of the others that have another wording there.
        relabelled: The ids of the others that have other labels there.
    """

    rows: list[int]
    uncompared: tuple[str, ...]
    reworded: tuple[str, ...]
    relabelled: tuple[str, ...]


def query_id_of(example: Mapping[str, Any]) -> str:
    """Return the id of the question of an example, as a dataset that is pulled has it."""
    own: Any = example["outputs"].get("metadata")
    everything = {**example["inputs"], **example["outputs"], **(own if is_object(own) else {}), **example["metadata"]}
    return question_id({"metadata": everything, "id": example["id"]}) or ""


def matching_rows(result: EvaluationResult[Any], examples: Mapping[str, Mapping[str, Any]]) -> Matches:
    """Return the questions of a result that are examples, with the same wording and without other labels.

    Labels are compared example by example, as the dataset of the result has them and, read as documents, as they were
    scored. Quotes, and ids of chunks in place of spans, are compared with the texts of these.

    Args:
        result: The result.
        examples: The examples, by the id of their question.
    """
    level = LEVELS[result.evaluation_type]
    comparison = _Comparison(level, LEVELS.get(result.config["dataset"].get("evaluation_type"), level))
    rows: list[int] = []
    uncompared: list[str] = []
    reworded: list[str] = []
    relabelled: list[str] = []
    for row, query in enumerate(result.queries):
        example = examples.get(query.query_id)
        if example is None:
            continue
        if query.text and query.text not in example["inputs"].values():
            reworded.append(query.query_id)
            continue
        same = comparison.is_same(query, example)
        if same is None:
            uncompared.append(query.query_id)
        if same is False:
            relabelled.append(query.query_id)
        else:
            rows.append(row)
    return Matches(rows, tuple(uncompared), tuple(reworded), tuple(relabelled))


@dataclass(frozen=True)
class _Comparison:
    """Compares the labels of questions with those of examples.

    Attributes:
        level: The level at which questions were scored.
        labelled: The level of the labels of their dataset.
    """

    level: Level[Any]
    labelled: Level[Any]

    def is_same(self, query: QueryResult[Any], example: Mapping[str, Any]) -> bool | None:
        """Return whether an example has the labels of a question; None if that cannot be told."""
        read = self._read(query, example, None)
        if read is not None:
            return self._equals(query, read)
        if self.level is TOKEN and _has_texts(query, example["outputs"]):
            return True
        # Labels under a key that nobody knows, which the run was told: equal ones are the same, others may be others'.
        named = (self._read(query, example, key) for key in example["outputs"])
        return True if any(read is not None and self._equals(query, read) for read in named) else None

    def _read(self, query: QueryResult[Any], example: Mapping[str, Any], key: str | None) -> Dataset[Any] | None:
        """Return the ground truth of an example, alone in a dataset; None if it cannot be read without more."""
        outputs = labels_of(example["outputs"], key)
        row = {"inputs": {"query": query.text}, "outputs": outputs, "metadata": example["metadata"]}
        try:
            return dataset_from_examples([row], self.labelled, ground_truth_key=key)
        except (DatasetError, LevelMismatch):
            return None

    def _equals(self, query: QueryResult[Any], read: Dataset[Any]) -> bool | None:
        """Return whether labels are those of a question, or are so at the level of the result; None if not known."""
        labels = LabelIdentity.of_truth(read.ground_truth[0])
        scored = LabelIdentity.of(query.text, query.answers, query.gains)
        if query.labelled is not None and labels.equals(query.labelled):
            return True
        if self.level is self.labelled:
            return labels.equals(scored)
        if self.level is DOCUMENT:
            return LabelIdentity.of_truth(in_documents(read)[0]).equals(scored)
        return None if query.labelled is None else False


def _has_texts(query: QueryResult[Any], outputs: Mapping[str, Any]) -> bool:
    """Return whether quotes, or ids of chunks, are those of the spans of a question, wherever these are."""
    if any(len(answer.places) > 1 for answer in query.answers):
        return False
    spans = [unit for unit in query.relevant if isinstance(unit, CharacterSpan)]
    if not spans or not all(span.text for span in spans):
        return False
    quoted, ids = {_even(span.text) for span in spans}, {generate_chunk_id(span.text) for span in spans}
    return any(
        {_even(text) for text in texts} == quoted or ids == {*map(canonical_chunk_id, texts)}
        for texts in _texts(outputs)
    )


def _texts(outputs: Mapping[str, Any]) -> Iterator[list[str]]:
    yield from (items for items in outputs.values() if is_list(items) and all(isinstance(item, str) for item in items))


def _even(text: str) -> str:
    return " ".join(text.split())
