"""The seam, used alone: `retrieve` makes rankings, `score` makes scores of them, and nothing else is needed."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import PurePath
from threading import Event

import numpy as np
import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    ChunkRecall,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    PrecisionOmega,
    Query,
    Recall,
    RecursiveCharacterChunker,
    SpanIoU,
    SpanPrecision,
    SpanRecall,
    SpanU,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
    score_spans,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import FunctionRetriever
from rag_evaluation_framework.data import (
    ChunkId,
    Cutoff,
    Failure,
    Hit,
    QueryId,
    QueryRanking,
    QueryText,
    Rankings,
    ScoreTable,
)
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, CorpusError, DatasetError, LevelMismatch
from rag_evaluation_framework.runs import retrieve
from rag_evaluation_framework.scoring import score
from rag_evaluation_framework.scoring.levels import RULES
from rag_evaluation_framework.scoring.score import with_own_cutoffs
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support import brute_force_spans as brute_force
from support.each import each


class Named(TokenLevelMetric):
    """A metric of any name."""

    name = None

    def __init__(self, name):
        self.name = name

    def calculate(self, retrieved, ground_truth):
        return 1.0


HANDBOOK = load_handbook()
METRICS = [SpanRecall(), SpanPrecision(), SpanIoU()]
CUTOFFS = [1, 5, "1000ch", "1000ch_whole"]
TEXT = "0123456789" * 10
CORPUS = Corpus([Document(DocumentId("d"), TEXT)])


def dataset(**spans):
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(name), QueryText(name)), tuple(CharacterSpan(DocumentId("d"), *span) for span in found)
        )
        for name, found in spans.items()
    ]
    return Dataset(entries, TOKEN, corpus=CORPUS)


def by_hand(**hits):
    """Rankings as a stored run would have them: no retriever, only places."""
    return Rankings.of(
        (
            QueryRanking(Query(QueryId(name), QueryText(name)), tuple(Hit(DocumentId("d"), *span) for span in found))
            for name, found in hits.items()
        ),
        CORPUS,
    )


def test_metrics_are_scored_by_name_as_an_evaluation_does():
    # Metrics are scored by name:
    rankings = retrieve(BM25Retriever(), HANDBOOK.corpus, HANDBOOK.queries, [5])
    by_name = score(rankings, HANDBOOK, ["span_recall", SpanIoU()], [5])
    assert by_name.mean == score(rankings, HANDBOOK, [SpanRecall(), SpanIoU()], [5]).mean
    with pytest.raises(LevelMismatch, match=r"metric 'mrr' scores .*choose metrics of that level"):
        score(rankings, HANDBOOK, ["mrr"], [5])

    # Retrieve and score are what an evaluation does:
    retriever = BM25Retriever()
    rankings = retrieve(retriever, HANDBOOK.corpus, HANDBOOK.queries, CUTOFFS)
    table = score(rankings, HANDBOOK, METRICS, CUTOFFS)
    result = evaluate(retriever, HANDBOOK, k=[1, 5], budgets=["1000ch", "1000ch_whole"], metrics=METRICS)
    assert table == result.scores
    assert table.mean == result.metrics

    # One cutoff needs no list:
    rankings, truth = by_hand(a=[(0, 10)]), dataset(a=[(0, 10)])
    assert list(score(rankings, truth, [SpanRecall()], 15).columns) == ["span_recall@15"]
    assert list(score(rankings, truth, [SpanRecall()], "15").columns) == ["span_recall@15"]
    assert list(score(rankings, truth, [SpanRecall()], "15ch").columns) == ["span_recall@15ch"]
    for cutoffs, message in (([], "no cutoffs were given"), ([5, "5"], "'5' is given twice"), (None, "cutoff None")):
        with pytest.raises(ConfigError, match=message):
            score(rankings, truth, [SpanRecall()], cutoffs)


def test_other_metrics_and_cutoffs_need_no_other_retrieval():
    # Other metrics and cutoffs need no other retrieval:
    asked = []

    def search(query, k):
        asked.append(k)
        return [{"doc_id": "d", "start": 10 * rank, "end": 10 * rank + 10} for rank in range(10)][:k]

    truth = dataset(q=[(0, 40)])
    rankings = retrieve(search, CORPUS, truth.queries, [10])
    assert asked == [10]
    assert score(rankings, truth, [SpanRecall()], [1, 2, "25ch"]).mean == {
        "span_recall@1": 0.25,
        "span_recall@2": 0.5,
        "span_recall@25ch": 0.625,
    }
    assert asked == [10]

    # The chunks of the index come with the rankings:
    rankings = retrieve(BM25Retriever(), HANDBOOK.corpus, HANDBOOK.queries[:3], [1])
    few = Dataset(HANDBOOK.ground_truth[:3], TOKEN, corpus=HANDBOOK.corpus)
    assert score(rankings, few, [PrecisionOmega()], [1]).mean["precision_omega"] > 0
    with pytest.warns(UserWarning, match="precision_omega: not available, as rankings cannot list its chunks"):
        assert (
            score(by_hand(a=[(0, 10)]), dataset(a=[(0, 10)]), [PrecisionOmega()], [1]).mean["precision_omega"] is None
        )


def test_rankings_made_elsewhere_are_matched_by_id_and_scored():
    # Rankings made elsewhere are scored by hand worked values:
    table = score(by_hand(a=[(0, 5), (5, 10)], b=[(50, 60)]), dataset(a=[(0, 10)], b=[(0, 10)]), [SpanRecall()], [1, 2])
    assert table.per_query("span_recall@1") == {"a": 0.5, "b": 0.0}
    assert table.per_query("span_recall@2") == {"a": 1.0, "b": 0.0}
    assert table.mean["span_recall"] == 0.25  # the first cutoff of the metric

    # Queries are matched by id and not by position:
    rankings = by_hand(b=[(50, 60)], a=[(0, 10)])
    assert score(rankings, dataset(a=[(0, 10)], b=[(0, 10)]), [SpanRecall()], [1]).per_query("span_recall") == {
        "a": 1.0,
        "b": 0.0,
    }

    # The order of queries changes no mean:
    truth = dataset(**{f"q{number}": [(0, 7 + number)] for number in range(30)})
    turned = Dataset(truth.ground_truth[::-1], TOKEN, corpus=CORPUS)
    rankings = by_hand(**{f"q{number}": [(0, 5)] for number in range(30)})
    assert score(rankings, truth, METRICS, [1]).mean == score(rankings, turned, METRICS, [1]).mean


def test_what_was_not_retrieved_or_is_ranked_twice_is_refused():
    # A query that was not retrieved is refused:
    with pytest.raises(
        DatasetError, match=r"the rankings lack 1 of 2 questions, the first 'b': retrieve for dataset\.queries"
    ):
        score(by_hand(a=[(0, 10)]), dataset(a=[(0, 10)], b=[(0, 10)]), [SpanRecall()], [1])

    # A question that is ranked twice and rankings without a corpus are refused:
    rankings = by_hand(a=[(0, 10)])
    with pytest.raises(DatasetError, match="the rankings have question 'a' twice"):
        Rankings.of([*rankings] * 2, CORPUS)
    with pytest.raises(CorpusError, match="corpus=None: expected a Corpus"):
        Rankings.of(rankings, None)
    with pytest.raises(CorpusError, match="corpus=None: expected a Corpus"):
        replace(rankings, corpus=None)


def test_failed_and_unanswered_queries_have_a_status_and_no_score():
    def search(query, k):
        if query == "bad":
            raise ConnectionError("gone away")
        return [{"doc_id": "d", "start": 0, "end": 10}]

    truth = dataset(good=[(0, 10)], bad=[(0, 10)], none=[])
    table = score(retrieve(search, CORPUS, truth.queries, [1]), truth, [SpanRecall()], [1])
    assert table.statuses == ("scored", "failed", "no-answer")
    assert table.per_query("span_recall") == {"good": 1.0, "bad": None, "none": None}
    assert table.failures == {"bad": (Failure("retrieve", "ConnectionError", "gone away"),)}
    assert table.row("bad") == table.row("none") == {}


def test_a_metric_of_another_level_and_a_budget_without_a_tokenizer_are_refused():
    # A metric of another level is refused:
    with pytest.raises(
        LevelMismatch,
        match="metric 'recall' scores chunk-level and document-level truth, dataset 'dataset' is scored at token-level",
    ):
        score(by_hand(a=[(0, 10)]), dataset(a=[(0, 10)]), [Recall()], [1])

    # A budget in tokens needs a tokenizer:
    rankings, truth = by_hand(a=[(0, 10)]), dataset(a=[(0, 10)])
    with pytest.raises(ConfigError, match="counts tokens: expected a tokenizer"):
        score(rankings, truth, [SpanRecall()], ["5tok"])
    table = score(rankings, truth, [SpanRecall()], ["5tok"], tokenizer=resolve_tokenizer(list))
    assert table.mean["span_recall@5tok"] == 0.5


def test_cutoffs_that_were_not_asked_of_an_unstable_retriever_are_refused():
    # A k that was not asked of an unstable retriever is refused:
    retriever = FunctionRetriever(lambda query, k: [{"doc_id": "d", "start": k, "end": k + 1}] * k, stable=False)
    truth = dataset(q=[(0, 10)])
    rankings = retrieve(retriever, CORPUS, truth.queries, [2, 4])
    assert score(rankings, truth, [SpanRecall()], [4, 2]).mean["span_recall@2"] == 0.1
    with pytest.raises(ConfigError, match=r"cutoff '3': the retriever ranks differently .* was asked for 2, 4 only"):
        score(rankings, truth, [SpanRecall()], [3])

    # A budget that was not asked of an unstable retriever is refused:
    retriever = FunctionRetriever(lambda query, k: [{"doc_id": "d", "start": k, "end": k + 5}] * k, stable=False)
    truth = dataset(q=[(0, 10)])
    rankings = retrieve(retriever, CORPUS, truth.queries, [5, "30ch"])
    assert score(rankings, truth, [SpanRecall()], ["30ch"]).mean["span_recall@30ch"] == 0.0
    with pytest.raises(ConfigError, match=r"cutoff '10ch': the retriever ranks differently .* asked for 5, 30ch only"):
        score(rankings, truth, [SpanRecall()], ["10ch"])


def test_spans_are_scored_as_chunks_or_documents_by_the_names_of_the_dataset():
    # Spans can be scored as chunks or documents:
    retriever = BM25Retriever(RecursiveCharacterChunker(chunk_size=400))
    rankings = retrieve(retriever, HANDBOOK.corpus, HANDBOOK.queries, [5])
    table = score(rankings, HANDBOOK, [ChunkRecall()], [5], level=CHUNK)
    result = ChunkLevelEvaluation(HANDBOOK.corpus, HANDBOOK).run(retriever=retriever, k=5, metrics=[ChunkRecall()])
    assert 0 < table.mean["chunk_recall@5"] == result.metrics["chunk_recall@5"] < 1
    table = score(rankings, HANDBOOK, [Recall()], [5], level=DOCUMENT)
    result = DocumentLevelEvaluation(HANDBOOK.corpus, HANDBOOK).run(retriever=retriever, k=5, metrics=[Recall()])
    assert 0 < table.mean["recall@5"] == result.metrics["recall@5"] < 1
    assert score(rankings, HANDBOOK, METRICS, [5], level=TOKEN) == score(rankings, HANDBOOK, METRICS, [5])

    # Chunks and documents are named as the dataset names them:
    retriever = BM25Retriever(RecursiveCharacterChunker(chunk_size=400))
    rankings = retrieve(retriever, HANDBOOK.corpus, HANDBOOK.queries, [5])
    chunks = RULES[CHUNK.evaluation_type].truth(HANDBOOK, rankings)
    short = [
        replace(entry, relevant_chunk_ids=tuple(ChunkId(unit[: len("chunk_") + 8]) for unit in entry.relevant))
        for entry in chunks
    ]
    few = Dataset(short, CHUNK, corpus=HANDBOOK.corpus)
    at_once = evaluate(retriever, few, k=5, metrics=[ChunkRecall()])
    assert 0 < score(rankings, few, [ChunkRecall()], [5]).mean["chunk_recall@5"] == at_once.metrics["chunk_recall@5"]
    stems = [
        DocumentLevelGroundTruth(
            entry.query, tuple(dict.fromkeys(DocumentId(PurePath(span.doc_id).stem) for span in entry.relevant))
        )
        for entry in HANDBOOK
    ]
    documents = Dataset(stems, DOCUMENT, corpus=HANDBOOK.corpus)
    at_once = evaluate(retriever, documents, k=5, metrics=[Recall()])
    assert 0 < score(rankings, documents, [Recall()], [5]).mean["recall@5"] == at_once.metrics["recall@5"]


def test_truth_and_places_of_another_corpus_are_refused():
    # Truth of another corpus is refused:
    with pytest.raises(DatasetError, match="does not match the corpus"):
        score(retrieve(BM25Retriever(), CORPUS, HANDBOOK.queries, [1]), HANDBOOK, METRICS, [1])
    elsewhere = [DocumentLevelGroundTruth(entry.query, (DocumentId("z.md"),)) for entry in dataset(a=[(0, 9)])]
    with pytest.raises(DatasetError, match=r"the corpus holds none of its relevant documents \('z.md'"):
        score(by_hand(a=[(0, 10)]), Dataset(elsewhere, DOCUMENT), [Recall()], [1])

    # Places that another corpus does not have are refused:
    rankings = by_hand(a=[(0, 50)])
    other = Corpus([Document(DocumentId("d"), "0123")])
    truth = Dataset([TokenLevelGroundTruth(rankings.queries[0], [CharacterSpan(DocumentId("d"), 0, 2)])], TOKEN)
    with pytest.raises(DatasetError, match=r"the place \[0:50\] in 'd', which their corpus does not have"):
        score(replace(rankings, corpus=other), truth, [SpanRecall()], [1])


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (Hit(DocumentId("zzz"), 0, 5), "a place in document 'zzz', which their corpus does not have"),
        (Hit(None, 0, 5), "a place in document None"),
        (Hit(DocumentId("d"), 0, 101), r"the place \[0:101\] in 'd', which has 100 characters"),
        (Hit(DocumentId("d"), -1, 5), r"the place \[-1:5\]"),
        (Hit(DocumentId("d"), 9, 5), r"the place \[9:5\]"),
        (Hit(DocumentId("d"), "0", 5), r"the place \['0':5\]"),
        ("0123", "'0123'; expected a Hit"),
    ],
)
def test_rankings_made_by_hand_that_are_not_sound_are_refused(found, message):
    rankings = by_hand(a=[(0, 10)])
    for broken in ({"hits": (found,)}, {"at": {Cutoff(5): (found,)}}):
        entry = replace(rankings[0], **broken)
        with pytest.raises(DatasetError, match=f"the rankings of question 'a' hold {message}"):
            Rankings.of([entry], CORPUS)


def test_hits_that_cannot_be_judged_and_other_wordings_are_told():
    # Hits that cannot be judged are counted:
    rankings = by_hand(a=[(0, 10)])
    entry = replace(rankings[0], hits=(Hit(text="0123456789"), Hit(DocumentId("d"), 0, 10)))
    with pytest.warns(UserWarning, match="results without a place in the corpus: 1 of 2; they count as retrieved and"):
        table = score(Rankings.of([entry], CORPUS), dataset(a=[(0, 10)]), [SpanRecall()], [1, 2])
    assert list(table.mean.values()) == [0.0, 1.0]

    # Questions of another wording are noted:
    rankings = by_hand(a=[(0, 10)])
    reworded = replace(rankings[0], query=Query(QueryId("a"), QueryText("another?")))
    with pytest.warns(UserWarning, match="wording in the rankings is not that in the ground truth: 1, the first 'a'"):
        score(Rankings.of([reworded], CORPUS), dataset(a=[(0, 10)]), [SpanRecall()], [1])

    # The table tells over how many questions its mean is:
    def search(query, k):
        if query == "bad":
            raise ConnectionError("gone away")
        return [{"doc_id": "d", "start": 0, "end": 10}]

    truth = dataset(good=[(0, 10)], bad=[(0, 10)], none=[])
    table = score(retrieve(search, CORPUS, truth.queries, [1]), truth, [SpanRecall()], [1])
    assert repr(table) == "ScoreTable(span_recall@1 1.0000; scored: 1, failed: 1, no-answer: 1)"
    with pytest.raises(ValueError, match="read-only"):
        table.columns["span_recall@1"][0] = 9.0


def test_a_tokenizer_may_be_named_and_is_checked():
    # A budget in tokens of another tokenizer than that of the retrieval is checked:
    def words(text):
        return text.split()

    def letters(text):
        return list(text)

    rankings = retrieve(BM25Retriever(), HANDBOOK.corpus, HANDBOOK.queries, ["2000tok"], tokenizer=letters)
    at_once = evaluate(BM25Retriever(), HANDBOOK, k=[], budgets=["2000tok"], tokenizer=letters, metrics=METRICS)
    assert score(rankings, HANDBOOK, METRICS, "2000tok", tokenizer=letters) == at_once.scores
    for cutoff in ("2000tok", "1999tok"):
        with pytest.raises(ConfigError, match=r"retrieved for 2000tok\. Retrieve again with this cutoff and this tok"):
            score(rankings, HANDBOOK, METRICS, cutoff, tokenizer=words)

    # A tokenizer may be named:
    rankings, truth = by_hand(a=[(0, 50)]), dataset(a=[(0, 50)])
    tokens = resolve_tokenizer("cl100k_base")
    named = score(rankings, truth, [SpanRecall()], ["5tok"], tokenizer="cl100k_base").mean
    assert named == score(rankings, truth, [SpanRecall()], ["5tok"], tokenizer=tokens).mean
    assert 0 < named["span_recall@5tok"] < 1
    few = [retrieve(BM25Retriever(), CORPUS, ["012"], ["5tok"], tokenizer=given) for given in ("cl100k_base", tokens)]
    assert [entry.hits for entry in few[0]] == [entry.hits for entry in few[1]]


@pytest.mark.parametrize("deeper", [4, "40ch"])
def test_a_cutoff_beyond_what_was_retrieved_is_refused(deeper):
    def search(query, k):
        return [{"doc_id": "d", "start": 10 * rank, "end": 10 * rank + 10} for rank in range(5)][:k]

    truth = dataset(q=[(0, 40)])
    shallow = retrieve(search, CORPUS, truth.queries, [2])
    with pytest.raises(ConfigError, match=f"cutoff '{deeper}': 1 of 1 rankings end before it, and the retriever had"):
        score(shallow, truth, [SpanRecall()], [1, deeper])
    deep = retrieve(search, CORPUS, truth.queries, [deeper])
    assert score(deep, truth, [SpanRecall()], [deeper]).mean["span_recall"] == 1.0
    complete = retrieve(search, CORPUS, truth.queries, [6])  # it has no more than 5
    assert score(complete, truth, [SpanRecall()], [50, "1000ch"]).mean["span_recall@50"] == 1.0


def test_rankings_cut_for_a_budget_or_of_unknown_length_are_counted():
    # Rankings that were cut for a small budget do not pass as complete:
    def search(query, k):  # the third result fills the budget, so that the last two are not kept
        places = [(0, 1), (1, 2), (2, 60), (60, 70), (70, 80)]
        return [{"doc_id": "d", "start": start, "end": end} for start, end in places][:k]

    truth = dataset(q=[(0, 100)])
    rankings = retrieve(search, CORPUS, truth.queries, [2, "10ch"])
    assert len(rankings[0].hits) == 3
    with pytest.raises(ConfigError, match="cutoff '5': 1 of 1 rankings end before it"):
        score(rankings, truth, [SpanRecall()], [5])
    with pytest.raises(ConfigError, match="cutoff '75ch': 1 of 1 rankings end before it"):
        score(retrieve(search, CORPUS, truth.queries, [3]), truth, [SpanRecall()], ["75ch"])

    # Rankings of unknown length are counted among the others:
    def search(query, k):
        return [{"chunk_id": "c1"} if query == "q" else {"doc_id": "d", "start": 0, "end": 10}]

    truth = Dataset(
        [ChunkLevelGroundTruth(Query(QueryId(name), QueryText(name)), (ChunkId("c1"),)) for name in "pqr"],
        CHUNK,
        corpus=CORPUS,
    )
    with collect_notes() as notes:
        score(retrieve(search, CORPUS, truth.queries, ["100ch"]), truth, [ChunkRecall()], ["100ch"])
    assert [note.partition(";")[0] for note in notes if "length is not known" in note] == [
        "rankings of results whose length is not known: 1 of 3"
    ]


def test_a_budget_over_results_of_unknown_length_is_scored_as_an_evaluation_does():
    def search(query, k):
        return [{"chunk_id": f"c{number}"} for number in range(k)]

    truth = Dataset(
        [ChunkLevelGroundTruth(Query(QueryId("q"), QueryText("q")), (ChunkId("c1"),))], CHUNK, corpus=CORPUS
    )
    at_once = evaluate(search, truth, k=[], budgets=["100ch"], metrics=[ChunkRecall()])
    rankings = retrieve(search, CORPUS, truth.queries, ["100ch"])
    with collect_notes() as notes:
        table = score(rankings, truth, [ChunkRecall()], ["100ch", "200ch"])
    assert table.mean == {"chunk_recall@100ch": None, "chunk_recall@200ch": None}
    assert at_once.metrics == {"chunk_recall@100ch": None}
    assert table.statuses == at_once.scores.statuses == ("scored",)
    assert [note for note in notes if "cannot list" not in note] == [
        "rankings of results whose length is not known: 1 of 1; scores at budgets are not available for them. Let the "
        "retriever return texts, or doc_id, start and end"
    ]


@each(
    ("metrics", "message"),
    [
        ([SpanRecall], "expected a name or an instance, such as"),
        (["span_recal"], r"metric 'span_recal' is unknown; did you mean span_recall\?"),
        (SpanRecall(), r"expected a list, such as \['span_recall'\] or \[SpanRecall\(\)\]"),
        ([], "no metrics were given"),
        ([SpanRecall(), SpanRecall()], "two metrics are called 'span_recall'"),
        *([[Named(name)], f"a metric is called {name!r}; expected one word"] for name in ("a b", "a@5")),
        *([[Named(name)], f"Named: its name is {name!r}; expected a text"] for name in ("", None, 5)),
    ],
)
def test_what_is_no_list_of_metrics_is_refused(metrics, message):
    with pytest.raises(ConfigError, match=message):
        score(by_hand(a=[(0, 10)]), dataset(a=[(0, 10)]), metrics, [1])


def test_what_is_given_in_the_wrong_place_is_refused():
    rankings, truth = by_hand(a=[(0, 10)]), dataset(a=[(0, 10)])
    with pytest.raises(ConfigError, match="expected Rankings, as retrieve"):
        score(truth, rankings, [SpanRecall()], [1])
    with pytest.raises(DatasetError, match="dataset=None: expected a Dataset"):
        score(rankings, None, [SpanRecall()], [1])
    for queries in ("alpha beta", truth, 5, truth.queries[0]):
        with pytest.raises(ConfigError, match="expected a list of queries or of their texts"):
            retrieve(BM25Retriever(), CORPUS, queries, [1])
    with pytest.raises(ConfigError, match="queries: 5; expected a Query or a text"):
        retrieve(BM25Retriever(), CORPUS, ["what?", 5], [1])
    for corpus in ("docs", None):
        with pytest.raises(CorpusError, match=r"Corpus\.from_folder"):
            retrieve(BM25Retriever(), corpus, ["what?"], [1])
    with pytest.raises(DatasetError, match="questions that are given twice: 1"):
        retrieve(BM25Retriever(), CORPUS, ["what?", "what?"], [1])


def test_ids_that_differ_by_a_trailing_nul_are_two():
    # Ids that differ by a trailing nul are two:
    failed = QueryRanking(Query(QueryId("a"), QueryText("a")), failure=Failure("retrieve", "ValueError", "gone"))
    rankings = by_hand(**{"a\0": [(0, 10)]})
    both = Rankings.of([failed, *rankings], CORPUS)
    table = score(both, dataset(**{"a": [(0, 10)], "a\0": [(0, 10)]}), [SpanRecall()], [1])
    assert table.per_query("span_recall") == {"a": None, "a\0": 1.0}

    # Notes of components are in the rankings:
    def search(query, k):
        return ["0123456789"]  # occurs ten times

    rankings = retrieve(search, CORPUS, ["where?"], [1])
    assert rankings.notes == (
        "results whose text occurs more than once: 1; the first free place was taken, or the nearest to their start. "
        "Let the retriever return doc_id, or doc_id, start and end, to be sure",
    )
    assert repr(rankings) == "Rankings(queries: 1, hits: 1, failed: 0)"


def test_two_runs_at_a_time_need_two_retrievers():
    retriever, started, finish = BM25Retriever(), Event(), Event()

    class Waiting(RecursiveCharacterChunker):
        def chunk_with_positions(self, document):
            started.set()
            assert finish.wait(30)
            return super().chunk_with_positions(document)

    waiting = replace(retriever, chunker=Waiting())
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(retrieve, waiting, CORPUS, ["345"], [1])
        assert started.wait(30)
        try:
            with pytest.raises(ConfigError, match=r"BM25Retriever.* is in use by another run, and"):
                retrieve(waiting, CORPUS, ["345"], [1])
        finally:
            finish.set()
        assert [entry.failure for entry in (*first.result(), *retrieve(waiting, CORPUS, ["345"], [1]))] == [None] * 2


@pytest.mark.parametrize("at_once", [1, 7, 1 << 18])
@pytest.mark.parametrize("level", [TOKEN, CHUNK, DOCUMENT])
def test_questions_are_scored_some_at_a_time_as_all_at_once(monkeypatch, level, at_once):
    def search(query, k):
        if len(query) % 7 == 0:
            raise ConnectionError("gone away")
        return searched[query]

    chunker = RecursiveCharacterChunker(chunk_size=200)
    found = retrieve(BM25Retriever(chunker=chunker), HANDBOOK.corpus, HANDBOOK.queries, CUTOFFS)
    searched = {entry.query.text: entry.hits for entry in found}
    some = replace(
        retrieve(search, HANDBOOK.corpus, HANDBOOK.queries, CUTOFFS), chunks=found.chunks, exhausted=found.exhausted
    )
    metrics = [*RULES[level.evaluation_type].default_metrics.values()]
    metrics += [PrecisionOmega()] if level is TOKEN else []
    whole = score(some, HANDBOOK, metrics, CUTOFFS, level=level)
    module, real, blocks = sys.modules["rag_evaluation_framework.scoring.score"], ScoreTable.joined, []
    monkeypatch.setattr(module, "_HITS_AT_ONCE", at_once)
    monkeypatch.setattr(ScoreTable, "joined", lambda tables: blocks.append(len(tables)) or real(tables))
    assert score(some, HANDBOOK, metrics, CUTOFFS, level=level) == whole
    assert whole.statuses.count("failed") > 3
    assert blocks == [1] if at_once == 1 << 18 else blocks[0] > 40


# --- metrics that are scored at budgets only --------------------------------------------------------------------------


def test_metrics_of_budgets_are_scored_at_budgets_only():
    # A metric of budgets is scored at these and the gap is noted:
    rankings, truth = by_hand(a=[(50, 60), (0, 10)]), dataset(a=[(0, 10)])
    with pytest.warns(UserWarning, match=r"^span_u is scored at budgets only: @40ch, @15ch_whole$"):
        table = score(rankings, truth, [SpanRecall(), SpanU()], [1, "40ch", "15ch_whole"])
    assert list(table.columns) == [
        "span_recall@1",
        "span_recall@40ch",
        "span_recall@15ch_whole",
        "span_u@40ch",
        "span_u@15ch_whole",
    ]
    # Ten characters of 40 are read first: 30 + 29 + … + 21 of at best 40 + 39 + … + 31.
    assert table.mean["span_u"] == 255 / 355
    assert table.mean["span_u@15ch_whole"] == 0.0

    # A metric of ones own is scored at budgets only if it says so:
    class Read(TokenLevelMetric):
        needs_budget = True

        def calculate(self, retrieved, ground_truth):
            return float(len(retrieved))

    with pytest.warns(UserWarning, match=r"^read is scored at budgets only: @15ch$"):
        table = score(by_hand(a=[(50, 60), (0, 10)]), dataset(a=[(0, 10)]), [Read()], [1, "15ch"])
    assert table.mean == {"read@15ch": 2.0}
    with pytest.raises(ConfigError, match=r"metric 'read' is scored at budgets only, and there is none"):
        score(by_hand(a=[(0, 10)]), dataset(a=[(0, 10)]), [Read()], [1])


@pytest.mark.parametrize("metrics", [[SpanU()], [SpanRecall(), SpanU()]])
def test_a_metric_of_budgets_without_a_budget_is_refused(metrics):
    expected = r"metric 'span_u' is scored at budgets only, and there is none.*'4000ch'"
    with pytest.raises(ConfigError, match=expected):
        score(by_hand(a=[(0, 10)]), dataset(a=[(0, 10)]), metrics, [1, 5])
    with pytest.raises(ConfigError, match=expected):
        evaluate(BM25Retriever(), dataset(a=[(0, 10)]), k=5, budgets=[], metrics=metrics)


def test_scores_of_spans_are_those_of_hits_with_what_stands_before_them():
    # Scores of spans given as they are and of hits are the same:
    names = ["span_u@30ch", "span_u@30ch_whole", "span_u@100ch"]
    found, right = [(50, 60), (5, 20), (0, 12), (8, 30)], [(0, 3), (9, 25)]
    table = score(by_hand(a=found), dataset(a=right), [SpanU()], [name.partition("@")[2] for name in names])
    places = score_spans({"a": [("d", *place) for place in right]}, {"a": [("d", *place) for place in found]}, names)
    assert dict(table.mean) == dict(places.mean)
    assert len({*table.mean.values()}) == 3

    # What stands in front of a place is read before it:
    def titled(query, k):
        return [{"doc_id": "d", "start": 10, "end": 20, "text": "A title: " + TEXT[10:20]}]

    result = evaluate(titled, dataset(a=[(12, 14)]), k=[], budgets=["20ch"], metrics=[SpanU()])
    assert result.metrics["span_u"] == (20 - 11 + 20 - 12) / (20 + 19)


SENTENCES = Corpus([Document(DocumentId("d"), "Aa bb. Cccccccc dd ee ff. G hh iiiii. Jj kk lll.")])
FOUND = [(26, 38), (0, 26), "not there", (7, 48)]  # texts of 3, 6, 2 and 9 words


def sentences(query, k):
    places = [
        found if isinstance(found, str) else {"doc_id": "d", "start": found[0], "end": found[1]} for found in FOUND
    ]
    return places[:k]


def test_in_tokens_a_result_of_uneven_words_never_scores_above_1():
    uneven = Corpus([Document(DocumentId("d"), "a b c d e f " + "x" * 41)])
    truth = Dataset(dataset(a=[(4, 11)]).ground_truth, TOKEN, corpus=uneven)
    whole = evaluate(
        lambda query, k: [{"doc_id": "d"}], truth, k=[], budgets=["6tok"], tokenizer=str.split, metrics=[SpanU()]
    )
    assert whole.metrics == {"span_u@6tok": 1.0}


@pytest.mark.parametrize("cutoff", ["2tok", "6tok", "6tok_whole", "9tok", "30tok"])
def test_in_tokens_each_character_counts_at_its_share_of_its_result(cutoff):
    right = [(30, 35), (7, 20), (40, 45), (42, 44)]
    truth = Dataset(dataset(a=right).ground_truth, TOKEN, corpus=SENTENCES)
    words = resolve_tokenizer(str.split)
    result = evaluate(sentences, truth, k=[], budgets=[cutoff], tokenizer=words, metrics=[SpanU(), SpanRecall()])
    size = int(cutoff.partition("tok")[0])
    assert result.metrics["span_u"] == pytest.approx(u_in_words(right, size, whole="whole" in cutoff), abs=1e-12)


def u_in_words(right, size, *, whole):
    """The score by following every character, its place in words being its share of the words of its result."""
    text = SENTENCES[DocumentId("d")].content
    ranking = [(f, [None] * len(f)) if isinstance(f, str) else (text[slice(*f)], [*range(*f)]) for f in FOUND]
    relevant = {place for span in right for place in range(*span)}
    earned, read = {}, 0
    bought = brute_force.spend(ranking, size, brute_force.words, whole=whole)
    for passage, (found, _) in zip(bought, ranking, strict=False):
        cost = len(found.split())
        for number, place in enumerate(passage):
            if place in relevant:
                earned.setdefault(place, max(0, size - read - number * cost / len(found)))
        read += cost
    rate = sum(len(text[start:end].split()) for start, end in right[:3]) / len(relevant)
    ideal = sum(max(0, size - number * rate) for number in range(len(relevant)))
    return min(1.0, sum(earned.values()) / ideal)


def test_a_question_has_its_score_at_its_own_number_of_results():
    columns = {"recall@1": np.array([0.0, 0.5]), "recall@3": np.array([1.0, 0.75]), "recall@90ch": np.array([0.1, 0.2])}
    found = with_own_cutoffs(columns, [3, 1])
    assert {name: column.tolist() for name, column in found.items()} == {
        "recall@topK": [1.0, 0.5],
        **{name: column.tolist() for name, column in columns.items()},
    }
    assert next(iter(found)) == "recall@topK"
