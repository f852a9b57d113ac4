import inspect
import itertools
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_evaluation_framework import Document, DocumentId, RecursiveCharacterChunker
from rag_evaluation_framework.errors import ConfigError, TokenizerError
from rag_evaluation_framework.testing.chunkers import assert_linear
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

CL100K = resolve_tokenizer("cl100k_base")
LONE_SURROGATES = [chr(0xD83D), chr(0xDE00), chr(0xD800)]
CHINESE = "中文没有空格所以整个句子是一个词" * 40

texts = st.lists(
    st.characters() | st.sampled_from([" ", "\n", "\n\n", ".", "\r\n", "   ", *"ab", *LONE_SURROGATES]), max_size=120
).map("".join)
"""Any Unicode text, lone surrogates included, rich in separators."""
at = st.sampled_from(["end", "start"])


def cut(text, **parameters):
    return RecursiveCharacterChunker(**parameters).chunk(text)


def places(text, **parameters):
    document = Document(DocumentId("a.md"), text)
    chunks = RecursiveCharacterChunker(**parameters).chunk_with_positions(document)
    return [(chunk.start, chunk.end) for chunk in chunks]


def repeated(text, **parameters):
    """What each chunk repeats of the one before it."""
    found = places(text, **parameters)
    return [text[after[0] : before[1]] for before, after in itertools.pairwise(found)]


class TestParameters:
    def test_defaults_are_those_of_the_design(self):
        defaults = {name: p.default for name, p in inspect.signature(RecursiveCharacterChunker).parameters.items()}
        assert defaults == {
            "chunk_size": 200,
            "overlap": 0,
            "separators": ("\n\n", "\n", ".", "?", "!", " "),
            "length": "characters",
            "separator_at": "end",
        }

    @pytest.mark.parametrize(
        "parameters", [{"overlap": 200}, {"overlap": 300}, {"overlap": -1}, {"chunk_size": 0}, {"chunk_size": -5}]
    )
    def test_impossible_sizes_are_refused(self, parameters):
        with pytest.raises(ConfigError, match=r"RecursiveCharacterChunker: .*expected"):
            RecursiveCharacterChunker(**parameters)

    def test_the_error_is_a_value_error(self):
        with pytest.raises(ValueError, match="overlap=9 with chunk_size=9"):
            RecursiveCharacterChunker(chunk_size=9, overlap=9)

    @pytest.mark.parametrize("parameters", [{"chunk_size": 1.5}, {"chunk_size": 20, "overlap": 0.5}])
    def test_sizes_are_whole_numbers(self, parameters):
        with pytest.raises(ConfigError):
            RecursiveCharacterChunker(**parameters)

    def test_a_list_of_separators_changed_later_changes_nothing(self):
        separators = ["|"]
        chunker = RecursiveCharacterChunker(chunk_size=4, separators=separators)
        separators.append("b")
        assert chunker.separators == ("|",)
        assert RecursiveCharacterChunker().separators is RecursiveCharacterChunker().separators

    @pytest.mark.parametrize("separators", [[{"x": "y"}], ["\n", 30], [None], {"x": "y"}, 5, None, b"|"])
    def test_what_is_no_list_of_texts_is_no_list_of_separators(self, separators):
        with pytest.raises(ConfigError, match=r"separators=.*; expected a list of texts"):
            RecursiveCharacterChunker(separators=separators)

    def test_one_text_is_no_list_of_separators(self):
        with pytest.raises(ConfigError, match="separators"):
            RecursiveCharacterChunker(separators="\n\n")

    def test_equal_parameters_make_equal_chunkers(self):
        assert RecursiveCharacterChunker(90, 5, ["\n"]) == RecursiveCharacterChunker(90, 5, ("\n",))
        assert len({RecursiveCharacterChunker(90), RecursiveCharacterChunker(90), RecursiveCharacterChunker(91)}) == 2

    def test_it_prints_its_sizes(self):
        assert RecursiveCharacterChunker(90, 5).name == "RecursiveCharacterChunker(chunk_size=90, overlap=5)"
        assert "length=cl100k_base" in RecursiveCharacterChunker(length="cl100k_base").name
        for part in ("RecursiveCharacterChunker", "90", "5"):
            assert part in f"{RecursiveCharacterChunker(90, 5)}"

    @pytest.mark.parametrize("unknown", ["behind", "START", "", None, True, 0, b"end", ["start"]])
    def test_separators_stand_at_the_end_or_the_start(self, unknown):
        with pytest.raises(ConfigError, match=r"separator_at=.*expected 'end' or 'start'"):
            RecursiveCharacterChunker(separator_at=unknown)

    def test_its_name_says_where_separators_stand_if_not_as_usual(self):
        assert "separator_at" not in RecursiveCharacterChunker().name
        assert RecursiveCharacterChunker(9, separator_at="start").name.endswith(", separator_at=start)")

    def test_the_name_holds_nothing_that_changes_from_run_to_run(self):
        assert " at 0x" not in RecursiveCharacterChunker(length=lambda text: text.split()).name

    def test_what_cannot_measure_is_refused_when_it_is_used(self):
        with pytest.raises(TokenizerError, match="expected a list of tokens"):
            cut("some words", length=len)
        with pytest.raises(TokenizerError, match="unknown"):
            cut("some words", length="words")


