"""Lives that are ended at random moments, and what is there afterwards. Run by test_kills.py as a program of its own.

Everything is imported once. A life is a fork of this process, so it is short, and its moments are those of the work.
After each death, whatever is visible has to be whole and true, and the next life has to succeed and to leave nothing
hidden.

Run it by hand in the folder tests: python -c "from kills.lives import lives; print(lives('run', [9], 9, 1, '/tmp/l'))"
"""

import io
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import sklearn.decomposition
import sklearn.feature_extraction.text  # noqa: F401  loaded before the forks, as the command line is
from tqdm import tqdm

import rag_evaluation_framework as rag
from rag_evaluation_framework import Embedder, demo
from rag_evaluation_framework.base import interrupts
from rag_evaluation_framework.base.files import remove_abandoned
from rag_evaluation_framework.cli.main import main
from rag_evaluation_framework.cli.program import exit_code  # noqa: F401
from rag_evaluation_framework.components import CachedEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.data import QueryId, QueryText
from support.kept_vectors import kept_vectors
from support.results import told

DOCUMENTS = {f"{number}.md": f"# Page {number}\n\nThe answer to {number} is {number * 7}.\n" for number in range(8)}
QUESTIONS = {f"What is the answer to {number}?": f"The answer to {number} is {number * 7}." for number in range(8)}
RUN = ("run", "--corpus", "docs", "--dataset", "questions.csv")
COMMANDS = {
    "run": RUN,
    "json": (*RUN, "--json", "--set", "max_concurrency=4", "--retriever", "own:search", "--budget", "100ch"),
    "demo": ("demo",),
    "init": ("init", "--corpus", "docs", "--questions", "questions.csv"),
    "score": ("score", "--qrels", "qrels.txt", "--rankings", "mine.run"),
    "sweep": (
        *("sweep", "--corpus", "docs", "--dataset", "questions.csv"),
        *("--over", "retriever=own:search,bm25,vector-rag,hybrid", "--over", "k=1,3"),
    ),
}
OWN = "def search(query, k):\n    return [f'The answer to {query[22:-1]} is {int(query[22:-1]) * 7}.']\n"
PAGES = rag.Corpus(rag.Document(rag.DocumentId(name), text) for name, text in DOCUMENTS.items())
SMALL = rag.Dataset(
    [
        rag.TokenLevelGroundTruth(
            rag.Query(QueryId(question), QueryText(question)), [rag.CharacterSpan(rag.DocumentId(name), 10, 31)]
        )
        for question, name in zip(QUESTIONS, DOCUMENTS, strict=True)
    ],
    rag.TOKEN,
    name="small",
    corpus=PAGES,
)
RESULT = rag.evaluate(rag.BM25Retriever(), SMALL)
TEXTS = [f"text {number}" for number in range(400)]


@dataclass(frozen=True)
class Turning(Embedder):
    """Vectors that tell their text."""

    dimension: int = 8

    def embed(self, texts):
        numbers = [int(text.split()[1]) for text in texts]
        return np.array([[(number + place) % 401 for place in range(8)] for number in numbers], dtype=np.float32)


class SlowFile(io.FileIO):
    """A file on a slow disk, so that many lives end while it is written."""

    def write(self, data):
        half = len(data) // 2
        super().write(data[:half])
        time.sleep(0.002)
        return half + super().write(data[half:])


def slow_open(file, mode="r", *arguments, really=io.open, **options):
    binary = mode in ("wb", "xb")
    return SlowFile(file, mode.replace("b", "")) if binary else really(file, mode, *arguments, **options)


# --- a life -----------------------------------------------------------------------------------------------------------


def life(kind, folder):
    """Do the work of one life."""
    os.chdir(folder)
    tqdm.set_lock(threading.RLock())  # that of the module is one for all forks, and a killed one may have held it
    demo.load_handbook = lambda: SMALL
    io.open = slow_open
    if kind == "save":
        print(RESULT.save(root=".rag-eval"), flush=True)
    elif kind == "cache":
        embedder = CachedEmbedder(Turning(), root=".rag-eval")
        for first in range(0, len(TEXTS), 50):
            embedder.embed(TEXTS[first : first + 50])
    else:
        sys.argv = ["rag-eval", *COMMANDS[kind]]
        main()


def born(kind, folder):
    """Begin a life in a fork; what it prints goes to files."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        return child
    code = 1
    try:
        for name, descriptor in (("out", 1), ("err", 2)):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        interrupts.remember()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        life(kind, folder)
        code = 0
    except SystemExit as leaving:
        code = leaving.code or 0
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)


def ended(child):
    """Return the exit code of a life, which may take a minute."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"process {child} did not end")


def whole_life(kind, folder):
    """Return how long an undisturbed life takes, which has to succeed."""
    start = time.perf_counter()
    code = ended(born(kind, folder))
    if code:
        raise AssertionError(f"an undisturbed {kind} ended with {code}: {(folder / 'err').read_text()}")
    return time.perf_counter() - start


# --- what is there afterwards -----------------------------------------------------------------------------------------


def check_runs(folder, seen, expected):
    """Check every run that was not there before: it is whole, and equal to one that was not disturbed."""
    for path in sorted((folder / ".rag-eval" / "runs").glob("2*")):
        if path.name in seen:
            continue
        seen.add(path.name)
        result = rag.load_result(path)
        assert untold(result) == told(expected[result.name])


def untold(result):
    """Return a result without the note that says how many answers an earlier start had."""
    notes = tuple(note for note in result.notes if "were answered by the run that began at" not in note)
    return told(replace(result, notes=notes))


