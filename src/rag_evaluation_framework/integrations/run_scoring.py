"""Scoring a run of LangSmith against its example, as a run of our own is scored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework._support.notes import collected
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN, Level
from rag_evaluation_framework.data.rankings import QueryRanking, Rankings
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.datasets.answers import have_places
from rag_evaluation_framework.datasets.langsmith_examples import GROUND_TRUTH_KEYS, PUSHED, dataset_from_examples
from rag_evaluation_framework.errors import QueryFailed
from rag_evaluation_framework.integrations.run_outputs import OF_HITS, retrieved_units, tells
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.levels.document import in_documents
from rag_evaluation_framework.scoring.score import score_checked
from rag_evaluation_framework.scoring.score_rankings import score_rankings
from rag_evaluation_framework.scoring.score_spans import score_spans
from rag_evaluation_framework.text.reading import RankingCutter

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
        wanted: Any = [(self.metric, self.k)]
        if level is TOKEN:
            return score_spans({_ONE: truth.answers}, {_ONE: retrieved}, wanted)
        units = list(dict.fromkeys(retrieved))
        if not (truth.has_groups or truth.has_alternatives):
            return score_rankings({_ONE: {unit: truth.gain(unit) for unit in truth.relevant}}, {_ONE: units}, wanted)
        hits = tuple(Hit(**{OF_HITS[level.evaluation_type]: unit}) for unit in units)
        rankings = Rankings.of([QueryRanking(truth.query, hits)], _NOWHERE)
        rules: Any = RULES[level.evaluation_type]
        projected = rules.truth(Dataset([truth], level), rankings)
        cutter = RankingCutter(Cutoff.parse_all([self.k]), None, _NOWHERE)
        return score_checked(projected.with_dataset_ids(rankings), projected, [self.metric], cutter)
