"""`rag-eval run` with datasets of the retrieval harness, and with engines."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from xml.etree import ElementTree as ET

import pytest

from rag_evaluation_framework import load_result
from support.nightly import nightly

ANSWER = {"sourceId": "eval:help:doc:refunds", "content": "Refunds are available within 30 days."}
OTHERS = [
    "Shipping takes five days.",
    "Passwords can be reset.",
    "Invoices are sent monthly.",
    "The office is closed on Sunday.",
    "Gift cards never expire.",
    "Chat with us at noon.",
    "Our app runs on phones.",
    "Parcels carry a number.",
    "Labels are printed twice.",
    "Prices include tax.",
]
DISTRACTORS = [{"sourceId": f"eval:help:doc:{number}", "content": text} for number, text in enumerate(OTHERS)]

ENGINE = """
import json, os, re, sys, time
from pathlib import Path

LOG = Path("log.jsonl")

class Engine:
    def __init__(self):
        self.kept = json.loads(Path("kept.json").read_text()) if Path("kept.json").exists() else {}
        self.asked = 0
    def say(self, *step):
        with LOG.open("a") as log:
            log.write(json.dumps(step) + "\\n")
        Path("kept.json").write_text(json.dumps(self.kept))
        print("the engine says", *step)
    def ingest(self, document):
        self.kept[document.id] = document.content
        self.say("ingest", document.id)
    def delete(self, scope_prefix):
        self.kept = {name: text for name, text in self.kept.items() if not name.startswith(scope_prefix)}
        self.say("delete", scope_prefix)
    def retrieve(self, query, top_k, scope):
        self.asked += 1
        {behaviour}
        words = set(re.findall(r"\\w+", query.lower()))
        shared = [(len(words & set(re.findall(r"\\w+", text.lower()))), name) for name, text in self.kept.items()]
        ranked = sorted((-number, name) for number, name in shared if number and name.startswith(scope))
        return [{"doc_id": name, "text": self.kept[name]} for _, name in ranked][:top_k]
    def close(self):
        self.say("close")

def make():
    return Engine()

class Reader:
    def retrieve(self, query, top_k, scope):
        return [{"doc_id": "docs:guides:auth-setup"}] if scope == "docs:" else []
