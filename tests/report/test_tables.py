"""Tables of numbers: whatever the width, nothing is cut, nothing is lost, and no line is longer than need be."""

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rag_evaluation_framework.report import Table, show


def printed(width, words, numbers):
    """The lines of a table of such columns, each a header and its cells."""
    columns = [*words, *numbers]
    rows = tuple(zip(*(cells for _, *cells in columns), strict=True))
    console = Console(file=io.StringIO(), width=width)
    show(console, Table(tuple(header for header, *_ in columns), rows, words=len(words)))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def column(header, *cells):
    return header, *cells


@given(
    st.lists(st.text("abcdefgh", min_size=1, max_size=14), min_size=1, max_size=9, unique=True),
    st.lists(st.text("xyz_", min_size=1, max_size=20), min_size=1, max_size=3, unique=True),
    st.integers(40, 120),
)
def test_every_header_and_number_appears_once_and_uncut(headers, names, width):
    numbers = [
        column(header, *(f"{place}.{row:03}" for row in range(len(names)))) for place, header in enumerate(headers)
    ]
    lines = printed(width, [column("metric", *names)], numbers)
    assert max(map(len, lines)) <= width
    heads = [line for line in lines if line.lstrip().startswith("metric")]
    assert [header for head in heads for header in head.split()[1:]] == headers
    for head, after in pairwise(heads):  # the next column would not fit
        assert len(head) + 2 + max(len(after.split()[1]), len("0.000")) >= width
    for row, name in enumerate(names):
        cells = [line.split()[1:] for line in lines if line.split()[:1] == [name]]
        assert [cell for part in cells for cell in part] == [f"{place}.{row:03}" for place in range(len(headers))]


def test_a_console_without_room_for_one_column_gets_lines_that_are_longer():
    lines = printed(12, [column("metric", "span_precision")], [column("@4000ch_whole", "0.123"), column("@5", "0.456")])
    assert max(map(len, lines)) > 12
    text = "\n".join(lines)  # a header is broken where a name can be
    assert all(text.count(part) == 1 for part in ("@4000ch_", "whole", "0.123", "@5", "0.456"))


def test_long_words_wrap_and_leave_the_numbers_whole_and_a_long_name_breaks_where_its_parts_end():
    lines = printed(60, [column("retriever", "r" * 70), column("chunker", "c" * 70)], [column("@5", "0.456")])
    text = "".join(lines)
    assert (text.count("r"), text.count("c")) == (70 + "retriever chunker".count("r"), 70 + 1)
    assert "0.456" in text
    name = "1 VectorRAGRetriever(chunker=RecursiveCharacterChunker(chunk_size=200, overlap=0), embedder=LsaEmbedder())"
    for width in (130, 70):
        rows = printed(width, [column("run", name)], [column("mean", "0.456")])[3:]
        lines = [row.removesuffix("0.456").strip() for row in rows if row.strip()]
        assert rows[0].endswith("  0.456")
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
        assert all(line[-1] in "(,=_" or line == lines[-1] for line in lines), lines
        assert len(lines) == (1 if width == 130 else 2)
