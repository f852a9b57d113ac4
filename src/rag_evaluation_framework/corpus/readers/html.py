"""HTML: the text of a page as a browser shows it."""

import codecs
import html
import re
from array import array
from collections.abc import Iterator
from importlib.metadata import version

from justhtml import JustHTML
from justhtml.dom import Node, Text

from ...errors import CorpusError
from .reader import Reader, Reading

# Elements as browsers show them (HTML Living Standard, section 15.3).


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_SHOWN = _names(
    "annotation annotation-xml area audio base canvas datalist defs desc embed iframe img input link meta metadata "
    "noembed noframes noscript object param rp script style template textarea track video"
)
_BLOCKS = _names(
    "address article aside body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form "
    "header hgroup html legend li main nav optgroup option search section select summary tbody tfoot thead tr"
)
_APART = _names("blockquote dl figure h1 h2 h3 h4 h5 h6 hr listing menu ol p plaintext pre table title ul xmp")
_TIGHT = _names("dd dt li menu ol td th ul")  # what stands apart elsewhere does not in these
_CELLS = _names("td th")
_PREFORMATTED = _names("listing plaintext pre xmp")
_RAW = _names("plaintext xmp")  # in which nothing is markup
_HIDES = re.compile(r"(?:\A|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\s*(?:!\s*important\s*)?(?:;|\Z)", re.I)
_IS_BLOCK = re.compile(r"(?:\A|;)\s*display\s*:\s*(?:block|flex|grid)\s*(?:!\s*important\s*)?(?:;|\Z)", re.I)
_KEEPS_LINES = re.compile(r"(?:\A|;)\s*white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE)


class HtmlReader(Reader):
    """Reads a page of HTML into its title and the text that a browser shows.

    Blocks begin lines, also those that are blocks by their own `style`, with a blank line around paragraphs, headings,
    lists and tables. A tab separates cells of a row, and lines of `<pre>` stay as they are. Not in the text: scripts,
    comments, alternative texts of pictures, what fields hold, and elements that are hidden by `hidden` or by their own
    `style`. Style sheets and scripts have no effect, and what `<details>` holds is shown. The page may be malformed: it
    is read as browsers read it.

    The encoding is that of a byte order mark, else what the page declares in its first 1,024 bytes, as browsers take
    it (windows-1252 for ISO 8859-1, GB 18030 for GB 2312), else UTF-8.
    """

    version = f"1, justhtml {version('justhtml')}"

    def read(self, data: bytes) -> Reading:
        """Return what a browser shows of a page."""
        # At each "<" that begins no tag, the parser would copy all of the text before.
        page = _NO_TAG.sub(_LESS, _decoded(data).replace("\0", "\ufffd"))
        shown = _Shown(page)
        shown.add(JustHTML(page, sanitize=False, track_node_locations=True).root)
        line_ends = array("I", (found.start() for found in re.finditer("\n", page)))
        return Reading("".join(shown.pieces), shown.starts, shown.offsets, line_ends)


_NO_TAG = re.compile(r"<(?![A-Za-z!?/])")
_LESS = "\ufdd1"  # a "<" that begins no tag; no character of any text
_DECLARED = re.compile(
    rb"<(?:meta\s[^>]*?\bcharset|\?xml\s[^>]*?\bencoding)\s*=\s*[\"']?\s*(?P<label>[\w.:-]+)", re.IGNORECASE
)
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_COMMENT = re.compile(rb"<!--(?:-?>|.*?(?:-->|\Z))", re.DOTALL)
# The codecs of what browsers take a name for (Encoding Standard, section 4.2), where Python has none of that name or
# one that lacks characters. Big5 is still without the euro sign.
_AS_BROWSERS = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    "iso8859-9": "cp1254",
    **dict.fromkeys(("iso8859-11", "tis-620", "windows-874"), "cp874"),
    **dict.fromkeys(("gb2312", "gbk", "gb_2312", "gb_2312-80", "x-gbk"), "gb18030"),
    **dict.fromkeys(("big5", "cn-big5"), "big5hkscs"),
    **dict.fromkeys(("shift_jis", "x-sjis", "windows-31j"), "cp932"),
    "x-euc-jp": "euc_jp",
    **dict.fromkeys(("euc_kr", "ks_c_5601-1989", "ksc_5601", "windows-949"), "cp949"),
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "utf-8"),  # else the declaration could not have been read
}
# Bytes that are undefined in windows-1252 are control characters; the error handler "surrogateescape" marks them.
_CONTROLS = {0xDC00 + byte: byte for byte in b"\x81\x8d\x8f\x90\x9d"}


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return _decode(data.removeprefix(mark), encoding)
    declared = _DECLARED.search(_COMMENT.sub(b"", data[:1024]))
    label = declared["label"].decode("ascii").lower() if declared else "utf-8"
    try:
        encoding = codecs.lookup(_AS_BROWSERS.get(label, label)).name
    except LookupError:
        encoding = "utf-8"
    return _decode(data, _AS_BROWSERS.get(encoding, encoding))


def _decode(data: bytes, encoding: str) -> str:
    try:
        if encoding == "cp1252":
            return data.decode(encoding, "surrogateescape").translate(_CONTROLS)
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"not valid {encoding} (byte {error.start}: 0x{data[error.start]:02x}), which is its encoding; save it as "
            f"{encoding}, or declare the encoding that it has (<meta charset=...>)"
        ) from error
    except LookupError as error:  # a codec of Python that is not of texts
        raise CorpusError(f"declares the encoding {encoding}; expected one of texts, such as utf-8") from error


