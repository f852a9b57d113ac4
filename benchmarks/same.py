"""In what a version differs from another: the facts of every command of tests/golden, run in both.

    python benchmarks/same.py [REV] [REV | .] [--only PROJECT ...] [--keep]

Each is a git revision, checked out for as long as it is needed, or `.` for the working tree. The projects and commands
are those of the working tree. Facts (exit codes, files, JSON, JUnit, the numbers and names of screens:
`tests/golden/recording.py` says which) are compared to the last digit; words are not.

A difference that is meant is listed in `benchmarks/differences.toml` with its reason, as a pattern of `fnmatch` for its
project, the number of the command and the fact. What is not listed is printed, and the script ends with 1. So it does
if a pattern explains another number of differences than the list says: what a golden test says shows which. The list is
for its version, `since`; beside any other every difference is printed.

With `--keep`, if nothing unlisted differs, the facts and screens of tests/golden become those of the working tree: this
is the only way to rewrite them (`make goldens`).

Both versions together take about 90 seconds of CPU time.
"""

import argparse
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "benchmarks"), str(REPOSITORY / "tests")]

from against import checked_out, stop  # noqa: E402
from golden import kept  # noqa: E402

LIST = REPOSITORY / "benchmarks" / "differences.toml"


def differences(before: dict[str, kept.Steps], after: dict[str, kept.Steps]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each difference, the command, and both values."""
    for project, steps in after.items():
        for number, (old, new) in enumerate(zip(before[project], steps, strict=True), start=1):
            for name, one, other in kept.differences(old, new):
                yield f"{project} {number} {name}", new["argv"], f"{one!r} -> {other!r}"


def main() -> None:
    """Run, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed: dict[str, Any] = tomllib.loads(LIST.read_text(encoding="utf-8"))
    parser.add_argument("before", nargs="?", default=listed["since"])
    parser.add_argument("after", nargs="?", default=".")
    parser.add_argument("--only", nargs="+", choices=kept.PROJECTS, default=kept.PROJECTS, metavar="PROJECT")
    parser.add_argument("--keep", action="store_true", help="rewrite tests/golden, if only listed facts differ")
    arguments = parser.parse_args()
    if arguments.keep and (arguments.before, arguments.after) != (listed["since"], "."):
        parser.error(f"--keep keeps what the working tree does, beside {listed['since']}: name no versions")
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it runs in the background
    found = []
    with ExitStack() as trees:
        for revision in (arguments.before, arguments.after):
            tree = REPOSITORY if revision == "." else trees.enter_context(checked_out(revision))
            found.append(kept.recorded(tree / "src", *arguments.only))
    intended = listed["intended"] if arguments.before == listed["since"] else []
    counts = {pattern: count for entry in intended for pattern, count in entry["facts"].items()}
    explained: Counter[str] = Counter()
    unlisted: dict[str, list[str]] = {}
    for name, command, values in differences(*found):
        pattern = next((pattern for pattern in counts if fnmatchcase(name, pattern)), None)
        if pattern is None:
            unlisted.setdefault(command, []).append(f"  {name}: {values}")
        else:
            explained[pattern] += 1
    for command, lines in unlisted.items():
        print(f"$ {command}", *lines, sep="\n")
    for entry in intended:
        if total := sum(explained[pattern] for pattern in entry["facts"]):
            print(f"{total:5} {entry['reason']}")
    whole = arguments.only == kept.PROJECTS
    wrong = [pattern for pattern, count in counts.items() if whole and explained[pattern] != count]
    for pattern in wrong:
        print(f"{pattern!r} explains {explained[pattern]} differences, not {counts[pattern]} as listed")
    print(f"{sum(map(len, unlisted.values()))} unlisted differences between {arguments.before} and {arguments.after}")
    if unlisted or wrong:
        raise SystemExit(1)
    if arguments.keep:
        for project in arguments.only:
            kept.keep(project, found[1][project])


if __name__ == "__main__":
    main()
