import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.text.text_locator import SearchedTexts, TextLocator
from support import plain_search

BLANKS = ["\r\n", "\t", "\u00a0", "\u2028", "\u3000", "\x1c", " \n \n "]


def locator(**texts):
    return TextLocator(Corpus(Document(DocumentId(name), text) for name, text in texts.items()))


def found(spans):
    return [(span.doc_id, span.start, span.end, span.text) for span in spans]


@pytest.mark.parametrize(
    ("texts", "text", "places"),
    [
        ({"a": "one two three"}, "two", [("a", 4, "two")]),
        ({"b": "two one two", "a": "two"}, "two", [("b", 0, "two"), ("b", 8, "two"), ("a", 0, "two")]),
        ({"a": "ababab"}, "abab", [("a", 0, "abab"), ("a", 2, "abab")]),
        ({"a": "x" * 50}, "x", [("a", start, "x") for start in range(20)]),
        ({"a": "one two \n\t "}, "", []),
        ({"a": "one two \n\t "}, "\n\t ", []),
        ({"a": "The server restarts."}, "the server restarts.", []),
        ({"a": "The server restarts."}, "The server restarted.", []),
        ({"a": "one", "b": "two"}, "one\0two", []),
        ({"a": "one", "b": "two"}, "onetwo", []),
        ({"a": "x\0y", "b": "z"}, "x\0y", [("a", 0, "x\0y")]),
        ({"a": "", "b": "two", "c": "", "d": "", "e": "two"}, "two", [("b", 0, "two"), ("e", 0, "two")]),
        ({"a": "one", "b": "two"}, "two", [("b", 0, "two")]),
        ({"a": "one"}, "one two", []),
        ({}, "one", []),
        ({"a": "🚀🚀 é two"}, "two", [("a", 5, "two")]),
        # Up to white space. T07: the end is that of the document's own text, not the start and what was asked for.
        ({"a": "a  b\n c d"}, "a b c", [("a", 0, "a  b\n c")]),
        *(({"a": f"> x{blank}y."}, "x y", [("a", 2, f"x{blank}y")]) for blank in BLANKS),
        *(({"a": "> x y."}, f"x{blank}y", [("a", 2, "x y")]) for blank in BLANKS),
        ({"a": "  one   two  "}, "\n one two \n", [("a", 2, "one   two")]),
        ({"a": "one  two", "b": "one two"}, "one two", [("b", 0, "one two")]),
        ({"a": "p  q. p \n q", "b": "p\tq"}, "p q", [("a", 0, "p  q"), ("a", 6, "p \n q"), ("b", 0, "p\tq")]),
        ({"a": "server-side"}, "server - side", []),
        ({"a": "one two"}, "onetwo", []),
        ({"a": " \n ", "b": "p  q"}, "p q", [("b", 0, "p  q")]),
    ],
)
def test_a_text_is_found_verbatim_or_up_to_white_space_and_nowhere_else(texts, text, places):
    assert found(locator(**texts).places(text)) == [
        (name, start, start + len(there), there) for name, start, there in places
    ]


def test_one_document_can_be_searched_and_the_search_stops_at_the_limit():
    both = locator(a="two", b="one two", c="p  q")
    assert found(both.places("two", doc_id="b")) == [("b", 4, 7, "two")]
    assert found(both.places("p q", doc_id="c")) == [("c", 0, 4, "p  q")]
    assert both.places("one", doc_id="a") == both.places("two", doc_id="x") == []
    assert [span.start for span in locator(a="x" * 50).places("x", limit=3)] == [0, 1, 2]


words = st.text("ab\u00e9\U0001f680", min_size=1, max_size=3)
blanks = st.text(" \n\t\u00a0", min_size=1, max_size=3)


@st.composite
def respaced(draw):
    """A document, a stretch of it, and the stretch with other white space."""
    parts = draw(st.lists(words, min_size=1, max_size=8))
    gaps = [draw(blanks) for _ in parts]
    first = draw(st.integers(0, len(parts) - 1))
    last = draw(st.integers(first, len(parts) - 1))
    content = "".join(gap + part for gap, part in zip(gaps, parts, strict=True))
    start = sum(len(gaps[i]) + len(parts[i]) for i in range(first)) + len(gaps[first])
    end = sum(len(gaps[i]) + len(parts[i]) for i in range(last + 1))
    return content, start, end, draw(blanks).join(parts[first : last + 1])


