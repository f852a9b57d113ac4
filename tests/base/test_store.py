"""The content-addressed store."""

import hashlib
import os
import subprocess
import sys

import pytest

from rag_evaluation_framework.base.store import Cache, Store
from rag_evaluation_framework.errors import DatasetError

TEXT = "# Größe\r\n\r\nFive days \U0001f600, or \ud800 none."


def digest_of(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("most", [None, 1000])
def test_a_text_is_a_plain_file_named_by_the_hash_of_its_content_and_removed_by_it(tmp_path, most):
    store = Store(tmp_path / "texts", most)
    assert store.digests() == set()
    assert store.put([TEXT, "", TEXT]) == [digest_of(TEXT), digest_of(""), digest_of(TEXT)]
    assert names(tmp_path / "texts") == sorted([digest_of(TEXT), digest_of("")])
    assert (tmp_path / "texts" / digest_of(TEXT)).read_bytes() == TEXT.encode("utf-8", "surrogatepass")
    assert (store.get(digest_of(TEXT)), store.get(digest_of("")), store.get(digest_of("a"))) == (TEXT, "", None)
    store.remove([digest_of(""), digest_of("c")])
    assert store.digests() == {digest_of(TEXT)}


def test_a_text_that_is_there_is_not_written_again(tmp_path):
    store = Store(tmp_path)
    (digest,) = store.put([TEXT])
    before = (tmp_path / digest).stat().st_mtime_ns, (tmp_path / digest).stat().st_ino
    store.put([TEXT, "b"])
    assert ((tmp_path / digest).stat().st_mtime_ns, (tmp_path / digest).stat().st_ino) == before


@pytest.mark.parametrize("most", [None, 1000])
def test_a_file_that_a_power_cut_left_empty_is_written_anew(tmp_path, most):
    store = Store(tmp_path, most)
    (digest,) = store.put([TEXT])
    (tmp_path / digest).write_bytes(b"")
    store.put([TEXT])
    assert store.get(digest) == TEXT


@pytest.mark.parametrize("name", ["", ".", "../secret", "/etc/hostname", "A" * 64, "notes.txt"])
def test_a_name_that_is_no_hash_is_no_text(tmp_path, name):
    (tmp_path / "secret").write_text("secret")
    store = Store(tmp_path / "texts")
    store.put(["a"])
    (tmp_path / "texts" / "notes.txt").write_text("mine")
    assert store.get(name) is None
    assert store.digests() == {digest_of("a")}


def test_what_was_changed_is_an_error_that_names_the_file_and_in_a_cache_removed_and_made_again(tmp_path):
    (digest,) = Store(tmp_path).put([TEXT])
    (tmp_path / digest).write_text("other")
    with pytest.raises(DatasetError, match=f"{digest}: was changed.*restore it from version control, or delete it"):
        Store(tmp_path).get(digest)
    assert (tmp_path / digest).read_text() == "other"
    cache = Store(tmp_path, 1000)
    assert cache.get(digest) is None
    assert names(tmp_path) == []
    cache.put([TEXT])
    assert cache.get(digest) == TEXT


def test_what_cannot_be_read_is_an_error_or_in_a_cache_not_there(tmp_path, monkeypatch):
    (digest,) = Store(tmp_path).put([TEXT])
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda path: (_ for _ in ()).throw(PermissionError(13, "Denied")))
    with pytest.raises(DatasetError, match=f"{digest}: cannot be read .Denied.; check its permissions"):
        Store(tmp_path).get(digest)
    assert Store(tmp_path, 1000).get(digest) is None
    assert names(tmp_path) == [digest]


def test_a_text_that_is_removed_while_it_is_looked_at_is_written_anew(tmp_path, monkeypatch):
    (digest,) = Store(tmp_path).put([TEXT])
    monkeypatch.setattr("pathlib.Path.is_file", lambda path: True)
    (tmp_path / digest).unlink()
    Store(tmp_path, 1000).put([TEXT])
    assert names(tmp_path) == [digest]


def test_of_a_cache_that_is_full_the_texts_go_that_nobody_used_for_the_longest_time(tmp_path):
    store = Store(tmp_path, 12)
    store.put(["larger than it"])
    assert store.digests() == set()
    digests = store.put(["aaaa", "bbbb", "cccc"])
    for age, digest in zip((30, 20, 10), digests, strict=True):
        os.utime(tmp_path / digest, ns=(0, 10**18 - age))
    assert store.get(digests[0]) == "aaaa"  # it was used now
    store.put(["bbbb", "dd"])  # and so was this
    assert [store.get(digest) for digest in digests] == ["aaaa", "bbbb", None]


