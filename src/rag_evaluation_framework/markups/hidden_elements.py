"""Elements of HTML that a browser does not show because an attribute says so: hidden, or a style."""

import re
from typing import NamedTuple

from rag_evaluation_framework.markups.markup import LINE_END, Markup

_MAY_HIDE = re.compile(r"\shidden(?=[\s=/>])|display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\s(?P<name>[^\s=\"'<>/]+)(?:\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?(?=[\s/>])", re.IGNORECASE
)
_HIDES = re.compile(r"(?:\A|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\s*(?:!\s*important\s*)?(?:;|\Z)", re.I)
_NAME = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]*)")
_VOID = re.compile("(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\\Z")
WHAT = "hidden elements"
_ROWS, _TABLE = ("tbody", "thead", "tfoot"), ("table",)
_LISTS, _SELECTS = ("ul", "ol", "menu"), ("select", "datalist")


class _Optional(NamedTuple):
    """Where an element ends whose end tag may be left out (HTML Living Standard, section 13.1.2.4).

    Attributes:
        whole: The elements that may hold others of its kind, which end none of it.
        beginning: The elements before which it ends.
        ended: The elements with which it ends.
    """

    whole: tuple[str, ...]
    beginning: tuple[str, ...]
    ended: tuple[str, ...]


_CELL = _Optional(_TABLE, ("td", "th", "tr", *_ROWS), ("tr", *_ROWS, *_TABLE))
_TERM = _Optional(("dl",), ("dt", "dd"), ("dl",))
_OPTIONAL = {
    "li": _Optional(_LISTS, ("li",), _LISTS),
    "dt": _TERM,
    "dd": _TERM,
    "option": _Optional(_SELECTS, ("option", "optgroup", "hr"), ("optgroup", *_SELECTS)),
    "optgroup": _Optional(_SELECTS, ("optgroup", "hr"), _SELECTS),
    "td": _CELL,
    "th": _CELL,
    "tr": _Optional(_TABLE, ("tr", *_ROWS), (*_ROWS, *_TABLE)),
    **dict.fromkeys(_ROWS, _Optional(_TABLE, _ROWS, _TABLE)),
}


def hide_elements(markup: Markup) -> Markup:
    """Hide the elements of which an attribute says so, and return the markup.

    An element ends with its tag of that name, or where browsers end it without one: a list item before the next one or
    with its list, a paragraph where a block begins or ends. Others end at the end of the text then.

    Args:
        markup: What is shown; its tags are hidden, and its parts in order.
    """
    if not _MAY_HIDE.search(markup.source):
        return markup
    hidden: _Hidden | None = None
    for first, behind, what, shown in list(markup.parts(0, len(markup.source))):
        tag = _NAME.match(markup.source, first, behind) if what == "tags" else None
        name, is_end = (tag["name"].lower(), bool(tag["end"])) if tag else ("", False)
        if hidden and (end := hidden.end(name, is_end, shown == LINE_END, first, behind)):
            markup.hide(hidden.start, end, WHAT)
            hidden = None
            if end == behind:
                continue
        if hidden is None and tag and not is_end and not _VOID.match(name) and _is_hidden(markup.source[first:behind]):
            hidden = _Hidden(name, first)
    if hidden:
        markup.hide(hidden.start, len(markup.source), WHAT)
    return markup.finish()


class _Hidden:
    """A hidden element that goes on.

    Args:
        name: Its name.
        start: The first character of its tag.
    """

    def __init__(self, name: str, start: int) -> None:
        self.name, self.start = name, start
        self._optional = _OPTIONAL.get(name)
        self._within = 0  # elements of its name or, if its end tag may be left out, that may hold others of its kind

    def end(self, name: str, is_end: bool, ends_line: bool, first: int, behind: int) -> int:
        """Return one past its last character if it ends before or with a part that is hidden anyway; 0 if it does not.

        Args:
            name: The name of the tag that the part is; "" if it is none.
            is_end: Whether it is an end tag.
            ends_line: Whether a line ends there.
            first: The first character of the part.
            behind: One past its last character.
        """
        if is_end and name == self.name and not self._within:
            return behind
        if self.name == "p":
            return first if ends_line and name != "br" else 0
        if self._optional is None:
            self._within += (name == self.name) * (-1 if is_end else 1)
            return 0
        if not self._within and name in (self._optional.ended if is_end else self._optional.beginning):
            return first
        if name in self._optional.whole:
            self._within += -1 if is_end else 1
        return 0


def _is_hidden(tag: str) -> bool:
    for attribute in _ATTRIBUTE.finditer(tag):
        name, value = attribute["name"].lower(), (attribute["value"] or "").strip("\"'")
        if name == "hidden" or (name == "style" and _HIDES.search(value)):
            return True
    return False
