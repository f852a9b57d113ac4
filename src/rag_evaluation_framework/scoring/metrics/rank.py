"""Metrics over rankings of ids, and over sets of chunks."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Number
from typing import Any, ClassVar

import numpy as np

from ...base.outside import shown
from ...contracts.roles import ChunkLevelMetric, Metric
from ...data.columns import Numbers
from ...data.ids import ChunkId, EvaluationType, RelevanceId, canonical_chunk_id
from ...errors import ConfigError
from ..judging.ranks import RankJudgements, totals
from .span import given_units, ratio

# The base class of metrics over rankings of ids.


class RankMetric(Metric[RelevanceId]):
    """A metric over ranked ids, of documents or chunks, computed from rank judgements for all queries at once.

    `calculate` runs the same code with one query and gains of 1, so there is one implementation. What is retrieved more
    than once counts at its first rank.
    """

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"document-level", "chunk-level"})

    @abstractmethod
    def score(self, judged: RankJudgements) -> Numbers:
        """Return one score per query, shape (queries,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[RelevanceId], ground_truth: Sequence[RelevanceId]) -> float:
        """Score one ranking as it is; 0.0 where nothing is relevant or nothing was retrieved.

        No k is known here: precision and F1 divide by the results that are given, those that repeat a unit included,
        also where they are fewer than the k that they were cut at; and the ideal order of nDCG is that of all relevant
        units. `score_rankings` takes a k, and leaves repeats out. Both ids of a chunk are that chunk.

        Raises:
            ConfigError: Something is not a list of ids, or what was retrieved has no order.
        """
        if isinstance(retrieved, str | bytes | Mapping | Set):
            raise ConfigError(f"{self.name}: retrieved is {shown(retrieved)}; expected a list of ids, best first")
        found, relevant = _given_ids(self.name, retrieved, ground_truth)
        right = list(dict.fromkeys(relevant))
        judged = RankJudgements.from_lists([found], [right], [[1.0] * len(right)])
        return float(self.score(judged)[0])


def _given_ids(metric: str, retrieved: Any, ground_truth: Any) -> tuple[list[Any], list[Any]]:
    """Return the ids that were given to a metric, both ids of a chunk as one; ids may be numbers, too."""
    found, right = (
        [canonical_chunk_id(unit) if isinstance(unit, str) else unit for unit in ids]
        for ids in given_units(metric, retrieved, ground_truth, (str, Number), "ids")
    )
    return found, right


# Hit rate, also called success@k.


@dataclass(frozen=True)
class HitRate(RankMetric):
    """Hit rate (success@k): whether at least one relevant unit is among the first k.

    G are the relevant units, R the first k. The mean over queries is the hit rate, also called success@k.

    Formula: 1 if |G ∩ R| > 0, else 0
    Range: {0, 1}.
    Undefined: 0.0 where nothing is relevant.
    Source: agrees with trec_eval's `success`.
    """

    @property
    def name(self) -> str:
        """`hit`."""
        return "hit"

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the hit of each query."""
        return (judged.relevant_retrieved > 0).astype(np.float64)


# Recall at k: the share of relevant units that were retrieved.


@dataclass(frozen=True)
class Recall(RankMetric):
    """Recall: the share of the relevant units that are among the first k.

    G are the relevant units, R the first k. All relevant units count in the denominator, even where they are more than
    k.

    Formula: |G ∩ R| / |G|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval"; agrees with trec_eval's `recall`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the recall of each query."""
        return ratio(judged.credit, judged.relevant)


# Precision at k: the share of the first k that are relevant.


@dataclass(frozen=True)
class Precision(RankMetric):
    """Precision: the share of the first k that are relevant units.

    G are the relevant units, R the first k. The denominator is k even where fewer than k units were retrieved; without
    k (whole rankings, budgets, `calculate`) it is the number of results, each repeat of a unit included, which
    `score_rankings` leaves out before: of a, a, b, if a alone is relevant, 1/3.

    Formula: |G ∩ R| / k
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant or nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval"; agrees with trec_eval's `P`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the precision of each query."""
        return ratio(judged.relevant_retrieved, judged.precision_denominator)


# F1: the harmonic mean of recall and precision at k.


@dataclass(frozen=True)
class F1(RankMetric):
    """F1: the harmonic mean of recall@k and precision@k, high only where both are.

    G are the relevant units, R the first k. Without k (whole rankings, budgets, `calculate`) it is the number of
    results.

    Formula: 2 |G ∩ R| / (|G| + k)
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1).
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the F1 of each query."""
        return ratio(2 * judged.credit, judged.relevant + judged.weighed(judged.precision_denominator))


# Reciprocal rank of the first relevant result (MRR).


