import json
import threading

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.authoring.people import Session
from rag_evaluation_framework.data import Skipped
from rag_evaluation_framework.errors import DatasetError, LevelMismatch

TEXT = "Refunds take five working days after approval. Support helps from Monday to Friday, and never at night."
POOL = {"retrievers": [{"type": "bm25"}], "depth": 50}
DOCUMENTS = '{"schema_version": 1, "evaluation_type": "document-level", "questions": []}'


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT)
    return tmp_path / "docs"


def corpus(docs):
    return Corpus.from_folder(docs)


def first(corpus):
    end = TEXT.index(" Support")
    return CharacterSpan(DocumentId("a.md"), 0, end, corpus[DocumentId("a.md")].content[:end])


def started(docs, *wordings):
    session = Session(docs.parent / "new" / "set.json", corpus(docs), "set")
    session.add(map(Query.from_text, wordings))
    return session


def test_a_question_is_in_the_file_at_once_and_is_not_labelled_yet(docs):
    session = started(docs)
    assert (session.questions, session.labelled, session.path.exists()) == ([], 0, False)
    session.ask("How long?")
    (skipped,) = json.loads(session.path.read_text())["skipped"]
    assert (skipped["query"]["query"], skipped["quote"], skipped["reason"]) == ("How long?", "", "not labelled yet")
    with pytest.raises(DatasetError, match="no question has a label yet: 1 is skipped; `rag-eval label` goes on"):
        load_dataset(session.path)
    (docs / "a.md").write_text("Everything is different now, in every respect.")  # which it does not mind
    again = Session(session.path, corpus(docs), "set")
    assert (len(again.questions), again.changed) == (1, "")


def test_labels_are_in_the_file_with_their_pools_and_a_session_goes_on_with_what_it_holds(docs):
    session = started(docs, "How long?", "Who?", "Why?")
    session.label(0, [(first(session.corpus),)], POOL)
    again = Session(session.path, corpus(docs), "another name")
    assert [question.query.text for question in again.questions] == ["How long?", "Who?", "Why?"]
    assert (again.labelled, again.changed) == (1, "")
    again.label(1, [], {**POOL, "depth": 7})
    dataset = load_dataset(session.path, corpus=corpus(docs))
    assert [entry.relevant for entry in dataset] == [(first(session.corpus),), ()]
    assert dataset.quoted(dataset.ground_truth[0].relevant[0]).text == TEXT[: TEXT.index(" Support")]
    assert [*dataset.metadata] == ["pools"]
    assert [*dataset.metadata["pools"]] == [POOL, {**POOL, "depth": 7}]
    assert [label.query.text for label in dataset.skipped] == ["Why?"]  # what is left
    assert (dataset.name, again.labelled) == ("set", 2)


def test_a_question_can_be_labelled_again_and_the_places_of_one_answer_are_alternatives(docs):
    session = started(docs, "How long?")
    other = CharacterSpan(DocumentId("a.md"), len(TEXT) - 6, len(TEXT), TEXT[-6:])
    session.label(0, [], POOL)
    session.label(0, [(first(session.corpus), other)], POOL)
    dataset = load_dataset(session.path)
    assert [*dataset.metadata["pools"]] == [POOL]
    (entry,) = dataset
    assert [places.places for places in entry.answers] == [((first(session.corpus),), (other,))]


def test_a_question_that_is_there_is_not_added_again_whatever_its_capitals_and_final_punctuation(docs):
    session = started(docs, "When do invoices come?", "when do invoices come")
    assert session.ask("when do invoices come") == 1
    assert session.ask("When do Invoices come ?") == 0
    assert session.ask("When did invoices come?") == 2
    assert session.add([Query.from_text("When  do invoices come?"), Query.from_text("Who?")]) == 1
    assert [question.query.text for question in session.questions] == [
        "When do invoices come?",
        "when do invoices come",
        "When did invoices come?",
        "Who?",
    ]


