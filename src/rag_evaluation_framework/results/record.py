"""What the files of a result hold: `report.json`, and the lines of `questions.jsonl`."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import isnan
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, AllowInfNan, Field, PlainValidator, Strict, StringConstraints

from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.data import (
    Answer,
    CharacterSpan,
    EvaluationType,
    Failure,
    Query,
    QueryId,
    QueryText,
    Skipped,
)
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.cutoffs import Cutoff, is_metric_name
from rag_evaluation_framework.data.identity import LabelIdentity
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.score_table import Status
from rag_evaluation_framework.providers.usage import ModelUsage
from rag_evaluation_framework.results.gate_verdict import GateVerdict
from rag_evaluation_framework.results.query_result import DEEPEST, QueryResults

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
Flag = Annotated[bool, Strict()]
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
    """The counts of a report; `EvaluationResult.counts` says what they are."""

    questions: Count
    scored: Count
    no_answer: Count
    failed: Count
    metric_failed: Count
    answerable: Count
    skipped: Count
    hits: Count
    unlocated_hits: Count


@dataclass(frozen=True)
class DatasetRecord:
    """What is read of the dataset in a configuration.

    `was_in`: the documents that labels were in before, by question and document. `copied`: the questions a label of
    which quotes a text that stood in several places.
    """

    name: str
    hash: str
    skipped: Count
    was_in: dict[str, dict[str, list[str]]] | None = None
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
    """What a report says of the whole run; `EvaluationResult` says what the fields mean.

    `files` are those that were saved with the report, by name, each with its `sha256`. `statistics`, `reranking`,
    `latency`, `unanswerable`, `breakdowns` and `first_relevant` are written and not read: they follow from what is
    known of the questions.
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
    counts: Mapping[str, Count]
    files: Mapping[str, Mapping[str, str]]
    experiment_url: str | None
    metrics: Mapping[str, Number | None]
    statistics: Mapping[str, Any]
    skipped: tuple[SkippedRecord, ...]
    reranking: Mapping[str, Any] | None
    latency: Mapping[str, Any] | None
    unanswerable: Mapping[str, Any] | None
    breakdowns: Sequence[Mapping[str, Any]]
    first_relevant: Mapping[str, Any] | None
    gates: tuple[GateVerdict, ...]
    usage: tuple[ModelUsage, ...]


@dataclass(frozen=True)
class ScoredQuestion:
    """One question as far as both files tell it.

    Attributes:
        query_id: Its id.
        status: `scored`, `no-answer` or `failed`.
        answerable: Whether anything is relevant.
        scores: By name; empty if it has none.
        failures: What went wrong.
    """

    query_id: str
    status: Status
    answerable: Flag
    scores: Mapping[str, Number | None]
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class BriefQuestion(ScoredQuestion):
    """One question of a report.

    Attributes:
        identity: The hash of its wording and truth.
        before: Scores of the ranking without the reranker, by name; empty if it has none.
        ceilings: The recall that no order of the candidates exceeds, by name of the score; likewise.
    """

    identity: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
    before: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    ceilings: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])


@dataclass(frozen=True)
class FullQuestion(ScoredQuestion, Generic[U]):
    """One question, as a line of `questions.jsonl`.

    Attributes:
        text: Its wording.
        relevant: What is relevant.
        answers: Its answers, each by its places, these by their units; empty if every answer has one place.
        places_found: Of each of these answers the number of the place of which the most was retrieved, or None.
        gains: How relevant units are, where that is not 1.0.
        stages: Seconds by stage, as the retriever told them.
        before: As in `BriefQuestion`.
        ceilings: As in `BriefQuestion`.
        results: The number of results.
        first_relevant: The rank of the first result that is relevant, from 1; None if none is.
        best_score: The retriever's own score of the first result; None if the scores do not order the results.
        labelled: What the labels of the dataset are known again by, where `relevant` are others: at another level, or
            under other ids.
    """

    text: str
    relevant: tuple[U, ...]
    gains: Mapping[str, Number]
    stages: Mapping[str, Number]
    results: Count
    answers: tuple[tuple[tuple[U, ...], ...], ...] = ()
    places_found: tuple[Count | None, ...] = ()
    metadata: Annotated[Mapping[str, Any], AfterValidator(_not_too_deep)] = field(default_factory=dict[str, Any])
    before: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    ceilings: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    first_relevant: Count | None = None
    best_score: Number | None = None
    labelled: LabelIdentity | None = None


