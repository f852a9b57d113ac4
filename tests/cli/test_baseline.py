"""`rag-eval baseline`, runs that are gated against one, and where verdicts are told."""

import json
import os
import shutil
import socket
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from rag_evaluation_framework import load_result
from rag_evaluation_framework.analysis import Comparison
from rag_evaluation_framework.runs import find_run
from support.gated_project import FLAGS, WORSE, gate_lines, harness, verdicts


def test_a_drop_and_lost_questions_are_gated_against_the_baseline(rag_eval, project):
    assert rag_eval(*FLAGS).code == 0
    kept = rag_eval("baseline", "last")
    assert (kept.code, kept.err) == (0, "")
    assert kept.out == (
        "Wrote .rag-eval/baseline/report.json: search on help, "
        "scored 4 of 4 answerable questions (0 skipped, 0 failed), hit@2 0.750\n"
    )
    gates = ("--gate", "recall@2 drop <= 0.02", "--gate", "lost <= 1 question", "--gate", "lost <= 0 where tags=login")
    assert rag_eval(*FLAGS, "--baseline", "baseline", *gates).code == 0
    outcome = rag_eval(*WORSE, "--baseline", ".rag-eval/baseline/report.json", *gates)
    assert outcome.code == 1
    assert gate_lines(outcome)[1:] == [
        "  recall@2 drop <= 0.02 (--gate)",
        "    failed: 0.250, from 0.750 to 0.500, 4 questions",
        "  lost@2 <= 1 question (--gate)",
        "    passed: 1 of 3 questions found before, by recall@2: How long are refunds available? (q_refund)",
        "  lost@2 <= 0 questions where tags=login (--gate)",
        "    passed: 0 of 1 question found before, by recall@2",
        "  compared >= 90 % (by default)",
        "    passed: 100 %, 4 of 4 questions",
    ]


def test_the_comparison_with_the_baseline_is_made_once_and_saved_with_the_run(rag_eval, project, monkeypatch):
    made = []
    compare = Comparison.of
    monkeypatch.setattr(Comparison, "of", lambda *both, **options: made.append(both) or compare(*both, **options))
    rag_eval(*FLAGS)
    first = next((project / ".rag-eval/runs").iterdir())
    assert "diff.json" not in [path.name for path in first.iterdir()]
    assert "Questions that got worse" not in (first / "summary.md").read_text()
    assert rag_eval(*WORSE, "--baseline", "last", "--gate", "lost <= 2").code == 0
    assert len(made) == 1
    (run,) = {*(project / ".rag-eval/runs").iterdir()} - {first}
    diff = json.loads((run / "diff.json").read_text())
    assert (diff["baseline"]["folder"], diff["candidate"]["folder"]) == (str(first), None)
    assert {question["id"]: question["deltas"]["recall@2"] for question in diff["questions"]}["q_refund"] == -1.0
    for page in (run / "diff.md", run / "summary.md"):
        assert "- **-1.000** How long are refunds available? (q_refund)" in page.read_text()
    assert verdicts(project) == {"lost@2 <= 2 questions": "passed", "compared >= 90 %": "passed"}
    compared = rag_eval("compare", first, run, "--output", "compared")
    assert compared.code == 0
    again = json.loads((project / "compared/diff.json").read_text())
    assert {**again, "candidate": None} == {**diff, "candidate": None}


def twice():
    """The dataset with each question in two wordings."""
    dataset = harness()
    again = [query | {"id": f"{query['id']}_2", "query": f"Well, {query['query']}"} for query in dataset["queries"]]
    return dataset | {"queries": dataset["queries"] + again}


