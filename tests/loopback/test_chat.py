"""What language models answer: a script, a function, or quotes in the form that is asked for."""

import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from rag_eval_loopback.models import ChatRequest, ChatScript
from rag_evaluation_framework.errors import ConfigError

PASSAGE = "Refunds take five working days. Invoices are sent on the first day of the month."
QUESTION = f"Ask about this passage.\n\n{PASSAGE}\n\nAnswer in JSON."


def asked(text=QUESTION, schema=None):
    return ChatRequest("openai", "m", [("system", "Be brief."), ("user", text)], schema)


class Part(BaseModel):
    name: str
    kind: Literal["a", "b"]


class Form(BaseModel):
    question: str
    sure: bool
    count: int = Field(ge=3)
    share: float
    parts: list[Part]
    quotes: list[str] = Field(min_length=2)
    maybe: str | None
    version: Literal[4] = 4
    extra: dict[str, str] = {}


def test_a_script_is_answered_in_its_order_or_without_end():
    # A script is answered in its order and its end is an error:
    script = ChatScript(["one", {"two": 2}, [3], "", {}])
    assert [script.reply(asked()) for _ in range(5)] == ["one", '{"two": 2}', "[3]", "", "{}"]
    with pytest.raises(LookupError, match="the script of answers is at its end"):
        script.reply(asked())

    # A script may be endless:
    script = ChatScript(iter(lambda: "again", None))
    assert [script.reply(asked()) for _ in range(3)] == ["again"] * 3

    # A function is given the request:
    script = ChatScript(lambda request: {"of": request.provider, "model": request.model, "prompt": request.prompt})
    assert json.loads(script.reply(asked("x"))) == {"of": "openai", "model": "m", "prompt": "Be brief.\n\nx"}

    # One answer instead of a list is refused:
    for answers in ("Yes", {"answer": "Yes"}):
        with pytest.raises(ConfigError, match=r"answers=.*expected a list of answers, or a function"):
            ChatScript(answers)


def test_the_longest_passage_is_asked_about():
    # Of chunks behind their ids the longest is asked about and named:
    class Asked(BaseModel):
        question: str
        chunk_ids: list[str]

    text = f"<chunks>\n[chunk_a]: 'Short.'\n\n[chunk_0123456789ab]: '{PASSAGE}\n\nMore.'\n</chunks>\n\nAsk."
    answer = Asked.model_validate_json(ChatScript().reply(asked(text, Asked.model_json_schema())))
    assert answer == Asked(question="What is said about refunds, take, working?", chunk_ids=["chunk_0123456789ab"])

    # Without a script a sentence of the longest paragraph is quoted:
    assert ChatScript().reply(asked()) == "Refunds take five working days."
    assert ChatScript().reply(asked("Short")) == "Short"
    assert ChatScript().reply(asked("")) == "Nothing was asked."
    assert ChatScript().reply(ChatRequest("openai", "m", [])) == "Nothing was asked."


def test_what_is_answered_about_a_passage_keeps_the_schema():
    # A quote keeps the schema and its texts are sentences of the passage:
    answer = Form.model_validate_json(ChatScript().reply(asked(schema=Form.model_json_schema())))
    texts = [*answer.quotes, answer.parts[0].name, answer.maybe]
    assert all(text in PASSAGE for text in texts)
    assert answer.question == "What is said about refunds, take, working?"
    assert answer.quotes[0] != answer.quotes[1]
    assert (answer.count, answer.sure, len(answer.parts), answer.parts[0].kind) == (3, True, 1, "a")

    # A schema may name several types:
    schema = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": ["string", "null"]}}}
    assert json.loads(ChatScript().reply(asked(schema=schema))) == {"a": 1, "b": "Refunds take five working days."}
