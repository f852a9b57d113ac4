"""Document level in a run: whatever a pipeline tells of what it found, documents are ranked and compared."""

from math import log2

import pytest

from rag_evaluation_framework import (
    ALL_METRICS,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    Chunk,
    Corpus,
    Dataset,
    DatasetError,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    DocumentLevelMetric,
    EvaluationConfig,
    Hit,
    PositionAwareChunk,
    Query,
    QueryId,
    QueryText,
    SpanRecall,
    TokenLevelGroundTruth,
    evaluate,
    generate_chunk_id,
)

NAMES = ("a.md", "guides/b.md", "guides/c.md", "d.md")
CORPUS = Corpus(Document(DocumentId(name), f"This is {name}. " * 5) for name in NAMES)
RANKS = [ALL_METRICS[name] for name in ("hit", "recall", "precision", "mrr", "map", "r_precision")]


def dataset(*relevant, **options):
    truth = DocumentLevelGroundTruth(Query(QueryId("q"), QueryText("q")), relevant, **options)
    return Dataset([truth], DOCUMENT, corpus=CORPUS, name="labels")


def run(questions, found, k=3, metrics=RANKS, **options):
    config = EvaluationConfig(**{"budgets": [], **options})
    retriever = found if callable(found) else lambda query, k: found[:k]
    result = DocumentLevelEvaluation(CORPUS, questions).run(retriever=retriever, k=k, metrics=metrics, config=config)
    assert not result.failures
    return result


def ranked(*names):
    return [{"doc_id": name} for name in names]


PLACE = {"start": 0, "end": 12}


@pytest.mark.parametrize(
    "returned",
    [
        {"doc_id": "a.md"},
        {"docId": "a.md", "score": 3},
        {"document_id": "a"},
        {"doc_id": "a.md", **PLACE},
        {"doc_id": "a.md", "text": "something else"},
        "This is a.md.",
        Hit(DocumentId("a.md")),
        Chunk(generate_chunk_id("x"), "x", DocumentId("a.md")),
        PositionAwareChunk.of(CORPUS["a.md"], 0, 12),
    ],
    ids=["doc_id", "camel case", "stem", "place", "a text from elsewhere", "text", "hit", "chunk", "placed chunk"],
)
def test_whatever_names_the_document_counts_as_the_document(returned):
    result = run(dataset("a.md"), [returned], k=1)
    assert set(result.metrics.values()) == {1.0}
    assert result.counts["unlocated_hits"] == 0


def test_documents_that_repeat_hold_their_first_rank_and_k_counts_results():
    result = run(dataset("d.md"), ranked("a.md", "a.md", "d.md", "d.md"), k=[4, 2])
    assert result.metrics["precision@4"] == 0.25
    assert result.metrics["mrr@4"] == result.metrics["map@4"] == 0.5
    assert result.metrics["recall@2"] == 0.0


def test_results_without_a_document_keep_their_rank_and_are_counted_and_are_not_one_document():
    lost = {"chunk_id": "c1"}
    result = run(dataset("a.md", "d.md"), [lost, lost, {"doc_id": "a.md"}, "nowhere", {"doc_id": "d.md"}], k=5)
    assert result.metrics["mrr"] == pytest.approx(1 / 3)
    assert result.metrics["map"] == pytest.approx((1 / 3 + 2 / 5) / 2)
    assert result.counts["unlocated_hits"] == 3
    assert "3 of 5 results (60%) have no document" in repr(result)


def test_documents_that_the_corpus_does_not_hold_are_documents_all_the_same():
    result = run(dataset("a.md", "x.md"), ranked("y.md", "x.md", "a.md"))
    assert result.metrics["recall"] == 1.0
    assert result.metrics["mrr"] == 0.5
    assert result.counts["unlocated_hits"] == 0


