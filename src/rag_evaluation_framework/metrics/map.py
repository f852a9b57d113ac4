"""Mean average precision (MAP)."""

from dataclasses import dataclass

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.judging.relevant_units import totals
from rag_evaluation_framework.metrics.rank_metric import RankMetric
from rag_evaluation_framework.metrics.span_metric import ratio


@dataclass(frozen=True)
class MAP(RankMetric):
    """Mean average precision (MAP): precision averaged over the ranks of the relevant units, high if all come early.

    G are the relevant units. Those that were not retrieved count in the denominator, even where they are more than k.
    The score of one query is its average precision; the mean over queries is MAP.

    Formula: Σ over relevant units among the first k of precision at their rank, / |G|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Buckley and Voorhees 2000, "Evaluating Evaluation Measure Stability"; agrees with trec_eval's `map_cut`.
    """

    @property
    def name(self) -> str:
        """`map`."""
        return "map"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the average precision of each query."""
        credited = judged.credited
        precisions = judged.found_before / (credited.rank + 1)
        return ratio(totals(credited.query, precisions, len(judged.relevant)), judged.relevant)
