"""Components by name: one table for built-ins and plug-ins, loaded only when chosen.

A component is written `name`, `name:parameter=value,...` or, for your own, `module:attribute`; in files also as a
mapping with `type` and the parameters, in which components can be nested. Plug-ins announce themselves as entry points
of the group `rag_evaluation_framework.<kind>`.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from math import isfinite
from numbers import Integral, Real
from pathlib import Path, PurePath
from types import FunctionType, MethodType
from typing import Any, Literal, cast, get_args

from rag_evaluation_framework._outside import HIDDEN, class_name, fit_to_keep, is_secret, said, shown
from rag_evaluation_framework._support.coroutines import adapted
from rag_evaluation_framework._support.exits import exit_text, no_exit
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.contracts.component import Component, component_name, recorded_parameters
from rag_evaluation_framework.errors import ConfigError, RagEvalError

Kind = Literal["chunker", "embedder", "vector_store", "reranker", "retriever", "metric"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_PACKAGE = "rag_evaluation_framework"
_ROOMS: dict[Kind, str] = {
    "chunker": "chunkers",
    "embedder": "embedders",
    "vector_store": "vector_stores",
    "reranker": "rerankers",
    "retriever": "retrievers",
    "metric": "metrics",
}
_DEEPEST = 50  # of a record: JSON may be nested some hundreds deep, and a value may hold itself
_MOST_BITS = 14_284  # of a whole number in a record: of JSON, Python reads no more than 4,300 digits
_UNNAMED = ("catalogue", "function")  # a configuration names a function itself, without the retriever around it

# What a class of each kind keeps. Names, as for the parts: the contracts load NumPy, which `--help` has no use for.
_CONTRACTS: dict[Kind, str] = {
    "chunker": "Chunker",
    "embedder": "Embedder",
    "vector_store": "VectorStore",
    "reranker": "Reranker",
    "retriever": "Retriever",
    "metric": "Metric",
}

# What functions can be in Python; `Function<contract>` in `function.py` of the room makes components of them.
_FUNCTIONS: dict[Kind, str] = {
    "chunker": "(text) -> list of texts",
    "embedder": "(texts) -> vectors",
    "reranker": "(query, texts) -> scores",
}

_LIBRARY = "the standard library"
_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_FUNCTION = "a Python function of your own with named arguments,"

# How configurations of the TypeScript design call these parameters, beyond writing them in camelCase.
_FOREIGN_PARAMETERS = {"chunk_overlap": "overlap", "tokens_per_chunk": "tokens"}


# How ir_measures calls metrics, where ours are not near.
_CUSTOMARY = {"r": "recall", "p": "precision", "rr": "mrr", "ap": "map", "success": "hit", "rprec": "r_precision"}


@cache
def built_in(kind: Kind) -> Mapping[str, str]:
    """Return the built-in components of a kind by name, and where each is to be found.

    A name is that of the file; the line in the stub of its room is what registers a component.

    Classes are told from what else a room exports by how they are called: `SentenceChunker` in `sentence.py`. Metrics
    are all classes of their room but the bases, whose files end in `_metric`.
    """
    room = f"{_PACKAGE}.{_ROOMS[kind]}"
    stub = Path(str(import_module(room).__file__)).with_suffix(".pyi")
    ending = "" if kind == "metric" else kind.title().replace("_", "")
    registered = re.findall(r"^from \.(\w+) import ([A-Z]\w*) as \2$", stub.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        file if kind == "metric" else file.replace("_", "-"): f"{room}:{name}"
        for file, name in registered
        if name.endswith(ending) and file not in _UNNAMED and not file.endswith("_metric")
    }


@cache
def components(kind: Kind) -> Mapping[str, str]:
    """Return the names of a kind and where each is to be found, sorted by name."""
    table = dict(built_in(kind))
    for point in entry_points(group=f"{_PACKAGE}.{kind}"):
        if point.name in table:
            note(f"plug-in {point.value!r} calls itself {point.name!r}, which is taken")
        else:
            table[point.name] = point.value
    return dict(sorted(table.items()))


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
    _check_kind(kind)
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
    nested = {key: _nested(key, value, imports) for key, value in values.items()}
    try:
        with no_exit(f"{kind} {name!r}", "its constructor"):
            return target(**nested)
    except RagEvalError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{kind} {name!r} refuses {_shown(target, nested)}: {said(error)}") from error
    except Exception as error:
        problem = f"{type(error).__name__}: {said(error)}"
        raise ConfigError(f"{kind} {name!r} cannot be made of {_shown(target, nested)}: {problem}") from error


def _check_kind(kind: Any) -> None:
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"{shown(kind)} is no kind of component; expected one of {', '.join(KINDS)}")


def as_component(kind: Kind, given: Any, owner: str) -> Any:
    """Return a component that was given in Python, its coroutine methods adapted, and a function as a component.

    Args:
        kind: Chunker, embedder or reranker; `as_retriever` takes pipelines.
        given: The component or function.
        owner: What it is given to, for messages.

    Raises:
        ConfigError: It is neither, or a class.
    """
    contract = _contract(kind)
    if isinstance(given, contract):
        component_name(given)
        return adapted(given)
    if inspect.isclass(given):
        name = given.__name__
        raise ConfigError(f"{owner}: {kind}={name} is a class; pass an instance, {name}(...)")
    if not callable(given):
        article = "an" if contract.__name__[0] in "AEIOU" else "a"
        raise ConfigError(
            f"{owner}: {kind}={shown(given)}; expected {article} {contract.__name__}, or a function {_FUNCTIONS[kind]}"
        )
    return load_installed(f"{_PACKAGE}.{_ROOMS[kind]}.function:Function{contract.__name__}")(given)


def _shown(target: type[Any], values: Mapping[str, Any]) -> str:
    """Return the parameters for a message: what a class keeps out of its repr may be a secret."""
    secret = {field.name for field in fields(target) if not field.repr} if is_dataclass(target) else set[str]()
    written = {key: HIDDEN if key in secret or is_secret(key) else value for key, value in values.items()}
    return f"{{{', '.join(f'{key!r}: {shown(value)}' for key, value in written.items())}}}"


def _accepted(kind: Kind, name: str, target: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return _signature(target).parameters
    except ValueError as error:
        raise ConfigError(f"{kind} {name!r}: {error}; expected a class whose parameters can be read") from error


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


def describe(component: object) -> dict[str, Any]:
    """Return how a component would be written in a configuration: its type and parameters, for records."""
    return _described(component, partial(plain, deepest=_DEEPEST - 1, above=(id(component),)))


def _described(component: object, recorded: Callable[[object], Any]) -> dict[str, Any]:
    named = isinstance(component, Component) and not is_dataclass(component)
    if named and (name := component_name(component)) != type(component).__name__:
        return {"type": _type_name(component), "name": name}
    return {
        "type": _type_name(component),
        **{key: recorded(value) for key, value in recorded_parameters(component).items()},
    }


def load_attribute(reference: str) -> Any:
    """Return what `module:attribute` names; modules of the working directory are found behind what is installed.

    The module is imported, which runs it; the attribute is looked up and not called.

    Raises:
        ConfigError: There is no such module or attribute, or the module cannot be imported.
    """
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    return load_installed(reference)


def load_installed(reference: str) -> Any:
    """Return what `module:attribute` names among what can be imported already; the search path stays as it is.

    Raises:
        ConfigError: There is no such module or attribute, or the module cannot be imported.
    """
    module_name, _, attribute = reference.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *attribute.split("."))):
        raise ConfigError(f"{reference!r}: expected module:attribute, such as my_module:search")
    try:
        target = import_module(module_name)
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, ImportError) else f"{class_name(error)}: "
        reason = exit_text(error) if isinstance(error, SystemExit) else f"{kind}{said(error)}"
        raise ConfigError(f"{reference!r}: module {module_name!r} cannot be imported: {reason}") from error
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise ConfigError(f"{reference!r}: module {module_name!r} has no {attribute!r}")
        target = getattr(target, part)
    return target


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
        raise _refused_import(key, reference)
    target: Callable[..., Any] = load_attribute(reference)
    if not _is_function_of(target, takes):
        raise ConfigError(f"{key} {reference!r} is {_what(target)}; expected {_FUNCTION} ({takes})")
    return target


def _refused_import(key: str, reference: str) -> ConfigError:
    return ConfigError(
        f"{key} {reference!r} names your own code, and --no-import (imports=False) allows nothing but built-in "
        "components and installed plug-ins; nothing was imported. Leave the flag out if you trust the configuration"
    )


def _parsed(kind: Kind, text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.strip().partition(":")
    if rest and name not in components(kind):
        attribute, _, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    given: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise ConfigError(
                f"{kind} {text!r}: expected parameter=value, got {item!r}; lists are written in a configuration file"
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


def load(kind: Kind, name: str, *, imports: bool = True) -> Callable[..., Any]:
    """Return what a name of that kind, or `module:attribute`, stands for: a class that keeps the contract of its kind.

    For a retriever it may also be a function of one's own, `(query, k) -> results`, or a retriever that is made
    already. Nothing is called: what is not of that kind is refused before it could do anything.

    Args:
        kind: The kind of component.
        name: A name of the table, or `module:attribute`.
        imports: Whether the latter is allowed.

    Raises:
        ConfigError: There is no such component, it is of another kind, or it would have to be imported; or the name is
            no text.
    """
    _check_kind(kind)
    given: Any = name
    if not isinstance(given, str):
        raise ConfigError(
            f"{kind} {shown(given)}: expected a name, one of {', '.join(components(kind))}, or module:attribute"
        )
    if name in components(kind):
        target = load_installed(components(kind)[name])
    elif ":" not in name:
        known = ", ".join(components(kind))
        raise ConfigError(
            f"{kind} {shown(name)} is unknown; {_hint(kind, name)}there are {known}; one of your own is written "
            "module:attribute"
        )
    elif imports:
        target = load_attribute(name)
    else:
        raise _refused_import(kind, name)
    return _checked(kind, name, target)


def _checked(kind: Kind, name: str, target: Any) -> Callable[..., Any]:
    contract = _contract(kind)
    if inspect.isclass(target):
        fits = issubclass(target, contract)
    else:
        fits = kind == "retriever" and (isinstance(target, contract) or _is_function_of(target, "query, k"))
    if not fits:
        function = f", or {_FUNCTION} (query, k) -> results" if kind == "retriever" else ""
        raise ConfigError(
            f"{kind} {name!r} is {_what(target)}; expected a subclass of {_PACKAGE}.{contract.__name__}{function}"
        )
    checked: Callable[..., Any] = target
    return checked


def _contract(kind: Kind) -> type[Any]:
    contract: type[Any] = load_installed(f"{_PACKAGE}.contracts:{_CONTRACTS[kind]}")
    return contract


def _is_function_of(target: Any, takes: str) -> bool:
    """Return whether it is a function of one's own that can be called with these arguments, and names them.

    What is written in C says too little about itself. Functions of the standard library take a command, a path or code
    as gladly as a question; `*args` takes anything. Neither is written to be a part of a pipeline.
    """
    try:
        inner, signature = _written(target), _signature(target)
        signature.bind(*takes.split(", "))
    except (TypeError, ValueError):
        return False
    return (
        isinstance(inner, FunctionType | MethodType)
        and _home(inner) not in (_LIBRARY, _PACKAGE)
        and any(parameter.kind in _NAMED for parameter in signature.parameters.values())
    )


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


def _signature(target: Any) -> inspect.Signature:
    """Return the signature of anything; what computes it can be code of its own.

    Raises:
        ValueError: It cannot be read.
    """
    try:
        return inspect.signature(target)
    except (Exception, SystemExit) as error:
        raise ValueError(f"its signature cannot be read: {class_name(error)}: {said(error)}") from error


def _what(target: Any) -> str:
    """Return what something is, for messages that refuse it."""
    if not inspect.isclass(target):
        home = f" of {_home(target)}" if isinstance(target, FunctionType | MethodType) else ""
        try:
            return f"of type {type(target).__name__}{_signature(target)}{home}"
        except ValueError:
            return f"of type {type(target).__name__}"
    kept = [_CONTRACTS[kind] for kind in KINDS if issubclass(target, _contract(kind))]
    return f"the class of a {kept[0]}" if kept else f"the class {target.__name__}"


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


def _parameter(kind: Kind, name: str, key: str, accepted: Mapping[str, inspect.Parameter]) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(key)).lower()
    for candidate in (str(key), snake, _FOREIGN_PARAMETERS.get(snake, snake)):
        if candidate in accepted:
            return candidate
    known = ", ".join(accepted) or "none"
    raise ConfigError(f"{kind} {name!r} has no parameter {shown(key)}; it has {known}")


def _type_name(component: object) -> str:
    home = type(component)
    for kind in KINDS:
        for name, reference in built_in(kind).items():
            module, _, attribute = reference.partition(":")
            if attribute == home.__name__ and home.__module__.startswith(module):
                return name
    return f"{home.__module__}:{home.__qualname__}"


def plain(value: object, deepest: int = _DEEPEST, above: tuple[int, ...] = ()) -> Any:
    """Return a value as a record can hold it: components described, functions named, other objects by their class.

    Where JSON cannot hold a value, a text says what it was; a set is recorded as a list. Secrets are hidden: the values
    of a mapping that are called like one, and what texts show to be one. Nothing is raised.

    Args:
        value: A parameter, or anything else.
        deepest: How deep the record may be nested; what is deeper is left out, and the record says so.
        above: The identities of the values that it is in.
    """
    try:
        return _plain(value, deepest, above)
    except Exception:  # noqa: BLE001  it is anybody's code
        return f"{type(value).__module__}:{type(value).__qualname__}"


def _plain(value: object, deepest: int, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | PurePath):
        return fit_to_keep(str(value))
    if isinstance(value, Integral):
        number = int(value)
        return number if number.bit_length() <= _MOST_BITS else f"a whole number of {number.bit_length()} bits"
    if isinstance(value, Real):
        return float(value) if isfinite(value) else str(float(value))
    if _holds_others(value):
        if id(value) in above:
            return "(holds itself)"
        if not deepest:
            return "(nested too deeply)"
        return _inside(value, partial(plain, deepest=deepest - 1, above=(*above, id(value))))
    name = getattr(value, "__qualname__", None) or getattr(value, "name", None)
    return fit_to_keep(
        f"{getattr(value, '__module__', '')}:{name}" if name else f"{type(value).__module__}:{type(value).__qualname__}"
    )


def _holds_others(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple | set | frozenset | Component)


def _inside(value: Any, recorded: Callable[[object], Any]) -> Any:
    """Return what holds other values as a record can hold it."""
    if isinstance(value, Component):
        return _described(value, recorded)
    if isinstance(value, Mapping):
        record: dict[str, Any] = {}
        for key, item in cast("Mapping[object, object]", value).items():
            name = str(recorded(key))
            record[repr(name) if name in record else name] = HIDDEN if is_secret(name) else recorded(item)
        return record
    items = [recorded(item) for item in cast("Iterable[object]", value)]
    return sorted(items, key=repr) if isinstance(value, set | frozenset) else items
