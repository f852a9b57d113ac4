"""Mutation testing: which small changes of the code does no test notice?

    python benchmarks/mutants.py [--count 300] [--first 0] [--seed 10] [--everywhere] [--only '*/judging/*']
                                 [--killed FILE] [--again FILE] [--cores 2]

cosmic-ray makes mutants of the code that makes numbers, with `--everywhere` of all code, and runs the tests of the
module on each of them: those that are not slow, up to the first that fails, with few examples per property. The tests
of a module are those of its room, the file of its own name first; then, for code that makes numbers, `TESTS`. They run
in copies of the working tree, one per core, which are removed at the end, also when interrupted; the working tree
itself is only read.

The file of the test that noticed a mutant before, by `noticed_mutants.jsonl`, runs alone first: collecting all others
takes longer than running it. After tests have moved, `--killed benchmarks/noticed_mutants.jsonl` writes it anew.

A place is an operator, a number or a word that can be changed. Annotations, headers of functions and classes, and type
aliases are no places: type checkers look after them. Of all places the seed draws some, and of the changes that one
place can have it draws one. The draw goes by what the line says and not by its number, so that the same mutants are
drawn again after a change elsewhere.

Printed are the mutants that no test failed on, as the line before and after, with how they ended: they survived, one
test hung for a minute, the tests could not import the code, or it is undecided (out of time, killed). One that changes
no result is listed with the reason in `equivalent_mutants.toml`, and is not tried. Ends with 1 if one survived or is
undecided, or if a test that failed on a mutant fails without any.

`--killed` writes the mutants that a test noticed, one a line, with that test, at the end. `--again` runs those of such
a file, the file of that test first: after tests were cut, it shows what is not noticed any more.
"""

import argparse
import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from difflib import unified_diff
from fnmatch import fnmatch
from functools import partial
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/rag_evaluation_framework")
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
NOTICED = Path(__file__).with_name("noticed_mutants.jsonl")
NUMBERS = ("scoring/", "statistics/", "analysis/gates/", "data/cutoffs.py", "data/spans.py", "text/reading.py")
"""What makes numbers."""
EXPERIMENTS = ("runs/test_runner.py", "runs/test_ranker.py", "runs/test_reranking.py", "runs/test_unlocated.py")
TESTS = (
    "scoring/judging",
    "scoring/metrics",
    "scoring/levels",
    "text/test_reading.py",
    "data",
    "scoring",
    "analysis",
    *EXPERIMENTS,
    "cli/test_gates.py",
)  # quick ones first
"""What may notice a mutant of it, beside the tests of its room."""
OPTIONS = (
    *("-q", "-x", "-m", "not slow and not nightly", "-p", "no:cacheprovider", "--assert=plain", "--tb=no"),
    *("--hypothesis-profile=mutants", "-o", "faulthandler_timeout=60", "-o", "faulthandler_exit_on_timeout=true"),
)
SECONDS, CPU_SECONDS = 900, 600
"""The longest that one run of tests may take, and the CPU time of one process in it; slow cores need 180 s."""
MEMORY = 8 << 30
"""The most bytes that one process may have: a mutant may ask for any number of them."""
ENVIRONMENT = (
    *(f"{name}=1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")),
    "PYTHONDONTWRITEBYTECODE=1",
    f"HYPOTHESIS_STORAGE_DIRECTORY={os.devnull}",
)

Position: TypeAlias = tuple[int, int]
"""A line, from 1, and a column, from 0."""


class Place(NamedTuple):
    """What can be changed: a file, what a line in it says, a column of that, and the kind of change.

    The number counts the places that are alike in all of this, from 1.
    """

    file: str
    line: str
    column: int
    kind: str
    number: int


class Mutant(NamedTuple):
    """One change of a place, by its number among the changes that the place can have.

    With it are the number of the line, the code of the whole module, the lines that are changed, and the test that
    noticed it before.
    """

    place: Place
    change: int
    row: int
    code: str
    was: str
    becomes: str
    test: str = ""


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


def places(tree: Path, modules: Sequence[str]) -> dict[Place, list[MutationSpec]]:
    """Return the places in some modules, each with its changes."""
    with use_db(":memory:") as session:
        init([tree / name for name in modules], session, {})
        specs = [spec for item in session.work_items for spec in item.mutations]
    print(f"{len(specs)} mutants", flush=True)
    sources = {tree / name: (tree / name).read_text(encoding="utf-8") for name in modules}
    barred = {path: [*left_out(text)] for path, text in sources.items()}
    found: dict[tuple[Path, Position, str], list[MutationSpec]] = defaultdict(list)
    for spec in specs:
        if not any(first <= spec.start_pos < last for first, last in barred[spec.module_path]):
            found[spec.module_path, spec.start_pos, spec.operator_name.partition("_")[0]].append(spec)
    alike: Counter[object] = Counter()
    numbered: dict[Place, list[MutationSpec]] = {}
    for (path, (row, column), kind), changes in sorted(found.items(), key=lambda pair: pair[0]):
        line = sources[path].split("\n")[row - 1]
        file, begin = path.relative_to(tree).as_posix(), column - len(line) + len(line.lstrip())
        alike[file, line.strip(), begin, kind] += 1
        place = Place(file, line.strip(), begin, kind, alike[file, line.strip(), begin, kind])
        numbered[place] = sorted(changes, key=lambda spec: (spec.operator_name, spec.occurrence))
    return numbered


