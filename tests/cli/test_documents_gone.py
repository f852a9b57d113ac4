"""Labelled documents that are gone, while another folder has a file of the same name: every command says the same."""

import json

import pytest

from rag_evaluation_framework import BM25Retriever, Corpus, evaluate, load_dataset, load_result

REFUND = "Refunds take 5 working days in every case."
PAGE = (
    "# Pricing\n\nTeam is {} euros.\n\nHere are the conditions of all our plans, as they are.\n\n"
    f"{REFUND}\n\nThe conditions are the same in every country of the world.\n"
)
KEYS = "Keys are rotated every 90 days."


def dataset_of(rag_eval, folder, documents, table):
    """Label a table of question, quote and document in these documents; return the file."""
    for name, text in documents.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "q.csv").write_text(f"question,quote,document\n{table}How often are keys rotated?,{KEYS},\n")
    assert rag_eval("init", "--corpus", "docs", "--questions", "q.csv").code == 0
    return folder / ".rag-eval/datasets/q.json"


@pytest.fixture(params=[PAGE.format(39), PAGE.format(49)], ids=["edited", "identical"])
def archived(request, rag_eval, tmp_path):
    """A dataset with a label in a page that is gone, and an older or the same version of it in the archive."""
    documents = {
        "pricing.md": PAGE.format(49),
        "archive/pricing.md": request.param,
        "keys.md": f"# Keys\n\n{KEYS}\n",
    }
    path = dataset_of(rag_eval, tmp_path, documents, f"How long is a refund?,{REFUND},pricing.md\n")
    (span,) = load_dataset(path).ground_truth[0].relevant
    assert span.doc_id == "pricing.md"
    (tmp_path / "docs/pricing.md").unlink()
    return path


@pytest.mark.parametrize("title", ["Pricing", "Pricing in 2023, archived and no longer valid"])
def test_an_archived_copy_is_not_the_document_that_is_gone(rag_eval, tmp_path, archived, title):
    archive = tmp_path / "docs/archive/pricing.md"
    archive.write_text(archive.read_text().replace("Pricing", title))
    ran = rag_eval("run", ".rag-eval/q.yaml")
    assert ran.code == 2
    assert "2 labels: 1 unchanged, 1 gone; 1 question skipped" in " ".join(ran.out.split())
    assert "gone from pricing.md" in ran.out
    linted = rag_eval("dataset", "lint", archived, "--corpus", "docs")
    assert (linted.code, "\nerror: document missing (1)\n" in linted.out) == (1, True)
    assert "pricing.md[86:128] the corpus has no document 'pricing.md'" in linted.out
    assert "1 label does not match the documents" in " ".join(
        rag_eval("dataset", "info", archived, "--corpus", "docs").out.split()
    )
    corpus = Corpus.from_folder(tmp_path / "docs")
    result = evaluate(BM25Retriever(), load_dataset(archived, corpus=corpus), documents=corpus)
    assert result.counts["skipped"] == 1
    updated = rag_eval("dataset", "update", archived, "--corpus", "docs", "--output", "new.json")
    assert "2 labels: 1 unchanged, 1 gone" in updated.out


@pytest.mark.parametrize(
    ("document", "is_copy"),
    [
        *((name, False) for name in ("pricing.md", "pricing", "docs/pricing.md", "", "/home/me/pricing.md")),
        *((name, True) for name in ("archive/pricing.md", "docs/archive/pricing.md")),
    ],
)
def test_a_row_names_the_copy_of_a_document_that_is_gone_only_in_full(rag_eval, tmp_path, archived, document, is_copy):
    (tmp_path / "again.csv").write_text(f"question,quote,document\nHow long is a refund?,{REFUND},{document}\n")
    update = "dataset", "update", archived, "--corpus", "docs", "--output", "new.json", "--questions"
    said = rag_eval(*update, "again.csv").out
    assert ("1 question added" if is_copy else "0 questions added") in said
    skipped = load_dataset(tmp_path / "new.json").skipped
    lost = [] if is_copy else [(REFUND, True)]
    assert [(label.quote, "its label was lost" in label.reason) for label in skipped] == lost
    (tmp_path / "docs/pricing.md").write_text(PAGE.format(49))
    again = rag_eval("dataset", "update", "new.json", "--corpus", "docs", "--output", "again.json").out
    assert ("1 back" in again) is not is_copy


