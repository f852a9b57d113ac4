"""The fuzzer's own tests, the inputs that once ended badly, and some thousand new ones in every run of all tests."""

import signal
import warnings
from pathlib import Path

import pytest
from tests.fuzz import file_cases, running, samples, uses

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import SentenceChunker
from rag_evaluation_framework.data.ids import canonical_chunk_id
from rag_evaluation_framework.errors import RagEvalError

PROCESSES = 2


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# What is changed is valid


@pytest.mark.parametrize("name", sorted(file_cases.USES.keys() - {"tiktoken"}))
def test_the_sample_is_valid(name, folder):
    file_cases.used(name, file_cases.contents()[name], folder)


@pytest.mark.parametrize("level", samples.LEVELS)
def test_the_sample_of_a_run_is_valid(level, folder):
    (folder / "run").mkdir()
    for name, data in samples.report(level).items():
        (folder / "run" / name).write_bytes(data)
    uses.report(level)(folder / "run")


def test_an_answer_that_was_kept_is_valid_and_faults_are_named(folder):
    # The sample of a cache is valid:
    file_cases.write_cache(folder, samples.cache_files())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uses.embedding_cache(folder)

    # A fault is named by the innermost function of the package:
    stray = running.tried(lambda rng, folder: rag.BM25Retriever(chunker=SentenceChunker()).name.x, "x:0", folder)
    assert stray.group == "AttributeError in the fuzzer"
    stray = running.tried(lambda rng, folder: canonical_chunk_id(None), "x:0", folder)
    assert stray.group == "AttributeError in data/ids:canonical_chunk_id"

    # An error of ours and a note end well:
    def noted(rng, folder):
        rag.note("remember")
        rag.load_dataset(folder / "nothing.json")

    assert running.tried(noted, "x:0", folder) is None


# What goes wrong is seen


def _hangs(rng, folder):
    while True:
        pass


def _grows(rng, folder):
    b"x" * (running.MEGABYTES + 50) * 2**20


def _shows(rng, folder):
    uses.shown("repr", "\x1b[2J")


def _warns(rng, folder):
    warnings.warn("old", DeprecationWarning, stacklevel=1)


def _says_nothing(rng, folder):
    raise RagEvalError("")


def _says_too_much(rng, folder):
    class Long(RagEvalError):
        def __str__(self):
            return "x" * (uses.MOST + 1)

    raise Long


@pytest.mark.parametrize(
    ("case", "group"),
    [
        (lambda rng, folder: [].no_such_attribute, "AttributeError in the fuzzer"),
        (_hangs, "_TooSlow in the fuzzer"),
        (_grows, "memory in x"),
        (_shows, "promise: repr shows what acts on a terminal in x"),
        (_warns, "DeprecationWarning at test_fuzz.py"),
        (_says_nothing, "promise: a message is empty in x"),
        (_says_too_much, "promise: a message is too long in x"),
    ],
)
def test_an_input_that_ends_badly_is_seen(case, group, folder, monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 1)
    monkeypatch.setattr(running, "MEGABYTES", 100)
    assert running.tried(case, "x:0", folder).group == group


def test_inputs_that_end_their_process_are_told_and_the_rest_is_run(monkeypatch):
    killed = "import os, sys, signal; from tests.fuzz import running; "
    killed += "kill = lambda rng, folder: os.kill(os.getpid(), signal.SIGKILL); "
    killed += "running.cases = lambda: {'good': lambda rng, folder: None, 'bad': kill}; "
    killed += "running.work(sys.stdin.read().splitlines())"
    monkeypatch.setattr(running, "WORKER", ("-c", killed))
    strays = running.fuzzed(["good:0", "bad:0", "good:1", "bad:1", "good:2"])
    assert [(stray.input, stray.group) for stray in strays] == [
        ("bad:0", f"died with -{signal.SIGKILL} in bad"),
        ("bad:1", f"died with -{signal.SIGKILL} in bad"),
    ]


def test_an_input_is_the_same_each_time(folder):
    def made(name):
        (folder / "x.json").unlink(missing_ok=True)
        running.tried(running.cases()["native-json"], name, folder)
        return (folder / "x.json").read_bytes()

    assert made("native-json:7") == made("native-json:7") != made("native-json:8")


# What ended badly once, and what never did


def _crashers(config):
    shared = config.getoption("--shared")
    files = sorted((Path(shared) / "data" / "crashers").iterdir()) if shared else []
    return [file for file in files if (name := file.name.partition(".")[0]) == "cache" or name in file_cases.USES]


def pytest_generate_tests(metafunc):
    if "crasher" in metafunc.fixturenames:
        found = _crashers(metafunc.config)
        skipped = pytest.param(None, marks=pytest.mark.skip(reason="needs the public data: pytest --shared=FOLDER"))
        metafunc.parametrize("crasher", found or [skipped], ids=lambda file: file and file.name)
    if "part" in metafunc.fixturenames:
        metafunc.parametrize("part", range(PROCESSES))


def test_an_input_that_ended_badly_once_ends_well(crasher, folder):
    name = crasher.name.partition(".")[0]

    def case(rng, folder):
        if name == "cache":
            file_cases.write_cache(folder, dict.fromkeys(samples.cache_files(), crasher.read_bytes()))
            uses.embedding_cache(folder)
        else:
            file_cases.used(name, crasher.read_bytes(), folder)

    assert running.tried(case, f"{name}:0", folder) is None


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("count", [1_000, pytest.param(50_000, marks=pytest.mark.nightly)])
def test_every_input_ends_in_success_or_an_error_of_ours(part, count):
    names = [*running.inputs(0, count, [*running.cases()])]
    assert running.grouped(running.fuzzed(names[part::PROCESSES])) == []
