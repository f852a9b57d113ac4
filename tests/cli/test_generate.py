"""`rag-eval generate`: a scripted model behind the real SDKs writes a dataset about a folder."""

import json
import re
import shlex
import signal
import threading

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.authoring.models.generator import SyntheticDataGenerator
from rag_evaluation_framework.testing import LoopbackProviders
from support.scripted_llm import ScriptedModel

ANSI = re.compile(r"\x1b\[[0-9;]*m")
CHAT = "POST /v1/chat/completions"
FILE = ".rag-eval/datasets/mine.json"
UNNAMED = ("generate", "--corpus", "docs", "--queries-per-doc", "2")
GENERATE = (*UNNAMED, "--name", "mine")


def paraphrasing(sentence, request):
    return {"quotes": [sentence.replace("first day", "1st day")]}


@pytest.fixture
def served(folder):
    with LoopbackProviders(ScriptedModel(paraphrasing)) as providers:
        yield providers


def test_the_funnel_and_the_place_of_the_dataset_are_printed_and_a_second_command_asks_for_nothing(rag_eval, served):
    outcome = rag_eval(*GENERATE)
    assert (outcome.code, outcome.err) == (0, "")
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["asked", "for", "4"] in rows
    assert ["parsed", "4"] in rows
    assert ["quote", "not", "in", "the", "documents", "-1"] in rows
    assert ["verified", "3"] in rows
    assert ["same", "question", "with", "another", "answer", "-2"] in rows  # "Support helps." of either document
    assert ["kept", "1"] in rows
    assert outcome.out.startswith(f"Generated questions\n1 of 4 questions kept\nSaved to {FILE}\n")
    assert outcome.out.endswith(f"\n\nNext:\n\n  rag-eval dataset review {FILE} --corpus docs\n")
    assert "OpenAI gpt-5-mini: 9 requests" in outcome.out
    dataset = rag.load_dataset(FILE, corpus=rag.Corpus.from_folder("docs"))
    assert len(dataset) == 1
    assert dataset.name == "mine"
    asked = len(served.exchanges)
    again = rag_eval(*GENERATE)
    assert (again.code, len(served.exchanges)) == (0, asked)
    assert "9 answers that were kept, not asked for again" in again.out
    ran = rag_eval("run", "--corpus", "docs", "--dataset", FILE)
    assert (ran.code, "1 of 1" in ran.out) == (0, True)


def test_as_json_it_is_one_object(rag_eval, served):
    outcome = rag_eval(*GENERATE, "--json")
    record = json.loads(outcome.out)
    assert record.keys() == {
        *("dataset", "funnel", "rejections", "failed_requests"),
        *("usage", "answers_kept_before"),
    }
    assert record["dataset"] == FILE
    assert record["funnel"]["kept"] == 1
    rejection = record["rejections"][0]
    assert rejection["reason"] == "quote not in the documents"
    assert "nearest passage" in rejection["detail"]
    assert record["usage"][0]["requests"] == 9


def test_chunks_are_labelled_at_chunk_level(rag_eval, served):
    outcome = rag_eval(*GENERATE, "--chunker", "recursive-character:chunk_size=60")
    assert outcome.code == 0, outcome.err
    assert rag.load_dataset(FILE, rag.CHUNK).level is rag.CHUNK
    offered = outcome.out.splitlines()[-1]
    assert offered == f"  rag-eval run --dataset {FILE} --corpus docs --chunker recursive-character:chunk_size=60"
    assert rag_eval(*shlex.split(offered)[1:]).code == 0


def test_anthropics_models_write_as_well(rag_eval, served):
    outcome = rag_eval(*GENERATE, "--provider", "anthropic", "--model", "claude-sonnet-5")
    assert outcome.code == 0, outcome.err
    assert {exchange.route for exchange in served.exchanges} == {"POST /v1/messages"}
    missing = rag_eval(*GENERATE, "--provider", "anthropic")
    assert (missing.code, "needs --model" in missing.err) == (2, True)


