"""What a run lost at a cutoff, by cause: causes, evidence, and the losses of documents and chunks."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data import DOCUMENT, AnyChunk, CharacterSpan, Corpus, Cutoff, GroundTruth, Level
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.data.hits import Hit, RankedHits, Ranking
from rag_evaluation_framework.text.reading import ContextBudget, RankingCutter

# Why relevant text or a relevant unit was lost: the step between the documents and the cutoff that did not have it.

Cause = Literal[
    "not_in_corpus",
    "in_no_chunk",
    "not_retrieved",
    "not_asked_for",
    "not_a_candidate",
    "beyond_cutoff",
    "dropped_by_reranker",
    "not_placed",
]
"""The step that lost something, the first in the way of a document."""

CAUSES: tuple[Cause, ...] = get_args(Cause)
STEPS: tuple[Cause, ...] = tuple(cause for cause in CAUSES if cause != "not_asked_for")
"""What each step loses, in order: what one of them has, the steps before it have, too."""


def divided(had: Sequence[Numbers], whole: Numbers, asked: NDArray[np.bool_]) -> dict[Cause, Numbers]:
    """Divide what is missing into causes: each step loses what it does not have of what the step before it had.

    What is in no ranking is `not_retrieved` where one was asked for that is deep enough to blame the retriever.

    Args:
        had: What each step had, from all that is in the corpus to what was read at the cutoff; shape (queries,) each.
            No step has more than the one before it.
        whole: All that is relevant; shape (queries,).
        asked: For which questions a deep ranking is known; shape (queries,).

    Returns:
        The share of the whole that each cause lost, shape (queries,), in [0, 1]; together what is missing at the
        cutoff.
    """
    steps = zip(STEPS, [whole, *had[:-1]], had, strict=True)
    lost: dict[Cause, Numbers] = {cause: np.maximum(earlier - later, 0.0) / whole for cause, earlier, later in steps}
    missing = lost["not_retrieved"]
    lost |= {"not_retrieved": np.where(asked, missing, 0.0), "not_asked_for": np.where(asked, 0.0, missing)}
    return {cause: lost[cause] for cause in CAUSES}


# What was retrieved for the questions of a run, at a cutoff and deeper, and what could have been.


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was retrieved for some questions, and what could have been; one ranking of each kind per question.

    Attributes:
        truth: What is relevant.
        corpus: The documents.
        cutter: Cuts rankings at the cutoff, its only one.
        final: The ranking of the run.
        first: What the reranker was given, in its first order: the beginning of `deep`; None if there is none.
        deep: The deepest ranking that is known, before the reranker.
        asked: For which questions `deep` was asked for again, and continues the ranking of the run; shape (questions,).
        chunks: All chunks that could be retrieved; None if that is not known.
        unread: The parts of documents that are in chunks, but behind what the embedder reads of each of them; empty if
            it reads all, if another retriever of a hybrid reads the rest, or if it is not known.
    """

    truth: tuple[GroundTruth[Any], ...]
    corpus: Corpus
    cutter: RankingCutter
    final: RankedHits
    first: RankedHits | None
    deep: RankedHits
    asked: NDArray[np.bool_]
    chunks: Sequence[AnyChunk] | None = None
    unread: Sequence[CharacterSpan] = ()

    @property
    def cutoff(self) -> Cutoff:
        """Where rankings are cut."""
        return self.cutter.cutoffs[0]

    @property
    def budget(self) -> ContextBudget | None:
        """What cuts rankings at a budget; None if the cutoff is a number of results."""
        return self.cutter.budgets.get(self.cutoff)

    def cut(self, ranked: RankedHits) -> RankedHits:
        """Return the beginning of rankings that is read at the cutoff."""
        return ranked.first(self.cutoff.size) if self.budget is None else self.budget.buy(ranked).hits

    @property
    def candidates(self) -> RankedHits:
        """What a reranker could order: what the run's own was given or, without one, the deepest ranking."""
        return self.deep if self.first is None else self.first

    def take(self, rows: Integers, truth: Sequence[GroundTruth[Any]]) -> "Evidence":
        """Return the evidence of some of the questions, with other truth: what is relevant to each of the rows."""
        return replace(
            self,
            truth=tuple(truth),
            final=self.final.take(rows),
            first=None if self.first is None else self.first.take(rows),
            deep=self.deep.take(rows),
            asked=self.asked[rows],
        )


