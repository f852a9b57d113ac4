"""An engine in memory that keeps a log, and the same behind HTTP on loopback."""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from rag_evaluation_framework import Document


def words(text):
    return set(re.findall(r"\w+", text.lower()))


class MemoryEngine:
    """Ranks documents by the words that they share with the question."""

    def __init__(self, documents=()):
        self.documents = {document.id: document for document in documents}
        self.log = []

    def ingest(self, document):
        self.log.append(("ingest", document.id))
        self.documents[document.id] = document

    def delete(self, scope_prefix):
        self.log.append(("delete", scope_prefix))
        self.documents = {key: kept for key, kept in self.documents.items() if not key.startswith(scope_prefix)}

    def retrieve(self, query, top_k, scope, metadata_constraints=None):
        self.log.append(("retrieve", scope))
        wanted = (metadata_constraints or {}).items()
        shared = [
            (len(words(query) & words(document.content)), document)
            for document in self.documents.values()
            if document.id.startswith(scope) and wanted <= dict(document.metadata).items()
        ]
        ranked = sorted((pair for pair in shared if pair[0]), key=lambda pair: (-pair[0], pair[1].id))
        return [
            {"doc_id": document.id, "start": 0, "end": len(document.content), "text": document.content, "score": score}
            for score, document in ranked[:top_k]
        ]

    def rerank(self, query, texts):
        return [-len(text) for text in texts]

    def close(self):
        self.log.append(("close",))

    def written(self):
        return [step for step in self.log if step[0] in ("ingest", "delete")]


@contextmanager
def served(engine, abilities=("ingest", "delete", "rerank", "metadata_constraints"), answer=None, status=404):
    """Serve an engine on a port of loopback; `answer` may take the place of the answer to a path."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send({"abilities": list(abilities)} if abilities is not None else None, 200 if abilities else status)

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            engine.headers = dict(self.headers)
            given = answer(self.path, body) if answer is not None else None
            if given is not None:
                self.send(*given)
                return
            match self.path:
                case "/retrieve":
                    self.send({"hits": engine.retrieve(**body)})
                case "/ingest":
                    self.send(engine.ingest(Document(**body)))
                case "/delete":
                    self.send(engine.delete(**body))
                case "/rerank":
                    self.send({"scores": engine.rerank(**body)})

        def send(self, content, status=200):
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
