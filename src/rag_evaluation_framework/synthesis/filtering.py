"""Filters: verified questions that are not worth keeping, each with its reason, and the thresholds that were used."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias, cast

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.optional import install_command, missing_extras
from rag_evaluation_framework.contracts.roles import Embedder, QuestionRequest, as_fitted
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.embedders.cached import CachedEmbedder
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.synthesis.candidates import Candidate, Candidates, Evidence, Reason
from rag_evaluation_framework.synthesis.estimate import Range, embedded_tokens, paid_embedder
from rag_evaluation_framework.synthesis.filters import (
    PublishedFigure,
    Threshold,
    dedup_threshold,
    has_figures_of_design,
    reject_copied_wording,
    reject_irrelevant,
    reject_near_duplicates,
    relevance_threshold,
)
from rag_evaluation_framework.synthesis.filters import Rejection as FilterRejection
from rag_evaluation_framework.text.text_locator import is_long

# Questions that pass filters, and do not contradict each other.

Filter: TypeAlias = Callable[[Candidates], Iterable[Reason | None]]
"""Returns why each question is not kept, None if it is."""

SAME_WORDING = "same question again"
OTHER_ANSWER = "same question with another answer"


def contradicted(candidates: Candidates) -> Iterator[Reason | None]:
    """Yield the answer that contradicts that of each question: of one wording, two are answered by different texts.

    Such a question does not say what it is about, so that several documents, or places, answer it differently: none of
    them is kept. What users ask stays: they do ask so.
    """
    alike: dict[str, list[Candidate[Any]]] = {}
    for each in candidates:
        alike.setdefault(wording_key(each.question), []).append(each)
    distinct = {wording: _distinct(group) for wording, group in alike.items()}
    differing = {
        wording: group
        for wording, group in distinct.items()
        if not all(_agree(one, other) for one, other in combinations(group, 2))
    }
    for each in candidates:
        others = differing.get(wording_key(each.question))
        if others is None or each.request.given:
            yield None
            continue
        # The first with which it disagrees; if only others disagree with each other, the first with another text.
        told = next((other for other in others if not _agree(each, other)), None)
        told = told or next((other for other in others if other.excerpts != each.excerpts), others[0])
        yield OTHER_ANSWER, told.told or "no answer"


def _distinct(candidates: Candidates) -> list[Candidate[Any]]:
    """Return the first candidate of each answer."""
    found: dict[frozenset[Evidence | str], Candidate[Any]] = {}
    for each in candidates:
        found.setdefault(frozenset(one.text if is_long(one.text) else one for one in each.evidence), each)
    return [*found.values()]


def _agree(one: Candidate[Any], other: Candidate[Any]) -> bool:
    """Return whether the same texts, in part at least, answer both; or nothing does."""
    if not (one.answers and other.answers):
        return not (one.answers or other.answers)
    if not {*one.answers}.isdisjoint(other.answers):
        return True
    return any(mine.is_that_of(theirs) for mine in one.evidence for theirs in other.evidence)


def same_wording(candidates: Candidates) -> list[Reason | None]:
    """Tell the questions that have the wording of an earlier one, up to capitals and punctuation."""
    first: dict[str, Candidate[Any]] = {}
    earlier = [first.setdefault(wording_key(each.question), each) for each in candidates]
    return [
        None if one is each else (SAME_WORDING, one.question) for one, each in zip(earlier, candidates, strict=True)
    ]


# The filters of a generation, with the thresholds that they used.

_FEWEST = 20  # questions or pairs on which is calibrated: near-duplicates let one in twenty pass wrongly
_CALIBRATED_ON = {"relevance": "questions and unrelated passages", "near_duplicates": "questions that differ"}
_PARAMETERS = {"relevance": "relevance_threshold=0.2", "near_duplicates": "dedup_threshold=0.95"}


@dataclass
class QualityFilters:
    """Filters by wording and by vectors, each on what those before it kept.

    Attributes:
        embedder: What makes vectors; None to compare none.
        relevance: The least cosine of a question and its worst excerpt. A `PublishedFigure` is calibrated for embedders
            that it is not of, any other number counts as it is.
        dedup: The highest cosine of questions that differ; likewise.
        copied_share: The share of a question's words, in one run, from which on it is copied; None to allow all.
        root: The folder below which vectors are kept that are paid for.
        used: What was used, for the record.
    """

    corpus: Corpus
    embedder: Embedder | None
    relevance: float
    dedup: float
    copied_share: float | None
    root: str | Path
    used: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def missing(self) -> list[str]:
        """The extras that the embedder needs and that are not installed."""
        given = paid_embedder(self.embedder) or self.embedder
        return [] if given is None else missing_extras(given.requires)

    @cached_property
    def vectors(self) -> Embedder | None:
        """What makes vectors: the embedder; one that is paid for with a cache, so that no text is paid for twice."""
        paid = paid_embedder(self.embedder)
        if paid is None or isinstance(self.embedder, CachedEmbedder):
            return self.embedder
        return CachedEmbedder(paid, self.root)

    def functions(self) -> tuple[Sequence[Filter], Sequence[Filter]]:
        """Return the filters of each question alone, and those of questions among each other.

        What needs a package that is not installed is left out and noted.
        """
        alone: list[Filter] = []
        self.used = {"embedder": None, "copied_share": self.copied_share}
        if self.copied_share is not None:
            alone.append(self._copied)
        if self.embedder is None:
            return alone, [same_wording]
        if self.missing:
            note(
                f"relevance and near-duplicates are not checked, as {self.embedder.name} needs what is not installed: "
                f"{install_command(*self.missing)}, or give another embedder="
            )
            return alone, [same_wording]
        self.used["embedder"] = describe(paid_embedder(self.embedder) or self.embedder)
        return [*alone, self._irrelevant], [same_wording, self._repeated]

    def embedded(
        self, requests: Sequence[tuple[QuestionRequest, Sequence[str]]], searched: Sequence[str]
    ) -> Range | None:
        """Return how many tokens a provider is to embed; None if the embedder is not a provider's.

        Args:
            requests: The requests for questions, each with the ids that its questions may name.
            searched: The passages among which answers of questions without an answer are looked for.
        """
        paid = paid_embedder(self.embedder)
        if paid is None:
            return None
        is_calibrated = not has_figures_of_design(paid)
        calibrates = (
            is_calibrated and isinstance(self.relevance, PublishedFigure),
            is_calibrated and isinstance(self.dedup, PublishedFigure),
        )
        return embedded_tokens(requests, [document.content for document in self.corpus], calibrates, searched)

    @property
    def embedding_price(self) -> float | None:
        """What a million embedded tokens cost; None if that is not known, or nothing."""
        paid = paid_embedder(self.embedder)
        return None if paid is None else paid.price_in

    def _copied(self, candidates: Candidates) -> list[Reason | None]:
        return _reasons(reject_copied_wording(*_parts(candidates), cast("float", self.copied_share)))

    def _irrelevant(self, candidates: Candidates) -> list[Reason | None]:
        if not candidates:
            return []
        (questions, excerpts), ready = _parts(candidates), self._fitted()
        threshold = Threshold.given(self.relevance)
        if isinstance(self.relevance, PublishedFigure):
            documents = [document.content for document in self.corpus]
            threshold = relevance_threshold(questions, excerpts, documents, ready)
        if not self._is_usable("relevance", threshold, ready):
            return [None] * len(questions)
        return _reasons(reject_irrelevant(questions, excerpts, ready, threshold))

    def _repeated(self, candidates: Candidates) -> list[Reason | None]:
        if not candidates:
            return []
        (questions, excerpts), ready = _parts(candidates), self._fitted()
        threshold = Threshold.given(self.dedup)
        if isinstance(self.dedup, PublishedFigure):
            threshold = dedup_threshold(questions, excerpts, ready, [each.request for each in candidates])
        if not self._is_usable("near_duplicates", threshold, ready):
            return [None] * len(questions)
        return _reasons(reject_near_duplicates(questions, ready, threshold))

    def _is_usable(self, name: str, threshold: Threshold, embedder: Embedder) -> bool:
        """Note which threshold is used, and return whether there is one: a figure of another embedder means nothing."""
        given, is_calibrated = cast("Embedder", self.embedder), threshold.origin == "calibrated"
        is_foreign = threshold.origin == "design" and not has_figures_of_design(embedder)
        reason = None
        if is_foreign or (is_calibrated and threshold.pairs < _FEWEST):
            reason = f"there are too few {_CALIBRATED_ON[name]} to calibrate the threshold for {given.name}"
        elif is_calibrated and threshold.figure >= 1:
            reason = f"{given.name} does not tell {_CALIBRATED_ON[name]} apart"
        if reason is not None:
            self.used[name] = None
            note(f"{name.replace('_', ' ')}: not checked, as {reason}; give a threshold, such as {_PARAMETERS[name]}")
            return False
        self.used[name] = asdict(threshold)
        return True

    def _fitted(self) -> Embedder:
        embedder: Any = self.vectors
        return as_fitted(embedder.fit([document.content for document in self.corpus]), embedder)


def _parts(candidates: Candidates) -> tuple[list[str], list[tuple[str, ...]]]:
    return [each.question for each in candidates], [each.excerpts for each in candidates]


def _reasons(rejections: Sequence[FilterRejection | None]) -> list[Reason | None]:
    return [None if each is None else (each.reason, each.told) for each in rejections]
