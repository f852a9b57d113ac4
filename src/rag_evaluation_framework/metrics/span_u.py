"""U-measure of relevant text: span recall, averaged over all budgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_metric import SpanMetric, ratio


@dataclass(frozen=True)
class SpanU(SpanMetric):
    """U-measure of text: the mean of span recall over all budgets up to the named one, 1 if the truth is read first.

    It tells how early the relevant text is read, by how much text comes before it and not by ranks, so that scores are
    comparable across chunkings. Results are read in rank order, and text that was retrieved twice is read twice. T is
    the set of relevant characters, L the budget, n ≤ L the position at which a relevant character is first read, from
    1.

    It is scored at budgets only, as in `span_u@4000ch`. With `_whole`, the result that does not fit is not read, nor
    are those behind it. In a budget of tokens, those of a result are spread evenly over its characters, so that the
    mean and the comparison hold nearly, not exactly. In any budget scores are capped at 1, which a ranking can exceed
    that reads a shorter wording of an answer than its first place.

    Formula: Σ over the relevant characters read of (L - n + 1), / the same of reading T first
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Sakai and Dou 2013, "Summaries, Ranked Retrieval and Sessions: A Unified Framework for Information Access
        Evaluation" (U-measure), with characters in place of strings, the budget as L, and normalised.
    """

    needs_budget: ClassVar[bool] = True

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the normalised mean recall of each query.

        Raises:
            ConfigError: The judgements are not those of a budget.
        """
        if judged.trail is None:
            raise ConfigError("span_u needs a budget, and these rankings are cut at none")
        return np.minimum(ratio(judged.trail.earned, judged.trail.ideal), 1.0)

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Refuse to score: two lists do not tell the budget, and their length is not it.

        Raises:
            ConfigError: Always.
        """
        del retrieved, ground_truth
        raise ConfigError(
            "span_u needs a budget, which two lists do not tell: use score_spans({'q': relevant}, {'q': retrieved}, "
            "['span_u@4000ch'])"
        )