@pytest.mark.parametrize("most", [None, 1000])
def test_texts_that_are_no_cache_are_on_the_disk_before_they_have_their_names(tmp_path, most, monkeypatch):
    named = []
    monkeypatch.setattr(os, "fsync", lambda _: named.append(Store(tmp_path).digests()))
    digests = Store(tmp_path, most).put(["a", "b"])
    assert named == ([] if most else [set(), {digests[0]}])


KEY, OTHER = digest_of("key"), digest_of("other")

CLEARING = """
import hashlib, sys, time
from rag_evaluation_framework.base.store import Cache

cache, writes = Cache(sys.argv[1], "vectors", "vectors", 1000), sys.argv[2] == "write"
print("ready", flush=True)
sys.stdin.readline()
key, end = hashlib.sha256(sys.argv[2].encode()).hexdigest(), time.monotonic() + 2
while time.monotonic() < end:
    if writes:
        cache.write({key: key.encode()})
        assert cache.read([key]).get(key) in (None, key.encode())
    else:
        cache.clear()
        time.sleep(0.0005)
"""


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path, "vectors", "vectors", 1000)


class TestCache:
    def test_an_entry_is_found_by_its_key_and_replaced(self, cache, tmp_path):
        assert (cache.read([KEY]), cache.digests(), cache.size()) == ({}, set(), 0)
        cache.write({KEY: b"one", OTHER: b""})
        cache.write({KEY: b"two"})
        assert (cache.read([KEY, OTHER]), cache.digests()) == ({KEY: b"two", OTHER: b""}, {KEY, OTHER})
        assert names(tmp_path / "cache") == ["vectors"]

    @pytest.mark.parametrize("damaged", [b"", b"short", b"0" * 40, None])
    def test_a_damaged_entry_is_removed_and_told_once(self, cache, damaged):
        cache.write({KEY: b"one", OTHER: b"two"})
        if damaged is None:  # that of another key
            (cache.folder / OTHER).replace(cache.folder / KEY)
        else:
            (cache.folder / KEY).write_bytes(damaged)
        with pytest.warns(UserWarning, match=rf"1 of {1 + (damaged is not None)} vectors were damaged"):
            assert KEY not in cache.read([KEY, OTHER])
        assert KEY not in cache.read([KEY, OTHER])

    def test_what_is_not_ours_stays_when_it_is_cleared(self, cache):
        cache.write({KEY: b"one"})
        (cache.folder / OTHER).mkdir()
        (cache.folder / "notes.txt").write_text("mine")
        cache.clear()
        assert cache.others() == sorted([cache.folder / OTHER, cache.folder / "notes.txt"])
        assert names(cache.folder) == sorted([OTHER, "notes.txt"])

    def test_what_nobody_used_for_the_longest_time_goes_first(self, cache):
        for number, key in enumerate(map(digest_of, "abcd")):
            cache.write({key: b"0" * 200})
            os.utime(cache.folder / key, (number, number))
        assert cache.read([digest_of("a")])  # it was used now
        cache.write({digest_of("e"): b"0" * 600, digest_of("larger than the bound"): b"0" * 1001})
        assert cache.digests() == {digest_of("a"), digest_of("e")}

    def test_a_file_in_place_of_the_folder_is_told(self, cache):
        cache.write({KEY: b"one"})
        cache.clear()
        cache.folder.write_text("a file")
        with pytest.warns(UserWarning, match="vectors cannot be kept"):
            cache.write({KEY: b"one"})
        assert "vectors cannot be kept" in cache.problem

    def test_a_folder_that_another_process_clears_at_any_moment_is_made_again(self, cache, tmp_path, monkeypatch):
        real, gone = type(tmp_path).mkdir, [FileNotFoundError, FileExistsError]

        def cleared(path, *arguments, **options):
            if path == cache.folder and gone:
                raise gone.pop()  # there as it was made, and not there any more as it was looked at
            real(path, *arguments, **options)

        monkeypatch.setattr(type(tmp_path), "mkdir", cleared)
        cache.write({KEY: b"one"})
        assert (cache.read([KEY]), gone) == ({KEY: b"one"}, [])

    def test_two_processes_write_while_two_others_clear(self, cache, tmp_path):
        processes = []
        for task in ("write", "write", "clear", "clear"):
            command = [sys.executable, "-W", "error", "-c", CLEARING, str(tmp_path), task]
            processes.append(subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True))
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        assert [process.communicate(timeout=120)[1] for process in processes] == [""] * 4
        assert [process.returncode for process in processes] == [0] * 4
        cache.write({KEY: b"one"})
        assert cache.read([KEY]) == {KEY: b"one"}
        assert names(tmp_path / "cache") == ["vectors"]
