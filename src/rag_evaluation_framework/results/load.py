"""`load_result`: a saved result, read back. Nothing that a file says is believed before it is checked."""

from array import array
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from math import isclose, nan
from pathlib import Path
from typing import Any, Generic, cast, overload

import numpy as np
from pydantic import TypeAdapter, ValidationError

from rag_evaluation_framework.base.files import is_list, is_object, parse_json, read_text
from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.data import Answer, Cutoff, Failure, ScoreName, count_skipped
from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.data.identity import LabelIdentity
from rag_evaluation_framework.data.levels import Level, U, checked_level
from rag_evaluation_framework.data.score_table import ScoreTable, Status
from rag_evaluation_framework.errors import DatasetError, InputError, LevelMismatch, ResultError
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.rankings.hit_lines import read_hit_lines
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.query_result import Found, QueryResults, Returned
from rag_evaluation_framework.results.record import (
    BriefQuestion,
    ConfigRecord,
    CountsRecord,
    FullQuestion,
    ReportRecord,
    brief_records,
    recorded_unit,
)
from rag_evaluation_framework.results.result import EvaluationResult, ExperimentResult

# Recorded questions, read into columns; what they tell must agree.

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
    columns = _Columns[U](frozenset(names), source)
    for record in records:
        columns.add(record)
    scores, before, ceilings = (known.read() for known in (columns.scores, columns.before, columns.ceilings))
    unknown = np.full(len(columns.statuses), nan)
    table = ScoreTable(
        tuple(columns.statuses),
        {name: scores.get(name, unknown) for name in names},
        np.array(columns.answerable, dtype=np.bool_),
        columns.failures,
        count_as_zero=frozenset[Any](count_as_zero),
    )
    _check_statuses(table, columns.statuses, source)
    before, ceilings = ({name: own[name] for name in names if name in own} for own in (before, ceilings))
    for own in (scores, before, ceilings):
        _check_shares({name: own[name] for name in shares & own.keys()}, table.query_ids, source)
    read = table, columns.texts, columns.relevant, columns.gains, columns.stages.read(), found, columns.identities
    more = columns.answers, columns.places_found, columns.metadata, before, ceilings, columns.returned()
    return QueryResults(*read, *more, columns.labelled)


class _Columns(Generic[U]):
    """What was read so far; texts, truth and stages of full records only, identities of brief ones."""

    def __init__(self, names: Set[str], source: str) -> None:
        self.names = names
        self.source = source
        self.statuses: dict[str, Status] = {}
        self.answerable = array("b")
        self.scores, self.before, self.ceilings = _Numbers(), _Numbers(), _Numbers()
        self.failures: dict[str, tuple[Failure, ...]] = {}
        self.identities: list[str] = []
        self.texts: list[str] = []
        self.relevant: list[tuple[U, ...]] = []
        self.answers: dict[int, tuple[Answer[U], ...]] = {}
        self.places_found: dict[int, tuple[int | None, ...]] = {}
        self.gains: dict[int, Mapping[str, float]] = {}
        self.metadata: dict[int, Mapping[str, Any]] = {}
        self.labelled: dict[int, LabelIdentity] = {}
        self.stages, self.best = _Numbers(), _Numbers()
        self.results = array("q")

    def add(self, record: FullQuestion[U] | BriefQuestion) -> None:
        if record.query_id in self.statuses:
            raise ResultError(f"{self.source}: question {record.query_id!r} is there twice")
        _check_scores(record, self.names, self.source)
        row = len(self.statuses)
        self.statuses[record.query_id] = record.status
        self.answerable.append(record.answerable)
        if record.failures:
            self.failures[record.query_id] = record.failures
        self.scores.add(record.scores)
        self.before.add(record.before)
        self.ceilings.add(record.ceilings)
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
        self.best.add({"first_relevant": record.first_relevant, "best_score": record.best_score})
        self.stages.add(record.stages)

    def returned(self) -> Returned | None:
        """Return what was returned for each question; None of brief records."""
        if not self.results:
            return None
        return Returned(np.array(self.results, dtype=np.int64), **self.best.read())


class _Numbers:
    """Numbers of records by name, in columns that are as long as they have to be: NaN where a record has none."""

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


