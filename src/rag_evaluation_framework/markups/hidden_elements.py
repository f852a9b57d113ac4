"""Elements of HTML that a browser does not show because an attribute says so: hidden, or a style."""

import re

from rag_evaluation_framework.markups.markup import Markup

_MAY_HIDE = re.compile(r"\shidden(?=[\s=/>])|display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\s(?P<name>[^\s=\"'<>/]+)(?:\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?(?=[\s/>])", re.IGNORECASE
)
_HIDES = re.compile(r"(?:\A|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\s*(?:!\s*important\s*)?(?:;|\Z)", re.I)
_NAME = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]*)")
_VOID = re.compile("(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\\Z")
WHAT = "hidden elements"


def hide_elements(markup: Markup) -> Markup:
    """Hide the elements of which an attribute says so, and return the markup.

    An element ends with its tag of that name, a paragraph also where a line ends; without one at the end of the text.

    Args:
        markup: What is shown; its tags are hidden, and its parts in order.
    """
    if not _MAY_HIDE.search(markup.source):
        return markup
    name, depth, start = "", 0, 0
    for first, behind, what, shown in list(markup.parts(0, len(markup.source))):
        tag = _NAME.match(markup.source, first, behind) if what == "tags" else None
        if depth and name == "p" and shown and first > start:
            end = behind if tag and tag["end"] and tag["name"].lower() == "p" else first
            markup.hide(start, end, WHAT)
            depth = 0
        if tag is None:
            continue
        if depth and tag["name"].lower() == name:
            depth += -1 if tag["end"] else 1
            if not depth:
                markup.hide(start, behind, WHAT)
        elif (
            not depth
            and not tag["end"]
            and not _VOID.match(tag["name"].lower())
            and _is_hidden(markup.source[first:behind])
        ):
            name, depth, start = tag["name"].lower(), 1, first
    if depth:
        markup.hide(start, len(markup.source), WHAT)
    return markup.finish()


def _is_hidden(tag: str) -> bool:
    for attribute in _ATTRIBUTE.finditer(tag):
        name, value = attribute["name"].lower(), (attribute["value"] or "").strip("\"'")
        if name == "hidden" or (name == "style" and _HIDES.search(value)):
            return True
    return False
