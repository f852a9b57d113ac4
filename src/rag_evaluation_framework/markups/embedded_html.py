"""HTML within Markdown: tags, comments, scripts and entities."""

import html
import re

from rag_evaluation_framework.markups.markup import LINE_END, Markup

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
