"""Language models behind the real SDKs of OpenAI and Anthropic, over real sockets."""

import json
from contextlib import ExitStack
from functools import partial
from typing import get_args

import openai
import pytest
from anthropic.types import StopReason
from pydantic import BaseModel, Field

from rag_evaluation_framework.components.llms import AnthropicClient, LanguageModel
from rag_evaluation_framework.components.providers import calls, track_usage
from rag_evaluation_framework.errors import (
    ConfigError,
    InputError,
    InvalidAnswer,
    ProviderRefused,
    ProviderUnavailable,
)
from rag_evaluation_framework.testing import LoopbackProviders
from support.each import each
from support.linear import assert_linear
from support.provider_clients import client_of

TEXT = "The server restarts at night. Backups run daily at noon."
MESSAGES = [{"role": "system", "content": "You ask."}, {"role": "user", "content": f"About this:\n\n{TEXT}"}]
KEY = "odd-key-of-mine"
KINDS = ["OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"]
ROUTES = {"OpenAI": "POST /v1/chat/completions", "Anthropic": "POST /v1/messages"}


class Quote(BaseModel):
    text: str
    words: int = 3


class Question(BaseModel):
    question: str
    quotes: list[Quote] = Field(default_factory=list)
    hard: bool = False


RIGHT = {"question": "When?", "quotes": [{"text": "at night", "words": 2}], "hard": True}


@pytest.fixture
def waits(monkeypatch):
    """How many seconds each retry waits; nobody does."""
    found = []
    monkeypatch.setattr(calls, "pause", found.append)
    return found


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def model_of(providers):
    """Makes models behind clients that are closed at the end."""
    with ExitStack() as stack:

        def made(kind, **options):
            client = stack.enter_context(client_of(kind, providers.url, KEY))
            if "Anthropic" in kind:
                client = AnthropicClient(client=client)
            return LanguageModel(client, "a-model", **options)

        yield made


def name_of(kind):
    return kind.removeprefix("Async")


def route_of(kind):
    return ROUTES[name_of(kind)]


def said(text, **more):
    """Return what makes a server say something else; of Anthropic's it knows how an answer ends by other words."""

    def changed(answer):
        if "choices" in answer:
            message = {**answer["choices"][0]["message"], "content": text}
            ended = {"finish_reason": more.get("ended", "stop")}
            message |= {"refusal": more["refusal"]} if "refusal" in more else {}
            return {**answer, "choices": [{**answer["choices"][0], **ended, "message": message}]}
        ends = {"length": "max_tokens", "content_filter": "refusal", "stop": "end_turn"}
        return {**answer, "content": [{"type": "text", "text": text}], "stop_reason": ends[more.get("ended", "stop")]}

    return changed


def asked(providers, kind):
    """Return the bodies of the requests."""
    return [exchange.request.json for exchange in providers.exchanges if exchange.route == route_of(kind)]


# --- what is asked and answered ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_is_answered_a_form_filled_in_and_their_tokens_are_counted(model_of, providers, kind):
    model = model_of(kind)
    completion = model.text(MESSAGES)
    assert completion.value == "The server restarts at night."
    assert (completion.input_tokens, completion.output_tokens) == (18, 6)
    assert len(asked(providers, kind)) == 1
    form = model.form(MESSAGES, Question).value
    assert isinstance(form, Question)
    assert form.question.startswith("What is said about ")
    assert form.quotes
    assert all(quote.text in TEXT for quote in form.quotes)


@pytest.mark.parametrize("form", [dict, "Question", None, list[Question], BaseModel, Question(question="?", quotes=[])])
def test_a_form_that_is_no_pydantic_model_is_refused_before_anything_is_sent(model_of, providers, form):
    with pytest.raises(ConfigError, match=r"^form=.*: expected a pydantic model, such as class Verdict"):
        model_of("OpenAI").form(MESSAGES, form)
    assert not providers.exchanges


