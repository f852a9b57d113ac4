"""Makes one file of each kind, and writes what viewers show of it; run by hand, tests need only what it wrote.

    apt-get install chromium
    python -m venv /tmp/kinds-venv
    /tmp/kinds-venv/bin/pip install docutils markdown-it-py nbconvert nbformat playwright pypdf python-docx reportlab
    /tmp/kinds-venv/bin/python tests/corpus/viewers.py docs/explanation/trust.md docs/explanation/cutoffs.md

The pages given become `kinds/guide.*` and `kinds/columns.pdf` (Chromium, two justified columns with hyphens) and
`kinds/paper.pdf` (reportlab, two justified columns). `kinds/shown.json` has 100 sentences of each as another program
shows it: pypdf of PDFs, python-docx of DOCX, Chromium of Markdown and of what nbconvert makes of the notebook, docutils
of reStructuredText.
"""

import json
import random
import re
import sys
import unicodedata
from pathlib import Path

import docx
import nbformat
from chromium import CHROMIUM
from docutils.core import publish_doctree
from markdown_it import MarkdownIt
from nbconvert import HTMLExporter
from playwright.sync_api import sync_playwright
from pypdf import PdfReader
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

HERE = Path(__file__).parent / "kinds"
SENTENCES, LEAST_WORDS = 100, 5
COLUMNS = "<style>body{columns:2;text-align:justify;hyphens:auto;font:9pt serif}pre{white-space:pre-wrap}</style>"
PARSER = MarkdownIt("commonmark").enable("table")


def blocks(source):
    """Yield what a page is made of: a kind (h1, p, li, td, pre) and its runs of text, each with its style."""
    kind = "p"
    for token in PARSER.parse(source):
        if token.type in ("heading_open", "list_item_open", "th_open", "td_open"):
            kind = {"heading_open": token.tag, "list_item_open": "li"}.get(token.type, "td")
        elif token.type in ("heading_close", "list_item_close", "th_close", "td_close"):
            kind = "p"
        elif token.type in ("fence", "code_block"):
            yield "pre", [(token.content, "")]
        elif token.type == "inline":
            runs, style = [], ""
            for child in token.children:
                if child.type in ("strong_open", "em_open"):
                    style = child.type.partition("_")[0]
                elif child.type in ("strong_close", "em_close"):
                    style = ""
                elif child.type in ("text", "code_inline"):
                    runs.append((child.content, "code" if child.type == "code_inline" else style))
                elif child.type == "softbreak":
                    runs.append((" ", style))
            yield kind, runs


def make_docx(source, path):
    book = docx.Document()
    for kind, runs in blocks(source):
        style = {"li": "List Bullet", "h1": "Heading 1", "h2": "Heading 2", "h3": "Heading 3"}.get(kind)
        place = book.add_table(1, 1).cell(0, 0) if kind == "td" else book
        paragraph = place.add_paragraph(style=style)
        for text, how in runs:
            run = paragraph.add_run(text)
            run.bold, run.italic = how == "strong", how == "em"
    book.save(path)


def make_notebook(source, path):
    book = nbformat.v4.new_notebook()
    for text in re.split(r"\n(?=## )|(?=^```)", source, flags=re.MULTILINE):
        code = re.fullmatch(r"```python\n(.*?)```\s*", text, re.DOTALL)
        cell = nbformat.v4.new_code_cell(code[1]) if code else nbformat.v4.new_markdown_cell(text)
        cell.id = f"cell-{len(book.cells)}"
        book.cells.append(cell)
    nbformat.write(book, path)


def make_rst(source, path):
    marks = {"strong": "**", "em": "*", "code": "``", "": ""}
    lines = []
    for kind, runs in blocks(source):
        texts = [f"{marks[how]}{text}{marks[how]}" if how else text.replace("*", r"\*") for text, how in runs]
        joined = (f"{text}\\ " if run[1] else text for text, run in zip(texts, runs, strict=True))
        text = "".join(joined).removesuffix("\\ ")
        if kind == "pre":
            lines += ["::", "", *(f"    {line}" for line in runs[0][0].splitlines()), ""]
        elif kind.startswith("h"):
            lines += [text, "=-~"[int(kind[1]) - 1] * len(text), ""]
        else:
            lines += [f"{'- ' * (kind == 'li')}{text}", ""]
    path.write_text("\n".join(lines))


