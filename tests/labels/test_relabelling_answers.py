"""Answers with several places in edited documents."""

import json
from dataclasses import replace

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
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Answer, QueryId, QueryText
from rag_evaluation_framework.datasets.checks import lint_dataset
from rag_evaluation_framework.labels import add_questions, check_quotes, relabel

TEXT = "Refunds take at most 14 working days in all countries."
OTHER = "You have your money back after no more than two weeks."
DOCUMENTS = {
    "a.md": f"# Refunds\n\n{TEXT} Write to the help desk if it takes longer than that.\n",
    "b.md": f"# Terms\n\nThese are the terms of the shop. {TEXT} Other terms apply to gifts.\n",
    "c.md": f"# Questions\n\nWhen is my money back? {OTHER} When is my parcel here? Soon.\n",
}
DESK = "Write to the help desk if it takes longer than that."
FIRST, SECOND = "These are the terms of the shop.", "Other terms apply to gifts."


def lost(found):
    """How many labels are not in the documents."""
    return sum(not change.is_found for change in found.changes)


def back(found):
    """How many labels are there again that were not before."""
    return sum(change.is_found and change.was_lost for change in found.changes)


def corpus(**changes):
    texts = {**DOCUMENTS, **{f"{name}.md": text for name, text in changes.items()}}
    return Corpus([Document(DocumentId(name), text) for name, text in texts.items() if text is not None])


def span(name, text):
    start = DOCUMENTS[name].index(text)
    return CharacterSpan(DocumentId(name), start, start + len(text))


@pytest.fixture
def dataset():
    question = Query(QueryId("q"), QueryText("How long does a refund take?"))
    answer = Answer.any_of(span("a.md", TEXT), span("b.md", TEXT), span("c.md", OTHER))
    desk = span("a.md", "Write to the help desk if it takes longer than that.")
    soon = TokenLevelGroundTruth(Query(QueryId("p"), QueryText("When is it here?")), (span("c.md", "Soon."),))
    return Dataset([TokenLevelGroundTruth(question, (answer, desk)), soon], TOKEN, corpus=corpus())


def texts(found, documents):
    return [
        [documents[span.doc_id].content[span.start : span.end] for (span,) in answer.places]
        for answer in found.ground_truth[0].answers
    ]


def places(found, name="q"):
    (entry,) = (entry for entry in found.dataset if entry.query.id == name)
    return [[place[0].doc_id for place in answer.places] for answer in entry.answers]


def copies(dataset, *units):
    entry = replace(dataset.ground_truth[0], relevant_spans=(Answer.any_of(*units),))
    return Dataset([entry], TOKEN, corpus=corpus())


@pytest.mark.parametrize("saved", [True, False])
def test_every_place_moves_with_its_document(dataset, saved, tmp_path):
    if saved:
        dataset = load_dataset(save_dataset(dataset, tmp_path / "d.json"))
    now = corpus(b=DOCUMENTS["b.md"].replace("# Terms", "# The terms of the shop"))
    again = relabel(dataset, now)
    assert again.counted() == "5 labels: 4 unchanged, 1 moved"
    assert texts(again.dataset, now) == [[TEXT, TEXT, OTHER], ["Write to the help desk if it takes longer than that."]]
    assert again.dataset.content_hash == dataset.content_hash


def test_an_answer_stays_as_long_as_one_of_its_places_does_and_the_first_is_its_reference(dataset):
    now = corpus(b=None)
    again = relabel(dataset, now)
    assert texts(again.dataset, now)[0] == [TEXT, OTHER]
    assert again.lost == ()
    (change,) = again.changed
    assert (change.kind, change.before.doc_id, change.carried.proposal) == (
        "gone",
        "b.md",
        None,
    )  # the place in a.md is a label
    now = corpus(a=DOCUMENTS["a.md"].replace(TEXT, "Ask for refunds."))
    assert texts(relabel(dataset, now).dataset, now)[0] == [TEXT, OTHER]


