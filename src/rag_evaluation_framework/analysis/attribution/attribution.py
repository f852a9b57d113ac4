"""`Attribution`: where a run lost relevant text or units, by cause, over all of its questions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.files import is_object
from ...base.outside import name_line, one_line, shown
from ...components.retrievers.function import Pipeline
from ...contracts.registry.loading import load_installed
from ...data import Corpus, EvaluationType
from ...data.columns import Integers
from ...data.cutoffs import OWN_CUTOFF, Cutoff, ScoreName
from ...data.hits import Ranking
from ...data.levels import LEVELS
from ...errors import ConfigError, LevelMismatch, ResultError
from ...runs.naming import other_meaning
from ...runs.query_result import own_cutoff
from ...runs.result import EvaluationResult
from ...runs.shown import Shown
from ...scoring.levels.rules import RULES
from .deep_pass import Gathered, gather
from .losses import CAUSES, Bound, Cause, Evidence, Losses, span_losses, unit_losses

if TYPE_CHECKING:
    from ...report.pages.explanation import Page


# The recall whose losses are told: which it is, of which questions, and whether it is still that of the run.

RECALLS: Mapping[EvaluationType, tuple[str, ...]] = {
    "document-level": ("recall",),
    "chunk-level": ("chunk_recall", "recall"),
    "token-level": ("span_recall",),
}
"""The scores whose losses are told, by evaluation type; the first is meant if none is named."""

_NEARLY = 1e-9
_LINE = 300
_EXAMPLE = 80  # characters of a text


def recall_name(result: EvaluationResult[Any], score: str | None = None, row: int | None = None) -> tuple[str, Cutoff]:
    """Return the name of the recall that is meant, and its cutoff: of a question alone its own, if each has one.

    Raises:
        ConfigError: It is not a recall at a cutoff of the run.
        ResultError: What is given is not a result.
    """
    given_result: Any = result
    if not isinstance(given_result, EvaluationResult):
        raise ResultError(f"{shown(given_result)}: expected an EvaluationResult; load_result(path) reads one")
    recalls = RECALLS[result.evaluation_type]
    known = next((metric for metric in recalls if metric in result.metric_names), recalls[0])
    try:
        given = ScoreName.parse(known if score is None else score).canonical
    except ConfigError:
        given = None
    cutoffs = [cutoff for cutoff in result.cutoffs if cutoff != str(OWN_CUTOFF)]  # one for all questions
    cutoff = None if given is None else str(given.cutoff or result.cutoffs[0])
    if cutoff == str(OWN_CUTOFF) and (given is None or given.cutoff is None or row is not None):
        cutoff = cutoffs[0] if row is None else own_cutoff(result, result.scores.query_ids[row])
    if given is None or given.metric not in recalls or cutoff not in cutoffs:
        there = ", ".join(f"{known}@{cutoff}" for cutoff in cutoffs)
        own = f"; of one question alone also {known}@{OWN_CUTOFF}" if str(OWN_CUTOFF) in result.cutoffs else ""
        raise ConfigError(f"score {shown(score)}: losses are known only for recall; expected one of {there}{own}")
    meant = Cutoff.parse(cutoff)
    return str(ScoreName(given.metric, meant)), meant


def noted_own_cutoffs(result: EvaluationResult[Any], cutoff: Cutoff) -> list[str]:
    """Return that questions ask for different numbers of results, if they do, and at which this is told."""
    if str(OWN_CUTOFF) not in result.cutoffs:
        return []
    return [
        f"questions ask for different numbers of results, and this is told at {cutoff} for all; one question alone is "
        "told at its own"
    ]


def scored_rows(result: EvaluationResult[Any], name: str) -> Integers:
    """Return the rows of the questions that have a recall; of one that the run does not score, of all scored.

    Raises:
        ResultError: There are none.
    """
    scored = result.scores.with_status("scored")
    column = result.scores.columns.get(name)
    rows: Integers = np.flatnonzero(scored if column is None else scored & ~np.isnan(column))
    if not len(rows):
        raise ResultError(
            f"{name_line(result.name)}: no question has {name}, so that nothing can be told{_why(result)}"
        )
    return rows


def _why(result: EvaluationResult[Any]) -> str:
    """Return what failed in a run, as a part of a sentence; nothing, if nothing did."""
    failed = [row for row, status in enumerate(result.scores.statuses) if status == "failed"]
    if not failed:
        return ""
    reasons = Counter(f"{told.kind}: {told.message}" for row in failed for told in result.queries[row].failures[:1])
    reason, count = reasons.most_common(1)[0]
    some = "" if count == len(failed) else f", {count} of them"
    return f": {len(failed)} of {len(result.scores.statuses)} questions failed{some} with {one_line(reason, _LINE)}"


def losses_of(result: EvaluationResult[Any], evidence: Evidence) -> Losses:
    """Return what was lost of each question, by cause."""
    if result.evaluation_type == "token-level":
        return span_losses(evidence)
    return unit_losses(evidence, LEVELS[result.evaluation_type])


def _as_scored(result: EvaluationResult[Any], name: str, rows: Integers, losses: Losses) -> NDArray[np.bool_]:
    """Return which questions have the recall that the run gave them; all, if it gave none."""
    column = result.scores.columns.get(name)
    if column is None:
        return np.ones(len(rows), dtype=np.bool_)
    same: NDArray[np.bool_] = np.abs(column[rows] - losses.recall) <= _NEARLY
    return same


def confirmed(
    result: EvaluationResult[Any], name: str, rows: Integers, losses: Losses
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which questions have the recall that the run gave them, and a note on the others.

    Raises:
        ResultError: None has.
    """
    kept = _as_scored(result, name, rows, losses)
    differing = int((~kept).sum())
    why = (
        "what is stored of a run is its deepest ranking, with places instead of texts, and its retriever ranks "
        "differently at every cutoff, or returns texts that are not those of their places"
    )
    if not kept.any():
        raise ResultError(f"{name_line(result.name)}: its {name} cannot be told from what it stored: {why}")
    if not differing:
        return kept, []
    return kept, [f"{differing} of {len(rows)} questions are left out, as their {name} could not be recomputed: {why}"]


