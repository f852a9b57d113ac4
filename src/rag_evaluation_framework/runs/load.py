"""Saved results: `load_result` reads one, `find_run` finds it by name, `keep_baseline` keeps it.

Nothing that a file says is believed before it is checked.
"""

import os
import re
import shutil
from array import array
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from itertools import chain, islice
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from pydantic import AfterValidator, AllowInfNan, BaseModel, Field, PlainValidator, Strict, TypeAdapter, ValidationError

from ..base import files
from ..base.files import checked_path, is_list, is_object
from ..base.notes import note
from ..base.outside import first_of, one_line, shown
from ..components.providers.calls import ModelUsage
from ..data import Answer, CharacterSpan, Cutoff, EvaluationType, Failure, Query, QueryId, QueryText, ScoreName, Skipped
from ..data.columns import Numbers
from ..data.levels import TOKEN, Level, U, checked_level
from ..data.score_table import ScoreTable
from ..datasets.rankings.hit_lines import read_hit_lines
from ..errors import DatasetError, InputError, LevelMismatch, ResultError
from . import store
from .query_result import DEEPEST, Kept, QueryResults, Returned
from .result import HEAD, EvaluationResult, ExperimentResult
from .shown import GateVerdict

# What is read of `report.json` and of its questions. In JSON as it is read, texts, lists and objects are nothing else;
# numbers and truth values could be texts.

_LARGEST = 2**63 - 1


def _cutoff(text: str) -> str:
    if text != str(Cutoff.parse(text)):
        raise ValueError(f"{text!r}: expected the cutoff as it is printed, {Cutoff.parse(text)}")
    return text


def _time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _different(items: tuple[str, ...]) -> tuple[str, ...]:
    if twice := [item for item, times in Counter(items).items() if times > 1]:
        raise ValueError(f"{twice[0]!r} is there twice")
    return items


def _not_too_deep(record: Mapping[str, Any]) -> Mapping[str, Any]:
    if files.is_deeper(record, DEEPEST):
        raise ValueError(f"is nested more than {DEEPEST} deep")
    return record


def _span(value: Any) -> CharacterSpan:
    if not is_object(value) or not value.keys() >= {"doc_id", "start", "end"}:
        raise ValueError("expected a span with doc_id, start and end")
    return CharacterSpan(value["doc_id"], value["start"], value["end"], value.get("text", ""))


if TYPE_CHECKING:
    _AnswerOf: TypeAlias = Answer[U]
else:  # it is written as its places
    _AnswerOf = Annotated[tuple[tuple[U, ...], ...], AfterValidator(Answer)]

Count = Annotated[int, Strict(), Field(ge=0, le=_LARGEST)]
Number = Annotated[float, Strict(), AllowInfNan(False)]
Recorded = Annotated[Mapping[str, Any], AfterValidator(_not_too_deep)]
_Names: TypeAlias = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_different)]


class _Dataset(BaseModel):
    name: str
    hash: str
    skipped: Count


class _Corpus(BaseModel):
    source: str | None
    documents: Count
    hash: str
    ids: str


class _Chunking(BaseModel):
    chunks: Count
    fingerprint: str


class _Metric(BaseModel):
    type: str
    score_range: tuple[Number | None, Number | None] = (0, 1)


class _Index(BaseModel):
    chunks: Count
    characters: Count
    dimension: Count


class _Config(BaseModel):
    """Fields that are read from a configuration; the rest is for people."""

    dataset: _Dataset
    corpus: _Corpus
    tokenizer: str | None
    chunking: _Chunking | None
    metrics: tuple[_Metric, ...]
    k: tuple[Count, ...]
    unfilled: dict[str, Count]
    experiment_name: str | None
    top_k: dict[str, Count] | None = None
    index: _Index | None = None


class _SkippedQuery(BaseModel):
    id: str
    query: str
    metadata: Recorded


class _Skipped(BaseModel):
    query: _SkippedQuery
    quote: str
    reason: str


class _Counts(BaseModel):
    unlocated_hits: Count


