"""Several ids of one chunk in a dataset: for each of them, the one that stands for all."""

from collections.abc import Iterable, Mapping

from rag_evaluation_framework.data.ids import ChunkId
from rag_evaluation_framework.errors import DatasetError

_SURE = 12  # digits from which numbers are hashes; 1000 and 10001 may both be counted


def synonyms_of_chunks(chunks: Iterable[Mapping[ChunkId, int]]) -> dict[ChunkId, ChunkId]:
    """Return, for each id of a chunk that has a better one, the best: its name.

    An id is that of the chunks that it fits best, so that a text is not taken for one that a chunker changed to it.

    Args:
        chunks: Of each chunk, its ids in the dataset, best first, and how well each fits: the lower, the better.

    Raises:
        DatasetError: An id fits chunks equally well that the dataset names differently.
    """
    fits: dict[ChunkId, tuple[int, set[ChunkId]]] = {}
    for ids in chunks:
        for unit, fit in ids.items():
            best, named = fits.get(unit, (fit, set[ChunkId]()))
            if fit <= best:
                fits[unit] = fit, {*(named if fit == best else ()), next(iter(ids))}
    named_by: dict[ChunkId, ChunkId] = {}
    for unit, (_, names) in fits.items():
        if len(names) > 1:
            others = " and ".join(repr(name) for name in sorted(names - {unit}))
            raise DatasetError(
                f"the chunk id {unit!r} of the dataset fits several chunks, of which the dataset names some {others}; "
                "name every chunk by one id"
            )
        if unit not in names:
            named_by[unit] = names.pop()
    for unit in named_by:
        while named_by[unit] in named_by:  # never in a circle: no name fits worse than what it stands for
            named_by[unit] = named_by[named_by[unit]]
    return named_by


def synonyms_by_beginning(hashes: Mapping[ChunkId, str]) -> dict[ChunkId, ChunkId]:
    """Return, for each id whose digits are the beginning of another's, the longest such.

    Args:
        hashes: The hexadecimal digits of each id.

    Raises:
        DatasetError: The digits are the beginning of two ids that are not the same.
    """
    ordered = sorted(hashes.items(), key=lambda item: (item[1], len(item[0])))
    named_by: dict[ChunkId, ChunkId] = {}
    for row in range(len(ordered) - 1, -1, -1):
        unit, digits = ordered[row]
        names: set[ChunkId] = set()
        for other, more in map(ordered.__getitem__, range(row + 1, len(ordered))):
            if not more.startswith(digits):
                break
            if _is_same(digits, more):
                names.add(named_by.get(other, other))
        if len(names) > 1:
            others = " and ".join(map(repr, sorted(names)))
            raise DatasetError(f"the chunk id {unit!r} of the dataset is the beginning of {others}; write more digits")
        if names:
            named_by[unit] = names.pop()
    return named_by


def _is_same(digits: str, more: str) -> bool:
    return len(more) == len(digits) or len(more) >= _SURE or not more.isdecimal()
