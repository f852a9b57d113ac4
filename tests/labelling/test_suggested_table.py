import csv
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId, check_quotes
from rag_evaluation_framework.errors import ConfigError, DatasetError

TEXT = "# Rules\n\nKeep the **data** directory, and all of its files. Refunds take five working days.\nWait. Wait.\n"
CORPUS = Corpus(Document(DocumentId(name), text) for name, text in {"a.md": TEXT, "b.md": "Press OK.\n"}.items())
MISSING = "Keep the data directry, and all of its files."
FOUND = "Keep the **data** directory, and all of its files."
TOLD = [
    "quote_check",
    "given_quote",
    "given_document",
    "suggestion_similarity",
    "suggestion_difference",
    "suggestion_place",
]


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


def test_the_file_has_all_rows_and_columns_with_the_suggestions_in_place(check, tmp_path):
    rows = f'topic,question,quote\nx,What?,"{MISSING}"\ny,How?,Press OK.\n,Who?,\nz,Why?,Wombats dig.\nz,When?,Wait.\n'
    path = check(rows).save_suggestions()
    assert path == tmp_path / "q.suggested.csv"
    there = read(path)
    assert list(there[0]) == ["topic", "question", "quote", "document", *TOLD]
    assert [(row["topic"], row["question"], row["quote"], row["document"]) for row in there] == [
        ("x", "What?", FOUND, "a.md"),
        ("y", "How?", "Press OK.", ""),
        ("", "Who?", "", ""),
        ("z", "Why?", "Wombats dig.", ""),
        ("z", "When?", "Wait.", ""),
    ]
    assert [there[0][name] for name in TOLD] == [
        "suggestion",
        MISSING,
        "",
        "0.9890",
        "“directry” for “directory”",
        "a.md:3:1",
    ]
    assert [row["quote_check"].partition(":")[0] for row in there[1:]] == [
        "located",
        "no-answer",
        "missing",
        "ambiguous",
    ]


def test_the_file_is_read_like_any_other_and_what_it_tells_is_no_metadata(check, tmp_path):
    path = check(f'question,quote,topic\nWhat?,"{MISSING}",x\nHow?,Press OK.,y\n').save_suggestions()
    again = check_quotes(path, CORPUS)
    assert [row.status for row in again.rows] == ["located", "located"]
    assert [entry.query.metadata for entry in again.dataset()] == [{"topic": "x"}, {"topic": "y"}]
    assert again.save_suggestions() is None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["q.csv", "q.suggested.csv"]


@pytest.mark.parametrize(
    ("header", "row", "named"),
    [
        ("question,quote,quote_check", "What?,Press OK.,mine", "'quote_check' has"),
        ("question,quote,given_quote,Quote_Check", "What?,Press OK.,a,b", None),
        ("question,quote,suggestion_place,given_quote", "Q?,OK.,a,b", "'suggestion_place', 'given_quote' have"),
    ],
)
def test_a_column_of_the_same_name_that_is_the_users_own_is_not_dropped_without_a_word(check, header, row, named):
    if named is None:
        assert check(f"{header}\n{row}\n").rows[0].metadata == {}
        return
    with pytest.raises(DatasetError, match=rf"q\.csv: the column.* {named} a name that .*suggestions.*; rename"):
        check(f"{header}\n{row}\n")


def test_a_caution_is_told_beside_the_suggestion(check):
    path = check("question,quote\nHow long?,Refunds take 5 working days.\n").save_suggestions()
    assert read(path)[0]["quote_check"] == "suggestion: a number differs"


def test_the_document_of_a_text_with_copies_is_left_to_the_person(check):
    corpus = Corpus([Document(DocumentId("a.md"), TEXT), Document(DocumentId("c.md"), TEXT)])
    (row,) = read(check(f'question,quote\nWhat?,"{MISSING}"\n', corpus=corpus).save_suggestions())
    assert (row["document"], row["quote_check"]) == ("", "suggestion: it occurs 2 times")
    assert row["suggestion_place"] == "a.md:3:1; c.md:3:1"


