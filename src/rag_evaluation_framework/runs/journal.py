"""The journal of a run: every answer is written as it comes, so that a run that ends early can be continued.

While a run is under way, `<root>/runs/unfinished/<hash>/` is locked and has one file per start: a line that says what
answers depend on, then a line per answer. A finished run removes the folder. What answers depend on and the folder's
hash does not tell is compared: answers of other documents, questions, versions or code are left alone.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from inspect import getclosurevars, isfunction
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Literal, cast

from pydantic import TypeAdapter

from ..base.files import is_object, locked, parse_json
from ..base.optional import versions
from ..base.outside import json_text, one_line
from ..base.stages import shared, shared_of
from ..components.providers.calls import ModelUsage
from ..components.retrievers.engine import engine_in
from ..contracts import VectorStore
from ..contracts.component import Component, parameters
from ..contracts.registry.building import describe, is_elsewhere, is_of_package, without_run_id
from ..contracts.registry.loading import KINDS
from ..contracts.registry.loading import components as registered
from ..data import Corpus, Hit, Retrieval
from ..data.documents import HOW_READ
from ..data.hits import Ranking
from ..data.rankings import NOT_ANSWERED, Failure
from ..errors import ConfigError, Interrupted
from . import store
from .config import ExperimentConfig
from .shown import run_note

Resume = Literal["if-sure", "always", "never"]
"""Which answers of an unfinished run are taken: those of which nothing can have changed; also those of servers,
databases and objects, of which that is not known; or none."""

_VERSION = 2  # of the lines of a journal
_FILE = "journal-{}.jsonl"
_MOST_AT_ONCE = 1_000  # runs of one configuration
_SYNCED = 1.0  # seconds between two writings to the disk itself
_CUTOFFS = "cutoffs"
"""The fact on which it depends how many results are asked for: an answer is taken at the same number of them only."""
_PACKAGE = __name__.partition(".")[0]
MAIN = "__main__"
_IMPORT = re.compile(  # a statement, wherever it stands in a line, and a call
    rb"(?:^|[;:])[ \t]*(?:from|import)(?:[ \t]|\\\r?\n)+((?:[\w., \t]|\\\r?\n)+)"
    rb"|(?:import_module|__import__)\(\s*[\"'](\w+)",
    re.MULTILINE,
)
_NAMES = re.compile(rb"(?:^|,)[ \t\\\r\n]*(\w+)")  # `a` and `b` of `a.c, b as d`


# An answer, and how it is written.


@dataclass(frozen=True, slots=True)
class Returned:
    """Answer of a retriever to a question, or its failure.

    Attributes:
        found: What it found.
        depth: How many results were asked for.
        failure: How it failed, or None.
        notes: What the retriever noted.
        beside: Of the first of questions that were asked together, what was noted of all of them.
        usage: What was asked of providers for it; of questions that were asked together, for the first one.
    """

    found: Retrieval
    depth: int
    failure: Failure | None = None
    notes: Sequence[str] = ()
    beside: Sequence[str] = ()
    usage: Sequence[ModelUsage] = ()

    def untimed(self) -> "Returned":
        """Return the same without the times of stages, which are not those of one question at a time."""
        stages = tuple(replace(stage, seconds=None) for stage in self.found.stages if stage.hits is not None)
        return replace(self, found=replace(self.found, stages=stages))


@cache
def _lines() -> TypeAdapter[tuple[str, Returned]]:
    """Return what writes and reads the id of a question and its answer."""
    return TypeAdapter(tuple[str, Returned])


def _without_texts(hits: Ranking, corpus: Any) -> Ranking:
    """Return hits without the texts that the documents have at their places."""
    return tuple(
        Hit(hit.doc_id, hit.start, hit.end, hit.chunk_id, None, hit.score, hit.sources)
        if hit.is_in(corpus) and hit.text == corpus[hit.doc_id].content[hit.start : hit.end]
        else hit
        for hit in hits
    )


def _line(query_id: str, answer: Returned, corpus: Corpus | None) -> bytes:
    found = answer.found
    stages = tuple(replace(one, hits=one.hits and _without_texts(one.hits, corpus)) for one in found.stages)
    written = replace(answer, found=replace(found, hits=_without_texts(found.hits, corpus), stages=stages))
    content = _lines().dump_python((query_id, written), mode="json", exclude_defaults=True)
    return f"{json_text(content)}\n".encode()


def _read(line: bytes) -> tuple[str, Returned]:
    """Return the question of a line, and its answer."""
    return _lines().validate_python(parse_json(line.decode()))


# The journal of a run.


class Journal:
    """The answers of a run: those that are known, and those that come. Without a folder none are kept.

    Attributes:
        notes: What people are told of the answers that are taken, or left alone; of the result, too.
        is_finished: Whether the result is saved, so that the answers are not needed any more.
        index: What is asked, while it is; a run that was interrupted leaves it here.
        has_ended: Whether nothing is asked any more: of a question without an answer that is known.
    """

    def __init__(
        self,
        folder: Path = Path(),
        corpus: Corpus | None = None,
        questions: int = 0,
        resume: Resume = "always",
        *,
        sure: bool = True,
        after: float = 0.0,
    ) -> None:
        self.notes: list[str] = []
        self.index: Any = None
        self.is_finished = self.has_ended = False
        self.folder, self.corpus, self.questions = folder, corpus, questions
        self.resume, self.sure = resume, sure
        self._known: dict[tuple[str, int], tuple[Path, int, int]] = {}  # the file, where the line begins, its length
        self._file: BinaryIO | None = None
        self._written = False
        self._path = self._first = folder
        self._made: list[Path] = []
        self._writing = Lock()
        self._synced = time.monotonic()
        self._from = self._synced + after
        self._waiting: list[tuple[str, Returned]] = []
        self._answered = set[str]()
        self._failed: dict[tuple[str, int], Returned] = {}

    def answer(self, query_id: str, depth: int) -> Returned | None:
        """Return the answer to a question at a depth, if it is known. Threads call this."""
        if (query_id, depth) not in self._known:
            if not self.has_ended:
                return None
            return self._failed.get((query_id, depth), Returned(Retrieval(()), depth, NOT_ANSWERED))
        path, begin, length = self._known[query_id, depth]
        with path.open("rb") as file:
            file.seek(begin)
            return _read(file.read(length))[1]

    def knows(self, query_id: str, depth: int) -> bool:
        """Return whether nothing has to be asked for an answer."""
        return self.has_ended or (query_id, depth) in self._known

    def keep(self, answers: Iterable[tuple[str, Returned]]) -> None:
        """Write answers, all at once; those that failed are asked for again. Threads call this."""
        with self._writing:
            for query_id, answer in answers:
                if answer.failure is None:
                    self._waiting.append((query_id, answer))
                else:
                    self._failed[query_id, answer.depth] = answer
            if time.monotonic() >= self._from:
                self._write()

    def _write(self) -> None:
        """Write the answers that wait."""
        worked, self._waiting = self._waiting, []
        if self._file is None or not worked:
            return
        try:
            self._file.write(b"".join(_line(query_id, answer, self.corpus) for query_id, answer in worked))
            self._file.flush()
            if time.monotonic() - self._synced > _SYNCED:
                self._sync()
        except OSError as error:
            self.stop(error)
        else:
            self._written = True
            self._answered.update(query_id for query_id, _ in worked)

    @property
    def said(self) -> str:
        """Number of answered questions, and how to continue the run."""
        with self._writing:
            self._write()
        kind = "kept" if self.sure or self.resume == "always" else "kept_unsure"
        return run_note(kind if self._answered else "none_kept", count=len(self._answered), all=self.questions)

    def end(self) -> int:
        """Let nothing be asked any more, as the run was interrupted, and return how many questions are answered."""
        with self._writing:
            self._write()
        self.has_ended = True
        if self._written:
            self._take(self._path)
        return len(self._answered)

    def lock(self) -> int | None:
        """Make and lock the folder, or one beside it if another run uses it, until what is returned is closed.

        Raises:
            OSError: It cannot be made.
        """
        first, earlier, is_used = self._first, self._folders(), False
        self._made = [first.parent, *(folder for folder in first.parent.parents if not folder.exists())]
        others = (first.with_name(f"{first.name}-{number}") for number in range(2, _MOST_AT_ONCE))
        for self.folder in chain(earlier, [first], others):
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock = locked(self.folder)
            except BlockingIOError:
                is_used = True
            except (FileNotFoundError, FileExistsError):  # its run has just ended, and removed it
                continue
            else:
                if is_used:
                    self.notes.append(run_note("another_run"))
                return lock
        self.folder.mkdir()
        return None

    def _folders(self) -> list[Path]:
        """Return the folders of all runs of the configuration, also of those beside others that were interrupted."""
        with suppress(FileNotFoundError):  # a run that has just ended removed the folder above
            return sorted(self._first.parent.glob(f"{self._first.name}*"))
        return []

    def begin(self, facts: Mapping[str, Any], run_id: str) -> str:
        """Take the answers of earlier starts, begin the file of this one, and return the id of the run."""
        files = sorted(self.folder.glob(_FILE.format("*")), key=lambda file: (len(file.name), file))  # -10 is after -9
        self._path = self.folder / _FILE.format(len(files) + 1)
        while self.resume == "never" and files:
            files.pop().unlink(missing_ok=True)
        firsts = {file: first for file in files if (first := _first_line(file)) is not None}
        changed = {
            file: [fact for fact in facts if first["facts"].get(fact) != facts[fact]] for file, first in firsts.items()
        }
        taken = [
            file
            for file, first in firsts.items()
            if first["journal"] == _VERSION
            and {"corpus", "questions"}.isdisjoint(changed[file])
            and (self.resume == "always" or (self.sure and not {*changed[file]} - {_CUTOFFS}))
        ]
        begun = {"journal": _VERSION, "created": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}", "run_id": run_id}
        for file in sorted(taken, key=lambda file: not changed[file]):
            self._take(file)  # those of what is asked now come last, and count
        if taken:
            first = firsts[taken[0]]
            begun |= {"created": first["created"], "run_id": first["run_id"] or run_id}
        if self._answered:
            others = [fact for fact in facts if any(fact in changed[file] for file in taken)]
            kind = "answers_at_other_cutoffs" if _CUTOFFS in others else "answers"
            self.notes.append(run_note(kind, count=len(self._answered), all=self.questions, created=begun["created"]))
            if others := [fact for fact in others if fact != _CUTOFFS]:
                self.notes.append(run_note("changed", changed=" and ".join(map(run_note, others))))
        elif firsts and not taken:
            *_, (last, first) = firsts.items()
            since = " and ".join(map(run_note, changed[last]))
            why = run_note("since", changed=since) if since else run_note("unsure")
            if first["journal"] != _VERSION:
                why = run_note("other_version")
            self.notes.append(run_note("not_used", where=one_line(str(self.folder)), why=why))
        try:
            self._file = self._path.open("xb")
            self._file.write(f"{json_text({**begun, 'facts': facts})}\n".encode())
        except OSError as error:
            self.stop(error)
        return str(begun["run_id"])

    def close(self) -> None:
        """End the file; of a run that is finished nothing stays, nor of a start that answered nothing.

        Nor of others that were interrupted: a run after this one is to ask anew.
        """
        with self._writing, suppress(OSError):
            if not self.is_finished:
                self._write()
                self._sync()
            self._end_file()
        if self.is_finished:
            shutil.rmtree(self.folder, ignore_errors=True)
        for folder in self._folders() if self.is_finished else ():
            with suppress(OSError):  # that of a run under way stays
                if (lock := locked(folder)) is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    os.close(lock)
        with suppress(OSError):  # as soon as one holds something
            for folder in (*(() if self.is_finished else (self.folder,)), *self._made):
                if folder.exists():
                    folder.rmdir()

    def _take(self, file: Path) -> None:
        """Read where each answer of a file is; what is cut off or damaged is asked for again."""
        place = 0
        with file.open("rb") as lines:
            for line in lines:
                with suppress(ValueError, KeyError, TypeError):
                    if place and line.endswith(b"\n"):
                        query_id, answer = _read(line)
                        self._known[query_id, answer.depth] = file, place, len(line)
                        self._answered.add(query_id)
                place += len(line)

    def _sync(self) -> None:
        self._synced = time.monotonic()
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())

    def _end_file(self) -> None:
        """Write no more; a file without an answer goes."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            if not self._written:
                self._path.unlink(missing_ok=True)
            self._file = None

    def stop(self, error: OSError) -> None:
        """Go on without a file: a full disk ends no run."""
        self._end_file()
        self.notes.append(run_note("not_kept", where=one_line(str(self.folder)), why=store.reason(error)))


