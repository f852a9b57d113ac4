"""Text of any length in a terminal: its lines begin below each other, and end where their words do."""

import io

from rich.console import Console

from rag_evaluation_framework.report.wrapped import print_wrapped, quoted


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
