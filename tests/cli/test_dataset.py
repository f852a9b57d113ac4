import json
import re
import sys

import pytest

from rag_evaluation_framework import Corpus, load_dataset

TABLE = "question,quote\nWhen do refunds come?,Refunds are paid within five working days of the request.\n"


@pytest.fixture
def labelled(rag_eval, folder):
    """A dataset of the folder, in which each label can be found by its text."""
    (folder / "docs" / "billing.md").write_text("# Billing\n\nInvoices are sent on the first day. Support helps.\n")
    (folder / "questions.csv").write_text(
        "question,quote\n"
        "When do invoices come?,Invoices are sent on the first day.\n"
        "What comes first?,Install the agent first.\n"
        "Who is the chief?,\n"
    )
    assert rag_eval("init", "--corpus", "docs", "--questions", "questions.csv").code == 0
    return folder / ".rag-eval/datasets/questions.json"


def edit(folder, name, old, new):
    path = folder / "docs" / name
    path.write_text(path.read_text().replace(old, new))


def spans(path, folder):
    dataset = load_dataset(path, corpus=Corpus.from_folder(folder / "docs"))
    return {entry.query.text: [(span.doc_id, span.text) for span in entry.relevant] for entry in dataset}


def test_update_finds_the_labels_in_edited_and_renamed_documents_and_run_takes_the_new_file(rag_eval, folder, labelled):
    edit(folder, "billing.md", "# Billing", "<!-- checked -->\n# Billing")
    (folder / "docs/guides/start.md").rename(folder / "docs/first-steps.md")
    outcome = rag_eval("dataset", "update", labelled, "--corpus", "docs")
    assert outcome.code == 0
    assert "moved          billing.md[11:46] → docs/billing.md:4:1 “Invoices are sent on the first day.”" in outcome.out
    assert "moved          guides/start.md[9:33] → docs/first-steps.md:3:1 “Install the agent first.”" in outcome.out
    assert "2 labels: 0 unchanged, 2 moved\n" in outcome.out
    assert spans(labelled, folder) == {
        "When do invoices come?": [("billing.md", "Invoices are sent on the first day.")],
        "What comes first?": [("first-steps.md", "Install the agent first.")],
        "Who is the chief?": [],
    }
    assert rag_eval("run", ".rag-eval/questions.yaml").code == 0


def test_the_dataset_as_it_was_is_kept_beside_the_new_one_unless_nothing_changed(rag_eval, folder, labelled):
    before = labelled.read_bytes()
    outcome = rag_eval("dataset", "update", labelled, "--corpus", "docs")
    assert outcome.code == 0
    assert "2 labels: 2 unchanged\n" in outcome.out
    assert "is as it was" in outcome.out
    assert sorted(path.name for path in labelled.parent.iterdir()) == ["questions.json", "questions.texts"]
    for number in (1, 2):
        edit(folder, "billing.md", "# Billing", "# Billing\n\nMore.")
        assert f"questions.{number}.json" in rag_eval("dataset", "update", labelled, "--corpus", "docs").out
    assert labelled.with_name("questions.1.json").read_bytes() == before
    names = ["questions.1.json", "questions.2.json", "questions.json"]
    assert sorted(path.name for path in labelled.parent.iterdir()) == [*names, "questions.texts"]
    assert all(load_dataset(labelled.with_name(name)).labelled_corpus is not None for name in names)


