from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rag_evaluation_framework as rag
from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId, VectorRAGRetriever
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import (
    FunctionRetriever,
    HybridRetriever,
    InMemoryVectorStore,
    RerankedRetriever,
)
from rag_evaluation_framework.data import Chunk, Hit, Retrieval, Stage
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.testing import FixedRetriever, ReversingReranker
from support.each import each

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DEEP = "abcdefghijklmnopqrstz", "ABCDEFGHIJKLMNOPQRSTz"
CORPUS = Corpus([Document(DocumentId("letters.md"), LETTERS), Document(DocumentId("more.md"), LETTERS.upper())])


def letter(name, score=None):
    """The chunk of one letter: lower case stands in letters.md, upper case in more.md."""
    doc_id, place = ("letters.md", LETTERS.find(name)) if name.islower() else ("more.md", LETTERS.upper().find(name))
    return Hit(DocumentId(doc_id), place, place + 1, text=name, score=score)


def of(letters):
    return FixedRetriever([*map(letter, letters)])


def fused(*rankings, k=100, **parameters):
    """What is found where each retriever has scores of its own, which play no part."""
    scored = [[letter(name, 10.0 ** (3 * m) - n) for n, name in enumerate(names)] for m, names in enumerate(rankings)]
    retriever = HybridRetriever([*map(FixedRetriever, scored)], **parameters)
    retriever.index(CORPUS)
    return retriever.retrieve("?", k).hits


def texts(hits):
    return "".join(hit.text for hit in hits)


class TestFusion:
    @each(
        ("rankings", "parameters", "wanted", "scores"),
        [
            (("ab", "bc"), {}, "bac", [1 / 62 + 1 / 61, 1 / 61, 1 / 62]),
            (("ab", "bc"), {"weights": (0.2, 0.8)}, "bca", [0.2 / 62 + 0.8 / 61, 0.8 / 62, 0.2 / 61]),
            (("a", ""), {}, "a", [1 / 61]),  # alone, it is not perfect
            (("aba", "bc"), {}, "bac", [1 / 62 + 1 / 61, 1 / 61, 1 / 62]),  # what comes twice counts once
            (("aaab",), {}, "ab", [1 / 61, 1 / 62]),  # and leaves no gap
            # a has the ranks 1 and 10: 1/61 + 1/70 = .0307; b has 3 and 4: 1/63 + 1/64 = .0315
            (("axb", "yzwbefghia"), {}, "bayxzwefghi", None),
            (("axb", "yzwbefghia"), {"rrf_k": 0}, "aybxzwefghi", None),  # the first ranks stand out
            *((("abc", "cda"), given, "acbd", None) for given in ({}, {"weights": (0.5, 0.5)})),
            (("abc", "dec"), {"weights": (0, 1)}, "dec", None),  # without weight, a ranking is left out
            (("abc", "dec"), {"weights": (1, 0)}, "abc", None),
            # Ties keep the order of the retrievers and their rankings, in whatever order shares are added.
            (("ab", "ba"), {}, "ab", None),
            (("ba", "ab"), {}, "ba", None),
            (("ab", "cd", "ef"), {}, "acebdf", None),
            (("abc", "cab", "bca"), {}, "abc", None),
            (("", ""), {}, "", None),
            (("cab",), {}, "cab", None),
            *((("ab", "b"), {"k": k}, "", None) for k in (0, -1)),
            # What stands deep in both rankings can come first.
            *((DEEP, {"k": 1, "depth": depth}, wanted, None) for depth, wanted in ((21, "z"), (20, "a"))),
        ],
    )
    def test_a_result_is_worth_the_sum_of_its_reciprocal_ranks(self, rankings, parameters, wanted, scores):
        hits = fused(*rankings, **parameters)
        assert texts(hits) == wanted
        if scores is not None:
            assert [hit.score for hit in hits] == pytest.approx(scores, rel=1e-15)

    @each(
        ("first", "second", "wanted"),
        [
            ([("a.md", 0, 4), ("b.md", 0, 4)], [("b.md", 0, 4), ("a.md", 0, 4)], [("a.md", 0, 4), ("b.md", 0, 4)]),
            ([("a.md", 0, 1)], [("a.md", 0, 1)], [("a.md", 0, 1)]),
            ([("a.md", 0, 2)], [("a.md", 0, 1)], [("a.md", 0, 2), ("a.md", 0, 1)]),  # that overlap
        ],
    )
    def test_results_are_told_apart_by_their_places_whatever_their_texts_and_ids(self, first, second, wanted):
        rankings = [
            [Hit(DocumentId(name), start, end, f"{ids}_{start}", "same"[start:end]) for name, start, end in places]
            for ids, places in (("chunk", first), ("other", second))
        ]
        retriever = HybridRetriever([*map(FixedRetriever, rankings)])
        retriever.index(Corpus([Document(DocumentId("a.md"), "same"), Document(DocumentId("b.md"), "same")]))
        hits = retriever.retrieve("?", 5).hits
        assert [(hit.doc_id, hit.start, hit.end) for hit in hits] == wanted
        assert sum(hit.score for hit in hits) == pytest.approx(sum(1 / (61 + n) for n, _ in enumerate(first)) * 2)

    @given(
        st.lists(st.lists(st.sampled_from("abcdefghABC"), max_size=9), min_size=1, max_size=4),
        st.integers(0, 70),
        st.integers(1, 12),
        st.data(),
    )
    def test_it_agrees_with_exact_arithmetic(self, rankings, rrf_k, k, data):
        weights = data.draw(
            st.none()
            | st.lists(st.integers(0, 4), min_size=len(rankings), max_size=len(rankings)).filter(lambda ws: sum(ws) > 0)
        )
        worth: dict[str, Fraction] = {}
        for weight, ranking in zip(weights or [1] * len(rankings), rankings, strict=True):
            for name in dict.fromkeys(ranking):
                if weight:
                    share = Fraction(weight, rrf_k + [*dict.fromkeys(ranking)].index(name) + 1)
                    worth[name] = worth.get(name, Fraction(0)) + share
        hits = fused(*rankings, k=k, rrf_k=rrf_k, weights=weights)
        assert len(hits) == min(k, len(worth))
        assert [hit.score for hit in hits] == pytest.approx(sorted(map(float, worth.values()), reverse=True)[:k])
        assert [float(worth[hit.text]) for hit in hits] == pytest.approx([hit.score for hit in hits])
        assert len({hit.text for hit in hits}) == len(hits)


