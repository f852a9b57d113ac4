"""The format of `report.json`, schema version 1: how a result is written and read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np
from pydantic import TypeAdapter

from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.results.query_result import QueryResult


@dataclass(frozen=True)
class QueryRecord(Generic[U]):
    """One query of a report: a `QueryResult` with its scores and failures inside."""

    query_id: str
    text: str
    relevant: tuple[U, ...]
    gains: Mapping[str, float] = field(default_factory=dict[str, float])
    hits: Ranking = ()
    scores: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    failures: tuple[Failure, ...] = ()

    @classmethod
    def of(cls, query: QueryResult[U]) -> "QueryRecord[U]":
        """Return a query as a record."""
        return cls(
            query.query_id,
            query.text,
            query.relevant,
            query.gains,
            query.hits,
            query.scores,
            query.stages,
            query.failures,
        )

    def result(self, table: ScoreTable) -> QueryResult[U]:
        """Return the recorded query as a `QueryResult`."""
        return QueryResult(self.query_id, self.text, self.relevant, self.gains, self.hits, self.stages, table=table)


@dataclass(frozen=True)
class ResultRecord(Generic[U]):
    """A whole report; `EvaluationResult` says what the fields mean."""

    name: str
    evaluation_type: EvaluationType
    queries: tuple[QueryRecord[U], ...]
    metric_names: tuple[str, ...]
    cutoffs: tuple[str, ...]
    count_as_zero: tuple[str, ...]
    config: Mapping[str, Any]
    timings: Mapping[str, float]
    notes: tuple[str, ...]
    created: str
    version: str
    experiment_url: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        content: dict[str, Any] = TypeAdapter(ResultRecord[Any]).dump_python(self, mode="json")
        return content

    def table(self, names: Sequence[str]) -> ScoreTable:
        """Return the scores of these names."""
        scores = [[query.scores.get(name) for query in self.queries] for name in names]
        return ScoreTable(
            tuple(query.query_id for query in self.queries),
            {name: np.array(values, dtype=np.float64) for name, values in zip(names, scores, strict=True)},
            np.array([bool(query.relevant) for query in self.queries], dtype=np.bool_),
            {query.query_id: query.failures for query in self.queries if query.failures},
            count_as_zero=frozenset(self.count_as_zero),
        )
