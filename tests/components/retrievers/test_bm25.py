import sys
from fractions import Fraction
from unicodedata import category, normalize

import bm25s
import numpy as np
import pytest
from bm25s.tokenization import Tokenized

import rag_evaluation_framework as rag
from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId
from rag_evaluation_framework.contracts.component import shown_parameter
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.text.terms import LANGUAGES, question_words, stemmer, words
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
        (
            ("the agent", "the server", "the password", "the the"),
            {"language": None},
            "the server",
            ["the server", "the the", "the agent", "the password"],
        ),
        *(
            (("the server", "an agent here"), given, "server", ["the server"])
            for given in ({"k1": 0}, {"b": 0}, {"b": 1})
        ),
        *((("?!", "🚀"), {}, question, []) for question in ("server", "?!")),
        (("?!", "the server", "🚀"), {}, "server", ["the server"]),
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
        (("Refunds are available",), {}, "How long do I have to request a refund?", ["Refunds are available"]),
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
        for question in [*(query.text for query in handbook.queries), "a refund, a refund of reports"]:
            hits = retriever.retrieve(question, len(chunks)).hits
            stems = [stem(word) for word in question_words(question, "english")]
            scores = library.get_scores_from_ids([vocabulary[word] for word in stems if word in vocabulary])
            assert [hit.score for hit in hits] == np.sort(scores[scores > 0])[::-1].tolist()

    def test_ties_keep_the_order_of_the_documents(self):
        corpus = Corpus(Document(DocumentId(name), "the server restarts") for name in "dbca")
        retriever = BM25Retriever()
        retriever.index(corpus)
        for k in (2, 4):
            assert [hit.doc_id for hit in retriever.retrieve("server", k).hits] == list("dbca")[:k]

    def test_every_mark_is_part_of_its_word_and_many_are_normalised_as_unicode_streams_them(self):
        marks = [mark for mark in map(chr, range(0x300, 0x10000)) if category(mark).startswith("M")]
        assert [mark for mark in marks if len(words(f"x{mark}y", None)) != 1] == []
        usual = "e" + "\u0301\u0327" * 15
        assert words(usual, None) == [normalize("NFC", usual)]
        assert [len(word) for word in words("e" + "\u0301\u0327" * 50_000, None)] == [100_001 + 100_000 // 30 - 1]


class TestLanguage:
    @each("language", ["english", "german", None])
    def test_the_record_of_a_result_and_the_name_say_the_language(self, language):
        retriever = BM25Retriever(language=language)
        result = rag.evaluate(retriever, load_handbook(), k=1, budgets=[])
        assert result.config["retriever"]["language"] == describe(retriever)["language"] == language
        said = "" if language == "english" else f"(language={language!r})"
        assert retriever.name == f"BM25Retriever{said}"

    @each("k1", [np.float64(1.25), np.float32(1.25), Fraction(5, 4)])
    def test_the_name_says_numbers_as_records_do(self, k1):
        assert BM25Retriever(k1=k1).name == "BM25Retriever(k1=1.25)"
        assert shown_parameter(True) == "True"

    def test_the_public_help_center_sample_is_found_out_of_the_box(self, shared):
        path = shared / "data/harness_samples/seed004-help-center-mini.json"
        result = rag.evaluate(BM25Retriever(), rag.load_dataset(path, rag.DOCUMENT))
        assert result.metrics["recall@10"] == 1.0


def test_a_search_gives_whole_hits_and_its_time():
    retriever = lines("the server", "an agent")
    found = retriever.retrieve("agent", 1)
    (hit,) = found.hits
    wanted = Hit(DocumentId("a.md"), 11, 19, rag.generate_pa_chunk_id("an agent"), "an agent", hit.score)
    assert found.hits == (wanted,)
    assert hit.score > 0
    for question, k in (("agent", 1), ("agent", 0), ("zzzqqq", 1)):
        found = retriever.retrieve(question, k)
        assert bool(found.hits) is (question == "agent" and k > 0)
        assert [(stage.name, stage.seconds >= 0) for stage in found.stages] == [("search", True)]


def test_how_many_chunks_are_counted_at_once_changes_nothing(monkeypatch):
    handbook = load_handbook()

    def found():
        retriever = BM25Retriever(chunker=Lines())
        retriever.index(handbook.corpus)
        return [retriever.retrieve(query.text, 50).hits for query in handbook.queries]

    whole = found()
    monkeypatch.setattr(sys.modules[BM25Retriever.__module__], "_CHUNKS", 7)
    monkeypatch.setattr(sys.modules[BM25Retriever.__module__], "_PAIRS", 101)
    assert found() == whole
