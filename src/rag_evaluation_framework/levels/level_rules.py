"""The base class of the rules of an evaluation type: default metrics, truth, judging, and how units are shown."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeAlias

from rag_evaluation_framework.contracts import Metric, Retriever
from rag_evaluation_framework.data import AnyChunk, CharacterSpan, Corpus, Dataset, GroundTruth, ProjectedTruth
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.judging import RankJudgements, SpanJudgements

NameChunk: TypeAlias = Callable[[AnyChunk, int], str]
"""A function from a chunk, and its number within its document, to the id under which the dataset knows it."""


class Searched(Protocol):
    """The index that was searched, as far as a level has to know it."""

    @property
    def retriever(self) -> str:
        """The retriever's name."""
        ...

    @property
    def corpus(self) -> Corpus:
        """The documents."""
        ...

    @property
    def chunks(self) -> Sequence[AnyChunk] | None:
        """All chunks that could be retrieved, or None if the retriever cannot list them."""
        ...


class LevelRules(ABC, Generic[U]):
    """Everything in which one evaluation type differs from the others.

    Data and type checkers know a level by its constant (`DOCUMENT`, `CHUNK`, `TOKEN`); what it does is here.
    """

    level: ClassVar[Level[Any]]
    """The constant of the level."""
    default_metrics: ClassVar[Mapping[str, Metric[Any]]]
    """The metrics that are reported if none are chosen."""
    noun: ClassVar[str]
    """What a hit needs in order to be judged, as messages call it."""
    unit: ClassVar[Any]
    """The type of the units that are compared."""

    def check(
        self, dataset: Dataset[Any], corpus: Corpus, retriever: Retriever, chunk_id: NameChunk | None
    ) -> Iterable[str]:
        """Return notes on dataset and corpus at this level, before any work is done; that spans match is known.

        Raises:
            ConfigError: The retriever cannot be judged at this level.
            DatasetError: The corpus holds nothing that is relevant.
        """
        del dataset, corpus, retriever, chunk_id
        return ()

    @abstractmethod
    def truth(self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None) -> ProjectedTruth[U]:
        """Return the ground truth in the units of this level; spans are projected to these.

        Raises:
            ConfigError: The list of chunks is needed and the retriever cannot give it, or `chunk_id` fails.
            DatasetError: Nothing relevant is in the index.
        """

    @abstractmethod
    def judge(
        self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[U]]
    ) -> Sequence[SpanJudgements | RankJudgements]:
        """Judge the rankings at several cutoffs: at each of them one per entry of the truth."""

    def found(self, unit: U, hit: U) -> bool:
        """Return whether a hit finds a relevant unit, or a part of it."""
        return hit == unit

    def shown(self, unit: U, corpus: Corpus) -> tuple[str, str]:
        """Return a relevant unit as people read it: where it is, and what it says ("" for an id)."""
        if isinstance(unit, CharacterSpan):
            return unit.doc_id, corpus[unit.doc_id].content[unit.start : unit.end]
        return unit, ""

    def incomparable(self, baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> str | None:
        """Return why results with these two records cannot be compared, or None if they can be."""
        del baseline, candidate
        return None

    def doubts(self, baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> Iterable[str]:
        """Return what makes a comparison of results with these two records uncertain."""
        del baseline, candidate
        return ()