def drawn(found: Mapping[Place, Sequence[MutationSpec]], first: int, count: int, seed: int) -> list[Mutant]:
    """Draw some of the mutants, each at another place, with the test that noticed it before."""

    def digest(what: str, place: Place) -> bytes:
        return sha256(repr((seed, what, place[:4], place.number)).encode()).digest()

    chosen = sorted(found, key=lambda place: digest("place", place))[first : first + count]
    print(f"{len(chosen)} of {len(found)} places drawn by seed {seed}", flush=True)
    numbers = [int.from_bytes(digest("change", place)) % len(found[place]) for place in chosen]
    noticed = {(Place(*record["place"]), record["change"]): record["test"] for record in records_of(NOTICED)}
    return [
        made(place, number, found[place][number], noticed.get((place, number), ""))
        for place, number in zip(chosen, numbers, strict=True)
    ]


def made(place: Place, number: int, spec: MutationSpec, test: str) -> Mutant:
    """Make one change of a place."""
    code = spec.module_path.read_text(encoding="utf-8")
    changed = mutate_code(code, get_operator(spec.operator_name)(**spec.operator_args), spec.occurrence)
    if changed is None:
        raise SystemExit(f"cosmic-ray could not make {spec}")
    diff = [*unified_diff(code.split("\n"), changed.split("\n"), lineterm="", n=0)][2:]
    was, becomes = ("\n".join(line[1:].strip() for line in diff if line[0] == sign) for sign in "-+")
    return Mutant(place, number, spec.start_pos[0], changed, was, becomes, test)


def records_of(path: Path) -> list[dict[str, Any]]:
    """Return what `--killed` wrote."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def kept(found: Mapping[Place, Sequence[MutationSpec]], records: Sequence[Mapping[str, Any]]) -> list[Mutant]:
    """Return the mutants of a file; those whose line has changed are printed and left out."""
    mutants: list[Mutant] = []
    for record in records:
        place = Place(*record["place"])
        if place in found:
            mutants.append(made(place, record["change"], found[place][record["change"]], record["test"]))
        else:
            print(f"{place.file} has no {place.line!r} any more", flush=True)
    return mutants


def tests_of(tree: Path, mutant: Mutant) -> list[str]:
    """Return the tests of a module: those of its own name, of its room, and `TESTS`."""
    module = (tree / mutant.place.file).relative_to(tree / PACKAGE)
    room = sorted((tree / "tests" / module.parts[0]).rglob("test_*.py")) or sorted((tree / "tests").glob("test_*.py"))
    files = [path.relative_to(tree).as_posix() for path in room]
    files.sort(key=lambda file: not file.endswith(f"/test_{module.stem.strip('_')}.py"))
    return [*files, *(f"tests/{name}" for name in TESTS if module.as_posix().startswith(NUMBERS))]


def run(tree: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run tests in a tree on the sources of that tree, within the limits; return the exit code and what they print."""
    limits = ["timeout", "--signal=KILL", str(SECONDS), "prlimit", f"--as={MEMORY}", f"--cpu={CPU_SECONDS}"]
    python = ["env", f"PYTHONPATH={tree / 'src'}", *ENVIRONMENT, *limits, sys.executable]
    command = [*python, "-m", "pytest", *OPTIONS, *tests]
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)  # noqa: S603
    return done.returncode, done.stdout.decode(errors="replace")


