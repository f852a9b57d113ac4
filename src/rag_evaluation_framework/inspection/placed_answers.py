"""The answers of a dataset of any level as places in the documents."""

from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import (
    ChunkLevelGroundTruth,
    DocumentLevelGroundTruth,
    GroundTruth,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.labelled_units import mapped
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.inspection.labelled_text import Label, units_of


def placed(
    entry: GroundTruth[Any], labels: Sequence[Label], corpus: Corpus, registry: ChunkRegistry | None
) -> TokenLevelGroundTruth | None:
    """Return a question with its answers as spans of the corpus: documents are whole, chunks where they were cut.

    Args:
        entry: The question.
        labels: Its labels, as `LabelTexts` reads them.
        corpus: The documents.
        registry: The chunks of the labelled chunking, if they are at hand.

    Returns:
        The question; None if it has no labels, or a label that does not match the corpus or has no known place.
    """
    if not labels or any(label.problem is not None for label in labels):
        return None
    match entry:
        case DocumentLevelGroundTruth():
            spans = [_whole(corpus, label.unit) for label in labels if not label.unit.endswith("*")]
            named = (prefix for prefix in entry.relevant_prefixes)
            prefixed = [_whole(corpus, one.id) for prefix in named for one in corpus if one.id.startswith(prefix)]
            return TokenLevelGroundTruth(entry.query, (*spans, *prefixed))
        case ChunkLevelGroundTruth():
            if registry is None or not all(registry.get_spans(label.unit) for label in labels):
                return None
            return TokenLevelGroundTruth.of_chunks(entry.query, entry.relevant, registry)
        case TokenLevelGroundTruth():
            now = dict(zip(units_of(entry), (label.unit for label in labels), strict=True))
            return TokenLevelGroundTruth(entry.query, mapped(entry.relevant_spans, now.__getitem__))
        case _:
            return None


def _whole(corpus: Corpus, doc_id: Any) -> CharacterSpan:
    return CharacterSpan(doc_id, 0, len(corpus[doc_id].content))