@pytest.mark.parametrize("kind", KINDS)
def test_the_key_is_sent_as_a_header_and_is_nowhere_shown(model_of, providers, kind, waits):
    model = model_of(kind, max_retries=0)
    model.form(MESSAGES, Question)
    (exchange,) = providers.exchanges
    assert exchange.request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in exchange.request.body
    assert KEY not in f"{model!r}{exchange!r}"
    quoted = {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "invalid_request_error"}}
    providers.fault(route_of(kind), status=401, body=quoted)
    with pytest.raises(ProviderRefused, match="status 401: Incorrect API key provided") as caught:
        model.text(MESSAGES)
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value)


def test_what_openai_is_sent(model_of, providers):
    model_of("OpenAI", max_tokens=99).form(MESSAGES, Question)
    (body,) = asked(providers, "OpenAI")
    assert body.keys() == {"model", "messages", "response_format", "max_completion_tokens"}
    assert (body["model"], body["messages"], body["max_completion_tokens"]) == ("a-model", MESSAGES, 99)
    wanted = body["response_format"]
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"].keys() == {"name", "schema", "strict"}
    assert (wanted["json_schema"]["name"], wanted["json_schema"]["strict"]) == ("Question", True)
    is_strict(wanted["json_schema"]["schema"])


def test_what_anthropic_is_sent(model_of, providers):
    model_of("Anthropic", max_tokens=99).form(MESSAGES, Question)
    (body,) = asked(providers, "Anthropic")
    assert body.keys() == {"model", "messages", "system", "max_tokens", "output_config"}
    assert (body["model"], body["system"], body["max_tokens"]) == ("a-model", "You ask.", 99)
    assert body["messages"] == MESSAGES[1:]
    assert body["output_config"].keys() == {"format"}
    assert body["output_config"]["format"]["type"] == "json_schema"
    is_strict(body["output_config"]["format"]["schema"])


def is_strict(schema):
    """Assert that every object of a schema allows only its own fields, and wants them all."""
    question, quote = schema, schema["$defs"]["Quote"]
    for part, names in ((question, ["question", "quotes", "hard"]), (quote, ["text", "words"])):
        assert (part["additionalProperties"], part["required"], list(part["properties"])) == (False, names, names)


