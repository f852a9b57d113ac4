"""Texts that are kept: what commands say of them, and where they do not go."""

import pytest

from rag_evaluation_framework import load_dataset

SECRET = "Nobody labelled this sentence of the handbook."


@pytest.fixture
def texts(folder):
    (folder / "docs/secret.md").write_text(f"# Secret\n\n{SECRET}\n")
    return folder / ".rag-eval/datasets/questions.texts"


def init(rag_eval, *options):
    return rag_eval("init", "--corpus", "docs", "--questions", "questions.csv", *options)


def test_init_says_how_much_is_kept_where_and_without_texts_none_is_kept_also_by_what_follows(rag_eval, folder, texts):
    outcome = init(rag_eval, "--no-texts")
    assert "No texts of the 3 documents are kept: labels follow an edit only" in " ".join(outcome.out.split())
    update = ("dataset", "update", folder / ".rag-eval/datasets/questions.json", "--corpus", "docs")
    assert rag_eval(*update).code == 0
    (folder / "docs/billing.md").write_text("More.\n" + (folder / "docs/billing.md").read_text())
    assert rag_eval(*update).code == 0
    assert not texts.exists()
    outcome = init(rag_eval, "--root", "other")
    assert outcome.code == 0
    size = sum(path.stat().st_size for path in (folder / "docs").rglob("*.md"))
    where = "other/datasets/questions.texts/"
    told = f"Texts of 3 documents ({max(size / 1000, 0.1):.1f} kB) are kept in {where}, so that labels follow edits."
    assert told in " ".join(outcome.out.split())
    assert len([*(folder / where).iterdir()]) == 3 + 1


def test_forget_removes_one_text_and_says_what_that_means(rag_eval, folder, texts):
    init(rag_eval)
    dataset = folder / ".rag-eval/datasets/questions.json"
    before, there = load_dataset(dataset), len([*texts.iterdir()])
    outcome = rag_eval("dataset", "forget", dataset, "billing.md")
    assert (outcome.code, outcome.err) == (0, "")
    told = " ".join(outcome.out.split())
    assert "The text of billing.md was removed from" in told
    assert "1 label in it has only the quotes to be found by after an edit" in told
    assert len([*texts.iterdir()]) == there - 1
    after = load_dataset(dataset)
    assert (after.content_hash, after.texts) == (before.content_hash, before.texts)
    assert after.text(after.texts["billing.md"]) is None
    rag_eval("dataset", "update", dataset, "--corpus", "docs")
    assert len([*texts.iterdir()]) == there - 1


@pytest.mark.parametrize(
    "edits", [["# Secret\n\nMore.\n"], ["A.\n", "B.\n"], [None]], ids=["edited", "twice", "deleted"]
)
def test_forget_removes_also_what_the_document_was_before(rag_eval, folder, texts, edits):
    init(rag_eval)
    dataset = folder / ".rag-eval/datasets/questions.json"
    for edit in edits:
        (folder / "docs/secret.md").unlink()
        if edit is not None:
            (folder / "docs/secret.md").write_text(edit)
        assert rag_eval("dataset", "update", dataset, "--corpus", "docs").code == 0
    there = len([*texts.iterdir()])
    assert any(SECRET in path.read_text() for path in texts.iterdir())
    outcome = rag_eval("dataset", "forget", dataset, "secret.md")
    assert (outcome.code, outcome.err) == (0, "")
    assert not any(SECRET in path.read_text() for path in texts.iterdir())
    removed = there - len([*texts.iterdir()])
    assert removed == 1 + len([edit for edit in edits if edit])
    told = " ".join(outcome.out.split())
    assert (f"{removed} texts of secret.md" if removed > 1 else "The text of secret.md was removed from") in told
    assert "forget its earlier name too" in told
    assert "What labels quote stays" in told
    assert rag_eval("dataset", "update", dataset, "--corpus", "docs").code == 0
    assert not any(SECRET in path.read_text() for path in texts.iterdir())
    again = rag_eval("dataset", "forget", dataset, "secret.md")
    assert "No text of secret.md is in" in " ".join(again.out.split())


def test_what_forget_refuses(rag_eval, folder, texts):
    init(rag_eval)
    dataset = folder / ".rag-eval/datasets/questions.json"
    assert rag_eval("dataset", "forget", dataset, "secret.md").code == 0
    before = dataset.read_bytes(), len([*texts.iterdir()])
    refused = rag_eval("dataset", "forget", dataset, "bill.md")
    assert (refused.code, refused.out) == (2, "")
    assert "no labelled document 'bill.md'; did you mean 'billing.md'?" in refused.err
    assert rag_eval("dataset", "forget", "questions.csv", "billing.md").code == 2
    dataset.with_name("questions.1.json").write_text("{")  # an earlier version that cannot be read
    unread = rag_eval("dataset", "forget", dataset, "billing.md")
    assert (unread.code, "questions.1.json" in unread.err) == (2, True)
    assert (dataset.read_bytes(), len([*texts.iterdir()])) == before
    assert "Traceback" not in refused.err + unread.err


def test_a_text_that_was_changed_ends_with_2_and_the_file_is_named(rag_eval, folder, texts):
    init(rag_eval)
    dataset = folder / ".rag-eval/datasets/questions.json"
    kept = texts / load_dataset(dataset).texts["billing.md"]
    kept.write_text("Other text.")
    (folder / "docs/billing.md").write_text("More.\n" + (folder / "docs/billing.md").read_text())
    for command in (["run", ".rag-eval/questions.yaml"], ["dataset", "update", dataset, "--corpus", "docs"]):
        outcome = rag_eval(*command)
        assert outcome.code == 2
        assert f"{kept.name}: was changed" in outcome.err
        assert "Traceback" not in outcome.err
    kept.unlink()
    assert rag_eval("dataset", "update", dataset, "--corpus", "docs").code == 0


def test_texts_are_in_nothing_that_ci_uploads_and_the_cache_tells_of_those_of_runs_and_clears_them(
    rag_eval, folder, texts
):
    init(rag_eval)
    command = ("run", ".rag-eval/questions.yaml", "--allow-skipped", "2", "--k", "1", "--junit", "junit.xml")
    assert rag_eval(*command).code == 0
    assert rag_eval("report", "last", "-o", "report.html").code == 0
    assert any(SECRET in path.read_text() for path in texts.iterdir())
    files = [*(folder / ".rag-eval/runs").rglob("*"), folder / "junit.xml", folder / "report.html"]
    assert len([path for path in files if path.is_file()]) >= 5
    assert all(SECRET.encode() not in path.read_bytes() for path in files if path.is_file())
    store = folder / ".rag-eval/store/texts"
    size = sum(path.stat().st_size for path in store.iterdir())
    assert f"texts {size:,}" in rag_eval("cache", "info").out
    assert rag_eval("cache", "clear").code == 2
    assert len([*store.iterdir()]) == 4  # of three documents, and their list
    assert rag_eval("cache", "clear", "--yes").code == 0
    assert not store.exists()
    assert len([*texts.iterdir()]) == 4  # those of datasets stay
