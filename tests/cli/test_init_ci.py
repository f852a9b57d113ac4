"""From nothing to a red pull request: `init --ci`, a baseline, and the command of the workflow."""

import json
import os
import shlex
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from ruamel.yaml import YAML

from rag_evaluation_framework import load_result

FILES = [
    ".github/workflows/rag-eval.yml",
    ".rag-eval/.gitignore",
    ".rag-eval/config.yaml",
    ".rag-eval/datasets/sample.json",
    "rag_eval_engine.py",
]


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def workflow(folder):
    return YAML(typ="safe", pure=True).load((folder / ".github/workflows/rag-eval.yml").read_text())


def command_of_the_workflow(folder):
    (job,) = workflow(folder)["jobs"].values()
    (command,) = [step["run"] for step in job["steps"] if "rag-eval run" in step.get("run", "")]
    return shlex.split(command)[1:]


@pytest.fixture
def fresh(monkeypatch):
    """The engine file is imported anew."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget():
        sys.modules.pop("rag_eval_engine", None)

    forget()
    yield forget
    forget()


def test_the_workflow_can_only_read_and_fails_if_the_run_left_no_report_and_a_second_init_leaves_what_is_there(
    rag_eval, tmp_path
):
    first = rag_eval("init", "--ci")
    assert (first.code, first.out.count("wrote "), files(tmp_path)) == (0, 5, FILES)
    written = workflow(tmp_path)
    assert written["permissions"] == {"contents": "read"}
    (job,) = written["jobs"].values()
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert len(used) == 3
    assert job["steps"][0]["with"] == {"persist-credentials": False, "submodules": True}
    assert all(len(name.partition("@")[2]) == 40 for name in used)
    steps = [step.get("run", "") for step in job["steps"]]
    (number,) = [number for number, step in enumerate(steps) if "rag-eval run" in step]
    command = shlex.split(steps[number])
    assert "compared >= 90 %" in command
    assert steps[number + 1] == f"test -s {command[command.index('--junit') + 1]}"
    assert "/store/" in (tmp_path / ".rag-eval/.gitignore").read_text().splitlines()  # which holds texts
    text = (tmp_path / FILES[0]).read_text()
    assert ("/runs" in text, "store" in text) == (True, False)
    (tmp_path / "rag_eval_engine.py").write_text("mine = True\n")
    (tmp_path / FILES[0]).unlink()
    second = rag_eval("init", "--ci")
    assert (second.code, second.out.count("is there, and is left as it is")) == (0, 4)
    assert f"wrote {FILES[0]}" in second.out
    assert (tmp_path / "rag_eval_engine.py").read_text() == "mine = True\n"


def test_a_run_works_right_after_it_with_the_engine_and_without(rag_eval, tmp_path, fresh):
    rag_eval("init", "--ci")
    outcome = rag_eval("run")
    assert outcome.code == 0, outcome.err
    assert "of .rag-eval/config.yaml is used: dataset, engine, cleanup, gates; --no-config leaves" in outcome.err
    assert "2 gates: 2 passed" in outcome.out
    outcome = rag_eval("run", "--k", "10")
    assert "of .rag-eval/config.yaml is used: dataset, engine, cleanup, gates; --no-config leaves" in outcome.err
    outcome = rag_eval("run", "--baseline", ".rag-eval/baseline/report.json")
    assert outcome.code == 2
    assert "no baseline is kept as '.rag-eval/baseline/report.json': `rag-eval baseline last` keeps" in outcome.err
    (tmp_path / ".rag-eval/config.yaml").unlink()
    outcome = rag_eval("run", "--dataset", ".rag-eval/datasets/sample.json", "--json")
    assert json.loads(outcome.out)["metrics"]["recall@10"] == 1.0


def test_git_takes_what_is_to_be_kept_and_leaves_runs_out(rag_eval, tmp_path, fresh):
    rag_eval("init", "--ci")
    assert rag_eval("run").code == 0
    assert rag_eval("baseline", "last").code == 0
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", ".rag-eval", "rag_eval_engine.py", ".github"], cwd=tmp_path, check=True)
    listed = subprocess.run(["git", "ls-files"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert sorted(listed.stdout.split()) == sorted([*FILES, ".rag-eval/baseline/report.json"])


def test_the_configuration_of_the_root_is_left_alone_where_that_is_said(rag_eval, tmp_path, fresh):
    rag_eval("init", "--ci")
    config = tmp_path / ".rag-eval/config.yaml"
    config.write_text(config.read_text().replace("rag_eval_engine:make", "no_such:make"))
    dataset = ("run", "--dataset", ".rag-eval/datasets/sample.json")
    assert rag_eval(*dataset).code == 2
    outcome = rag_eval(*dataset, "--no-config")
    assert (outcome.code, "gates" in outcome.out, "config" in outcome.err) == (0, False, False)
    both = rag_eval("run", str(config), "--no-config")
    assert both.code == 2
    assert "--no-config were given; expected one of them" in both.err


def test_the_whole_loop(rag_eval, tmp_path, fresh):
    rag_eval("init", "--ci")
    assert rag_eval("run").code == 0
    assert rag_eval("baseline", "last").code == 0
    command = command_of_the_workflow(tmp_path)
    del command[(sink := command.index("--sink")) : sink + 2]  # GitHub's own
    assert rag_eval(*command).code == 0  # nothing has changed
    engine = tmp_path / "rag_eval_engine.py"
    engine.write_text(engine.read_text().replace("retrieve(query, top_k).hits", "retrieve(query, top_k).hits[1:]"))
    fresh()
    outcome = rag_eval(*command)
    assert outcome.code == 1, outcome.err
    run = max((tmp_path / ".rag-eval/runs").iterdir())
    page = (run / "diff.md").read_text()
    lost = [name for name, score in load_result(run).per_query("hit@10").items() if score == 0.0]
    assert lost
    assert all(name in page for name in lost)
    before = load_result(tmp_path / ".rag-eval/baseline").per_query("recall@10")
    worse = [name for name, score in load_result(run).per_query("recall@10").items() if score < before[name]]
    assert len(worse) > len(lost)  # one of two documents is there still
    assert all(f"| {name} |" in page for name in worse)
    failed = ET.parse(tmp_path / "rag-eval.xml").getroot().findall(".//failure")
    assert len(failed) == 3
    told = rag_eval("explain", "last", lost[0])
    assert told.code == 0, told.err
    assert "not among the results asked for" in told.out
    assert "lost@10" in (run / "summary.md").read_text()


def test_another_root_is_the_one_of_all_files(rag_eval, tmp_path, fresh):
    told = rag_eval("init", "--ci", "--root", "quality/eval")
    assert told.code == 0
    assert "quality/eval/config.yaml" in files(tmp_path)
    command = command_of_the_workflow(tmp_path)
    assert command[1:4] == ["quality/eval/config.yaml", "--root", "quality/eval"]
    for line in ("run --root quality/eval", "baseline last --root quality/eval"):
        assert f"  rag-eval {line}\n" in told.out
        assert rag_eval(*line.split()).code == 0
    del command[(sink := command.index("--sink")) : sink + 2]
    assert rag_eval(*command).code == 0
    assert not (tmp_path / ".rag-eval").exists()


@pytest.mark.parametrize("ending", ["yml", "json"])
def test_a_configuration_of_another_ending_is_the_one_of_the_workflow(rag_eval, tmp_path, fresh, ending):
    (tmp_path / ".rag-eval").mkdir()
    config = tmp_path / f".rag-eval/config.{ending}"
    config.write_text('{"dataset": "datasets/sample.json", "engine": "rag_eval_engine:make"}')
    outcome = rag_eval("init", "--ci")
    assert outcome.code == 0
    assert f".rag-eval/config.{ending} is there, and is left as it is" in outcome.out
    assert not (tmp_path / ".rag-eval/config.yaml").exists()
    assert command_of_the_workflow(tmp_path)[1] == f".rag-eval/config.{ending}"
    assert rag_eval("run").code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--ci", "--root", "/tmp/elsewhere"), "expected a folder below the current"),
        (("--ci", "--root", "../elsewhere"), "expected a folder below the current"),
        (("--ci", "--root", "my evals"), "the current one, of ASCII letters"),
        (("--ci", "--root", "a;b"), "the current one, of ASCII letters"),
        (("--ci", "--root", "$(id)"), "the current one, of ASCII letters"),
        (("--ci", "--root=-x"), "the current one, of ASCII letters"),
        (("--ci",), ".github is a file; expected a folder"),
        (("--ci", "--corpus", "docs"), "leave --corpus, --questions and --name out"),
        ((), "--corpus and --questions missing; expected both, or --ci"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(rag_eval, tmp_path, options, said):
    (tmp_path / ".github").write_text("")
    outcome = rag_eval("init", *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert files(tmp_path) == [".github"]


# --- a configuration that is found ------------------------------------------------------------------------------------


def test_the_configuration_of_another_tool_is_read_unchanged(rag_eval, tmp_path, shared):
    samples = shared / "data/harness_samples"
    (tmp_path / ".rag-eval").mkdir()
    (tmp_path / ".rag-eval/config.json").write_text((samples / "unrag-config.json").read_text())
    outcome = rag_eval("run", "--dataset", samples / "unrag-sample.json")
    assert outcome.code == 0, outcome.err
    assert "recall@10 >= 0.75" in outcome.out
    assert rag_eval("run").code == 2  # it names no dataset


def test_a_corpus_of_ones_own_or_a_named_configuration_leaves_it_alone_and_two_are_one_too_many(rag_eval, folder):
    (folder / ".rag-eval").mkdir()
    (folder / ".rag-eval/config.yaml").write_text("engine: no_such_module:make\n")
    flags = ("--dataset", "questions.csv", "--allow-skipped", "2")
    assert rag_eval("run", "--corpus", "docs", *flags).code == 0
    (folder / "own.yaml").write_text("corpus: docs\ndataset: questions.csv\n")
    assert rag_eval("run", "own.yaml", "--allow-skipped", "2").code == 0
    (folder / ".rag-eval/config.json").write_text("{}")
    outcome = rag_eval("run", "--dataset", "x.json")
    assert outcome.code == 2
    assert "expected one configuration, or name one" in outcome.err


@pytest.mark.parametrize(
    ("option", "code"),
    [
        (("--retriever", "bm25"), 0),
        (("--chunker", "recursive-character"), 0),
        (("--embedder", "lsa"), 0),
        (("--rankings", "all.trec"), 1),  # which finds nothing
    ],
)
def test_what_an_option_replaces_is_not_taken_from_the_configuration_of_the_root(
    rag_eval, tmp_path, fresh, option, code
):
    """Neither the engine, which would be asked, nor what is about engines, which would be refused without one."""
    rag_eval("init", "--ci")
    (tmp_path / "all.trec").write_text("phone-code Q0 eval:sample:phone 1 1 x\n")
    gates = ("--gate", "recall@10 >= 0.1", "--gate", "mrr@10 >= 0.1")
    outcome = rag_eval("run", *option, *gates, "--json")
    assert outcome.code == code, outcome.err
    assert json.loads(outcome.out)["name"] != "Engine"
    assert "of .rag-eval/config.yaml is used: dataset, gates; --no" in outcome.err


@pytest.mark.slow
def test_the_workflow_runs_in_a_shell(tmp_path, fresh):
    rag = [sys.executable, "-m", "rag_evaluation_framework"]
    for arguments in (["init", "--ci"], ["run"], ["baseline", "last"]):
        subprocess.run([*rag, *arguments], cwd=tmp_path, check=True, capture_output=True)
    summary = tmp_path / "step.md"
    done = subprocess.run(
        [*rag, *command_of_the_workflow(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "GITHUB_STEP_SUMMARY": str(summary)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "**4 gates: 4 passed**" in summary.read_text()
