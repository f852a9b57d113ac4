"""What was retrieved for the questions of a run, at a cutoff and deeper, and what could have been."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.text.reading import ContextBudget, RankingCutter


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