"""


def question(number=1, **fields):
    return {
        "id": f"q{number}",
        "query": "How long are refunds available?",
        "relevant": {"sourceIds": [ANSWER["sourceId"]]},
        **fields,
    }


@pytest.fixture
def written(tmp_path):
    """Write a dataset, and an engine that behaves so when it is asked."""

    def write(documents=(ANSWER, *DISTRACTORS), queries=None, behaviour="pass", **defaults):
        content = {
            "version": "1",
            "id": "help",
            "defaults": {"topK": 10, "scopePrefix": "eval:help:", **defaults},
            "documents": [*documents],
            "queries": queries or [question()],
        }
        (tmp_path / "help.json").write_text(json.dumps(content))
        (tmp_path / "own.py").write_text(ENGINE.replace("{behaviour}", behaviour))
        return content

    return write


def log(folder):
    path = folder / "log.jsonl"
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_dataset_with_documents_needs_nothing_else_and_what_cannot_be_found_is_told(rag_eval, written):
    def told(documents):
        written(documents=documents)
        outcome = rag_eval("run", "--dataset", "help.json", "--json")
        assert outcome.code == 0
        printed = json.loads(outcome.out)
        return printed["metrics"]["recall@10"], " ".join(printed["notes"])

    outside = "outside of every scope: 1 of 12, such as 'docs:1'"
    recall, notes = told((ANSWER, *DISTRACTORS))
    assert (recall, "outside of every scope" in notes) == (1.0, False)
    recall, notes = told(DISTRACTORS)
    assert (recall, "are not in the corpus, so that no retriever can find them: 1" in notes) == (0.0, True)
    recall, notes = told((ANSWER, *DISTRACTORS, {"sourceId": "docs:1", "content": "Refunds."}))
    assert (recall, outside in notes) == (1.0, True)
    written(documents=())
    outcome = rag_eval("run", "--dataset", "help.json")
    assert outcome.code == 2
    assert "dataset 'help' brings no documents, and none were given to search" in outcome.err
    assert "--engine" in outcome.err


def test_an_engine_gets_the_documents_and_is_asked_for_as_many_results_as_the_cutoff(rag_eval, written, tmp_path):
    written(behaviour="Path('asked').open('a').write(f'{top_k} ')")
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make", "--json")
    assert outcome.code == 0, outcome.err
    printed = json.loads(outcome.out)  # what the engine prints goes elsewhere
    assert printed["metrics"]["recall@10"] == 1.0
    steps = log(tmp_path)
    assert steps[0] == ("delete", "eval:help:")
    assert [step[0] for step in steps[1:]] == ["ingest"] * 11 + ["close"]
    assert "the engine says" in outcome.err
    config = load_result(printed["run"]).config
    assert (config["retriever"]["scope"], config["retriever"]["engine"]) == ("eval:help:", "own:Engine")
    assert (tmp_path / "asked").read_text() == "10 "
    rag_eval("run", "--dataset", "help.json", "--engine", "own:make", "--budget", "4000ch")
    assert (tmp_path / "asked").read_text() != "10 10 "


def test_the_samples_of_others_run(rag_eval, shared, tmp_path, written):
    written()
    samples = shared / "data/harness_samples"
    for name in ("seed004-help-center-mini", "unrag-sample", "unrag-docs-sample-eval", "unrag-docs-support-faq-eval"):
        for engine in ((), ("--engine", "own:make")):
            outcome = rag_eval("run", "--dataset", samples / f"{name}.json", *engine, "--json")
            assert outcome.code == 0, outcome.err
    production = samples / "unrag-docs-prod-queries.json"
    outcome = rag_eval("run", "--dataset", production, "--engine", "own:Reader", "--json")
    assert json.loads(outcome.out)["metrics"]["recall@10"] == 0.5
    assert rag_eval("run", "--dataset", production).code == 2


@pytest.mark.parametrize(
    ("cleanup", "end", "code", "left"),
    [
        (None, "success", 0, 11),
        ("none", "success", 0, 11),
        ("on-success", "success", 0, 0),
        ("always", "success", 0, 0),
        ("none", "error", 2, 11),
        ("on-success", "error", 2, 11),
        ("always", "error", 2, 0),
        ("on-success", "gate", 1, 11),
        ("always", "gate", 1, 0),
    ],
)
def test_what_was_written_is_deleted_at_the_end_if_that_is_wanted(
    rag_eval, written, tmp_path, cleanup, end, code, left
):
    written(behaviour="raise ValueError('no index')" if end == "error" else "pass")
    options = ("--set", f"cleanup={cleanup}") if cleanup else ()
    gate = ("--gate", "precision@10 >= 0.9") if end == "gate" else ()
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make", *options, *gate)
    assert outcome.code == code
    assert ("no question has a score" in outcome.err) is (end == "error")
    assert log(tmp_path)[-1] == ("close",)
    assert (log(tmp_path)[-2] == ("delete", "eval:help:")) is (left == 0)
    assert len(json.loads((tmp_path / "kept.json").read_text())) == left
    stays = "'eval:help:' stays there, as cleanup is on-success and the run failed"
    assert (stays in outcome.err) is (cleanup == "on-success" and end != "success")
    assert len([*(tmp_path / ".rag-eval/runs").iterdir()]) == 1


@pytest.mark.parametrize(("documents", "options"), [((), ()), ((ANSWER, *DISTRACTORS), ("--no-ingest",))])
def test_without_documents_or_ingest_nothing_is_written_deleted_or_cleaned_up(
    rag_eval, written, tmp_path, documents, options
):
    written(documents=documents)
    (tmp_path / "kept.json").write_text(json.dumps({ANSWER["sourceId"]: ANSWER["content"], "eval:help:x": "Hours."}))
    command = ("run", "--dataset", "help.json", "--engine", "own:make", "--set", "cleanup=always", "--json")
    outcome = rag_eval(*command, *options)
    assert json.loads(outcome.out)["metrics"]["recall@10"] == 1.0
    assert log(tmp_path) == [("close",)]
    assert len(json.loads((tmp_path / "kept.json").read_text())) == 2


def test_the_scope_of_the_command_line_is_what_is_written_and_searched(rag_eval, written, tmp_path):
    written(scopePrefix="eval:other:", behaviour="Path('asked').open('a').write(scope)")
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make", "--set", "scope_prefix=eval:help:")
    assert outcome.code == 0, outcome.err
    assert log(tmp_path)[0] == ("delete", "eval:help:")
    assert (tmp_path / "asked").read_text() == "eval:help:"
    assert rag_eval("run", "--dataset", "help.json", "--engine", "own:make").code == 2  # documents are outside of it


@pytest.mark.parametrize("written_as", ["def", "async def"])
@pytest.mark.parametrize("options", [(), ("--set", "mode=retrieve+rerank")])
def test_an_engine_that_reranks_is_the_reranker_of_a_run_that_asks_for_it(
    rag_eval, written, tmp_path, options, written_as
):
    """The other documents that share words with the question are the better ones by it."""
    written(**({} if options else {"mode": "retrieve+rerank"}), rerankTopK=4)
    own = (tmp_path / "own.py").read_text()
    rerank = f"    {written_as} rerank(self, query, texts):\n        return [-len(text) for text in texts]\n"
    (tmp_path / "own.py").write_text(own.replace("def make():", f"class Both(Engine):\n{rerank}\ndef make():"))
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:Both", *options, "--k", "1", "--json")
    assert outcome.code == 0, outcome.err
    printed = json.loads(outcome.out)
    assert "rerank" in printed["latency"]["stages"]
    assert load_result(printed["run"]).config["retriever"]["candidates"] == 4
    both = ("run", "--dataset", "help.json", "--engine", "own:Both", "--k", "1")
    plain = json.loads(rag_eval(*both, "--set", "mode=retrieve", "--json").out)
    assert plain["reranking"] is None
    assert (plain["metrics"]["recall@1"], printed["metrics"]["recall@1"]) == (1.0, 0.0)  # the shortest is another


@pytest.mark.parametrize(
    ("options", "behaviour", "said"),
    [
        ((), "pass", "could not be deleted"),
        (("--gate", "precision@10 >= 0.9"), "pass", "could not be deleted"),
        ((), "raise ValueError('no index')", "no question has a score"),
    ],
    ids=["nothing else", "a gate", "an error"],
)
def test_what_cannot_be_deleted_ends_in_2_and_never_hides_an_error(
    rag_eval, written, tmp_path, options, behaviour, said
):
    written(behaviour=behaviour)
    own = (tmp_path / "own.py").read_text()
    once = '        assert not Path("log.jsonl").exists() or "delete" not in LOG.read_text()\n'
    (tmp_path / "own.py").write_text(
        own.replace("    def delete(self, scope_prefix):\n", f"    def delete(self, scope_prefix):\n{once}")
    )
    kept = ("--set", "cleanup=always", "--junit", "gates.xml")
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make", *kept, *options)
    assert outcome.code == 2
    assert said in outcome.err.splitlines()[-1]
    (error,) = ET.parse(tmp_path / "gates.xml").getroot().iter("error")
    assert said in error.get("message", "")
    assert "what the run wrote in 'eval:help:' could not be deleted" in error.get("message", "")
    assert "what the run wrote in 'eval:help:' could not be deleted: AssertionError" in outcome.err


def test_what_an_interrupted_run_cannot_delete_is_told(rag_eval, written, tmp_path):
    written(queries=[question(1), question(2)], behaviour="if self.asked > 1: raise KeyboardInterrupt")
    own = (tmp_path / "own.py").read_text()
    once = '        assert not Path("log.jsonl").exists() or "delete" not in LOG.read_text()\n'
    (tmp_path / "own.py").write_text(
        own.replace("    def delete(self, scope_prefix):\n", f"    def delete(self, scope_prefix):\n{once}")
    )
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make", "--set", "cleanup=always")
    assert outcome.code == 130
    assert "warning: what the run wrote in 'eval:help:' could not be deleted: AssertionError" in outcome.err


BAD = {
    "a document outside": ({"documents": (*DISTRACTORS, {"sourceId": "other:1", "content": "x"})}, "outside of the sc"),
    "a scope of all": ({"scopePrefix": "eval:"}, "may not be written"),
    "no scope": ({"scopePrefix": ""}, "everything would be deleted"),
    "the id of the run in an id alone": (
        {"documents": (*DISTRACTORS, {"sourceId": "eval:help:{runId}:1", "content": "x"})},
        "put {runId} in both",
    ),
    "the id of the run in a question alone": (
        {"queries": [question(scopePrefix="eval:help:{runId}:")]},
        "put {runId} in both",
    ),
    "a scope of a question": ({"queries": [question(scopePrefix="eval:")]}, "the scope 'eval:' may not be written"),
    "constraints": (
        {"queries": [question(relevant={"sourceIds": [], "metadataConstraints": {"a": 1}})]},
        "does not honour",
    ),
    "k of some": ({"topK": None, "queries": [question(1, topK=3), question(2)]}, "1 of 2 questions say"),
    "assets": ({"documents": ({**ANSWER, "assets": [{"url": "https://x"}]},)}, "--allow-assets"),
    "a text to load": ({"documents": ({"sourceId": ANSWER["sourceId"], "loaderRef": "x"},)}, "loader_root=FOLDER"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told_before_anything_is_deleted(rag_eval, written, tmp_path, name):
    content, said = BAD[name]
    written(**content)
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make", "--set", "cleanup=always")
    assert outcome.code == 2
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert [step for step in log(tmp_path) if step != ("close",)] == []
    assert not (tmp_path / ".rag-eval").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("engine", "retriever 'engine' is a whole system; name it itself, as engine (--engine)"),
        (
            "rag_evaluation_framework.components.retrievers:EngineRetriever",
            "has an engine in it, Engine; name it itself",
        ),
    ],
)
@pytest.mark.parametrize("outer", [None, "scoped"])
def test_no_engine_is_named_as_a_retriever_as_nobody_would_check_what_it_writes(
    rag_eval, written, tmp_path, given, said, outer
):
    written()
    named = {"type": given, "engine": "own:Engine", "scope": "docs:", "ingest": True, "custom_scope": True}
    if outer is not None:
        named = {"type": outer, "retriever": named}
    (tmp_path / "run.json").write_text(json.dumps({"dataset": "help.json", "retriever": named}))
    outcome = rag_eval("run", "run.json", "--set", "cleanup=always")
    assert outcome.code == 2
    assert said in outcome.err
    assert [step for step in log(tmp_path) if step != ("close",)] == []
    if outer is None:
        written_out = f"{given}:engine=own:Engine,scope=docs:,ingest=true,custom_scope=true"
        outcome = rag_eval("run", "--dataset", "help.json", "--retriever", written_out)
        assert outcome.code == 2
        assert [step for step in log(tmp_path) if step != ("close",)] == []


def test_a_custom_scope_needs_leave_twice(rag_eval, written, tmp_path):
    written(
        documents=({**ANSWER, "sourceId": "docs:refunds"},),
        queries=[question(relevant={"sourceIds": ["docs:refunds"]})],
        scopePrefix="docs:",
    )
    command = ("run", "--dataset", "help.json", "--engine", "own:make")
    for options, said in (
        ((), "may not be written"),
        (("--allow-custom-prefix",), "expected --yes"),
        (("--yes",), "may not be written"),
    ):
        outcome = rag_eval(*command, *options)
        assert outcome.code == 2
        assert said in outcome.err
    assert [step for step in log(tmp_path) if step != ("close",)] == []
    assert rag_eval(*command, "--allow-custom-prefix", "--yes").code == 0
    assert ("delete", "docs:") in log(tmp_path)


TREC = "q1 Q0 eval:help:doc:refunds 1 2.0 x\nq1 Q0 eval:help:doc:1 2 1.0 x\n"
OWN = ("--engine", "own:make", "--set", "cleanup=always")
STORED = ("--rankings", "a.trec")
FOUND_ALREADY = "what is stored was found already: leave "


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engine", "own:nothing"), "has no 'nothing'"),
        (("--engine", "own:LOG"), "engine 'own:LOG' is of type"),
        (("--engine", "os:getcwd"), "expected an object with retrieve"),
        (("--engine", "bm25"), "engine 'bm25' is unknown; there are http"),
        (("--engine", "http://127.0.0.1:1"), "is the engine running there?"),
        (("--engine", "HTTP://127.0.0.1:1"), "is the engine running there?"),
        (("--engine", "http://example.com"), "is another machine"),
        ((*OWN, "--retriever", "bm25"), "engine and retriever were given"),
        ((*OWN, "--no-import"), "names your own code"),
        ((*OWN, "--allow-remote"), "allow_remote is for engines over HTTP"),
        ((*OWN, "--gate", "recal@10 >= 0.5"), "the run has no score 'recal@10'; did you mean recall@10?"),
        ((*OWN, "--gate", "recall@10 >= 0.5 where topic=none"), "no question has a property 'topic'"),
        ((*OWN, "--gate", "lost <= 0 questions"), "compares with a baseline, and there is none"),
        ((*OWN, "--threshold", "min.x=1"), "'min.x' is not a threshold"),
        ((*OWN, "--baseline", "nothing"), "no path, run or experiment is called 'nothing'"),
        ((*OWN, "--set", "mode=retrieve+rerank"), "mode retrieve+rerank"),
        ((*OWN, "--junit", "help.json"), "is not the JUnit XML of an earlier run"),
        (("--allow-custom-prefix", "--yes"), "allow_custom_prefix is about an engine, and none is named"),
        (("--no-ingest",), "there is no engine that has documents"),
        (("--set", "cleanup=sometimes"), "--set cleanup: input should be 'none', 'on-success' or 'always'"),
        ((*STORED, "--set", "cleanup=always"), FOUND_ALREADY),
        ((*STORED, "--no-ingest"), FOUND_ALREADY),
        ((*STORED, "--set", "scope_prefix=eval:help:"), FOUND_ALREADY),
        ((*STORED, "--engine", "own:make"), FOUND_ALREADY),
        ((*STORED, "--retriever", "bm25"), "rankings and retriever were given; what is stored was found already"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_options_that_do_not_fit_are_told_and_nothing_is_deleted(rag_eval, written, tmp_path, options, said):
    written()
    (tmp_path / "a.trec").write_text(TREC)
    outcome = rag_eval("run", "--dataset", "help.json", *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert [step for step in log(tmp_path) if step != ("close",)] == []


def test_no_fault_of_a_dataset_in_a_run_hides_another(rag_eval, written, tmp_path):
    """A reranker, a scope, constraints, a document outside of the scope, and topK of some questions."""
    constraints = {"sourceIds": [], "metadataConstraints": {"lang": "en"}}
    content = written(
        documents=(ANSWER, {"sourceId": "docs:1", "content": "Refunds."}),
        queries=[question(1, scopePrefix="eval:"), question(2, relevant=constraints), question(3, topK=3)],
        mode="retrieve+rerank",
        topK=None,
    )
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make", "--set", "cleanup=always")
    assert outcome.code == 2
    told = outcome.err[outcome.err.index("error:") :].splitlines()
    assert told[0] == "error: 5 problems:"
    parts = (
        "mode retrieve+rerank of dataset",
        "1 of 3 questions say",
        "metadataConstraints on 'lang', which Engine does not",
    )
    for part in (*parts, "the scope 'eval:' may not be written", "outside of the scope 'eval:help:', which"):
        assert sum(part in line for line in told[1:]) == 1, (part, told)
    assert [step for step in log(tmp_path) if step != ("close",)] == []
    content["defaults"]["thresholds"] = {"min": {"recallAtk": 0.5}}
    (tmp_path / "help.json").write_text(json.dumps(content))
    outcome = rag_eval("run", "--dataset", "help.json", "--engine", "own:make")
    assert "$.defaults.thresholds: 'min.recallAtk' is not a threshold; did you mean min.recallAtK?" in outcome.err


def test_of_stored_rankings_ties_are_ordered_as_asked_and_the_time_to_read_them_is_no_latency(
    rag_eval, written, tmp_path
):
    written()
    (tmp_path / "tied.trec").write_text("q1 Q0 eval:help:doc:1 1 1.0 x\nq1 Q0 eval:help:doc:refunds 2 1.0 x\n")
    tied = ("run", "--dataset", "help.json", "--rankings", "tied.trec", "--k", "1", "--json")
    printed = [json.loads(rag_eval(*tied, *ties).out) for ties in ((), ("--set", "ties=trec_eval"))]
    assert [one["metrics"]["recall@1"] for one in printed] == [0.0, 1.0]
    (tmp_path / "bm25.trec").write_text(TREC)
    command = ("run", "--dataset", "help.json", "--gate", "p95 <= 60s")
    outcome = rag_eval(*command, "--rankings", "bm25.trec")
    assert outcome.code == 2
    assert "could not be measured: no question was timed on its own" in outcome.err
    assert "questions that are asked together, or whose stored rankings tell no seconds, have no times" in outcome.err
    timed = {"query_id": "q1", "hits": [{"doc_id": ANSWER["sourceId"]}], "seconds": {"search": 1.5}}
    (tmp_path / "timed.jsonl").write_text(json.dumps(timed) + "\n")
    outcome = rag_eval(*command, "--rankings", "timed.jsonl")
    assert outcome.code == 0, outcome.err
    assert "passed: 1500.0 ms, 1 question timed" in outcome.out


def command(*options):
    return [sys.executable, "-m", "rag_evaluation_framework", "run", "--dataset", "help.json", *options]


def ended(folder, mark, signal_, *options):
    """Run an engine until it makes this file, send it the signal, if any; return the exit code and what it said."""
    given = command(*options, "--set", "cleanup=always")
    with subprocess.Popen(given, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 60
            while not (folder / mark).exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            if signal_ is not None:
                process.send_signal(signal_)
            error = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    return process.returncode, error


@pytest.mark.slow
@pytest.mark.parametrize(("signal_", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_is_cleaned_up(written, tmp_path, signal_, code):
    asking = "Path(f'asked{self.asked}').touch(); self.asked > 1 and [time.sleep(0.1) for _ in range(600)]"
    written(queries=[question(number) for number in range(5)], behaviour=asking)
    returned, error = ended(tmp_path, "asked2", signal_, "--engine", "own:make")
    assert returned == code, error
    assert log(tmp_path)[-2:] == [("delete", "eval:help:"), ("close",)]
    assert "answers to 1 of 5 questions are kept; run it again with --resume to go on" in error


@pytest.mark.slow
def test_two_runs_at_once_in_one_store_never_meet(tmp_path, written):
    template = "eval:help:{runId}:"
    written(
        documents=[
            {**document, "sourceId": template + document["sourceId"][10:]} for document in (ANSWER, *DISTRACTORS)
        ],
        queries=[question(relevant={"sourceIds": [template + ANSWER["sourceId"][10:]]})],
        scopePrefix=template,
    )
    # The store is a folder here, as two processes share it.
    own = (tmp_path / "own.py").read_text()
    own += """
