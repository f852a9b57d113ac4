"""What cannot be shown, and what cannot be read, is refused in words at every public door."""

from dataclasses import dataclass

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import runs
from rag_evaluation_framework.components import HybridRetriever, SentenceTransformerEmbedder
from rag_evaluation_framework.components.embedders.function import FunctionEmbedder
from rag_evaluation_framework.data import Hit, QueryRanking, Rankings
from rag_evaluation_framework.errors import ConfigError, DatasetError, RagEvalError
from rag_evaluation_framework.scoring import score
from rag_evaluation_framework.testing import FixedRetriever


class Unprintable:
    def __repr__(self):
        raise RuntimeError

    __str__ = __repr__


class UnprintableText(str):
    __slots__ = ()

    __repr__ = Unprintable.__repr__


class Unreadable:
    """A collection of somebody's, which fails when it is read."""

    def __iter__(self):
        raise KeyError("lost")

    def __call__(self, query, k):
        return []


UNPRINTABLE = Unprintable()
QUERY = rag.Query.from_text("What?")
CORPUS = rag.Corpus([rag.Document("a.md", "text")])
SPAN = rag.CharacterSpan("a.md", 0, 4)
DATASET = rag.Dataset([rag.TokenLevelGroundTruth(QUERY, [SPAN])], rag.TOKEN, corpus=CORPUS)


def search(query, k):
    return ["text"]


DOORS = {
    "Corpus": rag.Corpus,
    "Corpus of": lambda it: rag.Corpus([it]),
    "Dataset": lambda it: rag.Dataset(it, rag.TOKEN),
    "Dataset of": lambda it: rag.Dataset([it], rag.TOKEN),
    "a corpus of a dataset": lambda it: rag.Dataset([], rag.TOKEN, corpus=it),
    "a query": lambda it: rag.TokenLevelGroundTruth(it, [SPAN]),
    "spans": lambda it: rag.TokenLevelGroundTruth(QUERY, it),
    "a span": lambda it: rag.TokenLevelGroundTruth(QUERY, [it]),
    "ids": lambda it: rag.DocumentLevelGroundTruth(QUERY, it),
    "an id": lambda it: rag.DocumentLevelGroundTruth(QUERY, [it]),
    "gains": lambda it: rag.DocumentLevelGroundTruth(QUERY, ["a"], gains=it),
    "Rankings": lambda it: Rankings.of(it, CORPUS),
    "a ranking of rankings": lambda it: Rankings.of([it], CORPUS),
    "a query of rankings": lambda it: Rankings.of([QueryRanking(it, ())], CORPUS),
    "a hit": lambda it: Rankings.of([QueryRanking(QUERY, (it,))], CORPUS),
    "the text of a hit": lambda it: Rankings.of([QueryRanking(QUERY, (Hit(text=it),))], CORPUS),
    "the score of a hit": lambda it: Rankings.of([QueryRanking(QUERY, (Hit(text="text", score=it),))], CORPUS),
    "chunks to register": rag.ChunkRegistry,
    "one chunk to register": lambda it: rag.ChunkRegistry([it]),
    "a dataset to evaluate": lambda it: rag.evaluate(search, it),
    "a retriever": lambda it: rag.evaluate(it, DATASET),
    "metrics": lambda it: rag.evaluate(search, DATASET, metrics=it),
    "a metric": lambda it: rag.evaluate(search, DATASET, metrics=[it]),
    "k": lambda it: rag.evaluate(search, DATASET, k=it),
    "config": lambda it: rag.ExperimentConfig(search, DATASET, config=it),
    "experiment_name": lambda it: rag.EvaluationConfig(experiment_name=it),
    "budgets": lambda it: rag.EvaluationConfig(budgets=it),
    "tokenizer": lambda it: rag.EvaluationConfig(tokenizer=it),
    "count_as_zero": lambda it: rag.EvaluationConfig(count_as_zero=it),
    "one to count as zero": lambda it: rag.EvaluationConfig(count_as_zero=[it]),
    "batch_queries": lambda it: rag.EvaluationConfig(batch_queries=it),
    "max_concurrency": lambda it: rag.EvaluationConfig(max_concurrency=it),
    "timeout": lambda it: rag.EvaluationConfig(timeout=it),
    "on_error": lambda it: rag.EvaluationConfig(on_error=it),
    "save_results_path": lambda it: rag.EvaluationConfig(save_results_path=it),
    "a corpus of rankings": lambda it: Rankings.of([], it),
    "a function": FunctionEmbedder,
    "a number of characters": rag.RecursiveCharacterChunker,
    "where separators go": lambda it: rag.RecursiveCharacterChunker(4, overlap=0, separator_at=it),
    "a unit of cutoffs": lambda it: rag.data.Cutoff(5, it),
    "two gains": lambda it: rag.ChunkLevelGroundTruth(QUERY, ["chunk_a"], gains={"chunk_a": 1.0, "pa_chunk_a": it}),
    "a gain": lambda it: rag.ChunkLevelGroundTruth(QUERY, ["a"], gains={"a": it}),
    "a score and its cutoff": lambda it: rag.score_rankings({"q": ["a"]}, {"q": ["a"]}, [it]),
    "a model": SentenceTransformerEmbedder,
    "retrievers": HybridRetriever,
    "weights": lambda it: HybridRetriever([search, search], weights=it),
    "rankings to score": lambda it: score(it, DATASET, ["span_recall"], [1]),
    "rankings of a fake": FixedRetriever,
    "a path": rag.load_result,
    "ground truth to score": lambda it: rag.score_rankings(it, {"q": ["a"]}),
    "spans to score": lambda it: rag.score_spans(it, {"q": [SPAN]}),
    "whether all are asked together": lambda it: runs.retrieve(search, CORPUS, [QUERY], batch_queries=it),
    "metrics of ids": lambda it: rag.score_rankings({"q": ["a"]}, {"q": ["a"]}, it),
    "a ranking": lambda it: rag.score_rankings({"q": ["a"]}, {"q": it}),
    "ranked spans": lambda it: rag.score_spans({"q": [SPAN]}, {"q": it}),
    "ids of a metric": lambda it: rag.Recall().calculate(it, ["a"]),
}
COLLECTIONS = (
    *("Corpus", "Dataset", "spans", "ids", "chunks to register", "Rankings", "metrics", "budgets", "k"),
    *("count_as_zero", "retrievers", "weights", "ids of a metric", "metrics of ids", "a ranking", "ranked spans"),
)


