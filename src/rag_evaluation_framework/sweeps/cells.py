"""Running the cells of a sweep, or the shards of a run; what is done is kept below the root, and not done again.

A cell is found again by a hash of all that its result depends on: the run, its questions and documents, versions, and
the code that is not ours. Its finished run is a folder of that name in `<root>/cells/`. So the same sweep goes on where
it ended, whatever ended it, and a changed one runs only what is new.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

from ..base.exits import outcome
from ..base.files import is_list, is_object
from ..base.notes import note
from ..base.outside import error_text, one_line
from ..base.progress import progress_bar
from ..base.stages import Stages, kept_stages, shared
from ..components.providers.calls import ModelUsage, count_usage, track_usage
from ..contracts.registry.building import plain
from ..data import CharacterSpan, Corpus, Dataset, GroundTruth
from ..data.rankings import OnError
from ..errors import ConfigError, Interrupted, RagEvalError, ResultError, SaveFailed
from ..runs import EvaluationResult, ExperimentConfig, RunSpec, load_result, open_journal, parse_config, run
from ..runs.journal import MAIN, Resume, depends_on, digest, files_of, is_described, own_modules, unfinished_folder
from ..runs.spec import shard_numbers
from ..runs.store import CELLS, REPORT
from ..runs.texts import keep_corpus
from .cell import Cell, CellFacts, CellOutcome, Drawer
from .executors import run_tasks

_SECONDS_BETWEEN_LINES = 5
_JOURNAL_AFTER = 0.2  # seconds: of a cell that is done by then, nothing is written twice
BUSY = "cells ran side by side: their times are those of a busy machine"
WHOLE = "the run"
"""The name of a cell that is the only one."""
_WORDS = {"corpus": "documents", "questions": "questions", "versions": "versions of Python or packages", "code": "code"}


class Prepared(NamedTuple):
    """A cell that is ready to be run.

    Attributes:
        cell: The cell.
        config: Its experiment.
        folder: Where its run is, or will be.
        pipeline: How a file describes its parts; None if one is an object.
    """

    cell: Cell
    config: ExperimentConfig[Any]
    folder: Path
    pipeline: Mapping[str, Any] | None


@dataclass
class Workshop:
    """Where cells are run: what they read is read once.

    Attributes:
        folder: To what paths of the runs are relative.
        root: Where cells are kept.
        imports: Whether runs may name code of one's own.
        resume: Which answers of unfinished cells are taken; `"never"` runs cells again that are done, too.
        start: Tells it from all others.
        drawer: Where facts of cells are put.
    """

    folder: Path
    root: Path
    imports: bool = True
    resume: Resume = "if-sure"
    start: str = field(default_factory=lambda: uuid4().hex)
    drawer: Drawer = field(default_factory=Drawer)
    _read: dict[str, tuple[Corpus | None, Dataset[Any]]] = field(default_factory=dict[str, Any])

    def prepared(self, cell: Cell) -> Prepared:
        """Return a cell that is ready to be run.

        Raises:
            InputError: Something in it cannot be used.
        """
        spec = self._with_sources(cell.spec).model_copy(update={"save_results_path": str(self.root.absolute())})
        config = spec.experiment(self.folder, imports=self.imports)
        has_objects = any(not isinstance(part, str | dict) for part in spec.pipeline.values())
        pipeline = None if has_objects else spec.pipeline
        name = _name(config, pipeline) or uuid4().hex
        return Prepared(cell, config, self.root / CELLS / name[:16], pipeline)

    def kept(self, prepared: Prepared) -> EvaluationResult[Any] | None:
        """Return the result of a cell that is done: its run is whole, and no question failed in it."""
        result = None if self.resume == "never" else _loaded(prepared.folder)
        if result is None or result.failures:
            return None
        with suppress(OSError):  # there are no answers, mostly
            left = unfinished_folder(self.root, prepared.config, prepared.pipeline).stat()
            if left.st_mtime < (prepared.folder / REPORT).stat().st_mtime:  # it was killed when it was just saved
                with open_journal(prepared.config, "never", prepared.pipeline) as journal:
                    journal.is_finished = True
        return result

    def run(self, prepared: Prepared, *notes: str) -> EvaluationResult[Any]:
        """Run a cell and keep it, with notes of its run.

        Raises:
            Exception: Whatever the run raises.
            KeyboardInterrupt: An interrupt came; answers are kept.
        """
        resume: Resume = self.resume if _is_known(prepared.config, prepared.pipeline) else "never"
        with open_journal(prepared.config, resume, prepared.pipeline, _JOURNAL_AFTER) as journal:
            journal.notes += notes
            result = run(prepared.config, journal)
            try:
                _save(result, prepared.folder)
            except SaveFailed as error:
                note(f"{prepared.cell.name}: the result is used, but not kept: {error.why}")
            finally:  # Ctrl-C that came while it was saved is raised when it is
                journal.is_finished = (prepared.folder / REPORT).is_file()
            return result

    def done(self, prepared: Prepared, result: EvaluationResult[Any] | str, *, is_kept: bool = False) -> CellOutcome:
        """Return what became of a cell: its result, or why it failed."""
        if isinstance(result, str):
            return CellOutcome(prepared.cell, failure=result, was_run=True)
        folder = prepared.folder if (prepared.folder / REPORT).is_file() else None
        if failure := _failure(result):
            return CellOutcome(prepared.cell, folder, failure, was_run=True)
        facts = CellFacts.of(result, self.drawer)
        return CellOutcome(prepared.cell, folder, facts=facts, is_kept=is_kept, was_run=not is_kept)

    def _with_sources(self, spec: RunSpec) -> RunSpec:
        """Return a run with its documents and questions, which are read once for all cells that name the same."""
        if spec.engine is not None or spec.dataset is None:
            return spec
        documents = ("corpus", "glob", "exclude", "converter", "text_column", "name_column")
        questions = ("dataset", "columns", "loader_root", "allow_assets")
        key = json.dumps([getattr(spec, each) for each in (*documents, *questions)], default=id)
        if key not in self._read:
            self._read[key] = spec.sources(self.folder, imports=self.imports)
            if (corpus := self._read[key][0] or self._read[key][1].corpus) is not None:
                keep_corpus(corpus, self.root)
        corpus, dataset = self._read[key]
        return spec.model_copy(update={"corpus": corpus, "dataset": dataset})


_first: dict[tuple[Any, ...], str] = {}  # the code of modules when this process first saw it


def _is_known(config: ExperimentConfig[Any], pipeline: Mapping[str, Any] | None) -> bool:
    """Return whether a run is told from others: by a file, or by the parameters of its parts."""
    named = [] if config.chunk_id is None else [config.chunk_id]
    return is_described(*named, *([config.retriever] if pipeline is None else []))


def _name(config: ExperimentConfig[Any], pipeline: Mapping[str, Any] | None) -> str | None:
    """Return a hash of all that the result of a run depends on; None if that is not known.

    How a file describes the parts counts only where their record does not tell all, as it tells prices, too.
    """
    described = pipeline or {}
    parts = (config.retriever, *([] if config.chunk_id is None else [config.chunk_id]), *config.metrics)
    _, facts = depends_on(config, described, parts[1:])
    modules = sorted(own_modules(parts, described))
    if not _is_known(config, pipeline) or MAIN in modules:
        return None
    loaded = tuple((one, id(getattr(sys.modules.get(one), "__spec__", 0))) for one in modules)
    if _first.setdefault(loaded, facts["code"]) != facts["code"]:
        note(
            "code of your own, or a Python file beside it, was edited after it was loaded: cells are run with the code "
            "that was loaded, and not found again"
        )
        return None
    measured, record = config.config, config.record
    files = [*files_of(*parts), *filter(Path.is_file, [Path(measured.tokenizer.name)] if measured.tokenizer else ())]
    known = ((str(file), (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files)
    corpus, dataset = config.corpus, config.dataset
    truth = shared(("truth", id(dataset)), lambda: (digest([_truth(entry) for entry in dataset]), dataset))[0]
    facts |= {"corpus": corpus.content_hash}  # as in the names of cells that are kept
    way = None if is_described(config.retriever, whole=True) else plain(pipeline)
    settings = [record["hash"], way, sorted(measured.count_as_zero), measured.batch_queries]
    return digest([settings, corpus.ordered_hash, record["dataset"]["hash"], truth, facts, [*known]])


def _truth(entry: GroundTruth[Any]) -> list[Any]:
    """Return what is relevant, with places: the hash of a dataset is about the texts there, wherever they are.

    Its form is in the names of all finished cells: in another form they are run again.
    """
    return [entry.query.id, *([*map(_place, answer.units)] for answer in entry.answers)]


def _place(unit: Any) -> Any:
    return [unit.doc_id, unit.start, unit.end] if isinstance(unit, CharacterSpan) else unit


def _save(result: EvaluationResult[Any], folder: Path) -> None:
    """Save a run in its folder, in place of the one that may be there; a crash leaves one of them, or none.

    Raises:
        SaveFailed: It cannot be saved; the one that was there stays.
    """
    # Beside the folder of cells, as saving lists what is beside it, and there may be thousands of cells.
    made = result.save(folder.parent.resolve().with_name(f".{uuid4().hex}"))
    old = made.with_name(f"{made.name}-old")
    with suppress(OSError):  # there is none
        folder.rename(old)
    with suppress(OSError):  # another process has just put there what this one has
        folder.parent.mkdir(exist_ok=True)
        made.rename(folder)
    for left in (made, old):
        shutil.rmtree(left, ignore_errors=True)


def outcomes(
    workshop: Workshop,
    cells: Sequence[Cell],
    on_error: OnError = "collect",
    executor: int | str | Executor | None = None,
) -> Generator[CellOutcome]:
    """Yield what became of each cell, as they come.

    Args:
        workshop: Where they are run.
        cells: The cells.
        on_error: Whether what a cell raises is data, or ends the sweep.
        executor: What runs them, as `run_tasks` says; by default this process, one after the other.

    Raises:
        ConfigError: Workers cannot be sent what a cell holds.
        ProviderUnavailable: The executor is gone.
        RagEvalError: A cell failed, and `on_error` is `"raise"`.
    """
    waiting: dict[str, list[Prepared]] = {}  # several are one if they say the same
    for cell in cells:
        prepared = outcome(partial(workshop.prepared, cell), why_failed)
        if isinstance(prepared, str):
            yield _collected(CellOutcome(cell, failure=prepared), on_error)
        elif (kept := workshop.kept(prepared)) is not None:
            yield workshop.done(prepared, kept, is_kept=True)
        elif executor is not None:
            waiting.setdefault(prepared.folder.name, []).append(prepared)
        else:
            result = outcome(partial(workshop.run, prepared), why_failed)
            yield _collected(workshop.done(prepared, result), on_error)
    if executor is None or not waiting:
        return
    tasks = {name: _task(workshop, prepared) for name, (prepared, *_) in waiting.items()}
    groups = {name: digest(shared) for name, (own, *_) in waiting.items() if (shared := _shared(own.config.record))}
    with closing(run_tasks(tasks, run_task, executor, groups)) as answers:
        for name, answer in answers:
            for told in answer.notes:
                note(told)
            why, usage = json.loads(answer.text or '["", []]')
            for used in usage:
                count_usage(ModelUsage(**used))
            folder = waiting[name][0].folder
            result = answer.failure or why or _loaded(folder) or f"{folder}: its result is not there"
            for prepared in waiting[name]:
                yield _collected(workshop.done(prepared, result), on_error)


def _shared(record: Any) -> list[str]:
    """Return the chunkers and embedders in the record of a run: runs that have the same share most of their work."""
    parts = record.items() if is_object(record) else enumerate(record) if is_list(record) else ()
    own = (
        [digest(part)] if key in ("chunker", "embedder") else _shared(part) for key, part in parts if part is not None
    )
    return sorted({*chain.from_iterable(own)})


def _collected(found: CellOutcome, on_error: OnError) -> CellOutcome:
    """Return what became of a cell; raise why it failed, if that is to end the sweep."""
    if on_error == "raise" and found.failure is not None:
        raise ConfigError(f"{found.cell.name}: {found.failure}")
    return found


def _loaded(folder: Path) -> EvaluationResult[Any] | None:
    with suppress(ResultError):
        return load_result(folder)
    return None


def cells_progress(made: Iterable[CellOutcome], count: int) -> Iterator[CellOutcome]:
    """Yield what became of cells, and show how many there are: as a bar, or without a terminal as lines."""
    before = told = monotonic()
    ran, seconds = 0, 0.0  # of what an earlier start made, reading it says nothing of what is left
    with progress_bar(count, "Cells", "cell", delay=0) as bar:
        for number, found in enumerate(made, 1):
            bar.update()
            now = monotonic()
            if not found.is_kept:
                ran, seconds = ran + 1, seconds + now - before
            before = now
            if bar.disable and number < count and now - told > _SECONDS_BETWEEN_LINES:
                told = now
                left = f", about {seconds / ran * (count - number):.0f} s left" if ran else ""
                sys.stderr.write(f"{number} of {count} cells{left}; {one_line(found.cell.name)}\n")
            yield found


def why_failed(error: BaseException) -> str:
    """Return why a cell failed, by what was raised."""
    return str(error) if isinstance(error, RagEvalError) else error_text(error)


def _failure(result: EvaluationResult[Any]) -> str | None:
    """Return why a result is none: all questions failed."""
    if len(result.failures) < len(result.queries):
        return None
    (first, *_) = next(iter(result.failures.values()))
    return f"all questions failed, the first: {first.kind}: {first.message}"


# A cell as a task for a worker: texts, never documents.


def _task(workshop: Workshop, prepared: Prepared) -> str:
    """Return a cell as a worker gets it, JSON.

    Raises:
        ConfigError: It holds what was given in Python and no name or path tells.
    """
    cell = prepared.cell
    keys = {key: getattr(cell.spec, key) for key in cell.spec.model_fields_set}
    opaque = [key for key in ("corpus", "dataset", "tokenizer") if not isinstance(keys.get(key), str | None)]
    if opaque or not _is_known(prepared.config, prepared.pipeline):
        raise ConfigError(
            f"{cell.name}: {' and '.join(opaque) or 'a part of the pipeline'} was given in Python, and workers are "
            "sent names: give a path or name"
        )
    places = [str(workshop.folder.absolute()), str(workshop.root.absolute()), prepared.folder.name]
    facts = depends_on(prepared.config, prepared.pipeline or {})[1]
    task = [cell.number, cell.name, keys, facts, *places, workshop.imports, workshop.resume, workshop.start]
    return json.dumps(task, default=plain)


def run_task(task: str) -> str:
    """Run a cell, and return as JSON why it failed, and what it asked of providers; its result is in its folder."""
    number, name, keys, facts, folder, root, wanted, imports, resume, start = json.loads(task)
    workshop, stages = _workshop(folder, root, start, imports=imports, resume=resume)
    cell = Cell(number, name, {}, {}, parse_config(keys, name))

    def made() -> str | None:
        prepared = workshop.prepared(cell)
        if prepared.folder.name == wanted:
            result = workshop.kept(prepared)
            told = () if cell.spec.shard else (BUSY,)  # a run takes no times of its shards
            return _failure(workshop.run(prepared, *told) if result is None else result)
        own = depends_on(prepared.config, prepared.pipeline or {})[1]
        others = [word for fact, word in _WORDS.items() if own.get(fact) != facts.get(fact)]
        raise ConfigError(
            f"{' and '.join(others) or 'settings, labels, files or code of metrics'} are others where the worker is "
            "than where the sweep is"
        )

    with kept_stages(stages), track_usage() as usage:
        why = outcome(made, why_failed)
    return json.dumps([why, [*map(asdict, usage.models)]])


@lru_cache(maxsize=1)
def _workshop(folder: str, root: str, start: str, *, imports: bool, resume: Resume) -> tuple[Workshop, Stages]:
    """Return the workshop of this process for a start of a sweep: what its cells read there, and what these share.

    The next start reads again, as files may have changed.
    """
    return Workshop(Path(folder), Path(root), imports, resume, start), Stages(root)


# One large run whose questions are answered in parts, by several workers.

_SHARDS = 32  # where it is not known how many workers there are
_OF_THE_WHOLE = {"gates", "thresholds", "baseline", "sinks"}
_OF_THE_SHARDS = {
    *("retriever", "chunker", "embedder", "vector_store", "reranker", "engine", "mode", "rerank_top_k", "order"),
    *("ties", "ingest", "cleanup", "allow_custom_prefix", "allow_remote", "scope_prefix"),
}
"""Keys of a run that its shards need, and stored rankings do not."""


def in_shards(
    spec: RunSpec,
    folder: Path,
    root: Path,
    executor: int | str | Executor,
    *,
    imports: bool = True,
    resume: Resume = "if-sure",
) -> RunSpec:
    """Answer the questions of a run in shards, and return the run of the rankings: the scores are those of one run.

    Shards are kept as cells of a sweep are, so that the same call goes on where an earlier one ended.

    Args:
        spec: The run.
        folder: The folder to which its paths are relative.
        root: Where shards are kept.
        executor: What answers them, as `Sweep.run` takes it; a number of processes get a shard each, others
            32 in all, but no shard is without a question.
        imports: Whether the run may name code of one's own.
        resume: Which answers of unfinished shards are taken; `"never"` runs shards again that are done, too.

    Raises:
        ConfigError: A shard failed; or workers cannot be sent what is in the run.
        ProviderUnavailable: The executor is gone; what is done is kept.
        Interrupted: Ctrl-C came; what is done is kept.
    """
    workshop = Workshop(folder, root, imports, resume)
    keys = {key: getattr(spec, key) for key in spec.model_fields_set}
    asked = {key: value for key, value in keys.items() if key not in _OF_THE_WHOLE}
    whole = Cell(0, WHOLE, {}, {}, parse_config(asked, WHOLE))
    config = outcome(lambda: workshop.prepared(whole).config, lambda _: None)  # of what cannot be run, shards say why
    questions = _SHARDS if config is None else len(config.dataset)
    of = max(min(executor if isinstance(executor, int) else _SHARDS, questions), 1)
    first, parts = (1, 1) if spec.shard is None else shard_numbers(spec.shard)
    cells: list[Cell] = []
    for number in range(1, of + 1):
        name, own = f"shard {number}/{of}", f"{first + parts * (number - 1)}/{parts * of}"
        cells.append(Cell(number, name, {}, {}, parse_config({**asked, "shard": own}, name)))
    folders: dict[int, Path] = {}
    try:
        with closing(outcomes(workshop, cells, "raise", executor)) as made:
            for one in made:
                if one.folder is not None:
                    folders[one.cell.number] = one.folder
    except KeyboardInterrupt as interrupt:
        told = f"{len(folders)} of {of} shards of the questions are done and kept; run it again to go on"
        raise Interrupted(told) from interrupt
    paths = [str(folders[number].absolute()) for number in sorted(folders)]
    scored = {key: value for key, value in keys.items() if key not in _OF_THE_SHARDS}
    name = spec.experiment_name or (load_result(paths[0]).name if config is None else config.name)
    return parse_config({**scored, "experiment_name": name, "rankings": paths}, "the rankings of the shards")
