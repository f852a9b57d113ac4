"""Questions of a table, added to a dataset: none of those that were there vanishes untold."""

import re

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
)
from rag_evaluation_framework.data import QueryId, QueryText, Skipped
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labels import add_questions, check_quotes, relabel

FIRST, SECOND = "Invoices are sent on the first day.", "Refunds take five working days in all countries."
PAGE = f"# Billing\n\n{FIRST} {SECOND} Write to us.\n"
CORPUS = Corpus([Document(DocumentId("a.md"), PAGE)])


def truth(query_id, question, *texts, **metadata):
    spans = [CharacterSpan(DocumentId("a.md"), PAGE.index(text), PAGE.index(text) + len(text), text) for text in texts]
    return TokenLevelGroundTruth(Query(QueryId(query_id), QueryText(question), metadata), spans)


def dataset_of(*entries, skipped=()):
    return Dataset(entries, TOKEN, corpus=CORPUS, skipped=skipped)


@pytest.fixture
def add(tmp_path):
    def added(dataset, *lines):
        path = tmp_path / "more.csv"
        path.write_text("\n".join([*lines, ""]))
        return add_questions(dataset, check_quotes(path, CORPUS), CORPUS)

    return added


def asked(dataset):
    return {entry.query.id: (entry.query.text, [span.text for span in entry.relevant]) for entry in dataset}


@pytest.mark.parametrize("second", [FIRST, "It is not there."])
def test_a_question_whose_generated_id_is_that_of_another_is_added_beside_it(add, second):
    old, new = "What is said in section 70272?", "What is said in section 80025?"
    dataset = dataset_of(truth("query_de826fd4", old, SECOND))
    for _ in range(2):
        additions = add(dataset, "question,quote", f"{new},{second}", f"{old},{SECOND}")
        assert (additions.corrected, [query.text for query in additions.kept]) == ((), [old, new][: len(dataset)])
        dataset = additions.dataset
        wordings = {query.text: query.id for query in dataset.queries}
        wordings |= {label.query.text: label.query.id for label in dataset.skipped}
        assert wordings == {old: "query_de826fd4", new: "query_de826fd48121ad7e"}


@pytest.mark.parametrize("quote", [FIRST, SECOND, "", "It is not there."])
def test_all_ids_with_another_wording_are_refused_whether_their_questions_are_scored_or_skipped(add, quote):
    skipped = [Skipped(Query(QueryId("3"), QueryText("Sunday?")), "Nowhere.", "lost: its text is gone")]
    dataset = dataset_of(truth("2", "Invoice?", FIRST), skipped=skipped)
    told = [
        f"line {line}: the id '{query_id}' is that of '{wording}' in the dataset, and of 'When do they open?' "
        "in the table; give the new question another id or, if the two are one question, the wording that the "
        "dataset has"
        for line, query_id, wording in ((3, "2", "Invoice?"), (4, "3", "Sunday?"))
    ]
    rows = [f"{query_id},When do they open?,{quote}" for query_id in ("2", "3", "2")]
    with pytest.raises(DatasetError, match=re.escape("more.csv: 2 problems:\n  " + "\n  ".join(told)) + "$"):
        add(dataset, "id,question,quote", f"1,How?,{FIRST}", *rows)
    with pytest.raises(DatasetError, match=re.escape(f"more.csv: {told[0]}")):
        add(dataset, "id,question,quote", f"1,How?,{FIRST}", rows[0])


def test_a_wording_that_differs_in_white_space_only_is_the_same_and_stays(add):
    additions = add(dataset_of(truth("1", " Invoice \n no?", FIRST)), "id,question,quote", f"1,Invoice no?,{SECOND}")
    assert asked(additions.dataset) == {"1": (" Invoice \n no?", [SECOND])}
    assert [query.id for query in additions.corrected] == ["1"]


def test_a_wording_that_is_there_under_another_id_is_added(add):
    dataset = dataset_of(truth("1", "Invoice?", FIRST))
    again = add(dataset, "id,question,quote", f"7,Invoice?,{SECOND}", "8,Invoice?,Nowhere.", f"9,Refund?,{SECOND}")
    assert again.counted() == "2 questions added, 0 corrected, 0 there already"
    again = add(dataset, "question,quote", f"Invoice?,{SECOND}")
    assert again.counted() == "1 question added, 0 corrected, 0 there already"
    (query,) = again.added
    assert query.id.startswith("query_")


def test_a_wording_without_an_id_is_the_skipped_question_that_has_it(add):
    """Else both would be there as soon as the lost label is found again."""
    reworded = CORPUS["a.md"].content.replace(FIRST, "Gone.")
    lost = relabel(dataset_of(truth("1", "Invoice?", FIRST)), Corpus([Document(DocumentId("a.md"), reworded)])).dataset
    for row in (f"Invoice?,{SECOND}", f" Invoice? ,{SECOND}"):
        again = add(lost, "question,quote", row)
        assert (asked(again.dataset), again.dataset.skipped) == ({"1": ("Invoice?", [SECOND])}, ())
        assert [query.id for query in again.added] == ["1"]
    again = add(lost, "question,quote", "Invoice?,Nowhere.")
    assert {label.query.id for label in again.dataset.skipped} == {"1"}


