"""PDF: the text of its pages, as a viewer copies it."""

from importlib.metadata import version
from threading import Lock
from typing import Any

from ...base.optional import require
from ...base.outside import error_message
from ...errors import CorpusError
from .reader import Reader, Reading

_ONE_AT_A_TIME = Lock()  # PDFium does not know of threads
_HYPHEN = "\ufffe"  # what PDFium makes of a hyphen at the end of a line, whether of the word or dividing it


class PdfReader(Reader):
    """Reads the text of each page in the order in which it was written, by PDFium: what Chrome copies.

    Pages are separated by a blank line. A hyphen at the end of a line stays, with the line end: it may be one of the
    word. Ligatures are letters. Headers, footers and page numbers are in the text, and so are tables, a row on a line.
    Pictures of text are not read.
    """

    def __init__(self) -> None:
        self._pdfium: Any = require("pypdfium2", extra="documents", needed_by="PDF")
        self.version = f"2, pypdfium2 {version('pypdfium2')}"

    def read(self, data: bytes) -> Reading:
        """Return the text of the pages, and the start of each."""
        try:
            with _ONE_AT_A_TIME:
                pages = self._pages(data)
        except self._pdfium.PdfiumError as error:
            if "password" in str(error):
                raise CorpusError("is encrypted with a password; save it without one") from error
            raise CorpusError(f"is not a PDF that can be read ({error_message(error)})") from error
        if not any(pages):
            count = f"{len(pages)} page{'s' * (len(pages) != 1)}"
            raise CorpusError(f"has no text on {count}, as scans have none; recognise it (OCR) with ocrmypdf, say")
        return Reading.of_pages(pages, range(1, len(pages) + 1))

    def _pages(self, data: bytes) -> list[str]:
        with self._pdfium.PdfDocument(data) as document:
            texts = (page.get_textpage().get_text_range() for page in document)
            return [text.replace("\r\n", "\n").replace(_HYPHEN, "-\n").strip() for text in texts]
