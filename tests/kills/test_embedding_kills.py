"""Processes that are killed while they embed with a provider: what was answered and kept is never asked for again."""

import os
import random
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

from rag_eval_loopback.models import vector
from rag_evaluation_framework import OpenAIEmbedder
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import CachedEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache
from support.nightly import nightly

pytestmark = [pytest.mark.no_cover, pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")]

ROUTE = "POST /v1/embeddings"
TEXTS = [f"text {number}" for number in range(2000)]
BATCH, AT_ONCE, REQUESTS = 20, 4, 100
RIGHT = np.array([vector(text, 64) for text in TEXTS])
LIFE = f"""
from rag_evaluation_framework import OpenAIEmbedder
from rag_evaluation_framework.components import CachedEmbedder
embedder = OpenAIEmbedder(dimensions=64, batch_size={BATCH}, max_concurrency={AT_ONCE})
CachedEmbedder(embedder, root=".rag-eval").embed([f"text {{number}}" for number in range(2000)])
"""


def texts_of(exchanges):
    return Counter(text for exchange in exchanges for text in exchange.request.json["input"])


def killed(providers, folder, after, delay):
    """Let a process embed, and kill it a moment after it has made so many requests."""
    before, connections = len(providers.exchanges), set(providers._server.connections)
    process = subprocess.Popen([sys.executable, "-c", LIFE], cwd=folder, stderr=subprocess.PIPE)
    give_up = time.monotonic() + 60
    while len(providers.exchanges) - before < after and process.poll() is None:
        assert time.monotonic() < give_up
        time.sleep(0.0005)
    time.sleep(delay)
    process.kill()
    said = process.communicate(timeout=60)[1]
    assert said == b""
    while providers._server.connections - connections:  # what was under way is recorded
        time.sleep(0.001)
    return process.returncode


def kept(folder):
    cache = CachedEmbedder(OpenAIEmbedder(dimensions=64), root=folder / ".rag-eval")
    return set(EmbeddingCache(folder / ".rag-eval").get(cache._identity, TEXTS))


@pytest.mark.parametrize("count", [3, nightly(100)])
def test_after_a_kill_only_what_was_under_way_is_asked_for_again_and_the_next_run_completes(providers, count, tmp_path):
    chance, codes = random.Random(20), Counter()
    providers.fault(ROUTE, delay=0.01, times=None)
    for life in range(count):
        folder = tmp_path / str(life)
        folder.mkdir()
        began, there = len(providers.exchanges), set()
        for _ in range(2):  # killed, and killed again
            first = len(providers.exchanges)
            codes[killed(providers, folder, chance.randint(1, REQUESTS // 2), chance.random() * 0.02)] += 1
            assert not there & set(texts_of(providers.exchanges[first:]))
            there = kept(folder)
            asked = texts_of(providers.exchanges[first:])
            assert len(set(asked) - there) <= AT_ONCE * BATCH
        first = len(providers.exchanges)
        embedder = OpenAIEmbedder(dimensions=64, batch_size=BATCH, max_concurrency=AT_ONCE)
        with collect_notes() as notes:
            assert np.array_equal(CachedEmbedder(embedder, root=folder / ".rag-eval").embed(TEXTS), RIGHT)
        assert not notes  # none of them about damage
        assert set(texts_of(providers.exchanges[first:])) == set(TEXTS) - there
        assert max(texts_of(providers.exchanges[began:]).values()) <= 3  # each life had it under way
        assert kept(folder) == set(TEXTS)
    assert codes[-9] >= count
