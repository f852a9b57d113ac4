"""The blocks of Markdown, line by line: what a renderer hides at the lines' ends, and which text is inline."""

import re
from collections.abc import Iterator

from rag_evaluation_framework.markups.hidden_elements import hide_elements
from rag_evaluation_framework.markups.html_markup import HIDDEN_ELEMENT, hide_html
from rag_evaluation_framework.markups.markdown_inline import Inline
from rag_evaluation_framework.markups.markup import CODE, LINE_END, Markup

_FRONT_MATTER = re.compile(r"---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"(?:[ ]{0,3}>[ \t]?)+")
_ITEM = re.compile(r"[ \t]*(?:[-+*]|(?P<number>\d{1,9})[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]+|$)")
_ATTRIBUTES = re.compile(r"\{:?[ \t]*+[#.][^{}\n]*+\}")
_ADMONITION = re.compile(
    r"[ \t]*+(?:!!!|\?\?\?\+?)[ \t]++(?P<kind>[\w-]++)(?:[ ]++[\w-]++)*+[ \t]*+(?P<title>\"[^\"\n]*+\")?[ \t]*+$"
)
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})")
_RULE = re.compile(r"[ \t]*+(?:=++[ \t]*+$|-++[ \t]*+$|(?:\*[ \t]*+){3,}+$|(?:-[ \t]*+){3,}+$|(?:_[ \t]*+){3,}+$)")
_DELIMITER_ROW = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_DEFINITION = re.compile(
    r"[ ]{0,3}\[(?!\^)(?P<label>[^\[\]\n]{1,999})\]:[ \t]*+\n?[ \t]*+\S++"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^)\n]*+\)))?[ \t]*+$",
    re.MULTILINE,
)
_DEFINED = re.compile(rf"^[ \t>]*+(?:[-+*][ \t]++)?+{_DEFINITION.pattern}", re.MULTILINE)
_FOOTNOTE = re.compile(r"[ ]{0,3}\[\^[^\[\]\s]+\]:[ \t]*")
_BLANKS = " \t"
_TEXT = re.compile(r"\S")
_INDENTED = re.compile(r"(?:[ ]{4}|[ ]{0,3}\t)")
_PREFORMATTED = re.compile(r"<pre\b.*?(?:</pre\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_NEXT_HTML = re.compile(rf"[ \t]*(?:{HIDDEN_ELEMENT.pattern}|{_PREFORMATTED.pattern})", HIDDEN_ELEMENT.flags)


def markdown_markup(source: str, image_texts: bool = False, hidden_elements: bool = False) -> Markup:
    """Return what a renderer hides of Markdown: CommonMark with tables, footnotes, strikethrough and admonitions.

    Args:
        source: The text.
        image_texts: Whether the texts of images are shown, as where these are not.
        hidden_elements: Whether elements are shown of which an attribute says that they are hidden.
    """
    markup = Markup(source)
    _Blocks(markup, source.replace("\r\n", " \n"), image_texts).read()
    return markup.finish() if hidden_elements else hide_elements(markup.finish())


class _Blocks:
    """The blocks of a document, read line by line.

    Args:
        markup: Where what is not shown is hidden.
        text: The source, its lines ended by line feeds only.
        image_texts: Whether the texts of images are shown.
    """

    def __init__(self, markup: Markup, text: str, image_texts: bool) -> None:
        self.markup, self.text = markup, text
        self.inline = Inline(markup, text, frozenset(_labels(text)), image_texts)
        self.paragraph = 0  # where the paragraph begins that is being read
        self.table = self.in_list = False
        self.blank_before, self.code_before = True, False

    def read(self) -> None:
        """Read all lines."""
        at = 0
        if front := _FRONT_MATTER.match(self.text):
            self.markup.hide(0, front.end(), "front matter")
            at = self.paragraph = front.end()
        while at < len(self.text):
            end = self.text.find("\n", at)
            end = len(self.text) if end < 0 else end
            at = self.paragraph_line(at, end)
        self.end_paragraph(len(self.text), len(self.text))

    def paragraph_line(self, start: int, end: int) -> int:
        """Read a line; return where the next one begins."""
        if not self.text[start:end].strip():
            self.end_paragraph(start, end + 1)
            self.blank_before = True
            return end + 1
        if self.is_code(start, end):
            self.end_paragraph(start, end + 1)
            self.code_before, self.blank_before = True, False
            return end + 1
        at = self.prefix(start, end)
        behind = self.special(start, at, end)
        self.blank_before = self.code_before = False
        return end + 1 if behind is None else behind

    def is_code(self, start: int, end: int) -> bool:
        """Return whether a line is indented code; below a list item indentation is the item's."""
        if not _INDENTED.match(self.text, start, end):
            if self.blank_before and not _ITEM.match(self.text, start, end) and self.text[start] not in " \t":
                self.in_list = False
            return False
        return not self.in_list and (self.code_before or self.blank_before) and self.text[start:end].strip() != ""

    def prefix(self, start: int, end: int) -> int:
        """Hide block quote signs, list markers and number signs at a line's start; return where its text begins."""
        at, line = start, self.text[start:end].rstrip()
        rule = start + len(line.rstrip(f"{line[-1]}{_BLANKS}"))  # what begins before is no rule
        while at < end:
            if found := _QUOTED.match(self.text, at, end):
                what = "block quotes"
            elif (found := _ITEM.match(self.text, at, end)) and not (at >= rule and _RULE.match(self.text, at, end)):
                if found.end() == at or self.goes_on(at, found["number"]):
                    break
                self.end_paragraph(at, at)
                what, self.in_list = "list markers", True
            else:
                break
            self.markup.hide(at, found.end(), what, LINE_END if what == "list markers" else "")
            at = found.end()
        return at

    def goes_on(self, at: int, number: str | None) -> bool:
        """Return whether a number at a line's start is part of a paragraph, in which only a 1 begins a list."""
        if self.in_list or number in (None, "1"):
            return False
        return _TEXT.search(self.text, self.paragraph, at) is not None

    def special(self, start: int, at: int, end: int) -> int | None:
        """Read what is no line of a paragraph; return where the next line begins, or None for a line of one."""
        first = self.text[at : at + 8].lstrip()[:1]
        if first in ("`", "~") and (fence := _FENCE.match(self.text, at, end)):
            return self.fence(start, end, fence["fence"])
        if first == "#" and (heading := _HEADING.match(self.text, at, end)):
            return self.heading(at, heading.end(), end)
        if first in ("!", "?") and (admonition := _ADMONITION.match(self.text, at, end)):
            return self.admonition(at, end, admonition)
        if first in "=-*_|:" and first:
            return self.line(at, end)
        if first == "[":
            return self.definition(at, end)
        if first == "<":
            return self.html(at)
        return None

    def fence(self, start: int, end: int, fence: str) -> int:
        """Read a block of fenced code."""
        self.end_paragraph(start, start)
        self.markup.hide(start, end, CODE, LINE_END)
        closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        found = closing.search(self.text, min(end + 1, len(self.text)))
        last, behind = found.span() if found else (len(self.text), len(self.text))
        if quoted := _QUOTED.match(self.text, start, end):
            for line in re.finditer(rf"^(?:[ ]{{0,3}}>[ \t]?){{1,{quoted[0].count('>')}}}", self.text[end:last], re.M):
                self.markup.hide(end + line.start(), end + line.end(), "block quotes")
        self.markup.hide(last, behind, CODE, LINE_END)
        self.paragraph = min(behind + 1, len(self.text))
        return behind + 1

    def heading(self, start: int, text: int, end: int) -> int:
        """Read a heading."""
        self.end_paragraph(start, text)
        self.markup.hide(start, text, "headings", LINE_END)
        last = self.heading_text_end(text, end)
        self.markup.hide(last, end, "headings")
        self.end_paragraph(last, end + 1)
        return end + 1

    def heading_text_end(self, start: int, end: int) -> int:
        """Return where the text of a heading ends: before attributes and number signs."""
        last = start + len(self.text[start:end].rstrip(_BLANKS))
        brace = self.text.rfind("{", start, last)
        if brace >= 0 and _ATTRIBUTES.fullmatch(self.text, brace, last):
            last = start + len(self.text[start:brace].rstrip(_BLANKS))
        signs = start + len(self.text[start:last].rstrip("#"))
        if start < signs < last and self.text[signs - 1] in _BLANKS:
            last = start + len(self.text[start:signs].rstrip(_BLANKS))
        return last

    def admonition(self, start: int, end: int, found: "re.Match[str]") -> int:
        """Read the first line of an admonition: its title is shown or, without one, its kind."""
        self.end_paragraph(start, end + 1)
        self.in_list = True
        title = found.start("title") + 1, found.end("title") - 1
        first, last = title if found["title"] else found.span("kind")
        self.markup.hide(start, first, "admonitions", LINE_END)
        self.markup.hide(last, end, "admonitions")
        return end + 1

    def line(self, start: int, end: int) -> int | None:
        """Read an underline, a rule or the line below the head of a table."""
        if _RULE.match(self.text, start, end):
            self.end_paragraph(start, end + 1)
            self.markup.hide(start, end, "rules", LINE_END)
            return end + 1
        before = self.text.rfind("\n", self.paragraph, max(start - 1, 0)) + 1
        if _DELIMITER_ROW.match(self.text, start, end) and "|" in self.text[max(before, self.paragraph) : start]:
            self.table = True
            self.markup.hide(start, end, "table lines", LINE_END)
            return end + 1
        return None

    def definition(self, start: int, end: int) -> int | None:
        """Read the definition of a link, which is not shown, or of a footnote, whose text is."""
        if found := _FOOTNOTE.match(self.text, start, end):
            self.end_paragraph(start, found.end())
            self.markup.hide(start, found.end(), "footnotes", LINE_END)
            return None
        found = _DEFINITION.match(self.text, start)
        line = self.text.rfind("\n", 0, start) + 1
        if found is None or _TEXT.search(self.text, self.paragraph, max(line, self.paragraph)):
            return None  # within a paragraph it is text
        self.end_paragraph(start, min(found.end() + 1, len(self.text)))
        self.markup.hide(start, found.end(), "links", LINE_END)
        return found.end() + 1

    def html(self, start: int) -> int | None:
        """Read a comment, a script or preformatted HTML, over blank lines."""
        found = HIDDEN_ELEMENT.match(self.text, start)
        if found is None and (found := _PREFORMATTED.match(self.text, start)) is None:
            return None
        end = found.end()
        while found := _NEXT_HTML.match(self.text, end):  # alone, each would read the line to its end
            end = found.end()
        self.end_paragraph(start, end)
        hide_html(self.markup, start, end)
        return end

    def end_paragraph(self, end: int, following: int) -> None:
        """Read the inline markup of the paragraph that ends here; the next one begins at what follows."""
        if self.paragraph < end:
            self.inline.read(self.paragraph, end, self.table)
        self.paragraph, self.table = min(following, len(self.text)), False


def _labels(text: str) -> Iterator[str]:
    """Yield the labels of the links that are defined in a text; what goes on a paragraph defines none."""
    last = 0
    for found in _DEFINED.finditer(text):
        before = text[text.rfind("\n", 0, max(found.start() - 1, 0)) + 1 : found.start()].strip("> \t\n")
        if not before or found.start() <= last + 1 or before.startswith("#") or _RULE.match(before):
            yield " ".join(found["label"].split()).casefold()
            last = found.end()