import urllib.parse
class Shared:
    at = Path("store")
    def files(self, scope): return [p for p in self.at.glob("*") if urllib.parse.unquote(p.name).startswith(scope)]
    def ingest(self, document):
        self.at.mkdir(exist_ok=True)
        (self.at / urllib.parse.quote(document.id, "")).write_text(document.content)
        time.sleep(0.02)
    def delete(self, scope_prefix):
        for path in self.files(scope_prefix): path.unlink()
    def retrieve(self, query, top_k, scope):
        meeting = Path("met"); meeting.mkdir(exist_ok=True)
        (meeting / str(os.getpid())).touch()
        for _ in range(1000):  # until both have written
            if len([*meeting.iterdir()]) == 2: break
            time.sleep(0.05)
        assert len([*self.at.glob("*")]) == 23, "both are here"
        time.sleep(0.5)
        found = [(urllib.parse.unquote(p.name), p.read_text()) for p in self.files(scope)]
        assert len(found) == 11, found
        return [{"doc_id": name, "text": text} for name, text in found if "Refunds" in text]
"""
    (tmp_path / "own.py").write_text(own)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "eval%3Ahelp%3Aneighbour").write_text("Refunds of others.")
    both = [
        subprocess.Popen(
            [*command("--engine", "own:Shared", "--set", "cleanup=always"), "--root", str(tmp_path / str(number))],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    ended = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], ended
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["eval%3Ahelp%3Aneighbour"]
    for number in range(2):
        (run,) = (tmp_path / str(number) / "runs").iterdir()
        assert load_result(run).metrics["recall@10"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("signal_", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_while_all_is_deleted_waits_for_that(written, tmp_path, signal_, code):
    written()
    own = (tmp_path / "own.py").read_text()
    slow = """
        if self.asked and not Path("deleting").exists():
            Path("deleting").touch()
            for _ in range(600):
                time.sleep(0.1)
