"""What is struck out, raised or lowered in each format."""

from itertools import pairwise

import pytest

from rag_evaluation_framework.text.markups import markup as text_markup
from rag_evaluation_framework.text.markups.formats import markup_of
from support.each import each

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
    ],
)
def test_effects_are_told_by_the_letters_at_which_they_begin_and_end(source, expected):
    assert effects_of(source) == expected


def test_what_begins_before_a_part_counts():
    assert effects_of("~~All of it is gone.~~ This is not.", "it is") == [(0, "struck out")]
    assert effects_of("~~All of it is gone.~~ This is not.", "gone.~~ This") == [(0, "struck out"), (4,)]
    assert effects_of("~~All of it is gone.~~ This is not.", "This") == []
    assert effects_of("<del><p>One</p> <p>Two</p></del><p>Three", "Two", "a.md") == [(0, "struck out")]
    assert effects_of("<del><p>One</p> <p>Two</p></del><p>Three", "Three", "a.md") == []


def test_what_is_never_closed_ends_with_its_own_paragraph():
    source = "<del>One\n\nTwo <sup>raised <del>gone\n\nThree"
    assert [effects_of(source, word) for word in ("One", "Two", "raised", "Three")] == [
        [(0, "struck out")],
        [],
        [(0, "raised")],
        [],
    ]
    assert effects_of(source, "gone") == [(0, "raised", "struck out")]


@pytest.mark.parametrize("far", ["", "word " * 3000])
@pytest.mark.parametrize("name", ["del", "s", "strike"])
def test_an_element_strikes_out_all_between_its_tags_however_far_they_are(name, far):
    source = f"Before.\n\n<{name}>\n\n{far}\n\nTwo <{name}>inner</{name}> words.\n\n</{name}>\n\nAfter."
    assert effects_of(source, "words") == [(0, "struck out")]
    assert (effects_of(source, "Before"), effects_of(source, "After")) == ([], [])


def test_a_tag_that_is_not_closed_counts_to_the_end_of_its_paragraph_and_one_that_is_not_open_for_nothing():
    assert effects_of("a</del> <del>b c\n\nd") == [(1, "struck out"), (3,)]
    assert effects_of("a <del>b c\n\nd", "d") == []
    assert effects_of("<p>a <del>b</p><p>c", "c", "a.md") == [(0, "struck out")]


@pytest.mark.parametrize("style", ["text-decoration: line-through", "color:red;text-decoration-line:LINE-THROUGH"])
def test_a_style_strikes_out(style):
    source = f"<span>a <span style='{style}'>b <span>c</span> d</span> e</span> f"
    assert [(place, *names) for place, *names in effects_of(source)] == [(1, "struck out"), (4,)]


def test_one_tilde_strikes_out_too():
    assert effects_of("is ~not so~ it") == [(2, "struck out"), (7,)]


def test_in_restructuredtext_roles_raise_and_lower():
    assert effects_of("10\\ :sup:`6`\\ rows and :func:`f`", name="a.rst") == [(2, "raised"), (3,)]
    assert effects_of("H\\ :subscript:`2`\\ O", name="a.rst") == [(1, "lowered"), (2,)]


def test_text_without_a_format_has_none():
    assert effects_of("is ~~not~~ 10<sup>6</sup>", name="a.txt") == []
