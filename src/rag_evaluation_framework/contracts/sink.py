"""Sinks: where the result of a run goes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework.contracts.component import Component

if TYPE_CHECKING:
    from rag_evaluation_framework.analysis.comparison import Comparison
    from rag_evaluation_framework.results.result import EvaluationResult


@dataclass(frozen=True)
class Outcome:
    """A finished run, as sinks get it.

    Attributes:
        result: The result, with the verdicts on its gates; its folder is known to the sinks behind `folder`.
        baseline: The saved run that it is compared with, or None.
        comparison: How it differs from that; None without a baseline, or if they cannot be compared.
        problems: Why it cannot be relied on; nothing if it can be.
    """

    result: EvaluationResult[Any]
    baseline: EvaluationResult[Any] | None = None
    comparison: Comparison | None = None
    problems: tuple[str, ...] = ()

    @property
    def both(self) -> tuple[EvaluationResult[Any], EvaluationResult[Any]] | None:
        """The baseline and the result; None without a baseline."""
        return None if self.baseline is None else (self.baseline, self.result)


class Sink(Component, ABC):
    """Where the result of a run goes. A sink that fails stops no other."""

    @property
    def failure(self) -> str:
        """What people are told if it fails; why follows."""
        return f"the result is not sent to {self.name}"

    def prepare(self) -> None:
        """Do what has to be done before anything is asked; by default nothing.

        Raises:
            ConfigError: Nothing could be sent later.
        """

    @abstractmethod
    def send(self, outcome: Outcome) -> EvaluationResult[Any] | None:
        """Send a run.

        Returns:
            The result, if more is known of it now, such as its address; None if not.

        Raises:
            SaveFailed: It could not be sent; the error has the result, as far as more is known of it.
            Exception: Anything else means that, too.
        """
