import pytest

from rag_evaluation_framework.authoring.people import read_questions
from rag_evaluation_framework.authoring.people.sessions import read_wordings
from rag_evaluation_framework.errors import DatasetError


def read(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return read_questions(path)


def test_a_table_has_questions_ids_and_metadata(tmp_path):
    first, second = read(tmp_path, "q.csv", 'id,Question,team\nq7,"When, and  how?",billing\n,Who?,\n,,\n')
    assert (first.id, first.text, first.metadata) == ("q7", "When, and how?", {"team": "billing"})
    assert (second.text, second.metadata) == ("Who?", {})
    assert second.id.startswith("query_")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("q.tsv", "question\tteam\nWho?\tx\n", {"Who?": {"team": "x"}}),
        ("q.csv", "question;team\nWho?;x\n", {"Who?": {"team": "x"}}),
        ("q.csv", "sep=;\nquestion;team;;\nWho?;x;;\n", {"Who?": {"team": "x"}}),  # as Excel writes it
        ("q.txt", "Who?\r\n\r\nWhen, and how?\nWho?\n", {"Who?": {}, "When, and how?": {}}),  # each counts once
    ],
)
def test_the_first_line_tells_what_is_between_columns_and_a_text_has_one_question_per_line(
    tmp_path, name, text, expected
):
    found = read(tmp_path, name, text)
    assert [(query.text, query.metadata) for query in found] == [*expected.items()]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("q.csv", "wording\nWho?\n", "no column 'question' among 'wording'; expected question"),
        ("q.csv", "question,question\nWho?,x\n", "line 1: two columns share a name"),
        ("q.csv", "id,question\nq1,When, how?\n", "line 2: expected 2 columns, got 3; put quotes around text"),
        ("q.csv", 'question\n"Who?\n', "line 2: .*unclosed quotation mark"),
        ("q.csv", "id,question\nq1,Who?\nq1,When?\n", "line 3: the id 'q1' is already used for another question, 'Who"),
        ("q.csv", "id,question\nq1,\n", "line 2: the question is empty"),
        ("q.csv", "question\n", "holds no questions"),
        ("q.csv", "", "holds no questions"),
        ("q.txt", " \n", "holds no questions"),
        ("q.json", "[]", "expected questions in a table .*, or a text file with one per line"),
    ],
)
def test_a_file_that_holds_no_questions_is_refused(tmp_path, name, text, problem):
    with pytest.raises(DatasetError, match=problem):
        read(tmp_path, name, text)


def test_of_wordings_alone_neither_ids_nor_empty_cells_matter(tmp_path):
    (tmp_path / "log.csv").write_text("id,question\n7,How  long?\n7,When?\n8,\n")
    assert read_wordings(tmp_path / "log.csv") == ["How long?", "When?"]
    (tmp_path / "log.csv").write_text("id,question\n7,\n")
    with pytest.raises(DatasetError, match=r"log\.csv: holds no questions"):
        read_wordings(tmp_path / "log.csv")
