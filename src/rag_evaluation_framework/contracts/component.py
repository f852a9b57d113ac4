"""Shared base of components: a name for tables and records, and hidden secrets."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from math import inf, nan
from numbers import Integral, Real
from operator import attrgetter
from sys import float_info
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar
from urllib.parse import unquote

from ..base.exits import errors_as, no_exit, outcome
from ..base.files import is_object
from ..base.outside import HIDDEN, class_name, error_text, fit_to_keep, hide, is_secret, one_line, shown
from ..errors import ConfigError

# What components are given in confidence, so that it is hidden wherever it turns up.

_LOGIN = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")
_GIVEN = re.compile(r"(?<![\w-])([\w-]+)=([^\s,&]+)")  # in a connection string, the query of a URL, `own:R:api_key=...`


def confide(component: Any) -> None:
    """Hide the secrets that a component was given: from now on, in all that this process shows.

    Libraries quote a refused key in words of their own. A secret is the text of a field or attribute that is called
    like one, or that a mapping such as `headers` or a text such as `password=...` holds by such a name, and the
    password of a URL. Nothing deeper is searched, and no other object.
    """
    names = (*getattr(component, "__dict__", ()), *getattr(component, "__dataclass_fields__", ()))
    confide_parameters({name: getattr(component, name, None) for name in names})


def confide_parameters(given: Mapping[str, Any]) -> None:
    """Hide the secrets that a component would be given if it were made of these parameters."""
    for parameter, value in given.items():
        mapping: dict[Any, object] = value if is_object(value) else {parameter: value}
        for name, text in dict[Any, object].items(mapping):  # not by the methods of a class of somebody else
            if not isinstance(text, str):
                continue
            if is_secret(parameter.lstrip("_")) or is_secret(str(name)):
                for secret in (text, *text.split()[1:]):  # behind `Bearer`
                    hide(secret)
            elif login := _LOGIN.search(text):
                hide(unquote(login[1]))
            else:
                for named, secret in _GIVEN.findall(text):
                    if is_secret(named):
                        hide(secret)


# What all components share: a name for tables and records.

_VALUE = 4000  # characters of a parameter in a name


class Component:
    """Anything that is chosen for a run and named in its result."""

    requires: ClassVar[Mapping[str, str]] = {}
    """Optional modules that it imports when it is used, each with the extra that installs it."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a dataclass the `repr` of a component, as its own would show secrets."""
        super().__init_subclass__(**options)
        if cls.__repr__ is Component.__repr__:
            setattr(cls, "__repr__", Component.__repr__)  # noqa: B010  mypy assigns to no method

    def __repr__(self) -> str:
        confide(self)
        given = ", ".join(f"{key}={shown(_public(value), _VALUE)}" for key, value in parameters(self).items())
        return f"{type(self).__qualname__}({given})"

    @property
    def name(self) -> str:
        """Name in tables: the class and, for a dataclass, the parameters that differ from their defaults."""
        confide(self)
        given = ", ".join(f"{key}={shown_parameter(value)}" for key, value in changed_parameters(self).items())
        return f"{type(self).__name__}({given})" if given else type(self).__name__


def component_name(component: Any) -> str:
    """Return what a component is called, made fit to show.

    Raises:
        ConfigError: That cannot be told, or is not a text.
        ComponentExited: It called `sys.exit` instead.
    """
    kind = class_name(component)
    with (
        errors_as(lambda error: ConfigError(f"{kind}: its name cannot be read: {error_text(error)}; expected a text")),
        no_exit(kind, "name"),
    ):
        name = component.name
    if not isinstance(name, str) or not (fit := one_line(fit_to_keep(str.__str__(name)))):
        raise ConfigError(f"{kind}: its name is {shown(name)}; expected a text")
    return fit


def parameters(component: object) -> dict[str, Any]:
    """Return the parameters of a dataclass component in order; what is not a dataclass has none that could be known.

    A field with `repr=False`, or that is called like a secret, is not a parameter: keys and passwords stay out of names
    and records, and two components that differ in nothing else are alike.
    """
    return {field.name: getattr(component, field.name) for field in _parameter_fields(component)}


