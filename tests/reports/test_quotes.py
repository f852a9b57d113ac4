"""A table of quotes in a terminal: what to do about each quote that was not located."""

import io

import pytest
from rich.console import Console

from rag_evaluation_framework import Corpus, Document, check_quotes
from rag_evaluation_framework.reports import show_quotes

PAGE = "Press OK. Then wait. Press OK. Then go.\n"


@pytest.fixture
def shown(tmp_path):
    def lines(*quotes, width=120, **metadata):
        path = tmp_path / "questions.csv"
        path.write_text("\n".join(["question,quote", *(f'What?,"{quote}"' for quote in quotes), ""]))
        corpus = Corpus([Document("a.md", PAGE), Document("b/a.md", PAGE)], metadata=metadata)
        console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
        show_quotes(console, check_quotes(path, corpus))
        return console.file.getvalue().splitlines()

    return lines


def test_the_places_of_an_ambiguous_quote_are_those_of_files_that_an_editor_finds(shown):
    assert shown("Press OK.", source="docs") == [
        "0 of 1 quote located, 1 ambiguous, 0 missing; 0 questions without an answer",
        "line 2  ambiguous",
        "  quote     “Press OK.”",
        "            docs/a.md:1:1, docs/a.md:1:22, docs/b/a.md:1:1 and 1 more: name the document, or quote more",
    ]
    assert "            a.md:1:1, a.md:1:22, b/a.md:1:1 and 1 more: name the document, or quote more" in shown(
        "Press OK."
    )


@pytest.mark.parametrize("width", [30, 80])
def test_lines_end_where_the_terminal_does_and_have_no_space_there(shown, width):
    lines = shown("Press OK.", "Then wayt. Press OK. Then go.", "Wombats dig.", width=width, source="docs")
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
