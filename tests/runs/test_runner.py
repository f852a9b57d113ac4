import asyncio
import re
import sqlite3
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import numpy as np
import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    Chunker,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    PositionAwareChunk,
    PrecisionOmega,
    Query,
    Retriever,
    SpanHit,
    SpanPrecision,
    SpanPrecisionRaw,
    SpanRecall,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
    generate_chunk_id,
    load_result,
    note,
)
from rag_evaluation_framework.components import FunctionRetriever
from rag_evaluation_framework.data import Chunk, Hit, QueryId, QueryText
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.errors import ComponentExited, InputError
from rag_evaluation_framework.scoring.metrics import SpanMetric
from support.each import each
from support.results import without_clocks

# 400 characters, no two alike: every text stands in one place, and places are easy to read off.
TEXT = "".join(chr(0x4E00 + number) for number in range(400))
CORPUS = Corpus([Document(DocumentId("d"), TEXT), Document(DocumentId("e"), "Same. Other. Same. More. Same.")])
RECALL = [SpanRecall()]


def span(start, end, doc_id="d"):
    return CharacterSpan(DocumentId(doc_id), start, end)


def place(start, end, doc_id="d"):
    return {"doc_id": doc_id, "start": start, "end": end}


def dataset(**truth):
    """Return a dataset of questions whose id is their wording."""
    entries = [TokenLevelGroundTruth(Query(QueryId(text), QueryText(text)), spans) for text, spans in truth.items()]
    return Dataset(entries, TOKEN, name="numbers", corpus=CORPUS)


ONE = dataset(q=[span(0, 100)])


def tens(query, k):
    """Find the text in order, ten characters at a time."""
    return [place(start, start + 10) for start in range(0, 400, 10)][:k]


# --- the life of a retriever ------------------------------------------------------------------------------------------


def test_warnings_before_an_error_are_still_shown():
    class Picky(Chunker):
        def chunk(self, text):
            note("a text was left out")
            return []

    # The chunker says why there are no chunks; without that the error is a riddle.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(InputError, match="made no chunks") as error:
            evaluate(BM25Retriever(Picky()), ONE)
    told = [str(warning.message) for warning in caught] + getattr(error.value, "__notes__", []) + [str(error.value)]
    assert any("a text was left out" in message for message in told)


# --- failures are data ------------------------------------------------------------------------------------------------


def test_a_question_that_fails_is_counted_and_kept_out_of_the_mean():
    def search(query, k):
        if query == "bad":
            raise ConnectionError("gone away")
        return [place(0, 50)]

    result = evaluate(search, dataset(good=[span(0, 100)], bad=[span(0, 100)], best=[span(0, 50)]), k=1)
    assert result.metrics["span_recall"] == 0.75  # of 0.5 and 1.0; with a 0 for the failure it would be 0.5
    assert result.counts["failed"] == 1
    assert result.counts["scored"] == 2
    (failure,) = result.failures["bad"]
    assert (failure.stage, failure.kind, failure.message) == ("retrieve", "ConnectionError", "gone away")
    assert result.per_query("span_recall") == {"good": 0.5, "bad": None, "best": 1.0}
    assert [query.status for query in result.queries] == ["scored", "failed", "scored"]


@pytest.mark.parametrize(
    ("counted", "mean", "scores"),
    [
        ((), 1.0, [1.0, None, None]),
        (["no-answer"], 0.5, [1.0, 0.0, None]),
        (["failed"], 0.5, [1.0, None, 0.0]),
        (["failed", "no-answer"], pytest.approx(1 / 3), [1.0, 0.0, 0.0]),
    ],
)
def test_queries_without_a_score_are_asked_and_count_as_zero_if_configured(counted, mean, scores):
    def search(query, k):
        return None if query == "bad" else [place(0, 50)]

    questions = dataset(a=[span(0, 50)], none=[], bad=[span(0, 50)])
    result = evaluate(search, questions, k=1, budgets=[], count_as_zero=counted)
    assert result.metrics["span_recall"] == mean
    assert list(result.per_query("span_recall").values()) == scores
    assert result.counts["no_answer"] == result.counts["failed"] == 1
    assert result.scores.count_as_zero == frozenset(counted)
    assert [hit.span for hit in result.queries[1].hits] == [span(0, 50)]


