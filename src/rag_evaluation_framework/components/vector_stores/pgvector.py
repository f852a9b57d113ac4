"""Vector store in PostgreSQL with pgvector: a table with its connection and its index. A password is never told."""

import json
import re
import threading
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...base.exits import on_failure, outcome
from ...base.optional import require
from ...base.outside import hide, one_line, shown
from ...errors import ConfigError, InputError
from .database import MADE_BY, DatabaseVectorStore, Found, StoredChunk

# PostgreSQL with pgvector: a table of vectors with its connection and its index. A password is never told.

_MOST_DIMENSIONS = 16_000
_MOST_INDEXED = 2_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,49}")  # names of its indexes are longer, and end after 63 bytes
_DEFAULTS = {"m": "16", "ef_construction": "64"}  # of pgvector, for an index that somebody built without them
_LOCK = 0x7261675F6576616C  # of those that create something at the same time
EXACT: Mapping[str, str] = {"enable_indexscan": "off"}
"""Settings of a search that compares all vectors, whatever index somebody has built."""


class KnownTable(NamedTuple):
    """A table that exists: its identity, which no later table of that name has, and what its comment says."""

    oid: int
    comment: dict[str, Any]


class Table:
    """A table of vectors: connected when it is first needed, and again after the connection was lost or closed.

    Vectors have length 1, so the inner product, `<#>` with the sign turned, is the cosine; zero vectors have one too,
    which pgvector's own cosine has not, and are in its index.

    Args:
        owner: Whose it is, for messages.
        dsn: The connection string, whose password is hidden in all that is shown from now on.
        name: The name of the table.
        index: `"exact"` or `"hnsw"`.
        m: Links per vector in the HNSW index.
        ef_construction: Candidates considered when a vector is added to it.
        ef_search: Candidates considered at a time in a search of it.

    Attributes:
        approximate: The settings of a search of the index. The scan goes on until there are enough; results are sorted
            later anyway, so the order may be relaxed.

    Raises:
        MissingDependency: psycopg or pgvector is not installed.
        ConfigError: A value is not valid, or outside of the limits of pgvector.
    """

    def __init__(
        self, owner: str, dsn: object, name: object, index: object, m: Any, ef_construction: Any, ef_search: Any
    ) -> None:
        conninfo = require("psycopg.conninfo", extra="pgvector", needed_by=owner)
        self._pgvector = require("pgvector.psycopg", extra="pgvector", needed_by=owner)
        self._psycopg = require("psycopg", extra="pgvector", needed_by=owner)
        # What it raises quotes what it cannot read, which may be the password.
        known = outcome(lambda: conninfo.conninfo_to_dict(dsn), lambda _: None) if isinstance(dsn, str) else None
        if known is None:
            raise ConfigError(
                f"{owner}: dsn=*** cannot be read; expected a connection string, such as 'postgresql://host/database' "
                "or 'host=localhost dbname=mine', or '' for the environment variables of PostgreSQL (PGHOST, "
                "PGPASSWORD …)"
            )
        if password := known.get("password"):
            hide(str(password))
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigError(
                f"{owner}: table={shown(name)}; expected 1 to 50 characters from a-z, A-Z, 0-9 and '_', starting with "
                "a letter or '_'"
            )
        if index not in ("exact", "hnsw"):
            raise ConfigError(f"{owner}: index={shown(index)}; expected 'exact' or 'hnsw'")
        limits = {"m": (m, 2, 100), "ef_construction": (ef_construction, 4, 1000), "ef_search": (ef_search, 1, 1000)}
        for key, (value, least, most) in limits.items():
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(f"{owner}: {key}={shown(value)}; expected a whole number from {least} to {most:,}")
        if ef_construction < 2 * m:
            raise ConfigError(f"{owner}: ef_construction={ef_construction} with m={m}; expected at least 2 * m")
        self.name, self.is_indexed = name, index == "hnsw"
        self.approximate = {"hnsw.iterative_scan": "relaxed_order", "hnsw.ef_search": str(ef_search)}
        self._owner, self._dsn = owner, dsn
        self._parameters = {"m": m, "ef_construction": ef_construction}
        self._lock = threading.RLock()  # transactions of several threads on one connection would mix
        self._connection: Any = None
        self._finalizer: Any = None
        self._takes_vectors = False

    @contextmanager
    def transaction(self, settings: Mapping[str, str] | None = None) -> Generator[Any]:
        """Yield a cursor in a transaction of its own, which takes NumPy arrays as vectors if the database has pgvector.

        Args:
            settings: Settings of PostgreSQL for this transaction alone.

        Raises:
            ConfigError: The server does not answer, or refuses.
        """
        with self._lock:
            connection = self._connected()

            def close_if_interrupted(error: BaseException) -> None:
                if not isinstance(error, Exception):  # a statement may be under way that nobody will fetch
                    connection.close()

            def close_unless_idle(_: BaseException) -> None:
                if connection.info.transaction_status != self._psycopg.pq.TransactionStatus.IDLE:
                    connection.close()

            with (
                on_failure(close_unless_idle),
                connection.transaction(),
                on_failure(close_if_interrupted),
                connection.cursor() as cursor,
            ):
                for name, value in (settings or {}).items():
                    cursor.execute("SELECT set_config(%s, %s, true)", [name, value])
                yield cursor

    def sql(self, statement: str, **literals: Any) -> Any:
        """Return a statement with its `{table}`, `{hnsw}` (the name of the index) and literals filled in."""
        sql = self._psycopg.sql
        names = {"table": sql.Identifier(self.name), "hnsw": sql.Identifier(f"{self.name}_hnsw")}
        return sql.SQL(statement).format(**names, **{key: sql.Literal(value) for key, value in literals.items()})

    def close(self) -> None:
        """Close the connection; it can be used again."""
        if self._finalizer is not None:
            self._finalizer()

    def known(self, cursor: Any) -> KnownTable | None:
        """Return what is known of the table, or None if there is none of that name."""
        cursor.execute(
            "SELECT oid, obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass(quote_ident(%s))",
            [self.name],
        )
        row = cursor.fetchone()
        if row is None:
            return None
        try:
            comment: Any = json.loads(row[1] or "")
        except ValueError:
            comment = None
        return KnownTable(row[0], comment if isinstance(comment, dict) else {})

    def create(self, cursor: Any, columns: str, comment: Mapping[str, Any]) -> None:
        """Create the table, which is recognised by its comment, and the extension if it is missing.

        Others that create something wait for the end of the transaction.

        Raises:
            ConfigError: The server does not have pgvector, or the user may not create it.
        """
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        try:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except self._psycopg.Error as error:
            raise ConfigError(
                f"{self._owner}: this database has no pgvector ({one_line(str(error))}). Install pgvector on the "
                "server and let an administrator of the database run: CREATE EXTENSION vector"
            ) from error
        cursor.execute(self.sql(f"CREATE TABLE {{table}} ({columns})"))
        cursor.execute(self.sql("COMMENT ON TABLE {table} IS {comment}", comment=json.dumps(comment)))

    def build_index(self, cursor: Any) -> None:
        """Create the HNSW index, unless it is there.

        Raises:
            ConfigError: It was built with other parameters, with which it stays.
        """
        build = (
            "CREATE INDEX IF NOT EXISTS {hnsw} ON {table} USING hnsw (embedding vector_ip_ops) "
            "WITH (m = {m}, ef_construction = {ef_construction})"
        )
        cursor.execute(self.sql(build, **self._parameters))
        index = f"{self.name}_hnsw"
        cursor.execute("SELECT reloptions FROM pg_class WHERE oid = to_regclass(quote_ident(%s))", [index])
        (options,) = cursor.fetchone()
        built = _DEFAULTS | dict(option.split("=", 1) for option in options or ())
        wanted = self._parameters
        if {key: built[key] for key in wanted} != {key: str(value) for key, value in wanted.items()}:
            m, ef_construction = wanted.values()
            raise ConfigError(
                f"{self._owner}: the index {index!r} of the table was built with m={built['m']} and "
                f"ef_construction={built['ef_construction']}, and m={m} and ef_construction={ef_construction} are "
                f'asked for; drop it (DROP INDEX "{index}"), so that it is built again, or choose another name with '
                "table=..."
            )

    def check_dimension(self, dimension: int, method: str = "") -> None:
        """Check that pgvector can store vectors of a dimension and, if that is wanted, index them.

        Raises:
            InputError: It cannot.
        """
        told = f"{self._owner}{method}: vectors of dimension {dimension:,}"
        if dimension > _MOST_DIMENSIONS:
            raise InputError(
                f"{told}; pgvector stores at most {_MOST_DIMENSIONS:,}. Use an embedder with fewer dimensions"
            )
        if self.is_indexed and dimension > _MOST_INDEXED:
            raise InputError(
                f"{told}; an HNSW index of pgvector takes at most {_MOST_INDEXED:,}. Use index='exact', or an embedder "
                "with fewer dimensions"
            )

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed:
            try:
                self._connection = self._psycopg.connect(self._dsn, autocommit=True)
            except self._psycopg.Error as error:
                raise ConfigError(f"{self._owner}: cannot connect to PostgreSQL: {one_line(str(error))}") from error
            self._finalizer = weakref.finalize(self, self._connection.close)
            self._takes_vectors = False
        if not self._takes_vectors:
            with suppress(self._psycopg.ProgrammingError):  # the extension is not there yet
                self._pgvector.register_vector(self._connection)
                self._takes_vectors = True
        return self._connection


