"""Chunkers that cut at boundaries or by size: what they make of texts, and what holds of any text."""

import inspect
import itertools
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Document, DocumentId, FixedTokenChunker, RecursiveCharacterChunker, SemanticChunker
from rag_evaluation_framework.components import LsaEmbedder, MarkdownHeaderChunker, SentenceChunker
from rag_evaluation_framework.errors import ConfigError, TokenizerError
from rag_evaluation_framework.testing import HashingEmbedder
from rag_evaluation_framework.text.sentence_boundaries import sentence_places
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support.each import each
from support.examples import examples
from support.linear import assert_linear

CL100K = resolve_tokenizer("cl100k_base")
LONE_SURROGATES = [chr(0xD83D), chr(0xDE00), chr(0xD800)]
CHINESE = "中文没有空格所以整个句子是一个词" * 40
PROSE = "The agent restarts the server. Nobody has to wait for it, as that takes a second.\r\n\r\n" * 30
SPECIAL = "before <|endoftext|> after"
SENTENCES = "One two. Three four. Five six. Seven."
LINES = ["# A", "## B", "### C", "text", "", "", "====", "---", "```", "    # code", "> # q", "- # l", "<div>", "a | b"]
ENDS = ["\n", "\n", "\r\n", "\r", "\u2028"]
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
    "# ",
    "- ",
]
TEXTS = {
    "separators": st.lists(
        st.characters() | st.sampled_from([" ", "\n", "\n\n", ".", "\r\n", "   ", *"ab", *LONE_SURROGATES]),
        max_size=120,
    ).map("".join),
    "sentences": st.lists(st.characters() | st.sampled_from(PIECES), max_size=80).map("".join),
    "Markdown": st.lists(
        st.tuples(st.sampled_from(LINES) | st.text(max_size=8), st.sampled_from(ENDS)).map("".join), max_size=25
    ).map("".join),
}
Recursive, Sentence = RecursiveCharacterChunker, SentenceChunker
AtStart = partial(Recursive, separator_at="start")


def cut(chunker, text):
    return chunker.chunk(text)


def places(chunker, text):
    return [(c.start, c.end) for c in chunker.chunk_with_positions(Document(DocumentId("a.md"), text))]


def repeated(chunker, text):
    """What each chunk repeats of the one before it."""
    return [text[after[0] : before[1]] for before, after in itertools.pairwise(places(chunker, text))]


# Parameters.


def test_defaults_are_those_of_the_design():
    recursive, fixed = (
        {name: p.default for name, p in inspect.signature(kind).parameters.items()}
        for kind in (Recursive, FixedTokenChunker)
    )
    assert recursive == {
        "chunk_size": 200,
        "overlap": 0,
        "separators": ("\n\n", "\n", ".", "?", "!", " "),
        "length": "characters",
        "separator_at": "end",
    }
    assert fixed == {"tokens": 100, "overlap": 0, "tokenizer": "cl100k_base"}
    assert Sentence() == Sentence(chunk_size=200)
    assert Sentence().sentences is None