@contextmanager
def open_journal(
    config: ExperimentConfig[Any], resume: Resume, pipeline: Mapping[str, Any] | None = None, after: float = 0.0
) -> Generator[Journal]:
    """Keep the answers of a run in its root, and take those of earlier starts.

    Args:
        config: The run.
        resume: Which answers are taken.
        pipeline: How a configuration describes the parts of the pipeline; None if they were given in Python.
        after: From how many seconds on answers are written: a run that is finished by then writes none.

    Raises:
        ConfigError: Nothing can be written there; or nothing tells the retriever from others, so that answers of
            another one might be taken.
        Interrupted: An interrupt came inside; how many questions are answered, and how the run goes on.
    """
    root = config.config.save_results_path
    if root is None and resume == "always":
        raise ConfigError("resume=True keeps answers, and save_results_path is not given; expected the root of runs")
    if root is None:
        yield Journal()
        return
    shared(("root", root), lambda: store.check_root(root))
    is_named = pipeline is not None or config.config.experiment_name is not None
    if not is_named and not is_described(config.retriever):
        raise ConfigError(
            f"resume=True: nothing tells {config.name} from others that are called alike, as of a lambda, a function "
            "in a function, an object, or what a script itself defines; expected experiment_name=, a name of its own"
        )
    sure, facts = depends_on(config, pipeline or {})
    facts[_CUTOFFS] = " ".join(map(str, config.cutoffs))
    folder, questions = unfinished_folder(root, config, pipeline), len(config.dataset)
    journal = Journal(folder, config.corpus, questions, resume, sure=sure, after=after)
    try:
        lock = journal.lock()
    except OSError as error:
        journal.stop(error)
        yield journal
        return
    try:
        engine = engine_in(config.retriever)
        run_id = journal.begin(facts, "" if engine is None else engine.run_id)
        if engine is not None:  # what is written under it is written again, and deleted with it
            object.__setattr__(engine, "run_id", run_id)
        yield journal
    except KeyboardInterrupt as interrupt:
        if journal.is_finished:
            raise
        raise Interrupted(journal.said) from interrupt
    finally:
        journal.close()
        if lock is not None:
            os.close(lock)


