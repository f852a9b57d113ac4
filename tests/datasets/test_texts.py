"""Texts of labelled documents, kept beside the file of a dataset."""

import hashlib
import json
from dataclasses import replace
from functools import cache, partial

import numpy as np
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
from rag_evaluation_framework.datasets import texts
from rag_evaluation_framework.datasets.native import file_state, replace_dataset
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labels.alignment import Words, known_words
from support.linear import assert_linear

TEXTS = {"a.md": "Refunds take five days.\r\n", "b.md": "Größe \U0001f600", "copy.md": "Größe \U0001f600"}


def corpus_of(**changed):
    given = TEXTS | {f"{name}.md": text for name, text in changed.items()}
    return Corpus([Document(DocumentId(name), text) for name, text in given.items()])


CORPUS, EDITED = corpus_of(), corpus_of(a="Refunds took ten days.\n")
QUERY = Query.from_text("How long?")


def labelled(corpus=CORPUS):
    return Dataset([TokenLevelGroundTruth(QUERY, [CharacterSpan(DocumentId("a.md"), 0, 7)])], TOKEN, corpus=corpus)


def kept(path):
    """The texts in the folder beside a file; their names are their hashes."""
    return {file.name for file in path.with_suffix(".texts").iterdir()} - {".gitattributes"}


def hashes(*corpora):
    return {document.content_hash for corpus in corpora for document in corpus}


