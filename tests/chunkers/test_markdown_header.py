import itertools
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_evaluation_framework import Document, DocumentId, MarkdownHeaderChunker, RecursiveCharacterChunker
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.testing.chunkers import assert_linear
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support.each import each

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


class TestParameters:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"max_level": 0},
            {"max_level": 7},
            {"max_level": "2"},
            {"max_level": True},
            {"chunk_size": 0},
            {"overlap": 800},
        ],
    )
    def test_impossible_levels_and_sizes_are_refused(self, parameters):
        with pytest.raises(ConfigError, match=r"MarkdownHeaderChunker: .*expected"):
            MarkdownHeaderChunker(**parameters)

    def test_the_name_tells_level_and_sizes(self):
        assert MarkdownHeaderChunker(2, 500, 50).name == (
            "MarkdownHeaderChunker(max_level=2, chunk_size=500, overlap=50)"
        )
        assert "length=cl100k_base" in MarkdownHeaderChunker(length="cl100k_base").name
        assert "800" in f"{MarkdownHeaderChunker()}"

    def test_configurations_name_it(self):
        chunker = MarkdownHeaderChunker(max_level=2, chunk_size=300)
        assert build("chunker", "markdown-header:max_level=2,chunkSize=300") == chunker
        assert build("chunker", describe(chunker)) == chunker


class TestSections:
    def test_a_section_is_a_heading_with_what_follows(self):
        assert sections("# One\n\nText.\n\n## Two\n\nMore.\n# Three\nLast.\n") == [
            ("# One\n\nText.\n\n", "One", 1),
            ("## Two\n\nMore.\n", "One > Two", 2),
            ("# Three\nLast.\n", "Three", 1),
        ]

    def test_underlined_headings_are_headings(self):
        assert sections("One\n===\nText\n\nTwo\nlines\n---\nMore") == [
            ("One\n===\nText\n\n", "One", 1),
            ("Two\nlines\n---\nMore", "One > Two lines", 2),
        ]

    def test_the_text_before_the_first_heading_is_a_section_without_a_name(self):
        assert sections("Before.\n\n# One\nText.") == [("Before.\n\n", "", 0), ("# One\nText.", "One", 1)]

    def test_a_text_without_headings_is_one_section(self):
        assert sections("Just text.\n") == [("Just text.\n", "", 0)]

    def test_levels_may_be_left_out_and_come_back(self):
        assert headings("# A\na\n### B\nb\n## C\nc\n### D\nd\n# E\ne") == ["A", "A > B", "A > C", "A > C > D", "E"]

    def test_headings_deeper_than_the_level_are_text(self):
        text = "# A\na\n## B\nb\n### C\nc\n"
        assert headings(text, max_level=2) == ["A", "A > B"]
        assert sections(text, max_level=1) == [(text, "A", 1)]

    def test_a_heading_with_nothing_below_it_begins_the_chunk_of_the_deeper_one(self):
        assert sections("# A\n\n## B\n\ntext\n## C\n## D\nx") == [
            ("# A\n\n## B\n\ntext\n", "A > B", 2),
            ("## C\n", "A > C", 2),
            ("## D\nx", "A > D", 2),
        ]

    def test_titles_are_given_without_their_markup(self):
        assert headings("# A *b* `c` [d](e) ![f](g) &amp; \\* <b>h</b> #\nx") == ["A b c d f & * h"]

    def test_a_heading_without_a_title_adds_none(self):
        assert sections("# A\na\n##\nb") == [("# A\na\n", "A", 1), ("##\nb", "A", 2)]

    @each(
        "block",
        [
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
        ],
    )
    def test_what_only_looks_like_a_heading_is_text(self, block):
        assert headings(f"# A\n\n{block}\n\n# B\nx") == ["A", "B"]

    def test_an_open_fence_goes_on_to_the_end(self):
        assert headings("# A\n```\n# no\n") == ["A"]

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_every_line_end_of_markdown_is_one(self, newline):
        text = newline.join(["Intro", "", "# One", "a\u2028b\x0cc\x85d", "", "Two", "---", "e", ""])
        assert [c.start for c in chunked(text)] == [0, text.index("# One"), text.index("Two")]
        assert headings(text) == ["", "One", "One > Two"]

    def test_null_characters_shift_nothing(self):
        assert [c.start for c in chunked("a\0b\n# One\nc\0d\n# Two")] == [0, 4, 14]


