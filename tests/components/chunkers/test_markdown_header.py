import itertools
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Document, DocumentId, RecursiveCharacterChunker
from rag_evaluation_framework.components import MarkdownHeaderChunker
from support.each import each
from support.examples import examples
from support.linear import assert_linear

LINES = ["# A", "## B", "### C", "text", "", "", "====", "---", "```", "    # code", "> # q", "- # l", "<div>", "a | b"]
texts = st.lists(st.sampled_from(LINES) | st.text(max_size=8), max_size=25).flatmap(
    lambda lines: st.lists(
        st.sampled_from(["\n", "\n", "\r\n", "\r", "\u2028"]), min_size=len(lines), max_size=len(lines)
    ).map(lambda ends: "".join(itertools.chain.from_iterable(zip(lines, ends, strict=True))))
)
"""Markdown with every kind of line end."""


def chunked(text, **parameters):
    return MarkdownHeaderChunker(**parameters).chunk_with_positions(Document(DocumentId("a.md"), text))


def sections(text, **parameters):
    """What each chunk holds, and where it says it stands."""
    return [(c.content, c.metadata["section"], c.metadata["level"]) for c in chunked(text, **parameters)]


def headings(text, **parameters):
    return [section for _, section, _ in sections(text, **parameters)]


@each(
    ("text", "parameters", "wanted"),
    [
        (
            "# One\n\nText.\n\n## Two\n\nMore.\n# Three\nLast.\n",
            {},
            [("# One\n\nText.\n\n", "One", 1), ("## Two\n\nMore.\n", "One > Two", 2), ("# Three\nLast.\n", "Three", 1)],
        ),
        (
            "One\n===\nText\n\nTwo\nlines\n---\nMore",  # underlined
            {},
            [("One\n===\nText\n\n", "One", 1), ("Two\nlines\n---\nMore", "One > Two lines", 2)],
        ),
        ("Before.\n\n# One\nText.", {}, [("Before.\n\n", "", 0), ("# One\nText.", "One", 1)]),
        ("Just text.\n", {}, [("Just text.\n", "", 0)]),
        ("# A\na\n## B\nb\n### C\nc\n", {"max_level": 2}, [("# A\na\n", "A", 1), ("## B\nb\n### C\nc\n", "A > B", 2)]),
        ("# A\na\n## B\nb\n### C\nc\n", {"max_level": 1}, [("# A\na\n## B\nb\n### C\nc\n", "A", 1)]),
        (
            "# A\n\n## B\n\ntext\n## C\n## D\nx",  # a heading with nothing below it begins the chunk of the deeper one
            {},
            [("# A\n\n## B\n\ntext\n", "A > B", 2), ("## C\n", "A > C", 2), ("## D\nx", "A > D", 2)],
        ),
        ("# A\na\n##\nb", {}, [("# A\na\n", "A", 1), ("##\nb", "A", 2)]),  # a heading without a title
        ("\ufeff# A\na\n# B\nb", {}, [("\ufeff# A\na\n", "A", 1), ("# B\nb", "B", 1)]),
        *(
            (f"{front}# One\nText", {}, [(front, "", 0), ("# One\nText", "One", 1)])
            for front in (
                "---\ntitle: x\n# no heading\nmore: y\n---\n",
                "---\ntitle: x\n...\n",
                '---\r\n"title": x\r\n---\r\n',
                "+++\ntitle = 'x'\n# no heading\n+++\n",
                "---\n---\n",
                "\ufeff---\ntitle: x\n---\n",
            )
        ),
    ],
)
def test_a_section_is_a_heading_with_what_follows_and_front_matter_is_text_before_it(text, parameters, wanted):
    assert sections(text, **parameters) == wanted


@each(
    ("text", "wanted"),
    [
        ("# A\na\n### B\nb\n## C\nc\n### D\nd\n# E\ne", ["A", "A > B", "A > C", "A > C > D", "E"]),
        ("# A *b* `c` [d](e) ![f](g) &amp; \\* <b>h</b> #\nx", ["A b c d f & * h"]),  # without its markup
        ("# A\n```\n# no\n", ["A"]),  # an open fence goes on to the end
        *((f"---\n{line}# A\na\n\n---\n\n# B\nb", ["", "A", "B"]) for line in ("\n", "")),  # a thematic break
        # What only looks like a heading is text.
        *(
            (f"# A\n\n{block}\n\n# B\nx", ["A", "B"])
            for block in (
                "```\n# no\n```",
                "~~~python\n# no\n\n# no\n~~~",
                "    # no\n    # no",
                "\t# no",
                "<div>\n# no\n</div>",
                "<!--\n# no\n\n# no\n-->",
                "> # no\n> text",
                "- # no\n  text",
                "1. item\n   # no",
                "#no",
                "####### no",
                "\\# no",
                "text # no",
                "a | b\n--- | ---",
                "* * *",
                "form feed\x0c# no",
                "separator\u2028# no",
            )
        ),
    ],
)
def test_sections_are_called_by_their_headings_and_what_only_looks_like_one_is_text(text, wanted):
    assert headings(text) == wanted


PATHS = ["", "One", "One > Two"]


@each(
    ("text", "starts", "titles"),
    [
        *(
            (
                f"Intro{end * 2}# One{end}a\u2028b\x0cc\x85d{end * 2}Two{end}---{end}e{end}",
                [0, 5 + 2 * n, 17 + 5 * n],
                PATHS,
            )
            for end, n in (("\n", 1), ("\r\n", 2), ("\r", 1))
        ),
        ("a\0b\n# One\nc\0d\n# Two", [0, 4, 14], ["", "One", "Two"]),  # null characters shift nothing
    ],
)
def test_every_line_end_of_markdown_is_one_and_null_characters_shift_nothing(text, starts, titles):
    assert [c.start for c in chunked(text)] == starts
    assert headings(text) == titles


class TestSizes:
    TEXT = "# A\n\n" + "One two three four. " * 30 + "\n\n## B\n\nShort.\n"

    def test_a_long_section_is_cut_as_the_recursive_chunker_does_and_no_chunk_reaches_into_the_next(self):
        first = self.TEXT[: self.TEXT.index("## B")]
        parts = RecursiveCharacterChunker(100, 30).chunk(first)
        assert len(parts) > 5
        assert sections(self.TEXT, chunk_size=100, overlap=30) == [
            *((part, "A", 1) for part in parts),
            ("## B\n\nShort.\n", "A > B", 2),
        ]

    def test_the_metadata_of_one_chunk_cannot_change_that_of_another(self):
        chunks = chunked(self.TEXT, chunk_size=100)
        chunks[0].metadata["section"] = "changed"
        assert chunks[1].metadata["section"] == "A"
        assert chunked(self.TEXT, chunk_size=100)[0].metadata["section"] == "A"

    @examples(300)
    @given(texts)
    def test_every_section_but_the_first_begins_with_a_line(self, text):
        for chunk in chunked(text, chunk_size=10_000)[1:]:
            assert text[chunk.start - 1] in "\r\n"
            assert text[chunk.start - 1 : chunk.start + 1] != "\r\n"


class TestTime:
    @pytest.mark.no_cover
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "part",
        ["# H\n\ntext is here. More of it.\n\n", "- ", ">", "[a\n", "* * * a\n", "`", "1. a\n   - b\n", "a\n", "---\n"],
    )
    def test_a_long_text_takes_linear_time(self, part):
        assert_linear(lambda length: partial(chunked, part * (length // len(part))), 25_000)
