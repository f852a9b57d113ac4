import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.quotes import keyed_texts
from rag_evaluation_framework.quotes.passages import nearest_passage
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from support.each import each


def nearest(quote, /, **texts):
    """The document, the offsets and the source of the passage that is nearest to a quote."""
    corpus = Corpus(Document(DocumentId(name), text) for name, text in texts.items())
    passage = nearest_passage(quote, QuoteLocator.of(corpus).rendered)
    if passage is None:
        return None
    document = corpus.documents[passage.number]
    return document.id, passage.start, passage.end, document.content[passage.start : passage.end]


def test_the_nearest_passage_has_whole_words():
    texts = {"a": "Nothing of the kind.", "b": "Refunds take five working days in all."}
    assert nearest("efunds take six working day", **texts) == ("b", 0, 30, "Refunds take five working days")


@each(
    ("quote", "passage"),
    [
        ("512 MB of memory", "768 MB of memory"),
        ("512 MB of memory - 200 MB of disk space", "768 MB of memory\n- 200 MB of disk space"),
        ("MB of memory and 9", "MB of memory"),
        ("daily copies are kept for ninety days", "Weekly copies are kept for ninety days"),
        ("copies are kept for ninety hours", "copies are kept for ninety days"),
        ("copies are kept for ninety hours. Never", "copies are kept for ninety days."),
        ("8 of 9 of 10 copies are kept for ninety days", "copies are kept for ninety days"),
        ("one |\n\n40 seats", "two | 40 seats"),
        ("one 40 seats", "40 seats"),
        ("40 seats\n\n7", "40 seats | 9"),
    ],
)
def test_a_word_that_was_changed_at_the_ends_is_part_of_the_passage(quote, passage):
    text = (
        "# Needs\n\n- 768 MB of memory\n- 200 MB of disk space\n\nWeekly copies are kept for ninety days. "
        "The end.\n\n| Plan | Seats | Rooms |\n|-|-|-|\n| two | 40 seats | 9 |\n"
    )
    assert nearest(quote, **{"a.md": text, "b.md": "Something else."})[3] == passage


def test_offsets_count_characters():
    texts = {"a": "🚀🚀 Refunds take five working days.", "b": "Other words."}
    assert nearest("Refunds take ten working days", **texts)[1:] == (3, 33, "Refunds take five working days")


def test_a_quote_longer_than_the_document_is_compared_too():
    assert nearest("zero one two three", a="one two") == ("a", 0, 7, "one two")


@pytest.mark.parametrize("quote", ["", " \n", "…", "?!"])
def test_nothing_is_near_a_quote_without_words(quote):
    assert nearest(quote, a="one two") is None


def test_there_is_no_nearest_passage_if_nothing_is_similar():
    assert nearest("zzzz", a="aaaa") is None
    assert nearest("zzzz", a="") is None
    assert nearest("zzzz") is None


def test_the_same_passage_is_chosen_every_time():
    assert {nearest("one two four", **dict.fromkeys("cab", "one two three"))[0] for _ in range(3)} == {"c"}


def test_a_word_of_its_own_is_not_near_every_quote_that_has_it():
    assert nearest("Refunds take six days", a="Refunds", b="It says: Refunds take five days.")[0] == "b"


SYLLABLES = [f"{start}{vowel}" for start in ("b", "dr", "gl", "k", "m", "st") for vowel in "aeiou"]
WORDS = ["".join(syllables) for syllables in product(SYLLABLES, repeat=3)]


def prose(length, seed=0):
    draw = random.Random(seed)
    return " ".join(draw.choices(WORDS, k=length // 5))[:length]


@pytest.fixture
def compared(monkeypatch):
    """The lengths of what RapidFuzz compares; its time grows with their product."""
    lengths = []
    original = keyed_texts.fuzz.partial_ratio_alignment

    def counted(text, content, **options):
        lengths.append((len(text), len(content)))
        return original(text, content, **options)

    monkeypatch.setattr(keyed_texts.fuzz, "partial_ratio_alignment", counted)
    return lengths


@pytest.mark.parametrize("length", [4_000, 16_000])
def test_of_a_long_quote_three_parts_are_compared(compared, length):
    content = prose(100_000)
    end = content.index(" ", length)
    quote = f"{content[: length // 2]}, which nobody wrote, {content[length // 2 : end]}"
    assert nearest(quote, a=content)[1:3] == (0, end)
    assert sum(text * other for text, other in compared) <= 3 * 500 * 100_500


def test_a_long_corpus_is_compared_where_it_shares_the_most(compared):
    content = prose(3_000_000)
    quote = f"{content[2_000_000:2_000_150]}X{content[2_000_150:2_000_300]}"
    document, start, end, _ = nearest(quote, a=prose(1_000_000, seed=1), b=content)
    assert (document, start <= 2_000_010, end >= 2_000_290) == ("b", True, True)
    assert sum(other for _, other in compared) < 1_300_000


@pytest.mark.parametrize(("quote", "right"), [("kabe xobu", "kabe zobu"), ("退款需要玉个工", "退款需要五个工")])
def test_a_short_quote_that_shares_nothing_long_is_compared_with_everything(quote, right):
    document, _, _, text = nearest(quote, a="0123456789 " * 40_000, b=f"{'_' * 50_000} {right}")
    assert (document, right in text) == ("b", True)


def test_a_short_quote_with_a_typo_in_its_middle_is_found_among_much_else():
    texts = {"a": prose(600_000, seed=1), "b": f"{prose(100_000, seed=2)} Nächster Halt: Zürich {prose(9_000)}"}
    for quote in ("Halt: Xürich", "alt: Xüric", "lt: Xüri", "Halt: Züxich"[1:]):
        document, _, _, text = nearest(quote, **texts)
        assert (document, "Zürich" in text) == ("b", True)


@given(
    st.integers(0, 9_000),
    st.integers(40, 900),
    st.lists(st.tuples(st.integers(0, 900), st.sampled_from("xq ")), min_size=1, max_size=3),
)
def test_a_passage_with_a_few_changes_is_the_nearest(start, length, changes):
    content = prose(10_000)
    quote = content[start : start + length]
    for place, character in changes:
        quote = quote[: place % len(quote)] + character + quote[place % len(quote) + 1 :]
    document, first, end, _ = nearest(quote, other=prose(10_000, seed=1), this=content)
    assert document == "this"
    assert abs(first - start) < 30
    assert abs(end - start - len(quote)) < 30


INSTALLS = "The administrator installs the backup server, in the second week of the year, before the users have one."


@each(
    ("before", "behind"),
    [
        ("Nobody else needs it. ", " Users wait."),
        ("T\n\n", "\n\nB\n\nC"),
        ("# Window\n\n", "\n\n# B\n"),
        ("| a | T |\n\n", "\n\n- B\n"),
    ],
)
@each("added", ["• {}", "x {}", "{} x", "¶ {} §", "7. {} 8"])
def test_what_is_added_at_the_ends_of_a_quote_takes_in_no_word_of_another_sentence_or_block(before, behind, added):
    texts = {"a.md": f"# Guide\n\nMuch else.\n\n{before}{INSTALLS}{behind}", "b.md": "Something else."}
    assert nearest(added.format(INSTALLS), **texts)[3] == INSTALLS


def test_a_word_of_another_sentence_is_taken_in_if_the_quote_has_it_too():
    text = f"Nobody else needs it. {INSTALLS} Users wait."
    assert nearest(f"itt. {INSTALLS} Userss", a=text)[3] == f"it. {INSTALLS} Users"