class TestBoundaries:
    def test_a_text_that_fits_is_one_chunk(self):
        assert cut("One.\n\nTwo.", chunk_size=10) == ["One.\n\nTwo."]

    def test_paragraphs_come_first(self):
        text = "One. Two.\n\nThree. Four."
        assert cut(text, chunk_size=12) == ["One. Two.\n\n", "Three. Four."]

    def test_then_lines_then_sentences_then_words(self):
        assert cut("one two. three\nfour five six", chunk_size=15) == ["one two. three\n", "four five six"]
        assert cut("One two. Three four. Five", chunk_size=12) == ["One two. ", "Three four. ", "Five"]
        assert cut("alpha beta gamma", chunk_size=11) == ["alpha beta ", "gamma"]

    @pytest.mark.parametrize("mark", [".", "?", "!"])
    def test_every_mark_ends_a_sentence(self, mark):
        assert cut(f"One two{mark} Three four", chunk_size=12) == [f"One two{mark} ", "Three four"]

    def test_only_what_is_too_long_is_cut_further(self):
        text = "Short.\n\nThis paragraph is too long for it.\n\nShort again."
        assert cut(text, chunk_size=20) == ["Short.\n\n", "This paragraph is ", "too long for it.\n\n", "Short again."]

    def test_neighbours_are_put_together_as_long_as_they_fit(self):
        assert cut("a b c d e f g h", chunk_size=6) == ["a b c ", "d e f ", "g h"]

    def test_separators_and_white_space_stay_with_the_piece_before(self):
        assert cut("one.   two", chunk_size=8) == ["one.   ", "two"]
        assert cut("one\n\n\n\ntwo", chunk_size=8) == ["one\n\n\n\n", "two"]

    def test_leading_white_space_is_kept(self):
        assert places("\n\n  one two", chunk_size=8) == [(0, 8), (8, 11)]

    def test_own_separators_are_used(self):
        assert cut("aa|bb|cc dd", chunk_size=6, separators=["|"]) == ["aa|bb|", "cc dd"]
        assert cut("検索。評価。", chunk_size=3, separators=("。",)) == ["検索。", "評価。"]

    def test_separators_are_texts_and_no_patterns(self):
        assert cut("ab.*cd", chunk_size=4, separators=(".*",)) == ["ab.*", "cd"]

    @pytest.mark.parametrize("separators", [(), ("",), ("\n", "")])
    def test_without_a_separator_words_are_cut(self, separators):
        assert cut("xxxxxyyyyyz", chunk_size=5, separators=separators) == ["xxxxx", "yyyyy", "z"]

    def test_an_empty_separator_is_none(self):
        assert cut("aaa\nbbb", chunk_size=5, separators=("", "\n")) == ["aaa\n", "bbb"]

    def test_a_long_word_is_cut_without_its_neighbours(self):
        assert cut("aa xxxxxxxxxx bb", chunk_size=6) == ["aa ", "xxxxxx", "xxxx ", "bb"]

    def test_blank_and_empty_texts_have_no_chunks(self):
        assert cut("") == cut(" \n\n\t ") == cut(" " * 1000) == []

    def test_stretches_of_white_space_are_left_out(self):
        assert "".join(cut("a" + " " * 50 + "b", chunk_size=10)).replace(" ", "") == "ab"
        assert all(not chunk.isspace() for chunk in cut("a" + "\n" * 50 + "b", chunk_size=10))


