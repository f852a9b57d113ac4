"""Documents of what answers a question, and whether two texts are the same evidence."""

from rag_evaluation_framework import CharacterSpan, DocumentId
from rag_evaluation_framework.authoring.models.filters import Evidence, documents_of

A, B = DocumentId("a.md"), DocumentId("b.md")


def at(start, end, doc_id=A, documents=()):
    text = f"{doc_id}[{start}:{end}]"
    return Evidence(text, doc_id, frozenset(documents), spans=(CharacterSpan(doc_id, start, end),))


def test_a_document_that_has_all_texts_is_the_only_one_that_is_needed():
    copied = at(0, 10, A, [A, B])
    assert documents_of([copied, at(50, 60, B)]) == [[copied, at(50, 60, B)]]
    assert documents_of([copied, at(50, 60), at(0, 10, B)]) == [[copied, at(50, 60)], [at(0, 10, B)]]
    assert documents_of([]) == []


def test_it_is_that_of_another_question_if_it_shares_text_or_place():
    assert at(0, 10).is_that_of(at(9, 20))
    assert not at(0, 10).is_that_of(at(10, 20))
    assert not at(0, 10).is_that_of(at(0, 10, B))
    long = "refunds take  five days here"
    assert Evidence(long, A).is_that_of(Evidence(" ".join(long.split()), B))
    assert not Evidence("two years", A).is_that_of(Evidence("two years", B))  # of other products, as it may be
    assert not Evidence(long, A).is_that_of(at(0, 9))
