import importlib
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_evaluation_framework import demo

PACKAGE = "rag_evaluation_framework"
commands = importlib.import_module(f"{PACKAGE}.cli.commands")
program = importlib.import_module(f"{PACKAGE}.cli.program")
COMMANDS = ("demo", "init", "run", "components")


def test_help_names_every_command_and_the_exit_codes_and_every_command_explains_itself(rag_eval, monkeypatch):
    assert rag_eval("--version") == (0, "0.1.0\n", "")
    outcome = rag_eval("--help")
    assert outcome.code == 0
    assert all(command in outcome.out for command in COMMANDS)
    assert "Exit codes" in outcome.out
    for command in COMMANDS:
        outcome = rag_eval(command, "--help")
        assert (outcome.code, "--help" in outcome.out) == (0, True), command
    monkeypatch.setattr("typer.main.get_command_from_info", None)  # which makes options, for none that is only named
    assert [rag_eval(*named, "--help").code for named in ((), ("dataset",))] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("run --dataset 1 --dataset=1", "--dataset is given 2 times; expected once"),
        ("explain --score 1 --score=1", "--score is given 2 times; expected once"),
        ("score --qrels 1 --qrels=1", "--qrels is given 2 times; expected once"),
        ("dataset lint --chunks 1 --chunks=1", "--chunks is given 2 times; expected once"),
        ("run --resume --fresh", "--resume or --fresh is given 2 times; expected once"),
        ("--nonsense", "No such option: --nonsense"),
        ("fly", "No such command 'fly'"),
        ("cache shrink", "Invalid value for 'ACTION': 'shrink' is not one of"),
        ("cache", "Missing argument 'ACTION'"),
        ("run --k many", "Invalid value for '--k'"),
        ("run --allow-failures -1", "Invalid value for '--allow-failures'"),
    ],
    ids=lambda text: text[:20],
)
def test_wrong_usage_exits_with_2_and_says_what_is_wrong(rag_eval, arguments, told):
    outcome = rag_eval(*arguments.split())
    assert outcome.code == 2
    assert told in outcome.err
    assert "Traceback" not in outcome.err


def test_an_unexpected_error_ends_in_a_message_and_its_traceback_on_request(rag_eval, monkeypatch):
    def explode():
        raise ZeroDivisionError("by \x1b[31mzero")

    monkeypatch.setattr(commands, "app", explode)
    outcome = rag_eval("demo")
    assert outcome.code == 2
    assert outcome.err.startswith("error: ZeroDivisionError: by \N{REPLACEMENT CHARACTER}[31mzero")
    monkeypatch.setenv("RAG_EVAL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        rag_eval("demo")


@pytest.mark.parametrize("notes", [5, ("a",), [5, "while it slept"]])
def test_an_error_whose_notes_are_odd_is_a_message_too(rag_eval, monkeypatch, notes):
    def explode():
        error = ZeroDivisionError("by zero")
        error.__notes__ = notes
        raise error

    monkeypatch.setattr(commands, "app", explode)
    said = "; while it slept" if isinstance(notes, list) else ""
    expected = f"error: ZeroDivisionError: by zero{said} (set RAG_EVAL_DEBUG=1 to see where)\n"
    assert rag_eval("demo") == (2, "", expected)


def test_an_interrupt_exits_with_130_and_one_line_also_before_the_command_begins(rag_eval, monkeypatch):
    @contextmanager
    def interrupted(_):
        raise KeyboardInterrupt
        yield

    def interrupt():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(program, "on_failure", interrupted)
        assert rag_eval("--version") == (130, "", "interrupted\n")
    monkeypatch.setattr(commands, "app", interrupt)
    assert rag_eval("demo") == (130, "", "interrupted\n")


@pytest.mark.parametrize("command", ["rag-eval", "rag-evaluation-framework"])
def test_the_command_is_installed_under_both_names(command):
    executable = Path(sys.executable).with_name(command)
    shown = subprocess.run([executable, "--help"], capture_output=True, text=True, check=True, env=os.environ)
    assert "Measure retrieval" in shown.stdout


HANDBOOK = Path(demo.__file__).parent
OTHERS = {"ruamel.yaml", "xml.etree.ElementTree", f"{PACKAGE}.cli.init", f"{PACKAGE}.rankings.stored"}  # have these
FIRST_RUN = ["run", "--no-config", "--corpus", str(HANDBOOK / "corpus"), "--dataset", str(HANDBOOK / "questions.json")]


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["--help"], {"numpy", "pydantic", "importlib.metadata", "asyncio", "ssl", "bm25s", "sklearn"}),
        (FIRST_RUN, {"asyncio", "ssl", "bm25s", "numba", "scipy", "sklearn", "rich.markdown", "pandas", *OTHERS}),
    ],
    ids=["help", "first run"],
)
def test_a_command_loads_nothing_heavy_that_it_does_not_use(tmp_path, arguments, unused):
    code = (
        f"import sys; sys.argv = ['rag-eval', *{arguments}]\n"
        "from rag_evaluation_framework.cli.main import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        f"print(sorted({unused} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert shown.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("arguments", "code"), [(("run", "nope"), 2), (("components", "--nope"), 2), (("components",), 0)]
)
def test_the_exit_code_is_the_same_though_no_message_can_be_written(tmp_path, arguments, code):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rag_evaluation_framework", *arguments],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=full,
            check=False,
        )
    assert done.returncode == code
