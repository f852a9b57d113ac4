"""OpenAIEmbedder against the raw SDK at the same concurrency, and a second pass through the cache.

The server runs in a process of its own, so that only the client's time is counted.

    python benchmarks/providers.py [--texts 5000] [--rounds 5]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray
from openai import OpenAI
from openai.types import CreateEmbeddingResponse

from rag_evaluation_framework import OpenAIEmbedder
from rag_evaluation_framework.components import CachedEmbedder

_MODEL = "text-embedding-3-small"
_BATCH = 256
_AT_ONCE = 4


def main() -> None:
    """Print both times of each way, and their ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    texts = [f"Passage {number} tells how an agent is restarted, and what that costs." for number in range(given.texts)]
    server = subprocess.Popen([sys.executable, "-m", "rag_eval_loopback"], stdout=subprocess.PIPE, text=True)
    try:
        for line in server.stdout or ():
            name, _, value = line.removeprefix("export ").strip().partition("=")
            os.environ[name] = value.strip("'")
            if name == "no_proxy":  # the last one
                break
        _compare(texts, given.rounds)
    finally:
        server.terminate()
        server.wait()


def _compare(texts: list[str], rounds: int) -> None:
    ways: dict[str, Callable[[list[str]], object]] = {"raw SDK": _raw, "OpenAIEmbedder": _ours}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for way in ways.values():
        way(texts[:_BATCH])  # connections and imports
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(_timed(partial(way, texts)))
    wall = {name: median(seconds for seconds, _ in each) for name, each in times.items()}
    cpu = {name: median(seconds for _, seconds in each) for name, each in times.items()}
    for name in ways:
        print(f"{name:15} {wall[name]:.3f} s, {cpu[name]:.3f} s of CPU")
    print(
        f"ratio           {wall['OpenAIEmbedder'] / wall['raw SDK']:.2f} of the time, "
        f"{cpu['OpenAIEmbedder'] / cpu['raw SDK']:.2f} of the CPU"
    )
    with tempfile.TemporaryDirectory() as root:
        CachedEmbedder(OpenAIEmbedder(_MODEL), root=root).embed(texts)
        second = [_timed(lambda: CachedEmbedder(OpenAIEmbedder(_MODEL), root=root).embed(texts)) for _ in range(rounds)]
    print(f"from the cache  {median(seconds for seconds, _ in second):.3f} s")


def _raw(texts: list[str]) -> list[CreateEmbeddingResponse]:
    """Ask, and leave the answers as they are, unchecked."""
    client = OpenAI()
    batches = [texts[first : first + _BATCH] for first in range(0, len(texts), _BATCH)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return list(threads.map(lambda batch: client.embeddings.create(input=batch, model=_MODEL), batches))


def _ours(texts: list[str]) -> NDArray[np.float32]:
    return OpenAIEmbedder(_MODEL, batch_size=_BATCH, max_concurrency=_AT_ONCE).embed(texts)


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = perf_counter(), process_time()
    work()
    return perf_counter() - wall, process_time() - cpu


if __name__ == "__main__":
    main()
