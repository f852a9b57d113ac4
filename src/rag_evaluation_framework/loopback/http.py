"""HTTP on 127.0.0.1: what arrives is read whole, and answered by a function."""

import gzip
import os
import socket
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qs, urlsplit

from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.loopback.messages import Answer, Request

Answering: TypeAlias = Callable[[Request], tuple[Answer | None, float]]
"""Gives the answer to a request, None to close the connection, and how many seconds to wait before."""


class HttpServer(ThreadingHTTPServer):
    """Listens on an address, and answers each connection in a thread of its own."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # after it was closed; on Windows it would take the port of another server
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], answer: Answering) -> None:
        self.answer = answer
        self.connections: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a client went away; that is what clients do."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def close_all(self) -> None:
        """Close the port and what is still open, so that clients that keep connections notice."""
        self.server_close()
        for connection in list(self.connections):
            _shut(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for headers and body: two wait 40 ms for each other
    disable_nagle_algorithm = True

    @property
    def _ours(self) -> HttpServer:
        return cast("HttpServer", self.server)

    def setup(self) -> None:
        """Remember the connection."""
        super().setup()
        self._ours.connections.add(self.connection)

    def finish(self) -> None:
        """Forget the connection."""
        self._ours.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as the base class calls it
        """Write nothing: requests are recorded."""

    def do_GET(self) -> None:
        """Answer."""
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = _decompressed(self._body(), headers.get("content-encoding", ""))
        query = parse_qs(parts.query, keep_blank_values=True)
        answer, delay = self._ours.answer(Request(self.command, parts.path, query, headers, body))
        if delay:
            time.sleep(delay)
        if answer is None:
            self.close_connection = True
            _shut(self.connection)
            return
        written = answer.body
        self.send_response(answer.status)
        sent = {"Content-Type": "application/json", **answer.headers, "Content-Length": str(len(written))}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(written)
        self.wfile.flush()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815  as the base class calls them

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self._read(int(self.headers.get("Content-Length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0] or b"-1", 16):
            parts.append(self._read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _read(self, size: int) -> bytes:
        """Return so many bytes; a client that goes away before has asked for nothing."""
        body = self.rfile.read(max(size, 0))
        if len(body) != size:
            raise ConnectionAbortedError("the client went away")
        return body


def _decompressed(body: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.decompress(body)
    if encoding == "zstd":
        zstandard: Any = require("zstandard", extra="langsmith", needed_by="LoopbackProviders")
        decompressed: bytes = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        return decompressed
    return body


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
