"""Vector store in Chroma: in memory, in a folder, or on a server."""

import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ...base.exits import errors_as
from ...base.files import from_home
from ...base.optional import require
from ...contracts.component import check_count
from ...errors import ConfigError
from ...statistics.nearest import unit
from .database import BATCH, MADE_BY, ClientVectorStore, Found, StoredChunk

_OWNER = "ChromaVectorStore"
_INDEX = ("max_neighbors", "ef_construction", "ef_search")  # parameters that Chroma calls alike


@dataclass(eq=False)
class ChromaVectorStore(ClientVectorStore):
    """Vector store in Chroma, with cosine distance and our own vectors: Chroma never embeds anything itself.

    Without `path` and `host` everything is in memory, in a collection that is private to the instance and removed with
    it. In a folder or on a server the collection persists, and the next store with the same collection name uses it;
    other collections are never touched. Chroma's search is approximate (HNSW); with the default parameters it finds
    what exact search finds on all but random vectors.

    Attributes:
        path: A folder for the database; created if it does not exist.
        host: A running server instead of a folder.
        port: The port of the server.
        ssl: Whether the server uses HTTPS.
        collection: The name of the collection, 3 to 200 characters.
        max_neighbors: Links per vector in the index (M); more links improve recall and slow down indexing.
        ef_construction: Candidates considered when a vector is added.
        ef_search: Candidates considered in a search.
        headers: Sent with each request to the server, for example a token; not part of names and records.

    Raises:
        MissingDependency: chromadb is not installed.
        ConfigError: Both `path` and `host` are given, or a value is out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"chromadb": "chroma"}

    server: ClassVar[str] = "host"

    host: str | None = None
    port: int = 8000
    ssl: bool = False
    collection: str = "rag-eval"
    max_neighbors: int = 32
    ef_construction: int = 200
    ef_search: int = 1000
    headers: Mapping[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("port", *_INDEX):
            check_count(_OWNER, name, getattr(self, name))
        self._chromadb = require("chromadb", extra="chroma", needed_by=_OWNER)
        self._own_name = f"{self.collection}-{uuid4().hex}" if self.path is self.host is None else None
        self._name = self._own_name or self.collection

    def _open(self) -> Any:
        if self._client is None:
            self._client = self._connected()
            # A finalizer rather than __del__: it also runs when the interpreter ends, while Chroma is still whole.
            self._finalizer = weakref.finalize(self, _release, self._client, self._own_name)
            with suppress(self._chromadb.errors.NotFoundError):
                self._collection = self._client.get_collection(self._name, embedding_function=None)
        return self._client

    def _connected(self) -> Any:
        with errors_as(lambda error: ConfigError(f"{self.name}: cannot open Chroma: {error}")):
            if self.host is not None:
                return self._chromadb.HttpClient(self.host, self.port, ssl=self.ssl, headers=dict(self.headers or {}))
            if self.path is not None:
                return self._chromadb.PersistentClient(from_home(self.path))
            return self._chromadb.EphemeralClient()

    @contextmanager
    def _unreplaced(self) -> Generator[Any]:
        try:
            yield self._collection
        except self._chromadb.errors.NotFoundError as error:
            raise self._replaced() from error

    def _described(self) -> Mapping[str, Any] | None:
        self._open()
        return None if self._collection is None else self._collection.metadata or {}

    def _count(self) -> int:
        with self._unreplaced() as collection:
            return int(collection.count())

    def _create(self, dimension: int) -> None:
        described = {"made_by": MADE_BY, "dimension": dimension}
        # With more threads, the index differs from run to run.
        index = {"space": "cosine", "num_threads": 1, **{name: getattr(self, name) for name in _INDEX}}
        with errors_as(lambda error: ConfigError(f"{self.name}: Chroma cannot create the collection: {error}")):
            self._collection = self._client.create_collection(
                self._name, embedding_function=None, configuration={"hnsw": index}, metadata=described
            )

    def _insert(self, numbers: range, vectors: NDArray[np.float32], records: Sequence[StoredChunk]) -> None:
        with self._unreplaced() as collection:
            collection.add(ids=list(map(str, numbers)), embeddings=vectors, metadatas=list(records))

    def _nearest(self, queries: NDArray[np.float32], count: int) -> list[list[Found]]:
        with self._unreplaced() as collection:
            answer = collection.query(query_embeddings=queries, n_results=count, include=["distances", "metadatas"])
        rows = zip(answer["distances"], answer["ids"], answer["metadatas"], strict=True)
        found = [
            [Found(1 - distance, int(number), record["chunk"]) for distance, number, record in zip(*row, strict=True)]
            for row in rows
        ]
        expected = count if all(len(row) == count for row in found) else min(count, self._count())
        return [
            row if len(row) == expected else self._exact(query, expected)
            for row, query in zip(found, queries, strict=True)
        ]

    def _exact(self, query: NDArray[np.float32], count: int) -> list[Found]:
        """Compare all vectors exactly: Chroma's index does not reach all of many equal vectors."""
        cosines: list[tuple[float, int]] = []
        with self._unreplaced() as collection:
            for start in range(0, self._count(), BATCH):
                page = collection.get(limit=BATCH, offset=start, include=["embeddings"])
                products = (unit(page["embeddings"]) * query.astype(np.float64)).sum(axis=1)
                cosines += zip(products.tolist(), map(int, page["ids"]), strict=True)
        best = sorted(cosines, key=lambda entry: (-entry[0], entry[1]))[:count]
        chunks = self._chunks([number for _, number in best])
        return [Found(cosine, number, chunk) for (cosine, number), chunk in zip(best, chunks, strict=True)]

    def _read(self, numbers: Sequence[int]) -> Mapping[int, str]:
        with self._unreplaced() as collection:
            page = collection.get(ids=list(map(str, numbers)), include=["metadatas"])
        return {int(number): record["chunk"] for number, record in zip(page["ids"], page["metadatas"], strict=True)}

    def clear(self) -> None:
        """Remove the collection; adding chunks creates a new one, of any dimension."""
        client = self._open()
        with suppress(self._chromadb.errors.NotFoundError):
            found = client.get_collection(self._name, embedding_function=None)
            self._check_ours(found.metadata or {})
            client.delete_collection(self._name)
        self._collection = None


def _release(client: Any, collection: str | None) -> None:
    with suppress(Exception):  # on the way out: the server may be gone, the collection never made
        if collection is not None:
            client.delete_collection(collection)
    holders = (client, getattr(client, "_admin_client", None))
    servers: list[Any] = [getattr(holder, "_server", None) for holder in holders]
    client.close()
    for server in servers:
        if hasattr(server, "_session"):  # chromadb leaves its sockets open
            server._session.close()  # noqa: SLF001 - no other way
