"""The markup of reStructuredText: its blocks, line by line, with directives and roles."""

import re

from .characters import CALL
from .markup import CODE, LINE_END, Markup

# What docutils and Sphinx show of the directives of reStructuredText, by name: nothing; their content as code; their
# name, argument and content; their content; or their text, which begins behind a version. Of others, their argument and
# content.

_SHOWN = {
    name: shown
    for shown, names in {
        "nothing": "image raw index toctree include literalinclude contents sectnum section-numbering header footer "
        "meta highlightlang highlight currentmodule module autosummary graphviz graph digraph inheritance-diagram "
        "default-role role target-notes tabularcolumns replace unicode date testsetup testcleanup title sectionauthor "
        "moduleauthor codeauthor todolist bibliography",
        "code": "code code-block sourcecode math parsed-literal productionlist prompt ipython doctest testcode "
        "testoutput",
        "name": "attention caution danger error hint important note tip warning",
        "text": "versionadded versionchanged versionremoved deprecated deprecated-removed",
        "content": "figure container class rst-class compound cssclass tab-set grid only hlist",
    }.items()
    for name in names.split()
}


def _shown_of(name: str) -> str:
    plain = name.lower().rpartition(":")[2]
    return _SHOWN.get(plain, "content" if plain.startswith("auto") else "all")


# What docutils and Sphinx show of the roles of reStructuredText.

_NUMBERED = re.compile(r":(?P<name>pep|rfc|cve|cwe)(?:-reference)?:", re.IGNORECASE)
_CALLED = re.compile(r":(?:(?:py|c|cpp|js):)?(?:func|meth):")
_OBJECT = re.compile(r":(?:py:)?(?:func|meth|class|attr|exc|data|const|obj|mod|type|deco|any):")
_LITERAL = re.compile(
    r":(?:file|samp|code|command|program|kbd|guilabel|menuselection|math|regexp|mimetype|option|envvar|manpage|literal"
    r"|sub|sup|subscript|superscript|emphasis|strong):"
)
_WITHIN = (
    (re.compile(r":abbr:"), re.compile(r"(?<!\s)\s*+\([^()]*+\)\Z"), ""),
    (re.compile(r":(?:file|samp):"), re.compile(r"(?<!\\)\{(?=[^{}]+\})|(?<=[^{\\])\}"), ""),
    (re.compile(r":menuselection:"), re.compile(r"-->"), "‣"),
    (re.compile(r":(?:menuselection|guilabel):"), re.compile(r"&(?=[^&\s])"), ""),
)


def _title_of_link(source: str, first: int, last: int) -> tuple[int, int]:
    """Return where the title of `title <target>` begins and ends; the target if there is no title."""
    sign = source.rfind("<", first, last)
    if sign < 0 or sign + 2 >= last or source.find(">", sign, last) != last - 1:
        return first, last
    title = first + len(source[first:sign].rstrip())
    return (first, title) if title > first else (sign + 1, last - 1)


def _title(source: str, role: str, first: int, last: int) -> tuple[int, int]:
    """Return where the title of a role begins and ends: of `~package.name` it is the name."""
    title = _title_of_link(source, first, last)
    if not role or _LITERAL.fullmatch(role) or title != (first, last):
        return title
    if source.startswith("!", first):
        return first + 1, last
    if _OBJECT.fullmatch(role) and source.startswith(".", first):
        first += 1
    if source.startswith("~", first):
        first = max(source.rfind(".", first, last), first) + 1
    return first, last


# The inline markup of reStructuredText: literals, roles, links, emphasis, escapes.