@pytest.mark.parametrize("others", [{"2": True, "1": False}, {"1": False, "2": False}], ids=["scored, too", "twice"])
def test_a_wording_without_an_id_that_several_questions_have_is_a_new_one(add, others):
    scored = [truth(query_id, "Invoice?", FIRST) for query_id, has_place in others.items() if has_place]
    skipped = [
        Skipped(Query(query_id, "Invoice?"), "x", "lost") for query_id, is_there in others.items() if not is_there
    ]
    dataset = Dataset(scored, TOKEN, corpus=CORPUS, skipped=skipped)
    (query,) = add(dataset, "question,quote", f"Invoice?,{SECOND}").added
    assert query.id.startswith("query_")


def test_metadata_that_the_table_lacks_stays_and_metadata_that_it_changes_is_corrected(add):
    dataset = dataset_of(truth("1", "Invoice?", FIRST, topic="money", by="me"), truth("2", "Refund?", SECOND, by="me"))
    additions = add(dataset, "id,question,quote,topic", f"1,Invoice?,{FIRST},bills", f"2,Refund?,{SECOND},")
    assert [dict(query.metadata) for query in additions.dataset.queries] == [
        {"topic": "bills", "by": "me"},
        {"by": "me"},
    ]
    assert [query.id for query in additions.corrected] == ["1"]
    assert [query.id for query in additions.kept] == ["2"]
    requoted = add(dataset, "id,question,quote", f"1,Invoice?,{SECOND}").dataset.queries[0]
    assert dict(requoted.metadata) == {"topic": "money", "by": "me"}


@pytest.mark.parametrize("quote", [FIRST, "Nowhere else."])
def test_a_skipped_question_keeps_its_metadata_when_the_table_has_another_quote(add, quote):
    query = Query(QueryId("1"), QueryText("Invoice?"), {"by": "me"})
    dataset = dataset_of(skipped=[Skipped(query, "Nowhere.", "lost: its text is gone")])
    added = add(dataset, "id,question,quote,topic", f"1,Invoice?,{quote},money").dataset
    (again,) = (*added.queries, *(label.query for label in added.skipped))
    assert (again.id, dict(again.metadata)) == ("1", {"by": "me", "topic": "money"})


LEAVE = "Every employee has 30 days of leave a year."
OF_LEAVE = f"# Leave\n\n{LEAVE} The rest lapses in March.\n"
NEW_TEXT = LEAVE.replace("30", "28")
LOST = {"leave.md": OF_LEAVE.replace(LEAVE, NEW_TEXT), "archive/leave.md": OF_LEAVE}


@pytest.mark.parametrize(
    ("pages", "document", "quote", "labels"),
    [
        ({"leave.md": f"New.\n{OF_LEAVE}", "archive/leave.md": OF_LEAVE}, "", LEAVE, [("leave.md", LEAVE)]),
        (LOST, "", LEAVE, []),
        (LOST | {"leave.md": OF_LEAVE.replace("30 days", "30 working days")}, "", LEAVE, []),
        (LOST | {"leave.md": OF_LEAVE.replace("30 days", "~~30~~ 28 days")}, "", LEAVE, []),
        (LOST, "archive/leave.md", LEAVE, [("archive/leave.md", LEAVE)]),
        (LOST, "", NEW_TEXT, [("leave.md", NEW_TEXT)]),
    ],
    ids=["it has a copy by now", "28", "working", "struck out", "another document is named", "another text is quoted"],
)
def test_the_table_that_a_dataset_began_with_chooses_nothing_anew_and_brings_back_nothing_that_was_lost(
    tmp_path, pages, document, quote, labels
):
    then, corpus = (
        Corpus([Document(DocumentId(name), content) for name, content in texts.items()])
        for texts in ({"leave.md": OF_LEAVE}, pages)
    )
    start = OF_LEAVE.index(LEAVE)
    span = CharacterSpan(DocumentId("leave.md"), start, start + len(LEAVE), LEAVE)
    entry = TokenLevelGroundTruth(Query(QueryId("1"), QueryText("How much leave?")), [span])
    path = tmp_path / "table.csv"
    path.write_text(f'id,question,quote,document\n1,How much leave?,"{quote}",{document}\n')
    updated = relabel(Dataset([entry], TOKEN, corpus=then), corpus).dataset
    additions = add_questions(updated, check_quotes(path, corpus), corpus)
    assert [(span.doc_id, span.text) for entry in additions.dataset for span in entry.relevant] == labels
    assert (additions.corrected, len(additions.added)) == ((), len(labels) - len(updated))
    (row,) = additions.check.rows
    assert (row.status, len(row.places)) == (("located", 1) if labels else ("missing", 0))
    assert ("its label was lost as the documents changed: `dataset update` shows" in row.reason) is not bool(labels)
