"""Datasets in edited corpora; what becomes of one span is in test_reanchor."""

import pytest

from rag_evaluation_framework import (
    CHUNK,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Answer, ChunkId
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.labels import relabel

FIRST, SECOND = "Invoices are sent on the first day.", "Refunds take five working days in all countries."
PAGE = f"# Billing\n\n{FIRST} {SECOND} Write to us.\n"


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def dataset_of(*labels, **options):
    entries = [
        TokenLevelGroundTruth(
            Query.from_text(question),
            [CharacterSpan(DocumentId("a.md"), PAGE.index(text), PAGE.index(text) + len(text), text) for text in texts],
        )
        for question, *texts in labels
    ]
    return Dataset(entries, TOKEN, name="billing", metadata={"by": "me"}, **options)


def test_the_dataset_has_the_new_places_the_new_corpus_and_all_else_as_it_was():
    after = corpus_of(a=f"New.\n{PAGE}")
    found = relabel(dataset_of(("When?", FIRST), ("Who?",)), after)
    assert [[span.start for span in entry.relevant] for entry in found.dataset] == [[PAGE.index(FIRST) + 5], []]
    assert (found.dataset.name, found.dataset.metadata, found.dataset.corpus) == ("billing", {"by": "me"}, after)
    assert found.dataset.corpus_hash == after.content_hash
    assert found.counts() == {"unchanged": 0, "moved": 1, "taken": 0, "changed": 0, "uncertain": 0, "gone": 0}
    assert repr(found) == "Relabelled(1 label: 0 unchanged, 1 moved)"


BEFORE = corpus_of(a=PAGE)
EDITED = corpus_of(a=PAGE.replace("five", "six").replace(FIRST, ""))


def test_a_question_that_lost_a_label_is_skipped_and_both_are_kept_as_they_were_labelled():
    before = dataset_of(("Both?", FIRST, SECOND), ("Who?",), corpus=BEFORE)
    found = relabel(before, EDITED)
    assert [entry.query.text for entry in found.dataset] == ["Who?"]
    assert [query.text for query in found.lost] == ["Both?"]
    assert [(label.quote, label.reason, label.document) for label in found.dataset.skipped] == [
        (FIRST, "gone from a.md", "a.md"),
        (SECOND, "changed in a.md", "a.md"),
    ]
    assert relabel(found.dataset, BEFORE).dataset.ground_truth == (before.ground_truth[1], before.ground_truth[0])


def test_a_person_takes_a_proposal_by_its_id_and_only_for_the_text_that_was_seen():
    found = relabel(dataset_of(("How long?", SECOND), corpus=BEFORE), EDITED)
    (change,) = found.changes
    assert change.carried.proposal.text == SECOND.replace("five", "six")
    taken = found.taking([change.id])
    assert [span.text for entry in taken.dataset for span in entry.relevant] == [SECOND.replace("five", "six")]
    assert (taken.counts()["taken"], taken.dataset.incomplete, taken.lost) == (1, (), ())
    again = relabel(dataset_of(("How long?", SECOND), corpus=BEFORE), corpus_of(a=PAGE.replace("five", "ten")))
    with pytest.raises(DatasetError, match=f"no change has the id '{change.id}'; expected ids as `rag-eval dataset"):
        again.taking([change.id])


@pytest.mark.parametrize(("one", "other"), [("Goods", "Vouchers"), ("Goods", "Books")])
def test_a_proposal_that_was_seen_elsewhere_in_its_document_is_not_taken(one, other):
    """Also if the text is the same, and its place is."""
    before = dataset_of(("How long?", SECOND), corpus=BEFORE)
    first, second = (
        relabel(before, corpus_of(a=f"# {name}\n\n{FIRST}\n\n{SECOND.replace('five', 'six')}\n"))
        for name in (one, other)
    )
    (seen,), (now,) = first.changes, second.changes
    assert seen.carried.proposal.text == now.carried.proposal.text == SECOND.replace("five", "six")
    assert (len(seen.id), seen.id == now.id) == (12, False)
    with pytest.raises(DatasetError, match="no change has the id"):
        second.taking([seen.id])


def test_where_no_text_is_kept_a_label_is_where_it_was_or_at_the_only_place_of_its_text_also_under_a_stem():
    def found(dataset, **texts):
        (change,) = relabel(dataset, corpus_of(**texts)).changes
        return change.kind, change.carried.span and change.carried.span.doc_id

    dataset = dataset_of(("When?", FIRST))
    assert found(dataset, a=PAGE) == ("unchanged", "a.md")
    assert found(dataset, a=f"New.\n{PAGE}", b=FIRST) == ("moved", "a.md")
    assert found(dataset, b=FIRST) == ("moved", "b.md")
    assert found(dataset, a=f"New.\n{PAGE}{PAGE}") == ("gone", None)
    assert found(dataset, b=FIRST, c=FIRST) == ("gone", None)
    stem = CharacterSpan(DocumentId("a"), 0, 35, FIRST)
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("When?"), [stem])], TOKEN)
    (change,) = relabel(dataset, corpus_of(a=PAGE, b=FIRST)).changes
    assert (change.carried.span.doc_id, change.carried.span.start) == ("a.md", PAGE.index(FIRST))
    labelled = corpus_of(a=f"{PAGE}{PAGE}")  # in which nothing is looked for
    unchanged = relabel(dataset_of(("When?", FIRST), corpus_hash=labelled.content_hash), labelled)
    assert (unchanged.counts()["unchanged"], unchanged.changed) == (1, ())


