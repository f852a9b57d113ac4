"""All providers behind one address, and the environment variables by which their SDKs find it."""

import os
from collections.abc import Mapping

from rag_evaluation_framework.loopback.anthropic import AnthropicRoutes
from rag_evaluation_framework.loopback.chat import ChatScript, Script
from rag_evaluation_framework.loopback.cohere import cohere_routes
from rag_evaluation_framework.loopback.langsmith import LangSmithRoutes
from rag_evaluation_framework.loopback.openai import OpenAIRoutes
from rag_evaluation_framework.loopback.server import LoopbackServer

KEY = "loopback-key"
_HERE = "127.0.0.1,localhost"
_NO_FILE = f"{os.devnull}/none"  # else the login of a person would say where LangSmith is


def providers_server(
    answers: Script | None = None, port: int = 0, langsmith: LangSmithRoutes | None = None
) -> LoopbackServer:
    """Return a server of every provider's protocol; it does not listen yet.

    Args:
        answers: What the language models answer, as of `ChatScript`.
        port: The port; 0 for any that is free.
        langsmith: What LangSmith holds; by default one project, `default`.
    """
    chat = ChatScript(answers)
    routes = [*OpenAIRoutes(chat).routes(), *cohere_routes(), *AnthropicRoutes(chat).routes()]
    routes += (langsmith or LangSmithRoutes()).routes()
    return LoopbackServer(routes, port)


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
