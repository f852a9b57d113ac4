"""JSON comes back from UTF-8 as it was, whatever is in its texts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.base import utf8_json

PARTS = st.sampled_from(
    ["\ud83d", "\udbff", "\ude00", "\udfff", "\ufdd0", "\\", "\\u", "d83d", "de00", '"', "x", "\0", "\x9b"]
)


@given(st.lists(PARTS, max_size=12).map("".join))
def test_any_text_comes_back(text):
    written = utf8_json.written(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(utf8_json.read(written)) == {text: [text]}
    json.loads(written.decode())  # other programs can read it


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("é😀\ufdd0", "é😀\ufdd0"),
        ("\ud83d", "\\ud83d"),
        ("\ude00\ud83d", "\\ude00\\ud83d"),
        ("\ud83d\ude00", "\\ud83d\ufdd0\\ude00"),
        ("\ud83d\ufdd0\ude00", "\\ud83d\ufdd0\ufdd0\\ude00"),
        ("a\x7f\x9b31m\u2028\u202e", "a\\u007f\\u009b31m\\u2028\\u202e"),
    ],
    ids=ascii,
)
def test_only_what_would_be_joined_or_acts_on_a_terminal_is_written_otherwise(text, written):
    assert utf8_json.written(text).decode() == written


def test_what_is_not_utf_8_is_refused():
    with pytest.raises(ValueError, match="utf-8"):
        utf8_json.read(b"\xff")
