"""Recorded questions, read into columns; what they tell must agree."""

from array import array
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from math import nan
from typing import Any, Generic

import numpy as np

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.failures import Failure
from rag_evaluation_framework.data.identity import LabelIdentity
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.score_table import ScoreTable, Status
from rag_evaluation_framework.errors import DatasetError, ResultError
from rag_evaluation_framework.results.query_result import Found, QueryResults
from rag_evaluation_framework.results.record import BriefQuestion, FullQuestion
from rag_evaluation_framework.results.returned import Returned

_NEARLY = 1e-9  # by which sums of shares may miss 1


def read_questions(
    records: Iterable[FullQuestion[U] | BriefQuestion],
    names: Sequence[str],
    shares: Set[str],
    count_as_zero: Iterable[str],
    found: Found,
    source: str,
) -> QueryResults[U]:
    """Return the results of recorded questions, in columns.

    Args:
        records: The questions, all of one kind.
        names: The names of the scores.
        shares: Those that are from 0 to 1, as built-in metrics are.
        count_as_zero: Which questions that were not scored count as 0.0.
        found: What was retrieved.
        source: The file that the questions are from, for messages.

    Raises:
        ResultError: A question is there twice, has a score of another name or one that it cannot have, or its status
            is not what its failures and truth say.
    """
    columns = _Columns[U](names, source)
    for record in records:
        columns.add(record)
    table = columns.table(frozenset(count_as_zero))
    _check_statuses(table, columns.statuses, source)
    before, ceilings = columns.before.read(), columns.ceilings.read()
    for scores in (table.columns, before, ceilings):
        _check_shares({name: scores[name] for name in shares & scores.keys()}, table.query_ids, source)
    times = {name: _filled(seconds, len(columns.statuses)) for name, seconds in columns.stages.items()}
    read = table, columns.texts, columns.relevant, columns.gains, times, found, columns.identities
    more = columns.answers, columns.places_found, columns.metadata, before, ceilings, columns.returned()
    return QueryResults(*read, *more, columns.labelled)


class _Columns(Generic[U]):
    """What was read so far; texts, truth and stages of full records only, identities of brief ones."""

    def __init__(self, names: Sequence[str], source: str) -> None:
        self.source = source
        self.statuses: dict[str, Status] = {}
        self.answerable = array("b")
        self.scores = _ScoreColumns(names)
        self.failures: dict[str, tuple[Failure, ...]] = {}
        self.identities: list[str] = []
        self.texts: list[str] = []
        self.relevant: list[tuple[U, ...]] = []
        self.answers: dict[int, tuple[Answer[U], ...]] = {}
        self.places_found: dict[int, tuple[int | None, ...]] = {}
        self.gains: dict[int, Mapping[str, float]] = {}
        self.metadata: dict[int, Mapping[str, Any]] = {}
        self.labelled: dict[int, LabelIdentity] = {}
        self.stages: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        self.results = array("q")
        self.first_relevant = array("d")
        self.best_score = array("d")
        self.before = _ScoreColumns(names)
        self.ceilings = _ScoreColumns(names)

    def add(self, record: FullQuestion[U] | BriefQuestion) -> None:
        if record.query_id in self.statuses:
            raise ResultError(f"{self.source}: question {record.query_id!r} is there twice")
        _check_scores(record, self.scores.columns, self.source)
        row = len(self.statuses)
        self.statuses[record.query_id] = record.status
        self.answerable.append(record.answerable)
        if record.failures:
            self.failures[record.query_id] = record.failures
        for columns, scores in (
            (self.scores, record.scores),
            (self.before, record.before),
            (self.ceilings, record.ceilings),
        ):
            columns.add(scores)
        if isinstance(record, BriefQuestion):
            self.identities.append(record.identity)
            return
        _check_truth(record, self.source)
        self.texts.append(record.text)
        self.relevant.append(record.relevant)
        if record.gains:
            self.gains[row] = record.gains
        if record.metadata:
            self.metadata[row] = record.metadata
        if record.labelled is not None:
            self.labelled[row] = record.labelled
        if record.answers:
            self.answers[row] = _answers(record, self.source)
            self.places_found[row] = record.places_found
        _check_first_relevant(record, self.source)
        self.results.append(record.results)
        self.first_relevant.append(nan if record.first_relevant is None else record.first_relevant)
        self.best_score.append(nan if record.best_score is None else record.best_score)
        for name, seconds in record.stages.items():
            known = self.stages[name]
            known.extend([nan] * (row - len(known)))
            known.append(seconds)

    def table(self, count_as_zero: frozenset[Any]) -> ScoreTable:
        answerable = np.array(self.answerable, dtype=np.bool_)
        columns = self.scores.read(self.scores.columns)
        return ScoreTable(tuple(self.statuses), columns, answerable, self.failures, count_as_zero=count_as_zero)

    def returned(self) -> Returned | None:
        """Return what was returned for each question; None of brief records."""
        if not self.results:
            return None
        counts = np.array(self.results, dtype=np.int64)
        return Returned(
            counts, *(np.array(known, dtype=np.float64) for known in (self.first_relevant, self.best_score))
        )