def test_a_label_whose_words_changed_is_shown_with_what_differs_and_its_question_is_skipped(rag_eval, folder, labelled):
    edit(folder, "billing.md", "the first day", "the second day")
    ran = rag_eval("run", "--corpus", "docs", "--dataset", labelled, "--allow-skipped", "1")
    assert (ran.code, "changed in billing.md" in " ".join(ran.out.split())) == (0, True)
    update = "dataset", "update", labelled, "--corpus", "docs"
    record = json.loads(rag_eval(*update, "--json", "--output", "new.json").out)
    counts = {"unchanged": 1, "moved": 0, "taken": 0, "changed": 1, "uncertain": 0, "gone": 0}
    assert record["counts"] == counts
    (change,) = record["changes"]
    assert (change["kind"], change["query"]["query"]) == ("changed", "When do invoices come?")
    text = "Invoices are sent on the first day."
    assert change["before"] == {"doc_id": "billing.md", "start": 11, "end": 46, "text": text}
    proposal = {"doc_id": "billing.md", "start": 11, "end": 47, "text": text.replace("first", "second")}
    assert change["proposal"] == proposal | {"where": "billing.md:3:1"}
    outcome = rag_eval(*update)
    assert outcome.code == 0
    told = " ".join(outcome.out.split())
    assert "2 labels: 1 unchanged, 1 changed; 1 question skipped" in told
    assert "Changed " in told
    assert f"{change['id']} docs/billing.md:3:1, changed: When do invoices come?" in told
    assert "Invoices are sent on the [-first-] {+second+} day." in told
    (label,) = load_dataset(labelled).skipped
    assert (label.query.text, label.quote, label.reason) == ("When do invoices come?", text, "changed in billing.md")


def test_the_proposal_that_a_person_takes_is_the_label_now(rag_eval, folder, labelled):
    edit(folder, "billing.md", "the first day", "the second day")
    update = "dataset", "update", labelled, "--corpus", "docs"
    (change,) = json.loads(rag_eval(*update, "--json", "--output", "new.json").out)["changes"]
    unknown = rag_eval(*update, "--take", "no-such-id")
    assert (unknown.code, "no change has the id 'no-such-id'" in unknown.err) == (2, True)
    (folder / "ids.txt").write_text(f"# looked at\n{change['id']}  # yes\n")
    for number, take in enumerate([("--take", change["id"]), ("--take", "ids.txt")]):
        outcome = rag_eval(*update, *take, "--output", f"taken{number}.json")
        assert (outcome.code, "2 labels: 1 unchanged, 1 taken\n" in outcome.out) == (0, True)
        taken = spans(folder / f"taken{number}.json", folder)
        assert taken["When do invoices come?"] == [("billing.md", "Invoices are sent on the second day.")]


def test_a_question_is_back_when_its_text_is(rag_eval, folder, labelled):
    edit(folder, "billing.md", "the first day", "the second day")
    assert rag_eval("dataset", "update", labelled, "--corpus", "docs").code == 0
    edit(folder, "billing.md", "# Billing", "# Bills\n\nNew.")
    edit(folder, "billing.md", "the second day", "the first day")
    outcome = rag_eval("dataset", "update", labelled, "--corpus", "docs")
    assert outcome.code == 0
    assert "back, moved    billing.md[11:46] → docs/billing.md:5:1 “Invoices are sent on the first day.”" in outcome.out
    assert "2 labels: 1 unchanged, 1 moved; 1 back\n" in outcome.out
    assert load_dataset(labelled).skipped == ()


def test_questions_of_a_table_are_added_corrected_or_there_already(rag_eval, folder, labelled):
    edit(folder, "billing.md", "the first day", "the second day")
    edit(folder, "guides/start.md", "first.", "first. Refunds are paid within five working days of the request.")
    (folder / "more.csv").write_text(
        f"{TABLE}When do invoices come?,Invoices are sent on the second day.\nWhat comes first?,Install the agent\n"
        "Who is the chief?,\nWho answers?,Nobody at all is ever there.\n"
    )
    outcome = rag_eval("dataset", "update", labelled, "--corpus", "docs", "--questions", "more.csv")
    assert outcome.code == 0
    assert "2 questions added, 1 corrected, 1 there already" in outcome.out
    assert spans(labelled, folder) == {
        "What comes first?": [("guides/start.md", "Install the agent")],
        "Who is the chief?": [],
        "When do refunds come?": [("guides/start.md", "Refunds are paid within five working days of the request.")],
        "When do invoices come?": [("billing.md", "Invoices are sent on the second day.")],
    }
    assert [label.query.text for label in load_dataset(labelled).skipped] == ["Who answers?"]
    assert rag_eval("dataset", "update", labelled, "--corpus", "docs", "--questions", "more.csv").code == 0
    assert [label.query.text for label in load_dataset(labelled).skipped] == ["Who answers?"]


