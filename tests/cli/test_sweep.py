"""`rag-eval sweep`: a plan, a conclusion, and cells that are kept."""

import json
import re

import pytest

from rag_evaluation_framework import load_result, sweeps

FLAGS = ("--corpus", "docs", "--dataset", "questions.csv")
OVER = ("--over", "chunker.chunk_size=20,800", "--over", "k=1,5")


@pytest.fixture(autouse=True)
def questions(folder):
    (folder / "questions.csv").write_text(
        "question,quote\nWhen do invoices come?,Invoices are sent on the first day.\n"
        "What comes first?,Install the agent first.\n"
    )


def swept(outcome, code=0):
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out)


def test_a_sweep_ends_with_what_to_take_and_is_kept_and_written_as_html(rag_eval, folder):
    outcome = rag_eval("sweep", *FLAGS, *OVER, "--html", "sweep.html")
    assert outcome.code == 0, outcome.err
    # Of two questions both may be the best, and the quicker one is taken; which that is, differs.
    assert re.match(r"Take chunk_size=(20|800): span_recall@4000ch (0\.382|1\.000)", outcome.out.splitlines()[1])
    assert re.search(r"^ 1 chunk_size=800 +1\.000", outcome.out, re.MULTILINE)
    (kept,) = (folder / ".rag-eval/sweeps").iterdir()
    assert f"Saved to {kept.relative_to(folder)}" in outcome.out
    assert sorted(path.name for path in kept.iterdir()) == ["summary.md", "sweep.json", "sweep.yaml"]
    cells = [load_result(path) for path in (folder / ".rag-eval/cells").iterdir()]
    assert {cell.name for cell in cells} == {"chunk_size=20", "chunk_size=800"}
    assert not (folder / ".rag-eval/runs").exists()
    assert "chunk_size=800" in (folder / "sweep.html").read_text()
    refused = rag_eval("sweep", *FLAGS, *OVER, "--html", "sweep.html")
    assert (refused.code, "sweep.html" in refused.err) == (2, True)


def test_the_same_command_goes_on_and_so_does_the_file_that_is_kept_and_json_tells_it(rag_eval, folder):
    first = swept(rag_eval("sweep", *FLAGS, *OVER, "--json"))
    second = swept(rag_eval("sweep", *FLAGS, *OVER, "--json"))
    assert (first["bill"]["cells"], second["bill"]["cells"]) == (2, 0)
    assert (first["plan"]["cells"], second["plan"]["cells"]) == (2, 0)
    assert second["standings"] == first["standings"]
    again = swept(rag_eval("sweep", *FLAGS, *OVER, "--json", "--fresh"))
    assert again["bill"]["cells"] == 2
    first = swept(rag_eval("sweep", *FLAGS, *OVER, "--json", "--score", "span_recall@1"))
    assert first["ordered_by"] == "span_recall@1"
    again = swept(rag_eval("sweep", f"{first['sweep']}/sweep.yaml", "--json"))
    assert (again["bill"]["cells"], again["ordered_by"]) == (0, "span_recall@1")


def test_a_dry_run_does_nothing_but_read_and_money_is_not_spent_beyond_a_limit(rag_eval, folder):
    outcome = rag_eval("sweep", *FLAGS, *OVER, "--over", "embedder=lsa,none", "--dry-run")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[0] == "4 cells, 12 rows, 4 to run"
    plan = swept(rag_eval("sweep", *FLAGS, *OVER, "--dry-run", "--json"))
    assert (plan["cells"], plan["rows"], plan["chunkings"], plan["cost"]) == (2, 6, 2, 0)
    over = ("--over", "embedder={type: openai, api_key: none, price_in: 1000000}", "--yes-spend", "2")
    refused = rag_eval("sweep", *FLAGS, *over)
    assert refused.code == 2
    assert "at most 2.00 may be spent" in refused.err
    unknown = rag_eval("sweep", *FLAGS, "--over", "embedder={type: openai, api_key: none}", "--yes-spend", "2")
    assert "what the sweep costs is not known" in unknown.err
    assert not (folder / ".rag-eval" / "cells").exists()


def test_a_cell_that_fails_is_shown_beside_the_others_and_is_in_neither_plan_nor_bill(rag_eval, folder):
    outcome = rag_eval("sweep", *FLAGS, "--over", "chunker.overlap=0,900", "--over", "k=1")
    assert outcome.code == 2
    assert outcome.out.startswith("Sweep of 2 cells over overlap\n")
    assert "\nThere is no other cell to compare it with.\n" in outcome.out
    assert "overlap=900" in outcome.out
    assert outcome.err.splitlines()[-1].startswith("error: 1 of 2 cells could not be run, the first, overlap=900:")
    assert len([*(folder / ".rag-eval/cells").iterdir()]) == 1
    over = ("--over", "chunker.chunk_size=60,abc,120")
    told = "chunk_size=abc: RecursiveCharacterChunker: chunk_size='abc'; expected a whole number"
    dry = rag_eval("sweep", *FLAGS, *over, "--dry-run")
    assert dry.code == 0
    assert dry.out.splitlines()[0].endswith("2 to run, 1 cannot be run")
    assert told in dry.out
    done = rag_eval("sweep", *FLAGS, *over, "--json")
    assert done.code == 2
    before, after = done.err.splitlines()[0], done.err.splitlines()[-1]
    assert before.startswith(f"warning: 1 of 3 cells cannot be run, the first, {told}")
    assert after.startswith(f"error: 1 of 3 cells could not be run, the first, {told}")
    record = json.loads(done.out)
    assert record["plan"]["cells"] == record["bill"]["cells"] == 2


