"""The order of rankings in files: by score, as given, or by a rank column."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.errors import ConfigError, DatasetError

_FEWEST_RISES = 5
_FEWEST_TOLD = 2  # and refused, where the ranks of a file rise with the scores
Order: TypeAlias = Literal["given", "score"]
"""How the rankings of a file are ordered: as they are listed (by the rank column, if there is one), or by score."""

Ranked = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""Question numbers, ranks and scores, with one row per result."""


def check_order(order: object) -> None:
    """Check that an order is one, or None.

    Raises:
        ConfigError: It is not.
    """
    if order not in (None, *get_args(Order)):
        raise ConfigError(f"order={shown(order)}; expected 'given', 'score', or None")


def refuse_rising(rankings: Iterable[Sequence[float]], path: Path, *, by_rank: bool = False) -> None:
    """Refuse scores that never fall from a result to the next: distances, or rankings upside down.

    Args:
        rankings: The scores of each ranking.
        path: The file.
        by_rank: Whether they are in the order of a rank column, not only in that of the file.

    Raises:
        DatasetError: They rise, and so often that it is not by chance, as it may be in a few rankings in no order; of
            these it is noted.
    """
    rises = 0
    for scores in rankings:
        for before, after in pairwise(scores):
            if after < before:
                return
            rises += after > before
    told = f"{path}: the scores of every ranking rise, so that its last result would be the best. Are they distances?"
    how = (
        "Give order='given' (--order given) to keep the order of the file, its rank column if it has one, or "
        "order='score' (--order score) if the highest score is the best"
    )
    if rises >= (_FEWEST_TOLD if by_rank else _FEWEST_RISES):
        raise DatasetError(f"{told} Expected scores of which the highest is the best. {how}")
    if rises >= _FEWEST_TOLD:
        note(f"{told} The highest was taken for the best. {how}")


def disordered(ranked: Sequence[Ranked]) -> Ranked | None:
    """Return all results that have ranks; None if there are none, or if all have the same order by rank and by score.

    That is quickly seen, and so in most files: each question is contiguous, with rising ranks and no rising scores.
    """
    if not ranked:
        return None
    query, rank, score = (np.concatenate(column) for column in zip(*ranked, strict=True))
    same = query[1:] == query[:-1]
    fits = (rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])
    is_orderly = bool((fits | ~same).all()) and int((~same).sum()) == int(query.max(initial=0))
    return None if is_orderly else (query, rank, score)


def by_rank(ranked: Ranked) -> list[list[float]]:
    """Return the scores of each question in the order of the rank column."""
    query, rank, score = ranked
    order = np.lexsort((rank, query))
    parts = np.split(score[order], np.flatnonzero(np.diff(query[order])) + 1)
    return [part.tolist() for part in parts]


def has_ranks(ranked: Ranked) -> bool:
    """Return whether no two results of a question have the same rank, as where all are 0."""
    query, rank, _ = ranked
    return len(np.unique(np.stack([query, rank]), axis=1).T) == len(query)


def contradicted(ranked: Ranked) -> int:
    """Return the number of questions in which a document with a better rank is behind: by its score, or in a tie."""
    query, rank, score = ranked
    known = ~np.isnan(rank)
    query, rank, score = query[known], rank[known], score[known]
    order = np.lexsort((-score, query))  # stable: ties keep the order of the file
    query, rank = query[order], rank[order]
    return len(np.unique(query[1:][(query[1:] == query[:-1]) & (rank[1:] < rank[:-1])]))
