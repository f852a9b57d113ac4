"""Where tasks are run: processes on this machine, an executor of `concurrent.futures`, or a Dask cluster.

What travels is a text to a function of ours, and a text back: no documents, no objects.
"""

import logging
import os
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue
from threading import Event, RLock, Thread, get_ident
from typing import Any, NamedTuple, cast

from tqdm import tqdm

from ..base import collect_notes, require
from ..base.exits import errors_as, outcome
from ..base.outside import error_message, error_text
from ..errors import ConfigError, ProviderUnavailable

_AT_ONCE = 1_000  # tasks that an executor is given: clusters that grow with what waits see enough of it
_LIVES = 2  # processes that a task may take with it
_WATCHED = 0.5  # seconds between two looks at whether the parent lives
_SECONDS_TO_ANSWER = 10  # within which a scheduler has to
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "RAYON_NUM_THREADS")


class Answer(NamedTuple):
    """Outcome of a task.

    Attributes:
        text: What it returned; None if it failed.
        failure: Why it failed; None if it did not.
        notes: What was noted meanwhile.
    """

    text: str | None
    failure: str | None = None
    notes: Sequence[str] = ()


_Task = Callable[[str], str]
_Submit = Callable[[_Task, str], "Future[Answer]"]


def run_tasks(
    tasks: Mapping[str, str], run_task: _Task, executor: int | str | Executor, groups: Mapping[str, str] | None = None
) -> Generator[tuple[str, Answer]]:
    """Yield the id of each task and its answer, as they come.

    Close the generator where its caller may raise (`contextlib.closing`): what has not started is then cancelled, and
    processes on this machine are ended at once.

    Args:
        tasks: What `run_task` is called with, by id.
        run_task: A function of a module that workers can import. It is called again if its process died, so it returns
            what is done already.
        executor: A number of processes on this machine, which share its cores; the address of a Dask scheduler, such as
            `tcp://10.0.0.5:8786`; or an executor, which stays open.
        groups: Of tasks that share work, by id, the name of their group. The first of each is done before the others,
            which find what it has kept.

    Raises:
        ConfigError: The number of processes is not positive.
        MissingDependency: loky or Dask is not installed.
        ProviderUnavailable: The executor broke, was shut down, or has no scheduler any more.
    """
    first, held, ready = dict[str, str](), dict[str, list[str]](), deque[str]()
    for name in tasks:
        of = first.setdefault((groups or {}).get(name, name), name)
        (ready if of == name else held.setdefault(of, [])).append(name)
    under_way, done, answered = dict[Future[Answer], str](), SimpleQueue[Future[Answer]](), 0

    def lost(why: str) -> ProviderUnavailable:
        return ProviderUnavailable(
            f"{why}. {answered} of {len(tasks)} are done and kept: run the same again to go on", "executor"
        )

    with _opened(executor) as submit:
        try:
            while True:
                while ready and len(under_way) < _AT_ONCE:
                    name = ready.popleft()
                    try:
                        future = submit(run_task, tasks[name])
                    except RuntimeError as error:  # a broken one raises it, and one that is shut down
                        raise lost(f"the executor takes no tasks any more ({error_text(error)})") from error
                    under_way[future] = name
                    future.add_done_callback(done.put)
                if not under_way:
                    return
                future = done.get()
                if future.cancelled():
                    raise lost("the executor cancelled its tasks: its scheduler is gone, or it was shut down")
                failure = future.exception()
                if isinstance(failure, BrokenExecutor):
                    raise lost(f"the executor broke ({error_text(failure)})") from failure
                answer = future.result() if failure is None else Answer(None, error_text(failure))
                answered, name = answered + 1, under_way.pop(future)
                ready.extend(held.pop(name, ()))
                yield name, answer
        finally:
            for future in under_way:
                future.cancel()


def _work(run_task: _Task, task: str) -> Answer:
    """Run a task, where it is run. What it raises travels as a text: not every error can be sent."""
    with collect_notes() as notes:
        answer = outcome(lambda: Answer(run_task(task)), lambda error: Answer(None, error_text(error)))
    return answer._replace(notes=tuple(notes))


