"""What a run of LangSmith retrieved, as its outputs tell it."""

from collections.abc import Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.ids import EvaluationType, canonical_chunk_id
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN, Level
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError

OF_HITS: Mapping[EvaluationType, str] = {"chunk-level": "chunk_id", "document-level": "doc_id"}
"""The field of a hit that is its unit at the levels of ids."""
CHARACTERS = "characters"
"""The field of a hit without a place that says how long its text is: it counts as retrieved."""

_PLACE = ("doc_id", "start", "end")
_HITS = "hits"
_SPANS = ("retrieved_spans", "retrievedSpans")
_CHUNK_IDS = ("retrieved_chunk_ids", "retrievedChunkIds", "chunk_ids", "chunkIds")
_RETRIEVED: Mapping[EvaluationType, tuple[str, ...]] = {
    "token-level": _SPANS,
    "chunk-level": _CHUNK_IDS,
    "document-level": ("retrieved_document_ids", "retrievedDocumentIds", "source_ids", "sourceIds"),
}


def tells(outputs: Mapping[str, Any], level: Level[Any]) -> bool:
    """Return whether the outputs of a run have what was retrieved under a key of this level alone."""
    return not outputs.keys().isdisjoint(_RETRIEVED[level.evaluation_type])


def retrieved_units(outputs: Mapping[str, Any], level: Level[Any], registry: ChunkRegistry | None) -> list[Any]:
    """Return what was retrieved, best first and with its repeats: ids, or spans as `score_spans` reads them.

    Args:
        outputs: The outputs of the run.
        level: The level of the units; of `hits`, and of spans at document level, they are read.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.

    Raises:
        DatasetError: The outputs do not tell, or have a chunk without a known position at token level.
    """
    keys = _RETRIEVED[level.evaluation_type]
    others = _CHUNK_IDS if level is TOKEN else _SPANS if level is DOCUMENT else ()
    key = next((key for key in (*keys, _HITS, *others) if outputs.get(key) is not None), keys[0])
    found: Any = outputs.get(key)
    are_ids = key not in (_HITS, *_SPANS)
    if not is_list(found) or not (are_ids or key in keys or all(map(is_object, found))):
        there = ", ".join(map(str, outputs)) or "nothing"
        raise DatasetError(f"the outputs of the run have {there}; expected a list under {keys[0]}")
    if level is TOKEN and not are_ids:
        return [_span(hit, rank) for rank, hit in enumerate(found)] if key == _HITS else list(found)
    units = list(found) if are_ids else [_id(hit, level, rank) for rank, hit in enumerate(found)]
    if strange := [unit for unit in units if not isinstance(unit, str)]:
        raise DatasetError(f"the outputs of the run have {shown(strange[0])} among ids of what was retrieved")
    if level is TOKEN:
        return [_position(chunk_id, key, registry) for chunk_id in units]
    return [*map(canonical_chunk_id, units)] if level is CHUNK else units


def _position(chunk_id: str, key: str, registry: ChunkRegistry | None) -> CharacterSpan:
    span = None if registry is None else registry.get_span(chunk_id)
    if span is None:
        raise DatasetError(
            f"the outputs of the run have {shown(chunk_id)} under {key}, a chunk without a known position; pass "
            f"registry= with the positions of the chunks that were searched, or return {_SPANS[0]}"
        )
    return span


def _id(hit: Mapping[str, Any], level: Level[Any], rank: int) -> Any:
    """Return the id of a hit, or one of its own, which is never relevant, so that those behind it keep their ranks."""
    unit = _field(hit, OF_HITS[level.evaluation_type])
    return f"\0{rank}" if unit is None else unit


def _span(hit: Mapping[str, Any], rank: int) -> Mapping[str, Any]:
    """Return a hit that has a place, or one as long as its text in a document of its own, likewise."""
    if all(_field(hit, name) is not None for name in _PLACE):
        return hit
    text: Any = hit.get("text")
    return {"doc_id": f"\0{rank}", "start": 0, "end": hit.get(CHARACTERS, len(text) if isinstance(text, str) else 0)}


def _field(hit: Mapping[str, Any], name: str) -> Any:
    return hit.get(name, hit.get(to_camel(name)))
