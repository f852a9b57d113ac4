"""Pages as people see them (what they copy from) and as a corpus holds them (what is searched), for five kinds."""

import base64
import io
import re
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path

import pypdf
import pypdfium2
import pyphen
from docutils.core import publish_parts
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.ttLib import TTFont
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from playwright.sync_api import Page
from tests.labels.pages import sphinx_page
from tests.labels.pages.marks import FIRST, LAST

FONTS = Path("/usr/share/fonts/truetype/liberation")
TAGS = re.compile(r"<!--.*?-->|<(script|style|title|head)\b.*?</\1\s*>|<[^>]*>|&#?\w+;", re.S | re.I)
HIDDEN = {
    "markdown": [
        re.compile(r"\A---\n.*?\n---\n", re.S),
        re.compile(
            r"\]\([^)]*\)|\]\[[^]]*\]|^ {0,3}\[[^]\n]+\]:.*$|<[^>\n]+>|&#?\w+;|^\s*(```|~~~).*$|https?://\S+", re.M
        ),
    ],
    "html": [TAGS],
    "rst": [
        re.compile(r"^[ ]*\.\. [\w:+.-]+::.*$|^[ ]*:[\w -]+:.*$|<[^>\n]*>`|`[^`\n]*`_|:[\w:+.-]+:`|^\.\. _.*$", re.M),
        re.compile(r"^\.\. .*\n(?:[ ]+\S.*\n)*", re.M),
        re.compile(r"https?://\S+|\w+_\b(?!\w)|\|[^|\n]+\|", re.M),
    ],
    "man": [
        re.compile(r"^[.'](?:\\\".*|[ \t]*[A-Za-z]+)|\\\(..|\\\*\(..|\\f\(..|\\f.|\\\[[^]]*\]|\\[a-z]'[^']*'|\\.", re.M)
    ],
}
HIDDEN["man"].append(
    re.compile(
        r"^\.(?:TH|Dd|Dt|Os|so|de|if|ie|el|ds|nr|tr|ft|sp|in|ta|ps|hy|ad|nh|ne).*$|(?<= )[A-Z][a-z](?= |$)", re.M
    )
)
# In print a line may break there, and not before every character; a hyphen there is known by the letter before it.
BROKEN_BEHIND = [re.compile(r"[/:?&=.,-]\w+|\w+(?=-)")]
TEXT_BETWEEN = re.compile(r"(<!--.*?-->|<(?:script|style|head|pre|code)\b.*?</[^>]*>|<[^>]*>|&#?\w+;)", re.S | re.I)
LONG_WORD = re.compile("[A-Za-z\ue000-\uf8ff]{6,}")
LIGATURES = "feature liga { sub f i by uniFB01; sub f l by uniFB02; } liga;"
# Chromium prints all soft hyphens, those inside of lines as blanks; what divides words itself, TeX or Word, does not.
HYPHENS_OF_LINES = """() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    const top = (node, at) => {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return [...range.getClientRects()].at(-1)?.top;
    };
    // what is wider than the page is printed smaller, and its lines break elsewhere
    const fits = document.documentElement.scrollWidth <= innerWidth;
    const kept = [];
    while (texts.nextNode()) {
        const node = texts.currentNode;
        const ends = (at) => top(node, at - 1) !== top(node, at + 1);
        kept.push([node, [...node.data].map((c, at) => c !== "\u00ad" ? c : fits && ends(at) ? "-" : "").join("")]);
    }
    for (const [node, text] of kept) if (text !== node.data) node.data = text;
}"""
HYPHENS = pyphen.Pyphen(lang="en_US", left=2, right=3)


def browser_text(page: Page, html: str) -> str:
    page.set_content(html, wait_until="commit")
    page.wait_for_function("document.body !== null")
    return page.evaluate("document.body.innerText")


def _without_attributes(state: StateCore) -> None:
    """Attributes behind a heading, `{ #name }`, are not shown: so do the sites of pages that have them."""
    for before, token in pairwise(state.tokens):
        if before.type == "heading_open" and token.children and token.children[-1].type == "text":
            token.children[-1].content = re.sub(r"\s*\{[^{}]*\}\s*\Z", "", token.children[-1].content)


def markdown(source: str, *, smart: bool) -> str:
    parser = MarkdownIt("gfm-like", {"html": True, "typographer": smart, "linkify": True})
    parser.core.ruler.push("heading attributes", _without_attributes)
    if smart:
        parser.enable(["replacements", "smartquotes"])
    return _whole(parser.use(front_matter_plugin).use(footnote_plugin).render(source))


def docutils(source: str) -> str:
    settings = {"report_level": 5, "halt_level": 5, "syntax_highlight": "none", "file_insertion_enabled": False}
    settings["rfc_references"] = settings["pep_references"] = False
    return publish_parts(source, writer="html5", settings_overrides=settings)["whole"]


def to_html(kind: str, source: str, how: str) -> str:
    """The HTML of a source; how names the renderer where a kind has several."""
    if kind == "markdown":
        return markdown(source, smart=how == "smart")
    if kind == "html":
        return source
    if kind == "rst":
        return sphinx_page.render(source) if how == "sphinx" else docutils(source)
    return _run(["mandoc", "-Kutf-8", "-Thtml"], source)


