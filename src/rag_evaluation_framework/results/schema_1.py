"""Reports of schema version 1, which hold everything in one file, read as those of today."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.score_table import Status
from rag_evaluation_framework.results.query_result import QueryResults
from rag_evaluation_framework.results.record import QuestionRecord, read_questions


@dataclass(frozen=True)
class QueryRecord(Generic[U]):
    """One query of such a report, with its hits."""

    query_id: str
    text: str
    relevant: tuple[U, ...]
    gains: Mapping[str, float] = field(default_factory=dict[str, float])
    hits: Ranking = ()
    scores: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    failures: tuple[Failure, ...] = ()

    def question(self) -> QuestionRecord[U]:
        """Return the query as it is recorded today."""
        failed = any(failure.stage == "retrieve" for failure in self.failures)
        status: Status = "failed" if failed else "scored" if self.relevant else "no-answer"
        return QuestionRecord(
            self.query_id,
            status,
            bool(self.relevant),
            "",
            self.text,
            self.relevant,
            self.gains,
            self.scores,
            self.stages,
            self.failures,
        )


def read_queries(
    records: Iterable[QueryRecord[U]], names: Sequence[str], count_as_zero: Sequence[str], source: str
) -> QueryResults[U]:
    """Return the results of recorded queries, in columns, with their hits.

    Args:
        records: The queries.
        names: The names of the scores.
        count_as_zero: Which questions that were not scored count as 0.0.
        source: The file that they are from, for messages.

    Raises:
        ResultError: As of `read_questions`.
    """
    listed = tuple(records)
    hits = RankedHits.of(record.hits for record in listed)
    return read_questions((record.question() for record in listed), names, count_as_zero, hits, source)