class ReportRecord(BaseModel):
    """Fields that are read from a report, as `EvaluationResult` describes them.

    `files` are those that were saved with the report, by name, each with its `sha256`. Of `metrics`, the names of the
    scores are read; the means follow from the questions, as all does that is not here.
    """

    name: str
    evaluation_type: EvaluationType
    metric_names: _Names
    cutoffs: Annotated[
        tuple[Annotated[str, AfterValidator(_cutoff)], ...], Field(min_length=1), AfterValidator(_different)
    ]
    count_as_zero: frozenset[Literal["no-answer", "failed"]]
    config: Recorded
    timings: Mapping[str, Annotated[Number, Field(ge=0)]]
    notes: tuple[str, ...]
    created: Annotated[str, AfterValidator(_time)]
    version: str
    counts: _Counts
    files: Mapping[str, Mapping[str, str]]
    experiment_url: str | None
    metrics: Mapping[str, Any]
    skipped: tuple[_Skipped, ...]
    gates: tuple[GateVerdict, ...]
    usage: tuple[ModelUsage, ...]


@dataclass(slots=True)
class Question(Generic[U]):
    """Fields that are read from a question; its numbers move to columns.

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
    answers: tuple[_AnswerOf[U], ...] = ()
    places_found: tuple[Count | None, ...] = ()
    metadata: Recorded = field(default_factory=dict[str, Any])
    before: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    ceilings: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    first_relevant: Annotated[int, Strict(), Field(ge=1, le=_LARGEST)] | None = None
    best_score: Number | None = None

    def __post_init__(self) -> None:
        sizes, found = [len(answer.places) for answer in self.answers], self.places_found
        if len(found) != len(sizes) or any((number or 0) >= size for number, size in zip(found, sizes, strict=True)):
            raise ValueError(f"places_found is {list(found)}; expected the number of a place of each answer, or null")


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
        columns = self.columns.items()
        return {
            name: np.array([*column, *[nan] * (self.rows - len(column))], dtype=np.float64) for name, column in columns
        }


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
    report, content = store.read_report(checked_path(path, ResultError))
    kind = content.get("evaluation_type")
    if expected is not None and isinstance(kind, str) and kind != expected.evaluation_type:
        raise LevelMismatch(f"{path}: is {kind}, expected {expected.evaluation_type}")
    with _named(report):
        head = ReportRecord.model_validate(content)
    with _named(report, "config."):
        metrics = _Config.model_validate(head.config).metrics
    address, told = _published(report.parent)
    head.experiment_url = head.experiment_url or address
    queries = _queries(report, content, head, {metric.type for metric in metrics})
    skipped = (
        (Query(QueryId(one.query.id), QueryText(one.query.query), one.query.metadata), one) for one in head.skipped
    )
    known: dict[str, Any] = {key: getattr(head, key) for key in HEAD}
    known["notes"] = (*head.notes, *told)
    return EvaluationResult[Any](
        **known,
        queries=queries,
        hits={"hits": int(queries.returned.results.sum()), "unlocated_hits": head.counts.unlocated_hits},
        folder=report.parent,
        skipped=tuple(Skipped(query, one.quote, one.reason) for query, one in skipped),
    )


def _published(folder: Path) -> tuple[str | None, list[str]]:
    """Return where a result was published, with a note, if its folder says so."""
    kept: Any = None
    with suppress(ValueError, InputError):
        if (path := folder / store.EXPERIMENT).is_file():
            kept = files.parse_json(files.read_text(path, most=_LARGEST_EXPERIMENT))
    url, notes = (kept.get(name) for name in ("url", "notes")) if is_object(kept) else (None, None)
    told = [note for note in notes if isinstance(note, str)] if is_list(notes) else []
    return (url if isinstance(url, str) else None), told


@cache
def _reader(evaluation_type: EvaluationType) -> TypeAdapter[Question[Any]]:
    """Return what reads questions; making it takes longer than reading a run of some hundred."""
    record: Any = Question
    span: Any = Annotated[CharacterSpan, PlainValidator(_span)]  # numbers in texts are no offsets
    return TypeAdapter(record[span if evaluation_type == TOKEN.evaluation_type else str])


def _queries(report: Path, content: Mapping[str, Any], head: ReportRecord, built_in: Set[str]) -> QueryResults[Any]:
    """Return the questions: of the report or, if it names the file beside, of that."""
    named = [str(ScoreName(metric, Cutoff.parse(cutoff))) for metric in head.metric_names for cutoff in head.cutoffs]
    names = [name for name in named if name in head.metrics]
    if unscored := set(head.metric_names) - {name.partition("@")[0] for name in names}:
        raise ResultError(f"{report}: $.metrics: has no score of {min(unscored)!r}, which is one of the metric_names")
    reader = _reader(head.evaluation_type)
    source = report.parent / store.QUESTIONS if store.QUESTIONS in head.files else report
    questions: dict[str, Question[Any]] = {}
    scores, before, ceilings, stages, best = (_Numbers() for _ in range(5))
    for where, place, line in _lines(source, report, content, head):
        with _named(where, place):
            question = reader.validate_python(line)
        if question.query_id in questions:
            raise ResultError(f"{source}: question {question.query_id!r} is there twice")
        scores.add(question.scores)
        before.add(question.before)
        ceilings.add(question.ceilings)
        stages.add(question.stages)
        best.add({"first_relevant": question.first_relevant, "best_score": question.best_score})
        question.scores = question.before = question.ceilings = question.stages = {}
        questions[question.query_id] = question
    if not questions:
        raise ResultError(f"{source}: has no questions")
    columns, earlier, highest = scores.read(), before.read(), ceilings.read()
    for name, column in chain(columns.items(), earlier.items(), highest.items()):
        wrong = np.flatnonzero((column < -_NEARLY) | (column > 1 + _NEARLY)).tolist()
        if wrong and name.partition("@")[0] in built_in:  # the type of a built-in metric is its name
            raise ResultError(
                f"{source}: question {[*questions][wrong[0]]!r}: {name} is {column[wrong[0]]}; expected 0 to 1, as of "
                "any built-in metric"
            )
    rankings = report.parent / store.RANKINGS
    is_known = report.name == store.REPORT and rankings.exists()
    listed, rows = [*questions.values()], [*enumerate(questions.values())]
    return QueryResults[Any](
        ScoreTable(
            tuple(questions),
            {name: columns.get(name, np.full(len(rows), nan)) for name in names},
            np.array([bool(question.relevant) for question in listed], dtype=np.bool_),
            {question.query_id: question.failures for question in listed if question.failures},
            count_as_zero=head.count_as_zero,
        ),
        [question.text for question in listed],
        [question.relevant for question in listed],
        {row: question.gains for row, question in rows if question.gains},
        stages.read(),
        partial(_hits, rankings, report, head) if is_known else None,
        Returned(np.array([question.results for question in listed], dtype=np.int64), **best.read()),
        {row: question.answers for row, question in rows if question.answers},
        {row: question.places_found for row, question in rows if question.answers},
        {row: question.metadata for row, question in rows if question.metadata},
        {name: earlier[name] for name in names if name in earlier},
        {name: highest[name] for name in names if name in highest},
    )


def _lines(
    source: Path, report: Path, content: Mapping[str, Any], head: ReportRecord
) -> Iterator[tuple[str | Path, str, Any]]:
    """Yield where each question is, for messages, as a file and a place in it, and the question."""
    if source != report:
        if not source.exists():
            raise ResultError(f"{source}: is missing; it holds the questions of {report.name}. Copy it, too")
        _check_file(source, report, head)
        lines = files.json_lines(source, ResultError, longest=store.LONGEST_LINE, finite=False)
        yield from ((f"{source}: line {number}", "", line) for number, line in lines)
        return
    listed = content.get("queries")
    if not is_list(listed):
        raise ResultError(f"{report}: $.queries: got {shown(listed)}; expected a list")
    yield from ((report, f"queries.{number}.", line) for number, line in enumerate(listed))


def _hits(file: Path, report: Path, head: ReportRecord, query_ids: Sequence[str]) -> Kept:
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
        got = "" if known is not None or first["type"] == "missing" else f", got {shown(first['input'])}"
        path = one_line(place + ".".join(map(str, first["loc"]))).removesuffix(".")
        raise ResultError(f"{where}: $.{path}: {first['msg'] if known is None else known}{got}") from error


# The baseline of a project: the report of one run, in a place that stays.


def keep_baseline(run: str | Path, root: str | Path = store.ROOT) -> Path:
    """Copy the report of a run to `<root>/baseline/report.json`, in place of the one that may be there.

    The report is all that a comparison needs; of more than 5,000 questions, `questions.jsonl` is copied beside it.
    Each file is replaced as a whole; a reader that comes between the two finds that they do not belong together.

    Args:
        run: The run's folder, or its report.
        root: Where the baseline is kept.

    Returns:
        The report.

    Raises:
        ResultError: The run cannot be read, or the baseline not be written.
    """
    source, content = store.read_report(Path(run))
    load_result(source)
    folder = Path(root) / store.BASELINE
    report, rows = folder / store.REPORT, folder / store.QUESTIONS
    needs_rows = store.QUESTIONS in content["files"]
    try:
        with files.temporary_folder(folder) as made:
            shutil.copyfile(source, made / store.REPORT)
            if needs_rows:
                shutil.copyfile(source.with_name(store.QUESTIONS), made / store.QUESTIONS)
                (made / store.QUESTIONS).replace(rows)
            else:
                rows.unlink(missing_ok=True)  # it belongs to the baseline before
            (made / store.REPORT).replace(report)
    except OSError as error:
        raise ResultError(f"{folder}: cannot be written ({store.reason(error)}); choose another --root") from error
    return report


# Saved runs by name: a path, a folder in `<root>/runs/` or the beginning of its name, an experiment, `last`.

_MOST_LISTED = 10
_WIDEST = 100  # characters of a name in a list
_KEEP = "`rag-eval baseline last`"
_LAST = re.compile(r"last(?:~([0-9]{1,9}))?")
_TIME = "%Y%m%dT%H%M%SZ"
_TIMED = re.compile(r"([0-9]{8}T[0-9]{6}Z)-")


class SavedRun(NamedTuple):
    """Beginning of a saved run's report.

    Attributes:
        folder: The folder of the run.
        name: The name of its experiment.
        created: When the run started, UTC, ISO 8601.
    """

    folder: Path
    name: str
    created: str


def find_run(name: str, root: str | Path = store.ROOT, folder: Path = Path()) -> Path:
    """Return the path of the saved run that a text names.

    A path that exists is that path, whatever else is called so. Of the names, a folder in `<root>/runs/` comes first,
    then `last`, `last~1` and so on, which count from the newest run, then `baseline`, if there is one in `<root>`, then
    the newest run of an experiment, then the unique beginning of a folder's name. Nothing with a path separator is a
    name.

    Args:
        name: What was given.
        root: Where runs are kept.
        folder: The folder to which a path is relative.

    Raises:
        ResultError: It names no run or several; the message lists the newest runs that there are.
    """
    with suppress(OSError, ValueError):  # it is too long for a path, or holds what none can
        if name and (path := folder / files.from_home(name)).exists():
            return path
    runs, kept = Path(root) / store.RUNS, Path(root) / store.BASELINE / store.REPORT
    folders = _folders(runs)
    if Path(name).parts[-2:] == (store.BASELINE, store.REPORT):
        raise _refused(f"no baseline is kept as {shown(name)}: {_KEEP} keeps the last run", runs, folders)
    if not name or any(separator in name for separator in (os.sep, os.altsep) if separator):
        raise _refused(f"there is no path {shown(name)}", runs, folders)
    if exact := [folder for folder in folders if folder.name == name]:
        return exact[0]
    if name == store.BASELINE and kept.exists():
        return kept
    last, unreadable = _LAST.fullmatch(name), list[str]()
    meant = (run for run in _newest_first(folders, unreadable) if last or run.name == name)
    if found := next(islice(meant, int(last[1] or 0) if last else 0, None), None):
        for why in unreadable if last else ():
            note(f"{name} passes over a run that cannot be read: {why}")
        return found.folder
    begun = [folder for folder in folders if folder.name.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise _refused(f"{shown(name)} is the beginning of {len(begun)} names of runs; write more of it", runs, begun)
    kept_as = f": {_KEEP} keeps the last run; a first one is made with --set baseline=null --set 'gates=[]'"
    keep = kept_as if name == store.BASELINE else ""
    raise _refused(f"no path, run or experiment is called {shown(name)}{keep}", runs, folders)


def _folders(runs: Path) -> list[Path]:
    """Return the folders in which runs may be; hidden ones are not finished, nor what lies in `unfinished`.

    Raises:
        ResultError: They cannot be listed.
    """
    try:
        listed = [path for path in runs.iterdir() if path.name[:1] != "." and path.name != store.UNFINISHED]
        return [path for path in listed if path.is_dir()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        where = one_line(str(runs), _WIDEST)
        raise ResultError(f"{where}: cannot be read ({store.reason(error)}); choose another --root") from error


def _newest_first(folders: Sequence[Path], unreadable: list[str]) -> Iterator[SavedRun]:
    """Yield saved runs, the newest first, without those that cannot be read; no report is opened before its turn.

    Those of one second are in the order of the fractions that their reports tell, then of the numbers of their folders.

    Args:
        folders: The folders.
        unreadable: Filled with the reason why each was left out, in its turn; of folders named by a time only.
    """
    dated: defaultdict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        if timed := _TIMED.match(folder.name):
            dated[timed[1]].append(folder)
        else:
            with suppress(ResultError):
                dated[_when(_begin(folder)).strftime(_TIME)].append(folder)
    for second in sorted(dated, reverse=True):
        found: list[SavedRun] = []
        for folder in dated[second]:
            try:
                found.append(_begin(folder))
            except ResultError as error:
                unreadable.append(one_line(str(error)))
        yield from sorted(
            found,
            key=lambda run: (_when(run).microsecond, len(run.folder.name), run.folder),  # -10 comes after -9
            reverse=True,
        )


def _when(run: SavedRun) -> datetime:
    return datetime.fromisoformat(run.created)


def _begin(folder: Path) -> SavedRun:
    """Return the run in a folder.

    Raises:
        ResultError: There is none that can be read.
    """
    report, content = store.read_report(folder)
    name, created = content.get("name"), content.get("created")
    with suppress(ValueError):
        if isinstance(name, str) and isinstance(created, str):
            return SavedRun(folder, name, _time(created))
    raise ResultError(f"{report}: does not tell its name and when it was created; expected a run's {store.REPORT}")


def _refused(why: str, runs: Path, folders: Sequence[Path]) -> ResultError:
    """Return an error with the reason, the place that was searched, the runs there, and how to name one."""
    where, found = one_line(str(runs), _WIDEST), [*_newest_first(folders, [])]
    others = sorted(one_line(path.name, _WIDEST) for path in {*folders} - {run.folder for run in found})
    damaged = [f"not readable as runs: {first_of(others, _MOST_LISTED)}"] if others else []
    if not found:
        also = "".join(f", {text}" for text in damaged)
        return ResultError(f"{why}; there are no runs in {where}{also}; `rag-eval run` saves one, --root names others")
    newest = f"newest {_MOST_LISTED} of {len(found)} " if len(found) > _MOST_LISTED else ""
    named = ([run.folder.name, run.created, run.name] for run in found[:_MOST_LISTED])
    lines = ["  ".join(one_line(text, _WIDEST) for text in ("", *texts)) for texts in named]
    return ResultError(
        "\n".join([f"{why}; the {newest}runs in {where}:", *lines, *damaged])
        + "\nname a run by its path, its folder or the beginning of that, its experiment, or as last, last~1 and so on"
    )
