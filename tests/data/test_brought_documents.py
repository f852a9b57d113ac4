"""What people bring as documents: paths of every kind, and the objects of other libraries."""

import json
import zipfile
from dataclasses import dataclass, field

import pytest

from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId, evaluate
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.errors import ConfigError, CorpusError, MissingDependency
from support.each import each


@dataclass
class LangChain:
    """As `langchain_core.documents.Document`."""

    page_content: str
    metadata: dict = field(default_factory=dict)
    id: str | None = None


@dataclass
class LlamaIndex:
    """As `llama_index.core.schema.Document`, whose ids are made up."""

    text: str
    metadata: dict
    id_: str = "0b1c"


@dataclass
class Haystack:
    """As `haystack.Document`, whose ids are hashes."""

    content: str
    meta: dict
    id: str = "9f00"


def texts(corpus):
    return {document.id: document.content for document in corpus}


def refused(given, **options):
    with pytest.raises(CorpusError) as error, collect_notes():
        Corpus.of(given, **options)
    assert "\n" not in str(error.value).partition(":\n")[0]
    return str(error.value)


@each(
    ("given", "expected"),
    [
        (
            [LangChain("A", {"source": "/x/docs/a.md"}), LangChain("B", {"source": "/x/docs/g/b.md"})],
            {"a.md": "A", "g/b.md": "B"},
        ),
        (
            [LangChain("A", {"source": "docs\\a.md"}), LangChain("B", {"source": "docs\\g\\b.md"})],
            {"a.md": "A", "g/b.md": "B"},
        ),
        (
            [LangChain("A", {"source": "https://x.org/a"}), LangChain("B", {"source": "d/b.md"})],
            {"https://x.org/a": "A", "b.md": "B"},
        ),
        (
            [LangChain("A", {"source": "./docs/a.md"}), LangChain("B", {"source": "docs//g/b.md"})],
            {"a.md": "A", "g/b.md": "B"},
        ),
        ([LangChain("A", {"source": "./docs/a.md"})], {"a.md": "A"}),
        ([LangChain("A", {"source": r"\\server\docs\a.md"})], {"a.md": "A"}),
        ([LangChain("A", id="one")], {"one": "A"}),
        ([LangChain("A")], {"559aead08264": "A"}),  # the begin of the hash of its text
        (
            [LangChain("A", {"source": "x.csv", "row": 0}), LangChain("B", {"source": "x.csv", "row": 1})],
            {"x.csv/0": "A", "x.csv/1": "B"},
        ),
        (
            [LlamaIndex("A", {"file_path": "/d/a.md"}), LlamaIndex("B", {"file_path": "/d/b.md"})],
            {"a.md": "A", "b.md": "B"},
        ),
        ([Haystack("A", {"file_path": "d/a.md"})], {"a.md": "A"}),
        ({"documents": [Haystack("A", {"file_path": "d/a.md"})]}, {"a.md": "A"}),
        ([{"id": "x", "text": "A"}, {"_id": 7, "content": "B"}], {"x": "A", "7": "B"}),
        ([{"_id": "x", "title": "T", "text": "A"}, {"_id": "y", "title": "", "text": "B"}], {"x": "T\n\nA", "y": "B"}),
        ((each for each in [{"name": "x", "body": "A"}]), {"x": "A"}),
        ([Document(DocumentId("a.md"), "A")], {"a.md": "A"}),
        (Corpus([Document(DocumentId("a.md"), "A")]), {"a.md": "A"}),
        (LangChain("A", {"source": "d/a.md"}), {"a.md": "A"}),
    ],
)
def test_documents_of_other_libraries_are_called_like_their_files(given, expected):
    assert texts(Corpus.of(given)) == expected


@each(
    ("key", "numbers", "told"),
    [
        ("page", (1, 0), (2, 1)),
        ("page_number", (2, 1), (2, 1)),
        ("page_label", ("2", "1"), (2, 1)),
        ("page", (0, 2, 10), (1, 3, 11)),  # some are left out
        ("page", (2, 3, 10), (2, 3, 10)),  # and none is a page 0
    ],
)
def test_pages_of_a_file_are_one_document_and_keep_their_numbers(key, numbers, told):
    (document,) = Corpus.of([LangChain(f"<{number}>", {"source": "/d/a.pdf", key: number}) for number in numbers])
    in_order = sorted(numbers, key=int)
    assert (document.id, document.content) == ("a.pdf", "\n\n".join(f"<{number}>" for number in in_order))
    assert tuple(document.source.page(document.content.index(f"<{number}>")) for number in numbers) == told