"""
    start = "    def delete(self, scope_prefix):"
    (tmp_path / "own.py").write_text(own.replace(start, start + slow))
    returned, error = ended(tmp_path, "deleting", signal_, "--engine", "own:make")
    assert returned == code, error
    assert ": finishing; again to stop now" in error
    assert log(tmp_path)[-2:] == [("delete", "eval:help:"), ("close",)]


HANGING = """
import time
from concurrent.futures import ThreadPoolExecutor
from own import Engine
POOL = ThreadPoolExecutor(2)
class Pool(Engine):
    def retrieve(self, query, top_k, scope):
        return POOL.submit(time.sleep, 3600).result()
class Blocked(Engine):
    async def retrieve(self, query, top_k, scope):
        time.sleep(3600)
    async def delete(self, scope_prefix):
        super().delete(scope_prefix)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "left"), [("Blocked", True), nightly("Pool", False)])
def test_a_run_with_an_engine_that_hangs_ends_with_its_exit_code(written, tmp_path, engine, left):
    written()
    (tmp_path / "hanging.py").write_text(HANGING)
    options = ("--engine", f"hanging:{engine}", "--set", "timeout=0.5", "--set", "cleanup=always")
    ended = subprocess.run(command(*options), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2
    assert "no question has a score" in ended.stderr
    assert ("could not be deleted: TimeoutError" in ended.stderr) is left
    assert len(list((tmp_path / ".rag-eval/runs").iterdir())) == 1
    assert log(tmp_path)[-1] == ("close",)


LOCKED = """
import asyncio, threading, time
from pathlib import Path
from own import Engine
from rag_evaluation_framework.components.retrievers import engine as cleanup

cleanup._SECONDS = 1.0
asked = asyncio.run_coroutine_threadsafe

def slowly(coroutine, loop):  # an interrupt may come before anybody waits
    future = asked(coroutine, loop)
    time.sleep(0.3)
    return future

asyncio.run_coroutine_threadsafe = slowly

class Threads(Engine):
    held = threading.Lock()
    def search(self):
        with self.held:
            Path("waiting").touch()
            time.sleep(3600)
    async def retrieve(self, query, top_k, scope):
        await asyncio.to_thread(self.search)
    async def delete(self, scope_prefix):
        await asyncio.to_thread(self.erase, scope_prefix)
    def erase(self, scope_prefix):
        with self.held:
            super().delete(scope_prefix)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "signal_", "code"),
    [("0.5", None, 2), nightly(None, signal.SIGTERM, 143), nightly("3600", signal.SIGINT, 130)],
)
def test_a_run_whose_engine_goes_on_in_threads_ends_with_its_exit_code(written, tmp_path, limit, signal_, code):
    written()
    (tmp_path / "locked.py").write_text(LOCKED)
    timeout = ("--set", f"timeout={limit}") if limit else ()
    returned, error = ended(tmp_path, "waiting", signal_, "--engine", "locked:Threads", *timeout)
    assert returned == code, error
    assert "what the run wrote in 'eval:help:' could not be deleted: TimeoutError: it takes longer than 1 s" in error
    assert log(tmp_path)[-1] == ("close",)


BOUND = """
import asyncio, sqlite3
from pathlib import Path

class Bound:
    def __init__(self):
        self.connection = sqlite3.connect("bound.db")
        self.connection.execute("CREATE TABLE documents (id TEXT)")
    def ingest(self, document):
        self.connection.execute("INSERT INTO documents VALUES (?)", (document.id,))
        self.connection.commit()
    def delete(self, scope_prefix):
        scope = (len(scope_prefix), scope_prefix)
        self.connection.execute("DELETE FROM documents WHERE substr(id, 1, ?) = ?", scope)
        self.connection.commit()
    async def retrieve(self, query, top_k, scope):
        Path("waiting").touch()
        await asyncio.sleep(3600)
    def close(self):
        self.connection.close()
        Path("closed").touch()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "signal_", "code"), [("0.5", None, 2), (None, signal.SIGINT, 130)])
def test_an_engine_that_is_bound_to_a_thread_is_cleaned_up_in_it(written, tmp_path, limit, signal_, code):
    written()
    (tmp_path / "bound.py").write_text(BOUND)
    timeout = ("--set", f"timeout={limit}") if limit else ()
    returned, error = ended(tmp_path, "waiting", signal_, "--engine", "bound:Bound", *timeout)
    assert returned == code, error
    assert "could not be" not in error
    with closing(sqlite3.connect(tmp_path / "bound.db")) as kept:
        assert kept.execute("SELECT count(*) FROM documents").fetchone() == (0,)
    assert (tmp_path / "closed").exists()
