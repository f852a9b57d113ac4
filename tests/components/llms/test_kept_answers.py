"""Answers that are kept on disk: what was answered once is not asked for again, by whichever client."""

import json
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components.llms import AnthropicClient, Completion, KeptAnswers, LanguageModel
from rag_evaluation_framework.components.providers import calls, track_usage
from rag_evaluation_framework.errors import InvalidAnswer, ProviderRefused, ProviderUnavailable
from rag_evaluation_framework.testing import LoopbackProviders
from support.provider_clients import client_of

KINDS = ["OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"]
CHAT = "POST /v1/chat/completions"
KEY = "odd-key-of-mine"


class Form(BaseModel):
    number: int


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """How many seconds each retry waits; nobody does."""
    found = []
    monkeypatch.setattr(calls, "pause", found.append)
    return found


@pytest.fixture
def serving():
    """Serves scripted answers, and makes models that keep them."""
    with ExitStack() as stack:

        def served(answers, root, kind="OpenAI", **options):
            providers = stack.enter_context(LoopbackProviders(answers))
            client = stack.enter_context(client_of(kind, providers.url, KEY))
            client = AnthropicClient(client=client) if "Anthropic" in kind else client
            return providers, LanguageModel(client, "a-model", kept=KeptAnswers(root), **options)

        yield served


def again(model, root):
    """The same model in what might be another process."""
    return LanguageModel(model.client, "a-model", max_retries=model.max_retries, kept=KeptAnswers(root))


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_answered_is_read_counted_and_not_asked_for_again(serving, tmp_path, kind):
    providers, model = serving(["First.", "Second."], tmp_path, kind)
    first = model.text("What?")
    other = again(model, tmp_path)
    with track_usage() as usage:
        assert other.text("What?") == other.text("What?") == first
    assert (first.value, first.input_tokens > 0, first.output_tokens > 0) == ("First.", True, True)
    assert (usage.total.requests, usage.total.input_tokens) == (0, 0)
    assert (model.kept.used, other.kept.used, other.kept.size() > 0) == (0, 2, True)
    assert len(providers.exchanges) == 1
    assert model.text("What else?").value == "Second."


@pytest.mark.parametrize(
    "other", [{"model": "another-model"}, {"max_tokens": 9}, {"structure": "none"}, {"client": "another address"}]
)
def test_an_answer_depends_on_all_that_is_sent(serving, tmp_path, other):
    providers, model = serving([{"number": 1}, {"number": 2}], tmp_path)
    assert model.form("What?", Form).value.number == 1
    with client_of("OpenAI", providers.url.replace("127.0.0.1", "localhost")) as client:
        options = {"client": model.client, "model": "a-model", "kept": KeptAnswers(tmp_path), **other}
        options["client"] = client if "client" in other else model.client
        assert LanguageModel(**options).form("What?", Form).value.number == 2


def test_what_cannot_be_used_is_not_kept_and_is_asked_for_again(serving, tmp_path):
    providers, model = serving([" ", "prose", "{", {"number": "x"}, {"number": 4}], tmp_path, max_retries=3)
    with pytest.raises(InvalidAnswer):
        model.form("What?", Form)
    assert len(providers.exchanges) == 4
    assert model.kept.size() == 0
    assert again(model, tmp_path).form("What?", Form).value.number == 4
    assert again(model, tmp_path).form("What?", Form).value.number == 4
    assert len(providers.exchanges) == 5


def test_a_kept_answer_that_another_reader_cannot_use_is_asked_for_again(serving, tmp_path):
    providers, model = serving([{"number": 1}, {"number": 2}], tmp_path)

    def only_two(text):
        if "2" not in text:
            raise ValueError("not two")
        return Form(number=2)

    assert model.form("What?", Form).value.number == 1
    assert model.form("What?", Form, only_two).value.number == 2
    assert model.form("What?", Form).value.number == 2
    assert len(providers.exchanges) == 2


def ended(reason, **message):
    """Return what makes a server end an answer so, and say something else in it."""

    def changed(answer):
        said = {**answer["choices"][0]["message"], **message}
        return {**answer, "choices": [{"index": 0, "message": said, "finish_reason": reason}]}

    return changed


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"change": ended("stop", refusal="No.")}, ProviderRefused),
        ({"change": ended("length")}, InvalidAnswer),
        ({"change": lambda answer: {**answer, "choices": []}}, InvalidAnswer),
        ({"change": ended("stop", content=" ")}, InvalidAnswer),
        ({"status": 503}, ProviderUnavailable),
    ],
    ids=["refused", "cut off", "nothing", "empty", "failed on the way"],
)
def test_what_is_no_answer_is_not_kept_and_asked_for_again(serving, tmp_path, fault, error):
    providers, model = serving(["Here.", "Here."], tmp_path, max_retries=0)
    providers.fault(CHAT, **fault)
    with pytest.raises(error):
        model.text("What?")
    assert (len(providers.exchanges), model.kept.size()) == (1, 0)
    assert [again(model, tmp_path).text("What?").value for _ in range(2)] == ["Here."] * 2
    assert len(providers.exchanges) == 2


def test_answers_without_tokens_and_with_odd_texts_are_kept(serving, tmp_path):
    providers, model = serving(["\ud800 “ü” \x00 end"], tmp_path)
    providers.fault(CHAT, change=lambda answer: {key: value for key, value in answer.items() if key != "usage"})
    first = model.text("What?")
    assert (first.input_tokens, again(model, tmp_path).text("What?")) == (0, first)
    assert len(providers.exchanges) == 1


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"[1]", b"half"])
def test_a_damaged_answer_is_said_and_asked_for_again(serving, tmp_path, damage):
    providers, model = serving(["First.", "Second."], tmp_path)
    assert model.text("What?").value == "First."
    (path,) = (tmp_path / "cache" / "answers").iterdir()
    path.write_bytes(path.read_bytes().replace(b"First", b"Fifth") if damage == b"half" else damage)
    with collect_notes() as notes:
        assert again(model, tmp_path).text("What?").value == "Second."
    assert [*notes] == [f"{path.parent}: 1 of 1 answers were damaged; they are removed, and that work is done again"]
    assert again(model, tmp_path).text("What?").value == "Second."
    assert len(providers.exchanges) == 2


def test_no_prompt_and_no_key_is_in_the_files(serving, tmp_path):
    _, model = serving(["Here."], tmp_path)
    model.text("What is the codeword?")
    (path,) = (tmp_path / "cache" / "answers").iterdir()
    content = path.read_bytes()[16:].decode("ascii")  # behind a checksum
    assert set(json.loads(content)) == {*vars(Completion(""))}
    assert "codeword" not in content
    assert KEY not in content
    assert "kept" not in repr(model)


def test_answers_of_a_client_that_tells_no_address_are_not_kept(tmp_path):
    def client(answer):
        said = SimpleNamespace(content=answer, refusal=None)
        completion = SimpleNamespace(choices=[SimpleNamespace(message=said, finish_reason="stop")], usage=None)
        return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=lambda **_: completion)))

    for answer in ("of a stub", "of another one"):
        model = LanguageModel(client(answer), "a-model", kept=KeptAnswers(tmp_path))
        with collect_notes() as notes:
            assert model.text("What?").value == answer
        (told,) = notes
        assert told.endswith("tells no base_url: its answers are not kept, and are asked for each time")
    assert KeptAnswers(tmp_path).size() == 0
