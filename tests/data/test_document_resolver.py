"""Which document a name refers to: never one in another folder than it says without a word."""

import warnings
from contextlib import nullcontext

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.data.documents import DocumentResolver, names_fully
from rag_evaluation_framework.errors import DatasetError
from support.each import each


def resolver(*ids):
    return DocumentResolver(Corpus(Document(DocumentId(name), f"The text of {name}.") for name in ids))


@each(
    ("name", "found"),
    [
        ("guides/start.md", ["guides/start.md"]),
        (" guides/start.md ", ["guides/start.md"]),
        ("start.md", ["guides/start.md"]),
        ("start", ["guides/start.md"]),
        ("guides/start", ["guides/start.md"]),
        ("docs/guides/start.md", ["guides/start.md"]),
        ("/home/me/docs/guides/start", ["guides/start.md"]),
        (r"C:\docs\guides\start.md", ["guides/start.md"]),
        ("v1/limits.md", ["api/v1/limits.md"]),
        ("limits.md", ["api/v1/limits.md", "api/v2/limits.md"]),
        ("docs/deep/notes.md", ["deep/notes.md"]),
        ("other/notes.md", ["notes.md"]),
        ("x/deep/notes.md", ["deep/notes.md", "lib/x/deep/notes.md"]),
        ("api/start.md", []),
        ("ides/start.md", []),
        ("v3/limits.md", []),
        ("stop.md", []),
        ("", []),
        ("/", []),
    ],
)
def test_a_name_refers_to_what_ends_with_it_or_what_it_ends_with(name, found):
    known = (
        "guides/start.md",
        "api/v1/limits.md",
        "api/v2/limits.md",
        "deep/notes.md",
        "notes.md",
        "lib/x/deep/notes.md",
    )
    assert sorted(resolver(*known).named(name)) == sorted(found)


def test_a_document_in_another_folder_is_taken_where_that_is_asked_for_and_told_once():
    documents = resolver("b/index.md", "c/start.md")
    assert documents.alike("a/index.md") == ["b/index.md"]
    with pytest.warns(UserWarning, match=r"no document 'a/index.md': 'b/index.md' is taken for it, .* another folder"):
        assert documents.find("a/index.md") == "b/index.md"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert documents.resolve("a/start.md") == "c/start.md"
        assert resolver("b/index.md").resolve("docs/b/index.md") == "b/index.md"


def test_where_the_folder_counts_the_document_in_another_one_is_named():
    with pytest.raises(
        DatasetError, match=r"^the corpus has no document 'a/index.md', but b/index.md in another folder$"
    ):
        resolver("b/index.md").resolve_named("a/index.md")
    with pytest.raises(DatasetError, match=r"^document 'index' is ambiguous: a/index.md or b/index.md; write the full"):
        resolver("a/index.md", "b/index.md").resolve_named("index")
    with pytest.raises(DatasetError, match=r"^the corpus has no document 'start.md' \(it has b/index.md\)$"):
        resolver("b/index.md").resolve_named("start.md")


def test_paths_are_compared_by_whole_parts():
    assert names_fully("/home/docs/a.md", "docs/a.md")
    assert not names_fully("aa.md", "a.md")
    assert not names_fully("b/a.md", "docs/a.md")
    assert not names_fully("", "a.md")
    assert names_fully("docs/guides/a.md", "guides/a.md")
    assert not names_fully("a.md", "guides/a.md")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("docs/pricing.md", "pricing.md"),
        ("/home/me/docs/pricing.md", "pricing.md"),
        ("./pricing.md", "pricing.md"),
        ("archive/pricing.md", "archive/pricing.md"),
        ("docs/archive/pricing", "archive/pricing.md"),
        *((name, None) for name in ("archiv/pricing.md", "old/pricing.md")),
        *((name, None) for name in ("/home/me/kb/pricing.md", "docs/old/pricing.md")),
    ],
)
def test_before_an_id_a_row_names_the_folder_of_the_corpus_and_no_other(tmp_path, name, found):
    other = r"the corpus has no document .*, but pricing\.md in another folder"
    with pytest.raises(DatasetError, match=other) if found is None else nullcontext():
        assert folder_of_two(tmp_path).resolve_named(name) == found


def folder_of_two(tmp_path):
    (tmp_path / "docs" / "archive").mkdir(parents=True)
    for name in ("pricing.md", "archive/pricing.md"):
        (tmp_path / "docs" / name).write_text(f"The text of {name}.")
    return DocumentResolver(Corpus.from_folder(tmp_path / "docs"))


def test_a_place_that_names_a_page_names_its_document():
    resolver = DocumentResolver(Corpus([Document(DocumentId("g/a.pdf"), "A")]))
    assert resolver.resolve("a.pdf, page 4") == resolver.resolve("g/a.pdf, page 12") == "g/a.pdf"