class TestDepth:
    def test_every_retriever_is_indexed_once_asked_for_one_depth_whatever_k_is_and_closed_once(self):
        parts = of("abc"), of("bcd")
        retriever = HybridRetriever(parts, depth=3)
        retriever.index(CORPUS)
        for k in (1, 3):
            retriever.retrieve("who?", k)
        retriever.retrieve_many(["?", "!"], 2)
        retriever.close()
        asked = [("retrieve", query, 3) for query in ("who?", "who?", "?", "!")]
        assert all(part.calls == [("index", CORPUS), *asked, ("close",)] for part in parts)
        assert HybridRetriever().depth == 100

    def test_the_ranking_at_k_begins_the_ranking_at_more_even_where_a_part_is_not_stable(self):
        def unstable(query, k):
            return [{"doc_id": "letters.md", "start": place, "end": place + 1} for place in range(k)][::-1]

        retriever = HybridRetriever([FunctionRetriever(unstable, stable=False), of("cbd")], depth=6)
        retriever.index(CORPUS)
        assert retriever.prefix_stable
        every = retriever.retrieve("?", 6).hits
        assert all(retriever.retrieve("?", k).hits == every[:k] for k in range(6))

    def test_a_ranking_that_ends_before_the_corpus_does_says_so(self):
        for depth, length, limit in ((2, 3, "depth=2 of HybridRetriever"), (10, 4, None)):
            retriever = HybridRetriever([of("abc"), of("bcd")], depth=depth)
            retriever.index(CORPUS)
            found = retriever.retrieve("?", 4)
            assert (len(found.hits), found.limit) == (length, limit)
            assert [each.limit for each in retriever.retrieve_many(["?", "!"], 4)] == [limit] * 2

    def test_more_than_was_asked_for_is_cut(self):
        class Greedy(FixedRetriever):
            def retrieve(self, query, k):
                return super().retrieve(query, k + 5)

        retriever = HybridRetriever([Greedy([*map(letter, "abcdef")])], depth=2)
        retriever.index(CORPUS)
        with collect_notes() as notes:
            assert texts(retriever.retrieve("?", 2).hits) == "ab"
        assert notes == ["Greedy returned more results than it was asked for; the first ones were read"]


