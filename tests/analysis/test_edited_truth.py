from types import SimpleNamespace

import pytest

from rag_evaluation_framework import Answer, CharacterSpan, DocumentId
from rag_evaluation_framework.analysis.comparability import edited_rows


def results(*questions, gains=None):
    """Queries with their labels: "a.md: text", several joined by " | "."""
    relevant = tuple(
        tuple(
            CharacterSpan(DocumentId(name), 100 * number, 100 * number + len(text), text)
            for number, (name, _, text) in enumerate(label.partition(": ") for label in labels.split(" | ") if label)
        )
        for labels in questions
    )
    texts = tuple(f"Question {number}?" for number in range(len(questions)))
    table = SimpleNamespace(query_ids=tuple(map(str, range(len(questions)))))
    return SimpleNamespace(texts=texts, relevant=relevant, answers={}, gains=gains or {}, table=table)


def renamed(before, after, same=(), others=True, copied=()):
    rows = [(row, row) for row in range(len(before.texts)) if row not in same]
    may_be = {*before.table.query_ids} - {*copied} if others else ()
    return {row: sorted(names) for row, names in edited_rows(before, after, rows, may_be).items()}


def test_a_document_all_of_whose_labels_are_in_one_that_had_none_was_renamed():
    before, after = results("a: One.", "a: Two. | b: One.", "c: x"), results("z: One.", "z:  Two. | y: One.", "c: x")
    assert renamed(before, after, same=[2]) == {0: [("a", "z")], 1: [("a", "z"), ("b", "y")]}
    assert renamed(before, after, same=[2], others=False) == {}
    assert renamed(before, after, same=[2], copied=["0"]) == {1: [("a", "z"), ("b", "y")]}


def test_a_document_may_be_split_and_two_may_be_joined():
    split = renamed(results("a: One.", "a: Two."), results("z: One.", "y: Two."))
    assert split == {0: [("a", "z")], 1: [("a", "y")]}
    joined = renamed(results("a: One.", "b: Two."), results("z: One.", "z: Two."))
    assert joined == {0: [("a", "z")], 1: [("b", "z")]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a: One."], ["z: Two."]),
        (["a: One. | b: One."], ["z: One. | b: One."]),
        (["a: One."], ["z: One. | z: Two."]),
        (["a: One. | a: One."], ["z: One."]),
        (["a: *One.* | a: *One.*"], ["a: One."]),
        (["a: "], ["z: "]),
    ],
)
def test_other_texts_are_another_truth(before, after):
    assert renamed(results(*before), results(*after)) == {}


@pytest.mark.parametrize("other", ["a: Two.", "b: Two."])
def test_a_text_in_a_document_that_had_labels_or_from_one_that_has_some_may_be_labelled_anew(other):
    before, after = results("a: One.", other), results("b: One.", other)
    assert renamed(before, after, same=[1]) == {}


def test_other_wordings_and_gains_are_other_questions():
    before, after = results("a: One."), results("z: One.")
    assert renamed(before, after) == {0: [("a", "z")]}
    after.texts = ("Another?",)
    assert renamed(before, after) == {}
    assert renamed(before, results("z: One.", gains={0: {"x": 2.0}})) == {}


def test_questions_without_labels_are_the_same_already():
    assert renamed(results(""), results("")) == {0: []}


def test_what_is_written_otherwise_is_the_same_if_it_shows_the_same():
    before = results("a.md: It is **five** days.", "a.md: a back-\n up", "a.md: One. | a.md: *Two.*", "c.md: [x](y)")
    after = results("a.md: It is *five* days.", "a.md: a backup", "a.md: Two. | a.md: `One.`", "b.md: x")
    assert renamed(before, after) == {0: [], 1: [], 2: [], 3: [("c.md", "b.md")]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It is 5 days.", "It is -5 days."),
        ("It is five days.", "It is Five days."),
        ("It is five days.", "It is five days"),
        ("One, two.", "One two."),
        ("go", "go go"),
        ("=", "<"),
        ("10<sup>6</sup> rows", "106 rows"),
        ("It is ~~not~~ so.", "It is not so."),
        ("It is not so.", "It is <del>not</del> so."),
    ],
)
def test_what_shows_something_else_is_another_truth(one, other):
    assert renamed(results(f"a.md: {one}"), results(f"a.md: {other}")) == {}
    assert renamed(results(f"a.md: {other}"), results(f"a.md: {one}")) == {}


def with_answers(results, *places):
    """The same results with one answer of these places, the labels of the first query in their order."""
    spans = iter(results.relevant[0])
    answer = Answer(tuple(tuple(next(spans) for _ in range(count)) for count in places))
    results.answers = {0: (answer,)}
    results.relevant = (answer.reference,)
    return results


def test_answers_with_several_places_are_compared_place_by_place():
    before, after = "a: One. | a: Two. | b: Three.", "z: One. | z: Two. | y: Three."
    several = with_answers(results(before), 2, 1), with_answers(results(after), 2, 1)
    assert renamed(*several) == {0: [("a", "z"), ("b", "y")]}
    assert (
        renamed(with_answers(results(before), 2, 1), with_answers(results("z: One. | z: Two. | y: Four."), 2, 1)) == {}
    )


@pytest.mark.parametrize(("one", "other"), [((1, 1), (2,)), ((1, 1), None), (None, (1, 1)), ((1, 1, 1), (1, 1))])
def test_other_places_are_another_truth(one, other):
    before, after = results("a: One. | a: Two. | a: Three."), results("a: One. | a: Two. | a: Three.")
    for given, places in ((before, one), (after, other)):
        if places is None:
            given.relevant = (given.relevant[0][:1],)
        else:
            with_answers(given, *places)
    assert renamed(before, after) == {}
