"""How often a retriever is asked, together and side by side; and that no number depends on it."""

import asyncio
import os
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass

import pytest

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    PositionAwareChunk,
    Query,
    RecursiveCharacterChunker,
    Reranker,
    Retriever,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    evaluate,
    note,
)
from rag_evaluation_framework.components import (
    FunctionRetriever,
    HybridRetriever,
    InMemoryVectorStore,
    LsaEmbedder,
    RerankedRetriever,
)
from rag_evaluation_framework.data import QueryId, QueryText, Retrieval
from rag_evaluation_framework.datasets.rankings import StoredRetriever
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.runs import ranker, retrieve
from support.results import told

HANDBOOK = load_handbook()
SMALL = RecursiveCharacterChunker(chunk_size=120)
TEXT = "".join(chr(0x4E00 + number) for number in range(2_000))
CORPUS = Corpus([Document(DocumentId("d"), TEXT)])


def numbers(count):
    """Questions "0", "1", ... whose answers are ten characters each."""
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(str(number)), QueryText(str(number))),
            (CharacterSpan(DocumentId("d"), number * 10, number * 10 + 10),),
        )
        for number in range(count)
    ]
    return Dataset(entries, TOKEN, corpus=CORPUS)


def around(query, k):
    """Places of ten characters, best first: the answer of every question is its third result."""
    first = max(int(query) - 2, 0)
    return [{"doc_id": "d", "start": 10 * (first + rank), "end": 10 * (first + rank) + 10} for rank in range(k)]


def counting(retriever):
    """Return a retriever of the same kind that counts its rankings, and the counts by question."""
    asked = Counter()

    class Alone(type(retriever)):
        def retrieve(self, query, k):
            asked[query] += 1
            return super().retrieve(query, k)

    class Together(Alone):
        def retrieve_many(self, queries, k):
            asked.update(queries)
            return super().retrieve_many(queries, k)

    kind = Alone if type(retriever).retrieve_many is Retriever.retrieve_many else Together
    return kind(**{name: getattr(retriever, name) for name in retriever.__dataclass_fields__}), asked


class Backwards(Reranker):
    """Counts how often it is asked."""

    def __init__(self):
        self.calls = 0

    def rerank(self, query, chunks, top_k=None):
        self.calls += 1
        return list(chunks)[::-1][:top_k]


WORDS = BM25Retriever(SMALL, language=None)  # with the stop words of a question, every ranking fills the budgets
BUILT_IN = {
    "bm25": WORDS,
    "vectors": VectorRAGRetriever(SMALL, LsaEmbedder(dimensions=16)),
    "hybrid": HybridRetriever([BM25Retriever(SMALL), VectorRAGRetriever(SMALL, LsaEmbedder(dimensions=16))]),
    "reranked": RerankedRetriever(WORDS, Backwards(), candidates=100),
}


@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize("retriever", BUILT_IN.values(), ids=BUILT_IN)
def test_built_in_retrievers_are_asked_once_per_question_whatever_the_cutoffs(retriever, batch):
    counted, asked = counting(retriever)
    config = EvaluationConfig(budgets=["4000ch", "1000ch_whole"], batch_queries=batch)
    result = TokenLevelEvaluation(HANDBOOK.corpus, HANDBOOK).run(retriever=counted, k=5, config=config)
    assert set(asked.values()) == {1}
    assert len(asked) == result.config["calls"] == len(HANDBOOK)
    assert result.notes == ()


def test_a_pipeline_that_declares_nothing_is_asked_at_most_twice():
    asked = []

    def search(query, k):
        asked.append(k)
        return around(query, k)

    result = evaluate(search, numbers(4), k=[2, 5], budgets=["200ch"])
    assert asked == [5] * 4 + [40] * 4
    assert result.config["calls"] == 8
    asked.clear()
    evaluate(search, numbers(4), k=[2, 5], budgets=["50ch"])
    assert asked == [5] * 4


def test_a_limit_of_the_retriever_that_leaves_a_budget_unfilled_is_noted():
    retriever = RerankedRetriever(BM25Retriever(SMALL), Backwards(), candidates=5)
    result = evaluate(retriever, HANDBOOK, k=5)
    assert "rankings end early, as candidates=5 of RerankedRetriever is less than was asked for" in result.notes
    assert evaluate(retriever, HANDBOOK, k=5, budgets=["100ch"]).notes == ()


