"""Stages by content: what runs below one root make once, and that it changes no result."""

import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    Corpus,
    Document,
    Embedder,
    ExperimentConfig,
    FixedTokenChunker,
    PositionAwareChunk,
    RecursiveCharacterChunker,
    SemanticChunker,
    VectorRAGRetriever,
    evaluate,
    load_dataset,
    load_result,
    run_experiment,
)
from rag_evaluation_framework.base import stages as staged
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.base.stages import Stages, kept_stages, shared, stage
from rag_evaluation_framework.base.store import Cache
from rag_evaluation_framework.components import CachedEmbedder, LsaEmbedder, MarkdownHeaderChunker, SentenceChunker
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.labels import quote_table
from rag_evaluation_framework.runs import RunSpec, parse_config
from rag_evaluation_framework.sweeps import Sweep
from support.chunkers import Lines
from support.each import each

HANDBOOK = load_handbook()
CORPUS = HANDBOOK.corpus
CUT, EMBEDDED, ASKED = Counter(), Counter(), Counter()


@dataclass(frozen=True)
class Letters(Embedder):
    """Counts letters, and what it is asked to embed."""

    scale: float = 1.0
    dimension = 26

    def embed(self, texts):
        EMBEDDED.update(texts)
        return np.array([[text.lower().count(chr(97 + n)) + 0.1 for n in range(26)] for text in texts], np.float32)

    def embed_queries(self, texts):
        ASKED.update(texts)
        return np.array([[text.lower().count(chr(97 + n)) + 0.1 for n in range(26)] for text in texts], np.float32)


@pytest.fixture(autouse=True)
def _counted(monkeypatch):
    monkeypatch.setattr(staged, "_QUICK", 0)
    for counter in (CUT, EMBEDDED, ASKED):
        counter.clear()

    def counting(real):
        def chunk_with_positions(self, document):
            CUT[document.id] += 1
            return real(self, document)

        return chunk_with_positions

    for kind in (RecursiveCharacterChunker, SentenceChunker, MarkdownHeaderChunker, SemanticChunker):
        monkeypatch.setattr(kind, "chunk_with_positions", counting(kind.chunk_with_positions))


def ranked(result):
    return [
        [(hit.doc_id, hit.start, hit.end, hit.text, hit.chunk_id) for hit in query.hits] for query in result.queries
    ]


def assert_equal(result, other):
    assert ranked(result) == ranked(other)
    assert result.metrics == pytest.approx(other.metrics, abs=1e-6)
    assert result.notes == other.notes
    scores = [[hit.score for query in each_.queries for hit in query.hits] for each_ in (result, other)]
    np.testing.assert_allclose(np.array(scores[0], float), np.array(scores[1], float), atol=1e-6)


def cases(table):
    return pytest.mark.parametrize("case", table.values(), ids=table)


def kept(root):
    return Stages(root).digests()


RETRIEVERS = {
    "bm25": BM25Retriever,
    "bm25 of sentences": lambda: BM25Retriever(SentenceChunker(), language=None),
    "bm25 of sections": lambda: BM25Retriever(MarkdownHeaderChunker(chunk_size=300)),
    "bm25 of topics": lambda: BM25Retriever(SemanticChunker(Letters(), max_size=400)),
    "bm25 of lines": lambda: BM25Retriever(Lines()),
    "vectors": lambda: VectorRAGRetriever(embedder=Letters()),
    "lsa": lambda: VectorRAGRetriever(embedder=LsaEmbedder(16)),
}


@cases(RETRIEVERS)
def test_a_run_that_finds_stages_gives_what_one_without_them_does(case, tmp_path):
    alone = evaluate(case(), HANDBOOK)
    assert not (tmp_path / "cache").exists()
    for _ in range(2):
        assert_equal(evaluate(case(), HANDBOOK, save_results_path=tmp_path), alone)


@cases({name: RETRIEVERS[name] for name in ("bm25", "bm25 of sentences", "bm25 of sections", "bm25 of topics", "lsa")})
def test_a_second_run_cuts_nothing(case, tmp_path):
    evaluate(case(), HANDBOOK, save_results_path=tmp_path)
    before = CUT.copy()
    EMBEDDED.clear()
    again = evaluate(case(), HANDBOOK, save_results_path=tmp_path)
    assert set(before) == {document.id for document in CORPUS}
    assert before == CUT
    assert not EMBEDDED
    assert again.timings["index_from_cache"] > 0


