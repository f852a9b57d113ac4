"""A run whose questions are answered in shards gives what one run gives."""

from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import errors
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.runs import RunSpec, load_result, open_journal, run, run_experiment
from rag_evaluation_framework.sweeps import Sweep, cells, in_shards

HOME = Path(cells.__file__).parents[1] / "demo"
SPEC = RunSpec(corpus=str(HOME / "corpus"), dataset=str(HOME / "questions.json"), k=[3, 10], gates=["recall@10 >= 0.5"])


def told(queries):
    return [(query.query_id, query.hits) for query in queries]


def result_of(spec):
    return run_experiment(spec.experiment(Path()))


def test_scores_and_rankings_are_those_of_one_run(tmp_path):
    spec = SPEC.model_copy(update={"retriever": "hybrid"})
    with ThreadPoolExecutor(1) as threads:
        scored = in_shards(spec, Path(), tmp_path, threads)
        assert in_shards(spec, Path(), tmp_path, threads) == scored  # nothing is asked again
    whole, parts = result_of(spec), result_of(scored)
    assert parts.name == whole.name
    assert parts.notes == whole.notes
    assert told(parts.queries) == told(whole.queries)
    for name, scores in whole.scores.columns.items():
        np.testing.assert_array_equal(parts.scores.columns[name], scores)
    assert len([*tmp_path.glob("cells/*")]) == 32
    assert (scored.gates, scored.retriever) == (spec.gates, None)


def test_workers_share_the_questions_of_a_shard(tmp_path):
    spec = SPEC.model_copy(update={"shard": "2/3", "gates": []})
    scored = in_shards(spec, Path(), tmp_path, 1)
    whole, parts = result_of(spec), result_of(scored)
    assert told(parts.queries) == told(whole.queries)
    with ThreadPoolExecutor(1) as threads:
        scored = in_shards(spec, Path(), tmp_path, threads)
    assert told(result_of(scored).queries) == told(whole.queries)
    asked = [query.query_id for path in scored.rankings for query in load_result(path).queries]
    assert sorted(asked) == sorted(query.query_id for query in whole.queries)


@pytest.mark.parametrize(("executor", "shards"), [(None, 3), (2, 2), (0, 0)])
def test_no_shard_is_without_a_question(tmp_path, executor, shards):
    Path(tmp_path, "docs").mkdir()
    Path(tmp_path, "docs", "a.md").write_text("Ask the help desk first.\n")
    Path(tmp_path, "q.csv").write_text("question,quote\nWhom?,help desk\nWhat?,Ask the\nWhen?,first\n")
    spec = RunSpec(corpus=str(tmp_path / "docs"), dataset=str(tmp_path / "q.csv"), k=[1])
    with ThreadPoolExecutor(1) as threads, nullcontext() if shards else pytest.raises(ConfigError, match="at least 1"):
        assert len(in_shards(spec, Path(), tmp_path, threads if executor is None else executor).rankings) == shards
    assert len([*tmp_path.glob("cells/*")]) == shards


@pytest.mark.parametrize(("resume", "asked_again"), [("if-sure", True), ("always", False)])
def test_answers_of_an_unfinished_shard_are_taken_as_the_run_says(tmp_path, monkeypatch, resume, asked_again):
    Path(tmp_path, "docs").mkdir()
    Path(tmp_path, "docs", "a.md").write_text("Ask the help desk first.\n")
    Path(tmp_path, "q.csv").write_text("question,quote\nWhom?,help desk\n")
    # A function that stands for another one: what it depends on is not known.
    Path(tmp_path, f"wrapping_{resume[:2]}.py").write_text(
        "from functools import wraps\n"
        "def wrapped(function):\n"
        "    @wraps(function)\n"
        "    def inner(query, k):\n"
        "        return function(query, k)\n"
        "    return inner\n"
    )
    own = f"own_{resume[:2]}"
    Path(tmp_path, f"{own}.py").write_text(
        f"from wrapping_{resume[:2]} import wrapped\n"
        "asked = []\n"
        "@wrapped\n"
        "def search(query, k):\n"
        "    asked.append(query)\n"
        "    return ['help desk']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    spec = RunSpec(corpus="docs", dataset="q.csv", k=[1], retriever=f"{own}:search")
    shard = cells.Cell(1, "shard 1/1", {}, {}, spec.model_copy(update={"shard": "1/1"}))
    prepared = cells.Workshop(tmp_path, tmp_path).prepared(shard)
    with open_journal(prepared.config, "if-sure", prepared.pipeline) as journal:
        run(prepared.config, journal)  # and is killed before it is saved
    asked = import_module(own).asked
    first = len(asked)
    with ThreadPoolExecutor(1) as threads:
        in_shards(spec, tmp_path, tmp_path, threads, resume=resume)
    assert (len(asked) > first) == asked_again


class Interrupted(Executor):
    """An executor that Ctrl-C ends before it has an answer."""

    def submit(self, *_):
        raise KeyboardInterrupt


INTERRUPTED = r"^0 of 32 shards of the questions are done and kept; run it again"


@pytest.mark.parametrize(
    ("retriever", "executor", "kind", "told"),
    [
        ("nothing", lambda: ThreadPoolExecutor(1), ConfigError, r"shard 1/32: .*retriever 'nothing'"),
        ("bm25", Interrupted, errors.Interrupted, INTERRUPTED),
    ],
)
def test_a_shard_that_fails_is_named_and_an_interrupt_says_how_many_are_done(tmp_path, retriever, executor, kind, told):
    with executor() as given, pytest.raises(kind, match=told):
        in_shards(SPEC.model_copy(update={"retriever": retriever}), Path(), tmp_path, given)


def test_the_name_is_that_of_the_run_where_a_sweep_has_kept_its_shard(tmp_path):
    base = SPEC.model_copy(update={"gates": []})
    Sweep(base=RunSpec(corpus=base.corpus, dataset=base.dataset), over={"k": [3, 10]}).run(tmp_path)
    assert in_shards(base, Path(), tmp_path, 1).experiment_name == "BM25, recursive 800"
    assert len([*tmp_path.glob("cells/*")]) == 1
