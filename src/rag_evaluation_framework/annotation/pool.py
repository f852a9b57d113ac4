"""The pool: passages that several retrievers find for a question, for a person to choose from."""

import re
import sys
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, product, zip_longest
from typing import Any

from rag_evaluation_framework.base.exits import no_exit, outcome
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.base.outside import raised
from rag_evaluation_framework.chunkers import MarkdownHeaderChunker, SentenceChunker
from rag_evaluation_framework.chunkers.cutting import cut_out
from rag_evaluation_framework.components.results import as_chunks
from rag_evaluation_framework.contracts import PositionAwareChunker, Retriever
from rag_evaluation_framework.data import AnyChunk, CharacterSpan, Corpus, Document, PositionAwareChunk
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.errors import InputError, MissingDependency
from rag_evaluation_framework.quotes.hit_locator import HitLocator
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.retrievers import BM25Retriever, VectorRAGRetriever
from rag_evaluation_framework.retrievers.combined import ask
from rag_evaluation_framework.retrievers.function import Pipeline, as_retriever

# Cutting documents into the passages that a person looks through.

_SECTIONS = MarkdownHeaderChunker(chunk_size=sys.maxsize)


@dataclass(frozen=True)
class PassageChunker(PositionAwareChunker):
    """Puts whole sentences of one section together: what can be read at a glance, and is about one thing.

    Sections are those of `MarkdownHeaderChunker`, sentences those of `SentenceChunker`. Text without headings is one
    section.

    Attributes:
        chunk_size: The most characters of a passage.

    Raises:
        ConfigError: The size is impossible.
    """

    chunk_size: int = 400

    def __post_init__(self) -> None:
        SentenceChunker(self.chunk_size)

    @property
    def name(self) -> str:
        """The class with its size."""
        return f"PassageChunker(chunk_size={self.chunk_size})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the passages in reading order; none for a blank document."""
        sentences = SentenceChunker(self.chunk_size)
        places: list[tuple[int, int]] = []
        for section in _SECTIONS.chunk_with_positions(document):
            part = Document(document.id, section.content)
            places += [
                (section.start + passage.start, section.start + passage.end)
                for passage in sentences.chunk_with_positions(part)
            ]
        return cut_out(document, places)


# The pool: passages that several retrievers find for a question, for a person to look through.

DEPTH = 50
"""How many results every retriever is asked for."""
_PASSAGES = PassageChunker()


@dataclass(frozen=True)
class Found:
    """Passages that were found for some words.

    Attributes:
        passages: The best first, each text once.
        problems: What became of results that are missing.
        answered: The numbers of the retrievers that did not fail.
    """

    passages: tuple[CharacterSpan, ...]
    problems: tuple[str, ...] = ()
    answered: frozenset[int] = frozenset()