def test_relevant_documents_that_the_corpus_does_not_hold_count_and_are_noted():
    result = run(dataset("a.md", "x.md", "y.md", relevant_prefixes=["guides/", "old/"]), ranked("a.md", "guides/c.md"))
    assert result.metrics["recall"] == pytest.approx(2 / 5)
    (warning,) = result.warnings
    assert "does not hold and no retriever can find: 3, the first 'x.md' of question 'q'" in warning
    assert run(dataset("a.md", relevant_prefixes=["guides/"]), []).warnings == ()


def test_a_corpus_that_holds_none_of_the_relevant_documents_is_refused():
    with pytest.raises(DatasetError, match=r"holds none of its relevant documents \('x.md' of question 'q', …\)"):
        run(dataset("x.md", relevant_prefixes=["old/"]), [])


def test_documents_that_are_called_by_their_stem_are_found_also_where_the_corpus_comes_last():
    truth = DocumentLevelGroundTruth(Query(QueryId("q"), QueryText("q")), ["b", "a.md"], gains={DocumentId("b"): 3.0})
    questions = Dataset([truth], DOCUMENT)
    result = run(questions, ranked("a.md", "guides/b.md"), metrics=[ALL_METRICS["recall"], ALL_METRICS["ndcg"]])
    assert result.metrics["recall"] == 1.0
    assert result.metrics["ndcg"] == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    assert result.warnings == ()
    assert result.queries[0].relevant == ("guides/b.md", "a.md")
    assert result.queries[0].gains == {"guides/b.md": 3.0}


def test_a_prefix_is_one_unit_that_the_first_of_its_documents_satisfies():
    truth = dataset("d.md", relevant_prefixes=["guides/"])
    result = run(truth, ranked("a.md", "guides/c.md", "guides/b.md", "d.md"), k=[4, 3])
    assert result.queries[0].relevant == ("d.md", "guides/*")
    assert result.metrics["recall@3"] == 0.5
    assert result.metrics["recall@4"] == 1.0
    assert result.metrics["mrr@4"] == 0.5
    assert result.metrics["map@4"] == pytest.approx((1 / 2 + 2 / 4) / 2)  # b.md is a document that is not relevant
    assert result.metrics["precision@4"] == 0.5


def test_a_document_of_a_satisfied_prefix_that_repeats_is_still_one_document():
    truth = dataset("d.md", relevant_prefixes=["guides/"])
    result = run(truth, ranked("guides/c.md", "guides/c.md", "guides/b.md", "guides/b.md", "d.md"), k=5)
    assert result.metrics["map"] == pytest.approx((1 + 2 / 3) / 2)


def test_the_best_order_is_cut_at_the_number_of_results_also_where_documents_repeat():
    result = run(dataset("a.md", "d.md"), ranked("a.md", "a.md"), k=2, metrics=[ALL_METRICS["ndcg"]])
    assert result.metrics["ndcg"] == pytest.approx(1 / (1 + 1 / log2(3)))


def test_a_metric_of_the_users_meets_every_unit_once():
    seen = []

    class Noting(DocumentLevelMetric):
        def calculate(self, retrieved, ground_truth):
            seen.append((list(retrieved), list(ground_truth)))
            return 0.0

    found = ranked("guides/c.md", "a.md", "guides/c.md", "guides/b.md", "a.md")
    run(dataset("d.md", relevant_prefixes=["guides/"]), found, k=5, metrics=[Noting()])
    assert seen == [(["guides/*", "a.md", "guides/b.md"], ["d.md", "guides/*"])]


def test_two_names_of_one_document_must_not_have_two_gains():
    truth = DocumentLevelGroundTruth(
        Query(QueryId("q"), QueryText("q")),
        ["b", "guides/b.md"],
        gains={DocumentId("b"): 3.0, DocumentId("guides/b.md"): 2.0},
    )
    with pytest.raises(DatasetError, match=r"'guides/b.md' has the gains 3.0 and 2.0; keep one"):
        run(Dataset([truth], DOCUMENT, corpus=CORPUS), [])