def test_what_else_is_known_of_a_document_is_its_metadata():
    (row,) = Corpus.of([{"id": "x", "text": "A", "lang": "de", "metadata": {"team": 1}}])
    assert row.metadata == {"id": "x", "lang": "de", "team": 1}
    (loaded,) = Corpus.of([LangChain("A", {"source": "a.md", "team": 1})])
    assert loaded.metadata == {"source": "a.md", "team": 1}


@each(
    ("given", "message"),
    [
        (["a.md", "b.md"], "documents[0]: 'a.md' is no document; of files give Corpus.of(folder, glob=[...])"),
        ("gone", "gone: does not exist; expected a folder or file of documents"),
        (5, "documents=5; expected a folder, a file, or a list of documents"),
        ([{"id": "x"}], "documents[0]: has no text"),
        ([{"text": "a", "content": "b"}], "documents[0]: has a text in each of text, content; expected one"),
        ([{"id": "x", "text": "A"}, {"id": "x", "text": "B"}], "2 documents are called 'x'"),
        (
            [LangChain("A", {"source": "a.pdf", "page": 0}), LangChain("A.", {"source": "a.pdf", "page": 0})],
            "2 documents are called 'a.pdf'; expected one of each name, or the pages of a file, each once; are these",
        ),
    ],
)
def test_what_is_no_documents_is_refused_in_one_line(given, message):
    assert message in refused(given)


def folder_of(tmp_path, **files):
    for name, content in files.items():
        path = tmp_path / "docs" / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path / "docs"


def test_a_folder_is_read_whatever_kinds_are_in_it(tmp_path):
    book = json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": ["# A\n", "b"]},
                {"cell_type": "code", "source": "x = 1", "outputs": [1]},
            ]
        }
    )
    folder = folder_of(
        tmp_path, a_MD="A", b_txt="B", g__c_html="<p>C", d_ipynb=book, e_py="no", f_png=b"\x89PNG", _hidden_md="no"
    )
    (folder / "~$a.docx").write_bytes(b"x")  # a lock of Word
    with collect_notes() as notes:
        corpus = Corpus.of(folder)
    assert texts(corpus) == {"a.MD": "A", "b.txt": "B", "g/c.html": "C", "d.ipynb": "# A\nb\n\nx = 1"}
    assert notes == [f"{folder}: not read: 1 .py, 1 .png, as they have no reader"]
    assert corpus.metadata == {"source": str(folder)}


def test_patterns_and_what_is_excluded_together_say_what_is_read(tmp_path):
    folder = folder_of(tmp_path, a_md="A", g__b_md="B", g__old__c_md="C", d_txt="D")
    assert [*texts(Corpus.of(folder, glob=["**/*.md", "*.txt"], exclude="old"))] == ["a.md", "d.txt", "g/b.md"]
    assert [*texts(Corpus.of(folder, exclude=["*.md", "x/**"][:1]))] == ["d.txt"]
    assert [*texts(Corpus.of(folder, exclude="g/*.md"))] == ["a.md", "d.txt", "g/old/c.md"]
    with collect_notes() as notes:
        Corpus.of(folder, exclude="b.MD")
    assert notes == [f"{folder}: nothing is excluded by 'b.MD'"]


def test_all_files_that_cannot_be_read_are_told_at_once(tmp_path):
    folder = folder_of(
        tmp_path, a_md="A", b_ipynb="{", c_ipynb="[]", d_docx=b"\xd0\xcf\x11\xe0", e_pdf=b"%PDF", f_docx=b"x"
    )
    lines = refused(folder).splitlines()
    how = (
        "(run --set exclude=NAME, sweep --over exclude=NAME, init --exclude NAME, in a configuration exclude: [NAME], "
        "in Python Corpus.of(..., exclude=['NAME']))"
    )
    assert lines[0] == f"{folder}: 5 files cannot be read; mend them, or exclude them {how}:"
    assert [line.partition(": ")[2] for line in lines[1:]] == [
        "is not a notebook: not valid JSON in UTF-8: Expecting property name enclosed in double quotes: line 1 column "
        "2 (char 1); mend the file",
        "is not a notebook: expected a JSON object with a list of cells; mend the file",
        "is a .doc, or encrypted; save it as .docx, without a password",
        "is not a PDF that can be read (Failed to load document (PDFium: Data format error).); mend the file",
        "is not a DOCX that can be read (BadZipFile: File is not a zip file); mend the file",
    ]
    assert [*texts(Corpus.of(folder, exclude=["*.ipynb", "*.docx", "*.pdf"]))] == ["a.md"]
    assert refused(folder, exclude=["*.ipynb", "*.docx"]).endswith(f"; mend the file, or exclude it {how}")


