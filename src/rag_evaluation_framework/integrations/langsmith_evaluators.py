"""Metrics as evaluators of LangSmith, for experiments that LangSmith runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN, Level
from rag_evaluation_framework.datasets.langsmith_examples import GROUND_TRUTH_KEYS, dataset_from_examples
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.scoring.score_rankings import score_rankings
from rag_evaluation_framework.scoring.score_spans import score_spans

if TYPE_CHECKING:
    from langsmith.evaluation import RunEvaluator

_LEVELS: Sequence[Level[Any]] = (TOKEN, CHUNK, DOCUMENT)
_RETRIEVED: Mapping[EvaluationType, tuple[str, ...]] = {
    "token-level": ("retrieved_spans", "retrievedSpans"),
    "chunk-level": ("retrieved_chunk_ids", "retrievedChunkIds", "chunk_ids", "chunkIds"),
    "document-level": ("retrieved_document_ids", "retrievedDocumentIds", "source_ids", "sourceIds"),
}
_OF_HITS: Mapping[EvaluationType, str] = {"chunk-level": "chunk_id", "document-level": "doc_id"}
_ONE = "question"  # the scored question's id, of one


def get_langsmith_evaluators(
    metrics: Mapping[str, Metric[Any]] | Sequence[Metric[Any]],
    k: int | Sequence[int] = 5,
    *,
    corpus: Corpus | None = None,
    registry: ChunkRegistry | None = None,
) -> "list[RunEvaluator]":
    """Return one evaluator per metric and number of results, for `client.evaluate(..., evaluators=...)`.

    The ground truth is read from the outputs of the example, as `dataset_from_examples` reads them, and what was
    retrieved from those of the run, best first: `retrieved_spans` (objects of `doc_id`, `start` and `end`),
    `retrieved_chunk_ids` or `retrieved_document_ids`, also in camelCase, or `hits` as `publish_experiment` writes them.
    The feedback is called `name@k`; it has no score where the run failed or nothing is relevant.

    Args:
        metrics: The metrics by name, or a list of them, which are called by their own names.
        k: At how many results rankings are cut.
        corpus: The documents; needed if the ground truth is given as quotes.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.

    Raises:
        ConfigError: Something is not a metric, or a number is below 1.
        MissingDependency: LangSmith's SDK is not installed.
    """
    named = metrics if isinstance(metrics, Mapping) else {metric.name: metric for metric in metrics}
    cutoffs = [k] if isinstance(k, int) else list(k)
    return [
        to_langsmith_evaluator(metric, cutoff, name=name, corpus=corpus, registry=registry)
        for name, metric in named.items()
        for cutoff in cutoffs
    ]


def to_langsmith_evaluator(
    metric: Metric[Any],
    k: int = 5,
    *,
    name: str | None = None,
    corpus: Corpus | None = None,
    registry: ChunkRegistry | None = None,
) -> "RunEvaluator":
    """Return a metric as an evaluator of LangSmith; `get_langsmith_evaluators` says how it reads.

    Args:
        metric: The metric.
        k: At how many results rankings are cut.
        name: What the feedback is called, with `@k` behind it; by default as the metric.
        corpus: The documents.
        registry: Positions of position-aware chunks.

    Raises:
        ConfigError: It is not a metric, or `k` is below 1.
        MissingDependency: LangSmith's SDK is not installed.
    """
    given: Any = metric
    if not isinstance(given, Metric):
        raise ConfigError(f"metric={shown(given)}: expected a Metric, such as SpanRecall()")
    check_count("to_langsmith_evaluator", "k", k)
    evaluation: Any = require("langsmith.evaluation", extra="langsmith", needed_by="to_langsmith_evaluator")
    scorer = _RunScorer(metric, k, corpus, registry)
    key = f"{name or metric.name}@{k}"

    def evaluate_run(_: Any, run: Any, example: Any = None, evaluator_run_id: Any = None) -> Any:
        del evaluator_run_id
        score, comment = scorer.score(run, example)
        return evaluation.EvaluationResult(key=key, score=score, comment=comment)

    members = {"evaluate_run": evaluate_run, "feedback_keys": property(lambda _: [key])}
    evaluator: RunEvaluator = type("MetricEvaluator", (evaluation.RunEvaluator,), members)()
    return evaluator


@dataclass(frozen=True)
class _RunScorer:
    metric: Metric[Any]
    k: int
    corpus: Corpus | None
    registry: ChunkRegistry | None

    def score(self, run: Any, example: Any) -> tuple[float | None, str | None]:
        """Return the score of a run, or None and why it has none.

        Raises:
            DatasetError: What the example or the run holds cannot be read.
        """
        if run.error:
            return None, "the run failed"
        outputs: Any = getattr(example, "outputs", None) or {}
        level = self._level(outputs)
        if level is None:
            return None, "the example has no ground truth"
        read = {"inputs": {"query": _ONE}, "outputs": outputs, "metadata": getattr(example, "metadata", None)}
        (truth,) = dataset_from_examples([read], level, corpus=self.corpus, registry=self.registry)
        if not truth.answers:
            return None, "nothing is relevant"
        retrieved = _retrieved(run.outputs or {}, level.evaluation_type)
        wanted: Any = [(self.metric, self.k)]
        if level is TOKEN:
            table = score_spans({_ONE: truth.answers}, {_ONE: retrieved}, wanted)
        else:
            given: Any = truth
            gains = {unit: given.gains.get(unit, 1.0) for unit in truth.relevant}
            table = score_rankings({_ONE: gains}, {_ONE: retrieved}, wanted)
        (column,) = table.columns.values()
        return float(column[0]), None

    def _level(self, outputs: Mapping[str, Any]) -> Level[Any] | None:
        """Return the level at which the metric can score, and the example has ground truth."""
        for level in _LEVELS:
            kind = level.evaluation_type
            keys = {*GROUND_TRUTH_KEYS[kind], *(GROUND_TRUTH_KEYS["chunk-level"] if level is TOKEN else ())}
            if kind in self.metric.evaluation_types and not keys.isdisjoint(outputs):
                return level
        return None


def _retrieved(outputs: Mapping[str, Any], kind: EvaluationType) -> list[Any]:
    """Return what was retrieved, best first.

    Raises:
        DatasetError: The outputs of the run do not tell.
    """
    keys = _RETRIEVED[kind]
    found: Any = next((outputs[key] for key in keys if key in outputs), None)
    hits: Any = outputs.get("hits")
    if found is None and is_list(hits) and all(map(is_object, hits)):
        found = hits if kind == "token-level" else [hit[_OF_HITS[kind]] for hit in hits if _OF_HITS[kind] in hit]
    if not is_list(found):
        there = ", ".join(map(str, outputs)) or "nothing"
        raise DatasetError(f"the outputs of the run have {there}; expected a list under {keys[0]}")
    return list(found)
