"""Texts in any encoding, and tables as people save them: CSV with any separator, and Excel sheets.

Nothing is guessed of UTF-8. Text that is in none of the forms of Unicode was saved by a program of one country: Excel
and old editors write windows-1252 in Western Europe, windows-1250 in Poland, and so on.
"""

import csv
import html
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, time
from itertools import chain, dropwhile, islice, pairwise
from pathlib import Path
from typing import Any, Never, TypeAlias

from ..errors import DatasetError, InputError
from .exits import outcome
from .files import LARGEST, as_utf8, read_bytes
from .notes import note
from .optional import require
from .outside import bounded, error_message, shown

_SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
TABLES = (".csv", ".tsv", *_SHEETS)
"""The endings of files of tables."""

IsHeader: TypeAlias = Callable[[list[str]], bool]
"""Whether a row is the header of a table."""

Rows: TypeAlias = Iterator[tuple[int, list[str]]]
"""Rows of a table, each with the number of the line on which it starts."""

_SAMPLE = 500  # lines that are not ASCII, by which an encoding is recognised
_BEGIN = 100_000  # characters, by which a separator is recognised
_FIRST = 10  # rows, of which one is the header
_MOST_CELLS = 10_000_000  # of a sheet; blank ones before others take memory, too

_SIGNS = "„“”‚‘’«»‹›–—…€£¢§°¿¡½¼±µ×®©™•·²\xa0"
_WESTERN = f"{_SIGNS}ÄÖÜäöüßàâæçèéêëîïôœùûÀÂÇÈÉÊÎÔŒÙáíóúñÁÍÓÚÑãõÃÕìòÌÒåøÅØÆý"
_CENTRAL = "ĄĆĘŁŃŚŹŻąćęłńśźżČĎĚŇŘŠŤŮŽčďěňřšťůžŐŰőűĽľĹĺŔŕĐđăşţĂŞŢÁÉÍÓÚÝáéíóúýÄÖÜäöüßÔôâîÂÎ"
# Encodings of Latin script, the likeliest first, and what people write in each beside ASCII.
_LATIN = {"cp1252": _WESTERN, "mac_roman": _WESTERN, "cp1250": _SIGNS + _CENTRAL, "cp1254": f"{_SIGNS}ÇĞİÖŞÜçğıöşüâîû"}
_OTHER = ("cp1251", "cp1253", "cp932", "gb18030", "cp949", "cp950")
_WORD = re.compile("[^\0-\x7f\uff61-\uff9f]{2}")  # a single ° or ö of Western Europe is half-width katakana, too
_ARCHIVES = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # how sheets begin, whatever they are called
_SEPARATOR = re.compile(r"sep=.", re.IGNORECASE)
_PLACE = re.compile(rb'\sr="([A-Z]{1,3})(\d{1,7})"')  # of a cell of Excel
# Cells of Excel without a value, of which calamine makes "": errors, and formulas that no program has calculated.
_ERROR = re.compile(
    rb'(<(?:\w+:)?c\s[^<>]*\bt=")e("[^<>]*>[^<]*(?:</?(?:\w+:)?f\b[^<>]*>[^<]*){0,2}<(?:\w+:)?v>([^<]*))'
)
_FORMULA = re.compile(
    rb'<((?:\w+:)?)c((?:\s+(?!t=)\w+="[^"<]*")*)\s*>\s*<\1f\b(?:[^<>]*/>|[^<>]*>([^<]*)</\1f>)\s*'
    rb"(?:<\1v\s*/>|<\1v>\s*</\1v>|)\s*</\1c>"
)
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
        wrong, latin = signs.count("\ufffd"), sum(sign < "\u0180" for sign in signs)
        damaged = wrong < len(signs) / 2 or wrong <= latin  # in other encodings, é of UTF-8 is hardly ever by chance
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


def read_rows(path: Path, refusal: type[InputError] = DatasetError, *, has: IsHeader = bool) -> Rows:
    """Yield the rows of a table, the header first, each with the number of the line or row on which it starts.

    A table is text in any encoding, with commas, semicolons, tabs or `|` between cells, or a sheet of Excel or
    LibreOffice, recognised by its ending or its content. Cells of a sheet are their values, however they are shown: 12,
    not 12.0, and 0.125 of 12.5 %. An Excel cell without a value is its error or its formula, and a note names it.

    Args:
        path: The file.
        refusal: The class of the error.
        has: Whether a row is the header of the table; by default every row is. The first of the first ten rows is
            taken, and of several sheets that are not empty the one that has it.

    Raises:
        InputError: It cannot be read, or has no sheet or several sheets of that header; raised as the class `refusal`.
    """
    data = read_bytes(path, refusal, most=LARGEST, remedy="split it, or save it as JSONL, which is read line by line")
    if path.suffix.lower() in _SHEETS or data.startswith(_ARCHIVES):
        yield from _from_header(iter(_sheet_rows(data, path, refusal, has)), has, str(path))
        return
    try:
        yield from table_rows(decoded(data, path, refusal), has, str(path))
    except csv.Error as error:
        raise refusal(f"{path}: {error}") from error


