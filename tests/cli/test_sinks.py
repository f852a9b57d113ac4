"""Where the result of a run goes: sinks by name and of one's own, by options, in files and in Python."""

import json
from types import SimpleNamespace

import pytest

from rag_evaluation_framework import BM25Retriever, EvaluationConfig, evaluate, load_result, runs
from rag_evaluation_framework.contracts import Sink
from rag_evaluation_framework.errors import ConfigError, SaveFailed
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import JUnitSink, push_dataset
from support.gated_project import FLAGS
from support.published import CORPUS, NAME, is_there_once, published_dataset

OWN = """
from pathlib import Path
from rag_evaluation_framework.contracts import Sink
def send(outcome):
    told = [outcome.result.folder.name, *outcome.problems, *(str(gate) for gate in outcome.result.gates)]
    with Path("sent").open("a") as file:
        file.write("\\n".join(told) + "\\n")
class Closed(Sink):
    def prepare(self):
        raise ValueError("no token in DASH_TOKEN")
    def send(self, outcome):
        pass
class Mute(Sink):
    pass
def compare(outcome):
    Path("compared").write_text(str(outcome.comparison.regressions("hit@2")))
def down(outcome):
    raise ConnectionError("gone away")
def leave(outcome):
    raise SystemExit(0)
def interrupt(outcome):
    raise KeyboardInterrupt
def block(outcome):
    Path("step.md").unlink()
    Path("step.md").mkdir()
"""


@pytest.fixture
def own(project):
    with (project / "own.py").open("a") as file:
        file.write(OWN)
    return project


def runs_in(folder):
    return sorted(folder.glob(".rag-eval/runs/2*"))


def test_a_function_of_ones_own_gets_the_saved_run(rag_eval, own):
    outcome = rag_eval(*FLAGS, "--sink", "own:send", "--gate", "hit@2 >= 0.5")
    assert outcome.code == 0, outcome.err
    (run,) = runs_in(own)
    assert (own / "sent").read_text() == f"{run.name}\nhit@2 >= 0.5: passed: 0.750, 4 questions\n"
    outcome = rag_eval(*FLAGS[:-1], "own:worse", "--sink", "own:compare", "--baseline", "last")
    assert (own / "compared").read_text() == "{'q_refund': -1.0}"


def test_intervals_are_drawn_once_for_what_is_saved_and_what_is_shown(rag_eval, own, monkeypatch):
    drawn, really = [], runs.result.mean_scores

    def drawing(scores, *given, **more):
        drawn.append(scores.tobytes())
        return really(scores, *given, **more)

    monkeypatch.setattr(runs.result, "mean_scores", drawing)
    assert rag_eval(*FLAGS).code == 0
    assert len(drawn) == len(set(drawn)) > 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("down", "the result is not sent to down: ConnectionError: gone away"),
        ("leave", "the result is not sent to down: down: called sys.exit(0) (own.py, line"),
    ],
)
def test_a_sink_that_fails_stops_no_other_and_ends_in_2_if_an_option_asked_for_it(rag_eval, own, name, told):
    told = told.replace("to down: down", "to leave: leave")
    outcome = rag_eval(*FLAGS, "--sink", f"own:{name}", "--sink", "own:send", "--junit", "gates.xml", "--json")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith(f"error: {told}")
    (run,) = runs_in(own)
    assert json.loads(outcome.out)["run"] == str(run)
    assert told in (own / "gates.xml").read_text()
    assert told in (own / "sent").read_text()


def test_a_sink_of_a_file_that_fails_is_noted(rag_eval, own):
    sinks = ["own:down", "own:send", {"type": "junit", "path": "gates.xml"}]
    keys = {"corpus": "docs", "dataset": "help.json", "retriever": "own:search", "sinks": sinks}
    (own / "run.json").write_text(json.dumps(keys))
    outcome = rag_eval("run", "run.json", "--json")
    assert outcome.code == 0
    told = "the result is not sent to down: ConnectionError: gone away"
    assert f"warning: {told}" in outcome.err
    assert json.loads(outcome.out)["notes"][-1] == told
    assert (own / "sent").read_text() == f"{runs_in(own)[0].name}\n"
    assert 'errors="0"' in (own / "gates.xml").read_text()
    (own / "gates.xml").write_text("<html>")
    refused = rag_eval("run", "run.json")
    assert refused.code == 2
    assert "gates.xml: is there, and is not the JUnit XML of an earlier run" in refused.err
    assert len(runs_in(own)) == 1
    assert rag_eval("run", "run.json", "--sink", "own:send").code == 0  # in place of those of the file


