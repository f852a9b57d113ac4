"""Many questions of which the rankings are given: evaluated, saved, loaded, compared; beside an earlier commit.

    python benchmarks/many_questions.py [REV] [--questions 100000] [--json]

Questions with 40 hits each, at random places in 1,000 documents, with scores and without text, given by a function as
dicts. Evaluated at 5, 10 and 40 results and at 4,000 characters, saved and loaded; then what was retrieved is read from
the file. CPU seconds of each step, the peak of the process's memory, with Python, the corpus, the questions and what is
given in it (`start_mb`), and what lies on disk. In a process of its own, the run is compared with another one that
lacks the first hits of every tenth question. Then 10,000 questions are
evaluated and saved by this tree and by REV (560cffb) in turns, each time in a fresh process: the median of the ratios.
Last, rankings of chunk ids of which none occurs twice are scored, of 20,000 and of 40,000 questions: twice as many
should take twice as long.
"""

import os

# Read when NumPy is loaded; threads that wait for each other would count as CPU time.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import resource
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, cast

import numpy as np

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationResult,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.types import QueryId, QueryText

DEPTH, DOCUMENTS, CHARACTERS, COMPARED, REPEATS = 40, 1_000, 20_000, 10_000, 3
REPOSITORY = Path(__file__).resolve().parent.parent

Search = Callable[[str, int], list[dict[str, Any]]]


