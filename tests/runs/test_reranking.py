"""Before and after reranking: what is before equals the plain run, and no order of the candidates beats the ceiling."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    Retriever,
    SpanRecall,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    load_result,
    runs,
)
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.components.retrievers import FunctionRetriever
from rag_evaluation_framework.data import Answer, Hit, Retrieval, Stage
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.runs.config import CONFIGS
from rag_evaluation_framework.scoring import reranking
from rag_evaluation_framework.testing import ReversingReranker
from support.rerankers import SharedWords
from support.results import saved_rows

LEVELS = (DOCUMENT, CHUNK, TOKEN)
TEXT = "".join(chr(97 + number % 26) for number in range(1_000))
ONE = Corpus([Document(DocumentId("d"), TEXT)])


def level_name(level):
    return level.evaluation_type


@pytest.fixture(scope="module")
def handbook():
    return load_handbook()


def run(retriever, dataset, level=None, **options):
    level = dataset.level if level is None else level
    cut = {"k": options.pop("k", [3, 10]), "metrics": options.pop("metrics", None)}
    config = rag.EvaluationConfig(budgets=options.pop("budgets", ["1500ch"]), **options)
    return rag.run_experiment(CONFIGS[level.evaluation_type](retriever, dataset, config=config, **cut))


def dataset(*truth, corpus=ONE):
    """A dataset of questions with these spans as their answers."""
    entries = [
        TokenLevelGroundTruth(Query.from_text(f"question {number}"), tuple(CharacterSpan("d", *span) for span in spans))
        for number, spans in enumerate(truth)
    ]
    return Dataset(entries, TOKEN, corpus=corpus)


def spans(*found):
    return [Hit(DocumentId("d"), start, end) for start, end in found]


class TestBefore:
    @pytest.mark.parametrize("level", LEVELS, ids=level_name)
    @pytest.mark.parametrize("batched", [True, False])
    @pytest.mark.parametrize("retriever", [BM25Retriever(), VectorRAGRetriever()], ids=lambda part: part.name)
    def test_it_equals_the_plain_run(self, handbook, retriever, level, batched):
        plain = run(retriever, handbook, level, batch_queries=batched)
        reranker = SharedWords()
        result = run(RerankedRetriever(retriever, reranker, candidates=40), handbook, level, batch_queries=batched)
        assert result.scores.columns.keys() == plain.scores.columns.keys() == result.queries.before.keys()
        for name, column in plain.scores.columns.items():
            np.testing.assert_array_equal(result.reranking.before.columns[name], column, err_msg=name)
        assert result.reranking.before.mean == plain.metrics
        assert result.reranking.after is result.scores
        assert any(change.any() for change in result.reranking.change.values())
        assert result.config["candidates"] == 40

    def test_it_is_known_of_questions_that_were_asked_together_too(self, handbook):
        result = run(RerankedRetriever(VectorRAGRetriever(), ReversingReranker(), 20), handbook)
        timed = sum(bool(query.stages) for query in result.queries)
        assert timed == 50 < len(result.queries)
        assert all(query.before.keys() == query.scores.keys() for query in result.queries)
        assert not any(np.isnan(result.queries.before["span_recall@3"][result.scores.answerable]))

    def test_what_was_beyond_the_cutoff_comes_in_by_reranking_more_candidates_than_that(self):
        found = spans((0, 10), (10, 20), (20, 30))
        whole = RerankedRetriever(lambda query, k: found[:k], ReversingReranker(), candidates=3)
        result = run(whole, dataset([(20, 30)]), k=[2], budgets=[], metrics=[SpanRecall()])
        told = result.reranking.record()["scores"]["span_recall@2"]
        assert (told["before"], told["after"], told["delta"], told["ceiling"]) == (0.0, 1.0, 1.0, 1.0)
        assert (told["improved"], told["regressed"], told["unchanged"]) == (1, 0, 0)

    def test_every_question_tells_the_change_of_every_score(self, handbook, tmp_path):
        result = run(RerankedRetriever(BM25Retriever(), ReversingReranker(), 20), handbook)
        for row, query in enumerate(result.queries):
            changes = {name: column[row] for name, column in result.reranking.change.items()}
            assert query.deltas == (pytest.approx(changes) if query.before else {})
        folder = result.save(tmp_path / "run")
        for query, row in zip(result.queries, saved_rows(folder), strict=True):
            assert row.get("deltas", {}) == query.deltas
        assert any(query.deltas["span_recall@3"] < 0 for query in result.queries if query.deltas)

    def test_the_difference_is_that_of_comparing_with_the_plain_run(self, handbook):
        result = run(RerankedRetriever(BM25Retriever(), SharedWords()), handbook)
        compared = run(BM25Retriever(), handbook).compare(result)
        assert compared.tests == result.reranking.tests
        for name, (before, after) in compared.means.items():
            assert result.reranking.means(name) == pytest.approx((before, after))

    def test_it_ends_with_the_candidates_and_the_result_says_so(self):
        found = spans(*((start, start + 10) for start in range(0, 100, 10)))
        whole = RerankedRetriever(lambda query, k: found[:k], ReversingReranker(), candidates=2)
        result = run(whole, dataset([(20, 30)]), k=[5], budgets=["50ch"])
        assert result.reranking.before.mean["span_recall@5"] == 0.0
        assert "rankings end early, as candidates=2 of RerankedRetriever is less than was asked for" in result.notes

    def test_texts_are_located_before_as_after(self, handbook):
        texts = [document.content[100:300] for document in handbook.corpus]
        plain = run(lambda query, k: texts[:k], handbook, k=[5], budgets=[])
        result = run(
            RerankedRetriever(lambda query, k: texts[:k], ReversingReranker(), 20), handbook, k=[5], budgets=[]
        )
        assert result.reranking.before.mean == plain.metrics

    def test_a_pipeline_of_ones_own_tells_its_candidates_by_a_stage(self):
        found = tuple(spans((0, 10), (20, 30)))

        def search(query, k):
            return Retrieval(found[::-1][:k], (Stage("search", 0.25, found), Stage("rerank", 0.5)))

        result = run(search, dataset([(20, 30)]), k=[1], budgets=[], metrics=[SpanRecall()])
        assert result.reranking.means("span_recall@1") == (0.0, 1.0)

    @pytest.mark.parametrize("retriever", [BM25Retriever(), HybridRetriever()], ids=lambda part: part.name)
    def test_without_a_reranker_there_is_none(self, handbook, retriever):
        result = run(retriever, handbook)
        assert result.reranking is None
        assert not result.queries.before
        assert result.queries[0].deltas == {}
        assert result.config["candidates"] is None
        assert "reranking" not in repr(result)


class TestFailures:
    @staticmethod
    def search(query, k):
        if query.endswith("0"):
            raise ConnectionError("gone away")
        return spans((0, 10), (20, 30))[:k]

    def test_a_question_that_failed_or_has_no_answer_has_neither(self, tmp_path):
        whole = RerankedRetriever(self.search, ReversingReranker())
        result = run(whole, dataset([(0, 5)], [], [(20, 25)]), k=[1], budgets=[], metrics=[SpanRecall()])
        failed, unanswerable, scored = result.queries
        assert failed.before == failed.ceilings == unanswerable.before == {}
        assert scored.before == {"span_recall@1": 0.0}
        assert scored.ceilings == {"span_recall@1": 1.0}
        assert result.reranking.record()["scores"]["span_recall@1"]["n"] == 1
        assert ["before" in row for row in saved_rows(result.save(tmp_path / "run"))] == [False, False, True]

    def test_where_all_failed_there_is_none_and_what_counts_as_zero_does_so_before_and_after(self):
        whole = RerankedRetriever(self.search, ReversingReranker())
        failed = run(whole, dataset([(0, 5)]))
        assert (failed.counts["failed"], failed.reranking) == (1, None)
        result = run(whole, dataset([(0, 5)], [(20, 25)]), k=[1], budgets=[], count_as_zero=["failed"])
        assert result.reranking.means("span_recall@1") == (0.0, 0.5) == (0.0, result.metrics["span_recall@1"])

    def test_a_metric_that_fails_before_is_told_and_leaves_the_scores_after(self):
        class Picky(rag.TokenLevelMetric):
            name = "picky"

            def calculate(self, retrieved, ground_truth):
                if retrieved[0].start == 0:
                    raise ValueError("not the first")
                return 1.0

        whole = RerankedRetriever(lambda query, k: spans((0, 10), (20, 30))[:k], ReversingReranker())
        result = run(whole, dataset([(0, 5)]), k=[1], budgets=[], metrics=[Picky()])
        assert result.metrics["picky"] == 1.0
        assert not result.failures
        assert result.queries[0].before == {"picky@1": None}
        assert result.reranking.means("picky@1") == (None, None)
        (note,) = result.notes
        assert note.startswith("before reranking, a metric failed on 1 of 1 questions, the first 'query_")
        assert note.endswith("ValueError: not the first")
        assert "–" in repr(result)


def best_of_any_order(found, truth, **cut):
    """The best recall of all orders of the results."""
    best = 0.0
    for order in permutations(found):
        result = run(lambda query, k, order=order: list(order)[:k], truth, metrics=[SpanRecall()], **cut)
        best = max(best, result.metrics[result.score_names[0]])
    return best


class TestCeiling:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("cut", [{"k": [2], "budgets": []}, {"k": [], "budgets": ["60ch"]}], ids=["k", "budget"])
    def test_no_order_of_the_candidates_exceeds_it(self, seed, cut):
        random = np.random.default_rng(seed)
        starts = random.integers(0, 200, 4)
        found = spans(*((int(start), int(start + random.integers(10, 60))) for start in starts))
        truth = dataset([(int(start), int(start) + 25) for start in random.integers(0, 200, 3)])
        whole = RerankedRetriever(lambda query, k: found[:k], ReversingReranker())
        result = run(whole, truth, metrics=[SpanRecall()], **cut)
        (ceiling,) = result.reranking.ceiling.mean.values()
        best = best_of_any_order(found, truth, **cut)
        assert best <= ceiling + 1e-12
        every = run(lambda query, k: found[:k], truth, k=[4], budgets=[], metrics=[SpanRecall()])
        assert ceiling <= every.metrics["span_recall@4"] + 1e-12

    def test_it_is_the_same_however_many_questions_are_judged_at_once(self, monkeypatch):
        found = spans((0, 10), (20, 40), (50, 80))
        whole = RerankedRetriever(lambda query, k: found[:k], ReversingReranker())
        truth = dataset([(0, 5), (20, 40), (50, 75)], [(20, 25)], [(5, 8), (60, 70)])
        together = run(whole, truth, k=[2], budgets=["20ch"]).queries.ceilings
        monkeypatch.setattr(reranking, "_HITS_AT_ONCE", 1)
        for name, column in run(whole, truth, k=[2], budgets=["20ch"]).queries.ceilings.items():
            np.testing.assert_array_equal(column, together[name], err_msg=name)

    def test_it_is_exact_of_results_that_share_no_text(self):
        found = spans((0, 10), (20, 40), (50, 80))
        truth = dataset([(0, 5), (20, 40), (50, 75)])
        result = run(RerankedRetriever(lambda query, k: found[:k], ReversingReranker()), truth, k=[2], budgets=["20ch"])
        assert result.reranking.ceiling.mean["span_recall@2"] == pytest.approx(45 / 50)
        assert result.reranking.ceiling.mean["span_recall@20ch"] == pytest.approx(20 / 50)

    def test_of_documents_it_is_no_more_than_there_are_results(self):
        corpus = Corpus([Document(DocumentId(name), name) for name in "abcd"])
        truth = DocumentLevelGroundTruth(Query.from_text("which?"), tuple(map(DocumentId, "abd")))
        found = [Hit(DocumentId(name)) for name in "cab"]
        whole = RerankedRetriever(lambda query, k: found[:k], ReversingReranker())
        result = run(whole, Dataset([truth], DOCUMENT, corpus=corpus), k=[1, 3])
        assert result.reranking.ceiling.mean == pytest.approx(
            {"recall@1": 1 / 3, "recall@3": 2 / 3, "recall@1500ch": 2 / 3}
        )

    @pytest.mark.parametrize("level", LEVELS, ids=level_name)
    def test_it_is_never_below_what_was_scored(self, handbook, level):
        result = run(RerankedRetriever(BM25Retriever(), SharedWords()), handbook, level)
        told = result.reranking
        assert told.ceiling.columns
        for name, ceiling in told.ceiling.columns.items():
            for table in (told.before, told.after):
                scored = ~np.isnan(table.columns[name])
                assert (table.columns[name][scored] <= ceiling[scored] + 1e-12).all()

    def test_of_answers_with_several_places_it_is_the_recall_of_all_candidates(self):
        either = Answer.any_of(CharacterSpan("d", 0, 10), CharacterSpan("d", 100, 110))
        truth = TokenLevelGroundTruth(Query.from_text("which?"), (either, CharacterSpan("d", 200, 210)))
        found = spans((100, 110), (200, 210))
        whole = RerankedRetriever(lambda query, k: found[:k], ReversingReranker())
        result = run(whole, Dataset([truth], TOKEN, corpus=ONE), k=[1], budgets=[])
        assert result.reranking.ceiling.mean["span_recall@1"] == 1.0


class TestSaved:
    @pytest.fixture
    def saved(self, handbook, tmp_path):
        whole = RerankedRetriever(BM25Retriever(), SharedWords(), 20)
        result = run(whole, handbook)
        return result, result.save(tmp_path / "run")

    def test_it_is_loaded_as_it_was_saved_also_of_a_report_alone(self, saved, tmp_path):
        result, folder = saved
        loaded = load_result(folder)
        assert [*loaded.queries] == [*result.queries]
        assert loaded.reranking.record() == result.reranking.record()
        assert repr(loaded) == repr(result)
        assert json.loads((folder / "report.json").read_text())["reranking"] == result.reranking.record()
        alone = load_result((folder / "report.json").rename(tmp_path / "alone.json"))
        assert alone.reranking.before == replace(result.reranking.before, failures=alone.failures)

    def test_it_is_in_the_summary_and_beside_the_means(self, saved):
        result, folder = saved
        page = (folder / "summary.md").read_text()
        assert "## Before and after reranking\n\nup to 20 candidates per question; " in page.replace("\\_", "_")
        assert "| score | before | after | delta | interval | p | ceiling |" in page
        assert "Before and after reranking" in repr(result)
        assert "Before and after reranking" in result._repr_html_()


class Answering(Retriever):
    """Answers many questions together, without stages."""

    name = "answering"

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return spans((0, 10), (20, 30))[:k]

    def retrieve_many(self, queries, k):
        return [self.retrieve(query, k) for query in queries]


def test_the_rankings_before_are_those_of_the_stage_that_kept_them_last():
    rankings = runs.retrieve(
        RerankedRetriever(RerankedRetriever(Answering(), ReversingReranker()), ReversingReranker(), candidates=1),
        ONE,
        [str(number) for number in range(60)],
        [2],
    )
    before = rankings.before_reranking
    assert len(before) == 60
    assert all([hit.start for hit in entry.hits] == [20] for entry in before)
    assert runs.retrieve(FunctionRetriever(Answering().retrieve), ONE, ["1"], [2]).before_reranking is None
