"""The engine in PostgreSQL, over a real server: documents come and go, scopes hold, simultaneous runs do not meet."""

import math
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rag_evaluation_framework as rag
from rag_evaluation_framework.contracts import Engine
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.engines import PgVectorEngine
from rag_evaluation_framework.errors import ConfigError, InputError, MissingDependency
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.testing import EngineConformance
from rag_evaluation_framework.vector_stores import PgVectorStore
from support.embedders import WordCounts

pytestmark = pytest.mark.slow

psycopg = pytest.importorskip("psycopg", reason="needs the extra pgvector")

SECRET = "s3cr3t-0f-the-database"
WORDS = WordCounts(("refund", "invoice", "server", "password"))


def lines(text):
    return text.split("\n")


def document(name, text="refund\ninvoice\nserver", **metadata):
    return rag.Document(rag.DocumentId(name), text, metadata)


def hits(engine, query, scope="", top_k=100, **options):
    return engine.retrieve(query, top_k, scope, **options)["hits"]


def found(engine, scope="", **options):
    """The documents of which something is found."""
    return {hit["doc_id"] for hit in hits(engine, "refund", scope, **options)}


def scattered(texts):
    """A direction for each text, the same for the same text."""
    return [np.random.default_rng([*text.encode()]).normal(size=24) for text in texts]


@pytest.fixture
def engine(pgvector_dsn):
    """A function that makes an engine, on a table of its own if no other is named; all are closed in the end."""
    made = []

    def make(embedder=WORDS, chunker=lines, **parameters):
        made.append(PgVectorEngine(pgvector_dsn, embedder, chunker, **{"table": f"run_{uuid4().hex}", **parameters}))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def query(pgvector_dsn):
    """A function that runs a statement of the user's own and returns its rows."""
    with psycopg.connect(pgvector_dsn, autocommit=True) as connection:

        def run(statement, *values):
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else None

        yield run


class TestConformance(EngineConformance):
    @pytest.fixture(autouse=True)
    def database(self, pgvector_dsn):
        self.dsn = pgvector_dsn

    def make(self):
        return PgVectorEngine(self.dsn, WordCounts(("refunds", "days", "parcels")), lines, table=f"run_{uuid4().hex}")


