"""Texts of the documents of runs."""

import json
import subprocess
import sys

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId, evaluate, load_result
from rag_evaluation_framework.corpus.readers import Reading, Source
from rag_evaluation_framework.runs import texts
from rag_evaluation_framework.runs.texts import kept_corpus, texts_of_runs
from rag_evaluation_framework.text import LinePlaces

TEXTS = {"a.md": "Refunds take five days.", "b.md": "Größe 1"}
CORPUS = Corpus([Document(DocumentId(name), text) for name, text in TEXTS.items()])
DATASET = rag.Dataset(
    [rag.TokenLevelGroundTruth(rag.Query.from_text("refunds?"), [rag.CharacterSpan(DocumentId("a.md"), 0, 7)])],
    rag.TOKEN,
    corpus=CORPUS,
)


def run(root=".rag-eval"):
    return evaluate(rag.BM25Retriever(), DATASET, k=1, save_results_path=root)


def known(result):
    return result.config["corpus"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_keeps_its_texts_and_their_list_by_hash_once_and_names_the_list(folder):
    def files():
        return {path.name: path.stat().st_ino for path in (folder / ".rag-eval/store/texts").iterdir()}

    result = run()
    store, before = texts_of_runs(".rag-eval"), files()
    assert store.digests() == {*CORPUS.text_hashes.values(), known(result)["texts"]}
    assert json.loads(store.get(known(result)["texts"])) == CORPUS.text_hashes
    assert "Refunds take" not in (result.folder / "report.json").read_text().replace('"text": "Refunds"', "")
    run()
    assert files() == before


def test_a_corpus_that_was_made_in_memory_is_explained_in_another_process():
    here = str(run().explain("refunds?"))
    code = "import sys, rag_evaluation_framework as rag; print(rag.load_result(sys.argv[1]).explain('refunds?'))"
    command = [sys.executable, "-c", code, run().folder]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert "Refunds" in done.stdout
    assert done.stdout.strip() == here.strip()


def test_the_documents_of_a_loaded_run_are_those_of_its_root(folder, monkeypatch):
    saved = run(folder / "own").folder
    monkeypatch.chdir("/")
    assert kept_corpus(known(load_result(saved)), saved) == CORPUS
    (baseline := folder / "own" / "baseline").mkdir()
    assert kept_corpus(known(load_result(saved)), baseline) == CORPUS


def test_without_one_of_the_texts_or_the_list_nothing_is_there():
    result = run()
    store = texts_of_runs(".rag-eval")
    assert kept_corpus(known(result), None) == CORPUS
    store.remove([CORPUS["b.md"].content_hash])
    assert kept_corpus(known(result), None) is None
    store.put([CORPUS["b.md"].content])
    assert kept_corpus(known(result), None) == CORPUS
    store.remove([known(result)["texts"]])
    assert kept_corpus(known(result), None) is None


def test_a_loaded_run_tells_the_places_in_files_that_its_readers_knew(folder):
    (folder / "files").mkdir()
    (folder / "files/a.html").write_text("<title>A</title>\n\n<b>take</b>")
    page = Corpus.of(folder / "files")["a.html"]
    pages = Source("pages", "", "", Reading.of_pages(["Refunds", "take five days."], [1, 3]))
    files = Corpus([page, Document(DocumentId("b.pdf"), pages.reading.text, source=pages), *CORPUS])
    result = evaluate(rag.BM25Retriever(), DATASET, documents=files, k=1, save_results_path=".rag-eval")
    places = texts_of_runs(".rag-eval").digests() - {*files.text_hashes.values(), known(result)["texts"]}
    assert len(places) == 2
    loaded = kept_corpus(known(load_result(result.folder)), result.folder)
    assert loaded == files
    spans = [CharacterSpan(document.id, at, at + 4) for document in files if (at := document.content.find("take")) >= 0]
    assert [LinePlaces(loaded).named(span) for span in spans] == ["a.html:3:4", "b.pdf, page 3", "a.md:1:9"]
    texts_of_runs(".rag-eval").remove([places.pop()])
    assert kept_corpus(known(result), None) is None


@pytest.mark.parametrize("listed", [None, 5, "../../etc/passwd", "0" * 64, "not a list", "list of numbers"])
def test_what_no_list_can_be_is_none(listed):
    if listed in ("not a list", "list of numbers"):
        (listed,) = texts_of_runs(".rag-eval").put(["[1]" if listed == "not a list" else '{"a.md": 5}'])
    assert kept_corpus({"texts": listed}, None) is None


def test_a_corpus_that_would_take_the_whole_store_is_not_kept(folder, monkeypatch):
    monkeypatch.setattr(texts, "_MOST", 2 * len("Refunds take five days.Größe 1"))
    run()
    assert not (folder / ".rag-eval/store").exists()


def test_a_corpus_is_as_large_as_its_bytes_and_does_not_push_out_its_own_texts(monkeypatch):
    chinese = Corpus([Document(DocumentId(f"{number}.md"), chr(0x4E00 + number) * 4_000) for number in range(12)])
    monkeypatch.setattr(texts, "_MOST", 100_000)  # characters: 48,000; bytes: 144,000
    texts.keep_corpus(CORPUS, ".rag-eval")
    texts.keep_corpus(chinese, ".rag-eval")
    assert {*CORPUS.text_hashes.values()} < texts_of_runs(".rag-eval").digests()
    assert len(texts_of_runs(".rag-eval").digests()) == 3


def test_where_texts_cannot_be_written_the_run_is_saved_all_the_same(folder):
    (folder / ".rag-eval").mkdir()
    (folder / ".rag-eval/store").write_text("a file")
    assert run().folder.is_dir()


def test_a_result_that_is_saved_elsewhere_keeps_no_texts(folder):
    evaluate(rag.BM25Retriever(), DATASET, k=1, save_results_path=None).save(folder / "out")
    assert {path.name for path in folder.iterdir()} == {"out"}
    assert CORPUS.text_list not in (folder / "out/report.json").read_text()
