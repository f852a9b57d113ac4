"""Where relevant documents or chunks were lost, by cause.

Every step between the corpus and the cutoff is a set of units, and has all that the steps after it have. A step is
worth the relevant units that it accounts for: those that it has, and those for which it has another place of every
answer that needs them.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag_evaluation_framework.attribution.causes import STEPS, divided
from rag_evaluation_framework.attribution.evidence import Evidence
from rag_evaluation_framework.attribution.losses import Bound, Losses
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Hit, Ranking
from rag_evaluation_framework.data.levels import DOCUMENT, Level


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
