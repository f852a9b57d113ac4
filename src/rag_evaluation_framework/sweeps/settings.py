"""Keys of a run and their values as people type them: `--over chunker.chunk_size=200,400`, `--set mode=retrieve`."""

import re
from collections.abc import Sequence
from typing import Any

from .. import base
from ..base.files import is_object
from ..base.records import refuse_unknown
from ..components.retrievers.vector_rag import DEFAULT_CHUNKER
from ..contracts.registry import describe
from ..contracts.registry.building import parsed
from ..contracts.registry.loading import KINDS
from ..errors import ConfigError
from ..runs import RunSpec

_ITEM = re.compile(r"""\s*('[^']*'|"[^"]*"|\[[^\]]*\]|\{[^}]*\}|[^,]*)\s*(?:,|$)""")


def parse_axis(text: str, option: str = "--over") -> tuple[str, list[Any]]:
    """Return the key and the values of an axis, such as `chunker.chunk_size=200,400`; `none` is no component.

    Values with commas are quoted: `chunker='recursive-character:chunk_size=200,overlap=20',sentence`.

    Raises:
        ConfigError: There is no `=`, or no value.
    """
    key, equals, rest = text.partition("=")
    listed = [match[1].strip() for match in _ITEM.finditer(rest) if match[0]]
    quoted = (one for one in listed if one[:1] in ("'", '"'))
    if not key.strip() or not equals or not listed or not all(listed) or any(one[-1] != one[0] for one in quoted):
        s, more = ("", "") if option == "--set" else ("s", ",400")
        raise ConfigError(f"{option} {text}: expected a key and its value{s}, such as chunker.chunk_size=200{more}")
    if key.strip() in {*describe(DEFAULT_CHUNKER)} - {*RunSpec.model_fields}:
        raise ConfigError(f"{option}: {key.strip()!r} is no key of a run; did you mean chunker.{text}?")
    refuse_unknown([key.strip().partition(".")[0]], *RunSpec.model_fields, where=f"{option} ")
    is_component = key.strip().rpartition(".")[2] in KINDS
    if is_component and option == "--set" and len(listed) > 1:  # there is one, and commas are between its parameters
        listed = [rest.strip()]
    return key.strip(), [None if is_component and text.lower() == "none" else _scalar(text) for text in listed]


def _scalar(text: str) -> Any:
    if text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1]
    try:
        found = base.parse_yaml(text)
    except ValueError:
        return text
    return text if is_object(found) and text[0] != "{" else found  # eval:help: is a text


def set_key(keys: dict[str, Any], path: Sequence[str], value: Any, axis: str, remedy: str = "") -> None:
    """Set a key, or a parameter of the component that a key holds.

    Raises:
        ConfigError: There is no such component; the message ends with the remedy.
    """
    key, *inner = path
    if not inner:
        keys[key] = value
        return
    held = keys.get(key)
    part: dict[str, Any]
    if held is None and key == "chunker":
        part = describe(DEFAULT_CHUNKER)
    elif key not in KINDS:
        raise ConfigError(
            f"{axis}: {key} is not a component, so it has no parameters; expected its whole value, as in "
            "'columns={question: Frage, quote: Zitat}'"
        )
    elif held is None or held == "none":
        raise ConfigError(f"{axis} is a parameter of the {key}, and there is none; name one{remedy}")
    elif isinstance(held, str):
        kind: Any = key
        name, given = parsed(kind, held)
        part = {"type": name, **given}
    else:
        part = dict(held) if is_object(held) else describe(held)
    set_key(part, inner, value, axis, remedy)
    keys[key] = part
