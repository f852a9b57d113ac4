"""The options of `rag-eval run`: those that set a key of a run are made of the fields of `RunSpec`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import wraps
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import typer

from .. import base, runs, sweeps
from ..errors import ConfigError
from . import paths
from .endings import Ended

# Commands share these, and load no `RunSpec` for them.
AllowFailures = Annotated[
    int, typer.Option(min=0, help="The number of failed questions to tolerate before exiting with 2.")
]
AllowSkipped = Annotated[
    int,
    typer.Option(
        min=0, help="The number of questions whose labels could not be placed to tolerate before exiting with 2."
    ),
]
NoImport = Annotated[
    bool, typer.Option("--no-import", help="Refuse your own code: only built-in components and installed plug-ins.")
]
Workers = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|ADDRESS",
        help="So many processes on this machine, or the address of a Dask scheduler, such as tcp://10.0.0.5:8786.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Corpus = Annotated[
    Path | None, paths.PathOption(help="The documents: a folder or file, or a configuration that names them.")
]
SavedRun = Annotated[str, typer.Argument(help="A saved run, named as in `rag-eval compare`, such as last.")]
Root = Annotated[Path | None, paths.PathOption(help="Where runs are saved; by default .rag-eval.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="question|document",
        help="What counts as independent; by default documents, if labels are in 6 or more.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="given|score",
        help="How stored rankings are ordered: as the file lists them, scores ignored, or by score, highest first.",
    ),
]
Ties = Annotated[
    str | None,
    typer.Option(
        metavar="trec_eval",
        help="How equal scores are ordered: as trec_eval does, by id; by default as the file lists them.",
    ),
]

OF_THE_COMMAND = ("gate", "threshold", "baseline")
"""Options that are not merged with the key that they are called like: the command line has rules of its own for it."""
_PARAMETER = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)  # of a docstring
_FIRST_SENTENCE = re.compile(r".*?\.(?=\s|$)")


def executor_of(workers: str) -> int | str:
    """Return a number of processes, or an address.

    Raises:
        ConfigError: It is neither.
    """
    if workers.isdecimal() and int(workers) > 0:
        return int(workers)
    if ":" not in workers:
        raise ConfigError(
            f"--workers {workers}: expected a number of processes, at least 1, or the address of a Dask scheduler, "
            "such as tcp://10.0.0.5:8786"
        )
    return workers


class KeyOption(NamedTuple):
    """An option of its own that sets a key of a run."""

    key: str
    option: str
    parameter: Parameter


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command as typer takes it, and whatever ends it wrapped in `Ended`.

    Its arguments and options, which are keyword-only, have the help that is in its docstring; those that several
    commands share have theirs. If it takes any keywords, it takes the options that set keys of a run, behind its
    argument.
    """
    _, told = help_of(function)
    stated = signature(function, eval_str=True)
    made = [
        _described(each, told[each.name]) if each.name in told else each
        for each in stated.parameters.values()
        if each.kind is not Parameter.VAR_KEYWORD
    ]
    if len(made) < len(stated.parameters):
        made[1:1] = (each.parameter for each in key_options())

    @wraps(function)
    def command(*arguments: Any, **given: Any) -> None:
        try:
            function(*arguments, **given)
        except BaseException as error:  # every end, an interrupt too, is told by the program
            raise Ended(error) from error

    described: Any = command
    described.__signature__ = stated.replace(parameters=made)
    described.__annotations__ = {each.name: each.annotation for each in made}
    return command


def help_of(command: Callable[..., None]) -> tuple[str, dict[str, str]]:
    """Return the help of a command, and that of its arguments and options, as its docstring has them."""
    text, _, parameters = (getdoc(command) or "").partition("\n\nArgs:\n")
    return text, {name: " ".join(told.split()) for name, told in _PARAMETER.findall(parameters)}


def _described(parameter: Parameter, told: str) -> Parameter:
    """Return a parameter as an argument or option with its help."""
    kind, *marks = (
        get_args(parameter.annotation) if get_origin(parameter.annotation) is Annotated else [parameter.annotation]
    )
    if marks:
        mark = copy(marks[0])
    elif parameter.kind is not Parameter.KEYWORD_ONLY:
        mark = typer.Argument()
    else:
        mark = typer.Option(*([f"--{parameter.name.replace('_', '-')}"] if kind is bool else []))
    mark.help = told
    if Path in (kind, *get_args(kind)):
        mark.parser = paths.path
    return parameter.replace(annotation=Annotated[kind, mark])


def key_options() -> Iterator[KeyOption]:
    """Yield the options that set keys, those of what is run before those of how."""
    for key in base.own_first(runs.RunSpec):
        field = runs.RunSpec.model_fields[key]
        yield from (_option(key, field, mark) for mark in field.metadata if isinstance(mark, runs.Option))


def describe(parameters: Iterable[Any]) -> None:
    """Give the options that set keys their help: the first sentence on each key."""
    told = base.docstrings(runs.RunSpec)
    keys = {each.parameter.name: each.key for each in key_options()}
    for each in parameters:
        if each.name in keys:
            text = " ".join(told[keys[each.name]].split())
            first = _FIRST_SENTENCE.match(text)
            each.help = first[0] if first else text


def _option(key: str, field: Any, mark: Any) -> KeyOption:
    option = mark.name or f"--{key.replace('_', '-')}"
    kinds = {field.annotation, *get_args(field.annotation)}
    takes = mark.takes or next((kind for kind in (bool, float) if kind in kinds), str)
    parser = paths.path if takes in (Path, list[Path]) else None
    given: Any = typer.Option(option, metavar=mark.metavar, parser=parser)
    annotation: Any = Annotated[takes if takes is bool else takes | None, given]
    name = option.removeprefix("--").replace("-", "_")
    default = False if takes is bool else None
    return KeyOption(key, option, Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))


def keys_of(given: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Return the keys of a run that options set, those of `--set` last, in which a key may name a parameter.

    A path that an option of its own gives is absolute.

    Args:
        given: The value of each option by the name of its parameter, None or empty if it was not given.
        settings: What `--set` gives, such as `mode=retrieve` or `chunker.chunk_size=200`.

    Raises:
        ConfigError: A key is given twice, or something that is given for `--set` is no setting.
    """
    merged = [each for each in key_options() if each.parameter.name not in OF_THE_COMMAND]
    told = ((each.key, given[each.parameter.name]) for each in merged)
    found = {key: _written(key, value) for key, value in told if not _is_absent(value)}
    for text in settings:
        key, values = sweeps.parse_axis(text, "--set")
        if key in found:
            raise ConfigError(f"--set {text}: {key} is given twice; expected once")
        found[key] = values[0] if len(values) == 1 else values
    return found


def _is_absent(value: Any) -> bool:
    """Return whether an option was not given: 0 is a value."""
    return value is None or value is False or value == []


def name_of(key: str) -> str:
    """Return the option that sets a key of a run."""
    return next((each.option for each in key_options() if each.key == key), f"--set {key}")


def _written(key: str, value: Any) -> Any:
    if isinstance(value, Path):
        return str(value.absolute())
    if key == "rankings":
        return [str(path.absolute()) for path in value]
    if key == "glob":
        return paths.one_or_all(value)
    return False if key == "ingest" else value  # --no-ingest says so