class TestSeparatorsAtTheStart:
    def test_they_begin_the_next_piece(self):
        assert cut("one. two three", chunk_size=8, separator_at="start") == ["one", ". two", " three"]
        assert cut("One.\n\nTwo.", chunk_size=6, separator_at="start") == ["One.", "\n\nTwo."]
        assert cut("aa|bb|cc", chunk_size=5, separators=["|"], separator_at="start") == ["aa|bb", "|cc"]

    def test_a_text_that_fits_is_one_chunk(self):
        assert cut("One. Two", chunk_size=8, separator_at="start") == ["One. Two"]

    def test_a_separator_is_not_cut_itself(self):
        assert cut("aa---bb", chunk_size=5, separators=["--"], separator_at="start") == ["aa", "---bb"]

    def test_a_separator_at_the_very_start_cuts_nothing_off(self):
        assert cut("|aa|bb", chunk_size=3, separators=["|"], separator_at="start") == ["|aa", "|bb"]

    def test_a_separator_at_the_very_end_is_a_piece(self):
        assert cut("aaaa|", chunk_size=4, separators=["|"], separator_at="start") == ["aaaa", "|"]

    def test_pieces_are_repeated_with_their_separators(self):
        assert cut("aa bb cc dd ee", chunk_size=8, overlap=3, separator_at="start") == ["aa bb cc", " cc dd", " dd ee"]

    def test_blank_texts_have_no_chunks(self):
        assert cut(" \n\n " * 50, chunk_size=7, separator_at="start") == []

    @settings(max_examples=300)
    @given(texts, st.integers(1, 30))
    def test_pieces_of_one_separator_are_those_of_split(self, text, size):
        first, *rest = text.split(".")
        pieces = [first, *("." + piece for piece in rest)]
        found = cut(text, chunk_size=size, separators=["."], separator_at="start")
        if all(0 < len(piece) <= size and not piece.isspace() for piece in pieces):
            packed = [""]
            for piece in pieces:
                packed = [*packed, piece] if len(packed[-1] + piece) > size else [*packed[:-1], packed[-1] + piece]
            assert found == packed


class TestOverlap:
    def test_whole_pieces_are_repeated(self):
        assert cut("aa bb cc dd ee", chunk_size=9, overlap=3) == ["aa bb cc ", "cc dd ee"]

    def test_less_is_repeated_where_a_piece_would_not_fit(self):
        assert cut("aa bbbbbb cc", chunk_size=9, overlap=5) == ["aa ", "bbbbbb cc"]

    def test_windows_inside_a_word_overlap_too(self):
        assert places("x" * 10, chunk_size=4, overlap=1) == [(0, 4), (3, 7), (6, 10)]

    def test_the_largest_overlap_still_gets_on(self):
        assert places("x" * 6, chunk_size=4, overlap=3) == [(0, 4), (1, 5), (2, 6)]

    def test_without_overlap_nothing_is_repeated(self):
        assert set(repeated("one two three four five six. " * 20, chunk_size=40)) == {""}

    def test_prose_is_repeated_by_up_to_the_overlap(self):
        shared = repeated("one two three four five six. " * 20, chunk_size=90, overlap=40)
        assert max(map(len, shared)) <= 40
        assert sum(map(bool, shared)) > len(shared) / 2

    @settings(max_examples=200)
    @given(texts, st.integers(2, 30), at, st.data())
    def test_it_is_never_more_than_asked_for(self, text, size, separator_at, data):
        overlap = data.draw(st.integers(0, size - 1))
        found = places(text, chunk_size=size, overlap=overlap, separator_at=separator_at)
        for before, after in itertools.pairwise(found):
            assert before[0] < after[0]
            assert before[1] < after[1]
            assert before[1] - after[0] <= overlap


