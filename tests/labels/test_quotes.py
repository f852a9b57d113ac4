import json
import re

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, Query, load_dataset
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.ids import generate_query_id
from rag_evaluation_framework.errors import CorpusError, DatasetError
from rag_evaluation_framework.labels import check_quotes

REFUNDS = "Refunds take five working days."
INSTALL = "Install the agent."
ANSWERS = "Support answers within one day."  # stands in two documents

TWIN, OTHER_TWIN = "What is said in section 70272?", "What is said in section 80025?"  # with one generated id


def file(folder, text, name="q.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def statuses(check):
    return [row.status for row in check.rows]


def found(dataset):
    return [[(span.doc_id, span.text) for span in entry.relevant] for entry in dataset]


def test_a_quote_is_located_ambiguous_missing_or_not_there_on_purpose(tmp_path, corpus):
    path = file(
        tmp_path,
        f"question,quote\nHow long?,{REFUNDS}\nHow fast?,{ANSWERS}\nHow much?,Prices start at 900 dollars.\nWho?,\n",
    )
    check = check_quotes(path, corpus)
    located, ambiguous, missing, unanswered = check.rows
    assert statuses(check) == ["located", "ambiguous", "missing", "no-answer"]
    assert [(span.doc_id, span.text) for (span,) in located.places] == [("billing.md", REFUNDS)]
    assert [span.doc_id for (span,) in ambiguous.places] == ["guides/start.md", "guides/stop.md"]
    assert "name the document, or quote more" in ambiguous.advice
    assert (missing.places, unanswered.places) == ((), ())
    assert (located.advice, unanswered.advice) == ("", "")
    assert missing.advice == "nothing similar in the corpus"
    assert check.problems == (ambiguous, missing)
    assert [(label.query.text, label.quote) for label in check.skipped] == [
        ("How fast?", ANSWERS),
        ("How much?", "Prices start at 900 dollars."),
    ]
    assert check.skipped[0].reason.startswith("ambiguous: guides/start.md:3:45 (")
    assert check.skipped[1].reason == f"missing: {missing.advice}"
    assert check.dataset().skipped == check.skipped


def test_a_check_prints_the_counts_and_the_problems_and_has_every_row(tmp_path, corpus):
    path = file(tmp_path, f"question,quote\nHow long?,{REFUNDS}\nHow fast?,{ANSWERS}\nWho?,\n")
    check = check_quotes(path, corpus)
    counted = check.counted()
    assert counted.startswith(f"{path}: 3 rows: 1 located, 1 ambiguous, 0 missing, 1 no-answer")
    assert counted.endswith("; 1 question skipped: fix its quotes")
    assert [str(row).split()[:3] for row in check.rows] == [
        ["line", "2", "located"],
        ["line", "3", "ambiguous"],
        ["line", "4", "no-answer"],
    ]
    verdict, skipped, _, kind, quote, advice, *_ = check.summary().as_text(200).splitlines()
    assert verdict == "1 of 2 quotes located, 1 ambiguous, 0 missing; 1 question without an answer"
    assert skipped == "1 question skipped: fix its quotes"
    assert (kind, quote) == ("Ambiguous", f"  line 3, ambiguous: “{ANSWERS}”")
    assert advice.startswith("    guides/start.md:3:45 (")
    assert str(check) == check.summary().as_text()


@pytest.mark.parametrize("name", ["guides/stop.md", "stop.md", "stop", " stop ", "guides\\stop.md"])
def test_the_document_column_settles_an_ambiguous_quote(tmp_path, corpus, name):
    path = file(tmp_path, f"question,quote,document\nHow fast?,{ANSWERS},{name}\n")
    assert found(load_dataset(path, corpus=corpus)) == [[("guides/stop.md", ANSWERS)]]


@pytest.mark.parametrize(
    ("name", "advice"),
    [("prices", "the corpus has no document 'prices'"), ("same", "is ambiguous: a/same.md or b/same.md")],
)
def test_a_document_that_is_unknown_or_could_be_two_is_a_missing_quote(tmp_path, name, advice):
    corpus = Corpus(Document(DocumentId(f"{folder}/same.md"), f"In {folder}.") for folder in "ab")
    (row,) = check_quotes(file(tmp_path, f"question,quote,document\nWhere?,In a.,{name}\n"), corpus).rows
    assert row.status == "missing"
    assert advice in row.advice


def test_rows_of_one_question_are_one_question_with_several_spans(tmp_path, corpus):
    path = file(
        tmp_path,
        f"question,quote,document\nWhat first?,{INSTALL},\nHow long?,{REFUNDS},\n"
        "What first?,Export your data first.,stop\n",
    )
    dataset = load_dataset(path, corpus=corpus)
    assert [query.text for query in dataset.queries] == ["What first?", "How long?"]
    assert found(dataset)[0] == [("guides/start.md", INSTALL), ("guides/stop.md", "Export your data first.")]
    assert dataset.name == "q"
    assert dataset.corpus is corpus


NO_LETTER = (
    "the quote has no letter or digit, by which edits could be followed: quote more, or leave it empty if there is "
    "no answer"
)


@pytest.mark.parametrize(
    ("quote", "told"), [*((blank, "the quote is empty") for blank in ("", "   ", "\t")), ("…", NO_LETTER)]
)
def test_a_quote_that_is_empty_beside_others_or_has_no_letter_never_becomes_a_span(tmp_path, corpus, quote, told):
    path = file(tmp_path, f'question,quote\nHow long?,{REFUNDS}\nHow long?,"{quote}"\nWhat?,{INSTALL}\n')
    check = check_quotes(path, corpus)
    assert statuses(check) == ["located", "missing", "located"]
    assert (check.rows[1].places, told in check.rows[1].advice) == ((), True)
    assert found(check.dataset()) == [[("guides/start.md", INSTALL)]]


@pytest.mark.parametrize(
    ("content", "quote", "spans", "ignoring", "told"),
    [
        (
            "Refunds take **five**\nworking days.",
            "Refunds take five working days.",
            ["Refunds take **five**\nworking days."],
            ("emphasis", "line breaks"),
            "a.md[0:35]",
        ),
        (
            "Refunds are paid. They take, as a rule, five days.",
            "They take … five days.",
            ["They take", "five days."],
            ("what the quote leaves out",),
            "a.md[18:27] … [40:50]",
        ),
    ],
    ids=["markup", "an omission"],
)
def test_a_row_says_where_its_quote_is_and_what_was_ignored(tmp_path, content, quote, spans, ignoring, told):
    corpus = Corpus([Document(DocumentId("a.md"), content)])
    check = check_quotes(file(tmp_path, f'question,quote\nHow long?,"{quote}"\n'), corpus)
    (row,) = check.rows
    assert (row.status, row.ignoring) == ("located", ignoring)
    assert ": 1 row: 1 located, " in check.counted()
    assert [[span.text for span in place] for place in row.places] == [spans]
    assert str(row) == f"line 2    located    {told}, ignoring: {', '.join(ignoring)}"
    assert found(check.dataset()) == [[("a.md", text) for text in spans]]


def test_a_question_with_unlocated_quotes_is_skipped_entirely_and_once_with_a_warning_of_each_quote(tmp_path, corpus):
    rows = f"q,Both?,{REFUNDS},\nq,Both?,{ANSWERS},\nq,Both?,Never written.,support\nr,One?,{INSTALL},\n"
    path = file(tmp_path, f"id,question,quote,topic\n{rows}")
    with pytest.warns(UserWarning, match=r"line 3 +ambiguous") as caught:
        dataset = load_dataset(path, corpus=corpus)
    assert len(caught) == 1
    assert [query.text for query in dataset.queries] == ["One?"]
    assert dataset.metadata == {}
    assert [label.quote for label in dataset.skipped] == [ANSWERS, "Never written."]
    assert {label.query for label in dataset.skipped} == {Query(QueryId("q"), QueryText("Both?"), {"topic": "support"})}
    assert "; 1 question skipped: fix its quotes" in check_quotes(path, corpus).counted()


def test_a_file_of_which_nothing_is_left_is_refused_with_every_row(tmp_path, corpus):
    path = file(tmp_path, f"question,quote\nA?,{ANSWERS}\nB?,nowhere at all\n")
    with pytest.raises(
        DatasetError, match=r"2 problems:\s+line 2 +ambiguous(.|\n)*line 3 +missing(.|\n)*right documents"
    ):
        load_dataset(path, corpus=corpus)


def test_a_question_like_a_line_that_names_the_separator_is_one(tmp_path, corpus):
    path = file(tmp_path, f"question;quote\nsep=;\nHow long?;{REFUNDS}\n")
    assert [query.text for query in load_dataset(path, corpus=corpus).queries] == ["sep=", "How long?"]


def test_a_quote_over_several_lines_is_located_and_rows_are_numbered_by_their_first_line(tmp_path, corpus):
    path = file(
        tmp_path,
        f'question,quote\n"What is\nthere?","# Start\n\nInstall the agent."\nHow long?,{REFUNDS}\n\n\n'
        'How?,"not\nthere"\nWho?,\n',
    )
    check = check_quotes(path, corpus)
    assert [row.number for row in check.rows] == [2, 6, 9, 11]
    assert statuses(check) == ["located", "located", "missing", "no-answer"]
    assert check.rows[0].question == "What is\nthere?"


TABLES = [
    (
        "question,answer\nWhat?,That.\n",
        r"no column 'quote' among 'question', 'answer'; .*columns=\{'quote': 'NAME'\}, .*--column quote=NAME",
    ),
    ("wording,quote\nWhat?,That.\n", "no column 'question' among 'wording', 'quote'"),
    (
        "query,user_input,quote\nA?,B?,x\n",
        "columns 'query' and 'user_input' may each be the question; say which: .*rag-eval init --column qu",
    ),
    (
        "question,quote,,topic\nWhat?,That.,more,\n",
        "line 2: has text in a column without a name; name it in line 1",
    ),
    ("question,quote,Quote\nWhat?,That.,This.\n", "line 1: two columns share a name"),
    ("question,quote\nWhat?,one, two\n", "line 2: expected 2 columns, got 3; put quotes around"),
    ("question,quote,document\nA?,x\nWhat?\n", "line 3: expected a question and a quote, got no 'quote'"),
    ("question,quote\n,That.\nA?,x\n", "line 2: the question is empty"),
    ("question,quote,id\nA?,x,1\n,That.,2\n", "line 3: the question is empty"),
    ("sep=;\nquestion;quote;\nsep=;\nA?;x;cell\n", "line 4: expected 2 columns, got 3"),
    ('question,quote\nA?,x\nB?,"never closed\n', "line 3: unexpected end of data; is there an unclosed"),
    ('question,quote\nWhen "x?,"unclosed\n', "line 2: unexpected end of data"),
    ('question,quote\n\n"Over\ntwo lines?",x\nB?,"never\n\nclosed\n', "line 5: unexpected end of data"),
    ('question,"quote\nA?,x\n', "line 1: unexpected end of data"),
    ('question,quote,id\n"A\r?",x,1\n,That.,2\n', "line 4: the question is empty"),
    ('question,quote,id\nA?,x,1\n"","That\rand that.",2\n', "line 3: the question is empty"),
    ("question,quote\n", "holds no questions; expected rows with question and quote"),
    (b"question,quote\nWhat?,\0\xff\n", r"not valid UTF-8 \(byte 22\)"),
    ("id,question,quote\nq,A?,x\nq,B?,y\n", r"line 3: the id 'q' is already used for another question, 'A\?'"),
]
LINES = [
    ('["What?", "That."]', "line 2: expected an object with 'question' and 'quote'"),
    ('{"question": "What?"}', "line 2: expected a question and a quote, got no 'quote'"),
    ('{"question": " ", "quote": "x"}', "line 2: the question is empty"),
    ('{"question": "What?", "quote": ["x", {}]}', r"line 2: 'quote': expected a string, got \{\}"),
    ('{"question": "What?", "quote": 5.5}', "line 2: 'quote': expected a string, got 5.5"),
    ('{"question": "What?", "quote"', "line 2: not valid JSON"),
    ('{"question": "What?", "question": "Who?", "quote": "x"}', "line 2: not valid JSON: duplicate key 'question'"),
]
FIRST_LINE = f'{{"question": "How long?", "quote": "{REFUNDS}"}}'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("q.csv", *table) for table in TABLES] + [("q.jsonl", f"{FIRST_LINE}\n{line}\n", told) for line, told in LINES],
)
def test_a_table_that_cannot_be_used_is_refused_where_it_is_wrong(tmp_path, corpus, name, text, message):
    path = file(tmp_path, text, name)
    with pytest.raises(DatasetError, match=message) as caught:
        check_quotes(path, corpus)
    assert str(path) in str(caught.value)


