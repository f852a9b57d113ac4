"""Running the command that the arguments name, and telling how it ended."""

import logging
import warnings
from contextlib import suppress

from ..base import interrupts
from ..base.coroutines import was_given_up
from ..base.exits import end_in_time, on_failure
from . import commands, output


def exit_code() -> int:
    """Run the command, tell people how it ended, and return the exit code."""
    output.open_streams()
    # Every end has its message and exit code; until there is one, what ends this is an interrupt.
    ended: list[BaseException | None] = [KeyboardInterrupt()]
    with suppress(BaseException), on_failure(ended.append):
        try:
            with output.watched(), warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = output.show_warning
                log = logging.getLogger(__name__.partition(".")[0])  # of the package
                log.setLevel(logging.INFO)
                log.handlers = [logging.StreamHandler()]
                interrupts.clean_up()
                commands.app()
            ended.append(None)
        finally:
            interrupts.leave_at_once()  # here, as an interrupt between two statements would end it with a traceback
    code = output.report_ending(ended[-1])
    if not output.flushed():
        code = code or output.OUTPUT_CLOSED
    if was_given_up() or interrupts.first_interrupt() is not None:
        end_in_time(code)
    return code
