"""The markup of Markdown: its blocks, line by line, and what is within them."""

import html
import re
from unicodedata import category

from .markup import CODE, LINE_END, Markup

# HTML within Markdown: tags, comments, scripts and entities.

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TAG = re.compile(
    r"</?(?P<name>[A-Za-z][A-Za-z0-9:-]*)"
    r"(?:\s+[A-Za-z_:@.#][^\s\"'=<>`]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++))?)*+\s*/?>"
)
_UNSHOWN = "script|style|title|template|svg|noscript|iframe"
_HIDDEN_ELEMENT = re.compile(  # "closed" unless it goes on to the end
    rf"<(?:!--|(?P<name>{_UNSHOWN})\b[^>]{{0,5000}}>).*?(?:(?P<closed>(?(name)</(?P=name)\s*>|(?:-->|(?<=<!--)-?>)))|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BLOCK_TAG = re.compile(
    r"(?:address|article|aside|blockquote|body|br|caption|center|col|colgroup|dd|details|dialog|dir|"
    r"div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|"
    r"header|hgroup|hr|html|legend|li|link|main|menu|meta|nav|ol|optgroup|option|p|pre|search|"
    r"section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)\Z",
    re.IGNORECASE,
)


# Within a paragraph, in this order: what is read as it stands, then links, the inner ones first, then emphasis.

_SPECIAL = re.compile(r"[`\\<&\[*_~|]")
_OPAQUE = re.compile(  # where a loop is possessive, what is opened and never closed is read to its next opening only
    r"(?P<code>(?<!`)(?P<ticks>`++)(?P<inside>(?:[^`]++|(?!(?P=ticks)(?!`))`++){1,50}+)(?P=ticks)(?!`))"
    r"|(?P<escape>\\(?:[!-/:-@\[-`{-~]|\n|[ ]\n))"  # the blank is a carriage return
    r"|(?P<address><(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>)"
    r"|(?P<hidden><!--(?:[^<-]++|-(?!->)|<(?!!--))*+-->"
    rf"|(?i:<(?P<name>{_UNSHOWN})\b(?:[^<]++|<(?!/?(?P=name)\b))*+</(?P=name)\s*>))"
    rf"|(?P<tag>{_TAG.pattern.replace('<name>', '<tag_name>')})|(?P<entity>{_ENTITY.pattern})"
    r"|(?P<note>\[\^[^\[\]\s]+\])",
    re.DOTALL,
)
_DESTINATION = (
    r"\(\s*+(?:<[^<>\n]*+>|(?:[^()\\\s]|\\.|\((?:[^()\\\s]|\\.|\((?:[^()\\\s]|\\.)*+\))*+\))*+)"
    r"(?:\s++(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\([^()]*+\)))?+\s*+\)(?:\{[^{}\n]*+\})?+"
)
_LINK = re.compile(
    rf"!?\[(?P<text>[^\[\]]*+)\](?:(?P<destination>{_DESTINATION})|\[(?P<label>[^\[\]]{{0,999}})\](?!\())?+", re.DOTALL
)
_NO_BRACKETS = str.maketrans("[]", "\0\0")
_DEEPEST = 3  # links and images within each other, and other brackets
_LONGEST_LABEL = 999
_RUN = re.compile(r"\*+|_+|(?<!~)~{1,2}(?!~)")
_MOST_OPEN = 200  # what closes looks back at so many
_BLANKS = " \t"

# What begins a block.

_FRONT_MATTER = re.compile(r"---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"(?:[ ]{0,3}>[ \t]?)+")
_ITEM = re.compile(r"[ \t]*(?:[-+*]|(?P<number>\d{1,9})[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_RULE = re.compile(r"[ \t]*+(?:=++[ \t]*+$|-++[ \t]*+$|(?:\*[ \t]*+){3,}+$|(?:-[ \t]*+){3,}+$|(?:_[ \t]*+){3,}+$)")
_BLOCK = re.compile(
    rf"(?P<rule>{_RULE.pattern})|[ \t]*+(?:(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})|(?P<heading>#{{1,6}}(?:[ \t]+|$))"
    r"|(?P<admonition>(?:!!!|\?\?\?\+?)[ \t]+)"
    r"|(?P<row>\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$)|(?P<definition>\[)|(?P<html><))"
)
_HEADING_END = re.compile(r"(?<![ \t])(?:[ \t]++#++)?+(?:[ \t]*+\{:?[ \t]*+[#.][^{}\n]*+\})?+[ \t]*+$")
_DEFINITION = re.compile(
    r"[ ]{0,3}\[(?!\^)(?P<label>[^\[\]\n]{1,999})\]:[ \t]*+\n?[ \t]*+\S++"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^)\n]*+\)))?[ \t]*+$",
    re.MULTILINE,
)
_DEFINED = re.compile(rf"^[ \t>]*+(?:[-+*][ \t]++)?+{_DEFINITION.pattern}", re.MULTILINE)
_TEXT = re.compile(r"\S")
_INDENTED = re.compile(r"(?:[ ]{4}|[ ]{0,3}\t)")


