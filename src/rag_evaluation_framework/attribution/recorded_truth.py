"""What was relevant in a run, as its result tells it: ground truth again."""

from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import (
    ChunkLevelGroundTruth,
    DocumentLevelGroundTruth,
    GroundTruth,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.results.query_result import QueryResult
from rag_evaluation_framework.results.result import EvaluationResult
from rag_evaluation_framework.text.reading import HitReader


def recorded_truth(result: EvaluationResult[Any], row: int, corpus: Corpus) -> GroundTruth[Any]:
    """Return the ground truth of a question, as it was scored; gains are left out.

    Places of one answer are copies if they have the same text in the corpus.
    """
    told: QueryResult[Any] = result.queries[row]
    query = Query(QueryId(told.query_id), QueryText(told.text))
    units = tuple(map(unit_of, told.answers))
    if result.evaluation_type == "document-level":
        return documents_of(query, units, corpus)
    if result.evaluation_type == "chunk-level":
        return ChunkLevelGroundTruth(query, units)
    read = HitReader(corpus).span
    if any(len(answer.places) > 1 for answer in told.answers):
        return TokenLevelGroundTruth(query, tuple(answer.mapped(read) for answer in told.answers))
    return TokenLevelGroundTruth(query, told.relevant)


def documents_of(query: Query, units: Sequence[Any], corpus: Corpus) -> DocumentLevelGroundTruth:
    """Return relevant documents; what ends in `*` and is not a document is all documents that begin so."""
    prefixes = [unit for unit in units if isinstance(unit, str) and unit.endswith("*") and unit not in corpus]
    ids = tuple(unit for unit in units if unit not in prefixes)
    return DocumentLevelGroundTruth(query, ids, tuple(prefix[:-1] for prefix in prefixes))


def unit_of(answer: Answer[Any]) -> Any:
    """Return an answer as ground truth takes it: as its unit, if that is all."""
    units: tuple[Any, ...] = answer.units
    return next(iter(units)) if len(units) == 1 else answer
