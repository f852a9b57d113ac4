"""The command `rag-eval` and its subcommands."""

from collections import Counter
from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import rag_evaluation_framework.base as support
from rag_evaluation_framework import trackers
from rag_evaluation_framework.base.exits import on_failure
from rag_evaluation_framework.base.files import from_home
from rag_evaluation_framework.base.outside import fit_to_show
from rag_evaluation_framework.cli.baseline import baseline
from rag_evaluation_framework.cli.cache import cache
from rag_evaluation_framework.cli.compare import compare
from rag_evaluation_framework.cli.components import components
from rag_evaluation_framework.cli.dataset import forget, info, lint, pull, push, quality
from rag_evaluation_framework.cli.dataset_review import review
from rag_evaluation_framework.cli.dataset_update import update
from rag_evaluation_framework.cli.demo import demo
from rag_evaluation_framework.cli.endings import Ended
from rag_evaluation_framework.cli.explain import explain
from rag_evaluation_framework.cli.generate import generate
from rag_evaluation_framework.cli.init import init
from rag_evaluation_framework.cli.label import label
from rag_evaluation_framework.cli.publish import publish
from rag_evaluation_framework.cli.report import report
from rag_evaluation_framework.cli.run import run
from rag_evaluation_framework.cli.run_options import with_keys
from rag_evaluation_framework.cli.score import score


class Commands(TyperGroup):
    """The commands, which refuse arguments in words that are fit to be shown."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of all commands."""
        with on_failure(_make_fit):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Read the arguments of a command, and run it."""
        with on_failure(_make_fit):
            return super().invoke(ctx)


class Command(TyperCommand):
    """A command, which refuses an option that is given twice: it would take the last value and say nothing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of a command."""
        _, _, given = self.make_parser(ctx).parse_args([*args])
        counts: Counter[Any] = Counter(given)
        for option, count in counts.items():
            if count > 1 and not (option.multiple or option.is_flag):
                ctx.fail(f"{option.opts[0]} is given {count} times; expected once")
        return super().parse_args(ctx, args)


class Run(Command):
    """The command `run`, whose options are made when they are needed: other commands do not load what they are made of.

    It first removes the JUnit XML of an earlier run, which is then not there if the arguments are refused.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the arguments and options."""
        if not self.params:
            alone = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False)
            alone.command(cls=Command)(_reporting(with_keys(run)))
            made = get_command(alone)
            self.params, self.callback = made.params, made.callback
        return super().get_params(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        behind = [value for option, value in pairwise(args) if option == "--junit"]
        for given in (*behind, *(option[8:] for option in args if option.startswith("--junit="))):
            if given and "--help" not in args:
                trackers.JUnitSink(from_home(given)).prepare()
        return super().parse_args(ctx, args)


def _make_fit(refusal: BaseException) -> None:
    """Make the message of a refusal fit to be shown; what a command raises is in `Ended`, and has no message."""
    told = vars(refusal)
    if isinstance(told.get("message"), str):
        told["message"] = fit_to_show(told["message"])


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _reporting(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with whatever ends it wrapped: user code may raise what would look like a success."""

    @wraps(command)
    def run_and_report(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except BaseException as error:  # every end, an interrupt too, is told by the program
            raise Ended(error) from error

    return run_and_report


for command in (
    *(demo, init, label, generate, run, baseline, compare),
    *(explain, report, score, publish, components, cache),
):
    if command is run:
        app.command("run", cls=Run, help=run.__doc__)(lambda: None)
    else:
        app.command(cls=Command)(_reporting(command))

datasets = typer.Typer(
    no_args_is_help=True,
    help="Describe a dataset, check, judge and review it, keep its labels as documents change, share it in LangSmith.",
)
for subcommand in (info, lint, quality, review, update, forget, push, pull):
    datasets.command(cls=Command)(_reporting(subcommand))
app.add_typer(datasets, name="dataset")


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(support.installed_version())
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Measure retrieval: label the text once, compare any chunker, embedder and retriever fairly.

    Exit codes: 0 done, 1 a gate failed or dataset lint found something, 2 the run could not be made,
    129 SIGHUP, 130 Ctrl-C, 141 output closed, 143 SIGTERM.
    Start with: rag-eval demo
    """
