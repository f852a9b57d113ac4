"""The fakes that the package ships: what they return and record, and what they refuse."""

import subprocess
import sys

import numpy as np
import pytest

from rag_evaluation_framework import Corpus
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.testing import FixedRetriever, HashingEmbedder, ReversingReranker


class TestHashingEmbedder:
    def test_words_are_counted_in_lower_case_wherever_they_stand_and_in_another_process_too(self):
        one, two, none = HashingEmbedder().embed(["Refunds, refunds take days", "days TAKE refunds refunds", "…"])
        assert np.array_equal(one, two)
        assert sorted(one[one > 0]) == [1, 1, 2]
        assert not none.any()
        code = (
            "from rag_evaluation_framework.testing import HashingEmbedder as E; print(E(9).embed(['a b é c']).tolist())"
        )
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert printed.strip() == str(HashingEmbedder(9).embed(["a b é c"]).tolist())


class TestFixedRetriever:
    def test_one_list_is_the_ranking_of_every_question_and_others_can_be_given_by_question(self):
        retriever = FixedRetriever(["a", "b", "c"])
        assert retriever.retrieve("Who?", 2) == ["a", "b"]
        assert retriever.retrieve("Why?", 9) == ["a", "b", "c"]
        assert retriever.prefix_stable
        by_question = FixedRetriever({"Who?": ["a", "b"], "Why?": ()})
        assert by_question.retrieve_many(["Why?", "Who?"], 1) == [[], ["a"]]

    @pytest.mark.parametrize(
        ("rankings", "kind", "told"),
        [
            ({"Who?": []}, InputError, r"no ranking for 'Why\?'; there are rankings for 'Who[?]'$"),
            ({}, InputError, r"no ranking for 'Why\?'; there are rankings for none$"),
            *(
                (odd, ConfigError, r"FixedRetriever: rankings=.*expected a list, or a mapping")
                for odd in ("text", None, 5, {"a", "b"}, lambda query, k: [])
            ),
        ],
    )
    def test_a_question_without_a_ranking_and_what_is_neither_a_list_nor_a_mapping_are_refused(
        self, rankings, kind, told
    ):
        with pytest.raises(kind, match=told):
            FixedRetriever(rankings).retrieve("Why?", 1)

    def test_calls_are_recorded_with_their_arguments_and_stay_out_of_names_and_equality(self):
        retriever, corpus = FixedRetriever(["a"]), Corpus([])
        retriever.index(corpus)
        retriever.prepare(("Who?",))
        retriever.retrieve("Who?", 5)
        retriever.close()
        assert retriever.calls == [("index", corpus), ("prepare", ["Who?"]), ("retrieve", "Who?", 5), ("close",)]
        assert retriever.name == "FixedRetriever"
        assert retriever == FixedRetriever(["a"]) != FixedRetriever(["b"])
        assert hash(retriever) == hash(FixedRetriever(["a"]))


class TestReversingReranker:
    def test_the_last_comes_first_calls_are_recorded_and_a_pipeline_shows_what_it_reranked(self):
        reranker, chunks = ReversingReranker(), ["a", "b", "c"]
        assert reranker.rerank("Who?", chunks) == ["c", "b", "a"]
        assert reranker.rerank("Who?", chunks, 2) == ["c", "b"]
        assert reranker.calls == [("rerank", "Who?", chunks, None), ("rerank", "Who?", chunks, 2)]
        reranker = ReversingReranker()
        pipeline = RerankedRetriever(FixedRetriever(["Alpha.", "Beta.", "Gamma."]), reranker, candidates=2)
        pipeline.index(Corpus([]))
        assert [hit.text for hit in pipeline.retrieve("Who?", 2).hits] == ["Beta.", "Alpha."]
        assert [call[0] for call in reranker.calls] == ["prepare", "rerank"]
