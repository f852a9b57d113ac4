"""Options of commands: made of their signatures and docstrings, and for `run` of the fields of `RunSpec`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import wraps
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, get_args, get_origin

import typer

from .. import base, data, runs, sweeps
from ..base.exits import on_failure
from ..base.files import checked_path, from_home
from ..errors import ConfigError
from .output import Ended

Workers = Annotated[str | None, typer.Option(metavar="NUMBER|ADDRESS")]

OF_THE_COMMAND = ("gate", "threshold", "baseline")
"""Options that are not merged with the key that they are called like: the command line has rules of its own for it."""
_PARAMETER = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)  # of a docstring
_FIRST_SENTENCE = re.compile(r".*?\.(?=\s|$)")


def _shared() -> None:
    """Help of arguments and options that several commands have, where their own docstrings have none.

    Args:
        allow_failures: The number of failed questions to tolerate before exiting with 2.
        allow_skipped: The number of questions whose labels could not be placed to tolerate before exiting with 2.
        as_json: Print one JSON object instead of tables.
        chunks: The chunks that labels name, as ChunkRegistry.save writes them.
        cluster: What counts as independent: question or document; by default documents, if labels are in 6 or more.
        corpus: The documents: a folder or file, or a configuration that names them.
        dataset: The dataset, in any format, of any level.
        exclude: Which files not to read; a name without a slash means all folders; repeatable.
        fresh: Run again what is done.
        glob: Which files of the folder to read; by default every kind that is read; repeatable.
        html: Also write it as a page: every quote or label, marked in its passage, weakest first.
        no_import: Refuse your own code: only built-in components and installed plug-ins.
        order: How stored rankings are ordered: given, as the file lists them, or score, highest first.
        repeated: What a quote is that occurs more than once: 'ambiguous', or answered by 'any' of its occurrences.
        root: Where runs are saved; by default .rag-eval.
        run: A saved run, named as in `rag-eval compare`, such as last.
        ties: How equal scores are ordered: as trec_eval does, by id; by default as the file lists them.
        workers: So many processes on this machine, or the address of a Dask scheduler, such as tcp://10.0.0.5:8786.
    """


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


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command as typer takes it, and whatever ends it wrapped in `Ended`.

    Arguments are positional, options keyword-only; their help is in the docstring or, of those that several commands
    share, in that of `_shared`. If it takes any keywords, it takes the options that set keys, behind its argument.
    """
    stated = signature(function, eval_str=True)
    help_texts = help_of(_shared)[1] | help_of(function)[1]
    made = [
        _described(each, help_texts[each.name])
        for each in stated.parameters.values()
        if each.kind is not Parameter.VAR_KEYWORD
    ]
    if len(made) < len(stated.parameters):
        made[1:1] = (each.parameter for each in key_options())

    @wraps(function)
    def command(*arguments: Any, **given: Any) -> None:
        with on_failure(_end):  # every end, an interrupt too, is told by the program
            base.keep_bars_here()
            function(*arguments, **given)

    described: Any = command
    described.__signature__ = stated.replace(parameters=made)
    described.__annotations__ = {each.name: each.annotation for each in made}
    return command


def _end(error: BaseException) -> NoReturn:
    raise Ended(error) from error


def help_of(command: Callable[..., None]) -> tuple[str, dict[str, str]]:
    """Return the help of a command, and that of its arguments and options, as its docstring has them."""
    text, _, parameters = (getdoc(command) or "").partition("\n\nArgs:\n")
    return text, {name: " ".join(told.split()) for name, told in _PARAMETER.findall(parameters)}


def _described(parameter: Parameter, help_text: str) -> Parameter:
    """Return a parameter as an argument or option with its help."""
    is_marked = get_origin(parameter.annotation) is Annotated
    kind, *marks = get_args(parameter.annotation) if is_marked else (parameter.annotation,)
    if marks:
        mark = copy(marks[0])
    elif parameter.kind is not Parameter.KEYWORD_ONLY:
        mark = typer.Argument()
    elif kind is bool:
        mark = typer.Option(f"--{parameter.name.removeprefix('as_').replace('_', '-')}")
    else:
        mark = typer.Option(min=0 if kind is int else None)
    mark.help = help_text
    if Path in (kind, *get_args(kind)):
        mark.parser = path
    return parameter.replace(annotation=Annotated[kind, mark])


