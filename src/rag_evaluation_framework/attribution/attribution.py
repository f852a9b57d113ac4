"""`Attribution`: where a run lost relevant text or units, by cause, over all of its questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.attribution.deep_pass import gather
from rag_evaluation_framework.attribution.losses import CAUSES, Bound, Cause, Losses
from rag_evaluation_framework.attribution.told_recall import (
    confirmed,
    noted,
    noted_own_cutoffs,
    recall_name,
    scored_rows,
    told_losses,
    unlocated,
)
from rag_evaluation_framework.base.files import is_object
from rag_evaluation_framework.data import Corpus, EvaluationType
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.results.result import EvaluationResult
from rag_evaluation_framework.results.shown import Shown
from rag_evaluation_framework.retrievers.function import Pipeline

if TYPE_CHECKING:
    from rag_evaluation_framework.report.pages.explanation import Page


# Advice on what to change first: the change that the greatest share of the missing recall is about.

Change = Literal[
    "labels",
    "chunker",
    "larger_chunks",
    "smaller_chunks",
    "embedder",
    "retriever",
    "order",
    "candidates",
    "reranker",
    "places",
    "deeper_ranking",
]
"""What is to be changed."""

_PAGES = "rag_evaluation_framework.report.pages.explanation"  # a door upwards
_SEEN = 0.0005  # of recall: less is printed as 0


@dataclass(frozen=True)
class Advice:
    """The change to try first. How much recall it brings is not known before it is tried.

    Attributes:
        change: What is to be changed.
        share: The share of the missing recall that the change is about; in [0, 1].
        depth: How many results were asked for again; None if none were.
        deep_asks: Whether the pipeline was not asked, and `deep` asks it.
    """

    change: Change
    share: float
    depth: int | None = None
    deep_asks: bool = False

    @property
    def text(self) -> str:
        """The share, its cause and the change, in a sentence."""
        text: str = load_installed(f"{_PAGES}:advice_text")(self)
        return text


def advice(losses: Losses, depth: int | None, *, deep_asks: bool = False) -> Advice | None:
    """Return the change that the greatest share of the missing recall is about; None if there is none.

    A loss by ranking counts only as far as neither splitting, truncation nor the end of the budget explains it, and as
    far as the best possible ranking has it. A reranker counts with what it dropped more than it won; the rest of what
    it dropped needs another order. A reranker that drops more than it wins is not to be given more candidates.

    The retriever, the chunker or a reranker may have lost what is not among the results asked for. So nobody is blamed
    for it.

    Args:
        losses: What was lost.
        depth: How many results were asked for again; None if none were.
        deep_asks: Whether the pipeline was not asked, and `deep` asks it.
    """
    lost = {cause: float(column.mean()) for cause, column in losses.lost.items()}
    alone = {cause: float(column.mean()) for cause, column in losses.unexplained.items()}
    net = 0.0
    if losses.without_reranker is not None:
        # A run without the reranker also finds text that was no candidate: the reranker lost no more than it dropped.
        more = np.minimum(losses.without_reranker - losses.recall, losses.lost["dropped_by_reranker"])
        net = max(float(np.where(losses.asked, more, 0.0).mean()), 0.0)
    late, kept_out = alone["beyond_cutoff"] + lost["dropped_by_reranker"] - net, alone["not_a_candidate"]

    def within(best: Bound | None, share: float) -> float:
        return share if best is None else min(share, float((best.recall - losses.recall).mean()))

    changes: dict[Change, float] = {
        "labels": lost["not_in_corpus"],
        "chunker": lost["in_no_chunk"],
        "places": lost["not_placed"],
        "retriever": within(losses.chunking, alone["not_retrieved"]),
        "deeper_ranking": alone["not_asked_for"],
        "reranker": net,
        "order": within(losses.candidates, late),
        "candidates": within(losses.chunking, kept_out if net <= _SEEN else 0.0),
        "larger_chunks": float(losses.split.mean()),
        "smaller_chunks": float(losses.cut_off.mean()),
        "embedder": float(losses.truncated.mean()),
    }
    change = max(changes, key=lambda one: changes[one])
    most = changes[change]
    if most <= _SEEN:
        return None
    share = min(most / (1 - float(losses.recall.mean())), 1.0)
    return Advice(change, share, depth, deep_asks)


NEARLY = 1e-9
"""What is less is lost by rounding only."""
_WORST_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(Shown):
    """Where a run lost what was relevant, by cause.

    The mean of `losses.recall` and those of all causes add up to 1. Means are over the questions that have the score.

    Attributes:
        run: The name of the run.
        evaluation_type: Its evaluation type.
        score: The recall whose losses these are, such as `span_recall@5`.
        query_ids: The questions, those that have the score.
        questions: Their wordings.
        losses: What was lost of each, by cause, in the order of `query_ids`.
        depth: How many results the pipeline was asked for again; None if it was not asked, or ranks every question
            otherwise today.
        notes: What is to be known of it.
        headline: On how many of the answerable questions the run stands: those that failed or were skipped have lost
            everything or nothing, and are in none of the means.
        deep_asks: Whether the pipeline was not asked, and `deep=True` asks it.
        mostly_unlocated: Whether more than half of the results have no place, so that nothing can be advised.
    """

    run: str
    evaluation_type: EvaluationType
    score: str
    query_ids: tuple[str, ...]
    questions: tuple[str, ...]
    losses: Losses
    depth: int | None
    notes: tuple[str, ...]
    headline: str
    deep_asks: bool = False
    mostly_unlocated: bool = False

    @classmethod
    def of(
        cls,
        result: EvaluationResult[Any],
        score: str | None = None,
        *,
        retriever: Pipeline | None = None,
        corpus: Corpus | None = None,
        tokenizer: Any = None,
        deep: bool = False,
    ) -> "Attribution":
        """Tell where a run lost what was relevant: what it missed, divided by cause, and what to change first.

        The pipeline of the run is made again from its record, indexes the documents again and is asked for 100 results
        of every question, if all of its parts are of this package and need no network; else what the run retrieved has
        to do. Of a pipeline that reranks, what is reranked is asked for; the reranker is not.

        Args:
            result: The run, live or loaded.
            score: The recall whose losses are told, at one of the cutoffs of the run, such as `span_recall@5`; by
                default the first.
            retriever: The pipeline, where it cannot be made again: a function, or a class of a notebook.
            corpus: The documents, where they cannot be read again: they were not read from a folder.
            tokenizer: What counts the tokens of a budget, where the run's cannot be found by its name.
            deep: Ask pipelines, too, that are not all ours, and import the own code that the record names.

        Raises:
            ConfigError: The score is not a recall at a cutoff of the run; or the pipeline cannot be made again or
                asked, and `deep` is true or the pipeline is given.
            ResultError: The documents have changed or cannot be read; it is not known what was retrieved; or no
                question has the score.
        """
        name, cutoff = recall_name(result, score)
        rows = scored_rows(result, name)
        gathered = gather(result, rows, cutoff, retriever=retriever, corpus=corpus, tokenizer=tokenizer, deep=deep)
        gathered, losses = told_losses(result, name, rows, gathered)
        kept, notes = confirmed(result, name, rows, losses)
        told_of: list[int] = rows[kept].tolist()
        return cls(
            run=result.name,
            evaluation_type=result.evaluation_type,
            score=name,
            query_ids=tuple(result.scores.query_ids[row] for row in told_of),
            questions=tuple(result.queries.texts[row] for row in told_of),
            losses=_taken(losses, kept),
            depth=gathered.depth,
            notes=(*noted_own_cutoffs(result, cutoff), *gathered.notes, *noted(result, gathered), *notes),
            headline=result.headline,
            deep_asks=gathered.deep_asks,
            mostly_unlocated=2 * unlocated(result, gathered) > len(gathered.evidence.final.flat),
        )

    @property
    def recall(self) -> float:
        """The mean recall."""
        return float(self.losses.recall.mean())

    @cached_property
    def lost(self) -> Mapping[Cause, float]:
        """What each cause lost of the mean recall, in the order in which they apply; with `recall` they add up to 1."""
        return {cause: float(self.losses.lost[cause].mean()) for cause in CAUSES}

    @cached_property
    def advice(self) -> Advice | None:
        """What to change first; None if nothing is missing, or no change is about it."""
        if self.mostly_unlocated:
            return None
        return advice(self.losses, self.depth, deep_asks=self.deep_asks)

    def causes(self, row: int) -> dict[Cause, float]:
        """Return what each cause lost of one question, the greatest loss first, without those that lost nothing."""
        lost = {cause: float(self.losses.lost[cause][row]) for cause in CAUSES}
        return {cause: lost[cause] for cause in sorted(CAUSES, key=lambda one: -lost[one]) if lost[cause] > NEARLY}

    def worst(self, n: int = _WORST_SHOWN) -> list[int]:
        """Return the rows of the questions that lost most, the worst first; those that lost nothing are left out."""
        order = np.argsort(self.losses.recall, kind="stable")
        return [row for row in order.tolist() if self.losses.recall[row] < 1 - NEARLY][:n]

    def record(self) -> dict[str, Any]:
        """Return the attribution for JSON: means, then each question with what it lost."""
        losses, found = self.losses, self.advice
        without = losses.without_reranker
        return {
            "schema_version": 1,
            "run": {"name": self.run},
            "score": self.score,
            "headline": self.headline,
            "n": len(self.query_ids),
            "depth": self.depth,
            "recall": self.recall,
            "lost": dict(self.lost),
            "flags": {
                "split_by_chunker": float(losses.split.mean()),
                "truncated_by_embedder": float(losses.truncated.mean()),
                "cut_off_by_budget": float(losses.cut_off.mean()),
            },
            "without_reranker": None if without is None or not losses.asked.all() else float(without.mean()),
            "ceilings": {
                "chunking": None if losses.chunking is None else _bound_record(losses.chunking),
                "candidates": _bound_record(losses.candidates),
            },
            "advice": None if found is None else {"change": found.change, "share": found.share, "text": found.text},
            "questions": [
                {
                    "id": query_id,
                    "query": text or None,
                    "recall": float(losses.recall[row]),
                    "lost": self.causes(row),
                    "asked_again": bool(losses.asked[row]),
                    "best_rank": int(losses.best_rank[row]) or None,
                    "split_by_chunker": float(losses.split[row]),
                    "truncated_by_embedder": float(losses.truncated[row]),
                    "cut_off_by_budget": float(losses.cut_off[row]),
                }
                for row, (query_id, text) in enumerate(zip(self.query_ids, self.questions, strict=True))
            ],
            "notes": list(self.notes),
        }

    def summary(self, worst: int = _WORST_SHOWN) -> "Page":
        """Return the attribution as people read it.

        Args:
            worst: How many of the questions that lost most to name.
        """
        page: Page = load_installed(f"{_PAGES}:causes_page")(self, worst)
        return page


def _taken(losses: Losses, kept: NDArray[np.bool_]) -> Losses:
    """Return the losses of some of the questions."""

    def rows(value: Any) -> Any:
        if isinstance(value, Bound):
            return Bound(value.recall[kept], value.exact[kept])
        if is_object(value):
            return {cause: column[kept] for cause, column in value.items()}
        return None if value is None else value[kept]

    return losses if kept.all() else Losses(**{name: rows(value) for name, value in vars(losses).items()})


def _bound_record(bound: Bound) -> dict[str, Any]:
    return {"recall": float(bound.recall.mean()), "exact": bool(bound.exact.all())}
