"""Chunk-level evaluation: did we find the right chunks? Bound to one chunking."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, ClassVar

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.chunk_registry import chunking_fingerprint
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.ids import ChunkId
from rag_evaluation_framework.data.labelled_units import mapped, renamed_gains
from rag_evaluation_framework.data.levels import CHUNK, Level
from rag_evaluation_framework.data.projected_truth import ProjectedTruth
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.judging.ranks import RankJudgements
from rag_evaluation_framework.levels.chunk_ids import ChunkIds
from rag_evaluation_framework.levels.chunk_projection import ChunkProjection
from rag_evaluation_framework.levels.document import judged_ranks
from rag_evaluation_framework.levels.level_rules import LevelRules, NameChunk, Searched
from rag_evaluation_framework.metrics.catalogue import DEFAULT_CHUNK_METRICS
from rag_evaluation_framework.text.reading import HitReader


class ChunkRules(LevelRules[ChunkId]):
    """Rules of the chunk level: units are ids of chunks; a span becomes the chunks that hold it (`ChunkProjection`)."""

    level: ClassVar[Level[Any]] = CHUNK
    default_metrics: ClassVar[Mapping[str, Metric[Any]]] = DEFAULT_CHUNK_METRICS
    noun: ClassVar[str] = "chunk id"
    unit: ClassVar[Any] = ChunkId

    def check(
        self, dataset: Dataset[Any], corpus: Corpus, retriever: Retriever, chunk_id: NameChunk | None
    ) -> Iterable[str]:
        """Return nothing; raise ConfigError if the list of chunks is needed and the retriever cannot give it."""
        del corpus
        if retriever.lists_chunks:
            return ()
        advice = "let its `chunks` return them (of a function: FunctionRetriever(function, registry=...))"
        if dataset.level is not CHUNK:
            raise ConfigError(
                f"{retriever.name} cannot list its chunks, so spans cannot be read as chunks: {advice}, or evaluate at "
                "token level"
            )
        if chunk_id is not None:
            raise ConfigError(f"{retriever.name} cannot list its chunks, so chunk_id cannot name them; {advice}")
        return ()

    def truth(
        self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None
    ) -> ProjectedTruth[ChunkId]:
        """Return the relevant chunks: under the ids of the dataset or, where it holds spans, under the retriever's."""
        projects = dataset.level is not CHUNK
        chunks = searched.chunks
        if chunks is None and (projects or chunk_id is not None):
            raise ConfigError(f"{searched.retriever} cannot list its chunks: its `chunks` returned None")
        known = () if projects else (unit for entry in dataset for unit in entry.labels)
        ids = ChunkIds(known, chunks, chunk_id, HitReader(searched.corpus).original)
        if chunks is None:
            note(f"{searched.retriever} cannot list its chunks; whether they are those of the dataset is not known")
            return ProjectedTruth(CHUNK, _named(dataset, ids), ids.of)
        chunking = {"chunks": len(chunks), "fingerprint": chunking_fingerprint(chunks)}
        if not projects:
            _check_presence(dataset, searched.retriever, len(chunks), ids)
            if dataset.chunking not in (None, chunking["fingerprint"]):
                note("the index holds other chunks than those from which the relevant ones were chosen")
            return ProjectedTruth(CHUNK, _named(dataset, ids), ids.of, chunking)
        projection = ChunkProjection(chunks, ids.of_chunk)
        entries = projection.project(dataset)
        if projection.unplaced:
            note(f"{projection.unplaced} of {len(chunks)} chunks have no place, and cannot be relevant to a span")
        if projection.unreachable:
            note(
                f"relevant spans that no chunk touches: {projection.unreachable}; they count as relevant and cannot be "
                "found"
            )
        return ProjectedTruth(CHUNK, entries, ids.of, chunking)

    def judge(self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[ChunkId]]) -> list[RankJudgements]:
        """Judge by the rank of each distinct chunk."""
        return judged_ranks(CHUNK, cuts, truth, attrgetter("chunk_id"))

    def found(self, unit: ChunkId, hit: ChunkId) -> bool:
        """Return whether a hit is this chunk."""
        return hit == unit

    def shown(self, unit: ChunkId, corpus: Corpus) -> tuple[str, str]:
        """Return the id."""
        del corpus
        return unit, ""

    def incomparable(self, baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> str | None:
        """Return that the chunkings differ, if they do: then other chunks are relevant."""
        chunkings = [record.get("chunking") for record in (baseline, candidate)]
        if not all(chunkings) or chunkings[0] == chunkings[1]:
            return None
        sizes = " and ".join(f"{chunking['chunks']} chunks" for chunking in chunkings if chunking)
        return (
            f"they are chunk-level results of different chunkings ({sizes}), whose relevant chunks are not the same; "
            "compare chunkings at token level"
        )

    def doubts(self, baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> Iterable[str]:
        """Return that the chunks may differ, if one of the two could not list them."""
        if not (baseline["chunking"] and candidate["chunking"]):
            yield "whether both have the same chunks is not known"


def _named(dataset: Dataset[Any], ids: ChunkIds) -> tuple[GroundTruth[ChunkId], ...]:
    """Return the ground truth with one id for each chunk.

    Raises:
        DatasetError: A chunk has two gains.
    """
    entries: Any = dataset.ground_truth
    return tuple(
        replace(
            entry,
            relevant_chunk_ids=mapped(entry.relevant_chunk_ids, ids.name),
            gains=renamed_gains(entry.query, {unit: entry.gain(unit) for unit in entry.relevant}, ids.name),
        )
        if any(unit in ids.synonyms for unit in entry.labels)
        else entry
        for entry in entries
    )


def _check_presence(dataset: Dataset[Any], retriever: str, chunks: int, ids: ChunkIds) -> None:
    """Note if only some of the relevant chunks are in the index.

    Raises:
        DatasetError: None of them is in the index.
    """
    if not ids.absent:
        return
    present, known = len(ids.present), len(ids.present) + len(ids.absent)
    advice = (
        "chunk-level truth belongs to one chunking: the same chunker with the same parameters, the same documents, and "
        "ids made in the same way (if not, name chunks by chunk_id=(chunk, number) -> id); or label spans"
    )
    if not present:
        raise DatasetError(
            f"dataset {dataset.name!r}: none of its {known} chunk ids ({min(ids.absent)}, …) is among the "
            f"{chunks} chunks of {retriever}; {advice}"
        )
    note(
        f"{present / known:.0%} of the relevant chunk ids are in the index ({present} of {known}); "
        f"the others cannot be found; {advice}"
    )
