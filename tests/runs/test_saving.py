"""What becomes of a result that cannot be saved."""

import copy
import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    ExperimentConfig,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
    run_experiment,
)
from rag_evaluation_framework.base import files
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import ConfigError, ResultError, SaveFailed
from rag_evaluation_framework.runs import check_root

CORPUS = Corpus([Document(DocumentId("d"), "0123456789" * 10)])
DATASET = Dataset(
    [TokenLevelGroundTruth(Query(QueryId("q"), QueryText("q?")), [CharacterSpan(DocumentId("d"), 0, 5)])],
    TOKEN,
    name="numbers",
    corpus=CORPUS,
)


def search(query, k):
    return [{"doc_id": "d", "start": 0, "end": 10}]


def taking(root):
    """A retriever that puts a file where the result is to be saved."""

    def search_and_take(query, k):
        root.mkdir(exist_ok=True)
        (root / "runs").touch()
        return search(query, k)

    return search_and_take


def test_a_run_that_cannot_be_saved_is_in_the_error_and_can_be_saved_elsewhere(tmp_path):
    root = tmp_path / "taken"
    experiment = ExperimentConfig(taking(root), DATASET, config=EvaluationConfig(save_results_path=root))
    with pytest.raises(SaveFailed, match=r"cannot be created .*The result is kept: error\.result") as caught:
        run_experiment(experiment)
    result = caught.value.result
    assert result.metrics["span_recall@5"] == 1.0
    assert result.folder is None
    assert load_result(result.save(tmp_path / "elsewhere")) == result


@pytest.mark.parametrize(
    ("folder", "said"),
    [("taken", "exists already"), ("taken/below", "cannot be created"), ("x" * 300, "too long"), ("a\0b", "null")],
)
def test_every_way_in_which_a_folder_cannot_be_is_a_failed_save(tmp_path, folder, said):
    (tmp_path / "taken").touch()
    result = evaluate(search, DATASET)
    with pytest.raises(SaveFailed, match=said) as caught:
        result.save(tmp_path / folder)
    assert caught.value.result is result
    assert isinstance(caught.value, ResultError)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("values", "said"),
    [({"version": object()}, "serializable"), ({"timings": {"index": float("nan")}}, "not JSON compliant")],
)
def test_a_value_that_cannot_be_written_is_a_failed_save_and_leaves_nothing(tmp_path, values, said):
    result = replace(evaluate(search, DATASET), **values)
    with pytest.raises(SaveFailed, match=said) as caught:
        result.save(root=tmp_path)
    assert caught.value.result is result
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_failed_save_is_copied_and_pickled_with_its_result(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(SaveFailed) as caught:
        evaluate(search, DATASET).save(tmp_path / "taken")
    for again in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert str(again) == str(caught.value)
        assert again.result.metrics == caught.value.result.metrics


def test_a_root_is_tried_and_nothing_is_left_of_that_nor_of_an_interrupted_process_when_there_are_runs(tmp_path):
    check_root(tmp_path / "kept")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "runs").mkdir()
    _, lock = files._made(tmp_path)
    os.close(lock)
    check_root(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.skipif(sys.platform != "linux", reason="a folder in which not even root can make anything")
def test_a_root_in_which_nothing_can_be_made_is_refused():
    with pytest.raises(ConfigError, match=r"in /proc/rag-eval: not writable \(.+\); choose another folder"):
        check_root(Path("/proc/rag-eval"))
