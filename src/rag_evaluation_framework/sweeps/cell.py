"""`Cell`: one configuration of a sweep, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework.experiments import RunSpec

if TYPE_CHECKING:
    from rag_evaluation_framework.sweeps.facts import CellFacts


@dataclass(frozen=True, slots=True)
class Cell:
    """One configuration of a sweep: a run.

    Attributes:
        number: Its number in the sweep, from 1.
        name: What differs between the cells, such as `chunk_size=200, embedder=lsa`.
        values: What each axis of the sweep is in it, such as `{"chunker.chunk_size": 200, "embedder": "lsa"}`; plain
            values, as JSON has them.
        spec: The run.
    """

    number: int
    name: str
    values: Mapping[str, Any]
    spec: RunSpec


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What became of a cell.

    Attributes:
        cell: The cell.
        folder: The folder of its run; None if it has none.
        failure: Why it has no result; None if it has one.
        facts: What its result says; None if it failed.
        is_kept: Whether an earlier start made it.
    """

    cell: Cell
    folder: Path | None = None
    failure: str | None = None
    facts: CellFacts | None = field(default=None, repr=False)
    is_kept: bool = False
