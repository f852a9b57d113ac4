"""Components that call `sys.exit`: the program is not theirs to end, so that becomes an error that says who did it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.errors import ComponentExited


@contextmanager
def no_exit(who: str, step: str) -> Generator[None]:
    """Let what is done inside raise anything but `SystemExit`.

    Args:
        who: The component that is called, for the message.
        step: What it is asked to do.

    Raises:
        ComponentExited: It called `sys.exit`.
    """
    try:
        yield
    except SystemExit as leaving:
        raise ComponentExited(
            f"{who}: {exit_text(leaving)} in {step}; expected it to return, or to raise an error"
        ) from leaving


def exit_text(leaving: SystemExit) -> str:
    """Return what was called, and where: `called sys.exit(0) (search.py, line 12)`."""
    code = "" if leaving.code is None else shown(leaving.code)
    frames = extract_tb(leaving.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"called sys.exit({code}){place}"
