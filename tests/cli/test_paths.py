"""Whatever is given as a path is refused in one line, if no file can be called so."""

import pytest

IMPOSSIBLE = {"too long": "a" * 5_000, "a NUL": "a\0b", "a surrogate": "a\ud800b", "deep": "deep/" * 1_000 + "x"}
RUN = {"--corpus": "docs", "--dataset": "questions.csv"}
INIT = {"--corpus": "docs", "--questions": "questions.csv"}
SCORE = {"--qrels": "qrels.txt", "--rankings": "run.txt"}
PATHS = [
    ("run", {}, ""),
    *(("run", RUN, option) for option in ("--corpus", "--dataset", "--root")),
    *(("run", RUN, option) for option in ("--set", "--chunker", "--embedder")),
    *(("run", RUN, option) for option in ("--retriever", "--reranker", "--metric", "--glob", "--evaluation-type")),
    *(("init", INIT, option) for option in ("--corpus", "--questions", "--glob", "--name", "--root")),
    *(("score", SCORE, option) for option in SCORE),
    *(("compare last last~1", {}, option) for option in ("--root", "--output", "--score")),
    ("compare last", {}, ""),
    ("demo", {}, "--root"),
    ("cache info", {}, "--root"),
    ("cache clear", {}, "--root"),
]


@pytest.mark.parametrize("impossible", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
@pytest.mark.parametrize(("command", "others", "option"), PATHS, ids=[f"{name} {option}" for name, _, option in PATHS])
def test_what_no_file_can_be_called_is_refused_in_one_line(rag_eval, folder, command, others, option, impossible):
    (folder / "qrels.txt").write_text("q 0 d 1\n")
    (folder / "run.txt").write_text("q Q0 d 1 1.0 x\n")
    named = f"tokenizer={impossible}" if option == "--set" else impossible
    budget = ["--budget", "10tok"] if option == "--set" else []
    given = [word for key, value in {**others, option: named}.items() for word in (key, value) if word]
    outcome = rag_eval(*command.split(), *given, *budget)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "RAG_EVAL_DEBUG" not in outcome.err
    if "Invalid value for" in outcome.err:  # as any argument is refused that is not of its type
        return
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert outcome.err.endswith(f"{line}\n")
    assert len(line) < 2_000
    assert not (folder / ".rag-eval").exists()


WITHOUT_DEMO = [path for path in PATHS if path[0] != "demo"]  # it would be made there, as it should be


@pytest.mark.parametrize(
    ("command", "others", "option"), WITHOUT_DEMO, ids=[f"{name} {option}" for name, _, option in WITHOUT_DEMO]
)
def test_what_is_no_utf_8_may_name_a_file_and_is_never_a_surprise(rag_eval, folder, command, others, option):
    given = [word for key, value in {**others, option: "a\udcffb"}.items() for word in (key, value) if word]
    outcome = rag_eval(*command.split(), *given)
    assert outcome.code in (0, 2)
    assert "RAG_EVAL_DEBUG" not in outcome.err
    assert "Traceback" not in outcome.err


FOLDERS = [path for path in PATHS if path[2] in {"--corpus", "--dataset", "--root", "--questions", "--output", *SCORE}]


@pytest.mark.parametrize(
    ("command", "others", "option"), FOLDERS, ids=[f"{name} {option}" for name, _, option in FOLDERS]
)
def test_a_path_that_is_empty_is_refused_and_is_not_the_working_folder(rag_eval, folder, command, others, option):
    before = sorted(folder.rglob("*"))
    outcome = rag_eval(*command.split(), *(word for pair in {**others, option: ""}.items() for word in pair))
    assert (outcome.code, outcome.out) == (2, "")
    assert f"'{option}': is empty; expected a path" in " ".join(outcome.err.split())
    assert sorted(folder.rglob("*")) == before


def test_a_path_of_an_option_may_begin_at_home_and_a_folder_may_be_called_so(rag_eval, folder, monkeypatch):
    (folder / "home").mkdir()
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("USERPROFILE", str(folder / "home"))
    (folder / "docs").rename(folder / "home" / "docs")
    root = ("--root=~/own", "--name=x")
    assert rag_eval("init", "--corpus=~/docs", "--questions=questions.csv", *root).code == 0
    assert (folder / "home" / "own" / "x.yaml").exists()
    run = ("run", "--corpus=~/docs", "--dataset=~/own/datasets/x.json", "--root=~/own", "--allow-skipped=2")
    assert rag_eval(*run).code == 0
    assert (folder / "home" / "own" / "runs").exists()
    assert not (folder / "~").exists()
    (folder / "home" / "docs").rename(folder / "~")
    assert rag_eval("init", "--corpus=./~", "--questions=questions.csv", "--root=.", "--name=x").code == 0
    assert rag_eval("run", "x.yaml", "--allow-skipped=2").code == 0


FOLDER = ("--corpus", "docs", "--glob", "*.md", "--glob", "*.rst")
CONFIG = ("--corpus", "config.yaml")


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--dataset", "questions.csv", "--no-config", *FOLDER),
        ("init", "--questions", "questions.csv", "--root", "other", *FOLDER),
        ("dataset", "info", "questions.csv", *CONFIG),
        ("dataset", "lint", "questions.csv", *CONFIG),
        ("dataset", "quality", "questions.csv", *CONFIG),
    ],
    ids=" ".join,
)
def test_all_globs_together_say_what_is_read(rag_eval, tmp_path, command):
    (tmp_path / "docs").mkdir()
    for name, text in (("a.md", "Refunds take five days."), ("b.rst", "Parcels carry a number."), ("c.txt", "Hidden.")):
        (tmp_path / "docs" / name).write_text(text)
    (tmp_path / "questions.csv").write_text(
        "question,quote\nHow long?,Refunds take five days.\nWhat is on it?,Parcels carry a number.\n"
    )
    (tmp_path / "config.yaml").write_text("corpus: docs\nglob: ['*.md', '*.rst']\n")
    outcome = rag_eval(*command)
    assert outcome.code == 0, outcome.err


