"""`rag-eval report`."""

import shutil

import pytest


@pytest.fixture
def saved(rag_eval, folder):
    for size in (200, 60, 120):
        outcome = rag_eval(
            *("run", "--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "9", "--k", "1"),
            *("--chunker", f"recursive-character:chunk_size={size}"),
        )
        assert outcome.code == 0, outcome.err


def test_a_run_a_comparison_and_a_table_are_written_as_their_name_tells(rag_eval, saved, folder):
    outcome = rag_eval("report", "last", "-o", "run.html")
    assert (outcome.code, outcome.err) == (0, "")
    page = (folder / "run.html").read_text(encoding="utf-8")
    assert outcome.out == f"Wrote run.html: {len(page.encode()):,} bytes\n"
    assert '<mark class="found">Invoices are sent on the first day.</mark>' in page
    two, three = ("last~1", "last"), ("last~2", "last~1", "last")
    for names in ((*two, "two.html"), (*three, "three.html"), (*two, "two.md"), (*three, "three.tex")):
        assert rag_eval("report", *names[:-1], "--output", names[-1]).code == 0
    assert " against " in (folder / "two.html").read_text(encoding="utf-8")
    assert "<title>3 runs by " in (folder / "three.html").read_text(encoding="utf-8")
    assert (folder / "two.md").read_text(encoding="utf-8").startswith("# ")
    text = (folder / "three.tex").read_text(encoding="utf-8")
    assert text.startswith(r"\begin{table}")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") > 1


def test_a_file_that_is_there_is_not_overwritten(rag_eval, saved, folder):
    (folder / "report.html").write_text("mine")
    outcome = rag_eval("report", "last")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--output report.html already exists and is not overwritten" in outcome.err
    assert (folder / "report.html").read_text() == "mine"
    assert (
        "expected a file name ending in .html or .htm or .md or .tex"
        in rag_eval("report", "last", "-o", "report.txt").err
    )


def test_documents_that_changed_are_shown_as_they_were_or_the_page_says_that_they_are_not(rag_eval, saved, folder):
    (folder / "docs/billing.md").write_text("# Billing\n\nAll of it is new.\n")
    assert rag_eval("report", "last", "-o", "kept.html").code == 0
    assert ">Invoices are sent on the first day.</mark>" in (folder / "kept.html").read_text(encoding="utf-8")
    shutil.rmtree(folder / ".rag-eval/store")
    assert rag_eval("report", "last", "--worst", "1").code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "The documents are not shown: " in page
    assert "its documents have changed" in page
    assert page.count("<details>") == 1
