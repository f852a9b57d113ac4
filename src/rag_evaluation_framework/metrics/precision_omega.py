"""How precise retrieval from these chunks could be at best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.metrics.attainable import judge_attainable
from rag_evaluation_framework.metrics.judgements import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import Scores, SpanMetric, ratio
from rag_evaluation_framework.spans import CharacterSpan


@dataclass(frozen=True)
class PrecisionOmega(SpanMetric):
    """The precision of a perfect retriever, which returns all chunks that share text with the truth and no others.

    It rates the chunking alone, before anything is retrieved: the ranking and its cutoff change nothing. It is the
    highest precision that goes with perfect recall. Chunks that merely touch the truth share nothing with it.

    Formula: |T ∩ Ω| / |Ω|, T being the set of relevant characters and Ω the set of characters of all chunks of the
        corpus that share at least one character with T.
    Range: [0, 1].
    Undefined: 0.0 where no chunk shares text with the truth.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (PrecisionΩ), which also counts
        chunks that touch the truth, and below the line what no chunk covers.
    """

    needs_chunks: ClassVar[bool] = True

    def score(self, judged: SpanJudgements) -> Scores:
        """Return the attainable precision of each question.

        Raises:
            ConfigError: The judgements do not say what is attainable.
        """
        if judged.attainable is None:
            raise ConfigError(
                "precision_omega needs all chunks of the corpus, and got none: give score_spans(..., chunks=...), or "
                "evaluate with a retriever that cuts the corpus into chunks"
            )
        return ratio(judged.attainable.found, judged.attainable.extent)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one question.

        Args:
            retrieved: ALL chunks of the corpus, and not what was retrieved for this question.
            ground_truth: The relevant spans.
        """
        attainable = judge_attainable(retrieved, [ground_truth])
        return float(ratio(attainable.found, attainable.extent)[0])
