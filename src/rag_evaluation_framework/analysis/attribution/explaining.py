"""`explain`: what questions of a run found, what they missed, and the step that lost it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ...base.outside import grouped, name_line, one_line, shown
from ...contracts.registry.loading import load_installed
from ...data import Answer, CharacterSpan, Corpus, EvaluationType, GroundTruth, Hit, PositionAwareChunk
from ...data.hits import RankedHits, Ranking
from ...data.levels import LEVELS
from ...data.score_table import Status
from ...data.spans import merge_overlapping_spans
from ...errors import ConfigError
from ...runs import EvaluationResult, QueryResult
from ...runs.shown import Shown, ShownList
from ...scoring.judging.spans import SpanJudgements
from ...scoring.levels.rules import RULES
from .attribution import RECALLS, confirmed, losses_of, recall_name
from .deep_pass import Gathered, gather, truth_of
from .losses import CAUSES, FLAGS, NEARLY, Cause, accounted, units_of

if TYPE_CHECKING:
    from ...report.pages.explanation import Page

_PAGE = "rag_evaluation_framework.report.pages.explanation"  # a door upwards


@dataclass(frozen=True)
class RankedResult:
    """One result of a ranking.

    Attributes:
        rank: Its rank, from 1.
        hit: The result.
        text: The text of the corpus at its place, else what it brings; "" if neither is known.
        relevant: Which stretches of the text are in a place of an answer: first character, and one past the last.
        read: The result as it was read at the cutoff, cut where the budget ends; None if it was not.
    """

    rank: int
    hit: Hit
    text: str
    relevant: tuple[tuple[int, int], ...]
    read: Hit | None

    @property
    def extent(self) -> Literal["all", "part", "none"]:
        """Share of the answer that was read."""
        if self.read is None:
            return "none"
        return "all" if (self.read.end, self.read.text) == (self.hit.end, self.hit.text) else "part"


def ranked_results(
    evaluation_type: EvaluationType,
    answers: Sequence[Answer[Any]],
    ranking: Ranking,
    read: Ranking,
    corpus: Corpus | None,
) -> Iterator[RankedResult]:
    """Yield the results of a ranking, each with its relevant part and the part that was read.

    Args:
        evaluation_type: The level of the run.
        answers: The answers to its question.
        ranking: The ranking.
        read: What was read of it; a result in which a budget ends is cut.
        corpus: The documents; None if they are not at hand.
    """
    rules, units = RULES[evaluation_type], [unit for answer in answers for unit in answer.units]
    left = [*read]
    for rank, hit in enumerate(ranking, start=1):
        span = hit.span
        text = hit.text or ""
        if span is not None:
            text = corpus[span.doc_id].content[span.start : span.end] if corpus and span.doc_id in corpus else ""
        relevant: tuple[tuple[int, int], ...] = ()
        if evaluation_type != "token-level":
            unit = rules.level.read(hit)
            if unit is not None and any(rules.found(one, unit) for one in units):
                relevant = ((0, len(text)),)
        elif span is not None:
            merged = merge_overlapping_spans(unit for unit in units if unit.overlaps(span))
            ends = ((max(one.start, span.start), min(one.end, span.end)) for one in merged)
            relevant = tuple((start - span.start, end - span.start) for start, end in ends)
        yield RankedResult(rank, hit, text, relevant, left.pop(0) if left and _begin(left[0]) == _begin(hit) else None)


def _begin(hit: Hit) -> tuple[object, ...]:
    """Return what a result has in common with itself, cut."""
    return (hit.doc_id, hit.start) if hit.placed else (hit.doc_id, (hit.text or "")[:20], hit.chunk_id)


@dataclass(frozen=True)
class HoldingChunk:
    """A chunk that holds some of an answer.

    Attributes:
        place: Where it is.
        rank: Its rank; None if it is not among the results that are known.
        first_rank: Its rank before the reranker; None without one, or if it is not among the results that are known.
    """

    place: CharacterSpan
    rank: int | None
    first_rank: int | None


@dataclass(frozen=True)
class ExplainedAnswer:
    """One answer: its places, how much of it was read, and the causes of the rest.

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
        chunks: The chunks that hold its first place, in the order of the document, if they are known.
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
    chunks: tuple[HoldingChunk, ...]

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Causes of the loss, largest first."""
        return tuple(cause for cause in sorted(CAUSES, key=lambda one: -self.lost[one]) if self.lost[cause] > 0)


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """Results, missed answers and causes of one question. Printing shows them as a page.

    Attributes:
        run: The name of the run.
        evaluation_type: Its evaluation type.
        score: The recall that is explained, such as `span_recall@5`.
        cutoff: Where rankings are cut, as it is printed.
        query_id: The question's id.
        text: Its wording.
        status: `failed` if its retrieval raised, `no-answer` if nothing is relevant, else `scored`.
        recall: Its recall; None if it has none.
        results: The ranking of the run, best first, as deep as it is known.
        answers: What became of each answer.
        depth: How many results the pipeline was asked for again; None if it was not asked.
        returned: How many results the pipeline returned, where it has a number of its own below `depth`; else None.
        notes: What is to be known of it.
        corpus: The documents.
    """

    run: str
    evaluation_type: EvaluationType
    score: str
    cutoff: str
    query_id: str
    text: str
    status: Status
    recall: float | None
    results: tuple[RankedResult, ...]
    answers: tuple[ExplainedAnswer, ...]
    depth: int | None
    returned: int | None
    notes: tuple[str, ...]
    corpus: Corpus = field(compare=False)

    def summary(self) -> "Page":
        """Return the explanation as people read it."""
        page: Page = load_installed(f"{_PAGE}:explanation_page")(self)
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
            "results": [
                {
                    "rank": one.rank,
                    **{name: getattr(one.hit, name) for name in ("doc_id", "start", "end", "chunk_id")},
                    "text": one.text,
                    "relevant": [*map(list, one.relevant)],
                    "read": one.extent,
                }
                for one in self.results
            ],
            "answers": [
                {
                    "places": [[*map(_unit_record, place)] for place in one.answer.places],
                    "recall": one.recall,
                    "lost": {cause: one.lost[cause] for cause in one.causes},
                    **{name: getattr(one, f"is_{flag}") for flag, name in FLAGS.items()},
                    "rank": one.rank,
                    "rank_before_reranking": one.first_rank,
                    "found_at": one.found_at,
                    "chunks": [
                        {**_unit_record(near.place), "rank": near.rank, "rank_before_reranking": near.first_rank}
                        for near in one.chunks
                    ],
                }
                for one in self.answers
            ],
            "notes": list(self.notes),
        }


def _unit_record(unit: Any) -> Any:
    if not isinstance(unit, CharacterSpan):
        return unit
    text = {"text": unit.text} if unit.text else {}
    return {"doc_id": unit.doc_id, "start": unit.start, "end": unit.end, **text}


_MOST_LISTED = 5
_LINE = 100
_NEAR = 0.3


def find_question(result: EvaluationResult[Any], given: str) -> int:
    """Return the row of the question that a text names.

    An id comes first, then a wording, then the unique beginning of an id or a wording, then a text of which all words
    are in one question only; case and white space do not count but in ids. Questions of the run come before skipped
    ones that it names in the same way.

    Raises:
        ConfigError: No question is called so, or several are, and the message lists some; or the one that is was
            skipped, and the message says why.
    """
    run, count = name_line(result.name), len(result.queries)
    name: Any = given
    if not isinstance(name, str) or not (sought := _folded(name)):
        raise ConfigError(f"question {shown(given)}: expected its id, or the beginning or some words of it")
    skipped = {str(label.query.id): label for label in reversed(result.skipped)}
    ids = [*result.scores.query_ids, *skipped]
    texts = [*result.queries.texts, *(label.query.text for label in skipped.values())]
    folded = [*map(_folded, texts)]
    ways: tuple[Callable[[str, str], bool], ...] = (  # the closest first
        lambda query_id, _: query_id == given,
        lambda _, text: text == sought,
        lambda query_id, text: query_id.startswith(given) or text.startswith(sought),
        lambda _, text: {*sought.split()} <= {*text.replace("?", " ").split()},
    )

    def listed(rows: Sequence[int]) -> str:
        lines = [f"  {name_line(ids[row])}  {one_line(texts[row], _LINE)}".rstrip() for row in rows[:_MOST_LISTED]]
        return "\n".join([*lines, *([f"  and {len(rows) - len(lines)} more"] if len(rows) > len(lines) else [])])

    for fits in ways:
        rows = [row for row, known in enumerate(zip(ids, folded, strict=True)) if fits(*known)]
        rows = [row for row in rows if row < count] or rows
        if len(rows) > 1:
            raise ConfigError(
                f"{shown(given)} names {len(rows)} questions of {run}"
                f"{'; write more of one, or its id:' if rows[0] < count else ' that were skipped:'}\n{listed(rows)}"
            )
        if rows and rows[0] < count:
            return rows[0]
        if rows:
            name, reason = name_line(ids[rows[0]]), one_line(skipped[ids[rows[0]]].reason, _LINE)
            raise ConfigError(f"the question {name} of {run} was skipped, so there is nothing to explain: {reason}")
    near = [folded.index(text) for text in get_close_matches(sought, folded[:count], _MOST_LISTED, _NEAR)]
    near += [ids.index(name) for name in get_close_matches(given, ids[:count], _MOST_LISTED, 2 * _NEAR)]
    rows = [*dict.fromkeys(near)][:_MOST_LISTED]
    nearest = f"; the nearest:\n{listed(rows)}" if rows else ""
    raise ConfigError(
        f"no question of {run} is called {shown(given)}; name one by its id, or by the beginning or some words of it"
        f"{nearest}"
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def explain(
    result: EvaluationResult[Any],
    question: str | QueryResult[Any] | Sequence[QueryResult[Any]] | list[str] | None = None,
    score: str | None = None,
    **how: Any,
) -> Explanation | list[Explanation]:
    """Explain what questions of a run found and missed, as `EvaluationResult.explain` says.

    Args:
        result: The run.
        question: One question, or a list of some; by default the worst.
        score: The recall that is explained.
        how: How the pipeline is asked again: the keywords of `gather`.

    Raises:
        ConfigError: The question or the score is not known; or the pipeline cannot be made again or asked, and `deep`
            is true or it is given.
        ResultError: The documents have changed or cannot be read, or it is not known what was retrieved.
    """
    if question is None:
        question = _worst(result, recall_name(result, score)[0])
    alone = not isinstance(question, list | tuple)
    asked: list[Any] = [question] if alone else [*cast("Sequence[Any]", question)]
    rows = [find_question(result, one.query_id if isinstance(one, QueryResult) else one) for one in asked]
    names = [recall_name(result, score or _chosen_by(result, one), row) for one, row in zip(asked, rows, strict=True)]
    has_failed = [result.scores.statuses[row] == "failed" for row in rows]  # of these nothing is asked
    explained: dict[int, Explanation] = {}
    groups = grouped(zip(zip(names, has_failed, strict=True), range(len(rows)), strict=True))
    for ((name, cutoff), _), places in groups.items():
        gathered = gather(result, np.array([rows[place] for place in places], dtype=np.int64), cutoff, **how)
        for number, place in enumerate(places):
            explained[place] = _explained(result, rows[place], name, gathered.question(number))
    if alone:
        return explained[0]
    page: Callable[[list[Explanation]], Page] = partial(load_installed(f"{_PAGE}:explanations_page"), result.name)
    return ShownList([explained[place] for place in range(len(asked))], page)


def _worst(result: EvaluationResult[Any], name: str) -> QueryResult[Any]:
    """Return the question with the lowest recall; with the lowest first score, where the run has not this recall."""
    worst = result.worst(1, name if name in result.scores.columns else None)
    if not worst:
        raise ConfigError(f"no question of {name_line(result.name)} has a score: name the one that is to be explained")
    return worst[0]


def _chosen_by(result: EvaluationResult[Any], question: Any) -> str | None:
    """Return the score by which `worst` chose a query, if it is a recall."""
    by = question.by if isinstance(question, QueryResult) else None
    return by if by and by.partition("@")[0] in RECALLS[result.evaluation_type] else None


def _explained(result: EvaluationResult[Any], row: int, name: str, gathered: Gathered) -> Explanation:
    """Return the explanation of one question, of which all that is known was gathered."""
    query, evidence = result.queries[row], gathered.evidence
    recall, same, answers = None, None, list[ExplainedAnswer]()
    if query.status == "scored":
        losses = losses_of(result, evidence)
        recall, answers = float(losses.recall[0]), [*_answers(result, gathered)]
        same = confirmed(result, name, np.array([row], dtype=np.int64), losses)
    notes = [*(f"{failure.kind}: {failure.message}" for failure in query.failures)]
    notes += load_installed(f"{_PAGE}:attribution_notes")(result, gathered, name, same)
    read = evidence.cut(evidence.final)[0]
    return Explanation(
        run=result.name,
        evaluation_type=result.evaluation_type,
        score=name,
        cutoff=str(evidence.cutoff),
        query_id=query.query_id,
        text=query.text,
        status=query.status,
        recall=recall,
        results=tuple(ranked_results(result.evaluation_type, query.answers, evidence.final[0], read, evidence.corpus)),
        answers=tuple(answers),
        depth=gathered.depth,
        returned=gathered.returned,
        notes=tuple(notes),
        corpus=evidence.corpus,
    )


def _answers(result: EvaluationResult[Any], gathered: Gathered) -> Iterator[ExplainedAnswer]:
    """Yield what became of each answer to a question: each is judged as if it were the only one."""
    evidence, level = gathered.evidence, result.evaluation_type
    (entry,), final, deep = evidence.truth, evidence.final[0], evidence.deep[0]
    is_reranked = evidence.first is not None
    ranking = final if is_reranked else max(deep, final, key=len)
    ranks, first_ranks = _ranks(ranking), _ranks(deep) if is_reranked else {}
    documents = {unit.doc_id for unit in entry.labels if isinstance(unit, CharacterSpan)}
    placed = (one for one in evidence.chunks or () if isinstance(one, PositionAwareChunk) and one.doc_id in documents)
    chunks = sorted(map(PositionAwareChunk.to_span, placed), key=lambda one: (one.doc_id, one.start, one.end))
    alone = [truth_of(entry.query, (answer,), level, evidence.corpus) for answer in entry.answers]
    losses = losses_of(result, evidence.take(np.zeros(len(alone), dtype=np.int64), alone))
    for number, (answer, truth) in enumerate(zip(entry.answers, alone, strict=True)):
        recall, found = float(losses.recall[number]), _found(level, truth, ranking)
        lost: dict[Cause, float] = {cause: float(losses.lost[cause][number]) for cause in CAUSES}
        given = recall + lost["beyond_cutoff"] + lost["dropped_by_reranker"] + lost["not_placed"]
        before = _found(level, truth, deep) if is_reranked else ()
        rank = _more(found, recall)
        yield ExplainedAnswer(
            answer=answer,
            recall=recall,
            lost=lost,
            is_split=bool(losses.split[number] > NEARLY),
            is_truncated=bool(losses.truncated[number] > NEARLY),
            is_cut_off=bool(losses.cut_off[number] > NEARLY),
            rank=rank,
            before=() if rank is None else tuple(ranking[: rank - 1]),
            first_rank=_more(before, recall),
            outside_rank=_more(before, given),
            found_at=_more(found, 0.0),
            chunks=tuple(
                HoldingChunk(one, *(known.get((one.doc_id, one.start, one.end)) for known in (ranks, first_ranks)))
                for one in chunks
                if any(one.overlaps(unit) for unit in answer.reference)
            ),
        )


def _found(level: EvaluationType, entry: GroundTruth[Any], ranking: Ranking) -> Sequence[float]:
    """Return the recall of an answer after each rank."""
    if level == "token-level":
        truth = [cast("GroundTruth[CharacterSpan]", entry)]
        (judged,) = SpanJudgements.from_hits([RankedHits.of([ranking])], truth)
        shares: list[float] = (judged.credit[0] / judged.truth[0]).tolist()
        return shares
    count = len(entry.relevant)
    ends = range(1, len(ranking) + 1)
    return [accounted(entry, units_of(entry, LEVELS[level], ranking[:end])) / count for end in ends]


def _more(found: Sequence[float], recall: float) -> int | None:
    """Return the first rank with which more is found of an answer than this share."""
    return next((rank for rank, share in enumerate(found, start=1) if share > recall + NEARLY), None)


def _ranks(ranking: Ranking) -> dict[tuple[object, ...], int]:
    """Return the best rank, from 1, of each result."""
    return {hit.identity: rank for rank, hit in reversed([*enumerate(ranking, start=1)])}
