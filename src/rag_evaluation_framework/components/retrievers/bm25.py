"""BM25: lexical retrieval over chunks."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import log
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnChunker
from ...base.progress import progress
from ...base.stages import Arrays, stage
from ...contracts.component import check_number
from ...contracts.registry.building import as_component
from ...contracts.roles import Chunker, IndexedRetriever, PositionAwareChunker, StableRetriever
from ...data import AnyChunk, Corpus, Hit, Retrieval, Stage
from ...data.columns import Numbering
from ...errors import ConfigError
from ...statistics.nearest import top_k
from ...text.terms import LANGUAGES, question_words, stemmer, words
from .vector_rag import DEFAULT_CHUNKER, chunking_of

_CHUNKS, _PAIRS = 1 << 13, 1 << 20  # that are counted, and weighed, at once: memory, and bars that move
_VERSION = 1  # of what is counted: indexes that another one made are not found


class _Index(NamedTuple):
    """Chunks, and for each stem the chunks that have it, with what it adds to their scores.

    Stem number `n` is in the chunks `rows[starts[n] : starts[n + 1]]`, and adds the `weights` at the same places.
    """

    chunks: list[AnyChunk]
    vocabulary: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class BM25Retriever(StableRetriever, IndexedRetriever[_Index]):
    """Okapi BM25 over chunks: nothing to configure, download or pay for.

    Words are lower-cased and compared by their stems, so that "refund" finds "Refunds"; stop words of a question are
    left out, unless it has no other words. Scripts without spaces are compared by the character. Chunks that share no
    stem with what is left of the question are not returned.

    A stem that is `f` times in a chunk of `l` words, and in `n` of `N` chunks, adds to the score of the chunk
    ln(1 + (N - n + 0.5) / (n + 0.5)) · f / (f + k1 (1 - b + b · l / mean l)), as in Lucene. Robertson & Zaragoza 2009,
    "The Probabilistic Relevance Framework: BM25 and Beyond"; stems are Snowball's (Porter 2001).

    Attributes:
        chunker: How documents are cut: any chunker, position-aware or not, or a function `(text) -> list of texts`.
        k1: How much repeating a word counts; at least 0.
        b: How much long chunks are held back; from 0 to 1.
        language: The language of stems and stop words, such as `"german"`; `None`: words are compared whole, and all of
            them count. Texts of other languages are found, too, by the same forms of their words.

    Raises:
        ConfigError: `k1` or `b` is out of range, or the language is unknown.
    """

    trusted = True

    chunker: Chunker | PositionAwareChunker = DEFAULT_CHUNKER
    k1: float = 1.5
    b: float = 0.75
    language: str | None = "english"

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(
            self,
            chunker: Chunker | PositionAwareChunker | OwnChunker = DEFAULT_CHUNKER,
            k1: float = 1.5,
            b: float = 0.75,
            language: str | None = "english",
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "chunker", as_component(Chunker, self.chunker, "BM25Retriever"))
        check_number("BM25Retriever", "k1", self.k1)
        check_number("BM25Retriever", "b", self.b, most=1)
        if self.language is not None and self.language not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            raise ConfigError(
                f"BM25Retriever: language={self.language!r}; expected {known}, or None (null in configurations) to "
                "compare words whole; scripts without spaces, such as Japanese, are compared by the character whatever "
                "the language: the default will do"
            )

    def index(self, corpus: Corpus) -> None:
        """Cut the documents and count the stems of their words."""
        self._keep(None)
        chunks, facts = chunking_of(corpus, self.chunker)
        known = None if facts is None else [_VERSION, facts, self.language]
        counts = stage("bm25", known, lambda: self._counted(chunks))
        stems = counts["vocabulary"].tobytes().decode().split("\n")[:-1]
        vocabulary = {stem: number for number, stem in enumerate(stems)}
        self._keep(_Index(chunks, vocabulary, counts["starts"], counts["rows"], self._weighed(counts)))

    def _counted(self, chunks: Sequence[AnyChunk]) -> Arrays:
        """Return how often each stem is in which chunks, `starts`, `rows` and `times`, and how long these are."""
        vocabulary = Numbering()
        stem = cache(stemmer(self.language))  # each word once
        lengths = array("i")
        parts: list[NDArray[np.int32]] = []
        left = iter(progress(chunks, "Counting words", "chunk"))
        while some := list(islice(left, _CHUNKS)):
            first, stems = len(lengths), array("q")
            for chunk in some:
                found = words(chunk.content, self.language)
                stems.extend(vocabulary[stem(word)] for word in found)
                lengths.append(len(found))
            at = np.array(stems) * len(some) + np.repeat(np.arange(len(some)), lengths[first:])
            pairs, times = np.unique(at, return_counts=True)
            numbers, rows = np.divmod(pairs, len(some))
            parts.append(np.array([numbers, rows + first, times], np.int32))
        return {
            "vocabulary": np.frombuffer("".join(f"{stem}\n" for stem in vocabulary).encode(), np.uint8),
            **_merged(parts, len(vocabulary)),
            "lengths": np.array(lengths, np.int32),
        }

    def _weighed(self, counts: Arrays) -> NDArray[np.float32]:
        """Return what each stem adds to the score of each chunk that has it."""
        chunks_with, lengths, times = np.diff(counts["starts"]), counts["lengths"], counts["times"]
        total = len(lengths)
        rarity = np.array([log(1 + (total - n + 0.5) / (n + 0.5)) for n in chunks_with.tolist()], np.float32)
        weights: NDArray[np.float32] = np.repeat(rarity, chunks_with)
        for first in progress(range(0, len(weights), _PAIRS), "Weighing words", "part"):
            at = slice(first, first + _PAIRS)
            longer = 1 - self.b + self.b * lengths[counts["rows"][at]] / lengths.mean()
            weights[at] *= times[at] / (times[at] + self.k1 * longer)
        return weights

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the `k` chunks of the highest score; chunks that tie keep the order of the documents."""
        index = self._indexed
        start = perf_counter()
        stems = map(stemmer(self.language), question_words(query, self.language))
        known = [index.vocabulary[stem] for stem in stems if stem in index.vocabulary]
        scores = np.zeros(len(index.chunks), np.float32)
        for number in known:
            at = slice(index.starts[number], index.starts[number + 1])
            scores[index.rows[at]] += index.weights[at]
        ranked: list[int] = top_k(scores, k).tolist()
        hits = tuple(Hit.of(index.chunks[best], float(scores[best])) for best in ranked if scores[best] > 0)
        return Retrieval(hits, (Stage("search", perf_counter() - start),), complete=len(hits) < k)

    def chunks(self) -> Sequence[AnyChunk]:
        """Return everything that could be retrieved."""
        return self._indexed.chunks


def _merged(parts: Sequence[NDArray[np.int32]], stems: int) -> Arrays:
    """Return `starts`, `rows` and `times` of all chunks; of each part stems in order, their rows and times, as rows."""
    counts = [np.bincount(numbers, minlength=stems) for numbers, _, _ in parts]
    starts = np.concatenate([[0], np.cumsum(sum(counts))])
    rows, times = np.empty((2, starts[-1]), np.int32)
    free = starts[:-1].copy()  # where the next chunk of each stem goes
    for part, those in zip(progress(parts, "Merging words", "part"), counts, strict=True):
        numbers = part[0]
        places = np.arange(len(numbers)) + (free - (np.cumsum(those) - those))[numbers]
        rows[places], times[places] = part[1:]
        free += those
    return {"starts": starts, "rows": rows, "times": times}
