"""Standard output: who reads it may leave, and nothing but the result is written to it. Both by real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_evaluation_framework.cli.output import stdout
from support.nightly import nightly

FLAGS = ("--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2")
SCORED = ("--qrels", "qrels.txt", "--rankings", "mine.run")
INIT = ("--corpus", "docs", "--questions", "questions.csv")
TALKING = """
import sys
print("on import")
def search(query, k):
    print("somebody asks", query)
    return ["Install the agent first."]
"""


def started(folder, *arguments, **streams):
    return subprocess.Popen(
        [sys.executable, "-m", "rag_evaluation_framework", *arguments], cwd=folder, text=True, **streams
    )


def closed_pipe():
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", *FLAGS),
        ("components",),
        ("--help",),
        nightly(("run", *FLAGS, "--json")),
        nightly(("run", *FLAGS, "--retriever", "own:search", "--allow-failures", "9")),
        nightly(("score", "--qrels", "qrels.txt", "--rankings", "mine.run", "--per-query")),
        nightly(("init", "--corpus", "docs", "--questions", "questions.csv")),
        nightly(("demo",)),
        nightly(("cache", "info")),
        nightly(("--version",)),
    ],
    ids=" ".join,
)
def test_a_reader_that_leaves_ends_every_command_quietly_with_141(folder, arguments):
    (folder / "own.py").write_text(TALKING.replace("print(", "sys.stderr.write('') or str("))
    (folder / "questions.csv").write_text("question,quote\nWhat comes first?,Install the agent first.\n")
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    (folder / "mine.run").write_text("q1 Q0 a 1 1.0 mine\n")
    process = started(folder, *arguments, stdout=closed_pipe(), stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=60)
    assert [line for line in said.splitlines() if not line.startswith("importing own:search from ")] == []
    assert process.returncode == 141


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_an_error_keeps_its_exit_code_though_nobody_reads_anything(folder):
    nobody = closed_pipe()
    process = started(folder, "run", "--corpus", "nowhere", "--dataset", "questions.csv", stdout=nobody, stderr=nobody)
    assert process.wait(timeout=60) == 2


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="streams of POSIX")
@pytest.mark.parametrize(
    ("arguments", "closed", "code"),
    [
        (("run", *FLAGS), ">&-", 0),
        (("run", *FLAGS, "--json"), ">&- 2>&-", 0),
        (("run", *FLAGS, "--k", "0"), "2>&-", 2),
        nightly(("run", *FLAGS, "--json"), "2>&-", 0),
        nightly(("run", *FLAGS, "--k", "0"), ">&-", 2),
        nightly(("components",), ">&-", 0),
        nightly(("demo",), "2>&-", 0),
    ],
)
def test_a_process_started_with_a_closed_stream_keeps_its_exit_code(folder, arguments, closed, code):
    command = f"{sys.executable} -m rag_evaluation_framework {' '.join(arguments)} {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    assert "Error" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_output_that_cannot_be_written_is_an_error_and_the_run_is_saved(folder, form):
    with Path("/dev/full").open("w") as full:
        process = started(folder, "run", *FLAGS, *form, stdout=full, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.splitlines()[-1].startswith("error: ")
    (run,) = (folder / ".rag-eval" / "runs").iterdir()
    assert said.splitlines()[-1] == (
        f"error: standard output cannot be written: No space left on device; the run is saved in {run}"
    )
    assert "Exception ignored" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("components",), nightly(("demo",)), ("score", *SCORED), ("init", *INIT)])
def test_every_command_says_that_its_output_cannot_be_written(folder, arguments):
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    (folder / "mine.run").write_text("q1 Q0 a 1 1.0 mine\n")
    with Path("/dev/full").open("w") as full:
        process = started(folder, *arguments, stdout=full, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said == "error: standard output cannot be written: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_what_was_neither_shown_nor_saved_says_both(folder):
    (folder / "own.py").write_text(
        "from pathlib import Path\nimport shutil\ndef search(query, k):\n"
        "    if Path('.rag-eval').is_dir():\n        shutil.rmtree('.rag-eval')\n"
        "    Path('.rag-eval').touch()\n    return []\n"
    )
    with Path("/dev/full").open("w") as full:
        process = started(folder, "run", *FLAGS, "--retriever", "own:search", stdout=full, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    last = said.splitlines()[-1]
    assert last.startswith("error: standard output cannot be written: No space left on device; the run is not saved: ")


MEDDLING = {
    "closes standard output": ("sys.stdout.close()", 0),
    "closes standard error": ("sys.stderr.close()", 0),
    "takes standard output away": ("sys.stdout = None", 0),
    "takes standard error away": ("sys.stderr = None", 0),
    "puts anything in their place": ("sys.stdout = sys.stderr = 5", 0),
    "closes what is behind standard output": ("sys.__stdout__.close()", 2),
    "closes what is behind standard error": ("sys.__stderr__.close()", 0),
    "closes the bytes of standard error": ("sys.stderr.buffer.close()", 0),
    "closes the descriptor of standard output": ("os.close(1)", 2),
}


@pytest.mark.parametrize("form", [(), nightly(("--json",))])
@pytest.mark.parametrize(("meddling", "code"), MEDDLING.values(), ids=MEDDLING)
def test_a_component_that_meddles_with_the_streams_does_not_change_the_exit_code(folder, meddling, code, form):
    (folder / "own.py").write_text(
        f"import os, sys\ndef search(query, k):\n    {meddling}\n    return ['Install the agent first.']\n"
    )
    process = started(
        folder, "run", *FLAGS, "--retriever", "own:search", *form, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    printed, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in said
    (run,) = (folder / ".rag-eval" / "runs").iterdir()
    if code == 0:
        assert str(run) in printed
    else:
        assert "error: standard output cannot be written: " in said
        assert said.endswith(f"the run is saved in {run}\n")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(
    ("arguments", "head"),
    [
        (("run", *FLAGS), "head -n 1"),
        (("run", *FLAGS, "--json"), "head -c 10"),
        nightly(("demo", "--json"), "head -c 10"),
        (("score", "--qrels", "qrels.txt", "--rankings", "mine.run"), "head -n 1"),
        (("init", "--corpus", "docs", "--questions", "questions.csv"), "head -n 1"),
        (("init", "--corpus", "docs", "--questions", "questions.csv"), "true"),
    ],
)
def test_a_reader_that_takes_only_the_beginning_is_no_error(folder, arguments, head):
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    (folder / "mine.run").write_text("q1 Q0 a 1 1.0 mine\n")
    line = f"({sys.executable} -m rag_evaluation_framework {' '.join(arguments)}; echo $? >code) | {head}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert (folder / "code").read_text().strip() in ("0", "141")
    assert not [word for word in ("error", "Error", "Traceback", "Exception") if word in done.stderr]
    saved = {"run": "runs/*/report.json", "demo": "runs/*/report.json", "init": "questions.yaml", "score": ""}
    assert not saved[arguments[0]] or list((folder / ".rag-eval").glob(saved[arguments[0]]))


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_what_is_flushed_last_tells_that_nobody_reads(folder):
    (folder / "own.py").write_text(
        "import os\ndef search(query, k):\n    os.dup2(int(os.environ['NOBODY']), 1)\n    return []\n"
    )
    nobody = closed_pipe()
    process = started(
        folder,
        *("run", *FLAGS, "--retriever", "own:search"),
        env={**os.environ, "NOBODY": str(nobody)},
        pass_fds=[nobody],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    result, said = process.communicate(timeout=60)
    assert result == ""
    assert "Error" not in said
    assert process.returncode == 141


LAST_FLUSH = """
import os, sys
from rag_evaluation_framework.cli.output import stdout
from rag_evaluation_framework.cli import output
read, write = os.pipe()
os.close(read)
sys.stdout.write("not flushed yet")
os.dup2(write, 1)
sys.stderr.write(str(output.flushed()))
"""


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_the_last_flush_tells_whether_anybody_reads():
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", LAST_FLUSH]
    done = subprocess.run(command, env=buffered, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "False")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_components_print_goes_to_standard_error(folder, form):
    (folder / "own.py").write_text(TALKING)
    process = started(
        folder, "run", *FLAGS, "--retriever", "own:search", *form, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    result, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "on import" in said
    assert "somebody asks What comes first?" in said
    assert "on import" not in result
    assert "somebody asks" not in result
    if form:
        assert json.loads(result)["counts"]["scored"] == 2


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("200", 200), ("", 120), ("wide", 120)])
def test_without_a_terminal_lines_are_as_wide_as_columns_says(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert stdout().width == width
