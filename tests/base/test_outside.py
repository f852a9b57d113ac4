import re
from functools import partial

import pytest

from rag_evaluation_framework.base.outside import (
    bounded,
    class_name,
    error_message,
    error_text,
    fit_to_keep,
    fit_to_show,
    harmless,
    hide,
    is_secret,
    one_line,
    shown,
    without_secrets,
)
from rag_evaluation_framework.data.rankings import Failure
from rag_evaluation_framework.errors import DatasetError, MissingDependency, QueryFailed
from support.linear import assert_linear


class Mute(Exception):
    """What cannot be told, for an error of this kind."""

    def __init__(self, raised):
        self.raised = raised

    def __str__(self):
        raise self.raised("no words")

    __repr__ = __str__


class Said:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


HARMS = [
    "\x1b[31m",
    "\x07",
    "\x9b2J",
    "\x85",
    "\u2028",
    "\u202e",
    "\u2067",
    "\ud800",
    "\r",
    "\0",
    "\x7f",
    *"\u200e\u200f\u061c",
]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        *((f"a{harm}b", f"a\N{REPLACEMENT CHARACTER}{harm[1:]}b") for harm in HARMS),
        *((text, text) for text in ["naïve ✓ 漢字", "two\nlines", "می\u200cخواهم", "👩\u200d🔬", ""]),  # only appears
    ],
)
def test_what_acts_on_a_terminal_is_replaced(text, read):
    assert harmless(text) == read


def test_one_line_is_one_line():
    assert one_line(" a\r\n\tb\x1b[0m ") == "a b\N{REPLACEMENT CHARACTER}[0m"


def test_of_long_text_begin_and_end_stay():
    text = bounded("a" * 5000 + "b" * 5000, 300)
    assert text == "a" * 200 + " … (9,700 characters left out) … " + "b" * 100
    assert bounded("a" * 300, 300) == "a" * 300
    text = fit_to_show("http://a:pass@host/ " + "word " * 1_000_000 + "http://me:pass@host/")
    assert re.fullmatch(r"http://\*\*\*@host/ word .*\([\d,]+ characters left out\).* http://\*\*\*@host/", text)
    assert shown("a" * 100_000, 80) == "'" + "a" * 78 + "…"
    assert len(fit_to_show("a" * 100_000)) > 4000  # though it has no spaces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://me:pass@host/x and https://token@h", "http://***@host/x and https://***@h"),
        ("postgresql://u:p@ssw@h/db, http:/me:pass@h", "postgresql://***@h/db, http:/***@h"),
        ("sk-proj-abcDEF1234567890ABCD hf_abcdefghijklmnop12", "*** ***"),
        ("sk-2024-annual-report-v2, Basic authentication", "sk-2024-annual-report-v2, Basic authentication"),
        ("C:/a@b, tokens=100, tokenizer=x, secretary=y", "C:/a@b, tokens=100, tokenizer=x, secretary=y"),
        ("mail me@host, http://host:80/a@b, chunk_size=3", "mail me@host, http://host:80/a@b, chunk_size=3"),
        ("password=abc, which nobody gave us", "password=abc, which nobody gave us"),
    ],
)
def test_secrets_in_a_text_are_hidden(text, expected):
    assert without_secrets(text) == expected


SECRETS = [
    *("api_key", "openai_api_key", "password", "token", "auth_token", "client-secret", "apiKey", "openaiApiKey"),
    *("X-Api-Key", "X-Chroma-Token", "Authorization", "auth", "api_keys", "aws_secret_access_key", "pwd"),
    *("openai_key", "openaiKey", "credential", "credentials", "connection_string", "conn_str", "cookie", "cookies"),
]
NO_SECRETS = [
    *("tokens", "tokenizer", "key", "keys", "chunk_size", "max_tokens", "language", "mask_token", "eos_token"),
    *("author", "sort_key", "session_id", "api_key_env", "secretary"),
    *("primary_key", "foreign_key", "chunk_key", "cache_key", "public_key", "signature", "cookie_policy"),
]


@pytest.mark.parametrize(
    ("name", "secret"), [*((name, True) for name in SECRETS), *((name, False) for name in NO_SECRETS)]
)
def test_names_of_secrets_are_known_from_those_of_other_parameters(name, secret):
    assert is_secret(name) is secret


_HOSTILE = ["://", "@", "a://", "http://", " ", "\n", "sk-", "sk-ab-", "hf_", "xoxb-", "***", " at 0x"]


