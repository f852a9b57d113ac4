"""Exact search of the in-memory store: beside FAISS's flat index, a search in double precision, and an earlier commit.

    python benchmarks/exact_search.py [REV] [--rows 1000000] [--json]

Random vectors of length 1 and dimension 384, k = 10, added 256 at a time as the runner does. 500 queries over all rows:
CPU seconds of the store and of `faiss.IndexFlatIP` in turns, the median of five; what the store keeps, and what it has
at most while it searches, in multiples of the matrix (as `tracemalloc` counts, which sees NumPy's arrays); and for how
many queries the results are those of a search in double precision. Then 1,000 questions over 95,000 chunks, asked as
the runner asks: this tree all together, REV (560cffb) one after the other, as it did. FAISS is left out where it is not
installed.
"""

import os

# Read when NumPy and FAISS are loaded; threads that wait for each other would count as CPU time.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import subprocess
import sys
import tarfile
import tracemalloc
from collections.abc import Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework import DocumentId, PositionAwareChunk
from rag_evaluation_framework.components import InMemoryVectorStore
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.types import PositionAwareChunkId

DIMENSION, K, QUERIES, REPEATS = 384, 10, 500, 5
CHUNKS, QUESTIONS = 95_000, 1_000
REPOSITORY = Path(__file__).resolve().parent.parent


def unit_vectors(rows: int, seed: int) -> NDArray[np.float32]:
    """Return random vectors of length 1, shape (rows, 384)."""
    vectors = np.random.default_rng(seed).standard_normal((rows, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def places(count: int) -> list[PositionAwareChunk]:
    """Return chunks without text that are told apart by their place."""
    metadata: dict[str, Any] = {}
    name, document = PositionAwareChunkId("pa_chunk"), DocumentId("a.md")
    return [PositionAwareChunk(name, "", document, number, number, metadata) for number in range(count)]


def filled(chunks: Sequence[PositionAwareChunk], vectors: NDArray[np.float32]) -> InMemoryVectorStore:
    """Return a store with these chunks."""
    store = InMemoryVectorStore()
    for first in range(0, len(chunks), 256):
        store.add(chunks[first : first + 256], vectors[first : first + 256])
    return store


def in_double_precision(vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> list[list[int]]:
    """Return the rows of the highest products, computed and compared in double precision."""
    best = np.full((len(queries), K), -np.inf)
    rows = np.zeros((len(queries), K), dtype=np.int64)
    for first in range(0, len(vectors), 50_000):
        block = vectors[first : first + 50_000].astype(np.float64)
        products = queries.astype(np.float64) @ block.T
        near = np.argpartition(-products, K, axis=1)[:, :K]
        best = np.concatenate([best, np.take_along_axis(products, near, axis=1)], axis=1)
        rows = np.concatenate([rows, near + first], axis=1)
        order = np.argsort(-best, axis=1, kind="stable")[:, :K]
        best, rows = np.take_along_axis(best, order, axis=1), np.take_along_axis(rows, order, axis=1)
    found: list[list[int]] = rows.tolist()
    return found


def cpu_seconds(work: Any) -> float:
    """Return the CPU time of a call."""
    start = process_time()
    work()
    return process_time() - start


def beside_faiss(rows: int) -> dict[str, float]:
    """Measure time, memory and results over many rows."""
    vectors, queries, chunks = unit_vectors(rows, 0), unit_vectors(QUERIES, 1), places(rows)
    tracemalloc.start()
    store = filled(chunks, vectors)
    store.search_many(queries[:1], K)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    found = [[Hit.of(chunk).start for chunk in ranking] for ranking in store.search_many(queries, K)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    exact = in_double_precision(vectors, queries)
    figures = {
        "kept_per_matrix": kept / vectors.nbytes,
        "peak_per_matrix": peak / vectors.nbytes,
        "same_as_double": float(np.mean([ours == theirs for ours, theirs in zip(found, exact, strict=True)])),
    }
    try:
        faiss: Any = import_module("faiss")
    except ImportError:
        print("faiss is not installed: pip install faiss-cpu", file=sys.stderr)
        return {
            **figures,
            "search_cpu_s": median(cpu_seconds(lambda: store.search_many(queries, K)) for _ in range(REPEATS)),
        }
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(vectors)
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(cpu_seconds(lambda: store.search_many(queries, K)))
        theirs.append(cpu_seconds(lambda: index.search(queries, K)))
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return {**figures, "search_cpu_s": median(ours), "faiss_cpu_s": median(theirs), "per_faiss": median(ratios)}


def asked_one_by_one() -> float:
    """Return the CPU seconds of asking a store of this process's tree all questions, one after the other."""
    store, questions = filled(places(CHUNKS), unit_vectors(CHUNKS, 0)), unit_vectors(QUESTIONS, 1)
    store.search(questions[0], K)
    return cpu_seconds(lambda: [store.search(question, K) for question in questions])


def of_revision(revision: str) -> float:
    """Return what `asked_one_by_one` measures with the sources of a revision, in a process of its own."""
    command = ["git", "-C", str(REPOSITORY), "archive", revision, "src"]
    archive = subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603
    with TemporaryDirectory() as folder, tarfile.open(fileobj=BytesIO(archive)) as tree:
        tree.extractall(folder, filter="data")
        run = [sys.executable, str(Path(__file__).resolve()), "--here"]
        environment = {**os.environ, "PYTHONPATH": str(Path(folder) / "src")}
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return float(done.stdout)


def beside_an_earlier_commit(revision: str) -> dict[str, float]:
    """Measure all questions together in this tree, and one by one in a revision, in turns."""
    store, questions = filled(places(CHUNKS), unit_vectors(CHUNKS, 0)), unit_vectors(QUESTIONS, 1)
    store.search_many(questions[:1], K)
    together, before = [], []
    for _ in range(REPEATS):
        before.append(of_revision(revision))
        together.append(cpu_seconds(lambda: store.search_many(questions, K)))
    ratios = [old / new for old, new in zip(before, together, strict=True)]
    return {"questions_cpu_s": median(together), "before_cpu_s": median(before), "times_faster": median(ratios)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="560cffb")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        print(asked_one_by_one())
        return
    figures = {**beside_an_earlier_commit(arguments.revision), **beside_faiss(arguments.rows)}
    for name, value in figures.items():
        print(f"{name:20}{value:10.3f}")
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
