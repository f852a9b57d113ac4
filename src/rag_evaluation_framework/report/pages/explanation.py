"""Losses of a run and of its questions: the causes, result by result, and marked in the documents."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis.attribution.attribution import Attribution, Change, unlocated
from ...analysis.attribution.deep_pass import Gathered, Reason
from ...analysis.attribution.explaining import ExplainedAnswer, Explanation, RankedResult, ranked_results
from ...analysis.attribution.losses import NEARLY, Bound, Cause
from ...base.files import is_object
from ...base.outside import first_of, name_line, shown
from ...data import Answer, CharacterSpan, Corpus, EvaluationType, Hit, merge_overlapping_spans
from ...data.cutoffs import OWN_CUTOFF, Cutoff
from ...data.hits import RankedHits, Ranking
from ...data.levels import LEVELS
from ...runs import QueryResult, number
from ...runs.query_result import own_cutoff
from ...scoring.levels.rules import RULES
from ...text import ContextBudget, HitReader, LinePlaces, resolve_tokenizer
from ..blocks import Bar, Block, Line, Lines, Part, Passage, Passages, Role, Table, excerpt, line, muted, plural
from ..blocks import Page as Page
from .result import Result, note_lines

_MOST_RESULTS = 10  # that were read and hold nothing relevant; and that were not read and do
_MOST_BEFORE = 3
_AROUND = 200  # characters of a document around an answer
_LONGEST = 20_000  # characters of a result: of longer ones the begin
_EXAMPLE = 80  # characters of a text


class _Marked:
    """Answers and results of a question as passages, with what was read, and what was missed."""

    def __init__(self, level: EvaluationType, results: Sequence[RankedResult], corpus: Corpus | None) -> None:
        self.rules, self.results, self.corpus = RULES[level], results, corpus or Corpus(())
        self.lines = LinePlaces(self.corpus)

    def where(self, what: object) -> str:
        """Return where a result or a span is, as `file:line:column`, else the id that it is."""
        if isinstance(what, Hit):
            return self.where(what.span) if what.span is not None else what.doc_id or what.chunk_id or "without a place"
        if not isinstance(what, CharacterSpan):
            return str(what)
        return self.lines.named(what) if what.doc_id in self.corpus else str(what.doc_id)

    def answer(self, answer: Answer[Any], label: str = "") -> Iterator[Passage]:
        """Yield the places of an answer: with the documents in them, else by their texts or names."""
        for at, place in enumerate(answer.places):
            yield from (self._unit(unit, "or" if at else label) for unit in place)

    def _unit(self, unit: Any, label: str) -> Passage:
        units = ((one, self.rules.level.read(one.hit)) for one in self.results)
        found = next((one for one, got in units if got is not None and self.rules.found(unit, got)), None)
        where = self.where(unit)
        missing = f"not in {plural(len(self.results), 'result')}" if self.results else "no results"
        note = missing if found is None else f"first found at rank {found.rank}"
        if not isinstance(unit, CharacterSpan):
            return Passage((), where, label, note)
        if unit.doc_id not in self.corpus:
            is_read = found is not None and found.read is not None
            return Passage((Part(unit.text, "found" if is_read else "missed"),), where, label, note)
        content = self.corpus[unit.doc_id].content
        return Passage(excerpt(content, unit.start, unit.end, _AROUND, self._truth(unit, content)), where, label, note)

    def _truth(self, unit: CharacterSpan, content: str) -> Iterator[Part]:
        """Yield the text of a span: what was read, with white space between two reads, and what was missed."""
        spans = [one.read.span for one in self.results if one.read is not None and one.read.span is not None]
        read: list[tuple[int, int]] = []
        for span in merge_overlapping_spans(span for span in spans if span.overlaps(unit)):
            start, end = max(span.start, unit.start), min(span.end, unit.end)
            if read and content[read[-1][1] : start].isspace():
                start = read.pop()[0]
            read.append((start, end))
        at = unit.start
        for start, end in read:
            yield from (Part(content[at:start], "missed"), Part(content[start:end], "found"))
            at = end
        yield Part(content[at : unit.end], "missed")

    def read(self, cutoff: str) -> Iterator[Lines | Passages]:
        """Yield the results within a cutoff, of many those that hold an answer, and those behind it that hold one."""
        first = [one for one in self.results if one.read is not None and (one.rank <= _MOST_RESULTS or one.relevant)]
        later = [one for one in self.results if one.read is None and one.relevant]
        title = f"Results within @{cutoff}, and later ones that hold an answer"
        yield Passages(tuple(map(self._result, (*first, *later[:_MOST_RESULTS]))), title)
        if not first and not later:
            yield Lines((line("none", indent=2),), title)

    def _result(self, result: RankedResult) -> Passage:
        text, parts, at = result.text[:_LONGEST], list[Part](), 0
        for start, end in result.relevant:
            parts += [Part(text[at:start], "read"), Part(text[start:end], "found")]
            at = end
        kinds = {"part": "cut by the budget", "none": "not within the cutoff", "all": ""}
        notes = ["relevant" if result.relevant and not text else "", kinds[result.extent]]
        parts.append(Part(text[at:], "read"))
        return Passage(tuple(parts), self.where(result.hit), str(result.rank), ", ".join(filter(None, notes)))


def explanation_page(known: Explanation) -> Page:
    """Return an explanation as people read it: its recall, each answer with what lost it, and the results."""
    marked = _Marked(known.evaluation_type, known.results, known.corpus)
    recall = known.status if known.recall is None else number(known.recall)
    verdict: Role = "verdict" if known.recall is None else "good" if known.recall == 1 else "bad"
    told_first = line((f"{known.run}, {known.score}: {recall}", verdict))
    blocks: list[Block] = [Lines((told_first,)), Lines(note_lines(known.notes))]
    if not known.answers:
        failed = "its retrieval failed, so nothing was found"
        none = "nothing in the documents answers it, so nothing could be found"
        blocks.append(Lines((line(failed if known.status == "failed" else none, indent=2),), "Answers"))
    for at, answer in enumerate(known.answers):
        blocks.append(Passages(tuple(marked.answer(answer.answer)), "" if at else "Answers"))
        blocks.append(Lines(tuple(line(text, indent=4) for text in _causes(known, answer, marked.where))))
    return Page(known.text or "–", (*blocks, *marked.read(known.cutoff)), aside=f"({known.query_id})")


def explanations_page(run: str, known: Sequence[Explanation]) -> Page:
    """Return the explanations of several questions of a run below each other, after the notes on all of them."""
    first = known[0].notes if len(known) > 1 else ()
    shared = [note for note in first if all(note in one.notes for one in known)]
    others = (replace(one, notes=tuple(note for note in one.notes if note not in shared)) for one in known)
    return Page(run, (Lines(note_lines(shared)), *map(explanation_page, others)))


def _causes(known: Explanation, answer: ExplainedAnswer, where: Callable[[object], str]) -> Iterator[str]:
    """Yield how much of an answer was found, what lost the rest, and the chunks that hold it."""
    yield f"{answer.recall:.0%} found"
    for cause in answer.causes:
        words = told(cause, known.depth, known.returned)
        yield f"{answer.lost[cause]:.0%} {words}{_at(cause, answer, where)}"
    if answer.is_split:
        yield "split by the chunker: no chunk holds it whole"
    if answer.is_truncated:
        yield "truncated by the embedder: what is missing is behind what it reads of the chunk"
    if answer.is_cut_off:
        yield "cut off by the budget: what is missing is behind what it reads of the chunk"
    chunks: list[str] = []
    for one in answer.chunks if answer.causes else ():
        first = "not retrieved" if one.first_rank is None else f"rank {one.first_rank} before reranking"
        chunks.append(f"{where(one.place)} {first if one.rank is None else f'rank {one.rank}'}")
    if chunks:
        yield f"chunks that hold it: {first_of(chunks, _MOST_RESULTS)}"


def _at(cause: Cause, answer: ExplainedAnswer, where: Callable[[object], str]) -> str:
    """Return at which rank more of an answer is found, and what stood before it, where a ranking lost it."""
    if cause not in ("not_a_candidate", "beyond_cutoff", "dropped_by_reranker"):
        return ""
    first_rank = answer.outside_rank if cause == "not_a_candidate" else answer.first_rank
    first = "" if first_rank is None else f"rank {first_rank} before reranking"
    if answer.rank is None or cause == "not_a_candidate":
        return f": {first}" if first else ""
    before = first_of([*map(where, answer.before)], _MOST_BEFORE)
    return f": rank {answer.rank}{f' ({first})' if first else ''}{f', behind {before}' if before else ''}"


_WORST, _MOST_ADVICE = 5, 3
_TOLD: Mapping[Cause, str] = {
    "not_in_corpus": "not in the corpus",
    "in_no_chunk": "in no chunk",
    "not_retrieved": "not among the first {depth}",
    "not_asked_for": "not among the results asked for",
    "not_a_candidate": "retrieved, but not among the reranker's candidates",
    "beyond_cutoff": "retrieved, but beyond the cutoff",
    "dropped_by_reranker": "within it before reranking, dropped by the reranker",
    "not_placed": "retrieved as text that has no place",
}

_ADVICE: Mapping[Change, str] = {
    "labels": "add documents that hold what is not in the corpus, or correct the labels",
    "chunker": "try a chunker that leaves nothing out: relevant text is in no chunk",
    "places": "return doc_id, start and end: relevant text was retrieved without a place",
    "retriever": "try another retriever: relevant text is not among the first {depth}, and nothing else explains it",
    "returned": "make the retriever return more: it returned {depth} results, and more were asked for",
    "deeper_ranking": "ask for a deeper ranking{deep}: only that tells whether retriever, chunker or reranker lost "
    "what is not among the results asked for",
    "reranker": "leave the reranker out: it dropped more than it won",
    "order": "try a reranker, or a better one: relevant text is ranked beyond the cutoff, and nothing else explains it",
    "candidates": "try more candidates: relevant text is not among the reranker's, and nothing else explains it",
    "larger_chunks": "try larger chunks: no chunk holds these answers whole",
    "smaller_chunks": "try smaller chunks, or a larger budget: this one ends in a chunk before the relevant text",
    "embedder": "try an embedder that reads chunks whole: relevant text is behind what it reads of a chunk",
}


_FLAGS = {"split": "split by the chunker", "truncated": "truncated by the embedder", "cut_off": "cut off by the budget"}
"""Remarks on what was lost, by their names among the losses."""


_UNASKED: Mapping[Reason, str] = {
    "own_ids": "the run names chunks by a function of its own",
    "engine": "it is an engine, which may write where it is asked: give it in Python, "
    "explain(..., retriever=retriever)",
    "own_code": "it has your own code, {what}; --deep (deep=True) imports and asks it",
    "no_name": "it has your own code that has no name to import, {what}; give it with retriever=...",
    "not_remade": "it cannot be made again: {what}",
    "elsewhere": "it has parts that are not of this package, ask a provider or need a store elsewhere; --deep "
    "(deep=True) asks it",
    "failed": "it fails: {what}",
}


def attribution_notes(result: Result, gathered: Gathered, name: str, same: NDArray[np.bool_] | None) -> Iterator[str]:
    """Yield notes on losses: unknown parts, and which questions count.

    Args:
        result: The run.
        gathered: What is known of the questions.
        name: The recall.
        same: Which questions have the recall that the run gave them; None if they have none.
    """
    evidence = gathered.evidence
    if str(OWN_CUTOFF) in result.cutoffs and len(evidence.truth) > 1:
        cutoff = name.partition("@")[2]
        alone = "one question alone is told at its own"
        yield f"questions ask for different numbers of results, and this is told at {cutoff} for all; {alone}"
    if gathered.unasked is not None:
        why = _UNASKED[gathered.unasked.reason].format(what=gathered.unasked.what)
        yield f"the pipeline was not asked again ({why}): only what the run retrieved is known"
    if (other := gathered.differing) is not None:
        failed = f", {other.failed} of them fail" if other.failed else ""
        yield (
            f"{other.questions} of {other.asked} questions are ranked otherwise than in the run, as code, a model or a "
            f"service has changed, or as the pipeline is not deterministic{failed}: of these only what the run "
            "retrieved is known"
        )
    if gathered.depth is not None and evidence.chunks is None:
        yield "the retriever cannot list its chunks: what is in no chunk counts as not retrieved"
    if result.scores.count_as_zero:
        zeros = ", ".join(sorted(result.scores.count_as_zero))
        yield f"the run counts as 0: {zeros}; here only questions that were scored count"
    if unplaced := unlocated(result, gathered):
        read = LEVELS[result.evaluation_type].read
        texts = (hit.text for ranking in evidence.final for hit in ranking if read(hit) is None and hit.text)
        example = next(texts, None)
        first = "" if example is None else f", the first: {shown(example, _EXAMPLE)}"
        yield (
            f"{unplaced} of {len(evidence.final.flat)} results have no place in the documents{first}. Relevant text "
            "may be among them: what is called not retrieved may have been returned, and was not found there"
        )
    empty = np.flatnonzero(evidence.asked & (evidence.deep.counts == 0)).tolist()
    if empty:
        is_bm25 = is_object(record := result.config.get("retriever")) and record.get("type") == "bm25"
        why = ", as none of the words that BM25 looks for is in the documents" if is_bm25 else ""
        one = name_line(evidence.truth[empty[0]].query.text)
        yield f"{len(empty)} of {len(evidence.truth)} questions have no result at all{why}, the first: {one}"
    if same is not None and (differing := int((~same).sum())):
        yield (
            f"{differing} of {len(same)} questions are left out, as their {name} could not be recomputed: what is "
            "stored of a run is its deepest ranking, with places instead of texts, and its retriever ranks differently "
            "at every cutoff, or returns texts that are not those of their places"
        )


def told(cause: Cause, depth: int | None, returned: int | None = None) -> str:
    """Return a cause as people read it.

    Args:
        cause: The cause.
        depth: How many results were asked for again; None if nothing was, and the run's own results had to do.
        returned: How many came, where the retriever has a number of its own.
    """
    if cause == "not_retrieved" and returned is not None:
        return f"not retrieved: the retriever returned {returned} of the {depth} results asked for"
    return _TOLD[cause].format(depth=depth)


def causes_page(known: Attribution, worst: int = _WORST) -> Page:
    """Return where a run lost what was relevant, what to change first, and the questions that lost most.

    Args:
        known: What was lost.
        worst: How many of the questions that lost most to name.
    """
    losses, missing = known.losses, 1 - known.recall
    columns = [(told(cause, known.depth, known.returned), losses.lost[cause]) for cause in known.lost]
    columns += [(f"of it: {name}", getattr(losses, flag)) for flag, name in _FLAGS.items()]
    cells: list[tuple[str, ...]] = []
    bars: list[Bar] = []
    for name, column in columns:
        if (lost := float(column.mean())) > NEARLY:
            cells.append((name, number(lost), f"{lost / missing:.0%}", str(int((column > NEARLY).sum()))))
            bars.append(Bar(lost))
    rows = tuple(cells) or (("nothing", number(0.0), "–", "0"),)
    return Page.of(
        f"Where {known.run} lost {known.score}",
        Lines(tuple(_verdict(known))),
        Lines(note_lines(known.notes), "Notes"),
        Table(("cause", "lost", "of it", "questions"), rows, "What was lost", bars=tuple(bars)),
        Lines(tuple(_question(known, row) for row in known.worst(worst)), "Questions that lost most"),
    )


def _verdict(known: Attribution) -> Iterator[Line]:
    missing = number(1 - known.recall)
    yield line((f"mean {number(known.recall)} of {len(known.query_ids)} questions, so {missing} is missing", "verdict"))
    deep = " (--deep, deep=True)" if known.deep_asks else ""
    for at, change in enumerate(known.advice[:_MOST_ADVICE]):
        depth = known.returned if change == "returned" else known.depth
        told_of = _ADVICE[change].format(depth=depth, deep=deep)
        yield line(("Then: " if at else "What to change first: ", "label"), told_of)
    yield line((known.headline, "muted"))
    yield from (line((told_of, "muted")) for told_of in _ceilings(known))


def _question(known: Attribution, row: int) -> Line:
    """Return a question behind its recall, and why it lost what it lost."""
    rank, recall = int(known.losses.best_rank[row]), number(float(known.losses.recall[row]))
    at: dict[str, str] = dict.fromkeys(("beyond_cutoff", "dropped_by_reranker"), f", rank {rank}" if rank else "")
    causes = known.causes(row).items()
    reasons = [f"{lost:.0%} {told(cause, known.depth, known.returned)}{at.get(cause, '')}" for cause, lost in causes]
    reasons += [name for flag, name in _FLAGS.items() if getattr(known.losses, flag)[row] > NEARLY]
    asked, query_id = known.questions[row] or "–", known.query_ids[row]
    return line(asked, f" ({'; '.join(reasons)})", (f" ({query_id})", "muted"), indent=7, before=recall, role="bad")


def _ceilings(known: Attribution) -> Iterator[str]:
    chunking, candidates, without = known.losses.chunking, known.losses.candidates, known.losses.without_reranker
    deepest = f"the first {known.returned or known.depth}{'' if known.losses.asked.all() else ', where they are known'}"
    what = "the candidates" if without is not None else "what was asked for" if known.depth is None else deepest
    best = [] if chunking is None else [f"{_best(chunking)} with these chunks"]
    yield f"the best possible: {', '.join([*best, f'{_best(candidates)} with the best order of {what}'])}"
    if without is not None and known.losses.asked.all():
        yield f"without the reranker: {number(float(without.mean()))}"


def _best(bound: Bound) -> str:
    """Return the mean of the best possible as people read it."""
    return f"{'' if bound.exact.all() else 'at most '}{number(float(bound.recall.mean()))}"


def anchor_of(result: Result, query_id: str) -> str:
    """Return by what links lead to a question: its number in the dataset, as ids may hold anything."""
    return f"question-{result.scores.rows[query_id] + 1}"


def questions_page(
    result: Result, query_ids: Sequence[str], corpus: Corpus | None, why: str = "", which: str = ""
) -> Page:
    """Return questions with their passages, each to be opened.

    Args:
        result: The result.
        query_ids: Which questions, in the order in which they are shown.
        corpus: The documents; without them only places are shown.
        why: Why they are not there.
        which: Which questions these are, in words.
    """
    notes = {
        which: bool(which),
        f"The documents are not shown: {why}": corpus is None and bool(why),
        "What was retrieved is not known: this is a report alone.": result.queries.found is None,
    }
    pages: list[Page] = []
    for query_id in query_ids:
        query: QueryResult[Any] = result.queries[result.scores.rows[query_id]]
        score = query.scores.get(result.score_names[0])
        told = query.status if score is None else f"{result.score_names[0]} {number(score)}"
        blocks = tuple(_question_blocks(result, query, corpus))
        anchor = anchor_of(result, query_id)
        pages.append(Page(query.text or "–", blocks, anchor, f"{told} ({query_id})", folded=True))
    above: list[Block] = [muted((note for note, is_so in notes.items() if is_so), indent=0)]
    if result.evaluation_type == "token-level":
        cutoff = f" at the first cutoff, {result.cutoffs[0]}."
        marks = line("Relevant text is marked where it was ", ("read", "found"), " or ", ("missed", "missed"), cutoff)
        above.append(Lines((marks,)))
    return Page("Questions", (*above, *pages), "questions")


def _question_blocks(result: Result, query: QueryResult[Any], corpus: Corpus | None) -> Iterator[Block]:
    lines = [line((", ".join(f"{name} {number(score)}" for name, score in query.scores.items()), "muted"))]
    if query.noted_text != query.text and query.text:
        lines.append(line(query.noted_text.removeprefix(query.text).strip(" –")))
    lines += [line((f"{one.stage}: {one.kind}: {one.message}", "bad")) for one in query.failures]
    yield Lines(tuple(one for one in lines if one.parts))
    hits = query.hits if result.queries.found is not None else ()
    read = _read(result, query, hits, corpus)
    results = [*ranked_results(result.evaluation_type, query.answers, hits, read, corpus)]
    marked = _Marked(result.evaluation_type, results, corpus)
    several = len(query.answers) > 1
    passages = (marked.answer(one, f"Answer {at}" * several) for at, one in enumerate(query.answers, 1))
    if query.answers:
        yield Passages(tuple(one for some in passages for one in some), "Answers")
    else:
        text = "Nothing in the documents answers it." if query.status == "no-answer" else "Not known."
        yield Lines((line(text),), "Answers")
    yield from marked.read(result.cutoffs[0])


def _read(result: Result, query: QueryResult[Any], hits: Ranking, corpus: Corpus | None) -> Ranking:
    """Return what was read at the first cutoff, the result in which a budget ends cut."""
    first = result.cutoffs[0]
    cutoff = Cutoff.parse(own_cutoff(result, query.query_id) if first == str(OWN_CUTOFF) else first)
    if not cutoff.is_budget:
        return hits[: cutoff.size]
    if corpus is None:  # without the documents, no text is marked
        return hits
    counter = resolve_tokenizer(result.config["tokenizer"]) if cutoff.unit == "tok" else None
    return ContextBudget(cutoff, counter, HitReader(corpus)).buy(RankedHits.of([hits])).hits[0]
