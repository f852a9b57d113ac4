import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    PositionAwareChunk,
    Query,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.data import DOCUMENT, TOKEN, DocumentLevelGroundTruth, Hit
from rag_evaluation_framework.labels import quote_locator
from rag_evaluation_framework.labels.hit_locator import HitLocator
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from rag_evaluation_framework.testing import FixedRetriever, ReversingReranker
from rag_evaluation_framework.text.text_locator import SearchedTexts

FOOTER = "All rights reserved."
PLACES_OF_FOOTER = [*range(0, 50 * len(FOOTER), len(FOOTER))]


def corpus(**texts):
    return Corpus([Document(DocumentId(name.replace("__", "/")), text) for name, text in texts.items()])


def starts(ranking):
    return [hit.start for hit in ranking]


class TestRepeatedTexts:
    @pytest.mark.parametrize(
        ("texts", "named", "hits", "placed"),
        [
            ({"a": FOOTER * 50}, [], [Hit(text=FOOTER)] * 52, [*PLACES_OF_FOOTER, 0, 0]),
            ({"a": FOOTER * 3, "b": FOOTER * 50}, [], [Hit(DocumentId("b"), text=FOOTER)] * 50, PLACES_OF_FOOTER),
            ({"a": FOOTER * 50}, PLACES_OF_FOOTER[:40], [Hit(text=FOOTER)] * 10, PLACES_OF_FOOTER[40:]),
            ({"a.md": "<p>All <b>rights</b> reserved.</p>" * 3}, [], [Hit(text=FOOTER)] * 3, [3, 37, 71]),
            ({"a": FOOTER * 200}, [], [Hit(DocumentId("a"), 20 * 150 + 2, text=FOOTER)], [20 * 150]),
        ],
        ids=["anywhere", "in their document", "where no other result is", "as they are shown", "the nearest"],
    )
    def test_each_of_many_equal_texts_takes_the_next_free_place(self, texts, named, hits, placed):
        others = [Hit(DocumentId("a"), start, start + len(FOOTER)) for start in named]
        assert starts(HitLocator(corpus(**texts)).place((*others, *hits))) == [*named, *placed]

    def test_texts_over_many_documents_are_all_reached(self):
        many = Corpus(Document(DocumentId(f"{number:03}"), FOOTER) for number in range(90))
        placed = HitLocator(many).place((Hit(text=FOOTER),) * 90)
        assert [hit.doc_id for hit in placed] == [document.id for document in many]

    def test_a_text_is_looked_for_a_few_times_however_often_it_is_found(self, monkeypatch):
        searches = []
        search = SearchedTexts.occurrences
        monkeypatch.setattr(
            SearchedTexts, "occurrences", lambda self, *asked: searches.append(asked) or search(self, *asked)
        )
        many = corpus(a=FOOTER * 1_000)
        placed = HitLocator(many).place((Hit(text=FOOTER),) * 1_000)
        assert len(set(starts(placed))) == 1_000
        assert len(searches) < 10


class TestOneEnd:
    TEXT = "Ask us. Pay. Ask us. Bye. Ask us."

    @pytest.mark.parametrize(
        ("start", "end", "there"),
        [
            (13, None, 13),
            (None, 20, 13),
            (13, 1000, 13),
            (26, None, 26),
            (None, 7, 0),
            (14, None, 13),  # the nearest
            (900, None, 26),
            (None, 3, 0),
            (900, 1000, 26),
        ],
    )
    @pytest.mark.parametrize("name", ["guides/a.md", "/home/me/guides/a.md"], ids=["its name", "another name"])
    def test_a_text_is_at_the_end_that_is_named_or_near_its_start(self, name, start, end, there):
        locator = HitLocator(corpus(**{"guides__a.md": self.TEXT}))
        (placed,) = locator.place((Hit(DocumentId(name), start, end, text="Ask us."),))
        assert placed.span == CharacterSpan(DocumentId("guides/a.md"), there, there + 7)
        is_there = self.TEXT[start:].startswith("Ask us.") if start else self.TEXT[:end].endswith("Ask us.")
        assert bool(locator.misplaced) is not is_there
        assert bool(locator.ambiguous) is bool(locator.misplaced)

    def test_an_empty_text_is_nowhere(self):
        (placed,) = HitLocator(corpus(a=self.TEXT)).place((Hit(DocumentId("a"), 3, 1000, text=""),))
        assert placed == Hit(DocumentId("a"), text="")


