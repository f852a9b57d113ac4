"""Questions that were skipped, as a label of theirs was lost, and whose labels are there again."""

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Skipped
from rag_evaluation_framework.labels import relabel

FIRST, SECOND, THIRD = (
    "Invoices are sent on the first day of every month.",
    "Refunds take five working days in all countries.",
    "Support answers within one day.",
)
PAGE = f"# Billing\n\n{FIRST} Some words are between. {SECOND}\n"
OTHER = f"# Support\n\n{THIRD} On Sundays, too.\n"


def back(found):
    """How many labels are there again that were not before."""
    return sum(change.is_found and change.was_lost for change in found.changes)


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


BEFORE = corpus_of(a=PAGE, b=OTHER)


def dataset_of(*labels, corpus=BEFORE):
    def span(text, doc_id="a.md"):
        start = corpus[doc_id].content.index(text)
        return CharacterSpan(DocumentId(doc_id), start, start + len(text), text)

    entries = [
        TokenLevelGroundTruth(
            Query.from_text(question), [span(text, "b.md" if text == THIRD else "a.md") for text in texts]
        )
        for question, *texts in labels
    ]
    return Dataset(entries, TOKEN, corpus=corpus)


def updated(dataset, folder, *corpora):
    """The dataset that files hold after an update in each corpus, and what became of it in the last one."""
    dataset = load_dataset(save_dataset(dataset, folder / "0.json"))
    for number, corpus in enumerate(corpora, 1):
        found = relabel(dataset, corpus)
        dataset = load_dataset(save_dataset(found.dataset, folder / f"{number}.json"))
    return dataset, found


LABELS = ("When?", FIRST), ("Both?", FIRST, SECOND), ("Who?", THIRD), ("No answer?",)


@pytest.mark.parametrize(
    "edited",
    [
        corpus_of(b=OTHER),
        corpus_of(a=PAGE.replace(f"{FIRST} ", ""), b=OTHER),
        corpus_of(a=PAGE.replace("first day", "last day"), b=OTHER),
        corpus_of(x="# Another folder\n\nWith other words.\n"),
    ],
    ids=["deleted", "shortened", "reworded", "another folder"],
)
@pytest.mark.parametrize("last", [BEFORE, corpus_of(a=f"New.\n\n{PAGE}", b=f"New.\n\n{OTHER}")], ids=["same", "moved"])
def test_what_an_update_lost_is_back_as_soon_as_it_is_there_again(tmp_path, edited, last):
    dataset, found = updated(dataset_of(*LABELS), tmp_path, edited, last)
    assert dataset.skipped == ()
    spans = {entry.query.text: {(span.doc_id, span.start) for span in entry.relevant} for entry in dataset}
    start, *others = (last["a.md"].content.index(text) for text in (FIRST, SECOND))
    assert spans["When?"] == {("a.md", start)}
    assert spans["Both?"] == {("a.md", place) for place in (start, *others)}
    assert spans["Who?"] == {("b.md", last["b.md"].content.index(THIRD))}
    again = [change for change in found.changes if change.is_found and change.was_lost]
    assert (back(found), {change.query.text for change in again} >= {"When?", "Both?"}) == (len(again), True)
    assert f"; {len(again)} back" in repr(found)


def test_other_labels_of_a_document_that_is_as_it_once_was_stay_in_it(tmp_path):
    """It is no other document that has this name now, although its text is the one that was known of a lost label."""
    edited = corpus_of(a=f"New.\n\n{PAGE.replace('five', 'six')}", b=OTHER)
    dataset, _ = updated(dataset_of(("When?", FIRST), ("How long?", SECOND)), tmp_path, edited, BEFORE)
    assert {entry.query.text: entry.relevant[0].start for entry in dataset} == {
        "When?": PAGE.index(FIRST),
        "How long?": PAGE.index(SECOND),
    }


