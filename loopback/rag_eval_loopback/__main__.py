"""`python -m rag_eval_loopback`: the providers, for programs that are no tests."""

import argparse
import shlex
import signal
import sys
from threading import Event
from types import FrameType

from rag_eval_loopback.providers import LoopbackProviders
from rag_evaluation_framework.errors import ConfigError


def main() -> int:
    """Serve until interrupted; print the variables that point the SDKs here, as a shell reads them."""
    parser = argparse.ArgumentParser(
        prog="python -m rag_eval_loopback",
        description="Serve the protocols of OpenAI, Cohere, Anthropic and LangSmith on 127.0.0.1, without any model.",
    )
    parser.add_argument("--port", type=int, default=0, help="the port; by default one that is free")
    providers = LoopbackProviders(port=parser.parse_args().port)
    try:
        providers.start()
    except ConfigError as error:
        print(f"Error: {error}", file=sys.stderr)  # noqa: T201
        return 2
    ended = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    for name, value in providers.environment.items():
        print(f"export {name}={shlex.quote(value)}", flush=True)  # noqa: T201
    ended.wait()
    providers.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
