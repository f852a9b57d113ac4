"""Conformance suite for rerankers."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence

from ..base.coroutines import adapted
from ..contracts.roles import Reranker
from ..data import AnyChunk, Chunk, Document, DocumentId, PositionAwareChunk, generate_chunk_id
from .conformance import DOCUMENTS, FOOTER, QUESTIONS, assert_named

_TEXTS = (*DOCUMENTS.values(), "?!…", "report " * 1_500)
_QUERIES = (*QUESTIONS, FOOTER, "検索")


class RerankerConformance(ABC):
    """Conformance suite for rerankers: subclass it, return yours from `make`, and let pytest collect the subclass."""

    @abstractmethod
    def make(self) -> Reranker:
        """Return the reranker under test."""

    def test_every_chunk_is_returned_once(self) -> None:
        """No chunk is lost, invented, duplicated or changed."""
        reranker, chunks = adapted(self.make()), _chunks()
        for query in _QUERIES:
            ranked = _reranked(reranker, query, chunks)
            expected, got = Counter(map(repr, chunks)), Counter(map(repr, ranked))
            lost, extra = expected - got, got - expected
            assert not lost, f"{query!r}: lost {list(lost)[:2]}"
            assert not extra, f"{query!r}: returned {list(extra)[:2]}, which it was not given, or not so often"

    def test_equal_texts_at_two_positions_are_both_kept(self) -> None:
        """Chunks are distinguished by position."""
        reranker, chunks = adapted(self.make()), _chunks()
        expected = sorted(chunk.doc_id for chunk in chunks if chunk.content == FOOTER)
        for query in _QUERIES:
            ranked = _reranked(reranker, query, chunks)
            found = sorted(chunk.doc_id for chunk in ranked if chunk.content == FOOTER)
            assert found == expected, f"{query!r}: equal texts of {expected} came back as those of {found}"

    def test_chunks_without_a_position_are_all_kept(self) -> None:
        """A chunk whose position is not known comes back as it was given, equal ones of a document each."""
        reranker, chunks = adapted(self.make()), _chunks()
        expected = [chunk for chunk in chunks if isinstance(chunk, Chunk)]
        for query in _QUERIES:
            found = [chunk for chunk in _reranked(reranker, query, chunks) if not isinstance(chunk, PositionAwareChunk)]
            assert Counter(map(repr, found)) == Counter(map(repr, expected)), f"{query!r}: {expected} became {found}"

    def test_top_k_is_the_beginning_of_the_full_order(self) -> None:
        """The best `top_k` are the first of the full order; a larger `top_k` returns all, and 0 returns none."""
        reranker, chunks = adapted(self.make()), _chunks()
        for query in _QUERIES:
            every = _reranked(reranker, query, chunks)
            for top_k in (0, 1, 3, len(chunks), 10_000):
                best = _reranked(reranker, query, chunks, top_k)
                assert best == every[:top_k], f"{query!r}: top_k={top_k} gave {best}, all gave {every}"

    def test_no_chunks_give_no_chunks(self) -> None:
        """No chunks give no chunks."""
        reranker = adapted(self.make())
        for top_k in (None, 0, 5):
            ranked = _reranked(reranker, _QUERIES[0], (), top_k)
            assert ranked == [], f"top_k={top_k}: no chunks gave {ranked}"

    def test_the_order_is_the_same_every_time(self) -> None:
        """Asking again, also after other questions, or asking an equal reranker, gives the same order."""
        reranker, chunks = adapted(self.make()), _chunks()
        first = [_reranked(reranker, query, chunks) for query in _QUERIES]
        again = [_reranked(reranker, query, chunks) for query in reversed(_QUERIES)][::-1]
        other = adapted(self.make())
        anew = [_reranked(other, query, chunks) for query in _QUERIES]
        for number, query in enumerate(_QUERIES):
            assert again[number] == first[number], f"{query!r}: the order changed when asked again"
            assert anew[number] == first[number], f"{query!r}: an equal reranker gave another order"

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time, prepared or not."""
        reranker = adapted(self.make())
        assert_named(reranker, self.make())
        name = reranker.name
        reranker.prepare()
        assert reranker.name == name, f"called {name!r}, then {reranker.name!r}"


def _chunk(name: str, text: str) -> PositionAwareChunk:
    document = Document(DocumentId(name), f"# Title\n\n{text}\n")
    chunk = PositionAwareChunk.of(document, 9, 9 + len(text))
    return PositionAwareChunk(chunk.id, text, chunk.doc_id, chunk.start, chunk.end, {"section": name, "tags": ["a"]})


def _unplaced(name: str, text: str) -> Chunk:
    return Chunk(generate_chunk_id(text), text, DocumentId(name), {"section": name})


def _chunks() -> list[AnyChunk]:
    placed = [_chunk(f"{number}.md", text) for number, text in enumerate(_TEXTS)]
    changed = [_unplaced("changed.md", text) for text in (QUESTIONS[0], FOOTER, "?!…", FOOTER)]
    return [*placed, *changed]


def _reranked(reranker: Reranker, query: str, chunks: Sequence[AnyChunk], top_k: int | None = None) -> list[AnyChunk]:
    return list(reranker.rerank(query, chunks, top_k))
