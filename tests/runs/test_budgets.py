"""What a context budget buys, from the retriever's answer to the score."""

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    NDCG,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    Recall,
    SpanRecall,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.data import ChunkId, Hit, QueryRanking, Rankings
from rag_evaluation_framework.scoring import score

ANSWER = "The refund takes five days."
TEXT = "x" * 100 + ANSWER + "y" * 200
CORPUS = Corpus([Document(DocumentId("a"), TEXT), *(Document(DocumentId(f"d{n}"), "z" * 10) for n in range(5))])
QUESTION = Query.from_text("How long does a refund take?")
SPAN = CharacterSpan(DocumentId("a"), 100, 100 + len(ANSWER))
TRUTH = Dataset([TokenLevelGroundTruth(QUESTION, (SPAN,))], TOKEN, corpus=CORPUS)


def place(start, end, **known):
    return {"doc_id": "a", "start": start, "end": end, **known}


def run(*results, budgets, k=1, dataset=TRUTH, **options):
    """Evaluate a retriever that returns these results, as many as it is asked for."""
    return evaluate(lambda query, k: list(results)[:k], dataset, k=k, budgets=budgets, **options)


@pytest.mark.parametrize(
    ("text", "budget", "recall"),
    [
        ("#" * 500 + TEXT[90:140], "40ch", 0.0),
        ("#" * 500 + TEXT[90:140], "500ch", 0.0),
        ("#" * 500 + TEXT[90:140], "519ch", 9 / len(ANSWER)),
        ("#" * 500 + TEXT[90:140], "549ch_whole", 0.0),
        ("#" * 500 + TEXT[90:140], "550ch_whole", 1.0),
        (TEXT[90:140] + "#" * 500, "19ch", 9 / len(ANSWER)),
        (TEXT[90:140].upper() + "#" * 500, "500ch", 0.0),
        (ANSWER, "19ch", 9 / len(ANSWER)),
    ],
    ids=["header", "all of the header", "header and some", "whole", "whole fits", "behind", "rewritten", "shorter"],
)
def test_a_text_in_front_of_a_placed_chunk_is_paid_for_before_the_chunk(text, budget, recall):
    result = run(place(90, 140, text=text), budgets=[budget], metrics=[SpanRecall()])
    assert result.metrics[f"span_recall@{budget}"] == pytest.approx(recall, abs=1e-15)


@pytest.mark.parametrize(("budget", "read"), [("500ch", 0.0), ("501ch", 1.0)])
@pytest.mark.parametrize(
    ("level", "truth"),
    [
        (DOCUMENT, DocumentLevelGroundTruth(QUESTION, (DocumentId("a"),))),
        (CHUNK, ChunkLevelGroundTruth(QUESTION, (ChunkId("c"),))),
    ],
    ids=str,
)
def test_a_result_is_read_when_its_place_is_at_any_level(level, truth, budget, read):
    found = place(90, 140, text="#" * 500 + TEXT[90:140], chunk_id="c")
    dataset = Dataset([truth], level, corpus=CORPUS)
    assert run(found, budgets=[budget], dataset=dataset, metrics=[Recall()]).metrics[f"recall@{budget}"] == read


def test_a_budget_over_nothing_but_ids_is_not_available_and_said():
    result = run(*({"chunk_id": str(number)} for number in range(99)), budgets=["4000ch"], k=10, metrics=[SpanRecall()])
    assert result.metrics == {"span_recall@10": 0.0, "span_recall@4000ch": None}
    assert result.queries[0].scores == {"span_recall@10": 0.0, "span_recall@4000ch": None}
    assert [note for note in result.notes if "length" in note or "ran out" in note] == [
        "rankings of results whose length is not known: 1 of 1; scores at budgets are not available for them. Let the "
        "retriever return texts, or doc_id, start and end"
    ]


