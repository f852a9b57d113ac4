"""Evaluation types that do not go together are refused before any work; the error names both sides (T29)."""

import json
import re

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelExperimentConfig,
    ChunkLevelGroundTruth,
    ChunkLevelMetric,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelExperimentConfig,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    PositionAwareChunk,
    Query,
    TokenLevelEvaluation,
    TokenLevelExperimentConfig,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
    generate_chunk_id,
    run_experiment,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import ConfigError, LevelMismatch
from rag_evaluation_framework.runs import parse_config
from rag_evaluation_framework.scoring.metrics import (
    ALL_METRICS,
    DEFAULT_CHUNK_METRICS,
    DEFAULT_DOCUMENT_METRICS,
    DEFAULT_TOKEN_METRICS,
)
from support.each import each
from support.retrievers import Listing

TEXT = "The sky is blue. Grass is green."
CORPUS = Corpus([Document(DocumentId("a.md"), TEXT)])
CHUNKS = [PositionAwareChunk.of(CORPUS["a.md"], 0, 16), PositionAwareChunk.of(CORPUS["a.md"], 17, 32)]
QUERY = Query(QueryId("q"), QueryText("Which?"))
DATASETS = {
    "document-level": Dataset([DocumentLevelGroundTruth(QUERY, ["a.md"])], DOCUMENT, name="labels"),
    "chunk-level": Dataset([ChunkLevelGroundTruth(QUERY, [generate_chunk_id(TEXT[:16])])], CHUNK, name="labels"),
    "token-level": Dataset(
        [TokenLevelGroundTruth(QUERY, [CharacterSpan(DocumentId("a.md"), 0, 16)])], TOKEN, name="labels"
    ),
}
EVALUATIONS = {
    "document-level": (DocumentLevelEvaluation, DocumentLevelExperimentConfig),
    "chunk-level": (ChunkLevelEvaluation, ChunkLevelExperimentConfig),
    "token-level": (TokenLevelEvaluation, TokenLevelExperimentConfig),
}
LEVELS = list(DATASETS)


