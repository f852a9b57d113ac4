"""Gates as tests of pytest, in processes of their own, as pytest loads the plugin."""

import json
import os
import subprocess
import sys

import pytest

from support.gated_project import DOCUMENTS, harness, make_project

PLUGIN = "rag_evaluation_framework.testing.pytest_plugin"
CONFIG = "corpus: docs\ndataset: help.json\nretriever: own:search\ngates: [{}]\n"


ENGINE = """
import os
from pathlib import Path

FINDS = {"refunds": "refunds.md", "support": "contact.md", "password": "login.md"}


class Logged:
    def __init__(self):
        self.deleted = 0
        self.say("make")
    def say(self, *step):
        with Path("log.txt").open("a") as log:
            log.write(" ".join(step) + "\\n")
    def ingest(self, document):
        self.say("ingest", document.id)
    def delete(self, scope_prefix):
        self.deleted += 1
        self.say("delete", scope_prefix)
        if self.deleted > 1 and "UNDELETABLE" in os.environ:
            raise ConnectionError("gone away")
    def retrieve(self, query, top_k, scope):
        if "FAILING" in os.environ and "refunds" in query:
            raise ConnectionError("gone away")
        return [{"doc_id": scope + name} for word, name in FINDS.items() if word in query]
    def close(self):
        self.say("close")
"""


@pytest.fixture
def run_pytest(tmp_path):
    """Run pytest in a project, with the plugin."""
    make_project(tmp_path)

    def run(*arguments, cwd=tmp_path):
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment["PYTHONPATH"] = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(tmp_path)])
        command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-rA", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_every_gate_is_a_test_and_the_run_is_made_once(run_pytest, tmp_path):
    gates = ("recall@2 >= 0.75", "mrr@2 >= 0.9", "p95(rerank) <= 1s", "population(recall@2) >= 0.7")
    dataset = harness()
    more = [query | {"id": f"{query['id']}_2", "query": f"Well, {query['query']}"} for query in dataset["queries"]]
    (tmp_path / "help.json").write_text(json.dumps(dataset | {"queries": dataset["queries"] + more}))
    listed = ", ".join(f"'{gate}'" for gate in gates)
    (tmp_path / "eval.yaml").write_text(f"{CONFIG.format(listed)}save_results_path: kept\ncluster: question\n")
    code, told = run_pytest("--rag-eval", "eval.yaml")
    assert code == 1
    assert "2 failed, 1 passed, 1 skipped" in told
    assert "mrr@2 >= 0.9: failed: 0.750, 8 questions" in told
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
    (tmp_path / "eval.yaml").write_text(CONFIG.format("'recall@2 >= 0.1'").replace("own:search", "own:half"))
    code, told = run_pytest("--rag-eval", "eval.yaml")
    assert code == 1
    assert "1 of 4 questions failed" in told


def with_engine(folder, *gates, prefix="eval:help:", **keys):
    """A configuration whose engine writes down what is done with it."""
    (folder / "logged.py").write_text(ENGINE)
    dataset = harness()
    dataset["defaults"]["scopePrefix"] = prefix
    dataset["documents"] = [{"sourceId": prefix + name, "content": text} for name, text in DOCUMENTS.items()]
    for query in dataset["queries"]:
        query["relevant"] = {"sourceIds": [prefix + name for name in query["relevant"]["sourceIds"]]}
    (folder / "engine.json").write_text(json.dumps(dataset))
    config = {"dataset": "engine.json", "engine": "logged:Logged", "cleanup": "always", "gates": gates, **keys}
    (folder / "eval.json").write_text(json.dumps(config))


def done(folder):
    """What was done with the engine, without the documents."""
    return [line for line in (folder / "log.txt").read_text().splitlines() if not line.startswith("ingest")]


GATES = ("recall@2 >= 0.1", "mrr@2 >= 0.1", "hit@2 >= 0.1")


