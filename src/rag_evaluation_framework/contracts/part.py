"""What all exchangeable parts share: a name for tables and records."""

from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any


class Part:
    """Anything that is chosen for a run and named in its result."""

    @property
    def name(self) -> str:
        """How tables call it: the class and, for a dataclass, its parameters that differ from their defaults."""
        given = ", ".join(f"{key}={_shown(value)}" for key, value in changed_parameters(self).items())
        return f"{type(self).__name__}({given})" if given else type(self).__name__


def parameters(part: object) -> dict[str, Any]:
    """Return the parameters of a dataclass part in order; what is no dataclass has none that could be known."""
    if not is_dataclass(part):
        return {}
    return {field.name: getattr(part, field.name) for field in fields(part) if field.init}


def changed_parameters(part: object) -> dict[str, Any]:
    """Return those parameters of a dataclass part that differ from their defaults."""
    if not is_dataclass(part):
        return {}
    defaults = {field.name: _default(field) for field in fields(part)}
    return {key: value for key, value in parameters(part).items() if value != defaults[key]}


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _shown(value: object) -> str:
    return value.name if isinstance(value, Part) else repr(value)
