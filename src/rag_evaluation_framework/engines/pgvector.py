"""A complete retrieval system in PostgreSQL with pgvector, to evaluate and to copy."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.base.postgres import (
    EXACT,
    Table,
)
from rag_evaluation_framework.chunkers.function import position_aware
from rag_evaluation_framework.components.adapt import OwnChunker, OwnEmbedder
from rag_evaluation_framework.components.results import as_vectors
from rag_evaluation_framework.contracts.component import Component, component_name
from rag_evaluation_framework.contracts.roles import Chunker, Embedder, PositionAwareChunker, checked_dimension
from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.registry.building import as_component
from rag_evaluation_framework.retrievers.indexing import DEFAULT_CHUNKER
from rag_evaluation_framework.vector_stores.database import MADE_BY, check_ours, checked_queries, unit

_OWNER = "PgVectorEngine"

_COLUMNS = """
    doc_id text COLLATE "C" NOT NULL,  -- by bytes, so that the primary key also finds what begins with a scope
    number integer NOT NULL,           -- of the chunk in its document
    start integer NOT NULL,
    "end" integer NOT NULL,
    text text NOT NULL,
    metadata jsonb NOT NULL,
    embedding vector({dimension}) NOT NULL,
    PRIMARY KEY (doc_id, number)
"""
_COPY = 'COPY {table} (doc_id, number, start, "end", text, metadata, embedding) FROM STDIN (FORMAT BINARY)'
_COPIED = ("text", "int4", "int4", "int4", "text", "jsonb", "vector")

# `starts_with` takes the scope letter for letter, where `LIKE` reads `_` and `%` as patterns.
_SEARCH = """
WITH found AS MATERIALIZED (  -- the index gives its results nearly in order, so they are sorted once more
    SELECT doc_id, number, start, "end", text, metadata, -(embedding <#> %(query)s) AS score
    FROM {table}
    WHERE starts_with(doc_id, %(scope)s) AND metadata @> %(constraints)s
    ORDER BY embedding <#> %(query)s, doc_id, number
    LIMIT %(top_k)s
)
SELECT doc_id, start, "end", text, metadata, score FROM found ORDER BY score DESC, doc_id, number
"""


@dataclass(eq=False)
class PgVectorEngine(Component):
    """Retrieval system in PostgreSQL: documents come and go, and are found by the cosine of their chunks.

    A scope is what the ids of documents begin with, letter for letter. Runs with different scopes can share a table.

    Attributes:
        dsn: The connection string, such as `postgresql://user@host/database`; `""` for what the environment variables
            of PostgreSQL say (`PGHOST`, `PGUSER`, `PGPASSWORD`, `PGDATABASE` …). Not part of names and records.
        embedder: What turns texts into vectors: an embedder that has nothing to learn from a corpus, or a function
            `(texts) -> vectors`. A table is of one embedder.
        chunker: What cuts documents, or a function `(text) -> texts`. Texts that are not in the document are left out,
            with a note.
        table: The name of the table, created when the first document comes: letters, digits and `_`, at most 50.
        index: `"exact"` compares all vectors of the scope; `"hnsw"` searches an approximate index.
        m: Links per vector in the HNSW index, from 2 to 100.
        ef_construction: Candidates considered when a vector is added to the index, from 4 to 1,000, at least `2 * m`.
        ef_search: Candidates considered at a time in a search of the index, from 1 to 1,000.

    Raises:
        MissingDependency: psycopg or pgvector is not installed.
        ConfigError: A value is not valid or out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"psycopg": "pgvector", "pgvector": "pgvector"}

    dsn: str = field(repr=False)
    embedder: Embedder | OwnEmbedder
    chunker: Chunker | PositionAwareChunker | OwnChunker = DEFAULT_CHUNKER
    table: str = "rag_eval_engine"
    index: str = "exact"
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 40
    _made: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self._table = Table(_OWNER, self.dsn, self.table, self.index, self.m, self.ef_construction, self.ef_search)
        self._embedder: Embedder = as_component(Embedder, self.embedder, _OWNER)
        self._chunker = position_aware(as_component(Chunker, self.chunker, _OWNER))
        self._psycopg = require("psycopg", extra="pgvector", needed_by=_OWNER)

    def ingest(self, document: Document) -> None:
        """Add a document; one of the same id is replaced, in one transaction.

        Its metadata, and that of its chunks, are kept as JSON.

        Raises:
            InputError: PostgreSQL or pgvector cannot store it: NUL or a lone surrogate, metadata that is not JSON, too
                many dimensions. What was there stays.
            ConfigError: The table was not made by this package, or by another embedder, or its index with other
                parameters; or it cannot be made.
        """
        chunks = self._chunker.chunk_with_positions(document)
        vectors = self._vectors([chunk.content for chunk in chunks])
        self._make_table()
        try:
            with self._table.transaction() as cursor:
                # Of two that add the same document at once, the second waits for the first.
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [document.id])
                cursor.execute(self._table.sql("DELETE FROM {table} WHERE doc_id = %s"), [document.id])
                with cursor.copy(self._table.sql(_COPY)) as copy:
                    copy.set_types(_COPIED)
                    for number, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True)):
                        metadata = self._json({**document.metadata, **chunk.metadata})
                        copy.write_row((document.id, number, chunk.start, chunk.end, chunk.content, metadata, vector))
        except (self._psycopg.DataError, self._psycopg.errors.ProgramLimitExceeded, UnicodeError, TypeError) as error:
            raise InputError(
                f"{_OWNER}.ingest: PostgreSQL cannot store document {document.id!r}: {one_line(str(error))}. Expected "
                "a text and an id without NUL and lone surrogates, an id of at most 2,600 bytes, and metadata of JSON "
                "values"
            ) from error

    def retrieve(
        self, query: str, top_k: int, scope: str, metadata_constraints: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the chunks that are most like a question, best first, and how many seconds each stage took.

        Args:
            query: The question.
            top_k: How many chunks to return.
            scope: What the ids of the documents begin with; `""` for all documents.
            metadata_constraints: What the metadata must contain, as `@>` of PostgreSQL reads it: `{"lang": "de"}`, or
                `{"tags": ["a"]}` for a list with `"a"` in it.

        Returns:
            `{"hits": [...], "seconds": {"embed": …, "search": …}}`; hits with `doc_id`, `start`, `end`, `text`,
            `metadata` and `score`, the cosine.

        Raises:
            InputError: There is no table: nothing was ingested; or the scope or the constraints have NUL or a lone
                surrogate in them, or are not JSON.
            ConfigError: The table was not made by this package, or by another embedder; or its index with other
                parameters.
        """
        began = perf_counter()
        vector = checked_queries(_OWNER, self._embedder.embed_query(query)[np.newaxis, :], self._dimension)
        embedded = perf_counter()
        rows = self._search(
            query=unit(vector)[0].astype(np.float32),
            top_k=max(top_k, 0),
            scope=scope,
            constraints=metadata_constraints or {},
        )
        return {"hits": rows, "seconds": {"embed": embedded - began, "search": perf_counter() - embedded}}

    def delete(self, scope_prefix: str) -> None:
        """Remove the documents whose ids begin with a prefix, letter for letter: `_` and `%` are text, case counts.

        Raises:
            InputError: The prefix is empty, which would be all documents; or has NUL or a lone surrogate in it.
            ConfigError: The table was not made by this package.
        """
        if not scope_prefix:
            raise InputError(
                f"{_OWNER}.delete: the prefix is empty; expected one, as nothing else tells whose they are"
            )
        with self._told("delete"), self._table.transaction() as cursor:
            if self._is_there(cursor):
                delete = self._table.sql("DELETE FROM {table} WHERE starts_with(doc_id, %s)")
                cursor.execute(delete, [scope_prefix])

    def close(self) -> None:
        """Close the connection; the documents stay. The engine can be used again."""
        self._table.close()
        self._made = False

    @property
    def _dimension(self) -> int:
        return checked_dimension(self._embedder)

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        embedded = as_vectors(self._embedder.embed(texts), f"{self._embedder.name}.embed", texts, self._dimension)
        return unit(embedded).astype(np.float32)

    def _search(self, **given: Any) -> list[dict[str, Any]]:
        with self._told("retrieve"), self._table.transaction() as cursor:
            given["constraints"] = self._json({**given["constraints"]})
            if not self._is_there(cursor):
                raise InputError(f"{_OWNER}: there is no table {self.table!r}; ingest documents first")
            if self._table.is_indexed:
                self._table.check_built(cursor)
                rows = self._found(cursor, self._table.approximate, given)
                if len(rows) == given["top_k"]:
                    return rows
            # Also where the index gave up early, because little of the table is in the scope: it must not be too few.
            return self._found(cursor, EXACT, given)

    def _found(self, cursor: Any, settings: Mapping[str, str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
        for name, value in settings.items():
            cursor.execute("SELECT set_config(%s, %s, true)", [name, value])  # for this transaction alone
        # Planned for this scope, which may be small or large.
        cursor.execute(self._table.sql(_SEARCH), given, prepare=False)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def _make_table(self) -> None:
        """Create the table, and the index if it is asked for, unless they are there."""
        if self._made:
            return
        told = {"made_by": MADE_BY, "dimension": self._dimension, "embedder": component_name(self._embedder)}
        self._table.check_dimension(self._dimension, ".ingest")
        try:
            with self._table.transaction() as cursor:
                self._table.prepare(cursor)  # others that make a table at the same time wait from here on
                if not self._is_there(cursor):
                    self._table.create(cursor, _COLUMNS.format(dimension=self._dimension), told)
                if self._table.is_indexed:
                    self._table.build_index(cursor)
        except self._psycopg.Error as error:
            raise ConfigError(
                f"{_OWNER}: PostgreSQL cannot create the table {self.table!r}: {one_line(str(error))}"
            ) from error
        self._made = True

    def _is_there(self, cursor: Any) -> bool:
        """Return whether the table is there; raise ConfigError if it is somebody else's, or of another embedder."""
        known = self._table.known(cursor)
        if known is None:
            return False
        check_ours(_OWNER, self.table, known.comment, "table")
        if "embedder" not in known.comment:
            raise ConfigError(
                f"{_OWNER}: the table {self.table!r} has the vectors of a PgVectorStore. It is left unchanged; choose "
                "another name with table=..."
            )
        mine = {"dimension": self._dimension, "embedder": component_name(self._embedder)}
        theirs = {key: known.comment.get(key) for key in mine}
        if theirs != mine:
            raise ConfigError(
                f"{_OWNER}: the table {self.table!r} has the vectors of another embedder, {theirs['embedder']} of "
                f"dimension {theirs['dimension']}; this one is {mine['embedder']} of dimension {mine['dimension']}. "
                "Choose another name with table=..., or drop the table"
            )
        return True

    @contextmanager
    def _told(self, method: str) -> Generator[None]:
        """Say in words that PostgreSQL cannot take what it is given.

        Raises:
            InputError: It has NUL or a lone surrogate in it, or is not JSON.
        """
        try:
            yield
        except (self._psycopg.DataError, UnicodeError, TypeError, RecursionError) as error:
            raise InputError(
                f"{_OWNER}.{method}: PostgreSQL cannot take the scope or the constraints: {one_line(str(error))}. "
                "Expected texts without NUL and lone surrogates, and constraints of JSON values"
            ) from error

    def _json(self, value: object) -> Any:
        _check_keys(value)
        return self._psycopg.types.json.Jsonb(value)


def _check_keys(value: object) -> None:
    """Raise TypeError if a key is no text, which JSON would make one of without a word."""
    for key, item in cast("Mapping[object, object]", value).items() if isinstance(value, Mapping) else ():
        if not isinstance(key, str):
            raise TypeError(f"the key {key!r} is no text")
        _check_keys(item)
    for item in cast("Sequence[object]", value) if isinstance(value, list | tuple) else ():
        _check_keys(item)
