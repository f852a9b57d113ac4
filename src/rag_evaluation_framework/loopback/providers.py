"""All providers behind one address, and how the SDKs of a process are pointed at it."""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from inspect import unwrap
from itertools import chain
from typing import Any

from rag_evaluation_framework.loopback.langsmith import LangSmith
from rag_evaluation_framework.loopback.models import ChatScript, Script, anthropic_routes, cohere_routes, openai_routes
from rag_evaluation_framework.loopback.server import LoopbackServer

# All providers behind one address, and the environment variables by which their SDKs find it.

KEY = "loopback-key"
_HERE = "127.0.0.1,localhost"
_NO_FILE = f"{os.devnull}/none"  # else the login of a person would say where LangSmith is


def providers_server(
    answers: Script | None = None, port: int = 0, langsmith: LangSmith | None = None
) -> LoopbackServer:
    """Return a server of every provider's protocol; it does not listen yet.

    Args:
        answers: What the language models answer, as of `ChatScript`.
        port: The port; 0 for any that is free.
        langsmith: What LangSmith holds; by default one project, `default`.
    """
    chat = ChatScript(answers)
    routes = (openai_routes(chat), cohere_routes(), anthropic_routes(chat), (langsmith or LangSmith()).routes())
    return LoopbackServer(chain.from_iterable(routes), port)


def environment_of(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that point the SDKs at a server.

    Args:
        url: Where it is.
        environment: The variables as they are: what is reached without a proxy stays so.
    """
    direct = ",".join(filter(None, [environment.get("NO_PROXY", ""), _HERE]))
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": KEY,
        "CO_API_URL": url,
        "CO_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "LANGSMITH_ENDPOINT": url,
        "LANGSMITH_API_KEY": KEY,
        "LANGSMITH_CONFIG_FILE": _NO_FILE,
        "NO_PROXY": direct,
        "no_proxy": direct,
    }


# The SDKs of this process, pointed at a server by environment variables, also those that have read them before.

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