def test_one_result_of_unknown_length_at_the_top_does_not_stop_the_deepening():
    result = run(
        {"chunk_id": "?"}, place(0, 50), place(50, 100), place(100, 150), budgets=["140ch"], metrics=[SpanRecall()]
    )
    assert result.metrics == {"span_recall@1": 0.0, "span_recall@140ch": 1.0}
    assert result.notes == ("results whose length is not known: 1 of 4; they take up nothing of a budget",)


def test_an_impossible_place_costs_nothing():
    result = run(place(900, 950), place(100, 150), budgets=["27ch"], k=2, metrics=[SpanRecall()])
    assert result.metrics["span_recall@27ch"] == 1.0
    assert result.counts["unlocated_hits"] == 1


@pytest.mark.parametrize("level", [DOCUMENT, CHUNK], ids=str)
def test_results_of_length_zero_buy_nothing(level):
    truth = {
        DOCUMENT: DocumentLevelGroundTruth(QUESTION, (DocumentId("a"),)),
        CHUNK: ChunkLevelGroundTruth(QUESTION, (ChunkId("c"),)),
    }[level]
    empty, full = place(5, 5, chunk_id="c"), {"doc_id": "d0", "start": 0, "end": 10, "chunk_id": "other"}
    result = run(empty, full, budgets=["10ch"], k=2, dataset=Dataset([truth], level, corpus=CORPUS), metrics=[NDCG()])
    assert result.metrics == {"ndcg@2": 1.0, "ndcg@10ch": 0.0}


def test_a_result_with_only_a_document_costs_the_whole_document_and_counts_as_it():
    result = run({"doc_id": "a"}, budgets=["110ch"], metrics=[SpanRecall()])
    assert result.metrics == {"span_recall@1": 1.0, "span_recall@110ch": 10 / len(ANSWER)}
    assert [note for note in result.notes if "whole document" in note] == [
        "results that name a document and no place in it: of 1 documents, such as 'a'; each such result counts as "
        "the whole document. If it is a part, let the retriever return its text, or start and end"
    ]
    by_hand = Rankings.of([QueryRanking(QUESTION, (Hit(DocumentId("a")),))], CORPUS)
    table = score(by_hand, TRUTH, [SpanRecall()], [1, "110ch"])
    assert table.mean == result.metrics


def test_the_ideal_of_ndcg_at_a_budget_is_that_of_all_relevant_documents():
    five = DocumentLevelGroundTruth(QUESTION, tuple(DocumentId(f"d{number}") for number in range(5)))
    found = [{"doc_id": f"d{number}"} for number in range(5)]
    result = run(*found, budgets=["10ch"], k=[1, 5], dataset=Dataset([five], DOCUMENT, corpus=CORPUS), metrics=[NDCG()])
    ideal = sum(1 / log2 for log2 in (1, 1.584962500721156, 2, 2.321928094887362, 2.584962500721156))
    assert result.metrics["ndcg@1"] == 1.0  # the ideal order is cut where the ranking is
    assert result.metrics["ndcg@10ch"] == pytest.approx(1 / ideal)


def test_that_a_ranking_of_unknown_lengths_ran_out_is_not_said():
    unknown, known = [{"chunk_id": "?"}, place(0, 50)], [place(0, 50)]
    assert not any("ran out" in note for note in run(*unknown, budgets=["140ch"], k=2).notes)
    assert any("ran out" in note for note in run(*known, budgets=["140ch"], k=2).notes)


def test_names_that_are_no_ids_of_the_corpus_are_noted_in_rankings_made_by_hand():
    ranking = QueryRanking(QUESTION, (Hit(DocumentId("a"), 100, 120), Hit(DocumentId("a.md"), text="?")))
    with collect_notes() as notes:
        table = score(Rankings.of([ranking], CORPUS), TRUTH, [SpanRecall()], [2])
    assert notes[0].startswith("results of documents that the corpus does not have: 1, the first 'a.md'; they count")
    assert table.mean == {"span_recall@2": 20 / len(ANSWER)}