def test_the_document_is_corrected(check):
    (row,) = read(check("question,quote,document\nWhat?,Press OK.,a.md\n").save_suggestions())
    assert (row["document"], row["given_document"]) == ("b.md", "a.md")


@pytest.mark.parametrize("name", ["q.tsv", "q.jsonl"])
def test_other_tables_become_csv_too(check, tmp_path, name):
    record = {"question": "What?", "quote": MISSING, "topic": "x"}
    text = json.dumps(record) if name == "q.jsonl" else f"question\tquote\ttopic\nWhat?\t{MISSING}\tx\n"
    path = check(text, name).save_suggestions()
    assert path == tmp_path / "q.suggested.csv"
    assert [(row["question"], row["quote"], row["topic"]) for row in read(path)] == [("What?", FOUND, "x")]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_and_the_byte_order_mark_are_those_of_the_file(check, tmp_path, delimiter, mark):
    checked = check(f'{mark}question{delimiter}quote\n"a,b,c,d"{delimiter}"{MISSING}"\n')
    path = checked.save_suggestions()
    header = delimiter.join(f'"{name}"' for name in ["question", "quote", "document", *TOLD])
    assert path.read_text("utf-8").startswith(f'{mark}{header}\n"a,b,c,d"{delimiter}"{FOUND}"{delimiter}')
    assert checked.save_suggestions() == path
    assert [row.status for row in check_quotes(path, CORPUS).rows] == ["located"]


def test_without_the_file_of_the_table_commas_delimit_the_suggestions(check, tmp_path):
    checked = check(f'question;quote\nWhat?;"{MISSING}"\n')
    (tmp_path / "q.csv").unlink()
    assert checked.save_suggestions().read_text("utf-8").startswith('"question","quote"')


def test_a_file_with_something_else_is_kept_and_a_numbered_one_is_written(check, tmp_path):
    (tmp_path / "q.suggested.csv").write_text("mine")
    checked = check(f'question,quote\nWhat?,"{MISSING}"\n')
    assert checked.save_suggestions().name == "q.suggested.1.csv"
    assert checked.save_suggestions().name == "q.suggested.1.csv"  # the same text is not written twice
    assert (tmp_path / "q.suggested.csv").read_text() == "mine"
    assert not (tmp_path / "q.suggested.2.csv").exists()


def test_suggestions_for_a_file_of_suggestions_are_numbered(check, tmp_path):
    checked = check(f'question,quote\nWhat?,"{MISSING}"\n', "q.suggested.csv")
    assert checked.save_suggestions() == tmp_path / "q.suggested.1.csv"


def test_a_file_that_is_named_is_not_overwritten(check, tmp_path):
    checked = check(f'question,quote\nWhat?,"{MISSING}"\n')
    assert checked.save_suggestions(tmp_path / "new.csv") == tmp_path / "new.csv"
    assert checked.save_suggestions(str(tmp_path / "new.csv")) == tmp_path / "new.csv"
    (tmp_path / "mine.csv").write_text("mine")
    with pytest.raises(DatasetError, match="already exists and is not overwritten"):
        checked.save_suggestions(tmp_path / "mine.csv")


def test_without_a_suggestion_nothing_is_written(check, tmp_path):
    assert check("question,quote\nWhat?,Wombats dig.\nWho?,\nHow?,Press OK.\n").save_suggestions() is None
    assert [file.name for file in tmp_path.iterdir()] == ["q.csv"]