def make_paper(source, path):
    width, height = A4
    frames = [Frame(40 + side * (width / 2 - 20), 40, width / 2 - 60, height - 80) for side in (0, 1)]
    book = BaseDocTemplate(str(path), invariant=1)
    book.addPageTemplates(PageTemplate(frames=frames))
    style = ParagraphStyle("body", fontSize=9, alignment=4, spaceAfter=6)
    plain = ("".join(text for text, _ in runs) for kind, runs in blocks(source) if kind != "pre")
    escaped = (text.replace("&", "&amp;").replace("<", "&lt;") for text in plain)
    book.build([Paragraph(text.encode("cp1252", "ignore").decode("cp1252"), style) for text in escaped])


def sentences(name, text):
    """Return 100 sentences that stand once in what is shown, drawn by the name of the file."""
    found = []
    for line in text.splitlines():
        found += re.findall(r"(?:(?<=[.!?] )|\A)[A-Z][^.!?]*(?:[.!?](?!\s)[^.!?]*)*[.!?](?=\s|\Z)", line.strip())
    whole = " ".join(text.split())
    once = [each for each in dict.fromkeys(found) if len(each.split()) >= LEAST_WORDS and whole.count(each) == 1]
    return sorted(random.Random(name).sample(once, min(SENTENCES, len(once))), key=whole.index)


def main(*names):
    source = "\n\n".join(Path(name).read_text() for name in names)
    HERE.mkdir(exist_ok=True)
    (HERE / "guide.md").write_text(source)
    make_docx(source, HERE / "guide.docx")
    make_notebook(source, HERE / "guide.ipynb")
    make_rst(source, HERE / "guide.rst")
    make_paper(source, HERE / "paper.pdf")
    page = f"<!doctype html><html lang=en><meta charset=utf-8>{PARSER.render(source)}"
    shown = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        print("Chromium", browser.version)
        tab = browser.new_page()
        for name, style in (("guide.pdf", ""), ("columns.pdf", COLUMNS)):
            tab.set_content(page + style)
            tab.pdf(path=HERE / name, format="A4")
        tab.set_content(page)
        shown["guide.md"] = tab.evaluate("document.body.innerText")
        tab.set_content(HTMLExporter(template_name="basic").from_filename(str(HERE / "guide.ipynb"))[0])
        shown["guide.ipynb"] = tab.evaluate("document.body.innerText")
    for name in ("guide.pdf", "columns.pdf", "paper.pdf"):
        # A sentence goes on over lines, a word that is hyphenated at the end of one is read as a word, and a ligature,
        # which pypdf gives as a sign of its own, as its letters.
        text = "\n\n".join(page.extract_text() for page in PdfReader(HERE / name).pages)
        text = re.sub("[\ufb00-\ufb06]", lambda found: unicodedata.normalize("NFKC", found[0]), text)
        shown[name] = " ".join(re.sub(r"(?<=[a-z])[-\u2010]\s*\n\s*(?=[a-z])", "", text).split())
    book = docx.Document(HERE / "guide.docx")
    cells = [cell.text for table in book.tables for row in table.rows for cell in row.cells]
    shown["guide.docx"] = "\n".join([*(paragraph.text for paragraph in book.paragraphs), *cells])
    tree = publish_doctree((HERE / "guide.rst").read_text())
    paragraphs = (node.astext() for node in tree.findall() if node.tagname == "paragraph")
    shown["guide.rst"] = "\n".join(" ".join(text.split()) for text in paragraphs)
    picked = {name: sentences(name, text) for name, text in sorted(shown.items())}
    print({name: len(found) for name, found in picked.items()})
    (HERE / "shown.json").write_text(json.dumps(picked, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
