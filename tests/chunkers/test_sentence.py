import itertools
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_evaluation_framework import Document, DocumentId, SentenceChunker
from rag_evaluation_framework.errors import ConfigError, TokenizerError
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.testing.chunkers import assert_linear
from rag_evaluation_framework.text.sentence_boundaries import sentence_places
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support.each import each

CL100K = resolve_tokenizer("cl100k_base")
LONE_SURROGATES = [chr(0xD83D), chr(0xDE00)]
PIECES = [
    " ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u2028",
    "\u2029",
    ". ",
    ".",
    "? ",
    "…",
    "。",
    "”",
    "(",
    "Dr. ",
    "e.g. ",
    "A",
    "b",
    "1",
    "# ",
    "- ",
]

texts = st.lists(st.characters() | st.sampled_from([*PIECES, *LONE_SURROGATES]), max_size=80).map("".join)


def sentences(text):
    return [text[start:end] for start, end in sentence_places(text)]


def cut(text, **parameters):
    return SentenceChunker(**parameters).chunk(text)


def places(text, **parameters):
    chunks = SentenceChunker(**parameters).chunk_with_positions(Document(DocumentId("a.md"), text))
    return [(chunk.start, chunk.end) for chunk in chunks]


class TestBoundaries:
    @each(
        "text",
        [
            "One two. ¦Three four.",
            "Really? ¦Yes! ¦No.",
            "What?! ¦Never!! ¦Good.",
            "Wait… ¦What now?",
            # abbreviations, initials, numbers
            "See Fig. 2.1 for more, e.g. there. ¦Dr. Smith agreed.",
            "See Sec. IV and Fig. A.1, i.e. both (cf. Eq. 3). ¦Then go on.",
            "Mr. and Mrs. X. Y. Zed met J. R. R. Tolkien. ¦They talked.",
            "Acme Inc. and Sons Ltd. are firms. ¦Bread, milk etc. are food.",
            "It ended in Jan. 2024, say Smith et al. ¦The rest is known.",
            "The U.S. Army left the U.S. ¦They came at 5 p.m. ¦Then all slept.",
            "He got a Ph.D. ¦In 2010 he left.",
            "Is it? ¦No. ¦It is No. 5 of No. 12.",
            "It cost 3.50 dollars, or 1.000,5. ¦Then v2.0.1 came.",
            "It costs 3. ¦Nobody pays.",
            "It is not I. ¦Plan B. ¦The next one.",
            "Visit example.com/a.b?c=d. ¦Then go.",
            # quotes and brackets
            '"Is it so?" he asked. ¦"Yes." ¦Then silence.',
            "He said “Stop.” ¦Then (so they say.) ¦And left.",
            "Is known.[2] ¦Next.[13][14] ¦Last.",
            "It is **bold.** ¦And _slanted._ ¦End.",
            # ellipsis, and full stops between blanks
            "Then ... silence. ¦Then . . . silence. ¦Hm . . . ¦Then .",
            "One , two . ¦Three .",
            # lower case goes on, whatever the marks
            "Yahoo! is a firm. ¦So is she? asked one.",
            # other scripts
            "検索は楽しい。¦「はい。」¦終わり！¦次？",
            "本当?¦「はい」",
            "値は３．５です．¦次．",
            "पहला वाक्य। ¦दूसरा वाक्य।",
            "مرحبا؟ ¦نعم۔",
            "Enough!\ufe0f ¦🎉 Great.",
            # paragraphs, lines, lists, headings, tables
            "No stop here\n\n¦New one",
            "No stop here\r\n\r\n¦New one\r\r¦Third",
            "No stop here\u2029¦New one",
            "A line\ngoes on\r\nand on. ¦Next",
            "Intro:\n¦- first. ¦Item one,\n  goes on\n¦- second\n¦* third\n¦1. Fourth\n¦2) Fifth",
            "# Title\n¦Text of\nit. ¦\\# more",
            "#### 1. Title\n¦1. First. ¦Still.",
            "| a | b. ¦C |\n¦| Dr. | d |\n¦Text",
        ],
    )
    def test_sentences_end_where_a_reader_ends_them(self, text):
        assert sentences(text.replace("¦", "")) == text.split("¦")

    def test_white_space_stays_with_the_sentence_before_and_at_the_start_with_the_first(self):
        assert sentences(" \n\n One.  \n\nTwo. ") == [" \n\n One.  \n\n", "Two. "]

    def test_an_empty_text_has_no_sentences(self):
        assert sentences("") == []
        assert sentences(" \n ") == [" \n "]

    @settings(max_examples=400)
    @given(texts)
    def test_sentences_tile_any_text(self, text):
        found = sentence_places(text)
        assert "".join(text[start:end] for start, end in found) == text
        assert all(start < end for start, end in found)
        assert all(not text[start:end].isspace() for start, end in found) or not text.strip()

    @settings(max_examples=200)
    @given(texts)
    def test_no_boundary_parts_a_line_break_of_two_characters(self, text):
        assert all(text[start - 1 : start + 1] != "\r\n" for start, _ in sentence_places(text) if start)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "part",
        [".", ". ", '"', ". '", "\n", " \n", "a.b", "J. ", "1. ", "> ", ". [1]", "- ", "e.g. ", "。", "x", "(. "],
    )
    def test_anything_takes_linear_time(self, part):
        assert_linear(lambda length: partial(sentence_places, part * (length // len(part))), 50_000)


class TestParameters:
    def test_without_a_size_it_is_that_of_the_other_chunkers(self):
        assert SentenceChunker() == SentenceChunker(chunk_size=200)
        assert SentenceChunker().sentences is None

    @pytest.mark.parametrize(
        "parameters",
        [
            {"chunk_size": 0},
            {"chunk_size": 1.5},
            {"chunk_size": True},
            {"sentences": 0},
            {"chunk_size": 10, "overlap": 10},
            {"sentences": 2, "overlap": 2},
            {"overlap": -1},
            {"overlap": 200},
            {"chunk_size": 200, "sentences": 2},
        ],
    )
    def test_impossible_sizes_are_refused(self, parameters):
        with pytest.raises(ConfigError, match=r"SentenceChunker: .*expected"):
            SentenceChunker(**parameters)

    def test_the_name_tells_the_sizes(self):
        assert SentenceChunker().name == "SentenceChunker(chunk_size=200, overlap=0)"
        assert SentenceChunker(sentences=3, overlap=1).name == "SentenceChunker(sentences=3, overlap=1)"
        assert "length=cl100k_base" in SentenceChunker(chunk_size=9, length="cl100k_base").name
        assert "200" in f"{SentenceChunker()}"

    def test_configurations_name_it(self):
        assert build("chunker", "sentence:sentences=3,overlap=1") == SentenceChunker(sentences=3, overlap=1)
        for chunker in (SentenceChunker(), SentenceChunker(sentences=3)):
            assert build("chunker", describe(chunker)) == chunker

    def test_what_cannot_measure_is_refused_when_it_is_used(self):
        with pytest.raises(TokenizerError, match="unknown"):
            cut("some words", chunk_size=5, length="words")


class TestPacking:
    TEXT = "One two. Three four. Five six. Seven."

    def test_whole_sentences_are_put_together_as_long_as_they_fit(self):
        assert cut(self.TEXT, chunk_size=21) == ["One two. Three four. ", "Five six. Seven."]

    def test_sentences_are_counted(self):
        assert cut(self.TEXT, sentences=1) == ["One two. ", "Three four. ", "Five six. ", "Seven."]
        assert cut(self.TEXT, sentences=3) == ["One two. Three four. Five six. ", "Seven."]

    def test_overlap_repeats_whole_sentences(self):
        assert cut(self.TEXT, sentences=2, overlap=1) == [
            "One two. Three four. ",
            "Three four. Five six. ",
            "Five six. Seven.",
        ]
        assert cut(self.TEXT, chunk_size=22, overlap=12) == [
            "One two. Three four. ",
            "Three four. Five six. ",
            "Five six. Seven.",
        ]

    def test_an_overlap_smaller_than_a_sentence_repeats_nothing(self):
        assert cut(self.TEXT, chunk_size=22, overlap=5) == cut(self.TEXT, chunk_size=22)

    def test_only_a_sentence_that_is_too_long_is_cut(self):
        assert cut("Short one. A sentence too long for it. Short.", chunk_size=12) == [
            "Short one. ",
            "A sentence ",
            "too long ",
            "for it. ",
            "Short.",
        ]

    def test_a_long_word_is_cut_too(self):
        assert cut("x" * 10, chunk_size=4) == ["xxxx", "xxxx", "xx"]
        assert [len(chunk) for chunk in cut("x" * 10_000)] == [200] * 50

    def test_long_sentences_stay_whole_when_sentences_are_counted(self):
        long = "Word " * 1_000 + "end. "
        assert cut(long * 2, sentences=1) == [long, long]

    def test_sizes_count_tokens(self):
        text = "The agent restarts the server. Nobody has to wait for it. " * 20
        chunks = cut(text, chunk_size=30, length="cl100k_base")
        assert "".join(chunks) == text
        assert 20 < max(map(CL100K.count, chunks)) <= 30
        assert all(chunk.rstrip().endswith(".") for chunk in chunks)

    def test_blank_and_empty_texts_have_no_chunks(self):
        assert cut("") == cut(" \n\n\t ") == cut(" \n", sentences=2) == []

    @settings(max_examples=200)
    @given(texts, st.integers(1, 30), st.data())
    def test_chunks_cover_any_text_within_their_size(self, text, size, data):
        overlap = data.draw(st.integers(0, size - 1))
        found = places(text, chunk_size=size, overlap=overlap)
        covered = {position for start, end in found for position in range(start, end)}
        assert all(position in covered or character.isspace() for position, character in enumerate(text))
        assert all(0 < end - start <= size for start, end in found)
        for before, after in itertools.pairwise(found):
            assert before[0] < after[0]
            assert before[1] < after[1]
            assert before[1] - after[0] <= overlap

    @settings(max_examples=200)
    @given(texts, st.integers(1, 5), st.data())
    def test_chunks_of_so_many_sentences_are_windows_over_them(self, text, count, data):
        overlap = data.draw(st.integers(0, count - 1))
        found = sentence_places(text)
        wanted = []
        for first in range(0, len(found), count - overlap):
            last = min(first + count, len(found)) - 1
            wanted.append((found[first][0], found[last][1]))
            if last == len(found) - 1:
                break
        assert places(text, sentences=count, overlap=overlap) == (wanted if text.strip() else [])
