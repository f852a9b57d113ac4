"""Places that were found already."""

from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.quotes.quote_locator import Places

PLACES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=8)


@given(PLACES, st.integers(0, 30), st.integers(1, 20))
def test_a_place_is_known_if_it_is_within_another_or_around_it(steps, start, length):
    places, known, first, last = Places(), [], 0, 0
    for further, longer in steps:
        first, last = first + further, max(last + longer, first + further + 1)
        places.add(first, last)
        known.append((first, last))
    end = start + length
    expected = any((a <= start and end <= b) or (start <= a and b <= end) for a, b in known)
    assert places.have(start, end) == expected
