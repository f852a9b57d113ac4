"""The inline markup of reStructuredText: literals, roles, links, emphasis, escapes."""

import re

from rag_evaluation_framework.markups.markup import CODE, Markup
from rag_evaluation_framework.markups.rst_roles import hide_role, title_of_link

_BEFORE = r"(?<![\w\\`*|])"
_ROLE = r":(?:[A-Za-z][\w+.-]{0,99}+:){1,4}+"  # bounded, as it may begin at each colon
_MARKUP = re.compile(
    rf"""``(?P<literal>(?:[^`]|`(?!`)){{1,5000}}?)``
    |(?P<role>{_ROLE})?_?`(?P<text>(?:[^`\\]|\\.){{1,5000}}+)`(?P<after>__?|{_ROLE})?
    |(?P<escape>\\.)
    |(?P<note>\[(?:\d+|\#\w*|\*|[\w.-]+)\]_)(?!\w)
    |{_BEFORE}(?P<strong>\*\*)(?=[^\s*])(?P<bold>(?:[^*\\]|\\.|\*(?!\*)){{1,5000}}?)(?<=\S)\*\*(?!\w)
    |{_BEFORE}(?P<emphasis>\*)(?=[^\s*])(?P<italic>(?:[^*\\]|\\.){{1,5000}}?)(?<=[^\s])\*(?!\w)
    |{_BEFORE}\|(?=\S)(?P<substitution>[^|\n]{{1,200}}?)(?<=\S)\|(?:__?)?(?!\w)
    |(?<!\w)(?<![^\W_][-.+:])(?P<name>[^\W_]++(?:[-._+:][^\W_]++)*+)(?P<reference>__?)(?=[-/\s'")\]}}>.,:;!?\\]|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_IMAGE = re.compile(r"^[ \t]*\.\.[ \t]+\|(?P<name>[^|\n]+)\|[ \t]+image::", re.MULTILINE)


class RstInline:
    """Reads the inline markup of one paragraph after another.

    Args:
        markup: Where what is not shown is hidden.
        text: The source, its lines ended by line feeds only.
    """

    def __init__(self, markup: Markup, text: str) -> None:
        self.markup, self.text = markup, text
        self.images = frozenset(found["name"] for found in _IMAGE.finditer(text))

    def read(self, start: int, end: int) -> None:
        """Hide the inline markup of a paragraph."""
        self.markup.read(start, end)
        for found in _MARKUP.finditer(self.text, start, end):
            first, behind = found.span()
            if found["literal"] is not None:
                self._keep(found, "literal", CODE)
            elif found["text"] is not None:
                self._interpreted(found)
            elif found["escape"] is not None:
                self.markup.hide(first, behind if found["escape"][1].isspace() else first + 1, "escapes")
            elif found["note"] is not None:
                self.markup.hide(behind - 1, behind, "footnotes")
            elif found["strong"] is not None:
                self._keep(found, "bold", "emphasis")
            elif found["emphasis"] is not None:
                self._keep(found, "italic", "emphasis")
            elif found["substitution"] in self.images:
                self.markup.hide(first, behind, "images")
            elif found["substitution"] is not None:
                continue  # what is shown in its place is made by the renderer
            else:
                self.markup.hide(*found.span("reference"), "links")

    def _keep(self, found: "re.Match[str]", group: str, what: str) -> None:
        """Hide what stands around a group."""
        self.markup.hide(found.start(), found.start(group), what)
        self.markup.hide(found.end(group), found.end(), what)

    def _interpreted(self, found: "re.Match[str]") -> None:
        """Hide what is not shown of a link or of a text with or without a role."""
        role = found["role"] or (found["after"] if (found["after"] or "").startswith(":") else "")
        first, last = found.span("text")
        if role or not found["after"]:
            hide_role(self.markup, role, found.start(), (first, last), found.end())
        else:
            first, last = title_of_link(self.text, first, last)
            self.markup.hide(found.start(), first, "links")
            self.markup.hide(last, found.end(), "links")
        for escape in re.finditer(r"\\.", self.text[first:last]):
            self.markup.hide(first + escape.start(), first + escape.start() + 1, "escapes")
