"""The blocks of random documents, by format: each writes itself with a writer (rendered.py)."""

from unicodedata import combining, east_asian_width


def _paragraph(writer):
    writer.paragraph()


def _width(text):
    """The columns that docutils counts for a text."""
    return sum(1 + (east_asian_width(sign) in "WF") - (combining(sign) > 0) for sign in text)


def _padding(writer, start, width):
    return " " * max(width - _width(writer.page.source[start:]), 2)


def _indented_rst(writer):
    writer.paragraph()
    writer.paragraph("   ", "\n   ")


def _note_rst(writer):
    writer.end(".. note::\n\n   ")
    writer.paragraph("", "\n   ")


def _table_md(writer):
    writer.cells("| ", " | ", " |\n")
    writer.end("|---|:-:|\n", "\n")
    for _ in range(writer.rng.randint(1, 2)):
        writer.cells("| ", " | ", " |\n")
    writer.end("\n")


def _table_rst(writer):
    edge = f"{'=' * 60}  {'=' * 60}\n"
    writer.end(edge)
    for end in ("", edge):
        at = len(writer.page.source)
        writer.begin()
        writer.words(3)
        writer.end(_padding(writer, at, 62), "\t")
        writer.words(3)
        writer.end(f"\n{end if end else edge}", "\n")
    writer.end("\n")


MARKDOWN = [
    *[_paragraph] * 3,
    lambda writer: writer.heading(writer.rng.choice(["# ", "### "]), writer.rng.choice(["\n\n", " ##\n", "\n"])),
    lambda writer: writer.underlined(writer.rng.choice("=-")),
    lambda writer: writer.items(lambda _: writer.rng.choice(["- ", "- [ ] "]), "  ", writer.rng.choice(["\n", "\n\n"])),
    lambda writer: writer.items(lambda number: f"{number + 1}. ", "   "),
    lambda writer: writer.nested("- ", "  - "),
    lambda writer: writer.nested("* ", "\n  + "),
    lambda writer: writer.paragraph("> ", "\n> "),
    lambda writer: writer.paragraph("> - ", "\n>   ", marker="• "),
    _table_md,
    lambda writer: writer.code("```python\n", "", "```\n\n"),
    lambda writer: writer.code("~~~\n", "", "~~~\n\n"),
    lambda writer: writer.paragraph("<div>\n<p>", "\n", "</p>\n</div>\n\n", 5, marked=False),
    lambda writer: writer.hidden("<!-- ", " -->\n\n"),
]
HTML = [
    *[lambda writer: writer.paragraph("<p>", "\n", "</p>\n")] * 3,
    lambda writer: writer.heading("<h2 id='the server'>", "</h2>\n"),
    lambda writer: writer.items(lambda _: "<li>", "", "</li>\n"),
    lambda writer: writer.nested("<ul><li>", "<ul><li>", ("\n", "</ul></li></ul>\n")),
    lambda writer: writer.cells("<dl><dt>", "</dt>\n<dd>", "</dd></dl>\n"),
    lambda writer: writer.cells("<details><summary>", "</summary>", "</details>\n"),
    lambda writer: writer.paragraph("<P>", "\n", "\n"),
    lambda writer: writer.cells("<table><tr><td>", "</td><td>", "</td></tr></table>\n"),
    lambda writer: writer.cells("<tr><th>", "</th>\n<td>", "</td></tr>\n"),
    lambda writer: writer.code("<pre>", "", "</pre>\n"),
    lambda writer: writer.paragraph("<blockquote><div>", " ", "</div></blockquote>\n"),
    lambda writer: writer.hidden("<!-- ", " -->\n"),
    lambda writer: writer.hidden("<script>", "</script>\n"),
    lambda writer: writer.hidden("<style>", "</style>"),
]
RST = [
    *[_paragraph] * 3,
    lambda writer: writer.underlined(writer.rng.choice("=-~")),
    lambda writer: writer.items(lambda _: "- ", "  ", writer.rng.choice(["\n", "\n\n"])),
    lambda writer: writer.items(lambda number: f"{number + 1}. ", "   "),
    _indented_rst,
    lambda writer: writer.nested("- ", "\n  - "),
    lambda writer: writer.cells("", "\n   ", "\n\n"),
    lambda writer: writer.cells("| ", "\n| ", "\n\n"),
    _table_rst,
    lambda writer: writer.code(".. code-block:: python\n\n", "   ", "\n"),
    _note_rst,
    lambda writer: writer.hidden(".. ", "\n\n"),
    lambda writer: writer.hidden(".. _target: ", "\n\n"),
    lambda writer: writer.hidden(".. image:: x\n   :alt: ", "\n\n"),
]
TEXT = [_paragraph]
BLOCKS = {"md": MARKDOWN, "html": HTML, "rst": RST, "txt": TEXT}