class TestRetrieving:
    def test_what_comes_back(self, engine):
        one = engine()
        assert isinstance(one, Engine)
        one.ingest(document("a.md", "a refund\na refund, an invoice\nnothing", lang="en", pages=[1, {"deep": None}]))
        answer = one.retrieve("refund", 2, "")
        metadata = {"lang": "en", "pages": [1, {"deep": None}]}
        assert answer["hits"] == [
            {**hit, "doc_id": "a.md", "metadata": metadata}
            for hit in (
                {"start": 0, "end": 8, "text": "a refund", "score": pytest.approx(1)},
                {"start": 9, "end": 29, "text": "a refund, an invoice", "score": pytest.approx(math.sqrt(0.5))},
            )
        ]
        assert list(answer["seconds"]) == ["embed", "search"]
        assert all(0 <= seconds < 60 for seconds in answer["seconds"].values())

    def test_chunks_and_questions_without_direction_come_last_and_in_order(self, engine):
        one = engine()
        one.ingest(document("b.md", "nothing\nrefund"))
        one.ingest(document("a.md", "nothing\ninvoice"))
        assert [(hit["text"], hit["score"]) for hit in hits(one, "refund")] == [
            ("refund", pytest.approx(1)), ("nothing", 0), ("invoice", 0), ("nothing", 0),
        ]  # fmt: skip
        assert [(hit["doc_id"], hit["text"]) for hit in hits(one, "no word of it")] == [
            ("a.md", "nothing"), ("a.md", "invoice"), ("b.md", "nothing"), ("b.md", "refund"),
        ]  # fmt: skip

    @pytest.mark.parametrize("index", ["exact", "hnsw"])
    def test_an_evaluation_gives_what_vectors_in_memory_give(self, engine, index):
        dataset = load_handbook()
        one = engine(scattered, rag.RecursiveCharacterChunker(chunk_size=800), index=index, ef_search=200)
        for each in dataset.corpus:
            one.ingest(each)
        result = rag.evaluate(lambda query, k: one.retrieve(query, k, "")["hits"], dataset, k=5)
        assert result.metrics == rag.evaluate(rag.VectorRAGRetriever(embedder=scattered), dataset, k=5).metrics

    def test_of_equal_scores_the_first_by_id_and_place_are_returned(self, engine):
        one = engine()
        for name in "cab":
            one.ingest(document(name, "refund\nrefund"))
        places = [("a", 0), ("a", 7), ("b", 0), ("b", 7), ("c", 0), ("c", 7)]
        for top_k in range(7):
            assert [(hit["doc_id"], hit["start"]) for hit in hits(one, "refund", top_k=top_k)] == places[:top_k]

    def test_no_results_are_none(self, engine):
        one = engine()
        one.ingest(document("a.md"))
        assert hits(one, "refund", top_k=0) == hits(one, "refund", "b") == []

    def test_there_must_be_a_table(self, engine):
        with pytest.raises(InputError, match=r"there is no table 'run_.*'; ingest documents first"):
            engine().retrieve("refund", 1, "")

    def test_constraints_are_of_what_is_contained(self, engine):
        one = engine()
        one.ingest(document("de", lang="de", tags=["a", "b"]))
        one.ingest(document("en", lang="en", tags=["b"], owner={"name": "x", "age": 3}))
        one.ingest(document("none"))
        for constraints, expected in (
            ({"lang": "de"}, {"de"}),
            ({"tags": ["b"]}, {"de", "en"}),
            ({"tags": ["b"], "lang": "en"}, {"en"}),
            ({"owner": {"age": 3}}, {"en"}),
            ({"lang": "DE"}, set()),
            ({}, {"de", "en", "none"}),
            (None, {"de", "en", "none"}),
        ):
            assert found(one, metadata_constraints=constraints) == expected, constraints

    def test_embedders_and_chunkers_may_be_functions_also_coroutines(self, engine):
        async def embed(texts):
            return [[text.count("refund"), 1] for text in texts]

        one = engine(embed, lambda text: text.split(". "))
        one.ingest(document("a.md", "no. a refund"))
        assert [hit["text"] for hit in hits(one, "refund")] == ["a refund", "no"]