@each(
    ("kind", "parameters", "said"),
    [
        *(
            (Recursive, given, "expected")
            for given in (
                {"overlap": 200},
                {"overlap": 300},
                {"overlap": -1},
                {"chunk_size": 0},
                {"chunk_size": -5},
                {"chunk_size": 1.5},
                {"chunk_size": 20, "overlap": 0.5},
            )
        ),
        (Recursive, {"chunk_size": 9, "overlap": 9}, "overlap=9 with chunk_size=9"),
        *(
            (Recursive, {"separators": given}, "separators=.*; expected a list of texts")
            for given in ([{"x": "y"}], ["\n", 30], [None], {"x": "y"}, 5, None, b"|", "\n\n")
        ),
        *(
            (Recursive, {"separator_at": given}, "separator_at=.*expected 'end' or 'start'")
            for given in ("behind", "START", "", None, True, 0, b"end", ["start"])
        ),
        *(
            (Sentence, given, "expected")
            for given in (
                {"chunk_size": 0},
                {"chunk_size": 1.5},
                {"chunk_size": True},
                {"sentences": 0},
                {"chunk_size": 10, "overlap": 10},
                {"sentences": 2, "overlap": 2},
                {"overlap": -1},
                {"overlap": 200},
                {"chunk_size": 200, "sentences": 2},
            )
        ),
        *(
            (FixedTokenChunker, given, "expected")
            for given in (
                {"tokens": 0},
                {"tokens": -1},
                {"tokens": 5, "overlap": 5},
                {"tokens": 5, "overlap": 9},
                {"tokens": 5, "overlap": -1},
                {"tokens": 2.5},
            )
        ),
        *(
            (MarkdownHeaderChunker, given, "expected")
            for given in (
                {"max_level": 0},
                {"max_level": 7},
                {"max_level": "2"},
                {"max_level": True},
                {"chunk_size": 0},
                {"overlap": 800},
            )
        ),
        *(
            (SemanticChunker, {"embedder": HashingEmbedder(), **given}, "expected")
            for given in (
                *({"percentile": value} for value in (-1, 101, 10**400, float("nan"), "95", True)),
                {"buffer": -1},
                {"buffer": 0.5},
                {"min_size": -1},
                {"max_size": 0},
                {"min_size": 50, "max_size": 49},
            )
        ),
    ],
)
def test_impossible_parameters_are_refused(kind, parameters, said):
    with pytest.raises(ConfigError, match=f"^{kind.__name__}: .*{said}") as refused:
        kind(**parameters)
    assert isinstance(refused.value, ValueError)


@each("kind", [MarkdownHeaderChunker, Recursive, partial(SemanticChunker, embedder=HashingEmbedder()), Sentence])
def test_what_is_no_tokenizer_is_refused_and_a_function_is_never_compared(kind):
    for length in (np.array([1, 2]), 7, None):
        with pytest.raises(TokenizerError, match="is not a valid tokenizer"):
            kind(length=length)

    class Words:
        """Splits, and compares like an array."""

        def __call__(self, text):
            return text.split()

        def __eq__(self, other):
            return np.array([True, False])

        __hash__ = None

    chunker = kind(length=Words())
    assert "length=Words" in chunker.name
    assert chunker.chunk("One text.") == ["One text."]


@each(
    ("chunker", "said"),
    [
        (Recursive(length=len), "expected a list of tokens"),
        (Recursive(length="words"), "unknown"),
        (Sentence(chunk_size=5, length="words"), "unknown"),
        (FixedTokenChunker(tokenizer="words"), "'words' is unknown"),
    ],
)
def test_what_cannot_measure_is_refused_when_it_is_used(chunker, said):
    with pytest.raises(TokenizerError, match=said):
        chunker.chunk("some words")


def test_equal_parameters_make_equal_chunkers_also_where_a_list_is_changed_later():
    separators = ["\n"]
    chunker = Recursive(90, 5, separators)
    separators.append("b")
    assert chunker == Recursive(90, 5, ("\n",))
    assert Recursive().separators is Recursive().separators
    assert len({Recursive(90), Recursive(90), Recursive(91)}) == 2


@each(
    ("chunker", "name"),
    [
        (Recursive(90, 5), "RecursiveCharacterChunker(chunk_size=90, overlap=5)"),
        (Recursive(length="cl100k_base"), "RecursiveCharacterChunker(chunk_size=200, overlap=0, length=cl100k_base)"),
        (AtStart(9), "RecursiveCharacterChunker(chunk_size=9, overlap=0, separator_at=start)"),
        # Nothing changes from run to run, or does something to a terminal.
        (Recursive(length=lambda text: text), "RecursiveCharacterChunker(chunk_size=200, overlap=0, length=<lambda>)"),
        (
            Sentence(10, length="\u2028\u202e"),
            "SentenceChunker(chunk_size=10, overlap=0, length=\N{REPLACEMENT CHARACTER})",
        ),
        (Sentence(), "SentenceChunker(chunk_size=200, overlap=0)"),
        (Sentence(sentences=3, overlap=1), "SentenceChunker(sentences=3, overlap=1)"),
        (Sentence(chunk_size=9, length="cl100k_base"), "SentenceChunker(chunk_size=9, overlap=0, length=cl100k_base)"),
        (FixedTokenChunker(50, 5), "FixedTokenChunker(tokens=50, overlap=5)"),
        (
            FixedTokenChunker(50, tokenizer="o200k_base"),
            "FixedTokenChunker(tokens=50, overlap=0, tokenizer=o200k_base)",
        ),
        (
            SemanticChunker(LsaEmbedder(64)),
            "SemanticChunker(embedder=LsaEmbedder(dimensions=64), percentile=95, buffer=1)",
        ),
        (
            SemanticChunker(LsaEmbedder(), 90.5, 0, min_size=10, max_size=99, length="cl100k_base"),
            "SemanticChunker(embedder=LsaEmbedder, percentile=90.5, min_size=10, max_size=99, length=cl100k_base)",
        ),
        (MarkdownHeaderChunker(2, 500, 50), "MarkdownHeaderChunker(max_level=2, chunk_size=500, overlap=50)"),
        (
            MarkdownHeaderChunker(length="cl100k_base"),
            "MarkdownHeaderChunker(max_level=6, chunk_size=800, overlap=0, length=cl100k_base)",
        ),
    ],
)
def test_the_name_tells_the_sizes_and_what_is_not_as_usual(chunker, name):
    assert chunker.name == name
    assert f"{chunker}".startswith(f"{type(chunker).__name__}(")
    assert {*re.findall(r"\w+=\d+", name)} <= {*re.findall(r"\w+=\d+", f"{chunker}")}