def conclusion(path):
    """Return what a sweep concludes, without times."""
    found = json.loads(path.read_text())
    means = {cell["name"]: (Path(cell["folder"]).name, cell["means"]) for cell in found["cells"]}
    return means, sorted((one["cell"], one["mean"], one["is_tied"]) for one in found["standings"])


def check_sweep(folder, expected):
    """Check that every cell is whole and equal to one that was not disturbed, and so is every conclusion."""
    root, cells = folder / ".rag-eval", expected["cells"]
    found = {path.name: untold(rag.load_result(path)) for path in root.glob("cells/[!.]*")}
    assert found == {name: cells[name] for name in found}
    for path in root.glob("sweeps/2*/sweep.json"):
        assert conclusion(path) == expected["conclusion"]
    return len(found)


def check(kind, folder, seen, expected):
    """Check everything that is visible after a life, and return how much there is."""
    printed = (folder / "out").read_text()
    if kind == "cache":
        found = kept_vectors(EmbeddingCache(folder / ".rag-eval"))
        assert np.array_equal(CachedEmbedder(Turning(), root=folder / ".rag-eval").embed(TEXTS), Turning().embed(TEXTS))
        return sum(number for _, number, _ in found)
    if kind == "init":
        for name, text in expected.items():
            if (folder / ".rag-eval" / name).exists():
                assert (folder / ".rag-eval" / name).read_text() == text
        return sum((folder / ".rag-eval" / name).exists() for name in expected)
    if kind == "sweep":
        return check_sweep(folder, expected)
    if kind in ("run", "json", "demo", "save"):
        check_runs(folder, seen, expected)
        for line in printed.splitlines():
            if line.startswith("Saved to "):
                assert Path(line.removeprefix("Saved to ")).is_dir(), line
    return len(seen)


def expectation(kind, folder):
    """Return what an undisturbed life leaves: results by name, or files by path."""
    root = folder / ".rag-eval"
    if kind == "init":
        found = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
        assert sorted(name for name in found if ".texts/" not in name) == ["datasets/questions.json", "questions.yaml"]
        return found
    if kind == "sweep":
        (concluded,) = root.glob("sweeps/2*/sweep.json")
        cells = {path.name: told(rag.load_result(path)) for path in root.glob("cells/*")}
        return {"cells": cells, "conclusion": conclusion(concluded)}
    results = [rag.load_result(path) for path in root.glob("runs/*")]
    return {result.name: result for result in results}


def cleared(kind, folder):
    """Take away what would be in the way of another life."""
    if kind in ("init", "cache", "sweep"):
        shutil.rmtree(folder / ".rag-eval", ignore_errors=True)


def finish(kind, folder, expected):
    """Take away files that were finished and would be refused to be written again."""
    if kind == "init" and (folder / ".rag-eval" / "questions.yaml").exists():
        for name in expected:
            (folder / ".rag-eval" / name).unlink(missing_ok=True)
    if kind == "cache":  # a life that was killed when its folder had been moved leaves nothing to be made beside it
        remove_abandoned(folder / ".rag-eval" / "cache")


# --- all lives of a kind ----------------------------------------------------------------------------------------------


def prepared(folder):
    (folder / "docs").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text)
    rows = "".join(f'"{question}","{quote}"\n' for question, quote in QUESTIONS.items())
    (folder / "questions.csv").write_text(f"question,quote\n{rows}")
    (folder / "own.py").write_text(OWN)
    (folder / "qrels.txt").write_text("".join(f"q{number} 0 a 1\n" for number in range(300)))
    (folder / "mine.run").write_text("".join(f"q{number} Q0 a 1 1.0 mine\n" for number in range(300)))


def lives(kind, signals, count, seed, folder):
    """Live `count` lives for each signal that ends them, at random moments, in turn, and return how they ended."""
    folder = Path(folder)
    prepared(folder)
    durations = []
    for _ in range(3):
        cleared(kind, folder)
        durations.append(whole_life(kind, folder))
    expected = expectation(kind, folder)
    seen = {path.name for path in (folder / ".rag-eval").glob("runs/*")}
    chance = random.Random(seed)
    codes, left, amounts = {number: Counter() for number in signals}, 0, set()
    turns = signals * count
    for turn, number in enumerate(turns):
        cleared(kind, folder)
        delay = sorted(durations)[1] * (turn + chance.random()) / len(turns)  # spread over the whole life
        child = born(kind, folder)
        time.sleep(delay)
        os.kill(child, number)
        codes[number][ended(child)] += 1
        said = (folder / "err").read_text()
        assert "Traceback" not in said, said
        assert "Exception ignored" not in said, said
        amounts.add(check(kind, folder, seen, expected))
        left += bool(hidden(folder))
        finish(kind, folder, expected)
        whole_life(kind, folder)
        check(kind, folder, seen, expected)
        assert not hidden(folder), f"{hidden(folder)} are left"
        assert not (folder / ".rag-eval" / "runs" / "unfinished").exists()
    return {"codes": codes, "left": left, "amounts": len(amounts)}


def serve():
    """Live what standard input says, a line of arguments each, and print how it ended: everything is imported once."""
    for line in sys.stdin:
        try:
            ended = lives(*json.loads(line))
        except Exception:  # noqa: BLE001  it fails the test that asked for these lives, and no other
            ended = {"failed": traceback.format_exc()}
        print(json.dumps(ended), flush=True)


def hidden(folder):
    return [str(path) for path in folder.rglob(".*") if path.name not in (".rag-eval", ".gitattributes")]
