"""The kinds of components, and where each component of a kind is to be found."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, get_args

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry.loading import PACKAGE, load_installed

Kind = Literal["chunker", "embedder", "vector_store", "reranker", "retriever", "engine", "metric", "sink"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ROOMS: Mapping[Kind, str] = {kind: "trackers" if kind == "sink" else f"{kind}s" for kind in KINDS}
_RECORDED: Mapping[str, Collection[str]] = {"retriever": ("engine",)}
"""What records name, and configurations do not: engines have a key of their own, by which their writes are checked."""

_announced = cache(entry_points)  # of all kinds at once: each look reads a file of everything that is installed

# What a class of each kind keeps. Names, as for the parts: the contracts load NumPy, which `--help` has no use for.
CONTRACTS: Mapping[Kind, str] = {kind: kind.title().replace("_", "") for kind in KINDS}


@cache
def built_in(kind: Kind) -> Mapping[str, str]:
    """Return the built-in components of a kind by the names in records, and where each is to be found.

    The line in the stub of its room is what registers a component; its name stands behind it, as a comment.
    """
    room = f"{PACKAGE}.{ROOMS[kind]}"
    stub = Path(__file__).parents[1].joinpath(ROOMS[kind], "__init__.pyi").read_text(encoding="utf-8")
    registered = re.findall(r"^from \.\w+ import ([A-Z]\w*) as \1  # ([\w-]+)$", stub, re.MULTILINE)
    return {named: f"{room}:{name}" for name, named in registered}


@cache
def components(kind: Kind) -> Mapping[str, str]:
    """Return the names of a kind that configurations can use and where each is to be found, sorted by name."""
    table = dict(built_in(kind))
    for point in _announced().select(group=f"{PACKAGE}.{kind}"):
        if point.name in table:
            note(f"plug-in {point.value!r} calls itself {point.name!r}, which is taken")
        else:
            table[point.name] = point.value
    return {name: table[name] for name in sorted(table) if name not in _RECORDED.get(kind, ())}


def contract_of(kind: Kind) -> type[Any]:
    """Return the class whose contract components of a kind keep."""
    contract: type[Any] = load_installed(f"{PACKAGE}.contracts:{CONTRACTS[kind]}")
    return contract


def check_kind(kind: Any) -> None:
    """Raise ConfigError where a kind is none."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"{shown(kind)} is no kind of component; expected one of {', '.join(KINDS)}")
