"""Metrics as evaluators in LangSmith: its real SDK runs them, beside the server of `LoopbackProviders`."""

import random
import re
import uuid
from collections import defaultdict
from contextlib import closing
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langsmith import schemas
from langsmith.evaluation import RunEvaluator

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    NDCG,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    ChunkLevelMetric,
    ChunkPrecision,
    ChunkRecall,
    ChunkRegistry,
    Dataset,
    DocumentId,
    DocumentLevelGroundTruth,
    PositionAwareChunk,
    Precision,
    Query,
    Recall,
    SpanIoU,
    SpanPrecision,
    SpanRecall,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.data import Answer, QueryId, QueryText
from rag_evaluation_framework.data.ids import canonical_chunk_id
from rag_evaluation_framework.errors import ConfigError, CorpusError
from rag_evaluation_framework.scoring import score_rankings, score_spans
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import get_langsmith_evaluators, push_dataset, to_langsmith_evaluator
from support.each import each
from support.examples import examples
from support.published import CORPUS, quick_client

REFUNDS = "Refunds take five working days."


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def client(providers):
    with closing(quick_client()) as made:
        yield made


def run_of(outputs, error=None):
    now = datetime.now(UTC)
    return schemas.Run(
        id=uuid.uuid4(),
        name="Target",
        start_time=now,
        run_type="chain",
        inputs={},
        outputs=outputs,
        error=error,
        trace_id=uuid.uuid4(),
        dotted_order="",
    )


def example_of(outputs, **metadata):
    return schemas.Example(id=uuid.uuid4(), inputs={"query": "How long?"}, outputs=outputs, metadata=metadata)


def scored(metric, k, truth, retrieved, **options):
    """Return the feedback on one run."""
    return to_langsmith_evaluator(metric, k, **options).evaluate_run(run_of(retrieved), example_of(truth))


def failure(feedback):
    """Return the message of a feedback that is an error."""
    assert (feedback.score, feedback.extra) == (None, {"error": True})
    return feedback.comment


def recorded(client, name, target, evaluators):
    """Return what an experiment of LangSmith has: the feedback of each question, by its name."""
    results = client.evaluate(target, data=name, evaluators=evaluators, disable_evaluator_tracing=True)
    results.wait()
    client.flush()
    return {
        row["example"].inputs["query"]: {each.key: each for each in row["evaluation_results"]["results"]}
        for row in results
    }


# --- what they are called ---------------------------------------------------------------------------------------------


@each(
    ("metrics", "k", "names"),
    [
        ({"mine": SpanRecall(), "iou": SpanIoU()}, [1, 5], ["mine@1", "mine@5", "iou@1", "iou@5"]),
        ([Recall(), NDCG()], None, ["recall@5", "ndcg@5"]),
        ({"recall@5": Recall()}, 5, ["recall@5"]),
        ("span_recall", 3, ["span_recall@3"]),
        (SpanRecall(), 3, ["span_recall@3"]),
        (["span_recall"], 3, ["span_recall@3"]),
        ({"span_recall": "span_recall"}, 3, ["span_recall@3"]),
    ],
)
def test_every_metric_at_every_number_of_results_is_an_evaluator_with_its_own_name(metrics, k, names):
    made = get_langsmith_evaluators(metrics, k=k) if k else get_langsmith_evaluators(metrics)
    assert all(isinstance(evaluator, RunEvaluator) for evaluator in made)
    assert [evaluator.feedback_keys for evaluator in made] == [[name] for name in names]
    assert scored(Recall(), 5, {"chunk_ids": ["a"]}, {"chunk_ids": ["a"]}, name="recall@5").key == "recall@5"


