"""DOCX: the text of a Word document."""

import io
import zipfile
from importlib.metadata import version
from typing import Any

from ...base.exits import errors_as
from ...base.optional import require
from ...base.outside import error_text
from ...errors import CorpusError
from .html import HtmlReader
from .reader import LARGEST, Reader, Reading

_OLD = b"\xd0\xcf\x11\xe0"  # with which .doc begins, and what Office encrypts


class DocxReader(Reader):
    """Reads a Word document through mammoth's HTML, as `HtmlReader` does.

    Headings, paragraphs, lists, tables, text boxes and footnotes are in it, and what was inserted while changes were
    tracked. Headers and footers of pages, comments, deletions, numbers of lists and pictures are not.
    """

    def __init__(self) -> None:
        self._mammoth: Any = require("mammoth", extra="documents", needed_by="DOCX")
        self._html = HtmlReader()
        self.version = f"1, mammoth {version('mammoth')}, html {self._html.version}"

    def read(self, data: bytes) -> Reading:
        """Return the text of the document."""
        if data.startswith(_OLD):
            raise CorpusError("is a .doc, or encrypted; save it as .docx, without a password")
        with errors_as(lambda error: CorpusError(f"is not a DOCX that can be read ({error_text(error)})")):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                _check(archive)
            made = self._mammoth.convert_to_html(io.BytesIO(data), convert_image=_no_picture)
        return Reading(self._html.read(made.value.encode()).text)


def _no_picture(_: object) -> list[object]:
    return []


def _check(archive: zipfile.ZipFile) -> None:
    """Raise CorpusError if a document unpacks to too much, or its XML declares entities, which no Word does."""
    if sum(member.file_size for member in archive.infolist()) > LARGEST:
        raise CorpusError(f"unpacks to more than {LARGEST:,} bytes; split it")
    for member in archive.infolist():
        is_xml = member.filename.endswith((".xml", ".rels"))
        if is_xml and b"<!DOCTYPE" in archive.read(member).replace(b"\0", b""):  # also of UTF-16
            raise CorpusError(f"has a document type in {member.filename}; save it with Word or LibreOffice")
