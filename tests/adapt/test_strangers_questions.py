"""A stranger's questions: each kind of file, encoding, separator and language is read, or one line says what to do."""

import json

import pandas as pd
import pytest
from tests.support.sheets import write_sheets

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    Corpus,
    Document,
    DocumentId,
    evaluate,
    load_dataset,
    load_result,
    save_dataset,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.datasets.load import questions_of
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labels import check_quotes
from support.each import each

FIVE = "Über Größe sagt er: fünf Meter."
SECOND = "Zweite Zeile."
TEXT = f"# A\n\n{FIVE}\n\n{SECOND}\n"
CORPUS = Corpus(
    [
        Document(DocumentId("docs/a.md"), TEXT),
        Document(DocumentId("docs/b.md"), "# B\n\nThird line. Write `['a', 'b']`.\n"),
    ]
)
BOTH = [[FIVE], [SECOND]]

HEADINGS = {
    "en": ("Query", "Passage", "File Name"),
    "de": ("Frage", "Zitat", "Dokument"),
    "fr": ("Requête", "Citation", "Fichier"),
    "es": ("Pregunta", "Cita", "Documento"),
    "it": ("Domanda", "Citazione", "Documento"),
    "pt": ("Pergunta", "Citação", "Arquivo"),
    "nl": ("Vraag", "Citaat", "Bestand"),
    "ja": ("質問", "引用", "ファイル名"),
    "zh": ("问题", "引文", "文件名"),
}
TABLE = "question;quote\r\nWas?;Über Größe sagt er: fünf Meter.\r\nZwei?;Zweite Zeile.\r\n"
# The cases of a table that a new user saved from Excel, and the encodings and separators of the world.
TABLES = {
    "plain": b"\xef\xbb\xbf" + TABLE.encode(),
    "sep": ("sep=;\r\n" + TABLE).encode("utf-8-sig"),
    "empty columns": TABLE.replace("\r\n", ";;\r\n").encode("utf-8-sig"),
    "empty rows below": (TABLE + ";\r\n;\r\n").encode("utf-8-sig"),
    "one empty column": TABLE.replace("\r\n", ";\r\n").encode("utf-8-sig"),
    "an empty column between": TABLE.replace(";", ";;").encode(),
    "empty rows above": ("\r\n;\r\n" + TABLE).encode(),
    "commas": TABLE.replace(";", ",").encode(),
    "tabs": TABLE.replace(";", "\t").encode(),
    "bars": TABLE.replace(";", "|").encode(),
    "Unicode text of Excel": TABLE.replace(";", "\t").encode("utf-16"),
    "UTF-16 without a mark": TABLE.encode("utf-16-le"),
    "cp1252": TABLE.encode("cp1252"),
    "cp1252 with sep": ("sep=;\r\n" + TABLE).encode("cp1252"),
    "a Macintosh": TABLE.encode("mac_roman"),
    "old line ends": TABLE.replace("\r\n", "\r").encode(),
}


def quotes(dataset):
    return [[span.text for span in entry.relevant] for entry in dataset]


def loaded(path, **options):
    """The quotes of a file, and the notes that were said while it was read."""
    with collect_notes() as notes:
        dataset = load_dataset(path, corpus=CORPUS, **options)
    return quotes(dataset), " ".join(notes)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("data", TABLES.values(), ids=TABLES)
def test_a_table_of_any_program_is_read(tmp_path, data, ending):
    path = tmp_path / f"q{ending}"
    path.write_bytes(data)
    found, said = loaded(path)
    assert found == BOTH
    assert ("is not UTF-8; read as" in said) == ("Größe".encode() not in data and b"\0" not in data)


@pytest.mark.parametrize("language", HEADINGS)
@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl", "json", "list", "frame"])
def test_columns_of_usual_names_are_known_and_said(tmp_path, language, kind):
    names = HEADINGS[language]
    rows = [dict(zip((*names, "Team"), ("Was?", FIVE, "a", "x"), strict=True))]
    path = tmp_path / f"q.{kind}"
    if kind == "xlsx":
        write_sheets(path, {"Sheet": [[*rows[0]], [*rows[0].values()]], "Notes": [["x"], [1]]})
    elif kind == "frame":
        path = pd.DataFrame(rows)
    elif kind == "list":
        path = rows
    elif kind == "csv":
        path.write_text("\n".join(";".join(cells) for cells in (rows[0], rows[0].values())))
    else:
        path.write_text(json.dumps(rows if kind == "json" else rows[0]))
    with collect_notes() as notes:
        dataset = questions_of(path, CORPUS, TOKEN)
    assert (quotes(dataset), dataset.queries[0].metadata) == ([[FIVE]], {"Team": "x"})
    question, quote, document = map(repr, names)
    assert f": column {question} is the question, {quote} is the quote, {document} is the document" in " ".join(notes)


