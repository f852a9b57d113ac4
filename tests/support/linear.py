"""A bound on how work grows, which holds on a machine of any speed."""

import gc
from math import inf
from time import thread_time


def assert_linear(work, size, *, times=4, most=8):
    """Check that `times` times the work takes at most `most` times the CPU time; a square takes `times` squared.

    Both sizes are measured until the least of each agree with that, five times at most, so that neither the speed of
    the machine nor what else it does decides. Time of other threads does not count.

    Args:
        work: Make an input of a size, and return the work on it; only the work is measured.
        size: The smaller size. Its work should take at least a few milliseconds.
        times: How much larger the other size is.
        most: How much longer its work may take.
    """
    work(size)()  # what is loaded and prepared once
    small = large = inf
    for _ in range(5):
        small = min(small, _seconds(work(size)), _seconds(work(size)))
        large = min(large, _seconds(work(size * times)))
        if large <= most * small:
            return
    raise AssertionError(
        f"size {size * times} took {large:.3f} s of CPU time, {large / small:.1f} times as long as size {size}; "
        f"expected at most {most:g} times"
    )


def _seconds(work):
    collecting = gc.isenabled()
    gc.disable()  # it would look at everything else that the process holds
    try:
        start = thread_time()
        work()
        return thread_time() - start
    finally:
        if collecting:
            gc.enable()
