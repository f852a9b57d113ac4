"""The entry point of `rag-eval`: interrupts are answered from here on, and only then all else is loaded."""

import atexit
import gc
import sys
from importlib import import_module

from ..base import interrupts


def main() -> None:
    """Run the command line; every error ends in one message and exit code 2, every interrupt in 129, 130 or 143."""
    interrupts.remember()
    gc.set_threshold(50_000)  # what is loaded stays: looking at it again and again is a tenth of a short run
    atexit.register(gc.freeze)  # nor is it taken apart piece by piece at the end, which is another tenth
    # Loading typer, the commands and what they need takes so long that somebody may press Ctrl-C meanwhile.
    sys.exit(import_module("rag_evaluation_framework.cli.program").exit_code())
