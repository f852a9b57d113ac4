"""The providers' wire protocols on this machine, for tests of what talks to them."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Self

from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.loopback import Exchange, Fault
from rag_evaluation_framework.loopback.langsmith import LangSmith
from rag_evaluation_framework.loopback.models import Script
from rag_evaluation_framework.loopback.providers import environment_of, pointed_sdks, providers_server


class LoopbackProviders:
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
    """

    def __init__(self, answers: Script | None = None, port: int = 0) -> None:
        self._langsmith = LangSmith()
        self._server = providers_server(answers, port, self._langsmith)
        self._opened = ExitStack()

    @property
    def url(self) -> str:
        """Where it is, `http://127.0.0.1:PORT`; OpenAI's base URL is this with `/v1`."""
        return self._server.url

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables that point SDKs here, for processes that are started elsewhere."""
        return environment_of(self.url, os.environ)

    @property
    def exchanges(self) -> list[Exchange]:
        """What arrived and what was answered, in order."""
        return list(self._server.exchanges)

    @property
    def langsmith(self) -> LangSmith:
        """What LangSmith holds: copies of its `datasets` and `experiments`, by name."""
        return self._langsmith

    def counts(self) -> Counter[str]:
        """Return how many requests each route had, by names such as `POST /v1/embeddings`."""
        return self._server.counts()

    def fault(
        self,
        route: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        change: Callable[[Any], Any] | None = None,
        delay: float = 0.0,
        drop: bool = False,
        lost: bool = False,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """Let something go wrong with the next requests of a route; several faults wait for their turn.

        Args:
            route: Method and path, such as `POST /v2/embed`.
            status: The status of the answer, instead of the work, with an error body as the provider writes it.
            headers: More headers of the answer, such as `{"Retry-After": "1"}`.
            body: The body of the answer, instead of the work's: JSON, or bytes and text as they are.
            change: Changes the JSON that would have been answered. What it raises is answered with status 500.
            delay: Seconds until the answer is sent.
            drop: Whether the connection is closed instead of answering.
            lost: Whether the work is done before the status or the closed connection hides its answer.
            times: How many requests it befalls; None for all that follow.
            after: How many requests go well before.

        Raises:
            ConfigError: There is no such route, nothing would go wrong, or a number is out of range.
        """
        if status is None and body is None and change is None and not (headers or delay or drop or lost):
            raise ConfigError(f"fault({route!r}): nothing would go wrong; expected status=, drop=True or another fault")
        self._server.fault(route, Fault(status, headers or {}, body, change, delay, drop, lost, times, after))

    def clear_faults(self) -> None:
        """Forget the faults that have not come yet."""
        self._server.clear_faults()

    def __enter__(self) -> Self:
        self._server.start()
        self._opened.callback(self._server.stop)
        self._opened.enter_context(pointed_sdks(self.environment))
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