def recorded_parameters(component: object) -> dict[str, Any]:
    """Return the parameters of a dataclass component as its record holds them.

    What that is, the field says by a function of the component: `field(default=None, metadata={"stands_for": ...})`.
    """
    known = _parameter_fields(component)
    return {field.name: field.metadata.get("stands_for", attrgetter(field.name))(component) for field in known}


def changed_parameters(component: object) -> dict[str, Any]:
    """Return the parameters of a dataclass component that differ from their defaults, in order."""
    known = default_parameters(type(component))
    return {key: value for key, value in parameters(component).items() if _differ(value, known[key])}


def _differ(value: Any, default: Any) -> bool:
    """Return whether two values differ; also true where comparing raises or gives an array."""
    differ: Any = outcome(lambda: value != default, lambda _: True)
    return differ if isinstance(differ, bool) else True


def default_parameters(kind: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a dataclass and their defaults, `dataclasses.MISSING` where there is none.

    Other classes, and functions, have none that could be known.
    """
    return {
        field.name: field.default_factory() if field.default_factory is not MISSING else field.default
        for field in _parameter_fields(kind)
    }


def _parameter_fields(component: object) -> list[Field[Any]]:
    known = fields(component) if is_dataclass(component) else ()
    return [field for field in known if field.init and field.repr and not is_secret(field.name)]


def shown_parameter(value: object) -> str:
    """Return a parameter as names show it: components and functions by their names."""
    if isinstance(value, Component):
        return value.name
    if isinstance(value, FunctionType | BuiltinFunctionType | type):
        return value.__qualname__
    number = None if isinstance(value, bool) else value
    if isinstance(number, Real):  # as it is recorded: not as `np.float64(1.5)`
        return shown(outcome(lambda: int(number) if isinstance(number, Integral) else float(number), lambda _: number))
    public = _public(value)
    items: list[object] = [*value] if isinstance(value, tuple) else []
    if any(isinstance(item, Component) for item in items):
        return f"({', '.join(map(shown_parameter, items))})"
    return shown(public, _VALUE)


def _public(value: object) -> object:
    """Return a mapping without the values of what is called like a secret, and any other value as it is."""
    return {key: HIDDEN if is_secret(str(key)) else item for key, item in value.items()} if is_object(value) else value


def check_count(owner: str, name: str, value: object, least: int = 1) -> None:
    """Check that a parameter is a whole number of at least `least`; raise ConfigError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{owner}: {name}={shown(value)}; expected a whole number of at least {least}")


def check_choice(owner: str, name: str, value: object, choices: Sequence[str]) -> None:
    """Check that a parameter is one of some texts; raise ConfigError otherwise."""
    if not isinstance(value, str) or value not in choices:
        raise ConfigError(f"{owner}: {name}={shown(value)}; expected {' or '.join(map(repr, choices))}")


def check_truth(owner: str, name: str, value: object) -> None:
    """Check that a parameter is True or False; raise ConfigError otherwise."""
    if not isinstance(value, bool):
        raise ConfigError(f"{owner}: {name}={shown(value)}; expected True or False")


def check_number(owner: str, name: str, value: Any, most: float = inf) -> None:
    """Check that a parameter is a finite number from 0 to `most`; raise ConfigError otherwise."""
    # As a float: NumPy would compare in its own type, which may hold less.
    number = outcome(lambda: float(value), lambda _: nan) if isinstance(value, Real) else nan
    if isinstance(value, bool) or not 0 <= number <= min(most, float_info.max):
        expected = "of at least 0" if most == inf else f"from 0 to {most:g}"
        raise ConfigError(f"{owner}: {name}={shown(value)}; expected a number {expected}")


def check_text(owner: str, name: str, value: object, expected: str, *kinds: type) -> None:
    """Check that a parameter is a text, or of one of these kinds, and not blank; raise ConfigError otherwise."""
    if not isinstance(value, (str, *kinds)) or not str(value).strip():
        raise ConfigError(f"{owner}: {name}={shown(value)}; expected {expected}")


def check_components(owner: str, **components: tuple[object, type]) -> None:
    """Check that each component is an instance of its class; raise ConfigError otherwise."""
    for name, (component, kind) in components.items():
        if not isinstance(component, kind):
            raise ConfigError(f"{owner}: {name}={shown(component)}; expected an instance of {kind.__name__}")
        component_name(component)
