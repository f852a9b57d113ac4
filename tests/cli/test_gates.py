"""`rag-eval run` with gates and thresholds."""

import json

import pytest

from rag_evaluation_framework import load_result
from rag_evaluation_framework.runs import find_run
from support.gated_project import FLAGS, gate_lines, harness, verdicts


def told_of(outcome):
    """The lines on standard error, but for that of the module that is imported."""
    return [line for line in outcome.err.splitlines() if not line.startswith("importing own:")]


def test_gates_that_hold_end_in_exit_code_0_and_one_that_fails_in_1(rag_eval, project):
    passed = rag_eval(*FLAGS, "--gate", "recall@2 >= 0.75", "--gate", "p95 <= 20s")
    assert (passed.code, told_of(passed)) == (0, [])
    assert gate_lines(passed)[:3] == [
        "2 gates: 2 passed",
        "  recall@2 >= 0.75 (--gate)",
        "    passed: 0.750, 4 questions",
    ]
    failed = rag_eval(*FLAGS, "--gate", "recall@2 >= 0.75", "--gate", "recall@2 >= 0.76")
    assert failed.code == 1
    assert gate_lines(failed) == [
        "2 gates: 1 failed, 1 passed",
        "  recall@2 >= 0.75 (--gate)",
        "    passed: 0.750, 4 questions",
        "  recall@2 >= 0.76 (--gate)",
        "    failed: 0.750, 4 questions",
    ]


def test_a_run_whose_gate_fails_is_shown_and_saved_with_its_gates(rag_eval, project):
    failed = rag_eval(*FLAGS, "--gate", "recall@2 >= 0.9")
    (run,) = (project / ".rag-eval/runs").iterdir()
    assert f"Saved to {run}" in failed.out
    (verdict,) = load_result(run).gates
    assert (verdict.gate, verdict.verdict, verdict.measured) == ("recall@2 >= 0.9", "failed", 0.75)
    page = (run / "summary.md").read_text()
    assert "## Gates\n\n- recall@2 \\>= 0.9 (--gate)\n  - failed: 0.750" in page
    printed = rag_eval(*FLAGS, "--gate", "recall@2 >= 0.9", "--json")
    assert printed.code == 1
    (told,) = json.loads(printed.out)["gates"]
    assert (told["gate"], told["verdict"], told["source"]) == ("recall@2 >= 0.9", "failed", "--gate")


def test_what_makes_a_run_unreliable_beats_a_failed_gate_and_no_gate_passes_in_it(rag_eval, project):
    failed = "1 of 4 questions failed, more than the 0 allowed (allow_failures, --allow-failures)"
    assert rag_eval(*FLAGS[:-1], "own:failing", "--gate", "recall@2 >= 0.9").code == 2
    for limit, verdict in (("0.9", "failed"), ("0.1", "not measured")):
        outcome = rag_eval(*FLAGS[:-1], "own:half", "--gate", f"recall@2 >= {limit}")
        assert (outcome.code, outcome.err.count(failed)) == (2, 1)
        assert verdicts(project) == {f"recall@2 >= {limit}": verdict}
    assert rag_eval(*FLAGS[:-1], "own:half", "--gate", "recall@2 >= 0.9", "--allow-failures", "1").code == 1


def test_a_gate_that_cannot_be_measured_ends_in_2_after_the_run_was_saved(rag_eval, project):
    outcome = rag_eval(*FLAGS, "--gate", "p95(rerank) <= 9s")
    assert outcome.code == 2
    assert "error: gate 'p95(rerank) <= 9000ms' could not be measured: no stage 'rerank' was timed" in outcome.err
    assert verdicts(project) == {"p95(rerank) <= 9000ms": "not measured"}


