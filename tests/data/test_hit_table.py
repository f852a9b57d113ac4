"""Hits in columns are the hits that were put in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import DocumentId
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.data import hits as module
from rag_evaluation_framework.data.hits import Coded, HitCollector, RankedHits

texts = st.none() | st.sampled_from(["a", "b", "", "ä\udc80", "a\0"])
offsets = st.none() | st.integers(0, 3)
hits = st.builds(
    Hit, texts.map(lambda text: text and DocumentId(text)), offsets, offsets, texts, texts, st.none() | st.floats(0, 1)
)
rankings = st.lists(st.lists(hits, max_size=5).map(tuple), max_size=5)


@given(rankings)
def test_what_is_read_is_what_was_put_in(given):
    found = RankedHits.of(given)
    assert [*found] == given == found[:]
    assert found == RankedHits.of(given)
    assert found.counts.tolist() == [*map(len, given)]
    assert found.compact() == found
    assert [found.flat[row] for row in range(len(found.flat))] == [hit for ranking in given for hit in ranking]
    assert found.query.tolist() == [row for row, ranking in enumerate(given) for _ in ranking]
    assert found.rank.tolist() == [rank for ranking in given for rank in range(len(ranking))]


@given(rankings, st.integers(0, 6), st.data())
def test_some_rankings_and_their_beginnings_are_taken_without_a_copy(given, k, data):
    found = RankedHits.of(given)
    rows = data.draw(st.lists(st.integers(0, len(given) - 1)) if given else st.just([]))
    taken = found.take(np.array(rows, dtype=np.int64))
    assert [*taken] == [given[row] for row in rows]
    assert [*taken.first(k)] == [given[row][:k] for row in rows]
    assert taken.first(k).table is found.table
    assert [*taken.first(k).compact()] == [given[row][:k] for row in rows]
    depths = np.array([row % 3 for row in rows], dtype=np.int64)
    assert [*taken.first(depths)] == [given[row][: row % 3] for row in rows]


@given(rankings)
def test_a_text_follows_from_a_place_and_is_kept_where_there_is_none(given):
    found = RankedHits.of(given).without_texts()
    told = [[hit.text for hit in ranking if not hit.placed] for ranking in given]
    assert [[hit.text for hit in ranking if not hit.placed] for ranking in found] == told
    assert not any(hit.text is not None for ranking in found for hit in ranking if hit.placed)
    assert sorted(found.table.text.texts) == sorted({text for told in told for text in told if text is not None})


@pytest.mark.parametrize("mix", [module._MIX, np.uint64(0)], ids=["mixed", "all mixed to one number"])
@given(given=rankings)
def test_distinct_hits_are_told_apart_whatever_they_are_mixed_to(mix, given):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MIX", mix)
        table = RankedHits.of(given).flat
        rows, numbers = table.distinct()

    def what(row):
        hit = table[row]
        return hit.doc_id, hit.start, hit.end, hit.chunk_id, hit.text

    assert len(rows) == len({what(row) for row in range(len(table))})
    assert [what(int(rows[number])) for number in numbers] == [what(row) for row in range(len(table))]


def test_rankings_are_collected_in_any_order_and_share_one_table():
    collector = HitCollector()
    one, other = (Hit(text="one"),), (Hit(text="other"), Hit(text="one"))
    numbers = [collector.add(one), collector.add(()), collector.add(other)]
    assert numbers == [1, 2, 3]
    first, second = collector.ranked([3, 0, 2, 1, 3]), collector.ranked([1])
    assert [*first] == [other, (), (), one, other]
    assert first.table is second.table
    assert first.table.text.texts == ("one", "other")


def test_columns_are_not_printed():
    found = RankedHits.of([(Hit(text="a"),), (), (Hit(text="a"), Hit(text="c"))])
    assert repr(found) == "RankedHits(rankings: 3, hits: 3)"
    assert repr(found.table) == "HitTable(hits: 3)"
    assert repr(found.table.text) == "Coded(rows: 3, texts: 2)"


def test_rankings_are_equal_if_their_hits_are():
    one = RankedHits.of([(Hit(text="a"),), ()])
    assert one != RankedHits.of([(Hit(text="a"),)])
    assert one != RankedHits.of([(Hit(text="b"),), ()])
    assert one != "a"


def test_rankings_in_the_order_in_which_they_were_collected_are_not_copied():
    whole = RankedHits.of([(Hit(text="a"),), (), (Hit(text="b"), Hit(text="c"))])
    assert whole.flat is whole.table
    assert whole.take(np.array([2, 0])).flat is not whole.table


def test_only_the_texts_of_the_rows_are_looked_at():
    column = Coded(np.arange(1_000, dtype=np.int32), [str(number) for number in range(1_000)])[np.array([5, 5, 7])]
    seen = []
    assert column.numbers(lambda text: seen.append(text) or len(text)).tolist() == [1, 1, 1]
    assert seen == ["5", "7"]
