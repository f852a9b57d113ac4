"""`rag-eval` in a process that has loaded the package already, so that a command costs its work and no start.

Each command is run in a fork of its own, as in `golden.recording`; what starts and ends a process is tested elsewhere.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).parents[1]
SERVE = "from support.warm import serve; serve()"
LIBRARIES = ("bm25s", "sklearn.decomposition", "sklearn.feature_extraction.text")


@contextmanager
def warm_process():
    """Give a function that runs the words of a command in a folder, and returns its exit code, output and errors."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(words, folder, environment):
            process.stdin.write(json.dumps([words, str(folder), environment]) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield run
        process.stdin.close()


def serve():
    """Run what standard input says, a command a line, and print what became of each."""
    recording = import_module("golden.recording")
    for name in LIBRARIES:
        import_module(name)
    recording.loaded()
    with Path(os.devnull).open("rb") as nothing:
        for line in sys.stdin:
            words, folder, environment = json.loads(line)
            os.environ.clear()
            os.environ.update(environment)
            print(json.dumps(recording.run_forked(words, Path(folder), nothing.fileno())), flush=True)
