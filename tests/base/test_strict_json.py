import json
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.base.files import parse_json
from support.each import each
from support.linear import assert_linear

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.no_cover
@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_json_is_read_as_what_it_says(value, ascii_only, indent):
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only, indent=indent)) == value


@each(
    ("text", "message"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "duplicate key 'c'"),
        (f'{{"{"x" * 100_000}": 1, "{"x" * 100_000}": 2}}', r"^duplicate key 'x+…$"),
        ("[NaN]", "NaN is not a valid JSON number"),
        ("-Infinity", "-Infinity is not a valid JSON number"),
        ("[1,]", "line 1 column"),
        ("{} {}", "Extra data: line 1 column 4"),
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1e400}', r"^1e400 is too large for a floating-point number$"),
        ('{"1e400": "1e400 \\" 1e400",\n "b": [1, -1E+400]}', r"^-1E\+400 is too large for a floating-point number$"),
        ("[-1e400, 1e400]", "^-1e400 is too large for a floating-point number$"),
        (f"[{'1' * 400}.5]", "^1{60} is too large for a floating-point number$"),
        ("1" * 5000, "^a whole number has more than 4,300 digits$"),
        ("[1e999e5]", "^1e999 is too large for a floating-point number$"),
        ('{"1e999.5": 1e999.5', "^1e999 is too large for a floating-point number$"),
        ("[-1e999-1e999", "^-1e999 is too large for a floating-point number$"),
        ('["\\"1e999", 31e999e5"x"]', r"^31e999 is too large for a floating-point number$"),
        ("[0, 11e999", "^11e999 is too large for a floating-point number$"),
        ("1e400 and more", "^1e400 is too large for a floating-point number$"),
    ],
)
def test_json_traps_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_json(text)


@given(st.lists(st.sampled_from(["1e999", "-1e400", ".5", "e5", '"', '\\"', "[", "]", "{", ":", ",", " ", "0", "x"])))
def test_whatever_else_is_wrong_a_number_that_is_too_large_is_an_error_of_json(parts):
    with suppress(ValueError):
        parse_json("".join(["[", *parts]))


def test_one_duplicate_among_many_keys_takes_no_longer_than_reading_them():
    def refused(size):
        keys = ",".join(f'"k{number}": 1' for number in range(size))
        with pytest.raises(ValueError, match=f"duplicate key 'k{size - 1}'"):
            parse_json(f'{{{keys}, "k{size - 1}": 2}}')

    assert_linear(lambda size: partial(refused, size), 10_000)


@pytest.mark.parametrize("text", ["1.7976931348623157e308", "-1.7976931348623157e308", "1e-400", "0e999", "1" * 400])
def test_the_largest_and_smallest_numbers_and_long_whole_ones_are_read(text):
    assert parse_json(text) == json.loads(text)
