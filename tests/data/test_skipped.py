import pytest

from rag_evaluation_framework import TOKEN, Dataset, Query, TokenLevelGroundTruth
from rag_evaluation_framework.data import QueryId, QueryText, Skipped
from rag_evaluation_framework.data.dataset import count_skipped
from rag_evaluation_framework.errors import DatasetError, InputError

ASKED = TokenLevelGroundTruth(Query.from_text("A?"), [])


def dataset(*skipped):
    return Dataset([ASKED], TOKEN, skipped=skipped)


def label(text="B?", query_id="b", quote="a quote", reason="missing: nowhere"):
    return Skipped(Query(QueryId(query_id), QueryText(text)), quote, reason)


def test_a_dataset_keeps_what_was_skipped_in_order():
    skipped = [label(), label("C?", "c"), label(quote="another")]
    assert dataset(*skipped).skipped == tuple(skipped)
    assert Dataset([ASKED], TOKEN, skipped=iter(skipped)).skipped == tuple(skipped)
    assert dataset().skipped == ()
    assert dataset(*skipped).with_corpus(None).skipped == tuple(skipped)


def test_shards_have_every_skipped_question_once_with_all_its_labels():
    skipped = [label(), label("C?", "c"), label(quote="another"), label("D?", "d")]
    shards = [dataset(*skipped).shard(number, 2) for number in (1, 2)]
    assert [[(one.query.id, one.quote) for one in shard.skipped] for shard in shards] == [
        [("b", "a quote"), ("b", "another"), ("d", "a quote")],
        [("c", "a quote")],
    ]


def test_a_dataset_says_how_many_questions_it_skips_however_many_of_their_labels():
    shown = "Dataset('dataset', token-level, 1 questions, 1 without an answer, 2 skipped)"
    assert repr(dataset(label(), label("C?", "c"), label(quote="another"))) == shown
    assert count_skipped([]) == 0


def test_what_was_skipped_is_no_part_of_the_identity():
    assert dataset(label()).content_hash == dataset().content_hash
    assert dataset(label()) != dataset()


@pytest.mark.parametrize(
    ("skipped", "message"),
    [
        ([label(query_id=ASKED.query.id)], f"skipped: duplicate question id '{ASKED.query.id}'; ids must be unique"),
        ([label(), label("C?")], "skipped: duplicate question id 'b'; ids must be unique"),
        (["B?"], r"skipped: 'B\?'; expected a list, such as \[Skipped\(query, quote, reason\)\]"),
        (label(), "skipped=Skipped.*; expected a list"),
        ("B?", r"skipped='B\?'; expected a list"),
        ({"B?": "x"}, "skipped=.*; expected a list"),
        (5, "skipped=5; expected a list"),
        (None, "skipped=None; expected a list"),
    ],
)
def test_what_no_list_of_skipped_labels_can_be_is_refused(skipped, message):
    with pytest.raises(DatasetError, match=message):
        Dataset([ASKED], TOKEN, skipped=skipped)


def test_a_list_that_cannot_be_read_is_an_input_error():
    def broken():
        yield label()
        raise OSError("gone")

    with pytest.raises(InputError, match=r"skipped gives .*; reading it raises OSError: gone"):
        Dataset([ASKED], TOKEN, skipped=broken())