def test_a_relevant_document_of_a_prefix_is_part_of_it_and_of_two_prefixes_the_shorter_counts():
    truth = dataset("guides/b.md", relevant_prefixes=["guides/", "g"])
    result = run(truth, ranked("guides/b.md"), k=1)
    assert result.queries[0].relevant[0] == "g*"
    assert result.metrics["hit"] == 1.0


def test_a_document_at_two_places_of_a_span_dataset_is_one():
    spans = [CharacterSpan(DocumentId("a.md"), start, start + 3) for start in (0, 9)]
    truth = TokenLevelGroundTruth(
        Query(QueryId("q"), QueryText("q")), [*spans, CharacterSpan(DocumentId("d.md"), 0, 4)]
    )
    questions = Dataset([truth], TOKEN, corpus=CORPUS)
    result = run(questions, ranked("d.md", "a.md"), k=[2, 1])
    assert result.queries[0].relevant == ("a.md", "d.md")
    assert result.metrics["recall@1"] == 0.5


# --- budgets ----------------------------------------------------------------------------------------------------------

LENGTHS = {name: len(CORPUS[name].content) for name in NAMES}


def test_of_a_document_that_is_only_named_the_reader_reads_everything():
    budgets = [f"{LENGTHS['a.md'] + 1}ch", f"{LENGTHS['a.md'] + 1}ch_whole", f"{LENGTHS['a.md']}ch"]
    result = run(dataset("d.md"), ranked("a.md", "d.md", "guides/b.md"), k=[], budgets=budgets)
    cut, whole, exact = result.cutoffs
    assert [result.metrics[f"recall@{cutoff}"] for cutoff in (cut, whole, exact)] == [1.0, 0.0, 0.0]
    assert result.metrics[f"precision@{cut}"] == 0.5  # of the two that the budget reached


def test_a_document_that_is_only_named_costs_its_tokens():
    words = len(CORPUS["a.md"].content.split())
    found = ranked("a.md", "d.md")
    result = run(dataset("d.md"), found, k=[], budgets=[f"{words}tok", f"{words + 1}tok"], tokenizer=str.split)
    assert [result.metrics[f"recall@{cutoff}"] for cutoff in result.cutoffs] == [0.0, 1.0]


class Asked:
    """A function that names documents without end, and notes how many it was asked for."""

    def __init__(self, name):
        self.name, self.ks = name, []

    def __call__(self, query, k):
        self.ks.append(k)
        return [{self.name: NAMES[number % 4] if self.name == "doc_id" else f"c{number}"} for number in range(k)]


def test_a_pipeline_that_names_documents_is_not_asked_for_more_than_the_budget_reaches():
    asked = Asked("doc_id")
    run(dataset("a.md"), asked, k=5, budgets=["400ch"])
    assert asked.ks == [5]
    deeper = Asked("doc_id")
    run(dataset("a.md"), deeper, k=2, budgets=["900ch"])
    assert max(deeper.ks) <= 20


def test_a_pipeline_whose_texts_nobody_knows_is_asked_once():
    asked = Asked("chunk_id")
    result = evaluate(asked, dataset("a.md"), k=5, budgets=["40ch"])
    assert asked.ks == [5]
    assert any("ended before every budget was spent: 1" in warning for warning in result.warnings)


def test_at_token_level_a_document_that_is_only_named_has_no_place_and_covers_nothing():
    truth = TokenLevelGroundTruth(Query(QueryId("q"), QueryText("q")), [CharacterSpan(DocumentId("a.md"), 0, 4)])
    found = ranked("a.md")
    questions = Dataset([truth], TOKEN, corpus=CORPUS)
    result = evaluate(
        lambda query, k: found, questions, k=1, budgets=["5ch"], metrics=[SpanRecall(), ALL_METRICS["span_precision"]]
    )
    assert set(result.metrics.values()) == {0.0}
    assert result.counts["unlocated_hits"] == 1
