import math
import sys
from unicodedata import category, normalize

import bm25s
import numpy as np
import pytest
from bm25s.tokenization import Tokenized

import rag_evaluation_framework as rag
from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId
from rag_evaluation_framework.contracts.registry.records import describe
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, InputError, NotIndexed
from rag_evaluation_framework.text.terms import LANGUAGES, question_words, stemmer, words
from rag_evaluation_framework.types import Query, QueryId, QueryText
from support.chunkers import Lines
from support.each import each


def lines(*texts, **parameters):
    """A retriever over these texts, each a chunk of its own."""
    retriever = BM25Retriever(chunker=Lines(), **parameters)
    retriever.index(Corpus([Document(DocumentId("a.md"), "\n".join(texts))]))
    return retriever


def texts(retriever, query, k=10):
    return [hit.text for hit in retriever.retrieve(query, k).hits]


@each(
    ("given", "parameters", "question", "found"),
    [
        # Chunks without a word of the question are not returned; the rarer word counts more, and the shorter text.
        (("the server", "an agent"), {}, "server", ["the server"]),
        (("the server", "an agent"), {}, "password", []),
        (("server a", "server b"), {}, "server", ["server a", "server b"]),
        (("server and agent and page", "server", "else"), {}, "server", ["server", "server and agent and page"]),
        # Case plays no part, punctuation and underscores separate words, a word with combining marks is one word.
        (("The SERVER", "other"), {}, "server", ["The SERVER"]),
        (("e-mail: api_key=5", "other"), {}, "KEY", ["e-mail: api_key=5"]),
        *(((f"{w} x", f"{other} x"), {}, w, [f"{w} x"]) for w, other in (("दिन", "दान"), ("cafe\u0301", "cafe"))),
        # Scripts without spaces are compared by the character, and not stemmed.
        *((("検索の評価", "天気予報"), given, "評価", ["検索の評価"]) for given in ({}, {"language": None})),
        (("検索の評価", "ทดสอบ"), {}, "ทดสอบ", ["ทดสอบ"]),
        # Forms of a word are one word; without a language words are compared whole.
        *(
            (("Refunds are available", "other"), {}, question, ["Refunds are available"])
            for question in ("refund", "Refunds", "refunding?")
        ),
        (("servers", "to the other"), {"language": None}, "server", []),
        (("servers", "to the other"), {"language": None}, "the server", ["to the other"]),
        # Stop words of a question find nothing, unless it has no other words; those of chunks count as their length.
        (("how do I", "the refund policy"), {}, "How do I get the refund?", ["the refund policy"]),
        (("how do I", "the refund policy"), {}, "How do I get an invoice?", []),
        (("The Who", "an agent"), {}, "Who are they?", ["The Who"]),
        (("a refund of it all", "refund", "other"), {}, "refund", ["refund", "a refund of it all"]),
        # Each language has its stems and stop words, if there is a list of them.
        (
            ("Die Häuser stehen leer", "die Rechnung", "other"),
            {"language": "german"},
            "Wo ist die Haus?",
            ["Die Häuser stehen leer"],
        ),
        (("Die Häuser stehen leer", "die Rechnung", "other"), {}, "Haus", []),
        (("Die Häuser stehen leer", "Дома пусты", "other"), {}, "häuser", ["Die Häuser stehen leer"]),
        (("Die Häuser stehen leer", "Дома пусты", "other"), {}, "дома", ["Дома пусты"]),
        (("ja talot", "muut"), {"language": "finnish"}, "Ja talo", ["ja talot"]),
        (("ja talot", "ja muut"), {"language": "finnish"}, "ja", ["ja talot", "ja muut"]),
        *((("xylophon", "other"), {"language": language}, "xylophon", ["xylophon"]) for language in LANGUAGES),
        # Turkish has two letters i, of which each has a capital; elsewhere the small letter has a dot.
        *(
            ((text, "other"), {"language": "turkish"}, question, [text])
            for question, text in (
                ("istanbul", "İstanbul büyük"),
                ("iade", "İADE koşulları"),
                ("iade", "I\u0307ADE koşulları"),
                ("ışık", "IŞIK hızlı"),
                ("IŞIK", "ışık hızlı"),
                ("İADE", "iade koşulları"),
            )
        ),
        (("için", "iade"), {"language": "turkish"}, "İADE İÇİN", ["iade"]),
        *((("IN ITALY", "other"), {"language": language}, "italy", ["IN ITALY"]) for language in ("english", None)),
    ],
)
def test_what_a_question_finds(given, parameters, question, found):
    assert texts(lines(*given, **parameters), question, 1_000) == found


