"""OpenAI's protocol, as its SDK speaks it."""

import httpx
import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from rag_eval_loopback.models import vector
from rag_evaluation_framework.testing import LoopbackProviders
from support.provider_clients import client_of

TEXTS = ["Refunds take days.", "x", "Refunds take days."]
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Refunds take five working days."}]},
]


class Form(BaseModel):
    question: str
    count: int


def client(**given):
    return OpenAI(max_retries=0, **given)


@pytest.mark.parametrize(
    ("model", "texts", "asked", "length"),
    [
        ("text-embedding-3-small", TEXTS, {}, 1536),
        ("text-embedding-3-small", TEXTS, {"encoding_format": "float"}, 1536),
        ("text-embedding-3-large", TEXTS, {}, 3072),
        ("mine", TEXTS, {}, 256),
        ("mine", "x", {"dimensions": 7}, 7),
    ],
    ids=["small", "as numbers", "large", "another model", "a single text and dimensions"],
)
def test_embeddings_are_vectors_of_the_texts_in_their_order(providers, model, texts, asked, length):
    answer = client().embeddings.create(model=model, input=texts, **asked)
    given = [texts] if isinstance(texts, str) else texts
    assert [item.index for item in answer.data] == [*range(len(given))]
    for item, text in zip(answer.data, given, strict=True):
        assert item.embedding == pytest.approx(vector(text, length).tolist())
    assert (answer.model, answer.usage.prompt_tokens) == (model, 4 + 1 + 4 if given == TEXTS else 1)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([], "0 texts; expected 1 to 2048"),
        (["a"] * 2049, "2049 texts; expected 1 to 2048"),
        (["a", ""], "input cannot be an empty string"),
        (["a " * 200_000, "a " * 100_001], "300001 tokens; expected at most 300000"),
        (7, "input: got 7"),
    ],
)
def test_what_openai_would_refuse_is_refused(providers, texts, says):
    with pytest.raises(openai.BadRequestError, match=says):
        client().embeddings.create(model="m", input=texts)


def test_chat_answers_with_a_quote_that_keeps_a_schema(providers):
    # Chat answers with a quote and counts tokens:
    answer = client().chat.completions.create(model="m", messages=MESSAGES)
    assert answer.choices[0].message.content == "Refunds take five working days."
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (9, 6, 15)
    assert answer.choices[0].finish_reason == "stop"

    # Chat keeps a schema:
    answer = client().chat.completions.parse(model="m", messages=MESSAGES, response_format=Form)
    assert answer.choices[0].message.parsed == Form(question="What is said about refunds, take, working?", count=1)

    # Any json object is an object that quotes:
    answer = client().chat.completions.create(model="m", messages=MESSAGES, response_format={"type": "json_object"})
    assert answer.choices[0].message.content == '{"quote": "Refunds take five working days."}'
    as_text = client().chat.completions.create(model="m", messages=MESSAGES, response_format={"type": "text"})
    assert as_text.choices[0].message.content == "Refunds take five working days."


def test_chat_answers_from_a_script_that_is_told_what_is_wanted():
    # Chat answers from a script and at its end it refuses:
    with LoopbackProviders(answers=["one"]):
        chat = client().chat.completions
        assert chat.create(model="m", messages=MESSAGES).choices[0].message.content == "one"
        with pytest.raises(openai.BadRequestError, match="the script of answers is at its end"):
            chat.create(model="m", messages=MESSAGES)

    # A script is told that any object is wanted:
    seen = []
    with LoopbackProviders(answers=lambda request: seen.append(request.schema) or {}):
        client().chat.completions.create(model="m", messages=MESSAGES, response_format={"type": "json_object"})
        client().chat.completions.create(model="m", messages=MESSAGES)
    assert seen == [{"type": "object"}, None]


def test_a_request_without_a_key_or_in_parts_is_refused(providers):
    # An answer in parts is refused:
    with pytest.raises(openai.BadRequestError, match="answers in one piece; expected stream=False"):
        client().chat.completions.create(model="m", messages=MESSAGES, stream=True)
    assert client().chat.completions.create(model="m", messages=MESSAGES, stream=False).choices
    assert [exchange.status for exchange in providers.exchanges] == [400, 200]

    # Without a key nothing is answered:
    answer = httpx.post(f"{providers.url}/v1/embeddings", json={"model": "m", "input": "a"})
    assert answer.status_code == 401
    assert answer.json()["error"]["message"] == "no API key was sent"


@pytest.mark.parametrize("kind", ["OpenAI", "Anthropic", "ClientV2"])
def test_a_route_that_is_not_there_is_named_by_every_sdk(providers, kind):
    told = pytest.raises(Exception, match="the loopback server has no route GET /v1/models")
    with client_of(kind, providers.url) as made, told as failed:
        made.models.list()
    assert failed.value.status_code == 405


def test_faults_have_the_form_of_openais_errors(providers):
    providers.fault("POST /v1/embeddings", status=500)
    providers.fault("POST /v1/embeddings", status=404)
    with pytest.raises(openai.InternalServerError) as failed:
        client().embeddings.create(model="m", input="a")
    assert failed.value.body["type"] == "server_error"
    with pytest.raises(openai.NotFoundError) as failed:
        client().embeddings.create(model="m", input="a")
    assert failed.value.body["type"] == "invalid_request_error"
