import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework._support.strict_json import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_json_is_read_as_what_it_says(value, ascii_only, indent):
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only, indent=indent)) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "duplicate key 'c'"),
        ("[NaN]", "NaN is not a valid JSON number"),
        ("-Infinity", "-Infinity is not a valid JSON number"),
        ("[1,]", "line 1 column"),
        ("{} {}", "Extra data: line 1 column 4"),
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1e400}', r"^1e400 is too large for a floating-point number: line 1 column 7 "),
        ('{"1e400": "1e400 \\" 1e400",\n "b": [1, -1E+400]}', r"^-1E\+400 is too large .*: line 2 column 11 "),
        ("[-1e400, 1e400]", "^-1e400 is too large .*: line 1 column 2 "),
        (f"[{'1' * 400}.5]", "^1{60} is too large .*: line 1 column 2 "),
        ("1e400 and more", "^1e400 is too large .*: line 1 column 1 "),
    ],
)
def test_json_traps_are_refused_with_their_position(text, message):
    with pytest.raises(ValueError, match=message):
        parse_json(text)


@pytest.mark.parametrize("text", ["1.7976931348623157e308", "-1.7976931348623157e308", "1e-400", "0e999", "1" * 400])
def test_the_largest_and_smallest_numbers_and_long_whole_ones_are_read(text):
    assert parse_json(text) == json.loads(text)