def same(first, second):
    """Whether two results say the same, byte for byte, but for times and for how often was asked."""
    return told(first) == told(second)


@pytest.mark.slow
@pytest.mark.parametrize("retriever", BUILT_IN.values(), ids=BUILT_IN)
def test_asked_together_results_are_those_of_one_question_after_the_other(monkeypatch, retriever):
    one_by_one = TokenLevelEvaluation(HANDBOOK.corpus, HANDBOOK).run(
        retriever=retriever, config=EvaluationConfig(batch_queries=False)
    )
    assert one_by_one.config["latency"] == "one question at a time"
    monkeypatch.setattr(ranker, "_MOST_TIMED", 3)
    together = TokenLevelEvaluation(HANDBOOK.corpus, HANDBOOK).run(retriever=retriever)
    assert same(one_by_one, together)
    timed = [query for query in together.queries if query.stages]
    if not retriever.takes_many:  # BM25 has nothing to gain
        assert len(timed) == len(HANDBOOK)
    else:
        assert len(timed) == 3
        assert together.config["latency"].startswith("3 questions, one at a time")


class Together(Retriever):
    """Can be asked for several questions, as long as none of them is bad."""

    prefix_stable = True

    def __init__(self, fails="bad", short=0):
        self.fails, self.short, self.blocks = fails, short, []

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        if query == self.fails:
            raise ConnectionError("bad question")
        return around(query, k)

    def retrieve_many(self, queries, k):
        self.blocks.append(len(queries))
        return super().retrieve_many(queries, k)[self.short :]


@pytest.mark.parametrize(("fails", "short", "error"), [("7", 0, "ConnectionError: bad"), ("", 1, "11 rankings for 12")])
def test_where_asking_together_fails_each_question_is_asked_alone(monkeypatch, fails, short, error):
    monkeypatch.setattr(ranker, "_MOST_TIMED", 4)
    result = evaluate(Together(fails, short), numbers(16), k=5, budgets=[])
    assert list(result.failures) == ([fails] if fails else [])
    assert result.metrics["span_recall@5"] == 1.0
    (text,) = result.notes
    assert text.startswith("Together could not be asked for many questions together: ")
    assert error in text
    assert text.endswith("; each was asked alone")
    assert result.config["calls"] == 4 + 12 + 12


def test_questions_are_asked_together_in_blocks_and_those_that_are_timed_are_spread_over_all(monkeypatch):
    monkeypatch.setattr(ranker, "_MOST_TIMED", 5)
    monkeypatch.setattr(ranker, "_TOGETHER", 5)
    retriever = Together()
    result = evaluate(retriever, numbers(19), k=5, budgets=[])
    assert retriever.blocks == [5, 5, 4]
    assert [query.query_id for query in result.queries] == [str(number) for number in range(19)]
    assert [query.query_id for query in result.queries if query.stages] == ["0", "3", "7", "11", "15"]
    assert result.config["calls"] == 19


class Shorter(Together):
    """Has results of different lengths, so that every question needs another depth; claims nothing."""

    prefix_stable = None

    def __init__(self):
        super().__init__()
        self.depths = []

    def retrieve(self, query, k):
        length = int(query) % 7 + 3
        return [{"doc_id": "d", "start": length * rank, "end": length * (rank + 1)} for rank in range(k)]

    def retrieve_many(self, queries, k):
        self.depths.append((k, len(queries)))
        return super().retrieve_many(queries, k)


def test_questions_are_asked_again_together_too(monkeypatch):
    monkeypatch.setattr(ranker, "_MOST_TIMED", 2)
    retriever = Shorter()
    result = evaluate(retriever, numbers(100), k=2, budgets=["200ch"])
    assert retriever.depths[0] == (2, 98)
    again = retriever.depths[1:]
    assert sorted(dict(again)) == [64, 128, 256]  # from 50 to 134
    assert sum(number for _, number in again) == 100
    assert len(again) == 3
    alone = TokenLevelEvaluation(CORPUS, numbers(100)).run(
        retriever=Shorter(), k=2, config=EvaluationConfig(budgets=["200ch"], batch_queries=False)
    )
    assert [query.hits for query in alone.queries] == [query.hits for query in result.queries]
    assert alone.scores == result.scores


