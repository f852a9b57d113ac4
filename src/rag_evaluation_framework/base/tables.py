"""Texts in any encoding, and tables as people save them: CSV with any separator, and Excel sheets.

Nothing is guessed of UTF-8. Text that is in none of the forms of Unicode was saved by a program of one country: Excel
and old editors write windows-1252 in Western Europe, windows-1250 in Poland, and so on.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, time
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Never

from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.files import as_utf8, read_bytes
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import bounded, said, shown
from rag_evaluation_framework.errors import DatasetError, InputError

SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
"""The endings of files of sheets."""

_LARGEST = 200_000_000  # bytes of a table that is read as a whole
_SAMPLE = 500  # lines that are not ASCII, by which an encoding is recognised

_SIGNS = "„“”‚‘’«»‹›–—…€£¢§°¿¡½¼±µ×®©™•\xa0"
_WESTERN = f"{_SIGNS}ÄÖÜäöüßàâæçèéêëîïôœùûÀÂÇÈÉÊÎÔŒÙáíóúñÁÍÓÚÑãõÃÕìòÌÒåøÅØÆý"
_CENTRAL = "ĄĆĘŁŃŚŹŻąćęłńśźżČĎĚŇŘŠŤŮŽčďěňřšťůžŐŰőűĽľĹĺŔŕĐđăşţĂŞŢÁÉÍÓÚÝáéíóúýÄÖÜäöüßÔôâîÂÎ"
# Encodings of Latin script, the likeliest first, and what people write in each beside ASCII.
_LATIN = {"cp1252": _WESTERN, "mac_roman": _WESTERN, "cp1250": _SIGNS + _CENTRAL, "cp1254": f"{_SIGNS}ÇĞİÖŞÜçğıöşüâîû"}
_OTHER = ("cp1251", "cp1253", "cp932", "gb18030", "cp949", "cp950")
_WORD = re.compile("[^\0-\x7f]{2}")
_ARCHIVES = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # how sheets begin, whatever they are called
_SEPARATOR = re.compile(r"sep=.", re.IGNORECASE)
_MESSAGE = 400  # characters of a message that name what sheets have
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")


def decoded(data: bytes, path: Path, refusal: type[InputError] = DatasetError) -> str:
    """Return the text of a file in any encoding, with newlines unchanged and without a byte order mark.

    It is UTF-8 if it can be, or UTF-16 or UTF-32 by its byte order mark or its first characters. Else its encoding is
    recognised by its letters, and a note says which one it is, with a word that shows whether it is right.

    Args:
        data: The content of the file.
        path: The file, for messages.
        refusal: The class of the error.

    Raises:
        InputError: It is no text, is UTF-8 that is damaged, or is in none of the encodings; raised as the class
            `refusal`.
    """
    data = as_utf8(data, path, refusal)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        signs = [sign for sign in data.decode("utf-8", "replace") if not sign.isascii()]
        damaged = signs.count("\ufffd") < len(signs) / 2
        encoding = None if damaged or _CONTROL.search(data) else _recognised(data)
        if encoding is None:
            raise refusal(f"{path}: not valid UTF-8 (byte {error.start}); save the file as UTF-8") from error
    text = data.decode(encoding)
    word = next((word for word in text.split() if not word.isascii()), "\xa0")  # signs between words only
    note(f"{path}: is not UTF-8; read as {encoding}, with {shown(word)} in it; save it as UTF-8 if that is wrong")
    return text


def _recognised(data: bytes) -> str | None:
    """Return the encoding of a text that is not UTF-8, or None if it is in none that is known.

    `charset-normalizer` tells scripts apart. It is often wrong about the languages of Latin script, of which a table
    has few words: there, the encoding is taken in which the most signs are letters of its languages, without capitals
    inside words.
    """
    sample = b"\n".join(islice((line for line in data.splitlines() if not line.isascii()), _SAMPLE))
    normalizer: Any = require("charset_normalizer", extra="documents", needed_by="text that is not UTF-8")
    best = normalizer.from_bytes(sample, cp_isolation=[*_LATIN, *_OTHER]).best()
    # Words of these scripts have no ASCII between their signs; a single sign is rather a hard space, ° or £.
    if best is not None and best.encoding in _OTHER and _WORD.search(str(best)):
        return str(best.encoding)
    shares = {name: _share_of_letters(sample, name, letters) for name, letters in _LATIN.items()}
    likeliest = max(shares, key=shares.__getitem__)
    return likeliest if shares[likeliest] else None


def _share_of_letters(sample: bytes, encoding: str, letters: str) -> float:
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return 0
    signs = [(before, sign) for before, sign in pairwise(f" {text}") if not sign.isascii()]
    return sum(sign in letters and not (before.islower() and sign.isupper()) for before, sign in signs) / len(signs)


def read_rows(
    path: Path, refusal: type[InputError] = DatasetError, *, has: Callable[[list[str]], bool] = bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, the header first, each with the number of the line or row on which it starts.

    A table is text in any encoding, with commas, semicolons, tabs or `|` between cells, or a sheet of Excel or
    LibreOffice, recognised by its ending or its content. Cells of a sheet are the texts that a person sees: 12, not
    12.0.

    Args:
        path: The file.
        refusal: The class of the error.
        has: Whether a header is that of the table: of several sheets that are not empty, the one that has it is read.
            By default every header is.

    Raises:
        InputError: It cannot be read, or has no sheet or several sheets of that header; raised as the class `refusal`.
    """
    data = read_bytes(path, refusal, most=_LARGEST, remedy="split it, or save it as JSONL, which is read line by line")
    if path.suffix.lower() in SHEETS or data.startswith(_ARCHIVES):
        yield from _sheet_rows(data, path, refusal, has)
        return
    try:
        yield from table_rows(decoded(data, path, refusal))
    except csv.Error as error:
        raise refusal(f"{path}: {error}") from error