def headings(rows: Rows, path: Path, refusal: type[InputError] = DatasetError) -> tuple[int, list[str]]:
    """Take the header from the rows of a table; return its line, and its cells without white space around them.

    Raises:
        InputError: Two columns share a name, in any case; raised as the class `refusal`.
    """
    line, cells = next(rows, (1, list[str]()))
    header = [cell.strip() for cell in cells]
    names = [name.casefold() for name in header if name]
    if len({*names}) < len(names):
        raise refusal(f"{path}: line {line}: two columns share a name: {', '.join(header)}")
    return line, header


def named_rows(path: Path, refusal: type[InputError], has: IsHeader = bool) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table that are not blank, as texts by the names of their columns, each with its line.

    The arguments are those of `read_rows`. Columns at the end may be left out, but not all beside the first: then a
    separator is missing, and so are these columns.

    Raises:
        InputError: It cannot be read, or a row has more cells than the header, or text in a column without a name;
            raised as the class `refusal`.
    """
    rows = read_rows(path, refusal, has=has)
    first, header = headings(rows, path, refusal)
    for line, cells in rows:
        if len(cells) > len(header):
            raise refusal(
                f"{path}: line {line}: expected {len(header)} columns, got {len(cells)}; put quotes around text that "
                "contains the sign between two columns"
            )
        if any(cell.strip() and not name for name, cell in zip(header, cells, strict=False)):
            raise refusal(f"{path}: line {line}: has text in a column without a name; name it in line {first}")
        if any(cell.strip() for cell in cells):  # spreadsheets leave blank ones at the end
            filled = cells if len(cells) == 1 else [*cells, *[""] * (len(header) - len(cells))]
            yield line, {name: cell for name, cell in zip(header, filled, strict=False) if name}


def delimiter_of(text: str, has: IsHeader = bool) -> str:
    """Return the separator of a CSV text that its `sep=` line declares.

    Without one it is the sign by which there is a header, by which that has the most cells and, of several such, by
    which the most of the next rows have as many.
    """
    begin = text[:_BEGIN].lstrip("\ufeff\r\n")
    first = begin.partition("\n")[0].strip("\r")
    if _SEPARATOR.fullmatch(first):
        return first[-1]

    def fit(sign: str) -> tuple[bool, int, int]:
        reader = csv.reader(io.StringIO(begin, newline=""), delimiter=sign, skipinitialspace=True)
        rows = list(islice(filter(_last, reader), _FIRST)) or [[""]]
        header = rows[_header(rows, has)]
        return has(header), len(header), sum(len(row) == len(header) for row in rows)

    return max(",;\t|", key=fit)


def table_rows(text: str, has: IsHeader = bool, name: str = "the table") -> Rows:
    """Yield the rows of a CSV text, the header first, each with the number of the line on which it starts.

    As people and Excel write tables, a title or a line `sep=;` may precede the header, and empty columns may follow on
    the right: none is part of the table. White space behind a delimiter is dropped.

    Args:
        text: The text, with newlines unchanged.
        has: Whether a row is the header, as for `read_rows`.
        name: What notes call the table.

    Raises:
        csv.Error: A row is not valid CSV; the message says on which line it starts.
    """
    yield from _from_header(_csv_rows(text, delimiter_of(text, has)), has, name)


def _csv_rows(text: str, delimiter: str) -> Rows:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a cell may hold a long document
    first = 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for cells in reader:
            if first > 1 or [*map(str.lower, cells)] != ["sep=", ""]:
                yield first, cells
            first = reader.line_num + 1
    except csv.Error as error:
        raise csv.Error(f"line {first}: {error}; is there an unclosed quotation mark?") from error


def _from_header(rows: Rows, has: IsHeader, name: str) -> Rows:
    """Yield the rows of a table from its header on, without the empty columns on its right."""
    rows = dropwhile(lambda row: not _last(row[1]), rows)
    first = list(islice(rows, _FIRST))
    if not first:
        return
    header = _header([cells for _, cells in first], has)
    if header:
        note(f"{name}: the headings are in line {first[header][0]}; what stands above them is not read")
    width = _last(first[header][1])
    for number, cells in chain(first[header:], rows):
        yield number, cells if any(cells[width:]) else cells[:width]


def _header(rows: Sequence[list[str]], has: IsHeader) -> int:
    """Return which of the first rows is the header; where none is, the first that has more cells than a title."""
    known = (number for number, cells in enumerate(rows) if has(cells))
    wide = (number for number, cells in enumerate(rows) if sum(map(bool, map(str.strip, cells))) > 1)
    return next(chain(known, wide, (0,)))


def _last(cells: Sequence[str]) -> int:
    """Return the number of the last cell that is not blank, from 1; 0 of a blank row."""
    return max((number for number, cell in enumerate(cells, 1) if cell.strip()), default=0)


def _sheet_rows(data: bytes, path: Path, refusal: type[InputError], has: IsHeader) -> list[tuple[int, list[str]]]:
    calamine: Any = require("python_calamine", extra="documents", needed_by=f"a sheet such as {path.name}")

    def refuse(error: BaseException) -> Never:
        raise refusal(
            f"{path}: cannot be read as a sheet ({error_message(error)}); save it again, or as CSV UTF-8"
        ) from error

    sheets, lost = outcome(lambda: _sheets(data, calamine.CalamineWorkbook), refuse)
    firsts = {name: [cells for _, cells in rows[:_FIRST]] for name, rows in sheets.items()}
    headers = {name: cells[_header(cells, has)] for name, cells in firsts.items()}
    found = {name: sheets[name] for name, header in headers.items() if has(header)}
    if not sheets:
        raise refusal(f"{path}: it is empty: no sheet has a row; expected headings, and rows below them")
    if len(found) > 1:
        raise refusal(
            f"{path}: {len(found)} sheets have the columns that are needed ({bounded(', '.join(found), _MESSAGE)}); "
            "keep one of them in the file, or save it as CSV"
        )
    if not found and len(sheets) > 1:
        told = "; ".join(f"{name}: {', '.join(filter(None, header))}" for name, header in headers.items())
        raise refusal(
            f"{path}: no sheet has the columns that are needed ({bounded(told, _MESSAGE)}); rename the headings of "
            "one, say what they are called (columns), or keep one sheet in the file"
        )
    (rows,) = (found or sheets).values()
    cells = ((f"{_letters(at)}{number}", cell) for number, row in rows if lost for at, cell in enumerate(row))
    if told := bounded(", ".join(f"{place} ({shown(cell)})" for place, cell in cells if cell in lost), _MESSAGE):
        note(f"{path}: cells without a value: {told}; correct them, or open the file in Excel and save it")
    return rows


def _sheets(data: bytes, workbook: Any) -> tuple[dict[str, list[tuple[int, list[str]]]], set[str]]:
    """Return the rows of each sheet that are not blank, with their numbers; without sheets that are empty.

    Beside them are the texts of cells without a value.
    """
    data, lost = _with_lost(data) if zipfile.is_zipfile(io.BytesIO(data)) else (data, set[str]())
    opened = workbook.from_filelike(io.BytesIO(data))
    sheets: dict[str, list[tuple[int, list[str]]]] = {}
    for name in opened.sheet_names:
        rows = enumerate(opened.get_sheet_by_name(name).to_python(skip_empty_area=False), start=1)
        texts = ((number, [_cell(value) for value in row]) for number, row in rows)
        sheets[name] = [(number, row) for number, row in texts if _last(row)]
    return {name: rows for name, rows in sheets.items() if rows}, lost


def _with_lost(data: bytes) -> tuple[bytes, set[str]]:
    """Return an Excel file in which errors, and formulas without a value, are the texts of their cells; and these."""
    lost, mended, made = set[str](), dict[str, bytes](), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                _check_size(sheet := archive.read(name))
                if b't="e"' in sheet or b"<f" in sheet or b":f" in sheet:  # few sheets have either
                    sheet = _FORMULA.sub(rb'<\1c\2 t="e"><\1v>=\3</\1v></\1c>', sheet)
                    lost |= {html.unescape(text.decode()) for *_, text in _ERROR.findall(sheet)}
                    mended[name] = _ERROR.sub(rb"\1str\2", sheet)
        if not lost:
            return data, lost
        with zipfile.ZipFile(made, "w") as copy:
            for name in archive.namelist():
                copy.writestr(name, mended[name] if name in mended else archive.read(name))
    return made.getvalue(), lost


def _letters(column: int) -> str:
    """Return what Excel calls a column, counted from 0: A, Z, AA."""
    return (_letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)


def _check_size(sheet: bytes) -> None:
    """Raise ValueError if a sheet has too many cells from A1 to its last, of which calamine makes room for each.

    If it finds no room, that ends the interpreter, so it is not asked.
    """
    columns, rows = {b""}, 0
    for place in _PLACE.finditer(sheet):
        columns.add(place[1])
        rows = max(rows, int(place[2]))
    last = max(columns, key=lambda letters: (len(letters), letters))
    width = sum((sign - 64) * 26**power for power, sign in enumerate(reversed(last)))  # A is 65
    if rows * width > _MOST_CELLS:
        raise ValueError(
            f"it reaches to {last.decode()}{rows}, {rows * width:,} cells, of at most {_MOST_CELLS:,}: remove what "
            "stands far from the table"
        )


def _cell(value: Any) -> str:
    """Return the value of a cell of a sheet as a person would write it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"  # 12, and 0.3 of 0.1 + 0.2
    if isinstance(value, datetime) and value.time() == time.min:
        return str(value.date())
    return str(value)
