"""From the name of a component to what it stands for."""

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry.functions import (
    OWN_FUNCTION,
    is_factory,
    is_function_of,
    refused_import,
    what_it_is,
)
from rag_evaluation_framework.registry.loading import PACKAGE, load_attribute, load_installed
from rag_evaluation_framework.registry.table import Kind, built_in, check_kind, components, contract_of

# How ir_measures calls metrics, where ours are not near.
_CUSTOMARY = {"r": "recall", "p": "precision", "rr": "mrr", "ap": "map", "success": "hit", "rprec": "r_precision"}


def load(kind: Kind, name: str, *, imports: bool = True) -> Callable[..., Any]:
    """Return what a name of that kind, or `module:attribute`, stands for: a class that keeps the contract of its kind.

    For a retriever it may also be a function of one's own, `(query, k) -> results`, or a retriever that is made
    already; for an engine a function without arguments that makes one, or an engine. Nothing is called: what is not of
    that kind is refused before it could do anything.

    Args:
        kind: The kind of component.
        name: A name of the table, or `module:attribute`.
        imports: Whether the latter is allowed.

    Raises:
        ConfigError: There is no such component, it is of another kind, or it would have to be imported; or the name is
            no text.
    """
    check_kind(kind)
    given: Any = name
    if not isinstance(given, str):
        raise ConfigError(
            f"{kind} {shown(given)}: expected a name, one of {', '.join(components(kind))}, or module:attribute"
        )
    if name in components(kind):
        target = load_installed(components(kind)[name])
    elif name in built_in(kind):
        raise ConfigError(f"{kind} {shown(name)} is a whole system; name it itself, as engine (--engine)")
    elif ":" not in name:
        known = ", ".join(components(kind))
        raise ConfigError(
            f"{kind} {shown(name)} is unknown; {_hint(kind, name)}there are {known}; one of your own is written "
            "module:attribute"
        )
    elif imports:
        target = load_attribute(name)
    else:
        raise refused_import(kind, name)
    return _checked(kind, name, target)


def _checked(kind: Kind, name: str, target: Any) -> Callable[..., Any]:
    contract = contract_of(kind)
    expected = f"a subclass of {PACKAGE}.{contract.__name__}"
    if inspect.isclass(target):
        fits = issubclass(target, contract)
    elif kind == "retriever":
        fits = isinstance(target, contract) or is_function_of(target, "query, k")
    else:
        fits = kind == "engine" and (isinstance(target, contract) or is_factory(target))
    if kind == "retriever":
        expected = f"{expected}, or {OWN_FUNCTION} (query, k) -> results"
    elif kind == "engine":
        expected = (
            "an object with retrieve(query, top_k, scope), or a function of your own without arguments that makes one"
        )
    if not fits:
        raise ConfigError(f"{kind} {name!r} is {what_it_is(target)}; expected {expected}")
    checked: Callable[..., Any] = target
    return checked


def _hint(kind: Kind, name: str) -> str:
    """Return what may have been meant, as a part of a sentence."""
    known = components(kind)
    bare, at, _ = name.strip().partition("@")
    spelt = bare if kind == "metric" and at else name.strip()
    letters = {re.sub("[^a-z0-9]", "", candidate.lower()): candidate for candidate in known}
    near = get_close_matches(re.sub("[^a-z0-9]", "", spelt.lower()), letters, n=1)
    meant = _CUSTOMARY.get(spelt.lower()) if kind == "metric" else None
    meant = meant or (letters[near[0]] if near else None)
    advice = "" if meant in (None, spelt) else f"did you mean {meant}? "
    if kind == "metric" and at:
        advice += "a metric is named without its cutoff, which k and budgets give; "
    return advice
