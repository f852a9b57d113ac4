"""Oracle precision of a chunking (PrecisionΩ)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.judging.oracle import oracle_from_lists
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.given_units import given_spans
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class PrecisionOmega(SpanMetric):
    """Oracle precision (PrecisionΩ): that of returning exactly the chunks that share text with the truth.

    It rates the chunking alone, before anything is retrieved: the ranking and its cutoff change nothing. The recall of
    these chunks is the highest possible, and perfect unless chunks leave relevant text out. If chunks do not overlap,
    nothing with that recall is more precise. If they overlap, some of these chunks may be enough, and more precise than
    all of them. Chunks that merely touch the truth share nothing with it.

    Formula: |T ∩ Ω| / |Ω|, T being the set of relevant characters and Ω the set of characters of all chunks of the
        corpus that share at least one character with T.
    Range: [0, 1].
    Undefined: 0.0 where no chunk shares text with the truth.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (PrecisionΩ), which also counts
        chunks that touch the truth, and in the denominator what no chunk covers.
    """

    needs_chunks: ClassVar[bool] = True

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the oracle precision of each query.

        Raises:
            ConfigError: The judgements hold no oracle, as the chunks of the corpus are not known.
        """
        if judged.oracle is None:
            raise ConfigError(
                "precision_omega needs all chunks of the corpus, but got none: pass score_spans(..., chunks=...), or "
                "evaluate with a retriever that cuts the corpus into chunks"
            )
        return ratio(judged.oracle.relevant_chars, judged.oracle.retrieved_chars)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one query.

        Args:
            retrieved: ALL chunks of the corpus, not what was retrieved for this query.
            ground_truth: The relevant spans.

        Raises:
            ConfigError: Something is not a list of spans.
        """
        chunks, relevant = given_spans(self.name, retrieved, ground_truth)
        oracle = oracle_from_lists(chunks, [relevant])
        return float(ratio(oracle.relevant_chars, oracle.retrieved_chars)[0])
