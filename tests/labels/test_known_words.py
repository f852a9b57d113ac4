"""What stood in documents that are not kept whole."""

import random

import numpy as np
import pytest

from rag_evaluation_framework import Document, DocumentId
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labels.alignment import KnownWords, Words

PAGE = "# Refunds\n\nRefunds take five working days, in all countries.\nAsk for help.\n"


def words_of(*texts):
    return Words([Document(DocumentId(f"{n}.md"), text) for n, text in enumerate(texts)])


def known_of(*texts):
    return KnownWords.of([Document(DocumentId(f"{n}.md"), text) for n, text in enumerate(texts)])


def lines_of(known, words):
    """Whether all words of each line are known."""
    stood = known.stood(words)
    return [bool(stood[first:last].all()) for first, last in words.lines.tolist()]


def test_lines_and_runs_that_stood_in_a_document_are_known_wherever_they_stand_now_and_nothing_of_no_documents():
    words = words_of("New words are here today, friends.\nAsk for help!\n", f"Ask.\n{PAGE}")
    known = known_of("Another page of no interest at all.", PAGE)
    assert lines_of(known, words) == [False, True, False, True, True, True]
    first, last = words.bounds(DocumentId("1.md"))
    assert not known.stood(words)[first]  # "Ask."
    assert known.stood(words)[first + 1 : last].all()
    assert not known.stood(words)[last]  # the gap behind the document
    assert not known_of().stood(words_of(PAGE)).any()
    assert known_of("").hashes.tolist() == []
    assert known_of(PAGE).stood(words_of("")).tolist() == [False]


@pytest.mark.parametrize(
    "line", ["days five take Refunds", "Refunds take five", "Refunds take five days five", "Refunds"]
)
def test_words_in_another_order_or_fewer_or_more_are_not_known(line):
    found = known_of("Refunds take five days\n").stood(words_of(line)).tolist()
    assert found == ([True] * 4 + [False] * 2 if line == "Refunds take five days five" else [False] * len(found))


def test_of_many_lines_and_runs_hardly_one_is_taken_for_another():
    chosen = random.Random(1)
    texts = ["\n".join(" ".join(f"w{chosen.randrange(10**6)}" for _ in range(8)) for _ in range(2000)) for _ in "ab"]
    known, words = known_of(texts[0]), words_of(texts[1])
    assert len(known.hashes) > 2000 * 6
    assert known.stood(words).sum() <= 8


def test_a_file_has_them_the_same_bytes_each_time_and_no_word(tmp_path):
    known = known_of(PAGE, "Größe \U0001f600 退款需要五天")
    for name in ("a.npz", "b.npz"):
        known.save(tmp_path / "deep" / name)
    assert (tmp_path / "deep/a.npz").read_bytes() == (tmp_path / "deep/b.npz").read_bytes()
    again = KnownWords.load(tmp_path / "deep/a.npz")
    assert np.array_equal(again.hashes, known.hashes)
    assert KnownWords.load(tmp_path / "none.npz") is None


@pytest.mark.parametrize(
    "change", [lambda data: b"other", lambda data: data[:-30], lambda data: data[:60] + b"x" + data[61:]]
)
def test_a_file_that_was_changed_is_an_error(tmp_path, change):
    file = tmp_path / "a.npz"
    known_of(PAGE).save(file)
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(DatasetError, match=r"a\.npz: was changed .*restore it from version control, or delete it"):
        KnownWords.load(file)
