"""What chunkers, embedders and rerankers may return, and how it is read as texts, vectors and scores."""

from collections.abc import Mapping, Sequence, Set
from numbers import Real
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import one_line, said, shown
from rag_evaluation_framework.components.results import all_results, fields_of, pair_of, told_start, told_text
from rag_evaluation_framework.data import AnyChunk, Chunk, Document, PositionAwareChunk
from rag_evaluation_framework.data.values import (
    UNREADABLE,
    all_chunks,
    at_most,
    gives_items,
    is_mapping,
    is_truth,
    items,
    plain_array,
    plain_text,
)
from rag_evaluation_framework.errors import UnreadableAnswer

# What a chunker may return, and how it is read as pieces of a text or chunks of a document.


class Piece(NamedTuple):
    """A piece of a text.

    Attributes:
        text: What the chunker made of it.
        start: Where it begins, if the chunker tells that and the text is there; else None.
    """

    text: str
    start: int | None = None


def as_pieces(returned: Any, source: str, text: str) -> list[Piece]:
    """Read what a chunker made of a text: its pieces, in reading order.

    Args:
        returned: Texts, or chunks, documents or nodes of other libraries; also in a mapping, as Haystack has it.
        source: What returned it, for messages.
        text: What was cut.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or has no end.
    """
    given = returned
    if hasattr(returned, "__aiter__") or (is_mapping(returned) and not returned.keys().isdisjoint(_LISTS)):
        given = all_results(returned, source)
    if gives_items(given, str, Mapping, Set):
        listed: list[Any] | None = all_chunks(given, len(text), source)
        if listed is None:
            raise UnreadableAnswer(
                f"{source} returned more texts than the document has characters; expected a list that has an end"
            )
        pieces = [piece for each in listed if (piece := _piece(each, text)) is not None]
        if len(pieces) == len(listed):
            return pieces
    raise UnreadableAnswer(f"{source} returned {one_line(shown(returned))}; expected a list of texts, in reading order")


_LISTS = ("documents", "chunks", "nodes")


def _piece(given: Any, text: str) -> Piece | None:
    if isinstance(given, str):
        return Piece(plain_text(given))
    fields = fields_of(given)
    own = told_text(fields)
    if not isinstance(own, str):
        return None
    start = told_start(fields)
    return Piece(plain_text(own), start if start is not None and text.startswith(own, start) else None)


def as_placed(returned: Any, source: str, document: Document) -> list[PositionAwareChunk]:
    """Read what a chunker that knows places made of a document.

    Raises:
        UnreadableAnswer: They are not chunks of this document, or have no end.
    """
    if not gives_items(returned, str, Mapping):
        raise UnreadableAnswer(
            f"{source} returned {one_line(shown(returned))} for {document.id!r}; expected a list of chunks"
        )
    chunks: list[Any] | None = all_chunks(returned, len(document.content), source)
    if chunks is None:
        raise UnreadableAnswer(
            f"{source} made more chunks of {document.id!r} than it has characters; expected a list that has an end"
        )
    for chunk in chunks:
        if not _is_of(document, chunk):
            raise UnreadableAnswer(
                f"{source} made {one_line(shown(chunk))} of {document.id!r}; expected chunks of the document that it "
                "was given"
            )
    return chunks


def _is_of(document: Document, chunk: Any) -> bool:
    return isinstance(chunk, PositionAwareChunk) and chunk.doc_id == document.id and chunk.end <= len(document.content)


# What an embedder may return, and how it is read as vectors.


def as_vectors(returned: Any, source: str, texts: Sequence[str], dimension: int | None = None) -> NDArray[np.float32]:
    """Read what an embedder returned as vectors: float32, shape (len(texts), dimension).

    Args:
        returned: An array, or nested lists, of numbers; row i for text i.
        source: What returned it, for messages: `Own.embed`.
        texts: What it was asked to embed.
        dimension: The length that the vectors must have; None if any will do.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or a number is NaN or infinite, also in single precision.
    """
    numbers = as_numbers(returned, source, texts, dimension)
    with np.errstate(over="ignore"):
        vectors: NDArray[np.float32] = numbers.astype(np.float32, copy=False)
    if vectors is not numbers:
        _check_finite(vectors, source, texts, dimension)
    return vectors


def as_numbers(returned: Any, source: str, texts: Sequence[str], dimension: int | None = None) -> NDArray[Any]:
    """Read what an embedder returned as vectors, as `as_vectors` does, in the precision in which they are.

    Raises:
        UnreadableAnswer: It is nothing of the kind, or a number is NaN or infinite.
    """
    try:
        numbers = plain_array(returned)
    except UNREADABLE as error:
        raise _refusal(shown(returned), source, texts, dimension, f": {said(error)}") from error
    if numbers.ndim != 2 or len(numbers) != len(texts) or numbers.shape[1] != (dimension or numbers.shape[1] or 1):
        told = f"shape {numbers.shape}" if numbers.ndim else shown(returned)
        raise _refusal(told, source, texts, dimension)
    _check_finite(numbers, source, texts, dimension)
    return numbers


def _check_finite(numbers: NDArray[Any], source: str, texts: Sequence[str], dimension: int | None) -> None:
    if np.isfinite(numbers).all():
        return
    rows: list[int] = np.flatnonzero(~np.isfinite(numbers).all(axis=1)).tolist()
    raise UnreadableAnswer(
        f"{source} returned NaN or infinity for {len(rows)} of {len(texts)} texts, the first: "
        f"{shown(texts[rows[0]])}; {_expected(texts, dimension)}"
    )


