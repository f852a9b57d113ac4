import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import CharacterSpan, DocumentId
from rag_evaluation_framework.data import calculate_overlap, merge_overlapping_spans
from rag_evaluation_framework.data.spans import total_length
from rag_evaluation_framework.errors import SpanError


def span(start, end, doc_id="doc1", text=""):
    return CharacterSpan(DocumentId(doc_id), start, end, text)


@st.composite
def spans(draw):
    start = draw(st.integers(0, 40))
    return span(start, start + draw(st.integers(0, 15)), draw(st.sampled_from(["a", "b"])))


many_spans = st.lists(spans(), max_size=10)


def characters(*collections):
    """The same by brute force: which characters of which document."""
    return {
        (s.doc_id, position) for collection in collections for s in collection for position in range(s.start, s.end)
    }


class TestCharacterSpan:
    @pytest.mark.parametrize(
        ("start", "end", "text", "length"),
        [(2, 7, "", 5), (3, 3, "", 0), (0, 2, "🚀é", 2), (0, 5, "Hello", 5)],
        ids=["a method", "empty", "code points", "with its text"],
    )
    def test_it_is_a_place_whose_length_counts_code_points(self, start, end, text, length):
        found = CharacterSpan(DocumentId("doc1"), start, end, *([text] if text else []))
        assert (found.doc_id, found.start, found.end, found.text) == ("doc1", start, end, text)
        assert found.length() == length

    @pytest.mark.parametrize(
        ("start", "end", "text", "message"),
        [
            (0, 5, "Hell", "covers 5 characters, but its text has 4.*not bytes"),
            (0, 5, "Hello!", "covers 5 characters, but its text has 6.*not bytes"),
            (-1, 5, "", "doc1.*expected 0 <= start <= end"),
            (5, 4, "", "doc1.*expected 0 <= start <= end"),
            (-3, -1, "", "doc1.*expected 0 <= start <= end"),
        ],
    )
    def test_impossible_positions_and_texts_of_another_length_are_refused(self, start, end, text, message):
        with pytest.raises(SpanError, match=message) as caught:
            span(start, end, text=text)
        assert isinstance(caught.value, ValueError)

    def test_the_text_takes_no_part_in_equality(self):
        assert span(0, 5, text="Hello") == span(0, 5)
        assert len({span(0, 5, text="Hello"), span(0, 5)}) == 1


class TestOverlap:
    @pytest.mark.parametrize(
        ("first", "second", "shared"),
        [
            ((0, 5), (5, 9), 0),
            ((0, 5), (4, 9), 1),
            ((0, 5, "a"), (0, 5, "b"), 0),
            ((3, 3), (0, 5), 0),
            ((3, 3), (3, 3), 0),
            ((0, 10), (5, 15), 5),
            ((0, 10), (2, 4), 2),
            ((0, 10), (0, 10), 10),
            ((0, 3), (7, 9), 0),
        ],
    )
    def test_shared_characters_are_counted(self, first, second, shared):
        one, other = span(*first), span(*second)
        assert one.overlap_chars(other) == other.overlap_chars(one) == shared
        assert one.overlaps(other) == other.overlaps(one) == (shared > 0)

    @given(spans(), spans())
    def test_overlap_is_that_of_character_sets(self, first, second):
        shared = len(characters([first]) & characters([second]))
        assert first.overlap_chars(second) == second.overlap_chars(first) == shared
        assert first.overlaps(second) == (shared > 0)


class TestMerging:
    @pytest.mark.parametrize(
        ("given_spans", "merged"),
        [
            ([span(0, 10), span(5, 15)], [span(0, 15)]),
            ([span(0, 5), span(5, 9)], [span(0, 9)]),
            ([span(0, 5), span(6, 9)], [span(0, 5), span(6, 9)]),
            ([span(0, 100), span(10, 20), span(50, 60)], [span(0, 100)]),
            ([span(0, 10, "b"), span(5, 15, "a")], [span(5, 15, "a"), span(0, 10, "b")]),
            ([span(0, 3, text="abc"), span(2, 5, text="cde")], [span(0, 5)]),
            ([span(0, 3, text="abc"), span(7, 9, text="hi")], [span(0, 3, text="abc"), span(7, 9, text="hi")]),
            ([], []),
        ],
        ids=["overlap", "touch", "gap", "nested", "documents", "text", "kept text", "nothing"],
    )
    def test_what_overlaps_or_touches_becomes_one(self, given_spans, merged):
        before = [*given_spans]
        found = merge_overlapping_spans(iter(given_spans))
        assert found == merged
        assert [each.text for each in found] == [each.text for each in merged]
        merge_overlapping_spans(given_spans)
        assert given_spans == before

    @given(many_spans, st.randoms())
    def test_merging_keeps_exactly_the_characters_in_disjoint_sorted_spans(self, collection, random):
        merged = merge_overlapping_spans(collection)
        assert characters(merged) == characters(collection)
        assert total_length(merged) == len(characters(collection))
        for before, after in itertools.pairwise(merged):
            assert (before.doc_id, before.end) < (after.doc_id, after.start)
        assert merge_overlapping_spans(random.sample(collection, len(collection))) == merged
        assert merge_overlapping_spans(merged) == merged


class TestCalculateOverlap:
    @pytest.mark.parametrize(
        ("first", "second", "shared"),
        [
            ([span(0, 100), span(50, 150)], [span(60, 90)], 30),
            ([span(0, 15)], [span(0, 10), span(5, 15)], 15),
            ([span(0, 10, "a"), span(0, 10, "b")], [span(5, 20, "a"), span(0, 3, "c")], 5),
            ([], [], 0),
            ([span(0, 5)], [], 0),
        ],
    )
    def test_each_character_counts_once(self, first, second, shared):
        assert calculate_overlap(first, second) == shared

    @given(many_spans, many_spans)
    def test_the_overlap_is_that_of_character_sets(self, first, second):
        assert calculate_overlap(first, second) == len(characters(first) & characters(second))