_BEFORE = r"(?<![\w\\`*|])"
_ROLE = r":(?:[A-Za-z][\w+.-]{0,99}+:){1,4}+"  # bounded, as it may begin at each colon
_MARKUP = re.compile(
    rf"""``(?P<literal>(?:[^`]|`(?!`)){{1,5000}}?)``
    |(?P<role>{_ROLE})?_?`(?P<text>(?:[^`\\]|\\.){{1,5000}}+)`(?P<after>__?|{_ROLE})?
    |(?P<escape>\\.)
    |(?P<note>\[(?:\d+|\#\w*|\*|[\w.-]+)\]_)(?!\w)
    |{_BEFORE}\*\*(?=[^\s*])(?P<bold>(?:[^*\\]|\\.|\*(?!\*)){{1,5000}}?)(?<=\S)\*\*(?!\w)
    |{_BEFORE}\*(?=[^\s*])(?P<italic>(?:[^*\\]|\\.){{1,5000}}?)(?<=[^\s])\*(?!\w)
    |{_BEFORE}\|(?=\S)(?P<substitution>[^|\n]{{1,200}}?)(?<=\S)\|(?:__?)?(?!\w)
    |(?<!\w)(?<![^\W_][-.+:])(?P<name>[^\W_]++(?:[-._+:][^\W_]++)*+)(?P<reference>__?)(?=[-/\s'")\]}}>.,:;!?\\]|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_IMAGE = re.compile(r"^[ \t]*\.\.[ \t]+\|(?P<name>[^|\n]+)\|[ \t]+image::", re.MULTILINE)


# The blocks of reStructuredText, line by line: directives, comments, literal blocks, tables and titles.

_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]+|$)")
_DIRECTIVE = re.compile(r"[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]*)?(?P<name>[A-Za-z][\w:+.-]*?)[ \t]?::(?:[ \t]+|$)")
_VERSION = re.compile(r"\S*[ \t]*")
_VERSIONS = re.compile(r"(?:\S*[ \t]*){,2}")
_OPTION = re.compile(r"[ \t]+:[A-Za-z][\w -]*:(?:[ \t]|$)")
_NOTE = re.compile(r"[ \t]*\.\.[ \t]+\[(?P<label>[^\]\n]+)\][ \t]*")
_TITLE_LINE = re.compile(r"(?P<sign>[!-/:-@\[-`{-~])(?P=sign){1,}[ \t]*$")
_BORDER = re.compile(r"[ \t]*(?:=+(?:[ \t]+=+)+|\+[-=+]*[-=]\+)[ \t]*$")
_COLUMNS = re.compile(r"[ \t]*-+(?:[ \t]+-+)+[ \t]*$")
_ROW = re.compile(r"[ \t]*[|+].*[|+][ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-+*•‣⁃]|(?:\d{1,9}|#)[.)]|\((?:\d{1,9}|#)\)|\|)(?:[ \t]+|$)")
_FIELD = re.compile(r"[ \t]*:(?![ \t:])(?:\\.|[^:\n\\]|:(?![\s`]))+?:(?:[ \t]|$)")
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
        self.images = frozenset(found["name"] for found in _IMAGE.finditer(self.text))
        self.paragraph = 0
        self.in_table = self.began = self.in_item = False

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
            self.end_paragraph(start, end + 1)
            self.in_table = False
            return end + 1
        at, text = start, start + self.indentation(start)
        if self.text.startswith("..", text) and _EXPLICIT.match(self.text, start, end):
            at, behind = self.explicit(start, end)
            if behind:
                return behind
        elif self.text.startswith(">>>", text):  # an interactive session is shown as it stands
            self.end_paragraph(start, start)
            end = self.text.find("\n\n", start)
            return self.after(len(self.text) if end < 0 else end + 1)
        elif self.ornament(start, end):
            self.end_paragraph(start, end + 1)
            return end + 1
        at = self.prefix(at, end)
        self.began = True
        if (sign := _LITERAL_SIGN.search(self.text, at, end)) is not None:
            return self.literal(sign, end)
        return end + 1

    def ornament(self, start: int, end: int) -> bool:
        """Hide a line above or below a title, or a border of a table; return whether it was one."""
        first = self.text[start : start + 1]
        if (first and _TITLE_LINE.match(self.text, start, end)) and (end - start > 3 or self.paragraph < start):
            if self.text[start:end].strip() in ("::", ".."):
                return False
            self.hide(start, end, "headings", LINE_END)
            return True
        if _BORDER.match(self.text, start, end):
            self.in_table = True
            self.hide(start, end, "table lines", LINE_END)
            return True
        if self.in_table and _COLUMNS.match(self.text, start, end):
            self.hide(start, end, "table lines", LINE_END)
            return True
        return False

    def prefix(self, start: int, end: int) -> int:
        """Hide list markers, borders of cells and the first colons of fields; return where the text begins."""
        at = start
        if self.in_table and _ROW.match(self.text, at, end):
            self.end_paragraph(start, start)
            for place in range(at, end):
                if self.text[place] == "|" and (place == at or self.text[place - 1] in " \t"):
                    self.hide(place, place + 1, "table lines", LINE_END)
            return at
        while at < end and (item := _ITEM.match(self.text, at, end)) and self.begins_item(at):
            self.end_paragraph(at, at)
            self.hide(at, item.end(), "list markers", LINE_END)
            at, self.in_item = item.end(), True
        if _FIELD.match(self.text, at, end):
            self.end_paragraph(at, at)
            colon = self.text.index(":", at)
            if self.text[colon + 1 : colon + 2] != "`":
                self.hide(colon, colon + 1, "fields")
        return at

    def begins_item(self, start: int) -> bool:
        """Return whether a list marker may stand here: not in the middle of a paragraph that is no list item."""
        if not self.began or self.in_item:
            return True
        line = self.text.rfind("\n", 0, start) + 1
        return self.indentation(line) > self.indentation(self.text.rfind("\n", 0, max(line - 1, 0)) + 1)

    def explicit(self, start: int, end: int) -> tuple[int, int]:
        """Read what begins with two dots; return where its text begins, and where to go on if it is all hidden."""
        self.end_paragraph(start, start)
        if note := _NOTE.match(self.text, start, end):
            hidden = note.end() if note["label"][0] in "#*" else note.start("label") - 1  # these are numbered later
            self.hide(start, hidden, "footnotes", LINE_END)
            return self.after(note.end()), 0
        directive = _DIRECTIVE.match(self.text, start, end)
        shown = "nothing" if directive is None or "|" in directive[0] else _shown_of(directive["name"])
        if directive is None or shown == "nothing":
            what = "comments" if directive is None else "directives"
            if self.text.startswith("_", self.text.index("..", start) + 3):
                what = "links"
            behind = self.block_end(self.indentation(start), end)
            self.hide(start, behind, what, LINE_END)
            return start, self.after(behind)
        if shown == "name":
            self.hide(start, directive.start("name"), "directives", LINE_END)
            self.hide(directive.end("name"), directive.end(), "directives", LINE_END)
            return self.after(directive.end()), 0
        hidden = directive.end() if shown == "all" else end
        if shown == "text":
            several = directive["name"].endswith("-removed")
            version = (_VERSIONS if several else _VERSION).match(self.text, directive.end(), end)
            hidden = version.end() if version else end
        self.hide(start, hidden, "directives", LINE_END)
        at = self.after(hidden)
        behind = self.options(end)
        if shown == "code":
            return at, self.after(self.block_end(self.indentation(start), behind - 1) + 1)
        if behind == end + 1:
            return at, 0
        self.end_paragraph(end, end)
        return at, self.after(behind)

    def options(self, end: int) -> int:
        """Hide the options below a directive; return where the next line begins."""
        behind = end + 1
        while behind < len(self.text) and _OPTION.match(self.text, behind, last := self.line_end(behind)):
            self.hide(behind, last, "directives", LINE_END)
            behind = last + 1
        return behind

    def literal(self, sign: "re.Match[str]", end: int) -> int:
        """Read a paragraph that ends with two colons and the literal block below it."""
        first = sign.start() + 1 if sign["shown"] else sign.start()
        following = end + 1
        while following < len(self.text) and not self.text[following : self.line_end(following)].strip():
            following = self.line_end(following) + 1
        line = self.text.rfind("\n", 0, sign.start()) + 1
        if following <= end + 1 or following >= len(self.text):
            return end + 1
        item = _ITEM.match(self.text, line, self.line_end(line)) if self.in_item else None
        indentation = item.end() - line if item else self.indentation(line)  # of the text behind a list marker
        self.hide(first, sign.end(), "literal blocks")
        self.end_paragraph(first, end + 1)
        if self.indentation(following) <= indentation:
            return following
        return self.after(self.block_end(indentation, following - 1) + 1)

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

    def after(self, offset: int) -> int:
        """Begin the next paragraph at an offset; return it."""
        self.paragraph = min(offset, len(self.text))
        self.in_table = self.began = self.in_item = False
        return self.paragraph

    def end_paragraph(self, end: int, following: int) -> None:
        """Read the inline markup of the paragraph that ends here; the next one begins at what follows."""
        if self.paragraph < end:
            self.inline(self.paragraph, end)
        self.paragraph = min(max(following, self.paragraph), len(self.text))
        self.began = self.in_item = False

    def inline(self, start: int, end: int) -> None:
        """Hide the inline markup of a paragraph."""
        for found in _MARKUP.finditer(self.text, start, end):
            (first, behind), kind = found.span(), found.lastgroup
            if kind in ("literal", "bold", "italic"):
                what = CODE if kind == "literal" else "emphasis"
                self.hide(first, found.start(kind), what)
                self.hide(found.end(kind), behind, what)
            elif kind in ("text", "after"):
                self.interpreted(found)
            elif kind == "escape":
                self.hide(first, behind if found["escape"][1].isspace() else first + 1, "escapes")
            elif kind == "note":
                self.hide(behind - 1, behind, "footnotes")
            elif kind == "reference":
                self.hide(*found.span("reference"), "links")
            elif found["substitution"] in self.images:  # what is shown for others is made by the renderer
                self.hide(first, behind, "images")

    def interpreted(self, found: "re.Match[str]") -> None:
        """Hide what is not shown of a link or of a text with or without a role; and show what its role adds to it."""
        after = found["after"] or ""
        role = found["role"] or (after if after.startswith(":") else "")
        start, end = found.span()
        inside, text_end = found.span("text")
        if after and not role:
            first, last = _title_of_link(self.text, inside, text_end)
            self.hide(start, first, "links")
            self.hide(last, end, "links")
        else:
            what = "roles" if role else "emphasis"
            first, last = _title(self.text, role, inside, text_end)
            explicit = last < text_end
            if number := None if explicit or start == inside else _NUMBERED.match(self.text, start):
                begun, behind = number.span("name")  # ":pep:`" is shown as "PEP "
                for place, sign in enumerate(number["name"].upper(), begun):
                    self.hide(start if place == begun else place, place + 1, what, sign)
                self.hide(behind, first, what, " ")
            else:
                self.hide(start, first, what)
            called = not explicit and _CALLED.fullmatch(role) and not self.text.startswith("()", last - 2)
            self.hide(last, end, what, CALL if called else "")
            for roles, parts, shown in _WITHIN:
                for part in parts.finditer(self.text, first, last) if roles.fullmatch(role) else ():
                    self.hide(part.start(), part.end(), what, shown)
        for escape in re.finditer(r"\\.", self.text[inside:text_end]):
            self.hide(inside + escape.start(), inside + escape.start() + 1, "escapes")
