"""The order of rankings in files: by score, as given, or by a rank column."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from ...base.notes import note
from ...base.outside import shown
from ...errors import ConfigError, DatasetError

_FEWEST_RISES = 5
_FEWEST_TOLD = 2
Order: TypeAlias = Literal["given", "score"]
"""How the rankings of a file are ordered: as they are listed (by the rank column, if there is one), or by score."""

Ties: TypeAlias = Literal["trec_eval"]
"""How results of equal scores are ordered, if not as the file lists them: as trec_eval does."""


def check_order(order: object, ties: object = None) -> None:
    """Check that an order is one, or None, and the same of ties.

    Raises:
        ConfigError: One is not, or the order does not ask for scores, which alone can tie.
    """
    if order not in (None, *get_args(Order)):
        raise ConfigError(f"order={shown(order)}; expected 'given', 'score', or None")
    if ties not in (None, *get_args(Ties)):
        raise ConfigError(f"ties={shown(ties)}; expected 'trec_eval', or None for the order of the file")
    if ties is not None and order == "given":
        raise ConfigError(f"ties={shown(ties)} orders equal scores, and order='given' ignores scores: leave one out")


def refuse_rising(rankings: Iterable[Sequence[float]], path: Path) -> None:
    """Refuse scores that never fall from a result to the next: distances, or rankings upside down.

    Args:
        rankings: The scores of each ranking, in the order of their ranks or, without ranks, of the file.
        path: The file.

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
    if rises >= _FEWEST_RISES:
        raise DatasetError(f"{told} Expected scores of which the highest is the best. {how}")
    if rises >= _FEWEST_TOLD:
        note(f"{told} The highest was taken for the best. {how}")
