"""Questions without some of their answers."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.frozen import FrozenDict
from rag_evaluation_framework.data.ground_truth import (
    ChunkLevelGroundTruth,
    DocumentLevelGroundTruth,
    GroundTruth,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.labelled_units import as_answer


def without_answers(entry: GroundTruth[Any], numbers: Set[int]) -> GroundTruth[Any]:
    """Return a question without the answers of these numbers, from 0; with the gains of the others."""
    gone = {answer for number, answer in enumerate(entry.answers) if number in numbers}
    match entry:
        case TokenLevelGroundTruth(relevant_spans=spans):
            return replace(entry, relevant_spans=tuple(s for number, s in enumerate(spans) if number not in numbers))
        case ChunkLevelGroundTruth(relevant_chunk_ids=ids, gains=gains):
            kept = replace(
                entry, relevant_chunk_ids=tuple(unit for unit in ids if as_answer(unit) not in gone), gains={}
            )
            return replace(kept, gains={unit: gain for unit, gain in gains.items() if unit in kept.relevant})
        case DocumentLevelGroundTruth(gains=gains):
            left = _documents_left(entry, gone)
            return replace(left, gains={unit: gain for unit, gain in gains.items() if unit in left.relevant})
        case _:
            return entry


def _documents_left(entry: DocumentLevelGroundTruth, gone: Set[Answer[DocumentId]]) -> DocumentLevelGroundTruth:
    """Return a question without these documents and prefixes, and without gains."""

    def stays(unit: DocumentId | Answer[DocumentId]) -> bool:
        alone = replace(entry, relevant_document_ids=(unit,), gains=FrozenDict())
        return alone.answers[0] not in gone  # that of the unit, or of the prefix that it is part of

    return replace(
        entry,
        relevant_document_ids=tuple(filter(stays, entry.relevant_document_ids)),
        relevant_prefixes=tuple(prefix for prefix in entry.relevant_prefixes if stays(DocumentId(f"{prefix}*"))),
        gains=FrozenDict(),
    )
