"""BM25: lexical retrieval over chunks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, NamedTuple
from unicodedata import category, normalize

import bm25s
from bm25s.tokenization import Tokenized
from tqdm import tqdm

from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.indexed_retriever import IndexedRetriever
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit, Retrieval, Stage
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry import as_component
from rag_evaluation_framework.retrievers.indexing import DEFAULT_CHUNKER, chunk_corpus
from rag_evaluation_framework.statistics.selection import top_k

# Scripts that write words without spaces are indexed by the character; combining marks belong to their word.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)).startswith("M"))
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_](?:[^\\W_]|[{re.escape(_MARKS)}])*")


class _Index(NamedTuple):
    chunks: list[AnyChunk]
    vocabulary: dict[str, int]
    scorer: Any


@dataclass(frozen=True)
class BM25Retriever(IndexedRetriever[_Index]):
    """Okapi BM25 over chunks, with the bm25s library: nothing to configure, download or pay for.

    Words are lower-cased and compared whole, without stemming or stop words; scripts without spaces are compared by the
    character. Chunks that share no word with the question are not returned. Robertson & Zaragoza 2009, "The
    Probabilistic Relevance Framework: BM25 and Beyond".

    Attributes:
        chunker: How documents are cut: any chunker, position-aware or not, or a function `(text) -> list of texts`.
        k1: How much repeating a word counts; at least 0.
        b: How much long chunks are held back; from 0 to 1.

    Raises:
        ConfigError: `k1` or `b` is out of range.
    """

    chunker: Chunker | PositionAwareChunker = DEFAULT_CHUNKER
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        object.__setattr__(self, "chunker", as_component("chunker", self.chunker, "BM25Retriever"))
        if not (0 <= self.k1 < inf and 0 <= self.b <= 1):
            raise ConfigError(f"BM25Retriever: k1={self.k1}, b={self.b}; expected k1 >= 0 and 0 <= b <= 1")

    def index(self, corpus: Corpus) -> None:
        """Cut the documents and count their words."""
        self._keep(None)
        chunks = chunk_corpus(corpus, self.chunker)
        vocabulary: dict[str, int] = {}
        steps = tqdm(chunks, desc="Counting words", unit="chunk", delay=2, disable=None, leave=False)
        numbers = [[vocabulary.setdefault(word, len(vocabulary)) for word in _words(c.content)] for c in steps]
        scorer: Any = bm25s.BM25(k1=self.k1, b=self.b)
        if vocabulary:  # bm25s cannot index a corpus without any word
            scorer.index(Tokenized(ids=numbers, vocab=vocabulary), show_progress=False)
        self._keep(_Index(chunks, vocabulary, scorer))

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the `k` chunks of the highest score; chunks that tie keep the order of the documents."""
        index = self._indexed
        start = perf_counter()
        known = [number for word in _words(query) if (number := index.vocabulary.get(word)) is not None]
        hits: tuple[Hit, ...] = ()
        if known:
            scores = index.scorer.get_scores_from_ids(known)
            ranked: list[int] = top_k(scores, k).tolist()
            hits = tuple(Hit.of(index.chunks[best], float(scores[best])) for best in ranked if scores[best] > 0)
        return Retrieval(hits, (Stage("search", perf_counter() - start),), complete=len(hits) < k)

    @property
    def prefix_stable(self) -> bool:
        """True."""
        return True

    def chunks(self) -> Sequence[AnyChunk]:
        """Return everything that could be retrieved."""
        return self._indexed.chunks


def _words(text: str) -> list[str]:
    return _WORD.findall(normalize("NFC", text).lower())
