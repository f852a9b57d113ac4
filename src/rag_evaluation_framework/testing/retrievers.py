"""Conformance suite for retrievers."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from unittest import SkipTest

from ..adapt import as_hits
from ..base.coroutines import adapted
from ..contracts import Retriever
from ..data import Corpus, Document, DocumentId
from ..data.hits import Ranking
from ..errors import NotIndexed
from .conformance import DOCUMENTS, FOOTER, OTHER_DOCUMENTS, QUESTIONS, STRANGE_QUESTIONS, assert_named


def _corpus(texts: dict[str, str]) -> Corpus:
    return Corpus(Document(DocumentId(name), text) for name, text in texts.items())


class RetrieverConformance(ABC):
    """Conformance suite for retrievers: subclass it, return yours from `make`, and let pytest collect the subclass.

    The suite brings its own small corpus; the retriever is indexed with it.
    """

    @abstractmethod
    def make(self) -> Retriever:
        """Return the retriever under test, not indexed yet."""

    def test_retrieving_before_indexing_raises(self) -> None:
        """Without an index there is nothing to retrieve: NotIndexed."""
        try:
            found = _ranking(adapted(self.make()), QUESTIONS[0], 3)
        except NotIndexed:
            return
        raise AssertionError(f"expected NotIndexed, got {found}")

    def test_at_most_k_results_come_back(self) -> None:
        """Never more than `k`; fewer, without an error, if there are fewer."""
        with self._indexed() as retriever:
            for k in (1, 2, 5, 10_000):
                for query in QUESTIONS:
                    found = len(_ranking(retriever, query, k))
                    assert found <= k, f"{query!r}: {found} results for k = {k}"

    def test_something_is_found(self) -> None:
        """A question in the words of the corpus has results."""
        with self._indexed() as retriever:
            for query in QUESTIONS:
                assert _ranking(retriever, query, 3), f"{query!r}: no results"

    def test_best_results_come_first(self) -> None:
        """If results have scores, the scores never rise."""
        with self._indexed() as retriever:
            for query in QUESTIONS:
                scores = [hit.score for hit in _ranking(retriever, query, 50) if hit.score is not None]
                assert scores == sorted(scores, reverse=True), f"{query!r}: scores {scores}"

    def test_rankings_are_the_same_every_time(self) -> None:
        """Asking again, or asking another retriever with the same parameters, gives the same ranking."""
        with self._indexed() as retriever, self._indexed() as other:
            for query in QUESTIONS:
                ranking = _ranking(retriever, query, 20)
                _assert_same(_ranking(retriever, query, 20), ranking, f"{query!r}, asked twice")
                _assert_same(_ranking(other, query, 20), ranking, f"{query!r}, asked of an equal retriever")

    def test_a_short_ranking_is_the_beginning_of_a_long_one(self) -> None:
        """The ranking at `k` is the beginning of the ranking at a larger `k`; skipped if that is not claimed."""
        with self._indexed() as retriever:
            if retriever.prefix_stable is not True:
                raise SkipTest(f"prefix_stable is {retriever.prefix_stable}")
            for query in QUESTIONS:
                long = _ranking(retriever, query, 40)
                for k in (1, 3, 10):
                    _assert_same(_ranking(retriever, query, k), long[:k], f"{query!r}, k = {k} and 40")

    def test_results_are_text_of_the_corpus(self) -> None:
        """Documents exist, positions lie inside them, and each text is that at its position, white space apart."""
        corpus = _corpus(DOCUMENTS)
        with self._indexed() as retriever:
            for hit in (hit for query in QUESTIONS for hit in _ranking(retriever, query, 50)):
                assert hit.doc_id is None or hit.doc_id in corpus, f"{hit}: there is no such document"
                if hit.doc_id is None or hit.start is None or hit.end is None:
                    continue
                content = corpus[hit.doc_id].content
                assert 0 <= hit.start <= hit.end <= len(content), f"{hit}: the document has {len(content)} characters"
                there = content[hit.start : hit.end]
                assert hit.text is None or hit.text.split() == there.split(), f"{hit}: the document has {there!r} there"

    def test_equal_texts_in_two_documents_are_both_found(self) -> None:
        """Results are told apart by place, so that a text in two documents does not lose one of them."""
        with self._indexed() as retriever:
            found = {hit.doc_id for hit in _ranking(retriever, FOOTER, 10_000) if hit.doc_id is not None}
            assert not found or {"footer/a.md", "footer/b.md"} <= found, f"found only in {sorted(found)}"

    def test_indexing_again_replaces_the_old_corpus(self) -> None:
        """After `index` of another corpus, only that one is searched."""
        other = _corpus(OTHER_DOCUMENTS)
        with self._indexed() as retriever:
            retriever.index(other)
            for query in QUESTIONS:
                for hit in _ranking(retriever, query, 50):
                    assert hit.doc_id is None or hit.doc_id in other, f"{query!r}: {hit} is of the old corpus"
            listed = retriever.chunks()
            assert listed is None or all(chunk.doc_id in other for chunk in listed), "chunks() lists the old corpus"

    def test_many_questions_get_the_same_rankings_as_one_by_one(self) -> None:
        """`retrieve_many` returns what `retrieve` returns for each question, in their order."""
        queries = [*QUESTIONS, *STRANGE_QUESTIONS[:2]]
        with self._indexed() as retriever:
            rankings = retriever.retrieve_many(queries, 4)
            assert len(rankings) == len(queries), f"{len(rankings)} rankings for {len(queries)} questions"
            for query, ranking in zip(queries, rankings, strict=True):
                hits = as_hits(ranking, retriever.name)
                _assert_same(hits, _ranking(retriever, query, 4), f"{query!r}, among many and alone")
            assert list(retriever.retrieve_many([], 4)) == [], "no questions have no rankings"

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time, indexed or not."""
        with self._indexed() as retriever:
            assert_named(self.make(), retriever)

    @contextmanager
    def _indexed(self) -> Generator[Retriever]:
        retriever = adapted(self.make())
        retriever.index(_corpus(DOCUMENTS))
        try:
            yield retriever
        finally:
            retriever.close()


def _ranking(retriever: Retriever, query: str, k: int) -> Ranking:
    return as_hits(retriever.retrieve(query, k), retriever.name)


def _assert_same(got: Ranking, expected: Ranking, what: str) -> None:
    shown = [[(hit.doc_id, hit.start, hit.end, hit.text) for hit in ranking] for ranking in (got, expected)]
    assert shown[0] == shown[1], f"{what}: {shown[0]} and {shown[1]}"
