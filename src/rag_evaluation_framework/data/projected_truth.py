"""Ground truth projected to the level at which rankings are judged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Hit, Ranking
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
        name = self.chunk_id

        def named(ranking: Ranking) -> Ranking:
            return tuple(replace(hit, chunk_id=name(hit)) for hit in ranking)

        entries = (
            replace(entry, hits=named(entry.hits), at={cutoff: named(hits) for cutoff, hits in entry.at.items()})
            for entry in rankings
        )
        return replace(rankings, entries=tuple(entries))
