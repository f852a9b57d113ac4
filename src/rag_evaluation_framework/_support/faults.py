"""Faults that are found one by one and told together."""

from collections.abc import Generator
from contextlib import contextmanager

from rag_evaluation_framework.errors import ConfigError, InputError


class Faults:
    """What is wrong with one input, gathered so that no fault hides another."""

    def __init__(self) -> None:
        self._found: list[InputError] = []

    @contextmanager
    def gathered(self) -> Generator[None]:
        """Keep the faults that the body raises, and go on behind it."""
        try:
            yield
        except InputError as error:
            self._found += error.faults or [error]

    def tell(self) -> None:
        """Raise what was gathered: of several faults one error that lists them.

        Raises:
            InputError: Something was; several faults of different kinds are a `ConfigError`.
        """
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            kinds = {type(error) for error in self._found}
            listed = "".join(f"\n  {error}" for error in self._found)
            together = (kinds.pop() if len(kinds) == 1 else ConfigError)(f"{len(self._found)} problems:{listed}")
            together.faults = tuple(self._found)
            raise together
