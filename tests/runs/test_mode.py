"""Whether a run reranks: what the run says, else its dataset; and how many candidates."""

import json

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import BM25Retriever
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.runs.config import in_mode
from rag_evaluation_framework.runs.spec import RunSpec
from rag_evaluation_framework.testing import ReversingReranker

REVERSING = "rag_evaluation_framework.testing:ReversingReranker"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    for name in "abc":
        (tmp_path / "docs" / f"{name}.md").write_text(f"The page {name} is about refunds {name}.")
    return tmp_path


def experiment(folder, defaults, **config):
    queries = [{"id": "q1", "query": "refunds", "relevant": {"sourceIds": ["a.md"]}}]
    content = {"version": "1", "id": "set", "defaults": defaults, "queries": queries}
    (folder / "set.json").write_text(json.dumps(content))
    return RunSpec(corpus="docs", dataset="set.json", **config).experiment(folder)


WANTS = {"mode": "retrieve+rerank"}


class TestWhatReranks:
    @pytest.mark.parametrize(
        ("defaults", "config", "message"),
        [
            (WANTS, {}, r"mode retrieve\+rerank of dataset 'set' needs a reranker, .* name.*--set mode=retrieve"),
            ({}, WANTS, r"mode retrieve\+rerank of the run needs a reranker, and there is none: name"),
            (WANTS, {**WANTS, "rerank_top_k": 5}, r"mode retrieve\+rerank of .* needs a reranker, and there is none"),
            (
                {},
                {"rerank_top_k": 5},
                r"rerank_top_k=5 of the run needs a reranker.*as cross-encoder, or give .* rerank$",
            ),
        ],
        ids=["dataset", "run", "both", "number"],
    )
    def test_without_a_reranker_the_mode_is_refused_with_who_wants_it(self, folder, defaults, config, message):
        with pytest.raises(ConfigError, match=f"^{message}"):
            experiment(folder, defaults, **config)

    @pytest.mark.parametrize("defaults", [WANTS, {}, {"mode": "retrieve"}], ids=["wants", "nothing", "retrieve"])
    def test_a_reranker_that_is_given_reranks(self, folder, defaults):
        made = experiment(folder, defaults, reranker=REVERSING)
        assert isinstance(made.retriever, RerankedRetriever)
        assert made.notes == ()

    @pytest.mark.parametrize(
        "config",
        [
            {"reranker": REVERSING},
            {"reranker": "no-such-reranker"},
            {"retriever": {"type": "reranked", "retriever": "bm25", "reranker": REVERSING}},
            {},
        ],
        ids=["reranker", "one that is not made", "a reranked retriever", "nothing"],
    )
    def test_mode_retrieve_of_the_run_is_plain_retrieval_and_says_so(self, folder, config):
        made = experiment(folder, WANTS, mode="retrieve", **config)
        assert made.retriever == BM25Retriever()
        assert made.notes == (
            "the dataset says mode retrieve+rerank, and nothing is reranked: this run has no reranker",
        )
        assert rag.run_experiment(made).reranking is None

    def test_a_reranked_retriever_is_enough(self, folder):
        whole = {"type": "reranked", "retriever": "bm25", "reranker": REVERSING, "candidates": 7}
        made = experiment(folder, WANTS, retriever=whole)
        assert made.retriever.candidates == 7
        assert experiment(folder, WANTS, retriever=whole, rerank_top_k=2).retriever.candidates == 2

    def test_in_python_a_run_without_a_reranker_says_so(self, folder):
        dataset = experiment(folder, {**WANTS, "rerankTopK": 9}, mode="retrieve").dataset
        result = rag.evaluate(BM25Retriever(), dataset)
        assert [note.partition(",")[0] for note in result.notes] == [
            "the dataset says mode retrieve+rerank",
            "rerankTopK=9 of the dataset is not applied: nothing is reranked",
        ]
        reranked = rag.DocumentLevelEvaluation(dataset.corpus, dataset).run(reranker=ReversingReranker())
        assert reranked.notes == ()
        assert reranked.config["retriever"]["candidates"] == 9


class TestHowMany:
    @pytest.mark.parametrize(
        ("defaults", "config", "candidates", "notes"),
        [
            ({}, {}, 50, ()),
            ({"rerankTopK": 20}, {}, 20, ()),
            (
                {"rerankTopK": 20},
                {"rerank_top_k": 2},
                2,
                ("rerankTopK=20 of the dataset is not applied: this run reranks 2 candidates",),
            ),
            ({}, {"rerank_top_k": 2}, 2, ()),
        ],
        ids=["default", "dataset", "run before dataset", "run"],
    )
    def test_it_is_what_the_run_says_else_the_dataset_else_50(self, folder, defaults, config, candidates, notes):
        made = experiment(folder, defaults, reranker=REVERSING, **config)
        assert made.retriever.candidates == candidates
        assert made.record["retriever"]["candidates"] == candidates
        assert made.notes == notes

    @pytest.mark.parametrize("wrong", [0, -1, "5", 2.5, True])
    def test_it_is_a_whole_number_of_at_least_1(self, wrong):
        with pytest.raises(ValueError, match="rerank_top_k"):
            RunSpec(corpus="docs", dataset="set.json", rerank_top_k=wrong)

    @pytest.mark.parametrize("metadata", [{"mode": 5}, {"mode": "other"}, {"rerankTopK": "50"}, {"rerankTopK": True}])
    def test_metadata_that_is_no_setting_asks_for_nothing(self, metadata):
        dataset = Dataset([], rag.TOKEN, metadata=metadata)
        assert dataset.mode is None
        assert dataset.rerank_top_k is None
        assert in_mode(BM25Retriever(), None, dataset) == BM25Retriever()