def test_every_problem_with_gates_is_told_at_once_before_the_run(rag_eval, project):
    (project / "run.yaml").write_text(
        "corpus: docs\ndataset: help.json\nretriever: own:search\n"
        "gates: ['recall@2 >= high', 'mrr@3 >= 0.5']\n"
        "thresholds: {min: {hitAtK: 75, recallAtk: 0.5}, best: {}, max: {p95TotalMs: '1'}}\n"
    )
    given = ("--gate", "recall@3 >= 0.5", "--gate", "mrr drop <= 0", "--gate", "lost <= 0 where tags=sales")
    wrong = ("min.hitAtK", "max.mrrAtK=0", "min.hitAtK=0.5", "min.hitAtK=0.6")
    outcome = rag_eval("run", "run.yaml", *given, *(word for text in wrong for word in ("--threshold", text)))
    assert outcome.code == 2
    assert not (project / ".rag-eval").exists()
    assert told_of(outcome) == [
        "error: 13 problems with gates:",
        "  --threshold 'min.hitAtK': expected a threshold such as min.recallAtK=0.75",
        "  --threshold 'max.mrrAtK=0': 'max.mrrAtK' is not a threshold; did you mean min.mrrAtK?",
        "  --threshold 'min.hitAtK=0.6': min.hitAtK is given twice",
        "  gates of the configuration: gate 'recall@2 >= high': expected 'recall@10 >= 0.75', "
        "'recall@10 drop <= 0.02', 'lost@10 <= 2 questions', 'p95 <= 300ms', 'p95(rerank) <= 50ms', "
        "'population(recall@10) drop <= 0.05', each also of a slice, as in '... where tags=billing', "
        "or 'compared >= 90 %'",
        "  thresholds of the configuration: min.hitAtK is 75; expected a number from 0 to 1",
        "  thresholds of the configuration: 'min.recallAtk' is not a threshold; did you mean min.recallAtK?",
        "  thresholds of the configuration: 'best' is not a threshold; there are min.hitAtK, min.recallAtK, "
        "min.precisionAtK, min.mrrAtK, min.ndcgAtK, max.p95TotalMs",
        "  thresholds of the configuration: max.p95TotalMs is '1'; expected a number of milliseconds of at least 0",
        "  gate 'recall@3 >= 0.5': the run has no score 'recall@3'; did you mean recall@2?",
        *(
            f"  gate '{gate}': compares with a baseline, and there is none; give a saved run, on the command line by "
            "--baseline, in a configuration as baseline: …"
            for gate in ("mrr@2 drop <= 0", "lost@2 <= 0 questions where tags=sales")
        ),
        "  gate 'lost@2 <= 0 questions where tags=sales': no question has tags=sales; there are billing, "
        "shipping, login",
        "  gate 'mrr@3 >= 0.5': the run has no score 'mrr@3'; did you mean mrr@2?",
    ]


def test_a_gate_on_a_score_that_the_baseline_measured_otherwise_is_refused_before_the_run(rag_eval, project):
    (project / "weighing.py").write_text(
        "from dataclasses import dataclass\nfrom rag_evaluation_framework.contracts import DocumentLevelMetric\n\n\n"
        "@dataclass(frozen=True)\nclass Weighted(DocumentLevelMetric):\n    weight: float\n\n"
        "    def calculate(self, retrieved, ground_truth):\n        return self.weight\n"
    )
    given = ("--metric", "weighing:Weighted:weight=0.6", "--baseline", "last", "--gate", "weighted@2 drop <= 0.3")
    assert rag_eval(*FLAGS, "--metric", "weighing:Weighted:weight=0.5").code == 0
    outcome = rag_eval(*FLAGS, *given)
    assert outcome.code == 2
    assert "\n".join(told_of(outcome)) == (
        "error: gate 'weighted@2 drop <= 0.3': weighted@2 of the baseline 'search' is not comparable: weight 0.5 "
        "before, 0.6 after"
    )
    assert len([*(project / ".rag-eval/runs").iterdir()]) == 1
    assert rag_eval(*FLAGS, "--metric", "weighing:Weighted:weight=0.5", *given[2:]).code == 0


def test_a_gate_at_a_cutoff_that_the_baseline_lacks_names_those_that_both_runs_have(rag_eval, project):
    assert rag_eval(*FLAGS).code == 0
    outcome = rag_eval(*FLAGS, "--k", "1", "--k", "2", "--baseline", "last", "--gate", "lost <= 0 questions")
    assert outcome.code == 2
    (told,) = told_of(outcome)
    assert told.startswith("error: gate 'lost@1 <= 0 questions': the baseline 'search' has other scores at 1: ")
    assert told.endswith("; write lost@2, lost@4000ch, or make the baseline at the cutoffs of the run")


CLI, FILE, DATA = 0.1, 0.2, 0.3