def _first_line(file: Path) -> Mapping[str, Any] | None:
    """Return the first line of a journal; of no version if it is damaged, None if it is cut off, with no answer."""
    with suppress(OSError, ValueError), file.open("rb") as lines:
        line = lines.readline()
        if not line.endswith(b"\n"):
            return None
        first: Any = parse_json(line.decode())
        if is_object(first) and first.keys() >= {"journal", "created", "run_id", "facts"} and is_object(first["facts"]):
            return first
    return {"journal": None, "facts": {}}


# What answers depend on.


def unfinished_folder(root: Path, config: ExperimentConfig[Any], pipeline: Mapping[str, Any] | None) -> Path:
    """Return the folder of a run's answers until it is finished.

    It is named by the retriever, the dataset and where documents are from; by a description or the name of the run only
    where the record of the retriever does not tell it from others.
    """
    own = None if is_described(config.retriever, whole=True) else pipeline or config.config.experiment_name
    source, *how = map(config.corpus.metadata.get, HOW_READ)
    if isinstance(source, str) and "://" not in source:
        source = os.path.relpath(source, root)  # a folder that is moved whole goes on
    key = digest([without_run_id(describe(config.retriever)), own, config.dataset.name, source, how])[:16]
    return root / store.RUNS / store.UNFINISHED / key


