"""Failures: what went wrong for one query, as data or, if that is asked for, as an error."""

from dataclasses import dataclass
from typing import Literal

from rag_evaluation_framework._outside import class_name, said, shown
from rag_evaluation_framework._support.exits import exit_text
from rag_evaluation_framework.errors import QueryFailed

OnError = Literal["collect", "raise"]
"""What becomes of a query that fails: data, or the error that ends the run."""


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
    def of(cls, stage: str, error: BaseException) -> "Failure":
        """Return what an error of a component says."""
        message = exit_text(error) if isinstance(error, SystemExit) else said(error)
        return cls(stage, class_name(error), message)

    @classmethod
    def collected(cls, query: str, stage: str, error: BaseException, on_error: OnError, wording: str = "") -> "Failure":
        """Return what an error of a component says, if failures are collected.

        Raises:
            QueryFailed: They are not.
        """
        failure = cls.of(stage, error)
        if on_error == "collect":
            return failure
        named = f"{query!r} ({shown(wording)})" if wording else f"{query!r}"
        raise QueryFailed(f"question {named} failed: {stage}: {failure.kind}: {failure.message}", query) from error


NOT_ASKED = Failure(
    "retrieve", "NotAsked", "not asked: too many questions before it had no answer in time, and could not be stopped"
)
"""What becomes of the questions that are left when a run is stopped, as its retriever hangs again and again."""

NOT_ANSWERED = Failure("retrieve", "Interrupted", "not answered, as the run was interrupted")
"""What becomes of the questions that are left when a run is interrupted."""

NOT_SCORED = ("Interrupted", "not scored, as the run was interrupted")
"""What becomes of the scores of a run whose scoring is interrupted again: kind and message of the failure."""