_RUN = re.compile(r"[^ \t\n\r\f]+(?: [^ \t\n\r\f]+)*|[ \t\n\r\f]+")
_LINE = re.compile(r"[^\n]+|\n+")
_ENDS = re.compile(r"\r\n?")
_WRITTEN = re.compile(r"&(?:#\w{1,9}|\w{1,40});?|\r\n?|<!--.*?(?:--!?>|\Z)|<[A-Za-z!?/][^>]*>?", re.DOTALL)


class _Shown:
    """The text that is shown of a page, as it is put together.

    Args:
        page: The source.
    """

    def __init__(self, page: str) -> None:
        self.page = page
        self.pieces: list[str] = []
        self.starts, self.offsets = array("I"), array("I")
        self._length = 0
        self._lines, self._gap = 0, ""  # what is to stand before the next text: line ends, and a blank or tabs
        self._row_begun = False  # a cell of the row began
        self._cell_begins = False  # nothing stands in the cell yet, and blocks begin no line there

    def add(self, root: Node) -> None:
        """Add what is shown of the page, once."""
        ahead: list[tuple[Node | Text, bool, bool]] = [(root, False, False)]
        while ahead:  # no recursion, as elements may be nested a million deep
            node, keeps_lines, is_end = ahead.pop()
            if isinstance(node, Text):
                self._add_text(node, keeps_lines)
            elif is_end:
                self._part(node)
            elif not _is_hidden(node):
                self._part(node)
                self._begin(node.name)
                keeps_lines = keeps_lines or node.name in _PREFORMATTED or _KEEPS_LINES.search(_style(node)) is not None
                ahead.append((node, keeps_lines, True))
                ahead += [(child, keeps_lines, False) for child in reversed(node.children or ())]
        self.starts.append(self._length)  # the text ends with the page, so that no place is behind it
        self.offsets.append(len(self.page))

    def _part(self, node: Node) -> None:
        """Begin a line where a block begins or ends, below a blank one if it stands apart."""
        if node.name == "tr":
            self._cell_begins, self._row_begun = False, True
        if node.name in _APART:
            self._end_lines(1 if node.parent and node.parent.name in _TIGHT else 2)
        elif node.name in _BLOCKS or _IS_BLOCK.search(_style(node)):
            self._end_lines(1)

    def _begin(self, name: str) -> None:
        if name == "tr":
            self._row_begun = False
        elif name == "br":
            self._end_lines(self._lines + 1)
        elif name in _CELLS:
            if self._row_begun:
                self._lines, self._gap = (self._lines, f"{self._gap}\t") if self._cell_begins else (0, "\t")
            self._row_begun = self._cell_begins = True

    def _end_lines(self, count: int) -> None:
        if not self._cell_begins and self._lines < count:
            self._lines, self._gap = count, ""

    def _add_text(self, node: Text, keeps_lines: bool) -> None:
        for first, behind, offset in self._pieces(node):
            for run in (_LINE if keeps_lines else _RUN).finditer(node.data or "", first, behind):
                if keeps_lines and run[0][0] == "\n":
                    self._end_lines(self._lines + len(run[0]))
                elif keeps_lines or run[0][0] not in " \t\n\r\f":
                    self._write(run[0], offset + run.start() - first)
                elif not self._lines:
                    self._gap = self._gap or " "

    def _write(self, text: str, offset: int) -> None:
        if self._length:
            self.pieces.append("\n" * self._lines + self._gap)
            self._length += self._lines + len(self._gap)
        self._lines, self._gap, self._cell_begins = 0, "", False
        offset = min(offset, len(self.page))  # of texts in tables, which are moved, places are near ones
        if not self.starts or self.offsets[-1] - self.starts[-1] != offset - self._length:
            self.starts.append(self._length)
            self.offsets.append(offset)
        self.pieces.append(text.replace(_LESS, "<"))
        self._length += len(text)

    def _pieces(self, node: Text) -> Iterator[tuple[int, int, int]]:
        """Yield the pieces of a text that go along with the page: first, end, and the offset in the page.

        "a < b", written "a &lt; b", has three: "a ", "<" and " b". Markup is in none of them: where it keeps the places
        of texts, the parser takes unclosed comments, `<?xml ?>` and what else browsers ignore for text.
        """
        data, offset, parent, done = node.data or "", node.origin_offset or 0, node.parent, 0
        if parent and parent.name in _RAW:
            yield 0, len(data), offset
            return
        if parent and parent.name in _PREFORMATTED and node is (parent.children or [None])[0]:
            # its first line end is none of the text
            offset += next((len(end) for end in ("\r\n", "\n", "\r") if self.page.startswith(end, offset)), 0)
        for found in _WRITTEN.finditer(self.page, offset):
            if (plain := found.start() - offset) >= len(data) - done:
                break
            yield done, done + plain, offset
            done, offset = done + plain, found.start()
            text = html.unescape(_ENDS.sub("\n", found[0]))
            if found[0][0] == "<" and not (parent and parent.name == "title"):
                done, offset = done + len(text) * data.startswith(text, done), found.end()
            elif not data.startswith(found[0], done):
                # "&nbspword" is a sign and a word
                signs = next(first for first in range(len(text) + 1) if found[0].endswith(text[first:]))
                yield done, done + signs, offset
                done, offset = done + signs, found.end() - len(text) + signs
        yield done, len(data), offset


def _is_hidden(element: Node) -> bool:
    attributes, name = element.attrs or {}, element.name
    is_unshown = name in _NOT_SHOWN or (name == "title" and element.namespace == "svg") or "hidden" in attributes
    return is_unshown or (name == "dialog" and "open" not in attributes) or bool(_HIDES.search(_style(element)))


def _style(element: Node) -> str:
    return (element.attrs or {}).get("style") or ""
