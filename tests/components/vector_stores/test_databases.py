"""The stores over databases: conformance in every place, bad input, names, what stays and what does not."""

import gc
import math
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from types import MappingProxyType
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import InMemoryVectorStore, QdrantVectorStore
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.testing import VectorStoreConformance
from support.examples import examples

pytestmark = pytest.mark.slow

pytest.importorskip("chromadb", reason="needs the extra chroma")
pytest.importorskip("qdrant_client", reason="needs the extra qdrant")

BOTH = pytest.mark.parametrize("kind", [rag.ChromaVectorStore, QdrantVectorStore])


class FewChunks(VectorStoreConformance):
    """The suite, with thousands of chunks at night only: stores in memory have them in `make test`."""

    @pytest.mark.nightly
    def test_none_of_many_chunks_is_lost(self):
        super().test_none_of_many_chunks_is_lost()


class InFolders(FewChunks):
    """The suite with a folder for each store."""

    kind: type

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def make(self):
        return self.kind(path=self.folder / uuid4().hex)


class TestChromaInAFolder(InFolders):
    kind = rag.ChromaVectorStore


class TestQdrantInAFolder(InFolders):
    kind = QdrantVectorStore


class TestChromaInOneFolder(FewChunks):
    """Several stores at once in one folder, each with a collection of its own."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def make(self):
        return rag.ChromaVectorStore(path=self.folder, collection=f"run-{uuid4().hex}")


class TestChromaServer(FewChunks):
    @pytest.fixture(autouse=True)
    def _port(self, chroma_port):
        self.port = chroma_port

    def make(self):
        return rag.ChromaVectorStore(host="127.0.0.1", port=self.port, collection=f"run-{uuid4().hex}")


class TestQdrantServer(FewChunks):
    @pytest.fixture(autouse=True)
    def _url(self, qdrant_server):
        self.url = qdrant_server.url

    def make(self):
        return QdrantVectorStore(url=self.url, collection=f"run-{uuid4().hex}")


@BOTH
def test_a_folder_may_be_given_from_home_and_is_made_when_it_is_needed(kind, tmp_path, monkeypatch, chunks, vectors):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with closing(kind(path="~/store")) as store:
        assert store.name
        assert [*tmp_path.iterdir()] == []
        store.add(chunks(2), vectors(2))
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


class TestRanking:
    @examples(25)
    @given(seed=st.integers(0, 10_000), count=st.integers(1, 60), k=st.integers(1, 70))
    def test_rankings_are_those_of_the_store_in_memory(self, make, seed, count, k):
        rng = np.random.default_rng(seed)
        rows = rng.integers(-2, 3, size=(count, 4)).astype(np.float32)
        queries = rng.integers(-2, 3, size=(5, 4)).astype(np.float32)
        document = rag.Document(rag.DocumentId("a"), "x" * count)
        pieces = [rag.PositionAwareChunk.of(document, number, number + 1) for number in range(count)]
        exact, store = InMemoryVectorStore(), make()
        for one in (exact, store):
            one.add(pieces, rows)
        assert store.search_many(queries, k) == exact.search_many(queries, k)
        store.close()

    def test_very_small_and_very_large_numbers_work(self, make, chunks):
        store = make()
        store.add(chunks(3), np.array([[1e-38, 0], [0, 1e38], [1e38, 1e38]], dtype=np.float32))
        assert store.search(np.array([1e-38, 0], dtype=np.float32), 3) == [chunks(3)[number] for number in (0, 2, 1)]

    def test_a_chunk_that_is_added_twice_is_found_twice(self, make, chunks, vectors):
        exact, store = InMemoryVectorStore(), make()
        for one in (exact, store):
            one.add([*chunks(2), *chunks(2)], np.tile(vectors(2), (2, 1)))
            one.add(chunks(1), vectors(1, seed=9))
        query = vectors(1, seed=9)[0]
        assert store.search(query, 9) == exact.search(query, 9)
        assert len(store) == len(exact) == 5

    def test_chroma_finds_all_of_thousands_of_equal_vectors(self, chunks):
        store = rag.ChromaVectorStore()  # its index reaches fewer than half of these
        store.add(chunks(6_000), np.ones((6_000, 3), dtype=np.float32))
        assert store.search(np.ones(3, dtype=np.float32), 6_000) == chunks(6_000)

    def test_chroma_finds_what_exact_search_finds(self, chunks):
        rng = np.random.default_rng(1)
        centres = rng.normal(size=(60, 96))
        rows = (centres[rng.integers(60, size=3_000)] + 0.7 * rng.normal(size=(3_000, 96))).astype(np.float32)
        queries = (centres + 0.7 * rng.normal(size=(60, 96))).astype(np.float32)
        exact, store = InMemoryVectorStore(), rag.ChromaVectorStore()
        for one in (exact, store):
            one.add(chunks(3_000), rows)
        pairs = zip(store.search_many(queries, 10), exact.search_many(queries, 10), strict=True)
        shares = [len(set(found) & set(expected)) / 10 for found, expected in pairs]
        assert np.mean(shares) >= 0.999


class TestBadInput:
    def test_vectors_without_finite_numbers_and_a_question_that_does_not_fit_are_refused(self, make, chunks, vectors):
        store = make()
        for number in (np.nan, np.inf, -np.inf):
            rows = vectors(3)
            rows[1, 4] = number
            with pytest.raises(InputError, match=r"row 1, chunk \[6:11\] of 'a.md', contains NaN or infinity"):
                store.add(chunks(3), rows)
        with pytest.raises(InputError, match=r"shape \(1, 0\); expected \(1, dimension\)"):
            store.add(chunks(1), np.zeros((1, 0), dtype=np.float32))
        assert len(store) == 0
        store.add(chunks(3), vectors(3))
        with pytest.raises(InputError, match=r"shape \(1, 3\); expected \(1, 8\), .* with the same embedder$"):
            store.search(vectors(1, 3)[0], 1)
        with pytest.raises(InputError, match="NaN"):
            store.search(np.full(8, np.nan), 1)
        with pytest.raises(InputError, match="one row per question"):
            store.search_many(vectors(1)[0], 1)

    def test_metadata_may_be_any_mapping_that_comes_back_and_else_nothing_is_written(self, make, chunks, vectors):
        store = make()
        good, bad = chunks(2)
        for metadata in (
            {"when": object()},
            {"pair": (1, 2)},
            {1: "a key that is no text"},
            {"share": math.nan},
            {"bytes": b"x"},
            {"count": np.int64(3)},
            {"set": {1}},
        ):
            with pytest.raises(InputError, match=r"chunk \[6:11\] of 'a.md'.*" + str(next(iter(metadata)))):
                store.add([good, replace(bad, metadata=metadata)], vectors(2))
            assert len(store) == 0
        store.add([replace(good, metadata=MappingProxyType({"page": 3}))], vectors(1))
        (found,) = store.search(vectors(1)[0], 1)
        assert found.metadata == {"page": 3}

    @pytest.mark.parametrize(
        ("kind", "place", "named"),
        [
            (rag.ChromaVectorStore, {"host": "127.0.0.1", "port": 9}, "127.0.0.1"),
            (QdrantVectorStore, {"url": "http://127.0.0.1:9", "timeout": 2}, "127.0.0.1"),
            (rag.ChromaVectorStore, {"path": "a file"}, "a file"),
            (QdrantVectorStore, {"path": "a file"}, "a file"),
        ],
        ids=["Chroma", "Qdrant", "Chroma in a file", "Qdrant in a file"],
    )
    def test_a_server_that_does_not_answer_and_a_file_that_is_no_folder_are_named(
        self, kind, place, named, tmp_path, monkeypatch
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a file").write_text("mine")
        with pytest.raises(ConfigError, match=f"{named}.*cannot open"):
            kind(**place).clear()
        assert (tmp_path / "a file").read_text() == "mine"


class TestNames:
    def test_the_name_says_the_place_and_no_secret(self, tmp_path):
        assert rag.ChromaVectorStore().name == "ChromaVectorStore"
        assert QdrantVectorStore().name == "QdrantVectorStore"
        assert InMemoryVectorStore().name == "InMemoryVectorStore"
        assert rag.ChromaVectorStore(path=tmp_path).name == f"ChromaVectorStore(path={str(tmp_path)!r})"
        store = rag.ChromaVectorStore(host="db.example", port=80, headers={"x-chroma-token": "secret"})
        assert store.name == "ChromaVectorStore(host='db.example', port=80)"
        assert "secret" not in f"{store!r}{describe(store)}"
        store = QdrantVectorStore(url="http://db.example", api_key="secret")
        assert store.name == "QdrantVectorStore(url='http://db.example')"
        assert "secret" not in f"{store!r}{describe(store)}"


class TestFolders:
    @BOTH
    def test_a_folder_keeps_what_was_added_and_a_store_can_be_used_after_closing(self, kind, tmp_path, chunks, vectors):
        for store, left in ((kind(path=tmp_path), 5), (kind(), 0)):
            store.add(chunks(5), vectors(5))
            store.close()
            store.close()
            assert len(store) == left
            store.add(chunks(5, first=5), vectors(5))
            assert len(store) == left + 5
            store.close()
        with closing(kind(path=tmp_path)) as again:
            assert len(again) == 10
            assert again.search(vectors(5)[2], 2) == [chunks(10)[2], chunks(10)[7]]

    @BOTH
    def test_indexing_in_a_folder_that_was_used_before_shows_only_the_new_corpus(self, kind, tmp_path):
        def corpus(*texts):
            return rag.Corpus(rag.Document(rag.DocumentId(f"{number}.md"), text) for number, text in enumerate(texts))

        for texts in (("glaciers carve valleys", "refunds take days"), ("passwords have letters", "servers restart")):
            store = kind(path=tmp_path)
            retriever = rag.VectorRAGRetriever(vector_store=store)
            retriever.index(corpus(*texts))
            assert {hit.text for hit in retriever.retrieve("glaciers and servers", 10).hits} == set(texts)
            store.close()

    def test_two_instances_of_chroma_on_one_collection_do_not_mix(self, tmp_path, chunks, vectors):
        first, second = rag.ChromaVectorStore(path=tmp_path), rag.ChromaVectorStore(path=tmp_path)
        first.add(chunks(2), vectors(2))
        second.clear()
        second.add(chunks(2, first=7), vectors(2))
        for use in (lambda: first.search(vectors(1)[0], 2), lambda: first.add(chunks(1), vectors(1)), first.__len__):
            with pytest.raises(InputError, match=r"'rag-eval' was removed or replaced .* its own collection="):
                use()
        assert set(second.search(vectors(1)[0], 5)) == set(chunks(2, first=7))
        first.close()
        second.close()

    # When it meets the lock of another, Qdrant's client leaves the file open that it expected to lock.
    @pytest.mark.filterwarnings("ignore:Exception ignored in.*lock:pytest.PytestUnraisableExceptionWarning")
    def test_a_folder_of_qdrant_serves_one_store_at_a_time(self, tmp_path, chunks, vectors):
        first, second = QdrantVectorStore(path=tmp_path), QdrantVectorStore(path=tmp_path)
        first.add(chunks(2), vectors(2))
        with pytest.raises(ConfigError, match="already accessed by another instance"):
            second.clear()
        gc.collect()
        first.close()
        assert len(second) == 2
        second.close()


class TestOthersCollections:
    def test_those_of_chroma_are_left_alone(self, tmp_path, chunks, vectors):
        chromadb = pytest.importorskip("chromadb")
        with chromadb.PersistentClient(tmp_path) as client:
            for name in ("mine", "rag-eval"):
                client.create_collection(name, embedding_function=None).add(ids=["1"], embeddings=[[1.0, 2.0]])
            refused = rag.ChromaVectorStore(path=tmp_path)
            for use in (refused.clear, lambda: refused.add(chunks(1), vectors(1)), refused.__len__):
                with pytest.raises(
                    ConfigError, match=r"'rag-eval' exists and was not created by this package.*collection="
                ):
                    use()
            store = rag.ChromaVectorStore(path=tmp_path, collection="other")
            store.add(chunks(1), vectors(1))
            store.clear()
            store.close()
            refused.close()
            assert sorted(collection.name for collection in client.list_collections()) == ["mine", "rag-eval"]
            assert client.get_collection("rag-eval", embedding_function=None).count() == 1

    def test_those_of_qdrant_are_left_alone(self, tmp_path, chunks, vectors):
        qdrant = pytest.importorskip("qdrant_client")
        size = qdrant.models.VectorParams(size=2, distance=qdrant.models.Distance.DOT)
        with closing(qdrant.QdrantClient(path=str(tmp_path))) as client:
            for name in ("mine", "rag-eval"):
                client.create_collection(name, vectors_config=size)
        with closing(QdrantVectorStore(path=tmp_path)) as refused:
            for use in (refused.clear, lambda: refused.add(chunks(1), vectors(1)), refused.__len__):
                with pytest.raises(
                    ConfigError, match=r"'rag-eval' exists and was not created by this package.*collection="
                ):
                    use()
        with closing(QdrantVectorStore(path=tmp_path, collection="other")) as store:
            store.add(chunks(1), vectors(1))
            store.clear()
        with closing(qdrant.QdrantClient(path=str(tmp_path))) as client:
            assert sorted(collection.name for collection in client.get_collections().collections) == [
                "mine", "rag-eval",
            ]  # fmt: skip

    def test_clients_of_the_users_own_live_beside_a_store_in_memory(self, chunks, vectors):
        chromadb = pytest.importorskip("chromadb")
        with chromadb.EphemeralClient() as before:
            for other in before.list_collections():  # of a test before, as all of a process share their memory
                before.delete_collection(other.name)
            before.create_collection("mine", embedding_function=None)
            store = rag.ChromaVectorStore()
            store.add(chunks(1), vectors(1))
            with chromadb.EphemeralClient() as after:
                assert len(after.list_collections()) == 2
                store.clear()
                assert [collection.name for collection in after.list_collections()] == ["mine"]
                store.add(chunks(1), vectors(1))
                store.close()
                assert [collection.name for collection in after.list_collections()] == ["mine"]
                store.add(chunks(1), vectors(1))
                del store
                gc.collect()
                assert [collection.name for collection in after.list_collections()] == ["mine"]
                after.delete_collection("mine")


class TestServers:
    def test_a_server_of_chroma_keeps_what_was_added_and_drops_what_is_cleared(self, chroma_port, chunks, vectors):
        place = {"host": "127.0.0.1", "port": chroma_port}
        store, again = rag.ChromaVectorStore(**place), rag.ChromaVectorStore(**place)
        store.add(chunks(3), vectors(3))
        assert again.search(vectors(3)[1], 1) == chunks(3)[1:2]
        again.clear()
        assert len(again) == 0
        with pytest.raises(InputError, match="removed or replaced"):
            store.search(vectors(1)[0], 1)
        chromadb = pytest.importorskip("chromadb")
        store.close()
        again.close()
        inspector = rag.ChromaVectorStore(**place, collection="inspector")
        assert "rag-eval" not in [collection.name for collection in inspector._open().list_collections()]
        inspector.close()
        assert chromadb.__version__

    @pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection:UserWarning")
    def test_a_server_of_qdrant_is_asked_for_exact_search_and_sent_large_additions_in_batches(
        self, qdrant_server, chunks, vectors
    ):
        store = QdrantVectorStore(url=qdrant_server.url, api_key="secret")
        store.add(chunks(2_500), vectors(2_500))
        store.search(vectors(1)[0], 2)
        (search,) = [body for _, path, _, body, _ in qdrant_server.requests if path.endswith("/query/batch")]
        assert [request["params"]["exact"] for request in search["searches"]] == [True]
        written = [
            (len(body["batch"]["ids"]), "wait=true" in query)
            for method, path, query, body, _ in qdrant_server.requests
            if path.endswith("/points") and method == "PUT"
        ]
        assert written == [(1_000, True), (1_000, True), (500, True)]
        assert {headers["api-key"] for *_, headers in qdrant_server.requests} == {"secret"}
        store.close()

    def test_a_collection_of_qdrant_that_was_replaced_is_noticed(self, qdrant_server, chunks, vectors):
        first, second = (QdrantVectorStore(url=qdrant_server.url) for _ in range(2))
        first.add(chunks(2), vectors(2))
        second.clear()
        second.add(chunks(2, first=7), vectors(2))
        with pytest.raises(InputError, match="'rag-eval' was removed or replaced"):
            first.search(vectors(1)[0], 2)
        assert set(second.search(vectors(1)[0], 5)) == set(chunks(2, first=7))
        first.clear()
        for use in (lambda: second.search(vectors(1)[0], 2), lambda: second.add(chunks(1), vectors(1)), second.__len__):
            with pytest.raises(InputError, match="'rag-eval' was removed or replaced"):
                use()
        second.clear()
        first.add(chunks(2), vectors(2))
        with pytest.raises(InputError, match="'rag-eval' was removed or replaced"):
            second.add(chunks(2), vectors(2))
        first.close()
        second.close()


@pytest.mark.parametrize(
    "store",
    [
        *("ChromaVectorStore()", "ChromaVectorStore(path='db')", "QdrantVectorStore()", "QdrantVectorStore(path='db')"),
        "vector_stores.PgVectorStore({dsn!r}, table='quiet')",
    ],
)
def test_a_program_that_closes_nothing_ends_quietly(store, tmp_path, request):
    dsn = request.getfixturevalue("pgvector_dsn") if "dsn" in store else ""
    code = f"""
import numpy as np
import rag_evaluation_framework as rag
from rag_evaluation_framework.components import vector_stores
from rag_evaluation_framework import components
store = components.{store.format(dsn=dsn)}
document = rag.Document(rag.DocumentId("a"), "xyz")
store.add([rag.PositionAwareChunk.of(document, 0, 3)], np.ones((1, 2), dtype=np.float32))
print(len(store.search(np.ones(2, dtype=np.float32), 5)))
"""
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", code]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "1\n", "")
