import json
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    TOKEN,
    Answer,
    CharacterSpan,
    Corpus,
    Dataset,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.annotation import ReviewChecks, ReviewSession, SavedFile
from rag_evaluation_framework.data import REVIEW, Skipped
from rag_evaluation_framework.errors import DatasetError, InputError
from rag_evaluation_framework.labelling import relabel

TEXT = "Refunds take five working days after approval. Support helps from Monday to Friday, and never at night.\n"


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT)
    (tmp_path / "docs" / "b.md").write_text(f"# Copy\n\n{TEXT}")
    return Corpus.from_folder(tmp_path / "docs")


@pytest.fixture
def path(tmp_path, corpus):
    """A dataset of three questions, one of them with several answers, and a skipped one."""
    refunds, copy = (span(corpus, document, "Refunds take five working days") for document in ("a.md", "b.md"))
    support, never = span(corpus, "a.md", "Support helps"), span(corpus, "a.md", "never at night")
    entries = [
        TokenLevelGroundTruth(query("How long?", strategy="simple"), (Answer.any_of(refunds, copy),)),
        TokenLevelGroundTruth(query("Who helps, and when not?"), (support, never)),
        TokenLevelGroundTruth(query("Who is the chief?"), ()),
    ]
    skipped = [Skipped(query("Lost?"), "what was lost", "is not there")]
    dataset = Dataset(entries, TOKEN, name="set", corpus=corpus, metadata={"id": "v1"}, skipped=skipped)
    return save_dataset(dataset, tmp_path / "set.json")


def query(text, **metadata):
    return replace(Query.from_text(text), metadata=metadata)


def span(corpus, document, text):
    start = corpus[DocumentId(document)].content.index(text)
    return CharacterSpan(DocumentId(document), start, start + len(text), text)


def opened(path):
    return ReviewSession(SavedFile(path), load_dataset(path))


def without_marks(path):
    content = json.loads(path.read_text())
    for question in content["questions"]:
        question["metadata"].pop(REVIEW, None)
    return content


def test_every_decision_is_in_the_file_at_once_and_nothing_else_of_it_changes(path):
    before, identity = without_marks(path), load_dataset(path).content_hash
    session = opened(path)
    for decide in (
        lambda: session.reword(0, "How many days?"),
        lambda: session.accept(0),
        lambda: session.toggle_answer(1, 0),
        lambda: session.accept(1),
        lambda: session.drop(2),
    ):
        decide()
        assert [opened(path).review(number) for number in range(3)] == [*map(session.review, range(3))]
        assert without_marks(path) == before
    assert load_dataset(path).content_hash == identity
    assert str(opened(path).counts()) == "0 accepted, 2 edited, 1 dropped, 0 open"


def test_an_edit_opens_a_question_again_and_undo_forgets_all_of_it(path):
    original = path.read_text()
    session = opened(path)
    session.accept(0)
    session.reword(0, "How many days?")
    assert str(session.counts()) == "0 accepted, 0 edited, 0 dropped, 3 open"
    session.reword(0, "How long?")
    assert session.review(0).wording == ""
    session.drop(0)
    session.toggle_answer(1, 1)
    session.reopen(0)
    session.reopen(1)
    assert path.read_text() == original


def test_what_is_carried_out_has_what_stays_as_it_was_edited(path, corpus, tmp_path):
    session = opened(path)
    session.reword(0, "How many days?")
    session.accept(0)
    session.toggle_answer(1, 1)
    session.drop(2)
    new = save_dataset(session.carried_out(), tmp_path / "new.json")
    reviewed = load_dataset(new, corpus=corpus)
    first, second = reviewed.ground_truth
    assert (first.query.id, first.query.text) == (Query.from_text("How long?").id, "How many days?")
    assert [place[0].doc_id for place in first.answers[0].places] == ["a.md", "b.md"]
    assert first.query.metadata["strategy"] == "simple"
    assert [unit.text for unit in second.relevant] == ["Support helps"]
    before, after = json.loads(path.read_text()), json.loads(new.read_text())
    for key in ("name", "corpus_hash", "metadata", "texts", "skipped"):
        assert after[key] == before[key]
    again = opened(new)
    assert str(again.counts()) == "0 accepted, 1 edited, 0 dropped, 1 open"
    assert again.review(0).earlier_wording == "How long?"
    again.reword(0, "How many days, at most?")
    assert again.carried_out().ground_truth[0].query.metadata[REVIEW]["earlier_wording"] == "How long?"


def test_a_dataset_of_which_everything_was_dropped_is_not_written(path):
    session = opened(path)
    for number in range(3):
        session.drop(number)
    with pytest.raises(DatasetError, match=r"set\.json: every question was dropped, so there is no dataset to write"):
        session.carried_out()


