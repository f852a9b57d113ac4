"""Tasks for workers, which import this module; a folder tells what happened. Not a test."""

import os
import signal
import sys
import time
from pathlib import Path

from rag_evaluation_framework.base import note
from rag_evaluation_framework.errors import ConfigError


def run(task):
    """Do what a task says: `[what] [folder]`; the answer is the task in capitals."""
    what, _, folder = task.partition(" ")
    if what == "environment":
        return " ".join([os.environ["OMP_NUM_THREADS"], os.environ.get("TQDM_DISABLE", "")])
    if what == "note":
        note("said by a worker")
    if what == "raise":
        raise ConfigError("k: 0 is not a valid cutoff")
    if what == "exit":
        sys.exit(3)
    if what == "kill" or (what == "kill-once" and not marked(folder)):
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "wait":
        Path(folder, str(os.getpid())).touch()
        time.sleep(60)
    return task.upper()


def marked(folder):
    """Return whether this was asked before in a folder."""
    try:
        Path(folder, "asked").touch(exist_ok=False)
    except FileExistsError:
        return True
    return False
