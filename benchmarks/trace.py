"""The way of one question, from a CSV file to the printed table: which files it enters, and how often it goes back.

    python benchmarks/trace.py [BEFORE] [AFTER]

Each is a git revision, or `.` for the working tree; each runs in a process of its own. The built-in handbook is read as
a folder and one question with its quote from a CSV file; it is evaluated with BM25 and printed. That is done once
unseen, so that nothing is loaded later, and once under `sys.setprofile`.

- A file is *entered* when a function of it is called, or goes on as a generator or context manager, and the one before
  was of another file. That a call returns is not seen: a function that calls one after the other enters nothing anew.
- Comprehensions and lambdas belong to the function they stand in. Making a value (`__init__`, `__post_init__`,
  `__new__`) and reading one (a property) enter nothing, but what these call does.
- Left out are `data/`, `errors`, what is nothing of the field (`LEFT_OUT`, by layout), and `contracts/`: what parts
  inherit. All files of `metrics/` that hold a metric are one stage,
  `metrics/*`; the machinery of judging and naming that lay beside them in the first house is counted file by file.
- *Stations* are first entries, and entries of a file that was left and since when another file has been entered for the
  first time. To and fro between files that are all known is no further station, however often it happens.
- A *return* is a climb back: one or more steps in a row, each to a file that was first entered earlier than the one
  before, with at least one station among them. It is named by where it starts and where it ends.
- The *runner* is the file `runner.py`; all its entries count, stations or not.

A second walk is one of `rag-eval run --gate` with vectors, an HTML page and a label that has moved: of it everything is
counted, and what it prints is not compared.

The issue that asked for this counted 37 stations in 17 files, 10 climbs back and 9 entries of the runner in `evaluate`
of the first house, 560cffb, by hand; `within evaluate` is what this script says of the same part. `everything counted`
leaves `contracts/`, making and reading values in.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cached_property
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from types import CodeType, FrameType, ModuleType
from typing import Any

PACKAGE = "rag_evaluation_framework"
REPOSITORY = Path(__file__).resolve().parent.parent
LEFT_OUT = {
    # The other modules at the root of the first house did something on the way of a question, and became parts of rooms
    # that count (`locator`, `registry`, `tokenizers`, `vocabularies`, `ranking`, `dataset_examples` …): so do they.
    "first house": (
        *("types.py", "ids.py", "spans.py", "corpus.py", "cutoffs.py", "levels.py"),  # became data/
        *("ground_truth.py", "chunks.py"),
        *("_optional.py", "coroutines.py", "files.py", "strict_json.py", "strict_yaml.py"),  # nothing of the field
    ),
    "second house": ("data/", "base/"),
    "third house": ("data/", "base/"),
    "all": ("errors.py",),
}
LEFT_OUT_NAMES = frozenset(name for names in LEFT_OUT.values() for name in names)
"""What is left out: rooms, and modules at the root, as none of them is something else in another house."""
INHERITED = "contracts/"
METRICS = "scoring/metrics/*"
RUNNER = "runner.py"
MAKING = ("__init__", "__post_init__", "__new__")
PHASES = ("read", "evaluate", "print")

QUESTIONS = (
    "question,quote,document\n"
    "How should a tool react when labelled chunk ids no longer exist in the index?,"
    '"If not one labelled id is left in the index, a careful tool stops with an error",basics/evaluation-types.md\n'
)

PAGE = "<html><body><p>Parcels leave at <b>noon</b>.</p><p>Receipts are kept for a <i>year</i>.</p></body></html>\n"
PAGE_QUESTION = "How long are receipts kept?,Receipts are kept for a year.,page.html\n"

Work = Callable[[Callable[[str], None]], None]


def one_question(folder: Path) -> Work:
    """Return the work that is traced; it says which phase begins."""
    package: Any = import_module(PACKAGE)  # whichever tree this process has been given
    documents, questions = Path(str(package.__file__)).parent / "demo" / "corpus", folder / "questions.csv"
    questions.write_text(QUESTIONS, encoding="utf-8")

    def work(begin: Callable[[str], None]) -> None:
        begin("read")
        corpus = package.Corpus.from_folder(documents)
        dataset = package.load_dataset(questions, corpus=corpus)
        begin("evaluate")
        result = package.evaluate(package.BM25Retriever(), dataset)
        begin("print")
        print(result)

    return work


def one_run(folder: Path) -> Work:
    """Return the work of a run on the command line; its gate passes, and its label has moved since it was saved."""
    package: Any = import_module(PACKAGE)
    try:
        program = import_module(f"{PACKAGE}.cli.program")
    except ModuleNotFoundError:  # the first house had no gates
        return lambda _: None
    documents, labelled = folder / "documents", folder / "labelled.json"
    copytree(Path(str(package.__file__)).parent / "demo" / "corpus", documents)
    (documents / "page.html").write_text(PAGE, encoding="utf-8")
    questions = folder / "questions.csv"
    questions.write_text(QUESTIONS + PAGE_QUESTION, encoding="utf-8")
    package.save_dataset(
        package.load_dataset(questions, corpus=package.Corpus.from_folder(documents, "**/*")), labelled
    )
    page = documents / "page.html"
    page.write_text(page.read_text(encoding="utf-8").replace("<p>", "<p>First of all: ", 1), encoding="utf-8")
    arguments = ["run", "--no-config", "--root", folder / "root", "--corpus", documents, "--dataset", labelled]
    arguments += ["--glob", "**/*", "--embedder", "lsa", "--k", 5, "--gate", "span_recall@5 >= 0.5"]

    def work(begin: Callable[[str], None]) -> None:
        begin("run")
        sys.argv = ["rag-eval", *map(str, arguments)]
        if code := program.exit_code():
            raise SystemExit(f"{' '.join(sys.argv)} ended with {code}")

    return work


def traced(work: Work) -> list[tuple[str, CodeType]]:
    """Return the phase and the code of every call of Python code, in order, in whichever thread."""
    calls: list[tuple[str, CodeType]] = []
    phase = PHASES[0]

    def begin(name: str) -> None:
        nonlocal phase
        phase = name

    def see(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls.append((phase, frame.f_code))

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        work(begin)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def loaded_classes() -> Iterator[tuple[ModuleType, type]]:
    """Yield the classes of the package, with the modules that define them."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == PACKAGE:
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == name:
                    yield module, value