def test_output_writes_a_new_file_and_leaves_the_dataset_and_what_is_there(rag_eval, folder, labelled):
    before = labelled.read_bytes()
    edit(folder, "billing.md", "# Billing", "# Bills")
    update = ("dataset", "update", labelled, "--corpus", "docs", "--output")
    assert rag_eval(*update, "new.jsonl").code == 0
    assert labelled.read_bytes() == before
    assert spans(folder / "new.jsonl", folder) == spans(labelled, folder)
    (folder / "mine.json").write_text("mine")
    outcome = rag_eval(*update, "mine.json")
    assert outcome.code == 2
    assert "--output mine.json already exists and is not overwritten" in outcome.err
    assert (folder / "mine.json").read_text() == "mine"
    assert labelled.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX")
@pytest.mark.parametrize(
    ("name", "mode"), [("link.json", 0o600), ("far/link.json", 0o664), (".rag-eval/datasets/questions.json", 0o600)]
)
def test_the_file_itself_or_that_of_a_link_is_replaced_and_kept_with_its_mode(rag_eval, folder, labelled, name, mode):
    before = labelled.read_bytes()
    labelled.chmod(mode)
    (folder / "far").mkdir()
    is_link = "link" in name
    if is_link:
        (folder / name).symlink_to(labelled.resolve())
    edit(folder, "billing.md", "# Billing", "# Billing\n\nMore.")
    outcome = rag_eval("dataset", "update", name, "--corpus", "docs")
    assert outcome.code == 0
    assert (folder / name).is_symlink() is is_link
    assert labelled.read_bytes() != before
    assert labelled.with_name("questions.1.json").read_bytes() == before
    assert [path.stat().st_mode & 0o777 for path in sorted(labelled.parent.glob("*.json"))] == [mode, mode]
    assert "questions.1.json" in " ".join(outcome.out.split())
    assert load_dataset(folder / name).name == "questions"
    assert "is as it was" in rag_eval("dataset", "update", name, "--corpus", "docs").out


def test_in_the_wrong_folder_nothing_is_written_also_if_a_question_has_no_answer(rag_eval, folder, labelled):
    (folder / "other").mkdir()
    (folder / "other/page.md").write_text("Nothing of it is here.\n")
    before = labelled.read_bytes()
    (folder / "more.csv").write_text("question,quote\nWho is here?,\nWhere?,Not in this folder.\n")
    for more in ([], ["--questions", "more.csv"]):
        outcome = rag_eval("dataset", "update", labelled, "--corpus", "other", *more, "--json")
        assert outcome.code == 2
        record = json.loads(outcome.out)
        assert (record["counts"]["gone"], record["written"], "added" in record) == (2, [], bool(more))
        outcome = rag_eval("dataset", "update", labelled, "--corpus", "other", *more)
        assert outcome.code == 2
        assert outcome.out.startswith("questions, in other\n2 labels: 0 unchanged, 2 gone; 2 questions skipped\n")
        assert " gone from billing.md: When do invoices come?\n" in outcome.out
        assert "so nothing was written; is it the right folder?" in outcome.err
    assert labelled.read_bytes() == before
    assert sorted(path.name for path in labelled.parent.iterdir()) == ["questions.json", "questions.texts"]


def test_where_all_labels_are_lost_update_shows_them_and_run_counts_them(rag_eval, folder, labelled):
    edit(folder, "billing.md", "the first day", "the second day")
    edit(folder, "guides/start.md", "agent first", "agent last")
    outcome = rag_eval("dataset", "update", labelled, "--corpus", "docs")
    assert "Invoices are sent on the [-first-] {+second+} day." in outcome.out
    assert "Install the agent [-first.-] {+last.+}" in outcome.out
    assert outcome.err.strip() == (
        f"error: {labelled}: no question keeps its labels in docs, so nothing was written; is it the right folder? If "
        "the documents were rewritten, give a table of new quotes with --questions"
    )
    outcome = rag_eval("run", "--corpus", "docs", "--dataset", labelled)
    assert outcome.code == 2
    assert "does not match the corpus: 2 labels: 0 unchanged, 2 changed; 2 questions skipped" in outcome.err


