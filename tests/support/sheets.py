"""Sheets of Excel (.xlsx), written with the standard library."""

import zipfile
from datetime import date, datetime, time
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_FORMATS = {date: 1, datetime: 2, time: 3}  # the style of a cell
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>'
    '<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/>'
    '<xf numFmtId="22" applyNumberFormat="1"/><xf numFmtId="21" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def write_sheets(path, sheets):
    """Write lists of rows of texts, numbers, booleans, dates and times, by the names of their sheets."""
    numbers = range(1, len(sheets) + 1)
    names = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": _relations({"r": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(
            {f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in numbers} | {"s": ("styles", "styles.xml")}
        ),
        "xl/styles.xml": _STYLES,
        **{f"xl/worksheets/sheet{n}.xml": _sheet(rows) for n, rows in enumerate(sheets.values(), 1)},
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def _relations(targets):
    lines = (f'<Relationship Id="{n}" Type="{_RELATION}/{kind}" Target="{to}"/>' for n, (kind, to) in targets.items())
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(lines)}</Relationships>'


def _sheet(rows):
    lines = (
        f'<row r="{y}">{"".join(_cell(value, f"{chr(64 + x)}{y}") for x, value in enumerate(row, 1))}</row>'
        for y, row in enumerate(rows, 1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _cell(value, at):
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    return f'<c r="{at}" s="{_FORMATS.get(type(value), 0)}"><v>{_number(value)}</v></c>'


def _number(value):
    if isinstance(value, time):
        return (value.hour * 60 + value.minute) / 1440
    if isinstance(value, date):
        days = (datetime(value.year, value.month, value.day) - datetime(1899, 12, 30)).days
        return days + (_number(value.time()) if isinstance(value, datetime) else 0)
    return value
