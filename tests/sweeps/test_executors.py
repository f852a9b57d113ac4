"""Tasks in processes, in executors and on a cluster: the same answers, whatever dies."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

import loky
import pytest

from rag_evaluation_framework.errors import ConfigError, MissingDependency, ProviderUnavailable
from rag_evaluation_framework.sweeps import executors
from rag_evaluation_framework.sweeps.executors import Answer, run_tasks
from support.dask_cluster import dask_cluster
from support.worker_tasks import run

TASKS = {f"id-{number}": f"task {number}" for number in range(20)}
SERIAL = {name: Answer(run(task)) for name, task in TASKS.items()}
PROGRAM = """
import sys
from rag_evaluation_framework.sweeps.executors import run_tasks
from support.worker_tasks import run
executor = 2 if len(sys.argv) == 2 else sys.argv[2]
print(dict(run_tasks({str(number): f"wait {sys.argv[1]}" for number in range(9)}, run, executor)))
"""


def answers(tasks, executor):
    with closing(run_tasks(tasks, run, executor)) as came:
        return {name: Answer(answer.text, answer.failure, tuple(answer.notes)) for name, answer in came}


def is_alive(process):
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return "Z" not in Path(f"/proc/{process}/stat").read_text().split()[2]
    return False


def eventually(holds):
    give_up = time.monotonic() + 30
    while not holds() and time.monotonic() < give_up:
        time.sleep(0.02)
    return holds()


def started(folder, *executor):
    """Start a program whose tasks wait, and write the ids of their processes into a folder."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", PROGRAM, folder, *executor]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


class Counted(ThreadPoolExecutor):
    """An executor that counts what it holds: given by one thread, released by another."""

    given = released = most = 0
    full = Event()  # once a thousand were held

    @property
    def held(self):
        return self.given - self.released

    def submit(self, *work):
        self.given += 1
        self.most = max(self.most, self.held)
        if self.most == 1_000:
            self.full.set()
        future = super().submit(*work)
        future.add_done_callback(self.release)
        return future

    def release(self, _):
        self.released += 1


class Broken(Executor):
    """An executor that breaks."""

    def submit(self, *_):
        future = Future()
        future.set_exception(BrokenProcessPool("a child process terminated abruptly"))
        return future


def test_processes_and_threads_answer_as_a_loop_does_and_what_a_task_notes_and_raises_arrives():
    with ThreadPoolExecutor(2) as threads:
        assert answers(TASKS, threads) == SERIAL
    assert answers({**TASKS, "a": "note", "b": "raise", "c": "exit"}, 2) == {
        **SERIAL,
        "a": Answer("NOTE", notes=("said by a worker",)),
        "b": Answer(None, "ConfigError: k: 0 is not a valid cutoff"),
        "c": Answer(None, "SystemExit: 3"),
    }


def test_processes_share_the_cores_and_show_no_bars(monkeypatch):
    for name in ("OMP_NUM_THREADS", "TQDM_DISABLE"):
        monkeypatch.delenv(name, raising=False)
    assert answers({"a": "environment"}, 2) == {"a": Answer(f"{max(loky.cpu_count() // 2, 1)} 1")}
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert answers({"a": "environment"}, 2) == {"a": Answer("7 1")}


def test_a_process_that_is_killed_takes_one_task_with_it_which_is_tried_once_more(tmp_path):
    found = answers({**TASKS, "once": f"kill-once {tmp_path}", "always": "kill"}, 2)
    assert found.pop("once") == Answer(f"KILL-ONCE {tmp_path}".upper())
    assert found.pop("always") == Answer(
        None, "2 processes died of it (SIGKILL(-9)): too little memory? Fewer workers need less"
    )
    assert found == SERIAL


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_their_parent(tmp_path, number):
    parent = started(tmp_path)
    assert eventually(lambda: len([*tmp_path.iterdir()]) == 2)
    children = [int(path.name) for path in tmp_path.iterdir()]
    assert all(map(is_alive, children))
    parent.send_signal(number)
    _, said = parent.communicate(timeout=30)
    assert parent.returncode == -number
    assert said.count("Traceback") == (number == signal.SIGINT)
    assert eventually(lambda: not any(map(is_alive, children)))


def test_an_executor_holds_a_thousand_tasks_at_the_most():
    tasks = {str(number): "task" for number in range(1_500)}
    with Counted(1) as executor:

        def when_full(task):
            assert executor.full.wait(30)
            return task

        with closing(run_tasks(tasks, when_full, executor)) as came:
            assert [answer.failure for _, answer in came] == [None] * 1_500
    assert executor.most == 1_000


