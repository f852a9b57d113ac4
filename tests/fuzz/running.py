"""Running inputs, each within limits of time and memory, and what became of them."""

import contextlib
import gc
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz import command_cases, file_cases, harness_cases, uses, value_cases

import rag_evaluation_framework
from rag_evaluation_framework.errors import RagEvalError

Case = Callable[[Random, Path], None]

ROOT = Path(__file__).parents[2]
SECONDS = 10  # of CPU for one input
MEGABYTES = 1024  # of memory that one input may take
_KILLED = 20  # seconds of CPU after which the process of a worker ends, as code in C does not hear the alarm
_PACKAGE = str(Path(str(rag_evaluation_framework.__file__)).parent)
_PEAK, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_LINE = "fuzz: "
WORKER = ("-m", "tests.fuzz", "--worker")


@dataclass(frozen=True)
class Stray:
    """An input that ended badly.

    Attributes:
        input: The case and its number, `native-json:17`.
        group: What went wrong and where: the kind of error, and the innermost function of our package.
        detail: What the error says.
    """

    input: str
    group: str
    detail: str


class _TooSlow(BaseException):
    """An input takes too long."""


def cases() -> dict[str, Case]:
    """Return all cases by name."""
    return {**file_cases.cases(), **value_cases.CASES, **command_cases.CASES, **harness_cases.CASES}


def inputs(first: int, count: int, names: Sequence[str]) -> Iterator[str]:
    """Yield the names of inputs: one of every case, then the next of every case."""
    for number in range(first, first + count):
        yield f"{names[number % len(names)]}:{number // len(names)}"


def tried(case: Case, name: str, folder: Path) -> Stray | None:
    """Run an input; return what went wrong, or None if it ended in success or an error of ours."""
    before = _reset_peak()
    try:
        with warnings.catch_warnings(record=True) as said, _limited():
            warnings.simplefilter("always")
            case(_random(name), folder)
    except RagEvalError as error:
        try:
            uses.check_message(error)
        except uses.Broken as broken:
            return _stray(name, broken, error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  that is what is looked for
        return _stray(name, error, error)
    for warning in said:
        if warning.category is not UserWarning and not issubclass(warning.category, ResourceWarning):
            where = f"{Path(warning.filename).name}: {warning.message}"
            return Stray(name, f"{warning.category.__name__} at {Path(warning.filename).name}", where[:300])
    grown = _peak() - before
    if grown > MEGABYTES:
        return Stray(name, f"memory in {name.partition(':')[0]}", f"{grown:,} MB")
    return None


def _random(name: str) -> Random:
    return Random(hashlib.sha256(name.encode()).digest())


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(_number: int, _frame: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + _KILLED, resource.RLIM_INFINITY))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _stray(name: str, error: BaseException, raised: BaseException) -> Stray:
    """Return the record of an error: grouped by its kind and the innermost function of our package."""
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if frame.filename.startswith(_PACKAGE)]
    where = "outside" if "tests/fuzz" not in traceback.extract_tb(raised.__traceback__)[-1].filename else "the fuzzer"
    if frames:
        module = Path(frames[-1].filename).relative_to(_PACKAGE).with_suffix("").as_posix()
        where = f"{module}:{frames[-1].name}"
    kind = type(error).__name__
    if isinstance(error, uses.Broken):
        kind = f"promise: {str(error).partition(':')[0]}"
        where = where if frames else name.partition(":")[0]
    detail = "".join(traceback.format_exception_only(error)).strip()
    return Stray(name, f"{kind} in {where}", detail.encode("ascii", "backslashreplace").decode()[:400])


def _peak() -> int:
    """Return the most memory that this process held since the last reset, in MB; 0 where nothing tells."""
    if not _PEAK.exists():
        return 0
    line = next(line for line in _PEAK.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def _reset_peak() -> int:
    if _RESET.exists():
        _RESET.write_text("5")
    return _peak()


def work(names: Iterable[str]) -> None:
    """Run inputs in this process, a line of JSON for each stray, and one before each input in case it kills us."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    known = cases()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (held + 6 * MEGABYTES * 2**20, resource.RLIM_INFINITY))
    start = Path.cwd()
    for number, name in enumerate(names):
        channel.write(f"{_LINE}{json.dumps([name])}\n")
        with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
            os.chdir(folder)
            stray = tried(known[name.partition(":")[0]], name, Path(folder))
            os.chdir(start)
        if stray is not None:
            channel.write(f"{_LINE}{json.dumps([stray.input, stray.group, stray.detail])}\n")
        if number % 200 == 0:
            gc.collect()


def fuzzed(names: Sequence[str]) -> list[Stray]:
    """Run inputs in a process of their own, and in another one if they end it; return those that ended badly."""
    strays: list[Stray] = []
    rest = list(names)
    while rest:
        settings = {"MALLOC_ARENA_MAX": "2", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        with subprocess.Popen(
            [sys.executable, *WORKER],
            cwd=ROOT,
            env={**os.environ, **settings, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as worker:
            out, err = worker.communicate("\n".join(rest))
        told = [json.loads(line.removeprefix(_LINE)) for line in out.splitlines() if line.startswith(_LINE)]
        strays += [Stray(*entry) for entry in told if len(entry) == 3]
        begun = [entry[0] for entry in told if len(entry) == 1]
        if worker.returncode == 0:
            return strays
        if not begun:
            raise RuntimeError(f"the worker ended with {worker.returncode} before its first input: {err[-2000:]}")
        kind = f"died with {worker.returncode} in {begun[-1].partition(':')[0]}"
        strays.append(Stray(begun[-1], kind, err[-300:]))
        rest = rest[rest.index(begun[-1]) + 1 :]
    return strays


def grouped(strays: Iterable[Stray]) -> list[str]:
    """Return one line per group, the most frequent first, with an input of each."""
    found = list(strays)
    example: dict[str, Stray] = {}
    for stray in found:
        example.setdefault(stray.group, stray)
    counts = Counter(stray.group for stray in found)
    return [
        f"{count:>5}  {group}  ({example[group].input})  {' '.join(example[group].detail.split())[:200]}"
        for group, count in counts.most_common()
    ]
