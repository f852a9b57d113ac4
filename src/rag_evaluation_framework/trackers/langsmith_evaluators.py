"""Metrics as evaluators of LangSmith: a run of theirs is scored against its example as one of ours is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base import collect_notes, require
from ..base.files import is_list, is_object
from ..base.outside import shown
from ..contracts.component import check_count
from ..contracts.registry.building import build
from ..contracts.roles import Metric
from ..data import CharacterSpan, ChunkRegistry, Corpus, Cutoff, Dataset, GroundTruth, Hit, QueryRanking, Rankings
from ..data.documents import checked_corpus
from ..data.ids import EvaluationType, canonical_chunk_id
from ..data.levels import CHUNK, DOCUMENT, TOKEN, Level
from ..data.score_table import ScoreTable
from ..datasets.labels import have_places
from ..datasets.langsmith_examples import GROUND_TRUTH_KEYS, PUSHED, dataset_from_examples
from ..errors import ConfigError, DatasetError, QueryFailed, RagEvalError
from ..scoring.levels.rules import RULES
from ..scoring.score import score_checked
from ..scoring.score_spans import score_spans
from ..text.reading import RankingCutter

if TYPE_CHECKING:
    from langsmith.evaluation import RunEvaluator


# What a run of LangSmith retrieved, as its outputs tell it, and its score against its example.

_CHUNK_IDS = ("retrieved_chunk_ids", "retrievedChunkIds", "chunk_ids", "chunkIds")
_RETRIEVED: Mapping[EvaluationType, tuple[str, ...]] = {
    "token-level": ("retrieved_spans", "retrievedSpans"),
    "chunk-level": _CHUNK_IDS,
    "document-level": ("retrieved_document_ids", "retrievedDocumentIds", "source_ids", "sourceIds"),
}
_LABELLED: Mapping[EvaluationType, tuple[str, ...]] = {  # ids of chunks tell spans, if placed
    **GROUND_TRUTH_KEYS,
    "token-level": (*GROUND_TRUTH_KEYS["token-level"], *GROUND_TRUTH_KEYS["chunk-level"]),
}
_ONE = "question"  # the scored question's id, of one
_NOWHERE = Corpus([])  # ids have no places


@dataclass(frozen=True)
class RunScorer:
    """Scores runs by one metric.

    Attributes:
        metric: The metric.
        k: At how many results rankings are cut.
        corpus: The documents; needed if the ground truth is given as quotes.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.
    """

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
        # Cut before ids that repeat are left out, as in a run of our own.
        retrieved = [] if run.outputs is None else self._retrieved(run.outputs, level)[: self.k]
        with collect_notes():  # of whole runs: that texts, or the chunks which were searched, are not known
            table = self._table(level, truth, retrieved)
        for failure in next(iter(table.failures.values()), ()):
            raise QueryFailed(f"{failure.stage}: {failure.kind}: {failure.message}", _ONE)
        (column,) = table.columns.values()
        return float(column[0]), None

    def _level(
        self, outputs: Mapping[str, Any], metadata: Mapping[str, Any], retrieved: Mapping[str, Any]
    ) -> Level[Any] | None:
        """Return the level at which a run is scored; None if its example has no labels of one of the metric.

        Labels may be ids of either kind, or of both; what was retrieved tells of which.
        """
        pushed: Any = metadata.get(PUSHED)
        kind = pushed.get("evaluation_type") if is_object(pushed) else None
        has_places = have_places(outputs.get("answers"))
        fitting = [
            level
            for level in (TOKEN, CHUNK, DOCUMENT)
            if level.evaluation_type in self.metric.evaluation_types
            and level.evaluation_type == (kind or level.evaluation_type)
            and (has_places or not outputs.keys().isdisjoint(_LABELLED[level.evaluation_type]))
        ]
        told = (level for level in fitting if not retrieved.keys().isdisjoint(_RETRIEVED[level.evaluation_type]))
        return next(told, next(iter(fitting), None))

    def _retrieved(self, outputs: Mapping[str, Any], level: Level[Any]) -> list[Any]:
        """Return what was retrieved, best first and with its repeats: ids, or spans as `score_spans` reads them.

        Raises:
            DatasetError: The outputs do not tell, or have a chunk without a known position at token level.
        """
        keys = _RETRIEVED[level.evaluation_type]
        known = (*keys, *_CHUNK_IDS) if level is TOKEN else keys
        key = next((key for key in known if outputs.get(key) is not None), keys[0])
        found: Any = outputs.get(key)
        if not is_list(found):
            there = ", ".join(map(str, outputs)) or "nothing"
            raise DatasetError(f"the outputs of the run have {there}; expected a list under {keys[0]}")
        if level is TOKEN and key in keys:
            return list(found)
        if strange := [unit for unit in found if not isinstance(unit, str)]:
            raise DatasetError(f"the outputs of the run have {shown(strange[0])} among ids of what was retrieved")
        if level is TOKEN:
            return [self._position(chunk_id, key) for chunk_id in found]
        return [*map(canonical_chunk_id, found)] if level is CHUNK else list(found)

    def _position(self, chunk_id: str, key: str) -> CharacterSpan:
        span = None if self.registry is None else self.registry.get_span(chunk_id)
        if span is None:
            raise DatasetError(
                f"the outputs of the run have {shown(chunk_id)} under {key}, a chunk without a known position; pass "
                "registry= with the positions of the chunks that were searched, or return retrieved_spans"
            )
        return span

    def _table(self, level: Level[Any], truth: GroundTruth[Any], retrieved: list[Any]) -> ScoreTable:
        if level is TOKEN:
            return score_spans({_ONE: truth.answers}, {_ONE: retrieved}, [(self.metric, self.k)])
        # Not score_rankings, which knows neither answers with several places nor prefixes.
        field = "chunk_id" if level is CHUNK else "doc_id"
        hits = tuple(Hit(**{field: unit}) for unit in dict.fromkeys(retrieved))
        rankings = Rankings.of([QueryRanking(truth.query, hits)], _NOWHERE)
        rules: Any = RULES[level.evaluation_type]
        projected = rules.truth(Dataset([truth], level), rankings)
        cutter = RankingCutter(Cutoff.parse_all([self.k]), None, _NOWHERE)
        return score_checked(projected.with_dataset_ids(rankings), projected, [self.metric], cutter).table


# Metrics as evaluators of LangSmith, for experiments that LangSmith runs.


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
    `retrieved_chunk_ids` or `retrieved_document_ids`, also in camelCase. Metrics of spans read `retrieved_chunk_ids` by
    their positions in `registry`. They are cut at k, and of what is left ids that repeat count once, as in a run of our
    own. The feedback is called `name@k`; it has no score where the run failed or nothing is relevant, and is
    an error that says what was expected where something cannot be read or the metric fails.

    Args:
        metrics: The metrics by name, or a list of them or of their names, which are called by their own names.
        k: At how many results rankings are cut.
        corpus: The documents; needed if the ground truth is given as quotes.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.

    Raises:
        ConfigError: Something is not a metric or not a number of at least 1, or two evaluators have one name.
        CorpusError: The corpus is none.
        MissingDependency: LangSmith's SDK is not installed.
    """
    given: Any = [metrics] if isinstance(metrics, str | Metric) else metrics
    named: list[tuple[str | None, Any]] = [*given.items()] if is_object(given) else [(None, each) for each in given]
    evaluators = [
        to_langsmith_evaluator(metric, cutoff, name=name, corpus=corpus, registry=registry)
        for name, metric in named
        for cutoff in ([k] if isinstance(k, int) else k)
    ]
    counts = Counter[str](key for evaluator in evaluators for key in evaluator.feedback_keys)
    if twice := [key for key, number in counts.items() if number > 1]:
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
    """Return a metric as an evaluator of LangSmith, as `get_langsmith_evaluators` describes.

    Args:
        metric: The metric, or its name.
        k: At how many results rankings are cut.
        name: What the feedback is called, with `@k` behind it; by default as the metric.
        corpus: The documents.
        registry: Positions of position-aware chunks.

    Raises:
        ConfigError: It is not a metric, or `k` is below 1.
        CorpusError: The corpus is none.
        MissingDependency: LangSmith's SDK is not installed.
    """
    made: Any = build("metric", metric) if isinstance(metric, str) else metric
    if not issubclass(type(made), Metric):
        raise ConfigError(f"metric={shown(made)}: expected a Metric, such as SpanRecall()")
    check_count("to_langsmith_evaluator", "k", k)
    evaluation: Any = require("langsmith.evaluation", extra="langsmith", needed_by="to_langsmith_evaluator")
    scorer = RunScorer(made, k, None if corpus is None else checked_corpus(corpus), registry)
    key = f"{(name or made.name).partition('@')[0]}@{k}"

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