@pytest.mark.parametrize("cli", [None, CLI, 0.0])
@pytest.mark.parametrize("file", [None, FILE, 0])
@pytest.mark.parametrize("data", [None, DATA, 0])
def test_thresholds_of_three_sources_are_merged_key_by_key_and_0_is_a_value(rag_eval, project, cli, file, data):
    """Each source also has a key of its own, which the others do not take away."""
    ours = {"min": {"mrrAtK": 0.25}} if data is None else {"min": {"mrrAtK": 0.25, "recallAtK": data}}
    (project / "help.json").write_text(json.dumps(harness(ours)))
    config = {
        "corpus": "docs",
        "dataset": "help.json",
        "retriever": "own:search",
        "thresholds": {"min": {"hitAtK": 0.5}},
    }
    if file is not None:
        config["thresholds"]["min"]["recallAtK"] = file
    (project / "run.json").write_text(json.dumps(config))
    options = [] if cli is None else ["--threshold", f"min.recallAtK={cli}"]
    assert rag_eval("run", "run.json", *options, "--threshold", "max.p95TotalMs=20000").code == 0
    given = [value for value in (cli, file, data) if value is not None]
    expected = dict.fromkeys(("p95 <= 20000ms", "hit@2 >= 0.5", "mrr@2 >= 0.25"), "passed")
    expected |= {f"recall@2 >= {value:g}": "passed" if value else "off" for value in given[:1]}
    assert verdicts(project) == expected


def test_a_gate_replaces_that_of_a_lower_source_which_bounds_the_same(rag_eval, project):
    (project / "help.json").write_text(json.dumps(harness({"min": {"recallAtK": 1}})))
    config = "corpus: docs\ndataset: help.json\nretriever: own:search\n"
    (project / "run.yaml").write_text(f"{config}gates: ['recall@2 >= 0.9', 'recall@2 <= 0.9', 'mrr >= 0.1']\n")
    assert rag_eval("run", "run.yaml", "--gate", "recall >= 0.5").code == 0
    assert [*verdicts(project)] == ["recall@2 >= 0.5", "recall@2 <= 0.9", "mrr@2 >= 0.1"]
    assert rag_eval("run", "run.yaml").code == 1
    assert [*verdicts(project)] == ["recall@2 >= 0.9", "recall@2 <= 0.9", "mrr@2 >= 0.1"]


@pytest.mark.parametrize(
    ("threshold", "code"),
    [
        ("min.hitAtK=0.75", 0),
        ("min.recallAtK=0.75", 0),
        ("min.mrrAtK=0.75", 0),
        ("min.ndcgAtK=0.75", 0),
        ("min.precisionAtK=0.375", 0),
        ("max.p95TotalMs=20000", 0),
        ("min.hitAtK=0.751", 1),
        ("min.recallAtK=0.751", 1),
        ("min.mrrAtK=0.751", 1),
        ("min.ndcgAtK=0.751", 1),
        ("min.precisionAtK=0.376", 1),
        ("max.p95TotalMs=0", 1),
        ("min.recallAtK=nan", 2),
        ("min.recallAtK=inf", 2),
        ("min.recallAtK=", 2),
        ("min.recallAtK=75%", 2),
        ("min.recallAtK=1.01", 2),
        ("min.recallAtK=-0.1", 2),
        ("max.p95TotalMs=-1", 2),
        ("recallAtK=0.5", 2),
    ],
)
def test_each_threshold_bounds_its_score_at_the_k_of_the_run(rag_eval, project, threshold, code):
    assert rag_eval(*FLAGS, "--threshold", threshold).code == code


def test_a_number_larger_than_any_float_is_one_problem_among_others(rag_eval, project):
    huge = 10**400
    (project / "help.json").write_text(json.dumps(harness({"min": {"recallAtK": huge}, "max": {"p95TotalMs": huge}})))
    outcome = rag_eval(*FLAGS)
    assert outcome.code == 2
    first, *told = told_of(outcome)
    assert first.endswith("help.json: 2 problems:")
    (project / "help.json").write_text(json.dumps(harness({})))
    outcome = rag_eval(*FLAGS, "--gate", "recall@9 >= 0.5", "--threshold", f"min.mrrAtK={huge}")
    first, other, *_ = outcome.err.splitlines()
    assert first == "error: 2 problems with gates:"
    assert all("expected a number" in line for line in (*told, other))
    assert "OverflowError" not in outcome.err