@pytest.mark.parametrize("gone", [FIRST, SECOND])
def test_of_a_place_with_two_spans_both_have_to_be_found_or_another_place_else_the_answer_is_lost(dataset, gone):
    without, two = DOCUMENTS["b.md"].replace(gone, ""), (span("b.md", FIRST), span("b.md", SECOND))
    again = relabel(copies(dataset, span("a.md", TEXT), two), corpus(b=without))
    assert again.dataset.ground_truth[0].relevant == (span("a.md", TEXT),)
    assert lost(again) == 1
    entry = replace(dataset.ground_truth[0], relevant_spans=(Answer.any_of(span("c.md", OTHER), two),))
    neither = corpus(b=without, c=DOCUMENTS["c.md"].replace(OTHER, "Ask."))
    again = relabel(Dataset([entry, dataset.ground_truth[1]], TOKEN, corpus=corpus()), neither)
    assert [query.id for query in again.lost] == ["q"]


READ = {"b": DOCUMENTS["b.md"].replace("These are the terms", "Read this")}
FEW, MANY = "# Refunds\n\n", "# Refunds\n\nThis page tells when you have your money back from us.\n\n"
HELPED = DOCUMENTS["a.md"].replace("Write to the help desk", "Write to our help desk")
ARCHIVE = f"# Archive\n\nSome words of long ago. {TEXT} And others.\n"
NOT_VALID = DOCUMENTS["a.md"].replace(f"# Refunds\n\n{TEXT} Write", f"# Old\n\nNot valid: {TEXT} Do not write")


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"a": HELPED, **READ}, ["a.md", "b.md"]),
        ({"a": DOCUMENTS["a.md"].replace(FEW, MANY), **READ}, ["a.md", "b.md"]),
        ({"a": DOCUMENTS["a.md"].replace("# Refunds", "Be patient, please"), **READ}, ["a.md", "b.md"]),
        ({"a": HELPED, "new": ARCHIVE}, ["a.md", "b.md"]),
        ({"a": f"{HELPED} Once more: {TEXT} Done."}, ["a.md", "b.md"]),
        ({"a": f"{HELPED} Not valid: ~~{TEXT}~~ Gone."}, ["a.md", "b.md"]),
        ({"a": NOT_VALID}, ["b.md"]),
    ],
    ids=[
        *("reworded around", "lengthened", "another heading", "not the one in a new document"),
        *("the first of its document", "the one that is not struck out", "a rewritten line is for a person"),
    ],
)
def test_a_copy_is_not_lost_among_the_others_of_its_answer(dataset, changes, left):
    """By itself it cannot be told from them once what is around it has changed; but any of them is enough."""
    now = corpus(**changes)
    again = relabel(copies(dataset, span("a.md", TEXT), span("b.md", TEXT)), now)
    assert (places(again), lost(again)) == ([left], 2 - len(left))
    assert texts(again.dataset, now) == [[TEXT] * len(left)]


NO_DESK = {"a": DOCUMENTS["a.md"].replace("help desk", "shop, or to the lawyer,")}
NO_A, NO_B = ({name: DOCUMENTS[f"{name}.md"].replace(TEXT, "Ask.")} for name in "ab")
NOTHING = {name: DOCUMENTS[f"{name}.md"].replace(TEXT, "Ask.").replace(OTHER, "Ask.") for name in "abc"}


@pytest.mark.parametrize(
    ("edits", "skipped", "left"),
    [
        ([NO_DESK], [(DESK, "changed in a.md")], None),
        ([NO_A, NO_A | NO_B], [], 1),
        ([NO_B, NOTHING], [(TEXT, "changed in a.md"), (TEXT, "changed in b.md"), (OTHER, "changed in c.md")], None),
    ],
    ids=["with its question", "one after the other", "with a question that was skipped in between"],
)
def test_places_and_answers_that_were_lost_are_all_back(dataset, tmp_path, edits, skipped, left):
    found = dataset
    for edit in edits:
        found = relabel(found, corpus(**edit)).dataset
    assert [(label.quote, label.reason) for label in found.skipped] == skipped
    assert [query.id for query in found.queries] == (["q", "p"] if left else ["p"])
    assert left is None or len(found.ground_truth[0].answers[0].places) == left
    back = relabel(load_dataset(save_dataset(found, tmp_path / "d.json")), corpus()).dataset
    assert {entry.query.id: entry.answers for entry in back} == {entry.query.id: entry.answers for entry in dataset}