@pytest.mark.parametrize("kind", ["OpenAI", "Anthropic"])
def test_a_text_is_asked_for_without_a_form_or_a_limit_of_ours_also_one_that_is_no_utf8(model_of, providers, kind):
    model = model_of(kind)
    model.text(MESSAGES[1:])
    assert model.text("Refunds take five \ud800 days.").value.startswith("Refunds take five")
    expected = {"model", "messages"} | ({"max_tokens"} if kind == "Anthropic" else set())
    first, second = asked(providers, kind)
    assert first.keys() == second.keys() == expected
    assert first["messages"] == MESSAGES[1:]
    (message,) = second["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith("Refunds take five")


@pytest.mark.parametrize(
    ("kind", "structure", "sent"),
    [("OpenAI", "json_object", {"type": "json_object"}), ("OpenAI", "none", None), ("Anthropic", "none", None)],
)
def test_a_server_that_knows_no_schemas_is_asked_in_another_way(model_of, providers, kind, structure, sent):
    providers.fault(route_of(kind), change=said(f"Of course: {json.dumps(RIGHT)}"))
    assert model_of(kind, structure=structure).form(MESSAGES, Question).value == Question(**RIGHT)
    (body,) = asked(providers, kind)
    assert body.get("response_format") == sent
    assert "output_config" not in body


# --- what goes wrong --------------------------------------------------------------------------------------------------

FAULTS = {
    # What happens to as many requests as there are, which error it is, and what it says.
    "429": (
        {"status": 429, "headers": {"Retry-After": "7"}},
        ProviderUnavailable,
        "status 429: .*ask for less at once",
    ),
    "429 too long": ({"status": 429, "headers": {"Retry-After": "900"}}, ProviderUnavailable, "to wait 900 seconds"),
    "500": ({"status": 500}, ProviderUnavailable, "status 500"),
    "529": ({"status": 529}, ProviderUnavailable, "status 529"),
    "408": ({"status": 408}, ProviderUnavailable, "status 408"),
    "dropped": ({"drop": True}, ProviderUnavailable, "cannot be reached"),
    "answer lost": ({"drop": True, "lost": True}, ProviderUnavailable, "cannot be reached"),
    "401": ({"status": 401}, ProviderRefused, "status 401: .*; check the key in (OPENAI|ANTHROPIC)_API_KEY"),
    "400": ({"status": 400}, ProviderRefused, "status 400"),
    "404": ({"status": 404}, ProviderRefused, "check the name of the model and the address"),
    "bad JSON": ({"body": b"{not json", "status": 200}, InvalidAnswer, "cannot be read: JSONDecodeError"),
    "HTML": (
        {"body": "<html>", "status": 200, "headers": {"Content-Type": "text/html"}},
        InvalidAnswer,
        "cannot be (read|used)",
    ),
    "nothing": ({"body": {}, "status": 200}, InvalidAnswer, "cannot be (read|used)"),
    "a list": ({"body": [], "status": 200}, InvalidAnswer, "cannot be (read|used)"),
    "no choices": ({"change": lambda a: {**a, "choices": [], "content": []}}, InvalidAnswer, "cannot be used"),
    "empty": ({"change": said(" ")}, InvalidAnswer, "an empty answer"),
    "cut off": ({"change": said('{"que', ended="length")}, InvalidAnswer, "cut off at the most tokens.*max_tokens"),
    "no JSON": ({"change": said("I cannot say.")}, InvalidAnswer, "no JSON in 'I cannot say.'"),
    "broken JSON": ({"change": said('{"question": "a", "quo')}, InvalidAnswer, "no JSON in"),
    "nested": ({"change": said("[" * 100_000)}, InvalidAnswer, "no JSON in"),
    "wrong form": (
        {"change": said('{"question": "a", "quotes": [{"text": 7}]}')},
        InvalidAnswer,
        r"quotes\.0\.text: Input should be a valid string, in '.*; expected Question as JSON",
    ),
    "a list for a form": (
        {"change": said('["a"]')},
        InvalidAnswer,
        "the answer: Input .*expected Question as JSON",
    ),
    "refused by a filter": ({"change": said("no", ended="content_filter")}, ProviderRefused, "a-model of .* refused"),
}
FINAL = {
    "401",
    "400",
    "404",
    "refused by a filter",
    "429 too long",
    "cut off",
}  # asked once: asking again would not help
WRITTEN = {"no JSON", "broken JSON", "nested", "wrong form", "a list for a form"}  # by the model, which writes anew


@pytest.mark.parametrize(
    ("name", "fault", "kind", "told"), [(name, *each) for name, each in FAULTS.items()], ids=FAULTS
)
@pytest.mark.parametrize("client", KINDS)
def test_every_failure_is_one_error_after_the_attempts_that_may_help(
    model_of, providers, waits, client, name, fault, kind, told
):
    model = model_of(client, max_retries=2)
    providers.fault(route_of(client), times=None, **fault)
    with track_usage() as usage, pytest.raises(kind, match=told) as caught:
        model.form(MESSAGES, Question)
    requests = 1 if name in FINAL else 3
    assert len(asked(providers, client)) == requests == usage.total.requests
    assert (caught.value.provider, len(waits)) == (name_of(client), 0 if name in WRITTEN else requests - 1)
    assert KEY not in str(caught.value)
    if name == "429":
        assert all(6.9 < wait <= 7.7 for wait in waits)


@pytest.mark.parametrize("client", KINDS)
@pytest.mark.parametrize("name", sorted(FAULTS.keys() - FINAL))
def test_what_passes_is_asked_again_and_answered(model_of, providers, waits, client, name):
    fault, *_ = FAULTS[name]
    providers.fault(route_of(client), times=2, **fault)
    with track_usage() as usage:
        assert model_of(client).form(MESSAGES, Question).value.quotes[0].text in TEXT
    assert (usage.total.requests, usage.total.retries, len(waits)) == (3, 2, 0 if name in WRITTEN else 2)


def test_a_refusal_of_the_model_is_told_in_its_words(model_of, providers, waits):
    providers.fault(ROUTES["OpenAI"], change=said(None, refusal="I will not ask about that."))
    with pytest.raises(ProviderRefused, match=r"a-model of OpenAI refused to answer: 'I will not ask about that\.'"):
        model_of("OpenAI").form(MESSAGES, Question)
    assert waits == []


def test_a_server_that_does_not_answer_in_time_is_not_available(providers, waits):
    providers.fault(ROUTES["OpenAI"], delay=10, times=None)
    with (
        openai.OpenAI(base_url=f"{providers.url}/v1", api_key=KEY, timeout=0.15, max_retries=5) as client,
        pytest.raises(ProviderUnavailable, match=r"cannot be reached at .*: .*[Tt]imeout"),
    ):
        LanguageModel(client, "m", max_retries=1).text(MESSAGES)
    assert len(asked(providers, "OpenAI")) == 2  # and not five more for each of them
    providers.fault(ROUTES["Anthropic"], delay=10, times=None)
    with pytest.raises(ProviderUnavailable, match=r"Anthropic .* cannot be reached at .*: .*[Tt]imeout"):
        LanguageModel(AnthropicClient(timeout=0.15), "m", max_retries=1).text(MESSAGES)
    assert len(asked(providers, "Anthropic")) == 2


COMPLETE = {"end_turn", "stop_sequence"}


@pytest.mark.parametrize("reason", [*get_args(StopReason), "of_next_year", None])
def test_only_an_answer_that_anthropic_ended_by_itself_is_complete(model_of, providers, waits, reason):
    providers.fault(ROUTES["Anthropic"], change=lambda answer: {**answer, "stop_reason": reason}, times=None)
    model = model_of("Anthropic", max_retries=0)
    if reason in COMPLETE:
        assert model.text(MESSAGES).value in TEXT
        return
    with pytest.raises(ProviderRefused if reason == "refusal" else InvalidAnswer) as caught:
        model.text(MESSAGES)
    told = {"max_tokens": "cut off", "model_context_window_exceeded": "cut off", "refusal": "refused to answer"}
    ended = {"tool_use": "tool_calls"}.get(reason, reason)
    assert told.get(reason, f"an answer that is not complete: it ended with '{ended}'") in str(caught.value)


@pytest.mark.parametrize(
    ("reason", "complete"), [("stop", True), ("eos", True), (None, True), ("tool_calls", False), ("abort", False)]
)
def test_an_answer_behind_the_shape_of_openai_may_end_as_servers_say(model_of, providers, waits, reason, complete):
    providers.fault(ROUTES["OpenAI"], change=said("All of it.", ended=reason))
    model = model_of("OpenAI", max_retries=0)
    if complete:
        assert model.text(MESSAGES).value == "All of it."
        return
    with pytest.raises(InvalidAnswer, match=f"an answer that is not complete: it ended with '{reason}'"):
        model.text(MESSAGES)


# --- JSON in what models say ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RIGHT),
        json.dumps(RIGHT, indent=2),
        f"```json\n{json.dumps(RIGHT)}\n```",
        f"```\n{json.dumps(RIGHT)}\n```",
        f"Here it is:\n\n{json.dumps(RIGHT)}\n\nDoes {{that}} help?",
        f"In [brackets] and {{braces}}: {json.dumps(RIGHT)}",
        f"\ufeff{json.dumps(RIGHT)}",
        f"<think>{json.dumps({'question': 'Who?'})} or [2]?</think>{json.dumps(RIGHT)}",
        f"As [1] and [2] say: {json.dumps(RIGHT)} (see [1], [3])",
        f"Example: {{}} then {json.dumps(RIGHT)}. {{}}",
        f"Scores in [0, 1) and (0, 1]: {json.dumps(RIGHT)}",
        json.dumps({**RIGHT, "more": 1}),
    ],
)
def test_a_form_is_found_in_what_a_model_says(model_of, providers, text, waits):
    providers.fault(ROUTES["OpenAI"], change=said(text))
    assert model_of("OpenAI").form(MESSAGES, Question).value == Question(**RIGHT)
    assert waits == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"question": "Why?", "more": [{"question": "Who?"},]}', "no JSON in"),
        ('{"question": "Why?", "more": [{"question": "Who?"}], "hard": tr', "no JSON in"),
        ('[{"question": "Who?"}', "no JSON in"),
        ('["said: {", {"question": "Who?"}', "no JSON in"),
        # Of several that are not valid the last is told.
        ('{"question": 1} {"question": "a", "hard": []}', "hard: Input should be a valid boolean"),
    ],
)
def test_a_part_of_json_that_breaks_off_or_is_not_valid_is_no_answer(model_of, providers, waits, text, told):
    providers.fault(ROUTES["OpenAI"], change=said(text))
    with pytest.raises(InvalidAnswer, match=told):
        model_of("OpenAI", max_retries=0).form(MESSAGES, Question)