class _ScoreColumns:
    """Scores of records, NaN where one has none, and the names of those that any has, or lacks by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.columns = {name: array("d") for name in names}
        self.named: set[str] = set()

    def add(self, scores: Mapping[str, float | None]) -> None:
        self.named.update(scores)
        for name, column in self.columns.items():
            score = scores.get(name)
            column.append(nan if score is None else score)

    def read(self, names: Container[str] | None = None) -> dict[str, Numbers]:
        """Return the columns of these names; by default those that records name."""
        wanted = self.named if names is None else names
        return {name: np.array(column, dtype=np.float64) for name, column in self.columns.items() if name in wanted}


def _filled(seconds: "array[float]", rows: int) -> Numbers:
    return np.array([*seconds, *[nan] * (rows - len(seconds))], dtype=np.float64)


def _check_scores(record: FullQuestion[Any] | BriefQuestion, names: Mapping[str, Any], source: str) -> None:
    for name in (record.scores.keys() | record.before.keys() | record.ceilings.keys()) - names.keys():
        raise ResultError(
            f"{source}: question {record.query_id!r} has the score {name}, which the report does not name"
        )
    if (record.scores or record.before or record.ceilings) and record.status != "scored":
        raise ResultError(f"{source}: question {record.query_id!r} is {record.status} and has scores; expected none")


def _check_truth(record: FullQuestion[Any], source: str) -> None:
    if record.answerable != bool(record.relevant):
        told = "answerable, and nothing is relevant" if record.answerable else "without an answer, and something is"
        raise ResultError(f"{source}: question {record.query_id!r} is said to be {told}")
    for name in record.gains.keys() - set(map(str, record.relevant)) if record.gains else ():
        raise ResultError(f"{source}: question {record.query_id!r} has the gain of {name!r}, which is not relevant")


def _check_first_relevant(record: FullQuestion[Any], source: str) -> None:
    rank = record.first_relevant
    if rank is not None and not (record.answerable and 1 <= rank <= record.results):
        raise ResultError(
            f"{source}: question {record.query_id!r} has a first_relevant of {rank} among {record.results} results; "
            "expected a rank from 1, of a question with an answer, or null"
        )


def _answers(record: FullQuestion[U], source: str) -> tuple[Answer[U], ...]:
    where = f"{source}: question {record.query_id!r}"
    try:
        answers = tuple(map(Answer, record.answers))
    except DatasetError as error:
        raise ResultError(f"{where}: {error}") from error
    if {unit for answer in answers for unit in answer.reference} != {*record.relevant}:
        raise ResultError(f"{where}: the first places of its answers are not what is said to be relevant")
    found = record.places_found
    if len(found) != len(answers) or any(
        number is not None and number >= len(answer.places) for answer, number in zip(answers, found, strict=True)
    ):
        raise ResultError(
            f"{where}: places_found is {list(found)}; expected the number of a place of each answer, or null"
        )
    return answers


def _check_statuses(table: ScoreTable, told: Mapping[str, Status], source: str) -> None:
    for query_id, status in zip(table.query_ids, table.statuses, strict=True):
        if told[query_id] != status:
            raise ResultError(
                f"{source}: question {query_id!r} is said to be {told[query_id]}; by failures and truth it is {status}"
            )


def _check_shares(columns: Mapping[str, Numbers], query_ids: Sequence[str], source: str) -> None:
    for name, column in columns.items():
        wrong = np.flatnonzero((column < -_NEARLY) | (column > 1 + _NEARLY))
        if len(wrong):
            row = int(wrong[0])
            raise ResultError(
                f"{source}: question {query_ids[row]!r}: {name} is {column[row]}; expected 0 to 1, as of any built-in "
                "metric"
            )
