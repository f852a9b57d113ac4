import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    Dataset,
    DocumentId,
    DocumentLevelEvaluation,
    EvaluationConfig,
    Query,
    RecursiveCharacterChunker,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    run_experiment,
)
from rag_evaluation_framework.components import InMemoryVectorStore, LsaEmbedder
from rag_evaluation_framework.data import ChunkId
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN
from rag_evaluation_framework.errors import ConfigError, CorpusError, DatasetError, LevelMismatch
from rag_evaluation_framework.testing import HashingEmbedder
from support.chunkers import Lines

MINE = EvaluationConfig(experiment_name="mine")
REFUNDS = "Refunds take five working days."


@pytest.fixture
def dataset(corpus):
    start = corpus["billing.md"].content.index(REFUNDS)
    span = CharacterSpan(DocumentId("billing.md"), start, start + len(REFUNDS))
    return Dataset([TokenLevelGroundTruth(Query.from_text("How long do refunds take?"), [span])], TOKEN, name="faq")


@pytest.fixture
def evaluation(corpus, dataset):
    return TokenLevelEvaluation(corpus, dataset)


def test_a_bare_run_is_lexical_retrieval_with_the_default_metrics(evaluation):
    result = evaluation.run()
    assert result.config["retriever"]["type"] == "bm25"
    assert list(result.metrics) == [
        f"{metric}@{cutoff}" for metric in ("span_recall", "span_precision", "span_iou") for cutoff in ("5", "4000ch")
    ]
    assert result.metrics["span_recall"] == 1.0


@pytest.mark.parametrize(
    ("parts", "retriever", "recorded"),
    [
        ({"chunker": Lines()}, "bm25", {"chunker": "Lines"}),
        ({"chunker": RecursiveCharacterChunker(50)}, "bm25", {"chunker": "recursive-character"}),
        ({"embedder": HashingEmbedder()}, "vector-rag", {"embedder": "HashingEmbedder"}),
        ({"vector_store": InMemoryVectorStore()}, "vector-rag", {"vector_store": "in-memory", "embedder": "lsa"}),
        (
            {"chunker": Lines(), "embedder": LsaEmbedder(8), "vector_store": InMemoryVectorStore()},
            "vector-rag",
            {"chunker": "Lines", "embedder": "lsa", "vector_store": "in-memory"},
        ),
        ({"retriever": BM25Retriever(k1=2.0)}, "bm25", {}),
        ({"retriever": VectorRAGRetriever()}, "vector-rag", {}),
    ],
    ids=["chunker without positions", "chunker", "embedder", "store", "all parts", "bm25", "vectors"],
)
def test_a_run_uses_the_parts_that_it_is_given(evaluation, parts, retriever, recorded):
    result = evaluation.run(**parts)
    assert result.config["retriever"]["type"] == retriever
    for key, name in recorded.items():
        assert result.config["retriever"][key]["type"].rpartition(":")[2] == name
    assert result.counts == {
        "questions": 1,
        "scored": 1,
        "no_answer": 0,
        "failed": 0,
        "metric_failed": 0,
        "answerable": 1,
        "skipped": 0,
        "hits": result.counts["hits"],
        "unlocated_hits": 0,
    }
    assert result.counts["hits"] > 0


def test_functions_are_chunker_embedder_and_reranker_too(evaluation):
    def count(texts):
        return [[text.count("Refunds"), len(text)] for text in texts]

    async def first_in_the_alphabet(query, texts):
        return [-sorted(texts).index(text) for text in texts]

    result = evaluation.run(
        chunker=lambda text: text.split("\n\n"), embedder=count, reranker=first_in_the_alphabet, k=50, config=MINE
    )
    assert result.metrics["span_recall"] == 1.0
    recorded = result.config["retriever"]
    assert recorded["reranker"]["function"].endswith("<locals>.first_in_the_alphabet")
    assert recorded["retriever"]["type"] == "vector-rag"
    assert recorded["retriever"]["embedder"]["function"].endswith("<locals>.count")
    assert recorded["retriever"]["chunker"]["function"].endswith("<locals>.<lambda>")
    texts = [evaluation.corpus[hit.doc_id].content[hit.start : hit.end] for hit in result.queries[0].hits]
    assert texts == sorted(texts)
    assert set(texts) == {part for document in evaluation.corpus for part in document.content.split("\n\n") if part}
    with pytest.raises(ConfigError, match="is a class; pass an instance"):
        evaluation.run(embedder=LsaEmbedder)