def test_what_is_no_corpus_no_table_or_no_mapping_of_columns_is_refused(tmp_path, corpus):
    with pytest.raises(CorpusError, match=r"corpus=5: expected a Corpus; Corpus.from_folder\(path\) reads one"):
        check_quotes(tmp_path / "q.csv", 5)
    with pytest.raises(DatasetError, match=r"none\.csv: cannot be read"):
        check_quotes(tmp_path / "none.csv", corpus)
    told = "columns='Antwort': expected names for question, quote, document, id, such as {'quote': 'Antwort'}"
    with pytest.raises(DatasetError, match=f"^{re.escape(told)}$"):
        check_quotes([{"question": "How long?", "Antwort": REFUNDS}], corpus, columns="Antwort")


def test_other_columns_become_metadata_of_the_question_and_id_its_id(tmp_path, corpus):
    path = file(
        tmp_path,
        f"id,question,quote,topic,note\nq-1,How long?,{REFUNDS},,first\n"
        f"q-1,How long?,Invoices are sent,billing,second\n,What?,{INSTALL},setup,\n",
    )
    with collect_notes() as notes:
        first, second = load_dataset(path, corpus=corpus).queries
    assert notes == [f"{path}: rows of one question differ in 'note' (line 3); the first value is kept"]
    assert (first.id, first.metadata) == ("q-1", {"topic": "billing", "note": "first"})
    assert (second.id, second.metadata) == (generate_query_id("What?"), {"topic": "setup"})


