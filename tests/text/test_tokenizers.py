import gzip
import hashlib
import json
import socket
import sys
from importlib import util
from pathlib import Path

import numpy as np
import pytest
import tiktoken
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework.contracts import Tokenizer
from rag_evaluation_framework.errors import MissingDependency, TokenizerError
from rag_evaluation_framework.text import tokenizers as module
from rag_evaluation_framework.text import tokenizers as vocabularies
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

CL100K = resolve_tokenizer("cl100k_base")
SPECIAL = "before <|endoftext|> after"
SURROGATES = [chr(code) for code in (0xD800, 0xDBFF, 0xDC00, 0xDFFF)]


@pytest.fixture(autouse=True)
def forget_named_tokenizers():
    module._named.cache_clear()
    yield
    module._named.cache_clear()


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No vocabulary on this machine, and no network."""

    def refuse(*_args, **_options):
        raise OSError("there is no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(vocabularies, "_CARRIERS", ())
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(empty))
    return empty


@pytest.fixture
def vocabulary() -> bytes:
    """The content of `cl100k_base.tiktoken`."""
    package = Path(util.find_spec("bpe_openai").origin).parent
    return gzip.decompress((package / "data/cl100k_base.tiktoken.gz").read_bytes())


def trained_bpe() -> tokenizers.Tokenizer:
    """A small real byte-level tokenizer, as a Hugging Face model would bring it."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>", "[CLS]"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the agent restarts the server and the server restarts the agent"] * 20, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]"))]
    )
    return tokenizer


def words_of(vocabulary):
    """The content of a file of a tokenizer of words."""
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "a"}
    return {"version": "1.0", "model": model, "added_tokens": []}


def expected_starts(text, tokens):
    """By brute force: the first character that begins at or behind the first byte of each token."""
    characters = np.cumsum([0, *(len(character.encode()) for character in text)])
    begins = np.cumsum([0, *map(len, tokens)])[:-1]
    return [int(np.searchsorted(characters, begin)) for begin in begins]


class TestTiktoken:
    def test_a_name_is_found_in_an_installed_package_and_loaded_once_and_tiktoken_is_left_as_it_was(self):
        public = sys.modules["tiktoken_ext.openai_public"]
        before = public.load_tiktoken_bpe
        assert CL100K.name == "cl100k_base"
        assert list(CL100K.encode("hello world")) == [15339, 1917]
        assert resolve_tokenizer("cl100k_base") is resolve_tokenizer("cl100k_base")
        assert public.load_tiktoken_bpe is before

    def test_an_encoding_object_and_a_tokenizer_are_used_unchanged(self):
        assert resolve_tokenizer(CL100K.encoding) == CL100K
        assert resolve_tokenizer(CL100K) is CL100K
        own = tiktoken.Encoding(
            "own", pat_str=r".", mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={}
        )
        tokenizer = resolve_tokenizer(own)
        assert (tokenizer.name, tokenizer.count("é!"), tokenizer.offsets("é!").tolist()) == ("own", 3, [0, 1, 1])

    def test_a_special_token_in_a_text_is_ordinary_text(self):
        ids = list(CL100K.encode(SPECIAL))
        assert CL100K.encoding.eot_token not in ids
        assert CL100K.encoding.decode(ids) == SPECIAL
        assert len(CL100K.offsets(SPECIAL)) == len(ids)

    @example("")
    @example("🚀🚀 go")
    @example("検索の評価")
    @example("e\u0301te\u0301")
    @example("a👩‍👩‍👧‍👦b")
    @example("ab\r\n\r\n  c")
    @example("\u200b\ufeff x")
    @given(st.text(max_size=60))
    def test_offsets_are_exact_for_any_text(self, text):
        ids = CL100K.encode(text)
        expected = expected_starts(text, CL100K.encoding.decode_tokens_bytes(ids))
        assert CL100K.offsets(text).tolist() == expected

    def test_each_surrogate_is_one_character(self):
        assert CL100K.offsets("a\ud83d hello world").tolist() == [0, 1, 2, 8]
        # tiktoken joins two in a row to one character; offsets count the text as it was given.
        text = "\ud83d\ude00 hello world"
        assert text[CL100K.offsets(text)[-1] :] == " world"

    def test_a_cut_covers_so_many_tokens(self):
        text = "hello world again"
        assert [text[: CL100K.cut(text, tokens)] for tokens in range(5)] == ["", "hello", "hello world", text, text]
        assert CL100K.cut("", 5) == 0


