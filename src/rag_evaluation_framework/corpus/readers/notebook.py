"""Jupyter notebooks: the sources of their cells."""

from typing import Any

from ...base.files import is_list, is_object, parse_json
from ...errors import CorpusError
from .reader import Reader, Reading


class NotebookReader(Reader):
    """Reads the sources of the cells, Markdown and code, separated by blank lines.

    Outputs are not read: they change whenever the notebook is run, and labels in them would be lost.
    """

    version = "1"

    def read(self, data: bytes) -> Reading:
        """Return the sources of the cells."""
        try:
            found = parse_json(data.decode("utf-8-sig"))
        except ValueError as error:
            raise CorpusError(f"is not a notebook: not valid JSON in UTF-8: {error}") from error
        book: Any = found if is_object(found) else {}
        sheets = book.get("worksheets")  # before version 4
        cells = book.get("cells") if not is_list(sheets) else [cell for sheet in sheets for cell in sheet["cells"]]
        if not is_list(cells) or not all(map(is_object, cells)):
            raise CorpusError("is not a notebook: expected a JSON object with a list of cells")
        sources = (cell.get("source", cell.get("input", "")) for cell in cells)
        return Reading("\n\n".join(text for source in sources if (text := "".join(source).strip("\n"))))
