"""PostgreSQL with pgvector: a table of vectors with its connection and its index. A password is never told."""

import json
import re
import threading
import weakref
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from rag_evaluation_framework.base.exits import on_failure, outcome
from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import hide, one_line, shown
from rag_evaluation_framework.errors import ConfigError, InputError

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

    def prepare(self, cursor: Any) -> None:
        """Create the extension if it is missing; others that create something wait for the end of the transaction.

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

    def create(self, cursor: Any, columns: str, comment: Mapping[str, Any]) -> None:
        """Create the table, which is recognised by its comment."""
        cursor.execute(self.sql(f"CREATE TABLE {{table}} ({columns})"))
        cursor.execute(self.sql("COMMENT ON TABLE {table} IS {comment}", comment=json.dumps(comment)))

    def build_index(self, cursor: Any) -> None:
        """Create the HNSW index, unless it is there.

        Raises:
            ConfigError: As `check_built`.
        """
        build = (
            "CREATE INDEX IF NOT EXISTS {hnsw} ON {table} USING hnsw (embedding vector_ip_ops) "
            "WITH (m = {m}, ef_construction = {ef_construction})"
        )
        cursor.execute(self.sql(build, **self._parameters))
        self.check_built(cursor)

    def check_built(self, cursor: Any) -> None:
        """Check that the HNSW index, if there is one, was built with these parameters.

        Raises:
            ConfigError: It was built with others, with which it stays.
        """
        index = f"{self.name}_hnsw"
        cursor.execute("SELECT reloptions FROM pg_class WHERE oid = to_regclass(quote_ident(%s))", [index])
        row = cursor.fetchone()
        if row is None:
            return
        built = _DEFAULTS | dict(option.split("=", 1) for option in row[0] or ())
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
