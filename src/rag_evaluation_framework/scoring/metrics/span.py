"""Metrics over spans of characters."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...base.outside import shown
from ...contracts.roles import TokenLevelMetric
from ...data.columns import Integers, Numbers
from ...data.spans import CharacterSpan
from ...data.values import gives_items, items
from ...errors import ConfigError
from ..judging.ranks import totals
from ..judging.spans import SpanJudgements, oracle_from_lists

# What is given to `calculate`: two lists of the units that a metric scores.


def given_spans(metric: str, retrieved: Any, ground_truth: Any) -> tuple[list[CharacterSpan], list[CharacterSpan]]:
    """Return the spans that were given to a metric.

    Raises:
        ConfigError: Something is not a list of `CharacterSpan`.
    """
    return given_units(metric, retrieved, ground_truth, (CharacterSpan,), "spans")


def given_units(
    metric: str, retrieved: Any, ground_truth: Any, kinds: tuple[type, ...], expected: str
) -> tuple[list[Any], list[Any]]:
    """Return the units that were given to a metric.

    Args:
        metric: The name of the metric.
        retrieved: What was retrieved.
        ground_truth: What is relevant.
        kinds: The types that units may have.
        expected: What these are called in messages.

    Raises:
        ConfigError: Something is not a list of such units.
    """
    found: list[list[Any]] = []
    for name, given in (("retrieved", retrieved), ("ground_truth", ground_truth)):
        where = f"{metric}: {name}"
        if not gives_items(given, str, bytes, Mapping):
            raise ConfigError(f"{where} is {shown(given)}; expected a list of {expected}")
        units = items(given, where)
        for unit in units:
            if not isinstance(unit, kinds):
                raise ConfigError(f"{where} holds {shown(unit)}; expected a list of {expected}")
        found.append(units)
    return found[0], found[1]


# The base class of metrics over spans of characters.


class SpanMetric(TokenLevelMetric):
    """A metric over spans of characters, computed from span judgements for all queries at once.

    `calculate` runs the same code with one query, so there is one implementation.
    """

    needs_chunks: ClassVar[bool] = False
    """Whether `score` reads `SpanJudgements.oracle`, for which all chunks of the corpus are needed."""
    of_nothing: ClassVar[float] = 0.0
    """What `calculate` returns where nothing is relevant and nothing was retrieved."""

    @abstractmethod
    def score(self, judged: SpanJudgements) -> Numbers:
        """Return one score per query, shape (queries,); the judgements are already cut at the cutoff."""

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; the class docstring gives the value of the undefined case.

        Raises:
            ConfigError: Something is not a list of spans.
        """
        found, right = given_spans(self.name, retrieved, ground_truth)
        if not (found or right):
            return self.of_nothing
        return float(self.score(SpanJudgements.from_lists([found], [right]))[0])


def ratio(numerator: Integers | Numbers, denominator: Integers | Numbers) -> Numbers:
    """Return numerator / denominator, and 0.0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


# Recall of relevant text.


@dataclass(frozen=True)
class SpanRecall(SpanMetric):
    """Span recall: the share of the relevant text that was retrieved.

    T is the set of relevant characters, R that of retrieved ones, so overlaps count once.

    Formula: |T ∩ R| / |T|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (recall).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the recall of each query."""
        return ratio(judged.credit_chars, judged.truth)


# Precision of retrieved text.


@dataclass(frozen=True)
class SpanPrecision(SpanMetric):
    """Span precision: the share of the retrieved text that is relevant.

    T is the set of relevant characters, R that of retrieved ones, so text that was retrieved twice counts once;
    in `SpanPrecisionRaw` it counts twice.

    Formula: |T ∩ R| / |R|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision), with overlapping
        results merged.
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the precision of each query."""
        return ratio(judged.relevant_chars, judged.retrieved_chars)


# Intersection over union of retrieved and relevant text (IoU, Jaccard index).


@dataclass(frozen=True)
class SpanIoU(SpanMetric):
    """Intersection over union (IoU, Jaccard index): how well the retrieved and the relevant text match.

    T is the set of relevant characters, R that of retrieved ones. Missing text and superfluous text
    both lower it.

    Formula: |T ∩ R| / |T ∪ R|
    Range: [0, 1].
    Undefined: 1.0 where both lists are empty; 0.0 where one is, and where the spans cover nothing.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (IoU), with overlapping results
        merged.
    """

    of_nothing: ClassVar[float] = 1.0

    @property
    def name(self) -> str:
        """`span_iou`, of subclasses as well."""
        return "span_iou"

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the intersection over union of each query."""
        return ratio(judged.credit_chars, judged.truth + judged.surplus)


