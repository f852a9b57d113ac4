"""What docutils and Sphinx show of the directives of reStructuredText, by name."""

import re
from typing import Literal

Shown = Literal["nothing", "code", "name", "content", "text", "all"]

_SHOWN: tuple[tuple[Shown, re.Pattern[str]], ...] = (
    (
        "nothing",
        re.compile(
            r"image|raw|index|toctree|include|literalinclude|contents|sectnum|section-numbering|header|footer|meta"
            r"|highlightlang|highlight|currentmodule|module|autosummary|graphviz|graph|digraph|inheritance-diagram"
            r"|default-role|role|target-notes|tabularcolumns|replace|unicode|date|testsetup|testcleanup|title"
            r"|sectionauthor|moduleauthor|codeauthor|todolist|bibliography"
        ),
    ),
    (
        "code",
        re.compile(
            r"code|code-block|sourcecode|math|parsed-literal|productionlist|prompt|ipython|doctest|testcode"
            r"|testoutput"
        ),
    ),
    ("name", re.compile(r"attention|caution|danger|error|hint|important|note|tip|warning")),
    ("text", re.compile(r"versionadded|versionchanged|versionremoved|deprecated|deprecated-removed")),
    (
        "content",
        re.compile(r"figure|container|class|rst-class|compound|cssclass|tab-set|grid|only|hlist|auto[a-z]+"),
    ),
)


def shown_of(name: str) -> Shown:
    """Return what is shown of a directive.

    `nothing`; its content as `code`; its `name`, its argument and its content; its `content`; its `text`, which begins
    behind a version; or `all`: its argument and its content, as of those that are unknown.
    """
    plain = name.lower().rpartition(":")[2]
    for shown, names in _SHOWN:
        if names.fullmatch(plain):
            return shown
    return "all"
