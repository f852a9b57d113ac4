"""A saved run, and one of its questions, explained on the command line."""

import json
import re
import sys

import pytest

from support.terminal import Terminal

QUESTIONS = (
    "question,quote,document\n"
    "When do invoices come?,Invoices are sent on the first day.,billing.md\n"
    "Who helps with billing?,Support helps.,billing.md\n"
    "What comes first?,Install the agent first.,guides/start.md\n"
    "Who is the chief?,,\n"
)
OWN = "def search(query, k):\n    return ['Support helps.', 'Install the agent first.'][:k]\n"


@pytest.fixture
def run(rag_eval, folder):
    """Save a run."""
    (folder / "faq.csv").write_text(QUESTIONS)
    (folder / "own_explained.py").write_text(OWN)

    def run(name, *more):
        given = ("--corpus", "docs", "--dataset", "faq.csv", "--k", "1", "--set", f"experiment_name={name}", "--json")
        outcome = rag_eval("run", *given, *more)
        assert outcome.code == 0, outcome.err

    return run


@pytest.fixture
def saved(run):
    """A run of sentences, one result of each question."""
    run("sentences", "--chunker", "sentence:sentences=1")


@pytest.mark.parametrize("question", ["When do invoices come?", "when do inv", "invoices when"])
def test_a_question_is_explained_by_its_results_and_answers(rag_eval, saved, question):
    outcome = rag_eval("explain", "last", question)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("When do invoices come? (query_")
    assert lines[1] == "sentences, span_recall@1: 1.000"
    assert "    »Invoices are sent on the first day.«" in lines
    assert "    billing.md:3:1, first found at rank 1" in lines
    assert "    100% found" in lines


def test_several_questions_are_explained_below_each_other_and_as_json_a_run_has_everything(rag_eval, saved):
    outcome = rag_eval("explain", "last", "Who helps", "invoices when")
    assert outcome.code == 0
    told = re.findall(r"^(Who helps|When do invoices).* \(query_", outcome.out, re.MULTILINE)
    assert told == ["Who helps", "When do invoices"]
    record = json.loads(rag_eval("explain", "last", "Who helps", "invoices when", "--json").out)
    assert [one["recall"] for one in record["questions"]] == [0.0, 1.0]
    outcome = rag_eval("explain", "sentences", "--score", "span_recall@4000ch", "--json")
    assert outcome.code == 0
    record = json.loads(outcome.out)
    assert (record["score"], record["n"], record["recall"]) == ("span_recall@4000ch", 3, 1.0)
    assert sum(record["lost"].values()) == 0
    assert record["advice"] == []


def test_in_a_terminal_what_is_relevant_is_coloured(saved, folder):
    terminal = Terminal("explain", "last", "invoices", folder=folder, columns=80)
    terminal.end()
    shown = terminal.text
    assert "Invoices are sent on the first day." in shown
    assert "»" not in shown


def test_own_code_is_imported_with_deep_only_and_named_before(rag_eval, run, monkeypatch):
    run("own", "--retriever", "own_explained:search")
    monkeypatch.delitem(sys.modules, "own_explained")
    outcome = rag_eval("explain", "last")
    assert (outcome.code, outcome.err) == (0, "")
    assert "was not asked again" in outcome.out
    assert "not among the results asked for" in outcome.out
    assert "it has your own code, 'own_explained:search'; --deep (deep=True) imports" in " ".join(outcome.out.split())
    assert "--no-import" not in outcome.out
    outcome = rag_eval("explain", "last", "--deep")
    assert outcome.code == 0
    assert re.fullmatch(r"importing own_explained:search from .*own_explained\.py\n", outcome.err)
    assert "of the 100 results asked for" in outcome.out
    assert "not among the first 100" not in outcome.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing"], "no path, run or experiment is called 'nothing'"),
        (["last", "zebra"], "no question of sentences is called 'zebra'"),
        (["last", "Who"], "'Who' names 2 questions of sentences; write more of one, or its id:"),
        (["last", "Who is the cheif?"], "the nearest:"),
        (["last", "--score", "span_precision@1"], "expected one of span_recall@1, span_recall@4000ch"),
    ],
)
def test_what_cannot_be_explained_is_refused(rag_eval, saved, arguments, told):
    outcome = rag_eval("explain", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert "Traceback" not in outcome.err
