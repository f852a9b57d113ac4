"""Levels: how each evaluation type reads a ranking as units that can be compared with the ground truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.outside import shown
from ..errors import LevelMismatch
from .hits import Hit, HitTable, Ranking
from .ids import ChunkId, DocumentId, EvaluationType, canonical_chunk_id
from .spans import CharacterSpan

U = TypeVar("U", bound=DocumentId | ChunkId | CharacterSpan)
"""The unit of an evaluation. Bound and invariant on purpose: results of different levels must not be mixed."""


@dataclass(frozen=True)
class Level(Generic[U]):
    """One evaluation type.

    Attributes:
        evaluation_type: Its name in files and messages.
        read: Returns the unit of a hit, or None if the hit lacks it.
        known: Returns which hits have a unit.
        placeholder: Returns a unit that is never relevant for a hit without one, so that the hit keeps its rank
            (counted from 1).
        repeats: Whether a unit that is retrieved again counts again. Repeated text costs context; a repeated document
            or chunk does not count.
    """

    evaluation_type: EvaluationType
    read: Callable[[Hit], U | None]
    known: Callable[[HitTable], NDArray[np.bool_]]
    placeholder: Callable[[Hit, int], U]
    repeats: bool = False

    def unit(self, hit: Hit, rank: int) -> U:
        """Return the unit of the hit at a rank, counted from 1."""
        unit = self.read(hit)
        return self.placeholder(hit, rank) if unit is None else unit

    def units(self, ranking: Ranking) -> tuple[U, ...]:
        """Return a ranking, best first, as units; documents and chunks that repeat keep their first rank only."""
        units = [self.unit(hit, rank) for rank, hit in enumerate(ranking, start=1)]
        return tuple(units if self.repeats else dict.fromkeys(units))

    def __repr__(self) -> str:
        return f"Level({self.evaluation_type!r})"


def _chunk(hit: Hit) -> ChunkId | None:
    return None if hit.chunk_id is None else canonical_chunk_id(hit.chunk_id)


def _nothing(_: Hit, rank: int) -> Any:
    return f"\0{rank}"


def _no_place(hit: Hit, rank: int) -> CharacterSpan:
    return CharacterSpan(DocumentId(f"\0{rank}"), 0, len(hit.text or ""), hit.text or "")


DOCUMENT: Level[DocumentId] = Level("document-level", attrgetter("doc_id"), attrgetter("doc_id.known"), _nothing)
"""Did we find the right documents?"""

CHUNK: Level[ChunkId] = Level("chunk-level", _chunk, attrgetter("chunk_id.known"), _nothing)
"""Did we find the right chunks? Bound to one chunking."""

TOKEN: Level[CharacterSpan] = Level("token-level", attrgetter("span"), attrgetter("placed"), _no_place, repeats=True)
"""Did we find the right text? Independent of any chunker."""

LEVELS: Mapping[EvaluationType, Level[Any]] = {level.evaluation_type: level for level in (DOCUMENT, CHUNK, TOKEN)}
"""The three levels by the name of their evaluation type."""


def checked_level(level: Any) -> Level[Any]:
    """Return the level unchanged.

    Raises:
        LevelMismatch: It is not a level.
    """
    for known in LEVELS.values():
        if type(level) is type(known) and level == known:
            return known
    raise LevelMismatch(f"level={shown(level)}: expected TOKEN, CHUNK or DOCUMENT")


def check_level(source: str, found: EvaluationType, expected: Level[Any]) -> None:
    """Check that a file has the expected level.

    Raises:
        LevelMismatch: It has another level.
    """
    if found == expected.evaluation_type:
        return
    problem = f"{source}: has {found} ground truth, expected {expected.evaluation_type}:"
    if found == "token-level":
        name = expected.evaluation_type.removesuffix("-level").title()
        raise LevelMismatch(f"{problem} load it without a level; {name}LevelEvaluation projects it")
    name = found.removesuffix("-level").upper()
    raise LevelMismatch(
        f"{problem} evaluate it at that level, evaluate(..., level={name}), or load it so, load_dataset(path, {name}); "
        "labels cannot be made finer"
    )