# --- what it costs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_unusable_answers_are_counted_and_paid_too(model_of, providers, waits, kind):
    model = model_of(kind, price_in=2.0, price_out=10.0)
    providers.fault(route_of(kind), change=said("no"), times=2)
    with track_usage() as usage:
        completion = model.form(MESSAGES, Question)
    (used,) = usage.models
    assert (used.provider, used.model, used.requests, used.retries) == (name_of(kind), "a-model", 3, 2)
    assert used.input_tokens == 3 * completion.input_tokens > 0
    assert used.output_tokens == 3 * completion.output_tokens > 0
    assert used.cost == pytest.approx((2.0 * used.input_tokens + 10.0 * used.output_tokens) / 1e6)


def test_a_server_that_counts_no_tokens_is_not_paid(model_of, providers):
    providers.fault(ROUTES["OpenAI"], change=lambda answer: {**answer, "usage": None})
    with track_usage() as usage:
        completion = model_of("OpenAI", price_in=1.0, price_out=1.0).text(MESSAGES)
    assert (completion.input_tokens, completion.output_tokens) == (0, 0)
    assert (usage.total.requests, usage.total.cost) == (1, None)


# --- clients ----------------------------------------------------------------------------------------------------------


@each(
    ("given", "said"),
    [
        *(
            ({name: 1}, f"AnthropicClient takes no {name}: its API has no such parameter")
            for name in ("temperature", "top_p", "seed", "tools")
        ),
        (
            {"response_format": {"type": "json_object"}},
            "takes no response_format of 'json_object'; expected json_schema",
        ),
    ],
)
def test_what_anthropic_would_not_heed_is_refused(providers, given, said):
    with pytest.raises(InputError, match=said):
        AnthropicClient().chat.completions.create(model="m", messages=MESSAGES, **given)
    assert providers.exchanges == []


