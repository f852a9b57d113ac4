"""Vector retrieval: chunk, embed and search; and the three steps of indexing, each compared with what it was given."""

import json
import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence, Sized
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnChunker, OwnEmbedder
from ...adapt.results import as_chunks, one_each
from ...base.coroutines import as_synchronous
from ...base.exits import errors_as, outcome
from ...base.notes import note
from ...base.outside import error_text, one_line, shown
from ...base.progress import progress, progress_bar
from ...base.stages import Arrays, current_stages, shared, stage
from ...contracts import Chunker, EmbeddedPart, Embedder, IndexedRetriever, PositionAwareChunker, VectorStore
from ...contracts.component import check_components, check_count, confide, parameters
from ...contracts.registry import as_component, describe
from ...contracts.roles import StableRetriever, as_fitted, checked_dimension, checked_parts, joined, truncation_flags
from ...data import AnyChunk, Chunk, Corpus, Document, PositionAwareChunk
from ...data.columns import Numbering
from ...data.hits import Hit, Retrieval, Retrieved, Stage
from ...errors import InputError, UnreadableAnswer
from ...statistics.nearest import unit
from ..chunkers import ChunkerPositionAdapter, RecursiveCharacterChunker, SemanticChunker, position_aware
from ..embedders.cached import CachedEmbedder, Embedding, EmbeddingCache, identity_of
from ..embedders.lsa import LsaEmbedder
from ..embedders.remote import RemoteEmbedder
from ..vector_stores.in_memory import InMemoryVectorStore

# The three steps of indexing: chunk the corpus, embed the chunks, fill the store. Each can be shared by pipelines.

_PROBED = 100  # results of the one search after indexing
_EQUAL = 1e-6  # in any coordinate of two directions
_VERSION = 1  # of what our chunkers make: chunks that another one made are not found
_ROWS_AT_ONCE = 1_024
DEFAULT_CHUNKER = RecursiveCharacterChunker(chunk_size=800)
"""About 200 tokens of English, without overlap."""


def chunk_corpus(corpus: Corpus, chunker: Chunker | PositionAwareChunker | OwnChunker) -> list[AnyChunk]:
    """Cut every document into chunks, in the order of the documents.

    Chunks of a chunker that does not know positions are looked for in their document. Those that are not text of it are
    without a position; how many there are is noted. So is how many chunks differ from the text of their place, how many
    are blank, and of how many documents there is none.

    Raises:
        InputError: There are none but blank ones, because the documents are blank or the chunker returned nothing; or
            one is not of the document that was cut.
    """
    return chunking_of(corpus, chunker)[0]


def chunking_of(corpus: Corpus, chunker: Chunker | PositionAwareChunker | OwnChunker) -> tuple[list[AnyChunk], Any]:
    """Do what `chunk_corpus` does; where stages are kept, a built-in chunker cuts the same documents once.

    Returns:
        The chunks; and all that they depend on, as JSON, by which what is made of them is kept: None if that is not
        known, or nothing is kept.
    """
    positioned = as_synchronous(chunker) if isinstance(chunker, PositionAwareChunker) else position_aware(chunker)
    # Our chunkers cut exactly; those that the adapter places keep their own texts.
    ours = type(positioned).__module__.startswith(RecursiveCharacterChunker.__module__.rpartition(".")[0])
    chunks: list[AnyChunk] = []
    facts = None
    if ours and not isinstance(positioned, ChunkerPositionAdapter):
        identity = None if current_stages() is None or _names_a_file(positioned) else identity_of(positioned)
        facts = None if identity is None else [_VERSION, identity, corpus.ordered_hash]
        chunks += _exact_chunks(corpus, positioned, facts)
    else:
        for document in progress(corpus, "Chunking", "document"):
            if isinstance(positioned, ChunkerPositionAdapter):
                chunks += positioned.locate_chunks(document)
            else:
                chunks += _placed(positioned, document)
    _tell_of_chunks(corpus, chunks, positioned.name, exact=ours)
    return chunks, facts