def _check_scores(record: FullQuestion[Any] | BriefQuestion, names: Set[str], source: str) -> None:
    for name in (record.scores.keys() | record.before.keys() | record.ceilings.keys()) - names:
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


_LARGEST_EXPERIMENT = 1 << 20  # bytes


@overload
def load_result(path: str | Path) -> ExperimentResult: ...


@overload
def load_result(path: str | Path, level: Level[U]) -> EvaluationResult[U]: ...


def load_result(path: str | Path, level: Level[Any] | None = None) -> EvaluationResult[Any]:
    """Read a result that was saved.

    Args:
        path: The run's folder, or its `report.json`. Of up to 5,000 questions a report alone, without the files that
            were saved with it, is enough to compare with: it knows ids and scores, neither wordings nor hits.
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
    head, config = _head(report, content)
    address, told = _published(report.parent)
    queries = _queries(report, content, head, config)
    result = EvaluationResult[Any](
        name=head.name,
        evaluation_type=head.evaluation_type,
        queries=queries,
        metric_names=head.metric_names,
        cutoffs=head.cutoffs,
        config=head.config,
        timings=head.timings,
        notes=(*head.notes, *told),
        created=head.created,
        hits={name: head.counts[name] for name in ("hits", "unlocated_hits")},
        version=head.version,
        folder=report.parent,
        experiment_url=head.experiment_url or address,
        skipped=tuple(record.label() for record in head.skipped),
        gates=head.gates,
        usage=head.usage,
    )
    _check_counts(report, head, config, result)
    _check_means(report, head, queries)
    return result


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


def _head(report: Path, content: Mapping[str, Any]) -> tuple[ReportRecord, ConfigRecord]:
    """Return what a report says of the whole run, and what is read of its configuration."""
    known = {field.name for field in fields(ReportRecord)}
    with _named(report):
        head = TypeAdapter(ReportRecord).validate_python({key: content[key] for key in content if key in known})
    with _named(report, "counts."):
        TypeAdapter(CountsRecord).validate_python(head.counts)
    with _named(report, "config."):
        config = TypeAdapter(ConfigRecord).validate_python(head.config)
    return head, config


def _score_names(report: Path, head: ReportRecord) -> list[str]:
    """Return the names of the scores of a report, in order: of every metric those that have a mean, or lack one."""
    named = [str(ScoreName(metric, Cutoff.parse(cutoff))) for metric in head.metric_names for cutoff in head.cutoffs]
    known = set(named)
    for name in head.metrics:
        if name not in known:
            raise ResultError(
                f"{report}: $.metrics.{one_line(name)}: is none of the metric_names at one of the cutoffs"
            )
    scored = {name.partition("@")[0] for name in head.metrics}
    for metric in head.metric_names:
        if metric not in scored:
            raise ResultError(f"{report}: $.metrics: has no score of {metric!r}, which is one of the metric_names")
    return [name for name in named if name in head.metrics]


def _queries(report: Path, content: Mapping[str, Any], head: ReportRecord, config: ConfigRecord) -> QueryResults[Any]:
    """Return the questions: of the file beside the report or, if there is none, of the report alone."""
    names = _score_names(report, head)
    built_in = {metric.type for metric in config.metrics if metric.type in head.metric_names}  # scored from 0 to 1
    shares = {name for name in names if name.partition("@")[0] in built_in}
    unit = recorded_unit(RULES[head.evaluation_type].unit)
    full: Any = FullQuestion
    listed, file = content.get("queries"), report.parent / store.QUESTIONS

    def read(kind: Any, lines: Iterable[Any], found: Found, source: Path) -> QueryResults[Any]:
        return read_questions(_validated(kind, lines), names, shares, head.count_as_zero, found, str(source))

    beside = report.name == store.REPORT and file.exists()
    if listed is None and not beside:
        raise ResultError(f"{file}: is missing; it holds the scores of the questions of {report.name}")
    told = None if listed is None else read(BriefQuestion, _listed(report, listed), None, report)
    if not beside:
        return cast("QueryResults[Any]", told)
    _check_file(file, report, head)
    lines = ((where, "", line) for where, line in store.read_lines(file))
    queries = read(full[unit], lines, partial(_hits, report, head), file)
    if told is not None:
        _check_told(report, told, queries)
    return queries


def _check_told(report: Path, told: QueryResults[Any], queries: QueryResults[Any]) -> None:
    """Check that the questions of a report are those of the file beside it."""
    if len(told) != len(queries):
        raise ResultError(f"{report}: $.queries: has {len(told)} questions, and {store.QUESTIONS} has {len(queries)}")
    for number, (one, other) in enumerate(zip(brief_records(told), brief_records(queries), strict=True)):
        for name, value in one.items():
            if value != other[name]:
                raise ResultError(
                    f"{report}: $.queries.{number}.{name} is {shown(value)}, and by {store.QUESTIONS} it is "
                    f"{shown(other[name])}: it was changed"
                )


def _validated(kind: Any, lines: Iterable[tuple[str | Path, str, Any]]) -> Iterator[Any]:
    """Yield recorded questions, each as one of a kind of record; lines come with where they stand, and at what path."""
    reader: TypeAdapter[Any] = TypeAdapter(kind)
    for where, place, line in lines:
        with _named(where, place):
            yield reader.validate_python(line)


def _listed(report: Path, queries: Any) -> Iterator[tuple[Path, str, Any]]:
    """Yield the questions that a report itself holds."""
    if not is_list(queries):
        raise ResultError(f"{report}: $.queries: got {shown(queries)}; expected a list")
    yield from ((report, f"queries.{number}.", line) for number, line in enumerate(queries))


def _hits(report: Path, head: ReportRecord, query_ids: Sequence[str]) -> RankedHits:
    """Return what was retrieved, from the file beside the report."""
    file = report.parent / store.RANKINGS
    if not file.exists():
        raise ResultError(f"{file}: is missing; it holds what was retrieved in the run of {report}")
    _check_file(file, report, head)
    try:
        hits = read_hit_lines(file, query_ids, head.counts["hits"])
    except DatasetError as error:
        raise ResultError(str(error)) from error
    _check_hits(report, head, hits)
    return hits


def _check_file(file: Path, report: Path, head: ReportRecord) -> None:
    if head.files.get(file.name, {}).get("sha256") != store.sha256(file):
        raise ResultError(
            f"{file}: is not the file that was saved with {report.name}: it was changed, cut off, or is that of "
            "another run. Copy the whole folder again"
        )


def _check_counts(report: Path, head: ReportRecord, config: ConfigRecord, result: EvaluationResult[Any]) -> None:
    if not len(result.queries):
        raise ResultError(f"{report}: has no questions")
    for name, number in result.counts.items():
        if head.counts[name] != number:
            raise ResultError(
                f"{report}: $.counts.{name} is {head.counts[name]}, and by its questions it is {number}: it was changed"
            )
    known, skipped = config.dataset.skipped, count_skipped(result.skipped)
    if skipped != known:
        raise ResultError(
            f"{report}: $.skipped has {skipped} questions, and $.config.dataset.skipped is {known}: it was changed"
        )
    hits, unlocated = head.counts["hits"], head.counts["unlocated_hits"]
    if unlocated > hits:
        raise ResultError(f"{report}: $.counts.unlocated_hits is {unlocated}, and there are {hits} hits")


def _check_hits(report: Path, head: ReportRecord, hits: RankedHits) -> None:
    known = RULES[head.evaluation_type].level.known(hits.table)
    for name, number in (("hits", len(known)), ("unlocated_hits", len(known) - int(known.sum()))):
        if head.counts[name] != number:
            raise ResultError(f"{report}: $.counts.{name} is {head.counts[name]}, and by what was found it is {number}")


def _check_means(report: Path, head: ReportRecord, queries: QueryResults[Any]) -> None:
    for name, mean in head.metrics.items():
        found = queries.table.mean[name]
        if (found is None) != (mean is None) or not isclose(found or 0.0, mean or 0.0, rel_tol=1e-9):
            raise ResultError(
                f"{report}: $.metrics.{name} is {mean}, and the mean of the scores of its questions is {found}: it was "
                "changed"
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