# What a run lost at a cutoff, by cause, whatever is relevant: text or units.


@dataclass(frozen=True, eq=False)
class Bound:
    """The best recall that is possible.

    Attributes:
        recall: No ranking has more; shape (questions,), in [0, 1].
        exact: Of which questions a ranking has as much; of the others it is an upper bound; shape (questions,).
    """

    recall: Numbers
    exact: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Losses:
    """What was lost of each question, in shares of what is relevant to it; arrays of shape (questions,), in [0, 1].

    Attributes:
        recall: What was found: the recall of the run.
        lost: What each cause lost. Together with `recall` it is 1.
        asked: Of which questions a deep ranking is known, which goes on as that of the run; of the others nothing is
            `not_retrieved`, as what is in no ranking is `not_asked_for`.
        best_rank: The first rank of the ranking, from 1, with which more would be had than was read; 0 where none is
            known.
        without_reranker: The recall of the ranking before the reranker, however few of it were given to the reranker;
            NaN where no deep ranking is known, None if there is no reranker.
        split: What of `lost` belongs to answers that are in chunks, none of which holds them whole. 0 for units.
        truncated: What of `lost` is in chunks, but behind what the embedder reads of them. 0 for units.
        cut_off: What of `lost` is in chunks, but behind what the budget reads of them, were they the first result, so
            that no order brings it. 0 for units, and for a number of results.
        unexplained: What each cause lost of what is neither split, truncated nor cut off.
        chunking: The best recall for these chunks at this cutoff; None if the chunks are not known.
        candidates: The best recall for the candidates of the run's reranker or, without one, for the deepest ranking.
    """

    recall: Numbers
    lost: Mapping[Cause, Numbers]
    asked: NDArray[np.bool_]
    best_rank: Integers
    without_reranker: Numbers | None
    split: Numbers
    truncated: Numbers
    cut_off: Numbers
    unexplained: Mapping[Cause, Numbers]
    chunking: Bound | None
    candidates: Bound


# Where relevant documents or chunks were lost, by cause.
#
# Every step between the corpus and the cutoff is a set of units, and has all that the steps after it have. A step is
# worth the relevant units that it accounts for: those that it has, and those for which it has another place of every
# answer that needs them.


@dataclass(frozen=True, eq=False)
class Units:
    """The units that there are, whatever is asked.

    Attributes:
        level: The level at which they are read.
        corpus: The documents.
        in_chunks: The units of the chunks that can be retrieved; None if these are not known.
    """

    level: Level[Any]
    corpus: Corpus
    in_chunks: Set[str] | None

    @classmethod
    def of(cls, level: Level[Any], corpus: Corpus, chunks: Sequence[AnyChunk] | None) -> "Units":
        """Return the units of a corpus and its chunks, which are known by the ids of the dataset."""
        read = None if chunks is None else {level.read(Hit.of(chunk)) for chunk in chunks}
        return cls(level, corpus, None if read is None else {unit for unit in read if unit is not None})

    def in_corpus(self, units: Iterable[str]) -> set[str]:
        """Return which units are in the corpus; of chunks that is all, as they may be of any document.

        So it is of documents, if the run knew none: its pipeline has an index of its own.
        """
        if self.level is not DOCUMENT or not len(self.corpus):
            return {*units}
        return {unit for unit in units if unit in self.corpus or self._is_prefix(unit, self._all)}

    def listed(self, units: Iterable[str]) -> set[str]:
        """Return which units are in chunks."""
        if self.in_chunks is None:
            return self.in_corpus(units)
        return {unit for unit in units if unit in self.in_chunks or self._is_prefix(unit, self.in_chunks)}

    @property
    def _all(self) -> Iterable[str]:
        return (document.id for document in self.corpus)

    def _is_prefix(self, unit: str, known: Iterable[str]) -> bool:
        """Return whether a unit is a `prefix*` with which one of the documents begins."""
        if self.level is not DOCUMENT or not unit.endswith("*"):
            return False
        return any(name.startswith(unit[:-1]) for name in known)