def test_keywords_of_documents_are_told_where_they_belong(tmp_path):
    for given in ({"glob": "*.md"}, {"exclude": ["b.pdf"]}, {"converter": len}, {"text_column": "t"}):
        (key,) = given
        with pytest.raises(ConfigError, match=rf"^{key}: .* expected documents=Corpus\.of\(\.\.\., {key}=\.\.\.\)$"):
            evaluate(BM25Retriever(), [{"question": "a", "quote": "b"}], documents=tmp_path, **given)


def test_of_files_without_a_match_that_is_told_which_the_caller_can_select(tmp_path):
    folder = folder_of(tmp_path, a_MD="A", b_md="B", c_doc=b"\xd0\xcf\x11\xe0")
    assert "; select them with glob='**/*.{MD,md}', on the command line --glob '**/*.{MD,md}'." in refused(
        folder, glob="*.pdf"
    )
    assert [*texts(Corpus.of(folder, glob="**/*.{MD,md}"))] == ["a.MD", "b.md"]
    assert (
        "It has files ending in .doc; save them as .docx, .pdf or .txt, or, if they are text, select them with "
        "glob='**/*.doc'" in refused(folder_of(tmp_path / "only", c_doc=b"\xd0\xcf\x11\xe0"))
    )


def test_a_file_of_an_archive_is_named_in_it_by_errors_and_by_the_notes_beside_them(tmp_path):
    with zipfile.ZipFile(path := tmp_path / "docs.zip", "w") as archive:
        archive.writestr("a.pdf", "%PDF")
        archive.writestr("b.md", "Größe".encode("cp1252"))
    with collect_notes() as notes:
        assert refused(path).startswith(f"{path}/a.pdf: is not a PDF")
    assert notes[0].startswith(f"{path}/b.md: is not UTF-8; read as cp1252")


def test_of_many_notes_on_single_files_a_few_are_told(tmp_path):
    folder = folder_of(tmp_path, **{f"{name}_md": "Größe".encode("cp1252") for name in "abcde"})
    with collect_notes() as notes:
        Corpus.of(folder)
    assert [note.partition(": ")[0].removeprefix(f"{folder}/") for note in notes[:3]] == ["a.md", "b.md", "c.md"]
    assert notes[3:] == [f"{folder}: 2 more notes of this kind"]


def test_a_package_that_is_not_installed_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pypdfium2", None)
    with pytest.raises(MissingDependency) as error:
        Corpus.of(folder_of(tmp_path, a_pdf=b"x", b_pdf=b"x", c_md="C"))
    assert "docs: 2 .pdf cannot be read: PDF needs the package that provides `pypdfium2`" in str(error.value)
    assert "pip install 'rag-evaluation-framework[documents]'" in str(error.value)


def test_a_single_file_is_a_corpus(tmp_path):
    folder = folder_of(tmp_path, a_md="A")
    assert texts(Corpus.of(folder / "a.md")) == {"a.md": "A"}
    assert "is a file; glob and exclude are about folders" in refused(folder / "a.md", glob="*")


def test_an_archive_is_read_as_a_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        for name in ("a.md", "g/b.html", "__MACOSX/._a.md", "c.png"):
            archive.writestr(name, "<p>x")
    with collect_notes() as notes:
        corpus = Corpus.of(tmp_path / "docs.zip")
    assert texts(corpus) == {"a.md": "<p>x", "g/b.html": "x"}
    assert notes == [f"{tmp_path}/docs.zip: not read: 1 .png, as they have no reader"]


def test_an_archive_leads_nowhere_and_is_refused_if_it_is_damaged_or_too_large(tmp_path):
    path = tmp_path / "docs.zip"
    for name in ("../a.md", "/a.md"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, "x")
        assert texts(Corpus.of(path)) == {"a.md": "x"}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.md", "Refunds take five days.")
        archive.writestr("../a.md", "Refunds take six days.")
    assert refused(path).startswith(f"{path}: cannot be unpacked (it has two files that would be 'a.md')")
    path.write_bytes(b"PK")
    assert refused(path).startswith(f"{path}: cannot be unpacked (BadZipFile")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.md", "x")
        archive.filelist[0].file_size = 3_000_000_000  # what it says of itself
    assert refused(path) == (
        f"{path}: cannot be unpacked (it unpacks to more than 2,000,000,000 bytes); unpack it, and give the folder"
    )


