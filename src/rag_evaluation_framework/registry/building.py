"""From what a configuration says to a component."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from rag_evaluation_framework._outside import HIDDEN, is_secret, raised, said, shown
from rag_evaluation_framework._support.coroutines import adapted
from rag_evaluation_framework._support.exits import no_exit
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.contracts.component import component_name
from rag_evaluation_framework.contracts.confided import confide, confide_parameters
from rag_evaluation_framework.errors import ConfigError, RagEvalError
from rag_evaluation_framework.registry.functions import signature_of
from rag_evaluation_framework.registry.loading import PACKAGE, load_installed
from rag_evaluation_framework.registry.lookup import load
from rag_evaluation_framework.registry.table import KINDS, ROOMS, Kind, check_kind, components, contract_of

# What functions can be in Python; `Function<contract>` in `function.py` of the room makes components of them.
_FUNCTIONS: Mapping[Kind, str] = {
    "chunker": "(text) -> list of texts",
    "embedder": "(texts) -> vectors",
    "reranker": "(query, texts) -> scores",
}

# How configurations of the TypeScript design call these parameters, beyond writing them in camelCase.
_FOREIGN_PARAMETERS = {"chunk_overlap": "overlap", "tokens_per_chunk": "tokens"}


def build(kind: Kind, component: Any, *, imports: bool = True) -> Any:
    """Return the component that a configuration describes.

    Args:
        kind: The kind of component.
        component: A text, a mapping with `type`, or an object, which is returned as it is.
        imports: Whether it, and the components in it, may be your own, `module:attribute`; if not, nothing but
            built-in components and installed plug-ins is imported.

    Raises:
        ConfigError: The name or a parameter is unknown, a value is refused, or what is named is not of that kind.
        ComponentExited: Its constructor called `sys.exit`.
    """
    check_kind(kind)
    given: dict[str, Any]
    if isinstance(component, str):
        name, given = _parsed(kind, component)
    elif isinstance(component, Mapping):
        given = {**component}
        name = given.pop("type", None)
        if not isinstance(name, str):
            raise ConfigError(f"{kind}: expected a 'type', one of {', '.join(components(kind))} or module:attribute")
    else:
        return component
    target = load(kind, name, imports=imports)
    if not inspect.isclass(target):
        if given:
            got = ", ".join(map(str, given))
            raise ConfigError(f"{kind} {name!r} is not a class and takes no parameters, got {got}")
        return target
    accepted = _accepted(kind, name, target)
    values = {_parameter(kind, name, key, accepted): value for key, value in given.items()}
    if len(values) < len(given):
        raise ConfigError(f"{kind} {name!r}: a parameter is given twice among {', '.join(map(str, given))}")
    missing = [
        key
        for key, parameter in accepted.items()
        if parameter.default is inspect.Parameter.empty
        and key not in values
        and parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]
    if missing:
        raise ConfigError(f"{kind} {name!r} needs {' and '.join(missing)}, as in {name}:{missing[0]}=...")
    confide_parameters(target, values)
    nested = {key: _nested(key, value, imports) for key, value in values.items()}
    try:
        with no_exit(f"{kind} {name!r}", "its constructor"):
            return target(**nested)
    except RagEvalError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{kind} {name!r} refuses {_shown(target, nested)}: {said(error)}") from error
    except Exception as error:
        problem = raised(error)
        raise ConfigError(f"{kind} {name!r} cannot be made of {_shown(target, nested)}: {problem}") from error


def _parsed(kind: Kind, text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.strip().partition(":")
    if rest and name not in components(kind):
        attribute, _, others = rest.partition(":")
        if "=" not in attribute:
            name, rest = f"{name}:{attribute}", others
    given: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise ConfigError(
                f"{kind} {name!r}: expected parameter=value behind the name and each comma; lists, and values with a "
                "comma, are written in a configuration file"
            )
        if key.strip() in given:
            raise ConfigError(f"{kind} {text!r}: {key.strip()} is given twice")
        given[key.strip()] = _value(value.strip())
    return name, given


def _value(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text


def _accepted(kind: Kind, name: str, target: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return signature_of(target).parameters
    except ValueError as error:
        raise ConfigError(f"{kind} {name!r}: {error}; expected a class whose parameters can be read") from error


def _parameter(kind: Kind, name: str, key: str, accepted: Mapping[str, inspect.Parameter]) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(key)).lower()
    for candidate in (str(key), snake, _FOREIGN_PARAMETERS.get(snake, snake)):
        if candidate in accepted:
            return candidate
    known = ", ".join(accepted) or "none"
    raise ConfigError(f"{kind} {name!r} has no parameter {shown(key)}; it has {known}")


def _nested(key: str, value: Any, imports: bool) -> Any:
    """Return a parameter with the components in it built: `chunker` holds one, `retrievers` a list of them."""
    for kind in KINDS:
        if key == kind and value is not None:
            return build(kind, value, imports=imports)
        if key == f"{kind}s" and isinstance(value, list | tuple):
            items = cast("Sequence[Any]", value)
            return [_item(f"{key}[{number}]", kind, item, imports) for number, item in enumerate(items)]
    return value


def _item(place: str, kind: Kind, component: Any, imports: bool) -> Any:
    """Return one component of a list; an error says which of them it is about."""
    try:
        return build(kind, component, imports=imports)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error


def _shown(target: type[Any], values: Mapping[str, Any]) -> str:
    """Return the parameters for a message: what a class keeps out of its repr may be a secret."""
    secret = {field.name for field in fields(target) if not field.repr} if is_dataclass(target) else set[str]()
    written = {key: HIDDEN if key in secret or is_secret(key) else value for key, value in values.items()}
    return f"{{{', '.join(f'{key!r}: {shown(value)}' for key, value in written.items())}}}"


def as_component(kind: Kind, given: Any, owner: str) -> Any:
    """Return a component that was given in Python, its coroutine methods adapted, and a function as a component.

    Args:
        kind: Chunker, embedder or reranker; `as_retriever` takes pipelines.
        given: The component or function.
        owner: What it is given to, for messages.

    Raises:
        ConfigError: It is neither, or a class.
    """
    contract = contract_of(kind)
    if isinstance(given, contract):
        component_name(given)
        confide(given)
        return adapted(given)
    if inspect.isclass(given):
        name = given.__name__
        raise ConfigError(f"{owner}: {kind}={name} is a class; pass an instance, {name}(...)")
    if not callable(given):
        article = "an" if contract.__name__[0] in "AEIOU" else "a"
        raise ConfigError(
            f"{owner}: {kind}={shown(given)}; expected {article} {contract.__name__}, or a function {_FUNCTIONS[kind]}"
        )
    return load_installed(f"{PACKAGE}.{ROOMS[kind]}.function:Function{contract.__name__}")(given)
