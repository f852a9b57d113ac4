"""Mutation testing: which small changes of the code that makes numbers does no test notice?

    python benchmarks/mutants.py [--count 300] [--first 0] [--seed 10] [--only '*/judging/*']

cosmic-ray makes the mutants and runs the tests on each of them: those in `TESTS` that are not slow, up to the first
that fails, with few examples per property. They run in copies of the working tree, one per core, which are removed at
the end, also when interrupted; the working tree itself is only read. 300 mutants take about half an hour on two cores.

A place is an operator, a number or a word that can be changed, in the modules in `MUTATED`. Annotations, headers of
functions and classes, and type aliases are no places: type checkers look after them. Of all places the seed draws some,
and of the changes that one place can have it draws one. The draw goes by what the line says and not by its number, so
that the same mutants are drawn again after a change elsewhere.

Printed are the mutants that survived, as the line before and after. One that changes no result is listed with the
reason in `equivalent_mutants.toml`. Ends with 1 if another one survived, or if the tests fail without any mutant.
"""

import argparse
import ast
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, NamedTuple, TypeAlias

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/rag_evaluation_framework")
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
EXPERIMENTS = ("experiments/test_runner.py", "experiments/test_ranker.py")
MUTATED = ("judging", "scoring", "levels", "metrics", "data/cutoffs.py", "data/spans.py", "text/reading.py")
TESTS = ("judging", "metrics", "levels", "text/test_reading.py", "data", "scoring", *EXPERIMENTS)  # quick ones first
CONFIGURATION, SESSION = "mutants.toml", "mutants.sqlite"
OPTIONS = (
    "-q -x -m 'not slow and not nightly' -p no:cacheprovider --assert=plain --tb=line --hypothesis-profile=mutants "
    "-o faulthandler_timeout=60 -o faulthandler_exit_on_timeout=true"
)
SECONDS = 300.0
"""The longest that the tests may take on one mutant; one test has a minute."""
MEMORY = 8 << 30
"""The most bytes that one process may have: a mutant may ask for any number of them."""
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "PYTHONDONTWRITEBYTECODE": "1",
    "HYPOTHESIS_STORAGE_DIRECTORY": os.devnull,
}

Position: TypeAlias = tuple[int, int]
"""A line, from 1, and a column, from 0."""


class Survivor(NamedTuple):
    """A mutant that no test noticed: where it is, and its lines before and after."""

    file: str
    line: int
    was: str
    becomes: str


def copied(folder: Path) -> Path:
    """Copy the files of the working tree that git does not ignore, and compile them.

    Compiled code is told from old code by the text of its source: by date and size, a mutant would pass for it.
    """
    command = ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    for name in filter(None, listed.split("\0")):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, folder / name)
    compiling = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src", "tests"]
    subprocess.run([sys.executable, *compiling], cwd=folder, check=True)  # noqa: S603
    return folder


def environment(tree: Path) -> dict[str, str]:
    """Return the environment in which a tree imports its own sources."""
    return {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(tree / "src")}