def depends_on(
    config: ExperimentConfig[Any], pipeline: Mapping[str, Any], also: Sequence[object] = ()
) -> tuple[bool, dict[str, str]]:
    """Return whether it is known what the answers of a run depend on beside its record, and hashes of that.

    Args:
        config: The run.
        pipeline: How a configuration describes the parts of the pipeline.
        also: What else counts, beside the retriever: metrics, where it is about their scores.
    """
    parts, dataset = (config.retriever, *also), config.dataset
    tops = sorted({module.partition(".")[0] for module in own_modules(parts, pipeline)})
    sure = all(map(_places, tops)) and all(map(_is_sure, parts_of(*parts)))
    asked = ([query.id, query.text, str(query.metadata)] for query in dataset.queries)
    return sure, {
        "corpus": config.corpus.ordered_hash,  # of equal scores, the document that comes first ranks first
        "questions": shared_of("questions", (dataset,), lambda: digest([*asked])),  # cells of a sweep have the same
        "versions": shared("versions", lambda: digest(versions())),
        "code": digest(_versions(tops)),
    }


def is_described(*components: object, whole: bool = False) -> bool:
    """Return whether the record of components is unambiguous: parameters, or names of their own.

    What a script or notebook defines has a name that any other script may give to something else.

    Args:
        components: The components.
        whole: Whether the record has to hold every field that counts. The price of a request does not.
    """
    return all(
        part.__closure__ is None and "<" not in part.__qualname__
        if isfunction(part)
        else isinstance(part, Component)
        and all(
            each.repr or not (whole and each.init and each.compare)
            for each in getattr(part, "__dataclass_fields__", {}).values()
        )
        and is_dataclass(part)
        for part in parts_of(*components)
    ) and MAIN not in map(_module_of, parts_of(*components))