def test_results_that_cost_next_to_nothing_do_not_send_a_retriever_down_without_bound():
    depths = []

    def search(query, k):
        depths.append(k)
        return [{"doc_id": "d", "start": 0, "end": 0}] * (k - 1) + [{"doc_id": "d", "start": 0, "end": 1}]

    evaluate(search, numbers(1), k=5, budgets=["1900ch"])
    assert depths == [5, 500, 10_000]  # a hundred times as many at most, and ten thousand at all


def test_a_first_request_is_never_deeper_than_ten_thousand():
    depths = []

    class Letters(Retriever):
        prefix_stable = True

        def index(self, corpus):
            pass

        def chunks(self):
            return [PositionAwareChunk.of(CORPUS["d"], 0, 1)] * 30_000

        def retrieve(self, query, k):
            depths.append(k)
            return self.chunks()[:k]

    evaluate(Letters(), numbers(1), k=5, budgets=["20000ch"])
    assert depths[0] == 10_000


def test_a_reranker_over_a_function_is_asked_once_too():
    asked, reranker = Counter(), Backwards()

    def search(query, k):
        asked[query] += 1
        return around(query, k)

    result = evaluate(RerankedRetriever(FunctionRetriever(search), reranker), numbers(20), k=5, budgets=["100ch"])
    assert set(asked.values()) == {1}
    assert reranker.calls == result.config["calls"] == 20
    assert not RerankedRetriever(FunctionRetriever(search), reranker).takes_many
    assert HybridRetriever([FunctionRetriever(search), VectorRAGRetriever()]).takes_many
    assert not HybridRetriever([StoredRetriever("run"), VectorRAGRetriever()]).takes_many  # it is asked by ids


@pytest.mark.parametrize("stable", [None, True])
@pytest.mark.parametrize("budget", ["1500ch", "2001ch"])
def test_a_budget_is_read_to_its_end_though_what_follows_is_shorter_than_could_be_foreseen(stable, budget):
    def search(query, k):
        places = [(0, 400), *((start, start + 10) for start in range(400, 2_000, 10))]
        return [{"doc_id": "d", "start": start, "end": end} for start, end in places][:k]

    result = evaluate(FunctionRetriever(search, stable), numbers(1), k=1, budgets=[budget])
    rankings = retrieve(FunctionRetriever(search, stable), CORPUS, ["0"], [1, budget])
    assert sum(hit.end - hit.start for hit in rankings[0].hits) == min(int(budget[:-2]), 2_000)
    assert result.notes == ()


@pytest.mark.parametrize("stable", [None, True])
def test_a_pipeline_that_leaves_out_some_results_is_asked_once_more(stable):
    def search(query, k):  # three of four results are copies, and left out: 0, 4, 8, 12
        return around("2", 2 * k)[::4]

    def score(**options):
        result = evaluate(FunctionRetriever(search, stable), numbers(13), k=5, **options)
        return result.per_query("span_recall@5")["12"]

    assert len(search("12", 5)) == 3
    assert score(budgets=["100ch"]) == score(budgets=[]) == 0.0
    rankings = retrieve(FunctionRetriever(search, stable), CORPUS, ["12"], [5, "100ch"])
    assert sum(hit.end - hit.start for hit in rankings[0].hits) == 100


def test_an_unstable_retriever_is_scored_at_each_k_by_what_it_returns_there_and_fails_where_one_fails():
    def search(query, k):  # finds the answer only if asked for five
        if (query, k) == ("1", 3):
            raise ConnectionError("gone away")
        return around(query, 5) if k == 5 else [{"doc_id": "d", "start": 1_990, "end": 2_000}] * k

    result = evaluate(FunctionRetriever(search, stable=False), numbers(4), k=[3, 5], budgets=["200ch"])
    assert (result.metrics["span_recall@3"], result.metrics["span_recall@5"]) == (0.0, 1.0)
    assert list(result.failures) == ["1"]


def test_limits_are_passed_on_by_what_is_around():
    inner = HybridRetriever([FunctionRetriever(around)], depth=4)
    for outer in (RerankedRetriever(inner, Backwards(), candidates=20), HybridRetriever([inner], depth=30)):
        outer.index(CORPUS)
        (many,) = outer.retrieve_many(["0"], 9)
        assert outer.retrieve("0", 9).limit == many.limit == "depth=4 of HybridRetriever"