def test_a_second_run_embeds_no_text_and_asks_its_questions_anew(tmp_path):
    for _ in range(2):
        result = evaluate(VectorRAGRetriever(embedder=Letters()), HANDBOOK, save_results_path=tmp_path)
    assert set(EMBEDDED.values()) == {1}
    assert set(ASKED.values()) == {2}
    assert "index_from_cache" in result.timings
    assert set(CUT.values()) == {1}


def test_a_text_is_embedded_once_whatever_chunker_made_it(tmp_path):
    for chunker in (RecursiveCharacterChunker(800), Lines(), MarkdownHeaderChunker(chunk_size=800)):
        evaluate(VectorRAGRetriever(chunker, CachedEmbedder(Letters(), tmp_path)), HANDBOOK, save_results_path=tmp_path)
        evaluate(VectorRAGRetriever(chunker, Letters()), HANDBOOK, save_results_path=tmp_path)
    assert set(EMBEDDED.values()) == {1}


def test_without_a_root_nothing_is_kept_and_all_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        result = evaluate(BM25Retriever(), HANDBOOK)
    assert set(CUT.values()) == {2}
    assert [*tmp_path.iterdir()] == []
    assert "index_from_cache" not in result.timings


def test_runs_of_a_sweep_share_vectors_of_questions_and_what_was_learnt(tmp_path, monkeypatch):
    fitted = Counter()
    real = LsaEmbedder.fit
    monkeypatch.setattr(LsaEmbedder, "fit", lambda self, texts: [fitted.update(["fit"]), real(self, texts)][1])
    with kept_stages(tmp_path):
        runs = [
            evaluate(VectorRAGRetriever(RecursiveCharacterChunker(size), embedder), HANDBOOK)
            for size in (200, 400)
            for embedder in (Letters(), LsaEmbedder(16))
        ]
    assert set(ASKED.values()) == {1}
    assert fitted == {"fit": 1}
    first, second = (run.queries.stages["embed"] for run in runs[::2])
    np.testing.assert_array_equal(first, second)  # that of the first time
    assert_equal(runs[3], evaluate(VectorRAGRetriever(RecursiveCharacterChunker(400), LsaEmbedder(16)), HANDBOOK))


@cases(
    {
        "another chunker": (SentenceChunker(), {}, CORPUS),
        "another size": (RecursiveCharacterChunker(300), {}, CORPUS),
        "other documents": (RecursiveCharacterChunker(), {}, Corpus([*CORPUS][1:])),
        "other ids": (
            RecursiveCharacterChunker(),
            {},
            Corpus([Document(f"x/{one.id}", one.content) for one in CORPUS]),
        ),
        "another order": (RecursiveCharacterChunker(), {}, Corpus([*CORPUS][::-1])),
        "language": (RecursiveCharacterChunker(), {"language": None}, CORPUS),
    }
)
def test_another_chunker_corpus_or_parameter_is_another_stage(case, tmp_path):
    chunker, parameters, corpus = case
    with kept_stages(tmp_path):
        BM25Retriever(RecursiveCharacterChunker()).index(CORPUS)
        before = kept(tmp_path)
        BM25Retriever(chunker, **parameters).index(corpus)
        added = len(kept(tmp_path) - before)
    assert len(before) == 2
    assert added == (1 if parameters else 2)


def test_words_are_counted_once_for_all_weights(tmp_path):
    stages = []
    for given in ({}, {"k1": 0.3}, {"b": 0.2}):
        kept_ones = evaluate(BM25Retriever(**given), HANDBOOK, save_results_path=tmp_path)
        assert_equal(kept_ones, evaluate(BM25Retriever(**given), HANDBOOK))
        stages.append(kept(tmp_path))
    assert stages[0] == stages[1] == stages[2]


def test_other_versions_are_other_stages(tmp_path, monkeypatch):
    with kept_stages(tmp_path):
        chunk_corpus(CORPUS, RecursiveCharacterChunker())
        monkeypatch.setattr(staged, "versions", lambda: {"python": "4"})
        chunk_corpus(CORPUS, RecursiveCharacterChunker())
    assert len(kept(tmp_path)) == 2