def test_a_table_or_jsonl_has_a_document_per_row(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "x", "title": "T", "text": "A"}\n{"_id": "y", "text": "B"}\n')
    assert texts(Corpus.of(tmp_path / "corpus.jsonl")) == {"x": "T\n\nA", "y": "B"}
    (tmp_path / "faq.csv").write_bytes(
        "sep=;\r\nNr;Frage;Antwort\r\n7;Wie lange?;Fünf Tage.\r\n8;Wo?;Überall.\r\n".encode("cp1252")
    )
    with collect_notes():
        corpus = Corpus.of(str(tmp_path / "faq.csv"), text_column="Antwort", name_column="Nr")
    assert texts(corpus) == {"7": "Fünf Tage.", "8": "Überall."}
    assert corpus["7"].metadata == {"row": 3, "Nr": "7", "Frage": "Wie lange?"}
    assert (corpus.metadata["text_column"], corpus.metadata["name_column"]) == ("Antwort", "Nr")
    with collect_notes():
        assert "has no text" in refused(tmp_path / "faq.csv")
        assert "has no X" in refused(tmp_path / "faq.csv", text_column="Antwort", name_column="X")
    assert "text_column and name_column are about a table or .jsonl" in refused(tmp_path, text_column="a")


def test_a_converter_reads_what_is_not_plain_text(tmp_path):
    def convert(path):
        return f"{path.name} converted"

    folder = folder_of(tmp_path, a_html="<p>A", b_md="B", c_pdf=b"x")
    corpus = Corpus.of(folder, converter=convert)
    assert texts(corpus) == {"a.html": "a.html converted", "b.md": "B", "c.pdf": "c.pdf converted"}
    source = corpus["c.pdf"].source
    assert source.reader == f"{__name__}:test_a_converter_reads_what_is_not_plain_text.<locals>.convert"
    assert len(source.version) == 12  # of its code
    assert corpus.metadata["converter"] == source.reader
    convert.version = "docling 2"
    assert Corpus.of(folder, converter=convert)["a.html"].source.version == "docling 2"


def test_a_converter_that_fails_is_told_with_the_file(tmp_path):
    folder = folder_of(tmp_path, a_html="<p>A")
    for returned in (None, "", " \n"):
        told = refused(folder, converter=lambda _, returned=returned: returned)
        assert "a.html: tests.data." in told
        assert f" returned {returned!r}; have it return the text of the file, or exclude it" in told


def test_frames_have_a_document_per_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"ID": [7, None], "Text": ["A", "B"], "lang": ["de", None]})
    assert texts(Corpus.of(frame)) == {"7": "A", "2": "B"}  # without an id, the number of the row
    named = pandas.DataFrame({"id": pandas.Categorical(["x", None]), "text": ["A", "B"]})
    assert texts(Corpus.of(named)) == {"x": "A", "2": "B"}
    assert texts(Corpus.of([{"nr": "x", "Antwort": "A"}], text_column="antwort", name_column="Nr")) == {"x": "A"}


@each(
    ("table", "message"),
    [
        ("id,text\nx,a, b\n", "line 2: expected 2 columns, got 3; put quotes around text"),
        ("id,text,,x\nx,a,b,c\n", "line 2: has text in a column without a name"),
        ("id,text,Text\nx,a,b\n", "line 1: two columns share a name: id, text, Text"),
    ],
)
def test_no_text_of_a_table_is_lost(tmp_path, table, message):
    (tmp_path / "a.csv").write_text(table)
    assert message in refused(tmp_path / "a.csv")


def test_pages_without_text_are_told_with_their_file(tmp_path):
    blank = [LangChain(text, {"source": "scan.pdf", "page": page}) for page, text in enumerate(("A", "", "B", ""))]
    with collect_notes() as notes:
        Corpus.of([*blank, LangChain("C", {"source": "whole.pdf"})])
    assert notes == [
        "pages without text, as scans have none: scan.pdf (2 of 4); recognise them (OCR) with ocrmypdf, say"
    ]
