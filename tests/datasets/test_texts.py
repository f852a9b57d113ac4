"""Texts of labelled documents, kept beside the file of a dataset."""

import json
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.datasets.save import file_state, replace_dataset
from rag_evaluation_framework.errors import DatasetError

TEXTS = {"a.md": "Refunds take five days.\r\n", "b.md": "Größe \U0001f600", "copy.md": "Größe \U0001f600"}


def corpus_of(**changed):
    texts = TEXTS | {f"{name}.md": text for name, text in changed.items()}
    return Corpus([Document(DocumentId(name), text) for name, text in texts.items()])


CORPUS, EDITED = corpus_of(), corpus_of(a="Refunds took ten days.\n")
QUERY = Query.from_text("How long?")


def labelled(corpus=CORPUS):
    return Dataset([TokenLevelGroundTruth(QUERY, [CharacterSpan(DocumentId("a.md"), 0, 7)])], TOKEN, corpus=corpus)


def kept(path):
    """The texts in the folder beside a file; their names are their hashes."""
    return {file.name for file in path.with_suffix(".texts").iterdir()} - {".gitattributes"}


def hashes(*corpora):
    return {document.content_hash for corpus in corpora for document in corpus}


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_file_has_the_hash_of_every_labelled_document_and_its_folder_the_texts(tmp_path, name):
    path = save_dataset(labelled(), tmp_path / name)
    header = json.loads(path.read_text() if name == "d.json" else path.read_text().splitlines()[0])
    assert header["texts"] == {document.id: document.content_hash for document in CORPUS}
    assert kept(path) == hashes(CORPUS)
    for document in CORPUS:
        assert (tmp_path / "d.texts" / document.content_hash).read_bytes() == document.content.encode()


def test_git_is_told_to_leave_line_ends_alone(tmp_path):
    save_dataset(labelled(), tmp_path / "d.json")
    assert (tmp_path / "d.texts" / ".gitattributes").read_text() == "* -text\n"


@pytest.mark.parametrize("given", [None, EDITED], ids=["no corpus", "an edited one"])
def test_the_labelled_corpus_is_made_of_kept_texts(tmp_path, given):
    dataset = load_dataset(save_dataset(labelled(), tmp_path / "d.json"), corpus=given)
    assert dataset.labelled_corpus is not None
    assert dataset.labelled_corpus.documents == CORPUS.documents
    assert dataset.labelled_corpus.content_hash == dataset.corpus_hash


def test_the_corpus_at_hand_comes_before_kept_texts(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    assert load_dataset(path, corpus=CORPUS).labelled_corpus is CORPUS
    assert labelled().labelled_corpus is not None
    assert labelled().with_corpus(EDITED).labelled_corpus is None  # it was never saved


def test_kept_texts_are_read_only_when_they_are_asked_for(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    for file in (tmp_path / "d.texts").iterdir():
        file.write_text("changed")
    dataset = load_dataset(path, corpus=EDITED)
    assert dataset.content_hash == labelled().content_hash
    with pytest.raises(DatasetError, match=r"d\.texts/[0-9a-f]{64}: was changed"):
        assert dataset.labelled_corpus


def test_a_text_that_is_not_there_is_just_not_kept(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    (tmp_path / "d.texts" / CORPUS["b.md"].content_hash).unlink()
    dataset = load_dataset(path)
    assert dataset.labelled_corpus is None
    assert dataset.text(CORPUS["a.md"].content_hash) == TEXTS["a.md"]
    assert dataset.text(CORPUS["b.md"].content_hash) is None
    assert dataset.with_corpus(EDITED).text(CORPUS["b.md"].content_hash) == TEXTS["b.md"]


def test_texts_that_are_not_those_of_the_labelled_corpus_make_no_corpus(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    record = json.loads(path.read_text())
    record["texts"]["b.md"] = record["texts"]["a.md"]
    path.write_text(json.dumps(record))
    assert load_dataset(path).labelled_corpus is None


def test_ids_and_what_has_no_labelled_corpus_keep_no_texts(tmp_path):
    entries = DocumentLevelGroundTruth(QUERY, [DocumentId("a.md")]), ChunkLevelGroundTruth(QUERY, ["chunk_1"])
    for entry, level in zip(entries, (DOCUMENT, CHUNK), strict=True):
        dataset = Dataset([entry], level, corpus=CORPUS)
        assert dataset.texts == {}
        save_dataset(dataset, tmp_path / f"{level.evaluation_type}.json")
    save_dataset(replace(labelled(), corpus=None, corpus_hash=None, texts={}), tmp_path / "d.json")
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_dataset_with_another_labelled_corpus_has_the_hashes_of_that():
    edited = replace(labelled(), corpus=EDITED, corpus_hash=EDITED.content_hash)
    assert edited.texts == EDITED.text_hashes != CORPUS.text_hashes


def test_a_dataset_that_is_saved_elsewhere_takes_its_texts_along(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    again = save_dataset(load_dataset(path), tmp_path / "other" / "e.json")
    assert kept(again) == hashes(CORPUS)
    assert again.read_bytes() == path.read_bytes()


def test_replacing_a_dataset_rewrites_no_text_and_removes_those_that_nothing_names(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "d.texts").iterdir()}
    (tmp_path / "other.json").write_text(path.read_text())  # of another dataset
    replace_dataset(labelled(EDITED), path, file_state(path))
    assert kept(path) == hashes(EDITED)
    both = hashes(EDITED) & hashes(CORPUS)
    assert both
    assert all((tmp_path / "d.texts" / name).stat().st_mtime_ns == before[name] for name in both)


def test_texts_of_an_earlier_version_stay_with_it(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    path.rename(tmp_path / "d.1.json")
    save_dataset(labelled(corpus_of(b="Grösse")), path)
    replace_dataset(labelled(corpus_of(b="Size")), path, file_state(path))
    assert kept(path) == hashes(CORPUS, corpus_of(b="Size"))
    earlier = load_dataset(tmp_path / "d.1.json").labelled_corpus
    assert earlier is not None
    assert earlier.documents == CORPUS.documents


def test_texts_of_a_linked_file_are_beside_what_it_leads_to(tmp_path):
    save_dataset(labelled(), tmp_path / "real" / "d.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "real" / "d.json")
    assert load_dataset(tmp_path / "link.json").labelled_corpus is not None
    replace_dataset(labelled(EDITED), tmp_path / "link.json", file_state(tmp_path / "link.json"))
    assert kept(tmp_path / "real" / "d.json") == hashes(EDITED)
    assert not (tmp_path / "link.texts").exists()


def test_texts_that_cannot_be_written_are_an_error(tmp_path):
    (tmp_path / "d.texts").write_text("a file")
    with pytest.raises(DatasetError, match=r"d\.texts: texts cannot be written there"):
        save_dataset(labelled(), tmp_path / "d.json")