@each(
    ("metrics", "k", "message"),
    [
        ([Recall(), Recall()], 5, "two evaluators are called 'recall@5'; give metrics as a dict"),
        ({"a": Recall(), "a@5": NDCG()}, 5, "two evaluators are called 'a@5'"),
        ([Recall()], [5, 5], "two evaluators are called 'recall@5'"),
        ([Recall()], 0, "k"),
        ([Recall()], True, "k"),
        ([Recall()], "5", "k"),
        (["recal"], 5, "metric 'recal' is unknown"),
        ([7], 5, "metric=7: expected a Metric, such as SpanRecall"),
        ({"recall": Recall}, 5, "expected a Metric"),
        ([None], 5, "metric=None: expected a Metric"),
        ([Recall()], ["5"], "k='5'"),
    ],
)
def test_what_is_no_metric_or_no_number_is_refused(metrics, k, message):
    with pytest.raises(ConfigError, match=message):
        get_langsmith_evaluators(metrics, k)
    with pytest.raises(CorpusError, match="expected"):
        get_langsmith_evaluators([Recall()], corpus="docs")


# --- what they read ---------------------------------------------------------------------------------------------------

SPAN = {"doc_id": "a.md", "start": 0, "end": 10}
HALF = {"doc_id": "a.md", "start": 5, "end": 30}


CAMEL = {"docId": "a.md", "start": 0, "end": 10}
CAMEL_HALF = {"docId": "a.md", "start": 5, "end": 30}
ID = "chunk_a3f2b1c8d9e0"
GRADED = {"relevant_document_ids": ["a", "b"], "gains": {"a": 3, "b": 1}}
PREFIX = {"relevant_document_ids": [], "relevant_prefixes": ["guides/"]}
KEYS = {
    "spans": (["relevant_spans", "relevantSpans"], ["retrieved_spans", "retrievedSpans"]),
    "chunks": (
        ["relevant_chunk_ids", "relevantChunkIds", "chunk_ids", "chunkIds"],
        ["retrieved_chunk_ids", "retrievedChunkIds", "chunk_ids", "chunkIds"],
    ),
    "documents": (
        ["relevant_document_ids", "relevantDocumentIds", "source_ids", "sourceIds"],
        ["retrieved_document_ids", "retrievedDocumentIds", "source_ids", "sourceIds"],
    ),
}
HALVES = {
    "spans": (SpanRecall(), [SPAN], [HALF]),
    "chunks": (ChunkRecall(), ["chunk_1", "chunk_2"], ["chunk_1", "chunk_9"]),
    "documents": (Recall(), ["a.md", "b.md"], ["a.md", "z.md"]),
}


@each("units", KEYS)
def test_what_is_relevant_and_what_was_retrieved_is_read_under_every_key(units):
    metric, relevant, retrieved = HALVES[units]
    for key, found in product(*KEYS[units]):
        assert scored(metric, 5, {key: relevant}, {found: retrieved}).score == 0.5, (key, found)


@each(
    ("metric", "truth", "outputs", "score"),
    [
        (SpanRecall(), {"relevantSpans": [CAMEL]}, {"retrievedSpans": [CAMEL_HALF]}, 0.5),
        (SpanRecall(), {"relevant_spans": [SPAN]}, {"retrieved_chunk_ids": ["x"], "retrieved_spans": [HALF]}, 0.5),
        (ChunkRecall(), {"relevant_chunk_ids": [f"pa_{ID}"]}, {"retrieved_chunk_ids": [ID]}, 1.0),
        (ChunkRecall(), {"relevant_chunk_ids": [ID]}, {"retrieved_chunk_ids": [f"pa_{ID}"]}, 1.0),
        (Recall(), PREFIX, {"retrieved_document_ids": ["guides/start.md"]}, 1.0),
        (Recall(), PREFIX, {"retrieved_document_ids": ["billing.md"]}, 0.0),
        (Recall(), {"chunk_ids": ["a"]}, None, 0.0),
        (SpanRecall(), {"relevant_spans": [SPAN]}, None, 0.0),
        (NDCG(), GRADED, {"retrieved_document_ids": ["b", "a"]}, 0.7967075809905066),  # as the gains count
    ],
)
def test_spans_before_ids_one_id_with_and_without_a_position_prefixes_gains_and_nothing_are_read(
    metric, truth, outputs, score
):
    assert scored(metric, 5, truth, outputs).score == score