@pytest.mark.parametrize("piece", _HOSTILE)
def test_no_text_is_long_work(piece):
    for begin in ("", "http://"):
        for end in ("", "\nx"):
            assert_linear(
                lambda size, begin=begin, end=end: partial(without_secrets, begin + piece * (size // len(piece)) + end),
                20_000,
            )


def test_what_is_kept_holds_no_address_of_an_object():
    text = "<function f at 0x7f0123456789>, <a.B object at 0x00007F0123456789>, byte at 0x80"
    assert fit_to_keep(text) == "<function f>, <a.B object>, byte at 0x80"
    assert shown(object()) == "<object object>"


def test_what_raises_when_it_is_shown_is_shown_all_the_same_but_ctrl_c_gets_through():
    for raised in (RuntimeError, SystemExit):
        mute = Mute(raised)
        assert shown(mute) == f"<Mute whose repr raises {raised.__name__}>"
        assert error_message(mute) == f"(its message cannot be read: {raised.__name__})"
        assert Failure.of("retrieve", mute) == Failure("retrieve", "Mute", error_message(mute))
    for show in (shown, error_message):
        with pytest.raises(KeyboardInterrupt):
            show(Mute(KeyboardInterrupt))


def test_a_value_an_error_and_what_a_component_exits_with_are_shown_in_short_and_act_on_no_terminal():
    assert shown("a\x1b") == r"'a\x1b'"
    assert shown([1] * 1000, 10) == "[1, 1, 1,…"
    assert error_message(ValueError("\x1bboo http://a:b@c")) == "\N{REPLACEMENT CHARACTER}boo http://***@c"
    assert error_message(StopIteration()) == error_message(ValueError(" ")) == "(no message)"
    assert (error_text(KeyError("a")), error_text(ValueError())) == ("KeyError: 'a'", "ValueError: (no message)")
    failure = Failure.of("retrieve", SystemExit(f"\x1b no login, http://me:abc@h {'a' * 100_000}"))
    assert failure.message.startswith("called sys.exit('\\x1b no login, http://***@h")
    assert len(failure.message) < 200


@pytest.mark.parametrize("kind", [DatasetError, MissingDependency, lambda message: QueryFailed(message, "q1")])
def test_our_errors_are_fit_to_be_shown(kind):
    message = f"x.json: \x1b[2J {'a' * 100_000} of http://me:pass@host/; expected another"
    text = str(kind(message))
    assert text == fit_to_show(message)
    assert len(text) < 4100
    assert "\x1b" not in text
    assert text.endswith("of http://***@host/; expected another")


@pytest.mark.parametrize("dots", range(3960, 4000))
def test_a_secret_that_is_cut_through_is_not_shown_in_part(dots):
    text = f"{'.' * dots} sk-abcDEF1234567890ABCD {'word ' * 10_000}"
    assert not any("sk-" in part or "ABCD" in part for part in (fit_to_show(text), shown(Said(text), 4000)))


class _Named(type):
    @property
    def __name__(cls):
        return "another\nname"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (ValueError, "ValueError"),
        (_Named("Odd", (), {}), "Odd"),
        (type("two\nlines\x1b", (), {}), "two lines�"),
        (type("", (), {}), "(no name)"),
    ],
)
def test_the_name_of_a_class_is_fit_to_be_shown_whatever_its_metaclass_says(kind, name):
    assert class_name(kind()) == name
    assert len(class_name(type("L" * 1_000_000, (), {})())) < 200


def test_what_is_known_to_be_a_secret_is_hidden_in_any_words_as_long_as_it_is_of_the_last_thousand():
    assert without_secrets("the key hunter2, said") == "the key hunter2, said"
    hide("hunter2")
    assert without_secrets("the key hunter2, said") == "the key ***, said"
    hide("first-line\nsecond-line")
    assert "line" not in without_secrets(repr("first-line\nsecond-line"))  # as Python writes it
    assert "line" not in without_secrets("first-line\nsecond-line")
    for number in range(1005):
        hide(f"secret-{number:04}")
    assert without_secrets("secret-0004, secret-0005") == "secret-0004, ***"


@pytest.mark.parametrize("word", ["", "abcde", "password", "Secret"])
def test_what_would_be_missing_elsewhere_is_not_hidden(word):
    hide(word)
    assert without_secrets(f"the {word} of abcdef") == f"the {word} of abcdef"
