"""Vectors as bytes: each record has a checksum over its key and its content."""

import hashlib
import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_CHECKSUM = 16
_FLOATS = np.dtype("<f4")
_HEAD = struct.Struct("<?q")  # whether it is truncated, and the input limit of the embedder


class Embedding(NamedTuple):
    """A vector as it is kept.

    Attributes:
        vector: float32, shape (dimension,).
        truncated: Whether it covers only a part of the text.
    """

    vector: NDArray[np.float32]
    truncated: bool


class KnownEmbedder(NamedTuple):
    """What the cache knows of an embedder.

    Attributes:
        dimension: The length of its vectors.
        input_limit: The most tokens that it reads of a text; None if there is no limit, or none that it tells.
    """

    dimension: int
    input_limit: int | None


def digest(identity: bytes) -> bytes:
    """Return what an embedder is found by."""
    return hashlib.sha256(identity).digest()


def record_key(identity: str, role: str, text: str) -> bytes:
    """Return what the vector of a text is found by, embedded by an embedder of this identity in this role."""
    return hashlib.sha256(
        digest(identity.encode("ascii")) + f"{role}\0{text}".encode("utf-8", "surrogatepass")
    ).digest()


def encoded(key: bytes, embedding: Embedding, input_limit: int | None) -> bytes:
    """Return the record of a vector; the input limit of its embedder is below 2 to the 63."""
    content = _HEAD.pack(embedding.truncated, input_limit or 0) + embedding.vector.astype(_FLOATS).tobytes()
    return _checksum(key, content) + content


def decoded(key: object, record: object) -> tuple[Embedding, KnownEmbedder] | None:
    """Return the vector that a record holds, and its embedder; None if the record, or its key, is damaged."""
    if not isinstance(key, bytes) or not isinstance(record, bytes):
        return None
    content = record[_CHECKSUM:]
    floats = content[_HEAD.size :]
    if _checksum(key, content) != record[:_CHECKSUM] or not floats or len(floats) % _FLOATS.itemsize:
        return None
    truncated, input_limit = _HEAD.unpack_from(content)
    vector = np.frombuffer(floats, _FLOATS).astype(np.float32)
    return Embedding(vector, truncated), KnownEmbedder(len(vector), input_limit or None)


def dimension_of(size: int) -> int:
    """Return the length of the vector in a record of so many bytes."""
    return max(size - _CHECKSUM - _HEAD.size, 0) // _FLOATS.itemsize


def _checksum(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(key + content, digest_size=_CHECKSUM).digest()
