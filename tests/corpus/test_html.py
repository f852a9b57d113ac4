"""HTML as it is read: the same words as Chromium shows, on lines of their own, each with its place in the file.

`shown/` has what Chromium showed of some pages, and what ordinary loaders returned; chromium.py made it.
"""

import random
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.labels.rendered import Writer

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.corpus.readers import Source
from rag_evaluation_framework.corpus.readers.html import HtmlReader
from rag_evaluation_framework.errors import CorpusError
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from support.each import each

HERE = Path(__file__).parent
PAGES = {path.stem: path for path in [*(HERE.parent / "labels/pages").rglob("*.html"), HERE / "edges.html"]}
SHOWN = sorted(path.name.removesuffix(".chromium.txt") for path in (HERE / "shown").glob("*.chromium.txt"))
SENTENCES = 100
LEAST_WORDS = 4
every_page = pytest.mark.parametrize("name", [name for name in SHOWN if name != "edges"])


def read(source):
    return HtmlReader().read(source.encode()).text


@each(
    ("source", "text"),
    [
        ("<title>T</title><h1>A</h1><p>One\n  <b>bo</b>ld<p>two<div>three", "T\n\nA\n\nOne bold\n\ntwo\n\nthree"),
        ("<title>a <b> &amp;lt; <!-- c</title>", "a <b> &lt; <!-- c"),
        ("<div>a</div><div> <div>b</div>\n</div>c", "a\nb\nc"),
        ("a<br>b<br><br>c <br> d", "a\nb\n\nc\nd"),
        ("<ul><li>a<ul><li>b</ul><li><p>c</p><p>d</ul>e", "a\nb\nc\nd\n\ne"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\nb\nc\nd"),
        ("<table><tr><th>a<th>b<tr><td>c<td>d</table>e", "a\tb\nc\td\n\ne"),
        ("<table><tr><td></td><td>b</td><td> </td><td>d<tr><td><br><td>f</table>", "b\t\td\n\tf"),
        ("<table><tr><td><p>a</p><p>b</p></td><td>\n<div>c</div>\n</td></table>", "a\nb\tc"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c<tr><td>d</table>", "a\tb\tc\nd"),
        ("<pre>\n\n  a\n\tb  c\n\n\nd\n</pre>e", "  a\n\tb  c\n\n\nd\n\ne"),
        ("x<pre>\n  a &lt; b\r\n  c</pre>", "x\n\n  a < b\n  c"),
        ("<pre><i>a</i>\n<i></i>\n<!-- b -->\r\n<i>c</i>\n</pre>", "a\n\n\nc"),
        ("<div>a</div><code style='white-space:pre'>\nb<br>\nc</code>", "a\n\nb\n\nc"),
        ("<i style='display:block'>a</i><b style='color: red; DISPLAY : flex'>b</b>c", "a\nb\nc"),
        ("a<i style='display:inline-block'>b</i><b style='display:blocked'>c</b>", "abc"),
        ("<p style='white-space:pre-wrap'>a  b\nc</p>", "a  b\nc"),
        ("a&nbsp;&amp;&#8220;b&#x201d;&notit;&eacute;&unknown; &copy 1", "a\xa0&“b”¬it;é&unknown; © 1"),
        ("1 < 2, a<b and 3 > 2 <3 <", "1 < 2, a 2 <3 <"),
        ("un<b>safe</b><wbr>ty x<span>y</span>z", "unsafety xyz"),
        ("<!DOCTYPE html><?xml version='1'?>x</p >y</ z><!w>", "x\n\ny"),
        ("<?xml version='1'?>\r\n<!DOCTYPE html><html><title>T</title><body>x", "T\n\nx"),
        ("a<!-- <b hidden> -->b<!--> c <!---> d --> e <!-- f", "ab c d --> e"),
        ("<xmp>a <b>c</b> &amp;</xmp>", "a <b>c</b> &amp;"),
        ("<svg><title>no</title><desc>no</desc><text>yes</text></svg>", "yes"),
        ("a<script>no</script><style>no</style><noscript>no</noscript><iframe>no</iframe>b", "ab"),
        ("<textarea>no</textarea><input value=no><img alt=no>a<video>no</video>", "a"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢kan"),
        ("<dialog>no</dialog><dialog open>a</dialog><details><summary>b</summary>c</details>", "a\nb\nc"),
        ("a</b></i></div></body></html>b", "ab"),
        ("\r\n\t \n", ""),
        ("", ""),
    ],
)
def test_a_page_is_read_into_the_lines_that_a_browser_shows(source, text):
    assert read(source) == text


@each(
    ("source", "text"),
    [
        ("at most 5<span hidden>0</span> users", "at most 5 users"),
        ('may <span style="display:none">not </span>do it', "may do it"),
        ("may <b style='color: red; DISPLAY : none !important'>not </b>do it", "may do it"),
        ('may <b style="visibility:hidden">not </b>do it', "may do it"),
        ("a <div hidden=''>b <br> <p>c</p> d</div> e", "a e"),
        ("<p>a<p hidden>b <i>x</i><p>c <b hidden>d</b> e", "a c e"),
        ("a <br hidden> b <img hidden src=x> c", "a b c"),
        ("<ul><li>a<li hidden>b<ul><li>c</ul><li>d</ul>e", "a d e"),
        ("<dl><dt hidden>a<dd>b</dl>c", "b c"),
        ("<select><option>a<option hidden>b<option>c</select> d", "a c d"),
        ("<table><tr hidden><td><table><tr><td>a</table>b<tr><td>c</table>d", "c d"),
        ("<table><tbody hidden><tr><td>a<tbody><tr><td>b</table>c", "b c"),
        ("a <span hidden>b", "a"),
        ('a <b class="hidden" title=" hidden ">b</b> <i data-hidden>c</i> is hidden > d', "a b c is hidden > d"),
        ('a <b style="display:nonexistent">b</b> <i title="display:none">c</i>', "a b c"),
    ],
)
def test_elements_that_an_attribute_hides_are_not_shown(source, text):
    assert " ".join(read(source).split()) == text


def test_a_page_of_edges_has_the_words_that_chromium_shows():
    expected = (HERE / "shown/edges.chromium.txt").read_text("utf-8").replace("𝑥", "x").split()
    text = HtmlReader().read(PAGES["edges"].read_bytes()).text
    title, _, shown = text.partition("\n\n")
    assert (title, shown.split()) == ("The title is in the tab", expected)


# Sentences as Chromium shows them.


def letters(text):
    return "".join(filter(str.isalnum, text))


@cache
def page(name):
    document = Document(DocumentId(f"{name}.html"), HtmlReader().read(PAGES[name].read_bytes()).text)
    return QuoteLocator(Corpus([document]))


@cache
def sentences(name):
    """A hundred sentences of a page, drawn by chance: all that stand there once, if they are fewer; no headings."""
    shown = (HERE / "shown" / f"{name}.chromium.txt").read_text("utf-8")
    parts = [part.strip() for line in re.split(r"[\n\t]+", shown) for part in re.split(r"(?<=[.!?]) +", line)]
    whole = [part for part in parts if part[-1:] in tuple(".!?:)") and len(part.split()) >= LEAST_WORDS]
    once = [part for part in whole if letters(shown).count(letters(part)) == 1]
    return sorted(random.Random(name).sample(once, min(SENTENCES, len(once))), key=once.index)


@every_page
def test_sentences_that_chromium_shows_are_found_in_its_order_and_none_elsewhere(name):
    places = [page(name).locate(sentence).places for sentence in sentences(name)]
    found = [
        (sentence, place[0][0]) for sentence, place in zip(sentences(name), places, strict=True) if len(place) == 1
    ]
    assert len(found) >= 0.97 * len(sentences(name)) > 10
    assert [span.text for sentence, span in found if letters(span.text) != letters(sentence)] == []
    moved_by_a_script = name.startswith("apache2")
    assert moved_by_a_script or [span.start for _, span in found] == sorted(span.start for _, span in found)


@every_page
@pytest.mark.parametrize("loader", ["beautifulsoup", "lxml"])
def test_sentences_that_loaders_return_are_found_and_none_elsewhere(name, loader):
    text = (HERE / "shown" / f"{name}.{loader}.txt").read_bytes().decode()
    places = [at for at, sign in enumerate(text) if sign.isalnum()]
    keys = letters(text)
    asked = {letters(sentence) for sentence in sentences(name) if keys.count(letters(sentence)) == 1}
    assert len(asked) >= 0.8 * len(sentences(name))  # the others are titles, too
    lost = []
    for key in asked:
        at = keys.index(key)
        found = page(name).places_of_result(text[places[at] : places[at + len(key) - 1] + 1])
        assert all(letters(span.text) == key for span in found)
        lost += [key] if len(found) != 1 else []
    assert len(lost) <= 0.03 * len(asked)


@every_page
def test_chunks_of_what_a_loader_returns_are_found_the_first_with_its_title_included(name):
    text = (HERE / "shown" / f"{name}.beautifulsoup.txt").read_bytes().decode()
    chunks = [text[at : at + 600] for at in range(0, len(text), 600)]
    assert [chunk for chunk in chunks if letters(chunk) and not page(name).places_of_result(chunk)] == []


# Places in the file, and pages of any kind.


def source_of(data):
    return Source("html", "1", "0" * 64, HtmlReader().read(data))


@given(st.integers())
def test_every_letter_of_a_random_page_is_read_at_its_place(seed):
    written = Writer(random.Random(seed), "html").write()
    source = source_of(written.source.encode())
    got = [(sign, source.offset(at)) for at, sign in enumerate(source.reading.text) if sign.isalnum()]
    assert got == [(sign, start) for sign, start, _ in written.shown if sign.isalnum()]


@each(
    ("page", "place"),
    [
        ("<p>Find it", (1, 4)),
        ("\ufeff<p>Find it", (1, 4)),
        ("<p>One\r\ntwo\r\n  Find it", (3, 3)),
        ("<p>One\n\n&amp; &lt;Find it", (3, 11)),
        ("<p>One&nbspFind it", (1, 12)),
        ("<p>&copy2024, &NotEqualTilde;&ltFind it", (1, 33)),
        ("<pre>\nFind it</pre>", (2, 1)),
        ("<pre>\r\n\r\na &amp; Find it</pre>", (3, 9)),
        ("x<!-- Find it -->\n</y>Find it", (2, 5)),
        ("<table>\n<b>Find it</b><tr><td>x</table>", (2, 4)),
        ("<script>Find = 1</script>\n<div\n>Find it", (3, 2)),
    ],
)
def test_the_place_in_the_file_of_what_is_read(page, place):
    source = source_of(page.encode())
    assert source.place(source.reading.text.index("Find it")) == place


PIECES = [*("a  ", "<", "<p>", "</p>", "<b>", "</i>", "<table>", "<tr>", "<td>", "<pre>\n", "<!--", "-->", "<!", "<?")]
PIECES += [*("</", "<a href='", "'>", "&amp;", "&#0;", "&#xfffffff;", "\0", "\r\n", "\r", "\n", "é", "𝑥", "\ufdd1")]
PIECES += [*("<script>", "</script>", "<title>", "<svg>", "<math>", "<template>", "<frameset>", "<plaintext>")]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_no_page_is_refused_and_every_place_is_in_the_file(pieces):
    page = "".join(pieces)
    source = source_of(page.encode())
    places = [source.offset(at) for at in range(len(source.reading.text) + 1)]
    assert all(0 <= place <= len(page) for place in places)
    assert source == source_of(page.encode())
    assert source.reading.text == source_of(page.encode()).reading.text


def declared(label, data):
    return b"<meta charset=" + label.encode() + b"><p>" + data


@each(
    ("data", "text"),
    [
        ("<p>café".encode(), "café"),
        (b"\xef\xbb\xbf<meta charset=latin1><p>caf\xc3\xa9", "café"),
        ("<p>café".encode("utf-16"), "café"),
        ("\ufeff<p>café".encode("utf-16-be"), "café"),
        (b"<meta charset=iso-8859-1><p>caf\xe9 \x80", "café €"),
        (b"<META content='text/html; charset=Shift_JIS' http-equiv=content-type>\x93\xfa", "日"),
        (b"<?xml version='1.0' encoding='koi8-r'?><p>\xc1", "а"),
        (b"<meta charset=utf-16><p>caf\xc3\xa9", "café"),
        (b"<meta charset=nonsense><p>caf\xc3\xa9", "café"),
        (b"<!--" + 1100 * b"-" + b"--><meta charset=latin1><p>caf\xc3\xa9", "café"),
        (b"<!-- <meta charset=cp437> --><meta charset=latin1><p>caf\xe9", "café"),
        (b"<!-- <meta charset=latin1> > -- --><p>caf\xc3\xa9", "café"),
        (b"<!-- <meta charset=latin1> <p>caf\xc3\xa9", ""),
        (b"<!--><meta charset=latin1><p>caf\xe9", "café"),
        (b"<!---><meta charset=latin1><p>caf\xe9", "café"),
        # What browsers take for a label.
        *[
            (declared(label, "朱镕基 €".encode("gb18030")), "朱镕基 €")
            for label in ("gb2312", "GBK", "gb_2312-80", "x-gbk")
        ],
        *[(declared(label, "① ～".encode("cp932")), "① ～") for label in ("shift_jis", "x-sjis", "Windows-31J")],
        *[(declared(label, "똠각".encode("cp949")), "똠각") for label in ("euc-kr", "ks_c_5601-1987", "windows-949")],
        *[(declared(label, "嘅咗".encode("big5-hkscs")), "嘅咗") for label in ("big5", "cn-big5")],
        *[(declared(label, "ไทย…".encode("cp874")), "ไทย…") for label in ("tis-620", "iso-8859-11", "windows-874")],
        *[
            (declared(label, b"\x93a\x94 \x81\x8d\x8f\x90\x9d"), "“a” \x81\x8d\x8f\x90\x9d")
            for label in ("latin1", "us-ascii")
        ],
    ],
)
def test_the_encoding_is_that_of_its_mark_or_what_browsers_take_for_what_the_page_declares_or_utf_8(data, text):
    assert HtmlReader().read(data).text == text


@each(
    ("data", "message"),
    [
        (b"<p>caf\xe9 x", "not valid utf-8 (byte 6: 0xe9)"),
        (b"<meta charset=shift_jis><p>\x81", "not valid cp932 (byte 27: 0x81)"),
        (b"<meta charset=rot13><p>x", "; expected one of texts, such as utf-8"),
    ],
)
def test_a_page_in_another_encoding_is_refused(data, message):
    with pytest.raises(CorpusError, match=re.escape(message)):
        HtmlReader().read(data)