def test_a_configuration_with_gates_is_varied_without_them(rag_eval, folder):
    (folder / "config.yaml").write_text("corpus: docs\ndataset: questions.csv\ngates: [lost <= 2]\n")
    outcome = rag_eval("sweep", "config.yaml", *OVER)
    assert outcome.code == 0
    assert "of config.yaml is left out what is about one run: gates" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*FLAGS, "--over", "chunk_size=2"), "'chunk_size' is no key of a run; did you mean chunker.chunk_size=2?"),
        ((*FLAGS, "--over", "chunker.chunk_size"), "expected a key and its values"),
        (("nowhere.yaml",), "nowhere.yaml"),
        ((*FLAGS, "--over", "k=1", "--over", "k=5"), "--over k is given twice"),
        ((*FLAGS, "--over", "chunker='sentence"), "expected a key and its values"),
        (("--over", "k=5"), "no dataset is named"),
        (("lists.yaml",), "expected mappings below base and over"),
        ((*FLAGS, *OVER, "--score", "span_recal@1"), "span_recal@1"),
        *(
            ((*FLAGS, *OVER, f"--workers={given}"), f"--workers {given}: expected a number of processes, at least 1")
            for given in ("many", "0", "-1")
        ),
        (FLAGS, "nothing is varied; expected --over, such as"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_one_line(rag_eval, folder, arguments, told):
    (folder / "lists.yaml").write_text("over: [a]\n")
    outcome = rag_eval("sweep", *arguments)
    assert outcome.code == 2
    assert told in outcome.err
    assert "Traceback" not in outcome.err
    assert not (folder / ".rag-eval/cells").exists()  # before any cell is run


@pytest.mark.parametrize(("options", "taken"), [([], "if-sure"), (["--resume"], "always"), (["--fresh"], "never")])
def test_shards_of_a_run_are_told_which_answers_are_taken(rag_eval, folder, options, taken, monkeypatch):
    told = []

    def in_shards(spec, *_, resume, **__):
        told.append(resume)
        return spec

    monkeypatch.setattr(sweeps, "in_shards", in_shards)
    assert rag_eval("run", *FLAGS, "--workers", "2", *options).code == 0
    assert told == [taken]


@pytest.mark.parametrize("root", ["out", "~/out", None])
def test_shards_of_a_run_are_where_the_run_is(rag_eval, folder, root, monkeypatch):
    pytest.importorskip("loky")
    monkeypatch.setenv("HOME", str(folder / "home"))
    (folder / "sub").mkdir()
    written = {"corpus": "../docs", "dataset": "../questions.csv", **({"save_results_path": root} if root else {})}
    (folder / "sub" / "c.yaml").write_text(json.dumps(written))
    outcome = rag_eval("run", "sub/c.yaml", "--workers", "2")
    assert outcome.code == 0, outcome.err
    where = {"out": "sub/out", "~/out": "home/out", None: ".rag-eval"}[root]
    assert {path.name for path in (folder / where).iterdir()} >= {"cells", "runs"}
    assert [*folder.rglob("cells")] == [folder / where / "cells"]


@pytest.mark.parametrize("json_flag", [[], ["--json"]], ids=["page", "json"])
def test_what_a_sweep_concludes_is_shown_whatever_happens_to_the_disk(rag_eval, folder, json_flag):
    (folder / ".rag-eval").mkdir()
    (folder / ".rag-eval/sweeps").write_text("a file where a folder should be")
    outcome = rag_eval("sweep", *FLAGS, *OVER, *json_flag)
    assert outcome.code == 2
    assert "sweeps" in outcome.err
    assert json.loads(outcome.out)["sweep"] is None if json_flag else "Take chunk_size=" in outcome.out


def test_cells_that_cannot_be_ranked_are_listed_with_their_own_scores(rag_eval):
    outcome = rag_eval("sweep", *FLAGS, "--over", "evaluation_type=token-level,document-level", "--over", "k=1")
    assert outcome.code == 0, outcome.err
    assert "The cells are listed, not ranked" in outcome.out
    listed = outcome.out.partition("Cells that are not ranked")[2]
    assert re.search(r"evaluation_type=token-level +\d\.\d{3}", listed)
    assert "evaluation_type=document-level" in listed