def test_the_engine_is_cleaned_up_and_closed_once(run_pytest, tmp_path):
    with_engine(tmp_path, *GATES)
    code, told = run_pytest("--rag-eval", "eval.json")
    assert (code, "3 passed" in told) == (0, True), told
    assert done(tmp_path) == ["make", "delete eval:help:", "delete eval:help:", "close"]


def test_a_run_that_is_not_reliable_is_made_once_for_all_gates(run_pytest, tmp_path, monkeypatch):
    monkeypatch.setenv("FAILING", "1")
    with_engine(tmp_path, *GATES, save_results_path="kept")
    code, told = run_pytest("--rag-eval", "eval.json")
    assert (code, "3 failed" in told) == (1, True), told
    assert told.count("FAILED eval.json::") == 3
    assert done(tmp_path) == ["make", "delete eval:help:", "delete eval:help:", "close"]
    assert len([*(tmp_path / "kept/runs").iterdir()]) == 1


def test_a_cleanup_that_fails_fails_every_gate(run_pytest, tmp_path, monkeypatch):
    monkeypatch.setenv("UNDELETABLE", "1")
    with_engine(tmp_path, *GATES)
    code, told = run_pytest("--rag-eval", "eval.json")
    assert (code, "3 failed" in told) == (1, True), told
    assert "could not be deleted: ConnectionError: gone away" in told


def test_a_scope_of_ones_own_takes_a_confirmation_that_tests_cannot_give(run_pytest, tmp_path):
    with_engine(tmp_path, *GATES, prefix="prod:help:", allow_custom_prefix=True)
    code, told = run_pytest("--rag-eval", "eval.json")
    assert code == 2
    assert "eval.json: allow_custom_prefix lets a run delete what is in its scope" in told
    assert "rag-eval run eval.json --yes" in told
    assert not (tmp_path / "log.txt").exists()


def test_code_of_ones_own_is_refused_where_that_is_wanted(run_pytest, tmp_path):
    with_engine(tmp_path, *GATES)
    code, told = run_pytest("--rag-eval", "eval.json", "--rag-eval-no-import")
    assert (code, "--no-import" in told) == (2, True), told
    assert not (tmp_path / "log.txt").exists()


def test_an_engine_of_tests_that_are_only_listed_is_closed(run_pytest, tmp_path):
    with_engine(tmp_path, *GATES)
    code, told = run_pytest("--rag-eval", "eval.json", "--collect-only", "-q")
    assert (code, "eval.json::mrr@2 >= 0.1" in told) == (0, True), told
    assert done(tmp_path) == ["make", "close"]


def test_what_is_not_a_file_is_refused_as_none_of_its_gates_would_be_tested(run_pytest, tmp_path):
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit/test_own.py").write_text("def test_own():\n    pass\n")
    (tmp_path / "folder").mkdir()
    for given, what in (("folder", "is a folder"), ("gone.yaml", "is not there")):
        code, told = run_pytest("unit", "--rag-eval", given)
        assert (code, f"--rag-eval {given}: {what}; expected a configuration" in told) == (4, True), told


def test_a_configuration_that_is_named_twice_or_through_a_link_is_tested_once(run_pytest, tmp_path):
    (tmp_path / "eval.yaml").write_text(CONFIG.format("'recall@2 >= 0.75'"))
    (tmp_path / "link.yaml").symlink_to("eval.yaml")
    for given in (("eval.yaml", "--rag-eval", "eval.yaml"), (".", "--rag-eval", "link.yaml")):
        code, told = run_pytest(*given)
        assert (code, "1 passed" in told) == (0, True), told


def in_folder(root, folder, gate, above=None):
    """A configuration in a folder of a project, whose dataset may be in another one."""
    (root / folder).mkdir(parents=True)
    text = CONFIG.format(f"'{gate}'")
    for name in ("docs", "help.json"):
        text = text.replace(f": {name}", f": {(above or root) / name}")
    (root / folder / "config.yaml").write_text(text)