def test_another_version_of_a_page_is_not_the_one_that_is_gone(rag_eval, tmp_path):
    page = "# Limits\n\nRequests have a limit of 600 in a minute.\n\nTokens expire after {} days.\n"
    documents = {"v1/limits.md": page.format(90), "v2/limits.md": page.format(45), "keys.md": f"# Keys\n\n{KEYS}\n"}
    row = "How many requests?,Requests have a limit of 600 in a minute.,v1/limits.md\n"
    path = dataset_of(rag_eval, tmp_path, documents, row)
    (tmp_path / "docs/v1/limits.md").unlink()
    assert rag_eval("dataset", "lint", path, "--corpus", "docs").code == 1
    ran = rag_eval("run", ".rag-eval/q.yaml")
    assert (ran.code, "gone from v1/limits.md" in ran.out) == (2, True)
    update = "dataset", "update", path, "--corpus", "docs", "--output", "new.json", "--questions", "q.csv"
    assert "0 questions added" in rag_eval(*update).out


LIMITS = "# Limits\n\nRequests have a limit of 600 in a minute.\n\nTokens expire after 90 days.\n"
ROWS = "How long are tokens valid?,90 days,limits\nHow many requests?,Requests have a limit of 600 in a minute.,\n"


def test_run_and_update_count_the_same_after_a_folder_was_renamed_and_the_runs_compare(rag_eval, tmp_path):
    path = dataset_of(rag_eval, tmp_path, {"api/limits.md": LIMITS, "keys.md": f"# Keys\n\n{KEYS}\n"}, ROWS)
    before = path.read_bytes()
    assert rag_eval("run", ".rag-eval/q.yaml").code == 0
    (tmp_path / "docs/api").rename(tmp_path / "docs/reference")
    told = "3 labels: 1 unchanged, 2 moved"
    assert told in " ".join(rag_eval("run", ".rag-eval/q.yaml").out.split())
    assert path.read_bytes() == before
    assert told in rag_eval("dataset", "update", path, "--corpus", "docs", "--output", "new.json").out
    before, after = (load_result(run) for run in sorted((tmp_path / ".rag-eval/runs").iterdir()))
    comparison = before.compare(after)
    assert (len(comparison.deltas["span_recall@5"]), comparison.changed) == (3, ())


def test_the_same_documents_seen_from_the_folder_above_are_told_by_their_paths_and_hashes(rag_eval, tmp_path):
    twice = {"api/limits.md": LIMITS, "old/limits.md": LIMITS, "keys.md": f"# Keys\n\n{KEYS}\n"}
    path = dataset_of(rag_eval, tmp_path, twice, "How many requests?,Requests have a limit,api/limits\n")
    told = "2 labels: 0 unchanged, 2 moved"
    assert told in " ".join(rag_eval("run", ".rag-eval/q.yaml", "--corpus", ".").out.split())
    assert rag_eval("dataset", "lint", path, "--corpus", ".").out.endswith("\nNothing is wrong\n")
    assert told in rag_eval("dataset", "update", path, "--corpus", ".", "--output", "new.json").out
    (span,) = load_dataset(tmp_path / "new.json").ground_truth[0].relevant
    assert span.doc_id == "docs/api/limits.md"


def test_a_row_with_another_folder_is_not_located_and_the_document_that_has_its_quote_is_named(rag_eval, tmp_path):
    (tmp_path / "docs/b").mkdir(parents=True)
    (tmp_path / "docs/b/index.md").write_text(f"# Keys\n\n{KEYS}\n")
    (tmp_path / "q.csv").write_text(
        f"question,quote,document\nHow often?,{KEYS},a/index.md\nHow often then?,{KEYS},index\n"
    )
    said = rag_eval("init", "--corpus", "docs", "--questions", "q.csv").out
    assert "1 of 2 quotes located, 0 ambiguous, 1 missing" in said
    assert "in b/index.md, not in a/index.md" in said


def test_ids_of_a_file_that_knows_nothing_of_its_documents_are_found_in_another_folder_and_that_is_told(
    rag_eval, tmp_path
):
    path = dataset_of(rag_eval, tmp_path, {"api/limits.md": LIMITS, "keys.md": f"# Keys\n\n{KEYS}\n"}, ROWS)
    content = json.loads(path.read_text())
    content.pop("texts"), content.pop("corpus_hash")
    path.write_text(json.dumps(content))
    (tmp_path / "docs/api").rename(tmp_path / "docs/reference")
    with pytest.warns(UserWarning, match=r"'reference/limits.md' is taken for it, which is in another folder"):
        load_dataset(path, corpus=Corpus.from_folder(tmp_path / "docs"))