def test_strategies_are_chosen_by_name_and_by_files(rag_eval, served, folder):
    (folder / "dimensions.yaml").write_text("difficulty: [easy, hard]\n")
    (folder / "log.csv").write_text('id,question\n1,"when, in a month, do invoices come"\n2,\n')
    options = ("--strategy", "no-answer", "--dimensions", "dimensions.yaml", "--real-questions", "log.csv")
    outcome = rag_eval(*GENERATE, *options, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["funnel"]["asked"] == 3 * 2 * 2
    generation = json.loads((folder / FILE).read_text())["metadata"]["generation"]
    kinds = [strategy["type"].rpartition(":")[2] for strategy in generation["strategies"]]
    assert kinds == ["NoAnswerQuestions", "DimensionQuestions", "RealQuestions"]
    assert rag_eval(*GENERATE, "--strategy", "hard").code == 2


def test_a_dry_run_asks_for_nothing_and_needs_no_key(rag_eval, served, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    outcome = rag_eval(*GENERATE, "--dry-run")
    assert (outcome.code, outcome.err) == (0, "")
    rows = [line.split() for line in outcome.out.splitlines()]
    assert rows[0] == ["4", "questions", "to", "generate"]
    assert ["calls", "10"] in rows
    assert "four characters are taken for a token" in " ".join(outcome.out.split())
    record = json.loads(rag_eval(*GENERATE, "--dry-run", "--json").out)
    assert record.keys() == {"questions", "calls", "input_tokens", "output_tokens", "cost"}
    assert (record["questions"], record["calls"], record["cost"]) == (4, 10, None)
    assert served.exchanges == []


@pytest.mark.parametrize("provider", ["OpenAI", "Anthropic"])
def test_without_a_key_it_says_which(rag_eval, folder, monkeypatch, provider):
    monkeypatch.delenv(f"{provider.upper()}_API_KEY", raising=False)
    monkeypatch.delenv(f"{provider.upper()}_BASE_URL", raising=False)
    outcome = rag_eval(*GENERATE, "--provider", provider.lower(), "--model", "any")
    assert (outcome.code, outcome.out) == (2, "")
    needed = f"rag-eval generate needs a key of {provider}: set the environment variable {provider.upper()}_API_KEY"
    assert needed in outcome.err


def test_if_no_question_is_kept_that_is_found(rag_eval, folder):
    with LoopbackProviders(ScriptedModel(verdict=lambda question: {"answer": "no"})):
        outcome = rag_eval(*GENERATE)
    assert outcome.code == 1
    assert outcome.out.startswith("Generated questions\n0 of 4 questions kept\n\n")


def test_an_interrupted_command_says_what_is_kept_and_goes_on(rag_eval, served):
    served.fault(CHAT, delay=0.4, times=None)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    outcome = rag_eval(*GENERATE)
    timer.join()
    assert outcome.code == 130
    assert "interrupted: what was answered is in .rag-eval/cache/answers: the same command goes on" in outcome.err
    asked = len(served.exchanges)
    assert 0 < asked < 9
    served.clear_faults()
    assert rag_eval(*GENERATE).code == 0
    assert len(served.exchanges) <= 9 + 4  # what was under way may be asked again


def test_why_questions_were_not_taken_is_shown_with_examples_that_fit_a_terminal(rag_eval, served, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    outcome = rag_eval(*GENERATE)
    told = " ".join(ANSI.sub("", outcome.out).split())
    assert "quote not in the documents “What about day first the on sent are invoices?”" in told
    assert "Invoices are sent on the 1st day.; nearest passage" in told
    assert max(map(len, ANSI.sub("", outcome.out).splitlines())) <= 80


def test_failed_requests_are_shown_with_what_the_provider_says_and_how_to_go_on(rag_eval, served, monkeypatch):
    # One request at a time: two of the four questions contradict each other, and go if the fault befalls another one.
    monkeypatch.setitem(SyntheticDataGenerator.__init__.__kwdefaults__, "max_concurrency", 1)
    served.fault(CHAT, status=400, body={"error": {"message": "the text is too long"}}, times=2, after=3)
    outcome = rag_eval(*GENERATE)
    assert outcome.code == 1
    told = " ".join(outcome.out.split())
    assert "2 times, asking for quotes OpenAI (gpt-5-mini) answered with status 400: the text is too long" in told
    assert "Run the same command again: only what failed is asked." in told
    assert f"Saved to {FILE}, without what the requests that failed would have brought" in told
    completed = rag_eval(*GENERATE)
    assert completed.code == 0
    assert "\nNext:\n" in completed.out
    assert "failed" not in completed.out


def test_where_nothing_can_be_saved_nothing_is_asked(rag_eval, served, folder):
    (folder / "afile").write_text("")
    for options, told in (
        (("--name", "mine", "--root", "afile"), "results are to be saved in afile, but"),
        (("--name", "n" * 300), "of at most 200 bytes"),
        (("--name", "a\ud800"), "bytes that can be printed"),
    ):
        refused = rag_eval(*UNNAMED, *options)
        assert (refused.code, refused.out) == (2, "")
        assert told in " ".join(refused.err.split())
    (folder / "other").mkdir()
    (folder / "other" / "datasets").write_text("")
    (folder / "other" / "runs").write_text("")
    refused = rag_eval(*GENERATE, "--root", "other")
    assert "results are to be saved in other, but" in " ".join(refused.err.split())
    assert served.exchanges == []
    (folder / "other" / "datasets").unlink()  # whether runs can be saved is another matter
    assert rag_eval(*GENERATE, "--root", "other").code == 0


def test_failed_requests_are_in_the_object(rag_eval, folder):
    with LoopbackProviders(ScriptedModel(quote=lambda sentence, request: "I would rather not.")):
        outcome = rag_eval(*GENERATE, "--json")
        shown = rag_eval(*GENERATE)
    (failed,) = json.loads(outcome.out)["failed_requests"]
    assert failed.keys() == {"asking", "error", "status", "messages"}
    assert (outcome.code, len(failed["messages"])) == (1, 4)
    assert "Run the same command again: only what failed is asked." in " ".join(shown.out.split())


def test_a_provider_that_refuses_for_good_ends_it_in_one_line_without_a_dataset(rag_eval, served, folder):
    served.fault(CHAT, status=401, times=None, after=3)
    outcome = rag_eval(*GENERATE)
    assert (outcome.code, outcome.out) == (2, "")
    assert 4 <= len(served.exchanges) <= 6
    assert outcome.err.startswith("error: OpenAI (gpt-5-mini) answered with status 401")
    assert outcome.err.count("\n") == 1
    assert "What was answered is in .rag-eval/cache/answers" in outcome.err
    assert not (folder / FILE).exists()
