"""Building components from a configuration, by name or from a function of one's own, and records of them."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import partial
from math import isfinite
from numbers import Integral, Real
from pathlib import PurePath
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from ...adapt.adapt import Kind as OwnKind
from ...adapt.adapt import as_function, method_of, signature_of
from ...base.coroutines import as_synchronous
from ...base.exits import errors_as, no_exit, outcome
from ...base.files import is_list, is_object, parse_json
from ...base.outside import HIDDEN, error_message, error_text, fit_to_keep, is_secret, shown
from ...data.cutoffs import SPELLINGS, Cutoff
from ...errors import ConfigError
from ..component import Component, component_name, confide, confide_parameters, parameters, recorded_parameters
from ..roles import Metric
from .loading import KINDS, PACKAGE, ROOMS, Kind, built_in, components, contract_of, load_attribute, load_installed

# Functions of one's own that a configuration names.

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
    target: Callable[..., Any] = load_attribute(reference, key, imports=imports)
    if not is_function_of(target, takes):
        raise ConfigError(f"{key} {reference!r} is {what_it_is(target)}; expected {OWN_FUNCTION} ({takes})")
    return target


def is_function_of(target: Any, takes: str) -> bool:
    """Return whether it is a function of one's own that can be called with these arguments, if any, and names them.

    What is written in C says too little about itself. Functions of the standard library take a command, a path or code
    as gladly as a question; `*args` takes anything. Neither is written to be a part of a pipeline.
    """
    try:
        inner, signature = _written(target), signature_of(target)
        signature.bind(*filter(None, takes.split(", ")))
    except (TypeError, ValueError):
        return False
    return (
        isinstance(inner, FunctionType | MethodType)
        and _home(inner) not in (_LIBRARY, PACKAGE)
        and (not takes or any(parameter.kind in _NAMED for parameter in signature.parameters.values()))
    )


def _is_retriever_of_a_library(target: Any) -> bool:
    """Return whether it is an object with a method of a retriever, of a class that is neither Python's nor ours."""
    return _home(type(target)) not in (_LIBRARY, PACKAGE) and method_of("retriever", target) is not None


def what_it_is(target: Any) -> str:
    """Return what something is, for messages that refuse it."""
    if not inspect.isclass(target):
        home = f" of {_home(target)}" if isinstance(target, FunctionType | MethodType) else ""
        return f"of type {type(target).__name__}{outcome(lambda: f'{signature_of(target)}{home}', lambda _: '')}"
    # An engine is whatever has its method, as a retriever of one's own has.
    kept = [contract_of(kind) for kind in KINDS if kind != "engine" and issubclass(target, contract_of(kind))]
    return f"a subclass of {kept[0].__name__}" if kept else f"the class {target.__name__}"


def _written(target: Any) -> Any:
    """Return the function inside of wrappers, partial functions and callable objects."""
    inner: Any = inspect.unwrap(target)
    while isinstance(inner, partial):
        inner = inspect.unwrap(cast("Any", inner).func)
    if not isinstance(inner, FunctionType | MethodType):
        inner = getattr(cast("Any", type(inner)), "__call__", None)  # of an instance: its method  # noqa: B004
    return inner


def _home(written: Any) -> str:
    """Return the package in which a function or class is written, the standard library as one."""
    package = str(written.__module__).partition(".")[0]
    return _LIBRARY if package in sys.stdlib_module_names else package


# From the name of a component to what it stands for.


def load(kind: Kind, name: str, *, imports: bool = True) -> Callable[..., Any]:
    """Return what a name of that kind, or `module:attribute`, stands for: a class that keeps the contract of its kind.

    For a retriever it may also be a function of one's own, `(query, k) -> results`, or a retriever that is made
    already, also one of another library; for an engine a function without arguments that makes one, or an engine.
    Nothing is called: what is not of that kind is refused before it could do anything.

    Args:
        kind: The kind of component.
        name: A name of the table, or `module:attribute`.
        imports: Whether the latter is allowed.

    Raises:
        ConfigError: There is no such component, it is of another kind, or it would have to be imported.
    """
    if name in components(kind):
        target = load_installed(components(kind)[name])
    elif name in built_in(kind):
        raise ConfigError(f"{kind} {shown(name)} is a whole system; name it itself, as engine (--engine)")
    elif ":" not in name:
        module, _, attribute = name.rpartition(".")
        own = f"{module}:{attribute}" if module and attribute != "py" else "module:attribute"
        raise ConfigError(
            f"{kind} {shown(name)} is unknown; {_hint(kind, name)}there are {', '.join(components(kind))}; one of your "
            f"own is written {own}"
        )
    else:
        target = load_attribute(name, kind, imports=imports)
    contract = contract_of(kind)
    takes = {"retriever": "query, k", "engine": "", "sink": "outcome"}.get(kind)
    if inspect.isclass(target):
        fits = issubclass(target, contract)
    else:
        fits = takes is not None and (
            isinstance(target, contract)
            or is_function_of(target, takes)
            or (kind == "retriever" and _is_retriever_of_a_library(target))
        )
    if fits:
        checked: Callable[..., Any] = target
        return checked
    expected = f"a subclass of {PACKAGE}.contracts.{contract.__name__}"
    if kind == "engine":
        expected = "an object with retrieve(query, top_k, scope), or your own function without arguments that makes one"
    elif takes:
        expected += f", or {OWN_FUNCTION} ({takes})"
    if kind == "retriever":
        expected += ", or an instance of a class with retrieve(query, k)"
    raise ConfigError(f"{kind} {name!r} is {what_it_is(target)}; expected {expected}")