def test_a_population_gate_says_its_power_before_its_verdict_and_follows_the_policy(rag_eval, project):
    (project / "help.json").write_text(json.dumps(twice()))
    rag_eval(*FLAGS)
    gates = (
        *WORSE,
        "--baseline",
        "last~{}",
        "--gate",
        "population(recall@2) drop <= 0.05",
        "--set",
        "cluster=question",
    )
    outcome = rag_eval(*(part.format(0) for part in gates))
    assert outcome.code == 0
    lines = gate_lines(outcome)
    assert lines[0] == "2 gates: 1 inconclusive (counts as passed), 1 passed"
    assert lines[2].startswith("    power: ")
    assert lines[3].startswith("    inconclusive (counts as passed): 0.250, interval ")
    assert rag_eval(*(part.format(1) for part in gates), "--on-inconclusive", "fail").code == 1
    (project / "run.yaml").write_text(
        "corpus: docs\ndataset: help.json\nretriever: own:worse\non_inconclusive: fail\n"
        "baseline: last~2\ngates: ['population(recall@2) drop <= 0.05']\ncluster: question\n"
    )
    assert rag_eval("run", "run.yaml").code == 1
    wrong = rag_eval(*FLAGS, "--on-inconclusive", "maybe")
    assert wrong.code == 2
    assert "--on-inconclusive: " in wrong.err
    assert "'pass' or 'fail'" in wrong.err


def test_a_baseline_of_a_file_is_relative_to_its_folder_and_where_none_is_it_says_how_the_first_is_made(
    rag_eval, project
):
    lines = "corpus: ../docs\ndataset: ../help.json\nretriever: own:worse\nbaseline: {}\ngates: ['lost <= 0']\n"
    (project / "eval").mkdir()
    config = project / "eval/run.yaml"
    config.write_text(lines.format("baseline"))
    refused = rag_eval("run", "eval/run.yaml")
    assert refused.code == 2
    assert "; a first one is made with --set baseline=null --set 'gates=[]'" in " ".join(refused.err.split())
    assert rag_eval("run", "eval/run.yaml", "--set", "baseline=null", "--set", "gates=[]").code == 0
    rag_eval(*FLAGS)
    shutil.copy(find_run("last", project / ".rag-eval") / "report.json", project / "eval/before.json")
    config.write_text(lines.format("before.json"))
    assert rag_eval("run", "eval/run.yaml").code == 1