def given(questions: int) -> tuple[Dataset[CharacterSpan], Search]:
    """Return questions, each with one answer that is in one of its hits, and the function that has the hits."""
    random = np.random.default_rng(0)
    text = " ".join(f"{number:05}" for number in range(CHARACTERS // 6 + 1))[:CHARACTERS]
    corpus = Corpus([Document(DocumentId(f"guide/page-{number:04}.md"), text) for number in range(DOCUMENTS)])
    names = [document.id for document in corpus]
    shape = (questions, DEPTH)
    documents = random.integers(0, DOCUMENTS, shape, dtype=np.int32)
    starts = random.integers(0, CHARACTERS - 400, shape, dtype=np.int32)
    lengths = random.integers(100, 400, shape, dtype=np.int32)
    scores = -np.sort(-random.random(shape, dtype=np.float32), axis=1)
    found = random.integers(0, DEPTH, questions)
    entries: list[TokenLevelGroundTruth] = []
    for row in range(questions):
        start = int(starts[row, found[row]])
        query = Query(QueryId(f"q{row:06}"), QueryText(f"What does the guide say about topic {row}?"))
        span = CharacterSpan(names[documents[row, found[row]]], start, start + 50)
        entries.append(TokenLevelGroundTruth(query, (span,)))
    rows = {entry.query.text: row for row, entry in enumerate(entries)}

    def search(query: str, k: int) -> list[dict[str, Any]]:
        columns = (column[rows[QueryText(query)], :k].tolist() for column in (documents, starts, lengths, scores))
        return [
            {"doc_id": names[document], "start": start, "end": start + length, "score": score}
            for document, start, length, score in zip(*columns, strict=True)
        ]

    return Dataset(entries, TOKEN, name="many", corpus=corpus), search


def lacking(search: Search, dataset: Dataset[CharacterSpan]) -> Search:
    """Return the function without its first three hits of every tenth question."""
    lacks = {str(entry.query.text) for entry in list(dataset)[::10]}

    def lacking_search(query: str, k: int) -> list[dict[str, Any]]:
        hits = search(query, k)
        return hits[3:] if query in lacks else hits

    return lacking_search


def megabytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def measured(questions: int, root: str | None) -> dict[str, float]:
    """Return what this process's tree needs for so many questions: two steps, or all and two runs kept in a folder."""
    dataset, search = given(questions)
    figures = {"start_mb": megabytes()}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = process_time()
        done = work()
        figures[f"{name}_cpu_s"] = process_time() - start
        return done

    with suppress(ImportError):  # of the earlier commit
        import_module("rag_evaluation_framework.report.pages.result")  # at the first save: `start_up` counts it
    with TemporaryDirectory() as other_root:
        root, whole = root or other_root, root is not None
        result = timed("evaluate", lambda: evaluate(search, dataset, k=[5, 10, DEPTH]))
        folder = timed("save", lambda: result.save(root=root))
        figures["disk_mb"] = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        if whole:
            again: Any = timed("load", lambda: load_result(folder))
            hits = timed("read_hits", lambda: again.queries[0].hits)
            if hits != result.queries[0].hits:
                raise SystemExit("what was loaded is not what was saved")
            figures["peak_mb"] = megabytes()
            evaluate(lacking(search, dataset), dataset, k=[5, 10, DEPTH]).save(root=root)
    figures.setdefault("peak_mb", megabytes())
    return figures


def compared(root: str) -> dict[str, float]:
    """Return what it takes to load two saved runs, compare them and write the page."""
    start = process_time()
    load = cast("Callable[[Path], EvaluationResult[CharacterSpan]]", load_result)
    base, candidate = map(load, sorted(Path(root).glob("runs/*")))
    loaded = process_time()
    repr(base.compare(candidate))
    return {
        "load_two_cpu_s": loaded - start,
        "compare_cpu_s": process_time() - loaded,
        "compare_peak_mb": megabytes(),
    }


def scoring_of_distinct_ids(questions: int) -> float:
    """Return the CPU seconds to score rankings of 20 chunk ids, of which none occurs twice, by the default metrics."""
    package: Any = import_module("rag_evaluation_framework")  # the earlier commit, which reads this file, lacks these
    data: Any = import_module("rag_evaluation_framework.data")
    corpus = Corpus([Document(DocumentId("guide.md"), "text")])
    queries = [Query(QueryId(f"q{row}"), QueryText(f"q{row}")) for row in range(questions)]
    entries = [data.ChunkLevelGroundTruth(query, (f"c{row}-3",)) for row, query in enumerate(queries)]
    rankings = data.Rankings.of(
        (
            data.QueryRanking(query, tuple(data.Hit(chunk_id=f"c{row}-{rank}") for rank in range(20)))
            for row, query in enumerate(queries)
        ),
        corpus,
    )
    start = process_time()
    dataset = Dataset(entries, package.CHUNK, corpus=corpus)
    package.score(rankings, dataset, package.DEFAULT_CHUNK_METRICS.values(), [5, 20])
    return process_time() - start


def in_a_process(source: Path, questions: int, *flags: str) -> dict[str, float]:
    """Return what `measured` measures with the sources in a folder, in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--here", "--questions", str(questions), *flags]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(done.stderr)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def beside_an_earlier_commit(revision: str) -> dict[str, float]:
    """Measure evaluating and saving 10,000 questions in both trees, in turns."""
    archive = subprocess.run(  # noqa: S603
        ["git", "-C", str(REPOSITORY), "archive", revision, "src"],  # noqa: S607
        capture_output=True,
        check=True,
    ).stdout
    ratios: dict[str, list[float]] = {"evaluate": [], "save": []}
    with TemporaryDirectory() as folder, tarfile.open(fileobj=BytesIO(archive)) as tree:
        tree.extractall(folder, filter="data")
        for _ in range(REPEATS):
            old = in_a_process(Path(folder) / "src", COMPARED)
            new = in_a_process(REPOSITORY / "src", COMPARED)
            for step, known in ratios.items():
                known.append(old[f"{step}_cpu_s"] / new[f"{step}_cpu_s"])
    return {f"{step}_times_faster": median(known) for step, known in ratios.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="560cffb")
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--keep", help=argparse.SUPPRESS)
    parser.add_argument("--compare", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.compare:
        print(json.dumps(compared(arguments.compare)))
        return
    if arguments.here:
        print(json.dumps(measured(arguments.questions, arguments.keep)))
        return
    with TemporaryDirectory() as root:
        steps = in_a_process(REPOSITORY / "src", arguments.questions, "--keep", root)
        comparison = in_a_process(REPOSITORY / "src", arguments.questions, "--compare", root)
    figures = {
        **steps,
        **comparison,
        **beside_an_earlier_commit(arguments.revision),
        "distinct_ids_growth": scoring_of_distinct_ids(40_000) / scoring_of_distinct_ids(20_000),
    }
    for name, value in figures.items():
        print(f"{name:24}{value:10.3f}")
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