def tried(mutant: Mutant, trees: "SimpleQueue[Path]") -> tuple[Mutant, str]:
    """Run the tests of a mutant in a tree that is free; return it with its test, and how it ended."""
    tree = trees.get()
    module = tree / mutant.place.file
    code = module.read_bytes()
    try:
        module.write_text(mutant.code, encoding="utf-8")
        before, everything = mutant.test.partition("::")[0], tests_of(tree, mutant)
        ended, output = run(tree, [before]) if before and (tree / before).is_file() else (0, "")
        if ended == 0:
            ended, output = run(tree, everything)
    finally:
        module.write_bytes(code)
        trees.put(tree)
    if failed := re.search(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", output, re.MULTILINE):
        return mutant._replace(test=failed[1]), "noticed"
    for printed, outcome in (("Timeout (", "a test hung"), ("ImportError while loading conftest", "not imported")):
        if printed in output:
            return mutant, outcome
    return mutant, "survived" if ended == 0 else f"undecided: exit code {ended} {' '.join(output.split())[-200:]}"


@contextmanager
def stopped_at_the_end(folder: Path, cores: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads that run tests in a folder; at the end, the tests that still run are killed."""
    pool = ThreadPoolExecutor(cores)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for link in Path("/proc").glob("[0-9]*/cwd"):
            with suppress(OSError):
                if link.readlink().is_relative_to(folder):
                    os.kill(int(link.parent.name), signal.SIGKILL)
        pool.shutdown()


def watched(folder: Path, mutants: Sequence[Mutant], cores: int, noticed: Path) -> int:
    """Try mutants, and print what no test fails on as it is found; write those that one fails on, in order.

    Returns:
        How many survived or are undecided, and how many files have tests that fail without any mutant.
    """
    begin, outcomes, records = perf_counter(), Counter[str](), list[dict[str, Any]]()
    trees: SimpleQueue[Path] = SimpleQueue()
    for number in range(cores):
        trees.put(folder / str(number))
    with stopped_at_the_end(folder, cores) as pool:
        for done in as_completed([pool.submit(tried, mutant, trees) for mutant in mutants]):
            mutant, outcome = done.result()
            outcomes[outcome.partition(":")[0]] += 1
            if outcome == "noticed":
                place, change, becomes, test = mutant.place, mutant.change, mutant.becomes, mutant.test
                records.append({"place": place, "change": change, "becomes": becomes, "test": test})
            else:
                before = f", noticed before by {mutant.test}" if mutant.test else ""
                print(f"{mutant.place.file}:{mutant.row}\n  - {mutant.was}\n  + {mutant.becomes}", flush=True)
                print(f"  {outcome}{before}", flush=True)
        print(f"{len(mutants)} mutants in {(perf_counter() - begin) / 60:.0f} minutes: {dict(outcomes)}", flush=True)
        failed: dict[str, set[str]] = defaultdict(set)
        for record in records:
            failed[record["test"].partition("::")[0]].add(record["test"].partition("[")[0])
        # Each file alone, as it ran on most mutants.
        broken = [output for ended, output in pool.map(partial(unchanged, trees), failed.values()) if ended != 0]
        print(f"{len(broken)} of {len(failed)} files fail without any mutant", *broken, sep="\n")
    records.sort(key=lambda record: (record["place"], record["change"]))
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    noticed.write_text(lines, encoding="utf-8")
    return outcomes["survived"] + outcomes["undecided"] + len(broken)


def unchanged(trees: "SimpleQueue[Path]", tests: set[str]) -> tuple[int, str]:
    """Run tests without any mutant in a tree that is free; return the exit code and what they print."""
    tree = trees.get()
    try:
        return run(tree, sorted(tests))
    finally:
        trees.put(tree)


def main() -> None:
    """Run the tests on mutants, and print those that survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant of those that are drawn")
    parser.add_argument("--seed", type=int, default=10)
    parser.add_argument("--everywhere", action="store_true", help="not only in the code that makes numbers")
    parser.add_argument("--only", default="*", help="pattern of the modules, such as '*/judging/*'")
    parser.add_argument("--killed", type=Path, default=Path(os.devnull), help="where to write what a test noticed")
    parser.add_argument("--again", type=Path, help="try what is written in such a file, instead of drawing")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # cleaned up after, as after Ctrl-C
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        tree, *_ = [copied(folder / str(number)) for number in range(given.cores)]
        modules = sorted(path.relative_to(tree).as_posix() for path in (tree / PACKAGE).rglob("*.py"))
        modules = [name for name in modules if fnmatch(name, given.only)]
        if given.again:
            records = [record for record in records_of(given.again) if fnmatch(record["place"][0], given.only)]
            wanted = {record["place"][0] for record in records}
            mutants = kept(places(tree, [name for name in modules if name in wanted]), records)
        else:
            numbers = tuple(f"{PACKAGE.as_posix()}/{name}" for name in NUMBERS)
            mutants = drawn(
                places(tree, [name for name in modules if given.everywhere or name.startswith(numbers)]),
                given.first,
                given.count,
                given.seed,
            )
        listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
        reasons = {(f"{PACKAGE.as_posix()}/{each['file']}", each["was"], each["becomes"]) for each in listed}
        unlisted = [each for each in mutants if (each.place.file, each.was, each.becomes) not in reasons]
        print(f"{len(mutants) - len(unlisted)} are listed as equivalent", flush=True)
        raise SystemExit(watched(folder, unlisted, given.cores, given.killed) > 0)


if __name__ == "__main__":
    main()
