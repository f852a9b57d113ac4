"""Names of documents in another normal form: macOS names files with accents apart, people type them whole."""

import json
from unicodedata import normalize

import pytest

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import DOCUMENT, TOKEN, DocumentLevelGroundTruth
from rag_evaluation_framework.datasets.rankings import read_qrels, read_rankings
from rag_evaluation_framework.labels import leaving_out, relabel

NAME = "Größe/Übersicht.md"
TEXT = "Parcels take three days.\n"
QUOTE = "Parcels take three days."
FORMS = [("NFD", "NFC"), ("NFC", "NFD"), ("NFD", "NFD")]


@pytest.fixture(params=FORMS, ids="-".join)
def corpus_and_name(request, tmp_path):
    disk, written = (normalize(form, NAME) for form in request.param)
    (tmp_path / "docs" / disk).parent.mkdir(parents=True)
    (tmp_path / "docs" / disk).write_text(TEXT)
    return Corpus.from_folder(tmp_path / "docs"), written


def test_ids_of_documents_and_spans_are_in_nfc(corpus_and_name):
    corpus, name = corpus_and_name
    assert [document.id for document in corpus] == [NAME]
    assert Document(DocumentId(normalize("NFD", NAME)), "").id == NAME
    span = CharacterSpan(DocumentId(name), 0, 24, QUOTE)
    assert span.doc_id == NAME
    assert corpus[span.doc_id].content == TEXT


def test_a_label_whose_text_was_edited_is_not_in_a_document_that_is_gone(corpus_and_name, tmp_path):
    corpus, name = corpus_and_name
    path = tmp_path / "questions.json"
    span = CharacterSpan(DocumentId(NAME), 0, 24, QUOTE)
    save_dataset(Dataset([TokenLevelGroundTruth(Query.from_text("How long?"), (span,))], TOKEN, corpus=corpus), path)
    path.write_text(path.read_text(encoding="utf-8").replace(NAME, name), encoding="utf-8")
    edited = Corpus([Document(DocumentId(NAME), "We ship whenever.\n")], corpus.metadata)
    (skipped,) = relabel(load_dataset(path), edited).dataset.skipped
    assert (skipped.document, skipped.reason) == (NAME, f"gone from {NAME}")
    assert leaving_out(skipped.document, edited) is None


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_datasets_and_results_name_the_document_in_either_form(corpus_and_name, tmp_path, ending):
    corpus, name = corpus_and_name
    path = tmp_path / f"questions.{ending}"
    row = {"question": "How long?", "document": name, "quote": QUOTE}
    if ending == "csv":
        path.write_text(f"question,document,quote\nHow long?,{name},{QUOTE}\n")
    elif ending == "jsonl":
        path.write_text(json.dumps(row, ensure_ascii=False))
    else:
        span = CharacterSpan(DocumentId(name), 0, 24, QUOTE)
        save_dataset(Dataset([TokenLevelGroundTruth(Query.from_text("How long?"), (span,))], TOKEN), path)
    dataset = load_dataset(path, corpus=corpus)
    for form in ("NFC", "NFD"):
        hit = {"doc_id": normalize(form, name), "start": 0, "end": 24}
        result = evaluate(lambda query, k, hit=hit: [hit], dataset, k=1)
        assert result.metrics["span_recall@1"] == 1
        assert result.notes == ()
        assert result.queries[0].hits[0].doc_id == NAME
        by_name = evaluate(lambda query, k, hit=hit: [{"doc_id": hit["doc_id"]}], dataset, k=1)
        assert by_name.metrics["span_recall@1"] == 1


def test_so_do_datasets_of_documents(corpus_and_name, tmp_path):
    corpus, name = corpus_and_name
    entry = DocumentLevelGroundTruth(Query.from_text("How long?"), (DocumentId(name),))
    save_dataset(Dataset([entry], DOCUMENT), tmp_path / "documents.json")
    dataset = load_dataset(tmp_path / "documents.json", DOCUMENT, corpus=corpus)
    result = evaluate(lambda query, k: [{"doc_id": name}], dataset, k=1)
    assert result.metrics["recall@1"] == 1


def test_qrels_and_rankings_name_the_same_documents(tmp_path):
    grades, scores = tmp_path / "qrels.txt", tmp_path / "run.txt"
    grades.write_text(f"q1 0 {normalize('NFC', 'Größe.md')} 1\n")
    scores.write_text(f"q1 Q0 {normalize('NFD', 'Größe.md')} 1 0.5 tag\n")
    assert [*read_qrels(grades)["q1"]] == [*read_rankings(scores)["q1"]] == ["Größe.md"]
