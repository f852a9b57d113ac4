"""Two saved runs side by side on the command line."""

import itertools
import json
import re
from pathlib import Path

import pytest

from rag_evaluation_framework import Comparison, load_result
from rag_evaluation_framework.analysis import Leaderboard
from support.terminal import Terminal

QUESTIONS = {"invoices": "Invoices are sent on the first day.", "agent": "Install the agent first."}
OWN = """
FOUND = {found!r}
def search(query, k):
    answer = FOUND[query.split()[0]]
    if answer is None:
        raise OSError("gone away")
    return [answer]
"""
NUMBERS = itertools.count()  # Python keeps the modules of all tests
GOOD = {"invoices": QUESTIONS["invoices"], "agent": QUESTIONS["agent"], "who": "Support helps."}


@pytest.fixture
def run(rag_eval, folder):
    """Save a run of a retriever that finds these texts."""
    (folder / "faq.csv").write_text(
        "question,quote,document\n"
        "invoices come when?,Invoices are sent on the first day.,billing.md\n"
        "agent or not?,Install the agent first.,guides/start.md\n"
        "who helps?,Support helps.,billing.md\n"
    )

    def run(name, found, *more):
        module = f"own_compared_{next(NUMBERS)}"
        (folder / f"{module}.py").write_text(OWN.format(found=found))
        given = ("--corpus", "docs", "--dataset", "faq.csv", "--k", "1", "--metric", "span_recall")
        outcome = rag_eval(
            "run", *given, "--retriever", f"{module}:search", "--set", f"experiment_name={name}", "--json", *more
        )
        assert outcome.code == 0, outcome.err
        return Path(json.loads(outcome.out)["run"]).relative_to(folder)

    return run


@pytest.fixture
def runs(run):
    """Two runs: of three questions one gets worse, one better, and one is as it was."""
    before = run("before", {**GOOD, "agent": "Support helps."})
    return before, run("after", {**GOOD, "invoices": "Install the agent first."})


def test_json_is_one_strict_object_of_what_comparison_tells_and_so_is_the_file_beside_its_page(rag_eval, runs, folder):
    outcome = rag_eval("compare", "before", "after", "--json", "--output", "new/diff")
    assert outcome.err == ""
    printed = json.loads(outcome.out, parse_constant=pytest.fail)
    before, after = map(load_result, runs)
    record = Comparison.of(before, after).record()
    for which, run, place in (("baseline", before, runs[0]), ("candidate", after, runs[1])):
        record[which] = {
            "name": run.name,
            "notes": list(run.notes),
            "unfilled": {},
            "folder": str(place),
            "created": run.created,
        }
    assert printed == record
    assert list(printed) == list(record)
    assert sorted(path.name for path in (folder / "new/diff").iterdir()) == ["diff.json", "diff.md"]
    assert json.loads((folder / "new/diff/diff.json").read_text()) == printed
    page = (folder / "new/diff/diff.md").read_text()
    assert page.startswith("# after against before\n")
    assert "\n- before: results whose text occurs more than once: 2;" in page
    assert "span_recall@1: 1 improved, 1 regressed, 1 unchanged\n" in page
    assert "## Questions that got worse by span_recall@1\n" in page


@pytest.mark.parametrize("kind", ["file", "folder", "impossible"])
def test_nothing_is_overwritten(rag_eval, runs, folder, kind):
    out = folder / "out"
    if kind == "file":
        out.write_text("kept")
    elif kind == "folder":
        out.mkdir()
        (out / "diff.md").write_text("kept")
    outcome = rag_eval("compare", "before", "after", "--output", "a" * 5000 if kind == "impossible" else out)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("error: ")
    if kind != "impossible":
        assert "exists already, and nothing was overwritten" in outcome.err
        assert (out if kind == "file" else out / "diff.md").read_text() == "kept"


def test_the_score_is_an_option_that_orders_several_runs_too(rag_eval, run):
    run("a", GOOD, "--metric", "span_precision")
    run("b", {**GOOD, "who": "Install the agent first."}, "--metric", "span_precision")
    run("c", dict.fromkeys(GOOD, "Support helps."), "--metric", "span_precision")
    shown = rag_eval("compare", "a", "c", "--score", "span_precision").out
    assert "span_precision@1: 0 improved, 2 regressed, 1 unchanged\n" in shown
    assert "Questions that got worse by span_precision@1\n" in shown
    assert len(re.findall(r"^-\d", shown, re.MULTILINE)) == 2
    assert "Questions that got better by span_recall@1" in rag_eval("compare", "c", "a").out
    shown = rag_eval("compare", "c", "b", "a", "--score", "span_precision").out
    assert shown.startswith("3 runs by span_precision@1\n")
    assert "Questions on which" not in shown  # the best is nowhere worse than the baseline
    turned = rag_eval("compare", "b", "c", "a", "c", "--score", "span_precision").out
    assert "c and c (2) are the same run" in turned
    for names, which in ((("a", "c"), "both results"), (("c", "b", "a"), "all runs")):
        refused = rag_eval("compare", *names, "--score", "span_reca")
        assert (refused.code, refused.out) == (2, "")
        assert f"no score 'span_reca' in {which}; there are span_recall@1" in refused.err


