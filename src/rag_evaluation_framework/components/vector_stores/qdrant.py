"""Vector store in Qdrant: in memory, in a folder, or on a server."""

import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ...base.exits import errors_as, on_failure
from ...base.files import from_home
from ...base.optional import require
from ...contracts.component import check_count
from ...errors import ConfigError
from .database import MADE_BY, ClientVectorStore, Found, StoredChunk

_OWNER = "QdrantVectorStore"


@dataclass(eq=False)
class QdrantVectorStore(ClientVectorStore):
    """Vector store in Qdrant, with cosine distance; every search is exact, even on a server.

    Without `path` and `url` everything is in memory and removed with the instance. In a folder or on a server the
    collection persists, and the next store with the same collection name uses it; other collections are never touched.
    In memory and in a folder, Qdrant's Python client compares all vectors itself; a folder can be used by one store at
    a time.

    Attributes:
        path: A folder for the database; created if it does not exist.
        url: A running server instead of a folder, such as `http://localhost:6333`.
        collection: The name of the collection, 3 to 200 characters.
        timeout: Seconds to wait for an answer from the server.
        api_key: The API key of the server; not part of names and records.

    Raises:
        MissingDependency: qdrant-client is not installed.
        ConfigError: Both `path` and `url` are given, or a value is out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"qdrant_client": "qdrant"}

    server: ClassVar[str] = "url"

    url: str | None = None
    collection: str = "rag-eval"
    timeout: int = 60
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(_OWNER, "timeout", self.timeout)
        self._qdrant = require("qdrant_client", extra="qdrant", needed_by=_OWNER)

    def _open(self) -> Any:
        if self._client is None:
            with errors_as(lambda error: ConfigError(f"{self.name}: cannot open Qdrant: {error}")):
                client = self._connected()
                with on_failure(lambda _: client.close()):
                    if client.collection_exists(self.collection):
                        self._collection = client.get_collection(self.collection).config.metadata or {}
            self._client = client
            self._finalizer = weakref.finalize(self, client.close)
            self._write_fast()
        return self._client

    def _connected(self) -> Any:
        if self.url is not None:
            return self._qdrant.QdrantClient(
                url=self.url, api_key=self.api_key, timeout=self.timeout, check_compatibility=False
            )
        if self.path is not None:
            return self._qdrant.QdrantClient(path=from_home(self.path))
        return self._qdrant.QdrantClient(":memory:")

    def _write_fast(self) -> None:
        """Leave it to the operating system when to write to disk.

        In a folder the client waits for the disk after every single point, which takes 70 times as long as everything
        else. All that a power failure can cost is an index, which the next run rebuilds.
        """
        if self.path is not None:
            with suppress(AttributeError, KeyError):  # a future client may store its files differently
                local = self._client._client  # noqa: SLF001 - no other way
                connection = local.collections[self.collection].storage.storage
                connection.execute("PRAGMA synchronous = OFF")

    def _described(self) -> Mapping[str, Any] | None:
        self._open()
        described: Mapping[str, Any] | None = self._collection
        return described

    @contextmanager
    def _unreplaced(self) -> Generator[None]:
        try:
            yield
        except self._qdrant.http.exceptions.UnexpectedResponse as error:
            if error.status_code == HTTPStatus.NOT_FOUND:
                raise self._replaced() from error
            raise

    def _count(self) -> int:
        with self._unreplaced():
            return int(self._client.count(self.collection, exact=True).count)

    def _create(self, dimension: int) -> None:
        models = self._qdrant.models
        index = {"made_by": MADE_BY, "dimension": dimension, "index": uuid4().hex}
        if self._client.collection_exists(self.collection):
            raise self._replaced()
        vectors = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
        self._client.create_collection(self.collection, vectors_config=vectors, metadata=index)
        self._write_fast()
        self._collection = index

    def _insert(self, numbers: range, vectors: NDArray[np.float32], records: Sequence[StoredChunk]) -> None:
        payloads = [{**record, "index": self._collection["index"]} for record in records]
        batch = self._qdrant.models.Batch(ids=list(numbers), vectors=vectors.tolist(), payloads=payloads)
        with self._unreplaced():
            self._client.upsert(self.collection, batch, wait=True)

    def _nearest(self, queries: NDArray[np.float32], count: int) -> list[list[Found]]:
        models = self._qdrant.models
        parameters = None if self.url is None else models.SearchParams(exact=True)  # local searches are always exact
        requests = [
            models.QueryRequest(query=query.tolist(), limit=count, params=parameters, with_payload=True)
            for query in queries
        ]
        with self._unreplaced():
            answers = self._client.query_batch_points(self.collection, requests)
        return [[Found(point.score, point.id, self._stored(point)) for point in answer.points] for answer in answers]

    def _read(self, numbers: Sequence[int]) -> Mapping[int, str]:
        points = self._client.retrieve(self.collection, list(numbers), with_payload=True)
        return {point.id: self._stored(point) for point in points}

    def _stored(self, point: Any) -> str:
        if point.payload["index"] != self._collection["index"]:  # of a later one with the same name
            raise self._replaced()
        return str(point.payload["chunk"])

    def clear(self) -> None:
        """Remove the collection; adding chunks creates a new one, of any dimension."""
        client = self._open()
        if client.collection_exists(self.collection):
            self._check_ours(client.get_collection(self.collection).config.metadata or {})
            client.delete_collection(self.collection)
        self._collection = None
