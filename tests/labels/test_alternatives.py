"""Tables that say which quotes are alternatives: the columns answer and place, `*`, and repeated="any"."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, load_dataset
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.labels import add_questions, check_quotes, quote_table

TEXT = "Refunds take at most 14 working days in all countries."
CORPUS = Corpus(
    [
        Document(DocumentId("a.md"), f"# Refunds\n\n{TEXT} Write to us if it takes longer. {TEXT}\n"),
        Document(
            DocumentId("b.md"),
            "# Terms\n\nThese are our terms. Refunds take at most 14\nworking days in all countries.\n",
        ),
        Document(DocumentId("c.md"), f"# Questions\n\nMoney is back after two weeks. {TEXT} Ask us on any day.\n"),
    ]
)


def check(tmp_path, *rows, columns="question,quote,document,answer,place", **options):
    path = tmp_path / "q.csv"
    path.write_text("\n".join([columns, *rows]) + "\n")
    return check_quotes(path, CORPUS, **options)


def places(found, question="When?"):
    (entry,) = (entry for entry in found.dataset() if entry.query.text == question)
    return [[[f"{span.doc_id}:{span.start}" for span in place] for place in answer.places] for answer in entry.answers]


MANY = Corpus(Document(DocumentId(f"{number:02}.md"), f"Page {number}. {TEXT} End.") for number in range(30))
A1, A2, B, C = "a.md:11", "a.md:98", "b.md:30", "c.md:44"


ASK, WRITE, BACK = "Ask us on any day.", "Write to us if it takes longer.", "Money is back after two weeks."
WRITTEN = f"a.md:{12 + len(TEXT)}"


@pytest.mark.parametrize(
    ("rows", "repeated", "answers"),
    [
        # every occurrence in the order of the corpus, also where lines break elsewhere: another wording of the length
        ([f"When?,{TEXT},*,,"], "ambiguous", [[[A1], [A2], [B], [C]]]),
        ([f"When?,{TEXT},,,"], "any", [[[A1], [A2], [B], [C]]]),
        ([f"When?,{TEXT}, * ,,"], "any", [[[A1], [A2], [B], [C]]]),
        ([f"When?,{TEXT},a.md,,"], "any", [[[A1], [A2]]]),
        ([f"When?,{TEXT},c.md,,"], "ambiguous", [[[C]]]),
        ([f"When?,{BACK},*,,"], "ambiguous", [[["c.md:13"]]]),
        ([f"When?,{ASK},,,1", f"When?,{WRITE},,,1"], "ambiguous", [[["c.md:99"]], [[WRITTEN]]]),
        (
            [f"When?,{ASK},,x,1", f"When?,{WRITE},,x,2", f"When?,{BACK},,x,1"],
            *("ambiguous", [[["c.md:13", "c.md:99"], [WRITTEN]]]),
        ),
    ],
    ids=[
        *("everywhere, by the row", "by the flag", "by both", "within its document", "in its document", "once"),
        *("each its own answer", "parts of one place"),
    ],
)
def test_the_places_of_an_answer_are_those_that_its_rows_say(tmp_path, rows, repeated, answers):
    found = check(tmp_path, *rows, repeated=repeated)
    assert places(found) == answers
    assert {row.status for row in found.rows} == {"located"}
    assert bool(found.alternatives) is any(len(answer) > 1 for answer in answers)


def test_rows_that_share_an_answer_are_alternatives_and_the_others_are_answers(tmp_path):
    found = check(
        tmp_path,
        "When?,Money is back after two weeks.,,x,",
        "When?,Ask us on any day.,,,",
        f"When?,{TEXT},c.md,x,",
        "Whom?,Write to us if it takes longer.,,x,",
    )
    assert places(found) == [[["c.md:13"], [C]], [["c.md:99"]]]
    assert places(found, "Whom?") == [[[f"a.md:{12 + len(TEXT)}"]]]
    assert found.dataset().queries[0].metadata == {"answer": "x"}


def test_a_text_that_occurs_too_often_is_ambiguous_whatever_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(quote_table, "MOST_OCCURRENCES", 3)
    (row,) = check(tmp_path, f"When?,{TEXT},*,,").problems
    assert row.status == "ambiguous"
    assert row.advice.endswith(": more than 3 places; quote more")
    monkeypatch.setattr(quote_table, "MOST_OCCURRENCES", 4)
    assert not check(tmp_path, f"When?,{TEXT},*,,").problems


NOWHERE = "Nothing of the kind is there at all."
APART, SEVERAL = "a place has spans of several documents", "the quote of line 3 occurs more than once, and parts of a"


@pytest.mark.parametrize(
    ("rows", "statuses", "why"),
    [
        ([f"{ASK},,x,1", f"{WRITE},,x,1"], ["missing", "missing"], APART),
        ([f"{ASK},,x,1", f"{ASK},,x,1"], ["missing", "missing"], "overlap"),
        ([f"{ASK},,x,1", f"{TEXT},*,x,1"], ["missing", "missing"], f"{SEVERAL} place have one each: name the document"),
        ([f"{ASK},,x,1", f"{WRITE},,x,1", f"{TEXT},c.md,x,2"], ["missing", "missing", "located"], APART),
        ([f"{ASK},,x,1", f"{NOWHERE},,x,1"], ["located", "missing"], "nothing similar in the corpus"),
        ([f"{ASK},,x,1", ",,x,1"], ["located", "missing"], "the quote is empty"),
        ([f"{TEXT},c.md,x,", f"{NOWHERE},,x,"], ["located", "missing"], "nothing similar in the corpus"),
    ],
)
def test_parts_that_make_no_place_leave_out_their_question_and_no_other(tmp_path, rows, statuses, why):
    found = check(tmp_path, *(f"When?,{row}" for row in rows), f"Whom?,{WRITE},,,")
    assert [row.status for row in found.rows] == [*statuses, "located"]
    assert all(why in row.advice for row in found.problems)
    assert [query.text for query in found.dataset().queries] == ["Whom?"]
    assert {label.query.text for label in found.skipped} == {"When?"}


@pytest.mark.parametrize("repeated", ["all", "", None, 1])
def test_repeated_is_one_of_two_words(tmp_path, repeated):
    with pytest.raises(ConfigError, match=r"repeated=.*; expected 'ambiguous' or 'any'"):
        check(tmp_path, "When?,Ask us on any day.,,,", repeated=repeated)


@pytest.mark.parametrize(("document", "options"), [("*", {}), ("", {"repeated": "any"})])
def test_who_asks_for_any_place_gets_those_that_are_new(tmp_path, document, options):
    dataset = check(tmp_path, f"When?,{TEXT},c.md,,").dataset()
    again = add_questions(dataset, check(tmp_path, f"When?,{TEXT},{document},,", **options), CORPUS)
    assert [query.text for query in again.corrected] == ["When?"]
    assert len(again.dataset.ground_truth[0].answers[0].places) == 4


@pytest.mark.parametrize(("corpus", "count"), [(CORPUS, 4), (MANY, 30)])
def test_a_table_that_is_read_again_without_the_flag_takes_no_places_from_a_dataset(tmp_path, corpus, count):
    path = tmp_path / "q.csv"
    path.write_text(f"question,quote\nWhen?,{TEXT}\n")
    dataset = check_quotes(path, corpus, repeated="any").dataset()
    again = add_questions(dataset, check_quotes(path, corpus), corpus)
    assert again.corrected == ()
    assert again.dataset.ground_truth == dataset.ground_truth
    assert len(again.dataset.ground_truth[0].answers[0].places) == count


def test_alternatives_are_told_and_the_column_is_named_only_where_it_makes_them(tmp_path):
    found = check(tmp_path, f"When?,{TEXT},*,,")
    assert "1 answer with 4 places, any of which is enough" in str(found)
    assert str(found.rows[0]).startswith("line 2    located    any of 4: a.md[11:65], a.md[")
    parts = ("Parts?,Ask us on any day.,,x,1", "Parts?,Money is back after two weeks.,,x,1")
    assert "same `answer`" not in check(tmp_path, f"When?,{TEXT},*,,", *parts).alternatives
    left_out = ("Other?,Ask us on any day.,,x,", "Other?,Nothing of the kind is there at all.,,x,")
    assert "same `answer`" not in check(tmp_path, f"When?,{TEXT},*,,", *left_out).alternatives
    assert "same `answer`" in check(tmp_path, "When?,Ask us on any day.,,x,", f"When?,{TEXT},*,x,").alternatives
    path = tmp_path / "q.csv"
    path.write_text(f"question,quote,answer\nWhen?,{ASK},soon\nWhen?,{WRITE},soon\n")
    with pytest.warns(UserWarning, match="1 answer with 2 places, any of which is enough .rows of one question with"):
        load_dataset(path, corpus=CORPUS)
