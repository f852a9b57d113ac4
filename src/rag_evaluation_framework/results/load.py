"""`load_result`: a saved result, read back. Nothing that a file says is believed before it is checked."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from math import nan
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, overload

import numpy as np
from pydantic import (
    AfterValidator,
    AllowInfNan,
    Field,
    PlainValidator,
    Strict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from rag_evaluation_framework.base.files import is_deeper, is_list, is_object, parse_json, read_text
from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.data import (
    Answer,
    CharacterSpan,
    Cutoff,
    EvaluationType,
    Failure,
    Query,
    QueryId,
    QueryText,
    ScoreName,
    Skipped,
)
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.cutoffs import is_metric_name
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.data.levels import Level, U, checked_level
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.errors import DatasetError, InputError, LevelMismatch, ResultError
from rag_evaluation_framework.levels.rules import RULES
from rag_evaluation_framework.providers.usage import ModelUsage
from rag_evaluation_framework.rankings.hit_lines import read_hit_lines
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.gate_verdict import GateVerdict
from rag_evaluation_framework.results.query_result import DEEPEST, Found, QueryResults, Returned
from rag_evaluation_framework.results.result import EvaluationResult, ExperimentResult

# What is read of `report.json` and of its questions, and how questions are written.

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
    if is_deeper(record, DEEPEST):
        raise ValueError(f"is nested more than {DEEPEST} deep")
    return record


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
class IndexRecord:
    """What is read of the size of an index in a configuration."""

    chunks: Count
    characters: Count
    dimension: Count


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
    index: IndexRecord | None = None


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
    before: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    ceilings: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    first_relevant: Rank | None = None
    best_score: Number | None = None


# Questions, read into columns.


class _Columns(Generic[U]):
    """What was read of questions so far."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.ids: dict[str, None] = {}
        self.texts: list[str] = []
        self.relevant: list[tuple[U, ...]] = []
        self.failures: dict[str, tuple[Failure, ...]] = {}
        self.results = array("q")
        self.scores, self.before, self.ceilings = _Numbers(), _Numbers(), _Numbers()
        self.stages, self.best = _Numbers(), _Numbers()
        self.gains: dict[int, Mapping[str, float]] = {}
        self.answers: dict[int, tuple[Answer[U], ...]] = {}
        self.places_found: dict[int, tuple[int | None, ...]] = {}
        self.metadata: dict[int, Mapping[str, Any]] = {}

    def add(self, question: Question[U]) -> None:
        """Add a question.

        Raises:
            ResultError: It is there already, or its answers are none.
        """
        row = len(self.ids)
        if question.query_id in self.ids:
            raise ResultError(f"{self.source}: question {question.query_id!r} is there twice")
        self.ids[question.query_id] = None
        self.texts.append(question.text)
        self.relevant.append(question.relevant)
        self.results.append(question.results)
        if question.failures:
            self.failures[question.query_id] = question.failures
        if question.answers:
            self.answers[row] = _answers(question, self.source)
            self.places_found[row] = question.places_found
        if question.gains:
            self.gains[row] = question.gains
        if question.metadata:
            self.metadata[row] = question.metadata
        self.scores.add(question.scores)
        self.before.add(question.before)
        self.ceilings.add(question.ceilings)
        self.stages.add(question.stages)
        self.best.add({"first_relevant": question.first_relevant, "best_score": question.best_score})

    def read(self, names: Sequence[str], count_as_zero: Iterable[str], found: Found) -> QueryResults[U]:
        """Return the results of all questions.

        Args:
            names: The names of the scores.
            count_as_zero: Which questions that were not scored count as 0.0.
            found: What was retrieved.
        """
        scores, before, ceilings = (known.read() for known in (self.scores, self.before, self.ceilings))
        unknown = np.full(len(self.ids), nan)
        return QueryResults(
            ScoreTable(
                tuple(self.ids),
                {name: scores.get(name, unknown) for name in names},
                np.array([*map(bool, self.relevant)], dtype=np.bool_),
                self.failures,
                count_as_zero=frozenset(count_as_zero),
            ),
            self.texts,
            self.relevant,
            self.gains,
            self.stages.read(),
            found,
            Returned(np.array(self.results, dtype=np.int64), **self.best.read()),
            self.answers,
            self.places_found,
            self.metadata,
            {name: before[name] for name in names if name in before},
            {name: ceilings[name] for name in names if name in ceilings},
        )


