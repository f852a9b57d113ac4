"""Functions of one's own that a configuration names."""

import inspect
import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any, cast

from rag_evaluation_framework._outside import raised
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry.loading import PACKAGE, load_attribute
from rag_evaluation_framework.registry.table import CONTRACTS, KINDS, contract_of

OWN_FUNCTION = "a Python function of your own with named arguments,"
_LIBRARY = "the standard library"
_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def load_function(key: str, reference: str, takes: str, *, imports: bool = True) -> Callable[..., Any]:
    """Return your own function that a key of a configuration names.

    Args:
        key: The key, for messages.
        reference: `module:attribute`.
        takes: Its arguments, `"chunk, number"`.
        imports: Whether anything may be imported.

    Raises:
        ConfigError: It names something else than a function of one's own with these arguments, or nothing may be
            imported.
    """
    if not imports:
        raise refused_import(key, reference)
    target: Callable[..., Any] = load_attribute(reference)
    if not is_function_of(target, takes):
        raise ConfigError(f"{key} {reference!r} is {what_it_is(target)}; expected {OWN_FUNCTION} ({takes})")
    return target


def refused_import(key: str, reference: str) -> ConfigError:
    """Return the error for code of one's own where none may be imported."""
    return ConfigError(
        f"{key} {reference!r} names your own code, and --no-import (imports=False) allows nothing but built-in "
        "components and installed plug-ins; nothing was imported. Leave the flag out if you trust the configuration"
    )


def is_function_of(target: Any, takes: str) -> bool:
    """Return whether it is a function of one's own that can be called with these arguments, and names them.

    What is written in C says too little about itself. Functions of the standard library take a command, a path or code
    as gladly as a question; `*args` takes anything. Neither is written to be a part of a pipeline.
    """
    try:
        inner, signature = _written(target), signature_of(target)
        signature.bind(*takes.split(", "))
    except (TypeError, ValueError):
        return False
    return (
        isinstance(inner, FunctionType | MethodType)
        and _home(inner) not in (_LIBRARY, PACKAGE)
        and any(parameter.kind in _NAMED for parameter in signature.parameters.values())
    )


def is_factory(target: Any) -> bool:
    """Return whether it is a function of one's own that can be called without arguments."""
    try:
        inner, signature = _written(target), signature_of(target)
        signature.bind()
    except (TypeError, ValueError):
        return False
    return isinstance(inner, FunctionType | MethodType) and _home(inner) not in (_LIBRARY, PACKAGE)


def what_it_is(target: Any) -> str:
    """Return what something is, for messages that refuse it."""
    if not inspect.isclass(target):
        home = f" of {_home(target)}" if isinstance(target, FunctionType | MethodType) else ""
        try:
            return f"of type {type(target).__name__}{signature_of(target)}{home}"
        except ValueError:
            return f"of type {type(target).__name__}"
    kept = [CONTRACTS[kind] for kind in KINDS if issubclass(target, contract_of(kind))]
    return f"the class of a {kept[0]}" if kept else f"the class {target.__name__}"


def signature_of(target: Any) -> inspect.Signature:
    """Return the signature of anything; what computes it can be code of its own.

    Raises:
        ValueError: It cannot be read.
    """
    try:
        return inspect.signature(target)
    except (Exception, SystemExit) as error:
        raise ValueError(f"its signature cannot be read: {raised(error)}") from error


def _written(target: Any) -> Any:
    """Return the function inside of wrappers, partial functions and callable objects."""
    inner: Any = inspect.unwrap(target)
    while isinstance(inner, partial):
        inner = inspect.unwrap(cast("Any", inner).func)
    if not isinstance(inner, FunctionType | MethodType):
        inner = getattr(cast("Any", type(inner)), "__call__", None)  # of an instance: its method  # noqa: B004
    return inner


def _home(function: Any) -> str:
    """Return the package in which a function is written, the standard library as one."""
    package = str(function.__module__).partition(".")[0]
    return _LIBRARY if package in sys.stdlib_module_names else package