def terminal(source: str, program: str, width: int, letters: list[str]) -> str:
    """A manual page as a terminal of this width shows it; marks are hyphenated as the letters they stand for."""
    if program == "mandoc":
        text = _run(["mandoc", "-Kutf-8", "-Tutf8", f"-Owidth={width}"], source)
    else:
        codes = [
            f".hcode \\[u{FIRST + n:04X}]{c.lower()}\n" for n, c in enumerate(letters) if c.isascii() and c.isalpha()
        ]
        source = "".join(codes) + source
        text = _run(["groff", "-Kutf8", "-Tutf8", "-mandoc", "-t", f"-rLL={width}n", "-P-c"], source)
    return _run(["col", "-bx"], text)


def pdf(page: Page, html: str, letters: list[str], *, set_as_a_book: bool) -> bytes:
    """The page printed; the font has a glyph for every mark, shaped and as wide as the letter it stands for.

    Set as a book it is narrow and justified, with kerning, ligatures and words divided at the ends of lines.
    """
    face = base64.b64encode(_font(letters, set_as_a_book=set_as_a_book)).decode()
    looks = "font-kerning:none;font-variant-ligatures:none"
    if set_as_a_book:
        looks = "font-kerning:normal;font-variant-ligatures:common-ligatures;text-align:justify;hyphens:manual"
        html = _divided(html, letters)
    style = (
        f"<style>@font-face{{font-family:Marked;src:url(data:font/ttf;base64,{face})}}"
        f"*{{font-family:Marked!important;{looks};text-transform:none!important}}"
        "body{font-size:11pt;line-height:1.35}table{border-collapse:collapse}td,th{border:1px solid;padding:2pt 5pt}"
        "pre{white-space:pre-wrap}</style>"
    )
    page.set_content(style + html, wait_until="commit")
    page.evaluate("document.fonts.ready.then(() => 1)")
    if set_as_a_book:
        page.set_viewport_size({"width": 416, "height": 800})  # 110 mm, as printed
        page.evaluate(HYPHENS_OF_LINES)
    side = "50mm" if set_as_a_book else "20mm"
    return page.pdf(format="A4", margin={"top": "20mm", "bottom": "20mm", "left": side, "right": side})


def _divided(html: str, letters: list[str]) -> str:
    """Soft hyphens in the long words of the text; marks are divided as the letters they stand for."""
    parts = TEXT_BETWEEN.split(html)
    parts[::2] = [LONG_WORD.sub(lambda match: _soft_hyphens(match[0], letters), part) for part in parts[::2]]
    return "".join(parts)


def _soft_hyphens(word: str, letters: list[str]) -> str:
    meant = "".join(letters[ord(c) - FIRST] if ord(c) >= FIRST else c for c in word)
    for at in reversed(HYPHENS.positions(meant)):
        word = f"{word[:at]}\u00ad{word[at:]}"
    return word


def unkerned(source: str) -> re.Pattern[str]:
    """Words that a mark would set otherwise: their first letter is kerned, or is part of a ligature."""
    font = TTFont(FONTS / "LiberationSerif-Regular.ttf")
    names, pairs = font.getBestCmap(), font["kern"].kernTables[0].kernTable
    moved = {
        word
        for word in set(re.findall(r"[^\W_]+", source))
        if word[:2] in ("fi", "fl")
        or any((before, names.get(ord(word[0]))) in pairs for before in ("space", "uni00A0"))
        or (names.get(ord(word[0])), names.get(ord(word[1:2] or " "))) in pairs
    }
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(moved)))})\b") if moved else re.compile(r"(?!)")


def pdf_corpus(data: bytes, extractor: str) -> str:
    """The text that a loader of PDF files puts into a corpus."""
    if extractor == "pypdf":
        return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(data)
        file.flush()
        return _run(["pdftotext", "-enc", "UTF-8", file.name, "-"], "")


def pdf_viewer(data: bytes) -> str:
    """The text that Chromium's own viewer (PDFium) copies."""
    pages = pypdfium2.PdfDocument(data)
    text = "\n".join(page.get_textpage().get_text_range() for page in pages).replace("\r\n", "\n")
    return re.sub("[\ufffe\u200b]", "", text)  # as Chromium's pdfium_range.cc does: hyphens at a line's end are gone


def _font(letters: list[str], *, set_as_a_book: bool) -> bytes:
    font = TTFont(FONTS / ("LiberationSerif-Regular.ttf" if set_as_a_book else "LiberationSans-Regular.ttf"))
    names, glyphs, metrics = font.getGlyphOrder(), font["glyf"], font["hmtx"]
    maps = [table for table in font["cmap"].tables if table.isUnicode()]
    best = font.getBestCmap()
    if set_as_a_book:
        addOpenTypeFeaturesFromString(font, LIGATURES, tables=["GSUB"])
    else:
        for table in ("GSUB", "GPOS", "kern"):
            if table in font:
                del font[table]
    for table in maps:
        table.cmap = {code: name for code, name in table.cmap.items() if not FIRST <= code <= LAST}
    new = []
    for number, letter in enumerate(letters):
        old, name = best.get(ord(letter), ".notdef"), f"mark{number}"
        glyphs.glyphs[name] = glyphs[old]
        metrics.metrics[name] = metrics.metrics[old]
        new.append(name)
        for table in maps:
            table.cmap[FIRST + number] = name
    font.setGlyphOrder(names + new)
    glyphs.glyphOrder = names + new
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def _run(command: list[str], source: str) -> str:
    done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
    return done.stdout.decode(errors="replace")


def _whole(body: str) -> str:
    return f"<!DOCTYPE html><html><body>{body}</body></html>"
