"""One question of a result, and the scores by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

from rag_evaluation_framework.exits import exit_text
from rag_evaluation_framework.levels import U
from rag_evaluation_framework.types import Ranking

Status = Literal["scored", "no-answer", "failed"]
Raised = Exception | SystemExit
"""What becomes a failure when the code of a user's raises it; an interrupt ends the run."""


@dataclass(frozen=True)
class Failure:
    """Something that went wrong for one question.

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
        """Return what an error of the user's code says."""
        message = exit_text(error) if isinstance(error, SystemExit) else str(error)
        return cls(stage, type(error).__name__, message)


@dataclass(frozen=True)
class QueryResult(Generic[U]):
    """One question: what was right, what was found, and how that scored.

    Attributes:
        query_id: The question's id.
        text: Its wording.
        relevant: The truth; empty if the corpus holds no answer.
        gains: How relevant units are, by id; of those that are not told, and of spans, it is 1.0.
        hits: What was found, best first, as deep as the cutoffs reach. A hit with a place carries no text.
        scores: By name; None where a metric failed. Empty if the question has no answer or its retrieval failed.
        stages: Seconds of each step of the retrieval.
        failures: What went wrong.
    """

    query_id: str
    text: str
    relevant: tuple[U, ...]
    gains: Mapping[str, float] = field(default_factory=dict[str, float])
    hits: Ranking = ()
    scores: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    failures: tuple[Failure, ...] = ()

    @property
    def status(self) -> Status:
        """`failed` if its retrieval raised, `no-answer` if nothing is relevant, else `scored`."""
        if any(failure.stage == "retrieve" for failure in self.failures):
            return "failed"
        return "scored" if self.relevant else "no-answer"

    def __str__(self) -> str:
        name, score = next(iter(self.scores.items()), (self.status, None))
        return f"{self.query_id}  {name}{'' if score is None else f' {score:.3f}'}  {self.text}"


class Scores(dict[str, float | None]):
    """Scores by name. A metric without a cutoff stands for the run's k: `["span_recall"]` is `["span_recall@5"]`."""

    def __init__(self, values: Mapping[str, float | None], default_cutoff: str) -> None:
        super().__init__(values)
        self.default_cutoff = default_cutoff

    def __missing__(self, name: str) -> float | None:
        full = self.full_name(name)
        if full not in self.keys():
            raise KeyError(f"no score {name!r}; there are {', '.join(self)}")
        return self[full]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.full_name(name) in self.keys()

    def get(self, name: str, default: Any = None) -> Any:
        """Return the score of that name, or the default."""
        return self[name] if name in self else default  # noqa: SIM401  this is `get`

    def full_name(self, name: str) -> str:
        """Return the name with its cutoff."""
        return name if "@" in name else f"{name}@{self.default_cutoff}"