def _placed(chunker: PositionAwareChunker, document: Document) -> list[AnyChunk]:
    """Return what a chunker that is not ours makes of a document, checked."""
    name, expected = chunker.name, f"chunks of the document that it was given, {document.id!r}"
    chunks = as_chunks(chunker.chunk_with_positions(document), name, expected, but=(str, Mapping))
    for chunk in chunks:
        placed = isinstance(chunk, PositionAwareChunk) and chunk.end <= len(document.content)
        if not placed or chunk.doc_id != document.id:
            raise UnreadableAnswer(f"{name} made {one_line(shown(chunk))}; expected {expected}")
    return chunks


def _tell_of_chunks(corpus: Corpus, chunks: Sequence[AnyChunk], name: str, *, exact: bool) -> None:
    """Note what of the chunks will surprise; those of an `exact` chunker are text of their places.

    Raises:
        InputError: There are none but blank ones.
    """
    worded = [document.id for document in corpus if document.content.strip()]
    blank = sum(not chunk.content.strip() for chunk in chunks)
    if blank == len(chunks):
        made = "nothing but blank chunks" if chunks else "no chunks"
        raise InputError(f"{name} made {made} of {len(worded)} documents with text: there is nothing to search")
    if blank:
        note(f"{blank} of {len(chunks)} chunks of {name} are blank: no question is about them")
    cut = {chunk.doc_id for chunk in chunks}
    if without := [doc_id for doc_id in worded if doc_id not in cut]:
        note(
            f"{name} made no chunk from {len(without)} of {len(worded)} documents that have text, the first: "
            f"{without[0]!r}. Nothing of them can be found"
        )
    if unplaced := [chunk for chunk in chunks if isinstance(chunk, Chunk)]:
        note(
            f"{len(unplaced)} of {len(chunks)} chunks are not text of their document, the first: {name}, "
            f"document {unplaced[0].doc_id!r}: {shown(unplaced[0].content[:50])}. They are searched, and keep the "
            "chunker's text and id, but have no place: at token level they are not located. A position-aware chunker "
            "places them"
        )

    def differs(chunk: PositionAwareChunk) -> bool:
        text = corpus[chunk.doc_id].content[chunk.start : chunk.end]
        return chunk.content != text and chunk.content.split() != text.split()

    placed = [] if exact else [chunk for chunk in chunks if isinstance(chunk, PositionAwareChunk)]
    if other := [chunk for chunk in placed if differs(chunk)]:
        note(
            f"{len(other)} of {len(chunks)} chunks differ from the text of their place, the first: {name}, "
            f"document {other[0].doc_id!r}, [{other[0].start}:{other[0].end}]: {shown(other[0].content[:50])}. "
            "They are searched by their text, and judged by their place"
        )


def _names_a_file(component: object) -> bool:
    """Return whether a parameter is the path of a file, such as a tokenizer, which may be another one tomorrow."""
    values = parameters(component).values()
    return any(os.path.isfile(one) if isinstance(one, str | Path) else _names_a_file(one) for one in values)  # noqa: PTH113


