import pytest

from rag_evaluation_framework import DOCUMENT, Dataset, Document, DocumentId, DocumentLevelGroundTruth, Query
from rag_evaluation_framework.data.queries import Scope
from support.each import each


def document(doc_id="eval:a:1", **metadata):
    return Document(DocumentId(doc_id), "text", metadata)


@pytest.mark.parametrize(
    ("prefix", "doc_id", "inside"),
    [
        ("", "eval:a:1", True),
        ("eval:a:", "eval:a:1", True),
        ("eval:a:", "eval:ab:1", False),
        ("eval:a_b:", "eval:aXb:1", False),
        ("eval:%:", "eval:a:1", False),
        ("EVAL:", "eval:a:1", False),
        ("a:", "eval:a:1", False),
    ],
)
def test_a_prefix_is_taken_letter_for_letter(prefix, doc_id, inside):
    assert Scope(prefix).holds(document(doc_id)) is inside


@each(
    ("constraints", "inside"),
    [
        ({}, True),
        ({"lang": "en"}, True),
        ({"lang": "de"}, False),
        ({"none": None}, False),
        ({"year": 2026}, True),
        ({"year": 2026.0}, True),
        ({"year": True}, False),
        ({"tags": ["b"]}, True),
        ({"tags": ["b", "a"]}, True),
        ({"tags": ["c"]}, False),
        ({"tags": "a"}, False),
        ({"team": {"name": "search"}}, True),
        ({"team": {"name": "other"}}, False),
        ({"lang": "en", "year": 1}, False),
    ],
)
def test_constraints_are_contained_as_postgres_has_it(constraints, inside):
    known = document(lang="en", year=2026, tags=["a", "b"], team={"name": "search", "size": 3})
    assert Scope("eval:", constraints).holds(known) is inside


def test_a_question_has_its_own_scope_else_that_of_the_dataset_unless_all_have_another():
    own, others = Query("q1", "Who?", {"scopePrefix": "eval:a:own:"}), Query("q2", "What?")
    truth = [DocumentLevelGroundTruth(query, [DocumentId("eval:a:1")]) for query in (own, others)]
    dataset = Dataset(truth, DOCUMENT, metadata={"defaults": {"scopePrefix": "eval:a:", "topK": 3}})
    assert [Scope.of(query).prefix for query in dataset.with_scopes().queries] == ["eval:a:own:", "eval:a:"]
    given = dataset.with_scopes("eval:b:")
    assert [Scope.of(query).prefix for query in given.queries] == ["eval:b:", "eval:b:"]
    assert (given.scope_prefix, given.top_k) == ("eval:b:", (3, 3))
    assert given.content_hash == dataset.content_hash
    plain = Dataset([DocumentLevelGroundTruth(others, [])], DOCUMENT)
    assert plain.with_scopes() is plain
    assert not Scope.of(plain.queries[0])