class Pool:
    """Finds passages with BM25, with vectors learnt from the documents, and with a retriever of your own.

    Every retriever is asked for the same number of results. Their rankings are interleaved: the first of each, then
    the second of each. What a retriever finds is shown as the passages that it covers, so that those of your own may be
    cut otherwise.

    Args:
        corpus: The documents.
        own: Your own retriever, or function `(query, k) -> results`.

    Attributes:
        notes: What is to be said about the retrievers, such as that one cannot be used.

    Raises:
        ConfigError: Your own is no retriever.
        InputError: The documents hold nothing to search.
    """

    def __init__(self, corpus: Corpus, own: Pipeline | None = None) -> None:
        self.corpus = corpus
        self.notes: tuple[str, ...] = ()
        bm25 = BM25Retriever(_PASSAGES)
        bm25.index(corpus)
        self._passages = _Passages(bm25.chunks())
        self._asked: list[tuple[Retriever, HitLocator]] = [(bm25, HitLocator(corpus))]
        self._add_vectors()
        if own is not None:
            self._add(as_retriever(own))
        self._described = [describe(retriever) for retriever, _ in self._asked]

    def record(self, answered: Collection[int]) -> dict[str, Any]:
        """Return which retrievers found passages, with their parameters, and how deep, as a dataset keeps it.

        Args:
            answered: The numbers of those that did not fail.
        """
        found = [described for number, described in enumerate(self._described) if number in answered]
        return {"retrievers": found, "depth": DEPTH}

    def found(self, *queries: str) -> Found:
        """Return the passages that are found for a question and for other words; tables of contents are the last."""
        problems: list[str] = []
        rankings = [self._ranked(*asked, words, problems) for words, asked in product(queries, self._asked)]
        in_turns = chain.from_iterable(zip_longest(*(ranking or () for ranking in rankings)))
        interleaved = (passage for passage in in_turns if passage is not None)
        first: dict[str, CharacterSpan] = {}
        for passage in interleaved:
            first.setdefault(_collapsed(passage.text), passage)
        count = len(self._asked)
        answered = frozenset(number for number in range(count) if None not in rankings[number::count])
        passages = sorted(first.values(), key=lambda passage: is_contents(passage.text))
        return Found(tuple(passages), tuple(dict.fromkeys(problems)), answered)

    def copies(self, passage: CharacterSpan) -> tuple[CharacterSpan, ...]:
        """Return the passages of the documents that have the text of this one, up to white space, itself among them."""
        return self._passages.alike(passage)

    def close(self) -> None:
        """Release what the retrievers hold."""
        for retriever, _ in self._asked:
            retriever.close()

    def _add_vectors(self) -> None:
        try:
            self._add(VectorRAGRetriever(_PASSAGES))
        except MissingDependency as error:
            self.notes = (*self.notes, f"Passages are found by words alone, not by vectors: {error}")
        except InputError:  # a few numbers and signs, of which nothing can be learnt: words still find them
            return

    def _add(self, retriever: Retriever) -> None:
        with collected(), no_exit(retriever.name, "index"):
            retriever.index(self.corpus)
            chunks = as_chunks(retriever.chunks(), f"{retriever.name}.chunks", self.corpus)
        self._asked.append((retriever, HitLocator(self.corpus, chunks or ())))

    def _ranked(
        self, retriever: Retriever, locator: HitLocator, words: str, problems: list[str]
    ) -> list[CharacterSpan] | None:
        """Return the passages that a retriever finds; None if it raises, which is a problem, and no end of the work."""

        def asked() -> Ranking:
            with collected(), no_exit(retriever.name, "retrieve"):
                return ask(retriever, words, DEPTH, locator).hits

        hits = outcome(asked, raised)
        if isinstance(hits, str):
            problems.append(f"{retriever.name} could not be asked, so its passages are missing: {hits}")
            return None
        spans = [hit.span for hit in hits]
        lost = sum(span is None or not span.length() for span in spans)
        if lost:
            problems.append(f"{retriever.name}: {lost} of {len(spans)} results are not text of the documents")
        covered = (self._passages.covered(span) for span in spans if span is not None)
        return list(dict.fromkeys(chain.from_iterable(covered)))


_ENTRY = re.compile(
    r"[\s>*+•|-]*(?:\d[\d.]*[.)]?\s+)?(?:\[[^\]\n]+\]\((?!\w+:)[^)\n]*\)[\s*|,.]*)+"  # only links to these documents
    r"|.*(?:\.\s?){4}\s*\d{0,4}\s*"  # dots that lead to the number of a page
)
_NO_ENTRY = re.compile(r"\s*(?:#{1,6}\s.*|\d*\s*)")  # headings and numbers of pages tell nothing
_FEWEST_ENTRIES, _MOSTLY = 2, 0.6


def is_contents(text: str) -> bool:
    """Return whether a passage is part of a table of contents: most lines are links, or lead to a page by dots.

    Links to other sites are no entries: a list of them may well be the answer.
    """
    lines = [line for line in text.splitlines() if not _NO_ENTRY.fullmatch(line)]
    entries = sum(bool(_ENTRY.fullmatch(line)) for line in lines)
    return entries >= _FEWEST_ENTRIES and entries >= _MOSTLY * len(lines)


class _Passages:
    """The passages of a corpus, by where they are.

    Args:
        chunks: The passages, in the order of the documents.
    """

    def __init__(self, chunks: Iterable[AnyChunk]) -> None:
        self._of: dict[str, list[CharacterSpan]] = {}
        self._alike: dict[str, list[CharacterSpan]] = {}
        for chunk in chunks:
            if isinstance(chunk, PositionAwareChunk) and chunk.content.strip():
                span = CharacterSpan(chunk.doc_id, chunk.start, chunk.end, chunk.content)
                self._of.setdefault(chunk.doc_id, []).append(span)
                self._alike.setdefault(_collapsed(chunk.content), []).append(span)

    def alike(self, passage: CharacterSpan) -> tuple[CharacterSpan, ...]:
        """Return those with the text of a passage, up to white space, in the order of the documents."""
        return tuple(self._alike[_collapsed(passage.text)])

    def covered(self, span: CharacterSpan) -> Sequence[CharacterSpan]:
        """Return the passages of which a place covers at least half or, if there is none, the one it covers most of."""
        listed = self._of.get(span.doc_id, [])
        begin = max(bisect_right(listed, span.start, key=lambda passage: passage.start) - 1, 0)
        end = bisect_right(listed, span.end, key=lambda passage: passage.start)
        shared = [(passage.overlap_chars(span), passage) for passage in listed[begin:end] if passage.overlaps(span)]
        half = [passage for overlap, passage in shared if 2 * overlap >= passage.length()]
        return half or [passage for _, passage in sorted(shared, key=lambda pair: -pair[0])[:1]]


def _collapsed(text: str) -> str:
    return " ".join(text.split())