@pytest.mark.parametrize(
    ("rows", "asked", "skipped"),
    [
        ([f",{TWIN},{REFUNDS}", f",{OTHER_TWIN},{INSTALL}"], ["query_de826fd4", "query_de826fd48121ad7e"], []),
        ([f",{TWIN},{REFUNDS}", f",{OTHER_TWIN},nowhere at all"], ["query_de826fd4"], ["query_de826fd48121ad7e"]),
        ([f",{TWIN},{REFUNDS}", f"query_de826fd4,Why?,{INSTALL}"], ["query_de826fd46480605e", "query_de826fd4"], []),
        ([f"p,A?,{REFUNDS}", f"q,A?,{INSTALL}", "r,A?,Never written."], ["p", "q"], ["r"]),
    ],
    ids=["equal generated ids", "one of them skipped", "an id of the table", "one wording"],
)
def test_every_question_has_an_id_of_its_own(tmp_path, corpus, rows, asked, skipped):
    assert generate_query_id(TWIN) == generate_query_id(OTHER_TWIN) == "query_de826fd4"
    dataset = check_quotes(file(tmp_path, "\n".join(["id,question,quote", *rows, ""])), corpus).dataset()
    assert [(entry.query.id, len(entry.relevant)) for entry in dataset] == [(query_id, 1) for query_id in asked]
    assert [label.query.id for label in dataset.skipped] == skipped