def test_thresholds_of_a_file_that_are_written_as_options_are_told_how_they_are_written(rag_eval, project):
    (project / "help.json").write_text(json.dumps(harness({"min.recallAtK": 0.75})))
    outcome = rag_eval(*FLAGS)
    assert outcome.code == 2
    assert "min.recallAtK is written as {min: {recallAtK: …}} in a file" in outcome.err


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("recall@2 >= 75", "recall@2 is from 0 to 1; expected a limit from 0 to 1"),
        ("recall@2 <= -0.1", "recall@2 is from 0 to 1; expected a limit from 0 to 1"),
        ("recall@2 drop <= 2", "recall@2 is from 0 to 1; expected a limit from -1 to 1"),
        ("recall@2 >= 0", "gate 'recall@2 >= 0': cannot fail"),
        ("recall@2 <= 1", "gate 'recall@2 <= 1': cannot fail"),
        ("recall@2 drop <= 1", "gate 'recall@2 drop <= 1': cannot fail"),
        ("population(mrr@2) >= 0", "gate 'population(mrr@2) >= 0': cannot fail"),
    ],
)
def test_a_limit_at_or_beyond_the_end_of_its_range_is_refused_before_the_run(rag_eval, project, gate, said):
    assert rag_eval(*FLAGS).code == 0
    outcome = rag_eval(*FLAGS, "--baseline", "last", "--gate", gate)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_thresholds_bound_the_scores_of_every_evaluation_type_and_those_at_k_need_a_k(rag_eval, folder):
    flags = ("run", "--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2", "--k", "1")
    for level, gate in (("token", "span_recall@1"), ("chunk", "chunk_recall@1"), ("document", "recall@1")):
        assert rag_eval(*flags, "--evaluation-type", f"{level}-level", "--threshold", "min.recallAtK=0").code == 0
        assert verdicts(folder) == {f"{gate} >= 0": "off"}
    config = {"corpus": "docs", "dataset": "questions.csv", "k": [], "thresholds": {"min": {"recallAtK": 0.5}}}
    (folder / "run.json").write_text(json.dumps(config))
    outcome = rag_eval("run", "run.json", "--allow-skipped", "2")
    assert outcome.code == 2
    assert "min.recallAtK is a score at k, and the run has budgets only; give it a k" in outcome.err


def test_a_run_whose_gates_are_all_off_says_that_it_is_not_gated(rag_eval, project):
    (project / "help.json").write_text(json.dumps(harness({"min": {"recallAtK": 0.9}})))
    assert rag_eval(*FLAGS).code == 1
    outcome = rag_eval(*FLAGS, "--threshold", "min.recallAtK=0", "--junit", "gates.xml")
    assert outcome.code == 0
    assert gate_lines(outcome) == [
        "1 gate: 1 off; the run is not gated",
        "  recall@2 >= 0 (min.recallAtK, --threshold)",
        "    off: a threshold of 0 turns this gate off",
    ]
    assert '<skipped message="off: a threshold of 0 turns this gate off"' in (project / "gates.xml").read_text()
    page = (find_run("last", project / ".rag-eval") / "summary.md").read_text()
    assert "- recall@2 \\>= 0 (min.recallAtK, --threshold)\n  - off: a threshold of 0 turns this gate off" in page


SLOW = """
import time
ANSWERS = {"refunds": "refunds.md", "support": "contact.md", "parcels": "shipping.md", "password": "login.md"}
STARTED = []
def search(query, k):
    STARTED.append(query)
    time.sleep(0.4 if len(STARTED) == 1 else 0)
    return [{"doc_id": name} for word, name in ANSWERS.items() if word in query]
"""


def test_the_first_question_is_apart_in_latency_gates_as_in_the_table(rag_eval, project):
    (project / "slow_at_first.py").write_text(SLOW)
    outcome = rag_eval(*FLAGS[:-1], "slow_at_first:search", "--gate", "p95 <= 300ms")
    assert outcome.code == 0, outcome.out + outcome.err
    assert "3 questions timed, the first question apart" in outcome.out
