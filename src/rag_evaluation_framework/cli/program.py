"""Running the command that the arguments name, and telling how it ended."""

import logging
import warnings

from ..base import interrupts
from ..base.coroutines import was_given_up
from ..base.exits import end_in_time
from . import commands, endings, output


def exit_code() -> int:
    """Run the command, tell people how it ended, and return the exit code."""
    output.open_streams()
    ended = _ended()
    code = endings.told(ended)
    if not output.flushed():
        code = code or endings.OUTPUT_CLOSED
    if was_given_up() or interrupts.first_interrupt() is not None:
        end_in_time(code)
    return code


def _ended() -> BaseException | None:
    """Run the command that the arguments name, and return what ended it."""
    try:
        try:
            _run()
        finally:
            interrupts.leave_at_once()  # here, as an interrupt between two statements would end it with a traceback
    except BaseException as error:  # noqa: BLE001  every end has its message and exit code
        return error
    return None


def _run() -> None:
    with output.watched(), warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = endings.show_warning
        log = logging.getLogger(__name__.partition(".")[0])  # of the package
        log.setLevel(logging.INFO)
        log.handlers = [logging.StreamHandler()]
        interrupts.clean_up()
        commands.app()
