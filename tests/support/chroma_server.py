"""A real Chroma server on loopback."""

import socket
import subprocess
import sysconfig
import time
from contextlib import contextmanager
from pathlib import Path

SECONDS = 60


@contextmanager
def chroma_server(folder):
    """Run the server that `chroma run` starts, with its data in a folder, and yield its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(sysconfig.get_path("scripts")) / "chroma", "run", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([*command, "--path", folder / "data"], stdout=log, stderr=log)
    try:
        for _ in range(SECONDS * 20):
            assert server.poll() is None, (folder / "log").read_text()
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        else:
            raise AssertionError("the server of Chroma did not start")
        yield port
    finally:
        server.terminate()
        server.wait(SECONDS)