class TestIngesting:
    def test_a_document_is_there_once(self, engine, query):
        one = engine()
        for _ in range(3):
            one.ingest(document("a.md"))
        assert query(f"SELECT count(*) FROM {one.table}") == [(3,)]
        assert [hit["text"] for hit in hits(one, "refund")] == ["refund", "invoice", "server"]

    def test_its_new_text_replaces_the_old_one(self, engine):
        one = engine()
        one.ingest(document("a.md", "refund\nrefund\nrefund", version=1))
        one.ingest(document("a.md", "refund again", version=2))
        assert [(hit["text"], hit["metadata"]) for hit in hits(one, "refund")] == [("refund again", {"version": 2})]
        one.ingest(document("a.md", ""))
        assert hits(one, "refund") == []

    @pytest.mark.parametrize(
        "bad",
        [
            document("a.md", "refund\nnul \x00"),
            document("a.md", "refund\nhalf \ud83d"),
            document("a.md", "refund\nnew", when=object()),
            document("a.md", "refund\nnew", share=math.nan),
            document("a.md", "refund\nnew", nul="\x00"),
            document("a.md", "refund\nnew", half="\ud83d"),
        ],
        ids=["nul", "surrogate", "object", "nan", "nul in metadata", "surrogate in metadata"],
    )
    def test_what_cannot_be_stored_is_refused_and_the_old_text_stays(self, engine, bad):
        one = engine()
        one.ingest(document("a.md", "refund\nold"))
        with pytest.raises(InputError, match=r"PgVectorEngine.ingest: PostgreSQL cannot store document 'a.md': "):
            one.ingest(bad)
        assert [hit["text"] for hit in hits(one, "refund")] == ["refund", "old"]

    @pytest.mark.parametrize(
        "name", ["nul\x00", "half\ud83d", "".join(random.Random(1).choices("abcdefghijklmnop", k=9_000))]
    )
    def test_ids_that_cannot_be_stored_are_refused(self, engine, name):
        one = engine()
        with pytest.raises(InputError, match="PostgreSQL cannot store document"):
            one.ingest(document(name))
        assert hits(one, "refund") == []

    def test_odd_ids_and_texts_come_back_as_they_were(self, engine):
        one, names = engine(), ["a b", "ä/日本.md", "'\"; DROP TABLE x", "%_\\", "\t\n", "🚀"]
        for name in names:
            one.ingest(document(name, "refund 🚀 e\u0301 \\x00 %s {}"))
        assert {hit["doc_id"]: hit["text"] for hit in hits(one, "refund")} == dict.fromkeys(
            names, "refund 🚀 e\u0301 \\x00 %s {}"
        )

    def test_readers_see_the_old_text_or_the_new_one(self, engine):
        writer, reader = engine(), None
        versions = [document("a.md", "\n".join([f"refund {number}"] * 20)) for number in (1, 2)]
        writer.ingest(versions[0])
        reader = engine(table=writer.table)

        def write():
            for number in range(60):
                writer.ingest(versions[number % 2])

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            seen = set()
            while not writing.done():
                texts = [hit["text"] for hit in hits(reader, "refund")]
                assert len(texts) == 20
                assert len(set(texts)) == 1
                seen |= set(texts)
            writing.result()
        assert seen <= {"refund 1", "refund 2"}

    def test_of_several_who_add_the_same_document_one_remains(self, engine, query):
        table = engine().table
        versions = [document("a.md", "\n".join([f"refund {number}"] * (number + 1))) for number in range(6)]
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda version: engine(table=table).ingest(version), versions * 3))
        texts = [hit["text"] for hit in hits(engine(table=table), "refund")]
        assert len(set(texts)) == 1
        assert len(texts) == int(texts[0].removeprefix("refund ")) + 1

    @pytest.mark.parametrize(("dimension", "index"), [(16_001, "exact"), (2_001, "hnsw")])
    def test_dimensions_beyond_what_pgvector_takes_are_refused(self, engine, query, dimension, index):
        one = engine(lambda texts: np.ones((len(texts), dimension)), index=index)
        with pytest.raises(InputError, match=rf"dimension {dimension:,}"):
            one.ingest(document("a.md"))
        assert query("SELECT to_regclass(%s)", one.table) == [(None,)]


NEIGHBOURS = [
    *("eval:a:x", "eval:ab:x", "eval:a_:x", "eval:a%:x", "eval:A:x"),
    *("EVAL:a:x", "eval:a", "eval:a\\:x", "eval:ä:x", "xeval:a:x"),
]