@cases(
    {
        "a tokenizer in a file": RecursiveCharacterChunker(length="mine.json"),
        "another in a file": FixedTokenChunker(tokenizer="mine.tiktoken"),
        "a file of a part": SemanticChunker(Letters("mine.json")),
        "own": Lines(),
    }
)
def test_chunks_of_which_not_all_is_known_are_not_kept(case, tmp_path, monkeypatch):
    def whole(_, document):
        return [PositionAwareChunk.of(document, 0, len(document.content))]

    monkeypatch.chdir(tmp_path)
    for name in ("mine.json", "mine.tiktoken"):
        Path(name).touch()
    for kind in (RecursiveCharacterChunker, FixedTokenChunker, SemanticChunker):
        monkeypatch.setattr(kind, "chunk_with_positions", whole)
    with kept_stages(tmp_path):
        BM25Retriever(case).index(CORPUS)
    assert not kept(tmp_path)


@dataclass(frozen=True)
class Learning(Letters):
    """Learns how many texts there are, and can be cached."""

    learnt: int = 0

    @property
    def content_hash(self):
        return str(self.learnt)

    def fit(self, documents):
        return replace(self, learnt=len(documents))

    def embed(self, texts):
        return super().embed(texts) * np.arange(26) + self.learnt


def test_what_was_learnt_from_other_documents_is_not_shared(tmp_path):
    retriever, fewer = VectorRAGRetriever(embedder=Learning()), Corpus([*CORPUS][1:])
    with kept_stages(tmp_path):
        retriever.index(CORPUS)
        retriever.index(fewer)
        shared_ = retriever.retrieve("How is a report sent?", 5)
    retriever.index(fewer)
    assert retriever.retrieve("How is a report sent?", 5).hits == shared_.hits


def test_metadata_of_chunks_come_back(tmp_path):
    chunker = MarkdownHeaderChunker(chunk_size=300)
    with kept_stages(tmp_path):
        first, second = (chunk_corpus(CORPUS, chunker) for _ in range(2))
    assert first == second == chunk_corpus(CORPUS, chunker)
    assert [chunk.metadata for chunk in first] == [chunk.metadata for chunk in second]
    assert {type(chunk.metadata) for chunk in second} == {type(first[0].metadata)}


def test_what_is_damaged_is_removed_noted_and_made_again(tmp_path):
    evaluate(BM25Retriever(), HANDBOOK, save_results_path=tmp_path)
    for file in Stages(tmp_path).folder.iterdir():
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    result = evaluate(BM25Retriever(), HANDBOOK, save_results_path=tmp_path)
    assert sum("1 of 1 chunks and indexes were damaged" in note for note in result.notes) == 1
    assert set(CUT.values()) == {2}
    again = evaluate(BM25Retriever(), HANDBOOK, save_results_path=tmp_path)
    assert set(CUT.values()) == {2}
    assert ranked(again) == ranked(result)


def test_a_disk_that_is_full_ends_no_run_and_is_noted_once(tmp_path, monkeypatch):
    def full(folder):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules[Cache.__module__], "temporary_folder", full)
    result = evaluate(BM25Retriever(), HANDBOOK, save_results_path=tmp_path)
    assert [note for note in result.notes if "No space left on device" in note] == [*result.notes]
    assert len(result.notes) == 1


def test_of_nested_contexts_the_outer_one_stays(tmp_path):
    with kept_stages(tmp_path / "a") as outer, kept_stages(tmp_path / "b") as inner:
        assert inner is outer
        assert [shared("key", partial(int, number)) for number in range(3)] == [0, 0, 0]
    assert [shared("key", partial(int, number)) for number in range(3)] == [0, 1, 2]
    with kept_stages(None) as nothing:
        assert nothing is None


@each(
    ("numbers", "error"),
    [
        (lambda: {"objects": np.array([object()], object)}, "pickle"),  # which is never read or written
        (lambda: {"broken": np.array(["a"]).astype(int)}, "invalid literal"),
    ],
)
def test_what_raises_or_would_be_a_pickle_is_not_kept(tmp_path_factory, numbers, error):
    root = tmp_path_factory.mktemp("root")
    with kept_stages(root):
        with pytest.raises(ValueError, match=error):
            stage("own", 1, numbers)
        assert not kept(root)
        assert stage("own", 1, lambda: {"one": np.ones(1)})["one"].tolist() == [1]
    assert len(kept(root)) == 1


@pytest.mark.parametrize("kind", ["runs", "cells"])
def test_explaining_a_saved_run_cuts_nothing(kind, tmp_path):
    if kind == "runs":
        evaluate(BM25Retriever(), HANDBOOK, save_results_path=tmp_path)
    else:
        Sweep(base=RunSpec(dataset=HANDBOOK), over={"k": [[5]]}).run(tmp_path)
    (folder,) = (tmp_path / kind).iterdir()
    before = CUT.copy()
    result = load_result(folder)
    assert result.explain(result.queries[0].query_id).record
    assert before == CUT


