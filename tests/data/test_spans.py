import dataclasses
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
    def test_a_span_needs_no_text(self):
        found = CharacterSpan(DocumentId("doc1"), 0, 5)
        assert (found.doc_id, found.start, found.end, found.text) == ("doc1", 0, 5, "")

    def test_a_span_can_carry_its_text(self):
        assert CharacterSpan(DocumentId("d"), 0, 5, "Hello").text == "Hello"

    @pytest.mark.parametrize("text", ["Hell", "Hello!"])
    def test_a_text_of_another_length_is_refused(self, text):
        with pytest.raises(SpanError, match=rf"covers 5 characters, but its text has {len(text)}.*not bytes"):
            span(0, 5, text=text)

    def test_offsets_are_half_open(self):
        assert "Hello, World!"[span(0, 5).start : span(0, 5).end] == "Hello"

    def test_offsets_count_code_points(self):
        assert span(0, 2, text="🚀é").length() == 2

    def test_an_empty_span_is_a_place(self):
        assert span(3, 3).length() == 0

    @pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 4), (-3, -1)])
    def test_impossible_positions_are_refused(self, start, end):
        with pytest.raises(SpanError, match=r"expected 0 <= start <= end"):
            span(start, end)

    def test_the_error_is_a_value_error(self):
        with pytest.raises(ValueError, match="doc1"):
            span(5, 4)

    def test_length_is_a_method(self):
        assert CharacterSpan(DocumentId("d"), 2, 7).length() == 5

    def test_the_text_takes_no_part_in_equality(self):
        assert span(0, 5, text="Hello") == span(0, 5)
        assert len({span(0, 5, text="Hello"), span(0, 5)}) == 1

    @pytest.mark.parametrize("field", ["doc_id", "start", "end", "text"])
    def test_a_span_cannot_be_changed(self, field):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(span(0, 5), field, 1)


class TestOverlap:
    def test_touching_spans_do_not_overlap(self):
        assert not span(0, 5).overlaps(span(5, 9))
        assert not span(5, 9).overlaps(span(0, 5))

    def test_one_shared_character_is_an_overlap(self):
        assert span(0, 5).overlaps(span(4, 9))

    def test_spans_of_different_documents_do_not_overlap(self):
        assert not span(0, 5, "a").overlaps(span(0, 5, "b"))
        assert span(0, 5, "a").overlap_chars(span(0, 5, "b")) == 0

    def test_an_empty_span_overlaps_nothing(self):
        assert not span(3, 3).overlaps(span(0, 5))
        assert not span(3, 3).overlaps(span(3, 3))

    @pytest.mark.parametrize(
        ("first", "second", "shared"),
        [((0, 10), (5, 15), 5), ((0, 10), (2, 4), 2), ((0, 10), (0, 10), 10), ((0, 3), (7, 9), 0), ((0, 3), (3, 9), 0)],
    )
    def test_shared_characters_are_counted(self, first, second, shared):
        assert span(*first).overlap_chars(span(*second)) == shared

    @given(spans(), spans())
    def test_overlap_is_that_of_character_sets(self, first, second):
        shared = len(characters([first]) & characters([second]))
        assert first.overlap_chars(second) == second.overlap_chars(first) == shared
        assert first.overlaps(second) == (shared > 0)


class TestMerging:
    def test_overlapping_spans_become_one(self):
        assert merge_overlapping_spans([span(0, 10), span(5, 15)]) == [span(0, 15)]

    def test_touching_spans_become_one(self):
        assert merge_overlapping_spans([span(0, 5), span(5, 9)]) == [span(0, 9)]

    def test_spans_with_a_gap_stay_apart(self):
        assert merge_overlapping_spans([span(0, 5), span(6, 9)]) == [span(0, 5), span(6, 9)]

    def test_nested_spans_vanish_in_the_outer_one(self):
        assert merge_overlapping_spans([span(0, 100), span(10, 20), span(50, 60)]) == [span(0, 100)]

    def test_spans_of_different_documents_never_merge(self):
        assert merge_overlapping_spans([span(0, 10, "b"), span(5, 15, "a")]) == [span(5, 15, "a"), span(0, 10, "b")]

    def test_a_merged_span_carries_no_text(self):
        merged = merge_overlapping_spans([span(0, 3, text="abc"), span(2, 5, text="cde")])
        assert [found.text for found in merged] == [""]

    def test_a_span_that_was_not_merged_keeps_its_text(self):
        merged = merge_overlapping_spans([span(0, 3, text="abc"), span(7, 9, text="hi")])
        assert [found.text for found in merged] == ["abc", "hi"]

    def test_the_input_is_not_changed(self):
        given_spans = [span(5, 15), span(0, 10)]
        merge_overlapping_spans(given_spans)
        assert given_spans == [span(5, 15), span(0, 10)]

    def test_nothing_merges_to_nothing(self):
        assert merge_overlapping_spans([]) == []

    def test_any_iterable_will_do(self):
        assert merge_overlapping_spans(iter([span(0, 5), span(3, 8)])) == [span(0, 8)]

    @given(many_spans)
    def test_merging_keeps_exactly_the_characters(self, collection):
        merged = merge_overlapping_spans(collection)
        assert characters(merged) == characters(collection)
        assert total_length(merged) == len(characters(collection))

    @given(many_spans)
    def test_merged_spans_are_sorted_and_do_not_touch(self, collection):
        merged = merge_overlapping_spans(collection)
        for before, after in itertools.pairwise(merged):
            assert (before.doc_id, before.end) < (after.doc_id, after.start)

    @given(many_spans, st.randoms())
    def test_the_order_of_the_spans_plays_no_part(self, collection, random):
        shuffled = random.sample(collection, len(collection))
        assert merge_overlapping_spans(shuffled) == merge_overlapping_spans(collection)

    @given(many_spans)
    def test_merging_twice_changes_nothing(self, collection):
        merged = merge_overlapping_spans(collection)
        assert merge_overlapping_spans(merged) == merged


class TestCalculateOverlap:
    def test_each_character_counts_once(self):
        assert calculate_overlap([span(0, 100), span(50, 150)], [span(60, 90)]) == 30

    def test_both_sides_are_merged(self):
        assert calculate_overlap([span(0, 15)], [span(0, 10), span(5, 15)]) == 15

    def test_documents_are_distinguished(self):
        assert calculate_overlap([span(0, 10, "a"), span(0, 10, "b")], [span(5, 20, "a"), span(0, 3, "c")]) == 5

    def test_nothing_overlaps_nothing(self):
        assert calculate_overlap([], []) == calculate_overlap([span(0, 5)], []) == 0

    @given(many_spans, many_spans)
    def test_the_overlap_is_that_of_character_sets(self, first, second):
        assert calculate_overlap(first, second) == len(characters(first) & characters(second))
