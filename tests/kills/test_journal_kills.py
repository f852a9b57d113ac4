"""A run that is ended again and again goes on until it is whole: as an undisturbed one, and nothing is asked twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

from rag_evaluation_framework import load_result
from support.nightly import nightly
from support.results import told

pytestmark = [
    pytest.mark.no_cover,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals and limits of POSIX"),
]
# What is asked is told by empty files, which no limit on the size of files ends.
OWN = """
import os, time
from pathlib import Path
from rag_evaluation_framework import BM25Retriever
class Mine(BM25Retriever):
    takes_many = False
    def retrieve(self, query, k):
        Path("asked", f"{query.split()[-1]}-{os.getpid()}").touch()
        time.sleep(0.0005)
        return super().retrieve(query, k)
"""
MAIN = "from rag_evaluation_framework.cli.main import main; main()"
# Python would keep a module that it compiled cut at the limit, and all who load it later would fail.
FULL = f"""
import resource, sys
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
{MAIN}
"""
RUN = ["run", "--corpus", "docs", "--dataset", "questions.jsonl", "--retriever", "own:Mine", "--no-config"]
COMMAND = [sys.executable, "-c", MAIN, *RUN]


def prepared(folder, questions):
    (folder / "docs").mkdir()
    (folder / "asked").mkdir()
    rows = []
    for number in range(questions):
        page, line = divmod(number, 50)
        quote = f"The answer to number {number} is {number * 7}."
        with (folder / "docs" / f"{page}.md").open("a") as file:
            file.write(f"# Part {line}\n\n{quote}\n\n")
        rows.append({"id": f"q{number}", "question": f"What is the answer to number {number}", "quote": quote})
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "own.py").write_text(OWN)


def asked(folder):
    return sum(1 for _ in (folder / "asked").iterdir())


def killed(folder, number, more):
    """Start the run, and end it when so many more questions were asked; 0 stands for a full disk."""
    before, command = asked(folder), COMMAND if number else [sys.executable, "-c", FULL, *RUN]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    give_up = time.monotonic() + 120
    while number and process.poll() is None and asked(folder) < before + more and time.monotonic() < give_up:
        time.sleep(0.001)
    if number:
        process.send_signal(number)
    _, said = process.communicate(timeout=300)
    return process, said


@pytest.mark.parametrize(("questions", "kills"), [(120, 3), nightly(5_000, 20)])
def test_a_run_that_is_ended_again_and_again_is_as_an_undisturbed_one(tmp_path, questions, kills):
    prepared(tmp_path, questions)
    chance, without_a_disk = random.Random(questions), set()
    codes = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130, 0: 2}
    for turn in range(kills):
        number = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, 0][turn % 4] if kills > 3 or turn < 2 else 0
        process, said = killed(tmp_path, number, chance.randrange(1, questions // (kills + 2)))
        assert process.returncode == codes[number], said
        assert "Traceback" not in said
        if number == 0:
            without_a_disk.add(str(process.pid))
            assert "not saved" in said
    done = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert f"of {questions} questions were answered by the run that began at " in done.stderr
    (run,) = (tmp_path / ".rag-eval" / "runs").iterdir()
    kept = [path.name.split("-") for path in (tmp_path / "asked").iterdir()]
    times = Counter(number for number, process in kept if process not in without_a_disk)
    assert len({number for number, _ in kept}) == questions
    assert sum(times.values()) - len(times) <= kills  # what was in flight
    subprocess.run([*COMMAND, "--root", "whole"], cwd=tmp_path, capture_output=True, timeout=300, check=True)
    (whole,) = (tmp_path / "whole" / "runs").iterdir()
    ours, undisturbed = load_result(run), load_result(whole)
    assert "their answers are taken" in ours.notes[0]
    assert told(replace(ours, notes=ours.notes[1:])) == told(undisturbed)
