"""The results of all queries in columns, the result of one query, and what it lacks."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import isnan
from operator import eq
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..base.outside import name_line, one_line
from ..contracts.registry.building import plain
from ..data import CharacterSpan, Corpus, Failure, GroundTruth, Rankings
from ..data.columns import Integers, Numbers, OnDemand
from ..data.cutoffs import OWN_CUTOFF, Cutoff, ScoreName
from ..data.ground_truth import Answer, as_answer, gains_of, question_identity
from ..data.hits import RankedHits, Ranking
from ..data.levels import U
from ..data.score_table import ScoreTable, Status
from ..data.spans import uncovered
from ..errors import ResultError
from ..scoring.levels.rules import RULES
from ..text.reading import ContextBudget, HitReader

if TYPE_CHECKING:
    from .result import EvaluationResult

# What was returned for each query, in brief: how much, where the first relevant result is, and the best score.


@dataclass(frozen=True, eq=False)
class Returned:
    """Results per query; arrays of shape (queries,).

    Attributes:
        results: The number of results, as deep as the cutoffs reach.
        first_relevant: The rank of the first result that is relevant, or at token level shares text with an answer. It
            counts results from 1, also those that repeat a document. NaN if none is, or nothing is relevant.
        best_score: The retriever's own score of the first result; NaN if it has none, or if another result has a higher
            one, so that the scores do not order the results, as distances do not.
    """

    results: Integers
    first_relevant: Numbers
    best_score: Numbers


def total_seconds(stages: Mapping[str, Numbers], questions: int) -> Numbers:
    """Return the seconds of all stages of each question together, NaN where it was not timed; shape (questions,)."""
    seconds = np.stack([np.full(questions, np.nan), *stages.values()], axis=1)
    return np.where(np.isnan(seconds).all(axis=1), np.nan, np.nansum(seconds, axis=1))


def _best_scores(hits: RankedHits) -> Numbers:
    """Return the score of the first result of each ranking; NaN where it has none, or another has a higher one."""
    best, some, scores = np.full(len(hits), np.nan), hits.counts > 0, hits.flat.score
    begins = (np.cumsum(hits.counts) - hits.counts)[some]
    first, highest = scores[begins], np.fmax.reduceat(scores, begins)
    best[some] = np.where(np.isfinite(first) & (first >= highest), first, np.nan)
    return best


DEEPEST = 100
"""How deep what is recorded may be nested."""

Kept: TypeAlias = tuple[RankedHits, Mapping[int, RankedHits], NDArray[np.bool_]]
Found: TypeAlias = Kept | Callable[[Sequence[str]], Kept] | None


@dataclass(frozen=True, eq=False, repr=False)
class QueryResults(OnDemand["QueryResult[U]"], Generic[U]):
    """The results of all queries. A `QueryResult` is made when it is asked for: `results[0]`, or by iterating.

    Attributes:
        table: The scores of all queries.
        texts: Their wordings.
        relevant: Their relevant units.
        answers: Their answers with all places, by row, where an answer has several.
        places_found: Of each of these answers the number of the place of which the largest part was retrieved, by row;
            None if nothing of it was.
        gains: How relevant units are, by row and id; 1.0 for those that are not named, and for spans.
        stages: Seconds spent in each stage of the retrievals, NaN where not measured; shape (queries,) each.
        found: What was retrieved, as `kept` tells it; or what reads it from a file for these query ids when a hit is
            asked for; None if it is not known, as of a `report.json` alone.
        returned: What was returned for each query, in brief.
        metadata: What else the dataset says of queries, by row, as a record holds it; of those of which it does.
        before: The scores of the ranking without the reranker by name, NaN where a query has none; shape (queries,)
            each. Empty without a reranker, or if no query was scored.
        ceilings: The recall that no order of the candidates exceeds, likewise; of recalls only.
    """

    table: ScoreTable
    texts: Sequence[str]
    relevant: Sequence[tuple[U, ...]]
    gains: Mapping[int, Mapping[str, float]]
    stages: Mapping[str, Numbers]
    found: Found
    returned: Returned
    answers: Mapping[int, tuple[Answer[U], ...]] = field(default_factory=dict[int, tuple[Answer[U], ...]])
    places_found: Mapping[int, tuple[int | None, ...]] = field(default_factory=dict[int, tuple[int | None, ...]])
    metadata: Mapping[int, Mapping[str, Any]] = field(default_factory=dict[int, Mapping[str, Any]])
    before: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])
    ceilings: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])

    @classmethod
    def of(
        cls,
        truth: Sequence[GroundTruth[U]],
        rankings: Rankings,
        table: ScoreTable,
        first_relevant: Numbers,
        quoted: Callable[[Any], Any],
    ) -> "QueryResults[U]":
        """Return the results of an evaluation; hits that have a place are kept without their text, which follows.

        Args:
            truth: The ground truth.
            rankings: What was retrieved.
            table: The scores.
            first_relevant: The rank of the first relevant result of each ranking.
            quoted: Returns a relevant unit with the text that it quotes, if that is known.
        """
        several = {row: entry for row, entry in enumerate(truth) if entry.has_alternatives}
        return cls(
            table,
            tuple(entry.query.text for entry in truth),
            tuple(tuple(map(quoted, entry.relevant)) for entry in truth),
            {row: known for row, entry in enumerate(truth) if (known := gains_of(entry))},
            {name: stage.seconds for name, stage in rankings.stages.items() if not np.isnan(stage.seconds).all()},
            (
                rankings.hits.without_texts(),
                {cutoff.size: hits.first(cutoff.size).without_texts() for cutoff, hits in rankings.at.items()},
                rankings.exhausted,
            ),
            Returned(rankings.hits.counts, first_relevant, _best_scores(rankings.hits)),
            {row: tuple(answer.mapped(quoted) for answer in entry.answers) for row, entry in several.items()},
            {row: _places_found(entry, rankings.hits[row]) for row, entry in several.items()},
            {row: plain(entry.query.metadata, DEEPEST) for row, entry in enumerate(truth) if entry.query.metadata},
        )

    @property
    def hits(self) -> RankedHits:
        """What was retrieved for each query, best first, as deep as the cutoffs reach.

        Raises:
            ResultError: It is not known, or in a file that cannot be read.
        """
        return self.kept[0]

    @cached_property
    def kept(self) -> Kept:
        """`hits`; those at a k, by the k, where they begin otherwise for some query; and which are all there are."""
        if self.found is None:
            raise ResultError(
                "what was retrieved is not known: this result was loaded from a report alone, without its "
                "rankings.jsonl.gz, as a kept baseline is; expected the folder of the run"
            )
        return self.found(self.table.query_ids) if callable(self.found) else self.found

    @cached_property
    def totals(self) -> Numbers:
        """Seconds of all stages of each query together, NaN where not measured; shape (queries,)."""
        return total_seconds(self.stages, len(self))

    @cached_property
    def identities(self) -> tuple[str, ...]:
        """The `identity` of each query."""
        rows = enumerate(zip(self.texts, self.relevant, strict=True))
        return tuple(
            question_identity(text, relevant, self.answers.get(row, ()), self.gains.get(row, {}))
            for row, (text, relevant) in rows
        )

    def row(self, number: int) -> "QueryResult[U]":
        """Return the result of one query."""
        return QueryResult(self, number)

    def __len__(self) -> int:
        return len(self.table.query_ids)

    def __repr__(self) -> str:
        return f"QueryResults(queries: {len(self)})"

    def __eq__(self, other: object) -> bool:
        given: Any = other
        return isinstance(other, QueryResults) and len(self) == len(given) and all(map(eq, self, given))

    __hash__ = None  # type: ignore[assignment]  # it holds arrays


def _places_found(entry: GroundTruth[U], hits: Ranking) -> tuple[int | None, ...]:
    units = entry.as_labelled(entry.level.units(hits))
    return tuple(answer.number_found(units) for answer in entry.answers)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class QueryResult(Generic[U]):
    """The result of one query: its ground truth, its ranking and its scores.

    Attributes:
        results: The results of all queries.
        row: Which of them this is.
        by: The full name of the score for which it was chosen, and which is printed; by default the first.
    """

    results: QueryResults[U]
    row: int
    by: str | None = None

    @property
    def query_id(self) -> str:
        """The query's id."""
        return self.results.table.query_ids[self.row]

    @property
    def text(self) -> str:
        """Its wording."""
        return self.results.texts[self.row]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Other fields of the dataset, such as `{"tags": ["billing"]}`, as a record holds them."""
        return self.results.metadata.get(self.row, {})

    @property
    def noted_text(self) -> str:
        """Its wording with the notes of people, the `notes` of its metadata."""
        notes: Any = self.metadata.get("notes")
        return f"{self.text or '–'}{f' – notes: {notes}' if isinstance(notes, str) and notes.strip() else ''}"

    @property
    def relevant(self) -> tuple[U, ...]:
        """The relevant units; empty if the corpus holds no answer."""
        return self.results.relevant[self.row]

    @property
    def answers(self) -> tuple[Answer[U], ...]:
        """The answers, each with all of its places, of which any is enough; empty if the corpus holds none."""
        return self.results.answers.get(self.row) or tuple(map(as_answer, self.relevant))

    @property
    def identity(self) -> str:
        """A hash of its wording and truth, 32 hexadecimal digits.

        Of a span count its document and text, not where that text is; without a text its offsets. Two spans of the same
        text count twice.
        """
        return self.results.identities[self.row]

    @property
    def places_found(self) -> tuple[tuple[U, ...] | None, ...]:
        """Of each answer the place of which the largest part was retrieved, however deep; None if nothing of it was.

        Empty if every answer has one place.
        """
        numbers = self.results.places_found.get(self.row, ())
        pairs = zip(self.answers, numbers, strict=False)
        return tuple(None if number is None else answer.places[number] for answer, number in pairs)

    @property
    def gains(self) -> Mapping[str, float]:
        """Gains of units, by id; 1.0 for unnamed ones and for spans."""
        return self.results.gains.get(self.row, {})

    @property
    def hits(self) -> Ranking:
        """What was retrieved, best first, as deep as the cutoffs reach. A hit with a place carries no text.

        Raises:
            ResultError: They are not known, or in a file that cannot be read.
        """
        return self.results.hits[self.row]

    @property
    def stages(self) -> Mapping[str, float]:
        """Seconds spent in each stage of the retrieval."""
        known = ((name, float(seconds[self.row])) for name, seconds in self.results.stages.items())
        return {name: seconds for name, seconds in known if not isnan(seconds)}

    @property
    def total(self) -> float | None:
        """Seconds of all stages together, reranking included; None if none was measured."""
        seconds = float(self.results.totals[self.row])
        return None if isnan(seconds) else seconds

    @property
    def scores(self) -> dict[str, float | None]:
        """Scores by name; None where a metric failed. Empty if the query has no answer or its retrieval failed."""
        return self.results.table.row(self.query_id)

    @property
    def before(self) -> dict[str, float | None]:
        """Scores of the ranking without the reranker by name, None where a metric failed; empty if there are none."""
        return self.results.table.row(self.query_id, self.results.before)

    @property
    def ceilings(self) -> dict[str, float | None]:
        """The recall that no order of the candidates exceeds, by name of the score; empty without a reranker."""
        return self.results.table.row(self.query_id, self.results.ceilings)

    @property
    def deltas(self) -> dict[str, float | None]:
        """Scores minus those before reranking, by name; None if one is missing. Empty without a reranker."""
        after = self.scores
        changes = ((name, after[name], before) for name, before in self.before.items())
        return {name: None if new is None or old is None else new - old for name, new, old in changes}

    @property
    def first_relevant(self) -> int | None:
        """The rank of the first result that is relevant, or at token level shares text with an answer.

        It counts results from 1, also those that repeat a document, and `mrr` does not. None if no result is relevant.
        """
        rank = float(self.results.returned.first_relevant[self.row])
        return None if isnan(rank) else int(rank)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Failures."""
        return self.results.table.failures.get(self.query_id, ())

    @property
    def status(self) -> Status:
        """`failed` if its retrieval raised, `no-answer` if nothing is relevant, else `scored`."""
        return self.results.table.statuses[self.row]

    @property
    def record(self) -> dict[str, Any]:
        """It for JSON, without hits.

        `identity`, `status`, `answerable`, `deltas` and `total` are for people and other programs: they follow, and are
        not read.
        """
        row, results = self.row, self.results
        best = float(results.returned.best_score[row])
        several = results.answers.get(row, ())
        places = [[[*map(_unit, place)] for place in answer.places] for answer in several]
        return {
            "query_id": self.query_id,
            "text": self.text,
            "identity": self.identity,
            "relevant": [*map(_unit, self.relevant)],
            **({"answers": places, "places_found": results.places_found[row]} if several else {}),
            "gains": self.gains,
            **({"metadata": self.metadata} if self.metadata else {}),
            "status": self.status,
            "answerable": bool(self.relevant),
            "scores": self.scores,
            **({"before": self.before, "deltas": self.deltas} if self.before else {}),
            **({"ceilings": self.ceilings} if self.ceilings else {}),
            "failures": [asdict(failure) for failure in self.failures],
            "results": int(results.returned.results[row]),
            "first_relevant": self.first_relevant,
            "best_score": None if isnan(best) else best,
            "stages": self.stages,
            "total": self.total,
        }

    def __eq__(self, other: object) -> bool:
        both = (self, cast("QueryResult[Any]", other))
        if not isinstance(other, QueryResult) or both[1].record != self.record:
            return False
        mine, theirs = (None if one.results.found is None else one.hits for one in both)
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

    def __repr__(self) -> str:
        return f"QueryResult({self})"

    def __str__(self) -> str:
        if self.by is None:
            name, shown = next(iter(self.scores.items()), (self.status, None))
        else:
            name, score = self.by, self.results.table.column(self.by)[self.row]
            shown = None if isnan(score) else score
        measured = f"{name_line(name)}{'' if shown is None else f' {shown:.3f}'}"
        return f"{name_line(self.query_id)}  {measured}  {one_line(self.text)}"


