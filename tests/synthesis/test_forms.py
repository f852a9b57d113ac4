"""What models answer, in all the shapes that they give it."""

import pytest

from rag_evaluation_framework.llms.language_model import strict_schema
from rag_evaluation_framework.synthesis.forms import (
    AskedQuestions,
    CitedQuestions,
    Quotes,
    Verdict,
    read_cited_questions,
    read_questions,
    read_quotes,
    read_verdict,
)
from support.each import each

TWO = ["What is it?", "Where is it?"]


def questions(text):
    return [each.question for each in read_questions(text).questions]


def cited(text):
    return [(each.question, each.chunk_ids) for each in read_cited_questions(text).questions]


@each(
    "text",
    [
        '{"questions": [{"question": "What is it?"}, {"question": "Where is it?"}]}',
        '["What is it?", "Where is it?"]',
        '[{"query": "What is it?"}, {"Question": " Where is it? "}]',
        '{"Queries": ["1. What is it?", "2) Where is it?"]}',
        'Sure! Here they are:\n```json\n{"questions": ["What is it?", "Where is it?"]}\n```\nAnything else?',
        'As [1] and {this} say: {"questions": ["What is it?", "Where is it?"]}',
        'Thinking: {"thought": "two"}\n["What is it?", "Where is it?"]',
        '{"questions": ["What is it?", "", "  ", null, 3, {"question": ""}, "Where\\nis it?"]}',
        "Q: What is it?\nQ: Where is it?\n",
        "Here you are.\n\n1. Question: What is it?\n2. Question: Where is it?",
        "**Q1:** What is it?\n\n**Q2:** Where is it?",
        '{"data": [{"text": "What is it?", "answer": "a"}, {"q": "Where is it?"}]}',
    ],
)
def test_questions_are_read_from_all_shapes(text):
    assert questions(text) == TWO


@pytest.mark.parametrize("text", ['{"questions": []}', "[]", "Nothing to ask here: []"])
def test_that_nothing_can_be_asked_is_an_answer(text):
    assert questions(text) == []


@pytest.mark.parametrize(
    "text",
    ["", "I am sorry.", "{", '{"questions": "What', "[1, 2]", '{"questions": ["", " "]}', '{"answer": 3}', "[" * 5000],
)
def test_what_has_no_questions_cannot_be_used(text):
    with pytest.raises(ValueError, match="no questions in"):
        read_questions(text)


def test_a_single_question_is_one():
    assert questions('{"question": "What is it?"}') == TWO[:1]


def test_surrogates_are_replaced():
    assert questions('["What is \\ud800 it?"]') == ["What is \ufffd it?"]


@pytest.mark.parametrize(
    "text",
    [
        "Q: What is it?\nChunks: chunk_a, chunk_b\n\nQ: Where is it?\nChunks: chunk_c",
        "Q: What is it?\nChunks: [chunk_a], [chunk_b]\nQ: Where is it?\nChunks: 'chunk_c'.",
        "**Q:** What is it?\n**Chunk IDs:** chunk_a chunk_b\n\n**Q:** Where is it?\n**Chunk IDs:** chunk_c",
        'Q: What is it?\nChunks: ["chunk_a", "chunk_b"]\nQ: Where is it?\nChunks: ["chunk_c"]',
        '[{"question": "What is it?", "chunk_ids": ["chunk_a", "chunk_b"]}, '
        '{"question": "Where is it?", "chunk_ids": "chunk_c"}]',
        '{"questions": [{"query": "What is it?", "relevantChunkIds": ["[chunk_a]", "chunk_b"]}, '
        '{"query": "Where is it?", "Chunk IDs": "chunk_c"}]}',
        'Prose {not json}\n```\n{"questions": [{"question": "What is it?", "chunks": "chunk_a, chunk_b"}, '
        '{"question": "Where is it?", "chunks": ["chunk_c"]}]}\n```',
    ],
)
def test_questions_with_chunks_are_read_from_all_shapes(text):
    assert cited(text) == [("What is it?", ["chunk_a", "chunk_b"]), ("Where is it?", ["chunk_c"])]


def test_a_question_without_chunks_has_none():
    assert cited('["What is it?"]') == [("What is it?", [])]
    assert cited("Q: What is it?") == [("What is it?", [])]