class OwnChunkMetric(ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 1.0


class OwnTokenMetric(TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 1.0


METRICS = {**ALL_METRICS, "own_chunk_metric": OwnChunkMetric(), "own_token_metric": OwnTokenMetric()}


class Spy(Listing):
    """Has these chunks."""

    def __init__(self):
        super().__init__(CHUNKS)


def goes_together(evaluation, labelled):
    return labelled in (evaluation, "token-level")


TOGETHER = [
    (evaluation, labelled) for evaluation in LEVELS for labelled in LEVELS if goes_together(evaluation, labelled)
]


@pytest.mark.parametrize("evaluation", LEVELS)
@pytest.mark.parametrize("labelled", LEVELS)
def test_an_evaluation_takes_its_own_level_and_spans_and_refuses_the_others(evaluation, labelled):
    spy = Spy()
    short, config = EVALUATIONS[evaluation]
    ways = (
        lambda: short(CORPUS, DATASETS[labelled]).run(retriever=spy, k=1),
        lambda: run_experiment(config(spy, DATASETS[labelled], corpus=CORPUS, k=1)),
    )
    for way in ways:
        if goes_together(evaluation, labelled):
            result = way()
            assert (result.evaluation_type, result.counts["scored"]) == (evaluation, 1)
            assert result.metrics[result.metric_names[0]] == 1.0
            continue
        with pytest.raises(LevelMismatch, match=f"'labels' is {labelled}, the evaluation is {evaluation}") as caught:
            way()
        assert "\n" not in str(caught.value)
        assert spy.calls == []


@each(("evaluation", "labelled"), TOGETHER)
@each("name", METRICS)
def test_a_metric_is_accepted_at_its_own_levels_only(evaluation, labelled, name):
    spy, metric = Spy(), METRICS[name]
    short, _ = EVALUATIONS[evaluation]
    if evaluation in metric.evaluation_types:
        result = short(CORPUS, DATASETS[labelled]).run(retriever=spy, metrics=[metric])
        assert result.metric_names == (name,)
        return
    with pytest.raises(LevelMismatch) as caught:
        short(CORPUS, DATASETS[labelled]).run(retriever=spy, metrics=[metric])
    assert spy.calls == []
    message = str(caught.value)
    assert all(own in message for own in metric.evaluation_types)
    assert re.search(f"'{name}'.* dataset 'labels' is {labelled}", message)
    assert evaluation in message


@pytest.mark.parametrize("labelled", LEVELS)
def test_evaluate_scores_at_the_level_of_the_dataset(labelled):
    result = evaluate(Spy(), DATASETS[labelled], documents=CORPUS)
    groups = {
        "document-level": DEFAULT_DOCUMENT_METRICS,
        "chunk-level": DEFAULT_CHUNK_METRICS,
        "token-level": DEFAULT_TOKEN_METRICS,
    }
    assert result.evaluation_type == labelled
    assert result.metric_names == tuple(groups[labelled])
    for other, group in groups.items():
        spy = Spy()
        if other == labelled or (labelled, other) == ("chunk-level", "document-level"):
            assert evaluate(spy, DATASETS[labelled], documents=CORPUS, metrics=group).metric_names == tuple(group)
            continue
        with pytest.raises(LevelMismatch, match=f"is {labelled}"):
            evaluate(spy, DATASETS[labelled], documents=CORPUS, metrics=group)
        assert spy.calls == []


def test_levels_do_not_mix():
    # A mapping of metrics must use their own names:
    assert evaluate(
        Spy(), DATASETS["token-level"], documents=CORPUS, metrics={"own_token_metric": OwnTokenMetric()}
    ).metrics
    with pytest.raises(ConfigError, match=r"\['mine'\] are called \['own_token_metric'\].*pass a list"):
        evaluate(Spy(), DATASETS["token-level"], documents=CORPUS, metrics={"mine": OwnTokenMetric()})
    with pytest.raises(ConfigError, match="no metrics were given"):
        evaluate(Spy(), DATASETS["token-level"], documents=CORPUS, metrics={})

    # Only the chunk level accepts chunk id:
    for evaluation in (DocumentLevelEvaluation, TokenLevelEvaluation):
        with pytest.raises(ConfigError, match="chunk_id: unknown key"):
            evaluation(CORPUS, DATASETS["token-level"], chunk_id=str)
    spy = Spy()
    with pytest.raises(ConfigError, match=r"chunk_id='x': expected a function \(chunk, number\) -> id"):
        ChunkLevelEvaluation(CORPUS, DATASETS["chunk-level"], chunk_id="x").run(retriever=spy)
    assert spy.calls == []

    # Results of two levels are not compared:
    results = {level: evaluate(Spy(), DATASETS[level], documents=CORPUS) for level in LEVELS}
    for first in LEVELS:
        for second in LEVELS:
            if first == second:
                assert results[first].compare(results[second]).deltas
                continue
            with pytest.raises(LevelMismatch, match=f"is {first}, 'Spy' is {second}|is {first}, .* is {second}"):
                results[first].compare(results[second])


# --- in files ---------------------------------------------------------------------------------------------------------

RECORDS = {
    "document-level": {"relevant_document_ids": ["a.md"]},
    "chunk-level": {"relevant_chunk_ids": [generate_chunk_id(TEXT[:17])]},  # the chunker keeps the space
    "token-level": {"relevant_spans": [{"doc_id": "a.md", "start": 0, "end": 16}]},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT)
    for level, truth in RECORDS.items():
        questions = [{"id": "q", "query": "Which sky is blue?", **truth}]
        content = {"schema_version": 1, "evaluation_type": level, "questions": questions}
        (tmp_path / f"{level}.json").write_text(json.dumps(content))
    return tmp_path


def experiment(folder, labelled, **content):
    given = {"corpus": "docs", "dataset": f"{labelled}.json", "chunker": "recursive-character:chunk_size=17", **content}
    return parse_config(given, "test").experiment(folder)


@pytest.mark.parametrize("evaluation", [None, *LEVELS])
@pytest.mark.parametrize("labelled", LEVELS)
def test_a_file_says_the_evaluation_type_or_leaves_it_to_the_dataset(folder, evaluation, labelled):
    expected = evaluation or labelled
    if goes_together(expected, labelled):
        config = experiment(folder, labelled, evaluation_type=evaluation)
        assert type(config) is EVALUATIONS[expected][1]
        result = run_experiment(config)
        assert (result.evaluation_type, result.counts["scored"]) == (expected, 1)
        assert result.metrics[result.metric_names[0]] == 1.0
        return
    with pytest.raises(LevelMismatch, match=f"is {labelled}, the evaluation is {expected}"):
        experiment(folder, labelled, evaluation_type=evaluation)


@pytest.mark.parametrize("evaluation", LEVELS)
@pytest.mark.parametrize("metric", ["hit", "chunk_recall", "span_recall"])
def test_a_metric_in_a_file_is_accepted_at_its_own_levels_only(folder, evaluation, metric):
    levels = ALL_METRICS[metric].evaluation_types
    if evaluation in levels:
        config = experiment(folder, "token-level", evaluation_type=evaluation, metrics=[metric])
        assert [chosen.name for chosen in config.metrics] == [metric]
        return
    with pytest.raises(LevelMismatch, match=f"'{metric}' scores .*{sorted(levels)[-1]}.* is token-level"):
        experiment(folder, "token-level", evaluation_type=evaluation, metrics=[metric])


def numbered(chunk, number):
    return str(number)


@pytest.mark.parametrize(("evaluation", "labelled"), [*TOGETHER, *((None, level) for level in LEVELS)])
def test_chunk_id_is_refused_at_another_level(folder, evaluation, labelled):
    expected, name = evaluation or labelled, f"{__name__}:numbered"
    if expected == "chunk-level":
        config = experiment(folder, labelled, evaluation_type=evaluation, chunk_id=name)
        assert config.chunk_id is numbered
        return
    with pytest.raises(ConfigError, match=f"chunk_id='{name}' names chunks, the evaluation is {expected}"):
        experiment(folder, labelled, evaluation_type=evaluation, chunk_id=name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"evaluation_type": "page-level"}, r"\$\.evaluation_type: .*'document-level', 'chunk-level' or 'token-level'"),
        ({"evaluation_type": 5}, r"\$\.evaluation_type: "),
        ({"chunk_id": 5}, r"\$\.chunk_id: expected a text"),
        ({"chunk_id": "nonsense"}, "'nonsense': expected module:attribute"),
        ({"chunk_id": "math:nothing"}, "has no 'nothing'"),
        ({"chunk_id": "math:pi"}, r"is of type float; expected a Python function"),
        ({"save_results_path": 5}, r"\$\.save_results_path: expected a text"),
        ({"name": "x"}, r"\$\.name: unknown key"),
    ],
    ids=["no level", "number", "chunk_id as number", "no reference", "no attribute", "no function", "path", "old name"],
)
def test_the_level_keys_of_a_file_are_checked(folder, content, message):
    with pytest.raises(ConfigError, match=message):
        experiment(folder, "chunk-level", **content)


def test_a_level_mismatch_leaves_nothing_behind(folder):
    keep = folder / "kept"
    with pytest.raises(LevelMismatch):
        experiment(folder, "chunk-level", evaluation_type="document-level", save_results_path="kept")
    spy = Spy()
    with pytest.raises(LevelMismatch):
        TokenLevelEvaluation(CORPUS, DATASETS["token-level"]).run(
            retriever=spy, metrics=[ALL_METRICS["hit"]], config=EvaluationConfig(save_results_path=keep)
        )
    assert not keep.exists()
    assert spy.calls == []
