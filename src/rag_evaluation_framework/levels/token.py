"""Token-level evaluation: did we find the right text?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from rag_evaluation_framework.contracts import Metric
from rag_evaluation_framework.data import (
    TOKEN,
    CharacterSpan,
    Dataset,
    GroundTruth,
    Level,
    ProjectedTruth,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.levels.level_rules import LevelRules, NameChunk, Searched
from rag_evaluation_framework.metrics.catalogue import DEFAULT_TOKEN_METRICS
from rag_evaluation_framework.text.reading import HitReader


class TokenRules(LevelRules[CharacterSpan]):
    """Rules of the token level: units are spans of characters, independent of any chunker."""

    level: ClassVar[Level[Any]] = TOKEN
    default_metrics: ClassVar[Mapping[str, Metric[Any]]] = DEFAULT_TOKEN_METRICS
    noun: ClassVar[str] = "place in the corpus"
    unit: ClassVar[Any] = CharacterSpan

    def truth(
        self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None
    ) -> ProjectedTruth[CharacterSpan]:
        """Return the spans as they are; places of one answer are copies if they have the same text in the corpus."""
        del chunk_id
        read = HitReader(searched.corpus).span
        return ProjectedTruth(
            TOKEN,
            tuple(
                TokenLevelGroundTruth(entry.query, tuple(answer.mapped(read) for answer in entry.answers))
                if entry.has_alternatives
                else entry
                for entry in dataset
            ),
        )

    def judge(self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[CharacterSpan]]) -> list[SpanJudgements]:
        """Judge by the characters that spans share."""
        return SpanJudgements.from_hits(cuts, truth)

    def found(self, unit: CharacterSpan, hit: CharacterSpan) -> bool:
        """Return whether a hit covers at least one character of a span."""
        return unit.overlaps(hit)
