"""`load_result`: a saved result, read back. Nothing that a file says is believed before it is checked."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from math import isclose
from pathlib import Path
from typing import Any, cast, overload

from pydantic import TypeAdapter, ValidationError

from rag_evaluation_framework._outside import one_line, shown
from rag_evaluation_framework._support.files import is_list, is_object, read_text
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.levels import Level, U, checked_level
from rag_evaluation_framework.data.skipped import count_skipped
from rag_evaluation_framework.errors import DatasetError, InputError, LevelMismatch, ResultError
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.rankings.hit_lines import read_hit_lines
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.query_result import Found, QueryResults
from rag_evaluation_framework.results.questions import read_questions
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

    def read(records: Iterator[Any], found: Found, source: Path) -> QueryResults[Any]:
        return read_questions(records, names, shares, head.count_as_zero, found, str(source))

    beside = report.name == store.REPORT and file.exists()
    if listed is None and not beside:
        raise ResultError(f"{file}: is missing; it holds the scores of the questions of {report.name}")
    told = None if listed is None else read(_listed(report, listed, BriefQuestion), None, report)
    if not beside:
        return cast("QueryResults[Any]", told)
    _check_file(file, report, head)
    queries = read(_lines(file, full[unit]), partial(_hits, report, head), file)
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


def _lines(file: Path, kind: Any) -> Iterator[Any]:
    """Yield the questions that a file holds line by line, each as one of a kind of record."""
    reader: TypeAdapter[Any] = TypeAdapter(kind)
    for where, line in store.read_lines(file):
        with _named(where):
            yield reader.validate_python(line)


def _listed(report: Path, queries: Any, kind: Any) -> Iterator[Any]:
    """Yield the questions that a report itself holds, each as one of a kind of record."""
    if not is_list(queries):
        raise ResultError(f"{report}: $.queries: got {shown(queries)}; expected a list")
    reader: TypeAdapter[Any] = TypeAdapter(kind)
    for number, line in enumerate(queries):
        with _named(report, f"queries.{number}."):
            yield reader.validate_python(line)


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
