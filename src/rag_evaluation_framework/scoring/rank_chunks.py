"""Ids of chunks in rankings: `pa_chunk_…` and `chunk_…` of one content are one chunk."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from rag_evaluation_framework.data.ids import canonical_chunk_id
from rag_evaluation_framework.errors import DatasetError

_LOOKED_AT = 1_024  # questions: of more, looking at each would be felt


def holds_chunk_ids(ground_truth: Mapping[Any, Any]) -> bool:
    """Return whether relevant ids are those of chunks, `chunk_…` or `pa_chunk_…`.

    It is the first id of a question that tells, of up to 1,024 questions from all of them.
    """
    some: Iterable[Any] = islice(ground_truth.values(), 0, None, 1 + len(ground_truth) // _LOOKED_AT)
    firsts: list[object] = [
        next(iter(truth), None) for truth in some if hasattr(truth, "__len__") and hasattr(truth, "__iter__")
    ]
    return any(isinstance(unit, str) and unit.startswith(("chunk_", "pa_chunk_")) for unit in firsts)


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