def test_a_question_is_removed_with_its_label_and_without_its_last_one_a_dataset_goes_on(docs):
    session = started(docs, "How longg?", "Who?", "Why?")
    session.label(0, [(first(session.corpus),)], POOL)
    session.label(1, [], POOL)
    session.remove(0)
    dataset = load_dataset(session.path)
    assert [entry.query.text for entry in dataset] == ["Who?"]
    assert [label.query.text for label in dataset.skipped] == ["Why?"]
    assert (len(session.questions), session.labelled) == (2, 1)
    session.remove(1)
    assert load_dataset(session.path).skipped == ()
    session.remove(0)
    again = Session(session.path, corpus(docs), "set")
    assert again.questions == []
    assert again.ask("How long?") == 0


def test_a_dataset_that_was_made_elsewhere_goes_on_with_all_that_it_holds(docs):
    there = corpus(docs)
    truth = TokenLevelGroundTruth(Query.from_text("Old?"), [first(there)])
    lost = Skipped(Query.from_text("Lost?"), "a quote", "not found")
    save_dataset(Dataset([truth], TOKEN, corpus=there, metadata={"mine": 1}, skipped=[lost]), docs.parent / "old.jsonl")
    session = Session(docs.parent / "old.jsonl", corpus(docs), "old")
    session.ask("New?")
    dataset = load_dataset(session.path)
    assert [entry.query.text for entry in dataset] == ["Old?"]
    assert [(label.query.text, label.quote) for label in dataset.skipped] == [("Lost?", "a quote"), ("New?", "")]
    assert dataset.metadata == {"mine": 1}
    session.label(1, [(first(there),)], POOL)
    assert [label.query.text for label in load_dataset(session.path).skipped] == ["New?"]


def test_labels_move_with_documents_that_were_edited(docs):
    session = started(docs, "How long?", "Who?", "Why?")
    session.label(0, [(first(session.corpus),)], POOL)
    session.label(1, [], POOL)
    (docs / "a.md").write_text(f"A new beginning.\n\n{TEXT}")
    again = Session(session.path, corpus(docs), "set")
    assert "1 label: 0 unchanged, 1 moved." in again.changed
    assert "Questions without an answer, which the new documents may have: 1." in again.changed
    again.ask("When?")
    dataset = load_dataset(session.path, corpus=corpus(docs))
    assert dataset.mismatches(corpus(docs)) == []
    assert dataset.ground_truth[0].relevant[0].start == len("A new beginning.\n\n")
    assert [label.query.text for label in dataset.skipped] == ["Why?", "When?"]


def test_labels_that_are_lost_are_refused_with_the_command_that_helps(docs):
    (docs / "b.md").write_text("Something else stays as it is, in every respect.")
    session = started(docs, "How long?", "What stays?")
    other = session.corpus[DocumentId("b.md")].content
    session.label(0, [(first(session.corpus),)], POOL)
    session.label(1, [(CharacterSpan(DocumentId("b.md"), 0, len(other), other),)], POOL)
    before = session.path.read_bytes()
    (docs / "a.md").write_text("Everything is different now, in every respect.")
    with pytest.raises(DatasetError, match=r"1 of its 2 labelled texts .* any more; .*update .*` keeps the others"):
        Session(session.path, corpus(docs), "set")
    (docs / "b.md").write_text("And so is this one.")
    problem = (
        r"2 of its 2 labelled texts are not found in .* any more, so no question keeps its labels; are these the right "
        r"folder and pattern of files\? If the documents were rewritten, label them anew with `--output` and another "
        r"file, or give a table of new quotes: `rag-eval dataset update .*--corpus CONFIG.yaml --questions TABLE`"
    )
    with pytest.raises(DatasetError, match=problem):
        Session(session.path, corpus(docs), "set")
    assert session.path.read_bytes() == before


def test_a_file_that_somebody_else_wrote_meanwhile_is_left_as_it_is(docs):
    session, other = started(docs, "How long?"), None
    other = Session(session.path, corpus(docs), "set")
    other.ask("Who?")
    with pytest.raises(DatasetError, match="was written by somebody else meanwhile"):
        session.ask("Why?")
    assert [label["query"]["query"] for label in json.loads(session.path.read_text())["skipped"]] == [
        "How long?",
        "Who?",
    ]


