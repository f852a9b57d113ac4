import io

import pytest
from rich.console import Console

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.cli.label import fitting, most_of_each
from rag_evaluation_framework.report import Page, passages_block, sentences_block, show

WORDS = " ".join(f"word{number}" for number in range(100))
TEXT = f"{WORDS}\nRefunds are \x1b[31mpaid[/] here. {WORDS}"
DOC = DocumentId("a.md")
CORPUS = Corpus([Document(DOC, TEXT)])
PASSAGE = CharacterSpan(DOC, 0, len(TEXT), TEXT)


def console(width=60, height=24, *, terminal=True):
    return Console(
        file=io.StringIO(),
        force_terminal=terminal,
        width=width,
        height=height,
        color_system="standard" if terminal else None,
        markup=False,
        highlight=False,
        legacy_windows=False,
    )


def printed(into, count=1, question="How is a refund paid?"):
    passages = dict.fromkeys(range(1, count + 1), PASSAGE)
    counts = dict.fromkeys(passages, 3)
    show(into, passages_block(passages, question, CORPUS, counts, most_of_each(into, count)))
    return into.file.getvalue()


@pytest.mark.parametrize(("height", "passages"), [(5, 4), (24, 5), (36, 9), (200, 9)])
def test_as_many_passages_are_shown_as_fit_four_at_least_and_nine_at_most(height, passages):
    assert fitting(console(height=height)) == passages
    assert fitting(console(terminal=False)) == 9


@pytest.mark.parametrize(("height", "count", "lines"), [(24, 5, 2), (24, 3, 4), (200, 1, 6)])
def test_a_long_passage_is_shown_where_the_words_of_the_question_are_or_from_its_beginning(height, count, lines):
    out = printed(console(height=height), count)
    assert out.count("Refunds") == count
    assert out.count("\n") == count * (lines + 1)
    assert out.count("    … ") == out.count(" …\n") == count
    assert "    word0 word1" in printed(console(height=height), count, question="zebra")


def test_without_a_terminal_passages_and_sentences_are_shown_in_full_with_their_places():
    out = printed(console(terminal=False))
    assert out.splitlines()[0] == "1   a.md:1:1, also in 2 other places"
    assert " ".join(out.split()).count("word99") == 2
    assert "…" not in out
    into = console(terminal=False)
    show(into, sentences_block(3, PASSAGE, CORPUS, [PASSAGE, PASSAGE], "refund"))
    lines = into.file.getvalue().splitlines()
    assert lines[0] == "Passage 3, a.md:1:1"
    assert [line[:4] for line in lines if line[:2].strip()][1:] == ["1   ", "2   "]


def test_words_of_the_question_are_highlighted_in_a_terminal_and_in_html_and_texts_are_harmless():
    out = printed(console(width=2000))
    assert "\x1b[1;33mRefunds\x1b[0m are" in out
    assert "\N{REPLACEMENT CHARACTER}[31mpaid[/] here" in out
    assert "\x1b[31m" not in out
    html = Page("Refunds", (passages_block({1: PASSAGE}, "a refund", CORPUS, {1: 1}, None),)).as_html()
    assert '<span class="word">Refunds</span> are' in html
    assert html.count("word99") == 2  # all of the passage
    assert "also in" not in html
