"""`GateVerdict`: what became of one gate, as a result keeps it."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import AllowInfNan, Strict

Verdict = Literal["passed", "failed", "inconclusive", "not measured", "off"]
CountsAs = Literal["pass", "fail", "error"]
OnInconclusive = Literal["pass", "fail"]

_Number: TypeAlias = Annotated[float, Strict(), AllowInfNan(False)]


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What became of one gate: a condition on a run, such as `recall@10 >= 0.75`.

    Attributes:
        gate: The gate.
        source: Where it was written, such as `--gate`.
        verdict: What became of it. Only a claim about all questions like these can be `inconclusive`: chance may make
            what was measured on either side of the limit. A gate that a threshold of 0 turns off is `off`.
        told: What was measured, or why it could not be.
        power: What a claim about all questions like these would find, if it is one.
        on_inconclusive: As what an inconclusive verdict counts.
        measured: What was measured; None if it could not be. Latency is in seconds.
        low: The lower bound of its interval; None if it has none.
        high: The upper bound.
        queries: The ids of the queries that were lost or are not compared, if these are counted; of another gate that
            did not pass, those of the queries whose score fell since the baseline, the greatest loss first.
    """

    gate: str
    source: str
    verdict: Verdict
    told: str
    power: str = ""
    on_inconclusive: OnInconclusive = "pass"
    measured: _Number | None = None
    low: _Number | None = None
    high: _Number | None = None
    queries: tuple[str, ...] = ()

    @property
    def counts_as(self) -> CountsAs:
        """What it does to the exit code: nothing, 1, or 2, as a gate that could not be measured never passes."""
        if self.verdict == "inconclusive":
            return self.on_inconclusive
        return "pass" if self.verdict in ("passed", "off") else "fail" if self.verdict == "failed" else "error"

    @property
    def word(self) -> str:
        """The verdict as people read it; of an inconclusive one also as what it counts."""
        if self.verdict == "inconclusive":
            return f"inconclusive (counts as {'passed' if self.on_inconclusive == 'pass' else 'failed'})"
        return self.verdict

    @property
    def outcome(self) -> str:
        """Its power, the verdict, and what was measured, on one line."""
        return f"{f'{self.power}; ' if self.power else ''}{self.word}: {self.told}"

    def __str__(self) -> str:
        return f"{self.gate}: {self.outcome}"
