"""What the working tree costs beside an earlier commit: the ratio of CPU times, taken in turns in one run.

    python benchmarks/against.py [REV] [--pairs 11] [--only NAME]

REV is checked out into a temporary worktree, which is removed at the end, also when interrupted. Each script of `RUNS`
then runs as old, new, new, old, … : each tree with its own copy of the script, as modules move (a script that is new
with this tree's), on its own sources, in a fresh process with one thread of linear algebra, and with an allocator that
keeps freed memory: otherwise glibc hands arrays back to the system or not, depending on what else the process has
allocated, and the page faults of getting them again moved figures of unchanged code by factors of 0.85 and 1.22. Every
pair of neighbours gives one ratio new / old per figure. Of
`side_by_side`, which waits, all CPU of the process is one figure; `start_up` has the run end to end.

Compared are the figures of our own CPU time that both trees have, those in `…_ms` and `…_cpu_s`; peers are hidden from
both, since they are slow and not ours. What reads the input only (`…_floor_ms`) and the obvious implementation, made of
plain span functions (`…_obvious_ms`), are shown apart: little of them can change, so that they say how much of a ratio
is noise. So is what does more than it did, with the reason (`DOES_MORE`). Each tree's copy of a script loads what it
measures as its tree does: what is loaded when it is first used is in `start_up`, not in the others. The median ratio of
each figure of ours should be at most the limit; if not, the script ends with 1.

A pair of `metrics_throughput`, `pipeline` and `span_scoring` takes about 40 seconds, one of all some four minutes.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import FrameType

PACKAGE = "rag_evaluation_framework"
REPOSITORY = Path(__file__).resolve().parent.parent
RUNS = {
    "span_scoring": ["--json", "--repeats", "5"],
    "pipeline": ["--json", "--repeats", "3"],
    "metrics_throughput": ["--json", "--repeats", "5"],
    "many_questions": ["--here", "--questions", "20000"],
    "side_by_side": ["--json"],
    "start_up": ["--here"],
    "superlinear": ["--here", "1"],
}
"""The scripts with their arguments; each prints one flat JSON object last."""
DOES_MORE = {
    "superlinear: place n texts that are nowhere_cpu_s": "a text that is nowhere verbatim is looked for by its words",
    "superlinear: print n failures_cpu_s": "a result is a page with tables and drawn intervals, and was lines of text",
}
"""What costs more than it did since it does more, and why: shown apart."""
LIMIT = 1.05
OURS, CONTROLS = ("_ms", "_cpu_s"), ("_floor_ms", "_obvious_ms")
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
KEPT = {"MALLOC_TRIM_THRESHOLD_": "536870912", "MALLOC_MMAP_THRESHOLD_": "536870912", "MALLOC_TOP_PAD_": "67108864"}
DRIVER = f"""
import runpy, sys
from pathlib import Path
sys.modules["pytrec_eval"] = sys.modules["ranx"] = None  # as if they were not installed
import {PACKAGE}
source, *sys.argv = sys.argv[1:]
if not Path({PACKAGE}.__file__).is_relative_to(source):
    raise SystemExit(f"not the package of {{source}} was loaded, but {{{PACKAGE}.__file__}}")
runpy.run_path(sys.argv[0], run_name="__main__")
"""

LISTED = """
import json, runpy, sys
print(json.dumps(list(runpy.run_path(sys.argv[2])["CASES"])))
"""

Figures = dict[str, float]


def git(*arguments: str) -> None:
    """Run git in this repository; what it complains about ends the script."""
    done = subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Give a worktree of a revision, for as long as it is needed."""
    with TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / "tree"
        try:
            git("worktree", "add", "--quiet", "--detach", str(tree), revision)
            yield tree
        finally:
            if tree.exists():
                git("worktree", "remove", "--force", str(tree))


def run(tree: Path, script: str) -> Figures:
    """Return the figures of a script of a tree."""
    path = tree / "benchmarks" / f"{script}.py"
    if not path.exists():
        path = REPOSITORY / "benchmarks" / f"{script}.py"
    if script == "superlinear":  # a case in each process, as it is made
        names: list[str] = json.loads(printed(tree, path, LISTED, [])[0])
        return {
            f"{name}_cpu_s": json.loads(printed(tree, path, DRIVER, [*RUNS[script], "--only", name])[0])["run_seconds"]
            for name in names
        }
    line, seconds = printed(tree, path, DRIVER, RUNS[script])
    figures: Figures = json.loads(line)
    if script == "side_by_side":
        figures["whole_cpu_s"] = seconds
    return {name: value for name, value in figures.items() if name.endswith(OURS)}