def question_lines(queries: QueryResults[Any]) -> Iterator[str]:
    """Yield every question as JSON, as `questions.jsonl` holds it.

    `total` is the sum of `stages`; it is written and not read, as it follows.
    """
    stages, totals = _rows(queries.stages, len(queries)), _rows({"total": queries.totals}, len(queries))
    columns = zip(_scored(queries), stages, totals, _returned(queries), strict=True)
    for row, (known, seconds, total, returned) in enumerate(columns):
        yield _json(
            {
                "query_id": known.pop("query_id"),
                "text": queries.texts[row] if queries.texts else "",
                "relevant": [*map(_unit, queries.relevant[row])] if queries.relevant else [],
                **_answers(queries, row),
                "gains": queries.gains.get(row, {}),
                **({"metadata": queries.metadata[row]} if row in queries.metadata else {}),
                **({"labelled": asdict(queries.labelled[row])} if row in queries.labelled else {}),
                **known,
                **returned,
                "stages": {name: spent for name, spent in seconds.items() if spent is not None},
                **total,
            }
        )


def _returned(queries: QueryResults[Any]) -> Iterator[dict[str, Any]]:
    """Yield what was returned for every question, in brief; nothing of it if that is not known."""
    known = queries.returned
    if known is None:
        yield from ({} for _ in range(len(queries)))
        return
    ranks = ({"first_relevant": None if isnan(rank) else int(rank)} for rank in known.first_relevant.tolist())
    scores = _rows({"best_score": known.best_score}, len(queries))
    for count, rank, score in zip(known.results.tolist(), ranks, scores, strict=True):
        yield {"results": count, **rank, **score}


def brief_lines(queries: QueryResults[Any]) -> Iterator[str]:
    """Yield every question as JSON, as a report holds it: enough to compare with."""
    return map(_json, brief_records(queries))


def brief_records(queries: QueryResults[Any]) -> Iterator[dict[str, Any]]:
    """Yield what a report holds of every question."""
    for known, identity in zip(_scored(queries), queries.identities, strict=True):
        yield {**known, "identity": identity}


def _scored(queries: QueryResults[Any]) -> Iterator[dict[str, Any]]:
    """Yield what the scores say of every query: those of the run, and those of the ranking without its reranker.

    `deltas` are the former minus the latter; they are written and not read, as they follow.
    """
    table, count = queries.table, len(queries)
    columns = {"scores": table.columns, "before": queries.before, "ceilings": queries.ceilings}
    rows = [_rows(known, count) for known in columns.values()]
    answerable: list[bool] = table.answerable.tolist()
    for query_id, status, can_be, *scores in zip(table.query_ids, table.statuses, answerable, *rows, strict=True):
        told = dict(zip(columns, scores, strict=True)) if status == "scored" else {}
        if told.get("before"):
            told["deltas"] = _deltas(told["before"], told["scores"])
        yield {
            "query_id": query_id,
            "status": status,
            "answerable": can_be,
            "scores": told.pop("scores", {}),
            **{name: known for name, known in told.items() if known},
            "failures": [asdict(failure) for failure in table.failures.get(query_id, ())],
        }


def _deltas(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> dict[str, float | None]:
    pairs = ((name, old, after[name]) for name, old in before.items())
    return {name: None if old is None or new is None else new - old for name, old, new in pairs}


def _rows(columns: Mapping[str, Numbers], rows: int) -> Iterator[dict[str, float | None]]:
    """Yield columns of numbers row by row, None for NaN."""
    listed: dict[str, list[float]] = {name: column.tolist() for name, column in columns.items()}
    for row in range(rows):
        yield {name: None if isnan(column[row]) else column[row] for name, column in listed.items()}


def _answers(queries: QueryResults[Any], row: int) -> dict[str, Any]:
    """Return the answers of a question, and which of their places were found; nothing if each has one place."""
    if row not in queries.answers:
        return {}
    return {"answers": [*map(_places, queries.answers[row])], "places_found": queries.places_found.get(row, ())}


def _places(answer: Answer[Any]) -> list[list[Any]]:
    return [[*map(_unit, place)] for place in answer.places]


def _unit(unit: Any) -> Any:
    return asdict(unit) if isinstance(unit, CharacterSpan) else unit


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)
