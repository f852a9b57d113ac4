"""`load_result`: a saved result, read back."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from math import isclose
from pathlib import Path
from typing import Any, overload

from pydantic import TypeAdapter, ValidationError

from rag_evaluation_framework._support.files import is_list
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.errors import DatasetError, LevelMismatch, ResultError
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.levels.level_rules import LevelRules
from rag_evaluation_framework.rankings.hit_lines import read_hit_lines
from rag_evaluation_framework.results import schema_1, store
from rag_evaluation_framework.results.query_result import QueryResults
from rag_evaluation_framework.results.record import QuestionRecord, ReportRecord, read_questions
from rag_evaluation_framework.results.result import EvaluationResult, ExperimentResult


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
        ResultError: A file is missing, is not a report, was written by a version with another schema, or is not the one
            that was saved with the report; or the means of a report are not those of its questions.
        LevelMismatch: The result is not of the expected evaluation type.
    """
    path = Path(path)
    content = store.read_report(path)
    kind = content.get("evaluation_type")
    if level is not None and kind != level.evaluation_type:
        raise LevelMismatch(f"{path}: is {kind}, expected {level.evaluation_type}")
    rules: Mapping[Any, LevelRules[Any]] = RULES
    unit = rules.get(kind, RULES["token-level"]).unit
    report = path / store.REPORT if path.is_dir() else path
    known = {field.name for field in fields(ReportRecord)}
    with _named(report):
        head = TypeAdapter(ReportRecord).validate_python({key: content[key] for key in content if key in known})
    queries = _queries(report, content, head, unit)
    if len(queries) != head.counts.get("questions"):
        raise ResultError(f"{report}: has {len(queries)} questions, and counts {head.counts.get('questions')}")
    for name, mean in head.metrics.items():
        found = queries.table.mean.get(name)
        if found is None and mean == 0.0 and head.count_as_zero:
            continue  # of version 2 as it first was: zeros alone, of a score that no question has
        if (found is None) != (mean is None) or not isclose(found or 0.0, mean or 0.0, rel_tol=1e-9):
            raise ResultError(
                f"{report}: $.metrics.{name} is {mean}, and the mean of the scores of its questions is {found}: it was "
                "changed"
            )
    return EvaluationResult[Any](
        name=head.name,
        evaluation_type=head.evaluation_type,
        queries=queries,
        metric_names=head.metric_names,
        cutoffs=head.cutoffs,
        config=head.config,
        timings=head.timings,
        notes=head.notes,
        created=head.created,
        hits={name: head.counts.get(name, 0) for name in ("hits", "unlocated_hits")},
        version=head.version,
        folder=report.parent,
        experiment_url=head.experiment_url,
    )


def _queries(report: Path, content: Mapping[str, Any], head: ReportRecord, unit: Any) -> QueryResults[Any]:
    """Return the questions: of the file beside the report or, if there is none, of the report alone."""
    named = [str(ScoreName(metric, Cutoff.parse(cutoff))) for metric in head.metric_names for cutoff in head.cutoffs]
    names = [name for name in named if name in head.metrics]
    listed = content.get("queries")
    old: Any = schema_1.QueryRecord
    new: Any = QuestionRecord
    if content["schema_version"] == 1:
        return schema_1.read_queries(_listed(report, listed, old[unit]), names, head.count_as_zero, str(report))
    file = report.parent / store.QUESTIONS
    if report.name == store.REPORT and file.exists():
        _check_file(file, report, head)
        found = partial(_hits, report, head)
        return read_questions(_lines(file, new[unit]), names, head.count_as_zero, found, str(file))
    if listed is None:
        raise ResultError(f"{file}: is missing; it holds the scores of the questions of {report.name}")
    return read_questions(_listed(report, listed, new[unit]), names, head.count_as_zero, None, str(report))


def _lines(file: Path, kind: Any) -> Iterator[Any]:
    """Yield the questions that a file holds line by line, each as one of a kind of record."""
    reader: TypeAdapter[Any] = TypeAdapter(kind)
    for where, line in store.read_lines(file):
        with _named(where):
            yield reader.validate_python(line)


def _listed(report: Path, queries: Any, kind: Any) -> Iterator[Any]:
    """Yield the questions that a report itself holds, each as one of a kind of record."""
    if not is_list(queries):
        raise ResultError(f"{report}: $.queries: got {queries!r:.40}; expected a list")
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
        found, hits = read_hit_lines(file)
    except DatasetError as error:
        raise ResultError(str(error)) from error
    if found != [*query_ids]:
        raise ResultError(f"{file}: does not hold the questions of {report.name}, in their order")
    return hits


def _check_file(file: Path, report: Path, head: ReportRecord) -> None:
    if head.files.get(file.name, {}).get("sha256") != store.sha256(file):
        raise ResultError(
            f"{file}: is not the file that was saved with {report.name}: it was changed, cut off, or is that of "
            "another run. Copy the whole folder again"
        )


@contextmanager
def _named(where: str | Path, place: str = "") -> Generator[None]:
    """Say where what is not valid is.

    Raises:
        ResultError: It is not valid.
    """
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        raise ResultError(f"{where}: $.{place}{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
