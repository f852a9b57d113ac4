"""The SDKs of this process, pointed at a server by environment variables, also those that have read them before."""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from inspect import unwrap
from typing import Any

_COHERE = {"cohere.client": ("Client", "AsyncClient"), "cohere.client_v2": ("ClientV2", "AsyncClientV2")}
_COHERE_ADDRESS = "CO_API_URL"


@contextmanager
def pointed_sdks(environment: Mapping[str, str]) -> Generator[None]:
    """Set environment variables inside of the block, where SDKs that are loaded heed them; afterwards all is as before.

    Args:
        environment: The variables.
    """
    before = {name: os.environ.get(name) for name in environment}
    addresses = {constructor: constructor.__kwdefaults__["base_url"] for constructor in _cohere_constructors()}
    os.environ.update(environment)
    _set_cohere_addresses({}, environment[_COHERE_ADDRESS])
    _forget_langsmith_variables()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _set_cohere_addresses(addresses, before[_COHERE_ADDRESS])
        _forget_langsmith_variables()


def _cohere_constructors() -> list[Any]:
    """Return the constructors of Cohere's clients that are loaded.

    The variable was read when they were: it is the default of their `base_url`.
    """
    found: list[Any] = []
    for module, names in _COHERE.items():
        kinds = [getattr(sys.modules.get(module), name, None) for name in names]
        found += [unwrap(kind.__init__) for kind in kinds if kind is not None]
    return [each for each in found if "base_url" in (each.__kwdefaults__ or {})]


def _set_cohere_addresses(addresses: Mapping[Any, str | None], other: str | None) -> None:
    """Set where clients of Cohere go that are made without an address; `other` for those loaded since."""
    for constructor in _cohere_constructors():
        constructor.__kwdefaults__["base_url"] = addresses.get(constructor, other)


def _forget_langsmith_variables() -> None:
    """Let LangSmith's SDK, if it is loaded, read the environment again: it keeps what it has read."""
    utils = sys.modules.get("langsmith.utils")
    for name in ("get_env_var", "get_tracer_project") if utils is not None else ():
        getattr(utils, name).cache_clear()