def test_the_labelled_corpus_is_the_one_at_hand_or_made_of_kept_texts(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    for dataset in (load_dataset(path), load_dataset(path, corpus=EDITED)):
        assert dataset.labelled_corpus is not None
        assert dataset.labelled_corpus.documents == CORPUS.documents
        assert dataset.labelled_corpus.content_hash == dataset.corpus_hash
    assert load_dataset(path, corpus=CORPUS).labelled_corpus is CORPUS
    assert labelled().labelled_corpus is not None
    assert labelled().with_corpus(EDITED).labelled_corpus is None  # it was never saved
    edited = replace(labelled(), corpus=EDITED, corpus_hash=EDITED.content_hash)
    assert edited.texts == EDITED.text_hashes != CORPUS.text_hashes


def test_kept_texts_are_read_only_when_they_are_asked_for(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    for file in (tmp_path / "d.texts").iterdir():
        file.write_text("changed")
    dataset = load_dataset(path, corpus=EDITED)
    assert dataset.content_hash == labelled().content_hash
    with pytest.raises(DatasetError, match=r"d\.texts/[0-9a-f]{64}: was changed"):
        assert dataset.labelled_corpus


def test_a_text_that_is_not_there_is_just_not_kept_and_another_makes_no_corpus(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    (tmp_path / "d.texts" / CORPUS["b.md"].content_hash).unlink()
    dataset = load_dataset(path)
    assert dataset.labelled_corpus is None
    assert dataset.text(CORPUS["a.md"].content_hash) == TEXTS["a.md"]
    assert dataset.text(CORPUS["b.md"].content_hash) is None
    assert dataset.with_corpus(EDITED).text(CORPUS["b.md"].content_hash) == TEXTS["b.md"]
    record = json.loads(path.read_text())
    record["texts"]["b.md"] = record["texts"]["a.md"]  # there, but not that of the labelled corpus
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


def limited(monkeypatch, most=20):
    monkeypatch.setattr(texts, "_MOST", most)


def test_of_many_documents_only_those_with_labels_are_kept_whole_and_hashes_of_the_others(tmp_path, monkeypatch):
    assert known_words(labelled()) is None  # of few documents, there are no others
    assert known_words(load_dataset(save_dataset(labelled(), tmp_path / "few.json"))) is None
    limited(monkeypatch)
    path = save_dataset(labelled(), tmp_path / "d.json")
    assert kept(path) == {CORPUS["a.md"].content_hash, f"{CORPUS.content_hash}.npz"}
    assert texts.KeptTexts.of(labelled(), path) == texts.KeptTexts(tmp_path / "d.texts", 1, 25, 2)
    dataset = load_dataset(path)
    assert dataset.labelled_corpus is None
    assert dataset.text(CORPUS["a.md"].content_hash) == TEXTS["a.md"]
    words = Words(CORPUS.documents)
    stood = known_words(dataset).stood(words)
    assert [stood[first:last].all() for first, last in words.lines] == [False, True, True]
    assert json.loads(path.read_text())["texts"].keys() == TEXTS.keys()
    assert kept(save_dataset(dataset, tmp_path / "e.json")) == kept(path)  # they go along
    replace_dataset(labelled(EDITED), path, file_state(path))  # and are removed with their corpus
    assert kept(path) == {EDITED["a.md"].content_hash, f"{EDITED.content_hash}.npz"}


def test_hashes_that_go_along_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    limited(monkeypatch)
    dataset = load_dataset(save_dataset(labelled(), tmp_path / "d.json"))

    def interrupted(file, **_):
        file.write_bytes(b"begun")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(np, "savez_compressed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save_dataset(dataset, tmp_path / "e.json")
    again = load_dataset(save_dataset(dataset, tmp_path / "e.json"))
    assert len(known_words(again).hashes) == len(known_words(dataset).hashes)


def test_a_dataset_without_texts_keeps_hashes_only_whenever_it_is_saved_and_removes_texts_that_were_kept(tmp_path):
    path = save_dataset(texts.without_texts(labelled()), tmp_path / "d.json")
    replace_dataset(load_dataset(path, corpus=CORPUS), path, file_state(path))
    assert not (tmp_path / "d.texts").exists()
    assert load_dataset(path).texts == CORPUS.text_hashes
    assert load_dataset(path).content_hash == labelled().content_hash
    path = save_dataset(labelled(), tmp_path / "e.json")
    replace_dataset(texts.without_texts(load_dataset(path, corpus=CORPUS)), path, file_state(path))
    assert kept(path) == set()
    assert load_dataset(path).texts == CORPUS.text_hashes


def test_a_text_at_hand_mends_the_file_that_a_power_cut_left_empty(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    (tmp_path / "d.texts" / CORPUS["b.md"].content_hash).write_bytes(b"")
    replace_dataset(load_dataset(path, corpus=CORPUS), path, file_state(path))
    assert load_dataset(path).labelled_corpus.documents == CORPUS.documents


def test_a_forgotten_text_is_removed_with_those_of_its_copies_and_not_kept_again(tmp_path):
    path = save_dataset(labelled(), tmp_path / "d.json")
    forgotten, digests = texts.without_text([load_dataset(path, corpus=CORPUS)], "b.md", path)
    assert digests == {CORPUS["b.md"].content_hash}
    replace_dataset(forgotten, path, file_state(path))
    assert kept(path) == {CORPUS["a.md"].content_hash}
    replace_dataset(load_dataset(path, corpus=CORPUS), path, file_state(path))
    assert kept(path) == {CORPUS["a.md"].content_hash}
    later = replace(load_dataset(path), corpus=corpus_of(b="Size"), corpus_hash=corpus_of(b="Size").content_hash)
    replace_dataset(later, path, file_state(path))
    assert kept(path) == {CORPUS["a.md"].content_hash}
    assert load_dataset(path).metadata[texts.NOT_KEPT] == ["b.md", "copy.md"]


def test_a_document_that_is_not_there_cannot_be_forgotten(tmp_path):
    with pytest.raises(DatasetError, match=r"d\.json: no labelled document 'copi\.md'; did you mean 'copy\.md'\?"):
        texts.without_text([labelled()], "copi.md", tmp_path / "d.json")
    with pytest.raises(DatasetError, match=r"no labelled document '\?'; `texts` in its file lists them"):
        texts.without_text([labelled()], "?", tmp_path / "d.json")


@pytest.mark.parametrize("given", [5, "a.md", None])
def test_metadata_that_lists_no_documents_forgets_none(tmp_path, given):
    path = save_dataset(replace(labelled(), metadata={texts.NOT_KEPT: given}), tmp_path / "d.json")
    assert kept(path) == hashes(CORPUS)


def test_looking_for_texts_that_nothing_names_takes_no_square_of_the_documents(tmp_path):
    @cache
    def dataset(documents):
        file = tmp_path / f"{documents}.json"
        digests = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(documents)]
        texts.texts_beside(file).folder.mkdir()
        for digest in digests:
            (texts.texts_beside(file).folder / digest).touch()
        file.write_text(json.dumps({"texts": {f"folder/document-{digest[:9]}.md": digest for digest in digests}}))
        return file

    assert_linear(lambda documents: partial(texts.drop_texts, dataset(documents)), 2_000)
    assert len(kept(dataset(8_000))) == 8_000