class _Numbers:
    """Numbers of questions by name, in columns that are as long as they have to be: NaN where a question has none."""

    def __init__(self) -> None:
        self.rows = 0
        self.columns: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))

    def add(self, numbers: Mapping[str, float | None]) -> None:
        for name, number in numbers.items():
            column = self.columns[name]
            column.extend([nan] * (self.rows - len(column)))
            column.append(nan if number is None else number)
        self.rows += 1

    def read(self) -> dict[str, Numbers]:
        return {
            name: np.array([*column, *[nan] * (self.rows - len(column))], dtype=np.float64)
            for name, column in self.columns.items()
        }


def _answers(question: Question[U], source: Path) -> tuple[Answer[U], ...]:
    where = f"{source}: question {question.query_id!r}"
    try:
        answers = tuple(map(Answer, question.answers))
    except DatasetError as error:
        raise ResultError(f"{where}: {error}") from error
    found = question.places_found
    if len(found) != len(answers) or any(
        number is not None and number >= len(answer.places) for answer, number in zip(answers, found, strict=True)
    ):
        raise ResultError(
            f"{where}: places_found is {list(found)}; expected the number of a place of each answer, or null"
        )
    return answers


_LARGEST_EXPERIMENT = 1 << 20  # bytes
_NEARLY = 1e-9  # by which sums of shares may miss 1


@overload
def load_result(path: str | Path) -> ExperimentResult: ...


@overload
def load_result(path: str | Path, level: Level[U]) -> EvaluationResult[U]: ...


def load_result(path: str | Path, level: Level[Any] | None = None) -> EvaluationResult[Any]:
    """Read a result that was saved.

    Args:
        path: The run's folder, or its `report.json`. Of up to 5,000 questions a report alone, without the files that
            were saved with it, is enough to compare with: it knows all but what was retrieved.
        level: The evaluation type to expect; by default, any.

    Raises:
        ResultError: A file is missing, too large or not a report, was written by a version with another schema, or is
            not the one that was saved with the report; or it says what cannot be: the message names the place, such as
            `$.queries.3.scores.span_recall@5`. What was retrieved is read when it is first asked for, and checked then.
        LevelMismatch: The result is not of the expected evaluation type.
    """
    expected = None if level is None else checked_level(level)
    try:
        given = Path(path)
    except TypeError as error:
        raise ResultError(f"path={shown(path)}: expected a run's folder or its {store.REPORT}") from error
    report, content = store.read_report(given)
    kind = content.get("evaluation_type")
    if expected is not None and isinstance(kind, str) and kind != expected.evaluation_type:
        raise LevelMismatch(f"{path}: is {kind}, expected {expected.evaluation_type}")
    with _named(report):
        head = _reader(ReportRecord).validate_python(content)
    with _named(report, "config."):
        config = _reader(ConfigRecord).validate_python(head.config)
    address, told = _published(report.parent)
    queries = _queries(report, content, head, config)
    return EvaluationResult[Any](
        name=head.name,
        evaluation_type=head.evaluation_type,
        queries=queries,
        metric_names=head.metric_names,
        cutoffs=head.cutoffs,
        config=head.config,
        timings=head.timings,
        notes=(*head.notes, *told),
        created=head.created,
        hits={"hits": int(queries.returned.results.sum()), "unlocated_hits": head.counts.unlocated_hits},
        version=head.version,
        folder=report.parent,
        experiment_url=head.experiment_url or address,
        skipped=tuple(record.label() for record in head.skipped),
        gates=head.gates,
        usage=head.usage,
    )


def _published(folder: Path) -> tuple[str | None, list[str]]:
    """Return where a result was published, and what is to be noted of that, as far as its folder tells."""
    path = folder / store.EXPERIMENT
    if not path.is_file():
        return None, []
    try:
        kept = parse_json(read_text(path, most=_LARGEST_EXPERIMENT))
    except (ValueError, InputError):
        return None, []
    url, notes = (kept.get(name) for name in ("url", "notes")) if is_object(kept) else (None, None)
    told = [note for note in notes if isinstance(note, str)] if is_list(notes) else []
    return (url if isinstance(url, str) else None), told


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    """Return what reads values of a type; making it takes longer than reading a run of some hundred questions."""
    return TypeAdapter(kind)


