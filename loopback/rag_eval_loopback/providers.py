"""All providers behind one address, and how the SDKs of a process are pointed at it."""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from inspect import unwrap
from typing import Any, Self

from rag_eval_loopback.langsmith import LangSmith
from rag_eval_loopback.models import ChatScript, Script, anthropic_routes, cohere_routes, openai_routes
from rag_eval_loopback.server import LoopbackServer

_KEY = "loopback-key"
_NO_FILE = f"{os.devnull}/none"  # else the login of a person would say where LangSmith is


class LoopbackProviders(LoopbackServer):
    """OpenAI, Cohere, Anthropic and LangSmith on this machine: their real SDKs talk to it over real sockets.

    While it is open (`with`), environment variables point the SDKs here: `OpenAI()` and `cohere.ClientV2()` need no
    argument, whenever the SDK was loaded. Clients that were made before stay where they are. There is no model behind
    it. Vectors are made of the words of a text, so that texts that share words are alike; rerankers score by the words
    that a text shares with the question; language models answer from a script, or quote what they are asked about.
    Everything is the same in every process. LangSmith keeps what it is sent until this is closed.

    Args:
        answers: What language models answer: texts, or what is sent as JSON, one for each request; or a function of
            the `ChatRequest`. By default sentences of what they are asked about, in the form that is asked for.
        port: The port on 127.0.0.1; by default one that is free.

    Attributes:
        langsmith: What LangSmith holds: copies of its `datasets` and `experiments`, by name.
    """

    def __init__(self, answers: Script | None = None, port: int = 0) -> None:
        self.langsmith = LangSmith()
        self._opened = ExitStack()
        chat = ChatScript(answers)
        routes = [*openai_routes(chat), *cohere_routes(), *anthropic_routes(chat), *self.langsmith.routes()]
        super().__init__(routes, port)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables that point SDKs here, for processes that are started elsewhere."""
        known = os.environ.get("NO_PROXY", "").split(",")  # what is reached without a proxy stays so
        direct = ",".join(dict.fromkeys([*filter(None, known), "127.0.0.1", "localhost"]))
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": _KEY,
            "CO_API_URL": self.url,
            "CO_API_KEY": _KEY,
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": _KEY,
            "LANGSMITH_ENDPOINT": self.url,
            "LANGSMITH_API_KEY": _KEY,
            "LANGSMITH_CONFIG_FILE": _NO_FILE,
            "NO_PROXY": direct,
            "no_proxy": direct,
        }

    def __enter__(self) -> Self:
        self.start()
        self._opened.callback(self.stop)
        self._opened.enter_context(_pointed_sdks(self.environment))
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


# The SDKs of this process, pointed at a server by environment variables, also those that have read them before.

_COHERE = {"cohere.client": ("Client", "AsyncClient"), "cohere.client_v2": ("ClientV2", "AsyncClientV2")}
_COHERE_ADDRESS = "CO_API_URL"


@contextmanager
def _pointed_sdks(environment: Mapping[str, str]) -> Generator[None]:
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
    kinds = [getattr(sys.modules.get(module), name, None) for module, names in _COHERE.items() for name in names]
    found: list[Any] = [unwrap(kind.__init__) for kind in kinds if kind is not None]
    return [each for each in found if "base_url" in (each.__kwdefaults__ or {})]


def _set_cohere_addresses(addresses: Mapping[Any, str | None], other: str | None) -> None:
    """Set where clients of Cohere go that are made without an address; `other` for those loaded since."""
    for constructor in _cohere_constructors():
        constructor.__kwdefaults__["base_url"] = addresses.get(constructor, other)


def _forget_langsmith_variables() -> None:
    """Let LangSmith's SDK, if it is loaded, read the environment again: it keeps what it has read."""
    if (utils := sys.modules.get("langsmith.utils")) is not None:
        utils.get_env_var.cache_clear()
        utils.get_tracer_project.cache_clear()
