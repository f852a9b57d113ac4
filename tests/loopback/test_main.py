"""`python -m rag_eval_loopback`, a process of its own."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from openai import OpenAI

from rag_evaluation_framework.testing import LoopbackProviders

COMMAND = [sys.executable, "-m", "rag_eval_loopback"]


@contextmanager
def started(*arguments, **environment):
    """Yield the process and the variables that it prints."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        lines = [process.stdout.readline()]
        while lines[-1] and not lines[-1].startswith("export no_proxy="):  # the last one
            lines.append(process.stdout.readline())
        assert all(line.startswith("export ") for line in lines)
        yield process, dict(line.removeprefix("export ").strip().split("=", 1) for line in lines)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_end_and_ends_well(number):
    with started() as (process, variables):
        client = OpenAI(base_url=variables["OPENAI_BASE_URL"], api_key=variables["OPENAI_API_KEY"], max_retries=0)
        assert len(client.embeddings.create(model="m", input="a").data) == 1  # and the connection stays open
        process.send_signal(number)
        assert process.communicate(timeout=20) == ("", "")
        assert process.returncode == 0


def test_it_prints_what_a_shell_needs_and_takes_the_port_that_is_free():
    # What it prints is what a shell needs:
    with started(NO_PROXY="in house") as (_, variables):
        assert variables["NO_PROXY"] == variables["no_proxy"] == "'in house,127.0.0.1,localhost'"
        assert variables["CO_API_URL"] == variables["ANTHROPIC_BASE_URL"]
        assert variables["OPENAI_BASE_URL"] == f"{variables['CO_API_URL']}/v1"

    # The port is the one that is asked for:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started("--port", str(port)) as (_, variables):
        assert variables["CO_API_URL"] == f"http://127.0.0.1:{port}"

    # A port that is taken or is none is told in a line:
    with LoopbackProviders() as served:
        port = served.url.rpartition(":")[2]
        for given, reason in ((port, "Address already in use"), ("70000", "expected 0 to 65535")):
            done = subprocess.run([*COMMAND, "--port", given], capture_output=True, text=True, timeout=60, check=False)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"Error: port {given} of 127.0.0.1 cannot be used: {reason}\n"