def _queries(report: Path, content: Mapping[str, Any], head: ReportRecord, config: ConfigRecord) -> QueryResults[Any]:
    """Return the questions: of the report or, if it names the file beside, of that."""
    named = [str(ScoreName(metric, Cutoff.parse(cutoff))) for metric in head.metric_names for cutoff in head.cutoffs]
    names = [name for name in named if name in head.metrics]
    if unscored := set(head.metric_names) - {name.partition("@")[0] for name in names}:
        raise ResultError(f"{report}: $.metrics: has no score of {min(unscored)!r}, which is one of the metric_names")
    record: Any = Question
    reader: TypeAdapter[Question[Any]] = _reader(record[recorded_unit(RULES[head.evaluation_type].unit)])
    source = report.parent / store.QUESTIONS if store.QUESTIONS in head.files else report
    columns = _Columns[Any](source)
    for where, place, line in _lines(source, report, content, head):
        with _named(where, place):
            question = reader.validate_python(line)
        columns.add(question)
    if not columns.ids:
        raise ResultError(f"{source}: has no questions")
    rankings = report.parent / store.RANKINGS
    is_known = report.name == store.REPORT and rankings.exists()
    queries = columns.read(names, head.count_as_zero, partial(_hits, rankings, report, head) if is_known else None)
    _check_shares(queries, {metric.type for metric in config.metrics}, source)
    return queries


def _lines(
    source: Path, report: Path, content: Mapping[str, Any], head: ReportRecord
) -> Iterator[tuple[str | Path, str, Any]]:
    """Yield where each question is, for messages, as a file and a place in it, and the question."""
    if source != report:
        if not source.exists():
            raise ResultError(f"{source}: is missing; it holds the questions of {report.name}. Copy it, too")
        _check_file(source, report, head)
        yield from ((where, "", line) for where, line in store.read_lines(source))
        return
    listed = content.get("queries")
    if not is_list(listed):
        raise ResultError(f"{report}: $.queries: got {shown(listed)}; expected a list")
    yield from ((report, f"queries.{number}.", line) for number, line in enumerate(listed))


def _check_shares(queries: QueryResults[Any], metrics: Set[str], source: Path) -> None:
    """Check that scores of built-in metrics, whose types are their names, are from 0 to 1."""
    for columns in (queries.table.columns, queries.before, queries.ceilings):
        for name, column in columns.items():
            wrong = np.flatnonzero((column < -_NEARLY) | (column > 1 + _NEARLY))
            if len(wrong) and name.partition("@")[0] in metrics:
                row = int(wrong[0])
                raise ResultError(
                    f"{source}: question {queries.table.query_ids[row]!r}: {name} is {column[row]}; expected 0 to 1, "
                    "as of any built-in metric"
                )


def _hits(file: Path, report: Path, head: ReportRecord, query_ids: Sequence[str]) -> RankedHits:
    """Return what was retrieved, from the file beside the report."""
    _check_file(file, report, head)
    try:
        return read_hit_lines(file, query_ids)
    except DatasetError as error:
        raise ResultError(str(error)) from error


def _check_file(file: Path, report: Path, head: ReportRecord) -> None:
    """Check that a file is the one that was saved with the report."""
    if head.files.get(file.name, {}).get("sha256") != store.sha256(file):
        raise ResultError(
            f"{file}: is not the file that was saved with {report.name}: it was changed, cut off, or is that of "
            "another run. Copy the whole folder again"
        )


@contextmanager
def _named(where: str | Path, place: str = "") -> Generator[None]:
    """Say where what is not valid is, and what it is.

    Raises:
        ResultError: It is not valid.
    """
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        known = first.get("ctx", {}).get("error")
        problem = str(known) if known is not None else first["msg"]
        got = "" if known is not None or first["type"] == "missing" else f", got {shown(first['input'])}"
        path = one_line(place + ".".join(map(str, first["loc"])))
        raise ResultError(f"{where}: $.{path.removesuffix('.')}: {problem}{got}") from error