def test_what_no_metric_could_give_is_no_zero_where_unscored_queries_count_as_zero(tmp_path):
    class Shaky(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            raise ValueError("no")

    def search(query, k):
        return {"a": [place(0, 50)], "none": [], "bad": None}[query]

    questions = dataset(a=[span(0, 50)], none=[], bad=[span(0, 50)])
    metrics = [SpanRecall(), PrecisionOmega(), Shaky()]
    result = evaluate(search, questions, 1, budgets=[], metrics=metrics, count_as_zero=["no-answer", "failed"])
    assert result.metrics == {"span_recall@1": pytest.approx(1 / 3), "precision_omega@1": None, "shaky@1": None}
    assert load_result(result.save(tmp_path / "run"), TOKEN).metrics == result.metrics


@each(
    ("returned", "message"),
    [
        (None, "returned NoneType; expected a list"),
        ("a text", "returned str; expected a list"),
        ({"text": "x"}, r"returned dict with the keys \['text'\]; expected a list"),
        (7, "returned int; expected a list"),
        ([5], "returned a result of type int, 5; expected a text, a chunk, a pair"),
        ([{"source": "d", "page": 3}], r"keys \['page', 'source'\]"),
        ([{"doc_id": None}], r"keys \['doc_id \(None\)'\]; expected 'text', or"),
        ([place(5, 2)], "start=5, end=2; expected "),
        ([place(-1, 2)], "start=-1, end=2; expected "),
        ([place(0.0, 2.5)], "float"),
        ([Hit(DocumentId("d"), 5, 2)], "start=5, end=2; expected "),
        ([Hit(chunk_id=5)], "returned a hit whose chunk_id is 5, of type int; expected a text"),
    ],
)
def test_results_that_are_not_a_ranking_become_failures_that_say_what_was_expected(returned, message):
    result = evaluate(lambda query, k: returned, ONE)
    (failure,) = result.failures["q"]
    assert failure.stage == "retrieve"
    assert re.search(message, failure.message)
    assert result.counts["failed"] == 1


# --- which rankings are asked for -------------------------------------------------------------------------------------


class Asked:
    """A function retriever that notes how deep it was asked to go."""

    def __init__(self, function=tens):
        self.function, self.ks = function, []

    def __call__(self, query, k):
        self.ks.append(k)
        return self.function(query, k)


def test_one_retrieval_serves_every_k_and_every_budget_that_it_reaches():
    asked = Asked()
    result = evaluate(asked, dataset(a=[span(0, 100)], b=[span(0, 100)]), k=[1, 5, 10], budgets=["7ch", "100ch"])
    assert asked.ks == [10, 10]
    assert {cutoff: result.metrics[f"span_recall@{cutoff}"] for cutoff in result.cutoffs} == {
        "1": 0.1,
        "5": 0.5,
        "10": 1.0,
        "7ch": 0.07,
        "100ch": 1.0,
    }


def test_rankings_are_deepened_until_budgets_are_filled():
    asked = Asked()
    result = evaluate(asked, dataset(q=[span(0, 400)]), k=2, budgets=["305ch", "250ch_whole"], metrics=RECALL)
    assert result.metrics == {
        "span_recall@2": 20 / 400,
        "span_recall@305ch": 305 / 400,
        "span_recall@250ch_whole": 250 / 400,
    }
    assert asked.ks[0] == 2
    assert asked.ks[-1] >= 31
    assert asked.ks == sorted(set(asked.ks))
    assert len(asked.ks) <= 4
    assert len(result.queries[0].hits) == 31  # what no cutoff reaches is not kept


def test_a_ranking_that_ends_before_the_budget_is_filled_is_noted_and_not_asked_for_again_and_again():
    asked = Asked(lambda query, k: tens(query, k)[:3])
    result = evaluate(asked, ONE, k=5, budgets=["400ch"], metrics=RECALL)
    assert len(asked.ks) == 2  # once more, as a pipeline may leave out duplicates
    assert result.metrics["span_recall@400ch"] == 0.3
    assert "† rankings that ran out of results before the budget was filled: 1 of 1 at 400ch" in result.notes


@pytest.mark.parametrize("first", ["", TEXT[0]], ids=["nothing", "next to nothing"])
def test_results_that_cost_nothing_do_not_deepen_the_retrieval_forever(first):
    def search(query, k):
        if k > 100_000:
            raise RuntimeError(f"asked for {k} results")
        return [first, *[""] * (k - 1)]

    assert not evaluate(search, ONE, k=5, budgets=["4000ch"]).failures


def test_results_that_cost_nothing_do_not_end_the_reading_of_a_budget():
    def search(query, k):
        return [*[place(0, 0)] * 3, *tens(query, 10)][:k]

    for k in (1, 5):
        result = evaluate(search, ONE, k=k, budgets=["100ch"], metrics=RECALL)
        assert result.metrics["span_recall@100ch"] == 1.0


def test_each_k_of_a_retriever_that_is_not_prefix_stable_is_asked_for_once_and_scored_on_its_own_ranking():
    def search(query, k):  # finds the answer only when asked for one or for four results
        return [place(0, 100)] if k == 1 else [place(300, 310)] * 3 if k == 3 else [place(0, 50)]

    asked = Asked(search)
    result = evaluate(FunctionRetriever(asked, stable=False), ONE, k=[1, 3, 4], budgets=[], metrics=RECALL)
    assert sorted(asked.ks) == [1, 3, 4]
    assert result.metrics == {"span_recall@1": 1.0, "span_recall@3": 0.0, "span_recall@4": 0.5}


@pytest.mark.parametrize("order", [["deep", "q"], ["q", "deep"]])
@pytest.mark.parametrize("stable", [None, False])
def test_what_one_question_needs_does_not_change_the_scores_of_another(order, stable):
    def search(query, k):  # of "deep" results are short, so that the budget reaches far; no beginning of a longer one
        size = 1 if query == "deep" else 50
        return [place(start, start + size) for start in range(0, 400, size)][:k][::-1]

    questions = dataset(**{text: [span(0, 50)] for text in order})
    result = evaluate(FunctionRetriever(search, stable), questions, k=2, budgets=["100ch"], metrics=RECALL)
    assert result.per_query("span_recall@2") == {"deep": 2 / 50, "q": 1.0}
    assert result.per_query("span_recall@100ch")["q"] == 1.0


def test_a_ranking_whose_top_changes_with_depth_is_noted_and_no_other():
    result = evaluate(lambda query, k: tens(query, k)[::-1], ONE, k=2, budgets=["90ch"])
    (warning,) = result.notes
    assert "rankings changed at the top" in warning
    assert "prefix_stable" in warning
    assert evaluate(tens, ONE, k=2, budgets=["90ch"]).notes == ()


@pytest.mark.parametrize(
    ("found", "k", "recalls", "precision"),
    [(tens("q", 40), [1, 3], [0.1, 0.3], 1.0), ([place(0, 50)], [5], [0.5], 1.0), ([], [5], [0.0], 0.0)],
    ids=["more than were asked for", "fewer", "none"],
)
def test_a_ranking_of_another_length_than_k_is_cut_or_scored_as_it_is(found, k, recalls, precision):
    result = evaluate(lambda query, k: found, ONE, k=k, budgets=["10ch"], metrics=[SpanRecall(), SpanPrecision()])
    assert [result.metrics[f"span_recall@{cutoff}"] for cutoff in k] == recalls
    assert {result.metrics[name] for name in ("span_precision", "span_precision@10ch")} == {precision}
    assert len(result.queries[0].hits) == min(len(found), max(k))
    assert result.counts["failed"] == 0


# --- where results stand ----------------------------------------------------------------------------------------------


@each(
    "returned",
    [
        TEXT[20:60],
        place(20, 60),
        {"text": TEXT[20:60]},
        {"content": TEXT[20:60], "doc_id": "d", "score": "0.5"},
        {"page_content": TEXT[20:60], "id": 7},
        {"docId": "d", "start": 20, "end": 60, "chunkId": "c1"},
        {"document": "d", "start": np.int64(20), "end": np.int32(60), "score": np.float32(0.5)},
        {"text": TEXT[20:60], "doc_id": "d", "start": 380, "end": 420},
        Hit(DocumentId("d"), 20, 60),
        Hit(text=TEXT[20:60]),
        Chunk(generate_chunk_id(TEXT[20:60]), TEXT[20:60], DocumentId("d")),
        PositionAwareChunk.of(CORPUS["d"], 20, 60),
    ],
)
def test_results_of_every_form_are_located(returned):
    result = evaluate(lambda query, k: [returned], dataset(q=[span(20, 60)]), metrics=[SpanRecall(), SpanPrecision()])
    assert not result.failures
    assert [hit.span for hit in result.queries[0].hits] == [span(20, 60)]
    assert (result.metrics["span_recall"], result.metrics["span_precision@4000ch"]) == (1.0, 1.0)
    assert result.counts["unlocated_hits"] == 0


@pytest.mark.parametrize(
    ("returned", "places", "told"),
    [
        (["Same."] * 4, [(0, 5), (13, 18), (25, 30), (0, 5)], 8),
        ([place(0, 5, "e"), "Same."], [(0, 5), (13, 18)], 2),
    ],
    ids=["texts", "behind one that names a place"],
)
def test_a_text_that_occurs_more_than_once_takes_the_next_place_that_is_free_in_its_ranking(returned, places, told):
    result = evaluate(lambda query, k: returned, dataset(a=[span(0, 15, "e")], b=[span(0, 15, "e")]), k=4)
    for query in result.queries:
        assert [hit.span for hit in query.hits] == [span(*each, "e") for each in places]
    assert result.per_query("span_recall") == {"a": 7 / 15, "b": 7 / 15}
    assert any(f"text occurs more than once: {told}" in note for note in result.notes)


def test_a_text_with_a_document_is_looked_for_in_that_document():
    both = Corpus([Document(DocumentId("a"), "Shared footer."), Document(DocumentId("b"), "Shared footer.")])
    truth = TokenLevelGroundTruth(Query.from_text("q"), [span(0, 14, "b")])
    found = {"text": "Shared footer.", "doc_id": "b"}
    result = evaluate(lambda query, k: [found], Dataset([truth], TOKEN, corpus=both), k=1)
    assert result.metrics["span_recall"] == 1.0


UNKNOWN = "name a document which the corpus does not have: 1, such as"


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ({"text": TEXT[20:60], "doc_id": "https://example.org/page"}, UNKNOWN),
        ({"text": TEXT[20:60], "doc_id": "unknown", "start": 20, "end": 60}, UNKNOWN),
        ("d", "results that are the id of a document, and were read as a text: 1, such as 'd'; let the"),
    ],
    ids=["a page elsewhere", "an unknown document", "an id as a text"],
)
def test_a_result_that_names_no_document_as_it_should_is_told_and_not_looked_for_in_another(returned, told):
    result = evaluate(lambda query, k: [returned], dataset(q=[span(20, 60)]), metrics=RECALL)
    assert result.metrics["span_recall"] == 0.0
    assert result.counts["unlocated_hits"] == 1
    assert [told in note for note in result.notes].count(True) == 1


