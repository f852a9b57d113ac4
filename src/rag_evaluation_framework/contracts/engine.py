"""Engines: retrieval systems that are evaluated as a whole."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Engine(Protocol):
    """A running retrieval system. It may also offer `ingest(document)`, `delete(scope_prefix)` and `rerank(...)`."""

    def retrieve(self, query: str, top_k: int, scope: str) -> Sequence[Any]:
        """Return the best `top_k` results within the scope, best first."""
        ...
