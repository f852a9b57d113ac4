"""The command `rag-eval` and its subcommands."""

from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from typing import Annotated, Any

import typer

from rag_evaluation_framework._support.optional import DISTRIBUTION
from rag_evaluation_framework.cli.cache import cache
from rag_evaluation_framework.cli.components import components
from rag_evaluation_framework.cli.demo import demo
from rag_evaluation_framework.cli.endings import Ended
from rag_evaluation_framework.cli.init import init
from rag_evaluation_framework.cli.run import run
from rag_evaluation_framework.cli.score import score

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _reporting(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with whatever ends it wrapped: user code may raise what would look like a success."""

    @wraps(command)
    def run_and_report(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except BaseException as error:
            raise Ended(error) from error

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

    Exit codes: 0 done, 2 the run could not be made, 130 Ctrl-C, 141 output closed, 143 SIGTERM.
    Start with: rag-eval demo
    """