class TestRanking:
    def test_the_rarer_word_counts_more(self):
        retriever = lines("the agent", "the server", "the password", "the the")
        assert texts(retriever, "the server")[0] == "the server"

    def test_scores_are_those_of_the_formula(self):
        # Lucene's variant: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), tf / (tf + k1 (1 - b + b length / mean length))
        retriever = lines("server servers agent", "agent", "login page", k1=1.2, b=0.5)
        (hit,) = retriever.retrieve("server", 5).hits
        idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
        assert hit.score == pytest.approx(idf * 2 / (2 + 1.2 * (0.5 + 0.5 * 3 / 2)), rel=1e-5)

    @pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (1.2, 0.4), (0, 0), (2, 1)])
    def test_scores_are_those_of_bm25s(self, k1, b):
        handbook = load_handbook()
        retriever = BM25Retriever(k1=k1, b=b)
        retriever.index(handbook.corpus)
        stem, vocabulary = stemmer("english"), {}
        chunks = [
            [vocabulary.setdefault(stem(word), len(vocabulary)) for word in words(chunk.content, "english")]
            for chunk in retriever.chunks()
        ]
        library = bm25s.BM25(k1=k1, b=b)
        library.index(Tokenized(ids=chunks, vocab=vocabulary), show_progress=False)
        for query in handbook.queries:
            hits = retriever.retrieve(query.text, len(chunks)).hits
            stems = [stem(word) for word in question_words(query.text, "english")]
            scores = library.get_scores_from_ids([vocabulary[word] for word in stems if word in vocabulary])
            assert [hit.score for hit in hits] == np.sort(scores[scores > 0])[::-1].tolist()

    def test_a_word_asked_for_twice_counts_twice(self):
        retriever = lines("agent x x x", "server x", "other words here")
        once = {hit.text: hit.score for hit in retriever.retrieve("agent server", 5).hits}
        twice = {hit.text: hit.score for hit in retriever.retrieve("agent agent server", 5).hits}
        assert twice["agent x x x"] == pytest.approx(2 * once["agent x x x"], rel=1e-5)

    def test_ties_keep_the_order_of_the_documents(self):
        corpus = Corpus(Document(DocumentId(name), "the server restarts") for name in "dbca")
        retriever = BM25Retriever()
        retriever.index(corpus)
        for k in (2, 4):
            assert [hit.doc_id for hit in retriever.retrieve("server", k).hits] == list("dbca")[:k]

    def test_every_mark_is_part_of_its_word(self):
        marks = [mark for mark in map(chr, range(0x300, 0x10000)) if category(mark).startswith("M")]
        assert [mark for mark in marks if len(words(f"x{mark}y", None)) != 1] == []

    def test_k_of_zero_returns_nothing(self):
        assert lines("the server").retrieve("server", 0).hits == ()


