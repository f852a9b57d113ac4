"""The gates of a run: gathered from where they are written, and checked before any work is done."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from rag_evaluation_framework.base.outside import name_line, shown
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.score_table import full_name
from rag_evaluation_framework.datasets.retrieval_harness import KEYS, P95, read_thresholds, threshold_problem
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.experiments.config import ExperimentConfig
from rag_evaluation_framework.gates.gate import Gate, Key, scaled, with_default
from rag_evaluation_framework.gates.measuring import FOUND, cannot_fail, found_score, listed
from rag_evaluation_framework.metrics.catalogue import ALL_METRICS
from rag_evaluation_framework.results.meaning import other_meaning
from rag_evaluation_framework.results.properties import DOCUMENT, LENGTH, label_values
from rag_evaluation_framework.results.result import EvaluationResult

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
        problem = "expected a threshold such as min.recallAtK=0.75" if not equals else None
        value = _number(written)
        problem = problem or threshold_problem(key, written if value is None else value)
        if problem is None and key in found:
            problem = f"{key} is given twice"
        if problem:
            problems.append(f"{option} {shown(text)}: {problem}")
        elif value is not None:
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


def _number(written: str) -> float | None:
    try:
        return float(written) if written.isascii() and "_" not in written else None
    except ValueError:
        return None


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
        near = get_close_matches(gate.name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise ConfigError(f"the run has no score {shown(gate.name)}; {hint}")
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