def unit_losses(evidence: Evidence, units: Units) -> Losses:
    """Divide the units that were missing at the cutoff, at document and chunk level; every question has an answer."""
    known = evidence
    final = known.cut(known.final)
    given = final if known.first is None else known.cut(known.first)
    without = known.cut(known.deep)
    count = len(known.truth)
    had = np.zeros((len(STEPS), count))
    unreranked, reachable = np.zeros(count), np.zeros((2, count))
    ranks = np.zeros(count, dtype=np.int64)
    for row, entry in enumerate(known.truth):
        labels = [*entry.labels]
        read, some, bare = (units_of(entry, units.level, hits[row]) for hits in (final, given, without))
        deep, first, ranked = (
            units_of(entry, units.level, hits[row]) for hits in (known.deep, known.candidates, known.final)
        )
        steps = [units.in_corpus(labels), units.listed(labels), deep, first | ranked, some, read, read]
        had[:, row] = [accounted(entry, set[str]().union(*steps[number:])) for number in range(len(STEPS))]
        unreranked[row] = accounted(entry, bare)
        ranks[row] = best_rank(entry, units.level, known.deep[row] if known.first is None else known.final[row], read)
        reachable[:, row] = [accounted(entry, units.listed(labels)), accounted(entry, first | read)]
    whole = np.array([len(entry.relevant) for entry in known.truth], dtype=np.float64)
    lost, nothing = divided([*had], whole, known.asked), np.zeros(count)
    return Losses(
        recall=had[-1] / whole,
        lost=lost,
        asked=known.asked,
        best_rank=ranks,
        without_reranker=None if known.first is None else np.where(known.asked, unreranked / whole, np.nan),
        split=nothing,
        truncated=nothing,
        cut_off=nothing,
        unexplained=lost,
        chunking=None if units.in_chunks is None else _bound(known, reachable[0], whole),
        candidates=_bound(known, reachable[1], whole),
    )


def units_of(entry: GroundTruth[Any], level: Level[Any], ranking: Ranking) -> set[str]:
    """Return the units of a ranking, under the names by which they are relevant."""
    return {*entry.as_labelled(level.units(ranking))}


def best_rank(entry: GroundTruth[Any], level: Level[Any], ranking: Ranking, read: Set[str]) -> int:
    """Return the first rank, from 1, with which a ranking accounts for more units than those read; 0 if none does."""
    had, units, labels = accounted(entry, read), {*read}, {*entry.labels}
    for rank, hit in enumerate(ranking, start=1):
        unit = level.read(hit)
        new: set[Any] = {*entry.as_labelled([] if unit is None else [unit])} - units
        units |= new
        if new & labels and accounted(entry, units) > had:
            return rank
    return 0


def accounted(entry: GroundTruth[Any], units: Set[str]) -> int:
    """Return how many relevant units a set has, or has another place for of every answer that needs them."""
    if not entry.has_alternatives:
        return sum(unit in units for unit in entry.relevant)
    replaced = [
        ({*answer.reference}, any(all(unit in units for unit in place) for place in answer.places[1:]))
        for answer in entry.answers
    ]
    return sum(
        unit in units or all(is_there for needed, is_there in replaced if unit in needed) for unit in entry.relevant
    )


def _bound(evidence: Evidence, reachable: Numbers, whole: Numbers) -> Bound:
    """Return the best recall: as many units as can be reached and, of k results, no more than k.

    At a budget it is an upper bound, as it is where an answer has several places, which may be of several units.
    """
    cutoff = evidence.cutoff
    if cutoff.is_budget:
        return Bound(reachable / whole, reachable == 0)
    single = np.array([not entry.has_alternatives for entry in evidence.truth], dtype=np.bool_)
    best = np.where(single, np.minimum(reachable, cutoff.size), reachable)
    return Bound(best / whole, np.asarray(single | (reachable == 0), dtype=np.bool_))
