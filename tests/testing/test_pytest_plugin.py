"""Gates as tests of pytest, in processes of their own, as pytest loads the plugin."""

import os
import subprocess
import sys

import pytest

from support.gated_project import make_project

PLUGIN = "rag_evaluation_framework.testing.pytest_plugin"
CONFIG = "corpus: docs\ndataset: help.json\nretriever: own:search\ngates: [{}]\n"


@pytest.fixture
def run_pytest(tmp_path):
    """Run pytest in a project, with the plugin."""
    make_project(tmp_path)

    def run(*arguments):
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment["PYTHONPATH"] = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(tmp_path)])
        command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-rA", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_every_gate_is_a_test_and_the_run_is_made_once(run_pytest, tmp_path):
    gates = ("recall@2 >= 0.75", "mrr@2 >= 0.9", "p95(rerank) <= 1s", "population(recall@2) >= 0.7")
    listed = ", ".join(f"'{gate}'" for gate in gates)
    (tmp_path / "eval.yaml").write_text(f"{CONFIG.format(listed)}save_results_path: kept\n")
    code, told = run_pytest("--rag-eval", "eval.yaml")
    assert code == 1
    assert "2 failed, 1 passed, 1 skipped" in told
    assert "mrr@2 >= 0.9: failed: 0.750, 4 questions" in told
    assert "p95(rerank) <= 1000ms: not measured: no stage 'rerank' was timed" in told
    assert "PASSED eval.yaml::recall@2 >= 0.75" in told
    assert "inconclusive (counts as passed): 0.750" in told
    assert "Traceback" not in told
    assert len([*(tmp_path / "kept/runs").iterdir()]) == 1


def test_a_configuration_that_cannot_be_used_is_told_without_a_traceback(run_pytest, tmp_path):
    (tmp_path / "eval.yaml").write_text(CONFIG.format("'recall@9 >= 0.75'"))
    code, told = run_pytest("--rag-eval", "eval.yaml")
    assert code == 2
    assert "gate 'recall@9 >= 0.75': the run has no score 'recall@9'; did you mean recall@2?" in told
    assert "Traceback" not in told


def test_failed_questions_fail_every_gate(run_pytest, tmp_path):
    (tmp_path / "eval.yaml").write_text(CONFIG.format("'recall@2 >= 0'").replace("own:search", "own:half"))
    code, told = run_pytest("--rag-eval", "eval.yaml")
    assert code == 1
    assert "1 of 4 questions failed" in told
    assert "the run is not saved" in told


def test_without_the_option_nothing_of_the_package_is_loaded_but_the_plugin(run_pytest, tmp_path):
    (tmp_path / "eval.yaml").write_text(CONFIG.format("'recall@2 >= 0.9'"))
    (tmp_path / "test_own.py").write_text(
        "import sys\n"
        "def test_what_is_loaded():\n"
        "    loaded = {name for name in sys.modules if name.startswith('rag_evaluation_framework')}\n"
        "    assert loaded == {'rag_evaluation_framework', 'rag_evaluation_framework.testing',\n"
        "                      'rag_evaluation_framework.testing.pytest_plugin'}\n"
        "    assert 'numpy' not in sys.modules\n"
    )
    code, told = run_pytest()
    assert (code, "1 passed" in told) == (0, True), told