@pytest.mark.parametrize("gone", ["a.md", "b.md", "c.md"])
def test_a_lost_place_is_back_when_its_text_is(dataset, gone, tmp_path):
    """However often it is saved and looked for in between; the first place is the reference again."""
    entry = replace(dataset.ground_truth[0], relevant_spans=dataset.ground_truth[0].relevant_spans[:1])
    before = Dataset([entry, dataset.ground_truth[1]], TOKEN, corpus=corpus())
    text = OTHER if gone == "c.md" else TEXT
    without = corpus(**{gone.removesuffix(".md"): DOCUMENTS[gone].replace(text, "Ask.")})
    found = relabel(before, without)
    assert len(found.dataset.ground_truth[0].answers[0].places) == 2
    for number in range(2):
        path = save_dataset(found.dataset, tmp_path / f"{number}.json")
        assert json.loads(path.read_text())["schema_version"] == 2
        found = relabel(load_dataset(path), without)
        assert lost(found) == 1
    again = relabel(load_dataset(save_dataset(found.dataset, tmp_path / "d.json")), corpus())
    assert back(again) == 1
    assert again.dataset.incomplete == ()
    first, *others = again.dataset.ground_truth[0].answers[0].places
    assert first == entry.answers[0].reference
    assert {*others} == {*entry.answers[0].places[1:]}
    assert again.dataset.content_hash == before.content_hash


def test_what_comes_back_in_part_remembers_the_rest(dataset):
    entry = replace(dataset.ground_truth[0], relevant_spans=(Answer.any_of(span("a.md", TEXT), span("b.md", TEXT)),))
    before = Dataset([entry, dataset.ground_truth[1]], TOKEN, corpus=corpus())
    neither = relabel(before, corpus(a=None, b=None))
    assert [query.id for query in neither.lost] == ["q"]
    one = relabel(neither.dataset, corpus(a=None))
    assert (places(one), back(one)) == ([["b.md"]], 1)
    assert places(relabel(one.dataset, corpus())) == [["a.md", "b.md"]]


@pytest.mark.parametrize(
    ("row", "corrected", "incomplete", "places"),
    [
        (f"q,How long does a refund take?,{OTHER},", ["q"], 0, 1),
        ("p,When is it here?,Soon.,parcels", ["p"], 1, 3),
    ],
    ids=["labelled anew", "metadata of another question"],
)
def test_who_labels_a_question_anew_and_nobody_else_forgets_what_was_lost_of_it(
    dataset, tmp_path, row, corrected, incomplete, places
):
    now, table = corpus(b=None), tmp_path / "q.csv"
    found = relabel(dataset, now).dataset
    table.write_text(f"id,question,quote,topic\n{row}\n")
    again = add_questions(found, check_quotes(table, now), now)
    assert [query.id for query in again.corrected] == corrected
    assert len(again.dataset.incomplete) == incomplete
    back = {entry.query.id: entry for entry in relabel(again.dataset, corpus()).dataset}
    assert len(back["q"].answers[0].places) == places


def test_a_table_whose_parts_are_apart_now_leaves_out_its_question_and_no_other(dataset, tmp_path):
    table = tmp_path / "q.csv"
    rows = [f"How long does a refund take?,{quote},x,1" for quote in (FIRST, SECOND)]
    table.write_text("\n".join(["question,quote,answer,place", *rows, "When is it here?,Soon.,,"]) + "\n")
    before = check_quotes(table, corpus()).dataset()
    now = corpus(b=f"# Terms\n\n{FIRST} {TEXT}\n", new=f"# Gifts\n\n{SECOND} Ask us.\n")
    found = relabel(before, now).dataset
    again = add_questions(found, check_quotes(table, now), now).dataset
    assert "When is it here?" in [query.text for query in again.queries]


def test_a_lost_place_of_which_a_part_is_there_is_not_told_to_be_back(dataset):
    two = span("b.md", FIRST), span("b.md", SECOND)
    half = corpus(b=DOCUMENTS["b.md"].replace(SECOND, ""))
    found = relabel(copies(dataset, span("a.md", TEXT), two), half).dataset
    again = relabel(found, corpus(b=DOCUMENTS["b.md"].replace(SECOND, ""), c="# Nothing else\n"))
    assert again.counted() == "3 labels: 2 unchanged, 1 gone"


OLD = f"## Old policy\n\nIt is not valid any more: {TEXT} This was the policy until last year.\n"