def printed(tree: Path, path: Path, driver: str, arguments: list[str]) -> tuple[str, float]:
    """Return the last line that a script prints, and the CPU seconds of its process."""
    source = str(tree / "src")
    command = [sys.executable, "-P", "-c", driver, source, str(path), *arguments]
    environment = {**os.environ, **THREADS, **KEPT, "PYTHONPATH": f"{source}{os.pathsep}{path.parent}"}
    environment.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # else what is loaded first in a measured step is also compiled there
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, check=False)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{path} failed:\n{done.stderr}")
    return done.stdout.splitlines()[-1], after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def pairs_of(old: Path, new: Path, script: str, pairs: int) -> list[tuple[Figures, Figures]]:
    """Return the figures of both trees, pair by pair, the order turned round each time."""
    found: list[tuple[Figures, Figures]] = []
    for turn in range(pairs):
        if turn % 2:
            after = run(new, script)
            before = run(old, script)
        else:
            before = run(old, script)
            after = run(new, script)
        found.append((before, after))
        print(f"{script}: pair {turn + 1} of {pairs}", file=sys.stderr)
    return found


def ratios_of(found: list[tuple[Figures, Figures]]) -> dict[str, list[float]]:
    """Return new / old, pair by pair, of every figure that both trees have."""
    before, after = found[0]
    if missing := sorted(before.keys() ^ after.keys()):
        print(f"in one of both only, not compared: {', '.join(missing)}", file=sys.stderr)
    return {name: [new[name] / old[name] for old, new in found] for name in before if name in after}


def summary(ratios: list[float], found: list[tuple[Figures, Figures]], name: str) -> Figures:
    """Return the median ratio with its extremes, and the median of either figure."""
    return {
        "median": round(median(ratios), 3),
        "min": round(min(ratios), 3),
        "max": round(max(ratios), 3),
        "old": round(median(old[name] for old, _ in found), 3),
        "new": round(median(new[name] for _, new in found), 3),
    }


def show(title: str, rows: Mapping[str, Figures]) -> None:
    """Print one table."""
    print(f"{title:58}{'median':>8}{'min':>8}{'max':>8}{'old':>10}{'new':>10}")
    for name, row in rows.items():
        ratios = "".join(f"{row[key]:8.3f}" for key in ("median", "min", "max"))
        print(f"  {name:56}{ratios}{row['old']:10.3f}{row['new']:10.3f}")


def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """End as an exception does, so that the worktree is removed."""
    raise SystemExit(128 + number)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="560cffb", help="the git revision to compare with")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--only", choices=sorted(RUNS), help="one of the scripts")
    parser.add_argument("--limit", type=float, default=LIMIT, help="what a median ratio may be at most")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs: at least 1")
    signal.signal(signal.SIGTERM, stop)
    ours: dict[str, Figures] = {}
    controls: dict[str, Figures] = {}
    more: dict[str, Figures] = {}
    with checked_out(arguments.revision) as old:
        for script in [arguments.only] if arguments.only else RUNS:
            found = pairs_of(old, REPOSITORY, script, arguments.pairs)
            for name, ratios in ratios_of(found).items():
                full = f"{script}: {name}"
                table = controls if name.endswith(CONTROLS) else more if full in DOES_MORE else ours
                table[full] = summary(ratios, found, name)
    worst = max(ours, key=lambda name: ours[name]["median"])
    holds = ours[worst]["median"] <= arguments.limit
    if arguments.json:
        verdict = {"worst": worst, "limit": arguments.limit, "holds": holds}
        print(
            json.dumps(
                {"revision": arguments.revision, "ours": ours, "does_more": more, "controls": controls, **verdict}
            )
        )
    else:
        show(f"the working tree / {arguments.revision}, of {arguments.pairs} pairs", ours)
        show("for comparison: what can hardly change", controls)
        show("what does more than it did (DOES_MORE)", more)
        print(f"worst: {worst}, {ours[worst]['median']:.3f}; {'at most' if holds else 'MORE THAN'} {arguments.limit}")
    raise SystemExit(0 if holds else 1)


if __name__ == "__main__":
    main()