def test_readers_never_see_a_half_of_the_file(docs):
    session = started(docs, *(f"Question number {number}?" for number in range(50)))
    seen, done = [], threading.Event()

    def read():
        while not done.is_set():
            seen.append(len(json.loads(session.path.read_text())["skipped"]))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(20):
        session.label(number, [], POOL)
    done.set()
    reader.join()
    assert seen
    assert set(seen) <= set(range(30, 51))
    assert len(json.loads(session.path.read_text())["skipped"]) == 30


@pytest.mark.parametrize(
    ("name", "text", "error", "problem"),
    [
        ("set.csv", "", DatasetError, "expected a file name ending in .json or .jsonl"),
        ("set.json", "[]", DatasetError, "expected a dataset as `rag-eval init` and `rag-eval label` write it"),
        ("set.json", "{", DatasetError, "not valid JSON"),
        ("set.jsonl", "", DatasetError, "holds no questions"),
        ("set.json", DOCUMENTS, LevelMismatch, "document-level"),
    ],
)
def test_a_file_that_is_no_native_dataset_of_spans_is_refused_and_stays(docs, name, text, error, problem):
    path = docs.parent / name
    path.write_text(text)
    with pytest.raises(error, match=problem):
        Session(path, corpus(docs), "set")
    assert path.read_text() == text


def test_a_folder_that_cannot_be_written_is_told_and_what_a_link_leads_to_is_replaced(docs):
    session = started(docs, "How long?")
    link = docs.parent / "link.json"
    link.symlink_to(session.path)
    Session(link, corpus(docs), "set").ask("Who?")
    assert link.is_symlink()
    assert len(json.loads(session.path.read_text())["skipped"]) == 2
    (docs.parent / "file").write_text("")
    with pytest.raises(DatasetError, match="cannot be"):
        Session(docs.parent / "file" / "set.json", corpus(docs), "set").ask("Who?")


def test_a_question_that_lost_a_label_is_told_by_that_and_by_those_that_are_left(docs):
    session = started(docs, "How long?")
    content, left = json.loads(session.path.read_text()), first(corpus(docs))
    (skipped,) = content["skipped"]
    skipped["quote"] = "Gone."
    here = {"doc_id": "a.md", "start": 0, "end": left.end, "text": left.text}
    gone = {"doc_id": "b.md", "start": 0, "end": 5, "text": "Gone.", "text_hash": "0" * 64}
    content["incomplete"] = [{"query": skipped["query"], "answers": [[[here], [gone]]]}]
    session.path.write_text(json.dumps(content))
    (question,) = Session(session.path, corpus(docs), "set").questions
    assert question.earlier_texts == ["Gone.", left.text]


@pytest.mark.parametrize("act", ["label", "remove"])
def test_what_was_lost_of_a_question_is_forgotten_when_it_is_labelled_anew_or_removed(docs, act):
    session = started(docs, "How long?", "Who?")
    session.label(0, [(first(corpus(docs)),)], POOL)
    content = json.loads(session.path.read_text())
    query = {"id": session.questions[0].query.id, "query": "How long?", "metadata": {}}
    here = {"doc_id": "a.md", "start": 0, "end": first(corpus(docs)).end, "text": first(corpus(docs)).text}
    gone = {"doc_id": "b.md", "start": 0, "end": 5, "text": "Gone.", "text_hash": "0" * 64}
    content |= {"incomplete": [{"query": query, "answers": [[[here], [gone]]]}]}
    session.path.write_text(json.dumps(content))
    again = Session(session.path, corpus(docs), "set")
    again.label(1, [(first(corpus(docs)),)], POOL)
    assert len(json.loads(session.path.read_text())["incomplete"]) == 1
    if act == "label":
        other = CharacterSpan(DocumentId("a.md"), len(TEXT) - 6, len(TEXT), TEXT[-6:])
        again.label(0, [(other,)], POOL)
    else:
        again.remove(0)
    assert "incomplete" not in json.loads(session.path.read_text())