def test_an_interrupt_while_results_are_written_or_sent_loses_nothing(rag_eval, own, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("rag_evaluation_framework.runs.store.write_run", interrupted)
        outcome = rag_eval(*FLAGS, "--sink", "own:send", "--json")
    assert outcome.code == 130
    told = "answers to 4 of 4 questions are kept; run it again"
    assert json.loads(outcome.out)["not_saved"].startswith(told)
    assert outcome.err.splitlines()[-1].startswith(f"interrupted: {told}")
    again = rag_eval(*FLAGS, "--json")
    (first,) = runs_in(own)
    assert (again.code, json.loads(again.out)["run"]) == (0, str(first))
    outcome = rag_eval(*FLAGS, "--sink", "own:interrupt", "--sink", "own:send")
    assert outcome.code == 130
    (run,) = {*runs_in(own)} - {first}
    assert f"Saved to {run}" in outcome.out
    told = f"the run is finished, and the result saved in {run}; not sent to interrupt, send"
    assert outcome.err.splitlines()[-1] == f"interrupted: {told}"
    assert not (own / "sent").exists()
    assert load_result(run).metrics["hit@2"] == 0.75
    assert not (own / ".rag-eval" / "runs" / "unfinished").exists()


def test_a_sink_of_a_file_that_an_option_names_too_gets_the_run_once_and_is_required(rag_eval, own, monkeypatch):
    page = own / "step.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    keys = {"corpus": "docs", "dataset": "help.json", "retriever": "own:search", "sinks": ["own:block", "step-summary"]}
    (own / "run.json").write_text(json.dumps(keys))
    assert rag_eval("run", "run.json", "--sink", "step-summary").code == 0
    assert page.read_text().count("# search\n") == 1
    assert rag_eval("run", "run.json").code == 0
    page.rmdir()
    failed = rag_eval("run", "run.json", "--sink", "own:block", "--sink", "step-summary")
    assert failed.code == 2
    assert "error: the run is not in the summary of the step, $GITHUB_STEP_SUMMARY: " in failed.err


@pytest.mark.parametrize(
    ("sink", "told"),
    [
        ("own:Closed", "sink Closed: ValueError: no token in DASH_TOKEN"),
        ("own:Mute", "sink 'own:Mute' does not define send, which every Sink does"),
        ("own:sent", "module 'own' has no 'sent'; did you mean 'send'?"),
        ("nothing", "sink 'nothing' is unknown; there are folder, junit, langsmith, step-summary"),
        ("junit", "sink 'junit' needs path, as in junit:path=..."),
        ("junit:path=5", "5 is not a path; expected one, of a file or a folder"),
        ("folder:root=0.5", "0.5 is not a path; expected one, of a file or a folder"),
        ("step-summary", "$GITHUB_STEP_SUMMARY: none/step.md cannot be written (No such file or directory)"),
        ("junit:path=own.py/gates.xml", "JUnit XML own.py/gates.xml: cannot be read or written"),
        ("junit:path=docs", "docs: is a folder, and is not the JUnit XML of an earlier run; choose another file"),
        (
            "own:ANSWERS",
            "sink 'own:ANSWERS' is of type dict; expected a subclass of rag_evaluation_framework.contracts.Sink",
        ),
    ],
)
def test_a_sink_that_cannot_be_sent_anything_is_refused_before_anything_is_asked(
    rag_eval, own, monkeypatch, sink, told
):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "none/step.md")
    outcome = rag_eval(*FLAGS, "--sink", sink)
    assert outcome.code == 2
    assert told in outcome.err
    assert not (own / ".rag-eval").exists()


def test_a_run_is_published_by_the_command_that_makes_it(rag_eval, folder):
    with LoopbackProviders() as providers:
        push_dataset(published_dataset(), NAME)
        rag_eval("dataset", "pull", NAME, "-o", "questions.json")
        for document in CORPUS:
            (folder / "texts" / str(document.id)).parent.mkdir(parents=True, exist_ok=True)
            (folder / "texts" / str(document.id)).write_text(document.content)
        command = ("run", "--corpus", "texts", "--glob", "**/*", "--dataset", "questions.json")
        outcome = rag_eval(*command, "--sink", f"langsmith:dataset={NAME}")
        assert outcome.code == 0, outcome.err
        is_there_once(providers, load_result(runs_in(folder)[0]))
        refused = rag_eval(*command, "--sink", "langsmith:dataset=another")
    assert refused.code == 2
    last = refused.err.splitlines()[-1]
    assert last.startswith("error: publishing the result: LangSmith at ")
    assert "has no dataset 'another'" in last
    assert "; the run is saved in " in last


