"""A chunk that the dataset names by several ids is one chunk, in every question."""

from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    BM25Retriever,
    Chunk,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    PositionAwareChunk,
    Query,
    evaluate,
    generate_chunk_id,
)
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.levels.chunk import synonyms_by_beginning
from support.each import each
from support.retrievers import Listing

CORPUS = Corpus([Document(DocumentId("a.md"), "alpha one\n\nBeta two")])
ALPHA = PositionAwareChunk.of(CORPUS["a.md"], 0, 9)
BETA = PositionAwareChunk.of(CORPUS["a.md"], 11, 19)
DIGEST = content_digest("alpha one")
SHORT, LONG, BARE = f"chunk_{DIGEST[:8]}", f"chunk_{DIGEST[:12]}", DIGEST[:8]
OWN = replace(ALPHA, id="doc-7")
CHANGED = replace(BETA, content="beta two", id="1")
ORIGINAL, LOWERED = generate_chunk_id("Beta two"), generate_chunk_id("beta two")


def asking(*truths):
    """Return a dataset with one question for each list of ids, or mapping of ids and gains."""
    entries = [
        ChunkLevelGroundTruth(Query.from_text(f"alpha {number}"), list(ids), gains=ids if isinstance(ids, dict) else {})
        for number, ids in enumerate(truths)
    ]
    return Dataset(entries, CHUNK, corpus=CORPUS)


def recalls(result):
    assert not result.failures
    return [one.scores[next(iter(one.scores))] for one in result.queries]


PAIRS = [
    pytest.param([BARE, LONG], ALPHA, id="bare digits"),
    pytest.param([SHORT, LONG], ALPHA, id="lengths"),
    pytest.param([BARE, SHORT], ALPHA, id="with prefix and without"),
    pytest.param([BARE, f"pa_{SHORT}", LONG, DIGEST], ALPHA, id="four"),
    pytest.param(["doc-7", LONG], OWN, id="an id of its own"),
    pytest.param(["doc-7", BARE, SHORT], OWN, id="an id of its own and two hashes"),
    pytest.param([ORIGINAL, LOWERED], CHANGED, id="text of document and chunker"),
    pytest.param(["1", LOWERED], Chunk("1", "beta two", DocumentId("a.md")), id="no place"),
]


@pytest.mark.parametrize(("ids", "chunk"), PAIRS)
def test_several_ids_of_one_chunk_are_one_chunk(ids, chunk):
    listing = Listing([chunk, BETA if chunk in (ALPHA, OWN) else ALPHA])
    for order in (ids, ids[::-1]):
        result = evaluate(listing, asking(*[[one] for one in order], order), k=1)
        assert recalls(result) == [1.0] * (len(ids) + 1)
        assert not [text for text in result.notes if "relevant chunk ids" in text]
        shown = {unit for one in result.queries for unit in (*one.relevant, one.hits[0].chunk_id)}
        assert len(shown) == 1  # what is relevant and what was found read alike
        assert shown <= {unit.removeprefix("pa_") for unit in ids}
    graded = evaluate(listing, asking(dict.fromkeys(ids, 2.0), {ids[0]: 3.0}), k=1, metrics=["ndcg"])
    assert graded.metrics["ndcg"] == 1.0


def test_a_real_retriever_finds_a_chunk_under_both_ids():
    chunker = {"chunker": lambda text: text.split("\n\n")}
    truth = asking([BARE], [LONG])
    assert recalls(ChunkLevelEvaluation(CORPUS, truth).run(retriever=BM25Retriever(**chunker), k=1)) == [1.0, 1.0]


@pytest.mark.parametrize("gains", [{BARE: 1.0, LONG: 2.0}, {LONG: 2.0, BARE: 1.0}, {BARE: 2.0}, {LONG: 2.0}])
def test_two_gains_of_one_chunk_are_refused(gains):
    entry = ChunkLevelGroundTruth(Query.from_text("alpha"), [BARE, LONG], gains=gains)
    for retriever in (Listing([ALPHA, BETA]), lambda query, k: ["alpha one"]):
        with pytest.raises(DatasetError, match=rf"question 'query_\w+': '{LONG}' has two gains, .*; keep one"):
            evaluate(retriever, Dataset([entry], CHUNK, corpus=CORPUS), k=1)


def test_a_chunk_with_two_ids_is_present_once():
    missing = "chunk_000000000000"
    result = evaluate(Listing([OWN, BETA]), asking(["doc-7"], [LONG], [BARE], [missing]), k=1)
    assert any("50% of the relevant chunk ids are in the index (1 of 2)" in text for text in result.notes)
    assert recalls(result) == [1.0, 1.0, 1.0, 0.0]


def test_entries_whose_ids_are_used_alone_stay_as_they_are():
    result = evaluate(Listing([OWN, BETA]), asking([BARE], [generate_chunk_id("Beta two")]), k=2)
    assert [one.relevant for one in result.queries] == [(BARE,), (generate_chunk_id("Beta two"),)]