def _opened(executor: int | str | Executor) -> AbstractContextManager[_Submit]:
    if isinstance(executor, Executor):
        return nullcontext(lambda run_task, task: executor.submit(_work, run_task, task))
    return _processes(executor) if isinstance(executor, int) else _dask(executor)


@contextmanager
def _dask(address: str) -> Generator[_Submit]:
    """Yield what runs tasks on a cluster.

    Dask's own executor (`Client.get_executor`) loses answers that are under way when the scheduler dies, and waits for
    them for ever. Tasks of a worker that dies are run again by the scheduler; one that took four with it has failed.
    """
    distributed = require("distributed", extra="cluster", needed_by=address)
    for name in ("distributed", "distributed.client"):  # they print the traces of what is raised
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with errors_as(
        lambda error: ProviderUnavailable(
            f"no Dask scheduler can be reached at {address} ({error_text(error)}); expected the address that "
            "`dask scheduler` prints, such as tcp://10.0.0.5:8786",
            "Dask",
        )
    ):
        # Of what is no address, a client is half made and prints traces.
        distributed.comm.get_address_host_port(address)
        client = distributed.Client(address, timeout=_SECONDS_TO_ANSWER, set_as_default=False)

    async def arrive(theirs: Any, ours: "Future[Answer]") -> None:
        try:
            answer = await theirs
        except (CancelledError, OSError):  # of tasks, all errors are answers
            ours.cancel()
            return
        except Exception as error:  # noqa: BLE001  such as KilledWorker, or what a worker cannot import
            answer = Answer(None, error_text(error))
        if ours.set_running_or_notify_cancel():
            ours.set_result(answer)

    def submit(run_task: _Task, task: str) -> "Future[Answer]":
        ours, theirs = Future[Answer](), client.submit(_work, run_task, task, pure=False)
        client.loop.add_callback(arrive, theirs, ours)
        return ours

    try:
        yield submit
    finally:
        client.close()


@contextmanager
def _processes(number: int) -> Generator[_Submit]:
    """Yield what runs tasks in so many processes.

    Each process is a pool of its own, for which a thread waits. So it is known which task a process took with it, and
    the others go on: a pool of several ends them all.
    """
    if number < 1:
        raise ConfigError(f"{number} processes; expected at least 1")
    loky = require("loky", extra="workers", needed_by="workers=")
    cores = str(max(loky.cpu_count() // number, 1))
    variables = {name: os.environ.get(name, cores) for name in _THREADS} | {"TQDM_DISABLE": "1"}
    pools, ended = dict[int, Any](), Event()

    def in_a_process(run_task: _Task, task: str) -> Answer:
        own, why = get_ident(), ""
        for _ in range(_LIVES):
            if own not in pools:
                start = {"initializer": _begin, "initargs": (os.getpid(),), "env": variables}
                pools[own] = loky.ProcessPoolExecutor(1, **start)
            if ended.is_set():
                break
            try:
                return cast("Answer", pools[own].submit(_work, run_task, task).result())
            except BrokenExecutor as error:
                del pools[own]
                code = re.search(r"\w+\(-?\d+\)", str(error))
                why = error_message(error) if code is None else code[0]
        return Answer(None, f"{_LIVES} processes died of it ({why}): too little memory? Fewer workers need less")

    threads, is_cut_short = ThreadPoolExecutor(number, thread_name_prefix="rag-eval"), True
    try:
        yield lambda run_task, task: threads.submit(in_a_process, run_task, task)
        is_cut_short = False
    finally:
        ended.set()
        for pool in [*pools.values()]:
            pool.shutdown(kill_workers=is_cut_short)
        threads.shutdown(cancel_futures=True)


def _begin(parent: int) -> None:
    """Make a new process end with its parent, which may be killed, and leave Ctrl-C to it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCHED)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=watch, daemon=True).start()
    bars: Any = tqdm
    bars.set_lock(RLock())  # its own is a semaphore of the system, which outlives a process that is killed