class Kept(Sink):
    """Keeps what it is sent."""

    def __init__(self):
        self.outcomes = []

    def send(self, outcome):
        self.outcomes.append(outcome)


def test_results_are_sent_from_python_also_where_nothing_is_saved(tmp_path):
    kept, sent = Kept(), []
    dataset = published_dataset()
    with pytest.warns(UserWarning, match="the result is not sent to .*<lambda>: ZeroDivisionError"):
        result = evaluate(
            BM25Retriever(), dataset, 2, documents=CORPUS, sinks=[kept, lambda outcome: 1 / 0, sent.append]
        )
    assert (result.folder, kept.outcomes[0].result.metrics) == (None, result.metrics)
    assert result.notes[-1].endswith("<lambda>: ZeroDivisionError: division by zero")
    assert sent[0].result.notes == result.notes
    result = evaluate(BM25Retriever(), dataset, 2, documents=CORPUS, sinks=[kept], save_results_path=tmp_path)
    assert kept.outcomes[1].result.folder == result.folder == next((tmp_path / "runs").iterdir())


def test_a_file_that_cannot_be_read_is_not_said_to_be_no_junit_xml(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "gates.xml").write_text("<html>")
    monkeypatch.setattr("rag_evaluation_framework.trackers.junit.open_at_once", refused)
    with pytest.raises(ConfigError, match=r"gates\.xml: cannot be read or written \(Permission denied\); choose"):
        JUnitSink(tmp_path / "gates.xml").prepare()


@pytest.mark.parametrize("broken", ["runs.store.write_run", "trackers.sending.texts_beside"])
def test_a_result_that_cannot_be_saved_is_sent_and_in_the_error(tmp_path, monkeypatch, broken):
    kept = Kept()
    monkeypatch.setattr(f"rag_evaluation_framework.{broken}", lambda *_: 1 / 0)
    with pytest.raises(SaveFailed, match="division by zero") as caught:
        evaluate(BM25Retriever(), published_dataset(), 2, documents=CORPUS, sinks=[kept], save_results_path=tmp_path)
    (outcome,) = kept.outcomes
    assert outcome.problems == ("the result is shown, but not saved: ZeroDivisionError: division by zero",)
    assert caught.value.result.metrics == outcome.result.metrics
    assert caught.value.result.folder is None


@pytest.mark.parametrize(
    ("sinks", "told"),
    [
        (["nothing"], "sink 'nothing' is unknown"),
        ([Kept], "Kept is a class; pass an instance"),
        ([lambda: None], "cannot be called as a sink, with \\(outcome\\)"),
        ([5], "5 is int; expected a Sink, or a function \\(outcome\\) -> anything; for example lambda outcome: "),
        ([SimpleNamespace(send=print)], "is SimpleNamespace; expected a Sink"),
        ("langsmith", "sink 'langsmith' needs dataset"),
    ],
)
def test_what_is_no_sink_is_refused(sinks, told):
    with pytest.raises(ConfigError, match=told):
        EvaluationConfig(sinks=sinks)


class Nameless(Sink):
    """Has a name that cannot be read since it is sent something."""

    was_sent = False

    @property
    def name(self):
        return "Nameless" if not self.was_sent else 1 / 0

    def send(self, outcome):
        self.was_sent = True
        raise ConnectionError("gone away")


class Exits(Nameless):
    """Ends the process where it has to say how it failed."""

    @property
    def failure(self):
        raise SystemExit(0)


@pytest.mark.parametrize("broken", [Nameless, Exits])
def test_a_sink_that_cannot_say_how_it_failed_is_told_by_its_class_and_stops_no_other(broken):
    kept = Kept()
    told = f"the result is not sent to {broken.__name__}: ConnectionError: gone away"
    with pytest.warns(UserWarning, match=told):
        result = evaluate(BM25Retriever(), published_dataset(), 2, documents=CORPUS, sinks=[broken(), kept])
    assert result.notes[-1] == told
    assert kept.outcomes[0].result.notes == result.notes


def test_an_interrupt_in_a_group_of_errors_ends_the_sending():
    kept = Kept()

    def interrupted(outcome):
        raise BaseExceptionGroup("of tasks", [ValueError(), KeyboardInterrupt()])

    with pytest.raises(KeyboardInterrupt):
        evaluate(BM25Retriever(), published_dataset(), 2, documents=CORPUS, sinks=[interrupted, kept])
    assert kept.outcomes == []
