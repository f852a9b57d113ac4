"""Bounds on work, in CPU time: they hold on a machine that is busy with something else."""

from contextlib import contextmanager
from time import thread_time


@contextmanager
def cpu_seconds_below(limit):
    """Check that a block takes less CPU time than this in its thread.

    It catches what grows with the square of the length, and is many times what the work takes: no test claims a speed.
    Time of other threads does not count, since those of linear algebra wait for each other in loops.
    """
    start = thread_time()
    yield
    taken = thread_time() - start
    assert taken < limit, f"{taken:.1f} s of CPU time, expected less than {limit} s"