def _hint(kind: Kind, name: str) -> str:
    """Return what may have been meant, as a part of a sentence."""
    spelt, has_cutoff = name.strip(), kind == "metric" and "@" in name
    if has_cutoff:
        spelt = spelt.partition("@")[0]
    letters = {re.sub("[^a-z0-9]", "", candidate.lower()): candidate for candidate in components(kind)}
    near = get_close_matches(re.sub("[^a-z0-9]", "", spelt.lower()), letters, n=1)
    spellings = {name.lower(): ours for name, ours in SPELLINGS.items()} if kind == "metric" else {}
    meant = spellings.get(spelt.lower()) or (letters[near[0]] if near else None)
    advice = "" if meant in (None, spelt) else f"did you mean {meant}? "
    return advice + ("a metric is named without its cutoff, which k and budgets give; " if has_cutoff else "")


# From what a configuration says to a component.

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
    given: dict[str, Any]
    if isinstance(component, str):
        name, given = parsed(kind, component)
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
        if kind == "retriever" and not isinstance(target, contract_of(kind)) and _is_retriever_of_a_library(target):
            asked = as_function(kind, target)  # is found again by the name that was given, not by that of its method
            asked.__module__, _, asked.__qualname__ = name.partition(":")
            return asked
        return target
    if undefined := ", ".join(sorted(getattr(target, "__abstractmethods__", ()))):
        raise ConfigError(f"{kind} {name!r} does not define {undefined}, which every {contract_of(kind).__name__} does")
    try:
        accepted = signature_of(target).parameters
    except ValueError as error:
        raise ConfigError(f"{kind} {name!r}: {error}; expected a class whose parameters can be read") from error
    values = {_parameter(kind, name, key, accepted): value for key, value in given.items()}
    if len(values) < len(given):
        raise ConfigError(f"{kind} {name!r}: a parameter is given twice among {', '.join(map(str, given))}")
    any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [key for key, each in accepted.items() if each.default is each.empty and each.kind not in any_number]
    if missing := [key for key in needed if key not in values]:
        raise ConfigError(f"{kind} {name!r} needs {' and '.join(missing)}, as in {name}:{missing[0]}=...")
    confide_parameters(values)
    nested = {key: _nested(key, value, imports) for key, value in values.items()}

    def refused(error: Exception) -> ConfigError:
        parameters = _shown(target, nested)
        if isinstance(error, TypeError | ValueError):
            return ConfigError(f"{kind} {name!r} refuses {parameters}: {error_message(error)}")
        return ConfigError(f"{kind} {name!r} cannot be made of {parameters}: {error_text(error)}")

    with errors_as(refused), no_exit(f"{kind} {name!r}", "its constructor"):
        return target(**nested)