class TestSideBySide:
    def test_what_is_raised_between_two_questions_stops_the_others(self, monkeypatch):
        asked = []

        def search(query, k):
            asked.append(query)
            time.sleep(0.002)
            return around(query, k)

        class Broken(ranker.HitCollector):
            def add(self, ranking):
                if len(asked) > 20:
                    raise KeyboardInterrupt
                return super().add(ranking)

        monkeypatch.setattr(ranker, "HitCollector", Broken)
        with pytest.raises(KeyboardInterrupt):
            evaluate(search, numbers(199), k=5, budgets=[], max_concurrency=4)
        count = len(asked)
        time.sleep(0.1)
        assert len(asked) == count < 150

    def test_vectors_that_are_first_searched_by_many_threads_are_joined_once(self):
        sequential = evaluate(VectorRAGRetriever(SMALL, LsaEmbedder(dimensions=16)), HANDBOOK, k=5)
        for _ in range(5):
            retriever = VectorRAGRetriever(SMALL, LsaEmbedder(dimensions=16))
            assert same(sequential, evaluate(retriever, HANDBOOK, k=5, max_concurrency=8))

    def test_many_questions_wait_at_the_same_time_and_results_are_the_same(self):
        running, most = 0, 0

        async def search(query, k):
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01 * (int(query) % 3))
            running -= 1
            if query == "13":
                raise ConnectionError("gone away")
            return around(query, k)

        sequential = evaluate(search, numbers(60), k=[1, 5], budgets=["60ch"])
        assert most == 1
        result = evaluate(search, numbers(60), k=[1, 5], budgets=["60ch"], max_concurrency=8)
        assert most == 8
        assert same(sequential, result)
        assert [(name, told[0].kind) for name, told in result.failures.items()] == [("13", "ConnectionError")]
        assert result.config["latency"].startswith("2 questions, one at a time")
        assert sum(bool(query.stages) for query in result.queries) == 2

    def test_of_eighty_questions_three_wait_alone_and_the_others_sixteen_at_a_time(self):
        running, beside = 0, {}

        async def search(query, k):
            nonlocal running
            running += 1
            for _ in range(5):
                beside[query] = max(beside.get(query, 0), running)
                await asyncio.sleep(0.004)
            running -= 1
            return around(query, k)

        evaluate(search, numbers(80), k=5, budgets=[], max_concurrency=16)
        alone = [query for query, most in beside.items() if most == 1]
        assert sorted(map(int, alone)) == [0, 26, 53]
        assert max(beside.values()) == 16

    def test_functions_run_in_threads_and_their_notes_keep_the_order_of_the_questions(self):
        met = threading.Barrier(3, timeout=30)

        def search(query, k):
            if query in "345":  # the first of four is asked alone
                met.wait()
            time.sleep(0.03 if query == "3" else 0)
            note(f"asked for {query}")
            return around(query, k)

        result = evaluate(search, numbers(6), k=5, budgets=["100ch"], max_concurrency=3)
        assert result.notes == tuple(f"asked for {number}" for number in range(6))
        assert result.metrics["span_recall@5"] == 1.0

    def test_retrieve_takes_it_too(self):
        together = retrieve(around, CORPUS, [str(number) for number in range(20)], [3], max_concurrency=5)
        alone = retrieve(around, CORPUS, [str(number) for number in range(20)], [3])
        assert [entry.hits for entry in together] == [entry.hits for entry in alone]
        assert (together.calls, together.timed, alone.timed) == (20, 1, 20)
        assert together.latency == "1 question, alone"

    def test_a_metric_that_needs_the_rankings_of_all_stages_still_has_their_hits(self):
        retriever = RerankedRetriever(FunctionRetriever(around), Backwards(), candidates=5)
        rankings = retrieve(retriever, CORPUS, [str(number) for number in range(20)], [3], max_concurrency=5)
        assert all(any(stage.hits for stage in entry.stages) for entry in rankings)
        assert sum(all(stage.seconds is not None for stage in entry.stages) for entry in rankings) == rankings.timed


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_after_ctrl_c_nothing_is_asked_and_coroutines_are_cancelled():
    asked, ended, waiting = [], [], threading.Event()

    async def search(query, k):
        asked.append(query)
        if len(asked) <= 10:  # four of a hundred are asked alone
            return around(query, k)
        waiting.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(query)
            raise

    def interrupt():
        waiting.wait(30)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        evaluate(search, numbers(100), k=5, budgets=[], max_concurrency=4)
    assert len(asked) == 14
    give_up = time.monotonic() + 10
    while len(ended) < 4 and time.monotonic() < give_up:
        time.sleep(0.01)
    assert sorted(ended) == sorted(asked[10:])
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rag-eval_")]


