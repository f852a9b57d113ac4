import json
from dataclasses import replace

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
from rag_evaluation_framework.authoring.people import ReviewChecks, ReviewSession, SavedFile
from rag_evaluation_framework.data import REVIEW, Answer, Skipped
from rag_evaluation_framework.datasets.checks.findings import LabelTexts
from rag_evaluation_framework.errors import DatasetError, InputError
from rag_evaluation_framework.labels import relabel

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


def test_lost_places_go_with_a_dropped_question_and_without_any_question_nothing_is_written(path, corpus, tmp_path):
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
    session.drop(1)
    with pytest.raises(DatasetError, match=r"lost\.json: every question was dropped, so there is no dataset to write"):
        session.carried_out()


def test_a_file_that_somebody_else_has_written_is_left_as_it_is_unless_it_holds_the_same_decision(path):
    first, second = opened(path), opened(path)
    first.drop(0)
    second.drop(0)  # as an interrupt makes it be saved again
    second.accept(1)
    assert str(opened(path).counts()) == "1 accepted, 0 edited, 1 dropped, 1 open"
    written = path.read_text()
    with pytest.raises(DatasetError, match="was written by somebody else meanwhile"):
        first.accept(0)
    assert path.read_text() == written


def kinds(checks, number):
    return [finding.kind for finding in checks.findings(number)]


def test_a_question_is_checked_as_it_is_to_be_and_beside_those_that_are_kept(path, corpus):
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
    session.reword(0, "who is the chief")
    assert kinds(checks, 0) == kinds(checks, 2) == ["other truth"]
    session.drop(2)
    assert kinds(checks, 0) == []


def texts_of(path, corpus):
    return LabelTexts(load_dataset(path), corpus, None)


def texts(entry):
    return [[[unit.text for unit in place] for place in answer.places] for answer in entry.answers]


@pytest.mark.parametrize("has_corpus", [True, False])
def test_an_answer_is_lengthened_with_its_copies_and_carried_out_where_it_is_written(path, corpus, has_corpus):
    original, session = json.loads(path.read_text()), opened(path)
    texts_at_hand = texts_of(path, corpus if has_corpus else None)  # without the documents, those that are kept
    session.accept(0)
    session.move_ends(0, 0, "s>", texts_at_hand)
    assert session.review(0).verdict is None
    session.move_ends(0, 0, "w<", texts_at_hand)
    longer = "Refunds take five working days after"
    assert texts(session.labelled(0)) == texts(session.wanted(0)) == [[[longer], [longer]]]
    session = opened(path)  # as after a kill
    assert texts(session.labelled(0)) == [[[longer], [longer]]]
    session.accept(0)
    assert session.counts().edited == 1
    questions = json.loads(path.read_text())["questions"]
    assert questions[0]["metadata"].pop("review")["moved_ends"] == [
        {"label": number, "start": 0, "end": 6, "text": longer} for number in (0, 1)
    ]
    assert questions == original["questions"]
    written = save_dataset(session.carried_out(), path.with_name("new.json"))
    (first, *_) = load_dataset(written, corpus=corpus)
    assert texts(first) == [[[longer], [longer]]]
    assert not load_dataset(written).mismatches(corpus)


def test_copies_that_do_not_go_on_with_the_same_words_stay(path, corpus):
    session, read = opened(path), texts_of(path, corpus)
    with pytest.raises(InputError, match="nothing more there"):
        session.move_ends(0, 0, "<w", read)  # the first place begins its document
    session.move_ends(0, 0, ">w", read)
    assert texts(session.labelled(0)) == [[["take five working days"], ["take five working days"]]]
    session.move_ends(1, 0, "<w", read)
    assert texts(session.labelled(1)) == [[["approval. Support helps"]], [["never at night"]]]
    session.move_ends(1, 0, ">w", read)
    assert session.review(1).moved_ends == ()
    session.move_ends(1, 1, ">w", read)
    session.toggle_answer(1, 0)
    assert texts(session.wanted(1)) == [[["at night"]]]
    session.reopen(1)
    assert texts(session.labelled(1)) == [[["Support helps"]], [["never at night"]]]
    corpus = Corpus([Document(DocumentId(f"{word}.md"), f"Five days {word}.") for word in ("here", "there")])
    places = [span(corpus, document.id, "Five days") for document in corpus]
    entry = TokenLevelGroundTruth(query("How long?"), (Answer.any_of(*places),))
    path = save_dataset(Dataset([entry], TOKEN, name="two", corpus=corpus), path.with_name("two.json"))
    session = opened(path)
    session.move_ends(0, 0, "w>", texts_of(path, corpus))
    assert texts(session.labelled(0)) == [[["Five days here."], ["Five days"]]]


def test_ends_move_only_where_the_text_of_an_answer_is_at_hand(path, corpus, tmp_path):
    session = opened(path)
    (tmp_path / "docs" / "a.md").write_text("Something else.\n")
    for number, answer, read, told in (
        (0, 0, texts_of(path, Corpus.from_folder(tmp_path / "docs")), "not in the documents at hand"),
        (0, 1, texts_of(path, corpus), "there is no answer 2"),
        (2, 0, texts_of(path, corpus), "there is no answer 1"),
    ):
        with pytest.raises(InputError, match=told):
            session.move_ends(number, answer, "w<", read)
    chunks = Dataset([ChunkLevelGroundTruth(query("Which?"), ("0" * 12,))], CHUNK, name="chunks")
    session = ReviewSession(SavedFile(tmp_path / "chunks.json"), chunks)
    with pytest.raises(InputError, match="only an answer that is one text"):
        session.move_ends(0, 0, "w<", LabelTexts(chunks, None, None))


def test_moved_ends_go_along_with_a_label_that_update_moves_and_end_with_its_text(path, corpus, tmp_path):
    session = opened(path)
    session.move_ends(0, 0, "w>", texts_of(path, corpus))
    file = tmp_path / "docs" / "a.md"
    file.write_text(f"# First\n\n{TEXT}")
    now = Corpus.from_folder(tmp_path / "docs")
    save_dataset(relabel(load_dataset(path), now).dataset, path.with_name("moved.json"))
    wanted = opened(path.with_name("moved.json")).wanted(0)
    assert texts(wanted)[0][0] == ["Refunds take five working days after"]
    assert now["a.md"].content[wanted.relevant[0].start :].startswith("Refunds take five working days after")


@pytest.mark.parametrize(
    "given",
    [
        "5 stars",
        {"moved_ends": 1},
        {"moved_ends": [1]},
        {"moved_ends": [{}]},
        {"moved_ends": [[0, 1, 0, "a"]]},
        {"moved_ends": [{"label": 0, "start": 1.0, "end": 0, "text": "a"}]},
        {"moved_ends": [{"label": 0, "start": 1, "end": 0}]},
    ],
    ids=str,
)
def test_metadata_of_that_name_that_is_no_review_is_refused(path, given):
    data = json.loads(path.read_text())
    data["questions"][0]["metadata"][REVIEW] = given
    path.write_text(json.dumps(data))
    with pytest.raises(DatasetError, match=r"set\.json: the metadata of 1 question, .* has a 'review' of its own"):
        opened(path)