@dataclass(frozen=True)
class MRR(RankMetric):
    """Reciprocal rank of the first relevant result (MRR): 1 at rank 1, 1/2 at rank 2, 0 beyond rank k.

    Ranks start at 1. The score of one query is its reciprocal rank; the mean over queries is MRR.

    Formula: 1 / rank of the first relevant unit; 0 if none is among the first k
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Voorhees 1999, "The TREC-8 Question Answering Track Report".
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the reciprocal rank of each query."""
        scores = np.zeros(len(judged.relevant))
        found = judged.found
        scores[found.query[found.first]] = 1 / (found.rank[found.first] + 1)
        return scores


# Mean average precision (MAP).


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

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the average precision of each query."""
        credited = judged.credited
        precisions = judged.found_before / (credited.rank + 1)
        return ratio(totals(credited.query, precisions, len(judged.relevant)), judged.relevant)


# Normalised discounted cumulative gain (nDCG).


@dataclass(frozen=True)
class NDCG(RankMetric):
    """Normalised discounted cumulative gain (nDCG): how close the first k are to the ideal order.

    Ranks start at 1, gains are linear, and the ideal order is that of all relevant units, cut at k where there is a k:
    at a budget, and in `calculate`, it is not cut, as nobody can say how many units would fit.

    Formula: DCG@k / IDCG@k, DCG = Σ gain / log2(rank + 1), IDCG being the DCG of the ideal order
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Järvelin and Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques"; agrees with trec_eval on
        rankings without ties, not with tools whose gain is 2^g - 1.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the normalised gain of each query."""
        queries = len(judged.relevant)
        gained = ratio(judged.credited.discounted_gain(queries), judged.ideal.discounted_gain(queries))
        return np.minimum(gained, 1.0)


# R-precision: precision at the number of relevant units.


@dataclass(frozen=True)
class RPrecision(RankMetric):
    """R-precision: the share of the first |G| that are relevant, G being the relevant units.

    At this depth, precision and recall are equal. With a cutoff k below |G|, only the first k are read, and the
    denominator stays |G|.

    Formula: relevant units among the first |G|, / |G|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Buckley and Voorhees 2000, "Evaluating Evaluation Measure Stability"; agrees with trec_eval's `Rprec`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the R-precision of each query."""
        credited = judged.credited
        early = credited.rank < judged.relevant[credited.query]
        return ratio(np.bincount(credited.query[early], minlength=len(judged.relevant)), judged.relevant)


# The base class of metrics over sets of chunks.


class ChunkMetric(ChunkLevelMetric):
    """A metric over the set of retrieved chunks, computed from rank judgements for all queries at once.

    `calculate` runs the same code with one query, so there is one implementation. Repeated chunks count once, and
    position-aware and plain ids of one text are one chunk.
    """

    @abstractmethod
    def score(self, judged: RankJudgements) -> Numbers:
        """Return one score per query, shape (queries,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        """Score one ranking; its order does not matter.

        Raises:
            ConfigError: Something is not a list of ids.
        """
        found, right = (list(dict.fromkeys(ids)) for ids in _given_ids(self.name, retrieved, ground_truth))
        return float(self.score(RankJudgements.from_lists([found], [right], [[1.0] * len(right)]))[0])


# Recall of the set of retrieved chunks.


@dataclass(frozen=True)
class ChunkRecall(ChunkMetric):
    """Chunk recall: the share of the relevant chunks that were retrieved.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk.

    Formula: |R ∩ G| / |G|, R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (recall); agrees with trec_eval's `set_recall`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the recall of each query."""
        return ratio(judged.credit, judged.relevant)


# Precision of the set of retrieved chunks.


@dataclass(frozen=True)
class ChunkPrecision(ChunkMetric):
    """Chunk precision: the share of the retrieved chunks that are relevant.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk. Unlike `precision`,
    it divides by what was retrieved and not by k.

    Formula: |R ∩ G| / |R|, R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (precision); agrees with trec_eval's `set_P`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the precision of each query."""
        return ratio(judged.relevant_retrieved, judged.different)


# F1 of the set of retrieved chunks.


@dataclass(frozen=True)
class ChunkF1(ChunkMetric):
    """Chunk F1: the harmonic mean of chunk recall and chunk precision, high only where both are.

    Repeated chunks count once, and position-aware and plain ids of one text are one chunk.

    Formula: 2 |R ∩ G| / (|R| + |G|), R and G being the sets of retrieved and of relevant chunks.
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved and nothing is relevant.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1); agrees with trec_eval's `set_F`.
    """

    def score(self, judged: RankJudgements) -> Numbers:
        """Return the F1 of each query."""
        return ratio(2 * judged.credit, judged.weighed(judged.different) + judged.relevant)