@pytest.mark.parametrize("part", ["chunker", "embedder", "vector_store"])
def test_a_retriever_and_parts_that_it_would_ignore_are_refused(evaluation, part):
    given = {"chunker": Lines(), "embedder": HashingEmbedder(), "vector_store": InMemoryVectorStore()}[part]
    with pytest.raises(ConfigError, match=f"retriever and {part} were given"):
        evaluation.run(retriever=BM25Retriever(), **{part: given})


def test_an_empty_store_is_not_mistaken_for_none(evaluation):
    class Counting(InMemoryVectorStore):
        added = 0

        def __len__(self):
            return 0

        def add(self, chunks, embeddings):
            self.added += len(chunks)
            super().add(chunks, embeddings)

    store = Counting()
    evaluation.run(vector_store=store)
    assert store.added == 3


def test_the_same_truth_serves_any_chunker_which_changes_the_scores(evaluation):
    sizes = [60, 120, 400, 800]
    results = [evaluation.run(chunker=RecursiveCharacterChunker(size), k=1) for size in sizes]
    assert len({result.config["dataset"]["hash"] for result in results}) == 1
    assert all(result.metrics["span_recall"] == 1.0 for result in results)
    assert [result.config["retriever"]["chunker"]["chunk_size"] for result in results] == sizes
    assert results[0].metrics["span_precision"] > results[-1].metrics["span_precision"]


def test_a_level_mismatch_names_both_levels(corpus):
    truth = ChunkLevelGroundTruth(Query.from_text("?"), [ChunkId("chunk_0123456789ab")])
    with pytest.raises(LevelMismatch, match="'dataset' is chunk-level, the evaluation is token-level"):
        TokenLevelEvaluation(corpus, Dataset([truth], CHUNK))


@pytest.mark.parametrize(
    ("evaluation", "level", "first"),
    [
        (DocumentLevelEvaluation, DOCUMENT, "hit"),
        (ChunkLevelEvaluation, CHUNK, "chunk_recall"),
        (TokenLevelEvaluation, TOKEN, "span_recall"),
    ],
)
def test_one_span_dataset_serves_three_evaluations_whose_experiments_can_be_inspected(
    corpus, dataset, evaluation, level, first
):
    chosen = evaluation(corpus, dataset)
    retriever, config = BM25Retriever(Lines()), EvaluationConfig(budgets=[], experiment_name="mine")
    experiment = chosen.experiment(retriever, k=[1, 2], config=config)
    assert (experiment.level, experiment.retriever, experiment.config) == (level, retriever, config)
    assert (experiment.k, experiment.name, experiment.level) == ((1, 2), "mine", level)
    assert experiment.metrics[0].name == first
    result = chosen.run(Lines(), k=[1, 2], config=config)
    assert run_experiment(experiment).metrics == result.metrics
    assert result.metrics[first] == 1.0
    assert result.cutoffs == ("1", "2")


@pytest.mark.parametrize("evaluation", [DocumentLevelEvaluation, ChunkLevelEvaluation, TokenLevelEvaluation])
def test_anything_but_a_dataset_and_a_corpus_is_refused_at_once(corpus, dataset, evaluation):
    with pytest.raises((DatasetError, LevelMismatch), match=r"questions: line 1: expected an object|token-level"):
        evaluation(corpus, ["questions"])
    with pytest.raises(DatasetError, match="holds no questions that are known"):
        evaluation(corpus, 7)
    with pytest.raises(CorpusError, match="no docs"):
        evaluation("no docs", dataset)
    with pytest.raises(CorpusError):
        evaluation(None, dataset)