def test_a_question_stays_skipped_while_one_of_its_labels_is_not_there_or_never_had_a_place(tmp_path):
    edited = corpus_of(a="# Billing\n\nNothing of it.\n", b=OTHER)
    half = corpus_of(a=f"# Billing\n\n{FIRST} Some words are between.\n", b=OTHER)
    dataset, found = updated(dataset_of(("Both?", FIRST, SECOND), ("No answer?",)), tmp_path, edited, half)
    assert [(label.quote, label.reason) for label in dataset.skipped] == [
        (SECOND, "gone from a.md"),
    ]
    assert (len(dataset), back(found)) == (1, 1)
    again = relabel(dataset, BEFORE).dataset.ground_truth[1]
    assert [span.start for span in again.relevant] == [PAGE.index(FIRST), PAGE.index(SECOND)]
    never = Skipped(Query.from_text("Where?"), SECOND, "missing")
    dataset = Dataset(dataset_of(("When?", FIRST)).ground_truth, TOKEN, corpus=BEFORE, skipped=[never])
    assert relabel(dataset, corpus_of(a=f"New.\n{PAGE}")).dataset.skipped == (never,)


def test_a_place_in_a_document_that_is_unchanged_since_the_label_was_lost_is_not_taken_for_it(tmp_path):
    twice = f"{OTHER}{FIRST}\n"
    dataset, found = updated(
        dataset_of(("When?", FIRST), ("Who?", THIRD)),
        tmp_path,
        corpus_of(a=PAGE.replace(FIRST, "Gone."), b=twice, c=f"{FIRST}\n"),
        corpus_of(a=PAGE.replace(FIRST, "Gone."), b=twice),
    )
    assert [entry.query.text for entry in dataset] == ["Who?"]
    assert back(found) == 0


def test_a_lost_label_is_not_back_in_a_document_that_had_the_same_text_all_along(tmp_path):
    before = corpus_of(a=PAGE, twin=PAGE, b=OTHER)
    dataset, found = updated(
        dataset_of(("When?", FIRST), ("Who?", THIRD), corpus=before),
        tmp_path,
        corpus_of(twin=PAGE, b=OTHER),
        corpus_of(twin=PAGE, b=OTHER, c="More.\n"),
    )
    assert (back(found), len(dataset.skipped)) == (0, 1)
    assert back(relabel(dataset, before)) == 1


def test_a_document_that_is_there_again_takes_no_label_of_another(tmp_path):
    """Its text is known by the label that was lost in it."""
    text = "The retention period for audit logs is ninety days."
    before = corpus_of(a=f"# A\n\n{text} Always.\n", b=f"# B\n\n{text} Never.\n")
    entries = [
        TokenLevelGroundTruth(Query.from_text(name), [CharacterSpan(DocumentId(f"{name}.md"), 5, 5 + len(text), text)])
        for name in "ab"
    ]
    dataset, _ = updated(
        Dataset(entries, TOKEN, corpus=before),
        tmp_path,
        corpus_of(b=before["b.md"].content),
        corpus_of(a=before["a.md"].content, b="# B\n\nAll of it is new.\n"),
    )
    assert [entry.query.text for entry in dataset] == ["a"]
    assert [label.query.text for label in dataset.skipped] == ["b"]


def test_evaluations_ask_questions_that_are_back_without_an_update(tmp_path):
    dataset, _ = updated(dataset_of(*LABELS), tmp_path, corpus_of(b=OTHER))
    assert len(dataset) == 2
    result = evaluate(lambda query, k: [], dataset, documents=BEFORE, k=1)
    assert (result.counts["questions"], result.skipped) == (4, ())
    assert any("3 back" in note for note in result.notes)
    kept = evaluate(lambda query, k: [], dataset, documents=corpus_of(b=OTHER), k=1)
    assert (kept.counts["questions"], len(kept.skipped)) == (2, 3)


SECTION = f"# Support\n\n{THIRD} On Sundays, too.\n\n{FIRST}\n"


def test_the_other_labels_of_a_renamed_document_are_found_in_it_as_it_was_under_its_name_again(tmp_path):
    texts = ("The pool holds ten connections at most.", "8080", "Nobody else may read the log.", "example.org")
    page = f"# Config\n\n{texts[0]}\n\n- port: 8080\n- host: example.org\n- user: reader\n\n{texts[2]}\n"
    before = corpus_of(a=page, b=OTHER)
    entries = [
        TokenLevelGroundTruth(
            Query.from_text(text),
            [CharacterSpan(DocumentId("a.md"), page.index(text), page.index(text) + len(text), text)],
        )
        for text in texts
    ]
    renamed = corpus_of(ref=page.replace("8080", "9090"), b=OTHER)
    dataset, found = updated(Dataset(entries, TOKEN, corpus=before), tmp_path, renamed, before)
    assert back(found) == 1
    assert {entry.query.text: entry.relevant[0].doc_id for entry in dataset} == dict.fromkeys(texts, "a.md")