def test_each_pattern_stands_for_itself(rag_eval, tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("a,b.md", "{a.md", "c.txt"):
        (tmp_path / "docs" / name).write_text("Refunds take five days.")
    (tmp_path / "questions.csv").write_text("question,quote,document\nHow long?,Refunds take five days.,{a.md\n")
    given = ("--corpus", "docs", "--glob", "a,b.md", "--glob", "{a.md", "--glob", "*.txt", "--exclude", "c.*")
    assert "Texts of 2 documents" in rag_eval("init", *given, "--questions", "questions.csv").out
    config = (tmp_path / ".rag-eval/questions.yaml").read_text()
    assert 'glob: ["a,b.md", "{a.md", "*.txt"]\nexclude: ["c.*"]\n' in config
    outcome = rag_eval("dataset", "info", ".rag-eval/datasets/questions.json", "--corpus", ".rag-eval/questions.yaml")
    assert "1 of 2" in outcome.out, outcome


DATASET = ("lint d.json", "info d.json", "update d.json", "quality d.json", "review d.json --output n.json")


@pytest.mark.parametrize(
    "command",
    [
        "label docs.yaml",
        "init --corpus docs --converter own:upper --questions questions.csv",
        "generate --corpus docs.yaml --dry-run",
        *(f"dataset {command} --corpus docs.yaml" for command in DATASET),
    ],
)
def test_with_the_variable_no_command_imports_a_converter(rag_eval, folder, monkeypatch, command):
    (folder / "own.py").write_text("open('mark', 'w')\ndef upper(path):\n    return path.read_text().upper()\n")
    (folder / "docs.yaml").write_text("corpus: docs\nconverter: own:upper\n")
    monkeypatch.setenv("RAG_EVAL_NO_IMPORT", "1")
    outcome = rag_eval(*command.split())
    assert outcome.code == 2
    assert "'own:upper' names your own code, and RAG_EVAL_NO_IMPORT allows" in outcome.err
    assert not (folder / "mark").exists()