def test_what_has_not_started_is_cancelled_when_nobody_wants_more():
    with Counted(1) as executor:
        with closing(run_tasks(dict.fromkeys(map(str, range(900)), "task"), run, executor)) as came:
            next(came)
        assert executor.submit(run, "task").result() == "TASK"
        assert executor.held == 0


def test_the_first_of_a_group_is_done_before_the_others():
    done = []

    def seen(task):
        found = [*done]
        time.sleep(0.05)
        done.append(task)
        return " ".join(found)

    tasks = {name: name for name in ("a1", "a2", "a3", "b1", "b2", "alone")}
    groups = {name: name[0] for name in tasks if name != "alone"}
    with ThreadPoolExecutor(6) as threads, closing(run_tasks(tasks, seen, threads, groups)) as came:
        found = {name: answer.text.split() for name, answer in came}
    assert found.keys() == tasks.keys()
    assert {name: [first] for name, first in (("a2", "a1"), ("a3", "a1"), ("b2", "b1"))} == {
        name: [one for one in found[name] if one == f"{name[0]}1"] for name in ("a2", "a3", "b2")
    }
    assert found["a1"] == found["b1"] == found["alone"] == []


def test_an_executor_that_is_gone_is_an_error_that_says_how_to_go_on():
    with ThreadPoolExecutor(1) as ended:
        pass
    for executor, why in ((ended, "takes no tasks any more"), (Broken(), "broke")):
        with pytest.raises(ProviderUnavailable) as refused:
            answers(TASKS, executor)
        assert str(refused.value).startswith(f"the executor {why} (")
        assert str(refused.value).endswith("0 of 20 are done and kept: run the same again to go on")


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch):
    for package, extra, executor in (("loky", "workers", 2), ("distributed", "cluster", "tcp://127.0.0.1:1")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingDependency, match=rf"\[{extra}\]"):
            answers(TASKS, executor)


@pytest.mark.slow
def test_a_cluster_answers_as_a_loop_does_though_a_worker_is_killed_and_ctrl_c_ends_at_once(tmp_path):
    tasks = {**TASKS, "once": f"kill-once {tmp_path}", "raise": "raise", "note": "note"}
    with dask_cluster(tmp_path) as cluster:
        found = answers(tasks, cluster.address)
        assert eventually(lambda: any(worker.poll() is not None for worker in cluster.workers))
        interrupted = started(tmp_path / "waits", cluster.address)
        assert eventually(lambda: [*(tmp_path / "waits").iterdir()])
        interrupted.send_signal(signal.SIGINT)
        _, said = interrupted.communicate(timeout=20)
        assert (said.count("Traceback"), said.splitlines()[-1]) == (1, "KeyboardInterrupt")
    assert found.pop("once") == Answer(f"KILL-ONCE {tmp_path}".upper())
    assert found.pop("raise") == Answer(None, "ConfigError: k: 0 is not a valid cutoff")
    assert found.pop("note") == Answer("NOTE", notes=("said by a worker",))
    assert found == SERIAL


@pytest.mark.slow
def test_a_task_that_kills_workers_has_failed_and_a_lost_scheduler_is_an_error_that_says_how_to_go_on(tmp_path):
    with dask_cluster(tmp_path, allowed_failures=0) as cluster:
        assert answers({"kill": "kill"}, cluster.address)["kill"].failure.startswith("KilledWorker: ")
        tasks = {**TASKS, "wait": f"wait {tmp_path}"}
        with closing(run_tasks(tasks, run, cluster.address)) as came:
            assert dict(next(came) for _ in TASKS) == SERIAL
            cluster.scheduler.kill()
            with pytest.raises(ProviderUnavailable) as refused:
                next(came)
    assert str(refused.value) == (
        "the executor cancelled its tasks: its scheduler is gone, or it was shut down. 20 of 21 are done and kept: "
        "run the same again to go on"
    )


@pytest.mark.parametrize(
    ("executor", "kind", "told"),
    [
        *(
            (address, ProviderUnavailable, rf"no Dask scheduler can be reached at {address} .*8786")
            for address in ("tcp://127.0.0.1:1", "tcp://127.0.0.1", "many")
        ),
        (0, ConfigError, "0 processes; expected at least 1"),
    ],
)
def test_no_process_and_a_scheduler_that_does_not_answer_are_errors_that_name_what_was_expected(
    monkeypatch, executor, kind, told
):
    monkeypatch.setattr(executors, "_SECONDS_TO_ANSWER", 0.2)
    with pytest.raises(kind, match=told):
        answers(TASKS, executor)
