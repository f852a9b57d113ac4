"""Text of any length in a terminal: its lines begin below each other, and end where their words do."""

import io

import pytest
from rich.console import Console

from rag_evaluation_framework.report import Page, Table
from rag_evaluation_framework.report.blocks import quoted
from rag_evaluation_framework.report.terminal import print_wrapped


def printed(text, *arguments, width=20):
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    print_wrapped(console, text, *arguments)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize(
    ("text", "before", "width", "lines"),
    [
        ("one two three four five", (4, "! "), 20, ["!   one two three", "    four five"]),
        ("one two three four five", (0,), 20, ["one two three four", "five"]),
        ("x" * 30, (4, "a"), 20, [f"a   {'x' * 16}", f"    {'x' * 14}"]),
        ("", (2, "a"), 20, ["a"]),
        (
            "see .rag-eval/runs/20261127T135818Z-handbook-2 there",
            (0,),
            20,
            ["see", ".rag-eval/runs/", "20261127T135818Z-", "handbook-2 there"],
        ),
        ("a Chunker(chunk_size=2000)", (0,), 20, ["a Chunker(chunk_", "size=2000)"]),
        ("see docs/a.md", (0,), 10, ["see", "docs/a.md"]),
        ("ab", (4,), 2, ["  ", "  ", "a", "  ", "  ", "b"]),
    ],
    ids=["indented", "at the margin", "a long word", "nothing", "a path", "a call", "a path that fits", "no room"],
)
def test_lines_begin_below_each_other_and_long_words_are_broken_where_their_names_can_be(text, before, width, lines):
    assert printed(text, *before, width=width) == lines


def test_of_a_long_text_the_first_160_characters_are_quoted_on_one_line():
    assert quoted("one\ntwo") == "“one two”"
    assert quoted("x" * 161) == f"“{'x' * 159}…”"
    assert quoted("x" * 160) == f"“{'x' * 160}”"


def test_titles_and_headers_of_pages_are_broken_there_too():
    title = "VectorRAGRetriever(chunker=RecursiveCharacterChunker(chunk_size=2000, overlap=0))"
    rows = (("a", "0.5", "0.25"), ("b", "0.75", "-0.123 +0.456"))
    page = Page(title, (Table(("run", "span_recall@4000ch", "false returns of it"), rows),))
    wide = Table(("run", "span_recall@4000ch", "span_precision@4000ch", "false returns of it"), (("a", "1", "1", "1"),))
    lines = [line.strip() for line in page.as_text(60).splitlines()]
    assert lines[:2] == ["VectorRAGRetriever(chunker=RecursiveCharacterChunker(chunk_", "size=2000, overlap=0))"]
    assert " ".join(lines[3].split()) == "run span_recall@4000ch false returns of it"
    narrow = [" ".join(line.split()) for line in Page("", (wide,)).as_text(60).splitlines()]
    assert narrow[1:4] == ["span_ span_", "recall precision", "run @4000ch @4000ch false returns of it"]
