"""Importing `module:attribute`; the kinds of components and where each is registered."""

import logging
import os
import re
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Never, get_args

from ...base.exits import exit_text, outcome
from ...base.notes import note
from ...base.optional import plug_ins
from ...base.outside import class_name, error_message, one_line, shown
from ...errors import ConfigError

PACKAGE = "rag_evaluation_framework"
_NO_IMPORT = "RAG_EVAL_NO_IMPORT"
_FLAG = "--no-import (imports=False)"

_log = logging.getLogger(PACKAGE)


def load_attribute(reference: str, key: str = "", *, imports: bool = True) -> Any:
    """Return what `module:attribute` names; modules of the working directory are found behind what is installed.

    The module is imported, which runs it; the attribute is looked up and not called. Before that, the log of this
    package says which file is run, as the command line shows on standard error.

    Args:
        reference: `module:attribute`.
        key: What it was given as, for messages: `retriever`.
        imports: Whether anything may be imported.

    Raises:
        ConfigError: There is no such module or attribute, the module cannot be imported, or nothing may be: the
            environment variable `RAG_EVAL_NO_IMPORT` forbids it for every command.
    """
    if not imports or os.environ.get(_NO_IMPORT):
        raise ConfigError(
            f"{key} {reference!r} names your own code, and {_NO_IMPORT if imports else _FLAG} allows nothing but "
            "built-in components and installed plug-ins; nothing was imported. Leave it out if you trust what names "
            "the code"
        )
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    module_name = reference.partition(":")[0]
    if module_name not in sys.modules:
        with suppress(Exception):  # what is wrong is told when it is imported
            found = find_spec(module_name.partition(".")[0])  # of a dotted name it would import the packages around
            if found is not None:
                folders = found.submodule_search_locations
                place = str(found.origin) if folders is None else ", ".join(folders)
                _log.info("importing %s from %s", reference, one_line(place))
    return load_installed(reference)


def load_installed(reference: str) -> Any:
    """Return what `module:attribute` names among what can be imported already; the search path stays as it is.

    Raises:
        ConfigError: There is no such module or attribute, or the module cannot be imported.
    """
    module_name, _, attribute = reference.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *attribute.split("."))):
        raise ConfigError(f"{reference!r}: expected module:attribute, such as my_module:search")
    if module_name.endswith(".py"):
        raise ConfigError(f"{reference!r}: expected a module, no file; did you mean {module_name[:-3]}:{attribute}?")

    def refuse(error: BaseException) -> Never:
        kind = "" if isinstance(error, ImportError) else f"{class_name(error)}: "
        reason = exit_text(error) if isinstance(error, SystemExit) else f"{kind}{error_message(error)}"
        if isinstance(error, ModuleNotFoundError):
            reason += f"; looked for in {Path.cwd()}, and among what is installed"
        raise ConfigError(f"{reference!r}: module {module_name!r} cannot be imported: {reason}") from error

    target = outcome(lambda: import_module(module_name), refuse)
    for part in attribute.split("."):
        if not hasattr(target, part):
            near = get_close_matches(part, dir(target), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"{reference!r}: module {module_name!r} has no {attribute!r}{hint}")
        target = getattr(target, part)
    return target


Kind = Literal["chunker", "embedder", "vector_store", "reranker", "retriever", "engine", "metric", "sink"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ROOMS: Mapping[Kind, str] = {
    **{kind: f"components.{kind}s" for kind in KINDS},
    "metric": "scoring.metrics",
    "sink": "trackers",
}
_RECORDED: Mapping[str, Collection[str]] = {"retriever": ("engine",)}
"""What records name, and configurations do not: engines have a key of their own, by which their writes are checked."""

# What a class of each kind keeps. Names, as for the parts: the contracts load NumPy, which `--help` has no use for.
CONTRACTS: Mapping[Kind, str] = {kind: kind.title().replace("_", "") for kind in KINDS}


@cache
def built_in(kind: Kind) -> Mapping[str, str]:
    """Return the built-in components of a kind by the names in records, and where each is to be found.

    The line in the stub of its room is what registers a component; its name stands behind it, as a comment.

    Raises:
        ConfigError: There is no such kind.
    """
    if kind not in KINDS:
        raise ConfigError(f"{shown(kind)} is no kind of component; expected one of {', '.join(KINDS)}")
    room = f"{PACKAGE}.{ROOMS[kind]}"
    stub = Path(__file__).parents[2].joinpath(*ROOMS[kind].split("."), "__init__.pyi").read_text(encoding="utf-8")
    registered = re.findall(r"^from \.\w+ import ([A-Z]\w*) as \1  # ([\w-]+)$", stub, re.MULTILINE)
    return {named: f"{room}:{name}" for name, named in registered}


@cache
def components(kind: Kind) -> Mapping[str, str]:
    """Return the names of a kind that configurations can use and where each is to be found, sorted by name."""
    table = dict(built_in(kind))
    for point in plug_ins(kind):
        if point.name in table:
            note(f"plug-in {point.value!r} calls itself {point.name!r}, which is taken")
        else:
            table[point.name] = point.value
    return {name: table[name] for name in sorted(table) if name not in _RECORDED.get(kind, ())}


def contract_of(kind: Kind) -> type[Any]:
    """Return the class whose contract components of a kind keep."""
    contract: type[Any] = load_installed(f"{PACKAGE}.contracts:{CONTRACTS[kind]}")
    return contract
