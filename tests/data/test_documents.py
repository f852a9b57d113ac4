import contextlib
import os
from functools import partial
from hashlib import sha256

import numpy as np
import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.errors import CorpusError
from support.linear import assert_linear


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def ids(corpus):
    return [document.id for document in corpus]


def documents(**texts):
    return [Document(DocumentId(name), text) for name, text in texts.items()]


NAMES = ["b.md", "a.md", "a/z.md", "B.md", "a-b.md", "10.md", "9.md"]


class TestFromFolder:
    def test_markdown_is_read_recursively(self, tmp_path):
        write(tmp_path, {"a.md": "A", "deep/er/b.md": "B", "notes.txt": "no", "deep/c.MDX": "no"})
        with collect_notes() as notes:
            corpus = Corpus.from_folder(tmp_path)
        assert {document.id: document.content for document in corpus} == {"a.md": "A", "deep/er/b.md": "B"}
        told = f"{tmp_path}: not read: 1 .txt, 1 .mdx; Corpus.of('{tmp_path}') reads them, too"
        assert sorted(map(sorted, notes)) == sorted(map(sorted, [told]))  # either kind first

    @pytest.mark.parametrize(
        ("files", "pattern", "read"),
        [
            ({"a.md": "A", "deep/b.txt": "B", "c.txt": "C"}, "**/*.txt", ["c.txt", "deep/b.txt"]),
            ({"a.md": "A", "deep/b.txt": "B", "c.txt": "C"}, "*.txt", ["c.txt"]),
            ({"a.md": "A", "deep/b.txt": "B", "c.txt": "C"}, "deep/*", ["deep/b.txt"]),
            ({"x/README.md": "X", "y/README.md": "Y"}, "**/*.md", ["x/README.md", "y/README.md"]),
            (
                {"a.md": "A", ".hidden.md": "no", ".git/b.md": "no", "x/.rag-eval/runs/c.md": "no"},
                "**/*.md",
                ["a.md"],
            ),
            ({"folder.md/a.md": "A"}, "**/*.md", ["folder.md/a.md"]),
            (
                {"a.md": "A", "b.rst": "B", "deep/c.txt": "C", "d.png": b"\xff", "{x}.md": "X"},
                "**/*.{md,rst,txt,m*}",
                ["a.md", "b.rst", "deep/c.txt", "{x}.md"],
            ),
            ({"a.md": "A", "{x}.md": "X"}, "{x}.md", ["{x}.md"]),
            ({"a.md": ""}, "**/*.md", ["a.md"]),
            (dict.fromkeys(NAMES, "text"), "**/*.md", sorted(NAMES)),
        ],
        ids=[
            *("recursive", "here", "a folder", "one name", "hidden", "like a file", "braces", "no braces", "empty"),
            "in the order of the ids",
        ],
    )
    def test_the_pattern_chooses_files(self, tmp_path, files, pattern, read):
        write(tmp_path, files)
        corpus = Corpus.from_folder(str(tmp_path), pattern)
        assert ids(corpus) == read
        assert [document.content for document in corpus] == [files[name] for name in read]
        assert corpus.metadata == {"source": str(tmp_path), "glob_pattern": pattern}

    @pytest.mark.parametrize(
        ("data", "content"),
        [
            ("one\r\ntwo\rthree\nfour\x0c\u2028five", "one\r\ntwo\rthree\nfour\x0c\u2028five"),
            (b"\xef\xbb\xbfHello \xef\xbb\xbfworld", "Hello \ufeffworld"),
            ("smörgåsbord 🚀", "smörgåsbord 🚀"),
        ],
        ids=["newlines stay", "a byte order mark shifts no offset", "UTF-8"],
    )
    def test_texts_are_read_as_utf8_whatever_the_platform_prefers(self, tmp_path, monkeypatch, data, content):
        monkeypatch.setenv("LC_ALL", "C")
        write(tmp_path, {"å.md": data})
        (document,) = Corpus.from_folder(tmp_path)
        assert (document.id, document.content) == ("å.md", content)

    def test_a_hidden_folder_can_itself_be_the_corpus(self, tmp_path):
        write(tmp_path, {".notes/a.md": "A"})
        assert ids(Corpus.from_folder(tmp_path / ".notes")) == ["a.md"]

    @pytest.mark.parametrize(
        ("pattern", "message"),
        [
            *((pattern, "its braces stand for too much") for pattern in ("{1..100000}", "{a,b}" * 20)),
            *((pattern, "expected ") for pattern in ("**.md", "x**/*.md", ".")),
            *((pattern, "expected a pattern") for pattern in (5, None, np.zeros(2))),
            *(
                (pattern, "expected a pattern relative to the folder")
                for pattern in ("../*.md", "x/../../*.md", "/etc/*", "", "{*.md,../*.md}", ".{.,}/*.md", "{/,}etc/*")
            ),
            *(
                (pattern, "expected a pattern|no file matches")
                for pattern in ("a\ud800/*.md", f"{'x' * 300}.md", f"{'x' * 300}/*.md", "x/" * 3_000)
            ),
        ],
    )
    def test_a_pattern_that_matches_no_file_of_the_folder_is_refused(self, tmp_path, pattern, message):
        write(tmp_path, {"outside.md": "no", "in/a.md": "A", "in/a/b.md": "B"})
        with pytest.raises(CorpusError, match=message):
            Corpus.from_folder(tmp_path / "in", pattern)

    @pytest.mark.parametrize(
        ("files", "folder", "message"),
        [
            ({"good.md": "A", "bad.md": b"caf\xe9\0"}, "", r"bad\.md: not valid UTF-8 \(byte 3\); save"),
            (
                {"a.txt": "A", "deep/b.rst": "B"},
                "",
                r"no file matches '\*\*/\*\.md'.*ending in \.rst, \.txt; .*glob_pattern='\*\*/\*\.{rst,txt}'",
            ),
            ({".git/hooks/commit.sample": "no", "notes.txt": "yes"}, "", r"It has files ending in \.txt; select"),
            ({}, "", "has no files, or none with an extension such as .md"),
            ({}, "nowhere", "nowhere: does not exist"),
            ({"a.md": "A"}, "a.md", r"a\.md: is a file"),
        ],
        ids=["no UTF-8", "no match", "hidden", "empty", "missing", "a file"],
    )
    def test_a_folder_that_cannot_be_read_says_what_there_is(self, tmp_path, files, folder, message):
        write(tmp_path, files)
        with pytest.raises(CorpusError, match=message):
            Corpus.from_folder(tmp_path / folder)

    def test_a_file_that_cannot_be_read_is_named(self, tmp_path, monkeypatch):
        write(tmp_path, {"a.md": "A"})

        def refuse(*_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("os.open", refuse)
        with pytest.raises(CorpusError, match=r"a\.md: cannot be read \(Permission denied\)"):
            Corpus.from_folder(tmp_path)


class TestCorpus:
    def test_documents_of_any_iterable_are_kept_in_their_order_and_found_by_id(self):
        given = documents(b="same", a="same")
        corpus = Corpus(document for document in given)
        given.clear()
        assert (ids(corpus), len(corpus), corpus["b"].content) == (["b", "a"], 2, "same")
        assert "a" in corpus
        assert "c" not in corpus
        with pytest.raises(KeyError):
            corpus["c"]

    def test_a_document_id_given_twice_is_refused(self):
        twice = [*documents(a="A", b="B"), *documents(a="other")]
        with pytest.raises(CorpusError, match="duplicate document ids: 'a'; ids must be unique, in Unicode's form NFC"):
            Corpus(twice)

    def test_it_prints_its_size_and_not_its_text(self):
        assert repr(Corpus(documents(a="x" * 1500, b="B"))) == "Corpus(2 documents, 1,501 characters)"


class TestContentHash:
    def test_order_and_metadata_play_no_part(self, tmp_path):
        write(tmp_path, {"a.md": "A", "b.md": "B"})
        in_memory = Corpus([Document(DocumentId("b.md"), "B"), Document(DocumentId("a.md"), "A", {"title": "x"})])
        assert Corpus.from_folder(tmp_path).content_hash == in_memory.content_hash

    @pytest.mark.parametrize(
        "other",
        [
            *({"a": "A\n", "b": "B "}, {"a": "A\n", "c": "B"}, {"a": "A\n"}, {"a": "A\nbB"}),
            *({"aA\n": "", "b": "B"}, {"a": "A\r\n", "b": "B"}),
        ],
    )
    def test_any_change_of_a_text_or_id_changes_it(self, other):
        assert Corpus(documents(a="A\n", b="B")).content_hash != Corpus(documents(**other)).content_hash

    @pytest.mark.parametrize(
        ("text", "data", "begins"),
        [("é\r\n", "é\r\n".encode(), "b7616cd94f78"), ("a\ud800", b"a\xed\xa0\x80", "")],
        ids=["text", "a lone surrogate"],
    )
    def test_it_is_a_pinned_number(self, text, data, begins):
        # Stored datasets and results name the corpus that they were made on by this hash: it must not change.
        counted = [len(part).to_bytes(8, "big") + part for part in (b"a.md", data)]
        expected = sha256(b"".join(counted)).hexdigest()
        assert expected.startswith(begins)
        (document,) = corpus = Corpus(documents(**{"a.md": text}))
        assert (corpus.content_hash, document.content_hash) == (expected, sha256(data).hexdigest())

    def test_the_hash_of_a_document_is_that_of_its_file_without_a_byte_order_mark(self, tmp_path):
        text = "é\r\n💶".encode()
        for name, data in (("a.md", text), ("b.md", b"\xef\xbb\xbf" + text)):
            (tmp_path / name).write_bytes(data)
        one, other = Corpus.from_folder(tmp_path)
        assert one.content_hash == other.content_hash == sha256(text).hexdigest()


def too_large(path):
    with path.open("wb") as file:
        file.truncate(5_000_000_000)


class TestWhatCannotBeRead:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda path: path.symlink_to("gone.md"), r"b\.md: cannot be read"),
            (lambda path: path.symlink_to("b.md"), r"b\.md: cannot be read"),
            (os.mkfifo, r"b\.md: is not a file but a device or pipe"),  # and is not waited for
            (too_large, r"b\.md: has more than 500,000,000 bytes; split it, or exclude it"),  # before it is read
        ],
        ids=["a link that leads nowhere", "a link to itself", "a pipe", "too large"],
    )
    def test_what_is_no_file_that_can_be_read_is_refused(self, tmp_path, make, message):
        write(tmp_path, {"a.md": "A"})
        make(tmp_path / "b.md")
        with pytest.raises(CorpusError, match=message):
            Corpus.from_folder(tmp_path)

    @pytest.mark.parametrize("pattern", ["**/*.md", "*/*.md", "link/*.md", "**/*/b.md", "link/**/*.md", "*/*/*.md"])
    def test_no_pattern_follows_a_link_to_a_folder(self, tmp_path, pattern):
        write(tmp_path, {"docs/in/a.md": "A", "docs/in/deep/a.md": "A", "other/b.md": "B", "other/deep/b.md": "B"})
        (tmp_path / "docs/link").symlink_to(tmp_path / "other")
        (tmp_path / "docs/in/round").symlink_to(tmp_path / "docs")
        said = r"links to folders are not followed: .*docs/link"
        with pytest.warns(UserWarning, match=said), contextlib.suppress(CorpusError):
            assert not any(
                "link" in name or "round" in name for name in ids(Corpus.from_folder(tmp_path / "docs", pattern))
            )

    @pytest.mark.filterwarnings("error")
    def test_a_link_that_the_pattern_does_not_meet_is_not_mentioned(self, tmp_path):
        write(tmp_path, {"docs/a.md": "A", "docs/in/a.md": "A", "other/b.md": "B"})
        (tmp_path / "docs/link").symlink_to(tmp_path / "other")
        assert ids(Corpus.from_folder(tmp_path / "docs", "*.md")) == ["a.md"]
        assert ids(Corpus.from_folder(tmp_path / "docs", "in/*.md")) == ["in/a.md"]

    @pytest.mark.filterwarnings("error")
    def test_a_link_to_a_file_elsewhere_is_read_with_a_warning(self, tmp_path):
        write(tmp_path, {"docs/a.md": "A", "b.md": "B"})
        (tmp_path / "docs/b.md").symlink_to("../b.md")
        with pytest.warns(UserWarning, match=r"links to files outside of .*docs are read: .*docs/b\.md"):
            assert Corpus.from_folder(tmp_path / "docs")["b.md"].content == "B"

    @pytest.mark.filterwarnings("error")
    def test_a_link_to_a_file_of_the_corpus_is_read(self, tmp_path):
        write(tmp_path, {"docs/a.md": "A"})
        (tmp_path / "docs/b.md").symlink_to("a.md")
        (tmp_path / "there").symlink_to("docs")
        assert ids(Corpus.from_folder(tmp_path / "there")) == ["a.md", "b.md"]

    def test_links_to_folders_are_not_followed_and_one_warning_says_so(self, tmp_path):
        write(tmp_path, {"docs/a.md": "A", "other/b.md": "B"})
        for number in range(200):
            (tmp_path / f"docs/link{number:03}").symlink_to(tmp_path / "other")
        with pytest.warns(
            UserWarning, match=r"links to folders are not followed: .*link000, .*link002 and 197 more"
        ) as warned:
            assert ids(Corpus.from_folder(tmp_path / "docs")) == ["a.md"]
        assert len(warned) == 1

    @pytest.mark.parametrize("folder", ["a\0b", "a\ud800", "x" * 300, "x/" * 3_000, 5])
    def test_a_path_that_no_folder_can_have_is_refused(self, folder):
        with pytest.raises(CorpusError, match=r"expected one|choose another path"):
            Corpus.from_folder(folder)

    def test_stars_upon_stars_cost_little(self, tmp_path):
        write(tmp_path, {f"{'d/' * 12}a.md": "A"})
        assert len(Corpus.from_folder(tmp_path, "**/" * 12 + "*.md")) == 1
        assert_linear(lambda stars: partial(Corpus.from_folder, tmp_path, "**/" * stars + "*.md"), 3)

    def test_a_folder_that_cannot_be_read_is_refused(self, tmp_path, monkeypatch):
        write(tmp_path, {"a.md": "A", "locked/b.md": "B"})
        real = os.scandir

        def scandir(path="."):
            if str(path).endswith("locked"):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
        with pytest.raises(CorpusError, match=r"locked: cannot be read \(Permission denied\)"):
            Corpus.from_folder(tmp_path)

    def test_an_unreadable_hidden_folder_is_ignored(self, tmp_path, monkeypatch):
        write(tmp_path, {"a.md": "A", ".locked/b.md": "B"})
        real = os.walk

        def walk(top, onerror):
            for place, folders, files in real(top):
                yield place, folders, files
                if ".locked" in folders:
                    onerror(PermissionError(13, "Permission denied", ".locked"))

        monkeypatch.setattr(os, "walk", walk)
        assert ids(Corpus.from_folder(tmp_path)) == ["a.md"]


def test_whether_an_id_starts_with_a_prefix_is_known_without_asking_each():
    corpus = Corpus(documents(b="", **{"a/1": "", "a/2": "", "c/1": ""}))
    prefixes = ("", "a", "a/", "a/2", "b", "c/")
    assert all(map(corpus.has_prefix, prefixes))
    assert not any(map(corpus.has_prefix, ("A", "a/3", "ab", "b/", "c/0", "d", "\U0010ffff")))
    assert not Corpus([]).has_prefix("")
