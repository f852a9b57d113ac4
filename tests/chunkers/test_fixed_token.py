import inspect
import itertools
import sys
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_evaluation_framework import Document, DocumentId, FixedTokenChunker
from rag_evaluation_framework.errors import ConfigError, MissingDependency, TokenizerError
from rag_evaluation_framework.testing.chunkers import assert_linear
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support.each import each

CL100K = resolve_tokenizer("cl100k_base")
LONE_SURROGATES = [chr(0xD83D), chr(0xDE00), chr(0xD800)]
PROSE = "The agent restarts the server. Nobody has to wait for it, as that takes a second.\r\n\r\n" * 30
CHINESE = "中文没有空格所以整个句子是一个词" * 40


def cut(text, *sizes, **parameters):
    return FixedTokenChunker(*sizes, **parameters).chunk(text)


def places(text, *sizes, **parameters):
    document = Document(DocumentId("a.md"), text)
    return [(c.start, c.end) for c in FixedTokenChunker(*sizes, **parameters).chunk_with_positions(document)]


class TestParameters:
    def test_defaults_are_those_of_the_design(self):
        defaults = {name: p.default for name, p in inspect.signature(FixedTokenChunker).parameters.items()}
        assert defaults == {"tokens": 100, "overlap": 0, "tokenizer": "cl100k_base"}

    @pytest.mark.parametrize("sizes", [(0,), (-1,), (5, 5), (5, 9), (5, -1), (2.5,)])
    def test_impossible_sizes_are_refused(self, sizes):
        with pytest.raises(ConfigError, match=r"FixedTokenChunker: .*expected"):
            FixedTokenChunker(*sizes)

    def test_it_prints_its_sizes(self):
        assert FixedTokenChunker(50, 5).name == "FixedTokenChunker(tokens=50, overlap=5)"
        assert "50" in f"{FixedTokenChunker(50)}"

    def test_the_name_tells_tokenizers_apart(self):
        assert FixedTokenChunker(50, tokenizer="o200k_base").name != FixedTokenChunker(50).name

    def test_the_tokenizer_is_not_loaded_before_it_is_used(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "tiktoken", None)
        chunker = FixedTokenChunker(tokenizer="p50k_base")
        with pytest.raises(MissingDependency, match=r"\[tiktoken\]"):
            chunker.chunk("some words")

    def test_an_unknown_tokenizer_is_refused_when_it_is_used(self):
        with pytest.raises(TokenizerError, match="'words' is unknown"):
            cut("some words", tokenizer="words")


class TestWindows:
    def test_every_window_has_the_same_number_of_tokens(self):
        assert cut("one two three four five", 2) == ["one two", " three four", " five"]

    def test_no_chunk_of_prose_has_more_tokens_than_asked_for(self):
        counts = [CL100K.count(chunk) for chunk in cut(PROSE, 100)]
        assert max(counts) <= 100
        assert min(counts[:-1]) >= 98

    def test_chunks_tile_the_document(self):
        assert "".join(cut(PROSE, 30)) == PROSE
        found = places(PROSE, 30)
        assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])]

    def test_overlapping_windows_repeat_tokens(self):
        assert cut("one two three four five", 3, 1) == ["one two three", " three four five"]

    def test_the_repeated_text_has_the_tokens_of_the_overlap(self):
        found = places(PROSE, 20, 5)
        for before, after in itertools.pairwise(found):
            assert before[0] < after[0] <= before[1] < after[1]
            assert CL100K.count(PROSE[after[0] : before[1]]) == 5
        assert (found[0][0], found[-1][1]) == (0, len(PROSE))

    def test_a_short_text_is_one_chunk(self):
        assert cut("one two") == ["one two"]

    def test_blank_and_empty_texts_have_no_chunks(self):
        assert cut("") == cut(" \n\t ") == []

    def test_other_tokenizers_can_be_used(self):
        assert cut("a b c d e", 2, tokenizer=str.split) == ["a b ", "c d ", "e"]
        assert cut("abcde", 2, tokenizer=list) == ["ab", "cd", "e"]
        assert cut(PROSE, 50, tokenizer=CL100K.encoding) == cut(PROSE, 50)
        assert cut(PROSE, 50, tokenizer=CL100K) == cut(PROSE, 50)
        o200k = resolve_tokenizer("o200k_base")
        assert max(map(o200k.count, cut(CHINESE, 50, tokenizer="o200k_base"))) <= 50

    def test_special_tokens_are_ordinary_text(self):
        text = "before <|endoftext|> after"
        assert "".join(cut(text, 2)) == text
        assert max(map(CL100K.count, cut(text, 2))) <= 2


class TestCharacters:
    """T11: a token may end inside a character; a chunk never does."""

    @each("text", ["🫨" * 20, "検索の評価では、" * 10, "👩‍👩‍👧‍👦 and 👨‍🚒! " * 5, "e\u0301" * 30])
    @each("tokens", [1, 2, 3, 7])
    def test_no_character_is_cut(self, text, tokens):
        chunks = cut(text, tokens)
        assert "".join("".join(chunks).split()) == "".join(text.split())
        assert all("\ufffd" not in chunk for chunk in chunks)
        assert all(CL100K.count(chunk) <= tokens or len(chunk) == 1 for chunk in chunks)

    def test_a_script_without_spaces_fills_its_chunks(self):
        assert sum(map(len, cut(CHINESE, 100))) / len(cut(CHINESE, 100)) > 50

    @pytest.mark.parametrize("text", [CHINESE, "x1Z" * 400], ids=["Chinese", "one long word"])
    def test_a_callable_that_returns_numbers_fills_its_chunks_too(self, text):
        chunks = cut(text, 100, tokenizer=CL100K.encoding.encode_ordinary)
        assert "".join(chunks) == text
        assert all(CL100K.count(chunk) <= 100 for chunk in chunks)
        assert sum(map(len, chunks)) / len(chunks) > 50

    @settings(max_examples=200)
    @given(st.text(max_size=150), st.integers(3, 20), st.integers(0, 2))
    def test_any_text_is_cut_within_its_size(self, text, tokens, overlap):
        found = places(text, tokens, overlap)
        assert all(CL100K.count(text[start:end]) <= tokens or end - start == 1 for start, end in found)
        covered = {position for start, end in found for position in range(start, end)}
        assert all(position in covered or character.isspace() for position, character in enumerate(text))
        for before, after in itertools.pairwise(found):
            assert before[0] < after[0]
            assert before[1] < after[1]

    @settings(max_examples=150)
    @given(st.text(st.characters() | st.sampled_from(LONE_SURROGATES), max_size=80), st.integers(1, 9))
    def test_content_is_the_text_at_its_position(self, text, tokens):
        document = Document(DocumentId("a.md"), text)
        for chunk in FixedTokenChunker(tokens).chunk_with_positions(document):
            assert chunk.content == text[chunk.start : chunk.end]


class TestTime:
    @pytest.mark.parametrize("sizes", [(100,), (100, 99), (1,)])
    def test_ten_thousand_letters_without_a_separator(self, sizes):
        found = places("x" * 10_000, *sizes)
        assert (found[0][0], found[-1][1]) == (0, 10_000)
        assert_linear(lambda length: partial(places, "x" * length, *sizes), 2_500)

    def test_a_megabyte_of_prose(self):
        assert sum(map(len, cut(PROSE * 400, 200))) == len(PROSE * 400)
        assert_linear(lambda times: partial(cut, PROSE * times, 200), 50)