class TestScopes:
    @pytest.mark.parametrize("scope", [*NEIGHBOURS, "eval:a:", "eval:", "eval:a_", "eval:a%", "%", "_", "eval:a\\"])
    def test_they_are_read_letter_for_letter(self, engine, scope):
        one = engine()
        for name in NEIGHBOURS:
            one.ingest(document(name))
        inside = {name for name in NEIGHBOURS if name.startswith(scope)}
        assert found(one, scope) == inside
        one.delete(scope)
        assert found(one) == set(NEIGHBOURS) - inside

    @settings(max_examples=30)
    @given(names=st.sets(st.text("aAb_%\\:é", min_size=1), min_size=1, max_size=12), data=st.data())
    def test_a_deletion_never_leaves_the_prefix(self, pgvector_dsn, names, data):
        cut = data.draw(st.sampled_from(sorted(names)))
        prefix = data.draw(st.sampled_from([cut, cut[: max(1, len(cut) // 2)], "_", "%"]))
        with closing(PgVectorEngine(pgvector_dsn, WORDS, lines, table="property")) as one:
            for name in names:
                one.ingest(document(f"{one.table}:{name}"))
            one.delete(f"{one.table}:{prefix}")
            assert found(one) == {f"{one.table}:{name}" for name in names if not name.startswith(prefix)}
            one.delete(one.table)

    def test_without_a_prefix_nothing_is_deleted(self, engine):
        one = engine()
        one.ingest(document("a.md"))
        with pytest.raises(InputError, match="the prefix is empty"):
            one.delete("")
        assert found(one) == {"a.md"}

    def test_where_there_is_no_table_there_is_nothing_to_delete(self, engine):
        engine().delete("eval:a:")

    def test_runs_in_two_processes_do_not_meet(self, pgvector_dsn, query, tmp_path):
        query("CREATE DATABASE shared_by_runs")
        code = """
import sys
import rag_evaluation_framework as rag
from rag_evaluation_framework.engines import PgVectorEngine
dsn, run, other = sys.argv[1:]
def embed(texts):
    return [[len(text), text.count(run), 1] for text in texts]
scope = f"eval:{run}:"
for round in range(8):
    engine = PgVectorEngine(dsn, embed, lambda text: text.split("."), index="hnsw" if round % 2 else "exact")
    engine.delete(scope)
    for number in range(10):
        engine.ingest(rag.Document(rag.DocumentId(f"{scope}{number}"), f"{run}. says. {number}", {"run": run}))
    hits = engine.retrieve(run, 100, scope)["hits"]
    assert len(hits) == 30, len(hits)
    assert {hit["metadata"]["run"] for hit in hits} == {run}
    assert engine.retrieve(run, 100, scope, metadata_constraints={"run": other})["hits"] == []
    if round < 7:
        engine.delete(scope)
        assert engine.retrieve(run, 100, scope)["hits"] == []
    engine.close()
"""
        dsn = pgvector_dsn.replace("dbname=postgres", "dbname=shared_by_runs")
        runs = [
            subprocess.Popen([sys.executable, "-c", code, dsn, *names], stderr=subprocess.PIPE, cwd=tmp_path, text=True)
            for names in (("a", "ab"), ("ab", "a"))
        ]
        said = [run.communicate(timeout=120)[1] for run in runs]
        assert [run.returncode for run in runs] == [0, 0], said
        with closing(psycopg.connect(dsn)) as connection:
            left = connection.execute(
                "SELECT DISTINCT left(doc_id, -1), count(*) FROM rag_eval_engine GROUP BY 1 ORDER BY 1"
            )
            assert left.fetchall() == [("eval:a:", 30), ("eval:ab:", 30)]


@pytest.fixture(scope="module")
def filled(pgvector_dsn):
    """An engine with an index that finds little: 3,000 chunks of one scope, and 30 of another."""
    poor = {"index": "hnsw", "m": 2, "ef_construction": 4, "ef_search": 1}
    with closing(PgVectorEngine(pgvector_dsn, scattered, lines, table="filled", **poor)) as one:
        for scope, documents, size in (("eval:large:", 15, 200), ("eval:small:", 1, 30)):
            for number in range(documents):
                text = "\n".join(f"{scope} {number} {line}" for line in range(size))
                one.ingest(document(f"{scope}{number}", text, third=number % 3))
        with closing(psycopg.connect(pgvector_dsn, autocommit=True)) as connection:
            connection.execute("ANALYZE filled")  # as a server does by itself after a while
        yield one


class TestApproximateSearch:
    @pytest.mark.parametrize("changed", [{"m": 7}, {"ef_construction": 65}])
    def test_an_index_with_other_parameters_is_refused(self, engine, query, changed):
        one = engine(index="hnsw")
        one.ingest(document("a.md", "a refund"))
        other = engine(index="hnsw", table=one.table, **changed)
        for ask in (lambda: other.retrieve("refund", 1, ""), lambda: other.ingest(document("b.md", "a refund"))):
            with pytest.raises(ConfigError, match="was built with m=16 and ef_construction=64, and"):
                ask()
        assert hits(engine(index="hnsw", table=one.table, ef_search=10), "refund")
        query(f"DROP INDEX {one.table}_hnsw")
        other.ingest(document("b.md", "a refund"))
        assert len(hits(other, "refund")) == 2

    def test_it_uses_the_index_and_exact_search_of_the_same_table_does_not(self, engine, filled):
        exact = engine(scattered, table=filled.table)
        texts = [hit["text"] for hit in hits(exact, "x", top_k=5_000)]
        rows = np.array(scattered(texts))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        same = 0
        for question in map(str, range(20)):
            (vector,) = scattered([question])
            nearest = [texts[row] for row in np.argsort(-(rows @ vector))[:10]]
            assert [hit["text"] for hit in hits(exact, question, top_k=10)] == nearest
            same += [hit["text"] for hit in hits(filled, question, top_k=10)] == nearest
        assert same < 20  # its graph is made by chance

    def test_where_the_scan_of_the_index_ends_early_all_vectors_are_compared(self, pgvector_dsn, filled):
        short = f"{pgvector_dsn} options='-c hnsw.max_scan_tuples=1'"
        with closing(PgVectorEngine(pgvector_dsn, scattered, table="filled")) as one:
            exact = hits(one, "x", "eval:large:", 500)
        poor = {"index": "hnsw", "m": 2, "ef_construction": 4, "ef_search": 1}
        with closing(PgVectorEngine(short, scattered, table="filled", **poor)) as one:
            assert hits(one, "x", "eval:large:", 500) == exact  # so many it cannot have met by chance

    @pytest.mark.parametrize("top_k", [1, 10, 30, 100, 3_100])
    @pytest.mark.parametrize("constraints", [None, {"third": 0}, {"third": 9}])
    @pytest.mark.parametrize("scope", ["eval:large:", "eval:small:", "eval:", "eval:none:"])
    def test_as_many_are_found_as_by_exact_search_and_none_outside_of_the_scope(
        self, engine, filled, top_k, constraints, scope
    ):
        exact = hits(engine(scattered, table=filled.table), "x", scope, top_k, metadata_constraints=constraints)
        approximate = hits(filled, "x", scope, top_k, metadata_constraints=constraints)
        assert len(approximate) == len(exact)
        assert all(hit["doc_id"].startswith(scope) for hit in approximate)
        assert all(hit["metadata"] == {"third": 0} for hit in approximate if constraints)
        scores = [hit["score"] for hit in approximate]
        assert scores == sorted(scores, reverse=True)
        if len(exact) < top_k:
            assert approximate == exact


class TestOthersTables:
    def test_they_are_left_alone(self, engine, query):
        query("CREATE TABLE theirs (doc_id text)")
        query("INSERT INTO theirs VALUES ('a.md')")
        refused = engine(table="theirs")
        for use in (lambda: refused.ingest(document("a.md")), lambda: refused.delete("a"), lambda: found(refused)):
            with pytest.raises(ConfigError, match="the table 'theirs' exists and was not created by this package"):
                use()
        assert query("SELECT * FROM theirs") == [("a.md",)]

    @pytest.mark.parametrize("words", [("other",), ("four", "other", "words", "are")])
    def test_a_table_is_of_one_embedder(self, engine, words):
        one = engine()
        one.ingest(document("a.md"))
        refused = engine(WordCounts(words), table=one.table)
        message = r"has the vectors of another embedder, WordCounts\(words=\('refund'"
        for use in (lambda: refused.ingest(document("b.md")), lambda: refused.delete("a"), lambda: found(refused)):
            with pytest.raises(ConfigError, match=message):
                use()
        assert found(one) == {"a.md"}

    def test_an_engine_and_a_store_leave_the_tables_of_each_other_alone(self, engine, pgvector_dsn):
        one = engine()
        one.ingest(document("a.md"))
        chunk = rag.PositionAwareChunk.of(document("b.md"), 0, 3)
        rows = np.ones((1, 4), dtype=np.float32)
        with closing(PgVectorStore(pgvector_dsn, one.table)) as store:
            for use in (store.clear, lambda: store.add([chunk], rows), store.__len__, lambda: store.search(rows[0], 1)):
                with pytest.raises(ConfigError, match="has the documents of a PgVectorEngine"):
                    use()
        assert found(one) == {"a.md"}
        with closing(PgVectorStore(pgvector_dsn, f"{one.table}_store")) as store:
            store.add([chunk], rows)
            refused = engine(table=store.table)
            for use in (lambda: refused.ingest(document("a.md")), lambda: refused.delete("b"), lambda: found(refused)):
                with pytest.raises(ConfigError, match="has the vectors of a PgVectorStore"):
                    use()
            assert store.search(rows[0], 5) == [chunk]

    def test_a_user_without_rights_is_told(self, pgvector_dsn, query):
        query("CREATE ROLE guest LOGIN")
        with (
            closing(PgVectorEngine(pgvector_dsn.replace("user=postgres", "user=guest"), WORDS, table="denied")) as one,
            pytest.raises(ConfigError, match=r"cannot create the table 'denied': permission denied"),
        ):
            one.ingest(document("a.md"))


class TestConnections:
    def test_the_connection_string_is_in_no_name_record_or_error(self, pgvector_dsn):
        with closing(PgVectorEngine(f"{pgvector_dsn} password={SECRET}", WORDS, table="secrets")) as one:
            one.ingest(document("a.md"))
            assert one.name.startswith("PgVectorEngine(embedder=WordCounts(")
            assert SECRET not in f"{one!r}{one.name}{describe(one)}"
        with pytest.raises(ConfigError, match="PgVectorEngine: cannot connect to PostgreSQL") as caught:
            PgVectorEngine(f"postgresql://me:{SECRET}@127.0.0.1:9/db", WORDS).retrieve("x", 1, "")
        assert SECRET not in str(caught.value)

    def test_one_that_the_server_ended_is_made_again(self, engine, query):
        one = engine()
        one.ingest(document("a.md"))
        with one._table.transaction() as cursor:
            pid = cursor.connection.info.backend_pid
        query("SELECT pg_terminate_backend(%s)", pid)
        with pytest.raises(psycopg.OperationalError):
            found(one)
        assert found(one) == {"a.md"}

    @pytest.mark.parametrize("use", ["ingest", "retrieve"])
    def test_after_an_interrupt_what_a_run_wrote_can_be_deleted(self, pgvector_dsn, query, use, tmp_path):
        code = f"""
import os, signal, threading
import rag_evaluation_framework as rag
from rag_evaluation_framework.engines import PgVectorEngine
signal.signal(signal.SIGINT, signal.default_int_handler)
embed, cut = lambda texts: [[1, 2]] * len(texts), lambda text: text.split(".")
engine = PgVectorEngine({pgvector_dsn!r}, embed, cut, "{use}_cut")
document = rag.Document(rag.DocumentId("eval:cut:1"), ". ".join(map(str, range(2_000))))
engine.ingest(document)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        engine.ingest(document) if "{use}" == "ingest" else engine.retrieve("x", 2_000, "eval:cut:")
except KeyboardInterrupt:
    print(len(engine.retrieve("x", 5_000, "eval:cut:")["hits"]))
    engine.delete("eval:cut:")
    engine.close()
"""
        command = [sys.executable, "-c", code]
        shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert (shown.returncode, shown.stdout) == (0, "2000\n")
        # Between two statements psycopg may say that it could not roll back, and the connection is closed all the same.
        assert re.sub(r"error ignored in rollback of <psycopg.*\n", "", shown.stderr) == ""
        assert query(f"SELECT count(*) FROM {use}_cut") == [(0,)]

    def test_an_engine_can_be_used_after_closing(self, engine):
        one = engine()
        one.ingest(document("a.md"))
        one.close()
        one.close()
        one.ingest(document("b.md"))
        assert found(one) == {"a.md", "b.md"}

    def test_questions_in_several_threads_do_not_mix(self, engine):
        one = engine(scattered)
        one.ingest(document("a.md", "\n".join(map(str, range(100)))))
        with ThreadPoolExecutor(8) as pool:
            texts = list(pool.map(lambda number: hits(one, str(number), top_k=1)[0]["text"], range(100)))
        assert texts == list(map(str, range(100)))

    @pytest.mark.parametrize(
        "given", [{"table": "a-b"}, {"index": "ivf"}, {"m": 1}, {"ef_search": 1_001}, {"dsn": "no"}, {"embedder": 7}]
    )
    def test_parameters_are_checked_at_once(self, given):
        with pytest.raises(ConfigError, match=rf"{next(iter(given))}="):
            PgVectorEngine(**{"dsn": "", "embedder": WORDS, **given})

    def test_without_the_package_the_extra_is_named(self, monkeypatch):
        for module in ["psycopg", *(name for name in sys.modules if name.startswith("psycopg."))]:
            monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingDependency, match=r"PgVectorEngine.*rag-evaluation-framework\[pgvector\]"):
            PgVectorEngine("", WORDS)

    def test_a_program_that_closes_nothing_ends_quietly(self, pgvector_dsn, tmp_path):
        code = f"""
import rag_evaluation_framework as rag
from rag_evaluation_framework.engines import PgVectorEngine
engine = PgVectorEngine({pgvector_dsn!r}, lambda texts: [[1, 2]] * len(texts), table="quiet_engine")
engine.ingest(rag.Document(rag.DocumentId("a"), "xyz"))
print(len(engine.retrieve("x", 5, "")["hits"]))
"""
        command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", code]
        shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (shown.returncode, shown.stdout, shown.stderr) == (0, "1\n", "")


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_a_scope_that_postgresql_cannot_take_is_told(engine, text):
    one = engine()
    one.ingest(document("a.md", "a refund"))
    for ask in (lambda: one.retrieve("refund", 1, text), lambda: one.delete(text)):
        with pytest.raises(InputError, match=r"PgVectorEngine\.(retrieve|delete): PostgreSQL cannot take the scope"):
            ask()
    assert len(hits(one, "refund")) == 1


@pytest.mark.parametrize("value", [{1}, float("nan"), b"x", {2: 3}, "\x00"])
def test_constraints_that_are_not_json_are_refused(engine, value):
    one = engine()
    one.ingest(document("a.md", "a refund"))
    with pytest.raises(InputError, match=r"PgVectorEngine\.retrieve: PostgreSQL cannot take .* constraints of JSON"):
        one.retrieve("refund", 1, "", {"lang": value})
    assert len(hits(one, "refund")) == 1


def test_metadata_with_keys_that_are_no_texts_are_refused(engine):
    one = engine()
    with pytest.raises(InputError, match=r"the key 2 is no text"):
        one.ingest(document("a.md", "a refund", deep=[{2: 3}]))


def test_an_engine_that_connected_before_the_extension_was_there_finds_what_others_ingest(pgvector_dsn, query):
    name = f"late_{uuid4().hex}"
    query(f"CREATE DATABASE {name}")
    try:
        dsn = pgvector_dsn.replace("dbname=postgres", f"dbname={name}")
        with closing(PgVectorEngine(dsn, WORDS, lines)) as early, closing(PgVectorEngine(dsn, WORDS, lines)) as other:
            with pytest.raises(InputError, match="there is no table"):
                early.retrieve("refund", 1, "")
            other.ingest(document("a.md", "a refund"))
            assert len(early.retrieve("refund", 1, "")["hits"]) == 1
    finally:
        query(f"DROP DATABASE {name}")