class TestAnyText:
    @settings(max_examples=300)
    @given(texts, st.integers(1, 30), at)
    def test_chunks_without_overlap_tile_the_document(self, text, size, separator_at):
        found = places(text, chunk_size=size, separator_at=separator_at)
        assert all(0 < end - start <= size for start, end in found)
        position = 0
        for start, end in found:
            assert start >= position
            assert text[position:start].strip() == ""
            position = end
        assert text[position:].strip() == ""

    @settings(max_examples=200)
    @given(texts, st.integers(2, 30), at, st.data())
    def test_chunks_with_overlap_lose_nothing(self, text, size, separator_at, data):
        overlap = data.draw(st.integers(1, size - 1))
        found = places(text, chunk_size=size, overlap=overlap, separator_at=separator_at)
        covered = {position for start, end in found for position in range(start, end)}
        assert all(position in covered or character.isspace() for position, character in enumerate(text))
        assert all(0 < end - start <= size for start, end in found)

    @settings(max_examples=200)
    @given(texts, st.integers(1, 30))
    def test_content_is_the_text_at_its_position(self, text, size):
        document = Document(DocumentId("a.md"), text)
        for chunk in RecursiveCharacterChunker(size, size // 3).chunk_with_positions(document):
            assert chunk.content == text[chunk.start : chunk.end]

    @settings(max_examples=150)
    @given(st.text(max_size=150), st.integers(3, 20), st.integers(0, 2), at)
    def test_no_chunk_has_more_tokens_than_its_size(self, text, size, overlap, separator_at):
        for chunk in cut(text, chunk_size=size, overlap=overlap, length="cl100k_base", separator_at=separator_at):
            assert CL100K.count(chunk) <= size or len(chunk) == 1

    @given(st.text(st.characters() | st.sampled_from(LONE_SURROGATES), max_size=60), st.integers(1, 9))
    def test_lone_surrogates_are_no_crash_in_tokens(self, text, size):
        joined = "".join(cut(text, chunk_size=size, length="cl100k_base"))
        assert "".join(joined.split()) == "".join(text.split())


class TestTokens:
    def test_sizes_count_tokens(self):
        text = "one two three four five six seven eight"
        assert cut(text, chunk_size=4, length="cl100k_base", separators=()) == [
            "one two three four",
            " five six seven eight",
        ]

    def test_prose_fills_its_chunks(self):
        text = "The agent restarts the server. Nobody has to wait for it, as it takes a second. " * 50
        counts = [CL100K.count(chunk) for chunk in cut(text, chunk_size=50, length="cl100k_base")]
        assert max(counts) <= 50
        assert sum(counts[:-1]) / len(counts[:-1]) > 35

    def test_a_character_of_many_tokens_is_a_chunk_of_its_own(self):
        assert CL100K.count("🫨") > 1
        assert cut("🫨🫨", chunk_size=1, length="cl100k_base") == ["🫨", "🫨"]

    def test_special_tokens_are_ordinary_text(self):
        text = "before <|endoftext|> after"
        assert "".join(cut(text, chunk_size=3, length="cl100k_base")) == text

    def test_words_can_be_counted(self):
        assert cut("a b c d e", chunk_size=2, length=str.split) == ["a b ", "c d ", "e"]

    @pytest.mark.parametrize("length", ["cl100k_base", CL100K.encoding, CL100K.encoding.encode_ordinary])
    def test_a_script_without_spaces_fills_its_chunks(self, length):
        chunks = cut(CHINESE, chunk_size=100, length=length)
        assert "".join(chunks) == CHINESE
        assert all(CL100K.count(chunk) <= 100 for chunk in chunks)
        assert sum(map(len, chunks)) / len(chunks) > 50

    @settings(max_examples=200)
    @given(st.lists(st.sampled_from(["...", "?!", "!!!", "one ", ". ", "\n"]), max_size=40).map("".join), at)
    def test_without_overlap_nothing_is_repeated_where_a_token_holds_several_pieces(self, text, separator_at):
        shared = repeated(text, chunk_size=4, length="cl100k_base", separator_at=separator_at)
        assert set(shared) <= {""}


class TestTime:
    @pytest.mark.parametrize(
        "parameters", [{}, {"overlap": 199}, {"length": "cl100k_base"}, {"chunk_size": 1}, {"separator_at": "start"}]
    )
    def test_ten_thousand_letters_without_a_separator(self, parameters):
        found = places("x" * 10_000, **parameters)
        assert found[0][0] == 0
        assert found[-1][1] == 10_000
        if "length" not in parameters:
            assert all(end - start <= parameters.get("chunk_size", 200) for start, end in found)
        assert_linear(lambda length: partial(places, "x" * length, **parameters), 10_000)

    def test_a_megabyte_of_prose(self):
        text = "The agent restarts the server. Nobody has to wait!\n\nIs that so? It is so.\n" * 14_000
        assert sum(end - start for start, end in places(text)) == len(text)
        assert_linear(lambda length: partial(places, text[:length]), 100_000)

    def test_many_short_lines_in_tokens(self):
        text = "one two three\n" * 5_000
        assert "".join(cut(text, chunk_size=200, length="cl100k_base")) == text
        assert_linear(
            lambda lines: partial(cut, "one two three\n" * lines, chunk_size=200, length="cl100k_base"), 1_000
        )
