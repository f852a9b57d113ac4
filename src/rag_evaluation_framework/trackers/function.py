"""Functions as sinks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..adapt.adapt import as_function
from ..base.coroutines import resolved
from ..contracts.component import function_name
from ..contracts.roles import Outcome, Sink


@dataclass(frozen=True)
class FunctionSink(Sink):
    """A plain function `(outcome)`, which may be a coroutine function; what it returns is not read.

    Attributes:
        function: What gets the `Outcome` of each run.

    Raises:
        ConfigError: `function` is none, or has to be called with something else.
    """

    function: Callable[[Outcome], Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", as_function("sink", self.function, "FunctionSink"))

    @property
    def name(self) -> str:
        """The function's name."""
        return function_name(self.function)

    def send(self, outcome: Outcome) -> None:
        """Call the function."""
        resolved(self.function(outcome))
