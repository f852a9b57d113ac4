"""Pipelines that end the program, and people who do: by real processes, as exit codes and signals are theirs."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rag_evaluation_framework import load_result
from support.nightly import nightly

pytestmark = [pytest.mark.no_cover, pytest.mark.slow]

FLAGS = ("--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2")
EVERY_SIGNAL = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
if os.name != "nt":
    EVERY_SIGNAL.append((signal.SIGHUP, 129, "hung up"))
SIGNALS = [EVERY_SIGNAL[0], *(nightly(*others) for others in EVERY_SIGNAL[1:])]
PARTS = """
import sys
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from rag_evaluation_framework import Chunker, Embedder, Reranker, Retriever, TokenLevelMetric

STEP = "{step}"

def leave(step):
    if step == STEP:
        sys.exit(0)

leave("import")

class Mine(Retriever):
    def __init__(self):
        leave("constructor")
    @property
    def name(self):
        leave("name")
        return "Mine"
    def index(self, corpus):
        leave("index")
    def prepare(self, queries):
        leave("prepare")
    def retrieve(self, query, k):
        leave("retrieve")
        return ["Install the agent first."]
    def chunks(self):
        leave("chunks")
    def close(self):
        Path("closed").touch()
        leave("close")

class Slow(Mine):
    async def index(self, corpus):
        leave("index")
    async def prepare(self, queries):
        leave("prepare")
    async def retrieve(self, query, k):
        leave("retrieve")
        return ["Install the agent first."]
    async def close(self):
        leave("close")

class Reverse(Reranker):
    def prepare(self):
        leave("prepare of a reranker")
    def rerank(self, query, chunks, top_k=None):
        leave("rerank")
        return chunks[::-1]

