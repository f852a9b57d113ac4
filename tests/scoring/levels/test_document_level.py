"""Document level in a run: whatever a pipeline tells of what it found, documents are ranked and compared."""

from math import log2

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    MRR,
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    PositionAwareChunk,
    Query,
    SpanRecall,
    TokenLevelGroundTruth,
    evaluate,
    generate_chunk_id,
)
from rag_evaluation_framework.contracts import DocumentLevelMetric
from rag_evaluation_framework.data import Answer, Chunk, Hit, QueryId, QueryText
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.scoring.levels import RULES
from rag_evaluation_framework.scoring.metrics import ALL_METRICS

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
def test_any_result_that_names_the_document_counts_as_the_document(returned):
    result = run(dataset("a.md"), [returned], k=1)
    assert set(result.metrics.values()) == {1.0}
    assert result.counts["unlocated_hits"] == 0


def test_repeated_documents_keep_their_first_rank_and_results_without_one_theirs():
    # Repeated documents keep their first rank and k counts results:
    result = run(dataset("d.md"), ranked("a.md", "a.md", "d.md", "d.md"), k=[4, 2])
    assert result.metrics["precision@4"] == 0.25
    assert result.metrics["mrr@4"] == result.metrics["map@4"] == 0.5
    assert result.metrics["recall@2"] == 0.0

    # Results without a document keep their ranks and are not merged:
    lost = {"chunk_id": "c1"}
    result = run(dataset("a.md", "d.md"), [lost, lost, {"doc_id": "a.md"}, "nowhere", {"doc_id": "d.md"}], k=5)
    assert result.metrics["mrr"] == pytest.approx(1 / 3)
    assert result.metrics["map"] == pytest.approx((1 / 3 + 2 / 5) / 2)
    assert result.counts["unlocated_hits"] == 3
    assert "3 of 5 results (60%) have no document" in repr(result)


def test_documents_outside_the_corpus_count_and_are_noted():
    # Retrieved documents outside the corpus count as results:
    result = run(dataset("a.md", "x.md"), ranked("y.md", "x.md", "a.md"))
    assert result.metrics["recall"] == 1.0
    assert result.metrics["mrr"] == 0.5
    assert result.counts["unlocated_hits"] == 0

    # Relevant documents outside the corpus count as relevant and are noted:
    result = run(dataset("a.md", "x.md", "y.md", relevant_prefixes=["guides/", "old/"]), ranked("a.md", "guides/c.md"))
    assert result.metrics["recall"] == pytest.approx(2 / 5)
    (warning,) = result.notes
    assert "are not in the corpus, so that no retriever can find them: 3, the first 'x.md' of question 'q'" in warning
    assert run(dataset("a.md", relevant_prefixes=["guides/"]), ranked("a.md")).notes == ()

    # Places outside the corpus are noted too:
    result = run(dataset(Answer.any_of("a.md", "x.md")), ranked("a.md"))
    assert result.metrics["recall"] == 1.0
    (warning,) = result.notes
    assert "so that no retriever can find them: 1, the first 'x.md'" in warning


def test_a_corpus_that_holds_none_of_the_relevant_documents_is_refused_unless_the_dataset_brings_it():
    brought = dataset("x.md", relevant_prefixes=["old/"])
    noted, _ = run(brought, []).notes
    assert noted.startswith("relevant documents that are not in the corpus, so that no retriever can find them: 2, ")
    alone = Dataset(brought.ground_truth, DOCUMENT, name="labels")
    with pytest.raises(DatasetError, match=r"holds none of its relevant documents \('x.md' of question 'q', …\)"):
        run(alone, [])


def test_documents_are_found_by_stem_and_in_other_folders():
    # Documents named by their stem are resolved even if the corpus is given last:
    truth = DocumentLevelGroundTruth(Query(QueryId("q"), QueryText("q")), ["b", "a.md"], gains={DocumentId("b"): 3.0})
    questions = Dataset([truth], DOCUMENT)
    result = run(questions, ranked("a.md", "guides/b.md"), metrics=[ALL_METRICS["recall"], ALL_METRICS["ndcg"]])
    assert result.metrics["recall"] == 1.0
    assert result.metrics["ndcg"] == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    assert result.notes == ()
    assert result.queries[0].relevant == ("guides/b.md", "a.md")
    assert result.queries[0].gains == {"guides/b.md": 3.0}

    # A relevant document that is found in another folder is told:
    result = evaluate(lambda query, k: ranked("guides/b.md"), dataset("old/b.md"), k=1, metrics=[MRR()])
    assert result.metrics["mrr@1"] == 1.0
    assert any("no document 'old/b.md': 'guides/b.md' is taken for it" in note for note in result.notes)


