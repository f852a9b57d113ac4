"""Vectors, and what is known of an embedder, as bytes: each record has a checksum over its key and its content."""

import hashlib
import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_CHECKSUM = 16
_FLOATS = np.dtype("<f4")
_NUMBERS = struct.Struct("<qq")


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


def known_key(identity: str) -> bytes:
    """Return what the record of an embedder itself is found by."""
    return record_key(identity, "known", "")


def encoded(key: bytes, embedding: Embedding) -> bytes:
    """Return the record of a vector."""
    return _sealed(key, bytes([embedding.truncated]) + embedding.vector.astype(_FLOATS).tobytes())


def decoded(key: object, record: object) -> Embedding | None:
    """Return what a record holds, or None if it, or its key, is damaged."""
    content = _unsealed(key, record)
    if not content or (len(content) - 1) % _FLOATS.itemsize:
        return None
    return Embedding(np.frombuffer(content, _FLOATS, offset=1).astype(np.float32), bool(content[0]))


def encoded_known(key: bytes, known: KnownEmbedder) -> bytes:
    """Return the record of an embedder; both numbers are below 2 to the 63."""
    return _sealed(key, _NUMBERS.pack(known.dimension, known.input_limit or 0))


def decoded_known(key: bytes, record: object) -> KnownEmbedder | None:
    """Return what the record of an embedder holds, or None if it is damaged."""
    content = _unsealed(key, record)
    if content is None or len(content) != _NUMBERS.size:
        return None
    dimension, input_limit = _NUMBERS.unpack(content)
    return KnownEmbedder(dimension, input_limit or None)


def _sealed(key: bytes, content: bytes) -> bytes:
    return _checksum(key, content) + content


def _unsealed(key: object, record: object) -> bytes | None:
    if not isinstance(key, bytes) or not isinstance(record, bytes):
        return None
    content = record[_CHECKSUM:]
    return content if _checksum(key, content) == record[:_CHECKSUM] else None


def _checksum(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(key + content, digest_size=_CHECKSUM).digest()
