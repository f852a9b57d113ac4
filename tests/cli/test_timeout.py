"""`rag-eval run --set timeout=`: real processes, whose threads hang for ever."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rag_evaluation_framework import load_result
from support.nightly import nightly

pytestmark = pytest.mark.slow

FLAGS = ("--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2")
HANGING = """
import asyncio
import time
from pathlib import Path

def search(query, k):
    if "invoices" in query:
        Path("waiting").touch()
        time.sleep(3600)
    return ["Install the agent first."]

def never(query, k):
    time.sleep(3600)

async def waiting(query, k):
    if "invoices" in query:
        await asyncio.sleep(3600)
    return ["Install the agent first."]

async def blocking(query, k):
    time.sleep(3600)
"""


def command(*arguments):
    return [sys.executable, "-m", "rag_evaluation_framework", *arguments]


@pytest.fixture
def hanging(folder):
    (folder / "own.py").write_text(HANGING)
    more = "".join(f"Where is number {number}?,Install the agent first.\n" for number in range(4))
    (folder / "questions.csv").write_text(
        f"question,quote\nWhen do invoices come?,Invoices are sent on the first day.\n{more}"
    )
    return folder


def run(folder, *arguments):
    """Run the command; a process that does not end in time fails the test."""
    given = command("run", *FLAGS, *arguments)
    return subprocess.run(given, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("retriever", "concurrency"), [("search", "1"), ("waiting", "3"), nightly("search", "3"), nightly("waiting", "1")]
)
def test_a_question_that_hangs_fails_and_the_process_ends(hanging, retriever, concurrency):
    given = ("--retriever", f"own:{retriever}", "--set", "timeout=0.5", "--set", f"max_concurrency={concurrency}")
    done = run(hanging, *given)
    assert (done.returncode, done.stderr.splitlines()[-1].startswith("error: 1 of 5 questions failed")) == (2, True)
    assert "retrieve: TimeoutError: no answer within 0.5 s" in done.stdout
    assert run(hanging, *given, "--allow-failures", "1").returncode == 0


@pytest.mark.parametrize("retriever", ["blocking", nightly("never")])
def test_the_third_question_that_cannot_be_stopped_ends_the_run_whatever_is_allowed(hanging, retriever):
    given = ("--retriever", f"own:{retriever}", "--set", "timeout=0.5", "--allow-failures", "9", "--json")
    done = run(hanging, *given)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "error: 2 of 5 questions were not asked, as the retriever did not answer 3 others in time; the run is saved in "
    )
    shown = json.loads(done.stdout)
    assert shown["counts"]["failed"] == 5
    (folder,) = (hanging / ".rag-eval/runs").iterdir()
    kinds = [failures[0].kind for failures in load_result(folder).failures.values()]
    assert kinds == ["TimeoutError"] * 3 + ["NotAsked"] * 2


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("concurrency", ["1", "3"])
def test_ctrl_c_gets_through_while_a_question_hangs(hanging, concurrency):
    given = ("--retriever", "own:search", "--set", "timeout=3600", "--set", f"max_concurrency={concurrency}")
    process = subprocess.Popen(command("run", *FLAGS, *given), cwd=hanging, stderr=subprocess.PIPE, text=True)
    try:
        give_up = time.monotonic() + 60
        while not (hanging / "waiting").exists() and time.monotonic() < give_up:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "interrupted" in printed.splitlines()[-1]
    assert "Traceback" not in printed