def test_a_prefix_is_one_unit_found_with_the_first_of_its_documents():
    # A prefix is one unit found with the first of its documents:
    truth = dataset("d.md", relevant_prefixes=["guides/"])
    result = run(truth, ranked("a.md", "guides/c.md", "guides/b.md", "d.md"), k=[4, 3])
    assert result.queries[0].relevant == ("d.md", "guides/*")
    assert result.metrics["recall@3"] == 0.5
    assert result.metrics["recall@4"] == 1.0
    assert result.metrics["mrr@4"] == 0.5
    assert result.metrics["map@4"] == pytest.approx((1 / 2 + 2 / 4) / 2)  # b.md is a document that is not relevant
    assert result.metrics["precision@4"] == 0.5

    # A repeated document of a found prefix is still one document:
    truth = dataset("d.md", relevant_prefixes=["guides/"])
    result = run(truth, ranked("guides/c.md", "guides/c.md", "guides/b.md", "guides/b.md", "d.md"), k=5)
    assert result.metrics["map"] == pytest.approx((1 + 2 / 3) / 2)

    # A custom metric receives every unit once:
    seen = []

    class Noting(DocumentLevelMetric):
        def calculate(self, retrieved, ground_truth):
            seen.append((list(retrieved), list(ground_truth)))
            return 0.0

    found = ranked("guides/c.md", "a.md", "guides/c.md", "guides/b.md", "a.md")
    run(dataset("d.md", relevant_prefixes=["guides/"]), found, k=5, metrics=[Noting()])
    assert seen == [(["guides/*", "a.md", "guides/b.md"], ["d.md", "guides/*"])]

    # A document belongs to its prefix and of two prefixes to the shorter:
    truth = dataset("guides/b.md", relevant_prefixes=["guides/", "g"])
    result = run(truth, ranked("guides/b.md"), k=1)
    assert result.queries[0].relevant[0] == "g*"
    assert result.metrics["hit"] == 1.0

    # A prefix is found by what begins with it and a document by itself:
    found = RULES["document-level"].found
    assert found("guide/*", "guide/a.md")
    assert found("guide/*", "guide/*")
    assert not found("guide/*", "other/guide/a.md")
    assert not found("guide/", "guide/a.md")


def test_the_ideal_order_is_cut_and_no_document_has_two_gains():
    # The ideal order is cut at the number of results even where documents repeat:
    result = run(dataset("a.md", "d.md"), ranked("a.md", "a.md"), k=2, metrics=[ALL_METRICS["ndcg"]])
    assert result.metrics["ndcg"] == pytest.approx(1 / (1 + 1 / log2(3)))

    # Two names of one document must not have two gains:
    truth = DocumentLevelGroundTruth(
        Query(QueryId("q"), QueryText("q")),
        ["b", "guides/b.md"],
        gains={DocumentId("b"): 3.0, DocumentId("guides/b.md"): 2.0},
    )
    with pytest.raises(DatasetError, match=r"'guides/b.md' has two gains, 3.0 and 2.0; keep one"):
        run(Dataset([truth], DOCUMENT, corpus=CORPUS), [])

    # A document with two relevant spans is one document:
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


def test_a_document_costs_all_its_text():
    # Hit with only a document costs the whole document:
    budgets = [f"{LENGTHS['a.md'] + 1}ch", f"{LENGTHS['a.md'] + 1}ch_whole", f"{LENGTHS['a.md']}ch"]
    result = run(dataset("d.md"), ranked("a.md", "d.md", "guides/b.md"), k=[], budgets=budgets)
    cut, whole, exact = result.cutoffs
    assert [result.metrics[f"recall@{cutoff}"] for cutoff in (cut, whole, exact)] == [1.0, 0.0, 0.0]
    assert result.metrics[f"precision@{cut}"] == 0.5  # of the two that the budget reached

    # Hit with only a document costs all its tokens:
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


def test_a_pipeline_of_documents_is_asked_no_more_than_it_needs():
    # A pipeline that returns documents is not asked beyond the budget:
    asked = Asked("doc_id")
    run(dataset("a.md"), asked, k=5, budgets=["400ch"])
    assert asked.ks == [5]
    deeper = Asked("doc_id")
    run(dataset("a.md"), deeper, k=2, budgets=["900ch"])
    assert deeper.ks == [2, 21]

    # A pipeline whose texts are unknown is asked once:
    for k in (5, 7, 20):
        asked = Asked("chunk_id")
        result = evaluate(asked, dataset("a.md"), k=k, budgets=["40ch"])
        assert asked.ks == [k]
    assert not any("ran out" in note for note in result.notes)
    assert result.metrics["hit@20"] == 0.0
    assert result.metrics["hit@40ch"] is None
    assert any(
        "rankings of results whose length is not known: 1 of 1; scores at budgets are not available" in note
        for note in result.notes
    )


def test_at_token_level_a_hit_with_only_a_document_is_the_whole_document():
    truth = TokenLevelGroundTruth(Query(QueryId("q"), QueryText("q")), [CharacterSpan(DocumentId("a.md"), 0, 4)])
    found = ranked("a.md")
    questions = Dataset([truth], TOKEN, corpus=CORPUS)
    result = evaluate(
        lambda query, k: found, questions, k=1, budgets=["5ch"], metrics=[SpanRecall(), ALL_METRICS["span_precision"]]
    )
    assert result.metrics == {
        "span_recall@1": 1.0,
        "span_recall@5ch": 1.0,
        "span_precision@1": 4 / 70,
        "span_precision@5ch": 4 / 5,
    }
    assert result.counts["unlocated_hits"] == 0