class TestForeignResults:
    def test_texts_are_located_also_in_documents_by_another_name_and_meet_chunks_of_the_same_place(self, corpus):
        sentence = "Refunds take five working days."

        class Sentences(rag.Chunker):
            def chunk(self, text):
                return [part.strip() + "." for part in text.replace("\n", ". ").split(".") if part.strip()]

        retriever = HybridRetriever([BM25Retriever(Sentences()), lambda query, k: [sentence]])
        with pytest.warns(UserWarning, match="are not text of their document"):
            retriever.index(corpus)
        best, *others = retriever.retrieve("refunds", 5).hits
        assert (best.doc_id, best.text, best.score) == ("billing.md", sentence, pytest.approx(2 / 61))
        assert sentence not in [hit.text for hit in others]
        # A document may go by another name; the text of this one is that of another document, too.
        retriever = HybridRetriever([lambda query, k: [{"source": "/somewhere/stop.md", "text": "Support answers"}]])
        retriever.index(corpus)
        assert retriever.retrieve("?", 1).hits[0].doc_id == "guides/stop.md"

    @each(
        ("first", "second", "wanted"),
        [
            (
                ["no such text", "no such text", "another", {"doc_id": "gone.md", "text": "another"}],
                ["another", "no such text"],
                [
                    *((None, text, 1 / 61 + 1 / 62) for text in ("no such text", "another")),
                    ("gone.md", "another", 1 / 63),
                ],
            ),
            (
                [*[{"chunk_id": "c1", "text": "no such text"}] * 2, letter("a")],
                [letter("a")],
                [("letters.md", "a", 1 / 61 + 1 / 62), (None, "no such text", 1 / 61)],
            ),
        ],
    )
    def test_what_has_no_place_is_told_apart_by_document_and_text(self, first, second, wanted):
        retriever = HybridRetriever([lambda query, k: first, lambda query, k: second])
        retriever.index(CORPUS)
        hits = retriever.retrieve("?", 10).hits
        assert [(hit.doc_id, hit.text) for hit in hits] == [(doc_id, text) for doc_id, text, _ in wanted]
        assert [hit.score for hit in hits] == pytest.approx([score for *_, score in wanted])

    @each(("result", "found"), [("same", ["a.md", "b.md"]), ({"chunk_id": "c1", "text": "same"}, ["a.md"])])
    def test_a_text_that_comes_twice_is_the_next_copy_of_it_unless_its_chunk_id_does_too(self, result, found):
        retriever = HybridRetriever([lambda query, k: [result] * 2])
        retriever.index(Corpus([Document(DocumentId("a.md"), "same"), Document(DocumentId("b.md"), "same")]))
        with pytest.warns(UserWarning, match="occur more than once"):
            assert [hit.doc_id for hit in retriever.retrieve("?", 5).hits] == found

    def test_coroutines_and_generators_are_taken(self):
        async def later(query, k):
            return (hit for hit in (letter("a"), letter("b")))

        retriever = HybridRetriever([later, of("b")])
        retriever.index(CORPUS)
        assert texts(retriever.retrieve("?", 5).hits) == "ba"


class TestStages:
    def test_each_step_has_its_time_and_a_name_of_its_own_and_each_retriever_its_own_ranking(self):
        class Timed(FixedRetriever):
            def retrieve(self, query, k):
                return Retrieval((letter("a"), letter("b")), (Stage("embed", 0.5), Stage("search", 0.25)))

        inner = HybridRetriever([Timed(), of("bc"), of("b")], depth=9)
        inner.index(CORPUS)
        found = inner.retrieve("?", 1)
        assert [stage.name for stage in found.stages] == [
            "Timed/embed", "Timed/search", "FixedRetriever/retrieve", "FixedRetriever 2/retrieve", "fuse",
        ]  # fmt: skip
        assert [stage.seconds for stage in found.stages][:2] == [0.5, 0.25]
        assert all(stage.seconds >= 0 for stage in found.stages)
        assert found.stages[0].hits is None
        assert [texts(hits) for hits in (found.stages[1].hits, found.stages[2].hits, found.hits)] == ["ab", "bc", "b"]
        nested = HybridRetriever([inner, inner, of("a")])
        nested.index(CORPUS)
        names = [stage.name for stage in nested.retrieve("?", 1).stages]
        assert len(set(names)) == len(names) == 12