class TestEqualIds:
    @pytest.mark.parametrize("text", [FOOTER, None])
    def test_an_id_that_comes_again_is_the_same_chunk(self, text):
        many = corpus(a=FOOTER * 3)
        chunks = [PositionAwareChunk.of(many["a"], start, start + len(FOOTER)) for start in (0, len(FOOTER))]
        hits = [Hit(chunk_id=chunks[0].id, text=text, score=score) for score in (0.5, 0.25)]
        placed = HitLocator(many, chunks).place((*hits, hits[0]))
        assert starts(placed) == [0, 0, 0]
        assert [hit.score for hit in placed] == [0.5, 0.25, 0.5]

    @pytest.mark.parametrize(
        ("text", "hits", "placed"),
        [
            (FOOTER * 3, [Hit(chunk_id=name, text=FOOTER) for name in "xyx"], [0, 20, 0]),
            ("Ask us. Pay.", [Hit(chunk_id="x", text="Ask us."), Hit(chunk_id="x", text="Pay.")], [0, 8]),
            (FOOTER * 3, [Hit(DocumentId("a"), start, None, "x", FOOTER) for start in (20, 0, 40)], [20, 0, 40]),
        ],
        ids=["ids of their own", "other texts under one id", "named places of one id"],
    )
    def test_other_ids_texts_or_named_places_are_other_chunks(self, text, hits, placed):
        assert starts(HitLocator(corpus(a=text)).place(tuple(hits))) == placed


class TestUnknownDocuments:
    def test_a_result_of_an_unknown_document_is_not_moved_to_another(self):
        both = corpus(a="Refunds take five days.", b="Other words.")
        found = Hit(DocumentId("https://example.org/x"), 0, 7, "c7", "Refunds", 0.5)
        locator = HitLocator(both)
        assert locator.place((found,)) == (Hit(found.doc_id, None, None, "c7", "Refunds", 0.5),)
        assert locator.unknown == {"https://example.org/x"}
        retriever = BM25Retriever()
        retriever.index(both)
        (chunk,) = (chunk for chunk in retriever.chunks() if chunk.doc_id == "a")
        only_an_id = Hit(DocumentId("x"), chunk_id=chunk.id)
        assert HitLocator(both, [chunk]).place((only_an_id,)) == (only_an_id,)

    @pytest.mark.parametrize("name", ["guides/a.md", "a.md", "a", "/home/me/guides/a.md", " a.md ", None, "", "  "])
    def test_file_names_and_stems_are_names_and_no_name_is_no_unknown_document(self, name):
        locator = HitLocator(corpus(**{"guides__a.md": "Refunds", "b.md": "Refunds"}))
        (placed,) = locator.place((Hit(name, text="Refunds"),))
        assert placed.span == CharacterSpan(DocumentId("guides/a.md"), 0, 7)
        assert locator.unknown == set()

    def test_a_name_of_several_documents_means_one_of_these(self):
        several = corpus(a="Refunds", en__faq="No. Refunds", de__faq="Refunds Refunds", b="Refunds")
        locator = HitLocator(several)
        placed = locator.place((Hit(DocumentId("faq"), text="Refunds"),) * 4)
        assert [(hit.doc_id, hit.start) for hit in placed] == [
            ("en/faq", 4),
            ("de/faq", 0),
            ("de/faq", 8),
            ("en/faq", 4),
        ]
        assert locator.place((Hit(DocumentId("faq"), text="elsewhere"),))[0].doc_id == "faq"
        assert locator.unknown == set()
        many = corpus(**{"x__guide.md": "ab. " * 25, "y__guide.md": "ab. "})  # the next free place is in any of them
        assert len({hit.span for hit in HitLocator(many).place((Hit(DocumentId("guide.md"), text="ab."),) * 26)}) == 26


