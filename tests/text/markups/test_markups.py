"""What a renderer shows of each format: exact offsets, and nothing hidden that is text."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.text.markups.characters import CALL, folded
from rag_evaluation_framework.text.markups.markdown_markup import markdown_markup
from rag_evaluation_framework.text.markups.rst_markup import rst_markup
from support.each import each
from support.examples import examples
from support.linear import assert_linear

READ = {"md": markdown_markup, "rst": rst_markup}


def shown(read, source):
    """What is shown of a source, its white space collapsed."""
    markup = read(source).shown(0, len(source)).replace(CALL, folded(CALL))
    return re.sub(r"\s+", " ", markup).strip()


@each(
    ("source", "text"),
    [
        ("Some **bold**, *it*, __b__, _i_, ***both*** and ~~gone~~.", "Some bold, it, b, i, both and gone."),
        ("2*3*4, snake_case_name, * alone, 5 * 6", "2*3*4, snake_case_name, * alone, 5 * 6"),
        ("**open only and *inner*", "**open only and inner"),
        ("a*b*c and *a **b** c*", "abc and a b c"),
        ("*a **b*** c, ***d* e**, **f*g*h**, a~~b~~ ~c~~ [x][y](u)", "a b c, d e, fgh, ab ~c~~ [x]y"),
        ("`code *x*` and ``a ` b`` and `open", "code *x* and a ` b and `open"),
        ('[text](http://x.y/a_(b) "title") and <http://x.y>', "text and http://x.y"),
        (
            "[one][a], [two][], [three], [four][none]\n\n[a]: x\n[two]: <y> 'title'\n[Three]: z",
            "one, two, three, [four][none]",
        ),
        ("![alt](x.png) and [![alt](x.png) text](y)", "and text"),
        ("a[0] and [1, 2] and f[](x)", "a[0] and [1, 2] and f"),
        (r"\*not\* \[it\] C:\dir", "*not* [it] C:\\dir"),
        ("a &amp; b &lt; c &copy; &nosuch; & d", "a & b < c © &nosuch; & d"),
        ("Text[^1].\n\n[^1]: Note.", "Text. : Note."),
        ("# One #\n\nTwo\n===\n\n### Three {#id .c}\n\n#hash", "One Two Three #hash"),
        ("- a\n* b\n+ [x] c\n1. d\n2) e\n\n---\n\n***\n", "a b c d e"),
        ("Removed in\n2026. A (rank\n2) of it\n1. one\n2. two", "Removed in 2026. A (rank 2) of it one two"),
        ("Text:\n\n3. three\n4. four\n\n# A\n5. five", "Text: three four A five"),
        ("See [the guide][update\nit], [a][b\nc].\n\n[update it]: x", "See the guide, [a][b c]."),
        ("a|b\n-|-\n`c \\| d`|e\n\n`f \\| g`", "a b c \\| d e f \\| g"),
        ("> quoted *x\n> y* on\n>> more", "quoted x y on more"),
        ("a|b\n-|-\n**c** | d\n\na | b", "a b c d a | b"),
        ("x\n\n```py\na = *b* # c\n- d\n```\n\n*y*", "x a = *b* # c - d y"),
        ("~~~\n```\n~~~\n*y*", "``` y"),
        ("> ```\n> a = *b*\n> > c\n> ```\n*y*", "a = *b* > c y"),
        ("x\n\n    a = *b*\n\n*y*", "x a = *b* y"),
        ("- x\n\n    a *b*\n\ny", "x a b y"),
        ("---\ntitle: x\n---\n*y*", "y"),
        ("a <b>b</b><br/>c <!-- d\ne --> f", "a b c f"),
        ("<!-- a\n\nb -->\n<script>c\n\nd</script>\ne < f", "e < f"),
        ('!!! note "The title"\n    Text *x*.\n\n    *y*\n', 'note "The title" Text x. y'),
        ("a\\\r\nb \\ c", "a b \\ c"),
        ("a [b]: c\n\nd [b] e", "a [b]: c d [b] e"),
        ("[b], [c], [d]\n\n> [b]: x\n\n- [c]: y\n\n  [d]: z", "b, c, d"),
        ("*a*\r\n\r\n- b\r\n- *c*\r\n\r\n```\r\n*d*\r\n```\r\n", "a b c *d*"),
        ("*never\n\nclosed*", "*never closed*"),
        ("a <!-- never *closed* <b>here</b>\n\nb <!-- c --> d", "a <!-- never closed here b d"),
        ("a <svg>b</svg> <SVG>c</svg > <svg> d", "a d"),
        ("# One ## #\n\n# Two {#id}\n\n# Three ## {: .c}\n\n# {x} # y#", "One ## Two Three {x} # y#"),
        ("A line\n\n[m]: http://e.org\n", "A line"),
        ("# Title\n[m]: http://e.org\n[n]: http://e.org\n\n[m] [n]", "Title m n"),
        ("", ""),
    ],
)
def test_markdown_shows(source, text):
    assert shown(markdown_markup, source) == text


@each(
    ("source", "text"),
    [
        ("Some **bold**, *it* and ``code *x*``.", "Some bold, it and code *x*."),
        ("2*3*4, snake_case, * alone, **kwargs, C:\\\\x and \\*", "2*3*4, snake_case, * alone, **kwargs, C:\\x and *"),
        (":func:`~os.path.join`, :ref:`the text <x>`, :class:`!A`, `title`", "join(), the text, A, title"),
        (
            ":pep:`8`, :PEP:`8`, :rfc:`the mail <822>`, :rfc:`822`, :cve:`2020-1`",
            "PEP 8, PEP 8, the mail, RFC 822, CVE 2020-1",
        ),
        (":meth:`form`, :func:`f()`, :func:`!g`, :py:meth:`a.b`, :func:`it <f>`", "form(), f(), g(), a.b(), it"),
        (":class:`.A.b`, :class:`~.A`, :attr:`~a.b.c`, :file:`.bashrc`, :file:`~/x.y`", "A.b, A, c, .bashrc, ~/x.y"),
        (":term:`shown <target>`, :doc:`/a/b`, :option:`--x`, :envvar:`X_Y`", "shown, /a/b, --x, X_Y"),
        ("H\\ :sub:`2`\\ O and `after`:sup: and `x`:pep:", "H2O and after and x"),
        ("``__pkg__`` and ``a_`` and ``{x}`` ``*b*``", "__pkg__ and a_ and {x} *b*"),
        ("* a::\n\n      *code*\n\n  b *it*\n\n      *quote*\n\n* c", "a: *code* b it quote c"),
        (".. autoclass:: a.B\n   :members:\n\n   Does *it*.\n\n.. tip::\n\n   x", "Does it. x"),
        (".. option:: -f, --force\n\n   Do *it*.\n\n.. envvar:: HOME\n", "-f, --force Do it. HOME"),
        ("* :ref:`a <b>`: c\n* :ref:`d <e>`", "a: c d"),
        ("Text [1]_, [#a]_, [B]_.\n\n.. [1] *One*\n.. [#a] Two", "Text [1], [#a], [B]. [1] One [#a] Two"),
        ("`a link <http://x>`_, `phrase`_, name_, `anon`__ and [1]_.", "a link, phrase, name, anon and [1]."),
        ("CMAKE_<LANG>_X and x_y_ and __version__", "CMAKE_<LANG>_X and x_y and __version__"),
        ("=====\nTitle\n=====\n\nMore\n----\n\ntext\n", "Title More text"),
        ("Text::\n\n    a *b*\n\n    c\n\nand *d*\n\n::\n\n    *e*\n\nf", "Text: a *b* c and d *e* f"),
        (":Number: 5\n:a *b*: c\n\n- :d: e\n\n:ref:`f` :g: h", "Number: 5 a b: c d: e f :g: h"),
        (".. note:: A *b*.\n   c\n\n.. warning::\n\n   d", "A b. c d"),
        (".. code-block:: python\n   :linenos:\n\n   a = *b*\n\n*c*", "a = *b* c"),
        (".. comment\n   more\n\n.. _target:\n\n.. image:: x\n   :alt: y\n\n.. toctree::\n\n   a\n   b\n\nz", "z"),
        ("|logo| x |y|\n\n.. |logo| image:: z", "|logo| x |y|"),
        ("- a\n- *b*\n\n1. c\n#. d\n\n| e\n| f", "a b c d e f"),
        ("term\n  - item *a*\n  - b", "term item a b"),
        ("==== ====\na    b\n==== ====\n*c*  d\n==== ====", "a b c d"),
        ("+---+---+\n| a | b |\n+===+===+\n| c | d |\n+---+---+", "a | b | c | d |"),
        (".. function:: f(x)\n\n   Does *it*.", "f(x) Does it."),
        (".. versionadded:: 3.1\n\nA\n\n.. deprecated:: 3.2 Use *b*.\n", "3.1 A 3.2 Use b."),
        ("", ""),
    ],
)
def test_restructured_text_shows(source, text):
    assert shown(rst_markup, source) == text


SIGNS = st.text(alphabet="ab1 \n\r\t*_`~[]()<>!#|-=+:.\\&;\"'/^é…", max_size=60)


@examples(500)
@given(st.sampled_from(sorted(READ)), SIGNS, st.integers(0, 60), st.integers(0, 60))
def test_whatever_the_source_parts_are_in_order_and_within_it(suffix, source, first, length):
    markup = READ[suffix](source)
    edges = [edge for start, end, _, _ in markup.parts for edge in (start, end)]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(source) for edge in edges)
    characters, at = [], 0
    for start, end, _, sign in [*markup.parts, (len(source), len(source), "", "")]:
        characters += [(source[offset], offset, offset + 1) for offset in range(at, start)]
        characters += [(sign, start, end)] * bool(sign)
        at = end
    assert markup.text == markup.shown(0, len(source)) == "".join(sign for sign, _, _ in characters)
    assert markup.offsets.tolist() == [start for _, start, _ in characters]
    assert [(markup.offset(number), markup.end_of(start)) for number, (_, start, _) in enumerate(characters)] == [
        (start, end) for _, start, end in characters
    ]
    last = first + length
    assert markup.shown(first, last) == "".join(sign for sign, start, _ in characters if first <= start < last)
    assert all(markup.at(offset) == sum(start < offset for _, start, _ in characters) for offset in (first, last))


OPENED = (
    "[ ",
    "![a ",
    "[^a",
    "[a](b ",
    "*a ",
    "_a ",
    "`a ``b ",
    "<a ",
    "<!-- a ",
    "~~a ",
    "| a ",
    ":a:`b ",
    "|a ",
    "> ",
)


@each("opened", ["see *args of f ", "call _private now ", "x <!-- y ", "x <script y ", "~5 km ", "`a ``b ```c "])
def test_nor_is_what_may_be_opened_read_to_a_bound(opened):
    assert_linear(lambda size: partial(markdown_markup, opened * (size // len(opened))), 1_000, times=16, most=32)


@each(
    ("read", "first", "repeated", "last"),
    [
        *((read, "", opened, "") for read in READ.values() for opened in OPENED),
        (markdown_markup, "x ", "<!--‹!--", ""),
        (markdown_markup, "x ", "<svg>", ""),
        (markdown_markup, "", "- ", "x"),
        (markdown_markup, "***", " ", "x"),
        (markdown_markup, "# a", " ", "x"),
        (rst_markup, "", ":a", ""),
        (rst_markup, "", ":a.", ""),
        (rst_markup, "", "00:", ""),
        (rst_markup, "", "a.aa.", ""),
    ],
)
def test_markup_that_is_never_closed_or_may_begin_or_end_at_many_places_is_read_once(read, first, repeated, last):
    assert_linear(lambda size: partial(read, first + repeated * (size // len(repeated)) + last), 20_000)


@pytest.mark.parametrize(
    ("source", "size"),
    [
        (lambda size: "<!---->" * size, 8_000),
        (lambda size: "<svg></svg>" * size, 8_000),
        (lambda size: "[" * size + "]" * size, 10_000),
    ],
    ids=["hidden comments", "hidden elements", "brackets in brackets"],
)
def test_many_elements_on_one_line_are_read_once(source, size):
    assert_linear(lambda size: partial(markdown_markup, source(size)), size)
