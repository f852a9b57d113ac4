"""Text of any length in a terminal: its lines begin below each other, and end where their words do."""

import io

from rich.console import Console

from rag_evaluation_framework.report import Page, Table
from rag_evaluation_framework.report.page import quoted
from rag_evaluation_framework.report.terminal import print_wrapped


def printed(text, *arguments, width=20):
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    print_wrapped(console, text, *arguments)
    return console.file.getvalue().splitlines()


def test_lines_begin_below_each_other_whatever_stands_before_the_first():
    assert printed("one two three four five", 4, "! ") == ["!   one two three", "    four five"]
    assert printed("one two three four five", 0) == ["one two three four", "five"]


def test_a_word_that_is_longer_than_a_line_is_broken_and_an_empty_text_is_a_line():
    assert printed("x" * 30, 4, "a") == [f"a   {'x' * 16}", f"    {'x' * 14}"]
    assert printed("", 2, "a") == ["a"]


def test_a_terminal_that_is_narrower_than_the_indent_still_shows_all_of_it():
    assert "".join(line.strip() for line in printed("abc", 4, width=2)).replace(" ", "") == "abc"


def test_of_a_long_text_the_first_160_characters_are_quoted_on_one_line():
    assert quoted("one\ntwo") == "“one two”"
    assert quoted("x" * 161) == f"“{'x' * 159}…”"
    assert quoted("x" * 160) == f"“{'x' * 160}”"


def test_a_word_that_is_longer_than_a_line_is_broken_where_its_name_can_be():
    assert printed("see .rag-eval/runs/20261127T135818Z-handbook-2 there", 0) == [
        "see",
        ".rag-eval/runs/",
        "20261127T135818Z-",
        "handbook-2 there",
    ]
    assert printed("a Chunker(chunk_size=2000)", 0) == ["a Chunker(chunk_", "size=2000)"]
    assert printed("see docs/a.md", 0, width=10) == ["see", "docs/a.md"]


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