def noted(result: EvaluationResult[Any], gathered: Gathered) -> list[str]:
    """Return what is to be known of losses: what is not known, and which questions count."""
    notes: list[str] = []
    if gathered.depth is not None and gathered.evidence.chunks is None:
        notes.append("the retriever cannot list its chunks: what is in no chunk counts as not retrieved")
    if result.scores.count_as_zero:
        zeros = ", ".join(sorted(result.scores.count_as_zero))
        notes.append(f"the run counts as 0: {zeros}; here only questions that were scored count")
    if unplaced := unlocated(result, gathered):
        notes.append(
            f"{unplaced} of {len(gathered.evidence.final.flat)} results have no place in the documents"
            f"{_first_unlocated(result, gathered)}. Relevant text may be among them: what is called not retrieved may "
            "have been returned, and was not found there"
        )
    empty = np.flatnonzero(gathered.evidence.asked & (gathered.evidence.deep.counts == 0)).tolist()
    if empty:
        is_bm25 = is_object(record := result.config.get("retriever")) and record.get("type") == "bm25"
        why = ", as none of the words that BM25 looks for is in the documents" if is_bm25 else ""
        one = name_line(gathered.evidence.truth[empty[0]].query.text)
        notes.append(
            f"{len(empty)} of {len(gathered.evidence.truth)} questions have no result at all{why}, the first: {one}"
        )
    return notes


def _first_unlocated(result: EvaluationResult[Any], gathered: Gathered) -> str:
    """Return the first text that has no place, as a part of a sentence; nothing where results have no texts."""
    read = LEVELS[result.evaluation_type].read
    texts = (hit.text for ranking in gathered.evidence.final for hit in ranking if read(hit) is None and hit.text)
    first = next(texts, None)
    return "" if first is None else f", the first: {shown(first, _EXAMPLE)}"


def unlocated(result: EvaluationResult[Any], gathered: Gathered) -> int:
    """Return how many results have no place, or no id of a chunk; at document level none needs one."""
    if result.evaluation_type == "document-level":
        return 0
    hits = gathered.evidence.final.flat
    return len(hits) - int(LEVELS[result.evaluation_type].known(hits).sum())


# A question in the baseline beside which it is explained.


@dataclass(frozen=True, eq=False)
class QuestionBefore:
    """The same question in the baseline.

    Attributes:
        name: The name of the baseline.
        recall: The recall there; None if it has none, or the question was another one.
        ranking: What was retrieved there; None if the documents were others, in which places mean something else, or
            the question was another one.
        notes: What has changed since, but for the results.
    """

    name: str
    recall: float | None
    ranking: Ranking | None
    notes: tuple[str, ...] = ()