def test_a_text_that_was_changed_is_never_used(tmp_path):
    path = save_dataset(dataset_of(("When?", FIRST), corpus=BEFORE), tmp_path / "d.json")
    (kept,) = (file for file in (tmp_path / "d.texts").iterdir() if len(file.name) == 64)
    kept.write_text("something else")
    with pytest.raises(DatasetError, match=kept.name):
        relabel(load_dataset(path), EDITED)


def test_a_span_without_text_stays_in_a_document_that_is_unchanged_and_is_lost_in_another():
    corpus, span = corpus_of(a=PAGE), CharacterSpan(DocumentId("a.md"), 11, 15)
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("When?"), [span])], TOKEN)
    dataset = Dataset(dataset, TOKEN, texts=corpus.text_hashes)
    assert [change.carried.span for change in relabel(dataset, corpus).changes] == [span]
    with pytest.warns(UserWarning, match=r"labelled texts that are not kept: a\.md"):
        (change,) = relabel(dataset, corpus_of(a="Less.")).changes
    assert change.kind == "gone"


def test_without_the_labelled_text_a_few_words_that_stand_elsewhere_are_for_a_person(tmp_path):
    corpus = corpus_of(a="Small costs 20 euros.\nLarge costs 40 euros.", b="Whoever comes late pays ten euros more.")
    spans = [CharacterSpan(DocumentId("a.md"), 12, 20, "20 euros"), CharacterSpan(DocumentId("b.md"), 0, 39)]
    truth = [TokenLevelGroundTruth(Query.from_text(f"{number}?"), [span]) for number, span in enumerate(spans)]
    file = save_dataset(Dataset(truth, TOKEN, corpus=corpus), tmp_path / "q.json").rename(tmp_path / "golden.json")
    edited = corpus_of(a="Small costs 22 euros.\nLarge costs 20 euros.", b=f"More.\n{corpus['b.md'].content}")
    with pytest.warns(UserWarning, match=r"not kept: a\.md, b\.md in .*golden\.texts; labels there are"):
        few, more = relabel(load_dataset(file), edited).changes
    assert (few.kind, few.carried.proposal) == ("uncertain", CharacterSpan(DocumentId("a.md"), 34, 42, "20 euros"))
    assert more.kind == "moved"


def test_an_answer_that_lost_one_of_its_places_is_written_once():
    """The list of incomplete questions is in one order, however often a dataset is carried to the same documents."""
    corpus = corpus_of(
        a="It opens at nine o'clock in the morning.", b="Nine it is, as before.", c="Closed on Sundays only."
    )
    spans = [CharacterSpan(document.id, 0, len(document.content), document.content) for document in corpus]
    both = Answer(((spans[0],), (spans[1],)))
    truth = [
        TokenLevelGroundTruth(Query.from_text("Closed?"), [spans[2]]),
        TokenLevelGroundTruth(Query.from_text("When?"), (both,)),
    ]
    edited = corpus_of(a="It opens at nine o'clock in the morning.", d="Nothing of this is here any longer.")
    once = relabel(Dataset(truth, TOKEN, corpus=corpus), edited).dataset
    again = relabel(once, edited).dataset
    assert [question.query.text for question in again.incomplete] == ["When?", "Closed?"]
    assert again.incomplete == once.incomplete


def test_labels_that_are_ids_are_refused():
    dataset = Dataset([ChunkLevelGroundTruth(Query.from_text("When?"), [ChunkId("chunk_1")])], CHUNK)
    with pytest.raises(LevelMismatch, match="chunk-level"):
        relabel(dataset, corpus_of(a=PAGE))