@pytest.mark.parametrize("folder", [".rag-eval", "build"])
@pytest.mark.parametrize("paths", [(), (".",), ("tests",)])
def test_a_configuration_in_a_folder_that_pytest_leaves_out_is_tested_and_nothing_else_there(
    run_pytest, tmp_path, folder, paths
):
    in_folder(tmp_path, folder, "recall@2 <= 0.1")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("def test_a():\n    pass\n")
    (tmp_path / folder / "test_b.py").write_text("def test_b():\n    assert False\n")
    code, told = run_pytest("--rag-eval", f"{folder}/config.yaml", *paths)
    assert (code, "1 failed, 1 passed" in told) == (1, True), told


@pytest.mark.parametrize("above", ["build", ".venvs"])
@pytest.mark.parametrize("paths", [(), ("tests",)])
def test_a_project_below_a_folder_that_pytest_leaves_out_keeps_its_other_tests(run_pytest, tmp_path, above, paths):
    project = tmp_path / above / "project"
    in_folder(project, ".rag-eval", "recall@2 >= 0.1")
    for name in ("docs", "help.json", "own.py"):
        (project / name).symlink_to(tmp_path / name)
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "tests").mkdir()
    (project / "tests" / "test_a.py").write_text("def test_a():\n    assert False\n")
    code, told = run_pytest("--rag-eval", ".rag-eval/config.yaml", *paths, cwd=project)
    assert (code, "1 failed, 1 passed" in told) == (1, True), told


def test_tests_that_are_named_beside_a_configuration_in_a_hidden_folder_are_run(run_pytest, tmp_path):
    in_folder(tmp_path, ".rag-eval", "recall@2 >= 0.1")
    (tmp_path / ".rag-eval/tests").mkdir()
    (tmp_path / ".rag-eval/tests/test_h.py").write_text("def test_h():\n    assert False\n")
    for named in (".rag-eval/tests", ".rag-eval/tests/test_h.py"):
        code, told = run_pytest("--rag-eval", ".rag-eval/config.yaml", named)
        assert (code, "1 failed, 1 passed" in told) == (1, True), told


def test_folders_are_left_out_by_patterns_of_their_paths_too(run_pytest, tmp_path):
    in_folder(tmp_path, "fixtures", "recall@2 >= 0.1")
    (tmp_path / "fixtures/test_z.py").write_text("def test_z():\n    assert False\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nnorecursedirs = */fixtures* .*\n")
    code, told = run_pytest("--rag-eval", "fixtures/config.yaml")
    assert (code, "1 passed" in told, "failed" in told) == (0, True, False), told


def test_a_configuration_is_tested_whatever_else_is_left_out_and_selected_as_other_tests_are(run_pytest, tmp_path):
    in_folder(tmp_path, ".rag-eval", "recall@2 >= 0.1")
    (tmp_path / "test_a.py").write_text("def test_a():\n    pass\n")
    hook = "@pytest.hookimpl(tryfirst=True)\ndef pytest_collection_modifyitems(items):\n    items.clear()\n"
    (tmp_path / "conftest.py").write_text(f"import pytest\n\n{hook}")
    given = ("--rag-eval", ".rag-eval/config.yaml")
    code, told = run_pytest(*given)
    assert (code, "1 passed" in told) == (0, True), told
    (tmp_path / "conftest.py").unlink()
    for selected in (("-k", "recall"), ("--deselect", "test_a.py")):
        code, told = run_pytest(*given, *selected)
        assert (code, "1 passed, 1 deselected" in told) == (0, True), told
    code, told = run_pytest(*given, "--deselect", ".rag-eval/config.yaml::recall@2 >= 0.1")
    assert (code, "PASSED test_a.py::test_a" in told, "1 passed, 1 deselected" in told) == (0, True, True), told


def test_a_configuration_in_a_hidden_folder_that_cannot_be_used_is_told_once(run_pytest, tmp_path):
    in_folder(tmp_path, ".rag-eval", "recall@9 >= 0.1")
    (tmp_path / ".rag-eval/conftest.py").write_text("print('conftest is loaded')\n")
    for paths in ((), (".rag-eval/config.yaml",)):
        code, told = run_pytest("--rag-eval", ".rag-eval/config.yaml", "-s", *paths)
        assert (code, "1 error" in told, "conftest is loaded" in told) == (2, True, True), told
        assert "the run has no score 'recall@9'" in told


