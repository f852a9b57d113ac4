"""A sweep embeds each distinct text once, and a second start of it none: counted, not timed."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from rag_evaluation_framework import Corpus, Embedder, RecursiveCharacterChunker, Reranker, load_dataset
from rag_evaluation_framework.components import SentenceChunker
from rag_evaluation_framework.components.retrievers.vector_rag import chunk_corpus
from rag_evaluation_framework.runs import RunSpec
from rag_evaluation_framework.sweeps import Sweep

EMBEDDED: Counter[str] = Counter()
RERANKED: Counter[str] = Counter()
CHUNKERS = [RecursiveCharacterChunker(40), SentenceChunker(60), RecursiveCharacterChunker(1_000)]
TOPICS = ("apples", "bread", "cheese", "dates", "eggs", "figs", "grapes", "honey")


@dataclass(frozen=True)
class Counting(Embedder):
    """Vectors by the letters of a text; counts every text."""

    @property
    def dimension(self):
        return 26

    def embed(self, texts):
        EMBEDDED.update(texts)
        return np.array([[text.lower().count(chr(97 + row)) for row in range(26)] for text in texts], np.float32) + 0.1


@dataclass(frozen=True)
class ShortFirst(Reranker):
    """Puts short texts first; counts every question."""

    def rerank(self, query, chunks, top_k=None):
        RERANKED[query] += 1
        return sorted(chunks, key=lambda chunk: len(chunk.content))[:top_k]


@pytest.fixture
def dataset(tmp_path):
    (tmp_path / "docs").mkdir()
    rows = ["question,quote"]
    for number, topic in enumerate(TOPICS):
        text = f"{topic.title()} are sold on day {number}.\n\nAsk for {topic} at the gate. Bring a bag for them.\n"
        (tmp_path / "docs" / f"{topic}.md").write_text(text)
        rows.append(f"When can I buy {topic}?,{topic.title()} are sold on day {number}.")
    (tmp_path / "q.csv").write_text("\n".join(rows))
    EMBEDDED.clear()
    RERANKED.clear()
    return load_dataset(tmp_path / "q.csv", corpus=Corpus.from_folder(tmp_path / "docs"))


def sweep(dataset, chunkers, rerankers=(None, ShortFirst())):
    base = RunSpec(dataset=dataset, embedder=Counting(), k=[1, 3], budgets=["100ch"])
    return Sweep(base=base, over={"chunker": chunkers, "reranker": [*rerankers]})


def texts_of(dataset, chunkers):
    chunks = {chunk.content for chunker in chunkers for chunk in chunk_corpus(dataset.corpus, chunker)}
    return Counter(chunks | {entry.query.text for entry in dataset})


def test_each_distinct_text_is_embedded_once_whatever_cut_it_and_whatever_reranks_it(dataset, tmp_path):
    result = sweep(dataset, CHUNKERS).run(tmp_path / "root")
    assert [cell.failure for cell in result.cells] == [None] * 6
    assert len(result.rows) == 6 * 3
    assert texts_of(dataset, CHUNKERS) == EMBEDDED
    assert set(RERANKED.values()) == {3}  # a question once by each pipeline that reranks


def test_of_a_sweep_with_one_chunker_more_only_its_new_chunks_are_embedded_and_questions_once(dataset, tmp_path):
    sweep(dataset, CHUNKERS[:2]).run(tmp_path / "root")
    known = set(EMBEDDED)
    EMBEDDED.clear()
    sweep(dataset, CHUNKERS).run(tmp_path / "root")
    questions = {entry.query.text for entry in dataset}
    assert questions < known < set(texts_of(dataset, CHUNKERS))
    assert texts_of(dataset, CHUNKERS).keys() - (known - questions) == EMBEDDED.keys()
    assert set(EMBEDDED.values()) == {1}


OWN = """
import json, sys
from dataclasses import dataclass
from rag_evaluation_framework import Embedder, RecursiveCharacterChunker
from rag_evaluation_framework.components import SentenceChunker
from rag_evaluation_framework.runs import RunSpec
from rag_evaluation_framework.sweeps import Sweep

EMBEDDED = []

@dataclass(frozen=True)
class Mine(Embedder):
    @property
    def dimension(self):
        return 2

    def embed(self, texts):
        import pluggy  # as a model is: where nothing is embedded, it is not loaded
        EMBEDDED.extend(texts)
        return [[len(text), 1.0] for text in texts]

def main():
    over = {"chunker": [SentenceChunker(60), RecursiveCharacterChunker(60)]}
    result = Sweep(base=RunSpec(corpus="docs", dataset="q.csv", embedder=Mine(), k=[1]), over=over).run("root")
    print(json.dumps([len(EMBEDDED), [cell.is_kept for cell in result.cells]]))
"""


def test_a_second_process_finds_cells_of_own_code_whatever_it_has_imported(dataset, tmp_path):
    (tmp_path / "mine.py").write_text(OWN)

    def run():
        command = [sys.executable, "-c", "import mine; mine.main()"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
        return json.loads(done.stdout.splitlines()[-1])

    embedded, kept = run()
    assert (embedded > 0, kept) == (True, [False, False])
    assert run() == [0, [True, True]]