class TestVocabularies:
    def test_a_given_file_is_used(self, offline, vocabulary, tmp_path):
        file = tmp_path / "cl100k_base.tiktoken"
        file.write_bytes(vocabulary)
        for given_file in (file, str(file)):
            tokenizer = resolve_tokenizer(given_file)
            assert tokenizer.name == "cl100k_base"
            assert list(tokenizer.encode("hello world")) == [15339, 1917]

    @pytest.mark.parametrize(
        ("name", "changed", "message"),
        [
            ("cl100k_base", (b" 100\n", b" 101\n"), "is not the vocabulary that tiktoken expects for 'cl100k_base'"),
            ("o200k_base", (b"", b""), "is not the vocabulary that tiktoken expects for 'o200k_base'"),
            ("cl100k_base", None, r"cl100k_base\.tiktoken: cannot be read"),
        ],
        ids=["other content", "of another encoding", "missing"],
    )
    def test_a_file_that_is_not_the_vocabulary_is_refused(self, offline, vocabulary, tmp_path, name, changed, message):
        file = tmp_path / f"{name}.tiktoken"
        if changed is not None:
            file.write_bytes(vocabulary.replace(*changed, 1))
        with pytest.raises(TokenizerError, match=message):
            resolve_tokenizer(file)

    def test_the_cache_of_tiktoken_is_used(self, offline, vocabulary):
        address = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
        (offline / hashlib.sha1(address.encode()).hexdigest()).write_bytes(vocabulary)
        assert list(resolve_tokenizer("cl100k_base").encode("hello world")) == [15339, 1917]

    @pytest.mark.parametrize(
        ("name", "carriers"), [("cl100k_base", ()), ("gpt2", ()), ("gpt2", (("bpe_openai", "data"),))]
    )
    def test_without_a_vocabulary_three_ways_out_are_named(self, offline, monkeypatch, name, carriers):
        monkeypatch.setattr(vocabularies, "_CARRIERS", carriers)
        with pytest.raises(TokenizerError, match="could not be downloaded") as caught:
            resolve_tokenizer(name)
        message = str(caught.value)
        assert "TIKTOKEN_CACHE_DIR" in message
        assert f"{name}.tiktoken" in message
        assert "pip install bpe-openai" in message

    def test_carriers_are_found_without_being_imported_and_a_file_that_unfolds_to_too_much_is_left(
        self, monkeypatch, tmp_path, vocabulary
    ):
        package = tmp_path / "carrier_of_vocabularies"
        (package / "files").mkdir(parents=True)
        (package / "__init__.py").write_text("raise RuntimeError('imported')")
        (package / "files" / "a.gz").write_bytes(gzip.compress(bytes(20 << 20)))
        (package / "files" / "other").write_bytes(b"something else")
        (package / "files" / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").write_bytes(vocabulary)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(vocabularies, "_CARRIERS", ((package.name, "files"), ("no_such_package", "files")))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("asked the network"))
        assert resolve_tokenizer("cl100k_base").count("hello world") == 2
        assert sorted(vocabularies._carried()) == sorted([b"", b"something else", vocabulary])


class TestHuggingFace:
    def test_an_object_is_used_without_special_tokens(self):
        tokenizer = resolve_tokenizer(trained_bpe())
        ids = list(tokenizer.encode("the server restarts"))
        assert trained_bpe().decode(ids) == "the server restarts"
        assert len(ids) == len(trained_bpe().encode("the server restarts").ids) - 1

    def test_a_file_is_read_and_the_backend_of_a_fast_tokenizer_is_used(self, tmp_path):
        class FastTokenizer:
            backend_tokenizer = trained_bpe()

            def __call__(self, text):
                raise AssertionError("the wrapper was called")

        file = tmp_path / "tokenizer.json"
        trained_bpe().save(str(file))
        read, expected = resolve_tokenizer(str(file)), resolve_tokenizer(trained_bpe()).count("the server")
        assert read.name == str(file)
        assert read.count("the server") == resolve_tokenizer(FastTokenizer()).count("the server") == expected

    def test_truncation_and_padding_are_switched_off(self):
        cutting = trained_bpe()
        cutting.enable_truncation(2)
        cutting.enable_padding(length=50)
        tokenizer = resolve_tokenizer(cutting)
        assert tokenizer.count("the server restarts the agent") == resolve_tokenizer(trained_bpe()).count(
            "the server restarts the agent"
        )
        assert cutting.truncation["max_length"] == 2, "the caller's tokenizer was changed"
        assert cutting.padding["length"] == 50, "the caller's tokenizer was changed"

    def test_offsets_tell_where_tokens_start(self):
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0, "server": 1, "?": 2}, unk_token="?"))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        assert resolve_tokenizer(tokenizer).offsets("  the  server starts").tolist() == [0, 7, 14]

    @pytest.mark.parametrize("text", ["a🚀b", "検索", "e\u0301", "the 🚀 server"])
    def test_a_token_that_begins_inside_a_character_starts_at_the_next(self, text):
        tokenizer = resolve_tokenizer(trained_bpe())
        pieces = [trained_bpe().id_to_token(number) for number in tokenizer.encode(text)]
        byte_lengths = [b"x" * len(piece) for piece in pieces]  # a character of a byte-level token stands for a byte
        assert tokenizer.offsets(text).tolist() == expected_starts(text, byte_lengths)

    def test_a_word_that_it_refuses_is_an_error_of_ours(self):
        model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[missing]"}
        words = {"version": "1.0", "model": model, "pre_tokenizer": {"type": "Whitespace"}, "added_tokens": []}
        tokenizer = resolve_tokenizer(tokenizers.Tokenizer.from_str(json.dumps(words)))
        assert tokenizer.count("a") == 1
        for use in (tokenizer.count, tokenizer.encode, tokenizer.offsets):
            with pytest.raises(TokenizerError, match="cannot encode 'a zebra': WordLevel error"):
                use("a zebra")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (None, r"tokenizer\.json: cannot be read \(No such file"),
            ({"name": "something else"}, "cannot be read as a Hugging Face tokenizer"),
            (words_of({"a": 0, "b": 20_000_000}), r"20000000.*vocabulary of 2 tokens"),  # before they take memory
        ],
        ids=["missing", "of something else", "ids far beyond the vocabulary"],
    )
    def test_a_file_that_is_no_tokenizer_is_refused(self, tmp_path, content, message):
        file = tmp_path / "tokenizer.json"
        if content is not None:
            file.write_text(json.dumps(content))
        with pytest.raises(TokenizerError, match=message):
            resolve_tokenizer(file)

    def test_gaps_between_ids_are_taken(self):
        written = json.dumps(words_of({"a": 0, "b": 900_000}))
        assert resolve_tokenizer(tokenizers.Tokenizer.from_str(written)).encode("b") == [900_000]


