import gc
from weakref import ref

from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.labels import quote_table
from rag_evaluation_framework.labels.hit_locator import HitLocator
from rag_evaluation_framework.testing import ReversingReranker
from rag_evaluation_framework.text.text_locator import TextLocator


def a_corpus():
    return Corpus([Document(DocumentId("a"), "one two one"), Document(DocumentId("b"), "three  four")])


def test_locators_of_one_corpus_share_one_text_index_also_those_of_a_reranked_hybrid():
    corpus = a_corpus()
    hybrid = HybridRetriever([BM25Retriever()])
    retriever = RerankedRetriever(hybrid, ReversingReranker())
    retriever.index(corpus)
    locators = [HitLocator(corpus), HitLocator(corpus), retriever._indexed.locator, hybrid._indexed]
    assert len({id(locator._locator) for locator in locators}) == 1
    assert len({id(locator._locator.verbatim._exact) for locator in locators}) == 1


def test_quotes_are_looked_for_in_the_index_that_is_shared(tmp_path, monkeypatch):
    corpus, made = a_corpus(), []
    kept = TextLocator.of(corpus)
    monkeypatch.setattr(quote_table, "locate_quote", lambda *given: made.append(given[2]) or quote_table.Fate())
    (tmp_path / "q.csv").write_text("question,quote\nWhere?,one two one\n")
    quote_table.check_quotes(tmp_path / "q.csv", corpus)
    assert [locator.verbatim for locator in made] == [kept]


def test_each_locator_counts_its_own_ambiguous_texts():
    corpus = a_corpus()
    first, second = HitLocator(corpus), HitLocator(corpus)
    first.place((Hit(text="one"),))
    second.place((Hit(text="two"),))
    assert (first.ambiguous, second.ambiguous) == ({"one"}, set())


def test_the_shared_index_goes_with_its_last_user_and_is_none_of_an_equal_corpus():
    corpus, equal = a_corpus(), a_corpus()
    locator = HitLocator(corpus)
    alive = ref(locator._locator.verbatim)
    gc.collect()
    assert alive() is TextLocator.of(corpus) is not TextLocator.of(equal)
    assert TextLocator.of(equal).corpus is equal
    del locator
    gc.collect()
    assert alive() is None


def test_what_a_caller_does_to_the_places_changes_nothing():
    locator = TextLocator.of(a_corpus())
    locator.places("one").clear()
    assert [span.start for span in locator.places("one")] == [0, 8]
    assert [span.start for span in locator.places("one", limit=1)] == [0]