@pytest.mark.parametrize(
    "record",
    [
        {"Topic": "x", "topic": "y"},  # names that CSV does not tell apart
        {"topic": "\ud800"},  # UTF-8 cannot hold it
        {"topic": "x" * 200_000},  # longer than a cell may be
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
        again = check_quotes(checked.save_suggestions(), CORPUS)
    for row, record, first in zip(again.rows, records, checked.rows, strict=True):
        assert (row.question, row.metadata) == (record["question"], {"topic": record["topic"]})
        assert row.quote == (first.suggestion.quote if first.suggestion else record["quote"])


class TestAccepting:
    def test_suggestions_that_are_similar_enough_are_located_and_say_so(self, check):
        checked = check(f'question,quote\nWhat?,"{MISSING}"\n').accepting(0.95)
        (row,) = checked.rows
        assert (row.status, row.accepted, row.advice) == ("located", True, "")
        assert str(row) == "line 2    located    a.md[9:59], accepted (98 % similar): “directry” for “directory”"
        assert checked.problems == ()
        assert [span.text for entry in checked.dataset() for span in entry.relevant] == [FOUND]

    def test_others_are_as_they_were(self, check):
        rows = f'question,quote\nWhat?,"{MISSING}"\nHow?,Press OK.\nWhen?,Wait.\nWho?,\nWhy?,Wombats dig.\n'
        checked = check(rows)
        assert checked.accepting(0.99) == checked
        assert checked.accepting(0.95).rows[1:] == checked.rows[1:]
        assert not any(row.accepted for row in checked.rows)

    @pytest.mark.parametrize(
        ("quote", "document", "refusal"),
        [
            ("Refunds take 5 working days.", "", "a number differs"),
            ("Refunds take six working days.", "", "a number differs"),
            ("Refunds do not take five working days.", "", "a negation differs"),
            ("Refunds take -five working days.", "", "a sign differs"),
            ("Refunds barely take five working days.", "", "a negation differs"),
            ("Refunds take five disworking days.", "", "a word differs: “disworking” for “working”"),
            ("Refunds take at most five working days.", "", "a word differs: “at most” added"),
            ("Refunds take five WORKING_DAY days.", "", "a word differs: “WORKING_DAY” for “working”"),
            ("Press OK.", "a.md", "it is in another document than the row names"),
        ],
    )
    def test_what_changes_the_meaning_is_never_accepted(self, check, quote, document, refusal):
        checked = check(f"question,quote,document\nWhat?,{quote},{document}\n")
        assert checked.rows[0].suggestion.refusal == refusal
        assert checked.accepting(0.01) == checked

    def test_what_occurs_twice_is_never_accepted(self, check):
        corpus = Corpus([Document(DocumentId("a.md"), TEXT), Document(DocumentId("c.md"), TEXT)])
        checked = check(f'question,quote\nWhat?,"{MISSING}"\n', corpus=corpus)
        assert checked.accepting(0.5) == checked

    @pytest.mark.parametrize("threshold", [0, -1, 1.01, float("nan"), float("inf"), True, "0.9", None])
    def test_a_threshold_out_of_range_is_refused(self, check, threshold):
        with pytest.raises(ConfigError, match="expected a similarity above 0 and up to 1"):
            check("question,quote\nWhat?,Press OK.\n").accepting(threshold)

    def test_accepted_quotes_are_in_the_file_of_suggestions(self, check):
        path = check(f'question,quote\nWhat?,"{MISSING}"\n').accepting(0.95).save_suggestions()
        assert [(row["quote_check"], row["quote"]) for row in read(path)] == [("accepted", FOUND)]


def test_what_is_located_and_hardly_an_answer_is_told_as_such(check):
    corpus = Corpus([Document(DocumentId("a.md"), f"{TEXT}\n~~Cats are free.~~\n\n<!-- Dogs cost nine euros. -->\n")])
    rows = f'question,quote\nWhat?,"{MISSING}"\nCats?,Cats are free.\nDogs?,Dogs cost nine euros.\n'
    assert [row["quote_check"] for row in read(check(rows, corpus=corpus).save_suggestions())] == [
        "suggestion",
        "located, but it is struck out",
        "located, but it is not shown: it stands in a comment, a script, an attribute or a hidden element",
    ]
