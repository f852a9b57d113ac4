"""What the filters of a generation will have embedded, where a provider is paid for it."""

from collections.abc import Iterable, Sequence

from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest
from rag_evaluation_framework.embedders.cached import CachedEmbedder
from rag_evaluation_framework.embedders.remote import RemoteEmbedder
from rag_evaluation_framework.synthesis.estimate import excerpts_of, question_of
from rag_evaluation_framework.synthesis.filters.relevance import calibration_passages
from rag_evaluation_framework.synthesis.ranges import Range, tokens_of

_PROBE = Range(most=10)  # by which the length of vectors is asked


def paid_embedder(embedder: Embedder | None) -> RemoteEmbedder | None:
    """Return an embedder whose model is a provider's; None for any other."""
    inner = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
    return inner if isinstance(inner, RemoteEmbedder) else None


def embedded_tokens(
    requests: Iterable[tuple[QuestionRequest, Sequence[str]]],
    documents: Sequence[str],
    calibrates: tuple[bool, bool],
    searched: Sequence[str],
) -> Range:
    """Return how many tokens of questions, excerpts and passages of the documents are embedded.

    Args:
        requests: The requests for questions, each with the ids that its questions may name.
        documents: The texts of the documents.
        calibrates: Whether the threshold of relevance is calibrated, and that of near-duplicates.
        searched: The passages among which answers of questions without an answer are looked for.
    """
    relevance, duplicates = calibrates
    times = 2 + relevance + duplicates + bool(searched)  # each filter, calibration and search has questions embedded
    found = tokens_of(dict.fromkeys(searched))
    total = _PROBE + Range(found.least, found.usual, tokens_of(searched).most)  # once each, if vectors can be kept
    for request, ids in requests:
        known = question_of(request)
        question = Range(0, known.usual, known.most * times)
        total += (question + excerpts_of(request, ids)) * request.questions
    if relevance:
        passages = tokens_of(calibration_passages(documents))
        total += Range(0, passages.usual, passages.most)
    return total