_BPE = trained_bpe()


def characters_as_numbers(text):
    return [ord(character) for character in text]


class TestCallables:
    @pytest.mark.parametrize(
        ("function", "text", "starts"),
        [
            (str.split, "  the server  restarts ", [0, 6, 14]),
            (str.split, "ab ab ab", [0, 3, 6]),
            (str.split, "", []),
            (lambda text: [7, 7] * len(text.split()), "abcd efgh", [0, 2, 4, 6]),
            (characters_as_numbers, "ab cde", [0, 1, 2, 3, 4, 5]),
            (characters_as_numbers, "", []),
            (lambda text: text.upper().split(), "one two", [0, 3]),
        ],
        ids=["words", "twice", "nothing", "numbers", "characters", "no characters", "not in the text"],
    )
    def test_words_are_found_in_the_text_and_numbers_of_a_word_taken_to_be_equally_long(self, function, text, starts):
        tokenizer = resolve_tokenizer(function)
        assert (tokenizer.offsets(text).tolist(), tokenizer.count(text)) == (starts, len(starts))

    def test_the_encode_method_of_a_tiktoken_encoding_counts_the_same(self):
        tokenizer = resolve_tokenizer(CL100K.encoding.encode_ordinary)
        text = "The agent restarts the server. 検索の評価 🚀"
        assert tokenizer.count(text) == CL100K.count(text)

    def test_the_function_or_the_class_of_an_object_gives_the_name(self):
        class Words:
            def __call__(self, text):
                return text.split()

        assert resolve_tokenizer(characters_as_numbers).name == "characters_as_numbers"
        tokenizer = resolve_tokenizer(Words())
        assert (tokenizer.name, tokenizer.count("a b")) == ("Words", 2)

    @pytest.mark.parametrize(
        ("function", "got"),
        [(len, "int"), (str.upper, "str"), (iter, "str_"), (lambda text: {"input_ids": [1, 2, 3]}, "dict")],
    )
    def test_a_function_that_returns_no_list_is_refused(self, function, got):
        with pytest.raises(TokenizerError, match=f"expected a list of tokens, got {got}"):
            resolve_tokenizer(function).count("some text")

    @given(st.text(max_size=40))
    def test_a_cut_never_covers_more_than_the_text(self, text):
        for function in (str.split, list, characters_as_numbers):
            tokenizer = resolve_tokenizer(function)
            assert all(0 <= tokenizer.cut(text, tokens) <= len(text) for tokens in (0, 1, 3, 1000))
            assert tokenizer.cut(text, 1000) == len(text)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        *(
            (thing, r"is not a valid tokenizer; expected a tiktoken name such as")
            for thing in (None, 5, ["a"], object())
        ),
        ("gpt-99", r"'gpt-99' is unknown; tiktoken knows cl100k_base, .*o200k_base"),
    ],
)
def test_anything_but_a_tokenizer_is_refused(thing, message):
    with pytest.raises(TokenizerError, match=message):
        resolve_tokenizer(thing)


