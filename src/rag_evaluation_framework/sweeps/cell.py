"""`Cell`: one configuration of a sweep, its outcome and its facts: small, as there may be thousands."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeAlias, TypeVar
from weakref import finalize

import numpy as np

from ..data import EvaluationType
from ..data.columns import Numbers, mean_of
from ..data.cutoffs import Cutoff
from ..errors import ResultError
from ..runs import EvaluationResult, RunSpec
from ..runs.means import Clusters, Latency

_BYTES = 4  # of a number of a vector: float32

Questions: TypeAlias = tuple[tuple[str, str], ...]
Columns: TypeAlias = Mapping[str, Numbers]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell:
    """One configuration of a sweep: a run.

    Attributes:
        number: Its number in the sweep, from 1.
        name: What differs between the cells, such as `chunk_size=200, embedder=lsa`.
        levels: What each axis of the sweep is in it, as it is named: `{"chunker.chunk_size": "200"}`.
        values: The same as plain values, as JSON has them: `{"chunker.chunk_size": 200}`.
        spec: The run.
    """

    number: int
    name: str
    levels: Mapping[str, str]
    values: Mapping[str, Any]
    spec: RunSpec


class Drawer:
    """Where facts of cells are put: those of thousands of cells are many.

    Scores are in a file without a name, and what is the same in several cells is there once.
    """

    def __init__(self) -> None:
        self.file: Any = None
        self._known: dict[Hashable, Any] = {}

    def first(self, value: T, key: Hashable = None) -> T:
        """Return the first of the values that have the same key, by default themselves."""
        first: T = self._known.setdefault(value if key is None else key, value)
        return first

    def put(self, columns: Columns) -> Columns:
        """Return columns of numbers that are read when they are asked for; as they are where there is no room."""
        block = np.stack([*columns.values()])
        try:
            if self.file is None:
                self.file = TemporaryFile(buffering=0)  # noqa: SIM115  it is open as long as the drawer is
                finalize(self, self.file.close)
            begin: int = self.file.seek(0, os.SEEK_END)
            if self.file.write(block.tobytes()) < block.nbytes:
                return columns
        except OSError:
            return columns
        rows = {name: row for row, name in enumerate(columns)}
        return _Put(self, begin, block.nbytes // len(block), self.first(rows, tuple(rows)))


@dataclass(frozen=True, eq=False, slots=True)
class _Put(Columns):
    """Columns of equal length, one behind the other in the file of a drawer."""

    drawer: Drawer
    begin: int
    size: int
    rows: Mapping[str, int]

    def __getitem__(self, name: str) -> Numbers:
        self.drawer.file.seek(self.begin + self.rows[name] * self.size)
        return np.frombuffer(self.drawer.file.read(self.size), dtype=np.float64)

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False, slots=True)
class CellFacts:
    """Facts of a cell's result that conclusions need.

    Attributes:
        questions: The id and the identity of every question that was asked; cells of a sweep share equal ones.
        scores: Every score of every question, NaN where it has none, zeros included where these count; shape
            (questions,) each. Those of a sweep are in a file.
        clusters: Which questions count together.
        evaluation_type: The level at which the cell was scored.
        metric_names: Its metrics.
        settings: What of the record decides whether scores mean the same in two cells: `metrics`, `tokenizer` and, at
            chunk level, `chunking`.
        latency: How long one question takes; None if no question was timed.
        index: About how many bytes its index has: 1 for a character of a chunk, overlaps counted each time, and 4 for a
            number of its vector; None if the retriever cannot list its chunks.
        sent: Mean number of characters per question that results have, by cutoff; not at budgets of tokens.
        notes: All notes of the result.
        unfilled: How many rankings ran out of results before the budget of a score was filled, by score.
    """

    questions: Questions
    scores: Columns
    clusters: Clusters
    evaluation_type: EvaluationType
    metric_names: tuple[str, ...]
    settings: Mapping[str, Any]
    latency: Latency | None
    index: float | None
    sent: Mapping[str, float]
    notes: tuple[str, ...]
    unfilled: Mapping[str, int]

    @classmethod
    def of(cls, result: EvaluationResult[Any], drawer: Drawer | None = None) -> CellFacts:
        """Return the facts of a result, which may be forgotten then.

        Args:
            result: The result.
            drawer: Where they are put; by default one of their own.
        """
        kept = drawer or Drawer()
        questions = tuple(zip(result.scores.query_ids, result.queries.identities, strict=True))
        index = result.config.get("index")  # runs of rankings that were stored have none
        settings = {key: result.config.get(key) for key in ("metrics", "tokenizer", "chunking")}
        return cls(
            questions=kept.first(questions),
            scores=kept.put({name: result.scores.column(name) for name in result.score_names}),
            clusters=kept.first(result.clusters, ("clusters", questions, result.evaluation_type)),
            evaluation_type=result.evaluation_type,
            metric_names=kept.first(result.metric_names),
            settings=kept.first(settings, json.dumps(settings)),
            latency=result.latency,
            index=index and float(index["characters"] + index["chunks"] * index["dimension"] * _BYTES),
            sent=_sent(result),
            notes=kept.first(result.all_notes),
            unfilled=result.unfilled,
        )

    @property
    def means(self) -> Mapping[str, float | None]:
        """The mean of every score over the questions that have one; None if none has."""
        return {name: mean_of(column) for name, column in self.scores.items()}


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """Outcome of a cell.

    Attributes:
        cell: The cell.
        folder: The folder of its run; None if it has none.
        failure: Why it has no result; None if it has one.
        facts: What its result says; None if it failed.
        is_kept: Whether an earlier start made it.
        was_run: Whether this start ran it; neither, of a cell that cannot be run.
    """

    cell: Cell
    folder: Path | None = None
    failure: str | None = None
    facts: CellFacts | None = field(default=None, repr=False)
    is_kept: bool = False
    was_run: bool = False


def _sent(result: EvaluationResult[Any]) -> dict[str, float]:
    """Return how many characters the results within each cutoff have, on average over the questions."""
    try:
        hits = result.queries.hits
    except ResultError:  # a report alone does not know what was retrieved
        return {}
    table = hits.flat
    lengths = np.where(table.placed, table.end - table.start, table.text.numbers(len))
    sent: dict[str, float] = {}
    for cutoff in map(Cutoff.parse, result.cutoffs):
        if len(hits) and cutoff.unit in ("", "ch"):
            within = lengths if cutoff.is_budget else np.where(hits.rank < cutoff.size, lengths, 0)
            sums = np.bincount(hits.query, weights=within, minlength=len(hits))
            sent[str(cutoff)] = float((np.minimum(sums, cutoff.size) if cutoff.is_budget else sums).mean())
    return sent
