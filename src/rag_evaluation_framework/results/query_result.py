"""The result of one query: its ground truth, its ranking and its scores."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Generic

from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.rankings import QueryRanking
from rag_evaluation_framework.data.score_table import ScoreTable, Status


@dataclass(frozen=True, eq=False)
class QueryResult(Generic[U]):
    """The result of one query: its ground truth, its ranking and its scores.

    Attributes:
        query_id: The query's id.
        text: Its wording.
        relevant: The relevant units; empty if the corpus holds no answer.
        gains: How relevant units are, by id; 1.0 for those that are not named, and for spans.
        hits: What was retrieved, best first, as deep as the cutoffs reach. A hit with a place carries no text.
        stages: Seconds spent in each stage of the retrieval.
        table: The scores of all queries of the result.
    """

    query_id: str
    text: str
    relevant: tuple[U, ...]
    gains: Mapping[str, float] = field(default_factory=dict[str, float])
    hits: Ranking = ()
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    table: ScoreTable = field(kw_only=True, repr=False)

    @classmethod
    def of(cls, entry: GroundTruth[U], ranking: QueryRanking, table: ScoreTable) -> "QueryResult[U]":
        """Return the result of one query; hits that have a place are kept without their text, which follows from it."""
        return cls(
            entry.query.id,
            entry.query.text,
            entry.relevant,
            {str(unit): gain for unit in entry.relevant if (gain := entry.gain(unit)) != 1.0},
            tuple(hit if hit.span is None else replace(hit, text=None) for hit in ranking.hits),
            {stage.name: stage.seconds for stage in ranking.stages if stage.seconds is not None},
            table=table,
        )

    @property
    def scores(self) -> dict[str, float | None]:
        """Scores by name; None where a metric failed. Empty if the query has no answer or its retrieval failed."""
        return self.table.row(self.query_id)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What went wrong."""
        return self.table.failures.get(self.query_id, ())

    @property
    def status(self) -> Status:
        """`failed` if its retrieval raised, `no-answer` if nothing is relevant, else `scored`."""
        return self.table.statuses[self.table.rows[self.query_id]]

    @property
    def _all(self) -> tuple[object, ...]:
        """Everything that is told of this query; of the table, its own row."""
        told = (self.query_id, self.text, self.relevant, self.gains, self.hits, self.stages)
        return (*told, self.scores, self.failures, self.status)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueryResult) and self._all == other._all

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

    def __str__(self) -> str:
        name, score = next(iter(self.scores.items()), (self.status, None))
        return f"{self.query_id}  {name}{'' if score is None else f' {score:.3f}'}  {self.text}"