# What is made of a text.


@each(
    ("chunker", "text", "chunks"),
    [
        # A text that fits is one chunk; else paragraphs come first, then lines, sentences and words.
        (Recursive(10), "One.\n\nTwo.", ["One.\n\nTwo."]),
        (Recursive(12), "One. Two.\n\nThree. Four.", ["One. Two.\n\n", "Three. Four."]),
        (Recursive(15), "one two. three\nfour five six", ["one two. three\n", "four five six"]),
        (Recursive(12), "One two. Three four. Five", ["One two. ", "Three four. ", "Five"]),
        (Recursive(11), "alpha beta gamma", ["alpha beta ", "gamma"]),
        *((Recursive(12), f"One two{mark} Three four", [f"One two{mark} ", "Three four"]) for mark in ".?!"),
        # Only what is too long is cut further, and neighbours are put together as long as they fit.
        (
            Recursive(20),
            "Short.\n\nThis paragraph is too long for it.\n\nShort again.",
            ["Short.\n\n", "This paragraph is ", "too long for it.\n\n", "Short again."],
        ),
        (Recursive(6), "a b c d e f g h", ["a b c ", "d e f ", "g h"]),
        # Separators and white space stay with the piece before; white space at the start is kept.
        (Recursive(8), "one.   two", ["one.   ", "two"]),
        (Recursive(8), "one\n\n\n\ntwo", ["one\n\n\n\n", "two"]),
        (Recursive(8), "\n\n  one two", ["\n\n  one ", "two"]),
        # Own separators are texts and no patterns; an empty one is none.
        (Recursive(6, separators=["|"]), "aa|bb|cc dd", ["aa|bb|", "cc dd"]),
        (Recursive(3, separators=("。",)), "検索。評価。", ["検索。", "評価。"]),
        (Recursive(4, separators=(".*",)), "ab.*cd", ["ab.*", "cd"]),
        *((Recursive(5, separators=s), "xxxxxyyyyyz", ["xxxxx", "yyyyy", "z"]) for s in ((), ("",), ("\n", ""))),
        (Recursive(5, separators=("", "\n")), "aaa\nbbb", ["aaa\n", "bbb"]),
        (Recursive(6), "aa xxxxxxxxxx bb", ["aa ", "xxxxxx", "xxxx ", "bb"]),
        # At the start, separators begin the next piece, and are not cut themselves.
        (AtStart(8), "one. two three", ["one", ". two", " three"]),
        (AtStart(6), "One.\n\nTwo.", ["One.", "\n\nTwo."]),
        (AtStart(5, separators=["|"]), "aa|bb|cc", ["aa|bb", "|cc"]),
        (AtStart(8), "One. Two", ["One. Two"]),
        (AtStart(5, separators=["--"]), "aa---bb", ["aa", "---bb"]),
        (AtStart(3, separators=["|"]), "|aa|bb", ["|aa", "|bb"]),
        (AtStart(4, separators=["|"]), "aaaa|", ["aaaa", "|"]),
        (AtStart(8, overlap=3), "aa bb cc dd ee", ["aa bb cc", " cc dd", " dd ee"]),
        # Whole pieces are repeated, fewer where one would not fit; windows inside a word overlap, too.
        (Recursive(9, overlap=3), "aa bb cc dd ee", ["aa bb cc ", "cc dd ee"]),
        (Recursive(9, overlap=5), "aa bbbbbb cc", ["aa ", "bbbbbb cc"]),
        (Recursive(4, overlap=1), "0123456789", ["0123", "3456", "6789"]),
        (Recursive(4, overlap=3), "012345", ["0123", "1234", "2345"]),
        # Tokens.
        (
            Recursive(4, length="cl100k_base", separators=()),
            "one two three four five six seven eight",
            ["one two three four", " five six seven eight"],
        ),
        (Recursive(1, length="cl100k_base"), "🫨🫨", ["🫨", "🫨"]),  # a character of many tokens
        (Recursive(2, length=str.split), "a b c d e", ["a b ", "c d ", "e"]),
        (FixedTokenChunker(2), "one two three four five", ["one two", " three four", " five"]),
        (FixedTokenChunker(3, 1), "one two three four five", ["one two three", " three four five"]),
        (FixedTokenChunker(), "one two", ["one two"]),
        (FixedTokenChunker(2), SPECIAL, ["before <|", "endoft", "ext|", "> after"]),  # which is ordinary text
        (Recursive(3, length="cl100k_base"), SPECIAL, ["before ", "<|endo", "ftext|", "> ", "after"]),
        (FixedTokenChunker(2, tokenizer=str.split), "a b c d e", ["a b ", "c d ", "e"]),
        (FixedTokenChunker(2, tokenizer=list), "abcde", ["ab", "cd", "e"]),
        # Whole sentences, as many as fit, or as many as are asked for; only one that is too long is cut.
        (Sentence(21), SENTENCES, ["One two. Three four. ", "Five six. Seven."]),
        (Sentence(sentences=1), SENTENCES, ["One two. ", "Three four. ", "Five six. ", "Seven."]),
        (Sentence(sentences=3), SENTENCES, ["One two. Three four. Five six. ", "Seven."]),
        *(
            (chunker, SENTENCES, ["One two. Three four. ", "Three four. Five six. ", "Five six. Seven."])
            for chunker in (Sentence(sentences=2, overlap=1), Sentence(22, overlap=12))
        ),
        (Sentence(22, overlap=5), SENTENCES, ["One two. Three four. ", "Five six. Seven."]),
        (
            Sentence(12),
            "Short one. A sentence too long for it. Short.",
            ["Short one. ", "A sentence ", "too long ", "for it. ", "Short."],
        ),
        (Sentence(4), "x" * 10, ["xxxx", "xxxx", "xx"]),
        (Sentence(), "x" * 10_000, ["x" * 200] * 50),
        (Sentence(sentences=1), ("Word " * 1_000 + "end. ") * 2, ["Word " * 1_000 + "end. "] * 2),
    ],
)
def test_a_text_is_cut(chunker, text, chunks):
    assert cut(chunker, text) == chunks


