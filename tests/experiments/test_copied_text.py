"""How often the text of a label was retrieved where it is not labelled: a note of the result."""

import pytest

from rag_evaluation_framework import (
    TOKEN,
    Answer,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
)

TEXT = "Refunds take at most 14 working days in all countries."
CORPUS = Corpus([Document(DocumentId(name), f"# Page {name}\n\n{TEXT}\n") for name in ("a.md", "b.md", "c.md")])


def span(name):
    start = CORPUS[DocumentId(name)].content.index(TEXT)
    return CharacterSpan(DocumentId(name), start, start + len(TEXT))


def notes(label, *found):
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("When?"), (label,))], TOKEN, corpus=CORPUS)
    hits = [{"doc_id": name, "start": 0, "end": 67} for name in found]
    result = evaluate(lambda query, k: hits[:k], dataset, k=3, budgets=[])
    return [text for text in result.notes if "is not labelled" in text]


@pytest.mark.parametrize(("found", "missed"), [(["b.md"], 1), (["b.md", "a.md"], 0)])
def test_a_copy_that_is_not_labelled_is_counted(found, missed):
    (told,) = notes(span("a.md"), *found)
    assert told.startswith(
        "questions whose answer was retrieved at another place with the same text, which is not labelled and counts as "
        f"not relevant: 1; {'of this it is all that was retrieved of the answer' * missed}"
        f"{'a labelled place was retrieved, too' * (not missed)}."
    )


def test_where_it_is_not_retrieved_or_is_labelled_nothing_is_said():
    assert notes(span("a.md"), "a.md") == []
    assert notes(Answer.any_of(span("a.md"), span("b.md"), span("c.md")), "b.md", "c.md") == []
    assert len(notes(Answer.any_of(span("a.md"), span("b.md")), "b.md", "c.md")) == 1


def test_a_copy_that_is_cut_in_two_is_counted_and_less_than_half_of_one_is_not():
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("When?"), (span("a.md"),))], TOKEN, corpus=CORPUS)

    def told(*ends):
        hits = [{"doc_id": "b.md", "start": start, "end": end} for start, end in ends]
        found = evaluate(lambda query, k: hits, dataset, k=3, budgets=[]).notes
        return [text for text in found if "not labelled" in text]

    start = span("b.md").start
    assert len(told((0, start + 20), (start + 20, start + 40))) == 1
    assert told((0, start + 20)) == []