class Score(TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        leave("metric")
        return 1.0

class Cut(Chunker):
    def chunk(self, text):
        leave("chunk")
        return [text]

@dataclass(frozen=True)
class Embed(Embedder):
    dimension: int = 2
    def embed(self, texts):
        leave("embed")
        return np.ones((len(texts), 2), dtype=np.float32)

def search(query, k):
    leave("retrieve")
    return ["Install the agent first."]

def number(chunk, number):
    leave("chunk_id")
    return f"{{chunk.doc_id}}#{{number}}"
"""
WAITING = """
import time
from pathlib import Path
from rag_evaluation_framework import Retriever

class Mine(Retriever):
    def index(self, corpus):
        if "{step}" == "index":
            self.wait()
    def retrieve(self, query, k):
        if "{step}" == "retrieve" or query.startswith("Who"):
            self.wait()
        return ["Install the agent first."]
    def wait(self):
        Path("waiting").touch()
        for _ in range(6000):  # Python does not wake from a sleep that begins just after the signal came
            time.sleep(0.1)
    def close(self):
        Path("closed").touch()

class Slow(Mine):
    async def retrieve(self, query, k):
        return Mine.retrieve(self, query, k)
"""


KEPT = "questions are kept; run it again to go on"
CHUNK_IDS = ("--evaluation-type", "chunk-level", "--set", "chunk_id=own:number")


def command(*arguments):
    return [sys.executable, "-m", "rag_evaluation_framework", *arguments]


def run(folder, step, *arguments):
    (folder / "own.py").write_text(PARTS.format(step=step))
    return finished(folder, *FLAGS, *arguments)


def finished(folder, *arguments):
    return subprocess.run(
        command("run", *arguments), cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("step", "arguments", "said"),
    [
        ("import", ("--retriever", "own:Mine"), "module 'own' cannot be imported: called sys.exit(0) (own.py"),
        ("constructor", ("--retriever", "own:Mine"), "retriever 'own:Mine': called sys.exit(0) (own.py, line 12) in"),
        ("name", ("--retriever", "own:Mine"), "called sys.exit(0) (own.py"),
        ("index", ("--retriever", "own:Mine"), "Mine: called sys.exit(0) (own.py, line 12) in index"),
        ("prepare", ("--retriever", "own:Mine"), "Mine: called sys.exit(0) (own.py, line 12) in prepare"),
        ("index", ("--retriever", "own:Slow"), "Mine: called sys.exit(0) (own.py, line 12) in index"),
        ("prepare", ("--retriever", "own:Slow"), "Mine: called sys.exit(0) (own.py, line 12) in prepare"),
        ("chunk", ("--chunker", "own:Cut"), "BM25Retriever(chunker=Cut): called sys.exit(0) (own.py, line 12) in ind"),
        ("embed", ("--embedder", "own:Embed"), "VectorRAGRetriever(embedder=Embed): called sys.exit(0) (own.py, l"),
        ("prepare of a reranker", ("--reranker", "own:Reverse"), "called sys.exit(0) (own.py, line 12) in index"),
        ("chunk_id", CHUNK_IDS, "chunk_id: called sys.exit(0) (own.py, line 12) in naming billing.md"),
    ],
)
def test_a_part_that_exits_where_nothing_can_be_measured_ends_in_exit_code_2(folder, step, arguments, said):
    done = run(folder, step, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / ".rag-eval" / "runs").exists()


@pytest.mark.parametrize(
    ("step", "option", "part"),
    [
        ("retrieve", "--retriever", "own:Mine"),
        ("rerank", "--reranker", "own:Reverse"),
        nightly("retrieve", "--retriever", "own:search"),
        nightly("retrieve", "--retriever", "own:Slow"),
    ],
)
def test_a_question_that_exits_has_failed_and_is_shown(folder, step, option, part):
    done = run(folder, step, option, part)
    assert done.returncode == 2
    assert "retrieve: SystemExit: called sys.exit(0) (own.py, line 12)" in done.stdout
    assert "no question has a score (the first failed: SystemExit: called sys.exit(0) (own.py, line 12);" in done.stderr
    allowed = run(folder, step, option, part, "--allow-failures", "9")
    assert allowed.returncode == 2  # nothing was measured


@pytest.mark.parametrize("part", ["Mine", "Slow"])
def test_a_retriever_that_exits_when_it_is_closed_loses_nothing(folder, part):
    done = run(folder, "close", "--retriever", f"own:{part}")
    assert done.returncode == 2
    (kept,) = (folder / ".rag-eval" / "runs").iterdir()
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: Mine: called sys.exit(0) (own.py, line 12) in close")
    assert f"Saved to {kept}" in done.stdout
    assert "span_recall" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code", "said"), SIGNALS)
@pytest.mark.parametrize("ending", ["sys.exit(0)", "raise ValueError('gone')"])
def test_a_retriever_that_ends_oddly_when_it_is_closed_after_an_interrupt_loses_nothing(
    folder, number, code, said, ending
):
    closing = WAITING.replace('Path("closed").touch()', f"import sys; {ending}")
    done = interrupted(folder, number, "later", "--retriever", "own:Mine", own=closing)
    assert done.returncode == code
    assert done.stderr.splitlines()[-1] == f"{said}: answers to 2 of 3 {KEPT}"
    assert "! Mine could not be closed: " in done.stdout


def test_a_metric_that_exits_has_no_score(folder):
    done = run(folder, "metric", "--metric", "own:Score", "--metric", "span_recall")
    assert done.returncode == 2
    assert "score score at 3 cutoffs: SystemExit: called sys.exit(0) (own.py, line 12)" in done.stdout
    assert (
        run(folder, "metric", "--metric", "own:Score", "--metric", "span_recall", "--allow-failures", "9").returncode
        == 0
    )


@pytest.mark.parametrize("error", ["EOFError()", "BrokenPipeError(32, 'gone')", "__import__('typer').Exit(0)"])
def test_no_error_of_a_part_is_taken_for_a_success_or_a_gate(folder, error):
    (folder / "own.py").write_text(
        f"from rag_evaluation_framework import BM25Retriever\n"
        f"class Mine(BM25Retriever):\n    def index(self, corpus):\n        raise {error}\n"
    )
    done = finished(folder, *FLAGS, "--retriever", "own:Mine")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code", "said"), SIGNALS)
@pytest.mark.parametrize(("part", "step"), [("Mine", "index"), ("Mine", "retrieve"), ("Slow", "retrieve")])
def test_an_interrupt_closes_the_retriever_and_leaves_nothing_behind(folder, number, code, said, part, step):
    done = interrupted(folder, number, step, "--retriever", f"own:{part}")
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == f"{said}: no answer is kept"
    assert "Traceback" not in done.stderr
    assert (folder / "closed").exists()
    assert not (folder / ".rag-eval").exists()


def interrupted(folder, number, step, *arguments, own=WAITING):
    """Run until a retriever waits, interrupt that, and return how it ended."""
    (folder / "own.py").write_text(own.format(step=step))
    process = started(folder, *arguments)
    try:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code", "said"), EVERY_SIGNAL)
@pytest.mark.parametrize("part", ["Mine", nightly("Slow")])
def test_what_was_answered_before_an_interrupt_is_shown_and_kept(folder, number, code, said, part):
    done = interrupted(folder, number, "later", "--retriever", f"own:{part}")
    assert done.returncode == code
    assert done.stderr.splitlines()[-1] == f"{said}: answers to 2 of 3 {KEPT}"
    assert "Traceback" not in done.stderr
    assert "interrupted: 2 of 3 questions were answered at every cutoff\n" in done.stdout
    assert "scored 2 of 4 answerable questions (2 skipped, 0 failed), 1 without an answer (1 failed)" in done.stdout
    assert "Saved to" not in done.stdout
    assert (folder / "closed").exists()
    assert [path.name for path in (folder / ".rag-eval" / "runs").iterdir()] == ["unfinished"]
    # What waited does not any more, which is another file: so all is asked again, unless that is told not to matter.
    (folder / "own.py").write_text(WAITING.replace("time.sleep(0.1)", "break").format(step="nowhere"))
    again = finished(folder, *FLAGS, "--retriever", f"own:{part}", "--resume")
    assert again.returncode == 0
    assert "2 of 3 questions were answered by the run that began at " in again.stderr
    (kept,) = (folder / ".rag-eval" / "runs").iterdir()
    assert f"Saved to {kept}" in again.stdout
    assert [query.status for query in load_result(kept).queries] == ["scored", "scored", "no-answer"]


def test_a_metric_that_raises_an_interrupt_loses_no_answer(folder):
    own = PARTS.replace('leave("metric")', "raise KeyboardInterrupt")
    (folder / "own.py").write_text(own.format(step=""))
    done = finished(folder, *FLAGS, "--metric", "own:Score")
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == f"interrupted: answers to 3 of 3 {KEPT}"
    assert "3 of 3 questions were answered by the run that began at " in finished(folder, *FLAGS).stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_first_interrupt_says_at_once_what_the_second_does(folder):
    (folder / "own.py").write_text(WAITING.replace('Path("closed").touch()', "time.sleep(600)").format(step="later"))
    process = started(folder, "--retriever", "own:Mine")
    try:
        process.send_signal(signal.SIGINT)
        assert "interrupted: finishing; again to stop now\n" in iter(process.stderr.readline, "")
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "interrupted\n")
    finally:
        process.kill()
    assert process.returncode == 130


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_while_what_was_answered_is_scored_ends_at_once(folder):
    scoring = "from rag_evaluation_framework import TokenLevelMetric\nclass Score(TokenLevelMetric):\n"
    scoring += "    def calculate(self, retrieved, ground_truth):\n"
    scoring += "        Path('scoring').touch()\n        time.sleep(600)\n"
    (folder / "own.py").write_text(WAITING.format(step="later") + scoring)
    process = started(folder, "--retriever", "own:Mine", "--metric", "own:Score")
    try:
        process.send_signal(signal.SIGINT)
        give_up = time.monotonic() + 60
        while not (folder / "scoring").exists() and time.monotonic() < give_up:
            time.sleep(0.05)
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err.endswith("interrupted: finishing; again to stop now\ninterrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_run_in_json_is_one_object(folder):
    done = interrupted(folder, signal.SIGINT, "later", "--retriever", "own:Mine", "--json")
    assert done.returncode == 130
    shown = json.loads(done.stdout)
    assert shown["run"] is None
    assert shown["not_saved"] == f"answers to 2 of 3 {KEPT}"
    assert shown["notes"][0] == "interrupted: 2 of 3 questions were answered at every cutoff"
    assert len(shown["failures"]) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_run_whose_answers_cannot_be_kept_says_so(folder):
    script = LIMITED + WHILE_ASKING
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == "interrupted: no answer is kept"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_that_python_cannot_raise_is_told_without_a_traceback(folder):
    # What is raised inside `__del__` is printed and forgotten by Python.
    (folder / "own.py").write_text(
        "import os, signal\n"
        "class Part:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), {int(signal.SIGINT)})\n"
        "        for _ in range(1000):\n            pass\n"
        "def search(query, k):\n"
        "    if query.startswith('Who'):\n        Part()\n"
        "    return ['Install the agent first.']\n"
    )
    done = finished(folder, *FLAGS, "--retriever", "own:search")
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "answers to 2 of 3 questions are kept" in done.stderr


SWALLOWING = """
import time
from pathlib import Path

def search(query, k):
    with Path("asked").open("a") as asked:
        asked.write(".")
    Path("waiting").touch()
    try:
        time.sleep({seconds})
    except BaseException:
        {instead}
    return ["Install the agent first."]
"""
RUN = "['rag-eval', 'run', '--corpus', 'docs', '--dataset', 'questions.csv']"
# Python would keep a module that it compiled cut at the limit, and all who load it later would fail.
LIMITED = (
    "import resource, sys\nsys.dont_write_bytecode = True\nresource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
)
# Runs the command line, and sends it an interrupt when a question is asked.
WHILE_ASKING = f"""
import os, sys
from rag_evaluation_framework.components.retrievers.bm25 import BM25Retriever
real, asked = BM25Retriever.retrieve, []
def retrieve(self, query, k):
    asked.append(query)
    if len(asked) > 2:
        os.kill(os.getpid(), {int(signal.SIGINT)})
    return real(self, query, k)
BM25Retriever.retrieve = retrieve
sys.argv = {RUN}
from rag_evaluation_framework.cli.main import main
main()
"""
# Runs the command line, and sends it a signal where it begins to import a module.
WHILE_IMPORTING = """
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Finder())
sys.argv = ["rag-eval", "run", "--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2"]
from rag_evaluation_framework.cli.main import main
main()
"""


def started(folder, *arguments):
    """Start a run, and wait until something of `own` waits."""
    process = subprocess.Popen(
        command("run", *FLAGS, *arguments), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    give_up = time.monotonic() + 60
    while not (folder / "waiting").exists() and time.monotonic() < give_up:
        time.sleep(0.05)
    return process


def swallowing(folder, seconds, instead):
    (folder / "own.py").write_text(SWALLOWING.format(seconds=seconds, instead=instead))
    return started(folder, "--retriever", "own:search")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code", "said"), SIGNALS)
@pytest.mark.parametrize(
    ("instead", "questions"),
    [("pass", 5), ("raise ValueError('lost')", 5), ("pass", 1)],
    ids=["nothing", "an error", "at the last question"],
)
def test_an_interrupt_that_a_component_swallows_still_ends_the_run(folder, number, code, said, instead, questions):
    table = folder / "questions.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[: 1 + questions]))
    process = swallowing(folder, 2, instead)
    process.send_signal(number)
    printed, complained = process.communicate(timeout=60)
    assert process.returncode == code
    assert complained.splitlines()[-1] == f"{said}: no answer is kept"
    assert "Traceback" not in complained
    assert printed == ""
    assert len((folder / "asked").read_text()) <= 2  # it is asked no more than once after the interrupt
    assert not (folder / ".rag-eval").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_second_interrupt_gets_through_to_a_component_that_swallows_every_one(folder):
    process = swallowing(folder, 1, "time.sleep(60)")
    process.send_signal(signal.SIGINT)
    for _ in range(40):  # on a busy machine the first is answered late, and what follows at once is the same keystroke
        time.sleep(1)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGTERM)
    _, complained = process.communicate(timeout=50)
    assert process.returncode == 143
    assert complained.splitlines()[-1] == "terminated"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, nightly(signal.SIGTERM)])
@pytest.mark.parametrize(
    "module",
    [
        "rag_evaluation_framework.errors",
        "rag_evaluation_framework.cli.output",
        "typer",
        "rich.console",
        "rag_evaluation_framework.cli.run",
        "numpy",
        "pydantic",
    ],
)
def test_an_interrupt_while_the_program_starts_is_one_line(folder, number, module):
    code, said = (130, "interrupted\n") if number == signal.SIGINT else (143, "terminated\n")
    script = WHILE_IMPORTING.format(module=module, number=int(number))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


WHILE_ENDING = "import atexit, os\natexit.register(lambda: os.kill(os.getpid(), 2))\n"
# As a process ended once, in one of the lives of `tests/kills`: with a traceback and code 1.
AFTER_THE_COMMAND = """
import os
from rag_evaluation_framework.base import interrupts
def interrupted_first(really=interrupts.leave_at_once):
    os.kill(os.getpid(), 15)
    really()
interrupts.leave_at_once = interrupted_first
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("script", "code", "said"), [(WHILE_ENDING, 130, "interrupted"), (AFTER_THE_COMMAND, 143, "terminated")]
)
def test_an_interrupt_after_the_command_is_one_line(folder, script, code, said):
    script += WHILE_IMPORTING.format(module="nothing", number=0)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code
    assert "Saved to" in done.stdout
    assert done.stderr.splitlines()[-1] == said
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_exit_code_survives_an_interrupt_inside_generated_code(folder):
    # CPython ends the process by SIGINT itself after a KeyboardInterrupt in `exec` of a text, as dataclasses use it.
    (folder / "own.py").write_text(f"exec('import os; os.kill(os.getpid(), {int(signal.SIGTERM)}); open')\n")
    assert finished(folder, *FLAGS, "--retriever", "own:search").returncode == 143


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_that_the_process_was_told_to_ignore_stays_ignored(folder):
    script = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + WHILE_IMPORTING.format(
        module="typer", number=int(signal.SIGINT)
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
