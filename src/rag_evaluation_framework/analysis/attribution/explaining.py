"""Making explanations: what one question of a run found, what it missed, and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ...base.outside import name_line, one_line, shown
from ...contracts.registry.loading import load_installed
from ...data import (
    Answer,
    CharacterSpan,
    Corpus,
    EvaluationType,
    GroundTruth,
    Hit,
    PositionAwareChunk,
    Skipped,
    merge_overlapping_spans,
)
from ...data.hits import RankedHits, Ranking
from ...data.levels import LEVELS
from ...data.score_table import Status
from ...data.spans import uncovered
from ...errors import ConfigError
from ...runs.query_result import QueryResult
from ...runs.result import EvaluationResult
from ...runs.shown import Shown, ShownList
from ...scoring.judging.spans import SpanJudgements
from .attribution import RECALLS, QuestionBefore, confirmed, losses_of, noted, question_before, recall_name
from .deep_pass import Gathered, gather, truth_of
from .losses import CAUSES, Cause, Evidence, Losses, accounted, units_of

if TYPE_CHECKING:
    from ...report.pages.explanation import Page


# `explain`: what one question found, what it missed, and why.

_PAGE = "rag_evaluation_framework.report.pages.explanation"  # a door upwards


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
        returned: How many results the pipeline returned, where it has a number of its own below `depth`; else None.
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
    returned: int | None = None

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


# The question of a run that a text names: its id, its wording, a beginning of either, or some of its words.

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
    ids, texts, run = result.scores.query_ids, result.queries.texts, name_line(result.name)
    folded = [*map(_folded, texts)]
    name: Any = given
    if not isinstance(name, str) or not (sought := _folded(name)):
        raise ConfigError(f"question {shown(given)}: expected its id, or the beginning or some words of it")
    ways: tuple[Callable[[str, str], bool], ...] = (  # the closest first
        lambda query_id, _: query_id == given,
        lambda _, text: text == sought,
        lambda query_id, text: query_id.startswith(given) or text.startswith(sought),
        lambda _, text: {*sought.split()} <= {*text.replace("?", " ").split()},
    )
    skipped: dict[str, Skipped] = {}
    for label in result.skipped:
        skipped.setdefault(label.query.id, label)
    for fits in ways:
        rows = [row for row, known in enumerate(zip(ids, folded, strict=True)) if fits(*known)]
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise ConfigError(
                f"{shown(given)} names {len(rows)} questions of {run}; write more of one, or its id:\n"
                f"{_listed([(ids[row], one_line(texts[row], _LINE)) for row in rows])}"
            )
        labels = [label for label in skipped.values() if fits(label.query.id, _folded(label.query.text))]
        if labels:
            raise ConfigError(_were_skipped(run, given, labels))
    near = [folded.index(text) for text in get_close_matches(sought, folded, _MOST_LISTED, _NEAR)]
    near += [ids.index(name) for name in get_close_matches(given, ids, _MOST_LISTED, 2 * _NEAR)]
    rows = [*dict.fromkeys(near)][:_MOST_LISTED]
    how = "; name one by its id, or by the beginning or some words of it"
    told = f"; the nearest:\n{_listed([(ids[row], one_line(texts[row], _LINE)) for row in rows])}" if rows else how
    raise ConfigError(f"no question of {run} is called {shown(given)}{told}")


def _were_skipped(run: str, given: str, labels: Sequence[Skipped]) -> str:
    """Return which questions of a run were skipped, and why; of many, some."""
    reasons = [one_line(label.reason, _LINE) for label in labels]
    why = "skipped, so that there is nothing to explain:"
    if len(labels) == 1:
        return f"the question {name_line(labels[0].query.id)} of {run} was {why} {reasons[0]}"
    told = zip(labels, reasons, strict=True)
    listed = _listed([(label.query.id, f"{one_line(label.query.text, _LINE)}: {reason}") for label, reason in told])
    return f"{shown(given)} names {len(labels)} questions of {run} that were {why}\n{listed}"


def _listed(questions: Sequence[tuple[str, str]]) -> str:
    """Return questions by id, with what is told of each, a line each; of many the first ones."""
    lines = [f"  {name_line(name)}  {told}".rstrip() for name, told in questions[:_MOST_LISTED]]
    more = len(questions) - len(lines)
    return "\n".join([*lines, *([f"  and {more} more"] if more else [])])


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


_NEARLY = 1e-9
_AROUND = 80  # characters of the document on either side of what was missed


def explain(
    result: EvaluationResult[Any],
    question: str | QueryResult[Any] | Sequence[QueryResult[Any]] | list[str] | None = None,
    score: str | None = None,
    *,
    baseline: EvaluationResult[Any] | None = None,
    **how: Any,
) -> Explanation | list[Explanation]:
    """Explain what questions of a run found and missed, as `EvaluationResult.explain` says.

    Args:
        result: The run.
        question: One question, or a list of some; by default the worst.
        score: The recall that is explained.
        baseline: Another result.
        how: How the pipeline is asked again: the keywords of `gather`.

    Raises:
        ConfigError: The question or the score is not known; or the pipeline cannot be made again or asked, and `deep`
            is true or it is given.
        LevelMismatch: The baseline is of another evaluation type.
        ResultError: The documents have changed or cannot be read, it is not known what was retrieved, or the baseline
            does not have the question.
    """
    if question is None:
        question = _worst(result, recall_name(result, score)[0])
    alone = not isinstance(question, list | tuple)
    asked: list[Any] = [question] if alone else [*cast("Sequence[Any]", question)]
    rows = [find_question(result, one.query_id if isinstance(one, QueryResult) else one) for one in asked]
    names = [recall_name(result, score or _chosen_by(result, one), row) for one, row in zip(asked, rows, strict=True)]
    has_failed = [result.scores.statuses[row] == "failed" for row in rows]  # of these nothing is asked
    explained: dict[int, Explanation] = {}
    for group in dict.fromkeys(zip(names, has_failed, strict=True)):
        places = [place for place, known in enumerate(zip(names, has_failed, strict=True)) if known == group]
        (name, cutoff), _ = group
        gathered = gather(result, np.array([rows[place] for place in places], dtype=np.int64), cutoff, **how)
        for number, place in enumerate(places):
            row, own = rows[place], gathered.question(number)
            losses = losses_of(result, own.evidence) if result.scores.statuses[row] == "scored" else None
            before = None if baseline is None else question_before(baseline, result, row, name)
            explained[place] = _Explaining(result, row, name, own, losses, before).explanation
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


@dataclass(frozen=True, eq=False)
class _Explaining:
    """One question, and all that is known of it."""

    result: EvaluationResult[Any]
    row: int
    name: str
    gathered: Gathered
    losses: Losses | None
    before: QuestionBefore | None

    @cached_property
    def evidence(self) -> Evidence:
        return self.gathered.evidence

    @cached_property
    def entry(self) -> GroundTruth[Any]:
        return self.evidence.truth[0]

    @cached_property
    def final(self) -> Ranking:
        return self.evidence.final[0]

    @cached_property
    def read(self) -> Ranking:
        """What was read at the cutoff; a result in which a budget ends is cut."""
        return self.evidence.cut(self.evidence.final)[0]

    @cached_property
    def ranks(self) -> Mapping[tuple[object, ...], int]:
        """The rank of each result: in the run or, behind that, where it would be."""
        deep = () if self.evidence.first is not None else self.evidence.deep[0]
        return {**_ranks(deep), **_ranks(self.final)}

    @cached_property
    def first_ranks(self) -> Mapping[tuple[object, ...], int]:
        """The rank of each result before the reranker; empty without one."""
        return {} if self.evidence.first is None else _ranks(self.evidence.deep[0])

    @property
    def explanation(self) -> Explanation:
        told = self.result.queries[self.row]
        losses = self.losses
        notes: list[str] = [*self.gathered.notes, *noted(self.result, self.gathered)]
        if losses is not None:
            row = np.array([self.row], dtype=np.int64)
            notes += confirmed(self.result, self.name, row, losses)[1]
        return Explanation(
            run=self.result.name,
            evaluation_type=self.result.evaluation_type,
            score=self.name,
            query_id=told.query_id,
            text=told.text,
            status=told.status,
            recall=None if losses is None else float(losses.recall[0]),
            results=tuple(self._results()),
            answers=() if losses is None else tuple(self._answers()),
            depth=self.gathered.depth,
            notes=(
                *(f"{failure.kind}: {failure.message}" for failure in told.failures),
                *(() if self.before is None else self.before.notes),
                *notes,
            ),
            baseline=None if self.before is None else self.before.name,
            before=None if self.before is None else self.before.recall,
            knows_ranks=self.before is not None and self.before.ranking is not None,
            gone=tuple(self._gone()),
            cutoff=str(self.evidence.cutoff),
            corpus=self.evidence.corpus,
            returned=self.gathered.returned,
        )

    def _results(self) -> Iterator[RankedResult]:
        reader = self.evidence.cutter.reader
        was = {} if self.before is None or self.before.ranking is None else _ranks(self.before.ranking)
        bought = [*self.read]
        for rank, hit in enumerate(self.final, start=1):
            read: Literal["all", "part", "none"] = "none"
            if bought and _begin(bought[0]) == _begin(hit):
                part = bought.pop(0)
                read = "all" if reader.length(part) >= reader.length(hit) else "part"
            relevant = tuple(self._relevant(hit))
            yield RankedResult(rank, hit, reader.original(hit), relevant, read, was.get(hit.identity))

    def _relevant(self, hit: Hit) -> Iterator[tuple[int, int]]:
        """Yield the stretches of a result that are in a place of an answer; of a relevant unit, all of it."""
        if self.result.evaluation_type != "token-level":
            level = LEVELS[self.result.evaluation_type]
            unit = level.read(hit)
            if unit is not None and {*self.entry.as_labelled([unit])} & {*self.entry.labels}:
                yield 0, len(self.evidence.cutter.reader.original(hit))
            return
        own = hit.span
        if own is None:
            return
        inside = [
            CharacterSpan(own.doc_id, max(span.start, own.start), min(span.end, own.end))
            for span in self.entry.labels
            if span.overlaps(own)
        ]
        for span in merge_overlapping_spans(inside):
            yield span.start - own.start, span.end - own.start

    def _answers(self) -> Iterator[ExplainedAnswer]:
        answers = self.entry.answers
        level, corpus = self.result.evaluation_type, self.evidence.corpus
        alone = [truth_of(self.entry.query, (answer,), level, corpus) for answer in answers]
        evidence = self.evidence.take(np.zeros(len(alone), dtype=np.int64), alone)
        losses = losses_of(self.result, evidence)
        for number, (answer, entry) in enumerate(zip(answers, alone, strict=True)):
            yield self._answer(answer, entry, number, losses)

    def _answer(self, answer: Answer[Any], entry: GroundTruth[Any], number: int, losses: Losses) -> ExplainedAnswer:
        recall = float(losses.recall[number])
        ranking = self.final if self.evidence.first is not None else max(self.evidence.deep[0], self.final, key=len)
        rank = self._more(entry, ranking, recall)
        lost: dict[Cause, float] = {cause: float(losses.lost[cause][number]) for cause in CAUSES}
        first = outside = None
        if self.evidence.first is not None:
            first = self._more(entry, self.evidence.deep[0], recall)
            given = recall + lost["beyond_cutoff"] + lost["dropped_by_reranker"] + lost["not_placed"]
            outside = self._more(entry, self.evidence.deep[0], given)
        found = self._more(entry, ranking, 0.0)
        earlier = None if self.before is None else self.before.ranking
        was = None if earlier is None else self._more(entry, earlier, 0.0)
        return ExplainedAnswer(
            answer=answer,
            recall=recall,
            lost=lost,
            is_split=bool(losses.split[number] > _NEARLY),
            is_truncated=bool(losses.truncated[number] > _NEARLY),
            is_cut_off=bool(losses.cut_off[number] > _NEARLY),
            rank=rank,
            before=() if rank is None else ranking[: rank - 1],
            first_rank=first,
            outside_rank=outside,
            found_at=found,
            was_found_at=was,
            missed=tuple(self._missed(answer)) if recall < 1 - _NEARLY else (),
        )

    def _more(self, entry: GroundTruth[Any], ranking: Ranking, recall: float) -> int | None:
        """Return the first rank with which more is found of an answer than this share."""
        whole = np.array(self._found(entry, ranking))
        ranks = np.flatnonzero(whole > recall + _NEARLY)
        return int(ranks[0]) + 1 if len(ranks) else None

    def _found(self, entry: GroundTruth[Any], ranking: Ranking) -> Sequence[float]:
        """Return the recall of an answer after each rank."""
        if self.result.evaluation_type == "token-level":
            truth = [cast("GroundTruth[CharacterSpan]", entry)]
            (judged,) = SpanJudgements.from_hits([RankedHits.of([ranking])], truth)
            shares: list[float] = (judged.credit[0] / judged.truth[0]).tolist()
            return shares
        level = LEVELS[self.result.evaluation_type]
        count = len(entry.relevant)
        return [accounted(entry, units_of(entry, level, ranking[:rank])) / count for rank in range(1, len(ranking) + 1)]

    def _missed(self, answer: Answer[Any]) -> Iterator[Missed]:
        """Yield what of an answer's first place was not read, nor said by a copy that was; not white space alone."""
        if self.result.evaluation_type != "token-level":
            return
        read = merge_overlapping_spans(hit.span for hit in self.read if hit.span is not None)
        said = [*read]
        for place, wording in zip(answer.places[1:], answer.wordings[1:], strict=True):
            if wording == 0:
                said += _echoes(place, answer.reference, read)
        for span in uncovered(answer.reference, said):
            shown = self._shown(span)
            if not shown.span.text.isspace():  # between chunks, as a splitter drops it
                yield shown

    def _shown(self, span: CharacterSpan) -> Missed:
        corpus = self.evidence.corpus
        if span.doc_id not in corpus:
            return Missed(span, "", "")
        text = corpus[span.doc_id].content
        quoted = text[span.start : span.end]
        whole = CharacterSpan(span.doc_id, span.start, span.end, quoted if len(quoted) == span.length() else "")
        before = text[max(span.start - _AROUND, 0) : span.start]
        return Missed(whole, before, text[span.end : span.end + _AROUND], tuple(self._neighbours(span)))

    def _neighbours(self, span: CharacterSpan) -> Iterator[Neighbour]:
        """Yield the chunks that hold some of a span, and the nearest on either side."""
        placed = [
            CharacterSpan(chunk.doc_id, chunk.start, chunk.end)
            for chunk in self.evidence.chunks or ()
            if isinstance(chunk, PositionAwareChunk) and chunk.doc_id == span.doc_id
        ]
        ordered = sorted(placed, key=lambda chunk: (chunk.start, chunk.end))
        behind = [chunk for chunk in ordered if chunk.end <= span.start]
        ahead = [chunk for chunk in ordered if chunk.start >= span.end]
        holding = [chunk for chunk in ordered if chunk.overlaps(span)]
        for chunk in (*behind[-1:], *holding, *ahead[:1]):
            place = (chunk.doc_id, chunk.start, chunk.end)
            yield Neighbour(chunk, chunk.overlaps(span), self.ranks.get(place), self.first_ranks.get(place))

    def _gone(self) -> Iterator[tuple[Hit, int, int | None]]:
        """Yield what the baseline read and the run did not, with its ranks in both."""
        if self.before is None or self.before.ranking is None:
            return
        read = {hit.identity for hit in self.final[: len(self.read)]}
        cut = self.evidence.cut(RankedHits.of([self.before.ranking]))[0]
        for rank, hit in enumerate(self.before.ranking[: len(cut)], start=1):
            if hit.identity not in read:
                yield hit, rank, self.ranks.get(hit.identity)


def _echoes(
    place: Sequence[CharacterSpan], original: Sequence[CharacterSpan], read: Sequence[CharacterSpan]
) -> Iterator[CharacterSpan]:
    """Yield what spans that were read in a copy say of the original."""
    for one, other in zip(place, original, strict=True):
        for span in read:
            if span.overlaps(one):
                shift = other.start - one.start
                start, end = max(span.start, one.start) + shift, min(span.end, one.end) + shift
                yield CharacterSpan(other.doc_id, start, end)


def _ranks(ranking: Ranking) -> dict[tuple[object, ...], int]:
    """Return the best rank, from 1, of each result."""
    ranks: dict[tuple[object, ...], int] = {}
    for rank, hit in enumerate(ranking, start=1):
        ranks.setdefault(hit.identity, rank)
    return ranks


def _begin(hit: Hit) -> tuple[object, ...]:
    """Return what a result has in common with itself, cut."""
    return (hit.doc_id, hit.start) if hit.placed else (hit.doc_id, (hit.text or "")[:20], hit.chunk_id)