ALIKE = f"## Old policy\n\nNot valid.\n\n# Refunds\n\n{TEXT} Write to the help desk.\n"


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("old", [OLD, ALIKE])
@pytest.mark.parametrize("text", ["Ask.", ""])
def test_a_copy_does_not_go_to_another_one_of_its_document_that_was_not_labelled(dataset, text, old, saved, tmp_path):
    """Also not if the same words are around both, as in versions of a section."""
    entry = replace(dataset.ground_truth[0], relevant_spans=(Answer.any_of(span("a.md", TEXT), span("b.md", TEXT)),))
    both = corpus(a=DOCUMENTS["a.md"] + old)
    before = Dataset([entry], TOKEN, corpus=both)
    if saved:
        before = load_dataset(save_dataset(before, tmp_path / "d.json"))
    found = relabel(before, corpus(a=DOCUMENTS["a.md"].replace(TEXT, text) + old))
    assert places(found) == [["b.md"]]
    again = load_dataset(save_dataset(found.dataset, tmp_path / "again.json"))
    assert places(relabel(again, corpus(a=DOCUMENTS["a.md"].replace(TEXT, text) + old, c="# New\n"))) == [["b.md"]]
    assert places(relabel(again, both)) == [["a.md", "b.md"]]


def test_a_lost_place_does_not_come_back_in_a_twin_of_its_document(dataset, tmp_path):
    """That was there already when it was labelled, and nobody labelled it."""
    entry = replace(dataset.ground_truth[0], relevant_spans=(Answer.any_of(span("a.md", TEXT), span("c.md", OTHER)),))
    twin = DOCUMENTS["a.md"]
    found = Dataset([entry], TOKEN, corpus=corpus(twin=twin))
    without = "# Something else\n\nAll is new here, and nothing is as it was.\n"
    for number, more in enumerate(("", "More.\n", "And more.\n")):
        now = corpus(twin=twin, a=without, c=DOCUMENTS["c.md"] + more)
        again = relabel(load_dataset(save_dataset(found, tmp_path / f"{number}.json")), now)
        assert places(again) == [["c.md"]]
        found = again.dataset
    assert places(relabel(found, corpus(twin=twin))) == [["a.md", "c.md"]]


def test_an_answer_of_which_a_place_of_several_parts_is_left_is_whole_again_later(dataset, tmp_path):
    """In the question its parts are answers of their own; the file knows what they were."""
    two = span("b.md", FIRST), span("b.md", SECOND)
    desk, other = span("a.md", DESK), Answer.any_of(span("c.md", OTHER), span("b.md", TEXT))
    answers = (desk, Answer.any_of(span("a.md", TEXT), two), other)
    before = Dataset([replace(dataset.ground_truth[0], relevant_spans=answers)], TOKEN, corpus=corpus())
    gone = {"a": DOCUMENTS["a.md"].replace(TEXT, "Ask.")}
    found = relabel(before, corpus(**gone)).dataset
    for number in range(2):
        found = load_dataset(save_dataset(found, tmp_path / f"{number}.json"))
        again = relabel(found, corpus(**gone, new=f"{number}"))
        assert places(again) == [["a.md"], ["b.md"], ["b.md"], ["c.md", "b.md"]]
        assert again.counted() == "6 labels: 5 unchanged, 1 changed"
        found = again.dataset
    half = relabel(found, corpus(**gone, b=DOCUMENTS["b.md"].replace(SECOND, "")))
    assert [query.id for query in half.lost] == ["q"]
    assert places(relabel(half.dataset, corpus(b=DOCUMENTS["b.md"].replace(SECOND, "")))) == [
        ["a.md"],
        ["a.md"],
        ["c.md", "b.md"],
    ]
    assert relabel(half.dataset, corpus()).dataset.content_hash == before.content_hash
    assert relabel(found, corpus()).dataset.content_hash == before.content_hash


TERMS, TWO = span("b.md", SECOND), (span("b.md", FIRST), span("b.md", SECOND))
OLD_VERSION = {"old": f"# Old\n\nThis page is not valid any more. {TEXT} Do not use it.\n"}
PARTS_APART = {"b": f"# Terms\n\n{FIRST} {TEXT}\n", "new": f"# Gifts\n\n{SECOND} Ask us.\n"}


