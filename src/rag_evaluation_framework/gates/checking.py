"""Verdicts: what became of gates in a result, and whether that can be relied on."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, TypedDict, Unpack, get_args

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.sink import Outcome
from rag_evaluation_framework.data.rankings import NOT_ASKED
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.gates.gate import Gate, with_default
from rag_evaluation_framework.gates.measuring import Measurement, NotMeasured, Runs
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.results.gate_verdict import GateVerdict, OnInconclusive, Verdict
from rag_evaluation_framework.results.means import Cluster
from rag_evaluation_framework.results.result import EvaluationResult

_POWER = "rag_evaluation_framework.report.pages.gates:power_of_gate"  # a door upwards

# Whether the result of a run can be relied on: which questions failed, were not asked, or were skipped.


def unreliable(
    result: EvaluationResult[Any],
    allow_failures: int = 0,
    allow_skipped: int = 0,
    allow_unlocated: float = 0.5,
    why_skipped: str = "",
) -> tuple[str, ...]:
    """Return why a result cannot be relied on: everything that is more than was allowed; nothing if it can be.

    Args:
        result: The result.
        allow_failures: Number of questions that may fail.
        allow_skipped: Number of questions that may be skipped.
        allow_unlocated: Share of the results that may have no place in the corpus.
        why_skipped: Why questions were skipped, behind their number.
    """
    counts = result.counts
    failed, skipped, asked = counts["failed"] + counts["metric_failed"], counts["skipped"], counts["questions"]
    not_asked = sum(NOT_ASKED in failures for failures in result.failures.values())
    if not_asked:
        others = f"{counts['failed'] - not_asked} others in time"
        return (f"{not_asked} of {asked} questions were not asked, as the retriever did not answer {others}",)
    if all(mean is None for mean in result.metrics.values()):
        return ("no question has a score",)
    problems: list[str] = []
    if failed > allow_failures:
        problems.append(f"{failed} of {asked} questions failed{_more_than(allow_failures, 'failures')}")
    if skipped > allow_skipped:
        many = f"{skipped} of {counts['answerable']} answerable questions {'were' if skipped > 1 else 'was'}"
        problems.append(f"{many} skipped{_more_than(allow_skipped, 'skipped')}{why_skipped}")
    if result.unplaced > allow_unlocated:
        many = f"{counts['unlocated_hits']} of {counts['hits']} results"
        noun = RULES[result.evaluation_type].noun
        problems.append(f"{many} have no {noun}{_more_than(f'{allow_unlocated:.0%}', 'unlocated')}")
    return tuple(problems)


def _more_than(allowed: object, what: str) -> str:
    return f", more than the {allowed} allowed (allow_{what}, --allow-{what})"


def refuse_unreliable(result: EvaluationResult[Any], problems: Sequence[str]) -> None:
    """Raise ConfigError if there are problems, or else a gate that was not measured, and say where the run is.

    Args:
        result: The result.
        problems: Why it cannot be relied on, and what could not be written.
    """
    found = problems or [
        f"gate {verdict.gate!r} could not be measured: {verdict.told}"
        for verdict in result.gates
        if verdict.counts_as == "error"
    ]
    if found:
        where = "" if result.folder is None else f"; the run is {result.whereabouts}"
        raise ConfigError(f"{'; '.join(found)}{where}")


def blocks(outcome: Outcome) -> bool:
    """Return whether a run is no success: it cannot be relied on, or a gate did not pass."""
    return bool(outcome.problems) or any(verdict.counts_as != "pass" for verdict in outcome.result.gates)


# Verdicts: what became of gates in a result.


def check_gates(
    result: EvaluationResult[Any],
    gates: str | Gate | Iterable[str | Gate],
    baseline: EvaluationResult[Any] | None = None,
    *,
    on_inconclusive: OnInconclusive = "pass",
    cluster: Cluster | None = None,
    allow_failures: int = 0,
    allow_skipped: int = 0,
    allow_unlocated: float = 0.5,
) -> tuple[GateVerdict, ...]:
    """Return what became of gates in a result, in their order, as in `rag-eval run`.

    A gate on these questions passes or fails. A claim about all questions like these, `population(...)`, passes or
    fails if its interval of 95 % lies on one side of the limit, and is inconclusive otherwise; the interval of a drop
    is that of `Comparison.tests`, so that gate and comparison never contradict each other. What could not be measured
    has not passed; nor has anything where more questions failed or were skipped than allowed, or more
    results have no place. With a baseline,
    `compared >= 90 %` is one more gate, the last, unless another one bounds that share.

    Args:
        result: The result.
        gates: Gates, or texts such as `"recall@10 >= 0.75"`.
        baseline: The result before, for gates on a drop and on lost questions.
        on_inconclusive: As what an inconclusive verdict counts, `"pass"` or `"fail"`.
        cluster: What counts as independent in population gates, `"question"` or `"document"`; by default documents,
            where the labels are in at least 6. Of fewer documents, such a gate is not measured.
        allow_failures: Number of questions that may fail.
        allow_skipped: Number of questions that may be skipped.
        allow_unlocated: Share of the results that may have no place in the corpus, from 0 to 1.

    Raises:
        ConfigError: A text is not a gate; or `on_inconclusive`, `cluster` or `allow_unlocated` is something else.
    """
    if on_inconclusive not in get_args(OnInconclusive):
        raise ConfigError(f"on_inconclusive={shown(on_inconclusive)}: expected 'pass' or 'fail'")
    if cluster not in (None, *get_args(Cluster)):
        raise ConfigError(f"cluster={shown(cluster)}: expected 'question' or 'document', or None for the default")
    if not 0 <= allow_unlocated <= 1:
        raise ConfigError(f"allow_unlocated={shown(allow_unlocated)}: expected a share from 0 to 1, such as 0.5")
    listed = [gates] if isinstance(gates, str | Gate) else gates
    parsed = [gate if isinstance(gate, Gate) else Gate.parse(gate) for gate in listed]
    gates = with_default(parsed, has_baseline=baseline is not None)
    problems = unreliable(result, allow_failures, allow_skipped, allow_unlocated)
    return verdicts(Runs(result, baseline, cluster), gates, on_inconclusive, problems)


def verdicts(
    runs: Runs, gates: Iterable[Gate], on_inconclusive: OnInconclusive, problems: Sequence[str] = ()
) -> tuple[GateVerdict, ...]:
    """Return the verdicts on gates; in a run that has problems what would pass is not measured, and is told."""
    found = tuple(_verdict(gate, runs, on_inconclusive) for gate in gates)
    return tuple(
        replace(one, verdict="not measured", told=f"{'; '.join(problems)}; found: {one.told}")
        if problems and one.verdict in ("passed", "inconclusive")
        else one
        for one in found
    )


class GateOptions(TypedDict, total=False):
    """The keywords of `assert_gates`: those of `check_gates`."""

    on_inconclusive: OnInconclusive
    cluster: Cluster | None
    allow_failures: int
    allow_skipped: int
    allow_unlocated: float


def assert_gates(
    result: EvaluationResult[Any],
    gates: str | Gate | Iterable[str | Gate],
    baseline: EvaluationResult[Any] | None = None,
    **options: Unpack[GateOptions],
) -> None:
    """Check gates in a test.

    Args:
        result: As in `check_gates`.
        gates: As in `check_gates`.
        baseline: As in `check_gates`.
        options: As in `check_gates`, such as `allow_failures`.

    Raises:
        AssertionError: A gate failed, or could not be measured; the message names each of them.
        ConfigError: As in `check_gates`.
    """
    verdicts = check_gates(result, gates, baseline, **options)
    blocking = [verdict for verdict in verdicts if verdict.counts_as != "pass"]
    if blocking:
        raise AssertionError("\n".join(map(str, blocking)))


def _verdict(gate: Gate, runs: Runs, on_inconclusive: OnInconclusive) -> GateVerdict:
    if gate.off:
        return GateVerdict(str(gate), gate.source, "off", "a threshold of 0 turns this gate off")
    try:
        found = runs.measure(gate)
    except NotMeasured as why:
        return GateVerdict(str(gate), gate.source, "not measured", str(why), on_inconclusive=on_inconclusive)
    outcome = _outcome(gate, found)
    return GateVerdict(
        gate=str(gate),
        source=gate.source,
        verdict=outcome,
        told=found.told,
        power="" if found.power is None else load_installed(_POWER)(found.power),
        on_inconclusive=on_inconclusive,
        measured=found.value,
        low=found.low if gate.population and isfinite(found.low) else None,
        high=found.high if gate.population and isfinite(found.high) else None,
        queries=found.queries or (runs.regressed(gate) if outcome != "passed" else ()),
    )


def _outcome(gate: Gate, found: Measurement) -> Verdict:
    worst, best = (found.low, found.high) if gate.is_at_least else (found.high, found.low)
    if gate.allows(worst):
        return "passed"
    return "inconclusive" if gate.allows(best) else "failed"
