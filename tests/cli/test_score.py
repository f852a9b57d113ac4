import json
import re
import sys
import warnings
from itertools import product

import pytest

from rag_evaluation_framework import score_rankings
from rag_evaluation_framework.datasets.rankings import read_qrels, read_rankings

QRELS = """\
refunds 0 billing.md 3
refunds 0 faq.md 1
refunds 0 agent.md 0
restart 0 agent.md 1
invoices 0 billing.md 1
ceo 0 faq.md 0
"""
BM25 = """\
refunds Q0 faq.md 1 12.5 bm25
refunds Q0 billing.md 2 11.0 bm25
restart Q0 billing.md 1 7.1 bm25
restart Q0 agent.md 2 7.1 bm25
hours Q0 faq.md 1 7.1 bm25
"""
VECTORS = '{"refunds": ["billing.md", "faq.md"], "restart": ["agent.md", "agent.md"], "ceo": []}'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(BM25)
    (tmp_path / "vectors.json").write_text(VECTORS)
    return tmp_path


ONE = ("score", "--qrels", "qrels.txt", "--rankings", "bm25.run")
TWO = (*ONE, "--rankings", "vectors.json")


def strip_styles(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def tables(out):
    """The tables of files, each the columns of its rows by the names of the files and of the columns."""
    found, header = [], []
    for line in out.splitlines():
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        if line.startswith("    "):
            header = cells
            found.append({})
        elif line.startswith(" ") and cells and "─" not in line:
            found[-1][cells[0]] = dict(zip(header, cells[1:], strict=True))
        elif cells and line[0] not in " ":
            header = []
    return [table for table in found if table]


def test_means_of_all_rankings_are_side_by_side_and_the_best_of_several_is_green(rag_eval, files, monkeypatch):
    outcome = rag_eval(*TWO, "--metric", "hit@1", "--metric", "RR@10")
    assert outcome.code == 0
    assert outcome.err == ""
    assert tables(outcome.out)[0] == {
        "bm25.run": {"hit@1": "0.3333", "mrr@10": "0.5000"},
        "vectors.json": {"hit@1": "0.6667", "mrr@10": "0.6667"},
    }
    monkeypatch.setenv("FORCE_COLOR", "1")
    green = "\x1b[32m"
    assert green not in rag_eval(*ONE).out
    out = rag_eval(*TWO, "--metric", "mrr@10").out
    assert re.search(r"vectors\.json.*\x1b\[32m\s*0\.6667", out)
    assert out.count(green) == 1


def test_counts_follow_the_scores_and_each_is_explained_and_in_json(rag_eval, files):
    outcome = rag_eval(*TWO)
    names = ("questions", "no answer", "not ranked", "not judged", "ties", "repeated")
    assert tables(outcome.out)[1] == {
        "bm25.run": dict(zip(names, "412110", strict=True)),
        "vectors.json": dict(zip(names, "411001", strict=True)),
    }
    assert "contradicted" not in outcome.out
    for name in names:
        assert any(line.startswith(f"{name:<14}") for line in outcome.out.splitlines())
    (scored,) = json.loads(rag_eval(*ONE, "--json").out)["rankings"]
    assert scored["counts"] == {
        "questions": 4,
        "no_answer": 1,
        "queries_not_ranked": 2,
        "queries_not_judged": 1,
        "ties_or_duplicates": 1,
        "repeated": 0,
        "contradicted": 0,
    }
    assert "per_query" not in scored


def test_ranks_that_contradict_the_scores_and_repeated_judgements_are_counted(rag_eval, files):
    (files / "bm25.run").write_text(
        "refunds Q0 faq.md 2 12.5 t\nrefunds Q0 billing.md 1 11.0 t\n"
        "restart Q0 agent.md 2 1 t\nrestart Q0 faq.md 1 1 t\n"
        "hours Q0 faq.md 1 2 t\nhours Q0 agent.md 2 1 t\n"
    )
    assert tables(rag_eval(*ONE, "--metric", "hit@1").out)[1]["bm25.run"]["contradicted"] == "2"
    assert "contradicted" not in rag_eval(*ONE, "--order", "given", "--metric", "hit@1").out
    (files / "qrels.txt").write_text(QRELS + "restart 0 agent.md 1\n")
    assert "6 judgements, 1 repeated" in rag_eval(*ONE).out
    assert json.loads(rag_eval(*ONE, "--json").out)["qrels"]["counts"]["repeated"] == 1
    (files / "qrels.txt").write_text("refunds 0 faq.md 1\n")
    assert rag_eval(*ONE).out.startswith("qrels.txt: 1 judgement\n")


def test_ties_are_ordered_as_trec_eval_does_if_asked(rag_eval, files):
    (files / "bm25.run").write_text("restart Q0 agent.md 1 7.1 t\nrestart Q0 billing.md 2 7.1 t\n")
    own = json.loads(rag_eval(*ONE, "--metric", "mrr", "--per-query", "--json").out)
    theirs = json.loads(rag_eval(*ONE, "--metric", "mrr", "--per-query", "--json", "--ties", "trec_eval").out)
    scores = [known["rankings"][0]["per_query"]["mrr"]["restart"] for known in (own, theirs)]
    assert scores == [1.0, 0.5]
    told = "ties are ordered as trec_eval does", "ties keep the order of the file"
    for given, (said, unsaid) in (((), told[::-1]), (("--ties", "trec_eval"), told)):
        shown = rag_eval(*ONE, *given).out
        assert said in shown or "unsorted" not in shown
        assert unsaid not in shown
    assert rag_eval(*ONE, "--ties", "ids").code == 2


def test_the_scores_are_those_of_score_rankings(rag_eval, files):
    printed = json.loads(rag_eval(*TWO, "--json", "--per-query").out)
    qrels = read_qrels("qrels.txt")
    warnings.simplefilter("ignore", UserWarning)  # of the document that a ranking repeats
    assert printed["qrels"] == {"path": "qrels.txt", "counts": {"questions": 4, "judgements": 6, "repeated": 0}}
    for scored, path in zip(printed["rankings"], ["bm25.run", "vectors.json"], strict=True):
        scores = score_rankings(qrels, read_rankings(path))
        assert scored["path"] == path
        assert scored["metrics"] == scores.mean
        assert list(scored["metrics"]) == ["hit@10", "recall@10", "mrr@10", "ndcg@10"]
        assert scored["per_query"] == {name: scores.per_query(name) for name in scores.columns}
        assert scored["per_query"]["mrr@10"]["ceo"] is None


def test_per_query_prints_one_line_per_question_for_every_file(rag_eval, files):
    outcome = rag_eval(*TWO, "--per-query", "--metric", "mrr@10", "--metric", "hit@1")
    first, second = outcome.out.split("\nbm25.run\n")[1].split("\nvectors.json\n")
    assert [line.split() for line in first.splitlines() if line.strip() and "─" not in line] == [
        ["question", "mrr@10", "hit@1"],
        ["refunds", "1.0000", "1.0000"],
        ["restart", "0.5000", "0.0000"],
        ["invoices", "0.0000", "0.0000"],
        ["ceo", "–", "–"],
    ]
    assert ["refunds", "1.0000", "1.0000"] in [line.split() for line in second.splitlines()]


NAMES = ("a.run", "a-run-with-a-name-that-is-longer-than-any-column.run")
LONG = f"experiments{'-long' * 20}/bm25.run"


@pytest.mark.parametrize(
    ("runs", "name"), [*product((1, 2, 3, 9), NAMES), *product((2, 3, 9), [LONG])], ids=lambda value: str(value)[:20]
)
def test_tables_of_any_number_of_runs_fit_80_columns_and_lose_nothing(rag_eval, files, monkeypatch, runs, name):
    paths = [f"{number}{name}" for number in range(runs)]
    for path in paths:
        (files / path).parent.mkdir(exist_ok=True)
        (files / path).write_text(BM25)
    given = [argument for path in paths for argument in ("--rankings", path)]
    given += ["--metric", "r_precision", "--metric", "ndcg@1000"]
    lines = narrow(rag_eval, monkeypatch, 80, "score", "--qrels", "qrels.txt", *given)
    plain = "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert plain.count("0.3333") == runs
    assert "…" not in plain
    assert sum("@1000" in line for line in lines) == 1
    table = "".join(line.strip().partition("  ")[0] for line in lines[: lines.index("Counts")])
    assert all(path in table for path in paths)


def narrow(rag_eval, monkeypatch, width, *arguments):
    """The lines that a terminal of that width gets, without styles."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    outcome = rag_eval(*arguments)
    assert outcome.code == 0, outcome.err
    return [line.rstrip() for line in strip_styles(outcome.out).splitlines()]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_many_scores_per_question_are_split_into_tables_that_fit(rag_eval, files, monkeypatch, width):
    names = [f"{metric}@{k}" for metric in ("hit", "recall", "ndcg") for k in (1, 5, 10, 100, 1000)]
    metrics = [argument for name in names for argument in ("--metric", name)]
    lines = narrow(rag_eval, monkeypatch, width, *ONE, *metrics, "--per-query")
    lines = lines[lines.index("bm25.run") :]
    assert max(map(len, lines)) <= width
    rows = [line.split()[1:] for line in lines if line.startswith(" refunds")]
    assert sum(map(len, rows)) == len(names)
    assert len(rows) == {40: 5, 80: 2, 120: 2}[width]


# What is refused


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--qrels"),
        (["--qrels", "qrels.txt"], "--rankings"),
        (["--qrels", "nothing", "--rankings", "bm25.run"], "nothing: cannot be read"),
        (["--qrels", "qrels.txt", "--rankings", "bm25.run", "--rankings", "nothing"], "nothing: cannot be read"),
        (["--qrels", "bm25.run", "--rankings", "bm25.run"], "looks like a rankings file"),
        (["--qrels", "qrels.txt", "--rankings", "qrels.txt"], "looks like a qrels file"),
        (["--qrels", "empty", "--rankings", "bm25.run"], "empty: contains no entries"),
        (["--qrels", "qrels.txt", "--rankings", "empty"], "empty: contains no entries"),
        (["--qrels", "qrels.txt", "--rankings", "bm25.run", "--metric", "ndgc@10"], "did you mean ndcg"),
        (["--qrels", "qrels.txt", "--rankings", "bm25.run", "--metric", "ndcg@0"], "ndcg@0"),
        (
            ["--qrels", "qrels.txt", "--rankings", "bm25.run", "--rankings", "other"],
            "'Q1', 'Q2', 'Q3' and 2 more; in the qrels: 'refunds'",
        ),
        (
            ["--qrels", "qrels.txt", "--rankings", "ceo"],
            "none of its questions in qrels.txt has a relevant document (questions: 1)",
        ),
        (["--qrels", "zero", "--rankings", "bm25.run"], "expected grades above 0"),
        (["--qrels", "twice", "--rankings", "bm25.run"], "two grades, 0 and 1"),
        (["--qrels", "qrels.txt", "--rankings", "distances"], "--order given"),
        (["--qrels", "qrels.txt", "--rankings", "bm25.run", "--order", "rank"], "Invalid value for '--order'"),
    ],
)
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_bad_input_is_one_clear_message_and_exit_code_2(rag_eval, files, arguments, said, as_json):
    (files / "empty").write_text("")
    (files / "other").write_text("".join(f"Q{number} Q0 faq.md 1 1 t\n" for number in range(1, 6)))
    (files / "ceo").write_text("ceo Q0 faq.md 1 1 t\n")
    (files / "distances").write_text("".join(f"other Q0 page{rank}.md {rank} 0.{rank} t\n" for rank in range(1, 6)))
    (files / "zero").write_text("refunds 0 faq.md 0\n")
    (files / "twice").write_text("refunds 0 faq.md 0\nrefunds 0 faq.md 1\n")
    outcome = rag_eval("score", *arguments, *as_json)
    assert outcome.code == 2
    assert said in " ".join(strip_styles(outcome.err).split())
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_differently_written_document_ids_give_a_warning(rag_eval, files):
    (files / "bm25.run").write_text(BM25.replace(".md", ""))
    outcome = rag_eval(*ONE)
    assert outcome.code == 0
    assert "warning: bm25.run: 0 of 4 ids match a label, such as 'faq'; labels are such as 'billing.md'" in outcome.err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_file_names_that_are_not_utf_8_leave_the_json_valid(rag_eval, files):
    for name, odd in (("qrels.txt", "qré\udcff.txt"), ("bm25.run", "b\udcfe.run")):
        (files / name).rename(files / odd)
    outcome = rag_eval("score", "--qrels", "qré\udcff.txt", "--rankings", "b\udcfe.run", "--json")
    assert outcome.code == 0
    printed = json.loads(outcome.out.encode())
    assert printed["qrels"]["path"] == "qré\udcff.txt"
    assert printed["rankings"][0]["path"] == "b\udcfe.run"
