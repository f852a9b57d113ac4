"""What is read of `report.json` and of its questions, and how questions are written."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import isnan
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, AllowInfNan, Field, PlainValidator, Strict, StringConstraints

from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.data import (
    CharacterSpan,
    EvaluationType,
    Failure,
    Query,
    QueryId,
    QueryText,
    Skipped,
)
from rag_evaluation_framework.data.cutoffs import Cutoff, is_metric_name
from rag_evaluation_framework.data.ground_truth import LabelIdentity
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.providers.usage import ModelUsage
from rag_evaluation_framework.results.gate_verdict import GateVerdict
from rag_evaluation_framework.results.query_result import DEEPEST, QueryResult, QueryResults

_LARGEST = 2**63 - 1
T = TypeVar("T")


def _printed_cutoff(text: str) -> str:
    if text != str(Cutoff.parse(text)):
        raise ValueError(f"{text!r}: expected the cutoff as it is printed, {Cutoff.parse(text)}")
    return text


def _metric_name(text: str) -> str:
    if not is_metric_name(text):
        raise ValueError(f"{text!r}: expected one word without '@', such as span_recall")
    return text


def _time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _different(items: tuple[T, ...]) -> tuple[T, ...]:
    for item, times in Counter(items).items():
        if times > 1:
            raise ValueError(f"{item!r} is there twice")
    return items


def _not_too_deep(record: Mapping[str, Any]) -> Mapping[str, Any]:
    inner: list[Any] = [record]
    for _ in range(DEEPEST):
        inner = [item for value in inner for item in _inside(value)]
    if any(isinstance(value, dict | list) for value in inner):
        raise ValueError(f"is nested more than {DEEPEST} deep")
    return record


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if is_object(value) else value if is_list(value) else ()


def _span(value: Any) -> CharacterSpan:
    if not is_object(value) or not value.keys() >= {"doc_id", "start", "end"}:
        raise ValueError("expected a span with doc_id, start and end")
    return CharacterSpan(value["doc_id"], value["start"], value["end"], value.get("text", ""))


def recorded_unit(unit: Any) -> Any:
    """Return the type as which a unit is read from a record; numbers in texts are no offsets."""
    return Annotated[CharacterSpan, PlainValidator(_span)] if unit is CharacterSpan else unit


# In JSON as it is read, texts, lists and objects are nothing else; numbers and truth values could be texts.
Count = Annotated[int, Strict(), Field(ge=0, le=_LARGEST)]
Rank = Annotated[int, Strict(), Field(ge=1, le=_LARGEST)]
Number = Annotated[float, Strict(), AllowInfNan(False)]
Seconds = Annotated[Number, Field(ge=0)]
Names = Annotated[
    tuple[Annotated[str, AfterValidator(_metric_name)], ...], Field(min_length=1), AfterValidator(_different)
]
Cutoffs = Annotated[
    tuple[Annotated[str, AfterValidator(_printed_cutoff)], ...], Field(min_length=1), AfterValidator(_different)
]


@dataclass(frozen=True)
class CountsRecord:
    """What is read of the counts of a report; the others follow from its questions."""

    unlocated_hits: Count


@dataclass(frozen=True)
class DatasetRecord:
    """What is read of the dataset in a configuration.

    `copied`: the questions a label of which quotes a text that stood in several places.
    """

    name: str
    hash: str
    skipped: Count
    copied: tuple[str, ...] | None = None


@dataclass(frozen=True)
class CorpusRecord:
    """What is read of the corpus in a configuration; `ids` is a hash of the ids of documents."""

    source: str | None
    documents: Count
    hash: str
    ids: str


@dataclass(frozen=True)
class ChunkingRecord:
    """What is read of the chunking in a configuration."""

    chunks: Count
    fingerprint: str


@dataclass(frozen=True)
class MetricRecord:
    """What is read of a metric in a configuration; the type of a built-in one is its name."""

    type: str
    score_range: tuple[Number | None, Number | None] = (0, 1)


@dataclass(frozen=True)
class ConfigRecord:
    """What is read of a configuration; the rest is for people.

    `top_k`: the questions that `@topK` cuts elsewhere than at the first k; None if all are cut alike. `unfilled`: how
    many rankings ran out of results before a budget was filled, by budget.
    """

    dataset: DatasetRecord
    corpus: CorpusRecord
    tokenizer: str | None
    chunking: ChunkingRecord | None
    metrics: tuple[MetricRecord, ...]
    k: tuple[Count, ...]
    unfilled: dict[str, Count]
    experiment_name: str | None
    top_k: dict[str, Count] | None = None


@dataclass(frozen=True)
class SkippedQueryRecord:
    """The question of a label that could not be placed."""

    id: str
    query: str
    metadata: Annotated[Mapping[str, Any], AfterValidator(_not_too_deep)]


@dataclass(frozen=True)
class SkippedRecord:
    """A label that could not be placed; written as dataset files have it."""

    query: SkippedQueryRecord
    quote: str
    reason: str

    def label(self) -> Skipped:
        """Return the label."""
        query = Query(QueryId(self.query.id), QueryText(self.query.query), self.query.metadata)
        return Skipped(query, self.quote, self.reason)


@dataclass(frozen=True)
class ReportRecord:
    """What is read of a report; `EvaluationResult` says what the fields mean.

    `files` are those that were saved with the report, by name, each with its `sha256`. Of `metrics`, the names of the
    scores are read; the means follow from the questions, as all does that is not here.
    """

    name: str
    evaluation_type: EvaluationType
    metric_names: Names
    cutoffs: Cutoffs
    count_as_zero: Annotated[
        tuple[Annotated[str, StringConstraints(pattern="^(no-answer|failed)$")], ...], AfterValidator(_different)
    ]
    config: Annotated[Mapping[str, Any], AfterValidator(_not_too_deep)]
    timings: Mapping[str, Seconds]
    notes: tuple[str, ...]
    created: Annotated[str, AfterValidator(_time)]
    version: str
    counts: CountsRecord
    files: Mapping[str, Mapping[str, str]]
    experiment_url: str | None
    metrics: Mapping[str, Any]
    skipped: tuple[SkippedRecord, ...]
    gates: tuple[GateVerdict, ...]
    usage: tuple[ModelUsage, ...]


@dataclass(frozen=True)
class Question(Generic[U]):
    """What is read of one question.

    Attributes:
        query_id: Its id.
        text: Its wording.
        relevant: What is relevant.
        gains: How relevant units are, where that is not 1.0.
        scores: By name; empty if it has none.
        failures: What went wrong.
        results: The number of results.
        stages: Seconds by stage, as the retriever told them.
        answers: Its answers, each by its places, these by their units; empty if every answer has one place.
        places_found: Of each of these answers the number of the place of which the most was retrieved, or None.
        metadata: What else the dataset says of it.
        labelled: What the labels of the dataset are known again by, where `relevant` are others: at another level, or
            under other ids.
        before: Scores of the ranking without the reranker, by name; empty if it has none.
        ceilings: The recall that no order of the candidates exceeds, by name of the score; likewise.
        first_relevant: The rank of the first result that is relevant, from 1; None if none is.
        best_score: The retriever's own score of the first result; None if the scores do not order the results.
    """

    query_id: str
    text: str
    relevant: tuple[U, ...]
    gains: Mapping[str, Number]
    scores: Mapping[str, Number | None]
    failures: tuple[Failure, ...]
    results: Count
    stages: Mapping[str, Number]
    answers: tuple[tuple[tuple[U, ...], ...], ...] = ()
    places_found: tuple[Count | None, ...] = ()
    metadata: Annotated[Mapping[str, Any], AfterValidator(_not_too_deep)] = field(default_factory=dict[str, Any])
    labelled: LabelIdentity | None = None
    before: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    ceilings: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    first_relevant: Rank | None = None
    best_score: Number | None = None


def question_lines(queries: QueryResults[Any]) -> Iterator[str]:
    """Yield every question as JSON.

    `identity`, `status`, `answerable`, `deltas` and `total` are written for people and other programs: they follow, and
    are not read.
    """
    results, best = queries.returned.results.tolist(), queries.returned.best_score.tolist()
    for query, count, score in zip(queries, results, best, strict=True):
        content = {
            "query_id": query.query_id,
            "text": query.text,
            "identity": query.identity,
            "relevant": [*map(_unit, query.relevant)],
            **_answers(query),
            "gains": query.gains,
            **({"metadata": query.metadata} if query.metadata else {}),
            **({"labelled": asdict(query.labelled)} if query.labelled else {}),
            "status": query.status,
            "answerable": bool(query.relevant),
            "scores": query.scores,
            **({"before": query.before, "deltas": query.deltas} if query.before else {}),
            **({"ceilings": query.ceilings} if query.ceilings else {}),
            "failures": [asdict(failure) for failure in query.failures],
            "results": count,
            "first_relevant": query.first_relevant,
            "best_score": None if isnan(score) else score,
            "stages": query.stages,
            "total": query.total,
        }
        yield json.dumps(content, ensure_ascii=False, allow_nan=False)


def _answers(query: QueryResult[Any]) -> dict[str, Any]:
    """Return the answers of a question, and which of their places were found; nothing if each has one place."""
    answers = query.results.answers.get(query.row)
    if answers is None:
        return {}
    places = [[[*map(_unit, place)] for place in answer.places] for answer in answers]
    return {"answers": places, "places_found": query.results.places_found[query.row]}


def _unit(unit: Any) -> Any:
    if not isinstance(unit, CharacterSpan):
        return unit
    return {"doc_id": unit.doc_id, "start": unit.start, "end": unit.end, "text": unit.text}  # asdict copies each value
