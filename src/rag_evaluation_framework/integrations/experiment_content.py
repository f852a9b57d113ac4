"""What of a result goes to LangSmith: metadata of the whole, and for each question places and scores, no text."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

from rag_evaluation_framework._support.files import is_object
from rag_evaluation_framework.data.hits import Hit, Ranking
from rag_evaluation_framework.integrations.run_outputs import CHARACTERS
from rag_evaluation_framework.results.recorded_parts import servers
from rag_evaluation_framework.results.result import EvaluationResult

RUN = "rag_eval_run"
"""The key in the metadata of an experiment by which a result that was published is known again."""

_COMPONENTS = ("chunker", "embedder", "vector_store", "reranker")
_LONGEST_NAME = 80
_PARAMETERS = re.compile(r"^(\w+)\(.*", re.DOTALL)


@dataclass(frozen=True)
class ExperimentContent:
    """A result, as far as its questions are examples of a dataset.

    Attributes:
        result: The result.
        hits: What was retrieved for each of its questions.
        examples: The examples, by the id of their question.
        rows: The rows of the questions in the result that are among them.
        uncompared: The ids of those of these questions whose labels could not be compared.
        reworded: The ids of questions that are not among them as they have another wording there.
        relabelled: The ids of questions that are not among them as they have other labels there.
    """

    result: EvaluationResult[Any]
    hits: Sequence[Ranking]
    examples: Mapping[str, Mapping[str, Any]]
    rows: Sequence[int]
    uncompared: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the experiment is called, without what makes it unique; of a name that nobody gave the class alone."""
        name, is_given = self.result.name, self.result.config["experiment_name"] is not None
        return (name if is_given else _PARAMETERS.sub(r"\1", name))[:_LONGEST_NAME].strip() or "rag-eval"

    @cached_property
    def identity(self) -> str:
        """The same for a result each time that it is published, and for no other."""
        result = self.result
        dataset = result.config["dataset"]["hash"]
        # The times, as two runs of one second may have equal scores.
        told = [result.created, result.name, dataset, dict(result.metrics), dict(result.timings)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]

    @cached_property
    def expected(self) -> Counter[str]:
        """How many questions have each score."""
        return Counter(key for row in self.rows for key in self.scores(row))

    @property
    def metadata(self) -> dict[str, Any]:
        """What is said of the whole experiment."""
        config = self.result.config
        retriever = config.get("retriever")
        return {
            RUN: self.identity,
            "rag_eval_version": self.result.version,
            "evaluation_type": self.result.evaluation_type,
            "retriever": self.result.name,
            **_components(retriever),
            **({"servers": asked} if (asked := servers(retriever)) else {}),
            "k": self.result.cutoffs[0],
            "cutoffs": list(self.result.cutoffs),
            "dataset_hash": config["dataset"]["hash"],
            "corpus_hash": config["corpus"]["hash"],
            "means": {name: mean for name, mean in self.result.metrics.items() if mean is not None},
        }

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The ids of the questions of the result that are not among these."""
        taken = set(self.rows)
        return tuple(query_id for row, query_id in enumerate(self.result.scores.query_ids) if row not in taken)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The ids of the questions of the dataset that are not in the result."""
        return tuple(sorted(self.examples.keys() - set(self.result.scores.query_ids)))

    def example(self, row: int) -> Mapping[str, Any]:
        """Return the example of a question."""
        return self.examples[self.result.scores.query_ids[row]]

    def scores(self, row: int) -> dict[str, float]:
        """Return the scores that a question has."""
        columns = self.result.scores.columns.items()
        return {name: float(column[row]) for name, column in columns if not isnan(column[row])}

    def outputs(self, row: int) -> dict[str, Any]:
        """Return where each result of a question was found, and the seconds of each stage.

        Raises:
            RuntimeError: The question failed; the message says how.
        """
        query = self.result.queries[row]
        if query.status == "failed":
            raise RuntimeError("; ".join(f"{each.stage}: {each.kind}: {each.message}" for each in query.failures))
        return {"hits": [_place(hit) for hit in self.hits[row]], "seconds": dict(query.stages), "status": query.status}


def _place(hit: Hit) -> dict[str, Any]:
    fields = {"doc_id": hit.doc_id, "start": hit.start, "end": hit.end, "chunk_id": hit.chunk_id, "score": hit.score}
    if not hit.placed and hit.text is not None:
        fields[CHARACTERS] = len(hit.text)
    return {name: value for name, value in fields.items() if value is not None}


def _components(record: Any) -> dict[str, str]:
    """Return the types of the components of a recorded retriever, by what they are."""
    found: dict[str, str] = {}
    waiting: list[Any] = [record]
    while waiting:
        inner = waiting.pop()
        if not is_object(inner):
            continue
        for key, value in inner.items():
            if key in _COMPONENTS and is_object(value):
                found.setdefault(key, str(value.get("type", "")))
            waiting.append(value)
    return found