def test_where_all_texts_were_rewritten_a_table_of_new_quotes_is_enough(rag_eval, folder, labelled):
    for name in ("billing.md", "guides/start.md"):
        (folder / "docs" / name).write_text("# New\n\nBills go out on Mondays, always.\n")
    (folder / "docs/guides/start.md").unlink()
    (folder / "more.csv").write_text("question,quote\nWhen do invoices come?,Bills go out on Mondays\n")
    assert rag_eval("dataset", "update", labelled, "--corpus", "docs").code == 2
    assert rag_eval("dataset", "update", labelled, "--corpus", "docs", "--questions", "more.csv").code == 0
    assert [label.query.text for label in load_dataset(labelled).skipped] == ["What comes first?"]


@pytest.fixture
def of_two_kinds(rag_eval, folder):
    """A dataset with labels in a Markdown file and in a text file."""
    (folder / "docs/faq.txt").write_text("Refunds are paid within five working days of the request.\n")
    (folder / "kinds.csv").write_text(f"{TABLE}What comes first?,Install the agent first.\n")
    rag_eval("init", "--corpus", "docs", "--questions", "kinds.csv", "--glob", "**/*.{md,txt}")
    return folder / ".rag-eval/datasets/kinds.json"


def config(folder, how):
    """Write a configuration that names the documents, and return its name."""
    (folder / "documents.yaml").write_text(f"corpus: docs\n{how}\n")
    return "documents.yaml"


def test_labels_of_files_that_the_pattern_leaves_out_are_not_lost_and_runs_and_lint_say_which(
    rag_eval, folder, of_two_kinds
):
    before = of_two_kinds.read_bytes()
    update = ("dataset", "update", of_two_kinds, "--corpus", config(folder, "exclude: '*.txt'"))
    lint = ("dataset", "lint", *update[2:])
    assert "nothing was written: exclude leaves out faq.txt of docs" in rag_eval(*update).err
    told = "faq.txt[0:57] is in a document that is not of a kind that is read, or excluded"
    assert told in rag_eval(*lint).out
    config(folder, "glob: '**/*.md'")
    outcome = rag_eval(*update)
    assert outcome.code == 2
    assert "nothing was written: glob leaves out faq.txt of docs; expected glob '**/*.{md,txt}', or" in outcome.err
    assert of_two_kinds.read_bytes() == before
    assert "faq.txt[0:57] is in a document that the pattern '**/*.md' leaves out" in rag_eval(*lint).out
    outcome = rag_eval("run", "--corpus", "docs", "--glob", "**/*.md", "--dataset", of_two_kinds, "--json")
    assert outcome.code == 2
    (label,) = json.loads(outcome.out)["skipped"]
    assert label["reason"] == "gone from faq.txt"
    assert (
        "error: 1 of 2 answerable questions was skipped, more than the 0 allowed (allow_skipped, --allow-skipped): "
        f"glob leaves out faq.txt of {folder / 'docs'}; expected glob '**/*.{{md,txt}}'; the run is saved in "
    ) in outcome.err
    assert "correct" not in outcome.err
    config(folder, "glob: '**/*.{md,txt}'")
    assert rag_eval(*update).code == 0
    (folder / "docs/faq.txt").unlink()
    assert rag_eval("dataset", "update", of_two_kinds, "--corpus", "docs").code == 0


