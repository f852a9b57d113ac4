"""Anthropic's protocol, as its SDK speaks it."""

import anthropic
import pytest
from anthropic import Anthropic
from pydantic import BaseModel

from rag_evaluation_framework.testing import LoopbackProviders

ASKED = {"model": "claude", "max_tokens": 100, "messages": [{"role": "user", "content": "Refunds take five days."}]}


class Form(BaseModel):
    question: str
    count: int


def client():
    return Anthropic(max_retries=0)


def test_a_message_is_answered_with_a_quote_or_in_its_schema_and_tokens_are_counted(providers):
    answer = client().messages.create(system="Be brief.", **ASKED)
    assert (answer.content[0].text, answer.stop_reason) == ("Refunds take five days.", "end_turn")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (3 + 5, 5)
    assert client().messages.create(**ASKED).usage.input_tokens == 5
    assert client().messages.parse(output_format=Form, **ASKED).parsed_output == Form(
        question="What is said about refunds, take, five?", count=1
    )


def test_a_function_is_told_the_provider_and_every_message_the_systems_first():
    seen = []
    with LoopbackProviders(answers=lambda request: seen.append(request) or "yes"):
        client().messages.create(system=[{"type": "text", "text": "Be brief."}], **ASKED)
    assert seen[0].provider == "anthropic"
    assert list(seen[0].messages) == [("system", "Be brief."), ("user", "Refunds take five days.")]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"stream": True}, "answers in one piece; expected stream=False"),
        ({"extra_body": {"temperature": 1}}, "temperature: extra inputs are not permitted"),
        ({"extra_body": {"top_p": 1}}, "top_p: extra inputs are not permitted"),
        ({"extra_body": {"top_k": 1}}, "top_k: extra inputs are not permitted"),
    ],
    ids=["in parts", "temperature", "top_p", "top_k"],
)
def test_answers_in_parts_and_parameters_that_the_api_no_longer_has_are_refused(providers, given, says):
    with pytest.raises(anthropic.BadRequestError, match=says):
        client().messages.create(**given, **ASKED)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "authentication_error"), (400, "invalid_request_error"), (500, "api_error"), (529, "overloaded_error")],
)
def test_faults_have_the_form_of_anthropics_errors(providers, status, kind):
    providers.fault("POST /v1/messages", status=status)
    with pytest.raises(anthropic.APIStatusError) as failed:
        client().messages.create(**ASKED)
    assert failed.value.status_code == status
    assert failed.value.body["error"]["type"] == kind