def question_lines(queries: QueryResults[Any]) -> Iterator[str]:
    """Yield every question as JSON."""
    return (json.dumps(query.record, ensure_ascii=False, allow_nan=False) for query in queries)


def _unit(unit: Any) -> Any:
    if not isinstance(unit, CharacterSpan):
        return unit
    return {"doc_id": unit.doc_id, "start": unit.start, "end": unit.end, "text": unit.text}  # asdict copies each value


# What the results of a question lack of its answers.


class Missed(NamedTuple):
    """Missed parts of the answers to a question.

    Attributes:
        texts: The passages that no result has, as their labels quote them ("" where that is not known), but for white
            space alone; at the other levels the ids of documents or chunks.
        rank: The best rank, from 1, of a result behind the cutoff that has some of it; None if there is none.
        is_blank: Whether white space is all that no result has.
    """

    texts: tuple[str, ...]
    rank: int | None
    is_blank: bool = False


def missed(result: "EvaluationResult[Any]", query: QueryResult[Any], score: str) -> Missed:
    """Return what the results within the cutoff of a score lack: of an answer with several places, the least.

    At a budget in tokens, which only its tokenizer can cut, and for a score without a cutoff, all results count.

    Raises:
        ResultError: What was retrieved is not known.
    """
    rules = RULES[result.evaluation_type]
    read = [unit for hit in _read(result, query, score) if (unit := rules.level.read(hit)) is not None]

    def lacking(place: Sequence[Any]) -> list[Any]:
        if result.evaluation_type == "token-level":
            return [part for span in place for part in _unread(span, read)]
        return [unit for unit in place if not any(rules.found(unit, hit) for hit in read)]

    missing = [unit for answer in query.answers for unit in min(map(lacking, answer.places), key=_size)]
    units = [unit for unit in missing if not (isinstance(unit, CharacterSpan) and unit.text.isspace())]
    ranks = (
        rank
        for rank, hit in enumerate(map(rules.level.read, query.hits), 1)
        if hit is not None and any(rules.found(unit, hit) for unit in units)
    )
    texts = tuple(unit.text if isinstance(unit, CharacterSpan) else unit for unit in units)
    return Missed(texts, next(ranks, None), bool(missing) and not units)


