"""The ground truth at the level of the experiment, once the index is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from rag_evaluation_framework.chunk_registry import chunking_fingerprint
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.experiments.chunk_ids import ChunkIds
from rag_evaluation_framework.experiments.config import ExperimentConfig
from rag_evaluation_framework.experiments.projection import ChunkProjection, project_to_documents, resolve_documents
from rag_evaluation_framework.experiments.rankings import HitPlacer, Ranked, listed_chunks
from rag_evaluation_framework.ground_truth import GroundTruth
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, U
from rag_evaluation_framework.metrics.span_metric import SpanMetric
from rag_evaluation_framework.types import PositionAwareChunk, Ranking


@dataclass(frozen=True)
class LevelTruth(Generic[U]):
    """What is relevant, in the units of the experiment.

    Attributes:
        entries: The ground truth of each question.
        chunks: Everything that can be retrieved, or None if the retriever cannot list it or nobody needs it.
        chunk_ids: How results are named, at chunk level.
        chunking: What tells the chunking of the index, at chunk level: its number of chunks and its fingerprint.
        notes: What is to be known of it.
    """

    entries: tuple[GroundTruth[U], ...]
    chunks: Sequence[PositionAwareChunk] | None = None
    chunk_ids: ChunkIds | None = None
    chunking: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: ExperimentConfig[U], placer: HitPlacer) -> "LevelTruth[U]":
        """Read the dataset at the level of the experiment; the retriever has indexed the corpus.

        Raises:
            ConfigError: Spans are read as chunks, and the retriever cannot list its chunks.
            DatasetError: None of the relevant chunks is in the index.
        """
        entries: tuple[Any, ...] = config.dataset.ground_truth
        level: Any = config.level
        if level is CHUNK:
            return _of_chunks(config, entries, placer)
        if level is DOCUMENT:
            dataset: Any = config.dataset
            documents: tuple[Any, ...] = (
                project_to_documents(dataset) if config.projects else resolve_documents(dataset, config.corpus)
            )
            return cls(documents)
        needs_chunks = [m.name for m in config.metrics if isinstance(m, SpanMetric) and m.needs_chunks]
        chunks = listed_chunks(config.retriever) if needs_chunks else None
        notes = (
            ()
            if chunks is not None or not needs_chunks
            else (f"{', '.join(needs_chunks)}: not available, as {config.retriever.name} cannot list its chunks",)
        )
        return cls(entries, chunks, notes=notes)

    def identified(self, ranked: Ranked) -> Ranked:
        """Return rankings with the chunk ids that the dataset knows; at other levels as they are."""
        if self.chunk_ids is None:
            return ranked
        name = self.chunk_ids.of

        def named(ranking: Ranking) -> Ranking:
            return tuple(replace(hit, chunk_id=name(hit)) for hit in ranking)

        return replace(ranked, hits=named(ranked.hits), at={cut: named(hits) for cut, hits in ranked.at.items()})


def _of_chunks(config: ExperimentConfig[Any], entries: tuple[Any, ...], placer: HitPlacer) -> LevelTruth[Any]:
    chunks = listed_chunks(config.retriever)
    if chunks is None and (config.projects or config.chunk_id is not None):
        raise ConfigError(f"{config.retriever.name} cannot list its chunks: its `chunks` returned None")
    known = () if config.projects else (unit for entry in entries for unit in entry.relevant)
    ids = ChunkIds(known, chunks or (), config.chunk_id, placer.original)
    if chunks is None:
        note = f"{config.retriever.name} cannot list its chunks; whether they are those of the dataset is not known"
        return LevelTruth(entries, None, ids, None, (note,))
    chunking = {"chunks": len(chunks), "fingerprint": chunking_fingerprint(chunks)}
    if not config.projects:
        notes = [*_presence(config, chunks, ids)]
        if config.dataset.chunking not in (None, chunking["fingerprint"]):
            notes.append("the index holds other chunks than those from which the relevant ones were chosen")
        return LevelTruth(entries, chunks, ids, chunking, tuple(notes))
    projection = ChunkProjection(chunks, lambda chunk: next(ids.all_of(chunk)))
    entries = projection.project(config.dataset)
    if not projection.unreachable:
        return LevelTruth(entries, chunks, ids, chunking)
    note = f"relevant spans that no chunk touches: {projection.unreachable}; they count as relevant and cannot be found"
    return LevelTruth(entries, chunks, ids, chunking, (note,))


def _presence(config: ExperimentConfig[Any], chunks: Sequence[PositionAwareChunk], ids: ChunkIds) -> tuple[str, ...]:
    """Return a note if only some of the relevant chunks are in the index.

    Raises:
        DatasetError: None is.
    """
    known = ids.known
    present = known & {unit for chunk in chunks for unit in ids.all_of(chunk)}
    if len(present) == len(known):
        return ()
    advice = "chunk-level truth belongs to one chunking: index with the chunker that made it, or label spans"
    if not present:
        raise DatasetError(
            f"dataset {config.dataset.name!r}: none of its {len(known)} chunk ids ({min(known)}, …) is among the "
            f"{len(chunks)} chunks of {config.retriever.name}; {advice}"
        )
    return (
        f"{len(present) / len(known):.0%} of the relevant chunk ids are in the index ({len(present)} of {len(known)}); "
        f"the others cannot be found; {advice}",
    )