@pytest.mark.parametrize("name", ["guides/d.md", "d.md", "d"])
def test_documents_of_results_may_be_named_by_their_stem(name):
    documents = Corpus([Document(DocumentId("guides/d.md"), TEXT), Document(DocumentId("guides/e.md"), "Same.")])
    truth = TokenLevelGroundTruth(Query.from_text("q"), [span(20, 60, "guides/d.md")])
    result = evaluate(lambda query, k: [place(20, 60, name)], Dataset([truth], TOKEN, corpus=documents), metrics=RECALL)
    assert result.metrics["span_recall"] == 1.0


@pytest.mark.parametrize(
    ("lost", "length"),
    [("not in the corpus", 17), (place(0, 10, "unknown"), 0), (place(390, 401), 0), ("", 0)],
    ids=["text", "document", "behind the end", "empty"],
)
def test_results_without_a_place_are_counted_keep_their_rank_and_are_not_relevant(lost, length):
    result = evaluate(lambda query, k: [lost, place(0, 50)], ONE, k=[1, 2], metrics=[SpanRecall(), SpanPrecision()])
    assert result.counts["unlocated_hits"] == 1
    assert result.counts["hits"] == 2
    assert result.metrics["span_recall@1"] == 0.0
    assert result.metrics["span_recall@2"] == 0.5
    assert result.metrics["span_precision@2"] == 50 / (50 + length)
    assert "1 of 2 results (50%) have no place" in repr(result)


