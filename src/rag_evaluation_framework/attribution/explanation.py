"""`explain`: what one question found, what it missed, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rag_evaluation_framework.attribution.losses import CAUSES, Cause
from rag_evaluation_framework.data import Answer, CharacterSpan, Corpus, EvaluationType, Hit
from rag_evaluation_framework.data.score_table import Status
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.results.shown import Shown

if TYPE_CHECKING:
    from rag_evaluation_framework.report.pages.explanation import Page

_PAGE = "rag_evaluation_framework.report.pages.explanation:explanation_page"  # a door upwards


@dataclass(frozen=True)
class RankedResult:
    """One result of the ranking.

    Attributes:
        rank: Its rank, from 1.
        hit: The result.
        text: What its reader reads.
        relevant: Which stretches of the text are in a place of an answer: first character, and one past the last.
        read: How much of it was read: all, a part, as the budget ends in it, or nothing.
        was: Its rank in the baseline; None if it is not there, or there is no baseline.
    """

    rank: int
    hit: Hit
    text: str
    relevant: tuple[tuple[int, int], ...]
    read: Literal["all", "part", "none"]
    was: int | None = None


@dataclass(frozen=True)
class Neighbour:
    """A chunk that holds missed text, or stands beside one that does.

    Attributes:
        place: Where it is.
        holds: Whether it holds some of the missed text.
        rank: Its rank; None if it is not among the results that are known.
        first_rank: Its rank before the reranker; None without one, or if it is not among the results that are known.
    """

    place: CharacterSpan
    holds: bool
    rank: int | None
    first_rank: int | None = None


@dataclass(frozen=True)
class Missed:
    """Relevant text that was not read.

    Attributes:
        span: Where it is, with its text.
        before: What the document has before it.
        after: What the document has behind it.
        neighbours: The chunks that hold it, and one on either side, in the order of the document.
    """

    span: CharacterSpan
    before: str
    after: str
    neighbours: tuple[Neighbour, ...] = ()


@dataclass(frozen=True)
class ExplainedAnswer:
    """What became of one answer.

    Attributes:
        answer: The answer.
        recall: How much of it was found, in [0, 1].
        lost: What each cause lost of it; with `recall` it adds up to 1.
        is_split: Whether chunks hold it, but none of them all of it.
        is_truncated: Whether some of what is missing is behind what the embedder reads of its chunks.
        is_cut_off: Whether some of what is missing is behind what the budget reads of its chunks, were they the first.
        rank: The best rank at which more of it is found than was read; None if no known result has more.
        before: The results before that rank, best first.
        first_rank: The same rank before the reranker; None without one.
        outside_rank: The first rank before the reranker at which more of it is found than its candidates have; None
            without one, or if no known result has more.
        found_at: The rank at which it is first found; None if it is not.
        was_found_at: The same in the baseline.
        missed: What of its first place was not read, where nothing else stands for it.
    """

    answer: Answer[Any]
    recall: float
    lost: Mapping[Cause, float]
    is_split: bool
    is_truncated: bool
    is_cut_off: bool
    rank: int | None
    before: tuple[Hit, ...]
    first_rank: int | None
    outside_rank: int | None
    found_at: int | None
    was_found_at: int | None
    missed: tuple[Missed, ...]

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes that lost something of it, the greatest loss first."""
        return tuple(cause for cause in sorted(CAUSES, key=lambda one: -self.lost[one]) if self.lost[cause] > 0)


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """What one question found, what it missed, and why. Printed, it shows all of that.

    Attributes:
        run: The name of the run.
        evaluation_type: Its evaluation type.
        score: The recall that is explained, such as `span_recall@5`.
        query_id: The question's id.
        text: Its wording.
        status: `failed` if its retrieval raised, `no-answer` if nothing is relevant, else `scored`.
        recall: Its recall; None if it has none.
        results: The ranking of the run, best first, as deep as it is known.
        answers: What became of each answer.
        depth: How many results the pipeline was asked for again; None if it was not asked.
        notes: What is to be known of it.
        baseline: The name of the baseline; None if there is none.
        before: The recall in the baseline; None if it has none, or the question was another one there.
        knows_ranks: Whether the ranks of results in the baseline are known: there is one, of the same documents and the
            same question.
        gone: What the baseline read at the cutoff and the run did not, with its ranks in both; the second is None where
            it is not among the results of the run.
        cutoff: Where rankings are cut, as it is printed.
        corpus: The documents.
    """

    run: str
    evaluation_type: EvaluationType
    score: str
    query_id: str
    text: str
    status: Status
    recall: float | None
    results: tuple[RankedResult, ...]
    answers: tuple[ExplainedAnswer, ...]
    depth: int | None
    notes: tuple[str, ...]
    baseline: str | None = None
    before: float | None = None
    knows_ranks: bool = False
    gone: tuple[tuple[Hit, int, int | None], ...] = ()
    cutoff: str = ""
    corpus: Corpus | None = field(default=None, compare=False)

    def summary(self) -> "Page":
        """Return the explanation as people read it."""
        page: Page = load_installed(_PAGE)(self)
        return page

    def record(self) -> dict[str, Any]:
        """Return the explanation for JSON."""
        return {
            "schema_version": 1,
            "run": {"name": self.run},
            "score": self.score,
            "id": self.query_id,
            "query": self.text or None,
            "status": self.status,
            "recall": self.recall,
            "depth": self.depth,
            "results": [_result_record(result) for result in self.results],
            "answers": [_answer_record(answer) for answer in self.answers],
            "baseline": None if self.baseline is None else {"name": self.baseline, "recall": self.before},
            "gone": [{**_hit_record(hit), "was": was, "rank": rank} for hit, was, rank in self.gone],
            "notes": list(self.notes),
        }


def _hit_record(hit: Hit) -> dict[str, Any]:
    return {"doc_id": hit.doc_id, "start": hit.start, "end": hit.end, "chunk_id": hit.chunk_id}


def _result_record(result: RankedResult) -> dict[str, Any]:
    return {
        "rank": result.rank,
        **_hit_record(result.hit),
        "text": result.text,
        "relevant": [list(stretch) for stretch in result.relevant],
        "read": result.read,
        "was": result.was,
    }


def _answer_record(known: ExplainedAnswer) -> dict[str, Any]:
    return {
        "places": [[_unit_record(unit) for unit in place] for place in known.answer.places],
        "recall": known.recall,
        "lost": {cause: known.lost[cause] for cause in known.causes},
        "split_by_chunker": known.is_split,
        "truncated_by_embedder": known.is_truncated,
        "cut_off_by_budget": known.is_cut_off,
        "rank": known.rank,
        "rank_before_reranking": known.first_rank,
        "found_at": known.found_at,
        "was_found_at": known.was_found_at,
        "missed": [
            {
                **_unit_record(missed.span),
                "before": missed.before,
                "after": missed.after,
                "neighbours": [
                    {
                        **_unit_record(near.place),
                        "holds": near.holds,
                        "rank": near.rank,
                        "rank_before_reranking": near.first_rank,
                    }
                    for near in missed.neighbours
                ],
            }
            for missed in known.missed
        ],
    }


def _unit_record(unit: Any) -> Any:
    if not isinstance(unit, CharacterSpan):
        return unit
    text = {"text": unit.text} if unit.text else {}
    return {"doc_id": unit.doc_id, "start": unit.start, "end": unit.end, **text}