def test_questions_that_failed_come_after_those_that_were_asked(rag_eval, run, folder):
    (folder / "zero.yaml").write_text("corpus: docs\ndataset: faq.csv\ncount_as_zero: [failed]\n")
    run("before", GOOD, "zero.yaml")
    run(
        "after", {"invoices": None, "agent": None, "who": "Install the agent first."}, "zero.yaml", "--allow-failures=2"
    )
    lines = rag_eval("compare", "before", "after").out.splitlines()
    begin = lines.index("Questions that got worse by span_recall@1") + 1
    assert [line.partition(" (query")[0] for line in lines[begin : begin + 3]] == [
        "-1.000  who helps?",
        "-1.000  failed, and counts as 0: invoices come when?",
        "-1.000  failed, and counts as 0: agent or not?",
    ]


def test_one_run_named_twice_is_compared_and_noted(rag_eval, runs):
    outcome = rag_eval("compare", "last", runs[1] / "report.json")
    assert outcome.code == 0
    assert "! baseline and candidate are the same run\n" in outcome.out
    assert "span_recall@1: 0 improved, 0 regressed, 3 unchanged\n" in outcome.out
    same = json.loads(rag_eval("compare", "last", "after", "--json").out)
    assert same["notes"] == ["baseline and candidate are the same run"]
    assert json.loads(rag_eval("compare", "before", "after", "--json").out)["notes"] == []