def test_texts_without_a_place_are_not_taken_for_one_another_and_kept():
    result = evaluate(lambda query, k: ["lost", "lost", TEXT[:8]], ONE, k=3, metrics=[SpanPrecision()])
    assert result.metrics["span_precision"] == 0.5
    assert [hit.text for hit in result.queries[0].hits] == ["lost", "lost", None]


def test_a_text_that_differs_from_its_place_is_noted_and_counted_once():
    shifted = {**place(10, 20), "text": TEXT[11:21]}
    result = evaluate(lambda query, k: [shifted, *tens(query, 40)][:k], ONE, k=2, budgets=["300ch"])
    (warning,) = result.notes
    assert "offsets are wrong" in warning
    assert re.search(r"\b1\b", warning)
    assert result.queries[0].hits[0].span == span(10, 20)


@pytest.mark.parametrize(
    ("returned", "metric", "score"),
    [
        (["x" * 60, place(0, 100)], SpanRecall(), 0.4),
        # 60 characters of the first, 40 of the second, which are those that the first has already
        ([place(0, 60), place(20, 100)], SpanPrecisionRaw(), pytest.approx(0.6)),
    ],
    ids=["a result without a place", "an overlap"],
)
def test_whatever_was_returned_counts_towards_the_budget(returned, metric, score):
    result = evaluate(lambda query, k: returned, ONE, k=2, budgets=["100ch"], metrics=[metric])
    assert result.metrics[f"{metric.name}@100ch"] == score


