"""The command `rag-eval`: its sub-commands, and how errors leave it."""

import os
import sys
import warnings
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from rag_evaluation_framework._optional import DISTRIBUTION
from rag_evaluation_framework.cli.cache import cache
from rag_evaluation_framework.cli.components import components
from rag_evaluation_framework.cli.demo import demo
from rag_evaluation_framework.cli.init import init
from rag_evaluation_framework.cli.run import run
from rag_evaluation_framework.cli.score import score
from rag_evaluation_framework.errors import RagEvalError

RUN_ERROR = 2

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for command in (demo, init, run, score, components, cache):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version(DISTRIBUTION))
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Measure retrieval: label the text once, compare any chunker, embedder and retriever fairly.

    Exit codes: 0 done, 2 the run could not be made. Start with: rag-eval demo
    """


def main() -> None:
    """Run the command line; every error ends in one message and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            app()
    except RagEvalError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        # The last resort: people get a message, developers a traceback on request.
        if os.environ.get("RAG_EVAL_DEBUG"):
            raise
        _fail(f"{type(error).__name__}: {error} (set RAG_EVAL_DEBUG=1 to see where)")


def _show_warning(message: Warning | str, *_where: object, **_more: object) -> None:
    typer.echo(f"warning: {_harmless(str(message))}", err=True)


def _fail(message: str) -> NoReturn:
    typer.echo(f"error: {_harmless(message)}", err=True)
    sys.exit(RUN_ERROR)


def _harmless(message: str) -> str:
    """Return a message without control codes: it may quote what a file or a plug-in says."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in message)