BOTH = corpus(a="Refunds take five days. Ask us.", b="Invoices come monthly.")
FOREIGN = [
    {"doc_id": "old/x.md", "text": "Refunds take five days."},
    {"doc_id": "old/y.md", "text": "Ask us."},
    {"doc_id": "b", "text": "Invoices come monthly."},
]


def truth(level):
    query = Query.from_text("q")
    if level is DOCUMENT:
        return Dataset([DocumentLevelGroundTruth(query, [DocumentId("a"), DocumentId("b")])], level, corpus=BOTH)
    spans = [CharacterSpan(DocumentId("a"), 0, 23), CharacterSpan(DocumentId("b"), 0, 22)]
    return Dataset([TokenLevelGroundTruth(query, spans)], level, corpus=BOTH)


@pytest.mark.parametrize(
    "retriever",
    [
        FixedRetriever(FOREIGN),
        HybridRetriever([FixedRetriever(FOREIGN)]),
        RerankedRetriever(FixedRetriever(FOREIGN[::-1]), ReversingReranker()),
    ],
    ids=["plain", "hybrid", "reranked"],
)
@pytest.mark.parametrize(("level", "metric", "share"), [(TOKEN, "span_recall", 22 / 45), (DOCUMENT, "recall", 1 / 2)])
def test_results_of_unknown_documents_keep_their_rank_and_are_noted_with_an_example(retriever, level, metric, share):
    result = evaluate(retriever, truth(level), k=[2, 3])
    assert result.metrics[f"{metric}@2"] == 0
    assert result.metrics[f"{metric}@3"] == share
    assert [hit.doc_id for hit in result.queries[0].hits] == ["old/x.md", "old/y.md", "b"]
    assert [note for note in result.notes if "old/x.md" in note] == [
        "results that name a document which the corpus does not have: 2, such as 'old/x.md'; they are not located. Let "
        "the retriever name documents as the corpus does, or leave doc_id out to have their texts looked for everywhere"
    ]
    assert result.counts["unlocated_hits"] == (2 if level is TOKEN else 0)


class TestSources:
    """Metadata say where a text is from: it may be a document, and it may be `confluence` or the id of a row."""

    TEXTS = corpus(
        **{"v1__faq.md": "# One. Call us.", "v2__faq.md": "Call us.", "b.md": "Invoices.", "twice.md": FOOTER * 2}
    )

    def placed(self, text, *sources, start=None):
        locator = HitLocator(self.TEXTS)
        (found,) = locator.place((Hit(None, start, None, None, text, sources=sources),))
        assert found.sources == ()
        return found.doc_id, found.start, locator.unknown

    @pytest.mark.parametrize(
        ("text", "names", "start", "found"),
        [
            ("Invoices.", (), 700, ("b.md", 0, set())),
            ("Invoices.", ("confluence",), 700, ("b.md", 0, set())),
            ("Invoices.", ("v2/faq.pdf", "0b3e"), 700, ("b.md", 0, set())),
            ("Invoices.", ("  ",), 700, ("b.md", 0, set())),
            ("Invoices.", ("v2/faq.md",), None, ("b.md", 0, set())),
            ("Call us.", (), None, ("v1/faq.md", 7, set())),
            ("Call us.", ("v2/faq.md",), None, ("v2/faq.md", 0, set())),
            ("Call us.", ("confluence", "/data/v2/faq.md", "v1/faq.md"), None, ("v2/faq.md", 0, set())),
            (FOOTER, ("web", "twice.md"), len(FOOTER), ("twice.md", len(FOOTER), set())),  # where a start counts
            ("Elsewhere.", ("confluence", "v2/faq.md"), None, ("v2/faq.md", None, set())),
            ("Elsewhere.", ("confluence", "0b3e"), None, ("confluence", None, {"confluence"})),
        ],
    )
    def test_that_name_a_document_have_it_looked_for_there_first_and_then_everywhere(self, text, names, start, found):
        assert self.placed(text, *names, start=start) == found


