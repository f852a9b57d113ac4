"""Failures: what went wrong for one query, as data."""

from dataclasses import dataclass

from rag_evaluation_framework._support.exits import exit_text

Raised = Exception | SystemExit
"""What becomes a failure when a component raises it; an interrupt ends the run."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong for one query.

    Attributes:
        stage: `retrieve`, or `score` and the name of the score.
        kind: The class of the error.
        message: What it said.
    """

    stage: str
    kind: str
    message: str

    @classmethod
    def of(cls, stage: str, error: "Raised") -> "Failure":
        """Return what an error of a component says."""
        message = exit_text(error) if isinstance(error, SystemExit) else str(error)
        return cls(stage, type(error).__name__, message)