@pytest.mark.parametrize(
    "text",
    [
        '{"quotes": ["One here.", "Two  there."]}',
        '["One here.", "Two  there."]',
        '{"excerpts": [{"text": "One here."}, {"quote": "Two  there."}]}',
        'They are:\n```json\n{"Quotes": ["One here.", "", "Two  there.", "  "]}\n```',
        '[1] says it: {"quotes": ["One here.", "Two  there."]}',
    ],
)
def test_quotes_are_read_from_all_shapes_and_stay_as_they_are(text):
    assert read_quotes(text).quotes == ["One here.", "Two  there."]


def test_a_single_quote_and_none_are_read():
    assert read_quotes('{"quote": "One here."}').quotes == ["One here."]
    assert read_quotes('{"quotes": []}').quotes == []


@pytest.mark.parametrize("text", ["", "One here.", '{"quotes": [1]}', '{"quotes": null}', '{"quotes": ["One'])
def test_what_has_no_quotes_cannot_be_used(text):
    with pytest.raises(ValueError, match="no quotes in"):
        read_quotes(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "yes"}', "yes"),
        ('{"answer": "Partly."}', "partly"),
        ('```{"verdict": "NO"}```', "no"),
        ('{"answerable": true}', "yes"),
        ("Yes, they do.", "yes"),
        ("partially", "partly"),
        ('Well [1]: {"answer": "no"}', "no"),
    ],
)
def test_verdicts_are_read_from_all_shapes(text, answer):
    assert read_verdict(text).answer == answer


@pytest.mark.parametrize("text", ["", "perhaps", '{"answer": "maybe"}', "[]"])
def test_what_is_no_verdict_cannot_be_used(text):
    with pytest.raises(ValueError, match="no verdict in"):
        read_verdict(text)


@pytest.mark.parametrize("form", [AskedQuestions, CitedQuestions, Quotes, Verdict])
def test_forms_are_asked_for_by_strict_schemas(form):
    schema = strict_schema(form)
    assert schema["additionalProperties"] is False
    assert schema["required"] == [*schema["properties"]]


# --- the last answer counts, and pieces are none ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '<think>Draft: {"questions": [{"question": "x?"}]}</think>{"questions": ["What is it?", "Where is it?"]}',
        'I used ["billing.md"] here. {"questions": [{"question": "What is it?"}, {"question": "Where is it?"}]}',
        '{"questions": ["What is it?", "Where is it?"]} I used ["billing.md"] and ["Is it?"] here.',
        '{"questions": [{"question": "What\nis it?"}, {"question": "Where is it?"}]}',
    ],
)
def test_the_questions_are_those_that_are_asked_in_the_end(text):
    assert questions(text) == TWO


@pytest.mark.parametrize(
    "text",
    [
        '["I cannot help with that."]',
        '{"text": "I am sorry, I cannot."}',
        '{"questions": [{"question": "What is it?"}, {"question": "Where is "it"?"}, {"question": "When?"}]}',
    ],
)
def test_neither_refusals_nor_pieces_of_broken_json_are_questions(text):
    with pytest.raises(ValueError, match="no questions in"):
        read_questions(text)


def test_chunk_ids_are_no_questions_where_a_line_break_stands_in_one():
    text = '{"questions": [{"question": "What\nis it?", "chunk_ids": ["chunk_a"]}]}'
    assert cited(text) == [("What is it?", ["chunk_a"])]


def test_the_quotes_are_those_that_are_given_in_the_end():
    text = '<think>["Refunds"] is too short</think>{"quotes": ["Refunds take\nfive days."]}'
    assert read_quotes(text).quotes == ["Refunds take\nfive days."]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('<think>{"answer": "no"} if all is wanted</think>{"answer": "yes"}', "yes"),
        ('I first thought {"answer": "yes"}, but {"answer": "no"}.', "no"),
        ("Yes.", "yes"),
    ],
)
def test_the_verdict_is_the_last(text, answer):
    assert read_verdict(text).answer == answer


@pytest.mark.parametrize(
    "text", ["No doubt: yes", '{"answer": "Yes, but only partly"}', "I have no doubt that they do."]
)
def test_two_verdicts_are_none(text):
    with pytest.raises(ValueError, match="no verdict in"):
        read_verdict(text)
