"""Which reader reads a file, what a corpus knows of it, and readers of one's own."""

import hashlib
import json
import sys
import zipfile
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pypdfium2
import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.base import optional
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.corpus.readers import reader
from rag_evaluation_framework.errors import CorpusError
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from rag_evaluation_framework.text import LinePlaces

OWN = """
from rag_evaluation_framework.corpus.readers import Reader, Reading
from rag_evaluation_framework.errors import CorpusError

class Upper(Reader):
    version = "3"
    def read(self, data):
        return Reading(data.decode().upper())

class Refuses(Reader):
    version = "1"
    def read(self, data):
        raise CorpusError("not a notebook")

class Raises(Reader):
    version = "1"
    def read(self, data):
        raise KeyError("cells")

class Wrong(Reader):
    version = "1"
    def read(self, data):
        return 5
"""


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Say which readers are installed: `plug_in(abc="Upper")`."""
    (tmp_path / "own_readers_of_test.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)

    def install(**classes):
        group, module = "rag_evaluation_framework.reader", "own_readers_of_test"
        points = EntryPoints(EntryPoint(name, f"{module}:{found}", group) for name, found in classes.items())
        monkeypatch.setattr(optional, "_announced", lambda: points)
        reader._readers.cache_clear()

    yield install
    sys.modules.pop("own_readers_of_test", None)
    reader._readers.cache_clear()


def folder_of(tmp_path, **files):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    return folder


def test_html_is_read_and_other_texts_are_their_source(tmp_path):
    page, rst, xml = b"<p>One &amp; <b>two</b>", b"\xef\xbb\xbf*a*\r\n", b"<title/><p>One</p>"
    folder = folder_of(tmp_path, a_html=page, b_HTM=page, c_md=page, d_rst=rst, e_txt=page, f_xhtml=xml)
    corpus = Corpus.from_folder(folder, "*")
    texts = ["One & two", "One & two", page.decode(), "*a*\r\n", page.decode(), "<title/><p>One</p>"]
    assert [document.content for document in corpus] == texts
    assert [document.source is None for document in corpus] == [False, False, True, True, True, True]
    source = corpus["a.html"].source
    assert (source.reader, source.sha256) == ("html", hashlib.sha256(page).hexdigest())
    assert source.version.startswith("1, justhtml ")


def test_a_document_that_is_given_is_its_text_whatever_its_suffix_and_equal_to_one_of_a_file(tmp_path):
    given, source = Document(DocumentId("a.html"), "<b>x</b>"), b"<p>&lt;b>x&lt;/b>"
    assert (given.content, given.source) == ("<b>x</b>", None)
    (read,) = Corpus.from_folder(folder_of(tmp_path, a_html=source), "*")
    assert (read, hash(read)) == (given, hash(given))


def test_lines_and_columns_are_those_of_the_file(tmp_path):
    corpus = Corpus.from_folder(folder_of(tmp_path, a_html=b"<h1>A</h1>\n\n<p>One\n two", b_md=b"A\n\nOne two"), "*")
    for name, place in (("a.html", "a.html:4:2"), ("b.md", "b.md:3:5")):
        start = corpus[name].content.index("two")
        assert LinePlaces(corpus).named(CharacterSpan(DocumentId(name), start, start + 3)) == place


def test_an_entry_point_reads_the_files_of_its_suffix_and_cannot_replace_the_reader_of_html(tmp_path, plug_in):
    plug_in(abc="Upper", html="Upper")
    with collect_notes() as notes:
        read, page = Corpus.from_folder(folder_of(tmp_path, a_ABC=b"one", b_html=b"<p>one"), "*")
    assert (read.content, read.source.reader, read.source.version) == ("ONE", "abc", "3")
    assert (read.source.offset(2), read.source.place(2)) == (0, (1, 1))  # it told no places
    assert page.content == "one"
    assert "plug-in 'own_readers_of_test:Upper' reads files ending in .html, which have a reader" in str(notes)


RAISED = "a.abc: its reader own_readers_of_test:"


@pytest.mark.parametrize(
    ("own", "name", "data", "message"),
    [
        (
            "Upper",
            "a_html",
            b"<p>caf\xe9",
            "a.html: not valid utf-8 (byte 6: 0xe9), which is its encoding; save it as utf-8,",
        ),
        ("Upper", "a_md", b"caf\xe9\0", "a.md: not valid UTF-8 (byte 3); save the file as UTF-8"),
        ("Refuses", "a_abc", b"one", "a.abc: not a notebook; mend the file"),
        ("Raises", "a_abc", b"one", f"{RAISED}Raises raised KeyError: 'cells'"),
        ("Wrong", "a_abc", b"one", f"{RAISED}Wrong raised TypeError: 5; expected a Reader that returns"),
        ("Missing", "a_abc", b"one", f"{RAISED}Missing raised AttributeError"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_what_its_reader_says(tmp_path, plug_in, own, name, data, message):
    plug_in(abc=own)
    with pytest.raises(CorpusError) as error:
        Corpus.from_folder(folder_of(tmp_path, **{name: data}), "*")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("document", "size", "told"),
    [
        (b"<!DOCTYPE a><a/>", 16, "has a document type in word/"),
        ("<!DOCTYPE a><a/>".encode("utf-16"), 34, "has a document type in word/"),
        (b"<a/>", reader.LARGEST + 1, "unpacks to more than 500,000,000 bytes; split it"),
    ],
    ids=["utf-8", "utf-16", "large"],
)
def test_a_docx_with_a_document_type_or_that_unpacks_to_too_much_is_refused(tmp_path, document, size, told):
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", document)
        archive.filelist[0].file_size = size  # what it says of itself
    with pytest.raises(CorpusError, match=told):
        Corpus.of(path)


def test_a_notebook_of_before_version_4_is_read(tmp_path):
    cells = [{"cell_type": "markdown", "source": ["# A\n"]}, {"cell_type": "code", "input": ["x = 1"]}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"worksheets": [{"cells": cells[:1]}, {"cells": cells[1:]}]}))
    assert Corpus.of(tmp_path / "a.ipynb")["a.ipynb"].content == "# A\n\nx = 1"


PDF = (
    b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R%b>>\n"
)
HASH = b"0" * 64


@pytest.mark.parametrize(
    ("trailer", "message"),
    [
        (b"", r"a\.pdf: has no text on 1 page, as scans have none; recognise it \(OCR\) with ocrmypdf, say$"),
        (
            b"/Encrypt<</Filter/Standard/V 1/R 2/P -1/O<" + HASH + b">/U<" + HASH + b">>>/ID[<00><00>]",
            r"a\.pdf: is encrypted with a password; save it without one$",
        ),
    ],
)
def test_a_pdf_that_is_scanned_or_encrypted_says_what_to_do(tmp_path, trailer, message):
    (tmp_path / "a.pdf").write_bytes(PDF % trailer)
    with pytest.raises(CorpusError, match=message):
        Corpus.of(tmp_path / "a.pdf")


def test_places_in_a_pdf_are_its_pages():
    path = Path(__file__).parent / "kinds" / "guide.pdf"
    (document,) = Corpus.of(path)
    with pypdfium2.PdfDocument(path) as pages:
        assert document.source.page(len(document.content) - 1) == len(pages) > 1
    assert document.source.page(0) == 1


def test_words_at_a_line_end_of_a_pdf_are_located_with_and_without_their_hyphen():
    locator = QuoteLocator(Corpus.of(Path(__file__).parent / "kinds" / "columns.pdf"))
    for quote in ("rag-eval says", "rag-\neval says", "rageval says", "allow-failures"):
        assert locator.locate(quote).places, quote


def test_a_pdf_of_which_pages_are_scans_is_read_and_named_with_their_number(tmp_path):
    with pypdfium2.PdfDocument(Path(__file__).parent / "kinds" / "guide.pdf") as document:
        pages = len(document) + 2
        document.new_page(200, 200)
        document.new_page(200, 200)
        document.save(tmp_path / "mixed.pdf")
    with collect_notes() as notes:
        assert len(Corpus.of(tmp_path)) == 1
    assert notes == [
        f"pages without text, as scans have none: mixed.pdf (2 of {pages}); recognise them (OCR) with ocrmypdf, say"
    ]