def _refusal(told: str, source: str, texts: Sequence[str], dimension: int | None, why: str = "") -> UnreadableAnswer:
    return UnreadableAnswer(
        f"{source} returned {one_line(told)} for {len(texts)} texts{why}; {_expected(texts, dimension)}"
    )


def _expected(texts: Sequence[str], dimension: int | None) -> str:
    return f"expected ({len(texts)}, {dimension or 'dimension'}), finite numbers, row i for text i"


# What a reranker may return, and how it is read as scores.

_SCORES = "expected one finite number per text, in their order, higher is better"


def as_scores(returned: Any, source: str, texts: Sequence[str]) -> NDArray[Any]:
    """Read what a reranker returned as scores: one finite number per text, shape (len(texts),).

    Args:
        returned: Numbers; or the texts, or documents or nodes of other libraries with them: by their scores if each
            has one, as pairs of a text and a number have, else best first. Those that are left out follow in the order
            in which they were given.
        source: What returned it, for messages.
        texts: What was scored, each text once.

    Raises:
        UnreadableAnswer: They are something else.
    """
    if (order := _order(returned, source, texts)) is not None:
        return order
    try:
        scores = plain_array(returned)
    except UNREADABLE as error:
        raise UnreadableAnswer(
            f"{source} returned {one_line(shown(returned))} for {len(texts)} texts: {said(error)}; {_SCORES}"
        ) from error
    if scores.shape != (len(texts),):
        told = f"shape {scores.shape}" if scores.ndim else one_line(shown(returned))
        raise UnreadableAnswer(f"{source} returned {told} for {len(texts)} texts; {_SCORES}")
    _check_scores(scores, source, texts)
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def _check_scores(scores: NDArray[Any], source: str, texts: Sequence[str]) -> None:
    wrong: list[int] = np.flatnonzero(~np.isfinite(scores)).tolist()
    if wrong:
        raise UnreadableAnswer(
            f"{source} returned NaN or infinity for {len(wrong)} of {len(texts)} texts, the first: "
            f"{shown(texts[wrong[0]])}; {_SCORES}"
        )


def _order(returned: Any, source: str, texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the scores that an order of the texts stands for; None if what was returned is no list of texts."""
    if (is_mapping(returned) and not returned.keys().isdisjoint(_LISTS)) or hasattr(returned, "__aiter__"):
        returned = all_results(returned, source)
    if not isinstance(returned, list | tuple):
        return None
    listed = cast("Sequence[Any]", returned)
    found = [pair[0] if (pair := pair_of(each)) else each for each in listed]
    told = [piece.text for each in found if (piece := _piece(each, "")) is not None]
    if len(told) < len(listed) or set(texts).isdisjoint(told):
        return None
    scores = [_told_score(each) for each in listed]
    if None not in scores:
        numbers = np.array(scores, dtype=np.float64)
        _check_scores(numbers, source, told)
        best_first: list[int] = np.argsort(-numbers, kind="stable").tolist()
        told = [told[index] for index in best_first]
    ranks = {text: rank for rank, text in reversed([*enumerate(told)])}
    if unknown := [text for text in told if text not in set(texts)]:
        raise UnreadableAnswer(f"{source} returned {shown(unknown[0])}, which is none of the texts that it was given")
    if len(ranks) < len(texts):
        note(
            f"{source} left out some of the texts that it was given; they follow in their first order. Let it return "
            "all of them (its top_n or top_k)"
        )
    return np.array([len(told) - ranks[text] if text in ranks else 0 for text in texts], dtype=np.float64)


def _told_score(given: Any) -> float | None:
    """Return the score of a text that a reranker returned; None if it tells none."""
    if isinstance(given, str):
        return None
    score = pair[1] if (pair := pair_of(given)) else fields_of(given).get("score")
    return float(score) if isinstance(score, Real) and not is_truth(score) else None


# What vector stores and rerankers may return, and how it is read as the chunks that they were given.


def as_found(found: Any, source: str, k: int) -> list[AnyChunk]:
    """Read what a store found: its first `k` results.

    Raises:
        UnreadableAnswer: They are not chunks.
    """
    if not gives_items(found, str, Mapping, Set):
        raise UnreadableAnswer(f"{source} returned {shown(found)}; expected a list of chunks, the nearest first")
    return [
        _chunk(result, f"{source} found", "the chunks that were added") for result in items(found, source, max(k, 0))
    ]


def as_order(order: Any, source: str, chunks: int) -> list[AnyChunk]:
    """Read the order in which a reranker returned so many chunks.

    Raises:
        UnreadableAnswer: It is not chunks, or more of them.
    """
    listed: list[Any] | None = at_most(order, chunks, source) if gives_items(order, Mapping, Set) else [order]
    if listed is None:
        raise UnreadableAnswer(f"{source} returned more than the {chunks} chunks that it was given")
    return [_chunk(each, f"{source} returned", "the chunks that it was given, best first") for each in listed]


def _chunk(given: Any, did: str, expected: str) -> AnyChunk:
    if not isinstance(given, Chunk | PositionAwareChunk):
        raise UnreadableAnswer(f"{did} {shown(given)}; expected {expected}")
    return given