def test_columns_may_be_told(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"Was man fragt;answer;Frage;Quelle\nWas?;{SECOND};x;intern\n")
    columns = {"question": "was man fragt", "quote": "answer", "document": ""}
    with collect_notes() as notes:
        dataset = load_dataset(path, corpus=CORPUS, columns=columns)
    assert (quotes(dataset), dataset.queries[0].metadata, notes) == ([[SECOND]], {"Frage": "x", "Quelle": "intern"}, [])
    with pytest.raises(DatasetError, match="no column 'Zitat' among 'Was man fragt', 'answer', 'Frage', 'Quelle'"):
        load_dataset(path, corpus=CORPUS, columns={"quote": "Zitat"})
    with pytest.raises(DatasetError, match="expected names for question, quote, document, id"):
        load_dataset(path, corpus=CORPUS, columns={"quotation": "Zitat"})


SEVERAL = {
    "numbered columns": ("Frage;Zitat 1;Zitat_2;Zitat3\nWas?;{0};{1};\n", [[FIVE, SECOND]]),
    "a list of JSON": ('question;contexts;quotes\nWas?;["no"];["{0}", "{1}"]\n', [[FIVE, SECOND]]),
    "a list of Python": (
        "user_input;retrieved_contexts;reference_contexts;reference\nWas?;['no'];['{0}', '{1}'];x\n",
        [[FIVE, SECOND]],
    ),
    "several rows": ("question;quote;answer\nWas?;{0};\nWas?;{1};\n", [[FIVE, SECOND]]),
    "what looks like a list, where others do not": (
        "question;quote\nHow?;['a', 'b']\nElse?;{1}\n",
        [["['a', 'b']"], [SECOND]],
    ),
}


@pytest.mark.parametrize(("text", "found"), SEVERAL.values(), ids=SEVERAL)
def test_several_quotes_of_a_question_are_all_wanted(tmp_path, text, found):
    path = tmp_path / "q.csv"
    path.write_text(text.replace("{0}", FIVE).replace("{1}", SECOND))
    assert loaded(path)[0] == found


@pytest.mark.parametrize(
    "row",
    [
        {"quote": [SECOND, "Third line."], "document": ["docs/a.md", "docs/b.md"]},
        {"Quote 1": SECOND, "Document 1": "docs/a.md", "Quote 2": "Third line.", "Document 2": "docs/b.md"},
    ],
)
def test_each_of_several_quotes_has_its_document(row):
    with collect_notes():
        rows = check_quotes([{"question": "Was?", **row}], CORPUS).rows
    assert [(row.quote, row.document) for row in rows] == [(SECOND, "docs/a.md"), ("Third line.", "docs/b.md")]