def _exact_chunks(corpus: Corpus, chunker: PositionAwareChunker, facts: Any) -> list[PositionAwareChunk]:
    chunks: list[PositionAwareChunk] = []

    def cut() -> Arrays:
        for document in progress(corpus, "Chunking", "document"):
            chunks.extend(chunker.chunk_with_positions(document))
        numbers = Counter(chunk.doc_id for chunk in chunks)
        kinds = Numbering()  # of metadata, such as the section of a chunk
        columns = [(chunk.start, chunk.end, kinds[json.dumps(dict(chunk.metadata))]) for chunk in chunks]
        return {
            "chunks": np.array([numbers[document.id] for document in corpus], np.int64),  # of each document
            "places": np.array(columns, np.int64).reshape(-1, 3),
            "metadata": np.frombuffer("\n".join(kinds).encode(), np.uint8),
        }

    kept = stage("chunks", facts, cut)
    if not chunks and len(kept["places"]):  # an earlier run cut them
        metadata: list[dict[str, Any]] = [json.loads(line) for line in kept["metadata"].tobytes().splitlines()]
        places: Iterator[tuple[int, int, int]] = iter(kept["places"].tolist())
        for document, number in zip(progress(corpus, "Chunking", "document"), kept["chunks"].tolist(), strict=True):
            chunks += (
                PositionAwareChunk.of(document, start, end, metadata[kind])
                for start, end, kind in islice(places, number)
            )
    return chunks


