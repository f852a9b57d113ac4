import math
import sys
from unicodedata import category, normalize

import bm25s
import numpy as np
import pytest
from bm25s.tokenization import Tokenized

import rag_evaluation_framework as rag
from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, InputError, NotIndexed
from rag_evaluation_framework.registry.records import describe
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


class TestRanking:
    def test_the_rarer_word_counts_more(self):
        retriever = lines("the agent", "the server", "the password", "the the")
        assert texts(retriever, "the server")[0] == "the server"

    def test_the_shorter_of_two_texts_comes_first(self):
        retriever = lines("server and agent and page and login", "server", "something else")
        assert texts(retriever, "server") == ["server", "server and agent and page and login"]

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

    def test_chunks_without_a_word_of_the_question_are_not_returned(self):
        assert texts(lines("the server", "an agent"), "server") == ["the server"]
        assert texts(lines("the server", "an agent"), "password") == []

    def test_case_plays_no_part(self):
        assert texts(lines("The SERVER", "other"), "server") == ["The SERVER"]

    def test_punctuation_and_underscores_separate_words(self):
        assert texts(lines("e-mail: api_key=5", "other"), "KEY") == ["e-mail: api_key=5"]

    def test_scripts_without_spaces_are_compared_by_the_character(self):
        retriever = lines("検索の評価", "天気予報", "ทดสอบ")
        assert texts(retriever, "評価")[0] == "検索の評価"
        assert texts(retriever, "ทดสอบ")[0] == "ทดสอบ"

    @pytest.mark.parametrize(("word", "other"), [("दिन", "दान"), ("cafe\u0301", "cafe")])
    def test_a_word_with_combining_marks_is_one_word(self, word, other):
        assert texts(lines(f"{word} x", f"{other} x"), word) == [f"{word} x"]

    def test_every_mark_is_part_of_its_word(self):
        marks = [mark for mark in map(chr, range(0x300, 0x10000)) if category(mark).startswith("M")]
        assert [mark for mark in marks if len(words(f"x{mark}y", None)) != 1] == []

    def test_k_of_zero_returns_nothing(self):
        assert lines("the server").retrieve("server", 0).hits == ()

    def test_asking_for_more_than_there_is_gives_all(self):
        assert len(texts(lines("server a", "server b"), "server", 1_000)) == 2


class TestLanguage:
    @pytest.mark.parametrize("question", ["refund", "Refunds", "refunding?"])
    def test_forms_of_a_word_are_one_word(self, question):
        assert texts(lines("Refunds are available", "other"), question) == ["Refunds are available"]

    def test_without_a_language_words_are_compared_whole(self):
        retriever = lines("servers", "to the other", language=None)
        assert texts(retriever, "server") == []
        assert texts(retriever, "the server") == ["to the other"]

    def test_stop_words_of_a_question_find_nothing(self):
        retriever = lines("how do I", "the refund policy")
        assert texts(retriever, "How do I get the refund?") == ["the refund policy"]
        assert texts(retriever, "How do I get an invoice?") == []

    def test_a_question_of_nothing_but_stop_words_is_searched_by_all_of_them(self):
        assert texts(lines("The Who", "an agent"), "Who are they?") == ["The Who"]

    def test_stop_words_of_chunks_count_as_their_length(self):
        assert texts(lines("a refund of it all", "refund", "other"), "refund") == ["refund", "a refund of it all"]

    def test_each_language_has_its_stems_and_stop_words(self):
        texts_of = ("Die Häuser stehen leer", "die Rechnung", "other")
        assert texts(lines(*texts_of, language="german"), "Wo ist die Haus?") == ["Die Häuser stehen leer"]
        assert texts(lines(*texts_of), "Haus") == []

    def test_texts_of_another_language_are_found_by_their_own_words(self):
        retriever = lines("Die Häuser stehen leer", "Дома пусты", "other")
        assert texts(retriever, "häuser") == ["Die Häuser stehen leer"]
        assert texts(retriever, "дома") == ["Дома пусты"]

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("istanbul", "İstanbul büyük"),
            ("iade", "İADE koşulları"),
            ("iade", "I\u0307ADE koşulları"),
            ("ışık", "IŞIK hızlı"),
            ("IŞIK", "ışık hızlı"),
            ("İADE", "iade koşulları"),
        ],
    )
    def test_turkish_has_two_letters_i_of_which_each_has_a_capital(self, question, text):
        assert texts(lines(text, "other", language="turkish"), question) == [text]

    def test_turkish_stop_words_are_stop_words_in_capitals(self):
        assert texts(lines("için", "iade", language="turkish"), "İADE İÇİN") == ["iade"]

    @pytest.mark.parametrize("language", ["english", None])
    def test_the_small_letter_of_i_has_a_dot_in_other_languages(self, language):
        assert texts(lines("IN ITALY", "other", language=language), "italy") == ["IN ITALY"]

    def test_scripts_without_spaces_are_not_stemmed(self):
        for language in ("english", None):
            assert texts(lines("検索の評価", "天気予報", language=language), "評価") == ["検索の評価"]

    @each("language", LANGUAGES)
    def test_every_language_finds_a_word(self, language):
        assert texts(lines("xylophon", "other", language=language), "xylophon") == ["xylophon"]

    def test_a_language_without_a_list_has_no_stop_words(self):
        assert texts(lines("ja talot", "muut", language="finnish"), "Ja talo") == ["ja talot"]
        assert texts(lines("ja talot", "ja muut", language="finnish"), "ja") == ["ja talot", "ja muut"]

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
        with pytest.raises(InputError, match=rf"made no chunks from {len(documents)} documents"):
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

    with pytest.raises(InputError, match=r"Wrong made .*expected chunks of the document"):
        BM25Retriever(chunker=Wrong()).index(Corpus([Document(DocumentId("a.md"), "text")]))