def test_the_last_answer_and_answers_that_are_not_there_are_not_dropped(path):
    session = opened(path)
    session.toggle_answer(1, 0)
    with pytest.raises(InputError, match="answer 2 is the only one that is left; d drops the question"):
        session.toggle_answer(1, 1)
    session.toggle_answer(1, 0)
    assert session.review(1).dropped_answers == ()
    with pytest.raises(InputError, match="there is no answer 3: the question has 2"):
        session.toggle_answer(1, 2)
    with pytest.raises(InputError, match="there is no answer 0: the question has 2"):
        session.toggle_answer(1, -1)
    with pytest.raises(InputError, match="there is no answer 1: the question has 0"):
        session.toggle_answer(2, 0)


def test_verdicts_stay_when_labels_move_and_lapse_when_labels_change(path, corpus, tmp_path):
    session = opened(path)
    session.accept(0)
    session.drop(1)
    (tmp_path / "docs" / "a.md").write_text(f"# New\n\n{TEXT}")
    moved = relabel(load_dataset(path), Corpus.from_folder(tmp_path / "docs")).dataset
    path.unlink()
    save_dataset(moved, path)
    assert [opened(path).review(number).verdict for number in range(3)] == ["accepted", "dropped", None]
    path.write_text(path.read_text().replace("How long?", "How long does it take?"))
    assert [opened(path).review(number).verdict for number in range(3)] == [None, "dropped", None]


def test_lost_places_stay_while_answers_are_dropped_and_go_with_a_dropped_question(path, corpus, tmp_path):
    refunds, copy = (span(corpus, document, "Refunds take five working days") for document in ("a.md", "b.md"))
    answers = (Answer.any_of(refunds, copy), span(corpus, "a.md", "Support helps"))
    entries = [TokenLevelGroundTruth(query("How long, and who?"), answers), TokenLevelGroundTruth(query("Who?"), ())]
    (tmp_path / "docs" / "b.md").write_text("# Copy\n\nNothing is left of it here, not a single word of it.\n")
    edited = relabel(Dataset(entries, TOKEN, corpus=corpus), Corpus.from_folder(tmp_path / "docs")).dataset
    lost = save_dataset(edited, tmp_path / "lost.json")
    session = opened(lost)
    assert len(json.loads(lost.read_text())["incomplete"]) == 1
    session.drop(0)
    assert len(json.loads(lost.read_text())["incomplete"]) == 1
    assert "incomplete" not in json.loads(save_dataset(session.carried_out(), tmp_path / "new.json").read_text())


def test_metadata_of_that_name_that_is_no_review_is_refused_and_stays(path):
    content = json.loads(path.read_text())
    content["questions"][1]["metadata"][REVIEW] = "5 stars"
    path.write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=r"set\.json: the metadata of 1 question, .* has a 'review' of its own"):
        opened(path)


def test_a_file_that_somebody_else_has_written_is_left_as_it_is(path):
    session = opened(path)
    other = opened(path)
    other.drop(0)
    written = path.read_text()
    with pytest.raises(DatasetError, match="was written by somebody else meanwhile"):
        session.accept(0)
    assert path.read_text() == written


def kinds(checks, number):
    return [finding.kind for finding in checks.findings(number)]


def test_a_question_is_checked_as_it_is_to_be(path, corpus):
    dataset = load_dataset(path)
    session = opened(path)
    checks = ReviewChecks(session, dataset, corpus, None)
    assert kinds(checks, 1) == []
    session.reword(1, "Do refunds take five working days after approval?")
    assert kinds(checks, 0) == kinds(checks, 2) == []
    session.reword(0, "Do refunds take five working days?")
    assert kinds(checks, 0) == ["copies its answer"]
    session.reopen(0)
    assert kinds(checks, 0) == []


def test_a_question_that_is_worded_as_another_is_told_until_one_of_them_is_dropped(path, corpus):
    session = opened(path)
    checks = ReviewChecks(session, load_dataset(path), corpus, None)
    session.reword(0, "who is the chief")
    assert kinds(checks, 0) == kinds(checks, 2) == ["other truth"]
    session.drop(2)
    assert kinds(checks, 0) == []


def test_a_decision_that_the_file_holds_already_is_no_conflict(path):
    first, second = opened(path), opened(path)
    first.drop(0)
    second.drop(0)  # as an interrupt makes it be saved again
    second.accept(1)
    assert str(opened(path).counts()) == "1 accepted, 0 edited, 1 dropped, 1 open"