@each(
    "chunker",
    [
        *(Recursive(), AtStart(7), Sentence(), Sentence(sentences=2)),
        *(FixedTokenChunker(), MarkdownHeaderChunker()),
    ],
)
def test_blank_and_empty_texts_have_no_chunks(chunker):
    for text in ("", " \n\n\t ", " \r\n ", " " * 1000, " \n\n " * 50):
        assert chunker.chunk(text) == []


@examples(300)
@given(TEXTS["separators"], st.integers(1, 30))
def test_pieces_of_one_separator_at_the_start_are_those_of_split(text, size):
    first, *rest = text.split(".")
    pieces = [first, *("." + piece for piece in rest)]
    if all(0 < len(piece) <= size and not piece.isspace() for piece in pieces):
        packed = [""]
        for piece in pieces:
            packed = [*packed, piece] if len(packed[-1] + piece) > size else [*packed[:-1], packed[-1] + piece]
        assert cut(AtStart(size, separators=["."]), text) == packed


def test_prose_is_repeated_by_up_to_the_overlap_and_not_without_and_in_windows_by_all_of_it():
    text = "one two three four five six. " * 20
    assert set(repeated(Recursive(40), text)) == {""}
    shared = repeated(Recursive(90, overlap=40), text)
    assert max(map(len, shared)) <= 40
    assert sum(map(bool, shared)) > len(shared) / 2
    found = places(FixedTokenChunker(20, 5), PROSE)
    for before, after in itertools.pairwise(found):
        assert before[0] < after[0] <= before[1] < after[1]
        assert CL100K.count(PROSE[after[0] : before[1]]) == 5
    assert (found[0][0], found[-1][1]) == (0, len(PROSE))


