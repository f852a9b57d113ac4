"""Vector retrieval: chunk, embed and search."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnChunker, OwnEmbedder
from ...adapt.results import one_each
from ...base.coroutines import as_synchronous
from ...base.notes import note
from ...base.outside import shown
from ...base.stages import current_stages, shared
from ...contracts import Chunker, Embedder, IndexedRetriever, PositionAwareChunker, VectorStore
from ...contracts.component import check_components, check_count, confide
from ...contracts.registry import as_component, describe
from ...contracts.roles import StableRetriever, as_fitted, checked_dimension, checked_parts
from ...data import AnyChunk, Corpus
from ...data.hits import Hit, Retrieval, Retrieved, Stage
from ...statistics.nearest import unit
from ..chunkers.cutting import SemanticChunker
from ..embedders.cached import Embedding, EmbeddingCache, identity_of
from ..embedders.lsa import LsaEmbedder
from ..embedders.remote import RemoteEmbedder
from ..vector_stores.in_memory import InMemoryVectorStore
from .indexing import DEFAULT_CHUNKER, chunk_corpus, embed_chunks, fill_store, found_in

_DECIMALS = 12
_SOME = "some questions"  # of those that are asked one by one nobody knows how many there will be


def _used_store(retriever: "VectorRAGRetriever") -> VectorStore:
    return InMemoryVectorStore() if retriever.vector_store is None else retriever.vector_store


class _Index(NamedTuple):
    chunks: list[AnyChunk]
    embedder: Embedder
    store: VectorStore
    vectors: NDArray[np.float32]
    rows: dict[str, int]  # of vectors, by text
    questions: dict[str, tuple[NDArray[np.float32], float]]  # a run asks again to fill a budget; embedding is paid once
    embedded: dict[str, tuple[NDArray[np.float32], float]]  # the same of all runs that share it
    paid: tuple[EmbeddingCache, str] | None  # vectors of questions that a provider made, and the embedder's identity


@dataclass(frozen=True)
class VectorRAGRetriever(StableRetriever, IndexedRetriever[_Index]):
    """Cuts the documents, embeds the chunks and finds those nearest to the question.

    Attributes:
        chunker: How documents are cut: any chunker, position-aware or not, or a function `(text) -> list of texts`.
        embedder: How text becomes a vector, fitted on the documents if it learns from them; or a function
            `(texts) -> vectors`.
        vector_store: Where vectors are kept, emptied when a corpus is indexed and left as it is when the retriever is
            closed; by default a new `InMemoryVectorStore` for every index, and recorded as that.
        batch_size: How many chunks are embedded at a time; at least 1.

    Raises:
        ConfigError: `batch_size` is below 1.
    """

    trusted = True

    chunker: Chunker | PositionAwareChunker = DEFAULT_CHUNKER
    embedder: Embedder = field(default_factory=LsaEmbedder)
    vector_store: VectorStore | None = field(default=None, metadata={"stands_for": _used_store})
    batch_size: int = 256

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(
            self,
            chunker: Chunker | PositionAwareChunker | OwnChunker = DEFAULT_CHUNKER,
            embedder: Embedder | OwnEmbedder = ...,
            vector_store: VectorStore | None = None,
            batch_size: int = 256,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "chunker", as_component(Chunker, self.chunker, "VectorRAGRetriever"))
        object.__setattr__(self, "embedder", as_component(Embedder, self.embedder, "VectorRAGRetriever"))
        if self.vector_store is not None:
            check_components("VectorRAGRetriever", vector_store=(self.vector_store, VectorStore))
            confide(self.vector_store)
            object.__setattr__(self, "vector_store", as_synchronous(self.vector_store))
        check_count("VectorRAGRetriever", "batch_size", self.batch_size)

    def index(self, corpus: Corpus) -> None:
        """Cut the documents, fit the embedder on them, embed every distinct text once and store every chunk.

        If the embedder reads only the beginning of some chunks, it is noted of how many.
        """
        self._keep(None)
        _note_another_embedder(self.chunker, self.embedder)
        store = _used_store(self)
        chunks = chunk_corpus(corpus, self.chunker)
        stages = current_stages()
        known = None if stages is None else _facts(self.embedder, corpus)
        embedder = shared(
            known and ("fitted", known),
            lambda: as_fitted(self.embedder.fit([document.content for document in corpus]), self.embedder),
        )
        vectors, truncated = embed_chunks(chunks, embedder, self.batch_size)
        _note_truncation(embedder, truncated)
        fill_store(store, chunks, vectors, self.batch_size)
        rows = {chunk.content: row for row, chunk in enumerate(chunks)}
        embedded = shared(known and ("questions", known), dict[str, tuple[NDArray[np.float32], float]])
        paid = None
        if stages is not None and known and isinstance(embedder, RemoteEmbedder) and not stages.measures_anew:
            paid = EmbeddingCache(stages.root), known
        self._keep(_Index(chunks, embedder, store, vectors, rows, {}, embedded, paid))

    def chunks(self) -> Sequence[AnyChunk]:
        """Return everything that could be retrieved."""
        return self._indexed.chunks

    def prepare(self, queries: Sequence[str]) -> None:
        """Embed the questions together; each one's share of the time becomes the `embed` step of its retrieval."""
        _ask(self._indexed, queries)

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the `k` nearest chunks, each with its cosine as score."""
        index = self._indexed
        _ask(index, [query])
        vector, seconds = index.questions[query]
        start = perf_counter()
        found = found_in(index.store, index.store.search(vector, k), k)
        stages = (Stage("embed", seconds), Stage("search", perf_counter() - start))
        return Retrieval(_scored(index, vector, found), stages, complete=len(found) < k)

    def retrieve_many(self, queries: Sequence[str], k: int) -> list[Retrieved]:
        """Return the nearest chunks of every question, embedded and searched together."""
        index = self._indexed
        if not queries:
            return []
        _ask(index, queries)
        vectors = [index.questions[query][0] for query in queries]
        name = index.store.name
        found = one_each(index.store.search_many(np.stack(vectors), k), len(queries), f"{name}.search_many")
        pairs = zip(vectors, [found_in(index.store, ranking, k) for ranking in found], strict=True)
        return [Retrieval(_scored(index, vector, chunks), complete=len(chunks) < k) for vector, chunks in pairs]


def _facts(embedder: Embedder, corpus: Corpus) -> str | None:
    """Return all that the vectors of questions depend on; None if that is not known."""
    known = repr(embedder) if type(embedder) is LsaEmbedder else identity_of(embedder)
    learns = type(embedder).fit is not Embedder.fit
    return f"{known} {corpus.ordered_hash}" if known and learns else known


def _scored(index: _Index, question: NDArray[np.float32], found: Sequence[AnyChunk]) -> tuple[Hit, ...]:
    """Return hits with their cosines, which stores need not tell; a text that was not embedded has no score."""
    rows = np.array([index.rows.get(chunk.content, -1) for chunk in found], dtype=np.intp)
    cosines: NDArray[np.float64] = np.einsum("ij,j->i", unit(index.vectors[rows]), unit(question[np.newaxis])[0])
    rounded: list[float] = np.round(cosines, _DECIMALS).tolist()  # equal vectors have equal scores
    scores = [cosine if row >= 0 else None for row, cosine in zip(rows.tolist(), rounded, strict=True)]
    return tuple(map(Hit.of, found, scores))


def _note_truncation(embedder: Embedder, truncated: NDArray[np.bool_]) -> None:
    if count := int(truncated.sum()):
        limit = getattr(embedder, "input_limit", None)
        at = "its input limit" if limit is None else f"its input limit of {limit} tokens"
        share = f"{count / len(truncated):.1%}"
        note(
            f"{embedder.name} truncates {count} of {len(truncated)} chunks ({share}) at {at}: "
            "the rest of their text is not in their vectors"
        )


def _note_another_embedder(chunker: Chunker | PositionAwareChunker, embedder: Embedder) -> None:
    if not isinstance(chunker, SemanticChunker):
        return
    cutting, searching = (getattr(used, "embedder", used) for used in (chunker.embedder, embedder))  # behind a cache
    if describe(cutting) != describe(searching):
        note(
            f"chunks are cut by the vectors of {cutting.name} and searched by those of {searching.name}; topics that "
            "one tells apart may be one to the other"
        )


def kept_as(*, one_by_one: bool) -> str:
    """Return the role under which vectors of questions are kept: a share of a batch is not the time of one question."""
    return "question" if one_by_one else "query"


def _take_paid(index: _Index, queries: Sequence[str], role: str) -> None:
    """Take vectors of questions that a provider made for an earlier run, with the seconds that it took then."""
    if index.paid is None:
        return
    cache, identity = index.paid
    found = cache.get(identity, queries, role)
    taken = {text: (one.vector, one.seconds) for text, one in found.items() if one.seconds is not None}
    index.embedded.update(taken)
    if taken:
        count = f"{len(taken)} of {len(queries)} questions" if len(queries) > 1 else _SOME
        note(
            f"{index.embedder.name} was not asked again for the vectors of {count}, as an earlier run kept them: the "
            "time of `embed` is what it took then"
        )


def _ask(index: _Index, queries: Sequence[str]) -> None:
    """Embed those questions that are new, together, and note each one's share of the seconds."""
    new = [query for query in dict.fromkeys(queries) if query not in index.questions]
    role = kept_as(one_by_one=len(queries) == 1)
    _take_paid(index, [query for query in new if query not in index.embedded], role)
    if missing := [query for query in new if query not in index.embedded]:
        if not isinstance(index.embedder, RemoteEmbedder):
            checked_dimension(index.embedder)  # loads a model that no chunk needed, as their vectors are kept
        start = perf_counter()
        # Each part is kept as it comes: it may have been paid for, and the next one may fail.
        with closing(checked_parts(index.embedder, missing, "query")) as parts:
            for rows, vectors in parts:
                some, now = [missing[row] for row in rows], perf_counter()
                shares = [(vector, (now - start) / len(some)) for vector in vectors]
                index.embedded.update(zip(some, shares, strict=True))
                if index.paid is not None:
                    cache, identity = index.paid
                    made = (Embedding(vector, False, seconds) for vector, seconds in shares)
                    cache.put(identity, dict(zip(some, made, strict=True)), role)
                start = now
    index.questions.update((query, index.embedded[query]) for query in new)
    if zeros := [query for query in new if not index.questions[query][0].any()]:
        those = f"{len(zeros)} of {len(new)} questions, the first: {shown(zeros[0])}" if len(new) > 1 else _SOME
        note(
            f"{index.embedder.name} returns a vector of zeros for {those}. It has no direction: their results are the "
            "first chunks of the corpus"
        )