# --- coroutines -------------------------------------------------------------------------------------------------------


async def slow_tens(query, k):
    await asyncio.sleep(0)
    return tens(query, k)


class Coroutines(Retriever):
    def __init__(self):
        self.calls = []

    async def note(self, call):
        await asyncio.sleep(0)
        self.calls.append((call, asyncio.get_running_loop()))

    async def index(self, corpus):
        await self.note("index")

    async def retrieve(self, query, k):
        await self.note("retrieve")
        return tens(query, k)

    async def close(self):
        await self.note("close")


def test_functions_and_methods_may_be_coroutines():
    plain = evaluate(tens, ONE, budgets=["100ch"])
    retriever = Coroutines()
    for coroutines in (slow_tens, retriever):
        assert evaluate(coroutines, ONE, budgets=["100ch"]).metrics == plain.metrics
    assert [call for call, _ in retriever.calls] == ["index", "retrieve", "close"]
    assert len({loop for _, loop in retriever.calls}) == 1  # clients that are bound to a loop meet the same one


def test_an_evaluation_runs_inside_a_running_event_loop_and_in_its_thread_as_in_a_notebook():
    async def cell():
        connection = sqlite3.connect(":memory:")
        threads = evaluate(lambda query, k: [text for (text,) in connection.execute("SELECT 'a'")], ONE, k=5)
        return evaluate(slow_tens, ONE, k=5).metrics["span_recall"], threads.failures

    assert asyncio.run(cell()) == (0.5, {})


# --- metrics of one's own ---------------------------------------------------------------------------------------------


