"""Vectors as bytes: each record carries a checksum over its key and its content."""

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_CHECKSUM = 16
_FLOATS = np.dtype("<f4")


class Embedding(NamedTuple):
    """A vector as it is kept.

    Attributes:
        vector: float32, shape (dimension,).
        truncated: Whether it covers only a part of the text.
    """

    vector: NDArray[np.float32]
    truncated: bool


def digest(identity: bytes) -> bytes:
    """Return what an embedder is found by."""
    return hashlib.sha256(identity).digest()


def record_key(identity: str, role: str, text: str) -> bytes:
    """Return what the vector of a text is found by, embedded by an embedder of this identity in this role."""
    return hashlib.sha256(
        digest(identity.encode("ascii")) + f"{role}\0{text}".encode("utf-8", "surrogatepass")
    ).digest()


def encoded(key: bytes, embedding: Embedding) -> bytes:
    """Return the record of a vector."""
    content = bytes([embedding.truncated]) + embedding.vector.astype(_FLOATS).tobytes()
    return _checksum(key, content) + content


def decoded(key: object, record: object) -> Embedding | None:
    """Return what a record holds, or None if it, or its key, is damaged."""
    if not isinstance(key, bytes) or not isinstance(record, bytes) or len(record) <= _CHECKSUM:
        return None
    content = record[_CHECKSUM:]
    if (len(content) - 1) % _FLOATS.itemsize or _checksum(key, content) != record[:_CHECKSUM]:
        return None
    return Embedding(np.frombuffer(content, _FLOATS, offset=1).astype(np.float32), bool(content[0]))


def _checksum(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(key + content, digest_size=_CHECKSUM).digest()
