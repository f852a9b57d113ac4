import csv
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labels import check_quotes

TEXT = "# Rules\n\nKeep the **data** directory, and all of its files. Refunds take five working days.\nWait. Wait.\n"
CORPUS = Corpus(Document(DocumentId(name), text) for name, text in {"a.md": TEXT, "b.md": "Press OK.\n"}.items())
MISSING = "Keep the data directry, and all of its files."
FOUND = "Keep the **data** directory, and all of its files."
TOLD = ["quote_check", "suggestion", "suggestion_document", "suggestion_place", "suggestion_difference", "accept"]


@pytest.fixture
def check(tmp_path):
    def checked(text, name="q.csv", corpus=CORPUS):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return check_quotes(path, corpus)

    return checked


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def answered(path, answer="yes"):
    """Write an answer in the column `accept` of every row with a suggestion."""
    mark = path.read_text("utf-8")[:1].strip('"')
    rows = read(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(mark)
        writer = csv.DictWriter(file, [name.lstrip(mark).strip('"') for name in rows[0]], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        for row in rows:
            values = {name.lstrip(mark).strip('"'): value for name, value in row.items()}
            writer.writerow({**values, "accept": answer if values["suggestion"] else ""})
    return path


def test_the_file_has_all_rows_and_columns_as_they_were_with_the_suggestions_beside_them(check, tmp_path):
    rows = f'topic,question,quote\nx,What?,"{MISSING}"\ny,How?,Press OK.\n,Who?,\nz,Why?,Wombats dig.\nz,When?,Wait.\n'
    path = check(rows).save_suggestions()
    assert path == tmp_path / "q.suggested.csv"
    there = read(path)
    assert list(there[0]) == ["topic", "question", "quote", *TOLD]
    assert [(row["topic"], row["question"], row["quote"]) for row in there] == [
        ("x", "What?", MISSING),
        ("y", "How?", "Press OK."),
        ("", "Who?", ""),
        ("z", "Why?", "Wombats dig."),
        ("z", "When?", "Wait."),
    ]
    assert [there[0][name] for name in TOLD] == ["missing", FOUND, "a.md", "a.md:3:1", "“directry” for “directory”", ""]
    assert [row["quote_check"].partition(":")[0] for row in there[1:]] == [
        "located",
        "no-answer",
        "missing",
        "ambiguous",
    ]


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("yes", ("located", FOUND, "a.md")),
        (" YES ", ("located", FOUND, "a.md")),
        ("no", ("missing", MISSING, "")),
        ("", ("missing", MISSING, "")),
    ],
)
def test_a_row_with_yes_and_no_other_has_the_suggestion_as_its_quote(check, tmp_path, answer, first):
    path = check(f'question,quote,topic\nWhat?,"{MISSING}",x\nHow?,Press OK.,y\n').save_suggestions()
    again = check_quotes(answered(path, answer), CORPUS)
    assert [(row.status, row.quote, row.document) for row in again.rows] == [first, ("located", "Press OK.", "")]
    assert [row.metadata for row in again.rows] == [{"topic": "x"}, {"topic": "y"}]
    assert (again.save_suggestions() is None) == (first[1] == FOUND)
    written = ["q.csv", "q.suggested.csv"] if first[1] == FOUND else ["q.csv", "q.suggested.1.csv", "q.suggested.csv"]
    assert sorted(file.name for file in tmp_path.iterdir()) == written


SUGGESTED = "question,quote,quote_check,suggestion,accept"
ANSWER = "line 2: 'accept': expected 'yes' to take the suggestion as the quote, else nothing; "
OWN = "only tables with suggestions have the columns "


@pytest.mark.parametrize(
    ("header", "row", "told"),
    [
        (SUGGESTED, "What?,Press K.,missing,Press OK.,maybe", f"{ANSWER}got 'maybe'"),
        (SUGGESTED, "What?,Press K.,missing,,yes", f"{ANSWER}there is no suggestion"),
        ("question,quote,quote_check", "What?,Press OK.,mine", f"{OWN}'quote_check', "),
        ("question,quote,suggestion_place,accept", "Q?,OK.,a,b", f"{OWN}'suggestion_place', 'accept', "),
    ],
)
def test_another_answer_and_columns_of_the_users_own_that_have_these_names_are_refused(check, header, row, told):
    with pytest.raises(DatasetError, match=re.escape(f"q.csv: {told}")) as refused:
        check(f"{header}\n{row}\n")
    assert told.startswith(ANSWER) or "; rename" in str(refused.value)
    assert check("question,quote,suggestion,Quote_Check\nWhat?,Press OK.,a,b\n").rows[0].metadata == {}


def test_the_document_is_corrected_and_of_a_text_with_copies_left_to_the_person(check):
    path = check("question,quote,document\nWhat?,Press OK.,a.md\n").save_suggestions()
    assert [(row["document"], row["suggestion_document"]) for row in read(path)] == [("a.md", "b.md")]
    assert [(row.status, row.document) for row in check_quotes(answered(path), CORPUS).rows] == [("located", "b.md")]
    corpus = Corpus([Document(DocumentId("a.md"), TEXT), Document(DocumentId("c.md"), TEXT)])
    (row,) = read(check(f'question,quote\nWhat?,"{MISSING}"\n', corpus=corpus).save_suggestions())
    assert (row["suggestion_document"], row["suggestion_place"]) == ("", "a.md:3:1; c.md:3:1")