def test_runs_are_looked_for_in_the_folder_of_the_configuration_if_it_is_the_root_of_runs(run_pytest, tmp_path):
    in_folder(tmp_path, ".rag-eval", "recall@2 drop <= 0")
    path = tmp_path / ".rag-eval/config.yaml"
    path.write_text(f"{path.read_text()}baseline: last\n")
    code, told = run_pytest("--rag-eval", ".rag-eval/config.yaml")
    assert (code, f"there are no runs in {path.parent / 'runs'};" in told) == (2, True), told


def test_configurations_of_the_same_name_outside_of_the_root_are_told_apart(run_pytest, tmp_path):
    for project in ("p1", "p2"):
        in_folder(tmp_path / project, ".rag-eval", "recall@2 >= 0.1", above=tmp_path)
    root = tmp_path / "root"
    root.mkdir()
    (root / "test_a.py").write_text("def test_a():\n    pass\n")
    files = [f"../{project}/.rag-eval/config.yaml" for project in ("p1", "p2")]
    first, second = (f"{file}::recall@2 >= 0.1" for file in files)
    options = ("--rootdir", ".", *(f"--rag-eval={file}" for file in files))
    for paths in ((), files, (first, second)):
        code, told = run_pytest(*options, *paths, "--collect-only", "-q", cwd=root)
        assert (code, {first, second} - {*told.splitlines()}) == (0, set()), told
    code, told = run_pytest(*options, "--deselect", first, cwd=root)
    assert (code, "2 passed, 1 deselected" in told, f"PASSED {second}" in told) == (0, True, True), told


def test_gates_of_a_project_below_a_link_are_named_as_in_the_project(run_pytest, tmp_path):
    in_folder(tmp_path / "real/project", ".rag-eval", "recall@2 >= 0.1", above=tmp_path)
    (tmp_path / "link").symlink_to("real/project")
    options = ("--rag-eval", ".rag-eval/config.yaml", "--rootdir", str(tmp_path / "link"))
    code, told = run_pytest(*options, "--collect-only", "-q", cwd=tmp_path / "link")
    assert (code, ".rag-eval/config.yaml::recall@2 >= 0.1" in told.splitlines()) == (0, True), told


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["loadfile", "loadscope"])
def test_gates_of_every_configuration_are_run_by_workers(run_pytest, tmp_path, distribution):
    for project in ("p1", "p2"):
        in_folder(tmp_path / project, ".rag-eval", "recall@2 >= 0.1", above=tmp_path)
    second = tmp_path / "p2/.rag-eval/config.yaml"
    second.write_text(second.read_text().replace("own:search", "own:half"))  # which fails
    (tmp_path / "root").mkdir()
    given = [f"--rag-eval=../{name}/.rag-eval/config.yaml" for name in ("p1", "p2")]
    workers = ("-p", "xdist", "-n", "2", "--dist", distribution, "--rootdir", ".")
    code, told = run_pytest(*given, *workers, cwd=tmp_path / "root")
    assert (code, "1 failed, 1 passed" in told) == (1, True), told


def test_an_older_pytest_is_told_which_one_it_takes(run_pytest, tmp_path):
    (tmp_path / "eval.yaml").write_text(CONFIG.format("'recall@2 >= 0.1'"))
    older = 'import pytest\npytest.version_tuple, pytest.__version__ = (7, 4, 4), "7.4.4"\ndel pytest.Directory\n'
    (tmp_path / "older.py").write_text(older)
    code, told = run_pytest("-p", "older", "--rag-eval", "eval.yaml")
    assert (code, "--rag-eval: pytest is 7.4.4; expected 8.0 or newer" in told) == (4, True), told
    assert "Traceback" not in told
    (tmp_path / "test_a.py").write_text("def test_a():\n    pass\n")
    code, told = run_pytest("-p", "older")
    assert (code, "1 passed" in told) == (0, True), told


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
