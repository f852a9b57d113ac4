"""What was returned for each query, in brief: how much, where the first relevant result is, and the best score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.levels.catalogue import RULES

_HITS_AT_ONCE = 1 << 18  # for the sake of memory


@dataclass(frozen=True, eq=False)
class Returned:
    """What was returned for each query; arrays of shape (queries,).

    Attributes:
        results: The number of results, as deep as the cutoffs reach.
        first_relevant: The rank of the first result that is relevant, or at token level shares text with an answer. It
            counts results from 1, also those that repeat a document. NaN if none is, or nothing is relevant.
        best_score: The retriever's own score of the first result; NaN if it has none, or if another result has a higher
            one, so that the scores do not order the results, as distances do not.
    """

    results: Integers
    first_relevant: Numbers
    best_score: Numbers

    @classmethod
    def of(cls, hits: RankedHits, truth: Sequence[GroundTruth[Any]]) -> "Returned":
        """Return what is to be said of rankings, one per entry of the truth."""
        counts = hits.counts
        first = np.full(len(truth), np.nan)
        answerable = np.array([bool(entry.relevant) for entry in truth], dtype=np.bool_)
        for rows in _blocks(np.flatnonzero(answerable & (counts > 0)), counts):
            numbers: list[int] = rows.tolist()
            first[rows] = _first_relevant(hits.take(rows), [truth[number] for number in numbers])
        return cls(counts, first, _best_scores(hits))


def _blocks(rows: Integers, counts: Integers) -> Iterator[Integers]:
    """Yield the rows in parts of about as many hits as are judged at once."""
    if len(rows):
        yield from np.split(rows, np.flatnonzero(np.diff(np.cumsum(counts[rows]) // _HITS_AT_ONCE)) + 1)


def _first_relevant(hits: RankedHits, truth: Sequence[GroundTruth[Any]]) -> Numbers:
    """Return the rank of the first relevant result of rankings that are not empty, NaN where there is none."""
    (judged,) = RULES[truth[0].level.evaluation_type].judge([hits], truth)
    return _of_spans(judged) if isinstance(judged, SpanJudgements) else _of_ids(judged)


def _of_spans(judged: SpanJudgements) -> Numbers:
    found = judged.relevant > 0
    return np.where(found.any(axis=1), 1.0 + found.argmax(axis=1), np.nan)


def _of_ids(judged: RankJudgements) -> Numbers:
    """Return the ranks of results by those of different units.

    Of the results a, a, b the different units are at the positions 0 and 2: the unit of rank 1 is the result of rank 2.
    """
    begins = np.cumsum(judged.results) - judged.results
    leads = np.ones(int(judged.results.sum()), dtype=np.bool_)
    leads[begins[judged.repeats.query] + judged.repeats.position] = False
    before = np.cumsum(judged.different) - judged.different
    first = judged.found.first
    query = judged.found.query[first]
    ranks = np.full(len(begins), np.nan)
    ranks[query] = 1.0 + np.flatnonzero(leads)[before[query] + judged.found.rank[first]] - begins[query]
    return ranks


def _best_scores(hits: RankedHits) -> Numbers:
    """Return the score of the first result of each ranking; NaN where it has none, or another has a higher one."""
    best = np.full(len(hits), np.nan)
    some = np.flatnonzero(hits.counts > 0)
    if not len(some):
        return best
    counts, scores = hits.counts[some], hits.flat.score
    begins = np.cumsum(counts) - counts
    first = scores[begins]
    highest = np.fmax.reduceat(scores, begins)
    best[some] = np.where(np.isfinite(first) & (first >= highest), first, np.nan)
    return best