# What holds of any text.


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        pytest.param(Recursive, "separators", id="recursive"),
        pytest.param(AtStart, "separators", id="recursive at the start"),
        pytest.param(Sentence, "sentences", id="sentences"),
        pytest.param(partial(MarkdownHeaderChunker, 6), "Markdown", id="Markdown"),
    ],
)
@examples(300)
@given(st.data(), st.integers(1, 40))
def test_chunks_cover_any_text_in_order_within_their_size_and_repeat_no_more_than_they_may(kind, texts, data, size):
    text, overlap = data.draw(TEXTS[texts]), data.draw(st.integers(0, size - 1))
    chunks = kind(size, overlap).chunk_with_positions(Document(DocumentId("a.md"), text))
    assert all(chunk.content == text[chunk.start : chunk.end] for chunk in chunks)
    assert all(len(chunk.content) <= size and not chunk.content.isspace() for chunk in chunks)
    assert all(chunk.content for chunk in chunks)
    covered = {position for chunk in chunks for position in range(chunk.start, chunk.end)}
    assert all(position in covered or character.isspace() for position, character in enumerate(text))
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= overlap


@examples(200)
@given(TEXTS["sentences"], st.integers(1, 5), st.data())
def test_chunks_of_so_many_sentences_are_windows_over_them(text, count, data):
    overlap = data.draw(st.integers(0, count - 1))
    found = sentence_places(text)
    wanted = []
    for first in range(0, len(found), count - overlap):
        last = min(first + count, len(found)) - 1
        wanted.append((found[first][0], found[last][1]))
        if last == len(found) - 1:
            break
    assert places(Sentence(sentences=count, overlap=overlap), text) == (wanted if text.strip() else [])


# Tokens.


@pytest.mark.parametrize(
    "kind",
    [partial(Recursive, length="cl100k_base"), partial(AtStart, length="cl100k_base"), FixedTokenChunker],
    ids=["end", "start", "windows"],
)
@examples(200)
@given(st.text(max_size=150), st.integers(3, 20), st.integers(0, 2))
def test_chunks_of_tokens_cover_any_text_in_order_within_their_size(kind, text, tokens, overlap):
    found = places(kind(tokens, overlap), text)
    assert all(CL100K.count(text[start:end]) <= tokens or end - start == 1 for start, end in found)
    covered = {position for start, end in found for position in range(start, end)}
    assert all(position in covered or character.isspace() for position, character in enumerate(text))
    for before, after in itertools.pairwise(found):
        assert before[0] < after[0]
        assert before[1] < after[1]


@pytest.mark.parametrize(
    "kind", [partial(Recursive, length="cl100k_base"), FixedTokenChunker], ids=["recursive", "fixed"]
)
@given(st.text(st.characters() | st.sampled_from(LONE_SURROGATES), max_size=80), st.integers(1, 9))
def test_lone_surrogates_are_no_crash_in_tokens(kind, text, size):
    chunks = kind(size).chunk_with_positions(Document(DocumentId("a.md"), text))
    assert all(chunk.content == text[chunk.start : chunk.end] for chunk in chunks)
    assert "".join("".join(chunk.content for chunk in chunks).split()) == "".join(text.split())


@each("text", ["🫨" * 20, "検索の評価では、" * 10, "👩‍👩‍👧‍👦 and 👨‍🚒! " * 5, "e\u0301" * 30])
@each("tokens", [1, 2, 3, 7])
def test_a_token_may_end_inside_a_character_and_a_chunk_never_does(text, tokens):
    chunks = cut(FixedTokenChunker(tokens), text)
    assert "".join("".join(chunks).split()) == "".join(text.split())
    assert all("\ufffd" not in chunk for chunk in chunks)
    assert all(CL100K.count(chunk) <= tokens or len(chunk) == 1 for chunk in chunks)