class TestTextsThatAreNowhereVerbatim:
    """A loader drops markup, decodes entities and joins what stands in cells; a splitter deletes white space."""

    PAGE = (
        "<html><body><h1>Plan&nbsp;A</h1><p>The <b>plan</b> costs 10&nbsp;000&nbsp;&euro; a year, "
        "&ldquo;all included&rdquo;.</p><ul><li>First</li><li>Second&nbsp;item</li></ul>"
        "<table><tr><td>Cell</td><td>Value</td></tr></table><p>A value of -5 is an error.</p></body></html>"
    )

    def placed(self, text, name="a.md", page=PAGE):
        (found,) = HitLocator(Corpus([Document(DocumentId(name), page)])).place((Hit(text=text),))
        return None if found.span is None else page[found.start : found.end]

    @pytest.mark.parametrize(
        ("text", "there"),
        [
            ("The plan costs 10\u00a0000\u00a0€ a year", "The <b>plan</b> costs 10&nbsp;000&nbsp;&euro; a year"),
            ("Theplancosts10000€ayear", "The <b>plan</b> costs 10&nbsp;000&nbsp;&euro; a year"),
            ('"all included".', "&ldquo;all included&rdquo;."),
            ("FirstSecond itemCellValue", PAGE[PAGE.index("First") : PAGE.index("</td></tr>")]),
            ("an costs 10 0", "an</b> costs 10&nbsp;0"),
            ("(Second item)", "Second&nbsp;item"),
            ("The plan costs 20 000 €", None),
            ("value of 5 is", None),
            ("a year, all included", None),
            ("€", None),
            ("?!", None),
        ],
    )
    def test_are_located_by_their_words_unless_a_word_a_number_or_a_symbol_differs(self, text, there):
        assert self.placed(text) == there

    def test_markdown_is_found_as_it_is_shown_and_as_it_is_written(self):
        page = "# Plans\n\nThe *cheap* [plan](https://example.org/plans) costs 5\u00a0% less.\n"
        for text in ("The cheap plan costs 5% less.", "The *cheap* [plan](https://example.org/plans) costs 5% less."):
            assert self.placed(text, "a.md", page) == page[9:-1]

    @pytest.mark.parametrize("words", [1_500, 3_000, 30_000])
    def test_a_whole_page_is_found_however_long_it_is(self, words):
        page = "# Plans\n\n" + " ".join(f"*word*\n{number:05}" for number in range(words))
        for text in (page.replace("*", "").removeprefix("# "), "".join(page.split())):
            assert self.placed(text, "a.md", page) == page[2 * (text[0] != "#") :]

    def test_they_do_not_contradict_their_place(self):
        whole = Corpus([Document(DocumentId("a.md"), self.PAGE)])
        start = self.PAGE.index("The <b>")
        end = self.PAGE.index(" a year")
        span = CharacterSpan(DocumentId("a.md"), start, end, self.PAGE[start:end])
        entry = TokenLevelGroundTruth(Query.from_text("What does it cost?"), (span,))
        text = "The plan costs 10\u00a0000\u00a0€"
        result = evaluate(lambda query, k: [text], Dataset([entry], TOKEN, corpus=whole), k=1)
        assert result.metrics["span_recall@1"] == 1
        assert result.notes == ()


def test_a_text_without_letters_is_not_looked_for_by_words_for_which_all_documents_would_be_rendered():
    documents = corpus(a="<p>Refunds</p>")
    locator = QuoteLocator.of(documents)
    (found,) = HitLocator(documents).place((Hit(text="-----"),))
    assert found.span is None
    assert "markups" not in vars(locator)
    assert HitLocator(documents).place((Hit(text="Ref unds"),))[0].span is not None
    assert "markups" in vars(locator)


def test_a_text_that_differs_by_a_sign_from_very_many_places_is_given_up(monkeypatch):
    compared = []
    has_gap = quote_locator._has_gap
    monkeypatch.setattr(quote_locator, "_has_gap", lambda *given: compared.append(1) or has_gap(*given))
    many = corpus(a="Read the terms of use. " * 6_000 + "Read the terms = of use.")
    (found,) = HitLocator(many).place((Hit(text="Readtheterms=ofuse."),))
    assert found.span is None
    few = corpus(a="Read the terms of use. " * 99 + "Read the terms = of use.")
    (found,) = HitLocator(few).place((Hit(text="Readtheterms=ofuse."),))
    assert found.start == 99 * 23
    assert len(compared) < 20  # a place that shows what another one does is not compared again
