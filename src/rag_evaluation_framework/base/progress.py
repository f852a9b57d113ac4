"""Progress bars, in terminals and notebooks; loaded when there is something to show."""

import os
import warnings
from collections.abc import Iterable
from threading import RLock
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from tqdm import TqdmExperimentalWarning

with warnings.catch_warnings():
    warnings.simplefilter("ignore", TqdmExperimentalWarning)  # tqdm.auto gives no warning, and loads asyncio
    from tqdm.autonotebook import tqdm

if TYPE_CHECKING:
    from tqdm.std import tqdm as Bar  # noqa: N812

T = TypeVar("T")
AFTER = 0.3  # seconds, before which no bar is shown
# With `miniters=1`, as what tqdm guesses from quick items hides that the next ones are slow.
_OFF = True if os.environ.get("TQDM_DISABLE") else None  # tqdm's own variable; None: bars in terminals only


def progress(items: Iterable[T], doing: str, unit: str, *, file: TextIO | None = None) -> "Bar[T]":
    """Return items with a progress bar, which appears after 0.3 seconds where somebody watches.

    Args:
        items: The items.
        doing: What is done with them, such as "Searching".
        unit: What one of them is.
        file: Where it is shown; by default standard error.
    """
    return progress_bar(None, doing, unit, items=items, file=file)


def progress_bar(total: int | None, doing: str, unit: str, *, delay: float = AFTER, **more: Any) -> "Bar[Any]":
    """Return a bar as `progress` shows it, which is told what is done."""
    bar: Any = tqdm
    more |= {"unit_scale": unit == "B", "disable": _OFF, "leave": False, "miniters": 1}  # 2.1 MB, not 2100000 B
    shown: Bar[Any] = bar(more.pop("items", None), total=total, desc=doing, unit=unit, delay=delay, **more)
    return shown


def keep_bars_here() -> None:
    """Show bars of this process only: to make the lock that several could share takes 14 ms."""
    bars: Any = tqdm
    bars.set_lock(RLock())