class TestFrontMatter:
    @pytest.mark.parametrize(
        "front",
        [
            "---\ntitle: x\n# no heading\nmore: y\n---\n",
            "---\ntitle: x\n...\n",
            '---\r\n"title": x\r\n---\r\n',
            "+++\ntitle = 'x'\n# no heading\n+++\n",
            "---\n---\n",
            "\ufeff---\ntitle: x\n---\n",
        ],
    )
    def test_it_is_text_before_the_first_heading(self, front):
        assert sections(f"{front}# One\nText") == [(front, "", 0), ("# One\nText", "One", 1)]

    def test_a_thematic_break_at_the_start_is_none(self):
        assert headings("---\n\n# A\na\n\n---\n\n# B\nb") == ["", "A", "B"]
        assert headings("---\n# A\na\n\n---\n\n# B\nb") == ["", "A", "B"]

    def test_a_byte_order_mark_hides_no_heading(self):
        assert sections("\ufeff# A\na\n# B\nb") == [("\ufeff# A\na\n", "A", 1), ("# B\nb", "B", 1)]


class TestSizes:
    TEXT = "# A\n\n" + "One two three four. " * 30 + "\n\n## B\n\nShort.\n"

    def test_a_long_section_is_cut_as_the_recursive_chunker_does(self):
        first = self.TEXT[: self.TEXT.index("## B")]
        parts = RecursiveCharacterChunker(100, 30).chunk(first)
        assert len(parts) > 5
        assert [content for content, *_ in sections(self.TEXT, chunk_size=100, overlap=30)] == [
            *parts,
            "## B\n\nShort.\n",
        ]
        assert headings(self.TEXT, chunk_size=100, overlap=30) == ["A"] * len(parts) + ["A > B"]

    def test_no_chunk_reaches_into_the_next_section(self):
        for before, after in itertools.pairwise(chunked(self.TEXT, chunk_size=100, overlap=30)):
            assert before.metadata == after.metadata or before.end == after.start

    def test_sizes_count_tokens(self):
        count = resolve_tokenizer("cl100k_base").count
        lengths = [count(content) for content, *_ in sections(self.TEXT, chunk_size=40, length="cl100k_base")]
        assert 30 < max(lengths) <= 40

    def test_the_metadata_of_one_chunk_cannot_change_that_of_another(self):
        chunks = chunked(self.TEXT, chunk_size=100)
        with pytest.raises(TypeError, match="read-only"):
            chunks[0].metadata["section"] = "changed"
        assert chunks[1].metadata["section"] == "A"
        assert chunked(self.TEXT, chunk_size=100)[0].metadata["section"] == "A"

    def test_blank_and_empty_texts_have_no_chunks(self):
        assert chunked("") == chunked(" \n\t\r\n ") == []

    @settings(max_examples=300)
    @given(texts, st.integers(1, 40), st.data())
    def test_chunks_cover_any_text_within_their_size(self, text, size, data):
        overlap = data.draw(st.integers(0, size - 1))
        chunks = chunked(text, chunk_size=size, overlap=overlap)
        covered = {position for chunk in chunks for position in range(chunk.start, chunk.end)}
        assert all(position in covered or character.isspace() for position, character in enumerate(text))
        assert all(0 < len(chunk.content) <= size for chunk in chunks)
        assert all(chunk.content == text[chunk.start : chunk.end] for chunk in chunks)
        assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})

    @settings(max_examples=300)
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