class TestLanguage:
    @pytest.mark.parametrize("language", ["klingon", "porter", "English", "en", "", 5, True, ["english"]])
    def test_an_unknown_language_is_refused_with_those_there_are(self, language):
        with pytest.raises(ConfigError, match=r"BM25Retriever: language=.*arabic, .*english, .*yiddish, or None"):
            BM25Retriever(language=language)

    def test_the_refusal_says_that_scripts_without_spaces_need_no_language(self):
        said = (
            "; scripts without spaces, such as Japanese, are compared by the character whatever the language: the "
            "default will do"
        )
        with pytest.raises(ConfigError) as caught:
            BM25Retriever(language="japanese")
        assert str(caught.value).endswith(said)

    def test_the_record_and_the_name_say_the_language(self):
        assert describe(BM25Retriever())["language"] == "english"
        assert describe(BM25Retriever(language=None))["language"] is None
        assert BM25Retriever(language="german").name == "BM25Retriever(language='german')"
        assert BM25Retriever(language=None).name == "BM25Retriever(language=None)"

    def test_a_result_says_the_language(self):
        result = rag.evaluate(BM25Retriever(), load_handbook(), k=1, budgets=[])
        assert result.config["retriever"]["language"] == "english"

    def test_the_question_of_the_help_center_finds_its_only_document(self):
        corpus = Corpus([Document(DocumentId("refund-policy"), "Refunds are available within 30 days...")])
        asked = Query(QueryId("q"), QueryText("How long do I have to request a refund?"))
        dataset = rag.Dataset([rag.DocumentLevelGroundTruth(asked, ["refund-policy"])], rag.DOCUMENT)
        assert rag.DocumentLevelEvaluation(corpus, dataset).run(k=10).metrics["recall@10"] == 1.0

    def test_the_public_help_center_sample_is_found_out_of_the_box(self, shared):
        path = shared / "data/harness_samples/seed004-help-center-mini.json"
        result = rag.evaluate(BM25Retriever(), rag.load_dataset(path, rag.DOCUMENT))
        assert result.metrics["recall@10"] == 1.0

    def test_marks_in_a_row_are_normalised_as_unicode_streams_them(self):
        usual = "e" + "\u0301\u0327" * 15
        assert words(usual, None) == [normalize("NFC", usual)]
        assert [len(word) for word in words("e" + "\u0301\u0327" * 50_000, None)] == [100_001 + 100_000 // 30 - 1]


class TestHits:
    def test_a_hit_is_complete(self, corpus):
        retriever = BM25Retriever()
        retriever.index(corpus)
        hit = retriever.retrieve("refunds", 1).hits[0]
        assert (hit.doc_id, hit.start, hit.end) == ("billing.md", 0, len(corpus["billing.md"].content))
        assert hit.text == corpus["billing.md"].content
        assert hit.chunk_id == rag.generate_pa_chunk_id(hit.text)
        assert hit.score > 0

    def test_the_search_is_timed(self, corpus):
        retriever = BM25Retriever()
        retriever.index(corpus)
        for question in ("refunds", "zzzqqq"):
            (stage,) = retriever.retrieve(question, 1).stages
            assert stage.name == "search"
            assert stage.seconds >= 0

    def test_the_chunks_are_listed(self, corpus):
        retriever = BM25Retriever(chunker=rag.RecursiveCharacterChunker(chunk_size=40))
        retriever.index(corpus)
        assert list(retriever.chunks()) == [
            chunk for document in corpus for chunk in retriever.chunker.chunk_with_positions(document)
        ]


class TestIndex:
    def test_how_many_chunks_are_counted_at_once_changes_nothing(self, monkeypatch):
        handbook = load_handbook()

        def found():
            retriever = BM25Retriever(chunker=Lines())
            retriever.index(handbook.corpus)
            return [retriever.retrieve(query.text, 50).hits for query in handbook.queries]

        whole = found()
        monkeypatch.setattr(sys.modules[BM25Retriever.__module__], "_CHUNKS", 7)
        monkeypatch.setattr(sys.modules[BM25Retriever.__module__], "_PAIRS", 101)
        assert found() == whole

    @pytest.mark.parametrize("documents", [[], ["", " \n"]])
    def test_a_corpus_without_text_is_refused(self, documents):
        corpus = Corpus(Document(DocumentId(str(number)), text) for number, text in enumerate(documents))
        with pytest.raises(InputError, match="made no chunks of 0 documents with text"):
            BM25Retriever().index(corpus)

    def test_a_corpus_without_words_finds_nothing(self):
        retriever = lines("?!", "🚀")
        assert texts(retriever, "server") == texts(retriever, "?!") == []

    def test_documents_without_words_are_no_trouble(self):
        assert texts(lines("?!", "the server", "🚀"), "server") == ["the server"]

    def test_a_failed_index_is_no_index(self):
        with pytest.raises(NotIndexed, match=r"call index\(corpus\) before retrieve\(\)"):
            BM25Retriever().retrieve("server", 3)

    def test_closing_forgets_the_index(self):
        retriever = lines("the server")
        retriever.close()
        with pytest.raises(NotIndexed):
            retriever.retrieve("server", 1)
        with pytest.raises(NotIndexed):
            retriever.chunks()

    def test_a_plain_chunker_is_wrapped(self):
        assert [(hit.start, hit.end) for hit in lines("the server", "an agent").retrieve("agent", 1).hits] == [(11, 19)]

    def test_a_chunker_that_knows_positions_is_used_directly(self, corpus):
        class Spy(rag.RecursiveCharacterChunker):
            def chunk(self, text):
                raise AssertionError("chunk() was called")

        retriever = BM25Retriever(chunker=Spy())
        retriever.index(corpus)
        assert retriever.retrieve("refunds", 1).hits


class TestParameters:
    @pytest.mark.parametrize(
        "parameters",
        [{"k1": -0.1}, {"b": -0.1}, {"b": 1.1}, {"k1": math.nan}, {"b": math.nan}, {"k1": math.inf}],
    )
    def test_impossible_parameters_are_refused(self, parameters):
        with pytest.raises(ConfigError, match=r"expected a number (of at least 0|from 0 to 1)$"):
            BM25Retriever(**parameters)

    @each("name", ["k1", "b"])
    @each("value", ["x", "0.5", None, True, [1], 10**400])
    def test_a_parameter_that_is_not_a_number_is_refused(self, name, value):
        with pytest.raises(ConfigError, match=f"^BM25Retriever: {name}=.*; expected a number"):
            BM25Retriever(**{name: value})

    def test_the_limits_are_allowed(self):
        for parameters in ({"k1": 0}, {"b": 0}, {"b": 1}):
            assert texts(lines("the server", "an agent here", **parameters), "server") == ["the server"]

    def test_the_index_is_no_parameter(self):
        assert lines("the server").k1 == 1.5
        indexed = BM25Retriever()
        indexed.index(Corpus([Document(DocumentId("a"), "the server")]))
        assert indexed == BM25Retriever()
        assert hash(indexed) == hash(BM25Retriever())
        assert indexed.name == "BM25Retriever"

    def test_the_name_shows_what_was_changed(self):
        name = BM25Retriever(rag.RecursiveCharacterChunker(300), k1=0.9).name
        assert name == "BM25Retriever(chunker=RecursiveCharacterChunker(chunk_size=300, overlap=0), k1=0.9)"


@pytest.mark.parametrize(
    "chunk",
    [
        "no chunk",
        rag.PositionAwareChunk(rag.generate_pa_chunk_id("x"), "x", DocumentId("b.md"), 0, 1),
        rag.PositionAwareChunk(rag.generate_pa_chunk_id("x"), "x", DocumentId("a.md"), 0, 99),
    ],
    ids=["text", "another document", "behind the end"],
)
def test_a_chunker_that_makes_what_is_no_chunk_of_the_document_is_named(chunk):
    class Wrong(rag.PositionAwareChunker):
        def chunk_with_positions(self, document):
            return [chunk]

    with pytest.raises(InputError, match=r"Wrong (made|returned) .*expected chunks of the document"):
        BM25Retriever(chunker=Wrong()).index(Corpus([Document(DocumentId("a.md"), "text")]))