# F1 of retrieved text (Dice coefficient).


@dataclass(frozen=True)
class SpanF1(SpanMetric):
    """Span F1 (Dice coefficient): the harmonic mean of span recall and span precision.

    T is the set of relevant characters, R that of retrieved ones. It orders the rankings of one query as `SpanIoU`
    does.

    Formula: 2 |T ∩ R| / (|T| + |R|)
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant or nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the F1 of each query."""
        return ratio(2 * judged.credit_chars, judged.truth + judged.credit_chars + judged.surplus)


# Hit rate of retrieved text.


@dataclass(frozen=True)
class SpanHit(SpanMetric):
    """Span hit rate (success@k): whether at least one relevant character was retrieved.

    T is the set of relevant characters, R that of retrieved ones. The mean over queries is the hit rate (success@k).

    Formula: 1 if |T ∩ R| > 0, else 0
    Range: {0, 1}.
    Undefined: 0.0 where nothing is relevant.
    Source: trec_eval's `success`, for characters.
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the hit of each query."""
        return (judged.relevant_chars > 0).astype(np.float64)


# Discounted cumulative gain of relevant text.


@dataclass(frozen=True)
class SpanDCG(SpanMetric):
    """Discounted cumulative gain of text: how early the relevant text comes, each new share discounted by its rank.

    T is the set of relevant characters, new_r the characters that rank r is the first to retrieve, so each character
    counts once. Scores are comparable within one chunking only, as smaller chunks put the same text at later ranks;
    `SpanU` compares chunkings.

    Formula: Σ over ranks r of (|T ∩ new_r| / |T|) / log2(r + 1), r from 1
    Range: [0, 1]; 1 if the first result covers all.
    Undefined: 0.0 where nothing is relevant.
    Source: Järvelin and Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques" (discount); Clarke et al.
        2008, "Novelty and Diversity in Information Retrieval Evaluation" (novelty, as in α-nDCG).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the discounted recall of each query."""
        # Rank after rank, as `sum` adds in an order that depends on the depth, which is that of the longest ranking.
        added = np.diff(judged.credit, axis=1, prepend=0)
        query, rank = np.nonzero(added)
        gains = added[query, rank] / np.log2(rank + 2)
        return ratio(totals(query, gains, len(judged.truth)), judged.truth)


# U-measure of relevant text: span recall, averaged over all budgets.


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


# Precision of retrieved text, repeated text counted again.


@dataclass(frozen=True)
class SpanPrecisionRaw(SpanMetric):
    """Span precision where text that is retrieved again counts again: the relevant share of the whole context.

    T is the set of relevant characters, R that of retrieved ones, Σ |r| the summed lengths of the results. A
    character that two results share counts once in the numerator and twice in the denominator, as it takes up context
    twice.

    Formula: |T ∩ R| / Σ |r|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision, as their code
        computes it).
    """

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the raw precision of each query."""
        return ratio(judged.once_chars, judged.retrieved_chars_raw)


# Intersection over union of text, repeated text counted again.


@dataclass(frozen=True)
class SpanIoURaw(SpanMetric):
    r"""Intersection over union of retrieved and relevant text, where text that is retrieved again counts again.

    T is the set of relevant characters, R that of retrieved ones, Σ |r| the summed lengths of the results.

    Formula: |T ∩ R| / (Σ |r| + |T \ R|)
    Range: [0, 1].
    Undefined: 1.0 where both lists are empty; 0.0 where one is, and where the spans cover nothing.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (IoU, as their code computes it).
    """

    of_nothing: ClassVar[float] = 1.0

    @property
    def name(self) -> str:
        """`span_iou_raw`, of subclasses as well."""
        return "span_iou_raw"

    def score(self, judged: SpanJudgements) -> Numbers:
        """Return the raw intersection over union of each query."""
        return ratio(judged.credit_chars, judged.truth + judged.surplus_raw)


# Oracle precision of a chunking (PrecisionΩ).


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
