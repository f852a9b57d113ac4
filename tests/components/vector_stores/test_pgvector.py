"""The store in PostgreSQL, over a real server: ranking, bad input, secrets, what stays."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from uuid import uuid4

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import InMemoryVectorStore
from rag_evaluation_framework.components.vector_stores import PgVectorStore
from rag_evaluation_framework.contracts.registry.building import build, describe
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, InputError

pytestmark = pytest.mark.slow

psycopg = pytest.importorskip("psycopg", reason="needs the extra pgvector")

SECRET = "s3cr3t-0f-the-database"


@pytest.fixture
def store(pgvector_dsn):
    """A function that makes a store, on a table of its own if no other is named; all are closed in the end."""
    made = []

    def make(**parameters):
        made.append(PgVectorStore(pgvector_dsn, **{"table": f"run_{uuid4().hex}", **parameters}))
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


class TestRanking:
    def test_searches_in_several_threads_do_not_mix(self, store, chunks, vectors):
        one, rows = store(), vectors(200, seed=3)
        one.add(chunks(200), rows)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda row: one.search(row, 1), rows))
        assert found == [[chunk] for chunk in chunks(200)]


class TestBadInput:
    def test_dimensions_beyond_what_pgvector_takes_are_refused(self, store, query, chunks):
        one = store()
        with pytest.raises(ConfigError, match=r"cannot create the table: .* 16000"):
            one.add(chunks(1), np.ones((1, 16_001), dtype=np.float32))
        assert query("SELECT to_regclass(%s)", one.table) == [(None,)]
        rows = np.eye(2, 16_000, dtype=np.float32)
        one.add(chunks(2), rows)
        assert one.search(rows[1], 1) == chunks(2)[1:]

    @pytest.mark.parametrize("name", ["select", "Mixed_Case", "_", "x" * 50])
    def test_names_of_tables_are_quoted(self, store, query, name, chunks, vectors):
        one = store(table=name)
        one.add(chunks(2), vectors(2))
        assert one.search(vectors(2)[1], 1) == chunks(2)[1:]
        assert query("SELECT count(*) FROM pg_class WHERE relname = %s", name) == [(1,)]
        one.clear()


class TestSecrets:
    def test_the_connection_string_is_in_no_name_record_or_error(self, pgvector_dsn, chunks, vectors):
        store = PgVectorStore(f"{pgvector_dsn} password={SECRET}", table="secrets_of_a_store")
        assert store.name == "PgVectorStore(table='secrets_of_a_store')"
        assert describe(store)["table"] == "secrets_of_a_store"
        assert "dsn" not in describe(store)
        assert SECRET not in f"{store!r}{describe(store)}"
        store.add(chunks(1), vectors(1))
        store.clear()
        store.close()

    @pytest.mark.parametrize(
        "dsn",
        [
            f"postgresql://me:{SECRET}@127.0.0.1:9/db",
            f"host=127.0.0.1 port=9 user=me password={SECRET}",
            f"host=127.0.0.1 port=9 password={SECRET} dbname={SECRET}",
        ],
    )
    def test_a_server_that_does_not_answer_is_named_and_the_password_is_not(self, dsn):
        with pytest.raises(ConfigError, match=r"PgVectorStore: cannot connect to PostgreSQL: .*127.0.0.1") as caught:
            PgVectorStore(dsn).clear()
        assert SECRET not in str(caught.value)

    @pytest.mark.parametrize(
        "dsn", [f"postgres {SECRET}", f"host=localhost {SECRET}=x", SECRET.encode(), None, f"pass word={SECRET}"]
    )
    def test_what_cannot_be_read_is_not_told(self, dsn):
        with pytest.raises(ConfigError, match="expected a connection string, such as 'postgresql://") as caught:
            PgVectorStore(dsn)
        assert SECRET not in str(caught.value)
        assert caught.value.__context__ is None

    @pytest.mark.usefixtures("pgvector_environment")
    def test_the_environment_of_postgresql_says_where_by_default(self, chunks, vectors):
        store = build("vector_store", {"type": "pgvector", "table": "by_environment"})
        assert (type(store), store.table) == (PgVectorStore, "by_environment")
        store.add(chunks(2), vectors(2))
        with closing(build("vector_store", describe(store))) as again:
            assert again.search(vectors(2)[1], 1) == chunks(2)[1:]
        store.clear()
        store.close()


class TestWhatStays:
    def test_a_table_keeps_what_was_added_and_a_store_can_be_used_after_closing(self, store, chunks, vectors):
        one = store()
        one.add(chunks(5), vectors(5))
        one.close()
        one.close()
        assert len(one) == 5
        one.add(chunks(5, first=5), vectors(5))
        for it in (one, store(table=one.table)):
            assert len(it) == 10
            assert it.search(vectors(5)[2], 2) == [chunks(10)[2], chunks(10)[7]]

    def test_an_evaluation_gives_what_the_store_in_memory_gives(self, store, chunks, vectors):
        dataset = load_handbook()
        one = store()
        one.add(chunks(5), vectors(5))  # of another corpus and embedder: the next index replaces it
        result = rag.evaluate(rag.VectorRAGRetriever(vector_store=one), dataset, k=5)
        assert result.metrics == rag.evaluate(rag.VectorRAGRetriever(), dataset, k=5).metrics
        assert len(one) > 5

    def test_document_and_place_are_there_for_queries_of_ones_own(self, store, query, chunks, vectors):
        first, second = chunks(2)
        odd = rag.PositionAwareChunk(
            second.id, second.content, rag.DocumentId("odd\x00\ud83d.md"), second.start, second.end
        )
        one = store()
        one.add([first, odd], vectors(2))
        places = query(f'SELECT doc_id, start, "end" FROM {one.table} ORDER BY number')
        assert places == [("a.md", 0, 5), (r"odd\x00\ud83d.md", 6, 11)]
        assert one.search(vectors(2)[1], 1) == [odd]

    def test_an_index_that_somebody_has_built_is_not_used(self, store, query, chunks, vectors):
        rows, queries = vectors(2_000, 32), vectors(10, 32, seed=1)
        one, memory = store(), InMemoryVectorStore()
        for filled in (one, memory):
            filled.add(chunks(2_000), rows)
        query(f"CREATE INDEX ON {one.table} USING hnsw (embedding vector_ip_ops) WITH (m = 2, ef_construction = 4)")
        assert one.search_many(queries, 10) == memory.search_many(queries, 10)

    def test_a_table_that_was_replaced_is_noticed(self, store, chunks, vectors):
        first = store()
        second = store(table=first.table)
        first.add(chunks(2), vectors(2))
        first.search(vectors(1)[0], 1)
        second.clear()
        second.add(chunks(2, first=7), vectors(2))
        uses = (
            lambda one: one.search(vectors(1)[0], 2),
            lambda one: one.search(np.zeros(8), 2),
            lambda one: one.add(chunks(1), vectors(1)),
            len,
        )
        for use in uses:
            with pytest.raises(InputError, match=rf"'{first.table}' was removed or replaced .* its own table="):
                use(first)
        assert set(second.search(vectors(1)[0], 5)) == set(chunks(2, first=7))
        first.clear()
        for use in uses:
            with pytest.raises(InputError, match="was removed or replaced"):
                use(second)
        second.clear()
        first.add(chunks(2), vectors(2))
        with pytest.raises(InputError, match="was removed or replaced"):
            second.add(chunks(2), vectors(2))

    def test_what_fails_half_way_leaves_nothing(self, store, chunks, vectors, monkeypatch):
        one = store()
        one.add(chunks(3), vectors(3))
        rows, write = iter(range(3)), psycopg.Copy.write_row
        failing = lambda copy, row: write(copy, row) if next(rows) < 2 else {}["the power fails"]  # noqa: E731
        monkeypatch.setattr(psycopg.Copy, "write_row", failing)
        with pytest.raises(KeyError):
            one.add(chunks(3, first=3), vectors(3))
        assert len(one) == 3

    def test_what_is_interrupted_before_it_is_committed_leaves_nothing_and_the_next_is_committed(
        self, store, query, chunks, vectors, monkeypatch
    ):
        @contextmanager
        def interrupted(connection):
            connection.execute("BEGIN")
            yield
            raise KeyboardInterrupt

        one = store()
        one.add(chunks(3), vectors(3))
        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "transaction", interrupted)
            with pytest.raises(KeyboardInterrupt):
                one.clear()
        one.add(chunks(1, first=3), vectors(1))
        assert query(f"SELECT count(*) FROM {one.table}") == [(4,)]

    def test_a_connection_that_the_server_ended_is_made_again_and_a_table_that_was_replaced_meanwhile_is_noticed(
        self, store, query, chunks, vectors
    ):
        def ended(one):
            with one._transaction() as cursor:
                pid = cursor.connection.info.backend_pid
            query("SELECT pg_terminate_backend(%s)", pid)

        one = store()
        one.add(chunks(3), vectors(3))
        for use in (lambda: one.search(vectors(3)[1], 1) == chunks(3)[1:2], lambda: len(one) == 3):
            ended(one)
            with pytest.raises(psycopg.OperationalError):
                use()
            assert use()
        one.add(chunks(1, first=3), vectors(1, seed=9))
        assert one.search(vectors(1, seed=9)[0], 1) == chunks(1, first=3)
        ended(one)
        other = store(table=one.table)
        other.clear()
        other.add(chunks(3), vectors(3))
        for error, said in ((psycopg.OperationalError, "terminat|clos"), (InputError, "was removed or replaced")):
            with pytest.raises(error, match=said):
                one.search(vectors(3)[1], 1)


class TestOthersTables:
    @pytest.mark.parametrize(
        "create",
        [
            "CREATE TABLE mine (id integer)",
            "CREATE VIEW mine AS SELECT 1 AS id",
            "CREATE TABLE mine (id integer); COMMENT ON TABLE mine IS 'made by hand'",
            "CREATE TABLE mine (id integer); COMMENT ON TABLE mine IS '[1]'",
        ],
    )
    def test_they_are_left_alone(self, store, query, create, chunks, vectors):
        query(create)
        refused = store(table="mine")
        for use in (refused.clear, lambda: refused.add(chunks(1), vectors(1)), refused.__len__):
            with pytest.raises(ConfigError, match=r"table 'mine' exists and was not created by this package.*table="):
                use()
        assert query("SELECT relname FROM pg_class WHERE relname = 'mine'") == [("mine",)]
        query(f"DROP {create.split()[1]} mine")

    def test_a_user_without_rights_is_told_also_in_a_database_without_pgvector_which_else_gets_it(
        self, pgvector_dsn, query, chunks, vectors
    ):
        query("CREATE ROLE reader LOGIN")
        with closing(PgVectorStore(pgvector_dsn.replace("user=postgres", "user=reader"), table="denied")) as store:
            with pytest.raises(ConfigError, match=r"table='denied'.*permission denied for schema public"):
                store.add(chunks(1), vectors(1))
            assert len(store) == 0
        query("CREATE DATABASE plain")
        query("CREATE ROLE tenant LOGIN")
        query("GRANT CREATE ON SCHEMA public TO tenant")
        plain = pgvector_dsn.replace("dbname=postgres", "dbname=plain")
        with closing(PgVectorStore(plain.replace("user=postgres", "user=tenant"))) as store:
            assert store.search(vectors(1)[0], 1) == []
            with pytest.raises(ConfigError, match=r"no pgvector.*CREATE EXTENSION vector"):
                store.add(chunks(1), vectors(1))
        with closing(PgVectorStore(plain)) as store:
            store.add(chunks(1), vectors(1))
            assert store.search(vectors(1)[0], 1) == chunks(1)

    def test_stores_that_begin_at_the_same_time_do_not_meet(self, pgvector_dsn, query, chunks, vectors):
        query("CREATE DATABASE fresh")
        dsn = pgvector_dsn.replace("dbname=postgres", "dbname=fresh")

        def fill(number):
            with closing(PgVectorStore(dsn, table=f"run_{number}")) as store:
                store.add(chunks(5, first=5 * number), vectors(5))
                return store.search(vectors(5)[2], 1)

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(fill, range(6))) == [chunks(1, first=5 * number + 2) for number in range(6)]