PROCESS = """
import sys
from pathlib import Path
import numpy as np
from rag_evaluation_framework.base import stages as staged
from rag_evaluation_framework.base.stages import kept_stages, stage

staged._QUICK = 0
print("started", flush=True)
with kept_stages(Path(sys.argv[1])):
    for number in range(int(sys.argv[2])):
        numbers = np.arange(number, number + 300_000)
        assert (stage("own", number, lambda: {"numbers": numbers})["numbers"] == numbers).all()
        print(number, flush=True)
"""


def process(root, count):
    started = subprocess.Popen([sys.executable, "-c", PROCESS, root, str(count)], stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "started\n"
    return started


def test_a_process_that_is_killed_while_it_writes_leaves_whole_stages_or_none(tmp_path):
    for attempt in range(6):
        running = process(tmp_path, 1_000)
        time.sleep(0.02 * attempt)
        running.send_signal(signal.SIGKILL)
        done = running.communicate(timeout=60)[0].split()
        assert len(kept(tmp_path)) >= len(done)
        stages = Stages(tmp_path)
        assert all(stages.arrays(digest)["numbers"].shape == (300_000,) for digest in stages.digests())
    stages.keep("a" * 64, {})
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["stages"]  # what was being written is gone


def test_processes_may_keep_the_same_stages_at_once(tmp_path):
    both = [process(tmp_path, 30) for _ in range(2)]
    assert [one.communicate(timeout=60)[0].count("\n") for one in both] == [30, 30]
    assert len(kept(tmp_path)) == 30


@pytest.fixture
def quoted(tmp_path):
    """A folder with documents and a table of quotes: of every status, with alternatives, parts and copies."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Agent\n\nInstall the *agent* on every server first.\n\nRestart twice.\n")
    (tmp_path / "docs" / "b.md").write_text(
        "Install the agent on every server first.\n\nAsk the help desk, in writing.\n\nRestart twice.\n"
    )
    rows = [
        ["How?", "Install the agent on every server first.", "a.md", "", ""],
        ["Whom?", "Ask the help … writing", "", "", ""],
        ["Where?", "Install the agent on every server first.", "*", "", ""],
        ["Which?", "Install the agent on every server first.", "", "", ""],
        ["Twice?", "Restart twice.", "a.md", "x", ""],
        ["Twice?", "Install the agent", "b.md", "x", ""],
        ["Gone?", "Install the agent on every serve", "c.md", "", ""],
        ["None?", "", "", "", ""],
    ]
    lines = [",".join(f'"{cell}"' for cell in row) for row in rows]
    (tmp_path / "q.csv").write_text("\n".join(["question,quote,document,answer,topic", *lines]))
    return tmp_path


def read(quoted):
    corpus = Corpus.from_folder(quoted / "docs")
    with collect_notes() as notes:
        dataset = load_dataset(quoted / "q.csv", corpus=corpus)
        config = ExperimentConfig(BM25Retriever(), dataset)
    return dataset, notes, config.record["dataset"], config.notes


def test_quotes_are_located_once_and_other_quotes_and_documents_anew(quoted, monkeypatch):
    alone = read(quoted)
    with kept_stages(quoted / "root"):
        assert read(quoted) == alone
        with monkeypatch.context() as patch:
            patch.setattr(quote_table, "_checked", None)
            again = read(quoted)
        assert again == alone
        assert again[0].ground_truth == alone[0].ground_truth
        (quoted / "q.csv").write_text((quoted / "q.csv").read_text() + '\n"More?","Restart twice.","a.md","",""')
        second, *_ = read(quoted)
        (quoted / "docs" / "a.md").write_text("Restart twice. Install the agent on every server first.")
        third, *_ = read(quoted)
    assert len(second) == len(alone[0]) + 1
    (moved,) = {entry.query.text: entry.relevant for entry in third}["More?"]
    assert (moved.start, moved.text) == (0, "Restart twice.")


def test_a_configuration_is_located_cut_and_counted_once(quoted, monkeypatch):
    spec = parse_config({"corpus": "docs", "dataset": "q.csv", "save_results_path": "root"}, "here")
    with collect_notes():
        first = run_experiment(spec.experiment(quoted))
        monkeypatch.setattr(quote_table, "_checked", None)
        assert_equal(run_experiment(spec.experiment(quoted)), first)
    assert set(CUT.values()) == {1}