def test_texts_are_not_confused_where_one_is_the_changed_form_of_another():
    corpus = Corpus([Document(DocumentId("a.md"), "Beta two\n\nbeta two")])
    changed = replace(PositionAwareChunk.of(corpus["a.md"], 0, 8), content="beta two", id="1")
    lower = replace(PositionAwareChunk.of(corpus["a.md"], 10, 18), id="2")
    truth = asking([ORIGINAL], [LOWERED]).with_corpus(corpus)
    assert recalls(evaluate(Listing([changed, lower]), truth, k=1)) == [1.0, 0.0]
    assert recalls(evaluate(Listing([lower, changed]), truth, k=1)) == [0.0, 1.0]


@pytest.mark.parametrize("known", [["a:0", "b:0", "hash"], ["a:0", "hash"]])
def test_an_id_that_fits_chunks_that_the_dataset_tells_apart_is_refused(known):
    corpus = Corpus([Document(DocumentId(name), "alpha one") for name in "ab"])
    chunks = [replace(PositionAwareChunk.of(document, 0, 9), id=f"{document.id}:0") for document in corpus]
    truth = asking(*([LONG if one == "hash" else one] for one in known)).with_corpus(corpus)
    with pytest.raises(DatasetError, match=rf"'{LONG}' of the dataset .* 'a:0'.*; name every chunk by one id"):
        evaluate(Listing(chunks), truth, k=1)


def test_a_chain_of_names_ends_at_one_chunk():
    rewritten = Chunk(LONG, "From the FAQ: alpha one", DocumentId("a.md"))  # only its id says what it said
    alike = replace(BETA, content="alpha one", id="1")
    for found in (rewritten, alike):
        result = evaluate(Listing([rewritten, alike], [found]), asking([DIGEST], [BARE], [LONG]), k=1)
        assert recalls(result) == [1.0, 1.0, 1.0]
        assert {one.relevant for one in result.queries} == {(LONG,)}


# --- retrievers that cannot list their chunks -------------------------------------------------------------------------


@each("found", ["alpha one", {"chunk_id": LONG}, {"chunk_id": f"pa_{LONG}"}, None])
@each("ids", [[BARE, LONG], [SHORT, LONG], [BARE, SHORT], [BARE, SHORT, LONG, DIGEST]])
def test_without_a_list_hashes_of_one_beginning_are_one_chunk(ids, found):
    found = found or {"chunk_id": ids[-1]}
    for order in (ids, ids[::-1]):
        result = evaluate(lambda query, k: [found], asking(*[[one] for one in order], order), k=1)
        assert recalls(result) == [1.0] * (len(ids) + 1)
        assert {one.relevant for one in result.queries} == {(max(ids, key=len),)}


@pytest.mark.parametrize("ids", [["10000001", "100000010"], ["chunk_100000", "chunk_1000001"]])
def test_without_a_list_numbers_of_one_beginning_are_different_chunks(ids):
    truth = asking([ids[0]], [ids[1]])
    assert recalls(evaluate(lambda query, k: [{"chunk_id": ids[0]}], truth, k=1)) == [1.0, 0.0]
    assert recalls(evaluate(lambda query, k: [{"chunk_id": ids[1]}], truth, k=1)) == [0.0, 1.0]


def test_numbers_of_many_digits_are_hashes():
    truth = asking(["123456789012"], ["1234567890123"])
    assert recalls(evaluate(lambda query, k: [{"chunk_id": "123456789012"}], truth, k=1)) == [1.0, 1.0]


def test_without_a_list_the_beginning_of_two_hashes_is_refused():
    longer = [f"chunk_{DIGEST[:9]}{digit}" for digit in "ab"]
    truth = asking([f"chunk_{DIGEST[:9]}"], *([one] for one in longer))
    with pytest.raises(
        DatasetError, match=rf"'chunk_{DIGEST[:9]}' .*'{longer[0]}' and '{longer[1]}'; write more digits"
    ):
        evaluate(lambda query, k: ["alpha one"], truth, k=1)


def test_without_a_list_a_result_with_two_names_is_refused():
    truth = asking(["doc-7"], [LONG])
    with pytest.raises(DatasetError, match=f"a result has two ids of the dataset, 'doc-7' and '{LONG}'; name every"):
        evaluate(lambda query, k: [{"chunk_id": "doc-7", "text": "alpha one"}], truth, k=1)


def test_a_function_that_names_chunks_names_each_by_one_id():
    result = ChunkLevelEvaluation(CORPUS, asking(["0"], [LONG]), chunk_id=lambda chunk, number: str(number)).run(
        retriever=Listing([ALPHA, BETA]), k=1
    )
    assert recalls(result) == [1.0, 0.0]


@pytest.mark.parametrize("ids", [[BARE, SHORT], [SHORT, BARE]])
def test_of_equal_digits_the_longest_id_is_that_of_the_chunk_in_whatever_order_they_come(ids):
    assert synonyms_by_beginning(dict.fromkeys(ids, BARE)) == {BARE: SHORT}
