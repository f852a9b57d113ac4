"""What models write around their answers: other lists, names in brackets, and rows of stars."""

from functools import partial

import pytest

from rag_evaluation_framework.synthesis.forms import read_cited_chunks, read_cited_questions, read_numbers, read_quotes
from rag_evaluation_framework.testing.chunkers import assert_linear


@pytest.mark.parametrize("behind", ['I left out ["Invoices"].', "Rejected: []", '[["x"]]', '{"left_out": ["y"]}'])
def test_quotes_are_not_the_list_that_is_told_behind_them(behind):
    assert read_quotes(f'{{"quotes": ["Refunds take five days."]}} {behind}').quotes == ["Refunds take five days."]


def test_of_several_quotes_by_name_the_last_count():
    assert read_quotes('{"quotes": ["Draft."]} No: {"excerpts": ["Final."]}').quotes == ["Final."]
    assert read_quotes('["Draft."] No: ["Final."]').quotes == ["Final."]


@pytest.mark.parametrize("cited", ["chunk_a:", "[chunk_a]:", "<chunk_a>", "**chunk_a**", "(chunk_a)."])
def test_ids_are_taken_out_of_what_models_put_around_them(cited):
    (found,) = read_cited_questions(f"Q: What is it?\nChunks: {cited}").questions
    assert found.chunk_ids == ["chunk_a"]


@pytest.mark.parametrize(
    "line", ["**1. Q: What is it?", "1. **Q:** What is it?", "> * Q1: What is it?", "***Q***: What is it?"]
)
def test_questions_in_lines_are_read_with_all_that_marks_them(line):
    (found,) = read_cited_questions(f"{line}\n> ***Chunks***: chunk_a").questions
    assert (found.question, found.chunk_ids) == ("What is it?", ["chunk_a"])


def test_rows_of_stars_are_read_at_once():
    def refused(stars):
        with pytest.raises(ValueError, match="no questions"):
            read_cited_questions("*" * stars)

    assert_linear(lambda stars: partial(refused, stars), 50_000)


@pytest.mark.parametrize(
    "text",
    ["Q: What is it?\nChunks: chunk_a and chunk_b", "Q: What is it?\nChunks:\n- chunk_a\n- <chunk_b>\n\nThat is all."],
)
def test_ids_are_read_from_between_words_and_from_lists(text):
    assert read_cited_questions(text).questions[0].chunk_ids == ["chunk_a", "chunk_b"]


@pytest.mark.parametrize("behind", ["", ' I left out ["chunk_b"].', " Others: []", ' {"left_out": [7]}'])
def test_ids_and_numbers_are_those_of_the_named_list(behind):
    assert read_cited_chunks(f'{{"chunk_ids": ["chunk_a"]}}{behind}').chunk_ids == ["chunk_a"]
    assert read_numbers(f'{{"numbers": [1, 2]}}{behind}').numbers == [1, 2]
    assert read_numbers("Those are [3].").numbers == [3]


@pytest.mark.parametrize("text", ["", "1", '{"numbers": ["1"]}', '{"numbers": [true]}', '{"numbers": 1}', "[1.0]"])
def test_what_are_no_numbers_cannot_be_used(text):
    with pytest.raises(ValueError, match="no numbers in"):
        read_numbers(text)


@pytest.mark.parametrize("text", ["", "chunk_a", '{"chunk_ids": [1]}'])
def test_what_are_no_ids_cannot_be_used(text):
    with pytest.raises(ValueError, match="no chunk ids in"):
        read_cited_chunks(text)
