"""Datasets in edited corpora; what becomes of one span is in test_reanchor."""

import pytest

from rag_evaluation_framework import (
    CHUNK,
    TOKEN,
    CharacterSpan,
    ChunkId,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data import LabelContexts
from rag_evaluation_framework.errors import LevelMismatch
from rag_evaluation_framework.labelling import relabel

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
    assert found.counts() == {"unchanged": 0, "moved": 1, "renamed": 0, "in normal form": 0, "back": 0, "lost": 0}
    assert repr(found) == "Relabelled(1 label: 0 unchanged, 1 moved)"
    moved = relabel(dataset_of(("When?", FIRST)), corpus_of(a="# Billing\n\nNone.\n", b=f"# More\n\n{FIRST} So.\n"))
    assert repr(moved) == "Relabelled(1 label: 0 unchanged, 1 moved (1 to another document))"


def test_a_question_that_lost_a_label_is_skipped_with_all_of_its_texts():
    found = relabel(dataset_of(("Both?", FIRST, SECOND), ("When?", FIRST)), corpus_of(a=f"{FIRST}\n"))
    assert [entry.query.text for entry in found.dataset] == ["When?"]
    assert [query.text for query in found.lost] == ["Both?"]
    assert [(label.quote, label.reason) for label in found.dataset.skipped] == [
        (FIRST, "found, but another label of the question was lost"),
        (SECOND, "lost: its text is gone"),
    ]
    edited = corpus_of(a=PAGE.replace("five", "six\u202e"))
    (label,) = relabel(dataset_of(("How long?", SECOND)), edited).dataset.skipped
    assert label.reason.startswith("lost: its text is gone; nearest (9")
    assert label.reason.endswith(
        "% similar): a.md:3:37 “Refunds take six\ufffd working days in all countries.”; “five” for “six”"
    )
    twice = corpus_of(a=f"New.\n{PAGE}{PAGE}")
    (label,) = relabel(dataset_of(("How long?", SECOND)), twice).dataset.skipped
    assert label.reason == (
        "lost: its text now stands in several places with another context (a.md[52:100], a.md[161:209])"
    )
    assert [change.kind for change in found.changed] == ["lost", "moved", "moved"]


def test_in_the_corpus_that_was_labelled_nothing_is_looked_for():
    corpus = corpus_of(a=f"{PAGE}{PAGE}")
    found = relabel(dataset_of(("When?", FIRST), corpus_hash=corpus.content_hash), corpus)
    assert (found.counts()["unchanged"], found.changed) == (1, ())


def test_a_document_may_be_named_by_its_stem():
    dataset = Dataset(
        [TokenLevelGroundTruth(Query.from_text("When?"), [CharacterSpan(DocumentId("a"), 0, 35, FIRST)])], TOKEN
    )
    (change,) = relabel(dataset, corpus_of(a=PAGE)).changes
    assert (change.carried.span.doc_id, change.carried.span.start) == ("a.md", PAGE.index(FIRST))


def test_a_span_without_text_stays_in_a_document_that_is_unchanged_and_is_lost_in_another():
    corpus, span = corpus_of(a=PAGE), CharacterSpan(DocumentId("a.md"), 11, 15)
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("When?"), [span])], TOKEN)
    dataset = Dataset(dataset, TOKEN, recorded=LabelContexts(), texts=corpus.text_hashes)
    assert [change.carried.span for change in relabel(dataset, corpus).changes] == [span]
    (change,) = relabel(dataset, corpus_of(a=f"{PAGE}More.")).changes
    assert change.found.how == "lost: its label has no text to look for"


def test_labels_that_are_ids_are_refused():
    dataset = Dataset([ChunkLevelGroundTruth(Query.from_text("When?"), [ChunkId("chunk_1")])], CHUNK)
    with pytest.raises(LevelMismatch, match="chunk-level"):
        relabel(dataset, corpus_of(a=PAGE))
