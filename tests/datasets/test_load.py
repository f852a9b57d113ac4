import json

import pytest

from rag_evaluation_framework import Corpus, DatasetError, Document, DocumentId, load_dataset

TEXT = "The sky is blue. Grass is green."
SPAN = {"doc_id": "a.md", "start": 0, "end": 16}
NATIVE = {"id": "q", "query": "Which colour?", "relevant_spans": [SPAN]}
HEADER = {"schema_version": 1}
REFERENCES = json.dumps([{"content": TEXT[:16], "start_index": 0, "end_index": 16}]).replace('"', '""')

FILES = {
    "native.json": json.dumps({**HEADER, "questions": [NATIVE]}),
    "NATIVE.JSON": json.dumps({**HEADER, "questions": [NATIVE]}),
    "native.jsonl": f"{json.dumps(HEADER)}\n{json.dumps(NATIVE)}\n",
    "quotes.jsonl": json.dumps({"question": "Which colour?", "quote": "The sky is blue."}),
    "quotes.csv": "question,quote\nWhich colour?,The sky is blue.\n",
    "QUOTES.CSV": "question,quote\nWhich colour?,The sky is blue.\n",
    "quotes.tsv": "question\tquote\nWhich colour?\tThe sky is blue.\n",
    "chunking.csv": f'question,references,corpus_id\nWhich colour?,"{REFERENCES}",a\n',
    "chunking-excel.csv": f'\ufeffquestion,references,corpus_id\r\nWhich colour?,"{REFERENCES}",a\r\n',
}


@pytest.fixture
def corpus():
    return Corpus([Document(DocumentId("a.md"), TEXT)])


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_by_what_it_holds(tmp_path, corpus, name):
    path = tmp_path / name
    path.write_bytes(FILES[name].encode())
    for given in (path, str(path)):
        (entry,) = load_dataset(given, corpus=corpus)
        assert entry.query.text == "Which colour?"
        assert [(span.doc_id, span.start, span.end) for span in entry.relevant] == [("a.md", 0, 16)]


@pytest.mark.parametrize("name", ["native.json", "native.jsonl"])
def test_native_files_need_no_corpus(tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    dataset = load_dataset(tmp_path / name)
    assert len(dataset) == 1
    assert dataset.corpus is None


@pytest.mark.parametrize("name", ["quotes.jsonl", "quotes.csv", "quotes.tsv", "chunking.csv"])
def test_quotes_need_the_corpus(tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    with pytest.raises(DatasetError, match=r"pass corpus=Corpus\.from_folder"):
        load_dataset(tmp_path / name)


@pytest.mark.parametrize("name", ["questions.txt", "questions.xlsx", "questions", "questions.yaml"])
def test_another_ending_is_refused(tmp_path, corpus, name):
    (tmp_path / name).write_text(FILES["quotes.csv"])
    with pytest.raises(DatasetError, match=r"wanted a file that ends in \.json, \.jsonl or \.csv"):
        load_dataset(tmp_path / name, corpus=corpus)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.json", ""),
        ("d.jsonl", ""),
        ("d.jsonl", "\n \n"),
        ("d.jsonl", json.dumps(HEADER)),
        ("d.json", json.dumps({**HEADER, "questions": []})),
        ("d.csv", ""),
        ("d.csv", "question,quote\n"),
        ("d.csv", "question,references,corpus_id\n"),
        ("d.tsv", "\n"),
    ],
)
def test_a_file_without_questions_is_refused(tmp_path, corpus, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=rf"{name}: (holds no questions|no valid JSON)"):
        load_dataset(tmp_path / name, corpus=corpus)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "d.csv"])
def test_a_file_that_is_not_there_is_refused(tmp_path, corpus, name):
    with pytest.raises(DatasetError, match=f"{name}: cannot be read"):
        load_dataset(tmp_path / name, corpus=corpus)
