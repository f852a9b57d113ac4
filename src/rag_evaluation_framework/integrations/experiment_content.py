"""What of a result goes to LangSmith: metadata, outputs of each question, and scores."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

from pydantic.alias_generators import to_camel

from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data import CHUNK, DOCUMENT, TOKEN, CharacterSpan, ChunkRegistry, Level
from rag_evaluation_framework.data.hits import Hit, Ranking
from rag_evaluation_framework.data.ids import EvaluationType, canonical_chunk_id
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.results.meaning import servers
from rag_evaluation_framework.results.result import EvaluationResult

# What a run of LangSmith retrieved, as its outputs tell it.

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


# What of a result goes to LangSmith: metadata of the whole, and for each question places and scores, no text.

RUN = "rag_eval_run"
"""The key in the metadata of an experiment by which a result that was published is known again."""

_COMPONENTS = ("chunker", "embedder", "vector_store", "reranker")
_LONGEST_NAME = 80


@dataclass(frozen=True)
class ExperimentContent:
    """A result, as far as its questions are examples of a dataset.

    Attributes:
        result: The result.
        hits: What was retrieved for each of its questions.
        examples: The examples, by the id of their question.
        rows: The rows of the questions in the result that are among them.
        uncompared: The ids of those of these questions whose labels could not be compared.
        reworded: The ids of questions that are not among them as they have another wording there.
        relabelled: The ids of questions that are not among them as they have other labels there.
    """

    result: EvaluationResult[Any]
    hits: Sequence[Ranking]
    examples: Mapping[str, Mapping[str, Any]]
    rows: Sequence[int]
    uncompared: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the experiment is called, without what makes it unique."""
        return self.result.name[:_LONGEST_NAME].strip() or "rag-eval"

    @cached_property
    def identity(self) -> str:
        """The same for a result each time that it is published, and for no other."""
        result = self.result
        dataset = result.config["dataset"]["hash"]
        # The times, as two runs of one second may have equal scores.
        told = [result.created, result.name, dataset, dict(result.metrics), dict(result.timings)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]

    @cached_property
    def expected(self) -> Counter[str]:
        """How many questions have each score."""
        return Counter(key for row in self.rows for key in self.scores(row))

    @property
    def metadata(self) -> dict[str, Any]:
        """What is said of the whole experiment."""
        config = self.result.config
        retriever = config.get("retriever")
        return {
            RUN: self.identity,
            "rag_eval_version": self.result.version,
            "evaluation_type": self.result.evaluation_type,
            "retriever": self.result.name,
            **_components(retriever),
            **({"servers": asked} if (asked := servers(retriever)) else {}),
            "k": self.result.cutoffs[0],
            "cutoffs": list(self.result.cutoffs),
            "dataset_hash": config["dataset"]["hash"],
            "corpus_hash": config["corpus"]["hash"],
            "means": {name: mean for name, mean in self.result.metrics.items() if mean is not None},
        }

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The ids of the questions of the result that are not among these."""
        taken = set(self.rows)
        return tuple(query_id for row, query_id in enumerate(self.result.scores.query_ids) if row not in taken)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The ids of the questions of the dataset that are not in the result."""
        return tuple(sorted(self.examples.keys() - set(self.result.scores.query_ids)))

    def example(self, row: int) -> Mapping[str, Any]:
        """Return the example of a question."""
        return self.examples[self.result.scores.query_ids[row]]

    def scores(self, row: int) -> dict[str, float]:
        """Return the scores that a question has."""
        columns = self.result.scores.columns.items()
        return {name: float(column[row]) for name, column in columns if not isnan(column[row])}

    def outputs(self, row: int) -> dict[str, Any]:
        """Return where each result of a question was found, and the seconds of each stage.

        Raises:
            RuntimeError: The question failed; the message says how.
        """
        query = self.result.queries[row]
        if query.status == "failed":
            raise RuntimeError("; ".join(f"{each.stage}: {each.kind}: {each.message}" for each in query.failures))
        return {"hits": [_place(hit) for hit in self.hits[row]], "seconds": dict(query.stages), "status": query.status}


def _place(hit: Hit) -> dict[str, Any]:
    fields = {"doc_id": hit.doc_id, "start": hit.start, "end": hit.end, "chunk_id": hit.chunk_id, "score": hit.score}
    if not hit.placed and hit.text is not None:
        fields[CHARACTERS] = len(hit.text)
    return {name: value for name, value in fields.items() if value is not None}


def _components(record: Any) -> dict[str, str]:
    """Return the types of the components of a recorded retriever, by what they are."""
    found: dict[str, str] = {}
    waiting: list[Any] = [record]
    while waiting:
        inner = waiting.pop()
        if not is_object(inner):
            continue
        for key, value in inner.items():
            if key in _COMPONENTS and is_object(value):
                found.setdefault(key, str(value.get("type", "")))
            waiting.append(value)
    return found
