"""The thresholds of design document 004, such as `min.recallAtK`, and the gates that they are."""

from collections.abc import Iterable, Mapping, Sequence

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.datasets.thresholds import P95, threshold_problem
from rag_evaluation_framework.gates.gate import Gate, scaled

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
