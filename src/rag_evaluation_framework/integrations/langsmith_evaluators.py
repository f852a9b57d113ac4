"""Metrics as evaluators of LangSmith: a run of theirs is scored against its example as one of ours is."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic.alias_generators import to_camel

from rag_evaluation_framework.base import collected, require
from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.contracts.roles import Metric
from rag_evaluation_framework.data import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkRegistry,
    Corpus,
    Cutoff,
    Dataset,
    GroundTruth,
    Hit,
    Level,
    QueryRanking,
    Rankings,
    ScoreTable,
)
from rag_evaluation_framework.data.ids import EvaluationType, canonical_chunk_id
from rag_evaluation_framework.datasets.labels import have_places
from rag_evaluation_framework.datasets.langsmith_examples import GROUND_TRUTH_KEYS, PUSHED, dataset_from_examples
from rag_evaluation_framework.errors import ConfigError, DatasetError, QueryFailed, RagEvalError
from rag_evaluation_framework.integrations.publishing import CHARACTERS
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.levels.document import in_documents
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.scoring import score_spans
from rag_evaluation_framework.scoring.score import score_checked
from rag_evaluation_framework.text.reading import RankingCutter

if TYPE_CHECKING:
    from langsmith.evaluation import RunEvaluator


# What a run of LangSmith retrieved, as its outputs tell it.

_OF_HITS: Mapping[EvaluationType, str] = {"chunk-level": "chunk_id", "document-level": "doc_id"}
"""The field of a hit that is its unit at the levels of ids."""

_PLACE = ("doc_id", "start", "end")
_HITS = "hits"
_SPANS = ("retrieved_spans", "retrievedSpans")
_CHUNK_IDS = ("retrieved_chunk_ids", "retrievedChunkIds", "chunk_ids", "chunkIds")
_RETRIEVED: Mapping[EvaluationType, tuple[str, ...]] = {
    "token-level": _SPANS,
    "chunk-level": _CHUNK_IDS,
    "document-level": ("retrieved_document_ids", "retrievedDocumentIds", "source_ids", "sourceIds"),
}


def tells(outputs: Mapping[str, Any], level: Level[Any]) -> bool:
    """Return whether the outputs of a run have what was retrieved under a key of this level alone."""
    return not outputs.keys().isdisjoint(_RETRIEVED[level.evaluation_type])


def retrieved_units(outputs: Mapping[str, Any], level: Level[Any], registry: ChunkRegistry | None) -> list[Any]:
    """Return what was retrieved, best first and with its repeats: ids, or spans as `score_spans` reads them.

    Args:
        outputs: The outputs of the run.
        level: The level of the units; of `hits`, and of spans at document level, they are read.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.

    Raises:
        DatasetError: The outputs do not tell, or have a chunk without a known position at token level.
    """
    keys = _RETRIEVED[level.evaluation_type]
    others = _CHUNK_IDS if level is TOKEN else _SPANS if level is DOCUMENT else ()
    key = next((key for key in (*keys, _HITS, *others) if outputs.get(key) is not None), keys[0])
    found: Any = outputs.get(key)
    are_ids = key not in (_HITS, *_SPANS)
    if not is_list(found) or not (are_ids or key in keys or all(map(is_object, found))):
        there = ", ".join(map(str, outputs)) or "nothing"
        raise DatasetError(f"the outputs of the run have {there}; expected a list under {keys[0]}")
    if level is TOKEN and not are_ids:
        return [_span(hit, rank) for rank, hit in enumerate(found)] if key == _HITS else list(found)
    units = list(found) if are_ids else [_id(hit, level, rank) for rank, hit in enumerate(found)]
    if strange := [unit for unit in units if not isinstance(unit, str)]:
        raise DatasetError(f"the outputs of the run have {shown(strange[0])} among ids of what was retrieved")
    if level is TOKEN:
        return [_position(chunk_id, key, registry) for chunk_id in units]
    return [*map(canonical_chunk_id, units)] if level is CHUNK else units


def _position(chunk_id: str, key: str, registry: ChunkRegistry | None) -> CharacterSpan:
    span = None if registry is None else registry.get_span(chunk_id)
    if span is None:
        raise DatasetError(
            f"the outputs of the run have {shown(chunk_id)} under {key}, a chunk without a known position; pass "
            f"registry= with the positions of the chunks that were searched, or return {_SPANS[0]}"
        )
    return span


def _id(hit: Mapping[str, Any], level: Level[Any], rank: int) -> Any:
    """Return the id of a hit, or one of its own, which is never relevant, so that those behind it keep their ranks."""
    unit = _field(hit, _OF_HITS[level.evaluation_type])
    return f"\0{rank}" if unit is None else unit


def _span(hit: Mapping[str, Any], rank: int) -> Mapping[str, Any]:
    """Return a hit that has a place, or one as long as its text in a document of its own, likewise."""
    if all(_field(hit, name) is not None for name in _PLACE):
        return hit
    text: Any = hit.get("text")
    return {"doc_id": f"\0{rank}", "start": 0, "end": hit.get(CHARACTERS, len(text) if isinstance(text, str) else 0)}


def _field(hit: Mapping[str, Any], name: str) -> Any:
    return hit.get(name, hit.get(to_camel(name)))


# Scoring a run of LangSmith against its example, as a run of our own is scored.

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
        level, labelled = self._levels(outputs, metadata, run.outputs or {})
        if level is None:
            wanted = " or ".join(sorted(self.metric.evaluation_types))
            return None, f"the example has no {wanted} ground truth"
        truth = self._truth({"outputs": outputs, "metadata": metadata}, level, labelled)
        if not truth.answers:
            return None, "nothing is relevant"
        # Cut before ids that repeat are left out, as in a run of our own.
        retrieved = [] if run.outputs is None else retrieved_units(run.outputs, level, self.registry)[: self.k]
        with collected():  # what is said of whole runs: that texts, or the chunks which were searched, are not known
            table = self._table(level, truth, retrieved)
        for failure in next(iter(table.failures.values()), ()):
            raise QueryFailed(f"{failure.stage}: {failure.kind}: {failure.message}", _ONE)
        (column,) = table.columns.values()
        return float(column[0]), None

    def _levels(self, outputs: Mapping[str, Any], metadata: Mapping[str, Any], retrieved: Mapping[str, Any]) -> Any:
        """Return the level at which a run is scored, and that of the labels of its example; None without such labels.

        Labels may be ids of either kind, or of both; what was retrieved tells of which. Spans can be read as documents.
        """
        pushed: Any = metadata.get(PUSHED)
        kind = pushed.get("evaluation_type") if is_object(pushed) else None
        labelled = [
            level
            for level in (TOKEN, CHUNK, DOCUMENT)
            if level.evaluation_type == (kind or level.evaluation_type) and self._has_truth(outputs, level)
        ]
        pairs: list[tuple[Level[Any], Level[Any]]] = [(level, level) for level in labelled]
        if TOKEN in labelled and DOCUMENT not in labelled:
            pairs.append((DOCUMENT, TOKEN))
        fitting = [pair for pair in pairs if pair[0].evaluation_type in self.metric.evaluation_types]
        told = (pair for pair in fitting if tells(retrieved, pair[0]))
        return next(told, next(iter(fitting), (None, None)))

    def _has_truth(self, outputs: Mapping[str, Any], level: Level[Any]) -> bool:
        answers: Any = outputs.get("answers")
        if have_places(answers):
            places = [place for answer in answers for place in answer.get("places", ())]
            return (level is TOKEN) == any(is_object(place) and not is_list(place.get("ids")) for place in places)
        return not outputs.keys().isdisjoint(self._keys(level))

    def _keys(self, level: Level[Any]) -> Iterator[str]:
        """Yield the keys under which an example may have labels of a level; ids of chunks tell spans, if placed."""
        yield from GROUND_TRUTH_KEYS[level.evaluation_type]
        if level is TOKEN and (self.registry is not None or TOKEN.evaluation_type in self.metric.evaluation_types):
            yield from GROUND_TRUTH_KEYS[CHUNK.evaluation_type]

    def _truth(self, example: Mapping[str, Any], level: Level[Any], labelled: Level[Any]) -> GroundTruth[Any]:
        """Return what is relevant, at the level at which it is scored."""
        read = {**example, "inputs": {"query": _ONE}}
        dataset: Dataset[Any] = dataset_from_examples([read], labelled, corpus=self.corpus, registry=self.registry)
        (truth,) = dataset if level is labelled else in_documents(dataset)
        return truth

    def _table(self, level: Level[Any], truth: GroundTruth[Any], retrieved: list[Any]) -> ScoreTable:
        if level is TOKEN:
            return score_spans({_ONE: truth.answers}, {_ONE: retrieved}, [(self.metric, self.k)])
        # Not score_rankings, which knows neither answers with several places nor prefixes.
        hits = tuple(Hit(**{_OF_HITS[level.evaluation_type]: unit}) for unit in dict.fromkeys(retrieved))
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
