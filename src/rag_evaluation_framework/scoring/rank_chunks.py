"""Ids of chunks in rankings: `pa_chunk_…` and `chunk_…` of one content are one chunk."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, cast

from rag_evaluation_framework.data.ids import canonical_chunk_id
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.scoring.rank_checks import check_truth

_BEGINNINGS = ("chunk_", "pa_chunk_")


def holds_chunk_ids(names: Sequence[str], truths: Sequence[Iterable[object]]) -> bool:
    """Return whether any id of some questions is that of a chunk, `chunk_…` or `pa_chunk_…`.

    Raises:
        DatasetError: What is relevant to a question cannot be scored.
    """
    ids = list(chain.from_iterable(truths))
    try:
        if "chunk_" not in "".join(cast("list[str]", ids)):  # quicker than a look at each
            return False
    except TypeError:
        list(map(check_truth, names, truths))  # some ids are not texts
    return any(isinstance(unit, str) and unit.startswith(_BEGINNINGS) for unit in ids)


def chunk_gains(name: str, gains: Mapping[str, float]) -> Mapping[str, float]:
    """Return gains under the plain form of every chunk id.

    Raises:
        DatasetError: A chunk has two gains.
    """
    renamed: dict[str, float] = {}
    for unit, gain in gains.items():
        other = renamed.setdefault(plain(unit), gain)
        if other is not gain and other != gain:  # NaN is refused elsewhere
            raise DatasetError(
                f"question {name!r}: chunk {plain(unit)!r} has two gains, {other!r} and {gain!r}; keep one"
            )
    return renamed


def plain(unit: Any) -> Any:
    """Return the plain form of a chunk id, and any other id unchanged."""
    return canonical_chunk_id(unit) if isinstance(unit, str) else unit