def why_unknown(result: "EvaluationResult[Any]") -> str:
    """Return why it is not known what was retrieved, and so what was missed; "" if it is."""
    try:
        _ = result.queries.hits
    except ResultError as error:
        return str(error)
    return ""


def own_cutoff(result: "EvaluationResult[Any]", query_id: str) -> str:
    """Return the cutoff of a question: its own if each has one, else the first of all."""
    others: Mapping[str, int] = result.config.get("top_k") or {}
    first = next((cutoff for cutoff in result.cutoffs if cutoff != str(OWN_CUTOFF)), result.cutoffs[0])
    return str(others.get(query_id, first))


def _read(result: "EvaluationResult[Any]", query: QueryResult[Any], score: str) -> Ranking:
    """Return the results that a score is of."""
    cutoff = ScoreName.parse(score).cutoff
    if cutoff == OWN_CUTOFF:
        cutoff = Cutoff.parse(own_cutoff(result, query.query_id))
    if cutoff is None or cutoff.unit == "tok":
        return query.hits
    if not cutoff.is_budget:
        return query.hits[: cutoff.size]
    return ContextBudget(cutoff, None, HitReader(Corpus(()))).buy(RankedHits.of([query.hits])).hits[0]


def _unread(span: CharacterSpan, read: Sequence[CharacterSpan]) -> Iterator[CharacterSpan]:
    """Yield the parts of a span that are in no result, with their texts."""
    for part in uncovered([span], read):
        yield replace(part, text=span.text[part.start - span.start : part.end - span.start])


def _size(units: Sequence[Any]) -> int:
    return sum(unit.length() if isinstance(unit, CharacterSpan) else 1 for unit in units)
