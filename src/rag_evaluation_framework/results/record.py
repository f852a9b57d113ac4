"""What the files of a result hold, schema version 2: `report.json`, and the lines of `questions.jsonl`."""

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan, nan
from typing import Any, Generic

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.score_table import ScoreTable, Status
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.results.query_result import Found, QueryResults


@dataclass(frozen=True)
class ReportRecord:
    """What a report says of the whole run; `EvaluationResult` says what the fields mean.

    `files` are those that were saved with the report, by name, each with its `sha256`.
    """

    name: str
    evaluation_type: EvaluationType
    metric_names: tuple[str, ...]
    cutoffs: tuple[str, ...]
    count_as_zero: tuple[str, ...]
    config: Mapping[str, Any]
    timings: Mapping[str, float]
    notes: tuple[str, ...]
    created: str
    version: str
    counts: Mapping[str, int]
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    experiment_url: str | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict[str, float | None])


@dataclass(frozen=True)
class QuestionRecord(Generic[U]):
    """One question: a line of `questions.jsonl`, or of the `queries` of a report, which lack text, truth and times.

    Attributes:
        query_id: Its id.
        status: `scored`, `no-answer` or `failed`.
        answerable: Whether anything is relevant.
        identity: The hash of its wording and truth; only in reports.
        text: Its wording.
        relevant: What is relevant.
        gains: How relevant units are, where that is not 1.0.
        scores: By name; empty if it has none.
        stages: Seconds by stage.
        failures: What went wrong.
    """

    query_id: str
    status: Status
    answerable: bool
    identity: str = ""
    text: str = ""
    relevant: tuple[U, ...] = ()
    gains: Mapping[str, float] = field(default_factory=dict[str, float])
    scores: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    failures: tuple[Failure, ...] = ()


def question_lines(queries: QueryResults[Any]) -> Iterator[str]:
    """Yield every question as JSON, as `questions.jsonl` holds it."""
    stages = _rows(queries.stages, len(queries))
    for row, (known, seconds) in enumerate(zip(_scored(queries.table), stages, strict=True)):
        yield _json(
            {
                "query_id": known.pop("query_id"),
                "text": queries.texts[row] if queries.texts else "",
                "relevant": [*map(_unit, queries.relevant[row])] if queries.relevant else [],
                "gains": queries.gains.get(row, {}),
                **known,
                "stages": {name: spent for name, spent in seconds.items() if spent is not None},
            }
        )


def brief_lines(queries: QueryResults[Any]) -> Iterator[str]:
    """Yield every question as JSON, as a report holds it: enough to compare with."""
    for known, identity in zip(_scored(queries.table), queries.identities, strict=True):
        yield _json({**known, "identity": identity})


def _scored(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """Yield what the table says of every query."""
    rows = _rows(table.columns, len(table.query_ids))
    answerable: list[bool] = table.answerable.tolist()
    for query_id, status, can_be, scores in zip(table.query_ids, table.statuses, answerable, rows, strict=True):
        yield {
            "query_id": query_id,
            "status": status,
            "answerable": can_be,
            "scores": scores if status == "scored" else {},
            "failures": [asdict(failure) for failure in table.failures.get(query_id, ())],
        }


def _rows(columns: Mapping[str, Numbers], rows: int) -> Iterator[dict[str, float | None]]:
    """Yield columns of numbers row by row, None for NaN."""
    listed: dict[str, list[float]] = {name: column.tolist() for name, column in columns.items()}
    for row in range(rows):
        yield {name: None if isnan(column[row]) else column[row] for name, column in listed.items()}


def _unit(unit: Any) -> Any:
    return asdict(unit) if isinstance(unit, CharacterSpan) else unit


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def read_questions(
    records: Iterable[QuestionRecord[U]],
    names: Sequence[str],
    count_as_zero: Iterable[str],
    found: Found,
    source: str,
) -> QueryResults[U]:
    """Return the results of recorded questions, in columns.

    Args:
        records: The questions.
        names: The names of the scores.
        count_as_zero: Which questions that were not scored count as 0.0.
        found: What was retrieved.
        source: The file that the questions are from, for messages.

    Raises:
        ResultError: A question is there twice, has a score of another name, or its status is not what its failures and
            truth say, or a number is too large.
    """
    query_ids: dict[str, Status] = {}
    texts: list[str] = []
    identities: list[str] = []
    relevant: list[tuple[U, ...]] = []
    gains: dict[int, Mapping[str, float]] = {}
    failures: dict[str, tuple[Failure, ...]] = {}
    answerable = array("b")
    scores = {name: array("d") for name in names}
    stages: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
    for row, record in enumerate(records):
        if record.query_id in query_ids:
            raise ResultError(f"{source}: question {record.query_id!r} is there twice")
        query_ids[record.query_id] = record.status
        texts.append(record.text)
        identities.append(record.identity)
        relevant.append(record.relevant)
        answerable.append(record.answerable)
        if record.gains:
            gains[row] = record.gains
        if record.failures:
            failures[record.query_id] = record.failures
        for name in record.scores.keys() - scores.keys():
            raise ResultError(
                f"{source}: question {record.query_id!r} has the score {name}, which the report does not name"
            )
        for name, column in scores.items():
            score = record.scores.get(name)
            column.append(nan if score is None else score)
        for name, seconds in record.stages.items():
            known = stages[name]
            known.extend([nan] * (row - len(known)))
            known.append(seconds)
    for known in stages.values():
        known.extend([nan] * (len(query_ids) - len(known)))
    table = ScoreTable(
        tuple(query_ids),
        {name: np.array(column, dtype=np.float64) for name, column in scores.items()},
        np.array(answerable, dtype=np.bool_),
        failures,
        count_as_zero=frozenset(count_as_zero),
    )
    times = {name: np.array(column, dtype=np.float64) for name, column in stages.items()}
    _check(table, query_ids, times, source)
    brief = all(identities)
    return QueryResults(
        table, () if brief else texts, () if brief else relevant, gains, times, found, identities if brief else ()
    )


def _check(table: ScoreTable, told: Mapping[str, Status], times: Mapping[str, Numbers], source: str) -> None:
    """Check what a table of recorded scores tells.

    Raises:
        ResultError: A question has another status than it is said to have, or a number is too large.
    """
    for query_id, status in zip(table.query_ids, table.statuses, strict=True):
        if told[query_id] != status:
            raise ResultError(
                f"{source}: question {query_id!r} is said to be {told[query_id]}; by failures and truth it is {status}"
            )
    for name, numbers in (*table.columns.items(), *times.items()):
        if np.isinf(numbers).any():
            raise ResultError(f"{source}: {name} of a question is a number that is too large")
