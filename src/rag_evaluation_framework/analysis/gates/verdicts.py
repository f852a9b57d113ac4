"""The gates of a run: gathered from where they are written, and checked in its result."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any, TypedDict, Unpack, get_args

from ... import runs
from ...base.notes import note
from ...base.outside import name_line, shown
from ...contracts.registry.loading import load_installed
from ...contracts.roles import Outcome
from ...data.cutoffs import Cutoff
from ...data.score_table import full_name
from ...datasets.retrieval_harness import KEYS, P95, read_thresholds, threshold_problem
from ...errors import ConfigError
from ...runs import EvaluationResult, ExperimentConfig, RunSpec, store
from ...runs.means import DOCUMENT, LENGTH, Cluster, label_values
from ...runs.naming import other_meaning
from ...runs.shown import GateVerdict, OnInconclusive, Verdict
from ...scoring.metrics.defaults import ALL_METRICS
from .gate import NUMBER, Gate, Key, scaled, with_default
from .measuring import FOUND, NotMeasured, Runs, cannot_fail, found_score, listed

# Verdicts: what became of gates in a result, and whether that can be relied on.

_PAGE = "rag_evaluation_framework.report.pages.gates"  # a door upwards


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
    told = load_installed(f"{_PAGE}:unreliable")(result, allow_failures, allow_skipped, allow_unlocated, why_skipped)
    return tuple(told)


def refuse_unreliable(result: EvaluationResult[Any], problems: Sequence[str]) -> None:
    """Raise ConfigError if there are problems, or else a gate that was not measured, and say where the run is.

    Args:
        result: The result.
        problems: Why it cannot be relied on, and what could not be written.
    """
    unmeasured = [verdict for verdict in result.gates if verdict.counts_as == "error"]
    if problems or unmeasured:
        raise ConfigError(
            "; ".join(problems or [f"gate {one.gate!r} could not be measured: {one.told}" for one in unmeasured])
            + ("" if result.folder is None else f"; the run is {result.whereabouts}")
        )


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
    problems = unreliable(result, allow_failures, allow_skipped, allow_unlocated)
    chosen = with_default(parsed, has_baseline=baseline is not None)
    return verdicts(Runs(result, baseline, cluster), chosen, on_inconclusive, problems)


def verdicts(
    both: Runs, gates: Iterable[Gate], on_inconclusive: OnInconclusive, problems: Sequence[str] = ()
) -> tuple[GateVerdict, ...]:
    """Return the verdicts on gates; a run with problems cannot pass a gate."""
    found = tuple(_verdict(gate, both, on_inconclusive) for gate in gates)
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


def _verdict(gate: Gate, both: Runs, on_inconclusive: OnInconclusive) -> GateVerdict:
    if gate.off:
        return GateVerdict(str(gate), gate.source, "off", "a threshold of 0 turns this gate off")
    try:
        found = both.measure(gate)
    except NotMeasured as why:
        return GateVerdict(str(gate), gate.source, "not measured", str(why), on_inconclusive=on_inconclusive)
    worst, best = (found.low, found.high) if gate.is_at_least else (found.high, found.low)
    outcome: Verdict = "passed" if gate.allows(worst) else "inconclusive" if gate.allows(best) else "failed"
    return GateVerdict(
        gate=str(gate),
        source=gate.source,
        verdict=outcome,
        told=found.told,
        power="" if found.power is None else load_installed(f"{_PAGE}:power_of_gate")(found.power),
        on_inconclusive=on_inconclusive,
        measured=found.value,
        low=found.low if gate.population and isfinite(found.low) else None,
        high=found.high if gate.population and isfinite(found.high) else None,
        queries=found.queries or (both.regressed(gate) if outcome != "passed" else ()),
    )


# The thresholds of design document 004, such as `min.recallAtK`, and the gates that they are.

METRICS: Mapping[str, tuple[str, ...]] = {
    "min.hitAtK": ("hit", "span_hit"),
    "min.recallAtK": ("recall", "chunk_recall", "span_recall"),
    "min.precisionAtK": ("precision", "chunk_precision", "span_precision"),
    "min.mrrAtK": ("mrr",),
    "min.ndcgAtK": ("ndcg",),
}
"""The metrics of which the first that a run has is bounded by a threshold at the k of the run."""


def parse_thresholds(texts: Iterable[str], option: str, problems: list[str]) -> dict[str, float]:
    """Return the thresholds of texts such as `min.recallAtK=0.75` by key.

    Args:
        texts: The texts.
        option: What they were given by, for messages.
        problems: What is wrong is added here.
    """
    found: dict[str, float] = {}
    for text in texts:
        key, equals, written = (part.strip() for part in text.partition("="))
        value: Any = float(written) if re.fullmatch(NUMBER, written) else written
        problem = f"{key} is given twice" if key in found else threshold_problem(key, value)
        if not equals:
            problem = "expected a threshold such as min.recallAtK=0.75"
        if problem:
            problems.append(f"{option} {shown(text)}: {problem}")
        else:
            found[key] = value
    return found


def threshold_gate(key: str, value: float, k: Cutoff, names: Sequence[str], source: str) -> Gate:
    """Return the gate that a threshold is at the k of a run, of the first metric that the run has; one of 0 is off.

    Args:
        key: The threshold.
        value: Its value.
        k: The number of results at which the rankings of the run are cut.
        names: The scores of the run.
        source: Where it was written.
    """
    told = f"{key}, {source}"
    if key == P95:
        return Gate("latency", "", "<=", scaled(value, -3), percentile=95, source=told)
    metrics = [f"{metric}@{k}" for metric in METRICS[key]]
    name = next((name for name in metrics if name in names), metrics[0])
    return Gate("score", name, ">=", value, source=told, off=value == 0)


# The gates of a run: gathered from where they are written, and checked before anything is run.


@dataclass(frozen=True)
class Written:
    """The gates that are written in one place.

    Attributes:
        gates: Gates, such as `recall@10 >= 0.75`.
        thresholds: Thresholds as a file has them, `{"min": {"recallAtK": 0.75}}`; or texts as options, such as
            `min.recallAtK=0.75`.
        gates_at: What its gates are called, for people: `--gate`.
        thresholds_at: What its thresholds are called.
    """

    gates: Sequence[str] = ()
    thresholds: Mapping[str, Any] | Sequence[str] | None = None
    gates_at: str = "gates"
    thresholds_at: str = "thresholds"


def gates_of_run(
    experiment: ExperimentConfig[Any], places: Sequence[Written], baseline: EvaluationResult[Any] | None = None
) -> tuple[Gate, ...]:
    """Return the gates of a run, and check that they can be measured in it.

    Thresholds and gates of several places are merged key by key: of two that bound the same, on the same side and in
    the same slice, that of the place that comes first counts. One place may have several. With a baseline,
    `compared >= 90 %` is a gate unless another such gate is written.

    Args:
        experiment: What is to be run. The thresholds of its dataset are the last place.
        places: Where gates are written, the place that overrides the others first.
        baseline: The result before, if there is one.

    Raises:
        ConfigError: Something written is not a gate or a threshold, or cannot be measured in this run: it has no such
            score, slice or baseline, or it cannot fail. All problems are listed at once.
    """
    problems: list[str] = []
    own = Written(thresholds=experiment.dataset.thresholds, thresholds_at="thresholds of the dataset")
    found: dict[Key, tuple[int, list[Gate]]] = {}
    taken: set[str] = set()
    for number, place in enumerate((*places, own)):
        for gate in _read(place, experiment, taken, problems):
            first, gates = found.setdefault(gate.key, (number, []))
            if first == number and gate not in gates:
                gates.append(gate)
    written = [gate for _, gates in found.values() for gate in gates]
    chosen = with_default(written, has_baseline=baseline is not None)
    for gate in chosen:
        for refuse in (_refuse_score, _refuse_baseline, _refuse_slice):
            try:
                refuse(gate, experiment, baseline)
            except ConfigError as error:
                problems.append(f"gate {str(gate)!r}: {error}")
    if problems:
        told = [*dict.fromkeys(problems)]
        raise ConfigError(told[0] if len(told) == 1 else "\n  ".join([f"{len(told)} problems with gates:", *told]))
    return chosen


def _read(place: Written, experiment: ExperimentConfig[Any], taken: set[str], problems: list[str]) -> Iterator[Gate]:
    """Yield the gates of one place, its thresholds last; thresholds that a place before it has are left out."""
    names = experiment.score_names
    for text in place.gates:
        try:
            gate = Gate.parse(text, place.gates_at)
        except ConfigError as error:
            problems.append(f"{place.gates_at}: {error}")
            continue
        if gate.kind == "lost":
            yield replace(gate, name=gate.name or str(experiment.cutoffs[0]))
        else:
            yield replace(gate, name=full_name(gate.name, dict.fromkeys(names)) or gate.name)
    if isinstance(place.thresholds, Mapping) or place.thresholds is None:
        thresholds = read_thresholds(place.thresholds, place.thresholds_at, problems)
    else:
        thresholds = parse_thresholds(place.thresholds, place.thresholds_at, problems)
    for key in (key for key in KEYS if key in thresholds and key not in taken):
        taken.add(key)
        if key != P95 and not experiment.k:
            problems.append(f"{place.thresholds_at}: {key} is a score at k, and the run has budgets only; give it a k")
        else:
            yield threshold_gate(key, thresholds[key], experiment.cutoffs[0], names, place.thresholds_at)


def _refuse_score(gate: Gate, experiment: ExperimentConfig[Any], _: EvaluationResult[Any] | None) -> None:
    names = experiment.score_names
    if gate.kind == "lost" and found_score(gate.name, names) is None:
        raise ConfigError(f"needs {FOUND[0]} or the like at {gate.name}; the run has {', '.join(names)}")
    if gate.kind not in ("score", "drop"):
        return
    if gate.name not in names:
        if near := get_close_matches(gate.name, names, n=1):
            raise ConfigError(f"the run has no score {shown(gate.name)}; did you mean {near[0]}?")
        raise ConfigError(f"the run has no score {shown(gate.name)}; there are {', '.join(names)}")
    lowest = -1 if gate.kind == "drop" else 0
    if _is_share(gate.name, experiment) and not lowest <= gate.limit <= 1:
        raise ConfigError(f"{gate.name} is from 0 to 1; expected a limit from {lowest} to 1")
    if _is_share(gate.name, experiment) and not gate.off and gate.allows(worst := 1.0 - gate.is_at_least):
        raise ConfigError(cannot_fail(gate, worst))


def _refuse_baseline(gate: Gate, experiment: ExperimentConfig[Any], baseline: EvaluationResult[Any] | None) -> None:
    if not gate.needs_baseline:
        return
    if baseline is None:
        raise ConfigError(
            "compares with a baseline, and there is none; give a saved run, on the command line by --baseline, in a "
            "configuration as baseline: …"
        )
    own, names, known = experiment.level.evaluation_type, experiment.score_names, baseline.score_names
    if baseline.evaluation_type != own and gate.kind != "compared":  # the run is shown all the same
        raise ConfigError(f"the baseline {baseline.name!r} is {baseline.evaluation_type}, the run is {own}")
    if gate.kind == "lost":
        both = [name for name in names if name in known]
        if found_score(gate.name, names) is not None and found_score(gate.name, both) is None:
            cutoffs = ", ".join(dict.fromkeys(f"lost@{name.partition('@')[2]}" for name in both))
            raise ConfigError(
                f"the baseline {baseline.name!r} has other scores at {gate.name}: {', '.join(known)}; "
                f"{f'write {cutoffs}, or ' if cutoffs else ''}make the baseline at the cutoffs of the run"
            )
    if gate.kind == "drop" and gate.name in names:
        if gate.name not in known:
            raise ConfigError(f"the baseline {baseline.name!r} has no score {gate.name}; there are {', '.join(known)}")
        metrics = [metric.name for metric in experiment.metrics]
        other = other_meaning(gate.name, (baseline.metric_names, baseline.config), (metrics, experiment.record))
        if other:
            raise ConfigError(f"{gate.name} of the baseline {baseline.name!r} is not comparable: {other}")


def _refuse_slice(gate: Gate, experiment: ExperimentConfig[Any], _: EvaluationResult[Any] | None) -> None:
    if gate.where is None or gate.where.by in (DOCUMENT, LENGTH):
        return
    by, queries = gate.where.by, experiment.dataset.queries
    values = dict.fromkeys(own for query in queries for own in label_values(query.metadata.get(by)))
    if not values:
        keys = dict.fromkeys(key for query in queries for key in query.metadata)
        raise ConfigError(f"no question has a property {shown(by)}; there are {listed([*keys, DOCUMENT])}")
    if gate.where.value not in values:
        raise ConfigError(f"no question has {name_line(by)}={name_line(gate.where.value)}; there are {listed(values)}")


def _is_share(name: str, experiment: ExperimentConfig[Any]) -> bool:
    """Return whether a score is one of our own, which are from 0 to 1."""
    metric = next(metric for metric in experiment.metrics if metric.name == name.partition("@")[0])
    return type(ALL_METRICS.get(metric.name)) is type(metric)


# `Gating`: the gates and the baseline of a run, gathered before it, and its result checked against them.


class Gating:
    """The gates of a run, and the baseline that its result is compared with.

    Args:
        spec: The run.
        folder: The folder to which its paths are relative.
        options: Gates that replace those of the run which bound the same.
        baseline: The saved run to compare with, in place of the one that the run names. It is looked for now: `last` is
            the run before this one.

    Raises:
        ResultError: The baseline cannot be read.
    """

    def __init__(
        self, spec: RunSpec, folder: Path, options: Written | None = None, baseline: str | None = None
    ) -> None:
        at = ("gates of the configuration", "thresholds of the configuration")
        self._places = (options or Written(), Written(spec.gates, spec.thresholds, *at))
        self._spec = spec
        beside = folder if folder.absolute().name == store.ROOT.name else folder / store.ROOT
        root = folder / spec.save_results_path if spec.save_results_path else beside
        name, where = (spec.baseline, folder) if baseline is None else (baseline, Path())
        self._has_baseline = name is not None
        self.baseline = None if name is None or spec.shard else runs.load_result(runs.find_run(name, root, where))

    def gates_of(self, experiment: ExperimentConfig[Any]) -> tuple[Gate, ...]:
        """Return the gates of the run, none of a shard; raises ConfigError if one cannot be measured in it."""
        if self._spec.shard is not None:
            of_dataset = Written(thresholds=experiment.dataset.thresholds)
            if self._has_baseline or any(place.gates or place.thresholds for place in (*self._places, of_dataset)):
                note("a shard is not gated, nor compared with a baseline: the run that scores all shards is")
            return ()
        return gates_of_run(experiment, self._places, self.baseline)

    def outcome(self, result: EvaluationResult[Any], gates: Sequence[Gate], problems: Sequence[str]) -> Outcome:
        """Return a run with the verdicts on its gates, and how it differs from the baseline.

        Args:
            result: The result of the run.
            gates: Its gates.
            problems: Why it cannot be relied on; no gate passes then. That it cannot be compared with the baseline is
                a problem of the outcome.
        """
        both = Runs(result, self.baseline, self._spec.cluster)
        result = replace(result, gates=verdicts(both, gates, self._spec.on_inconclusive, problems))
        compared = both.compared
        if isinstance(compared, Exception):
            return Outcome(result, self.baseline, problems=(str(compared),))
        return Outcome(result, self.baseline, compared)