@pytest.mark.parametrize("name", ["q.tsv", "q.jsonl"])
def test_other_tables_become_csv_too(check, tmp_path, name):
    record = {"question": "What?", "quote": MISSING, "topic": "x"}
    text = json.dumps(record) if name == "q.jsonl" else f"question\tquote\ttopic\nWhat?\t{MISSING}\tx\n"
    path = check(text, name).save_suggestions()
    assert path == tmp_path / "q.suggested.csv"
    assert [(row["question"], row["quote"], row["topic"]) for row in read(path)] == [("What?", MISSING, "x")]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_and_the_byte_order_mark_are_those_of_the_file(check, tmp_path, delimiter, mark):
    checked = check(f'{mark}question{delimiter}quote\n"a,b,c,d"{delimiter}"{MISSING}"\n')
    path = checked.save_suggestions()
    header = delimiter.join(f'"{name}"' for name in ["question", "quote", *TOLD])
    assert path.read_text("utf-8").startswith(f'{mark}{header}\n"a,b,c,d"{delimiter}"{MISSING}"{delimiter}')
    assert checked.save_suggestions() == path
    assert [row.quote for row in check_quotes(path, CORPUS).rows] == [MISSING]
    (tmp_path / "q.csv").unlink()  # without it, commas
    assert checked.save_suggestions().read_text("utf-8").startswith('"question","quote"')


def test_a_file_with_something_else_is_kept_and_a_numbered_one_is_written(check, tmp_path):
    (tmp_path / "q.suggested.csv").write_text("mine")
    checked = check(f'question,quote\nWhat?,"{MISSING}"\n')
    assert checked.save_suggestions().name == "q.suggested.1.csv"
    assert checked.save_suggestions().name == "q.suggested.1.csv"  # the same text is not written twice
    assert (tmp_path / "q.suggested.csv").read_text() == "mine"
    assert not (tmp_path / "q.suggested.2.csv").exists()
    again = check(f'question,quote\nWhat?,"{MISSING}"\n', "q.suggested.csv")  # a file of suggestions itself
    assert again.save_suggestions() == tmp_path / "q.suggested.1.csv"


def test_without_a_suggestion_nothing_is_written(check, tmp_path):
    assert check("question,quote\nWhat?,Wombats dig.\nWho?,\nHow?,Press OK.\n").save_suggestions() is None
    assert [file.name for file in tmp_path.iterdir()] == ["q.csv"]


@pytest.mark.parametrize(
    "record",
    [
        {"Topic": "x", "topic": "y"},  # names that CSV does not tell apart
        {"topic": "\ud800"},  # UTF-8 cannot hold it
    ],
)
def test_what_csv_cannot_hold_is_refused(check, tmp_path, record):
    checked = check(json.dumps({"question": "What?", "quote": MISSING, **record}), "q.jsonl")
    with pytest.raises(DatasetError, match=r"q\.jsonl"):
        checked.save_suggestions()
    assert [file.name for file in tmp_path.iterdir()] == ["q.jsonl"]


CELLS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["=1+1", '"', ' "a"', "a\r\nb", "\n", "-x", "@", "'", "\t", ",;", "a,b\n,c", " x "]),
)


@given(st.lists(st.tuples(CELLS.filter(str.strip), CELLS, CELLS), max_size=4))
def test_what_is_written_is_read_back_exactly(cells):
    records = [{"question": "What?", "quote": MISSING, "topic": ""}]
    records += [
        {"question": f"{number} {question}".strip(), "quote": quote, "topic": topic}
        for number, (question, quote, topic) in enumerate(cells)
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder, "q.jsonl")
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        checked = check_quotes(path, CORPUS)
        path = checked.save_suggestions()
        plain = check_quotes(path, CORPUS)
        again = check_quotes(answered(path), CORPUS)
    assert [(row.question, row.quote, row.metadata) for row in plain.rows] == [
        (row.question, row.quote, row.metadata) for row in checked.rows
    ]
    for row, record, first in zip(again.rows, records, checked.rows, strict=True):
        assert (row.question, row.metadata) == (record["question"], {"topic": record["topic"]})
        assert row.quote == (first.suggestion.quote if first.suggestion else record["quote"])


def test_what_is_located_and_hardly_an_answer_is_told_as_such(check):
    corpus = Corpus([Document(DocumentId("a.md"), f"{TEXT}\n~~Cats are free.~~\n\n<!-- Dogs cost nine euros. -->\n")])
    rows = f'question,quote\nWhat?,"{MISSING}"\nCats?,Cats are free.\nDogs?,Dogs cost nine euros.\n'
    (first, *others) = read(check(rows, corpus=corpus).save_suggestions())
    assert first["quote_check"].startswith("missing")
    assert [row["quote_check"] for row in others] == [
        "located, but it is struck out",
        "located, but it is not shown: it stands in a comment, a script or an attribute",
    ]
