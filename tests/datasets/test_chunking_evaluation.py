import csv
import json

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId, load_dataset
from rag_evaluation_framework.errors import DatasetError
from support.each import each

TEXT = "Zoë paid 5 €. Then 😀 she left. Zoë paid 5 €."


@pytest.fixture
def corpus():
    return Corpus([Document(DocumentId("tale.md"), TEXT), Document(DocumentId("other.md"), "Nothing.")])


def reference(start, end, **changes):
    return {"content": TEXT[start:end], "start_index": start, "end_index": end, **changes}


def table(folder, *rows, header=("question", "references", "corpus_id")):
    path = folder / "questions_df.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header, *rows])
    return path


def test_references_become_spans_in_code_points_and_questions_whose_generated_ids_are_equal_stay_two(tmp_path, corpus):
    # the second place of a repeated sentence is labelled, and an emoji stands before it
    references = json.dumps([reference(31, 44), reference(19, 20)])
    rows = ["tale", references, "Who paid?", "x"], ["other", "[]", "Why?", "y"]
    twins = [["tale", "[]", f"What is said in section {number}?", ""] for number in (70272, 80025)]
    path = table(tmp_path, *rows, *twins, header=("corpus_id", "references", "question", "Unnamed: 0"))
    dataset = load_dataset(path, corpus=corpus)
    entry, without, *others = dataset
    assert entry.relevant == (
        CharacterSpan(DocumentId("tale.md"), 31, 44),
        CharacterSpan(DocumentId("tale.md"), 19, 20),
    )
    assert [span.text for span in entry.relevant] == ["Zoë paid 5 €.", "😀"]
    assert (entry.query.text, entry.query.metadata) == ("Who paid?", {"corpus_id": "tale"})
    assert (without.query.text, without.relevant) == ("Why?", ())
    assert [twin.query.id for twin in others] == ["query_de826fd4", "query_de826fd48121ad7e"]
    assert (dataset.name, dataset.corpus) == ("questions_df", corpus)


GOOD = json.dumps([reference(0, 3)])


@each(
    ("row", "message"),
    [
        (
            ["Who?", json.dumps([reference(1, 4, content="Zoë")]), "tale"],
            r"tale\.md\[1:4\] is 'oë ' in the document, but 'Zoë' in the reference",
        ),
        (["Who?", json.dumps([reference(99, 102, content="Zoë")]), "tale"], r"tale\.md\[99:102\] is ''"),
        (["Who?", json.dumps([reference(4, 4)]), "tale"], r"tale\.md\[4:4\]"),
        (["Who?", json.dumps([{"content": "Zoë"}]), "tale"], "expected content, start_index and end_index"),
        (["Who?", json.dumps([3]), "tale"], "expected content, start_index and end_index"),
        (["Who?", json.dumps({}), "tale"], "references: expected a JSON list, got dict"),
        (["Who?", "[", "tale"], "references: not valid JSON"),
        (["Who?", GOOD, "finance"], "the corpus has no document 'finance'"),
        (["", GOOD, "tale"], "a column is empty"),
        ([" \n", GOOD, "tale"], "a column is empty"),
        (["Who?", GOOD], "a column is empty"),
    ],
)
def test_a_row_that_does_not_match_the_corpus_is_refused_by_its_line(tmp_path, corpus, row, message):
    path = table(tmp_path, ["Fine\nover two lines?", GOOD, "tale"], row)
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(path, corpus=corpus)
    assert "line 4: " in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('question,references,corpus_id\nWho?,[],tale\nWhy?,"[', "line 3: "),
        ('question,references,"corpus_id\nWho?,[],tale\n', "line 1: unexpected end of data"),
        ("question,references,corpus_id\n\n\nWho?,[,tale\n", "line 4: references: not valid JSON"),
        (
            "question,references,corpus_id\nA?,[],finance\nB?,[],tale\nC?,[,tale\n",
            r"2 problems:\s+line 2: (.|\n)*line 4: ",
        ),
    ],
    ids=["cut off", "a header that is not closed", "blank lines count", "all problems at once"],
)
def test_a_table_that_is_broken_is_refused_by_its_lines(tmp_path, corpus, text, message):
    path = tmp_path / "questions.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        load_dataset(path, corpus=corpus)


def test_the_public_questions_all_match_their_texts(shared):
    folder = shared / "data" / "chunking_questions"
    corpus = Corpus.from_folder(folder / "corpora")
    dataset = load_dataset(folder / "questions_df.csv", corpus=corpus)
    assert len(dataset) == 276
    spans = [span for entry in dataset for span in entry.relevant]
    assert all(entry.relevant for entry in dataset)
    assert all(corpus[span.doc_id].content[span.start : span.end] == span.text != "" for span in spans)
    assert {span.doc_id for span in spans} == {"chatlogs.md", "state_of_the_union.md", "wikitexts.md"}
