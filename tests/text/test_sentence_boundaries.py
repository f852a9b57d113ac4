from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.text.sentence_boundaries import sentence_places
from support.each import each
from support.examples import examples
from support.linear import assert_linear

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

    @each(
        ("text", "found"),
        [
            (" \n\n One.  \n\nTwo. ", [" \n\n One.  \n\n", "Two. "]),
            ("", []),
            (" \n ", [" \n "]),
        ],
    )
    def test_white_space_stays_with_the_sentence_before_and_at_the_start_with_the_first(self, text, found):
        assert sentences(text) == found

    @examples(400)
    @given(texts)
    def test_sentences_tile_any_text_and_part_no_line_break_of_two_characters(self, text):
        found = sentence_places(text)
        assert "".join(text[start:end] for start, end in found) == text
        assert all(start < end for start, end in found)
        assert all(not text[start:end].isspace() for start, end in found) or not text.strip()
        assert all(text[start - 1 : start + 1] != "\r\n" for start, _ in found if start)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "part",
        [".", ". ", '"', ". '", "\n", " \n", "a.b", "J. ", "1. ", "> ", ". [1]", "- ", "e.g. ", "。", "x", "(. "],
    )
    def test_anything_takes_linear_time(self, part):
        assert_linear(lambda length: partial(sentence_places, part * (length // len(part))), 50_000)