@pytest.mark.parametrize(
    ("labels", "before", "changes", "left"),
    [
        (
            [Answer.any_of(span("a.md", TEXT), TERMS), Answer.any_of(TERMS, span("c.md", OTHER)), span("b.md", FIRST)],
            *({}, {"a": None, "c": None}, [["b.md"], ["b.md"], ["b.md"]]),
        ),
        (
            [Answer.any_of(span("a.md", TEXT), TWO), Answer.any_of(span("c.md", OTHER), span("a.md", DESK))],
            {},
            {"a": DOCUMENTS["a.md"].replace(TEXT, ""), "c": DOCUMENTS["c.md"].replace(OTHER, "")},
            [["b.md"], ["b.md"], ["a.md"]],
        ),
        ([Answer.any_of(TWO, span("a.md", TEXT))], {}, PARTS_APART, [["a.md"]]),
        ([Answer.any_of(span("a.md", TEXT), span("b.md", TEXT))], OLD_VERSION, {**OLD_VERSION, "b": None}, [["a.md"]]),
    ],
    ids=[
        *("what is left is the same", "behind one whose parts are answers now", "parts in two documents"),
        "a copy that was not labelled",  # somebody may have declined it: an old version that nobody should use
    ],
)
def test_lost_places_come_back_to_their_own_answers(dataset, labels, before, changes, left):
    entry = replace(dataset.ground_truth[0], relevant_spans=tuple(labels))
    labelled = Dataset([entry], TOKEN, corpus=corpus(**before))
    found = relabel(labelled, corpus(**changes))
    assert places(found) == left
    assert [finding.kind for finding in lint_dataset(found.dataset).findings if finding.kind == "labelled twice"] == []
    again = relabel(found.dataset, corpus(**before)).dataset
    assert again.ground_truth == labelled.ground_truth
    assert again.content_hash == labelled.content_hash


def test_a_place_that_is_back_is_told_also_if_another_answer_misses_the_same_label(dataset):
    twice = f"# Refunds\n\nIn all shops: {TEXT} Write to us.\n\nSo it is online as well: {TEXT} Call us.\n"
    both = corpus(a=twice)
    first, second = (
        CharacterSpan(DocumentId("a.md"), start, start + len(TEXT)) for start in (twice.index(TEXT), twice.rindex(TEXT))
    )
    other = span("c.md", OTHER)
    answers = Answer.any_of(other, first, second), Answer.any_of(other, second)
    before = Dataset([replace(dataset.ground_truth[0], relevant_spans=answers)], TOKEN, corpus=both)
    found = relabel(before, corpus(a=None))
    changed = twice.replace("In all shops", "Everywhere").replace("Call us.", "Call the desk.")
    some = relabel(found.dataset, corpus(a=changed))
    assert (places(some), back(some)) == ([["c.md", "a.md", "a.md"], ["c.md", "a.md"]], 3)


PAGE = "# {0}\n\nThe {0} plan has {1} for the ones who use it.\n\n## Paying\n\nRead this. {2} Write to us if not.\n"


@pytest.mark.parametrize("are_alternatives", [True, False])
def test_labels_follow_documents_that_swap_their_names_and_swap_them_back(are_alternatives, tmp_path):
    def documents(one, other):
        pages = {"Premium": "nine seats and a phone line", "Starter": "one seat and no phone line"}
        texts = {name: PAGE.format(plan, pages[plan], TEXT) for name, plan in (("a", one), ("b", other))}
        return corpus(**texts)

    first = documents("Premium", "Starter")

    def in_page(name, text):
        start = first[DocumentId(name)].content.index(text)
        return CharacterSpan(DocumentId(name), start, start + len(text))

    units = in_page("a.md", TEXT), in_page("b.md", TEXT)
    truth = (Answer.any_of(*units),) if are_alternatives else units
    others = in_page("a.md", "nine seats"), in_page("b.md", "one seat and no")
    asked = [Query(QueryId(name), QueryText(f"What of {name}?")) for name in "qr"]
    entries = [TokenLevelGroundTruth(query, units) for query, units in zip(asked, (truth, others), strict=True)]
    found = Dataset(entries, TOKEN, corpus=first)
    for number, now in enumerate((documents("Starter", "Premium"), first, documents("Starter", "Premium"), first)):
        again = relabel(load_dataset(save_dataset(found, tmp_path / f"{number}.json")), now)
        assert lost(again) == 0
        found = again.dataset
    assert found.content_hash == Dataset(entries, TOKEN, corpus=first).content_hash