@each(
    ("chunker", "text", "least", "most"),
    [
        (FixedTokenChunker(100), PROSE, 98, 100),
        (FixedTokenChunker(30), PROSE, 28, 30),
        (Recursive(50, length="cl100k_base"), PROSE, 30, 50),
        (Sentence(30, length="cl100k_base"), "The agent restarts the server. Nobody has to wait for it. " * 20, 15, 30),
        (MarkdownHeaderChunker(chunk_size=40, length="cl100k_base"), "# A\n\n" + "One two three four. " * 30, 25, 40),
    ],
)
def test_sizes_count_tokens_and_prose_fills_its_chunks(chunker, text, least, most):
    found = places(chunker, text)
    assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == len(text)
    counts = [CL100K.count(text[start:end]) for start, end in found]
    assert max(counts) <= most
    assert sum(counts[:-1]) / len(counts[:-1]) > least
    if isinstance(chunker, Sentence):
        assert all(text[start:end].rstrip().endswith(".") for start, end in found)


def test_other_tokenizers_can_be_used():
    wanted = cut(FixedTokenChunker(50), PROSE)
    assert cut(FixedTokenChunker(50, tokenizer=CL100K.encoding), PROSE) == wanted
    assert cut(FixedTokenChunker(50, tokenizer=CL100K), PROSE) == wanted
    o200k = resolve_tokenizer("o200k_base")
    assert max(map(o200k.count, cut(FixedTokenChunker(50, tokenizer="o200k_base"), CHINESE))) <= 50


@each(
    ("chunker", "text"),
    [
        (FixedTokenChunker(100), CHINESE),
        *((FixedTokenChunker(100, tokenizer=CL100K.encoding.encode_ordinary), text) for text in (CHINESE, "x1Z" * 400)),
        *(
            (Recursive(100, length=length), CHINESE)
            for length in ("cl100k_base", CL100K.encoding, CL100K.encoding.encode_ordinary)
        ),
    ],
)
def test_a_script_without_spaces_and_a_long_word_fill_their_chunks(chunker, text):
    chunks = cut(chunker, text)
    assert "".join(chunks) == text
    assert all(CL100K.count(chunk) <= 100 for chunk in chunks)
    assert sum(map(len, chunks)) / len(chunks) > 50


@pytest.mark.parametrize("kind", [Recursive, AtStart], ids=["end", "start"])
@examples(200)
@given(st.lists(st.sampled_from(["...", "?!", "!!!", "one ", ". ", "\n"]), max_size=40).map("".join))
def test_without_overlap_nothing_is_repeated_where_a_token_holds_several_pieces(kind, text):
    assert set(repeated(kind(4, length="cl100k_base"), text)) <= {""}


# Time.


@pytest.mark.parametrize(
    ("chunker", "letters"),
    [
        (Recursive(), 10_000),
        (Recursive(overlap=199), 10_000),
        (Recursive(length="cl100k_base"), 10_000),
        (Recursive(chunk_size=1), 10_000),
        (AtStart(200), 10_000),
        (FixedTokenChunker(100), 2_500),
        (FixedTokenChunker(100, 99), 2_500),
        (FixedTokenChunker(1), 2_500),
    ],
    ids=str,
)
def test_ten_thousand_letters_without_a_separator(chunker, letters):
    found = places(chunker, "x" * 10_000)
    assert (found[0][0], found[-1][1]) == (0, 10_000)
    if isinstance(chunker, Recursive) and chunker.length == "characters":
        assert all(end - start <= chunker.chunk_size for start, end in found)
    assert_linear(lambda length: partial(places, chunker, "x" * length), letters)


@pytest.mark.parametrize(
    ("chunker", "text", "times", "step"),
    [
        (Recursive(), "The agent restarts the server. Nobody has to wait!\n\nIs that so? It is so.\n", 14_000, 1_300),
        (Recursive(length="cl100k_base"), "one two three\n", 5_000, 1_000),
        (FixedTokenChunker(200), PROSE, 400, 50),
    ],
    ids=["prose", "many short lines in tokens", "windows of prose"],
)
def test_a_long_text_is_covered_in_linear_time(chunker, text, times, step):
    assert sum(end - start for start, end in places(chunker, text * times)) == len(text * times)
    assert_linear(lambda number: partial(cut, chunker, text * number), step)