OTHER_LEVEL = "'before' is token-level, 'BM25, recursive 800' is document-level: "


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("nothing last", "no path, run or experiment is called 'nothing'"),
        ("last nothing", "no path, run or experiment is called 'nothing'"),
        ("last last~4", "last~4"),
        ("docs last", "docs"),
        ("before after --by colour", "by='colour': expected a property that tells some questions from others"),
        ("before after good --by document", "--by document: slices are those of two runs, got 3"),
        ("before last", f"error: {OTHER_LEVEL}"),
        ("before after last", f"error: {OTHER_LEVEL}"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_message(rag_eval, three, arguments, told):
    assert rag_eval("run", "--corpus=docs", "--dataset=faq.csv", "--evaluation-type=document-level").code == 0
    refused = rag_eval("compare", *arguments.split(), "--output", "diff")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: ")
    assert refused.err.count("\n") == 1 or "\nname a run by its path" in refused.err
    assert told in refused.err
    assert "Traceback" not in refused.err
    assert "RAG_EVAL_DEBUG" not in refused.err
    assert not Path("diff").exists()


def test_the_screen_fits_a_terminal_of_80_columns(run, folder):
    given = [word for k in range(2, 9) for word in ("--k", str(k))]
    long = {**GOOD, "who": "Install the agent first."}
    run("before " * 30, GOOD, *given, "--root", "kept")
    run("after " * 30, long, *given, "--root", "kept", "--budget", "10ch", "--allow-failures", "3")
    terminal = Terminal("compare", "last~1", "last", "--root", "kept", folder=folder)
    assert terminal.end() == 0
    assert "  ! " not in terminal.text
    assert re.search(r"^! scores that only one of the runs has", terminal.text, re.MULTILINE)
    assert [line for line in terminal.text.splitlines() if len(line) > 80] == []
    (header,) = [line.split() for line in terminal.text.splitlines() if line.split()[:1] == ["score"]]
    assert header[:8] == ["score", "n", "before", "after", "delta", "interval", "p", "+/-"]


# --- several runs ---


@pytest.fixture
def three(run, runs):
    """A third run beside the two: it finds everything."""
    return (*runs, run("good", GOOD))


def test_several_runs_are_one_table_by_a_score_and_json_and_the_files_are_what_the_leaderboard_tells(
    rag_eval, three, folder
):
    outcome = rag_eval("compare", "before", "after", "good")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "3 runs by span_recall@1"
    rows = [line.split() for line in lines if line.startswith((" 1 ", " 2 ", " 3 "))][:3]
    assert rows[0][:8] == ["1", "good", "1.000", "+.333", "-.906", "+.906", "1.000", "best"]
    assert rows[1][:7] == ["2", "before", "0.667", "–", "baseline", "–", "yes"]
    assert (rows[2][1], rows[2][7]) == ("after", "yes")
    where = [["1:", f"{three[2]}"], ["2:", f"{three[0]}"], ["3:", f"{three[1]}"]]
    assert [line.split()[:2] for line in lines[-3:]] == where
    given = ("compare", "before", "after", "good", "--output", "board")
    outcome = rag_eval(*given, "--json")
    assert outcome.err == ""
    results = [load_result(path) for path in three]
    record = Leaderboard.of(results).record()
    for known, result, path in zip(record["runs"], results, three, strict=True):
        known |= {"folder": str(path), "created": result.created}
    printed = json.loads(outcome.out, parse_constant=pytest.fail)
    assert printed == json.loads(json.dumps(record))
    assert sorted(path.name for path in (folder / "board").iterdir()) == ["leaderboard.json", "leaderboard.md"]
    assert json.loads((folder / "board/leaderboard.json").read_text()) == printed
    page = (folder / "board/leaderboard.md").read_text()
    assert page.startswith("# 3 runs by span_recall@1\n")
    assert "\n| 1 good | 1.000 |" in page
    assert "\n## Runs\n" in page
    refused = rag_eval(*given)
    assert (refused.code, refused.out) == (2, "")
    assert "exists already, and nothing was overwritten" in refused.err


def test_what_is_independent_is_an_option(rag_eval, three):
    for names in (("before", "good"), ("before", "after", "good")):
        assert "taken as independent" in rag_eval("compare", *names, "--cluster", "question").out
        assert (
            "questions on one document taken together (2 documents)"
            in rag_eval("compare", *names, "--cluster", "document").out
        )
        refused = rag_eval("compare", *names, "--cluster", "page")
        assert (refused.code, refused.out) == (2, "")
        assert "'page' is not one of 'question', 'document'" in " ".join(refused.err.split())


# --- run --baseline ---


@pytest.fixture
def given(folder, run):
    """The arguments of a run that finds everything, after one that did not."""
    run("before", {**GOOD, "agent": "Support helps."})
    module = f"own_compared_{next(NUMBERS)}"
    (folder / f"{module}.py").write_text(OWN.format(found=GOOD))
    found = ("--retriever", f"{module}:search", "--set", "experiment_name=after")
    return ("run", "--corpus", "docs", "--dataset", "faq.csv", "--k", "1", "--metric", "span_recall", *found)


def test_a_run_is_compared_with_a_baseline_and_one_that_cannot_be_compared_is_told_after_the_result(rag_eval, given):
    outcome = rag_eval(*given, "--baseline", "last")
    assert outcome.code == 0
    assert outcome.err.startswith("importing ")
    assert outcome.err.count("\n") == 1
    lines = outcome.out.splitlines()
    assert lines[0] == "after"
    begin = lines.index("after against before")
    assert "span_recall@1: 1 improved, 0 regressed, 2 unchanged" in lines[begin:]
    record = json.loads(rag_eval(*given, "--baseline", "before", "--json").out)
    assert record["comparison"]["baseline"]["name"] == "before"
    assert record["comparison"]["scores"]["span_recall@1"]["delta"] == pytest.approx(1 / 3)
    assert "comparison" not in json.loads(rag_eval(*given, "--json").out)
    at_documents = (*given[:7], "--evaluation-type", "document-level", *given[9:])
    refused = rag_eval(*at_documents, "--baseline", "last")
    assert refused.code == 2
    assert refused.out.startswith("after\n")
    assert "Saved to" in refused.out
    assert "evaluate both at one level" in refused.err
    record = json.loads(rag_eval(*at_documents, "--baseline", "before", "--json").out)
    assert record["comparison"] is None


def test_slices_are_shown_below_the_comparison(rag_eval, runs):
    outcome = rag_eval("compare", "before", "after", "--by", "document", "--output", "diff")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("\nSaved to diff\n")
    lines = outcome.out.splitlines()
    assert lines.index("span_recall@1 by document") > lines.index("span_recall@1: 1 improved, 1 regressed, 1 unchanged")
    rows = [line.split()[:5] for line in lines[lines.index("span_recall@1 by document") :] if ".md " in line]
    assert rows == [
        ["billing.md", "2", "1.000", "0.500", "-.500"],
        ["guides/start.md", "1", "0.000", "1.000", "+1.000"],
    ]
    record = json.loads(Path("diff/diff.json").read_text())
    assert [(one["value"], one["n"], one["delta"]) for one in record["slices"]["document"]] == [
        ("billing.md", 2, -0.5),
        ("guides/start.md", 1, 1.0),
    ]
    assert record["properties"] == ["document"]
    assert "## span_recall@1 by document" in Path("diff/diff.md").read_text()
    assert "slices" not in json.loads(rag_eval("compare", "before", "after", "--json").out)