def test_a_metric_that_only_calculates_gets_the_ranking_cut_at_each_cutoff():
    seen = []

    class Lengths(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            seen.append((list(retrieved), list(ground_truth)))
            return float(len(retrieved))

    result = evaluate(
        lambda query, k: [place(0, 30), "lost", place(10, 50)][:k],
        ONE,
        k=[1, 3],
        budgets=["20ch", "30ch", "50ch", "50ch_whole", "3tok"],
        tokenizer=list,
        metrics=[Lengths()],
    )
    lost = (0, 4)  # of no document of the corpus
    cut = [
        [(0, 30)],
        [(0, 30), lost, (10, 50)],
        [(0, 20)],
        [(0, 30)],
        [(0, 30), lost, (10, 26)],
        [(0, 30), lost],
        [(0, 3)],
    ]
    assert [[(found.start, found.end) for found in retrieved] for retrieved, _ in seen] == cut
    assert [found.doc_id in CORPUS for found in seen[1][0]] == [True, False, True]
    assert all(truth == [span(0, 100)] for _, truth in seen)
    assert list(result.metrics.values()) == [1.0, 3.0, 1.0, 1.0, 3.0, 2.0, 1.0]
    assert next(iter(result.metrics)) == "lengths@1"


def test_a_metric_is_asked_about_questions_with_truth_and_ranking_only_and_keeps_its_scores_where_it_fails_for_one():
    class Shaky(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            return 1 / (ground_truth[0].start - 5)

    def search(query, k):
        return None if query == "bad" else []

    questions = dataset(a=[span(5, 9)], b=[span(6, 9)], none=[], bad=[span(0, 1)])
    result = evaluate(search, questions, k=1, budgets=[], metrics=[Shaky()])
    assert result.per_query("shaky") == {"a": None, "b": 1.0, "none": None, "bad": None}
    assert result.metrics["shaky"] == 1.0
    assert {name: told[0].stage for name, told in result.failures.items()} == {"a": "score shaky@1", "bad": "retrieve"}


class Raising(TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        raise ZeroDivisionError("by hand")


class NotFinite(TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return float("nan")


class NoNumber(TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return None


class RaisingAtOnce(SpanMetric):
    def score(self, judged):
        raise ZeroDivisionError("by hand")


class NotFiniteAtOnce(SpanMetric):
    def score(self, judged):
        return np.full(len(judged.truth), np.nan)


@pytest.mark.parametrize(
    ("metric", "kind"),
    [
        (Raising(), "ZeroDivisionError"),
        (NotFinite(), "ValueError"),
        (NoNumber(), "TypeError"),
        (RaisingAtOnce(), "ZeroDivisionError"),
        (NotFiniteAtOnce(), "ValueError"),
    ],
    ids=["raises", "NaN", "None", "raises for all", "NaN for all"],
)
def test_a_metric_that_gives_no_score_becomes_a_failure_of_that_metric_only(metric, kind, tmp_path):
    result = evaluate(tens, dataset(a=[span(0, 10)], none=[]), k=1, budgets=[], metrics=[metric, SpanRecall()])
    (failure,) = result.failures["a"]
    assert (failure.stage, failure.kind) == (f"score {metric.name}@1", kind)
    assert result.metrics == {f"{metric.name}@1": None, "span_recall@1": 1.0}
    # retrieval worked: the question is no failed one
    assert [result.counts[name] for name in ("scored", "failed", "metric_failed")] == [1, 0, 1]
    assert result.queries[0].status == "scored"
    result.save(tmp_path / "run")


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_notes_of_components_and_metrics_are_in_the_result_once():
    class Changing(Chunker):
        def chunk(self, text):
            return [text, "never written", "never written"]

    class Wary(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            note("this metric is wary")
            return 1.0

    result = evaluate(BM25Retriever(Changing()), ONE, metrics=[Wary()])
    warning, of_metric, _ = result.notes
    assert warning.startswith("4 of 6 chunks are not text of their document")
    assert "'never written'" in warning
    assert warning in result.summary().as_text(10_000)
    assert (of_metric, result.metrics["wary"]) == ("this metric is wary", 1.0)


SLEPT = {"index": 0.02, "retrieve": 0.03, "score": 0.04}


def test_timings_say_how_long_each_part_took():
    class Slow(Retriever):
        def index(self, corpus):
            time.sleep(SLEPT["index"])

        def retrieve(self, query, k):
            time.sleep(SLEPT["retrieve"])
            return []

    class SlowScore(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            time.sleep(SLEPT["score"])
            return 1.0

    result = evaluate(Slow(), ONE, k=1, budgets=[], metrics=[SlowScore()])
    assert list(result.timings) == list(SLEPT)
    too_short = {part: result.timings[part] < least for part, least in SLEPT.items()}
    assert not any(too_short.values()), too_short
    assert result.queries[0].stages["retrieve"] >= SLEPT["retrieve"]


@dataclass(frozen=True)
class Own(Retriever):
    depth: int = 3

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return tens(query, k)[: self.depth]


def test_a_result_records_what_was_run_on_what():
    result = evaluate(Own(4), ONE, k=[2, 5], budgets=["9ch", "3tok"], tokenizer=str.split, metrics=[SpanHit()])
    assert result.config["retriever"] == {"type": f"{__name__}:Own", "depth": 4}
    assert result.config["metrics"] == [{"type": "span_hit"}]
    assert (result.config["k"], result.config["budgets"]) == ([2, 5], ["9ch", "3tok"])
    assert result.config["tokenizer"] == "str.split"
    assert result.config["dataset"] == {
        "name": "numbers",
        "evaluation_type": "token-level",
        "questions": 1,
        "skipped": 0,
        "version": None,
        "hash": ONE.content_hash,
    }
    assert (result.config["chunking"], result.config["chunk_id"]) == (None, None)
    assert result.config["corpus"]["documents"] == 2
    assert result.config["corpus"]["characters"] == 430
    assert result.config["corpus"]["hash"] == CORPUS.content_hash
    assert (result.name, result.evaluation_type) == ("Own(depth=4)", "token-level")
    assert result.experiment_url is None
    assert result.raw_results is None


def test_a_result_is_in_the_order_of_the_dataset_with_its_truth_and_wording():
    questions = dataset(c=[span(0, 1)], a=[], b=[span(1, 2), span(5, 9)])
    result = evaluate(tens, questions)
    assert [(query.query_id, query.text, query.relevant) for query in result.queries] == [
        ("c", "c", (span(0, 1),)),
        ("a", "a", ()),
        ("b", "b", (span(1, 2), span(5, 9))),
    ]


def test_two_runs_differ_only_in_their_timings(corpus):
    start = corpus["billing.md"].content.index("Refunds")
    truth = [
        TokenLevelGroundTruth(Query.from_text(text), [CharacterSpan(DocumentId("billing.md"), start, start + 31)])
        for text in ("How long do refunds take?", "When are invoices sent?", "?")
    ]
    questions = Dataset(truth, TOKEN, corpus=corpus)

    def run():
        return without_clocks(
            evaluate(BM25Retriever(), questions, k=[1, 5], budgets=["40ch", "9tok"], tokenizer=str.split)
        )

    first, second = run(), run()
    assert first == second
    assert first.metrics == second.metrics


def test_inputs_are_not_changed():
    found = [place(0, 50), "Same.", {"text": "lost", "score": 1}]
    copy = [dict(item) if isinstance(item, dict) else item for item in found]
    evaluate(lambda query, k: found, ONE, k=2)
    assert found == copy


def exiting(step):
    """Return a retriever that calls `sys.exit(0)` at that step."""

    class Exiting(BM25Retriever):
        pass

    def leave(self, *arguments):
        sys.exit(0)

    setattr(Exiting, step, leave)
    return Exiting()


@pytest.mark.parametrize("step", ["index", "prepare", "chunks"])
def test_a_retriever_that_calls_sys_exit_raises_component_exited(step):
    with pytest.raises(ComponentExited, match=rf"Exiting: called sys.exit\(0\) \(test_runner.py, line \d+\) in {step}"):
        evaluate(exiting(step), dataset(q=[span(0, 9)]), metrics=[PrecisionOmega()])


def test_a_query_that_calls_sys_exit_is_a_failure_of_that_query():
    def search(query, k):
        return sys.exit(3) if query == "bad" else [TEXT[0:9]]

    result = evaluate(search, dataset(good=[span(0, 9)], bad=[span(0, 9)]), metrics=RECALL)
    ((failure,),) = result.failures.values()
    assert (failure.stage, failure.kind) == ("retrieve", "SystemExit")
    assert failure.message.startswith("called sys.exit(3) (test_runner.py, line ")
    assert result.counts["scored"] == 1


def test_runs_side_by_side_in_threads_keep_their_notes_apart():
    waiting = Barrier(8)

    def run(number):
        def search(query, k):
            note(f"note of run {number}")
            waiting.wait(timeout=30)  # so that all of them are under way at the same time
            return [TEXT]

        return evaluate(search, ONE, k=1, budgets=[])

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, range(8)))
    assert [result.notes for result in results] == [(f"note of run {number}",) for number in range(8)]


def test_a_metric_that_returns_other_than_one_score_per_question_has_failed():
    class Summed(SpanMetric):
        def score(self, judged):
            return np.array([0.5])

    result = evaluate(tens, dataset(a=[span(0, 100)], b=[span(0, 100)]), k=1, budgets=[], metrics=[Summed()])
    assert result.metrics["summed"] is None
    assert result.failures["a"][0].message == "returned shape (1,) for 2 questions; expected (2,)"


def test_the_tokens_of_a_text_are_counted_once_for_all_budgets_and_questions():
    counted = []

    def tokens(text):
        counted.append(text)
        return list(text)

    found = [place(0, 40), place(40, 80), place(0, 40)]
    questions = dataset(q=[span(0, 10)], r=[span(50, 60)])
    evaluate(lambda query, k: found[:k], questions, k=3, budgets=["80tok", "200tok"], tokenizer=tokens)
    counted = [text for text in counted if text in TEXT]  # but for the text that a tokenizer is asked about before
    assert sorted(counted) == [TEXT[:40], TEXT[40:80]]