def test_quotes_are_placed_by_the_corpus(corpus):
    start = corpus["billing.md"].content.index(REFUNDS)
    outputs = {"retrieved_spans": [{"doc_id": "billing.md", "start": start, "end": start + len(REFUNDS)}]}
    assert scored(SpanRecall(), 5, {"excerpts": [REFUNDS]}, outputs, corpus=corpus).score == 1.0
    assert "pass corpus=" in failure(scored(SpanRecall(), 5, {"excerpts": [REFUNDS]}, outputs))


@pytest.mark.parametrize("key", ["retrieved_chunk_ids", "retrievedChunkIds", "chunk_ids", "chunkIds"])
def test_ids_of_position_aware_chunks_are_placed_by_the_registry(corpus, key):
    chunks = [PositionAwareChunk.of(corpus["billing.md"], *place) for place in ((10, 30), (40, 60), (60, 70))]
    registry, found = ChunkRegistry(chunks), {key: [chunk.id for chunk in chunks]}
    truth = {"relevant_spans": [{"doc_id": "billing.md", "start": 20, "end": 60}]}
    assert scored(SpanRecall(), 1, truth, found, registry=registry).score == 10 / 40
    assert scored(SpanRecall(), 3, truth, found, registry=registry).score == 30 / 40
    assert scored(SpanPrecision(), 3, truth, found, registry=registry).score == 30 / 50
    ids = {"relevant_chunk_ids": [chunks[1].id]}
    assert scored(SpanRecall(), 3, ids, found, registry=registry).score == 1.0
    assert scored(ChunkRecall(), 1, ids, found, registry=registry).score == 0.0
    places = {"retrieved_spans": [{"doc_id": "billing.md", "start": 50, "end": 70}]}
    assert scored(SpanRecall(), 5, ids, places, registry=registry).score == 0.5
    plain = {key: [canonical_chunk_id(chunk.id) for chunk in chunks]}
    assert scored(SpanRecall(), 3, truth, plain, registry=registry).score == 30 / 40


def test_a_retrieved_id_without_a_known_position_is_an_error_that_says_what_to_do(corpus):
    chunk = PositionAwareChunk.of(corpus["billing.md"], 10, 30)
    truth, found = {"relevant_spans": [SPAN]}, {"retrieved_chunk_ids": [chunk.id, "pa_chunk_unknown"]}
    for options, unknown in (({}, chunk.id), ({"registry": ChunkRegistry([chunk])}, "pa_chunk_unknown")):
        message = failure(scored(SpanRecall(), 5, truth, found, **options))
        assert f"have '{unknown}' under retrieved_chunk_ids, a chunk without a known position" in message
        assert (
            "pass registry= with the positions of the chunks that were searched, or return retrieved_spans" in message
        )


NO_TRUTH = "the example has no chunk-level or document-level ground truth"
FAILED = run_of({"retrieved_chunk_ids": ["a"]}, error="ValueError('no')")


@each(
    ("metric", "run", "example", "comment"),
    [
        (Recall(), run_of({"retrieved_chunk_ids": ["a"]}), None, NO_TRUTH),
        (Recall(), run_of({"retrieved_chunk_ids": ["a"]}), example_of(None), NO_TRUTH),
        (Recall(), run_of({"retrieved_chunk_ids": ["a"]}), example_of({}), NO_TRUTH),
        (Recall(), run_of({"retrieved_chunk_ids": ["a"]}), example_of({"other": 1}), NO_TRUTH),
        (
            ChunkRecall(),
            run_of({"retrieved_chunk_ids": ["a"]}),
            example_of({"relevant_spans": [SPAN]}),
            "the example has no chunk-level ground truth",
        ),
        (SpanRecall(), run_of({"retrieved_spans": [SPAN]}), example_of({"relevant_spans": []}), "nothing is relevant"),
        (Recall(), FAILED, example_of({"chunk_ids": ["a"]}), "the run failed"),
    ],
)
def test_where_nothing_can_be_scored_there_is_no_score_and_that_is_said(metric, run, example, comment):
    feedback = to_langsmith_evaluator(metric, 5).evaluate_run(run, example)
    assert (feedback.key, feedback.score, feedback.comment) == (f"{metric.name}@5", None, comment)