REFUSED = {
    "no quote": (b"Frage;Antwort\nWas?;x\n", "no column 'quote' among 'Frage', 'Antwort'; .*--column quote=NAME"),
    "an answer": (b"question;answer\nWas?;x\n", "no column 'quote' among 'question', 'answer'; .*--column quote=NAME"),
    "two questions": (
        b"Frage;query;Zitat\na;b;c\n",
        "columns 'Frage' and 'query' may each be the question.*--column question=",
    ),
    "two quotes": (
        b"Frage;Zitat;context\na;b;c\n",
        "columns 'Zitat' and 'context' may each be the quote.*--column quote=Z",
    ),
    "two of each": (
        b"Frage;query;Zitat;context\na;b;c;d\n",
        "'Frage' and 'query' may each be the question, 'Zitat' and 'context' may each be the quote; say which: .*"
        "columns={'question': 'Frage', 'quote': 'Zitat'}, .*--column question=Frage --column quote=Zitat",
    ),
    "a quote that is blank": (b"question;quote;Zitat\na;;c\n", "columns 'Zitat' and 'quote' may each be the quote"),
    "a question that is blank": (b"question;Frage;quote\n;b;c\n", "'Frage' and 'question' may each be the question"),
    "retrieved": (
        b"question;contexts;ground_truth\na;['b'];c\n",
        "no column 'quote' among .*; contexts are taken for what a system retrieved; expected",
    ),
    "nothing": (b"", "holds no questions"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0", "not valid UTF-8 .* save the file as UTF-8"),
}


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_certain_is_one_line_that_says_what_to_do(tmp_path, data, message):
    (tmp_path / "q.csv").write_bytes(data)
    with pytest.raises(DatasetError, match=message) as error:
        check_quotes(tmp_path / "q.csv", CORPUS)
    assert "\n" not in str(error.value)


def test_a_column_called_quote_may_be_blank():
    row = {"question": "Was?", "quote": "", "Zitat": SECOND, "context": ""}
    for columns, found in (({"quote": "quote"}, []), ({"quote": "Zitat"}, [SECOND])):
        assert quotes(questions_of([row], CORPUS, TOKEN, columns)) == [found]
    assert quotes(questions_of([row | {"Zitat": None}], CORPUS, TOKEN)) == [[]]
    assert quotes(questions_of([row, row | {"question": "Wer?", "quote": FIVE}], CORPUS, TOKEN)) == [[], [FIVE]]


def test_of_sheets_without_the_columns_all_are_named(tmp_path):
    write_sheets(tmp_path / "q.xlsx", {"Fragen": [["Frage", "Antwort"], ["a", "b"]], "Notes": [["x"], [1]]})
    with pytest.raises(DatasetError, match=r"no sheet has the columns .*Fragen: Frage, Antwort; Notes: x"):
        check_quotes(tmp_path / "q.xlsx", CORPUS)


def test_what_a_data_frame_lacks_is_blank_and_whole_numbers_are_as_people_wrote_them():
    frame = pd.DataFrame({"id": [1, None], "Frage": ["Was?", "Wer?"], "Zitat": [SECOND, None], "n": [1.5, None]})
    frame["w"], frame["m"] = [2.0, float("nan")], pd.array([None, 2], dtype="Int64")
    with collect_notes():
        dataset = questions_of(frame, CORPUS, TOKEN)
    assert dataset.queries[0].id == "1"
    assert [query.metadata for query in dataset.queries] == [{"n": "1.5", "w": "2"}, {"m": "2"}]
    assert quotes(dataset) == [[SECOND], []]


def test_rows_without_a_question_are_quotes_of_the_question_above(tmp_path):
    path = tmp_path / "q.xlsx"
    rows = [["Fragen 2026"], [], ["id", "Frage", "Zitat"], ["7", "Was?", FIVE], [None, None, SECOND]]
    write_sheets(path, {"Sheet": rows})
    found, said = loaded(path)
    assert found == [[FIVE, SECOND]]
    assert "the headings are in line 3" in said
    assert "has no question in line 5: read as quotes of the question above" in said


class Broken:
    def to_dict(self, _):
        raise RuntimeError("no records")


@each(
    ("given", "columns", "said"),
    [
        (Broken(), None, "cannot be read as questions: RuntimeError: no records"),
        ([{"a": "b"}], {"question": 5}, "expected names for question, quote, document, id"),
        *((given, None, "expected|holds no questions") for given in ([], ["Was?"], [["Was?", "x"]], "q", 5, {"a": 1})),
    ],
)
def test_what_cannot_be_read_as_questions_is_refused(given, columns, said):
    with pytest.raises(DatasetError, match=said):
        questions_of(given, CORPUS, TOKEN, columns=columns)


def test_the_table_with_suggestions_has_a_row_for_each_quote_and_is_read_without_being_told_columns(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"Frage;Zitat 1;Zitat 2;answer;Team\nWas?;Uber Größe sagt er: fünf Meter.;{SECOND};x;y\n", "cp1252")
    with collect_notes():
        table = check_quotes(path, CORPUS).save_suggestions()
    text = table.read_text("utf-8")
    assert text.startswith('\ufeff"question";"quote";"answer_text";"Team";"quote_check"')  # Excel reads it as UTF-8
    table.write_text(text.replace(';""\n', ';"yes"\n', 1), "utf-8")
    (entry,) = load_dataset(table, corpus=CORPUS)
    assert ([span.text for span in entry.relevant], entry.query.metadata) == (
        [FIVE, SECOND],
        {"answer_text": "x", "Team": "y"},
    )


@pytest.mark.parametrize("kind", ["jsonl", "frame", "csv", "suggested"])
def test_each_tag_of_a_list_is_one(tmp_path, kind):
    tags, path = [["x", "ü"], ["x"], [], ["ü"]], tmp_path / "q.jsonl"
    rows = [{"question": f"{number}?", "quote": FIVE, "tags": own} for number, own in enumerate(tags)]
    wrong = {"question": "Wo?", "quote": "Zweite Zelle.", "tags": ["ü"]}
    path.write_text("\n".join(map(json.dumps, [*rows, *[wrong] * (kind == "suggested")])))
    given = path if kind == "jsonl" else pd.DataFrame(rows)
    if kind == "csv":
        given.to_csv(given := tmp_path / "q.csv", index=False)
    with collect_notes():
        if kind == "suggested":
            given = check_quotes(path, CORPUS).save_suggestions()
        (by_tag,) = evaluate(BM25Retriever(), given, k=1, documents=CORPUS).breakdowns
    assert {tag: mean.questions for tag, mean in by_tag.means.items()} == {"x": 2, "ü": 2}


def test_every_other_column_comes_out_again(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"Frage;Zitat;Abteilung;tags\nWas?;{FIVE};Einkauf;a\nZwei?;{SECOND};Vertrieb;b\n", "cp1252")
    with collect_notes():
        dataset = load_dataset(path, corpus=CORPUS)
    told = [{"Abteilung": "Einkauf", "tags": "a"}, {"Abteilung": "Vertrieb", "tags": "b"}]
    saved = load_dataset(save_dataset(dataset, tmp_path / "q.json"), corpus=CORPUS)
    result = evaluate(BM25Retriever(), saved, k=[1], budgets=[])
    again = load_result(result.save(tmp_path / "run"))
    for found in (dataset.queries, saved.queries, result.queries, again.queries):
        assert [query.metadata for query in found] == told
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert [query["metadata"] for query in report["queries"]] == told
    assert [(breakdown.by, breakdown.values) for breakdown in again.breakdowns] == [("tags", 2)]
    assert {one.value for one in again.compare(result).slices("Abteilung")} == {"Einkauf", "Vertrieb"}