def question_before(
    baseline: EvaluationResult[Any], result: EvaluationResult[Any], row: int, name: str
) -> QuestionBefore:
    """Return what a baseline retrieved for a question: that of the same id or, if it has none, of the same wording.

    Of one that had another wording or truth there, nothing but that is told.

    Raises:
        LevelMismatch: The baseline is of another evaluation type.
        ResultError: It does not have the question, or does not know what was retrieved; or its scores mean something
            else, as those of another chunking.
    """
    given: Any = baseline
    if not isinstance(given, EvaluationResult):
        raise ResultError(f"baseline={shown(given)}: expected an EvaluationResult; load_result(path) reads one")
    if baseline.evaluation_type != result.evaluation_type:
        raise LevelMismatch(
            f"baseline {baseline.name!r} is {baseline.evaluation_type}, {result.name!r} is {result.evaluation_type}"
        )
    reason = RULES[result.evaluation_type].incomparable(baseline.config, result.config)
    if reason is not None:
        raise ResultError(f"baseline {name_line(baseline.name)} cannot be compared: {reason}")
    query_id, text = result.scores.query_ids[row], result.queries.texts[row]
    there = baseline.scores.rows.get(query_id)
    if there is None and text in baseline.queries.texts:
        there = [*baseline.queries.texts].index(text)
    if there is None:
        raise ResultError(f"baseline {name_line(baseline.name)} does not have the question {name_line(query_id)}")
    same_documents = baseline.config["corpus"]["hash"] == result.config["corpus"]["hash"]
    if what := _changed(baseline, there, result, row, same_documents):
        note = f"the {what} of the question was another one in {name_line(baseline.name)}: the two are not compared"
        return QuestionBefore(baseline.name, None, None, (note,))
    column = baseline.scores.columns.get(name)
    records = [(run.metric_names, run.config) for run in (baseline, result)]
    other = other_meaning(name, *records) if name in baseline.scores.columns.keys() & result.scores.columns else ""
    recall = None if column is None or other or np.isnan(column[there]) else float(column[there])
    was, now = own_cutoff(baseline, baseline.scores.query_ids[there]), own_cutoff(result, result.scores.query_ids[row])
    each = str(OWN_CUTOFF) in (*baseline.cutoffs, *result.cutoffs) and was != now
    cut = (f"the question is cut at {now}, and was cut at {was} in {name_line(baseline.name)}",) if each else ()
    cut = (*cut, f"{name} of {name_line(baseline.name)} is not comparable: {other}") if other else cut
    if same_documents:
        return QuestionBefore(baseline.name, recall, baseline.queries.hits[there], cut)
    note = (
        f"the documents are not those of {name_line(baseline.name)}: which results it had is not told, as places in "
        "other documents mean something else"
    )
    return QuestionBefore(baseline.name, recall, None, (*cut, note))


def _changed(
    baseline: EvaluationResult[Any], there: int, result: EvaluationResult[Any], row: int, same_documents: bool
) -> Literal["", "wording", "truth"]:
    """Return what of a question is another one in the baseline, though it has the same id.

    The truth is compared in the same documents only: in others, the same truth may have other names and places.
    """
    one, other = baseline.queries, result.queries
    if one.texts[there] != other.texts[row]:
        return "wording"
    return "truth" if same_documents and one.identities[there] != other.identities[row] else ""


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
    "returned",
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
        depth: How many results were asked for again; of the change "returned" how many came; None if none were.
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
        rows = scored_rows(result, name)
        gathered = gather(result, rows, cutoff, retriever=retriever, corpus=corpus, tokenizer=tokenizer, deep=deep)
        losses = losses_of(result, gathered.evidence)
        kept, notes = confirmed(result, name, rows, losses)
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
            notes=(*noted_own_cutoffs(result, cutoff), *gathered.notes, *noted(result, gathered), *notes),
            headline=result.headline,
            deep_asks=gathered.deep_asks,
            mostly_unlocated=2 * unlocated(result, gathered) > len(gathered.evidence.final.flat),
            returned=gathered.returned,
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
        found = advice(self.losses, self.depth, deep_asks=self.deep_asks)
        if found is not None and found.change == "retriever" and self.returned is not None:
            return replace(found, change="returned", depth=self.returned)
        return found

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


def _bound_record(bound: Bound) -> dict[str, Any]:
    return {"recall": float(bound.recall.mean()), "exact": bool(bound.exact.all())}