def test_a_file_of_another_format_is_not_replaced_and_may_become_a_native_one_with_another_name(rag_eval, folder):
    span = {"doc_id": "billing.md", "start": 11, "end": 46, "text": "Invoices are sent on the first day."}
    path = folder / "examples.json"
    path.write_text(json.dumps([{"inputs": {"query": "When?"}, "outputs": {"relevant_spans": [span]}}]))
    before = path.read_bytes()
    edit(folder, "billing.md", "# Billing", "# Billing\n\nNew.")
    outcome = rag_eval("dataset", "update", "examples.json", "--corpus", "docs")
    assert outcome.code == 2
    assert (
        "error: examples.json: not a .json or .jsonl file in the format of this package, so it is not replaced; give "
        "--output NEW.json" in outcome.err
    )
    assert path.read_bytes() == before
    rag_eval("dataset", "update", "examples.json", "--corpus", "docs", "--output", "new.json")
    assert load_dataset(folder / "new.json").labelled_corpus is not None


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [("silent.json", 0, ""), ("ids.json", 2, "document-level"), ("questions.csv", 2, "rag-eval init")],
)
def test_a_dataset_without_labels_can_be_updated_and_not_one_of_ids_or_a_table(rag_eval, folder, name, code, told):
    (folder / "silent.json").write_text(
        '{"schema_version": 1, "questions": [{"id": "1", "query": "Who?", "relevant_spans": []}]}'
    )
    (folder / "ids.json").write_text(
        '{"schema_version": 1, "evaluation_type": "document-level",'
        ' "questions": [{"id": "1", "query": "Who?", "relevant_document_ids": ["billing.md"]}]}'
    )
    outcome = rag_eval("dataset", "update", name, "--corpus", "docs")
    assert (outcome.code, told in outcome.err) == (code, True)


def test_a_table_of_which_no_quote_is_located_is_added_as_skipped_and_told(rag_eval, folder, labelled):
    (folder / "more.csv").write_text("question,quote\nWho answers?,Nobody at all is ever there.\n")
    outcome = rag_eval("dataset", "update", labelled, "--corpus", "docs", "--questions", "more.csv")
    assert outcome.code == 0
    assert "1 missing" in outcome.out
    assert "0 questions added, 0 corrected, 0 there already\n" in outcome.out
    dataset = load_dataset(labelled)
    assert ([label.query.text for label in dataset.skipped], len(dataset)) == (["Who answers?"], 3)


def test_the_written_dataset_is_summed_up(rag_eval, folder, labelled):
    edit(folder, "billing.md", "Invoices are sent on the first day.", "")
    said = rag_eval("dataset", "update", labelled, "--corpus", "docs").out
    assert "The dataset has 2 questions, 1 with an answer; 1 more is skipped\n" in said
    assert "2 labels: 1 unchanged, 1 gone; 1 question skipped\n" in said
    assert said.endswith(
        "To label the skipped question again, by choosing among passages:\n\n"
        f"  rag-eval label docs --output {labelled}\n\n"
        "Or quote its answer in a table of question and quote, then:\n\n"
        f"  rag-eval dataset update {labelled} --corpus docs --questions TABLE.csv\n"
    )


def test_the_questions_that_were_added_or_corrected_are_listed_and_the_skipped_ones_counted_once(
    rag_eval, folder, labelled
):
    edit(folder, "billing.md", "the first day", "the second day")
    (folder / "more.csv").write_text(
        "id,question,quote\n7,Who helps?,Invoices are sent on the second\n8,Who answers?,Nobody at all is ever there.\n"
        ",What comes first?,Install the agent\n"
    )
    said = rag_eval("dataset", "update", labelled, "--corpus", "docs", "--questions", "more.csv").out
    assert "Added\n  Who helps? (7)\n    docs/billing.md:3:1 “Invoices are sent on the second”\n" in said
    assert re.search(r"^Corrected\n  What comes first\? \(query_\w+\)$", said, re.MULTILINE)
    assert "The dataset has 3 questions, 2 with an answer; 2 more are skipped\n" in said
    assert said.count("more are skipped\n") == 1
    assert "To label the skipped questions again, by choosing among passages:\n\n  rag-eval label docs --output" in said
    assert "Or quote their answers in a table of question and quote, then:" in said