@pytest.mark.parametrize("names", [{"max_tokens": 7}, {"max_completion_tokens": 7}])
def test_anthropic_takes_either_name_of_the_limit_and_a_text_as_the_format(providers, names):
    create = AnthropicClient().chat.completions.create
    answer = create(model="m", messages=MESSAGES, response_format={"type": "text"}, **names)
    (body,) = asked(providers, "Anthropic")
    assert (body["max_tokens"], "output_config" in body) == (7, False)
    assert answer.choices[0].message.content in TEXT
    assert answer.choices[0].finish_reason == "stop"
    assert (answer.model, answer.usage.prompt_tokens) == ("m", 18)


def test_two_models_of_one_name_are_equal_and_show_no_client():
    with openai.OpenAI(api_key=KEY, base_url="http://127.0.0.1:9") as client:
        one, two = LanguageModel(client, "m"), LanguageModel(AnthropicClient(api_key=KEY), "m")
        assert one == two
        assert repr(one) == "LanguageModel(model='m', max_tokens=None, structure='json_schema')"
        assert KEY not in repr(AnthropicClient(api_key=KEY))


def test_long_nonsense_is_read_in_time(model_of, providers, waits):
    def refused(model):
        with pytest.raises(InvalidAnswer, match="no JSON"):
            model.form(MESSAGES, Question)

    def nonsense(size):
        providers.clear_faults()
        providers.fault(ROUTES["OpenAI"], change=said('["[{",' * size), times=None)
        return partial(refused, model_of("OpenAI", max_retries=0))

    assert_linear(nonsense, 5_000)


@each("messages", [[], [{"role": "user"}], [{"role": "user", "content": None}], [7], None])
def test_what_are_no_messages_are_refused(providers, messages):
    with pytest.raises(InputError, match="expected a text, or a list of role and content"):
        LanguageModel(AnthropicClient(), "m").text(messages)
    assert not providers.exchanges