def run(tree: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start the tool in a tree."""
    command = [sys.executable, "-m", "cosmic_ray.cli", *arguments]
    return subprocess.Popen(command, cwd=tree, env=environment(tree))  # noqa: S603


def left_out(source: str) -> Iterator[tuple[Position, Position]]:
    """Yield what is no place, from its first position to the one after its last."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield (min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), 0), start(node.body[0])
        elif isinstance(node, ast.AnnAssign):
            alias = ast.unparse(node.annotation) == "TypeAlias"
            yield start(node), (start(node.value) if node.value is not None and not alias else end(node))


def start(node: ast.stmt | ast.expr) -> Position:
    """Return where a part of the code starts."""
    return node.lineno, node.col_offset


def end(node: ast.stmt | ast.expr) -> Position:
    """Return where a part of the code has ended."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def drawn(items: Sequence[Any], tree: Path, first: int, count: int, seed: int) -> list[Any]:
    """Draw some of the mutants, each at another place."""

    def digest(*parts: object) -> bytes:
        return sha256(repr((seed, *parts)).encode()).digest()

    paths = {item.mutations[0].module_path for item in items}
    sources = {path: (tree / path).read_text(encoding="utf-8") for path in paths}
    barred = {path: [*left_out(text)] for path, text in sources.items()}
    places: dict[tuple[Path, Position, str], list[Any]] = defaultdict(list)
    for item in items:
        (mutation,) = item.mutations
        at, kind = mutation.start_pos, mutation.operator_name.partition("_")[0]
        if not any(first <= at < last for first, last in barred[mutation.module_path]):
            places[mutation.module_path, at, kind].append(item)
    numbers: Counter[object] = Counter()
    chosen: list[tuple[bytes, Any]] = []
    for (path, (row, column), kind), changes in sorted(places.items(), key=lambda pair: pair[0]):
        line = sources[path].split("\n")[row - 1]
        name = (path.as_posix(), line.strip(), column - len(line) + len(line.lstrip()), kind)
        numbers[name] += 1
        changes.sort(key=lambda item: (item.mutations[0].operator_name, item.mutations[0].occurrence))
        change = changes[int.from_bytes(digest("change", name, numbers[name])) % len(changes)]
        chosen.append((digest("place", name, numbers[name]), change))
    chosen.sort(key=lambda pair: pair[0])
    chosen = chosen[first : first + count]
    print(f"{len(items)} mutants, {len(places)} places; {len(chosen)} drawn by seed {seed}", flush=True)
    return [change for _, change in chosen]


@contextmanager
def stopped_at_the_end(folder: Path) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Give a list for processes; those that are left at the end are stopped, and the tests they started in a folder."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
        # The tool gives tests a session of their own, so that they do not end with it.
        for link in Path("/proc").glob("[0-9]*/cwd"):
            with suppress(OSError):
                if link.readlink().is_relative_to(folder):
                    os.kill(int(link.parent.name), signal.SIGKILL)


def sessions(trees: Sequence[Path], only: str, *draw: int) -> int:
    """Configure the tool in every tree, make the mutants, and give each tree its share; return how many were drawn."""
    first = trees[0]
    found = (path for name in MUTATED for path in [first / PACKAGE / name, *(first / PACKAGE / name).rglob("*.py")])
    modules = sorted(path.relative_to(first).as_posix() for path in found if path.suffix == ".py")
    tests = " ".join(f"tests/{name}" for name in TESTS)
    command = f"{sys.executable} -m pytest {OPTIONS} {tests}"
    for tree in trees:
        (tree / CONFIGURATION).write_text(
            "[cosmic-ray]\n"
            f"module-path = {json.dumps([name for name in modules if fnmatch(name, only)])}\n"
            f"timeout = {SECONDS}\n"
            "excluded-modules = []\n"
            f"test-command = {json.dumps(command)}\n"
            "[cosmic-ray.distributor]\n"
            'name = "local"\n',
            encoding="utf-8",
        )
    if run(first, "init", CONFIGURATION, "all.sqlite").wait():
        raise SystemExit("cosmic-ray could not make the mutants")
    with use_db(str(first / "all.sqlite"), WorkDB.Mode.open) as everything:
        chosen = drawn(everything.work_items, first, *draw)
    for number, tree in enumerate(trees):
        with use_db(str(tree / SESSION), WorkDB.Mode.create) as session:
            session.add_work_items(chosen[number :: len(trees)])
    return len(chosen)


def results_of(trees: Iterable[Path]) -> tuple[Counter[str], list[Survivor]]:
    """Return how many mutants had which outcome, and those that survived."""
    outcomes: Counter[str] = Counter()
    survivors: list[Survivor] = []
    for tree in trees:
        with use_db(str(tree / SESSION), WorkDB.Mode.open) as session:
            mutations = {item.job_id: item.mutations[0] for item in session.work_items}
            for job, result in session.results:
                outcomes[(result.test_outcome or result.worker_outcome).value] += 1
                if result.test_outcome == TestOutcome.SURVIVED:
                    survivors.append(survivor(mutations[job], result.diff))
    return outcomes, sorted(survivors)


def survivor(mutation: Any, diff: str) -> Survivor:
    """Return a mutant by its file, its line, and what changed."""
    changed = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    was, becomes = ("\n".join(line[1:].strip() for line in changed if line[0] == sign) for sign in "-+")
    file = mutation.module_path.relative_to(PACKAGE).as_posix()
    return Survivor(file, mutation.start_pos[0], was, becomes)


def equivalents(tree: Path) -> dict[tuple[str, str, str], str]:
    """Return why some mutants change no result, by file, line before and line after."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    for mutant in listed:
        if mutant["was"] not in (tree / PACKAGE / mutant["file"]).read_text(encoding="utf-8"):
            raise SystemExit(f"{EQUIVALENT.name}: {mutant['file']} has no {mutant['was']!r} any more; remove the entry")
    return {(mutant["file"], mutant["was"], mutant["becomes"]): mutant["reason"] for mutant in listed}


def watched(
    processes: Sequence["subprocess.Popen[bytes]"],
    trees: Sequence[Path],
    count: int,
    reasons: Mapping[tuple[str, str, str], str],
) -> int:
    """Print what survives, as it is found, until the processes are done; return how many have no reason."""
    begin, printed, unexplained, outcomes, running = perf_counter(), set[Survivor](), 0, Counter[str](), True
    while running:
        running = any(process.poll() is None for process in processes)
        outcomes, survivors = results_of(trees)
        for mutant in survivors:
            if mutant not in printed:
                printed.add(mutant)
                reason = reasons.get((mutant.file, mutant.was, mutant.becomes))
                unexplained += reason is None
                print(f"{mutant.file}:{mutant.line}\n  - {mutant.was}\n  + {mutant.becomes}")
                print(f"  changes no result: {reason}" if reason else "  SURVIVED, and no reason is listed", flush=True)
        sleep(5 if running else 0)
    if sum(outcomes.values()) < count:
        raise SystemExit(f"cosmic-ray ended after {sum(outcomes.values())} of {count} mutants")
    print(
        f"{count} mutants in {(perf_counter() - begin) / 60:.0f} minutes: {dict(outcomes)}, unexplained: {unexplained}"
    )
    return unexplained


def main() -> None:
    """Run the tests on mutants, and print those that survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant of those that are drawn")
    parser.add_argument("--seed", type=int, default=10)
    parser.add_argument("--only", default="*", help="pattern of the modules, such as '*/judging/*'")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # cleaned up after, as after Ctrl-C
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with TemporaryDirectory(ignore_cleanup_errors=True) as name, stopped_at_the_end(Path(name).resolve()) as started:
        trees = [copied(Path(name).resolve() / str(number)) for number in range(os.cpu_count() or 1)]
        reasons = equivalents(trees[0])
        count = sessions(trees, given.only, given.first, given.count, given.seed)
        print("the tests without any mutant", flush=True)
        started.append(run(trees[0], "baseline", CONFIGURATION))
        if started[0].wait():
            raise SystemExit("the tests fail without any mutant")
        started += [run(tree, "exec", CONFIGURATION, SESSION) for tree in trees]
        raise SystemExit(watched(started, trees, count, reasons) > 0)


if __name__ == "__main__":
    main()
