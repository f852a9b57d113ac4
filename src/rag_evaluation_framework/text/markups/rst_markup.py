"""The markup of reStructuredText: its blocks, line by line, with directives and roles."""

import re

from .characters import CALL
from .markup import CODE, LINE_END, Markup

# Directives of which docutils and Sphinx show nothing, and those whose content is code; of auto... the content is
# shown, of others argument and content.

_UNSHOWN = re.compile(
    "image|raw|index|toctree|include|literalinclude|contents|sectnum|section-numbering|header|footer|meta|highlight|"
    "highlightlang|currentmodule|module|autosummary|graphviz|graph|digraph|inheritance-diagram|default-role|role|"
    "target-notes|tabularcolumns|replace|unicode|date|testsetup|testcleanup|title|sectionauthor|moduleauthor|codeauthor|"
    "todolist|bibliography"
)
_CODE = re.compile("code|code-block|sourcecode|math|parsed-literal|productionlist|prompt|ipython|doctest|testcode")

# The inline markup of reStructuredText: literals, roles, links, emphasis, escapes.

_NUMBERED = re.compile(r":(?P<name>pep|rfc|cve|cwe)(?:-reference)?:", re.IGNORECASE)
_CALLED = re.compile(r":(?:(?:py|c|cpp|js):)?(?:func|meth):")
_OBJECT = re.compile(r":(?:py:)?(?:func|meth|class|attr|exc|data|const|obj|mod|type|deco|any):")
_BEFORE = r"(?<![\w\\`*|])"
_ROLE = r":(?:[A-Za-z][\w+.-]{0,99}+:){1,4}+"  # bounded, as it may begin at each colon
_MARKUP = re.compile(
    rf"""``(?P<literal>(?:[^`]|`(?!`)){{1,5000}}?)``
    |(?P<role>{_ROLE})?_?`(?P<text>(?:[^`\\]|\\.){{1,5000}}+)`(?P<after>__?|{_ROLE})?
    |(?P<escape>\\.)
    |{_BEFORE}\*\*(?=[^\s*])(?P<bold>(?:[^*\\]|\\.|\*(?!\*)){{1,5000}}?)(?<=\S)\*\*(?!\w)
    |{_BEFORE}\*(?=[^\s*])(?P<italic>(?:[^*\\]|\\.){{1,5000}}?)(?<=[^\s])\*(?!\w)
    |(?<!\w)(?<![^\W_][-.+:])(?P<name>[^\W_]++(?:[-._+:][^\W_]++)*+)(?P<reference>__?)(?=[-/\s'")\]}}>.,:;!?\\]|\Z)
    |\[(?:\d+|\#\w*|\*|[\w.-]+)\](?P<note>_)(?!\w)""",
    re.VERBOSE | re.DOTALL,
)

# The blocks of reStructuredText, line by line: directives, comments, literal blocks, titles and borders of tables.

_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]+|$)")
_DIRECTIVE = re.compile(r"[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]*)?(?P<name>[A-Za-z][\w:+.-]*?)[ \t]?::(?:[ \t]+|$)")
_OPTION = re.compile(r"[ \t]+:[A-Za-z][\w -]*:(?:[ \t]|$)")
_NOTE = re.compile(r"[ \t]*\.\.[ \t]+(?=\[[^\]\n]+\])")
_ORNAMENT = re.compile(r"[ \t]*+(?:(?P<sign>[!-/:-@\[-`{-~])(?P=sign){2,}+|[=+-][-=+ \t]*+)[ \t]*+$")
_ITEM = re.compile(r"[ \t]*(?:[-+*•‣⁃]|(?:\d{1,9}|#)[.)]|\((?:\d{1,9}|#)\)|\|)(?:[ \t]+|$)")
_FIELD = re.compile(r"[ \t]*(?P<sign>:)(?![ \t:`])(?:\\.|[^:\n\\]|:(?![\s`]))+?:(?:[ \t]|$)")
_LITERAL_SIGN = re.compile(r"(?:(?<=\S)(?P<shown>:):|(?:^|(?<=\s))::)[ \t]*$")


