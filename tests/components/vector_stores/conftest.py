"""Servers on loopback: Chroma's own, and the part of Qdrant's REST interface that the store speaks."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import numpy as np
import pytest

from rag_evaluation_framework import ChromaVectorStore, Document, DocumentId, PositionAwareChunk
from rag_evaluation_framework.components import QdrantVectorStore
from rag_evaluation_framework.components.vector_stores import PgVectorStore
from support.chroma_server import chroma_server


@pytest.fixture(scope="session")
def chroma_port(tmp_path_factory):
    """The port of a Chroma server, the one that `chroma run` starts."""
    pytest.importorskip("chromadb")
    with chroma_server(tmp_path_factory.mktemp("chroma-server")) as port:
        yield port


class QdrantRest(BaseHTTPRequestHandler):
    """Answers requests of the real client over HTTP, out of a client in memory: a stand-in for a Qdrant server."""

    protocol_version = "HTTP/1.1"

    def _answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            status, answer = 200, {"result": self._result(json.loads(body) if body else {}), "status": "ok", "time": 0}
        except ValueError as error:
            status, answer = 404, {"status": {"error": str(error)}, "time": 0}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - the names that http.server looks for

    def _result(self, body):
        path, _, query = self.path.partition("?")
        _, _, name, *rest = path.split("/")
        self.server.requests.append((self.command, path, query, body, dict(self.headers)))
        backend, models = self.server.backend, self.server.models
        match self.command, rest:
            case "GET", ["exists"]:
                return {"exists": backend.collection_exists(name)}
            case "GET", []:
                return backend.get_collection(name).model_dump(mode="json")
            case "PUT", []:
                assert body["vectors"]["distance"] == "Cosine"
                return backend.create_collection(
                    name, vectors_config=models.VectorParams(**body["vectors"]), metadata=body["metadata"]
                )
            case "DELETE", []:
                return backend.delete_collection(name)
            case "PUT", ["points"]:
                return backend.upsert(name, models.Batch(**body["batch"])).model_dump(mode="json")
            case "POST", ["points", "count"]:
                return backend.count(name, exact=body["exact"]).model_dump(mode="json")
            case "POST", ["points", "query", "batch"]:
                # All searches of the backend are exact, and it warns when it is told to search so.
                searches = [models.QueryRequest(**{**search, "params": None}) for search in body["searches"]]
                return [answer.model_dump(mode="json") for answer in backend.query_batch_points(name, searches)]
            case "POST", ["points"]:
                points = backend.retrieve(name, body["ids"], with_payload=body["with_payload"])
                return [point.model_dump(mode="json") for point in points]
        raise AssertionError(f"unexpected request: {self.command} {self.path}")

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def qdrant_server():
    """A server of the REST interface with `url`, and the `requests` that it got."""
    qdrant = pytest.importorskip("qdrant_client")
    server = ThreadingHTTPServer(("127.0.0.1", 0), QdrantRest)
    server.daemon_threads = True
    server.requests, server.models, server.backend = [], qdrant.models, qdrant.QdrantClient(":memory:")
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    server.backend.close()


DOCUMENT = Document(DocumentId("a.md"), "".join(f"{number:05} " for number in range(10_000)))


@pytest.fixture
def chunks():
    """A function that cuts so many chunks."""
    return lambda count, first=0: [
        PositionAwareChunk.of(DOCUMENT, 6 * number, 6 * number + 5) for number in range(first, first + count)
    ]


@pytest.fixture
def vectors():
    """A function that makes so many vectors."""
    return lambda count, dimension=8, seed=0: (
        np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    )


@pytest.fixture(scope="session", params=["chroma", "qdrant", "pgvector"])
def make(request):
    """A function that makes an empty store of a database: in memory, or in a table of its own."""
    if request.param != "pgvector":
        return {"chroma": ChromaVectorStore, "qdrant": QdrantVectorStore}[request.param]
    dsn = request.getfixturevalue("pgvector_dsn")
    return lambda: PgVectorStore(dsn, table=f"run_{uuid4().hex}")
