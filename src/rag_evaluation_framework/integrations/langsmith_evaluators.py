"""Metrics as evaluators of LangSmith, for experiments that LangSmith runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework._support.notes import collected
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN, Level
from rag_evaluation_framework.data.rankings import QueryRanking, Rankings
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.datasets.answers import have_places
from rag_evaluation_framework.datasets.langsmith_examples import GROUND_TRUTH_KEYS, PUSHED, dataset_from_examples
from rag_evaluation_framework.errors import ConfigError, DatasetError, QueryFailed
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.scoring.score import score_checked
from rag_evaluation_framework.scoring.score_rankings import score_rankings
from rag_evaluation_framework.scoring.score_spans import score_spans
from rag_evaluation_framework.text.reading import RankingCutter

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
_NOWHERE = Corpus([])  # ids have no places


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
    The feedback is called `name@k`; it has no score where the run failed or nothing is relevant.

    Args:
        metrics: The metrics by name, or a list of them or of their names, which are called by their own names.
        k: At how many results rankings are cut.
        corpus: The documents; needed if the ground truth is given as quotes.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.

    Raises:
        ConfigError: Something is not a metric, a number is below 1, a name has another number behind its `@`, or two
            evaluators have one name.
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
        ConfigError: It is not a metric, `k` is below 1, or the name has another number behind its `@`.
        MissingDependency: LangSmith's SDK is not installed.
    """
    made: Any = build("metric", metric) if isinstance(metric, str) else metric
    if not issubclass(type(made), Metric):
        raise ConfigError(f"metric={shown(made)}: expected a Metric, such as SpanRecall()")
    check_count("to_langsmith_evaluator", "k", k)
    evaluation: Any = require("langsmith.evaluation", extra="langsmith", needed_by="to_langsmith_evaluator")
    scorer = _RunScorer(made, k, corpus, registry)
    key = _key(name or made.name, k)

    def evaluate_run(_: Any, run: Any, example: Any = None, evaluator_run_id: Any = None) -> Any:
        del evaluator_run_id
        score, comment = scorer.score(run, example)
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


def _key(name: str, k: int) -> str:
    """Return `name@k`, also of a name that ends so.

    Raises:
        ConfigError: It names another number of results.
    """
    bare, at, cutoff = name.partition("@")
    if at and cutoff != str(k):
        raise ConfigError(f"name={name!r}: rankings are cut at k={k}; expected {bare!r} or '{bare}@{k}'")
    return f"{bare}@{k}"


def _keys(evaluator: Any) -> list[str]:
    keys: list[str] = evaluator.feedback_keys
    return keys


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
            QueryFailed: The metric failed.
        """
        if run.error:
            return None, "the run failed"
        outputs: Any = getattr(example, "outputs", None) or {}
        metadata: Any = getattr(example, "metadata", None) or {}
        level = self._level(outputs, metadata, run.outputs or {})
        if level is None:
            wanted = " or ".join(sorted(self.metric.evaluation_types))
            return None, f"the example has no {wanted} ground truth"
        read = {"inputs": {"query": _ONE}, "outputs": outputs, "metadata": metadata}
        (truth,) = dataset_from_examples([read], level, corpus=self.corpus, registry=self.registry)
        if not truth.answers:
            return None, "nothing is relevant"
        retrieved = [] if run.outputs is None else _retrieved(run.outputs, level.evaluation_type, self.k)
        with collected():  # what is said of whole runs: that texts, or the chunks which were searched, are not known
            table = self._table(level, truth, retrieved)
        for failure in next(iter(table.failures.values()), ()):
            raise QueryFailed(f"{failure.stage}: {failure.kind}: {failure.message}", _ONE)
        (column,) = table.columns.values()
        return float(column[0]), None

    def _table(self, level: Level[Any], truth: Any, retrieved: list[Any]) -> ScoreTable:
        wanted: Any = [(self.metric, self.k)]
        if level is TOKEN:
            return score_spans({_ONE: truth.answers}, {_ONE: retrieved}, wanted)
        if strange := [unit for unit in retrieved if not isinstance(unit, str)]:
            raise DatasetError(f"the outputs of the run have {shown(strange[0])} among ids of what was retrieved")
        if not (truth.has_groups or truth.has_alternatives):
            return score_rankings(
                {_ONE: {unit: truth.gain(unit) for unit in truth.relevant}}, {_ONE: retrieved}, wanted
            )
        field = _OF_HITS[level.evaluation_type]
        hits = tuple(Hit(**{field: unit}) for unit in dict.fromkeys(retrieved))
        rankings = Rankings.of([QueryRanking(truth.query, hits)], _NOWHERE)
        rules: Any = RULES[level.evaluation_type]
        projected = rules.truth(Dataset([truth], level), rankings)
        cutter = RankingCutter(Cutoff.parse_all([self.k]), None, _NOWHERE)
        found = projected.with_dataset_ids(rankings)
        return score_checked(found, projected, [self.metric], cutter)

    def _level(self, outputs: Mapping[str, Any], metadata: Mapping[str, Any], retrieved: Mapping[str, Any]) -> Any:
        """Return the level at which the metric can score, and the example has ground truth; None if there is none."""
        pushed: Any = metadata.get(PUSHED)
        kind = pushed.get("evaluation_type") if is_object(pushed) else None
        fitting = [
            level
            for level in _LEVELS
            if level.evaluation_type in self.metric.evaluation_types
            and level.evaluation_type == (kind or level.evaluation_type)
            and _has_truth(outputs, level)
        ]
        # Places are ids of either; what was retrieved tells of which.
        told = (level for level in fitting if not retrieved.keys().isdisjoint(_RETRIEVED[level.evaluation_type]))
        return next(told, next(iter(fitting), None))


def _has_truth(outputs: Mapping[str, Any], level: Level[Any]) -> bool:
    answers: Any = outputs.get("answers")
    if have_places(answers):
        places = [place for answer in answers for place in answer.get("places", ())]
        return (level is TOKEN) == any(is_object(place) and not is_list(place.get("ids")) for place in places)
    keys = {*GROUND_TRUTH_KEYS[level.evaluation_type], *(GROUND_TRUTH_KEYS["chunk-level"] if level is TOKEN else ())}
    return not keys.isdisjoint(outputs)


def _retrieved(outputs: Mapping[str, Any], kind: EvaluationType, k: int) -> list[Any]:
    """Return what was retrieved, best first; of hits the ids of the first k, as a run of our own counts them.

    Raises:
        DatasetError: The outputs of the run do not tell.
    """
    keys = _RETRIEVED[kind]
    found: Any = next((outputs[key] for key in keys if key in outputs), None)
    hits: Any = outputs.get("hits")
    if found is None and is_list(hits) and all(map(is_object, hits)):
        found = hits if kind == "token-level" else [_unit(hit, kind, rank) for rank, hit in enumerate(hits[:k])]
    if not is_list(found):
        there = ", ".join(map(str, outputs)) or "nothing"
        raise DatasetError(f"the outputs of the run have {there}; expected a list under {keys[0]}")
    return list(found)


def _unit(hit: Mapping[str, Any], kind: EvaluationType, rank: int) -> Any:
    """Return the id of a hit, or one of its own, which is never relevant, so that those behind it keep their ranks."""
    return hit.get(_OF_HITS[kind], f"\0{rank}")
