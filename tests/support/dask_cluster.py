"""A real Dask cluster on this machine: a scheduler and workers, each a process."""

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Cluster(NamedTuple):
    """A cluster.

    Attributes:
        address: That of its scheduler.
        scheduler: Its process.
        workers: Those of its workers, each with one thread, that nobody starts again.
    """

    address: str
    scheduler: subprocess.Popen
    workers: list[subprocess.Popen]


def _started(name, *arguments, folder, **settings):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **settings}
    with Path(folder, "log.txt").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{name}", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


@contextmanager
def dask_cluster(folder, allowed_failures=3):
    """Run a cluster with two workers, whose processes are killed at the end.

    Args:
        folder: Where the file `log.txt` with their messages is.
        allowed_failures: How many workers a task may take with it before it has failed.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    failures = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
    worker = "worker", address, "--no-nanny", "--nthreads", "1"
    processes = [_started("scheduler", "--port", str(port), folder=folder, **failures)]
    try:
        processes.extend(_started(*worker, folder=folder) for _ in range(2))
        yield Cluster(address, processes[0], processes[1:])
    finally:
        for process in processes:
            process.kill()
            process.wait()
