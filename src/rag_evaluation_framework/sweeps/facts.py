"""`CellFacts`: the result of one cell, small enough that thousands of cells fit into memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from rag_evaluation_framework.data import EvaluationType
from rag_evaluation_framework.data.columns import Numbers, mean_of
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.providers.usage import ModelUsage
from rag_evaluation_framework.results import EvaluationResult
from rag_evaluation_framework.results.means import Clusters, Latency

_BYTES = 4  # of a number of a vector: float32

Questions: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class IndexSize:
    """What an index holds.

    Attributes:
        chunks: How many chunks.
        characters: How many characters these have together, overlaps counted each time.
        dimension: How many numbers are kept for a chunk; 0 without vectors.
    """

    chunks: int
    characters: int
    dimension: int

    @property
    def bytes(self) -> int:
        """About how many bytes that is: 1 for a character, 4 for a number of a vector."""
        return self.characters + self.chunks * self.dimension * _BYTES


@dataclass(frozen=True, eq=False)
class CellFacts:
    """What conclusions need of the result of a cell.

    Attributes:
        questions: The id and the identity of every question that was asked; cells that asked the same ones share them.
        scores: Every score of every question, NaN where it has none, zeros included where these count; shape
            (questions,) each.
        clusters: Which questions count together.
        evaluation_type: The level at which the cell was scored.
        metric_names: Its metrics.
        settings: What of the record decides whether scores mean the same in two cells: `metrics`, `tokenizer` and, at
            chunk level, `chunking`.
        latency: How long one question takes; None if no question was timed.
        index: The size of the index; None if the retriever cannot list its chunks.
        sent: Mean number of characters per question that results have, by cutoff; not at budgets of tokens.
        usage: What was asked of providers.
        notes: All notes of the result.
        unfilled: How many rankings ran out of results before the budget of a score was filled, by score.
    """

    questions: Questions
    scores: Mapping[str, Numbers]
    clusters: Clusters
    evaluation_type: EvaluationType
    metric_names: tuple[str, ...]
    settings: Mapping[str, Any]
    latency: Latency | None
    index: IndexSize | None
    sent: Mapping[str, float]
    usage: tuple[ModelUsage, ...]
    notes: tuple[str, ...]
    unfilled: Mapping[str, int]

    @classmethod
    def of(cls, result: EvaluationResult[Any]) -> CellFacts:
        """Return the facts of a result, which may be forgotten then."""
        index = result.config.get("index")  # runs of rankings that were stored have none
        return cls(
            questions=_shared(tuple(zip(result.scores.query_ids, result.queries.identities, strict=True))),
            scores={name: result.scores.column(name) for name in result.score_names},
            clusters=result.clusters,
            evaluation_type=result.evaluation_type,
            metric_names=result.metric_names,
            settings={key: result.config.get(key) for key in ("metrics", "tokenizer", "chunking")},
            latency=result.latency,
            index=None if index is None else IndexSize(*(index[item.name] for item in fields(IndexSize))),
            sent=_sent(result),
            usage=result.usage,
            notes=result.all_notes,
            unfilled=result.unfilled,
        )

    @cached_property
    def means(self) -> Mapping[str, float | None]:
        """The mean of every score over the questions that have one; None if none has."""
        return {name: mean_of(column) for name, column in self.scores.items()}


@lru_cache(maxsize=16)
def _shared(questions: Questions) -> Questions:
    """Return the first of equal questions, as thousands of cells ask the same ones."""
    return questions


def _sent(result: EvaluationResult[Any]) -> dict[str, float]:
    try:
        hits = result.queries.hits
    except ResultError:  # a report alone does not know what was retrieved
        return {}
    cutoffs = [Cutoff.parse(cutoff) for cutoff in result.cutoffs]
    return {str(cutoff): _characters(hits, cutoff) for cutoff in cutoffs if cutoff.unit in ("", "ch")}


def _characters(hits: RankedHits, cutoff: Cutoff) -> float:
    """Return how many characters the results within a cutoff have, on average over the questions."""
    within = hits if cutoff.is_budget else hits.first(cutoff.size)
    table = within.flat
    texts: Sequence[str] = table.text.texts
    lengths = np.where(table.placed, table.end - table.start, 0)
    written = ~table.placed & table.text.known
    lengths[written] = [len(texts[code]) for code in table.text.codes[written]]
    sums = np.bincount(within.query, weights=lengths, minlength=len(hits))
    return float((np.minimum(sums, cutoff.size) if cutoff.is_budget else sums).mean()) if len(hits) else 0.0
