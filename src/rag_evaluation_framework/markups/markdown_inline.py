"""The inline markup of Markdown: code, emphasis, links, images, escapes, and the HTML within it."""

import re
from collections.abc import Callable

from rag_evaluation_framework.markups.emphasis import Emphasis
from rag_evaluation_framework.markups.html_markup import ENTITY, HIDDEN_ELEMENT, TAG, hide_entity, hide_tag
from rag_evaluation_framework.markups.markup import CODE, LINE_END, Markup

_SPECIAL = re.compile(r"[`\\<&!\[\]*_~|]")
_TICKS = re.compile("`+")
_TAG_NAME = re.compile("!--|[A-Za-z]+")
_ESCAPED = re.compile(r"\\(?:[!-/:-@\[-`{-~]|\n)")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]")
_DESTINATION = re.compile(
    r"\(\s*+(?:<[^<>\n]*+>|(?:[^()\\\s]|\\.|\((?:[^()\\\s]|\\.|\((?:[^()\\\s]|\\.)*+\))*+\))*+)"
    r"(?:\s++(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\([^()]*+\)))?+\s*+\)(?:\{[^{}\n]*+\})?+",
    re.DOTALL,
)
_REFERENCE = re.compile(r"\[(?P<label>[^\[\]]{0,999})\]")
_LONGEST_LABEL = 999
IMAGES = "images"
_PIPE = re.compile(r"\\\|")


class Inline:
    """Reads the inline markup of one paragraph after another.

    Args:
        markup: Where what is not shown is hidden.
        text: The source, its lines ended by line feeds only.
        labels: The links that are defined somewhere in the document, case folded.
        image_texts: Whether the texts of images are shown.
    """

    def __init__(self, markup: Markup, text: str, labels: frozenset[str], image_texts: bool) -> None:
        self.markup, self.text, self.labels, self.image_texts = markup, text, labels, image_texts
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
        if found := _FOOTNOTE.match(self.text, start, self.end):
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
        what = IMAGES if image else "links"
        if image and not self.image_texts:
            self.markup.hide(first, behind, what)
        else:
            self.markup.hide(first, text, what)
            self.markup.hide(start, behind, what)
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
