"""The fuzzer: changed samples of everything that is read or returned, each of which has to end in an error of ours.

python -m tests.fuzz --inputs 50000 --processes 2
python -m tests.fuzz --replay native-json:17      # one input, with its traceback; its files are kept
python -m tests.fuzz --only hits --inputs 1000
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz import running, uses


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Load changed samples, and use them.")
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", action="append", help="the name of a case; repeatable")
    parser.add_argument("--replay", help="one input, as CASE:NUMBER")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _replay(name: str) -> None:
    folder = tempfile.mkdtemp(prefix="fuzz-")
    print(f"files: {folder}")
    os.chdir(folder)
    warnings.simplefilter("always")
    case = running.cases()[name.partition(":")[0]]
    try:
        case(running._random(name), Path(folder))
    except running.RagEvalError as error:
        print(f"{type(error).__name__}: {error}")
        uses.check_message(error)


def main() -> None:
    arguments = _arguments()
    if arguments.worker:
        running.work(sys.stdin.read().splitlines())
        return
    if arguments.replay:
        _replay(arguments.replay)
        return
    names = [*running.inputs(arguments.first, arguments.inputs, arguments.only or [*running.cases()])]
    begun = time.monotonic()
    parts = [names[number :: arguments.processes] for number in range(arguments.processes)]
    with ThreadPoolExecutor(arguments.processes) as pool:
        strays = [stray for part in pool.map(running.fuzzed, parts) for stray in part]
    lines = running.grouped(strays)
    print(*lines, sep="\n")
    print(f"{len(names)} inputs, {len(strays)} strays of {len(lines)} kinds, {time.monotonic() - begun:.0f} s")
    sys.exit(1 if strays else 0)


if __name__ == "__main__":
    main()
