"""Strict YAML, limited to what JSON can represent: no dates, NaN, aliases, tags, directives or repeated keys."""

from io import StringIO
from math import isfinite
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.parser import Parser
from ruamel.yaml.tokens import DirectiveToken

from .files import Json, is_list, is_object
from .outside import shown

_DEEPEST = 100
_MOST_BITS = 14_000  # of whole numbers: some 4,300 decimal digits, beyond which Python refuses to write them


def parse_yaml(text: str) -> Json:
    """Parse a YAML text and return its value.

    Raises:
        ValueError: It is not valid YAML, repeats a key, is nested too deeply, uses anchors, aliases, merge keys (`<<`),
            tags or directives (`%YAML`), or contains a value that JSON cannot represent.
    """
    loader: Any = YAML(typ="safe", pure=True)
    loader.Parser = _PlainParser
    try:
        value: Json = loader.load(text)
    except _RefusedError:
        raise
    except TypeError as error:  # the library makes a tuple of a key that is a list, whatever the list holds
        raise ValueError(f"a key is not a string ({error}); expected a string") from error
    except MarkedYAMLError as error:
        raise ValueError(_message(error)) from error
    except YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except (ValueError, OverflowError) as error:  # what Python cannot hold, in its words
        raise ValueError(f"a value cannot be read ({error})") from error
    _check(value, "$")
    return value


def written_yaml(value: Json) -> str:
    """Return a value as YAML, which `parse_yaml` reads as the same."""
    text = StringIO()
    writer: Any = YAML(typ="safe", pure=True)
    writer.default_flow_style, writer.sort_base_mapping_type_on_output, writer.allow_unicode = False, False, True
    writer.dump(value, text)
    return text.getvalue()


class _RefusedError(ValueError):
    """YAML that is valid, and not plain."""

    def __init__(self, marked: Any, problem: str, remedy: str) -> None:
        super().__init__(f"{problem} in line {marked.start_mark.line + 1}; {remedy}")


class _PlainParser(Parser):
    """Parser that refuses, before building any value, YAML features that hide or change what a text says."""

    depth = 0

    def get_event(self) -> Any:
        library: Any = super()
        event = library.get_event()
        self.depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if self.depth > _DEEPEST:  # before the composer, which calls itself for every level
            raise _RefusedError(event, "nested too deeply", f"expected at most {_DEEPEST} levels")
        if issubclass(event.__class__, AliasEvent):
            raise _RefusedError(event, f"*{event.anchor} is an alias", "write out its value")
        if getattr(event, "anchor", None) is not None:
            raise _RefusedError(
                event, f"&{event.anchor} is an anchor", "remove it, and write the value wherever it is needed"
            )
        if getattr(event, "tag", None) is not None:
            raise _RefusedError(event, f"{event.tag} is a tag", "write the value without it")
        if getattr(event, "value", None) == "<<" and event.implicit[0]:
            raise _RefusedError(event, "<< would merge mappings", "write out their keys, or quote it")
        return event

    def process_directives(self) -> Any:
        library: Any = super()
        if library.scanner.check_token(DirectiveToken):
            token = library.scanner.peek_token()
            raise _RefusedError(token, f"%{token.name} is a directive", "remove it")
        return library.process_directives()


def _message(error: Any) -> str:
    """Return what is wrong and where; the library's own message would advise how to suppress the error.

    The library notices late that a key lacks its colon, or that a bracket or quotation mark is never closed, but it
    knows where these began.
    """
    problem = " ".join(str(error.problem).split())
    if error.context == "while scanning a simple key":
        return f"{problem} in line {error.context_mark.line + 1}"
    if error.context_mark and ("end of stream" in problem or "<stream end>" in problem):
        return f"{problem}; what begins in line {error.context_mark.line + 1} is not closed"
    where = f"{problem} in line {error.problem_mark.line + 1}" if error.problem_mark else problem
    return f"{where}; YAML indents with spaces, not tabs" if r"'\t'" in problem else where


def _check(value: Any, where: str) -> None:
    if is_list(value) or is_object(value):
        for key, item in value.items() if is_object(value) else enumerate(value):
            if is_object(value) and not isinstance(key, str):
                raise ValueError(f"{where}: the key {shown(key)} is not a string; put it in quotes")
            _check(item, f"{where}.{key}" if isinstance(key, str) else f"{where}[{key}]")
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError(f"{where}: is a whole number of more than 4,300 digits")
    elif not isinstance(value, str | int | float | None) or (isinstance(value, float) and not isfinite(value)):
        raise ValueError(f"{where}: {value!s:.60} is not a JSON value; put it in quotes")
