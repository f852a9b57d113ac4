"""Sweeps of which a worker or the scheduler is killed in the middle end as one that nobody disturbs."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_evaluation_framework import load_result
from rag_evaluation_framework.errors import ProviderUnavailable
from rag_evaluation_framework.sweeps.cells import Workshop, outcomes
from rag_evaluation_framework.sweeps.plan import load_sweep
from support.dask_cluster import dask_cluster
from support.results import told

pytestmark = [pytest.mark.slow, pytest.mark.no_cover]
OWN = """\
import os
import signal
from pathlib import Path

KILLED = Path(__file__).with_name("killed")


def search(query, k):
    if query.endswith("5?") and KILLED.exists():
        process = int(KILLED.read_text())
        KILLED.unlink()
        os.kill(process or os.getpid(), signal.SIGKILL)
    return [f"The answer to {query[22:-1]} is {int(query[22:-1]) * 7}."]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("docs").mkdir()
    for number in range(8):
        Path(f"docs/{number}.md").write_text(f"# Page {number}\n\nThe answer to {number} is {number * 7}.\n")
    rows = [f'"What is the answer to {number}?","The answer to {number} is {number * 7}."' for number in range(8)]
    Path("questions.csv").write_text("\n".join(["question,quote", *rows]))
    Path("killing.py").write_text(OWN)
    return tmp_path


def swept(root, executor=None):
    """Return what is in each cell, by its name, and how many an earlier start had made."""
    over = ["retriever=killing:search,bm25,vector-rag,hybrid", "k=1,3"]
    sweep = load_sweep(None, over, {"corpus": "docs", "dataset": "questions.csv"})
    made = list(outcomes(Workshop(Path(), Path(root)), sweep.cells, "raise", executor))
    assert len(made) == 4
    results = {one.cell.name: load_result(one.folder) for one in made}
    assert all(len(result.queries) == 8 for result in results.values())
    cells = {name: told(replace(result, notes=())) for name, result in results.items()}
    return cells, sum(one.is_kept for one in made)


def test_a_worker_that_is_killed_changes_nothing(folder):
    expected = swept("serial")
    Path("killed").write_text("0")
    assert swept("workers", 2) == expected
    assert not Path("killed").exists()
    assert swept("workers", 2) == (expected[0], 4)


def test_a_cluster_changes_nothing_whatever_is_killed_in_it(folder):
    expected, _ = swept("serial")
    with dask_cluster(folder) as cluster:
        Path("killed").write_text("0")
        assert swept("worker", cluster.address) == (expected, 0)
        assert not Path("killed").exists()
        Path("killed").write_text(str(cluster.scheduler.pid))
        with pytest.raises(ProviderUnavailable, match="run the same again to go on"):
            swept("scheduler", cluster.address)
    assert swept("scheduler")[0] == expected  # goes on, here as on another cluster