def parsed(kind: Kind, text: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a component and its parameters, of a text such as `recursive-character:chunk_size=200`.

    Raises:
        ConfigError: A parameter has no value, or is given twice.
    """
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
        given[key.strip()] = value.strip()
        with suppress(ValueError):  # else it is a text
            given[key.strip()] = parse_json(value.strip())
    return name, given


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
            made: list[Any] = []
            for number, item in enumerate(cast("Sequence[Any]", value)):
                try:
                    made.append(build(kind, item, imports=imports))
                except ConfigError as error:
                    raise ConfigError(f"{key}[{number}]: {error}") from error
            return made
    return value


def _shown(target: type[Any], values: Mapping[str, Any]) -> str:
    """Return the parameters for a message: what a class keeps out of its repr may be a secret."""
    hidden = {field.name for field in fields(target) if not field.repr} if is_dataclass(target) else set[str]()
    told = {key: HIDDEN if key in hidden or is_secret(key) else value for key, value in values.items()}
    return f"{{{', '.join(f'{key!r}: {shown(value)}' for key, value in told.items())}}}"


OwnT = TypeVar("OwnT")


@dataclass(frozen=True)
class OwnFunction(Component, Generic[OwnT]):
    """What components have in common that call a function, of a person or of an object of another library.

    The class is called `Function<contract>`, and is one of the names of the room of its kind.

    Attributes:
        function: What is called; of an object, the function that calls its method.

    Raises:
        ConfigError: It is neither, or has to be called with something else.
    """

    _kind: ClassVar[OwnKind]

    function: Callable[..., Any]

    if TYPE_CHECKING:  # what is given may be an object, what is read is a function

        def __init__(self, function: OwnT) -> None: ...

    def __post_init__(self) -> None:
        owner = "" if self._kind == "retriever" else type(self).__name__  # which nobody need write
        object.__setattr__(self, "function", as_function(self._kind, self.function, owner))

    @property
    def name(self) -> str:
        """The function's name: its qualified name, of an object that is called as one that of its class."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))


def as_component(contract: type[Any], given: Any, owner: str = "") -> Any:
    """Return a component that was given in Python, its coroutine methods adapted.

    A function, or an object of another library, is made a component.

    Args:
        contract: `Chunker`, `Embedder`, `Reranker`, `Retriever` or `Sink`.
        given: The component, function or object.
        owner: What it is given to, for messages.

    Raises:
        ConfigError: It is none of these, or a class, or has to be called with something else.
    """
    confide(given)
    if isinstance(given, contract):
        component_name(given)
        return as_synchronous(given)
    kind: Any = contract.__name__.lower()
    as_function(kind, given, owner)
    return load_installed(f"{PACKAGE}.{ROOMS[kind]}:Function{contract.__name__}")(given)


# Components and their parameters, as a record of a run holds them.

_DEEPEST = 50  # of a record: JSON may be nested some hundreds deep, and a value may hold itself
_ELSEWHERE = ("url", "host", "path", "table")  # where a store keeps what others may need, or what takes a network
_MOST_BITS = 14_284  # of a whole number in a record: of JSON, Python reads no more than 4,300 digits


def is_of_package(module: str) -> bool:
    """Return whether a module is one of this package."""
    return module.partition(".")[0] == PACKAGE


def is_elsewhere(component: object) -> bool:
    """Return whether a component of this package needs a network, or keeps what it finds where others may need it.

    What has an address asks a provider, which costs money, and is sent the texts: at an address that is in the record.
    """
    known = parameters(component)
    return hasattr(type(component), "address") or any(known.get(name) is not None for name in _ELSEWHERE)


def describe(component: object) -> dict[str, Any]:
    """Return how a component would be written in a configuration: its type and parameters, for records."""
    return _described(component, partial(plain, deepest=_DEEPEST - 1, above=(id(component),)))


def without_run_id(record: Any) -> Any:
    """Return a record without the ids of runs in it, which make no other component."""
    if is_object(record):
        return {key: without_run_id(value) for key, value in record.items() if key != "run_id"}
    return [*map(without_run_id, record)] if is_list(record) else record


def describe_metric(metric: Metric[Any]) -> dict[str, Any]:
    """Return the record of a metric, with the plain attributes of one that is no dataclass, and its range.

    The range of most, from 0 to 1, is not told; an end that is infinite is None, as JSON has no such number.
    """
    own: dict[str, Any] = {} if is_dataclass(type(metric)) else getattr(metric, "__dict__", {})
    told = {name: own[name] for name in own if name[:1] != "_" and isinstance(own[name], str | int | float | None)}
    ends = [end if isfinite(end) else None for end in metric.score_range]
    known = {} if metric.score_range == Metric.score_range else {"score_range": ends}
    return {**plain(told), **describe(metric), **known}


def _described(component: object, recorded: Callable[[object], Any]) -> dict[str, Any]:
    confide(component)
    named = isinstance(component, Component) and not is_dataclass(component)
    if named and (name := component_name(component)) != type(component).__name__:
        return {"type": type_name(component), "name": name}
    known = recorded_parameters(component)
    return {"type": type_name(component), **{key: recorded(value) for key, value in known.items()}}


def type_name(component: object) -> str:
    """Return the recorded type of a component: the name of a built-in one, else `module:Class`."""
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
    home = type(value)
    return outcome(lambda: _plain(value, deepest, above), lambda _: f"{home.__module__}:{home.__qualname__}")


def _plain(value: object, deepest: int, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | PurePath | Cutoff):
        return fit_to_keep(str(value))
    if isinstance(value, Integral):
        number = int(value)
        return number if number.bit_length() <= _MOST_BITS else f"a whole number of {number.bit_length()} bits"
    if isinstance(value, Real):
        return float(value) if isfinite(value) else str(float(value))
    own = id(value)
    if isinstance(value, Mapping | list | tuple | set | frozenset | Component):
        if own in above:
            return "(holds itself)"
        if not deepest:
            return "(nested too deeply)"
        return _inside(value, partial(plain, deepest=deepest - 1, above=(*above, own)))
    name = getattr(value, "__qualname__", None) or getattr(value, "name", None)
    return fit_to_keep(
        f"{getattr(value, '__module__', '')}:{name}" if name else f"{type(value).__module__}:{type(value).__qualname__}"
    )


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
