"""What is struck out, raised or lowered in each format."""

from itertools import pairwise

import pytest

from rag_evaluation_framework.text.markups import markup as text_markup
from rag_evaluation_framework.text.markups.formats import markup_of
from support.each import each

STYLED = "<span>a <span style='{}'>b <span>c</span> d</span> e</span> f"
NAMES = {1: "struck out", 2: "raised", 4: "lowered"}


def effects_of(source, part=None, name="a.md"):
    """The effects on a part of a source, in plain words: where each begins, and what is active from there on."""
    part = source if part is None else part
    start = source.index(part)
    of_letters = [0, *text_markup.effects_of(markup_of(name, source), start, start + len(part))]
    return [
        (place, *sorted(name for bit, name in NAMES.items() if now & bit))
        for place, (before, now) in enumerate(pairwise(of_letters))
        if now != before
    ]


@each(
    ("source", "expected"),
    [
        ("up to 106 rows", []),
        ("up to 10<sup>6</sup> rows", [(6, "raised"), (7,)]),
        ("up to 10<SUP class='x'>6</sup>", [(6, "raised")]),
        ("H<sub>2</sub>O", [(1, "lowered"), (2,)]),
        ("is ~~not~~ it", [(2, "struck out"), (5,)]),
        ("is ~~**not** 5~~ it", [(2, "struck out"), (6,)]),
        ("<s>is</s> <strike>a</strike> <del>b</del>", [(0, "struck out")]),
        ("<del>x<sup>2</sup></del> y", [(0, "struck out"), (1, "raised", "struck out"), (2,)]),
        ("<small>a</small> <span>b</span> <strong>c</strong> &amp; <section> ~~ `~~d~~`", []),
        ("<del></del> nothing of it", []),
        ("first ~~a\n\nsecond b~~", []),
        ("is ~not so~ it", [(2, "struck out"), (7,)]),
        (STYLED.format("text-decoration: line-through"), [(1, "struck out"), (4,)]),
        (STYLED.format("color:red;text-decoration-line:LINE-THROUGH"), [(1, "struck out"), (4,)]),
    ],
)
def test_effects_are_told_by_the_letters_at_which_they_begin_and_end(source, expected):
    assert effects_of(source) == expected


ALL = "~~All of it is gone.~~ This is not."
TWO = "<del><p>One</p> <p>Two</p></del><p>Three"
OPEN = "<del>One\n\nTwo <sup>raised <del>gone\n\nThree"
STRUCK = [(0, "struck out")]


@each(
    ("source", "part", "expected"),
    [
        # What begins before a part counts,
        (ALL, "it is", STRUCK),
        (ALL, "gone.~~ This", [(0, "struck out"), (4,)]),
        (ALL, "This", []),
        (TWO, "Two", STRUCK),
        (TWO, "Three", []),
        # and what is never closed ends with its own paragraph.
        (OPEN, "One", STRUCK),
        (OPEN, "Two", []),
        (OPEN, "raised", [(0, "raised")]),
        (OPEN, "gone", [(0, "raised", "struck out")]),
        (OPEN, "Three", []),
        ("a</del> <del>b c\n\nd", "a</del> <del>b c\n\nd", [(1, "struck out"), (3,)]),
        ("a <del>b c\n\nd", "d", []),
        ("<p>a <del>b</p><p>c", "c", STRUCK),
    ],
)
def test_what_begins_before_a_part_counts_to_its_end_or_that_of_its_paragraph(source, part, expected):
    assert effects_of(source, part) == expected


@pytest.mark.parametrize("far", ["", "word " * 3000])
@pytest.mark.parametrize("name", ["del", "s", "strike"])
def test_an_element_strikes_out_all_between_its_tags_however_far_they_are(name, far):
    source = f"Before.\n\n<{name}>\n\n{far}\n\nTwo <{name}>inner</{name}> words.\n\n</{name}>\n\nAfter."
    assert effects_of(source, "words") == [(0, "struck out")]
    assert (effects_of(source, "Before"), effects_of(source, "After")) == ([], [])


@each(
    ("name", "source", "expected"),
    [
        ("a.rst", "10\\ :sup:`6`\\ rows and :func:`f`", [(2, "raised"), (3,)]),
        ("a.rst", "H\\ :subscript:`2`\\ O", [(1, "lowered"), (2,)]),
        ("a.txt", "is ~~not~~ 10<sup>6</sup>", []),
    ],
)
def test_in_restructuredtext_roles_raise_and_lower_and_in_plain_text_nothing_does(name, source, expected):
    assert effects_of(source, name=name) == expected
