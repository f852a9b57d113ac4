"""What it costs to start: `rag-eval --help` beside another command line, and the first run on the handbook.

    python benchmarks/start_up.py [REV] [--times 9] [--json]

Each program runs in a process of its own, in turns; the figures are medians of CPU seconds with one thread of linear
algebra. Compiled modules are there, as pip makes them when it installs.

- `help` is `rag-eval --help`; `typer` is the help of a program with two commands, written with the same library: what
  is paid for the library and the interpreter alone.
- `first run` is `rag-eval run` in a new folder, with the handbook as documents and its questions as dataset, and BM25.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from against import REPOSITORY, THREADS, checked_out

PACKAGE = "rag_evaluation_framework"
TWO_COMMANDS = """
import typer
app = typer.Typer()
@app.command()
def first(name: str, number: int = 3) -> None: "Do the one."
@app.command()
def second(name: str, number: int = 3) -> None: "Do the other."
app()
"""


def cpu_seconds(command: list[str], source: Path, folder: str) -> float:
    """Return the CPU seconds of a program on the sources in a folder."""
    environment = {**os.environ, **THREADS, "PYTHONPATH": str(source)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def once(source: Path) -> dict[str, float]:
    """Return the CPU seconds of each program, run once."""
    demo = source / PACKAGE / "demo"
    rag_eval = [sys.executable, "-m", PACKAGE]
    with TemporaryDirectory() as folder:
        run = [*rag_eval, "run", "--no-config", "--corpus", str(demo / "corpus")]
        run += ["--dataset", str(demo / "questions.json"), "--k", "5"]
        return {
            "typer": cpu_seconds([sys.executable, "-c", TWO_COMMANDS, "--help"], source, folder),
            "help": cpu_seconds([*rag_eval, "--help"], source, folder),
            "first run": cpu_seconds(run, source, folder),
        }


def measured(sources: dict[str, Path], times: int) -> dict[str, dict[str, float]]:
    """Return the medians of each tree; what is run first in it is run unseen, as it compiles."""
    for source in sources.values():
        once(source)
    taken = [{name: once(source) for name, source in sources.items()} for _ in range(times)]
    return {
        name: {figure: median(turn[name][figure] for turn in taken) for figure in taken[0][name]} for name in sources
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="a5a15efb", help="the git revision to compare with")
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:  # one turn, on the sources that this process was given
        found = once(Path(os.environ["PYTHONPATH"].partition(os.pathsep)[0]))
        print(json.dumps({"help_cpu_s": found["help"], "first_run_cpu_s": found["first run"]}))
        return
    with checked_out(arguments.revision) as old:
        trees = {arguments.revision: old / "src", "working tree": REPOSITORY / "src"}
        medians = measured(trees, arguments.times)
    if arguments.json:
        print(json.dumps(medians))
        return
    print(f"{'CPU seconds':16}{'typer':>10}{'help':>10}{'ratio':>8}{'first run':>12}")
    for name, figures in medians.items():
        typer, shown, first = figures["typer"], figures["help"], figures["first run"]
        print(f"{name:16}{typer:10.3f}{shown:10.3f}{shown / typer:8.2f}{first:12.3f}")
    before, after = (figures["first run"] for figures in medians.values())
    print(f"first run: {after / before:.2f} of {arguments.revision}")


if __name__ == "__main__":
    main()
