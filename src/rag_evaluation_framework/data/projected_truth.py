"""Ground truth projected to the level at which rankings are judged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from rag_evaluation_framework.data.columns import Numbering
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hit_table import Coded
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.ids import ChunkId
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.data.rankings import Rankings


@dataclass(frozen=True)
class ProjectedTruth(Generic[U]):
    """The ground truth of every query, in the units of one level.

    Attributes:
        level: The evaluation type.
        entries: The ground truth of each query, in the order of the dataset.
        chunk_id: Returns the id under which the dataset knows a hit, or None if it cannot be told; chunk level only.
        chunking: The number of chunks in the index and their fingerprint; chunk level only.
    """

    level: Level[U]
    entries: tuple[GroundTruth[U], ...]
    chunk_id: Callable[[Hit], ChunkId | None] | None = None
    chunking: Mapping[str, Any] | None = None

    def __iter__(self) -> Iterator[GroundTruth[U]]:
        return iter(self.entries)

    def with_dataset_ids(self, rankings: Rankings) -> Rankings:
        """Return rankings with the chunk ids of the dataset; at other levels, return them unchanged."""
        if self.chunk_id is None:
            return rankings
        table = rankings.hits.table
        rows, numbers = table.distinct()
        known, name = Numbering(), self.chunk_id
        names = map(name, table.take(rows))
        codes = np.fromiter((-1 if unit is None else known[unit] for unit in names), dtype=np.int32, count=len(rows))
        return rankings.with_table(replace(table, chunk_id=Coded(codes[numbers], tuple(known))))
