"""What workers read again, and what is told of them."""

import json
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import count

import pytest

from rag_evaluation_framework.runs import RunSpec, parse_config
from rag_evaluation_framework.sweeps import Sweep, cells
from rag_evaluation_framework.sweeps.cell import CellOutcome

TEXT = "# Billing\n\nInvoices are sent on the first day.\n"
BASE = RunSpec(corpus="docs", dataset="q.csv", k=[1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT)
    (tmp_path / "q.csv").write_text("question,quote\nWhen do invoices come?,Invoices are sent on the first day.\n")
    return tmp_path


class Elsewhere(Executor):
    """An executor whose tasks find something changed."""

    def __init__(self, change):
        self.change = change

    def submit(self, work, run_task, task):
        self.change()
        future = Future()
        future.set_result(work(run_task, task))
        return future


def test_workers_that_live_on_read_documents_again_and_cells_of_theirs_say_so_also_when_they_are_taken_later(folder):
    sweep = Sweep(base=BASE, over={"chunker.chunk_size": [200, 800]})
    with ThreadPoolExecutor(1) as threads:
        for more in ("", "Support helps you.\n"):
            (folder / "docs" / "a.md").write_text(TEXT + more)
            result = sweep.run(executor=threads)
            assert "their times are those of a busy machine" in str(result)
            assert [(one.failure, one.is_kept) for one in result.cells] == [(None, False)] * 2
    again = sweep.run()
    assert all(one.is_kept and cells.BUSY in one.facts.notes for one in again.cells)
    assert again.record()["notes"] == [cells.BUSY]
    assert sweep.run(fresh=True).notes == ()


def test_a_worker_that_finds_something_else_says_what(folder, monkeypatch):
    def edit():
        (folder / "docs" / "a.md").write_text(f"{TEXT}Support helps you.\n")
        with (folder / "q.csv").open("a") as file:
            file.write("Who helps?,Support helps you.\n")

    (found,) = Sweep(base=BASE, over={"retriever": ["bm25"]}).run(executor=Elsewhere(edit)).cells
    assert found.failure == "documents and questions are others where the worker is than where the sweep is"


def test_the_time_that_is_left_is_that_of_cells_that_are_run(monkeypatch, capsys):
    clock = count(0, 100)
    monkeypatch.setattr(cells, "monotonic", lambda: next(clock))
    spec = Sweep(base=BASE, over={"retriever": ["bm25"]}).cells[0]
    made = [CellOutcome(spec, is_kept=number < 2) for number in range(4)]
    assert [*cells.cells_progress(made, 5)] == made
    assert [line.partition(";")[0] for line in capsys.readouterr().err.splitlines()] == [
        "1 of 5 cells",
        "2 of 5 cells",
        "3 of 5 cells, about 200 s left",
        "4 of 5 cells, about 100 s left",
    ]


EVERY_KEY = {
    "corpus": "docs",
    "glob": ["*.md"],
    "exclude": "drafts",
    "converter": "own:read",
    "text_column": "text",
    "name_column": "name",
    "dataset": "q.csv",
    "evaluation_type": "chunk-level",
    "chunker": {"type": "recursive-character", "chunk_size": 200},
    "embedder": "lsa",
    "vector_store": "in-memory",
    "retriever": {"type": "own:search", "api_key": "sk-1234567890abcdef1234"},
    "reranker": "late-interaction",
    "engine": "http://user:password@127.0.0.1:8000",
    "rankings": ["a.jsonl", "b.jsonl"],
    "order": "score",
    "ties": "trec_eval",
    "scope_prefix": "eval:a:",
    "ingest": False,
    "cleanup": "always",
    "allow_custom_prefix": True,
    "allow_remote": True,
    "allow_assets": True,
    "loader_root": "texts",
    "mode": "retrieve",
    "rerank_top_k": 20,
    "metrics": ["recall", {"type": "own:Metric"}],
    "k": [5, 10],
    "chunk_id": "own:name",
    "columns": {"quote": "Zitat"},
    "tokenizer": "cl100k_base",
    "save_results_path": "runs",
    "sinks": ["own:send"],
    "baseline": "last",
    "gates": ["recall@5 >= 0.5"],
    "thresholds": {"min.recallAtK": 0.75},
    "on_inconclusive": "fail",
    "cluster": "document",
    "shard": "3/8",
    "batch_queries": False,
    "max_concurrency": 4,
    "timeout": 30.0,
    "on_error": "raise",
    "experiment_name": "mine",
    "budgets": ["500ch", "1000tok", "4000ch_whole"],
    "count_as_zero": ["failed", "no-answer"],
}


def test_every_key_of_a_run_reaches_the_worker(tmp_path, monkeypatch):
    assert {*EVERY_KEY} == {*RunSpec.model_fields}
    monkeypatch.setattr(cells, "depends_on", lambda *_: (True, {}))
    monkeypatch.setattr(cells, "_is_known", lambda *_: True)
    spec = RunSpec(**EVERY_KEY)
    prepared = cells.Prepared(cells.Cell(1, "one", {}, {}, spec), None, tmp_path, {})
    _, _, keys, *_ = json.loads(cells._task(cells.Workshop(tmp_path, tmp_path), prepared))
    assert parse_config(keys, "one") == spec
