"""The command `rag-eval`: its subcommands and its error handling."""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer

from rag_evaluation_framework._support.exits import exit_text
from rag_evaluation_framework._support.optional import DISTRIBUTION
from rag_evaluation_framework.cli.cache import cache
from rag_evaluation_framework.cli.components import components
from rag_evaluation_framework.cli.demo import demo
from rag_evaluation_framework.cli.init import init
from rag_evaluation_framework.cli.run import run
from rag_evaluation_framework.cli.score import score
from rag_evaluation_framework.errors import RagEvalError

RUN_ERROR = 2

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


class _Ended(Exception):
    """How a command ended: `error` is left to `main`, as the library beneath has exit codes of its own for some."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class _Terminated(KeyboardInterrupt):
    """SIGTERM: it takes the way of Ctrl-C, so that everything is closed that Ctrl-C closes."""


def _reporting(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with whatever ends it wrapped: user code may raise what would look like a success."""

    @wraps(command)
    def run_and_report(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except BaseException as error:
            raise _Ended(error) from error

    return run_and_report


for command in (demo, init, run, score, components, cache):
    app.command()(_reporting(command))


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(version(DISTRIBUTION))
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Measure retrieval: label the text once, compare any chunker, embedder and retriever fairly.

    Exit codes: 0 done, 2 the run could not be made, 130 Ctrl-C, 143 SIGTERM. Start with: rag-eval demo
    """


def main() -> None:
    """Run the command line; every error ends in one message and exit code 2, every interrupt in 130 or 143."""
    try:
        with warnings.catch_warnings(), _sigterm_as_interrupt():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            app()
    except _Ended as ended:
        _leave(ended.error)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  every end has its message and exit code
        _leave(error)


@contextmanager
def _sigterm_as_interrupt() -> Generator[None]:
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(_signal: int, _frame: object) -> None:
    raise _Terminated


def _leave(error: BaseException) -> NoReturn:
    match error:
        case RagEvalError():
            _fail(str(error))
        case SystemExit():
            _fail(f"a component {exit_text(error)}; expected it to return, or to raise an error")
        case _Terminated():
            _fail("terminated", 143)
        case KeyboardInterrupt():
            _fail("interrupted", 130)
        case _:
            # The last resort: people get a message, developers a traceback on request.
            if os.environ.get("RAG_EVAL_DEBUG"):
                raise error
            _fail(f"{type(error).__name__}: {error} (set RAG_EVAL_DEBUG=1 to see where)")


def _show_warning(message: Warning | str, *_where: object, **_more: object) -> None:
    typer.echo(f"warning: {_harmless(str(message))}", err=True)


def _fail(message: str, code: int = RUN_ERROR) -> NoReturn:
    typer.echo(f"{'error: ' if code == RUN_ERROR else ''}{_harmless(message)}", err=True)
    sys.exit(code)


def _harmless(message: str) -> str:
    """Return a message without control codes, since it may quote a file or a plug-in."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in message)
