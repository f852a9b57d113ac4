"""Rows of tables, items of lists and settings, in the source of a document: what says that a line is one of several."""

import re
from typing import Literal

from rag_evaluation_framework.data.label_contexts import CONTEXT
from rag_evaluation_framework.labelling.shown_anchor import keys

_READ = 4 * CONTEXT  # characters before a place
_FARTHEST = 2_000  # characters: more than a list of rows has, as a rule
_ROW = re.compile(
    r"\s*(?:[-*+•>#|]|\d{1,3}[.)]\s|<(?:li|tr|t[dh]|option)\b|:\w[^:\n]*:\s|[\w\"'][\w\"' .-]{0,40}[:=])", re.IGNORECASE
)
_ROW_BEGIN = re.compile(r"[ \t]*(?:[-*+•>|:]|\d{1,3}[.)])?")
_LINE = re.compile(r"(?<![.!?])[ \t]*\r?\n[ \t]*[^\s]")
_HEADING = re.compile(
    r"(?:\A|\n)[ \t]*(?:#{1,6}[ \t]+([^\n]+?)[ \t#]*\n\s*|(\*\*[^\n]+\*\*)[ \t]*\n\s*"
    r"|([^\n]*\w[^\n]*)\n[-=~^\"'*+#.]{2,}[ \t]*\n\s*|(\w[^\n.,;|]*)\n[ \t]{2,}"
    r"|<(?:h[1-6]|dt)\b[^>]*>([^<\n]+)</(?:h[1-6]|dt)>\s*(?:<\w+[^<>]*>\s*)*)\Z",
    re.IGNORECASE,
)
_ROW_BELOW = re.compile(rf"[^\n]*\n(?![ \t\r]*\n){_ROW.pattern}", re.IGNORECASE)
_RULE = re.compile(r"[\s|:+]*[-=][\s|:+=-]*")


def heading_above(source: str, start: int) -> str:
    """Return the letters and digits of the heading, or of the term, right above a place; "" if there is none."""
    found = _HEADING.search(source[max(start - _READ, 0) : start])
    return keys(next(filter(None, found.groups()))) if found else ""


def line_above_rows(source: str, start: int, is_whole: bool) -> str:
    """Return the letters and digits of the line above the rows or items of which a place is one; "" if there is none.

    Args:
        source: The text, not of HTML.
        start: The first character of the place.
        is_whole: Whether the text begins with a line; a part of one is known as no row if a blank line is below it.
    """
    first = source.rfind("\n", 0, start) + 1
    above = source[max(first - _FARTHEST, 0) : max(first - 1, 0)].splitlines()
    if not is_whole and (len(above) < 2 or above[1].strip()):
        above = above[1:]
    begin = _row_begin(source[first:start])
    return next((keys(line) for line in reversed(above) if keys(line) and _row_begin(line) != begin), "")


def _row_begin(line: str) -> tuple[str, bool]:
    """Return the indentation of a row with its marker, if it has one, and whether it is a setting without one."""
    begin = _ROW_BEGIN.match(line)
    sign = begin[0] if begin else ""
    return sign.strip("0123456789") if sign.strip() else sign, not sign.strip() and _ROW.match(line) is not None


def kind_of_row(source: str, start: int, end: int) -> Literal["", "line", "marker"]:
    """Return what says that the line of a place is one of several."""
    line = source.rfind("\n", 0, start) + 1
    if _ROW.match(source, line, end):
        return "marker"
    begins = not source[max(line, start - _READ) : start].strip()
    return "line" if begins and _line_above(source, start).strip() and _LINE.match(source, end) else ""


def _line_above(source: str, start: int) -> str:
    line = source.rfind("\n", 0, start) + 1
    return source[max(source.rfind("\n", 0, max(line - 1, 0)) + 1, line - _READ) : line]


def is_below_rule(source: str, start: int) -> bool:
    """Return whether the line above that of a place rules off the heads of a table."""
    return _RULE.fullmatch(_line_above(source, start)) is not None


def has_row_below(source: str, end: int) -> bool:
    """Return whether a row is in the line below that in which a place ends."""
    return _ROW_BELOW.match(source, end) is not None
