"""The entry point of `rag-eval`: interrupts are answered from here on, then the commands are loaded and run."""

import sys
import warnings
from importlib import import_module

from rag_evaluation_framework._support import interrupts
from rag_evaluation_framework.cli import endings, output


def main() -> None:
    """Run the command line; every error ends in one message and exit code 2, every interrupt in 130 or 143."""
    output.open_streams()
    with interrupts.remembered():
        code = endings.told(_ended())
        if not output.flushed():
            code = code or endings.OUTPUT_CLOSED
    sys.exit(code)


def _ended() -> BaseException | None:
    """Run the command that the arguments name, and return what ended it."""
    try:
        with output.watched(), warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = endings.show_warning
            # Loading typer and the commands takes so long that somebody may press Ctrl-C meanwhile.
            app = import_module("rag_evaluation_framework.cli.commands").app
            interrupts.clean_up()
            app()
    except BaseException as error:  # noqa: BLE001  every end has its message and exit code
        return error
    return None
