"""Vector store in PostgreSQL with pgvector. Passwords are never shown."""

import json
import re
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...base.exits import errors_as, on_failure, outcome
from ...base.files import is_object
from ...base.optional import require
from ...base.outside import hide, one_line, shown
from ...errors import ConfigError
from .database import MADE_BY, DatabaseVectorStore, Found, StoredChunk

_OWNER = "PgVectorStore"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,49}")
_LOCK = 0x7261675F6576616C  # of those that create something at the same time
_COLUMNS = {"number": "int8", "doc_id": "text", "start": "int4", "end": "int4", "chunk": "text", "embedding": "vector"}


@dataclass(eq=False)
class PgVectorStore(DatabaseVectorStore):
    r"""Vector store in PostgreSQL with the extension pgvector, with cosine similarity; every search is exact.

    The table persists, and the next store with the same table uses it; other tables are never touched. Beside the whole
    chunk as JSON, the table has the document and the position as columns, for queries of your own; what PostgreSQL
    cannot hold in them, NUL and lone surrogates, is written there as an escape such as `\x00`.

    Vectors have length 1, so the inner product, `<#>` with the sign turned, is the cosine; zero vectors have one too,
    which pgvector's own cosine has not.

    Attributes:
        dsn: The connection string, such as `postgresql://user@host/database`; by default what the environment variables
            of PostgreSQL say (`PGHOST`, `PGUSER`, `PGPASSWORD`, `PGDATABASE` …). Not part of names and records.
        table: The name of the table: letters, digits and `_`, at most 50 characters.

    Raises:
        MissingDependency: psycopg or pgvector is not installed.
        ConfigError: A value is not valid.
    """

    requires: ClassVar[Mapping[str, str]] = {"psycopg": "pgvector", "pgvector": "pgvector"}
    called: ClassVar[str] = "table"

    dsn: str = field(default="", repr=False)
    table: str = "rag_eval"
    _seen: tuple[int | None, Mapping[str, Any]] | None = field(default=None, init=False, repr=False)
    """Identity of the table, which no later one of that name has, and its comment; None before it was looked for."""
    _connection: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        conninfo = require("psycopg.conninfo", extra="pgvector", needed_by=_OWNER)
        self._pgvector = require("pgvector.psycopg", extra="pgvector", needed_by=_OWNER)
        self._psycopg = require("psycopg", extra="pgvector", needed_by=_OWNER)
        given: Any = self.dsn
        # What it raises quotes what it cannot read, which may be the password.
        known = outcome(lambda: conninfo.conninfo_to_dict(given), lambda _: None) if isinstance(given, str) else None
        if known is None:
            raise ConfigError(
                f"{_OWNER}: dsn=*** cannot be read; expected a connection string, such as 'postgresql://host/database' "
                "or 'host=localhost dbname=mine', or '' for the environment variables of PostgreSQL (PGHOST, "
                "PGPASSWORD …)"
            )
        if password := known.get("password"):
            hide(str(password))
        name: Any = self.table
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigError(
                f"{_OWNER}: table={shown(name)}; expected 1 to 50 characters from a-z, A-Z, 0-9 and '_', starting with "
                "a letter or '_'"
            )
        self._lock = RLock()  # transactions of several threads on one connection would mix

    def close(self) -> None:
        """Close the connection; the table stays. The store can be used again."""
        if self._connection is not None:
            self._connection.close()
        self._seen = None

    @contextmanager
    def _transaction(self) -> Generator[Any]:
        """Yield a cursor in a transaction of its own, which takes NumPy arrays as vectors if the database has pgvector.

        Raises:
            ConfigError: The server does not answer, or refuses.
            InputError: The table was removed or replaced.
        """
        with self._lock:
            connection, errors = self._connected(), self._psycopg.errors

            def close(_: BaseException) -> None:
                connection.close()

            try:
                with (
                    on_failure(close),  # COMMIT may be under way, and the next transaction would be a part of this one
                    connection.transaction(),
                    on_failure(close),  # a statement may be under way that nobody will fetch
                    connection.cursor() as cursor,
                ):
                    # All vectors are compared, whatever index somebody has built.
                    cursor.execute("SELECT set_config('enable_indexscan', 'off', true)")
                    yield cursor
            except (errors.UndefinedTable, errors.UniqueViolation, errors.DuplicateTable) as error:
                raise self._replaced() from error

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed:
            refused = f"{_OWNER}: cannot connect to PostgreSQL"
            with errors_as(lambda error: ConfigError(f"{refused}: {one_line(str(error))}")):
                self._connection = self._psycopg.connect(self.dsn, autocommit=True)
            weakref.finalize(self, self._connection.close)
            with suppress(self._psycopg.ProgrammingError):  # the extension is not there yet
                self._pgvector.register_vector(self._connection)
        return self._connection

    def _sql(self, statement: str, **literals: Any) -> Any:
        """Return a statement with its `{table}` and literals filled in."""
        sql = self._psycopg.sql
        filled = {key: sql.Literal(value) for key, value in literals.items()}
        return sql.SQL(statement).format(table=sql.Identifier(self.table), **filled)

    def _there(self, cursor: Any) -> tuple[int | None, Mapping[str, Any]]:
        """Return the identity and the comment of the table; None if there is no such table."""
        cursor.execute(
            "SELECT oid, obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass(quote_ident(%s))",
            [self.table],
        )
        oid, told = cursor.fetchone() or (None, None)
        comment = outcome(lambda: json.loads(told or ""), lambda _: None)
        return oid, comment if is_object(comment) else {}

    def _check_unreplaced(self, cursor: Any) -> None:
        if self._seen is None or self._there(cursor)[0] != self._seen[0]:
            raise self._replaced()

    def _described(self) -> Mapping[str, Any] | None:
        if self._seen is None:
            with self._transaction() as cursor:
                self._seen = self._there(cursor)
        oid, comment = self._seen
        return None if oid is None else comment

    def _count(self) -> int:
        with self._transaction() as cursor:
            # Numbers have no gaps, and the greatest is found faster than all are counted.
            cursor.execute(self._sql("SELECT coalesce(max(number) + 1, 0) FROM {table}"))
            (count,) = cursor.fetchone()
            self._check_unreplaced(cursor)
        return int(count)

    def _create(self, dimension: int) -> None:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in _COLUMNS.items())
        comment = json.dumps({"made_by": MADE_BY, "dimension": dimension})
        with (
            errors_as(
                lambda error: ConfigError(f"{self.name}: PostgreSQL cannot create the table: {one_line(str(error))}")
            ),
            self._transaction() as cursor,
        ):
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            with errors_as(
                lambda error: ConfigError(
                    f"{_OWNER}: this database has no pgvector ({one_line(str(error))}). Install pgvector on the server "
                    "and let an administrator of the database run: CREATE EXTENSION vector"
                )
            ):
                cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
            self._pgvector.register_vector(cursor.connection)
            cursor.execute(self._sql(f"CREATE TABLE {{table}} ({columns}({dimension}) NOT NULL, PRIMARY KEY (number))"))
            cursor.execute(self._sql("COMMENT ON TABLE {table} IS {comment}", comment=comment))
            self._seen = self._there(cursor)

    def _insert(self, numbers: range, vectors: NDArray[np.float32], records: Sequence[StoredChunk]) -> None:
        columns = ", ".join(f'"{name}"' for name in _COLUMNS)
        with self._transaction() as cursor:
            with cursor.copy(self._sql(f"COPY {{table}} ({columns}) FROM STDIN (FORMAT BINARY)")) as copy:
                copy.set_types([*_COLUMNS.values()])
                for number, vector, record in zip(numbers, vectors, records, strict=True):
                    doc_id = str(record["doc_id"]).replace("\x00", "\\x00")
                    copy.write_row((number, doc_id, record.get("start"), record.get("end"), record["chunk"], vector))
            self._check_unreplaced(cursor)

    def _nearest(self, queries: NDArray[np.float32], count: int) -> list[list[Found]]:
        with self._transaction() as cursor:
            return [self._asked(cursor, query, count) for query in queries]

    def _asked(self, cursor: Any, query: NDArray[np.float32], count: int) -> list[Found]:
        nearest = self._sql("SELECT -(embedding <#> %s), number, chunk, tableoid FROM {table} ORDER BY 1 DESC LIMIT %s")
        cursor.execute(nearest, [query, count])
        if not (rows := cursor.fetchall()):
            self._check_unreplaced(cursor)
        elif self._seen is None or rows[0][-1] != self._seen[0]:
            raise self._replaced()
        return [Found(*row[:-1]) for row in rows]

    def _first(self, count: int) -> list[str]:
        with self._transaction() as cursor:
            cursor.execute(self._sql("SELECT chunk FROM {table} ORDER BY number LIMIT %s"), [count])
            chunks = [str(chunk) for (chunk,) in cursor]
            self._check_unreplaced(cursor)
        return chunks

    def clear(self) -> None:
        """Remove the table; adding chunks creates a new one, of any dimension."""
        with self._transaction() as cursor:
            oid, comment = self._there(cursor)
            if oid is not None:
                self._check_ours(comment)
                cursor.execute(self._sql("DROP TABLE {table}"))
        self._seen = (None, {})