def markdown_markup(source: str) -> Markup:
    """Return what a renderer hides of Markdown: CommonMark with tables, footnotes, strikethrough and admonitions."""
    return _Reader(source).read()


class _Reader:
    """Reads a document line by line, and the inline markup of each of its paragraphs.

    Args:
        source: The document.
    """

    def __init__(self, source: str) -> None:
        self.markup = Markup(source)
        self.hide = self.markup.hide
        self.text = source.replace("\r\n", " \n")
        self.labels = frozenset(_label(found["label"]) for found in _DEFINED.finditer(self.text))
        self.paragraph = 0  # where the paragraph begins that is being read
        self.table = self.in_list = self.code_before = False
        self.blank_before = True

    def read(self) -> Markup:
        """Read all lines."""
        at = 0
        if front := _FRONT_MATTER.match(self.text):
            self.hide(0, front.end(), "front matter")
            at = self.paragraph = front.end()
        while at < len(self.text):
            end = self.text.find("\n", at)
            at = self.line(at, len(self.text) if end < 0 else end)
        self.end_paragraph(len(self.text), len(self.text))
        return self.markup.finish()

    def line(self, start: int, end: int) -> int:
        """Read a line; return where the next one begins."""
        if not self.text[start:end].strip():
            self.end_paragraph(start, end + 1)
            self.blank_before = True
            return end + 1
        is_indented = _INDENTED.match(self.text, start, end)
        if self.blank_before and self.text[start] not in _BLANKS and not _ITEM.match(self.text, start, end):
            self.in_list = False
        if is_indented and not self.in_list and (self.code_before or self.blank_before):
            self.end_paragraph(start, end + 1)
            self.code_before, self.blank_before = True, False
            return end + 1
        at = self.prefix(start, end)
        behind = self.block(start, at, end)
        self.blank_before = self.code_before = False
        return end + 1 if behind is None else behind

    def prefix(self, start: int, end: int) -> int:
        """Hide block quote signs, list markers and number signs at a line's start; return where its text begins."""
        at, line = start, self.text[start:end].rstrip()
        rule = start + len(line.rstrip(f"{line[-1]}{_BLANKS}"))  # what begins before is no rule
        while at < end:
            if found := _QUOTED.match(self.text, at, end):
                self.hide(at, found.end(), "blockquotes")
            elif (found := _ITEM.match(self.text, at, end)) and not (at >= rule and _RULE.match(self.text, at, end)):
                in_paragraph = _TEXT.search(self.text, self.paragraph, at) is not None
                if in_paragraph and not self.in_list and found["number"] not in (None, "1"):  # only a 1 begins a list
                    break
                self.end_paragraph(at, at)
                self.hide(at, found.end(), "lists", LINE_END)
                self.in_list = True
            else:
                break
            at = found.end()
        return at

    def block(self, start: int, at: int, end: int) -> int | None:
        """Read what is no line of a paragraph; return where the next line begins, or None for a line of one."""
        found = _BLOCK.match(self.text, at, end)
        kind = found.lastgroup if found else None
        if found is None or kind is None:
            return None
        if kind == "fence":
            return self.fence(start, end, found["fence"])
        if kind == "definition":
            return self.definition(at)
        if kind == "html":
            return self.html(at)
        if kind == "row":
            before = self.text.rfind("\n", self.paragraph, max(at - 1, 0)) + 1
            if "|" not in self.text[max(before, self.paragraph) : at]:
                return None
            self.table = True
            self.hide(at, end, "tables", LINE_END)
            return end + 1
        if kind == "admonition":  # what is indented below it is no code
            self.hide(at, found.end(), "admonitions", LINE_END)
            self.in_list = True
            return None
        self.end_paragraph(at, end + 1)
        if kind == "rule":
            self.hide(at, end, "rules", LINE_END)
            return end + 1
        closing = _HEADING_END.search(self.text, found.end(), end)  # attributes and number signs
        last = closing.start() if closing else end
        self.hide(at, found.end(), "headings", LINE_END)
        self.hide(last, end, "headings")
        self.inline(found.end(), last)
        return end + 1

    def fence(self, start: int, end: int, fence: str) -> int:
        """Read a block of fenced code."""
        self.end_paragraph(start, start)
        self.hide(start, end, CODE, LINE_END)
        closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        found = closing.search(self.text, min(end + 1, len(self.text)))
        last, behind = found.span() if found else (len(self.text), len(self.text))
        depth = self.text[start : self.text.index(fence, start)].count(">")
        for line in re.finditer(rf"^(?:[ ]{{0,3}}>[ \t]?){{0,{depth}}}", self.text[end:last], re.MULTILINE):
            self.hide(end + line.start(), end + line.end(), "blockquotes")
        self.hide(last, behind, CODE, LINE_END)
        self.paragraph = min(behind + 1, len(self.text))
        return behind + 1

    def definition(self, start: int) -> int | None:
        """Read the definition of a link, which is not shown."""
        found = _DEFINITION.match(self.text, start)
        line = self.text.rfind("\n", 0, start) + 1
        if found is None or _TEXT.search(self.text, self.paragraph, max(line, self.paragraph)):
            return None  # within a paragraph it is text
        self.end_paragraph(start, min(found.end() + 1, len(self.text)))
        self.hide(start, found.end(), "links", LINE_END)
        return found.end() + 1

    def html(self, start: int) -> int | None:
        """Read a comment or a script, over blank lines."""
        end, found = start, _HIDDEN_ELEMENT.match(self.text, start)
        while found:  # alone, each would read the line to its end
            end, found = found.end(), _HIDDEN_ELEMENT.match(self.text, found.end())
        if end == start:
            return None
        self.end_paragraph(start, end)
        self.hide(start, end, "comments")
        return end

    def end_paragraph(self, end: int, following: int) -> None:
        """Read the inline markup of the paragraph that ends here; the next one begins at what follows."""
        if self.paragraph < end:
            self.inline(self.paragraph, end)
        self.paragraph, self.table = min(following, len(self.text)), False

    def inline(self, at: int, last: int) -> None:
        """Hide the inline markup of a paragraph: from its first character on, and before one past its last.

        What was read is blank, or a letter, for what is read later.
        """

        def opaque(found: re.Match[str]) -> str:
            (start, end), kind = (at + edge for edge in found.span()), found.lastgroup
            if found["code"]:
                self.hide(start, at + found.start("inside"), CODE)
                self.hide(at + found.end("inside"), end, CODE)
            elif found["tag"]:
                self.hide(start, end, "tags", LINE_END if _BLOCK_TAG.match(found["tag_name"]) else "")
            elif found["entity"]:
                if len(shown := html.unescape(found[0])) == 1:  # what is none, or several characters, is left
                    self.hide(start, end, "entities", shown)
            elif found["escape"]:
                self.hide(start, start + 1, "escapes")
            elif found["address"]:
                self.hide(start, start + 1, "links")
                self.hide(end - 1, end, "links")
            else:
                self.hide(start, end, "footnotes" if kind == "note" else "comments")
            return "\0" * len(found[0])

        def link(found: re.Match[str]) -> str:
            (start, end), (first, close), label = found.span(), found.span("text"), found["label"]
            if not found["destination"]:
                first_named, last_named = found.span("label") if label else (first, close)
                named = self.text[at + first_named : at + last_named]
                if len(named) > _LONGEST_LABEL or _label(named) not in self.labels:
                    return found[0].translate(_NO_BRACKETS)
            if found[0][0] == "!":
                self.hide(at + start, at + end, "images")
                return "\0" * len(found[0])
            self.hide(at + start, at + first, "links")
            self.hide(at + close, at + end, "links")
            return "\0" * (first - start) + found["text"] + "\0" * (end - close)

        if not _SPECIAL.search(self.text, at, last):
            return
        text = _OPAQUE.sub(opaque, self.text[at:last])
        for _ in range(_DEEPEST if "]" in text else 0):
            text = _LINK.sub(link, text)
        runs: list[tuple[int, int, bool]] = []
        for found in _RUN.finditer(text):
            self.emphasis(at + found.start(), at + found.end(), runs)
        for found in re.finditer(r"\|", text) if self.table else ():
            self.hide(at + found.start(), at + found.end(), "tables", LINE_END)

    def emphasis(self, start: int, end: int, open_: list[tuple[int, int, bool]]) -> None:
        """Pair a run of one delimiter with those that are open, as CommonMark does; what is left may be open then.

        Unlike there, an asterisk between two digits is always text: 2*3*4 is a product.
        """
        sign, before, after = self.text[start], self.text[start - 1 : start] or "\n", self.text[end : end + 1] or "\n"
        if before.isdigit() and after.isdigit():
            return
        symbol_before, symbol_after = category(before)[0] in "PS", category(after)[0] in "PS"
        opens = not after.isspace() and (not symbol_after or before.isspace() or symbol_before)
        closes = not before.isspace() and (not symbol_before or after.isspace() or symbol_after)
        if sign == "_":
            opens, closes = opens and (not closes or symbol_before), closes and (not opens or symbol_after)
        while closes and start < end:
            length = end - start
            fits = (
                number
                for number, (first, behind, closed) in enumerate(open_[::-1], 1)
                if self.text[first] == sign
                and (sign != "~" or behind - first == length)
                and not ((closed or opens) and (behind - first + length) % 3 == 0 and length % 3)
            )
            number = next(fits, None)
            if number is None:
                break
            first, behind, closed = open_[-number]
            width = 2 if min(behind - first, length) >= 2 else 1
            what = "strikethrough" if sign == "~" else "emphasis"
            self.hide(behind - width, behind, what)
            self.hide(start, start + width, what)
            open_[-number:] = [(first, behind - width, closed)] * (first < behind - width)
            start += width
        if opens and start < end:
            open_.append((start, end, closes))
            del open_[:-_MOST_OPEN]


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()
