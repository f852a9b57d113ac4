"""Vector store in PostgreSQL with pgvector."""

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.base.postgres import EXACT, KnownTable, Table
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.vector_stores.database import MADE_BY, DatabaseVectorStore, Found, StoredChunk

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

    def _check_ours(self, described: Mapping[str, Any]) -> None:
        super()._check_ours(described)
        if "embedder" in described:
            raise ConfigError(
                f"{_OWNER}: the table {self.table!r} has the documents of a PgVectorEngine. It is left unchanged; "
                "choose another name with table=..."
            )

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
                self._table.prepare(cursor)
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
