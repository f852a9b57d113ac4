"""Forms that models fill in: JSON with words around it, lines of questions and chunks, and what cannot be used."""

from functools import partial

import pytest

from rag_evaluation_framework.authoring.models.asking import (
    AskedQuestions,
    CitedChunks,
    CitedQuestions,
    Quotes,
    Verdict,
    read_cited_questions,
)
from rag_evaluation_framework.components.llms.language_model import form_in, strict_schema
from support.each import each
from support.linear import assert_linear

TWO = ["What is it?", "Where is it?"]
JSON = '{"questions": [{"question": "What is it?"}, {"question": "Where is it?"}]}'
MARKED = {  # what is written, and the question
    "2024. What came then?": "2024. What came then?",
    "3. What came then?": "What came then?",
    "(3) What came then?": "What came then?",
    "**What came then?**": "What came then?",
    "* What came then?": "What came then?",
    "-5 degrees: what then?": "-5 degrees: what then?",
}
CITED = [("What is it?", ["chunk_a", "chunk_b"]), ("Where is it?", ["chunk_c"])]


def questions(text):
    return [each.question for each in form_in(text, AskedQuestions).questions]


def verdict(text):
    return form_in(text, Verdict)


def cited(text):
    return [(each.question, each.chunk_ids) for each in read_cited_questions(text).questions]


@each(
    ("text", "read"),
    [
        (JSON, TWO),
        (f"Sure! Here they are:\n```json\n{JSON}\n```\nAnything else?", TWO),
        (f"As [1] and {{this}} say: {JSON}", TWO),
        (f'Thinking: {{"thought": "two"}}\n{JSON}', TWO),
        (f'<think>Draft: {{"questions": [{{"question": "x?"}}]}}</think>{JSON}', TWO),
        (f'I used ["billing.md"] here. {JSON} And left out ["Is it?"], [].', TWO),
        ('{"questions": [{"question": "What\nis it?"}, {"question": " 2. Where is it? "}]}', TWO),
        ('{"questions": []}', []),  # nothing can be asked
        *((f'{{"questions": [{{"question": "{written}"}}]}}', [read]) for written, read in MARKED.items()),
    ],
)
def test_a_form_is_read_from_whatever_is_written_around_it_without_the_marks_of_lists(text, read):
    assert questions(text) == read


NO_VERDICTS = ('"maybe"', '"yes, but only partly"', "true", "null")
NO_QUESTIONS = [
    "",
    "I am sorry.",
    "{",
    '{"questions": "What',
    '["What is it?"]',
    '{"text": "I am sorry, I cannot."}',
    '{"questions": ["What is \\ud800 it?"]}',
    '{"questions": [{"question": "What is it?"}, {"question": "Where is "it"?"}, {"question": "When?"}]}',
    "[" * 5000,
]


@pytest.mark.parametrize(
    ("reader", "told", "text"),
    [
        *((questions, "expected AskedQuestions as JSON|no JSON in", text) for text in NO_QUESTIONS),
        # nor are there lines
        *((cited, "expected CitedQuestions as JSON|no JSON in", text) for text in ("", "I am sorry.", "*" * 99, JSON)),
        *((verdict, "answer: ", f'{{"answer": {said}}}') for said in NO_VERDICTS),
    ],
)
def test_what_is_no_form_cannot_be_used(reader, told, text):
    with pytest.raises(ValueError, match=told):
        reader(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Q: What is it?\nChunks: chunk_a, chunk_b\n\nQ: Where is it?\nChunks: chunk_c", CITED),
        ("Here.\n\nQ: What is it?\nChunks: [chunk_a], [chunk_b]\nQ: Where is it?\nChunks: 'chunk_c'.", CITED),
        (
            "**Q:** What is it?\n**Chunk IDs:** chunk_a chunk_b\n\n> **Q**: Where is it?\n**Chunk IDs:** **chunk_c**",
            CITED,
        ),
        ('Q: What is it?\nChunks: ["chunk_a", "chunk_b"]\nQ: Where is it?\nChunks: ["chunk_c"]', CITED),
        ("Q: What is it?\nChunks:\n- chunk_a\n- <chunk_b>\n\nQ: Where is it?\nChunks:\n- chunk_c\n", CITED),
        (
            'Prose {not json}\n```\n{"questions": [{"question": "What is it?", "chunk_ids": ["chunk_a", "chunk_b"]}, '
            '{"question": "Where is it?", "chunk_ids": ["chunk_c"]}]}\n```\n\nQ: Shall I write more?',
            CITED,
        ),
        ("Q: What is it?\n\nQ: Where is it?\nChunks: pa_chunk_a", [(TWO[0], []), (TWO[1], ["chunk_a"])]),
        ('Q: What does {"questions": ["x?"]} mean?', [('What does {"questions": ["x?"]} mean?', [])]),
    ],
)
def test_questions_with_chunks_are_read_from_json_and_from_lines(text, read):
    assert cited(text) == read


@pytest.mark.parametrize("text", ["{}", "{}Q", "Q{}"])
def test_rows_of_stars_are_read_at_once(text):
    def refused(stars):
        with pytest.raises(ValueError, match="no JSON in"):
            read_cited_questions(text.format("*" * stars))

    assert_linear(lambda stars: partial(refused, stars), 50_000)


def test_of_several_answers_the_last_counts_and_a_verdict_is_read_however_it_is_written():
    assert form_in('{"quotes": ["Draft."]} No: {"quotes": ["Two\n there."]} [["x"]]', Quotes).quotes == ["Two\n there."]
    assert form_in('{"chunk_ids": ["chunk_a"]} I left out ["chunk_b"].', CitedChunks).chunk_ids == ["chunk_a"]
    answers = {
        'I thought {"answer": "yes"}, but {"answer": "no"}.': "no",
        '{"answer": "yes"}': "yes",
        '{"answer": "Partly."}': "partly",
        '{"answer": " NO"}': "no",
    }
    assert [verdict(text) for text in answers] == [Verdict(missing="", answer=answer) for answer in answers.values()]


@pytest.mark.parametrize("form", [AskedQuestions, CitedQuestions, CitedChunks, Quotes, Verdict])
def test_forms_are_asked_for_by_strict_schemas(form):
    schema = strict_schema(form)
    assert schema["additionalProperties"] is False
    assert schema["required"] == [*schema["properties"]]
