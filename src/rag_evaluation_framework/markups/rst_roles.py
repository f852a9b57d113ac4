"""What docutils and Sphinx show of the roles of reStructuredText."""

import re

from rag_evaluation_framework.markups.characters import CALL
from rag_evaluation_framework.markups.markup import Markup

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


def hide_role(markup: Markup, role: str, start: int, text: tuple[int, int], end: int) -> None:
    """Hide what is not shown of an interpreted text: all but its title; and show what its role adds to it.

    Args:
        markup: Where what is not shown is hidden.
        role: The role with its colons: ":func:"; empty for a text without one.
        start: The first character of the interpreted text, role included.
        text: The first character between its back quotes, and one past the last.
        end: One past its last character.
    """
    source, what = markup.source, "roles" if role else "emphasis"
    first, last = _title(source, role, *text)
    explicit = last < text[1]
    number = None if explicit or start == text[0] else _NUMBERED.match(source, start)
    if number:
        _show_name(markup, number, first)
    else:
        markup.hide(start, first, what)
    called = not explicit and _CALLED.fullmatch(role) and not source.startswith("()", last - 2)
    markup.hide(last, end, what, CALL if called else "")
    for roles, parts, shown in _WITHIN:
        if roles.fullmatch(role):
            for part in parts.finditer(source, first, last):
                markup.hide(part.start(), part.end(), what, shown)


def title_of_link(source: str, first: int, last: int) -> tuple[int, int]:
    """Return where the title of `title <target>` begins and ends; the target if there is no title."""
    sign = source.rfind("<", first, last)
    if sign < 0 or sign + 2 >= last or source.find(">", sign, last) != last - 1:
        return first, last
    title = first + len(source[first:sign].rstrip())
    return (first, title) if title > first else (sign + 1, last - 1)


def _title(source: str, role: str, first: int, last: int) -> tuple[int, int]:
    """Return where the title begins and ends: of `~package.name` it is the name."""
    title = title_of_link(source, first, last)
    if not role or _LITERAL.fullmatch(role) or title != (first, last):
        return title
    if source.startswith("!", first):
        return first + 1, last
    if _OBJECT.fullmatch(role) and source.startswith(".", first):
        first += 1
    if source.startswith("~", first):
        first = max(source.rfind(".", first, last), first) + 1
    return first, last


def _show_name(markup: Markup, found: "re.Match[str]", first: int) -> None:
    """Show ":pep:`" as "PEP "."""
    start, (begun, behind) = found.start(), found.span("name")
    for place, sign in enumerate(found["name"].upper(), begun):
        markup.hide(start if place == begun else place, place + 1, "roles", sign)
    markup.hide(behind, first, "roles", " ")