class EmbeddedChunks(NamedTuple):
    """The vectors of chunks.

    Attributes:
        vectors: One row per chunk, in their order: float32, shape (number of chunks, dimension).
        truncated: Of which chunks the vector covers only a part, as the model reads no more; shape (number of chunks,).
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


def embed_chunks(chunks: Sequence[AnyChunk], embedder: Embedder | OwnEmbedder, batch_size: int = 256) -> EmbeddedChunks:
    """Embed chunks, each distinct text once; where stages are kept, vectors are kept and found as by `CachedEmbedder`.

    Args:
        chunks: What to embed.
        embedder: An embedder that has nothing to learn any more: what `fit` returned; or a function
            `(texts) -> vectors`.
        batch_size: How many texts are embedded at a time.

    Raises:
        InputError: The embedder returned other than one vector of finite numbers, or one flag, per text; or nothing
            but vectors of zeros.
    """
    made: Embedder = as_component(Embedder, embedder, "embed_chunks")
    rows = {text: row for row, text in enumerate(dict.fromkeys(chunk.content for chunk in chunks))}
    texts, stages = list(rows), current_stages()
    if stages is not None and identity_of(made) is not None and not isinstance(made, CachedEmbedder):
        made = CachedEmbedder(made, stages.root)
    if not texts:
        return EmbeddedChunks(np.zeros((0, checked_dimension(made)), dtype=np.float32), np.zeros(0, dtype=np.bool_))
    truncated = np.zeros(len(texts), dtype=np.bool_)

    def embedded_parts() -> Generator[EmbeddedPart]:
        with (
            progress_bar(len(texts), "Embedding", "text") as bar,
            closing(checked_parts(made, texts, "text", batch_size)) as parts,
        ):
            for part in parts:  # of each it is asked at once what was truncated: it need not be read again
                truncated[part.rows] = truncation_flags(made, [texts[row] for row in part.rows])
                bar.update(len(part.rows))
                yield part

    embedded = EmbeddedChunks(joined(embedded_parts(), len(texts)), truncated)
    _tell_of_no_direction(made, texts, embedded.vectors)
    if len(texts) == len(chunks):
        return embedded
    row_of_chunk = [rows[chunk.content] for chunk in chunks]
    return EmbeddedChunks(embedded.vectors[row_of_chunk], embedded.truncated[row_of_chunk])


def fill_store(
    store: VectorStore, chunks: Sequence[AnyChunk], vectors: NDArray[np.float32], batch_size: int = 256
) -> None:
    """Empty a store and add chunks with their vectors; another number than was added is noted.

    Args:
        store: Where they are kept.
        chunks: What to keep.
        vectors: One row per chunk, in their order, shape (len(chunks), dimension).
        batch_size: How many chunks are added at a time.

    Raises:
        InputError: The numbers of chunks and rows differ; the store stays as it is. Or the store holds or finds what
            was not added: it was not emptied.
    """
    if len(chunks) != len(vectors):
        raise InputError(f"{len(chunks)} chunks with {len(vectors)} vectors; expected one vector per chunk")
    store = as_synchronous(store)
    store.clear()
    if left := _length(store):
        raise InputError(
            f"{store.name} holds {left} chunks after clear(): what another corpus or chunker left would be found as "
            "well. clear() has to forget everything"
        )
    for first in progress(range(0, len(chunks), batch_size), "Filling the store", "batch"):
        store.add(chunks[first : first + batch_size], vectors[first : first + batch_size])
    _tell_what_is_lost(store, chunks, vectors)


def found_in(store: VectorStore, found: Any, k: int) -> list[AnyChunk]:
    """Return the first `k` chunks of what a store found.

    Raises:
        InputError: They are something else.
    """
    return as_chunks(found, store.name, "a list of chunks that were added, the nearest first", max(k, 0))


def _tell_of_no_direction(embedder: Embedder, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
    zeros: list[int] = np.flatnonzero(~vectors.any(axis=1)).tolist()
    if zeros and len(zeros) == len(texts):
        raise InputError(
            f"{embedder.name} returns a vector of zeros for all {len(texts)} texts, the first: {shown(texts[0])}. "
            "Nothing is more alike than anything else, so nothing can be found"
        )
    worded = [texts[row] for row in zeros if any(map(str.isalnum, texts[row]))]  # of a ruler nothing else is expected
    if worded:
        note(
            f"{embedder.name} returns a vector of zeros for {len(worded)} of {len(texts)} texts, the first: "
            f"{shown(worded[0])}. It has no direction: such chunks are found in the order of the corpus, behind those "
            "that are alike the question"
        )
    blocks = (unit(vectors[first : first + _ROWS_AT_ONCE]) for first in range(0, len(texts), _ROWS_AT_ONCE))
    first = unit(vectors[:1])
    if len(texts) > 2 and not zeros and all(np.abs(block - first).max() < _EQUAL for block in blocks):
        note(
            f"{embedder.name} returns the same vector for all {len(texts)} texts: they are found in the order of the "
            "corpus, whatever the question"
        )


def _length(store: VectorStore) -> int | None:
    if not isinstance(store, Sized):
        return None
    with errors_as(lambda error: InputError(f"len() of {store.name} raises {error_text(error)}")):
        return len(store)


def _tell_what_is_lost(store: VectorStore, chunks: Sequence[AnyChunk], vectors: NDArray[np.float32]) -> None:
    """Note if a store holds another number of chunks than was added, or finds fewer than there are.

    Raises:
        InputError: One search finds what was never added.
    """
    number, k, name = _length(store), min(len(chunks), _PROBED), store.name
    directed = np.flatnonzero(vectors.any(axis=1))
    found: list[AnyChunk] | None = None
    if k and len(directed):  # a database may fail once; each question will tell if it goes on
        answer = outcome(lambda: [store.search(vectors[directed[0]], k)], lambda _: None)
        found = None if answer is None else found_in(store, answer[0], k)
    documents = {chunk.doc_id for chunk in found or ()}
    added = {Hit.of(chunk).identity for chunk in chunks if chunk.doc_id in documents}
    for chunk in found or ():
        if Hit.of(chunk).identity not in added:
            raise InputError(
                f"{name} found {shown(chunk.content)} of document {chunk.doc_id!r}, which was not added: what another "
                "corpus or chunker left is found as well. clear() has to forget everything"
            )
    lost = "what is lost is never found"
    keyed = "A store keyed by id or text keeps equal texts only once"
    if number is not None and number != len(chunks):
        note(
            f"{name} holds {number} chunks after {len(chunks)} were added: {lost}, and what is doubled takes the place "
            f"of others. {keyed}"
        )
    elif found is not None and len(found) < k:
        note(f"{name} found {len(found)} of {len(chunks)} chunks that were added, in a search for {k}: {lost}. {keyed}")


# The retriever, and vectors of questions.

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
        found = one_each(index.store.search_many(np.stack(vectors), k), len(queries), f"{index.store.name}.search_many")
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