def delimiter_of(text: str) -> str:
    """Return what separates the cells of a CSV text: as its `sep=` line says, else what its first line has most of."""
    first = text.lstrip("\ufeff\r\n").partition("\n")[0].strip("\r")
    return first[-1] if _SEPARATOR.fullmatch(first) else max(",;\t|", key=first.count)


def table_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV text, the header first, each with the number of the line on which it starts.

    As Excel writes tables, a line `sep=;` may precede the header, and empty columns may follow on the right: neither is
    part of the table. White space behind a delimiter is dropped.

    Args:
        text: The text, with newlines unchanged.

    Raises:
        csv.Error: A row is not valid CSV; the message says on which line it starts.
    """
    first = 1
    width = 0  # none yet: blank lines before the header are skipped, too
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True, skipinitialspace=True)
    try:
        for cells in reader:
            if first > 1 or cells != ["sep=", ""]:
                width = width or _last(cells)
                if width:
                    yield first, cells if any(cells[width:]) else cells[:width]
            first = reader.line_num + 1
    except csv.Error as error:
        if "field limit" in str(error) and text.count('"') % 2 == 0:  # as many marks are opened as closed
            told = f"a cell has more than {csv.field_size_limit():,} characters; shorten it"
        else:
            told = f"{error}; is there an unclosed quotation mark?"
        raise csv.Error(f"line {first}: {told}") from error


def _last(cells: Sequence[str]) -> int:
    """Return the number of the last cell that is not blank, from 1; 0 of a blank row."""
    return max((number for number, cell in enumerate(cells, 1) if cell.strip()), default=0)


def _sheet_rows(
    data: bytes, path: Path, refusal: type[InputError], has: Callable[[list[str]], bool]
) -> Iterator[tuple[int, list[str]]]:
    calamine: Any = require("python_calamine", extra="documents", needed_by=f"a sheet such as {path.name}")

    def refuse(error: BaseException) -> Never:
        raise refusal(f"{path}: cannot be read as a sheet ({said(error)}); save it again, or as CSV UTF-8") from error

    sheets = outcome(lambda: _sheets(calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))), refuse)
    found = [rows for rows in sheets.values() if has(rows[0][1])]
    if len(found) != 1 and len(sheets) != 1:
        headers = "; ".join(f"{name}: {', '.join(filter(None, rows[0][1]))}" for name, rows in sheets.items())
        which = f"{len(found)} sheets have" if found else "no sheet has" if sheets else "it is empty: no sheet has"
        raise refusal(
            f"{path}: {which} the columns that are needed ({bounded(headers, _MESSAGE)}); keep one in the file"
        )
    width = _last((found or [*sheets.values()])[0][0][1])
    for number, cells in (found or [*sheets.values()])[0]:
        yield number, cells if any(cells[width:]) else cells[:width]


def _sheets(workbook: Any) -> dict[str, list[tuple[int, list[str]]]]:
    """Return the rows of each sheet that are not blank, with their numbers; without sheets that are empty."""
    sheets: dict[str, list[tuple[int, list[str]]]] = {}
    for name in workbook.sheet_names:
        rows = enumerate(workbook.get_sheet_by_name(name).to_python(skip_empty_area=False), start=1)
        texts = [(number, [_cell(value) for value in row]) for number, row in rows]
        if filled := [(number, row) for number, row in texts if _last(row)]:
            sheets[name] = filled
    return sheets


def _cell(value: Any) -> str:
    """Return the value of a cell of a sheet as a person sees it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"  # 12, and 0.3 of 0.1 + 0.2
    if isinstance(value, datetime) and value.time() == time.min:
        return str(value.date())
    return str(value)
