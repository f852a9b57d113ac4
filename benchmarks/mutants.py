"""Mutation testing: which small changes of the code does no test notice?

    python benchmarks/mutants.py [--count 300] [--first 0] [--seed 10] [--everywhere] [--only '*/judging/*']
                                 [--killed FILE] [--again FILE] [--cores 2]

cosmic-ray makes mutants of the code that makes numbers, with `--everywhere` of all code, and runs the tests of the
module on each of them: those that are not slow, up to the first that fails, with few examples per property. The tests
of a module are those of its room, the file of its own name first; then, for code that makes numbers, `TESTS`. They run
in copies of the working tree, one per core, which are removed at the end, also when interrupted; the working tree
itself is only read.

The file of the test that noticed a mutant before, by `noticed_mutants.jsonl`, runs alone first, since collecting all
others takes longer. After tests have moved, `--killed benchmarks/noticed_mutants.jsonl` writes it anew.

A place is an operator, a number or a word that can be changed. Annotations, headers of functions and classes, and type
aliases are no places: type checkers look after them. Of all places the seed draws some, and of the changes that one
place can have it draws one. The draw goes by what the line says and not by its number, so that the same mutants are
drawn again after a change elsewhere.

Printed are the mutants that survived, as the line before and after. One that changes no result is listed with the
reason in `equivalent_mutants.toml`, and is not tried. Ends with 1 if one survived, or if a test that failed on a mutant
fails without any.

`--killed` writes the mutants that a test noticed, one a line, with that test. `--again` runs those of such a file, the
file of that test first: after tests were cut, it shows what is not noticed any more.
"""

import argparse
import ast
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from attrs import evolve
from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkResult

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
    "-q -x -m 'not slow and not nightly' -p no:cacheprovider --assert=plain --tb=no --hypothesis-profile=mutants "
    "-o faulthandler_timeout=60 -o faulthandler_exit_on_timeout=true"
)
SECONDS, CPU_SECONDS = 1_500.0, 600
"""The longest that the tests may take on one mutant, and their CPU time; slow cores need 180 s. One test has 60 s."""
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
    """One change of a place, by its number among the changes that the place can have, and the test that noticed it."""

    place: Place
    change: int
    spec: MutationSpec
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
        Mutant(place, number, found[place][number], noticed.get((place, number), ""))
        for place, number in zip(chosen, numbers, strict=True)
    ]


def records_of(path: Path) -> list[dict[str, Any]]:
    """Return what `--killed` wrote."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def kept(found: Mapping[Place, Sequence[MutationSpec]], records: Sequence[Mapping[str, Any]]) -> list[Mutant]:
    """Return the mutants of a file; those whose line has changed are printed and left out."""
    mutants: list[Mutant] = []
    for record in records:
        place = Place(*record["place"])
        if place in found:
            mutants.append(Mutant(place, record["change"], found[place][record["change"]], record["test"]))
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


def command(tree: Path, tests: Sequence[str]) -> str:
    """Return what runs tests in a tree on the sources of that tree, within the limits."""
    limits = ["prlimit", f"--as={MEMORY}", f"--cpu={CPU_SECONDS}"]
    python = ["env", "-C", str(tree), f"PYTHONPATH={tree / 'src'}", *ENVIRONMENT, *limits, sys.executable]
    return shlex.join([*python, "-m", "pytest", *shlex.split(OPTIONS), *tests])


def tried(
    mutant: Mutant, trees: "SimpleQueue[Path]", reasons: Mapping[tuple[str, str, str], str]
) -> tuple[Mutant, str, str, str]:
    """Run the tests of a mutant in a tree that is free; return it with its test, its lines, and how it ended."""
    tree = trees.get()
    try:
        spec = evolve(mutant.spec, module_path=tree / mutant.place.file)
        was, becomes = lines_of(outcome_of(spec, "true").diff)
        if (Path(mutant.place.file).relative_to(PACKAGE).as_posix(), was, becomes) in reasons:
            return mutant, was, becomes, "listed"
        before, everything = mutant.test.partition("::")[0], tests_of(tree, mutant)
        for tests in ([before], everything) if before else (everything,):
            result = outcome_of(spec, command(tree, tests))
            if failed := re.search(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", result.output or "", re.MULTILINE):
                return mutant._replace(test=failed[1]), was, becomes, "killed"
        return mutant, was, becomes, "survived" if result.test_outcome == TestOutcome.SURVIVED else "out of time"
    finally:
        trees.put(tree)


def outcome_of(spec: MutationSpec, tests: str) -> WorkResult:
    """Return what a command says of a mutant."""
    result = mutate_and_test([spec], tests, SECONDS)
    if result.diff is None or result.test_outcome == TestOutcome.INCOMPETENT:
        raise SystemExit(f"cosmic-ray could not try {spec}: {result.output}")
    return result


def lines_of(diff: str) -> tuple[str, str]:
    """Return the lines that a mutant changes, before and after."""
    changed = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    was, becomes = ("\n".join(line[1:].strip() for line in changed if line[0] == sign) for sign in "-+")
    return was, becomes


@contextmanager
def stopped_at_the_end(folder: Path, cores: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads that run tests in a folder; at the end, what is left of both is stopped."""
    pool = ThreadPoolExecutor(cores)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        # The tool gives tests a session of their own, so that they do not end with it.
        for link in Path("/proc").glob("[0-9]*/cwd"):
            with suppress(OSError):
                if link.readlink().is_relative_to(folder):
                    os.kill(int(link.parent.name), signal.SIGKILL)
        pool.shutdown()


