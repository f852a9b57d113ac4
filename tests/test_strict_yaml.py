import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.strict_yaml import parse_yaml

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="ascii", categories=["L", "N", "P"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_json_is_read_as_json(value):
    assert parse_yaml(json.dumps(value)) == value


def test_yaml_reads_what_people_write():
    assert parse_yaml('version: "1"\nqueries:\n- id: q1\n  tags: [a, b]\n  topK: 5\n') == {
        "version": "1",
        "queries": [{"id": "q1", "tags": ["a", "b"], "topK": 5}],
    }


def test_an_empty_text_is_nothing():
    assert parse_yaml("") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2", "in line"),
        ("a: 1\na: 2\n", "duplicate key"),
        ("{a: 1, a: 2}", "duplicate key"),
        ("a: 2026-01-02", r"\$\.a: .*quotation marks"),
        ("a: [.nan]", r"\$\.a\[0\]: nan"),
        ("a: -.inf", r"\$\.a: -inf"),
        ("1: one", r"\$: the key 1 is no text"),
        ("a: {true: x}", r"\$\.a: the key True is no text"),
        ("a: !!set {x, y}", r"\$\.a: "),
        ("a: !!binary aGk=", r"\$\.a: "),
        ("a: !python/object:os.system x", "tag"),
        ("--- 1\n--- 2\n", "document"),
        ("a: &x {b: 1}\nc: *x", r"\$\.c: is an alias"),
        ("&x [*x]", r"\$\[0\]: is an alias"),
        ("[" * 5_000, "nested too deeply"),
        ("\x00", "special characters are not allowed"),
    ],
)
def test_what_json_cannot_hold_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_yaml(text)


def test_aliases_cannot_fill_the_memory():
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
    with pytest.raises(ValueError, match="is an alias"):
        parse_yaml("\n".join(lines))


def test_equal_values_that_are_no_aliases_are_fine():
    assert parse_yaml("a: []\nb: []\nc: x\nd: x") == {"a": [], "b": [], "c": "x", "d": "x"}


def test_numbers_are_finite():
    assert parse_yaml("a: 1.5") == {"a": 1.5}
    assert math.isfinite(parse_yaml("1e300"))
