"""`score_spans`: score existing rankings of spans, without corpus or retriever."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter, index, itemgetter
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..base.notes import note
from ..base.outside import shown
from ..contracts.roles import Metric
from ..data import Answer, CharacterSpan, Cutoff, DocumentId, QueryId, ScoreName, ScoreTable
from ..data.columns import Integers, Numbering
from ..data.values import items
from ..errors import ConfigError, DatasetError
from .judging.spans import SpanJudgements, Trail, judge_trail, oracle_from_columns
from .judging.stretches import SpanColumns, SpanTruth
from .metrics import SpanMetric, TokenSetMetric
from .score_names import DEFAULT_SPAN_SCORES, SpanScore, parse_span_scores
from .score_rankings import check_mappings, note_no_match, short
from .tabulate import Cut, Units, reads_judgements, rereadable, tabulate

# Reading rankings of spans from mappings and lists, as fast as Python allows.

SpanLike: TypeAlias = CharacterSpan | tuple[str, int, int] | Mapping[str, Any]
"""A span, `(doc_id, start, end)`, or a mapping with these keys."""

Spans: TypeAlias = Mapping[str, Iterable[SpanLike]] | Mapping[QueryId, Iterable[SpanLike]]

Truth: TypeAlias = (
    Mapping[str, Iterable[SpanLike | Answer[CharacterSpan]]]
    | Mapping[QueryId, Iterable[SpanLike | Answer[CharacterSpan]]]
)

LAST_OFFSET = 2**40
"""The largest offset: no text is longer, and larger numbers could not be summed exactly."""

_Row: TypeAlias = tuple[DocumentId, int, int]
_Columns: TypeAlias = tuple[Sequence[str], Integers, Integers]

_EXPECTED = "a CharacterSpan, (doc_id, start, end), or a mapping with doc_id, start and end"
_FROM_ROW = tuple(map(itemgetter, range(3)))
_READERS: dict[type, tuple[Callable[[Any], Any], ...]] = {
    CharacterSpan: tuple(map(attrgetter, ("doc_id", "start", "end"))),
    dict: tuple(map(itemgetter, ("doc_id", "start", "end"))),
    tuple: _FROM_ROW,
    list: _FROM_ROW,
}


def read_spans(owners: Sequence[str], given: Sequence[object], documents: Numbering, *, ranked: bool) -> SpanColumns:
    """Return the spans as columns, one query per owner; documents that are new are numbered.

    Args:
        owners: What errors call each list of spans, such as `"question 'q1': the ranking"`.
        given: The spans of each owner.
        documents: The numbers of the documents.
        ranked: Whether the order of the spans matters, so that a set is refused.

    Raises:
        DatasetError: A list or a span cannot be read.
    """
    lists = [_listed(owner, spans, ranked=ranked) for owner, spans in zip(owners, given, strict=True)]
    flat = list(chain.from_iterable(lists))
    columns = _quickly(flat)
    if columns is None:
        rows = [_row(owner, span) for owner, spans in zip(owners, lists, strict=True) for span in spans]
        columns = _columns([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    counts = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    names, start, end = columns
    return SpanColumns(
        query=np.repeat(np.arange(len(lists)), counts),
        document=np.fromiter(map(documents.__getitem__, names), dtype=np.int64, count=len(flat)),
        start=start,
        end=end,
        rank=np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts),
    )


def read_truth(
    owners: Sequence[str], given: Sequence[object], documents: Numbering
) -> tuple[SpanTruth, list[list[Answer[CharacterSpan]]] | None]:
    """Return the relevant spans as columns, and the answers of each owner that has several places.

    Args:
        owners: As in `read_spans`.
        given: The relevant spans, or answers, of each owner.
        documents: The numbers of the documents.

    Raises:
        DatasetError: A list, a span or an answer cannot be read.
    """
    lists = [_listed(owner, spans, ranked=False) for owner, spans in zip(owners, given, strict=True)]
    if not any(isinstance(one, Answer) for spans in lists for one in spans):
        return SpanTruth(read_spans(owners, lists, documents, ranked=False)), None
    answers = [[_answer(owner, one) for one in spans] for owner, spans in zip(owners, lists, strict=True)]
    every = [[span for answer in some for place in answer.places for span in place] for some in answers]
    read_spans(owners, every, documents, ranked=False)
    _note_unknown_texts(answers)
    return SpanTruth.of(answers, documents), answers


def _note_unknown_texts(answers: Iterable[Iterable[Answer[CharacterSpan]]]) -> None:
    """Note how many answers have several places of which not all are known to be copies or other wordings."""
    several = (answer for some in answers for answer in some if len(answer.places) > 1)
    silent = sum(not all(span.text for span in answer.units) for answer in several)
    if silent:
        note(
            f"answers with several places without texts: {silent}; no place is taken for a copy of another one, each "
            "counts as another wording. Give their spans the text: CharacterSpan(doc_id, start, end, text)"
        )


def _answer(owner: str, given: Any) -> Answer[CharacterSpan]:
    if not issubclass(type(given), Answer):
        return Answer(((given if isinstance(given, CharacterSpan) else CharacterSpan(*_row(owner, given)),),))
    answer: Answer[Any] = given
    for place in answer.places:
        for span in place:
            if not isinstance(span, CharacterSpan):
                raise DatasetError(
                    f"{owner} holds an answer with the place {short(span)}; expected spans: CharacterSpan"
                )
    return answer


def as_spans(given: Iterable[Iterable[SpanLike]]) -> list[list[CharacterSpan]]:
    """Return spans that can be read as objects; only a `CharacterSpan` carries its text."""
    return [
        [span if isinstance(span, CharacterSpan) else CharacterSpan(*_row("a list", span)) for span in spans]
        for spans in given
    ]


def _listed(owner: str, spans: Any, *, ranked: bool) -> list[Any]:
    given: object = spans
    if isinstance(given, str | bytes | Mapping | CharacterSpan) or not isinstance(given, Iterable):
        raise DatasetError(f"{owner} is {short(spans)}; expected a list of spans{', best first' if ranked else ''}")
    if ranked and isinstance(given, Set):
        raise DatasetError(f"{owner} is {short(spans)}, which has no order; expected a list of spans, best first")
    return items(spans, owner)


def _quickly(spans: list[Any]) -> _Columns | None:
    """Return the columns of spans that are all of one form and all valid, or None."""
    try:
        (kind,) = set(map(type, spans))
        names, starts, ends = (list(map(read, spans)) for read in _READERS[kind])
        if {*map(type, starts), *map(type, ends)} != {int} or set(map(type, names)) != {str}:
            return None
        if _READERS[kind] is _FROM_ROW and set(map(len, spans)) != {3}:
            return None
        columns = _columns(names, starts, ends)
    except (LookupError, ValueError, OverflowError):
        return None
    _, start, end = columns
    return columns if start.min() >= 0 and end.max() <= LAST_OFFSET and (start <= end).all() else None


def _columns(names: Sequence[str], starts: Sequence[int], ends: Sequence[int]) -> _Columns:
    count = len(names)
    return names, np.fromiter(starts, dtype=np.int64, count=count), np.fromiter(ends, dtype=np.int64, count=count)


def _row(owner: str, span: Any) -> _Row:
    """Return one span as a row.

    Raises:
        DatasetError: It is not a valid span.
    """
    parts = _parts(span)
    if len(parts) != 3:
        raise DatasetError(f"{owner} holds {short(span)}; expected {_EXPECTED}")
    document, start, end = parts
    if not isinstance(document, str):
        raise DatasetError(
            f"{owner} holds {short(span)}; expected the document's id as a text, got {shown(document, 60)}"
        )
    try:
        first, last = ((-1 if isinstance(offset, bool | np.bool_) else index(offset)) for offset in (start, end))
    except TypeError:
        first = last = -1
    if not 0 <= first <= last <= LAST_OFFSET:
        raise DatasetError(
            f"{owner} holds {short(span)}; expected whole numbers of characters, 0 <= start <= end <= 2^40, got "
            f"start {shown(start, 60)}, end {shown(end, 60)}"
        )
    return DocumentId(document), first, last


def _parts(span: Any) -> tuple[Any, ...]:
    if isinstance(span, CharacterSpan):
        return span.doc_id, span.start, span.end
    if isinstance(span, Mapping):
        named = cast("Mapping[str, Any]", span)
        keys = ("doc_id" if "doc_id" in named else "docId", "start", "end")
        return tuple(named[key] for key in keys if key in named)
    return tuple(cast("Sequence[Any]", span)) if isinstance(span, list | tuple) else ()


# Scoring them.


def score_spans(
    ground_truth: Truth,
    rankings: Spans,
    metrics: Sequence[SpanScore] = DEFAULT_SPAN_SCORES,
    chunks: Iterable[SpanLike] | None = None,
) -> ScoreTable:
    """Score rankings of spans that were made elsewhere.

    A span is a `CharacterSpan`, `(doc_id, start, end)`, or a mapping with `doc_id` (or `docId`), `start` and `end`, in
    characters (Unicode code points), the end exclusive. Queries are matched by id. A query that the rankings lack is
    scored as an empty ranking, one without ground truth is left out, one without relevant text has no score; all are
    counted. Nobody knows which documents there are: a span is as long as it says, wherever it is, while `evaluate`
    counts no characters of a place that its corpus lacks. That no retrieved document has a label is noted, of two
    questions or more.

    Args:
        ground_truth: For each query its relevant spans, all of which are wanted. In place of a span,
            `Answer.any_of(span, copy)` is an answer with several places; those with the same text are copies.
        rankings: For each query the retrieved spans, best first.
        metrics: Names of scores, such as `span_recall@5`, `span_iou`, `span_recall@4000ch`; metrics, which score the
            whole ranking; and pairs of a metric and its cutoff. A budget in characters is filled from the top, text
            that was retrieved twice counts twice, and the span that crosses the budget is cut there, or left out if the
            name ends in `_whole`. A metric of your own is called once for each question that has an answer, with the
            retrieved spans, cut, and the relevant ones; they have a text if you give a `CharacterSpan` that has one,
            which token-set metrics need.
        chunks: All chunks of the corpus; only `precision_omega` needs them.

    Returns:
        The scores, in the order of the ground truth.

    Raises:
        ConfigError: Something is not a score of spans, two metrics share a name, no score is named, a budget counts
            tokens, or chunks or texts are needed.
        DatasetError: The ground truth is empty, a ranking has no order, or a span cannot be read.
    """
    chosen = parse_span_scores(metrics)
    needing = [name for name, metric in chosen.items() if isinstance(metric, SpanMetric) and metric.needs_chunks]
    if needing and chunks is None:
        raise ConfigError(f"score {str(needing[0])!r} needs all chunks of the corpus: give them as chunks=")
    check_mappings(ground_truth, rankings, "spans")
    documents = Numbering()
    queries: tuple[str, ...] = tuple(ground_truth)
    found = cast("Mapping[str, Iterable[SpanLike]]", rankings)
    right = rereadable(ground_truth.values(), "ground_truth")
    ranked = rereadable((found.get(query, ()) for query in queries), "rankings")
    truth, answers = read_truth([f"question {query!r}: the ground truth" for query in queries], right, documents)
    labelled = len(documents)
    retrieved = read_spans([f"question {query!r}: the ranking" for query in queries], ranked, documents, ranked=True)
    if (retrieved.document >= labelled).all():
        note_no_match([*documents][labelled:], [*documents][:labelled], len(queries))
    pieces = None if chunks is None else read_spans(["the list of chunks"], [chunks], documents, ranked=False)
    judged = _judge(truth, retrieved, len(queries), chosen)
    if pieces is not None and needing:
        oracle = oracle_from_columns(pieces, truth, len(queries))
        judged = {cutoff: replace(judgements, oracle=oracle) for cutoff, judgements in judged.items()}
    answerable = next(iter(judged.values())).truth > 0
    cuts = {cutoff: Cut(judgements) for cutoff, judgements in judged.items()}
    if not all(map(reads_judgements, chosen.values())):
        spans = as_spans(ranked)
        relevant = [Units((), own) for own in as_spans(right)] if answers is None else [*map(Units.of, answers)]
        _check_texts(chosen, chain(*(unit.spans for unit in relevant), *spans))
        units = partial(_units, relevant, spans, retrieved, answerable)
        cuts = {cutoff: Cut(judgements, partial(units, cutoff)) for cutoff, judgements in judged.items()}
    answered = sum(map(rankings.__contains__, queries))
    counts = {
        "queries": len(queries),
        "no_answer": int((~answerable).sum()),
        "queries_not_ranked": len(queries) - answered,
        "queries_not_judged": len(rankings) - answered,
    }
    return tabulate(queries, chosen, cuts, answerable, counts=counts)


def _check_texts(chosen: Mapping[ScoreName, Metric[Any]], spans: Iterable[CharacterSpan]) -> None:
    name = next((name for name, metric in chosen.items() if isinstance(metric, TokenSetMetric)), None)
    bare = name and next((span for span in spans if not span.text and span.length()), None)
    if bare:
        raise ConfigError(
            f"score {str(name)!r} needs the text of every span, and [{bare.start}:{bare.end}] of {bare.doc_id!r} has "
            "none: give CharacterSpan(doc_id, start, end, text)"
        )


def _units(
    relevant: Sequence[Units],
    found: Sequence[list[CharacterSpan]],
    retrieved: SpanColumns,
    answerable: NDArray[np.bool_],
    cutoff: Cutoff | None,
) -> Iterator[Units]:
    """Yield the spans of every question that has an answer, as built-in metrics see them at that cutoff."""
    if cutoff is not None and cutoff.is_budget:
        ranked: list[list[CharacterSpan]] = [[] for _ in found]
        cut, _ = _truncate(retrieved, cutoff)
        rows: Iterable[tuple[int, int, int]] = zip(cut.query.tolist(), cut.rank.tolist(), cut.end.tolist(), strict=True)
        for query, rank, end in rows:
            span = found[query][rank]
            text = span.text[: end - span.start]
            ranked[query].append(span if end == span.end else CharacterSpan(span.doc_id, span.start, end, text))
    else:
        ranked = [spans[: None if cutoff is None else cutoff.size] for spans in found]
    for query in map(int, np.flatnonzero(answerable)):
        yield replace(relevant[query], retrieved=ranked[query])


def _judge(
    truth: SpanTruth, retrieved: SpanColumns, queries: int, chosen: Mapping[ScoreName, Metric[Any]]
) -> dict[Cutoff | None, SpanJudgements]:
    """Judge once for all numbers of results, as deep as these need, and once for each budget."""
    trails = {name.cutoff for name, metric in chosen.items() if isinstance(metric, SpanMetric) and metric.needs_budget}
    cutoffs = dict.fromkeys(name.cutoff for name in chosen)
    cuts: dict[Cutoff | None, SpanJudgements] = {
        cutoff: _judged_at_budget(truth, retrieved, queries, cutoff, trail=cutoff in trails)
        for cutoff in cutoffs
        if cutoff is not None and cutoff.is_budget
    }
    sizes = {cutoff: None if cutoff is None else cutoff.size for cutoff in cutoffs if cutoff not in cuts}
    if sizes:
        deepest = max(size or 0 for size in sizes.values())
        some = retrieved if None in sizes else retrieved.take(retrieved.rank < deepest)
        whole = _judged(truth, some, queries)
        cuts |= {cutoff: whole if size is None else whole.at(size) for cutoff, size in sizes.items()}
    return cuts


def _judged(truth: SpanTruth, retrieved: SpanColumns, queries: int) -> SpanJudgements:
    return SpanJudgements.from_columns(retrieved, truth, queries, depth=int(retrieved.rank.max(initial=-1)) + 1)


def _judged_at_budget(
    truth: SpanTruth, retrieved: SpanColumns, queries: int, budget: Cutoff, *, trail: bool
) -> SpanJudgements:
    bought, before = _truncate(retrieved, budget)
    # What was not bought is no rank.
    bought = replace(bought, rank=np.arange(len(before)) - np.searchsorted(bought.query, bought.query))
    judged = _judged(truth, bought, queries)
    if not trail:
        return judged
    read = np.zeros_like(judged.length)
    read[bought.query, bought.rank] = before
    return replace(judged, trail=judge_trail(bought, truth, queries, Trail.in_characters(budget.size, read)))


def _truncate(retrieved: SpanColumns, budget: Cutoff) -> tuple[SpanColumns, Integers]:
    """Return the spans of each ranking that a budget in characters buys, and how much is read before each of them.

    The last one is cut or, if `whole`, left out; empty ones are left out. Their ranks stay as they are.
    """
    lengths = retrieved.end - retrieved.start
    before = np.cumsum(lengths) - lengths
    before -= before[np.arange(len(before)) - retrieved.rank]  # of the same query only
    if budget.whole:
        bought = (before + lengths <= budget.size) & (lengths > 0)
    else:
        bought = (before < budget.size) & (lengths > 0)
        retrieved = replace(retrieved, end=np.minimum(retrieved.end, retrieved.start + (budget.size - before)))
    return retrieved.take(bought), before[bought]
