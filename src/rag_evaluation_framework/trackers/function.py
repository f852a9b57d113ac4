"""Functions as sinks."""

from collections.abc import Callable
from typing import Any

from ..base.coroutines import resolved
from ..contracts.registry.building import OwnFunction
from ..contracts.roles import Outcome, Sink


class FunctionSink(OwnFunction[Callable[[Outcome], Any]], Sink):
    """A plain function `(outcome)`, which may be a coroutine function; what it returns is not read.

    Attributes:
        function: What gets the `Outcome` of each run.

    Raises:
        ConfigError: `function` is none, or has to be called with something else.
    """

    _kind = "sink"

    def send(self, outcome: Outcome) -> None:
        """Call the function."""
        resolved(self.function(outcome))
