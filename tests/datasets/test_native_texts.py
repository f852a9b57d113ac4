"""What files hold of the labelled documents: hashes of their texts, and what spans quote."""

import hashlib
import json

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)

TEXT = "# Billing\r\n\r\nInvoices come first. Refunds take five working days 💶. Support helps at once.\r\n"
QUOTE = "Refunds take five working days 💶."
CORPUS = Corpus([Document(DocumentId("billing.md"), TEXT), Document(DocumentId("other.md"), "Nobody labelled this.")])
EDITED = Corpus([Document(DocumentId("billing.md"), f"{TEXT}More."), Document(DocumentId("other.md"), "Changed.")])
SPAN = CharacterSpan(DocumentId("billing.md"), TEXT.index(QUOTE), TEXT.index(QUOTE) + len(QUOTE))


@pytest.fixture
def dataset():
    return Dataset([TokenLevelGroundTruth(Query.from_text("A?"), [SPAN])], TOKEN, name="d", corpus=CORPUS)


def content(path):
    header, *rows = (
        map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if path.suffix == ".jsonl"
        else (json.loads(path.read_text(encoding="utf-8")),)
    )
    return header, rows or header["questions"]


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_file_holds_hashes_of_all_documents_and_what_spans_quote_and_its_folder_the_texts(tmp_path, dataset, name):
    header, (question,) = content(save_dataset(dataset, tmp_path / name))
    assert header["texts"] == CORPUS.text_hashes
    assert header["texts"]["billing.md"] == hashlib.sha256(TEXT.encode()).hexdigest()
    assert question["relevant_spans"] == [{"doc_id": "billing.md", "start": SPAN.start, "end": SPAN.end, "text": QUOTE}]
    texts = {document.content_hash: document.content.encode() for document in CORPUS}
    git = {".gitattributes": b"* -text\n"}  # line ends are left alone
    assert {file.name: file.read_bytes() for file in (tmp_path / "d.texts").iterdir()} == {**texts, **git}


@pytest.mark.parametrize("corpus", [None, EDITED, CORPUS], ids=["no corpus", "an edited one", "the labelled one"])
@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_dataset_that_is_saved_elsewhere_keeps_them_and_takes_its_texts_along(tmp_path, dataset, name, corpus):
    path = save_dataset(dataset, tmp_path / name)
    again = load_dataset(path, corpus=corpus)
    assert again.texts == dataset.texts == CORPUS.text_hashes
    saved = save_dataset(again, tmp_path / "elsewhere" / f"again-{name}")
    assert saved.read_bytes() == path.read_bytes()
    kept, along = ({file.name for file in one.with_suffix(".texts").iterdir()} for one in (path, saved))
    assert along == kept == {".gitattributes", *CORPUS.text_hashes.values()}


def test_a_file_without_them_is_read_and_saved_as_before(tmp_path):
    span = {"doc_id": "billing.md", "start": SPAN.start, "end": SPAN.end, "text": QUOTE}
    questions = [{"id": "q", "query": "A?", "relevant_spans": [span]}]
    (tmp_path / "d.json").write_text(json.dumps({"schema_version": 1, "questions": questions}), encoding="utf-8")
    dataset = load_dataset(tmp_path / "d.json")
    header, (question,) = content(save_dataset(dataset, tmp_path / "again.json"))
    assert "texts" not in header
    assert question["relevant_spans"] == [span]


def test_spans_take_no_text_from_a_corpus_that_was_not_labelled(tmp_path, dataset):
    moved = dataset.with_corpus(EDITED)
    _, (question,) = content(save_dataset(moved, tmp_path / "d.json"))
    assert question["relevant_spans"] == [{"doc_id": "billing.md", "start": SPAN.start, "end": SPAN.end}]