class TestArun:
    def test_it_is_what_run_is_and_the_loop_goes_on_meanwhile(self):
        evaluation = TokenLevelEvaluation(CORPUS, numbers(8))
        ticks = 0

        async def search(query, k):
            await asyncio.sleep(0.01)
            return around(query, k)

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        async def service():
            ticking = asyncio.create_task(tick())
            result = await evaluation.arun(retriever=search, k=[3, 5], metrics=[SpanRecall()])
            ticking.cancel()
            return result

        result = asyncio.run(service())
        assert same(result, evaluation.run(retriever=search, k=[3, 5], metrics=[SpanRecall()]))
        assert ticks > 5

    @pytest.mark.parametrize("questions", [4, 8], ids=["at the last question", "before it"])
    def test_a_cancelled_task_asks_no_other_question_and_saves_nothing(self, tmp_path, questions):
        asked, cancelled = [], threading.Event()

        async def search(query, k):
            asked.append(query)
            try:
                await asyncio.sleep(60 if query == "3" else 0)
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return around(query, k)

        evaluation = TokenLevelEvaluation(CORPUS, numbers(questions))
        config = EvaluationConfig(budgets=[], save_results_path=tmp_path / "root")

        async def service():
            running = asyncio.create_task(evaluation.arun(retriever=search, config=config))
            while "3" not in asked:
                await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        asyncio.run(service())
        assert cancelled.wait(10)
        time.sleep(0.3)
        assert asked == ["0", "1", "2", "3"]
        assert not list((tmp_path / "root").glob("runs/*"))


@dataclass(frozen=True)
class Uneven(Retriever):
    """Chunks of very different lengths."""

    def index(self, corpus):
        pass

    @property
    def prefix_stable(self):
        return True

    def chunks(self):
        places = [(0, 500), (500, 501), (501, 502), (502, 503), (503, 1000)]
        return [PositionAwareChunk.of(CORPUS["d"], *place) for place in places]

    def retrieve(self, query, k):
        return Retrieval(ranker.as_hits(self.chunks()[:k], "Uneven"), complete=k > 5)


@pytest.mark.parametrize(("budget", "depth"), [("2ch", 2), ("3ch", 3), ("4ch", 4), ("501ch", 5), ("9000ch", 6)])
def test_the_first_request_is_as_deep_as_the_shortest_chunks_need(budget, depth):
    rankings = retrieve(Uneven(), CORPUS, ["0"], [budget, 1])
    assert rankings.depth == depth
    assert rankings.calls == 1


class Twice(Uneven):
    """Each chunk twice."""

    def retrieve(self, query, k):
        return [chunk for chunk in self.chunks() for _ in range(2)][:k]


def test_as_many_results_as_chunks_are_all_of_them_if_none_comes_twice():
    assert retrieve(Uneven(), CORPUS, ["0"], [5]).exhausted.tolist() == [True]
    assert retrieve(Twice(), CORPUS, ["0"], [5]).exhausted.tolist() == [False]


def test_an_empty_list_of_questions_is_no_error():
    assert len(retrieve(BM25Retriever(), CORPUS, [], [3])) == 0
    assert len(retrieve(VectorRAGRetriever(vector_store=InMemoryVectorStore()), HANDBOOK.corpus, [], [3])) == 0
    assert len(retrieve(around, CORPUS, [], [3], max_concurrency=4)) == 0


def test_two_texts_whose_generated_ids_are_equal_are_two_questions():
    texts = ["What is said in section 70272?", "What is said in section 80025?"]
    corpus = Corpus([Document(DocumentId("a.md"), "Section 80025 says nothing.")])
    rankings = retrieve(lambda query, k: ["Section 80025 says nothing."], corpus, texts, [1])
    assert [query.text for query in rankings.queries] == texts
    with pytest.raises(DatasetError, match="given twice: 1, the first with the id 'query_de826fd4'"):
        retrieve(lambda query, k: [], corpus, [texts[0], texts[0]], [1])