@pytest.mark.parametrize(
    ("library", "given", "told"),
    [
        ("tiktoken", "cl100k_base", r"cl100k_base.*pip install 'rag-evaluation-framework\[tiktoken\]'"),
        ("tokenizers", Path("tokenizer.json"), r"rag-evaluation-framework\[tokenizers\]"),
    ],
)
def test_without_the_library_the_extra_is_named(monkeypatch, library, given, told):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependency, match=told):
        resolve_tokenizer(given)


@pytest.mark.parametrize("tokenizer", [CL100K, resolve_tokenizer(_BPE), resolve_tokenizer(str.split)])
@example("")
@example("the server restarts")
@example(" \n ")
@example("🚀")
@example(SPECIAL)
@example("x" * 500)
@example("a\ud83d b")
@given(st.text(st.characters() | st.sampled_from(SURROGATES), max_size=40))
def test_every_tokenizer_keeps_the_contract(tokenizer, text):
    assert isinstance(tokenizer, Tokenizer)
    starts = tokenizer.offsets(text)
    assert starts.dtype == np.int64
    assert len(starts) == tokenizer.count(text) == len(tokenizer.encode(text))
    assert starts.tolist() == sorted(starts.tolist())
    assert starts[:1].tolist() in ([0], [])
    assert (starts <= len(text)).all()