def rst_markup(source: str) -> Markup:
    """Return what docutils or Sphinx hides of reStructuredText."""
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
        self.paragraph = 0

    def read(self) -> Markup:
        """Read all lines."""
        at = 0
        while at < len(self.text):
            at = self.line(at, self.line_end(at))
        self.end_paragraph(len(self.text), len(self.text))
        return self.markup.finish()

    def line(self, start: int, end: int) -> int:
        """Read a line; return where the next one begins."""
        if not self.text[start:end].strip():
            return self.end_paragraph(start, end + 1)
        if _EXPLICIT.match(self.text, start, end):
            return self.explicit(start, end)
        if _ORNAMENT.match(self.text, start, end) and self.text[start:end].strip() != "..":
            self.hide(start, end, "headings", LINE_END)
            return self.end_paragraph(start, end + 1)
        while start < end and (item := _ITEM.match(self.text, start, end)):
            self.end_paragraph(start, start)
            self.hide(start, item.end(), "lists", LINE_END)
            start = item.end()
        if field := _FIELD.match(self.text, start, end):
            self.end_paragraph(start, start)
            self.hide(*field.span("sign"), "fields")
        if sign := _LITERAL_SIGN.search(self.text, start, end):
            return self.literal(sign, end)
        return end + 1

    def explicit(self, start: int, end: int) -> int:
        """Read what begins with two dots; return where to go on."""
        self.end_paragraph(start, start)
        if note := _NOTE.match(self.text, start, end):
            self.hide(start, note.end(), "footnotes", LINE_END)
            return self.end_paragraph(start, note.end())
        directive = _DIRECTIVE.match(self.text, start, end)
        name = directive["name"].lower().rpartition(":")[2] if directive else ""
        if directive is None or "|" in directive[0] or _UNSHOWN.fullmatch(name):
            is_link = self.text.startswith("_", self.text.index("..", start) + 3)
            behind = self.block_end(self.indentation(start), end)
            self.hide(start, behind, "directives" if directive else "links" if is_link else "comments", LINE_END)
            return self.skip(behind)
        is_code = _CODE.fullmatch(name) is not None
        self.hide(start, end if is_code or name.startswith("auto") else directive.end(), "directives", LINE_END)
        behind = end + 1
        while behind < len(self.text) and _OPTION.match(self.text, behind, last := self.line_end(behind)):
            self.hide(behind, last, "directives", LINE_END)
            behind = last + 1
        if is_code:
            return self.skip(self.block_end(self.indentation(start), behind - 1) + 1)
        self.end_paragraph(start, directive.end())
        return self.end_paragraph(end, behind)

    def literal(self, sign: "re.Match[str]", end: int) -> int:
        """Read a paragraph that ends with two colons and the literal block below it."""
        following = end + 1
        while following < len(self.text) and not self.text[following : self.line_end(following)].strip():
            following = self.line_end(following) + 1
        if following <= end + 1 or following >= len(self.text):
            return end + 1
        line = self.text.rfind("\n", 0, sign.start()) + 1
        item = _ITEM.match(self.text, line, end)
        indentation = item.end() - line if item else self.indentation(line)  # of the text behind a list marker
        self.hide(sign.start() + bool(sign["shown"]), sign.end(), CODE)
        self.end_paragraph(sign.start(), end + 1)
        if self.indentation(following) <= indentation:
            return following
        return self.skip(self.block_end(indentation, following - 1) + 1)

    def block_end(self, indentation: int, end: int) -> int:
        """Return where the lines behind an offset end that are indented more than this."""
        last, at = end, end + 1
        while at < len(self.text):
            behind = self.line_end(at)
            if self.text[at:behind].strip():
                if self.indentation(at) <= indentation:
                    break
                last = behind
            at = behind + 1
        return min(last, len(self.text))

    def indentation(self, start: int) -> int:
        """Return how many blanks a line begins with."""
        line = self.text[start : self.line_end(start)]
        return len(line) - len(line.lstrip(" \t"))

    def line_end(self, start: int) -> int:
        """Return where a line ends."""
        end = self.text.find("\n", start)
        return len(self.text) if end < 0 else end

    def skip(self, offset: int) -> int:
        """Begin the next paragraph at an offset, without reading what is before it; return it."""
        self.paragraph = min(offset, len(self.text))
        return self.paragraph

    def end_paragraph(self, end: int, following: int) -> int:
        """Read the inline markup of the paragraph that ends here; the next one begins at what follows, returned."""
        for found in _MARKUP.finditer(self.text, self.paragraph, max(end, self.paragraph)):
            (first, behind), kind = found.span(), found.lastgroup
            if kind in ("literal", "bold", "italic"):
                what = CODE if kind == "literal" else "emphasis"
                self.hide(first, found.start(kind), what)
                self.hide(found.end(kind), behind, what)
            elif kind == "escape":
                self.hide(first, behind if found["escape"][1].isspace() else first + 1, "escapes")
            elif kind in ("reference", "note"):
                self.hide(*found.span(kind), "links")
            else:
                self.interpreted(found)
        return self.skip(max(following, self.paragraph))

    def interpreted(self, found: "re.Match[str]") -> None:
        """Hide what is not shown of a link or of a text with or without a role; and show what its role adds to it.

        Of `title <target>` the title is shown, and of `~package.name` the name.
        """
        after = found["after"] or ""
        role = found["role"] or (after if after.startswith(":") else "")
        what = "roles" if role else "links" if after else "emphasis"
        first, last = found.span("text")
        sign = self.text.rfind("<", first, last)
        explicit = first <= sign < last - 2 and self.text.find(">", sign, last) == last - 1
        if explicit:
            title = first + len(self.text[first:sign].rstrip())
            first, last = (first, title) if title > first else (sign + 1, last - 1)
        elif role:
            first += self.text.startswith("!", first) or (
                _OBJECT.fullmatch(role) is not None and self.text.startswith(".", first)
            )
            if _OBJECT.fullmatch(role) and self.text.startswith("~", first):
                first = max(self.text.rfind(".", first, last), first) + 1
        called = not explicit and _CALLED.fullmatch(role) and not self.text.startswith("()", last - 2)
        if not explicit and (number := _NUMBERED.match(self.text, found.start())):  # ":pep:`" is shown as "PEP "
            begun, behind = number.span("name")
            for place, letter in enumerate(number["name"].upper(), begun):
                self.hide(found.start() if place == begun else place, place + 1, what, letter)
            self.hide(behind, first, what, " ")
        else:
            self.hide(found.start(), first, what)
        self.hide(last, found.end(), what, CALL if called else "")
        for escape in re.finditer(r"\\.", self.text[slice(*found.span("text"))]):
            at = found.start("text") + escape.start()
            self.hide(at, at + 1, "escapes")