def files_of(*components: object) -> Iterator[Path]:
    """Yield the files that parameters of components name, such as those of a model in a folder.

    Not those of a vector store, which a run empties and fills.
    """
    for part in parts_of(*components):
        for value in () if isinstance(part, VectorStore) else filter(_is_file, parameters(part).values()):
            yield from (one for one in sorted([Path(str(value)), *Path(str(value)).rglob("*")]) if one.is_file())


def own_modules(components: Sequence[object], pipeline: Mapping[str, Any]) -> set[str]:
    """Return the modules of the code of components that is not ours, and of what a configuration names."""
    modules = {module for part in parts_of(*components) if not is_of_package(module := _module_of(part))}
    for kind, part in pipeline.items():
        module, colon, _ = str(part.get("type") if is_object(part) else part).partition(":")
        if colon and kind in KINDS and module in sys.modules and module not in registered(kind):
            modules.add(module)
    return modules


def _module_of(part: object) -> str:
    """Return where the code of a part is; a function that stands for something else may have its name."""
    return str(part.__globals__["__name__"]) if isfunction(part) else type(part).__module__


def digest(content: Any) -> str:
    """Return a hash of what JSON can hold; of what it cannot, its text counts."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _is_sure(part: Any) -> bool:
    """Return whether the code of a part, and its record, tell all that its answers depend on."""
    module = _module_of(part)
    if isfunction(part):
        return module == part.__module__ and not is_of_package(module)
    if not isinstance(part, Component) or any(map(_is_file, parameters(part).values())):
        return False
    return not (is_of_package(module) and is_elsewhere(part))


def _is_file(value: object) -> bool:
    """Return whether a parameter names a file or folder, such as that of a model, which may be written again."""
    return isinstance(value, str | Path) and os.path.exists(value)  # noqa: PTH110  a text may be no path at all


def _versions(tops: list[str]) -> list[tuple[str, str]]:
    """Return fingerprints of own code and of its imports.

    Of an installed package that is its version; else hashes of all Python files of the package, or of the folder that
    the module is in; of a module that lies among installed packages and belongs to none of them, of its file. What
    happens to be loaded does not count: a worker, and the next start, have loaded other modules.

    Args:
        tops: The names of packages and modules, which grow by what these import.
    """
    found, places = set[tuple[str, str]](), set[Path]()
    for top in tops:
        for place in {*_places(top)} - places:
            places.add(place)
            if _is_installed(place) and (packages := _installed().get(top)):
                found.add((top, " ".join(map(version, packages))))
                continue
            for path in [place] if place.is_file() else _python_files(place):
                code = path.read_bytes()
                found.add((path.relative_to(place).as_posix(), hashlib.sha256(code).hexdigest()))
                names = (one.decode() for told in _IMPORT.findall(code) for one in _NAMES.findall(b"".join(told)))
                tops += [one for one in {*names} if one not in (*tops, *sys.stdlib_module_names, _PACKAGE)]
    return sorted(found)


_installed = cache(packages_distributions)


def _is_installed(place: Path) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(place.parts)


def _places(top: str) -> Sequence[Path]:
    """Return the folders of a package, or that of the file of a module; the file if others are installed beside it."""
    with suppress(ImportError, ValueError):
        loaded: Any = sys.modules.get(top)
        spec: Any = None if loaded else find_spec(top)
        folders = [*(getattr(loaded, "__path__", ()) or getattr(spec, "submodule_search_locations", None) or ())]
        file: Any = getattr(loaded, "__file__", None) or getattr(spec, "origin", None)
        if folders:
            return [*map(Path, folders)]
        if isinstance(file, str) and Path(file).is_file():
            return [Path(file) if _is_installed(Path(file)) else Path(file).parent]
    return ()


def parts_of(*components: object) -> Iterator[Any]:
    """Yield components, and the components, functions and other objects in them."""
    for component in components:
        yield component
        for value in parameters(component).values():
            for item in cast("Sequence[Any]", value if isinstance(value, tuple | list) else (value,)):
                if isinstance(item, Component):
                    yield from parts_of(item)
                elif not isinstance(item, str | int | float | Mapping | tuple | list | Path | None):
                    yield _own(item)


def _own(item: Any) -> Any:
    """Return the function that one of ours calls under its name, as where k has another place; else what is given."""
    is_ours = isfunction(item) and is_of_package(_module_of(item)) and not is_of_package(item.__module__)
    return getclosurevars(item).nonlocals.get("function", item) if is_ours else item


def _python_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        inside = Path(parent)
        folders[:] = [name for name in folders if name[:1] != "." and not (inside / name / "pyvenv.cfg").exists()]
        yield from (path for name in names if name.endswith(".py") and (path := inside / name).is_file())
