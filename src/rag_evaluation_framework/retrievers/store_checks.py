"""What a vector store holds and finds, compared with what was added to it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set, Sized
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import raised, shown
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.retrieved import one_each
from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.data.chunks import AnyChunk, Chunk, PositionAwareChunk
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.plain import gives_items, items
from rag_evaluation_framework.errors import InputError

Identity: TypeAlias = tuple[object, ...]

_PROBED = 100  # results of the one search after indexing


def check_empty(store: VectorStore) -> None:
    """Check that a store holds nothing, as far as it can be counted.

    Raises:
        InputError: It holds chunks.
    """
    number = _length(store)
    if number:
        raise InputError(
            f"{store.name} holds {number} chunks after clear(): what another corpus or chunker left would be found as "
            "well. clear() has to forget everything"
        )


def tell_what_is_lost(store: VectorStore, chunks: Sequence[AnyChunk], vectors: NDArray[np.float32]) -> None:
    """Note if a store holds another number of chunks than was added, or does not find what it should, as it was.

    Raises:
        InputError: One search finds what was never added.
    """
    number = _length(store)
    found = _probed(store, vectors, min(len(chunks), _PROBED))
    added = _texts(chunks, found or ())
    if found is not None:
        _check_added(store, found, added)
        _tell_of_other_texts(store, found, added)
    if number is not None and number != len(chunks):
        note(
            f"{store.name} holds {number} chunks after {len(chunks)} were added: what is lost is never found, and what "
            "is doubled takes the place of others. A store keyed by id or text keeps equal texts only once"
        )
    elif found is not None and len(found) < min(len(chunks), _PROBED):
        note(
            f"{store.name} found {len(found)} of {len(chunks)} chunks that were added, in a search for "
            f"{min(len(chunks), _PROBED)}: what is lost is never found. A store keyed by id or text keeps equal texts "
            "only once"
        )
    elif found is not None:
        _tell_of_doubles(store, found, added)


def as_found(found: Any, store: VectorStore, k: int) -> list[AnyChunk]:
    """Read what a store found: its first `k` results.

    Raises:
        InputError: They are not chunks.
    """
    if not gives_items(found, str, Mapping, Set):
        raise InputError(f"{store.name} returned {shown(found)}; expected a list of chunks, the nearest first")
    results = items(found, store.name, max(k, 0))
    for result in results:
        if not isinstance(result, PositionAwareChunk | Chunk):
            raise InputError(f"{store.name} found {shown(result)}; expected the chunks that were added")
    return results


def as_rankings(returned: Any, store: VectorStore, questions: int, k: int) -> list[list[AnyChunk]]:
    """Read what a store found for several questions.

    Raises:
        InputError: It is not one list of chunks per question.
    """
    return [as_found(ranking, store, k) for ranking in one_each(returned, questions, f"{store.name}.search_many")]


def _length(store: VectorStore) -> int | None:
    if not isinstance(store, Sized):
        return None
    try:
        return len(store)
    except Exception as error:  # of anybody's store
        raise InputError(f"len() of {store.name} raises {raised(error)}") from error


def _probed(store: VectorStore, vectors: NDArray[np.float32], k: int) -> list[AnyChunk] | None:
    directed = np.flatnonzero(vectors.any(axis=1))
    if not k or not len(directed):
        return None
    try:
        found = store.search(vectors[directed[0]], k)
    except Exception:  # noqa: BLE001  a database may fail once; each question will tell if it goes on
        return None
    return as_found(found, store, k)


def _texts(chunks: Sequence[AnyChunk], found: Sequence[AnyChunk]) -> Mapping[Identity, list[str]]:
    """Return the texts that were added, of the documents of which something was found, by their place or id."""
    documents = {chunk.doc_id for chunk in found}
    added: defaultdict[Identity, list[str]] = defaultdict(list)
    for chunk in chunks:
        if chunk.doc_id in documents:
            added[Hit.of(chunk).identity].append(chunk.content)
    return added


def _check_added(store: VectorStore, found: Sequence[AnyChunk], added: Mapping[Identity, list[str]]) -> None:
    for chunk in found:
        if Hit.of(chunk).identity not in added:
            raise InputError(
                f"{store.name} found {shown(chunk.content)} of document {chunk.doc_id!r}, which was not added: what "
                "another corpus or chunker left is found as well. clear() has to forget everything"
            )


def _tell_of_other_texts(store: VectorStore, found: Sequence[AnyChunk], added: Mapping[Identity, list[str]]) -> None:
    other = [chunk for chunk in found if chunk.content not in added[Hit.of(chunk).identity]]
    if other:
        note(
            f"{store.name} found another text than was added for {len(other)} of {len(found)} chunks of one search, "
            f"the first: document {other[0].doc_id!r}, {shown(other[0].content)}. What reads it reads that text; it is "
            "judged by its place or id"
        )


def _tell_of_doubles(store: VectorStore, found: Sequence[AnyChunk], added: Mapping[Identity, list[str]]) -> None:
    times: Counter[Identity] = Counter()
    for chunk in found:
        identity = Hit.of(chunk).identity
        times[identity] += 1
        if times[identity] > len(added[identity]):
            note(
                f"{store.name} found the same chunk twice in one search, the first: document {chunk.doc_id!r}, "
                f"{shown(chunk.content)}. What is doubled takes the place of others"
            )
            return