class KeyOption(NamedTuple):
    """An option of its own that sets a key of a run."""

    key: str
    option: str
    parameter: Parameter


def key_options() -> Iterator[KeyOption]:
    """Yield the options that set keys, those of what is run before those of how."""
    for key in base.own_first(runs.RunSpec):
        field = runs.RunSpec.model_fields[key]
        for mark in field.metadata:
            if isinstance(mark, runs.Option):
                option = mark.name or f"--{key.replace('_', '-')}"
                kinds = {field.annotation, *get_args(field.annotation)}
                takes: Any = mark.takes or next((kind for kind in (bool, float) if kind in kinds), str)
                parser = path if takes in (Path, list[Path]) else None
                given: Any = typer.Option(option, metavar=mark.metavar, parser=parser)
                annotation: Any = Annotated[takes if takes is bool else takes | None, given]
                name, default = option.removeprefix("--").replace("-", "_"), False if takes is bool else None
                parameter = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
                yield KeyOption(key, option, parameter)


def describe(parameters: Iterable[Any]) -> None:
    """Give the options that set keys their help: the first sentence on each key."""
    told = base.docstrings(runs.RunSpec)
    keys = {each.parameter.name: each.key for each in key_options()}
    for each in parameters:
        if each.name in keys:
            text = " ".join(told[keys[each.name]].split())
            first = _FIRST_SENTENCE.match(text)
            each.help = first[0] if first else text


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
    found = {key: _written(key, value) for key, value in told if value not in (None, []) and value is not False}
    for text in settings:
        key, values = sweeps.parse_axis(text, "--set")
        if key in found:
            raise ConfigError(f"--set {text}: {key} is given twice; expected once")
        found[key] = values[0] if len(values) == 1 else values
    return found


def name_of(key: str) -> str:
    """Return the option that sets a key of a run."""
    return next((each.option for each in key_options() if each.key == key), f"--set {key}")


def _written(key: str, value: Any) -> Any:
    if isinstance(value, Path):
        return str(value.absolute())
    if key == "rankings":
        return [str(path.absolute()) for path in value]
    if key == "glob":
        return one_or_all(value)
    return False if key == "ingest" else value  # --no-ingest says so


# Paths that are given, and the documents below them.

PAGE = (".html", ".htm")


def path(given: str) -> Path:
    """Read a path; in `--root=~/runs`, which a shell leaves as it is, `~` is the folder of the user.

    Raises:
        typer.BadParameter: It is empty.
    """
    if not str(given):
        raise typer.BadParameter("is empty; expected a path, such as . for the working folder")
    return Path(from_home(given))


def check_new(option: str, path: Path | None, *endings: str) -> None:
    """Raise ConfigError if the new file that an option names is there already, or has none of these endings."""
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise ConfigError(f"{option} {path}: expected a file name ending in {' or '.join(endings)}")
    if checked_path(path, ConfigError).exists():
        raise ConfigError(f"{option} {path} already exists and is not overwritten; choose another name, or move it")


def one_or_all(given: list[str] | None) -> str | list[str] | None:
    """Return patterns as a configuration has them: a single one is a text."""
    return given[0] if given and len(given) == 1 else given or None


def is_configuration(corpus: Path) -> bool:
    """Return whether a path of documents is a configuration that names them."""
    return corpus.suffix in (".yaml", ".yml") and not corpus.is_dir()


def documents(corpus: Path) -> "data.Corpus":
    """Return the documents of a folder or file, or those that a configuration names, read as it says.

    Raises:
        InputError: They cannot be read.
    """
    if not is_configuration(corpus):
        return data.Corpus.of(corpus)
    found = runs.load_config(corpus).documents(corpus.parent)
    if found is None:
        raise ConfigError(f"--corpus {corpus}: expected a configuration that names documents")
    return found
