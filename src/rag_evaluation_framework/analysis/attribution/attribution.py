"""`Attribution`: where a run lost relevant text or units, by cause, over all of its questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.outside import name_line, one_line, shown
from ...components.retrievers.function import Pipeline
from ...contracts.registry.loading import load_installed
from ...data import DOCUMENT, Corpus, EvaluationType
from ...data.columns import Integers
from ...data.cutoffs import OWN_CUTOFF, Cutoff
from ...data.levels import LEVELS
from ...data.score_table import full_name
from ...errors import ConfigError, ResultError
from ...runs.query_result import own_cutoff
from ...runs.result import EvaluationResult
from ...runs.shown import Shown
from .deep_pass import Gathered, gather
from .losses import CAUSES, FLAGS, NEARLY, Bound, Cause, Evidence, Losses, span_losses, unit_losses

if TYPE_CHECKING:
    from ...report.pages.explanation import Page

_PAGES = "rag_evaluation_framework.report.pages.explanation"  # a door upwards

# The recall whose losses are told: which it is, of which questions, and whether it is still that of the run.

RECALLS: Mapping[EvaluationType, tuple[str, ...]] = {
    "document-level": ("recall",),
    "chunk-level": ("chunk_recall", "recall"),
    "token-level": ("span_recall",),
}
"""The scores whose losses are told, by evaluation type; the first is meant if none is named."""

_LINE = 300


def recall_name(result: EvaluationResult[Any], score: str | None = None, row: int | None = None) -> tuple[str, Cutoff]:
    """Return the name of the recall that is meant, and its cutoff: of a question alone its own, if each has one.

    Raises:
        ConfigError: It is not a recall at a cutoff of the run.
        ResultError: What is given is not a result.
    """
    given_result: Any = result
    if not isinstance(given_result, EvaluationResult):
        raise ResultError(f"{shown(given_result)}: expected an EvaluationResult; load_result(path) reads one")
    own, recalls = str(OWN_CUTOFF), RECALLS[result.evaluation_type]
    known = next((metric for metric in recalls if metric in result.metric_names), recalls[0])
    cutoffs = [cutoff for cutoff in result.cutoffs if cutoff != own]  # one for all questions
    every = cutoffs if row is None else result.cutoffs
    names = {f"{metric}@{cutoff}": cutoff for metric in recalls for cutoff in every}
    name = full_name(known if score is None else score, names) or ""
    cutoff = names.get(name)
    if row is not None and cutoff == own:
        cutoff = own_cutoff(result, result.scores.query_ids[row])
    if cutoff not in cutoffs:
        there = ", ".join(f"{known}@{cutoff}" for cutoff in cutoffs)
        raise ConfigError(
            f"score {shown(score)}: losses are known only for recall; expected one of {there}"
            f"{f'; of one question alone also {known}@{own}' * (own in result.cutoffs)}"
        )
    return f"{name.partition('@')[0]}@{cutoff}", Cutoff.parse(cutoff)


def _scored_rows(result: EvaluationResult[Any], name: str) -> Integers:
    """Return the rows of the questions that have a recall; of one that the run does not score, of all scored.

    Raises:
        ResultError: There are none.
    """
    scored = result.scores.with_status("scored")
    column = result.scores.columns.get(name)
    rows: Integers = np.flatnonzero(scored if column is None else scored & ~np.isnan(column))
    if not len(rows):
        failures = [one_line(f"{some[0].kind}: {some[0].message}", _LINE) for some in result.failures.values()]
        raise ResultError(
            f"{name_line(result.name)}: no question has {name}, so nothing can be told; {len(failures)} of "
            f"{len(result.queries)} questions failed{f', the first: {failures[0]}' if failures else ''}"
        )
    return rows


def losses_of(result: EvaluationResult[Any], evidence: Evidence) -> Losses:
    """Return what was lost of each question, by cause."""
    if result.evaluation_type == "token-level":
        return span_losses(evidence)
    return unit_losses(evidence, LEVELS[result.evaluation_type])


def confirmed(result: EvaluationResult[Any], name: str, rows: Integers, losses: Losses) -> NDArray[np.bool_]:
    """Return which questions have the recall that the run gave them; all, if it gave none.

    Raises:
        ResultError: None has.
    """
    if (column := result.scores.columns.get(name)) is None:
        return np.ones(len(rows), dtype=np.bool_)
    same: NDArray[np.bool_] = np.abs(column[rows] - losses.recall) <= NEARLY
    if not same.any():
        raise ResultError(
            f"{name_line(result.name)}: its {name} cannot be told from what it stored, its deepest ranking with places "
            "instead of texts: its retriever ranks differently at every cutoff, or returns texts that are not those of "
            "their places"
        )
    return same


def unlocated(result: EvaluationResult[Any], gathered: Gathered) -> int:
    """Return how many results have no place, or no id of a chunk; at document level none needs one."""
    level, hits = LEVELS[result.evaluation_type], gathered.evidence.final.flat
    return 0 if level is DOCUMENT else len(hits) - int(level.known(hits).sum())


# What to change: changes in the order of the shares of the missing recall that they are about.

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
    "returned",
]
"""What is to be changed."""

_SEEN = 0.0005  # of recall: less is printed as 0


def advice(losses: Losses) -> tuple[Change, ...]:
    """Return what to change, that first which the greatest share of the missing recall is about.

    How much recall a change brings is not known before it is tried, so it is an order without numbers. A loss by
    ranking counts only as far as neither splitting, truncation nor the end of the budget explains it, and as far as the
    best possible ranking has it. A reranker counts with what it dropped more than it won; the rest of what it dropped
    needs another order. A reranker that drops more than it wins is not to be given more candidates.

    The retriever, the chunker or a reranker may have lost what is not among the results asked for. So nobody is blamed
    for it.
    """
    lost = {cause: float(column.mean()) for cause, column in losses.lost.items()}
    alone = {cause: float(column.mean()) for cause, column in losses.unexplained.items()}
    net = 0.0
    if losses.without_reranker is not None:
        # A run without the reranker also finds text that was no candidate: the reranker lost no more than it dropped.
        more = np.minimum(losses.without_reranker - losses.recall, losses.lost["dropped_by_reranker"])
        net = max(float(np.where(losses.asked, more, 0.0).mean()), 0.0)

    def within(best: Bound | None, share: float) -> float:
        return share if best is None else min(share, float((best.recall - losses.recall).mean()))

    changes: dict[Change, float] = {
        "labels": lost["not_in_corpus"],
        "chunker": lost["in_no_chunk"],
        "places": lost["not_placed"],
        "retriever": within(losses.chunking, alone["not_retrieved"]),
        "deeper_ranking": alone["not_asked_for"],
        "reranker": net,
        "order": within(losses.candidates, alone["beyond_cutoff"] + lost["dropped_by_reranker"] - net),
        "candidates": within(losses.chunking, alone["not_a_candidate"] if net <= _SEEN else 0.0),
        "larger_chunks": float(losses.split.mean()),
        "smaller_chunks": float(losses.cut_off.mean()),
        "embedder": float(losses.truncated.mean()),
    }
    return tuple(sorted((one for one in changes if changes[one] > _SEEN), key=lambda one: -changes[one]))


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
        returned: How many results the pipeline returns to each question, where it has a number of its own below
            `depth`; else None.
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
    returned: int | None = None

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
        rows = _scored_rows(result, name)
        gathered = gather(result, rows, cutoff, retriever=retriever, corpus=corpus, tokenizer=tokenizer, deep=deep)
        losses = losses_of(result, gathered.evidence)
        kept = confirmed(result, name, rows, losses)
        if not kept.all():
            chosen = np.flatnonzero(kept)
            losses = losses_of(result, gathered.evidence.take(chosen, [gathered.evidence.truth[row] for row in chosen]))
        told_of: list[int] = rows[kept].tolist()
        return cls(
            run=result.name,
            evaluation_type=result.evaluation_type,
            score=name,
            query_ids=tuple(result.scores.query_ids[row] for row in told_of),
            questions=tuple(result.queries.texts[row] for row in told_of),
            losses=losses,
            depth=gathered.depth,
            notes=tuple(load_installed(f"{_PAGES}:attribution_notes")(result, gathered, name, kept)),
            headline=result.headline,
            deep_asks=gathered.unasked is not None and gathered.unasked.deep_asks,
            mostly_unlocated=2 * unlocated(result, gathered) > len(gathered.evidence.final.flat),
            returned=gathered.returned,
        )

    @property
    def recall(self) -> float:
        """The mean recall."""
        return float(self.losses.recall.mean())

    @cached_property
    def lost(self) -> Mapping[Cause, float]:
        """Loss of mean recall by cause, in the order in which causes apply; with `recall` they add up to 1."""
        return {cause: float(self.losses.lost[cause].mean()) for cause in CAUSES}

    @cached_property
    def advice(self) -> tuple[Change, ...]:
        """Changes to try, most promising first; empty if nothing is missing, or no change helps."""
        if self.mostly_unlocated:
            return ()
        returned = self.returned is not None
        return tuple("returned" if returned and one == "retriever" else one for one in advice(self.losses))

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
        losses = self.losses
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
            "flags": {name: float(getattr(losses, flag).mean()) for flag, name in FLAGS.items()},
            "without_reranker": None if without is None or not losses.asked.all() else float(without.mean()),
            "ceilings": {
                "chunking": None if losses.chunking is None else _bound_record(losses.chunking),
                "candidates": _bound_record(losses.candidates),
            },
            "advice": [*self.advice],
            "questions": [
                {
                    "id": query_id,
                    "query": text or None,
                    "recall": float(losses.recall[row]),
                    "lost": self.causes(row),
                    "asked_again": bool(losses.asked[row]),
                    "best_rank": int(losses.best_rank[row]) or None,
                    **{name: float(getattr(losses, flag)[row]) for flag, name in FLAGS.items()},
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


def _bound_record(bound: Bound) -> dict[str, Any]:
    return {"recall": float(bound.recall.mean()), "exact": bool(bound.exact.all())}