def equivalents(tree: Path) -> dict[tuple[str, str, str], str]:
    """Return why some mutants change no result, by file, line before and line after."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    gone = [
        entry for entry in listed if entry["was"] not in (tree / PACKAGE / entry["file"]).read_text(encoding="utf-8")
    ]
    if gone:
        lines = "\n".join(f"{entry['file']} has no {entry['was']!r} any more" for entry in gone)
        raise SystemExit(f"{EQUIVALENT.name}: remove what is out of date\n{lines}")
    return {(entry["file"], entry["was"], entry["becomes"]): entry["reason"] for entry in listed}


def watched(
    folder: Path, mutants: Sequence[Mutant], reasons: Mapping[tuple[str, str, str], str], cores: int, killed: Path
) -> int:
    """Try mutants, and print what survives as it is found; return how many survived."""
    begin, outcomes, failed = perf_counter(), Counter[str](), dict[str, None]()
    trees: SimpleQueue[Path] = SimpleQueue()
    for number in range(cores):
        trees.put(folder / str(number))
    with killed.open("w", encoding="utf-8") as file, stopped_at_the_end(folder, cores) as pool:
        for done in as_completed([pool.submit(tried, mutant, trees, reasons) for mutant in mutants]):
            mutant, was, becomes, outcome = done.result()
            outcomes[outcome] += 1
            place = mutant.place
            if outcome == "killed":
                failed[mutant.test.partition("[")[0]] = None
                record = {"place": place, "change": mutant.change, "was": was, "becomes": becomes, "test": mutant.test}
                print(json.dumps(record, ensure_ascii=False), file=file, flush=True)
            elif outcome != "listed":
                print(f"{place.file}:{mutant.spec.start_pos[0]}\n  - {was}\n  + {becomes}\n  {outcome}", flush=True)
                if mutant.test:
                    print(f"  noticed before by {mutant.test}", flush=True)
        print(f"{len(mutants)} mutants in {(perf_counter() - begin) / 60:.0f} minutes: {dict(outcomes)}", flush=True)
        print("what failed, without any mutant:", flush=True)
        outcome, output = run_tests(command(trees.get(), [*failed]).replace(" -x ", " "), SECONDS)
        print("\n".join(output.splitlines()[-20:]))
        return outcomes["survived"] + int(outcome != TestOutcome.SURVIVED)


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
        reasons = equivalents(tree)
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
        raise SystemExit(watched(folder, mutants, reasons, given.cores, given.killed) > 0)


if __name__ == "__main__":
    main()
