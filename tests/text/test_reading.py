"""What the reader of a result reads, and what it costs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.data import Cutoff, Hit
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.labels.hit_locator import HitLocator
from rag_evaluation_framework.text.reading import ContextBudget, HitReader, RankingCutter
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

CORPUS = Corpus([Document(DocumentId("a.md"), "One two three. Four five."), Document(DocumentId("b.md"), "")])
READER = HitReader(CORPUS)


def cut(budget, *ranking):
    """What a budget leaves of one ranking."""
    return budget.buy(RankedHits.of([ranking])).hits[0]


def hit(start=None, end=None, text=None, doc_id="a.md", **known):
    return Hit(None if doc_id is None else DocumentId(doc_id), start, end, text=text, **known)


@pytest.mark.parametrize(
    ("found", "read", "original", "known"),
    [
        (hit(0, 3), "One", "One", True),
        (hit(0, 3, "FAQ: One"), "FAQ: One", "One", True),
        (hit(0, 7, "One"), "One two", "One two", True),
        (hit(text="elsewhere"), "elsewhere", "elsewhere", True),
        (hit(text=""), "", "", True),
        (hit(), "", "", False),
        (hit(doc_id="x.md"), "", "", False),
        (hit(doc_id="x.md", text="kept"), "kept", "kept", True),
        (hit(doc_id=None, chunk_id="c1"), "", "", False),
        (hit(doc_id=None, text="kept"), "kept", "kept", True),
    ],
    ids=[
        "place",
        "a longer text than its place",
        "a shorter text than its place",
        "text",
        "empty text",
        "document",
        "unknown document",
        "unknown document with text",
        "chunk id",
        "text alone",
    ],
)
def test_the_reader_reads_the_text_or_its_place(found, read, original, known):
    assert READER.text(found) == read
    assert READER.original(found) == original
    assert READER.has_text(found) is known
    assert ContextBudget(Cutoff(100, "ch"), None, READER).cost(found) == len(read)


@pytest.mark.parametrize(
    ("found", "contradicts"),
    [
        (hit(0, 7, "One two"), False),
        (hit(0, 7, "One\n  two"), False),
        (hit(0, 7, "One too"), True),
        (hit(0, 7), False),
        (hit(text="elsewhere"), False),
    ],
    ids=["the same", "other white space", "other words", "no text", "no place"],
)
def test_a_text_contradicts_its_place_if_it_differs_in_more_than_white_space(found, contradicts):
    assert READER.contradicts(found) is contradicts


def test_a_hit_with_only_a_document_is_the_whole_document():
    given = [hit(), hit(doc_id="b.md"), hit(doc_id="x.md"), hit(chunk_id="c"), hit(text="own"), hit(0, 3), hit(2)]
    whole = [hit(0, 25), hit(0, 0, doc_id="b.md"), *given[2:]]
    assert [*READER.with_documents(RankedHits.of([given]).table)] == whole
    assert HitLocator(CORPUS).place(tuple(given[:4])) == tuple(whole[:4])


def test_what_is_cut_at_a_budget_keeps_what_was_paid_for():
    characters = ContextBudget(Cutoff(5, "ch"), None, READER)
    assert cut(characters, hit(0, 14)) == (hit(0, 5),)
    assert cut(characters, hit(doc_id=None, text="elsewhere")) == (hit(doc_id=None, text="elsew"),)
    assert cut(characters, hit(0, 3, "One, with more")) == (hit(0, 3),)  # no further than its place
    assert cut(characters, hit(0, 3, "A: One, with more")) == (hit(0, 2),)  # what is in front of the place comes first
    assert cut(characters, hit(0, 3, "Title: One")) == ()
    assert cut(characters, hit(0, 3, "ONE (in other words)")) == ()
    tokens = ContextBudget(Cutoff(2, "tok"), resolve_tokenizer(str.split), READER)
    assert cut(tokens, hit(0, 14))[0].span == hit(0, 8).span  # the blank goes with the word before
    assert tokens.cost(hit(0, 25)) == 5
    assert cut(tokens, hit(0, 14, "FAQ: One two three."))[0].span == hit(0, 4).span


def test_a_text_in_front_of_a_place_is_paid_for_before_it():
    rankings = RankedHits.of([(hit(0, 3), hit(0, 7, "FAQ: One two three"), hit(text="own"))])
    bought = ContextBudget(Cutoff(100, "ch"), None, READER).buy(rankings)
    assert (bought.begins.tolist(), bought.rates.tolist()) == ([0, 3 + 5, 3 + 18], [1, 1, 1])
    bought = ContextBudget(Cutoff(100, "tok"), resolve_tokenizer(str.split), READER).buy(rankings)
    rate = 4 / 18  # tokens per character of the second text
    assert bought.rates == pytest.approx([1 / 3, rate, 1 / 3])
    assert bought.begins == pytest.approx([0, 1 + 5 * rate, 1 + 4])


def test_hits_that_cost_nothing_buy_nothing():
    budget = ContextBudget(Cutoff(3, "ch"), None, READER)
    assert cut(budget, hit(5, 5), hit(text=""), hit(doc_id=None, chunk_id="c"), hit(0, 3), hit(7, 7)) == (hit(0, 3),)
    assert cut(ContextBudget(Cutoff(3, "ch", True), None, READER), hit(5, 5), hit(0, 3)) == (hit(0, 3),)
    assert budget.depth((hit(5, 5), hit(0, 3), hit(7, 7))) == 2
    assert budget.depth((hit(5, 5),)) is None


def brute_force_cut(budget, ranking):
    """The beginning of a ranking that fits, hit by hit."""
    left, kept = budget.cutoff.size, []
    for found in ranking:
        if left == 0:
            break
        text = READER.text(found)
        cost = len(text.split()) if budget.tokenizer else len(text)
        if not cost:
            continue
        if cost <= left:
            kept.append(found)
            left -= cost
            continue
        if not budget.cutoff.whole:
            length = budget.tokenizer.cut(text, left) if budget.tokenizer else left
            if not found.placed:
                kept.append(replace(found, text=text[:length]))
            else:
                there = CORPUS["a.md"].content[found.start : found.end]
                before = text.index(there) if there in text else len(text) - len(there)
                if length > before:
                    kept.append(replace(found, end=min(found.end, found.start + length - before), text=None))
        break
    return tuple(kept)


placed = st.builds(
    lambda start, length, text: hit(start, start + length, text),
    st.integers(0, 12),
    st.integers(0, 12),
    st.sampled_from([None, "", "One", "FAQ: One two three and more"]),
)
others = st.sampled_from([hit(doc_id="x.md"), hit(doc_id=None, chunk_id="c"), hit(text="else where it is")])
rankings = st.lists(st.lists(placed | others, max_size=6).map(tuple), max_size=4)


@given(rankings, st.integers(1, 30), st.sampled_from(["ch", "tok"]), st.booleans())
def test_rankings_in_columns_are_cut_as_one_hit_after_the_other_would_be(given, size, unit, whole):
    budget = ContextBudget(Cutoff(size, unit, whole), resolve_tokenizer(str.split), READER)
    found = RankedHits.of(given)
    assert [*budget.buy(found).hits] == [brute_force_cut(budget, ranking) for ranking in given]
    assert budget.fill(found).tolist() == [budget.depth(ranking) is not None for ranking in given]
    assert READER.lengths(found.flat).tolist() == [READER.length(one) for ranking in given for one in ranking]
    assert budget.costs(found.flat).tolist() == [budget.cost(one) for ranking in given for one in ranking]
    assert [*found] == given  # which is left as it was


def test_a_budget_that_the_corpus_just_fills_can_be_left_unfilled():
    length = len(CORPUS[DocumentId("a.md")].content)
    filled, not_possible = Cutoff(length, "ch"), Cutoff(length + 1, "ch")
    cutter = RankingCutter([filled, not_possible], None, CORPUS)
    unfilled = cutter.unfilled(RankedHits.of([[hit(0, 3)], [hit(0, length)]]))
    assert {cutoff: rows.tolist() for cutoff, rows in unfilled.items()} == {filled: [True, False]}