def property_codes() -> set[CodeType]:
    """Return the code of all properties of the package."""
    codes: set[CodeType] = set()
    for _, owner in loaded_classes():
        for value in vars(owner).values():
            function = value.fget if isinstance(value, property) else None
            function = value.func if isinstance(value, cached_property) else function
            if code := getattr(function, "__code__", None):
                codes.add(code)
    return codes


def metric_files() -> set[str]:
    """Return the files that define a metric or a base of metrics."""
    return {
        str(module.__file__)
        for module, owner in loaded_classes()
        if any(base.__name__ == "Metric" and base.__module__.startswith(PACKAGE) for base in owner.__mro__)
    }


class Stages:
    """Names the file of a call, below the package; `None` for what is no stage of the way."""

    def __init__(self, everything: bool) -> None:
        self.root = Path(str(sys.modules[PACKAGE].__file__)).parent
        self.rooms = LEFT_OUT_NAMES if everything else LEFT_OUT_NAMES | {INHERITED}
        self.names = () if everything else MAKING
        self.values = set[CodeType]() if everything else property_codes()
        self.metrics = metric_files()

    def of(self, code: CodeType) -> str | None:
        """Return the stage of a call."""
        path = Path(code.co_filename)
        if not path.is_relative_to(self.root) or code.co_name.startswith("<"):
            return None
        name = path.relative_to(self.root).as_posix()
        if "".join(name.partition("/")[:2]) in self.rooms:
            return None
        if code.co_name in self.names or code in self.values:
            return None
        return METRICS if name.startswith("metrics/") and code.co_filename in self.metrics else name


def walk(stages: Iterable[str]) -> dict[str, Any]:
    """Return the files, stations and returns of a way, given the stage of every call."""
    way: list[str] = []
    for stage in stages:
        if not way or way[-1] != stage:
            way.append(stage)
    place: dict[str, int] = {}
    known_when_left: dict[str, int] = {}
    stations = 0
    returns: list[list[str]] = []
    start: str | None = None  # of the climb that is under way
    climbed_to_a_station = False
    for before, now in zip([None, *way], [*way, None], strict=True):
        if before is not None:
            known_when_left[before] = len(place)
        back = before is not None and now is not None and place.get(now, len(place)) < place[before]
        if not back and start is not None:
            if climbed_to_a_station:
                returns.append([start, str(before)])
            start, climbed_to_a_station = None, False
        if now is None:
            break
        is_station = now not in place or known_when_left[now] < len(place)
        stations += is_station
        if back:
            start = start or before
            climbed_to_a_station |= is_station
        place.setdefault(now, len(place))
    entries = Counter(way)
    return {
        "files": {name: entries[name] for name in place},
        "stations": stations,
        "returns": returns,
        "runner": sum(number for name, number in entries.items() if Path(name).name == RUNNER),
    }


