"""`python -m rag_evaluation_framework.loopback`: the providers, for programs that are no tests."""

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from threading import Event
from types import FrameType

from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.loopback.providers import environment_of, providers_server


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted; print the variables that point the SDKs here, as a shell reads them."""
    parser = argparse.ArgumentParser(
        prog="python -m rag_evaluation_framework.loopback",
        description="Serve the protocols of OpenAI, Cohere, Anthropic and LangSmith on 127.0.0.1, without any model.",
    )
    parser.add_argument("--port", type=int, default=0, help="the port; by default one that is free")
    server = providers_server(port=parser.parse_args(arguments).port)
    try:
        server.start()
    except ConfigError as error:
        print(f"Error: {error}", file=sys.stderr)  # noqa: T201
        return 2
    ended = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    for name, value in environment_of(server.url, os.environ).items():
        print(f"export {name}={shlex.quote(value)}", flush=True)  # noqa: T201
    ended.wait()
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
