"""The markup of HTML: tags, comments, scripts and entities, and elements that a browser does not show."""

import html
import re
from typing import NamedTuple

from rag_evaluation_framework.markups.markup import LINE_END, Markup

# Elements of HTML that a browser does not show because an attribute says so: hidden, or a style.

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


# The markup of HTML: tags, comments, scripts and entities; also where they stand in Markdown.

ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
TAG = re.compile(
    r"</?(?P<name>[A-Za-z][A-Za-z0-9:-]*)"
    r"(?:\s+[A-Za-z_:@.#][^\s\"'=<>`]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++))?)*+\s*/?>"
)
_UNSHOWN = "script|style|title|template|svg|noscript|iframe"
HIDDEN_ELEMENT = re.compile(  # "closed" unless it goes on to the end
    rf"<(?:!--|(?P<name>{_UNSHOWN})\b[^>]{{0,5000}}>).*?(?:(?P<closed>(?(name)</(?P=name)\s*>|(?:-->|(?<=<!--)-?>)))|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ANY = re.compile(
    rf"{HIDDEN_ELEMENT.pattern}|<![A-Za-z\[][^>]{{0,5000}}>|<\?[^>]{{0,5000}}>"
    rf"|{TAG.pattern.replace('?P<name>', '?P<tag>')}"
    rf"|</(?P<odd>[A-Za-z])[^>]{{0,5000}}>|{ENTITY.pattern}",
    re.DOTALL | re.IGNORECASE,
)
_BLOCK = re.compile(
    r"(?:address|article|aside|blockquote|body|br|caption|center|col|colgroup|dd|details|dialog|dir|"
    r"div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|"
    r"header|hgroup|hr|html|legend|li|link|main|menu|meta|nav|ol|optgroup|option|p|pre|search|"
    r"section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)\Z",
    re.IGNORECASE,
)


def html_markup(source: str) -> Markup:
    """Return what a browser hides of an HTML page."""
    markup = Markup(source)
    hide_html(markup, 0, len(source))
    return hide_elements(markup.finish())


def hide_html(markup: Markup, start: int, end: int) -> None:
    """Hide what a browser does not show between two offsets."""
    markup.read(start, end)
    for found in _ANY.finditer(markup.source, start, end):
        first, behind = found.span()
        if found["tag"]:
            hide_tag(markup, first, behind, found["tag"])
        elif markup.source[first] == "&":
            hide_entity(markup, first, behind)
        else:
            markup.hide(first, behind, "comments and scripts" if found["odd"] is None else "tags")


def hide_tag(markup: Markup, start: int, end: int, name: str) -> None:
    """Hide a tag; where that of a block stands, a line ends."""
    markup.hide(start, end, "tags", LINE_END if _BLOCK.match(name) else "")


def hide_entity(markup: Markup, start: int, end: int) -> None:
    """Show the character of an entity; what is none, or stands for several characters, is left as it is."""
    shown = html.unescape(markup.source[start:end])
    if len(shown) == 1:
        markup.hide(start, end, "entities", shown)