class TestWhole:
    def test_all_are_closed_also_where_one_cannot_be(self):
        class Stuck(FixedRetriever):
            def close(self):
                raise OSError("stuck")

        first, last = of("a"), of("b")
        with pytest.raises(OSError, match="stuck"):
            HybridRetriever([first, Stuck(), last]).close()
        assert first.calls == last.calls == [("close",)]

    def test_chunks_are_those_of_all_parts_each_once_unless_a_part_cannot_list_its_own(self, corpus):
        small, large = rag.RecursiveCharacterChunker(30), rag.RecursiveCharacterChunker(60)
        parts = [BM25Retriever(small), VectorRAGRetriever(small), BM25Retriever(large)]
        retriever = HybridRetriever(parts)
        retriever.index(corpus)
        places = [(chunk.doc_id, chunk.start, chunk.end) for chunk in retriever.chunks()]
        assert len(set(places)) == len(places)
        assert set(places) == {(chunk.doc_id, chunk.start, chunk.end) for part in parts for chunk in part.chunks()}
        whole = HybridRetriever([*parts, lambda query, k: []])
        whole.index(corpus)
        assert whole.chunks() is None

        class Tidied(FixedRetriever):
            def chunks(self):
                return [Chunk(rag.generate_chunk_id("x"), "x", DocumentId(name)) for name in ("a", "b", "b")]

        retriever = HybridRetriever([Tidied(), Tidied()])
        retriever.index(CORPUS)
        assert [chunk.doc_id for chunk in retriever.chunks()] == ["a", "b"]  # without a place, once per document

    def test_many_questions_are_asked_of_each_part_together(self):
        class Many(FixedRetriever):
            def retrieve_many(self, queries, k):
                calls.append((list(queries), k))
                return super().retrieve_many(queries, k)

        calls = []
        retriever = HybridRetriever([Many([letter("a")]), Many([letter("b")])], depth=4)
        retriever.index(CORPUS)
        rankings = retriever.retrieve_many(["x", "y"], 2)
        assert calls == [(["x", "y"], 4)] * 2
        assert [texts(ranking.hits) for ranking in rankings] == ["ab", "ab"]

    def test_a_part_that_loses_a_question_is_named(self):
        class Lossy(FixedRetriever):
            def retrieve_many(self, queries, k):
                return super().retrieve_many(queries, k)[1:]

        retriever = HybridRetriever([Lossy([letter("a")])])
        retriever.index(CORPUS)
        with pytest.raises(InputError, match=r"Lossy.retrieve_many returned 1 rankings for 2 questions"):
            retriever.retrieve_many(["x", "y"], 2)


class TestParameters:
    def test_two_parts_cannot_share_a_store(self):
        store = InMemoryVectorStore()
        shared = VectorRAGRetriever(vector_store=store)
        with pytest.raises(ConfigError, match="give each a store of its own"):
            HybridRetriever([shared, VectorRAGRetriever(rag.RecursiveCharacterChunker(50), vector_store=store)])
        with pytest.raises(ConfigError, match="give each a store of its own"):
            HybridRetriever([shared, HybridRetriever([BM25Retriever(), shared])])
        HybridRetriever([shared, VectorRAGRetriever(vector_store=InMemoryVectorStore())])

    def test_what_is_changed_later_changes_nothing(self):
        parts, weights = [BM25Retriever(), VectorRAGRetriever()], np.array([1, 3], dtype=np.float32)
        retriever = HybridRetriever(parts, weights)
        parts.clear()
        weights[:] = 0
        assert retriever == HybridRetriever(weights=(1, 3))
        assert retriever.weights == (1.0, 3.0)


class TestOnTheHandbook:
    def test_fused_search_is_evaluated_like_any_other_also_reranked_and_fused_again(self):
        dataset = load_handbook()
        retrievers = BM25Retriever(k1=1.2), VectorRAGRetriever(batch_size=7)
        result = rag.evaluate(HybridRetriever(retrievers), dataset, k=[5, 10])
        parts = [rag.evaluate(part, dataset, k=[5, 10]) for part in retrievers]
        assert not result.counts["failed"]
        weakest = min(part.metrics["span_recall@10"] for part in parts)
        assert result.metrics["span_recall@10"] >= weakest
        assert [*result.queries[0].stages] == [
            "BM25Retriever/search", "VectorRAGRetriever/embed", "VectorRAGRetriever/search", "fuse",
        ]  # fmt: skip
        again = HybridRetriever([RerankedRetriever(HybridRetriever(), ReversingReranker()), BM25Retriever()])
        result = rag.evaluate(again, dataset, k=3, budgets=[])
        assert result.queries[0].stages
        assert not result.counts["failed"]
