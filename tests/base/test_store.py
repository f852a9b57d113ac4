"""The content-addressed store."""

import hashlib
import os

import pytest

from rag_evaluation_framework.base.store import Store
from rag_evaluation_framework.errors import DatasetError

TEXT = "# Größe\r\n\r\nFive days \U0001f600, or \ud800 none."


def digest_of(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("most", [None, 1000])
def test_a_text_is_a_plain_file_named_by_the_hash_of_its_content(tmp_path, most):
    store = Store(tmp_path / "texts", most)
    assert store.digests() == set()
    assert store.put([TEXT, "", TEXT]) == [digest_of(TEXT), digest_of(""), digest_of(TEXT)]
    assert names(tmp_path / "texts") == sorted([digest_of(TEXT), digest_of("")])
    assert (tmp_path / "texts" / digest_of(TEXT)).read_bytes() == TEXT.encode("utf-8", "surrogatepass")
    assert (store.get(digest_of(TEXT)), store.get(digest_of("")), store.get(digest_of("a"))) == (TEXT, "", None)


def test_a_text_that_is_there_is_not_written_again(tmp_path):
    store = Store(tmp_path)
    (digest,) = store.put([TEXT])
    before = (tmp_path / digest).stat().st_mtime_ns, (tmp_path / digest).stat().st_ino
    store.put([TEXT, "b"])
    assert ((tmp_path / digest).stat().st_mtime_ns, (tmp_path / digest).stat().st_ino) == before


def test_texts_are_removed_by_their_hashes(tmp_path):
    store = Store(tmp_path)
    first, second = store.put(["a", "b"])
    store.remove([first, digest_of("c")])
    assert store.digests() == {second}


@pytest.mark.parametrize("name", ["", ".", "../secret", "/etc/hostname", "A" * 64, "notes.txt"])
def test_a_name_that_is_no_hash_is_no_text(tmp_path, name):
    (tmp_path / "secret").write_text("secret")
    store = Store(tmp_path / "texts")
    store.put(["a"])
    (tmp_path / "texts" / "notes.txt").write_text("mine")
    assert store.get(name) is None
    assert store.digests() == {digest_of("a")}


def test_what_was_changed_is_an_error_that_names_the_file(tmp_path):
    store = Store(tmp_path)
    (digest,) = store.put([TEXT])
    (tmp_path / digest).write_text("other")
    with pytest.raises(DatasetError, match=f"{digest}: was changed.*restore it from version control, or delete it"):
        store.get(digest)
    assert (tmp_path / digest).read_text() == "other"


def test_what_cannot_be_read_is_an_error_or_in_a_cache_not_there(tmp_path, monkeypatch):
    (digest,) = Store(tmp_path).put([TEXT])
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda path: (_ for _ in ()).throw(PermissionError(13, "Denied")))
    with pytest.raises(DatasetError, match=f"{digest}: cannot be read .Denied.; check its permissions"):
        Store(tmp_path).get(digest)
    assert Store(tmp_path, 1000).get(digest) is None


def test_damage_in_a_cache_is_removed_and_made_again(tmp_path):
    store = Store(tmp_path, 1000)
    (digest,) = store.put([TEXT])
    (tmp_path / digest).write_text("other")
    assert store.get(digest) is None
    assert names(tmp_path) == []
    store.put([TEXT])
    assert store.get(digest) == TEXT


def test_of_a_cache_that_is_full_the_texts_go_that_nobody_used_for_the_longest_time(tmp_path):
    store = Store(tmp_path, 12)
    digests = store.put(["aaaa", "bbbb", "cccc"])
    for age, digest in zip((30, 20, 10), digests, strict=True):
        os.utime(tmp_path / digest, ns=(0, 10**18 - age))
    assert store.get(digests[0]) == "aaaa"  # it was used now
    store.put(["bbbb", "dd"])  # and so was this
    assert [store.get(digest) for digest in digests] == ["aaaa", "bbbb", None]


def test_a_text_that_is_larger_than_a_cache_is_not_in_it(tmp_path):
    store = Store(tmp_path, 3)
    store.put(["aaaa"])
    assert store.digests() == set()
