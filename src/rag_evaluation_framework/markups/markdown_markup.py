"""The markup of Markdown: its blocks, line by line, and what is within them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unicodedata import category

from rag_evaluation_framework.markups.embedded_html import (
    ENTITY,
    HIDDEN_ELEMENT,
    TAG,
    hide_entity,
    hide_html,
    hide_tag,
)
from rag_evaluation_framework.markups.markup import CODE, LINE_END, Markup

# Which asterisks, underscores and tildes of Markdown are emphasis, and which are text.

_MOST_OPEN = 200  # what closes looks back at so many


@dataclass
class _Run:
    """A run of one delimiter: what is left of it, and whether it opens or closes emphasis."""

    start: int
    end: int
    opens: bool
    closes: bool


class Emphasis:
    """The delimiters of one paragraph, paired as CommonMark pairs them.

    Unlike there, an asterisk between two digits is always text: 2*3*4 is a product.

    Args:
        markup: Where pairs are hidden.
    """

    def __init__(self, markup: Markup) -> None:
        self.markup = markup
        self._open: list[_Run] = []

    def add(self, start: int, end: int) -> None:
        """Add a run of one delimiter; it closes what is open, and may itself be open then."""
        run = self._run(start, end)
        if run.closes:
            self._close(run)
        if run.opens and run.start < run.end:
            self._open.append(run)
            del self._open[:-_MOST_OPEN]

    def _run(self, start: int, end: int) -> _Run:
        source = self.markup.source
        before, after = source[start - 1 : start] or "\n", source[end : end + 1] or "\n"
        if before.isdigit() and after.isdigit():
            return _Run(start, end, opens=False, closes=False)
        symbol_before, symbol_after = category(before)[0] in "PS", category(after)[0] in "PS"
        left = not after.isspace() and (not symbol_after or before.isspace() or symbol_before)
        right = not before.isspace() and (not symbol_before or after.isspace() or symbol_after)
        if source[start] == "_":
            return _Run(start, end, left and (not right or symbol_before), right and (not left or symbol_after))
        return _Run(start, end, left, right)

    def _close(self, run: _Run) -> None:
        source = self.markup.source
        while run.start < run.end:
            number = next((n for n in range(len(self._open) - 1, -1, -1) if self._pairs(self._open[n], run)), None)
            if number is None:
                return
            opener = self._open[number]
            del self._open[number + 1 :]
            width = 2 if min(opener.end - opener.start, run.end - run.start) >= 2 else 1
            what = "strikethrough" if source[run.start] == "~" else "emphasis"
            self.markup.hide(opener.end - width, opener.end, what)
            self.markup.hide(run.start, run.start + width, what)
            opener.end -= width
            run.start += width
            if opener.start == opener.end:
                self._open.pop()

    def _pairs(self, opener: _Run, closer: _Run) -> bool:
        source = self.markup.source
        if source[opener.start] != source[closer.start]:
            return False
        first, second = opener.end - opener.start, closer.end - closer.start
        if source[opener.start] == "~":
            return first == second
        return not ((opener.closes or closer.opens) and (first + second) % 3 == 0 and first % 3)


# The inline markup of Markdown: code, emphasis, links, images, escapes, and the HTML within it.

_SPECIAL = re.compile(r"[`\\<&!\[\]*_~|]")
_TICKS = re.compile("`+")
_TAG_NAME = re.compile("!--|[A-Za-z]+")
_ESCAPED = re.compile(r"\\(?:[!-/:-@\[-`{-~]|\n)")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\[\]\s]+\]")
_DESTINATION = re.compile(
    r"\(\s*+(?:<[^<>\n]*+>|(?:[^()\\\s]|\\.|\((?:[^()\\\s]|\\.|\((?:[^()\\\s]|\\.)*+\))*+\))*+)"
    r"(?:\s++(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\([^()]*+\)))?+\s*+\)(?:\{[^{}\n]*+\})?+",
    re.DOTALL,
)
_REFERENCE = re.compile(r"\[(?P<label>[^\[\]]{0,999})\]")
_LONGEST_LABEL = 999
_PIPE = re.compile(r"\\\|")


class Inline:
    """Reads the inline markup of one paragraph after another.

    Args:
        markup: Where what is not shown is hidden.
        text: The source, its lines ended by line feeds only.
        labels: The links that are defined somewhere in the document, case folded.
    """

    def __init__(self, markup: Markup, text: str, labels: frozenset[str]) -> None:
        self.markup, self.text, self.labels = markup, text, labels
        self.emphasis, self.table, self.end = Emphasis(markup), False, 0
        self.brackets: list[int] = []
        self.unclosed: set[int | str] = set()  # runs of back quotes by their width, elements by their name
        self._readers: dict[str, Callable[[int], int]] = {
            "`": self._code,
            "\\": self._escape,
            "<": self._tag,
            "&": self._entity,
            "!": self._image,
            "[": self._open,
            "]": self._close,
            "*": self._delimiter,
            "_": self._delimiter,
            "~": self._delimiter,
            "|": self._pipe,
        }

    def read(self, start: int, end: int, table: bool) -> None:
        """Hide the inline markup of a paragraph.

        Args:
            start: Its first character.
            end: One past its last character.
            table: Whether pipes are the borders of cells.
        """
        self.emphasis, self.table, self.end = Emphasis(self.markup), table, end
        self.brackets, self.unclosed = [], set()
        self.markup.read(start, end)
        search, readers, text = _SPECIAL.search, self._readers, self.text
        found = search(text, start, end)
        while found is not None:
            found = search(text, readers[found[0]](found.start()), end)

    def _code(self, start: int) -> int:
        ticks = _TICKS.match(self.text, start, self.end)
        width = len(ticks[0]) if ticks else 1
        behind = start + width
        at = -1 if width in self.unclosed else self.text.find("`" * width, behind, self.end)
        while at >= 0:
            run = _TICKS.match(self.text, at, self.end)
            if run and run.end() - at == width:
                self.markup.hide(start, behind, CODE)
                self.markup.hide(at, at + width, CODE)
                for pipe in _PIPE.finditer(self.text, behind, at if self.table else behind):
                    self.markup.hide(pipe.start(), pipe.start() + 1, "escapes")
                return at + width
            at = self.text.find("`" * width, run.end() if run else at + 1, self.end)
        self.unclosed.add(width)
        return behind

    def _escape(self, start: int) -> int:
        if _ESCAPED.match(self.text, start, self.end) or self.markup.source.startswith("\r\n", start + 1):
            self.markup.hide(start, start + 1, "escapes")
            return start + 2
        return start + 1

    def _tag(self, start: int) -> int:
        if found := _AUTOLINK.match(self.text, start, self.end):
            self.markup.hide(start, start + 1, "links")
            self.markup.hide(found.end() - 1, found.end(), "links")
            return found.end()
        if (behind := self._hidden(start)) is not None:
            return behind
        if found := TAG.match(self.text, start, self.end):
            hide_tag(self.markup, start, found.end(), found["name"])
            return found.end()
        return start + 1

    def _hidden(self, start: int) -> int | None:
        """Hide a comment or a script that ends in the paragraph; an end that is not there is looked for once."""
        name = _TAG_NAME.match(self.text, start + 1, self.end)
        kind = name[0].lower() if name else ""
        found = HIDDEN_ELEMENT.match(self.text, start, self.end) if kind and kind not in self.unclosed else None
        if found is None:
            return None
        if found["closed"] is None:
            self.unclosed.add(kind)
            return None
        self.markup.hide(start, found.end(), "comments and scripts")
        return found.end()

    def _entity(self, start: int) -> int:
        found = ENTITY.match(self.text, start, self.end)
        if found is None:
            return start + 1
        hide_entity(self.markup, start, found.end())
        return found.end()

    def _image(self, start: int) -> int:
        if self.text.startswith("[", start + 1):
            self.brackets.append(start)
            return start + 2
        return start + 1

    def _open(self, start: int) -> int:
        if found := _FOOTNOTE_MARK.match(self.text, start, self.end):
            self.markup.hide(start, found.end(), "footnotes")
            return found.end()
        self.brackets.append(start)
        return start + 1

    def _close(self, start: int) -> int:
        """Hide the brackets of a link and where it leads, or all of an image; other brackets are text."""
        if not self.brackets:
            return start + 1
        first = self.brackets.pop()
        image = self.text[first] == "!"
        text = first + 1 + image
        behind = self._destination(text, start)
        if behind is None:
            return start + 1
        if image:
            self.markup.hide(first, behind, "images")
        else:
            self.markup.hide(first, text, "links")
            self.markup.hide(start, behind, "links")
        return behind

    def _destination(self, text: int, close: int) -> int | None:
        """Return one past the end of a link, of which its text and closing bracket are given; None if it is none."""
        if found := _DESTINATION.match(self.text, close + 1, self.end):
            return found.end()
        if (found := _REFERENCE.match(self.text, close + 1, self.end)) and (found["label"] or self._known(text, close)):
            return found.end() if not found["label"] or self._known(*found.span("label")) else None
        return close + 1 if self._known(text, close) else None

    def _known(self, start: int, end: int) -> bool:
        return end - start <= _LONGEST_LABEL and " ".join(self.text[start:end].split()).casefold() in self.labels

    def _delimiter(self, start: int) -> int:
        end = start + 1
        while end < self.end and self.text[end] == self.text[start]:
            end += 1
        if self.text[start] != "~" or end - start <= 2:
            self.emphasis.add(start, end)
        return end

    def _pipe(self, start: int) -> int:
        if self.table:
            self.markup.hide(start, start + 1, "table lines", LINE_END)
        return start + 1


# The blocks of Markdown, line by line: what a renderer hides at the lines' ends, and which text is inline.

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


def markdown_markup(source: str) -> Markup:
    """Return what a renderer hides of Markdown: CommonMark with tables, footnotes, strikethrough and admonitions."""
    markup = Markup(source)
    _Blocks(markup, source.replace("\r\n", " \n")).read()
    return markup.finish()


class _Blocks:
    """The blocks of a document, read line by line.

    Args:
        markup: Where what is not shown is hidden.
        text: The source, its lines ended by line feeds only.
    """

    def __init__(self, markup: Markup, text: str) -> None:
        self.markup, self.text = markup, text
        self.inline = Inline(markup, text, frozenset(_labels(text)))
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