# Vector store in PostgreSQL with pgvector.

_OWNER = "PgVectorStore"
_BATCH = 10_000
_COLUMNS = {
    "number": "bigint",
    "doc_id": "text",
    "start": "integer",
    "end": "integer",
    "metadata": "jsonb",
    "chunk": "text",
    "embedding": "vector",
}


@dataclass(eq=False)
class PgVectorStore(DatabaseVectorStore):
    r"""Vector store in PostgreSQL with the extension pgvector, with cosine similarity; exact unless asked otherwise.

    The table persists, and the next store with the same table uses it; other tables are never touched. Beside the whole
    chunk as JSON, the table has the document, the position and the metadata (JSONB) as columns, for queries of your
    own; what PostgreSQL cannot hold in them, NUL and lone surrogates, is written there as an escape such as `\x00`.

    Attributes:
        dsn: The connection string, such as `postgresql://user@host/database`; by default what the environment variables
            of PostgreSQL say (`PGHOST`, `PGUSER`, `PGPASSWORD`, `PGDATABASE` …). Not part of names and records.
        table: The name of the table: letters, digits and `_`, at most 50 characters.
        index: `"exact"` compares all vectors; `"hnsw"` is an approximate index, built at the first search.
        m: Links per vector in the HNSW index, from 2 to 100.
        ef_construction: Candidates considered when a vector is added to the index, from 4 to 1,000, at least `2 * m`.
        ef_search: Candidates considered at a time in a search of the index, from 1 to 1,000.

    Raises:
        MissingDependency: psycopg or pgvector is not installed.
        ConfigError: A value is not valid or out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"psycopg": "pgvector", "pgvector": "pgvector"}
    called: ClassVar[str] = "table"

    dsn: str = field(default="", repr=False)
    table: str = "rag_eval"
    index: str = "exact"
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 40
    _looked: bool = field(default=False, init=False, repr=False)
    _known: KnownTable | None = field(default=None, init=False, repr=False)
    _indexed: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self._table = Table(_OWNER, self.dsn, self.table, self.index, self.m, self.ef_construction, self.ef_search)
        self._psycopg = require("psycopg", extra="pgvector", needed_by=_OWNER)

    def close(self) -> None:
        """Close the connection; the table stays. The store can be used again."""
        self._table.close()
        self._looked, self._known, self._indexed = False, None, False

    @contextmanager
    def _transaction(self, settings: Mapping[str, str] | None = None) -> Generator[Any]:
        try:
            with self._table.transaction(settings) as cursor:
                yield cursor
        except (self._psycopg.errors.UndefinedTable, self._psycopg.errors.UniqueViolation) as error:
            raise self._replaced() from error

    def _check_same(self, oid: int | None) -> None:
        if self._known is None or oid != self._known.oid:
            raise self._replaced()

    def _check_unreplaced(self, cursor: Any) -> None:
        now = self._table.known(cursor)
        self._check_same(now and now.oid)

    def _described(self) -> Mapping[str, Any] | None:
        if not self._looked:
            with self._transaction() as cursor:
                self._known, self._looked = self._table.known(cursor), True
        return None if self._known is None else self._known.comment

    def _count(self) -> int:
        with self._transaction() as cursor:
            # Numbers have no gaps, and the greatest is found at once, where counting reads the whole table.
            cursor.execute(self._table.sql("SELECT coalesce(max(number) + 1, 0) FROM {table}"))
            (count,) = cursor.fetchone()
            self._check_unreplaced(cursor)
        return int(count)

    def _batch_size(self) -> int:
        return _BATCH

    def _create(self, dimension: int) -> None:
        self._table.check_dimension(dimension, ".add")
        columns = ", ".join(f'"{name}" {kind}' for name, kind in _COLUMNS.items())
        try:
            with self._transaction() as cursor:
                whole = f"{columns}({dimension}) NOT NULL, PRIMARY KEY (number)"
                self._table.create(cursor, whole, {"made_by": MADE_BY, "dimension": dimension})
                self._known = self._table.known(cursor)
        except self._psycopg.errors.DuplicateTable as error:
            raise self._replaced() from error
        except self._psycopg.Error as error:
            raise ConfigError(f"{self.name}: PostgreSQL cannot create the table: {one_line(str(error))}") from error

    def _insert(self, numbers: range, vectors: NDArray[np.float32], records: Sequence[StoredChunk]) -> None:
        columns = ", ".join(f'"{name}"' for name in _COLUMNS)
        with self._transaction() as cursor:
            with cursor.copy(self._table.sql(f"COPY {{table}} ({columns}) FROM STDIN (FORMAT BINARY)")) as copy:
                copy.set_types(
                    [kind.replace("bigint", "int8").replace("integer", "int4") for kind in _COLUMNS.values()]
                )
                for number, vector, record in zip(numbers, vectors, records, strict=True):
                    copy.write_row((number, *self._row(record), vector))
            self._check_unreplaced(cursor)

    def _row(self, record: StoredChunk) -> tuple[Any, ...]:
        chunk = record["chunk"]
        metadata = self._psycopg.types.json.Jsonb(_storable(json.loads(str(chunk))[-1]))
        return _storable(record["doc_id"]), record.get("start"), record.get("end"), metadata, chunk

    def _nearest(self, queries: NDArray[np.float32], count: int) -> list[list[Found]]:
        if self.index == "exact":
            return self._exact(queries, count)
        self._build_index()
        with self._transaction(self._table.approximate) as cursor:
            found = [self._asked(cursor, query, count) for query in queries]
        if all(len(row) == count for row in found):
            return found
        expected = min(count, self._count())
        return [
            row if len(row) == expected else self._exact(query[np.newaxis, :], expected)[0]
            for row, query in zip(found, queries, strict=True)
        ]

    def _exact(self, queries: NDArray[np.float32], count: int) -> list[list[Found]]:
        with self._transaction(EXACT) as cursor:
            return [self._asked(cursor, query, count) for query in queries]

    def _asked(self, cursor: Any, query: NDArray[np.float32], count: int) -> list[Found]:
        cursor.execute(
            self._table.sql(
                "SELECT -(embedding <#> %(query)s), number, chunk, tableoid FROM {table} "
                "ORDER BY embedding <#> %(query)s LIMIT %(count)s"
            ),
            {"query": query, "count": count},
        )
        rows = cursor.fetchall()
        if rows:
            self._check_same(rows[0][-1])
        else:
            self._check_unreplaced(cursor)
        return [Found(*row[:-1]) for row in rows]

    def _build_index(self) -> None:
        if self._indexed or self._known is None:
            return
        self._table.check_dimension(self._known.comment["dimension"])
        with self._transaction() as cursor:
            self._table.build_index(cursor)
            self._check_unreplaced(cursor)
        self._indexed = True

    def _first(self, count: int) -> list[str]:
        with self._transaction() as cursor:
            cursor.execute(self._table.sql("SELECT chunk FROM {table} ORDER BY number LIMIT %s"), [count])
            chunks = [str(chunk) for (chunk,) in cursor]
            self._check_unreplaced(cursor)
        return chunks

    def _drop(self) -> None:
        with self._transaction() as cursor:
            known = self._table.known(cursor)
            if known is not None:
                self._check_ours(known.comment)
                cursor.execute(self._table.sql("DROP TABLE {table}"))
        self._known, self._indexed = None, False


def _storable(value: Any) -> Any:
    """Return a JSON value with what PostgreSQL cannot hold in texts, NUL and lone surrogates, written as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in cast("dict[object, object]", value).items()}
    return [_storable(item) for item in cast("list[object]", value)] if isinstance(value, list) else value