def calls_of(way: Callable[[Path], Work], printed: io.StringIO) -> list[tuple[str, CodeType]]:
    """Return the calls of a way that was gone once before, unseen; and print what it prints into a text."""
    with TemporaryDirectory() as folder:
        work = way(Path(folder))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            work(lambda _: None)
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            return traced(work)


def trace_here() -> dict[str, Any]:
    """Return what the package of this process does with one question."""
    printed = io.StringIO()
    calls = calls_of(one_question, printed)
    headline, everything = Stages(everything=False), Stages(everything=True)
    return {
        **walk(stage for _, code in calls if (stage := headline.of(code))),
        "within_evaluate": walk(stage for phase, code in calls if phase == "evaluate" and (stage := headline.of(code))),
        "everything_counted": walk(stage for _, code in calls if (stage := everything.of(code))),
        "run_everything_counted": walk(
            stage for _, code in calls_of(one_run, io.StringIO()) if (stage := everything.of(code))
        ),
        "printed": printed.getvalue(),
    }


@contextmanager
def source_of(revision: str) -> Iterator[Path]:
    """Give the folder of the sources of a revision, unpacked for as long as it is needed."""
    if revision == ".":
        yield REPOSITORY / "src"
        return
    command = ["git", "-C", str(REPOSITORY), "archive", revision, "src"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"git archive {revision}: {done.stderr.decode().strip()}")
    with TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
        yield Path(folder) / "src"


def trace(revision: str) -> dict[str, Any]:
    """Return what a revision does with one question."""
    with source_of(revision) as source:
        # -P: the standard library has a module of the name of this one
        command = [sys.executable, "-P", str(Path(__file__).resolve()), "--here", str(source)]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{revision}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def counts(found: dict[str, Any]) -> list[int]:
    """Return the four figures of a way."""
    return [len(found["files"]), found["stations"], len(found["returns"]), found["runner"]]


def show(names: tuple[str, str], found: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Print both side by side: the files in order of first entry, the figures, and the returns."""
    columns = [[f"{name} ({times})" for name, times in way["files"].items()] for way in found]
    print(f"    {names[0]:44}{names[1]}\n    files in order of first entry (and how often they are entered)")
    for number, (left, right) in enumerate(zip_longest(*columns, fillvalue=""), start=1):
        print(f"{number:3} {left:44}{right}")
    print(f"\n{'':40}{names[0]:>10}{names[1]:>10}")
    parts = {"": found, "within evaluate: ": [way["within_evaluate"] for way in found]}
    parts["everything counted: "] = [way["everything_counted"] for way in found]
    parts["a run, everything counted: "] = [way["run_everything_counted"] for way in found]
    for part, ways in parts.items():
        titles = ("files", "stations", "returns", "entries of the runner")
        for title, left, right in zip(titles, *map(counts, ways), strict=True):
            print(f"{part + title:40}{left:>10}{right:>10}")
    for name, way in zip(names, found, strict=True):
        print(f"\nReturns of {name}")
        for start, end in way["returns"]:
            print(f"  {start} -> back to {end}")
    if found[0]["printed"] != found[1]["printed"]:
        print("\nThe printed tables differ:")
        print("\n".join(way["printed"] for way in found))


def main() -> None:
    """Trace and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", default="560cffb", help="a git revision, or . for the working tree")
    parser.add_argument("after", nargs="?", default=".", help="the same")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--here", metavar="SOURCE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        found = trace_here()
        if not Path(str(sys.modules[PACKAGE].__file__)).is_relative_to(arguments.here):
            raise SystemExit(f"not the package of {arguments.here} was loaded, but {sys.modules[PACKAGE].__file__}")
        print(json.dumps(found))
        return
    names = (arguments.before, arguments.after)
    ways = (trace(names[0]), trace(names[1]))
    if arguments.json:
        print(json.dumps({"before": {"revision": names[0], **ways[0]}, "after": {"revision": names[1], **ways[1]}}))
        return
    show(names, ways)


if __name__ == "__main__":
    main()