@given(respaced())
def test_a_stretch_is_found_whatever_its_white_space(case):
    content, start, end, asked = case
    places = locator(z="zz", doc=content).places(asked, limit=1000)
    for span in places:
        assert span.text == content[span.start : span.end]
        assert span.text.split() == asked.split() or asked in span.text
    if asked not in content:
        assert (start, end) in [(span.start, span.end) for span in places]


@given(st.text("ab \n", max_size=30), st.text("ab \n", max_size=5))
def test_exact_places_are_all_of_them(content, text):
    places = [span.start for span in locator(z="b a", doc=content).places(text, doc_id="doc", limit=1000)]
    verbatim = [start for start in range(len(content)) if text.strip() and content.startswith(text, start)]
    if verbatim:
        assert places == verbatim


@st.composite
def repetitive(draw):
    """A document of pieces that come again and again, white space among them."""
    pieces = draw(st.lists(st.text("ab \n\u3000\0\udc80", max_size=9), min_size=1, max_size=3))
    return "".join(draw(st.lists(st.sampled_from(pieces), max_size=60)))


@given(st.lists(repetitive(), min_size=1, max_size=4), st.data())
def test_places_are_those_of_looking_at_every_character(contents, data):
    corpus = Corpus(Document(DocumentId(str(number)), content) for number, content in enumerate(contents))
    some = data.draw(st.sampled_from(contents))
    start = data.draw(st.integers(0, len(some)))
    asked = some[start : start + data.draw(st.integers(1, 60))] + data.draw(st.sampled_from(["", "", "a", " "]))
    asked = asked.replace(" ", data.draw(st.sampled_from([" ", " ", "  ", "\n"])))
    doc_id, limit = data.draw(st.sampled_from([None, None, "0", "1"])), data.draw(st.sampled_from([1, 3, 1_000]))
    indexed = TextLocator(corpus)
    vars(indexed)["_exact"] = SearchedTexts(contents, page=data.draw(st.integers(1, 9)), patience=0)
    vars(indexed)["_spaced"] = SearchedTexts([plain_search.collapsed(text)[0] for text in contents], page=5, patience=0)
    expected = plain_search.places(corpus, asked, doc_id, limit)
    for found in (indexed.places(asked, doc_id, limit), TextLocator(corpus).places(asked, doc_id, limit)):
        assert [(span.doc_id, span.start, span.end) for span in found] == expected
        assert all(span.text == corpus[span.doc_id].content[span.start : span.end] for span in found)


@given(st.lists(repetitive(), min_size=1, max_size=3), st.data())
def test_copies_are_those_of_looking_at_every_character(contents, data):
    corpus = Corpus(Document(DocumentId(str(number)), content) for number, content in enumerate(contents))
    some = data.draw(st.sampled_from(contents))
    first, last = sorted(data.draw(st.lists(st.integers(0, len(some)), min_size=2, max_size=2)))
    text, expected = some[first:last], []
    core = " ".join(text.split())
    for number, content in enumerate(contents):
        view, offsets = plain_search.collapsed(content)
        for _, place in plain_search.occurrences([view], core) if core else ():
            expected.append((str(number), offsets[place], offsets[place + len(core) - 1] + 1))
    copies = TextLocator(corpus).copies(text, limit=10_000)
    assert [(span.doc_id, span.start, span.end) for span in copies] == expected
    assert all(span.text.split() == text.split() for span in copies)
    if core:
        start = first + len(text) - len(text.lstrip())
        assert (str(contents.index(some)), start) in [(span.doc_id, span.start) for span in copies]


def test_the_places_of_a_repeated_text_share_its_characters():
    footer = "All rights reserved, and so on and on. "
    places = locator(a=footer * 100, b=footer * 100).places(footer, limit=150)
    assert len({id(span.text) for span in places}) == 1