ARRAYS = {"a row": np.arange(3), "a number": np.array(3.0), "an empty row": np.zeros(0)}
WITHOUT_ARRAYS = ("where separators go", "a unit of cutoffs", "two gains", "a score and its cutoff")
REFUSED = [
    *(pytest.param(door, UNPRINTABLE, "Unprintable|whose repr raises RuntimeError", id=door) for door in DOORS),
    *(pytest.param(door, Unreadable(), "Unreadable|KeyError", id=f"{door}, unreadable") for door in COLLECTIONS),
    *(
        pytest.param(door, odd, "expected|keep one", id=f"{door}, {name}")
        for door in WITHOUT_ARRAYS
        for name, odd in ARRAYS.items()
    ),
]


@pytest.mark.parametrize(("door", "value", "message"), REFUSED)
def test_what_cannot_be_shown_or_read_and_arrays_that_have_no_place_are_refused_in_words(door, value, message):
    with pytest.raises(RagEvalError, match=message):
        DOORS[door](value)


def test_what_cannot_be_shown_is_told():
    # An id that cannot be shown is told:
    with pytest.raises(ConfigError, match=r"chunk_id gives <.*UnprintableText whose repr raises"):
        rag.ChunkLevelEvaluation(
            rag.Corpus([rag.Document("a.md", "some text")]),
            rag.Dataset([rag.ChunkLevelGroundTruth(QUERY, ["x"])], rag.CHUNK),
            chunk_id=lambda chunk, number: UnprintableText("x"),
        ).run(retriever=rag.BM25Retriever(chunker=rag.RecursiveCharacterChunker(4, overlap=0)))

    # Ids that end in an error are told:
    with pytest.raises(RagEvalError, match=r"^ground_truth gives <generator .*>; reading it raises ZeroDivisionError"):
        rag.score_rankings({"q": (1 // 0 for _ in "a")}, {"q": ["a"]})

    # A score that cannot be shown is told:
    with pytest.raises(ConfigError, match="score 'no_such': no metric 'no_such'"):
        rag.score_rankings({"q": ["a"]}, {"q": ["a"]}, [UnprintableText("no_such")])

    # A gain of no id is told:
    with pytest.raises(DatasetError, match="gains are of None; expected ids as texts"):
        rag.ChunkLevelGroundTruth(QUERY, ["a"], gains={None: 1})

    # A number that python does not write out is refused in words:
    with pytest.raises(RagEvalError, match="expected a whole number of at least 1"):
        rag.RecursiveCharacterChunker(-(10**5000))


def test_a_component_with_an_array_as_a_parameter_has_a_name():
    @dataclass(frozen=True)
    class Weighted(rag.Retriever):
        weights: object = None
        others: object = ()

        def index(self, corpus): ...

        def retrieve(self, query, k): ...

    class Unlike:
        def __ne__(self, other):
            raise ZeroDivisionError

        def __repr__(self):
            return "Unlike()"

    assert Weighted().name == "Weighted"
    assert Weighted(np.arange(3)).name == "Weighted(weights=array([0, 1, 2]))"
    assert Weighted(others=Unlike()).name == "Weighted(others=Unlike())"
