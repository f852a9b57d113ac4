"""The command `rag-eval` and its subcommands."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import rag_evaluation_framework.base as support

from .. import trackers
from ..base.exits import on_failure
from ..base.files import from_home
from ..base.outside import fit_to_show
from .run_options import as_command, describe, help_of


class Command(TyperCommand):
    """A command, whose module is imported when it is called or shown, and whose options are made for these only.

    It refuses an option that is given twice: it would take the last value and say nothing.
    """

    def __init__(self, name: str, module: str) -> None:
        super().__init__(name)
        self._module = module

    @cached_property
    def function(self) -> Callable[..., None]:
        """The function of the command; its docstring is the help."""
        function: Callable[..., None] = getattr(import_module(f"{__package__}.{self._module}"), str(self.name))
        return function

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the arguments and options."""
        if self.callback is None:
            alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            alone.command()(as_command(self.function))
            made = get_command(alone)
            self.params, self.callback = made.params, made.callback
        return super().get_params(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        _, _, given = self.make_parser(ctx).parse_args([*args])
        counts: Counter[Any] = Counter(given)
        for option, count in counts.items():
            if count > 1 and not option.multiple and (option.secondary_opts or not option.is_flag):
                names = " or ".join((*option.opts, *option.secondary_opts))
                ctx.fail(f"{names} is given {count} times; expected once")
        return super().parse_args(ctx, args)


class Run(Command):
    """The command `run`, which first removes the JUnit XML of an earlier run: none is left if it is refused."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help, for which alone the keys are described."""
        describe(self.get_params(ctx))
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        behind = [value for option, value in pairwise(args) if option == "--junit"]
        for given in (*behind, *(option[8:] for option in args if option.startswith("--junit="))):
            if given and "--help" not in args:
                trackers.JUnitSink(from_home(given)).prepare()
        return super().parse_args(ctx, args)


class Commands(TyperGroup):
    """The commands, which refuse arguments in words that are fit to be shown."""

    modules: ClassVar[Mapping[str, str]] = {
        **{name: name for name in ("demo", "init", "label", "generate", "run", "sweep")},
        **dict.fromkeys(("baseline", "compare", "explain", "report"), "saved"),
        "score": "score",
        "publish": "saved",
        "components": "components",
        "cache": "cache",
    }
    """The module of each command, in which its function is called like it."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        own = {name: (Run if name == "run" else Command)(name, module) for name, module in self.modules.items()}
        self.commands = {**own, **self.commands}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command with its help."""
        command = super().get_command(ctx, cmd_name)
        if isinstance(command, Command):
            command.help, _ = help_of(command.function)
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of all commands."""
        with on_failure(_make_fit):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Read the arguments of a command, and run it."""
        with on_failure(_make_fit):
            return super().invoke(ctx)


class DatasetCommands(Commands):
    """The commands of `rag-eval dataset`."""

    modules: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("info", "lint", "quality", "review", "update", "forget", "push", "pull"), "dataset"
    )


def _make_fit(refusal: BaseException) -> None:
    """Make the message of a refusal fit to be shown; what a command raises is in `Ended`, and has no message."""
    told = vars(refusal)
    if isinstance(told.get("message"), str):
        told["message"] = fit_to_show(told["message"].removeprefix("Value error, "))  # Typer's words for a choice


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(
    typer.Typer(),
    name="dataset",
    cls=DatasetCommands,
    no_args_is_help=True,
    help="Describe a dataset, check, judge and review it, keep its labels as documents change, share it in LangSmith.",
)


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

    Exit codes: 0 done, 1 a gate failed or dataset lint found something,
    2 no reliable result; 129 SIGHUP, 130 Ctrl-C, 141 output closed, 143 SIGTERM.
    Start with: rag-eval demo
    """