@pytest.mark.parametrize(
    ("metric", "truth", "outputs", "message"),
    [
        (Recall(), {"chunk_ids": ["a"]}, {"answer": "a"}, "have answer; expected a list under retrieved_chunk_ids"),
        (Recall(), {"chunk_ids": ["a"]}, {}, "have nothing; expected a list under retrieved_chunk_ids"),
        (Recall(), {"chunk_ids": ["a"]}, {"chunk_ids": "a"}, "expected a list under retrieved_chunk_ids"),
        (Recall(), {"chunk_ids": ["a"]}, {"chunk_ids": [7]}, "have 7 among ids of what was retrieved"),
        (Recall(), {"chunk_ids": [7]}, {"chunk_ids": ["a"]}, r"outputs\.chunk_ids"),
        (SpanRecall(), {"relevant_spans": [SPAN]}, {"retrieved_spans": ["a"]}, "expected a CharacterSpan"),
        (
            SpanRecall(),
            {"relevant_spans": [SPAN]},
            {"retrieved_spans": [{"doc_id": "a", "start": 5}]},
            "expected a CharacterSpan",
        ),
        (SpanRecall(), {"relevant_spans": [{"doc_id": "a"}]}, {"retrieved_spans": []}, "relevant_spans"),
        (
            SpanRecall(),
            {"relevant_chunk_ids": ["pa_chunk_1"]},
            {"retrieved_spans": []},
            "pass registry= with the positions of the chunks",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_what_was_expected(metric, truth, outputs, message):
    assert re.search(message, failure(scored(metric, 5, truth, outputs)))


# --- answers with several places --------------------------------------------------------------------------------------


def query(number):
    return Query(QueryId(f"q{number}"), QueryText(f"Question {number} about refunds?"))


def copies(*units):
    return Answer(tuple((unit,) for unit in units))


def span(start, end, doc_id="a.md"):
    return CharacterSpan(DocumentId(doc_id), start, end)


SEVERAL = [
    (
        Dataset([TokenLevelGroundTruth(query(0), [copies(span(0, 31), span(89, 120)), span(40, 50)])], TOKEN),
        SpanRecall(),
        {"retrieved_spans": [{"doc_id": "a.md", "start": 89, "end": 120}]},
        31 / 41,
    ),
    (
        Dataset([ChunkLevelGroundTruth(query(0), [copies("chunk_1", "chunk_2"), "chunk_3"])], CHUNK),
        ChunkRecall(),
        {"retrieved_chunk_ids": ["chunk_2", "chunk_9"]},
        0.5,
    ),
    (
        Dataset([DocumentLevelGroundTruth(query(0), [copies("a.md", "b.md"), "c.md"])], DOCUMENT),
        Recall(),
        {"retrieved_document_ids": ["b.md", "a.md"]},
        0.5,
    ),
]


@pytest.mark.parametrize(("dataset", "metric", "outputs", "score"), SEVERAL)
@pytest.mark.parametrize("pushed", [True, False])
def test_any_place_of_an_answer_is_enough(client, providers, dataset, metric, outputs, score, pushed):
    push_dataset(dataset, "places")
    (example,) = client.list_examples(dataset_name="places")
    if not pushed:
        example = example_of(example.outputs)
    feedback = to_langsmith_evaluator(metric, 5).evaluate_run(run_of(outputs), example)
    assert feedback.score == pytest.approx(score, abs=1e-12)
    assert feedback.key == f"{metric.name}@5"


# --- the same as our own scores ---------------------------------------------------------------------------------------

IDS = st.sampled_from(["chunk_1", "chunk_2", "pa_chunk_2", "a", "b/c", "é"])
NUMBERS = st.integers(1, 40)
SPANS = st.builds(lambda d, start, length: span(start, start + length, d), st.sampled_from("ab"), NUMBERS, NUMBERS)


@given(st.lists(IDS, min_size=1, unique=True), st.lists(IDS, max_size=8), st.integers(1, 6))
def test_scores_of_ids_are_those_of_score_rankings(relevant, retrieved, k):
    for metric in (Recall(), Precision(), NDCG(), ChunkRecall()):
        plain = [*map(canonical_chunk_id, retrieved[:k])]
        (column,) = score_rankings({"q": relevant}, {"q": plain}, [(metric, k)]).columns.values()
        found = scored(metric, k, {"relevant_chunk_ids": relevant}, {"retrieved_chunk_ids": retrieved})
        assert (found.key, found.score) == (f"{metric.name}@{k}", column[0])


@given(st.lists(SPANS, min_size=1, max_size=4), st.lists(SPANS, max_size=6), st.integers(1, 5))
def test_scores_of_spans_are_those_of_score_spans(relevant, retrieved, k):
    def plain(spans):
        return [{"doc_id": each.doc_id, "start": each.start, "end": each.end} for each in spans]

    for metric in (SpanRecall(), SpanPrecision(), SpanIoU()):
        (column,) = score_spans({"q": relevant}, {"q": retrieved}, [(metric, k)]).columns.values()
        truth, outputs = {"relevant_spans": plain(relevant)}, {"retrieved_spans": plain(retrieved)}
        assert scored(metric, k, truth, outputs).score == column[0]


# --- in an experiment that LangSmith runs -----------------------------------------------------------------------------


def several(number=12):
    drawn = random.Random(5)
    return Dataset(
        [
            TokenLevelGroundTruth(query(n), [span(start := drawn.randrange(100), start + drawn.randrange(5, 60))])
            for n in range(number)
        ],
        TOKEN,
    )


def retrieve(query, k):
    drawn = random.Random(query)
    starts = [drawn.randrange(200) for _ in range(6)][:k]
    return [{"doc_id": "a.md", "start": start, "end": start + 30} for start in starts]


def test_an_experiment_of_langsmith_has_the_scores_of_a_run_of_our_own(providers, client):
    dataset = several()
    push_dataset(dataset, "spans")
    metrics = {"span_recall": SpanRecall(), "span_iou": SpanIoU()}
    found = recorded(
        client,
        "spans",
        lambda inputs: {"retrieved_spans": retrieve(inputs["query"], 5)},
        get_langsmith_evaluators(metrics, k=[1, 5]),
    )
    result = evaluate(retrieve, dataset, (1, 5), budgets=(), documents=CORPUS, metrics=metrics)
    for name in ("span_recall@1", "span_recall@5", "span_iou@1", "span_iou@5"):
        ours = {entry.text: result.per_query(name)[entry.id] for entry in dataset.queries}
        assert {text: feedback[name].score for text, feedback in found.items()} == ours
    (experiment,) = providers.langsmith.experiments.values()
    assert {feedback["key"] for feedback in experiment.feedback} == {*result.score_names}


def test_a_failing_target_an_unreadable_answer_and_a_question_without_answer_have_no_score(providers, client, caplog):
    none = TokenLevelGroundTruth(query(9), [])
    push_dataset(Dataset([*several(3), none], TOKEN), "spans")

    def target(inputs):
        if "0" in inputs["query"]:
            raise ValueError("no")
        return {"text": "what?"} if "1" in inputs["query"] else {"retrieved_spans": []}

    found = recorded(client, "spans", target, get_langsmith_evaluators({"mine": SpanRecall()}, k=[1, 5]))
    by_number = {text.split()[1]: feedback for text, feedback in found.items()}
    assert all(feedback.keys() == {"mine@1", "mine@5"} for feedback in by_number.values())
    assert {number: feedback["mine@5"].score for number, feedback in by_number.items()} == {
        "0": None,
        "1": None,
        "2": 0.0,
        "9": None,
    }
    assert by_number["0"]["mine@1"].comment == "the run failed"
    assert "expected a list under retrieved_spans" in by_number["1"]["mine@1"].comment
    assert by_number["1"]["mine@1"].extra == {"error": True}
    assert not [record for record in caplog.records if "Error running evaluator" in record.message]
    stored = defaultdict(list)
    (experiment,) = providers.langsmith.experiments.values()
    for feedback in experiment.feedback:
        stored[feedback["key"]].append(feedback["score"])
    assert {key: sorted(scores, key=str) for key, scores in stored.items()} == {
        "mine@1": [0, None, None, None],
        "mine@5": [0, None, None, None],
    }
    failed = [feedback for feedback in experiment.feedback if feedback.get("extra") == {"error": True}]
    assert sorted(feedback["key"] for feedback in failed) == ["mine@1", "mine@5"]
    assert all("expected a list under retrieved_spans" in feedback["comment"] for feedback in failed)


RANKED = {
    DOCUMENT: [Recall(), Precision(), NDCG()],
    CHUNK: [Recall(), NDCG(), ChunkPrecision()],
    TOKEN: [SpanRecall(), SpanPrecision(), SpanIoU()],
}
LABELLED = {
    DOCUMENT: DocumentLevelGroundTruth(query(0), ["b.md", "c.md"], gains={"b.md": 2}),
    CHUNK: ChunkLevelGroundTruth(query(0), ["chunk_aaaaaaaaaaaa", "b"]),
    TOKEN: TokenLevelGroundTruth(query(0), [span(4, 30), span(50, 71, "b.md")]),
}
PLACES = st.builds(
    lambda doc_id, start, length: {"doc_id": doc_id, "start": start, "end": start + length},
    st.sampled_from(["a.md", "b.md"]),
    NUMBERS,
    NUMBERS,
)
CHUNKS = st.builds(
    lambda unit: {"chunk_id": unit}, st.sampled_from(["pa_chunk_aaaaaaaaaaaa", "chunk_aaaaaaaaaaaa", "b", "c"])
)
TEXTS = st.builds(lambda length: {"text": "nowhere " * length}, st.integers(1, 9))
FOUND = {
    DOCUMENT: st.lists(PLACES | TEXTS, max_size=6),
    CHUNK: st.lists(CHUNKS | TEXTS, max_size=6),
    TOKEN: st.lists(PLACES, max_size=6),
}
UNITS = {
    DOCUMENT: ("retrieved_document_ids", lambda hit, rank: hit.get("doc_id", f"nowhere {rank}")),
    CHUNK: ("retrieved_chunk_ids", lambda hit, rank: hit.get("chunk_id", hit.get("text"))),  # a text is a chunk
    TOKEN: ("retrieved_spans", lambda hit, rank: hit),
}


@pytest.mark.parametrize("level", RANKED, ids=repr)
@examples(40)
@given(drawn=st.data())
@pytest.mark.filterwarnings("ignore")
def test_what_repeats_and_what_was_not_located_counts_as_in_a_run_of_our_own(level, drawn):
    found, truth = drawn.draw(FOUND[level]), LABELLED[level]
    dataset, metrics = Dataset([truth], level), RANKED[level]
    result = evaluate(lambda text, k: found[:k], dataset, (1, 3, 5), budgets=(), documents=CORPUS, metrics=metrics)
    key, unit = UNITS[level]
    told = {key: [unit(hit, rank) for rank, hit in enumerate(found)]}
    for metric in metrics:
        for k in (1, 3, 5):
            name = f"{metric.name}@{k}"
            assert scored(metric, k, truth.record(None), told).score == pytest.approx(result.metrics[name]), name


class Own(ChunkLevelMetric):
    def calculate(self, retrieved, relevant):
        return len(relevant) / 4


class Broken(ChunkLevelMetric):
    def calculate(self, retrieved, relevant):
        raise ZeroDivisionError("no such thing")


@pytest.mark.parametrize(
    "answers", [{"chunk_ids": ["a", "b"]}, {"answers": [{"places": ["a", "c"]}, {"places": ["b"]}]}]
)
def test_a_metric_of_ones_own_is_asked_and_its_failure_is_an_error(answers):
    assert scored(Own(), 5, answers, {"chunk_ids": ["a"]}).score == 0.5
    assert "ZeroDivisionError: no such thing" in failure(scored(Broken(), 5, answers, {"chunk_ids": ["a"]}))
