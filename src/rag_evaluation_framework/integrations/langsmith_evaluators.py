"""Metrics as evaluators of LangSmith, for experiments that LangSmith runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_object
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.errors import ConfigError, RagEvalError
from rag_evaluation_framework.integrations.run_scoring import RunScorer
from rag_evaluation_framework.registry.building import build

if TYPE_CHECKING:
    from langsmith.evaluation import RunEvaluator


def get_langsmith_evaluators(
    metrics: Mapping[str, Metric[Any]] | Sequence[Metric[Any] | str] | Metric[Any] | str,
    k: int | Sequence[int] = 5,
    *,
    corpus: Corpus | None = None,
    registry: ChunkRegistry | None = None,
) -> "list[RunEvaluator]":
    """Return one evaluator per metric and number of results, for `client.evaluate(..., evaluators=...)`.

    The ground truth is read from the outputs of the example, as `dataset_from_examples` reads them, and what was
    retrieved from those of the run, best first: `retrieved_spans` (objects of `doc_id`, `start` and `end`),
    `retrieved_chunk_ids` or `retrieved_document_ids`, also in camelCase, or `hits` as `publish_experiment` writes them.
    Metrics of spans read `retrieved_chunk_ids` by their positions in `registry`. They are cut at k, and of what is left
    ids that repeat count once, as in a run of our own. Spans of the ground truth are read as their documents by metrics
    of documents. The feedback is called `name@k`; it has no score where the run failed or nothing is relevant, and is
    an error that says what was expected where something cannot be read or the metric fails.

    Args:
        metrics: The metrics by name, or a list of them or of their names, which are called by their own names.
        k: At how many results rankings are cut.
        corpus: The documents; needed if the ground truth is given as quotes.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.

    Raises:
        ConfigError: Something is not a metric, not a number of at least 1 or not a name, a name has another number
            behind its `@`, two evaluators have one name, or corpus or registry are not such.
        MissingDependency: LangSmith's SDK is not installed.
    """
    evaluators = [
        to_langsmith_evaluator(metric, cutoff, name=name, corpus=corpus, registry=registry)
        for name, metric in _named(metrics)
        for cutoff in _cutoffs(k)
    ]
    keys: list[str] = [key for evaluator in evaluators for key in _keys(evaluator)]
    if twice := [key for key, number in Counter(keys).items() if number > 1]:
        raise ConfigError(f"two evaluators are called {twice[0]!r}; give metrics as a dict, by names of your own")
    return evaluators


def to_langsmith_evaluator(
    metric: Metric[Any] | str,
    k: int = 5,
    *,
    name: str | None = None,
    corpus: Corpus | None = None,
    registry: ChunkRegistry | None = None,
) -> "RunEvaluator":
    """Return a metric as an evaluator of LangSmith; `get_langsmith_evaluators` says how it reads.

    Args:
        metric: The metric, or its name.
        k: At how many results rankings are cut.
        name: What the feedback is called, with `@k` behind it unless it is there; by default as the metric.
        corpus: The documents.
        registry: Positions of position-aware chunks.

    Raises:
        ConfigError: It is not a metric, `k` is below 1, the name is none or has another number behind its `@`, or
            corpus or registry are not such.
        MissingDependency: LangSmith's SDK is not installed.
    """
    made: Any = build("metric", metric) if isinstance(metric, str) else metric
    if not issubclass(type(made), Metric):
        raise ConfigError(f"metric={shown(made)}: expected a Metric, such as SpanRecall()")
    check_count("to_langsmith_evaluator", "k", k)
    _check_sources(corpus, registry)
    evaluation: Any = require("langsmith.evaluation", extra="langsmith", needed_by="to_langsmith_evaluator")
    scorer = RunScorer(made, k, corpus, registry)
    key = _key(made.name if name is None else name, k)

    def evaluate_run(_: Any, run: Any, example: Any = None, evaluator_run_id: Any = None) -> Any:
        del evaluator_run_id
        try:
            score, comment = scorer.score(run, example)
        except RagEvalError as error:  # LangSmith's SDK prints a traceback of whatever is raised
            return evaluation.EvaluationResult(key=key, score=None, comment=str(error), extra={"error": True})
        return evaluation.EvaluationResult(key=key, score=score, comment=comment)

    members = {"evaluate_run": evaluate_run, "feedback_keys": property(lambda _: [key])}
    evaluator: RunEvaluator = type("MetricEvaluator", (evaluation.RunEvaluator,), members)()
    return evaluator


def _named(metrics: Any) -> list[tuple[str | None, Any]]:
    if is_object(metrics):
        return list(metrics.items())
    listed: Any = [metrics] if isinstance(metrics, str) or hasattr(metrics, "calculate") else metrics
    if not hasattr(listed, "__iter__"):
        raise ConfigError(f"metrics={shown(listed)}: expected metrics, or their names")
    return [(None, metric) for metric in listed]


def _cutoffs(given: Any) -> list[Any]:
    if isinstance(given, int):
        return [given]
    if not isinstance(given, list | tuple):
        raise ConfigError(f"k={shown(given)}: expected a number of results, or a list of them")
    return list(cast("Sequence[Any]", given))


def _check_sources(corpus: Any, registry: Any) -> None:
    """Check that corpus and registry are such; raise ConfigError otherwise."""
    if corpus is not None and not isinstance(corpus, Corpus):
        raise ConfigError(f"corpus={shown(corpus)}: expected a Corpus, such as Corpus.from_folder(path)")
    if registry is not None and not isinstance(registry, ChunkRegistry):
        raise ConfigError(f"registry={shown(registry)}: expected a ChunkRegistry, such as ChunkRegistry.load(path)")


def _key(name: Any, k: int) -> str:
    """Return `name@k`, also of a name that ends so.

    Raises:
        ConfigError: It is no name, or names another number of results.
    """
    bare, at, cutoff = name.partition("@") if isinstance(name, str) else ("", "", "")
    if not bare.strip():
        raise ConfigError(f"name={shown(name)}: expected a text, such as 'recall' or 'recall@{k}'")
    if at and cutoff != str(k):
        raise ConfigError(f"name={shown(name)}: rankings are cut at k={k}; expected {bare!r} or '{bare}@{k}'")
    return f"{bare}@{k}"


def _keys(evaluator: Any) -> list[str]:
    keys: list[str] = evaluator.feedback_keys
    return keys
