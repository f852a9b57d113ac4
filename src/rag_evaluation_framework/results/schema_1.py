"""Reports of schema version 1, which hold everything in one file, read as those of today."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.score_table import Status
from rag_evaluation_framework.results.record import Count, FullQuestion, Number


@dataclass(frozen=True)
class HitRecord:
    """One hit of such a report."""

    doc_id: str | None = None
    start: Count | None = None
    end: Count | None = None
    chunk_id: str | None = None
    text: str | None = None
    score: Number | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start > self.end:
            raise ValueError(f"start is {self.start} and end {self.end}; expected start <= end")

    def hit(self) -> Hit:
        """Return the hit."""
        doc_id = None if self.doc_id is None else DocumentId(self.doc_id)
        return Hit(doc_id, self.start, self.end, self.chunk_id, self.text, self.score)


@dataclass(frozen=True)
class QueryRecord(Generic[U]):
    """One query of such a report, with its hits."""

    query_id: str
    text: str
    relevant: tuple[U, ...]
    gains: Mapping[str, Number] = field(default_factory=dict[str, float])
    hits: tuple[HitRecord, ...] = ()
    scores: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    stages: Mapping[str, Number] = field(default_factory=dict[str, float])
    failures: tuple[Failure, ...] = ()

    def question(self) -> FullQuestion[U]:
        """Return the query as it is recorded today."""
        failed = any(failure.stage == "retrieve" for failure in self.failures)
        status: Status = "failed" if failed else "scored" if self.relevant else "no-answer"
        return FullQuestion(
            self.query_id,
            status,
            bool(self.relevant),
            self.scores,
            self.failures,
            self.text,
            self.relevant,
            self.gains,
            self.stages,
        )


def split(records: Iterable[QueryRecord[Any]]) -> tuple[Iterator[FullQuestion[Any]], RankedHits]:
    """Return the questions as they are recorded today, and what was found for each."""
    listed = tuple(records)
    hits = RankedHits.of(tuple(hit.hit() for hit in record.hits) for record in listed)
    return (record.question() for record in listed), hits
