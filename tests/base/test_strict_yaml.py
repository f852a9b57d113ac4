import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.base.strict_yaml import parse_yaml
from support.each import each
from support.linear import assert_linear

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="ascii", categories=["L", "N", "P"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_json_is_read_as_json(value):
    assert parse_yaml(json.dumps(value)) == value


WRITTEN = 'version: "1"\nqueries:\n- id: q1\n  tags: [a, b]\n  topK: 5\n'
SIGNS = """---
a: "<<"
"<<": '*x'
b: |
  <<: *x
  %YAML 1.1
c: 5 * x & y !z
...
"""


@each(
    ("text", "value"),
    [
        (WRITTEN, {"version": "1", "queries": [{"id": "q1", "tags": ["a", "b"], "topK": 5}]}),
        ("", None),
        (SIGNS, {"a": "<<", "<<": "*x", "b": "<<: *x\n%YAML 1.1\n", "c": "5 * x & y !z"}),
        ("a: []\nb: []\nc: x\nd: x", {"a": [], "b": [], "c": "x", "d": "x"}),  # equal, and no aliases
        ("a: 1.5", {"a": 1.5}),
        ("1e300", 1e300),
        ("[" * 100 + "]" * 100, json.loads("[" * 100 + "]" * 100)),
    ],
)
def test_yaml_reads_what_people_write(text, value):
    assert parse_yaml(text) == value


@each(
    ("text", "message"),
    [
        ("a: [1, 2\n\n", "; what begins in line 1 is not closed$"),
        ("a: 1\nb: 'never\nclosed\n", "^found unexpected end of stream; what begins in line 2 is not closed$"),
        ("corpus: docs\ndataset questions.csv\n", "^could not find expected ':' in line 2$"),
        ("a: 1\nb\n\n# why\nc: 2\n", "^could not find expected ':' in line 2$"),
        ("a: 1\n  b: 2\n", "^mapping values are not allowed here in line 2$"),
        ("a: 1\na: 2\n", "duplicate key"),
        ("{a: 1, a: 2}", "duplicate key"),
        ("a: 2026-01-02", r"\$\.a: .*quotes"),
        ("a: [.nan]", r"\$\.a\[0\]: nan"),
        ("a: -.inf", r"\$\.a: -inf"),
        ("1: one", r"\$: the key 1 is not a string"),
        ("a: {true: x}", r"\$\.a: the key True is not a string"),
        ("? [{a: b}]\n: c", "a key is not a string"),
        ("? {a: b}\n: c", "unhashable key"),
        ("--- 1\n--- 2\n", "document"),
        ("[" * 5_000, "^nested too deeply in line 1; expected at most 100 levels$"),
        ("\n".join(" " * depth + "a:" for depth in range(102)), "^nested too deeply in line 101; "),
        (f"a: {'1' * 5_000}", "^a value cannot be read .*4300 digits"),
        (f"a: [0x{'f' * 5_000}]", r"^\$\.a\[0\]: is a whole number of more than 4,300 digits$"),
        (f"? 0x{'f' * 5_000}\n: a", r"^\$: the key <int whose repr raises ValueError> is not a string"),
        (r'a: "\UFFFFFFFF"', "^a value cannot be read"),
        ("a: 2026-02-30", "^a value cannot be read .*day"),
        ("a:\n\tb: 1", r"in line 2; YAML indents with spaces, not tabs$"),
        ("\x00", "special characters are not allowed"),
        # Features that change what a text says.
        ("a: &x {b: 1}\nc: *x", "^&x is an anchor in line 1; remove it"),
        ("b: 1\na: &x one\nc: *x", "^&x is an anchor in line 2; "),
        ("&x [*x]", "^&x is an anchor in line 1; "),
        ("a: 1\nb: &x", "^&x is an anchor in line 2; "),
        ("a: 1\nc: *x", r"^\*x is an alias in line 2; write out its value"),
        ("a: 1\n<<: {b: 2}", "^<< would merge mappings in line 2; "),
        ("a:\n- <<: [{b: 2}, {c: 3}]", "^<< would merge mappings in line 2; "),
        ("a: <<", "^<< would merge mappings in line 1; "),
        ("a: 1\nb: !!omap [x: 1, x: 2]", "^.*omap is a tag in line 2; write the value without it"),
        ("a: !!set {x, y}", "^.*set is a tag in line 1; "),
        ("a: !!binary aGk=", "^.*binary is a tag in line 1; "),
        ('a: !!int "3"', "^.*int is a tag in line 1; "),
        ("a: !!str 3", "^.*str is a tag in line 1; "),
        ("a: ! 3", "^! is a tag in line 1; "),
        ("a: !!seq [1]", "^.*seq is a tag in line 1; "),
        ("!!map {a: 1}", "^.*map is a tag in line 1; "),
        ("a: !python/object:os.system x", "^!python/object:os.system is a tag in line 1; "),
        ("%YAML 1.1\n---\na: yes", "^%YAML is a directive in line 1; remove it"),
        ("# first\n%YAML 1.2\n---\na: 010", "^%YAML is a directive in line 2; "),
        ("%TAG !e! tag:example.com,2000:\n---\na: !e!x 1", "^%TAG is a directive in line 1; "),
        ("%OTHER x\n---\na: 1", "^%OTHER is a directive in line 1; "),
        ("a: 1\n...\n%YAML 1.1\n---\nb: yes", "^%YAML is a directive in line 3; "),
    ],
)
def test_values_that_json_cannot_represent_and_what_changes_what_a_text_says_are_refused_with_their_line(text, message):
    with pytest.raises(ValueError, match=message):
        parse_yaml(text)


def linked(link, count):
    lines = [link.format(n=n, alias=", ".join([f"*a{n - 1}"] * 9) if n else "{x: 1}") for n in range(count)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("written", "message", "most"),
    [
        (partial(linked, "a{n}: &a{n} [{alias}]"), "is an anchor", 2),
        (partial(linked, "a{n}: &a{n}\n  <<: [{alias}]\n  k{n}: {n}"), "is an anchor", 2),
        ("[".__mul__, "nested too deeply", 2_500),
    ],
    ids=["aliases", "merges", "open brackets"],
)
def test_what_is_refused_costs_no_more_than_its_text(written, message, most):
    assert_linear(lambda count: partial(refused, written(count), message), most)


def refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_yaml(text)


# fmt: off
PIECES = [
    " ", "a", "1", "010", "1e400", "1_", "0x", ".inf", "~", "null", "2026-02-30", "12:30:45", ":", "-", "?", "=", "#",
    "\n", "\n  ", "[", "]", "{", "}", ",", "*a", "&a", "!", "!!int", "!!omap", "%YAML 1.1\n", "---", "...", "'", '"',
    "|", ">", "<<", "\x00", "\ufeff", "😀", r'"\UFFFFFFFF"', r'"\ud800"', "1" * 5_000,
]
# fmt: on


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_whatever_is_written_is_read_as_json_or_refused_as_a_value_error(text):
    try:
        value = parse_yaml(text)
    except ValueError:
        return
    assert json.loads(json.dumps(value, allow_nan=False)) == value