def test_questions_with_quotes_may_be_lines_of_json_whose_other_values_are_texts_or_lists_of_texts(tmp_path, corpus):
    others = {"n": 5, "no": None, "tags": ["x", "ü"], "a": {"b": 1}, "yes": True, "l": [1, "x"], "m": []}
    rows = [
        {"question": "How long?", "quote": REFUNDS, "topic": "billing"},
        {"question": "How fast?", "quote": ANSWERS, "document": "stop", **others},
        {"question": "Who?", "quote": None},
        {"question": "And then?", "quote": ""},
        {"question": "And the queen?", "quote": "   "},
    ]
    path = file(tmp_path, "\n\n".join(map(json.dumps, rows)), "q.jsonl")
    dataset = load_dataset(path, corpus=corpus)
    assert found(dataset) == [[("billing.md", REFUNDS)], [("guides/stop.md", ANSWERS)], [], [], []]
    assert [query.metadata for query in dataset.queries[:3]] == [
        {"topic": "billing"},
        {"n": "5", "tags": ["x", "ü"], "a": '{"b": 1}', "yes": "True", "l": '[1, "x"]'},
        {},
    ]
    assert [row.number for row in check_quotes(path, corpus).rows] == [1, 3, 5, 7, 9]


def test_of_a_long_missing_quote_the_words_are_told_that_are_not_there(tmp_path):
    sentences = [f"Rule number {number} of the handbook holds for everybody." for number in range(40)]
    wrong = [sentence.replace("number 30 of the", "number thirty of our") for sentence in sentences]
    corpus = Corpus([Document(DocumentId("rules.md"), " ".join(sentences))])
    (row,) = check_quotes(file(tmp_path, f"question,quote\nWhich rules?,{' '.join(wrong)}\n"), corpus).rows
    assert row.status == "missing"
    assert row.suggestion.quote == corpus["rules.md"].content
    assert row.suggestion.difference == "“thirty” for “30”, “our” for “the”"
    assert row.advice.startswith("nearest passage (99 % similar): rules.md:1:1 “Rule number 0 of")