def test_junit_has_one_test_case_per_gate_and_the_notes_of_the_run_and_of_its_baseline(rag_eval, project):
    given = (*FLAGS, "--gate", "recall@2 >= 0.7", "--budget", "40ch", "--junit", "gates.xml")
    ended = "† rankings that ran out of results before the budget was filled: 3 of 4 at 40ch"
    for baseline, note in (((), ended), (("--baseline", "last"), f"both: {ended}")):
        assert rag_eval(*given, *baseline).code == 0
        notes = ET.parse(project / "gates.xml").getroot()[0].find("system-out").text.splitlines()
        assert note in notes
    gates = ("recall@2 >= 0.75", "recall@2 >= 0.76", "p95(rerank) <= 1s", "population(mrr@2) >= 0.7")
    (project / "help.json").write_text(json.dumps(twice()))  # a population gate needs six questions
    written = ("--junit", "out/gates.xml", "--set", "cluster=question")
    outcome = rag_eval(*FLAGS, *(part for gate in gates for part in ("--gate", gate)), *written)
    assert outcome.code == 2
    suite = ET.parse(project / "out/gates.xml").getroot().find("testsuite")
    assert suite is not None
    counts = {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert {key: suite.get(key) for key in counts} == counts
    cases = suite.findall("testcase")
    inside = [[child.tag for child in case if child.tag != "system-out"] for case in cases]
    assert inside == [[], ["failure"], ["error"], ["skipped"]]
    assert cases[1].get("name") == "recall@2 >= 0.76"
    assert cases[1][0].get("message") == "failed: 0.750, 8 questions"


def test_a_junit_report_that_cannot_be_written_is_told_before_the_run_or_after_it(rag_eval, project):
    for place, why in (("docs", "is a folder"), ("own.py/gates.xml", "cannot be read or"), ("/proc/x", "cannot be")):
        refused = rag_eval(*FLAGS, "--junit", place)
        assert refused.code == 2
        assert f"JUnit XML {place}: {why}" in refused.err
        assert not (project / ".rag-eval").exists()
    with (project / "own.py").open("a") as file:
        file.write("from pathlib import Path\ndef blocks(outcome):\n    Path('out').write_text('')\n")
    late = rag_eval(*FLAGS, "--sink", "own:blocks", "--junit", "out/gates.xml")
    assert late.code == 2
    assert "the JUnit XML out/gates.xml is not written: " in late.err
    assert "4 answerable questions" in late.out


@pytest.mark.parametrize("there", ["empty.py", "notes.txt", "pipe", "link.xml", "socket"])
def test_only_the_junit_report_of_an_earlier_run_is_replaced(rag_eval, project, there):
    (project / "empty.py").write_text("")
    (project / "notes.txt").write_text("<testsuite, a note\n")
    os.mkfifo(project / "pipe")
    (project / "earlier.xml").write_text("<testsuites />\n")
    (project / "link.xml").symlink_to("earlier.xml")
    with socket.socket(socket.AF_UNIX) as listening:  # as a device, which would be missed if this test failed
        listening.bind("socket")
    target = project / there
    before = target.lstat()
    outcome = rag_eval(*FLAGS, "--junit", there)
    assert outcome.code == 2
    assert f"JUnit XML {there}: is " in outcome.err
    after = target.lstat()
    assert (before.st_mode, before.st_ino, before.st_size) == (after.st_mode, after.st_ino, after.st_size)
    assert (project / "earlier.xml").read_text() == "<testsuites />\n"
    assert not (project / ".rag-eval").exists()


def test_the_summary_of_the_step_gets_the_result_and_keeps_what_it_has(rag_eval, project, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    refused = rag_eval(*FLAGS, "--sink", "step-summary")
    assert refused.code == 2
    assert "$GITHUB_STEP_SUMMARY is not set" in refused.err
    assert not (project / ".rag-eval").exists()
    (project / "step.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    assert rag_eval(*FLAGS, "--sink", "step-summary", "--gate", "recall@2 >= 0.9").code == 1
    page = (project / "step.md").read_text()
    assert page.startswith("before\n# ")
    assert "- recall@2 \\>= 0.9 (--gate)\n  - failed: 0.750, 4 questions" in page


def the_run(project, name="gates.xml"):
    """The error of the test case that is about the run as a whole; "" if there is none."""
    suite = ET.parse(project / name).getroot().find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    errors = [case for case in cases if case.find("error") is not None]
    assert (suite.get("errors"), suite.get("tests")) == (str(len(errors)), str(len(cases)))
    (found,) = [case[0].get("message") for case in errors if case.get("name") == "the run"] or [""]
    return found


def test_what_makes_a_run_unreliable_is_an_error_in_junit(rag_eval, project):
    """Also where every gate holds, and where it is known after the run only: it ends in exit code 2 all the same."""
    options = ("--gate", "recall@2 >= 0.1", "--junit", "gates.xml")
    assert rag_eval(*FLAGS, *options).code == 0
    assert the_run(project) == ""
    half = (*FLAGS[:-1], "own:half")
    assert rag_eval(*half, *options).code == 2
    assert the_run(project) == "1 of 4 questions failed, more than the 0 allowed (allow_failures, --allow-failures)"
    assert rag_eval(*half, *options, "--allow-failures", "1").code == 0
    assert the_run(project) == ""
    assert rag_eval(*FLAGS[:-1], "own:failing", *options).code == 2
    assert the_run(project).startswith("no question has a score (the first failed: ")
    dataset = harness()
    dataset["queries"] = [query | {"id": f"new_{query['id']}"} for query in dataset["queries"]]
    (project / "help.json").write_text(json.dumps(dataset))
    assert rag_eval(*FLAGS, "--baseline", "last~3", *options).code == 2
    assert "nothing to compare" in the_run(project)


def test_a_skipped_question_and_a_baseline_of_another_level_are_errors_in_junit(rag_eval, folder):
    flags = ("run", "--corpus", "docs", "--dataset", "questions.csv", "--k", "1", "--junit", "gates.xml")
    assert rag_eval(*flags).code == 2
    skipped = "2 of 4 answerable questions were skipped, more than the 0 allowed (allow_skipped, --allow-skipped)"
    assert skipped in the_run(folder)
    other = ("--allow-skipped", "2", "--evaluation-type", "document-level", "--baseline", "last")
    assert rag_eval(*flags, *other).code == 2
    assert "token-level" in the_run(folder)


def test_an_interrupted_run_writes_no_junit(rag_eval, project):
    own = (project / "own.py").read_text()
    (project / "own.py").write_text(
        f"{own}def stopped(query, k):\n    if 'parcels' in query:\n        raise KeyboardInterrupt\n"
        "    return search(query, k)\n"
    )
    outcome = rag_eval(*FLAGS[:-1], "own:stopped", "--gate", "recall@2 >= 0.1", "--junit", "gates.xml")
    assert outcome.code == 130
    assert not (project / "gates.xml").exists()


PAIRS = """
def both(query, k):
    return [{"doc_id": name} for name in ("refunds.md", "contact.md", "shipping.md")][:k]
def one(query, k):
    return both(query, k)[1:]
def none(query, k):
    return []
"""


def pairs(project, questions=120):
    """A dataset in which every question has two relevant documents, and pipelines that find both, one or none."""
    (project / "pairs.py").write_text(PAIRS)
    dataset = harness()
    relevant = {"sourceIds": ["refunds.md", "contact.md"]}
    dataset["queries"] = [
        {
            "id": f"q{number}x",
            "query": f"question {number}",
            "relevant": relevant,
            "tags": ["odd" if number % 2 else "even"],
        }
        for number in range(questions)
    ]
    (project / "help.json").write_text(json.dumps(dataset))
    return (*FLAGS[:-1], "pairs:{}")


def section(page, title):
    """The rows below a heading of a page."""
    found = page.split(f"## {title}", 1)[1].split("\n## ", 1)[0]
    return [line for line in found.splitlines() if line.startswith("| ")][1:]


def test_the_page_names_the_questions_that_a_gate_failed_by_whatever_its_score(rag_eval, project):
    flags = pairs(project)
    rag_eval(*flags[:-1], "pairs:both")
    gates = ("--gate", "recall@2 drop <= 0.02", "--gate", "recall@2 >= 0.75 where tags=odd", "--gate", "hit@2 >= 0.5")
    assert rag_eval(*flags[:-1], "pairs:one", "--baseline", "last", *gates).code == 1
    page = (find_run("last", project / ".rag-eval") / "diff.md").read_text()
    assert page.index("## Gates") < page.index("## Questions behind") < page.index("## Scores")
    rows = section(page, "Questions behind recall@2 drop \\<= 0.02, the first 100 of 120")
    assert len(rows) == 100
    assert rows[0] == "| question 0 | q0x | -0.500 |"
    odd = section(page, "Questions behind recall@2 \\>= 0.75 where tags=odd")
    assert [row.split(" | ")[1] for row in odd] == [f"q{number}x" for number in range(1, 120, 2)]
    assert "behind hit@2" not in page
    verdicts = load_result(find_run("last", project / ".rag-eval")).gates
    assert [len(verdict.queries) for verdict in verdicts] == [120, 60, 0, 0]


def test_the_page_names_all_lost_questions_and_why_also_without_a_gate_that_failed(rag_eval, project):
    flags = pairs(project, 20)
    rag_eval(*flags[:-1], "pairs:both")
    gates = ("--gate", "lost <= 3 questions", "--gate", "recall@2 drop <= 0.9")
    assert rag_eval(*flags[:-1], "pairs:none", "--baseline", "last", *gates).code == 1
    run = find_run("last", project / ".rag-eval")
    rows = section((run / "diff.md").read_text(), "Questions behind lost@2 \\<= 3 questions, recall@2 drop")
    assert len(rows) == 20
    assert "### Questions behind lost@2" in (run / "summary.md").read_text()
    assert rag_eval(*flags[:-1], "pairs:none", "--baseline", "last~1", "--gate", "p95 <= 60s").code == 0
    page = (find_run("last", project / ".rag-eval") / "diff.md").read_text()
    assert page.count("\n- **-1.000** ") == 20


def test_the_page_names_questions_behind_a_mean_that_the_baseline_does_not_have(rag_eval, project):
    flags = pairs(project, 4)
    rag_eval(*flags[:-1], "pairs:both")
    dataset = json.loads((project / "help.json").read_text())
    dataset["queries"][1]["id"] = "renamed"
    dataset["queries"][2]["query"] = "Tell me: question 2"
    (project / "help.json").write_text(json.dumps(dataset))
    assert rag_eval(*flags[:-1], "pairs:one", "--baseline", "last", "--gate", "recall@2 >= 0.75").code == 1
    page = (find_run("last", project / ".rag-eval") / "diff.md").read_text()
    assert section(page, "Questions behind recall@2 \\>= 0.75") == [
        "| question 0 | q0x | -0.500 |",
        "| question 3 | q3x | -0.500 |",
        "| question 1 | renamed | not compared, now 0.500 |",
        "| Tell me: question 2 | q2x | not compared, now 0.500 |",
    ]


def test_the_page_names_questions_behind_a_mean_that_failed_before_and_says_which_new_ones_failed(rag_eval, project):
    own = f"{PAIRS}def first(query, k):\n    return 1 / 0 if query[-1] in '01' else both(query, k)\n"
    own += "def last(query, k):\n    return 1 / 0 if query[-1] == '4' else one(query, k)\n"
    flags = pairs(project, 4)
    (project / "own.py").write_text(own)
    rag_eval(*flags[:-1], "own:first", "--allow-failures", "2")
    pairs(project, 5)
    (project / "run.yaml").write_text(
        "corpus: docs\ndataset: help.json\nretriever: own:last\nbaseline: last\ncount_as_zero: [failed]\n"
        "save_results_path: .rag-eval\n"
    )
    assert rag_eval("run", "run.yaml", "--gate", "recall@2 >= 0.75", "--allow-failures", "1").code == 1
    page = (find_run("last", project / ".rag-eval") / "diff.md").read_text()
    assert section(page, "Questions behind recall@2 \\>= 0.75") == [
        "| question 2 | q2x | -0.500 |",
        "| question 3 | q3x | -0.500 |",
        "| question 4 | q4x | not compared, now 0.000, failed: ZeroDivisionError: division by zero |",
        "| question 0 | q0x | not compared, now 0.500 |",
        "| question 1 | q1x | not compared, now 0.500 |",
    ]


def test_what_a_baseline_is_of_and_that_it_failed_its_own_gates_is_said(rag_eval, project):
    rag_eval(*FLAGS, "--gate", "mrr@2 >= 0.9", "--gate", "hit@2 >= 0.1")
    kept = rag_eval("baseline", "last")
    assert (kept.code, kept.err) == (0, "warning: search did not pass its own gates: mrr@2 >= 0.9\n")
    (project / "help.json").write_text(json.dumps(harness() | {"id": "other"}))
    rag_eval(*FLAGS)
    kept = rag_eval("baseline", "last")
    assert (kept.code, kept.err) == (0, "warning: the baseline was of help, and is of other now\n")
    assert rag_eval("baseline", "last").err == ""


def test_the_baseline_is_enough_to_compare_with_and_a_new_one_replaces_it(rag_eval, project):
    rag_eval(*FLAGS)
    rag_eval("baseline", "last")
    folder = project / ".rag-eval/baseline"
    assert [path.name for path in folder.iterdir()] == ["report.json"]
    shutil.rmtree(project / ".rag-eval/runs")
    assert rag_eval(*WORSE, "--baseline", "baseline", "--gate", "lost <= 0").code == 1
    assert rag_eval("baseline", "last").code == 0
    assert rag_eval(*WORSE, "--baseline", "baseline", "--gate", "lost <= 0").code == 0
    assert rag_eval("baseline", "baseline").code == 0
    assert rag_eval(*WORSE, "--baseline", "baseline", "--gate", "lost <= 0").code == 0


def test_the_baseline_of_many_questions_has_their_file_beside_it(rag_eval, project, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("rag_evaluation_framework.runs.result._MOST_IN_REPORT", 3)
        rag_eval(*FLAGS)
        assert rag_eval("baseline", "last").code == 0
        folder = project / ".rag-eval/baseline"
        assert sorted(path.name for path in folder.iterdir()) == ["questions.jsonl", "report.json"]
        assert rag_eval(*WORSE, "--baseline", "baseline", "--gate", "lost <= 0").code == 1
        assert rag_eval("baseline", "baseline").code == 0
    rag_eval(*WORSE)
    assert rag_eval("baseline", "last").code == 0
    assert [path.name for path in folder.iterdir()] == ["report.json"]
    assert load_result(folder).metrics["recall@2"] == 0.5


def test_what_is_not_a_run_is_no_baseline_and_the_earlier_one_stays(rag_eval, project):
    (project / "other.json").write_text('{"version": "1", "results": {"queries": []}}')
    outcome = rag_eval(*FLAGS, "--baseline", "other.json")
    assert outcome.code == 2
    assert outcome.err.startswith("error: other.json: has no schema_version, so it is not a report of rag-eval; ")
    assert not (project / ".rag-eval").exists()  # before the run
    rag_eval(*FLAGS)
    rag_eval("baseline", "last")
    before = (project / ".rag-eval/baseline/report.json").read_bytes()
    for given in ("other.json", "nothing", "help.json"):
        assert rag_eval("baseline", given).code == 2
    assert (project / ".rag-eval/baseline/report.json").read_bytes() == before


def test_the_thresholds_of_the_public_samples_are_applied(rag_eval, project, shared):
    sample = shared / "data/harness_samples/unrag-sample.json"
    for document in json.loads(sample.read_text())["documents"]:
        (project / "docs" / f"{document['sourceId']}.md").write_text(document["content"])
    flags = ("--corpus", "docs", "--dataset", sample)
    assert rag_eval("run", *flags).code == 0
    assert verdicts(project) == {"recall@10 >= 0.75": "passed"}
    thresholds = json.loads((shared / "data/harness_samples/unrag-config.json").read_text())["thresholds"]
    config = {"corpus": "docs", "dataset": str(sample), "thresholds": thresholds}
    (project / "run.json").write_text(json.dumps(config))
    for document in json.loads(sample.read_text())["documents"][:1]:
        (project / "docs" / f"{document['sourceId']}.md").unlink()
    assert rag_eval("run", "run.json").code == 1
    assert verdicts(project) == {"recall@10 >= 0.75": "failed"}


def test_failed_and_skipped_questions_have_to_be_allowed_in_a_baseline_and_some_need_a_score(rag_eval, project):
    rag_eval(*FLAGS[:-1], "own:half", "--allow-failures", "9")
    outcome = rag_eval("baseline", "last")
    assert outcome.code == 2
    assert "is not a valid baseline: 1 of 4 questions failed, more than the 0 allowed" in outcome.err
    assert not (project / ".rag-eval/baseline").exists()
    assert rag_eval("baseline", "last", "--allow-failures", "1").code == 0
    rag_eval(*FLAGS[:-1], "own:failing")
    outcome = rag_eval("baseline", "last", "--allow-failures", "99")
    assert outcome.code == 2
    assert "no question has a score" in outcome.err
    (project / "q.csv").write_text("question,quote\nHow?,Contact support by email.\nWhere?,Nowhere.\nWho?,Nobody.\n")
    assert rag_eval("run", "--corpus", "docs", "--dataset", "q.csv", "--allow-skipped", "2").code == 0
    outcome = rag_eval("baseline", "last")
    assert outcome.code == 2
    assert "2 of 3 answerable questions were skipped, more than the 0 allowed" in outcome.err
    assert rag_eval("baseline", "last", "--allow-skipped", "2").code == 0


def cut(project, *keep):
    """Leave only these questions in the dataset."""
    dataset = harness()
    dataset["queries"] = [query for query in dataset["queries"] if query["id"] in keep]
    (project / "help.json").write_text(json.dumps(dataset))


def test_a_dataset_that_was_cut_fails_by_default_and_the_page_names_the_questions(rag_eval, project):
    assert rag_eval(*FLAGS).code == 0
    cut(project, "q_refund")
    gates = ("--gate", "recall@2 >= 0.75", "--gate", "lost <= 0 questions", "--gate", "recall@2 drop <= 0.02")
    outcome = rag_eval(*FLAGS, "--baseline", "last~0", *gates)
    assert outcome.code == 1
    assert verdicts(project)["compared >= 90 %"] == "failed"
    page = (find_run("last", project / ".rag-eval") / "diff.md").read_text()
    assert section(page, "Questions behind compared \\>= 90 %") == [
        "| How do I contact support? | q_contact | gone |",
        "| When do parcels arrive? | q_parcel | gone |",
        "| How do I reset the password? | q_login | gone |",
    ]
    assert rag_eval(*FLAGS, "--baseline", "last~1", *gates, "--gate", "compared >= 25 %").code == 0


def test_the_hash_of_the_dataset_of_the_baseline_is_in_junit_and_in_the_summary_of_the_step(
    rag_eval, project, monkeypatch
):
    assert rag_eval(*FLAGS).code == 0
    before = load_result(find_run("last", project / ".rag-eval")).config["dataset"]["hash"]
    cut(project, "q_refund", "q_contact")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    rag_eval(*FLAGS, "--baseline", "last", "--junit", "gates.xml", "--sink", "step-summary")
    now = load_result(find_run("last", project / ".rag-eval")).config["dataset"]["hash"]
    written = ET.parse(project / "gates.xml").getroot().findtext("testsuite/system-out").splitlines()
    assert written[-2:] == [f"dataset of the baseline: sha256 {before}", f"dataset of the run: sha256 {now}"]
    page = (project / "step.md").read_text()
    for which, known in (("baseline", before), ("candidate", now)):
        assert any(f"- {which}: " in line and f"dataset sha256 {known[:12]}" in line for line in page.splitlines())


def test_why_questions_failed_is_in_the_page_and_in_junit(rag_eval, project):
    assert rag_eval(*FLAGS).code == 0
    half = (*FLAGS[:-1], "own:half", "--baseline", "last~{}", "--gate", "lost <= 0 questions", "--junit", "gates.xml")
    why = "ZeroDivisionError: division by zero"
    for number, allowed in enumerate(("0", "1")):
        code = rag_eval(*(part.format(number) for part in half), "--allow-failures", allowed).code
        assert code == (1 if allowed == "1" else 2)
        page = (find_run("last", project / ".rag-eval") / "diff.md").read_text()
        assert f"| How long are refunds available? | q_refund | failed: {why} |" in page
        assert f"q_refund: retrieve: {why}" in page
        suite = ET.parse(project / "gates.xml").getroot().find("testsuite")
        assert suite is not None
        assert f"after: q_refund: retrieve: {why}" in suite.findtext("system-out").splitlines()
        (lost,) = suite.iter("failure")
        assert f"(q_refund, failed: {why})" in lost.get("message", "")
    rag_eval(*(part.format(2) for part in half))
    the_error = ET.parse(project / "gates.xml").getroot().find(".//testcase[@name='the run']/error")
    assert the_error is not None
    assert the_error.text == f"q_refund: retrieve: {why}"


@pytest.mark.parametrize(
    "wrong",
    [("--no-such-option",), ("--allow-failures", "many"), ("one", "two"), ("--k",), ("--gate", "mrr@9 >= 0.1")],
)
@pytest.mark.parametrize("junit", [("--junit", "gates.xml"), ("--junit=gates.xml",)])
def test_arguments_that_are_refused_leave_no_junit_of_an_earlier_run(rag_eval, project, junit, wrong):
    stale = '<testsuites name="rag-eval" />\n'
    (project / "gates.xml").write_text(stale)
    assert rag_eval("run", *junit, "--help").code == 0
    assert (project / "gates.xml").read_text() == stale
    assert rag_eval(*FLAGS, *junit, *wrong).code == 2
    assert not (project / "gates.xml").exists()


def test_a_search_that_ends_the_process_with_success_leaves_no_junit(project, tmp_path):
    """The workflow looks for the file: `test -s`."""
    with (project / "own.py").open("a") as file:
        file.write("def leaving(query, k):\n    import os\n    os._exit(0)\n")
    (project / "gates.xml").write_text('<testsuites name="rag-eval" />\n')
    command = [sys.executable, "-m", "rag_evaluation_framework", *FLAGS[:-1], "own:leaving", "--junit", "gates.xml"]
    done = subprocess.run(command, cwd=project, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert not (project / "gates.xml").exists()
